//! View of a texture dictionary: a picture for each texture and smaller level, and a
//! contact sheet.

use std::io::{self, Write};

use bytes::Bytes;

use super::Txd;
use super::import::{self, LEVELS, SHEET, TEXTURES, picture_name};
use crate::{Opened, page, txd};
use hpimount_assets::model::{Picture, Pixels, Scale, not_shown, png, sheet};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::import::Editable;
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{AssetContext, Measures, Preview, ViewFile, ViewFormat};
use hpimount_record::Value;
use hpimount_renderware::texture::export;
use hpimount_renderware::texture::table::{COLUMNS, values};

/// Texture dictionaries.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: txd::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named("png", SHEET)])),
    edits: &[Editable::TEXTURES],
    import: Some(import::import),
    preview: Some(Preview::new(9, &[SHEET])),
    matches: Some(txd::is_dictionary),
    ..ViewFormat::new("TXD", open)
};

/// Maximum number of decoded pixels for a contact sheet.
const MAX_SHEET_PIXELS: u64 = 1 << 25;

/// Maximum number of pictures on a contact sheet.
const MAX_ON_SHEET: usize = 64;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    let mut txd = txd::parse(bytes)?;
    let mut page = page(FORMAT.name, "TXD texture dictionary", &mut txd.warnings);
    let unreadable = txd.textures.iter().filter(|entry| entry.texture.is_err());
    page.fact("version", txd.version.to_string())
        .fact("stamp", format!("{:#010x}", txd.version.0))
        .fact("declared_textures", txd.declared)
        .fact("device", txd.device)
        .fact("trailing_bytes", txd.trailing)
        .fact("unreadable", unreadable.count())
        .rows("textures", textures)
        .measures(|txd| {
            let textures = txd.textures.iter();
            let read = textures.filter_map(|entry| entry.texture.as_ref().ok());
            Measures::pictures(read.map(|texture| [texture.width, texture.height]))
        });
    let (mut pictures, mut mipmaps) = (Vec::new(), Vec::new());
    for (index, entry) in txd.textures.iter().enumerate() {
        for text in entry.warnings.texts() {
            page.warn(format!("texture {index}: {text}"));
        }
        let texture = match &entry.texture {
            Ok(texture) => texture,
            Err(error) => {
                page.warn(error.to_string());
                continue;
            }
        };
        if let Some(problem) = export::picture_problem(texture) {
            page.warn(not_shown(format!("texture {index}"), problem));
            continue;
        }
        let name = picture_name(index, txd.textures.len(), entry);
        let file = ViewFile::inside(TEXTURES, format!("{name}.png"));
        pictures.push((file, index, 0));
        for level in 1..texture.levels.len() {
            let file = ViewFile::inside(LEVELS, format!("{name}_{level}.png"));
            mipmaps.push((file, index, level));
        }
    }
    if !pictures.is_empty() {
        page.file(SHEET, preview);
    }
    for (file, index, level) in pictures.into_iter().chain(mipmaps) {
        page.picture(file, move |txd| picture(txd, index, level));
    }
    Ok(page.show(txd, None))
}

fn picture(txd: &Txd, index: usize, number: usize) -> Option<Picture> {
    let texture = txd.textures[index].texture.as_ref().ok()?;
    let level = texture.levels.get(number)?;
    Some(Picture {
        width: level.width,
        height: level.height,
        pixels: Pixels::Rgba(texture.rgba(number)?),
    })
}

/// Writes the contact sheet.
fn preview(txd: &Txd, _context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let textures = txd.textures.iter();
    let textures = textures.filter_map(|entry| entry.texture.as_ref().ok());
    let shown: Vec<_> = textures
        .filter(|texture| export::picture_problem(texture).is_none())
        .take(MAX_ON_SHEET)
        .collect();
    let mut left = MAX_SHEET_PIXELS;
    let pictures = shown.iter().map(|texture| {
        let pixels = u64::from(texture.width) * u64::from(texture.height);
        left = left.checked_sub(pixels)?;
        export::picture(texture)
    });
    png::write(&sheet(shown.len(), Scale::Own, pictures), out)
}

fn textures(txd: &Txd) -> Rows<'_> {
    let textures = txd.textures.iter().enumerate();
    let names = textures.map(|(index, entry)| [index.into(), entry.name.clone().into()]);
    let texture = |index: usize| txd.textures[index].texture.as_ref();
    let facts = move |index| texture(index).map_or([const { Value::Null }; COLUMNS.len()], values);
    let error = move |index| [texture(index).err().map(ToString::to_string).into()];
    let rows = Rows::new(["index", "name"], names);
    rows.and(COLUMNS, facts).and(["error"], error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::txd::{gray, txd};
    use hpimount_assets::view::Alone;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn each_texture_is_a_picture_and_a_row() {
        let mut broken = gray("broken", [0, 0]);
        broken[0x18] = 10;
        let bytes = txd(&[gray("wall", [7, 9]), broken]);
        let view = open(&bytes.clone().into(), &Alone).unwrap();
        let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
        assert_eq!(
            names,
            [
                "info.json",
                "info.txt",
                "textures.tsv",
                "preview.png",
                "00 wall.png"
            ]
        );
        let rows = rendered(&bytes, "textures.tsv");
        let rows: Vec<_> = rows.lines().collect();
        assert_eq!(
            rows[1],
            "0\twall\t\td3d9\tL8\t\t2\t1\t8\t1\t1\tfalse\tlinear\twrap\twrap\t0x400\t52\t"
        );
        assert!(rows[2].starts_with("1\tbroken\t\t") && rows[2].contains("PSP"));
    }
}
