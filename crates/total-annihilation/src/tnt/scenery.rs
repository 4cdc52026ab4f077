//! The features of a map, and the start positions of players, drawn on its ground
//! (FORMATS, TA 14).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::Tnt;
use super::models::{Models, Sprite};
use super::ota::Start;
use crate::gaf::{self, Pixels};
use crate::pal::Palette;
use crate::tdf;
use hpimount_assets::view::context::shared;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, Shared};

/// The key of the shared appearance of features.
const SHARED: &str = "TA features";

/// Maximum number of bytes of texts to read for the appearance of features, and of
/// features in them, ten times as many as a large mod has.
const MAX_BYTES: usize = 64 << 20;
const MAX_FEATURES: usize = 1 << 16;

/// Pixels of an edge of a cell.
const CELL: i32 = 16;

/// Maximum numbers of drawn features and of their pixels.
const MAX_PLACED: usize = 1 << 20;
const MAX_DRAWN: usize = 1 << 28;

/// Maximum number of pixels of all sprites.
const MAX_PIXELS: u64 = 1 << 24;

/// Size of the mark of a start position in pixels, and width of its ring.
const MARK: i32 = 64;
const RING: i32 = 5;

/// Map pixels for a pixel of a digit.
const ENLARGED: i32 = 6;

/// The digits: five rows of three pixels, highest bit first.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];

/// Returns the texts that define features.
pub(super) fn texts(context: &dyn AssetContext) -> Vec<AssetRef> {
    context.find_extensions("features", &["tdf"])
}

/// The appearance of a feature.
struct Look {
    shape: Shape,
    /// Width and depth in cells.
    footprint: [i32; 2],
}

/// The appearance of a feature. Names are in lower case.
enum Shape {
    /// The first frame of a sequence in a sprite file.
    Sprite { file: String, sequence: String },
    /// A model.
    Model(String),
}

impl Shape {
    fn of(section: tdf::Section<'_>) -> Option<Self> {
        let value = |key| {
            let value = section.get(key).filter(|value| !value.is_empty())?;
            Some(value.to_ascii_lowercase())
        };
        match (value("filename"), value("seqname")) {
            (Some(file), Some(sequence)) => Some(Self::Sprite { file, sequence }),
            _ => value("object").map(Self::Model),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Self::Sprite { file, sequence } => file.capacity() + sequence.capacity(),
            Self::Model(name) => name.capacity(),
        }
    }
}

/// The appearance of all features that are sprites or models, by lower-case name.
#[derive(Default)]
struct Looks(HashMap<String, Look>);

impl Shared for Looks {
    fn memory(&self) -> usize {
        let entry = size_of::<(String, Look)>() + 1;
        let looks = self.0.iter();
        let names = looks.map(|(name, look)| name.capacity() + look.shape.memory());
        names.sum::<usize>() + self.0.capacity() * entry
    }
}

impl Looks {
    fn new(context: &dyn AssetContext) -> Self {
        let mut looks = Self::default();
        let mut left = MAX_BYTES;
        for file in texts(context) {
            let bytes = context.read(file).filter(|bytes| bytes.len() <= left);
            let Some(bytes) = bytes else {
                continue;
            };
            left -= bytes.len();
            let tdf = tdf::parse(&bytes).unwrap_or_else(|lost| lost.model);
            for section in tdf.root().sections() {
                let cells = |key| section.get(key)?.parse().ok().filter(|&cells| cells < 256);
                if let Some(shape) = Shape::of(section)
                    && looks.0.len() < MAX_FEATURES
                {
                    let look = Look {
                        shape,
                        footprint: ["footprintx", "footprintz"].map(|key| cells(key).unwrap_or(1)),
                    };
                    let name = section.name().to_ascii_lowercase();
                    looks.0.entry(name).or_insert(look);
                }
            }
        }
        looks
    }
}

/// A sprite at its upper left corner.
#[derive(Clone, Copy)]
struct Placed {
    left: i32,
    top: i32,
    sprite: usize,
}

/// The sprites on the ground of a map.
pub(super) struct Scenery {
    sprites: Vec<Sprite>,
    /// Ordered from back to front.
    placed: Vec<Placed>,
    pixels: usize,
}

impl Scenery {
    /// Returns the features of a map that are sprites or models in the mount.
    pub(super) fn new(tnt: &Tnt, palette: &Palette, context: &dyn AssetContext) -> Self {
        let mut scenery = Self {
            sprites: Vec::new(),
            placed: Vec::new(),
            pixels: 0,
        };
        let looks =
            shared(context, SHARED, Looks::new).unwrap_or_else(|| Arc::new(Looks::new(context)));
        let features = tnt.features.iter();
        let looks = features.map(|feature| looks.0.get(&feature.name.to_ascii_lowercase()));
        let looks: Vec<Option<&Look>> = looks.collect();
        let mut left = MAX_PIXELS;
        let mut sprites = scenery.read_sprites(&looks, &mut left, context);
        scenery.draw_models(
            &looks,
            &mut sprites,
            &mut Models::new(left, palette, context),
        );
        let width = (tnt.width as usize).max(1);
        for (cell, height) in (0..tnt.cells()).zip(tnt.heights()) {
            let feature = tnt.feature(cell);
            let found = feature.and_then(|feature| {
                Some((
                    looks.get(feature)?.as_ref()?,
                    sprites.get(feature)?.as_ref()?,
                ))
            });
            if let Some((look, &sprite)) = found {
                // At most `MAX_CELLS`.
                let [x, z] = [cell % width, cell / width].map(|at| at as i32);
                let [across, down] = look.footprint.map(|cells| cells * CELL / 2);
                scenery.place(
                    x * CELL + across,
                    z * CELL + down - i32::from(height) / 2,
                    sprite,
                );
            }
        }
        scenery
    }

    /// Adds marks where players start.
    pub(super) fn add_starts(&mut self, starts: &[Start], palette: &Palette) {
        for start in starts {
            let sprite = self.sprites.len();
            self.sprites.push(mark(start.player, palette));
            let [x, z] = start.position;
            self.place(x, z, sprite);
        }
    }

    /// Draws the model of each feature. Adds the numbers of the sprites.
    fn draw_models(
        &mut self,
        looks: &[Option<&Look>],
        sprites: &mut [Option<usize>],
        models: &mut Models<'_>,
    ) {
        let mut known: HashMap<&str, Option<usize>> = HashMap::new();
        for (look, number) in looks.iter().zip(sprites) {
            let Some(Shape::Model(name)) = look.map(|look| &look.shape) else {
                continue;
            };
            *number = *known.entry(name).or_insert_with(|| {
                self.sprites.push(models.draw(name)?);
                Some(self.sprites.len() - 1)
            });
        }
    }

    /// Reads the first frame of the sequence of each feature. Returns the numbers of
    /// the sprites. `left` is their total pixel limit.
    fn read_sprites(
        &mut self,
        looks: &[Option<&Look>],
        left: &mut u64,
        context: &dyn AssetContext,
    ) -> Vec<Option<usize>> {
        let mut sprites = vec![None; looks.len()];
        let mut files: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (feature, look) in looks.iter().enumerate() {
            if let Some(Shape::Sprite { file, sequence }) = look.map(|look| &look.shape) {
                files.entry(file).or_default().push((feature, sequence));
            }
        }
        for (file, wanted) in files {
            let path = format!("anims/{file}.gaf");
            let bytes = context
                .find(AssetKey::Path(&path))
                .and_then(|file| context.read(file));
            let gaf = bytes.and_then(|bytes| gaf::parse(&bytes).ok());
            let Some(gaf) = gaf else {
                continue;
            };
            for (feature, name) in wanted {
                let mut sequences = gaf.sequences.iter();
                let found = sequences.find(|one| one.name.eq_ignore_ascii_case(name));
                let frame = found.and_then(|sequence| gaf.frame(sequence.get(0)?).ok());
                let frame = frame.filter(|frame| (1..=*left).contains(&frame.pixels()));
                let Some(frame) = frame else {
                    continue;
                };
                *left -= frame.pixels();
                let picture = gaf.decode(&frame).unwrap_or_else(|lost| lost.model);
                if let Pixels::Indexed(pixels) = picture.pixels {
                    sprites[feature] = Some(self.sprites.len());
                    self.sprites.push(Sprite {
                        width: frame.width.into(),
                        height: frame.height.into(),
                        origin: [frame.x.into(), frame.y.into()],
                        indices: pixels.indices,
                        mask: pixels.mask,
                    });
                }
            }
        }
        sprites
    }

    /// Places a sprite at a pixel of the map.
    fn place(&mut self, x: i32, y: i32, sprite: usize) {
        let Sprite { origin, mask, .. } = &self.sprites[sprite];
        let pixels = self.pixels + mask.len();
        if self.placed.len() < MAX_PLACED && pixels <= MAX_DRAWN {
            self.pixels = pixels;
            self.placed.push(Placed {
                left: x.saturating_sub(origin[0]),
                top: y.saturating_sub(origin[1]),
                sprite,
            });
        }
    }

    /// Returns a function that draws on the rows of the map, from the first one on.
    pub(super) fn rows(&self) -> Rows<'_> {
        let mut waiting: Vec<usize> = (0..self.placed.len()).collect();
        waiting.sort_by_key(|&placed| std::cmp::Reverse(self.placed[placed].top));
        Rows {
            scenery: self,
            waiting,
            active: BTreeSet::new(),
        }
    }
}

/// Draws rows, one after the other.
pub(super) struct Rows<'s> {
    scenery: &'s Scenery,
    /// The sprites below the row, ordered from the lowest to the highest.
    waiting: Vec<usize>,
    /// The sprites in the row.
    active: BTreeSet<usize>,
}

impl Rows<'_> {
    /// Draws on the ground of a row.
    pub(super) fn draw(&mut self, y: u32, row: &mut [u8]) {
        let Scenery {
            sprites, placed, ..
        } = self.scenery;
        let y = y as i32;
        while let Some(next) = self.waiting.pop_if(|next| placed[*next].top <= y) {
            self.active.insert(next);
        }
        self.active.retain(|&one| {
            let Placed { top, sprite, .. } = placed[one];
            y - top < sprites[sprite].height
        });
        for &one in &self.active {
            let Placed { left, top, sprite } = placed[one];
            let sprite = &sprites[sprite];
            let start = (y - top) as usize * sprite.width as usize;
            let pixels = sprite.indices[start..].iter().zip(&sprite.mask[start..]);
            for (x, (&index, &mask)) in (left..).zip(pixels.take(sprite.width as usize)) {
                let pixel = usize::try_from(x).ok().and_then(|x| row.get_mut(x));
                if let Some(pixel) = pixel.filter(|_| mask != 0) {
                    *pixel = index;
                }
            }
        }
    }
}

/// Returns the mark of a start position: a disc with the player's number.
fn mark(player: u32, palette: &Palette) -> Sprite {
    let [black, white] = [0, 255].map(|gray| palette.nearest([gray; 3]));
    let digits = player.to_string().into_bytes();
    let mut sprite = Sprite {
        width: MARK,
        height: MARK,
        origin: [MARK / 2; 2],
        indices: Vec::new(),
        mask: Vec::new(),
    };
    let left = MARK / 2 - (digits.len() as i32 * 4 - 1) * ENLARGED / 2;
    let top = MARK / 2 - 5 * ENLARGED / 2;
    for y in 0..MARK {
        for x in 0..MARK {
            let [dx, dy] = [2 * x + 1 - MARK, 2 * y + 1 - MARK];
            let is_within = |radius: i32| dx * dx + dy * dy <= 4 * radius * radius;
            let [column, line] = [x - left, y - top].map(|at| at.div_euclid(ENLARGED));
            let digit = usize::try_from(column / 4)
                .ok()
                .and_then(|at| digits.get(at));
            let bits = digit.and_then(|digit| {
                let rows = DIGITS.get(usize::from(digit - b'0'))?;
                rows.get(usize::try_from(line).ok()?)
            });
            let bit = (0..3).contains(&(column % 4)) && column >= 0;
            let is_digit = bits.is_some_and(|bits| bit && bits >> (2 - column % 4) & 1 != 0);
            let is_ring = is_within(MARK / 2) && !is_within(MARK / 2 - RING);
            sprite
                .indices
                .push(if is_digit || is_ring { white } else { black });
            sprite.mask.push(if is_within(MARK / 2) { 0xFF } else { 0 });
        }
    }
    sprite
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprite(index: u8, origin: [i32; 2]) -> Sprite {
        Sprite {
            width: 2,
            height: 2,
            origin,
            indices: vec![index; 4],
            mask: vec![255, 255, 255, 0],
        }
    }

    #[test]
    fn sprites_are_clipped_and_those_in_front_are_drawn_last() {
        let mut scenery = Scenery {
            sprites: vec![sprite(1, [1, 1]), sprite(2, [0, 0])],
            placed: Vec::new(),
            pixels: 0,
        };
        scenery.place(0, 0, 0);
        scenery.place(2, 1, 0);
        scenery.place(2, 1, 1);
        let mut rows = scenery.rows();
        let drawn = (0..3).map(|y| {
            let mut row = [0; 4];
            rows.draw(y, &mut row);
            row
        });
        let expected = [[0, 1, 1, 0], [0, 1, 2, 2], [0, 0, 2, 0]];
        assert_eq!(drawn.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_mark_has_a_ring_and_the_number_of_the_player() {
        let mark = mark(1, &Palette::TA);
        let row = |y: i32| {
            let start = (y * MARK) as usize;
            &mark.indices[start..start + MARK as usize]
        };
        let white = mark.indices[(RING / 2 * MARK + MARK / 2) as usize];
        assert_eq!(Palette::TA.0[usize::from(white)], [255; 3]);
        // The foot of the digit is as wide as the digit.
        let foot = row(MARK / 2 + 2 * ENLARGED)[8..56].iter();
        assert_eq!(
            foot.filter(|&&index| index == white).count() as i32,
            3 * ENLARGED
        );
        let neck = row(MARK / 2)[8..56].iter();
        assert_eq!(
            neck.filter(|&&index| index == white).count() as i32,
            ENLARGED
        );
        assert_eq!(mark.mask[0], 0);
    }
}
