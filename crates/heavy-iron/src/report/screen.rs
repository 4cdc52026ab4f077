//! `tables/screen.tsv` and `tables/screen.png`: the texts, images and models of menus
//! at their screen positions.

use std::io::{self, Write};

use crate::archive::{Archive, Member};
use crate::model::textures;
use crate::object::Object;
use crate::record::Value;
use crate::text;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::{Picture, Pixels, Reservation, png};
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_containers::hip::asset_id;
use hpimount_containers::volume::AssetType;
use hpimount_renderware::texture::export::picture;

/// Width and height of the screen, in the unit of all positions.
const WIDTH: usize = 640;
const HEIGHT: usize = 480;

/// Maximum number of drawn or decoded pixels for a picture. Menus of the games have a
/// few hundred images of 256 by 256 pixels.
const MAX_PIXELS: usize = 1 << 26;

const COLUMNS: [&str; 19] = [
    "id",
    "name",
    "type",
    "x",
    "y",
    "z",
    "width",
    "height",
    "text_id",
    "text_name",
    "text",
    "image",
    "image_name",
    "model",
    "model_name",
    "selected_motion",
    "selected_motion_name",
    "unselected_motion",
    "unselected_motion_name",
];

/// The visible DYNA asset types.
const KINDS: [u32; 5] = [
    asset_id(b"ui:box"),
    asset_id(b"ui:image"),
    asset_id(b"ui:model"),
    asset_id(b"ui:text"),
    asset_id(b"ui:text:user string"),
];

/// Returns whether an archive has elements on the screen.
pub(super) fn applies(context: &dyn AssetContext) -> bool {
    let mut files = context.assets().into_iter();
    files.any(|file| context.asset_of(file).is_some_and(is_shown))
}

fn is_shown(asset: AssetType) -> bool {
    match &asset.code {
        b"DYNA" => KINDS.contains(&asset.subtype),
        code => matches!(code, b"UI  " | b"UIFT"),
    }
}

/// Sends the table in archive order.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    let names = archive.names();
    out.columns(&COLUMNS)?;
    each(&archive, |member, element| {
        let mut row = Vec::from(archive.key(member));
        row.push(element.kind.into());
        row.extend(element.position.map(Into::into));
        row.extend(element.size.map(Into::into));
        row.extend(names.pair(element.text));
        row.push(text_of(&archive, element.text)?.into());
        let [selected, unselected] = element.motions;
        for id in [element.image, element.model, selected, unselected] {
            row.extend(names.pair(id));
        }
        out.row(row)
    })
}

/// Returns the text with this id.
fn text_of(archive: &Archive<'_>, id: u32) -> io::Result<Option<String>> {
    let member = archive.with_id(id);
    let Some(member) = member.filter(|member| super::texts::is_text(member.asset.code)) else {
        return Ok(None);
    };
    let bytes = archive.read(&member)?.unwrap_or_default();
    let text = text::parse(&bytes, &member.origin().facts);
    Ok(Some(text.unwrap_or_default().text))
}

/// Draws the screen with all elements, larger ones behind smaller ones: images with
/// their textures, and boxes for everything else.
pub(super) fn draw(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let archive = Archive::new(context);
    let mut elements = Vec::new();
    each(&archive, |_, element| {
        elements.extend(element.area().map(|area| (area, element)));
        Ok(())
    })?;
    elements.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut screen = Screen::default();
    // The image of the previous element, which menus often repeat.
    let mut last = (0, None);
    for (_, element) in &elements {
        let id = element.image;
        if id != last.0 {
            // Its memory is freed before the next one is allocated.
            last = (id, None);
            last.1 = Texture::read(&archive, id, &mut screen)?;
        }
        match &last.1 {
            Some(texture) => screen.image(element, texture),
            None => screen.boxed(element),
        }
    }
    let picture = Picture {
        width: WIDTH as u32,
        height: HEIGHT as u32,
        pixels: Pixels::Rgba(screen.pixels),
    };
    png::write(&picture, out)
}

/// A decoded texture.
struct Texture {
    width: usize,
    height: usize,
    texels: Vec<[u8; 4]>,
    _memory: Option<Reservation>,
}

impl Texture {
    /// Returns the texture with this id, if it is visible and fits the limit.
    fn read(archive: &Archive<'_>, id: u32, screen: &mut Screen) -> io::Result<Option<Self>> {
        let Some(member) = archive.with_id(id) else {
            return Ok(None);
        };
        archive.count(member.file)?;
        let Ok(texture) = textures::read_asset(member.file, archive.context) else {
            return Ok(None);
        };
        let [width, height] = [texture.width, texture.height].map(|side| side as usize);
        if !screen.takes(width * height) {
            return Ok(None);
        }
        let memory = archive
            .context
            .reserve(width * height * size_of::<[u8; 4]>())?;
        Ok(picture(&texture).map(|picture| Self {
            width: picture.width as usize,
            height: picture.height as usize,
            texels: picture.into_rgba(),
            _memory: memory,
        }))
    }
}

/// Calls `visit` with every screen element of an archive.
fn each(
    archive: &Archive<'_>,
    mut visit: impl FnMut(&Member, Element) -> io::Result<()>,
) -> io::Result<()> {
    for member in archive.members().filter(|member| is_shown(member.asset)) {
        let object = archive.object(&member)?;
        if let Some(element) = object.and_then(|object| Element::of(&object, &member)) {
            visit(&member, element)?;
        }
    }
    Ok(())
}

/// Something on the screen.
struct Element {
    /// The asset type; for a DYNA, its own type.
    kind: &'static str,
    position: [f32; 3],
    /// Width and height.
    size: [f32; 2],
    /// Ids of its text, image, model, and motions with and without focus; 0 for none.
    text: u32,
    image: u32,
    model: u32,
    motions: [u32; 2],
    /// The texture coordinates at the left, right, top and bottom.
    part: [f32; 4],
}

impl Element {
    /// Returns the element of an object, or `None` without a position.
    fn of(object: &Object, member: &Member) -> Option<Self> {
        let field = |name: &str| {
            let mut parts = object.parts.iter().rev().filter(|part| part.item.is_none());
            parts.find_map(|part| part.record.get(name))
        };
        let number = |name| match field(name) {
            Some(Value::Float(number)) => Some(number),
            Some(Value::Unsigned(number)) => Some(number as f32),
            _ => None,
        };
        let id = |name| match field(name) {
            Some(Value::Id(id)) => id,
            _ => 0,
        };
        let Some(Value::Vec3(position)) = field("position").or_else(|| field("pos")) else {
            return None;
        };
        let corner = |name| match field(name) {
            Some(Value::Vec2(corner)) => corner,
            _ => [0.0; 2],
        };
        let part = ["u1", "u2", "v1", "v3"].map(number);
        let [left_top, right_top, left_bottom] = ["uv_tl", "uv_tr", "uv_bl"].map(corner);
        let of_entity = [left_top[0], right_top[0], left_top[1], left_bottom[1]];
        Some(Self {
            kind: match (object.dyna, &member.asset.code) {
                (Some(dyna), _) => dyna.name,
                (None, b"UIFT") => "UIFT",
                (None, _) => "UI",
            },
            position,
            size: [number("width")?, number("height")?],
            text: id("text"),
            image: match id("image") {
                0 => id("texture"),
                image => image,
            },
            model: id("model"),
            motions: ["selected_motion", "unselected_motion"].map(id),
            part: std::array::from_fn(|side| finite(part[side].unwrap_or(of_entity[side]))),
        })
    }

    /// Returns the number of covered pixels, if any.
    fn area(&self) -> Option<f32> {
        let [width, height] = self.size;
        (width > 0.0 && height > 0.0 && self.position.iter().all(|one| one.is_finite()))
            .then_some(width * height)
    }

    /// Returns the covered columns or rows of the screen.
    fn taken(&self, axis: usize, length: usize) -> std::ops::Range<usize> {
        let start = self.position[axis];
        let end = (start + self.size[axis]).clamp(0.0, length as f32);
        start.max(0.0).round() as usize..end.round() as usize
    }
}

/// The picture of the screen.
struct Screen {
    pixels: Vec<[u8; 4]>,
    /// Remaining number of pixels to draw or decode.
    left: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            pixels: vec![[0; 4]; WIDTH * HEIGHT],
            left: MAX_PIXELS,
        }
    }
}

impl Screen {
    /// Takes this many pixels, and returns whether they were available.
    fn takes(&mut self, pixels: usize) -> bool {
        let left = self.left.checked_sub(pixels);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Draws all pixels of an element. `color` returns the color for a column and row.
    fn fill(&mut self, element: &Element, color: impl Fn(usize, usize) -> [u8; 4]) {
        let (columns, rows) = (element.taken(0, WIDTH), element.taken(1, HEIGHT));
        if !self.takes(columns.len() * rows.len()) {
            return;
        }
        for y in rows {
            for x in columns.clone() {
                let pixel = &mut self.pixels[y * WIDTH + x];
                *pixel = over(color(x, y), *pixel);
            }
        }
    }

    /// Draws a box in a color for its contents.
    fn boxed(&mut self, element: &Element) {
        let [red, green, blue] = match element {
            Element { text: 1.., .. } => [255, 220, 80],
            Element { model: 1.., .. } => [90, 220, 120],
            _ => [120, 170, 255],
        };
        let (columns, rows) = (element.taken(0, WIDTH), element.taken(1, HEIGHT));
        self.fill(element, |x, y| {
            let is_edge = [(x, &columns), (y, &rows)]
                .into_iter()
                .any(|(place, taken)| place == taken.start || place + 1 == taken.end);
            [red, green, blue, if is_edge { 255 } else { 64 }]
        });
    }

    /// Draws a texture.
    fn image(&mut self, element: &Element, texture: &Texture) {
        let sides = [texture.width, texture.height];
        let [left, right, top, bottom] = element.part;
        let texel = |axis: usize, place: usize, [start, end]: [f32; 2]| {
            let way = (place as f32 + 0.5 - element.position[axis]) / element.size[axis];
            // Without an extent, the whole image is shown.
            let way = if start == end {
                way
            } else {
                start + way * (end - start)
            };
            let side = sides[axis];
            ((way.rem_euclid(1.0) * side as f32) as usize).min(side - 1)
        };
        self.fill(element, |x, y| {
            let [x, y] = [texel(0, x, [left, right]), texel(1, y, [top, bottom])];
            texture.texels[y * texture.width + x]
        });
    }
}

/// Returns a color over another one.
fn over(front: [u8; 4], back: [u8; 4]) -> [u8; 4] {
    let alpha = u32::from(front[3]);
    let rest = u32::from(back[3]) * (255 - alpha) / 255;
    let sum = (alpha + rest).max(1);
    let mixed = |part: usize| {
        let both = u32::from(front[part]) * alpha + u32::from(back[part]) * rest;
        (both / sum) as u8
    };
    [mixed(0), mixed(1), mixed(2), (alpha + rest) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{Archives, id, words};
    use fixtures::heavy_iron as hi;

    /// Returns a screen with this pixel limit.
    fn with_left(left: usize) -> Screen {
        let screen = Screen::default();
        assert_eq!(screen.left, MAX_PIXELS);
        Screen { left, ..screen }
    }

    #[test]
    fn what_would_draw_too_many_pixels_is_missing() {
        let mut screen = with_left(10 * 10 + 5 * 5);
        for (x, side) in [(0.0, 10.0), (20.0, 10.0), (40.0, 5.0)] {
            screen.boxed(&Element {
                kind: "ui:box",
                position: [x, 0.0, 0.0],
                size: [side; 2],
                text: 0,
                image: 0,
                model: 0,
                motions: [0; 2],
                part: [0.0; 4],
            });
        }
        let is_drawn = [0, 20, 40].map(|x| screen.pixels[x] != [0; 4]);
        assert_eq!(is_drawn, [true, false, true]);
    }

    #[test]
    fn a_texture_that_would_decode_too_many_pixels_is_a_box() {
        let logo = hi::gamecube(4, 0, [4, 4], &[], &words(&[0; 8]), 1);
        let archives = Archives::new(&[("a.HIP", b"RWTX", "logo.RW3", logo)]);
        let archive = Archive::new(&archives);
        for (left, is_decoded) in [(4 * 4, true), (4 * 4 - 1, false)] {
            let texture = Texture::read(&archive, id("logo.RW3"), &mut with_left(left));
            assert_eq!(texture.unwrap().is_some(), is_decoded);
        }
    }
}
