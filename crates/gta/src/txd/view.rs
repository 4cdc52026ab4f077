//! View of a texture dictionary: a picture for each texture and each of its
//! smaller levels, and a contact sheet.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Entry, Txd};
use crate::{failure, txd};
use hpimount_assets::model::{Picture, Pixels, Scale, not_shown, padded, png, sheet};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, ListedView, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json,
};
use hpimount_renderware::texture::table::{COLUMNS, cells};
use hpimount_renderware::texture::{Sampling, Texture, export};

/// Texture dictionaries.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: txd::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "preview.png",
    )])),
    preview: Some(Preview {
        files: &["preview.png"],
        rank: 9,
    }),
    matches: Some(txd::is_dictionary),
    ..ViewFormat::new("TXD", open)
};

/// Folder of the pictures.
const TEXTURES: &str = "textures";

/// Folder of the smaller levels.
const MIPMAPS: &str = "mipmaps";

/// Maximum number of pixels that are decoded for a contact sheet.
const MAX_SHEET_PIXELS: u64 = 1 << 25;

/// Maximum number of pictures on a contact sheet.
const MAX_ON_SHEET: usize = 64;

/// A part's number is that of the texture times this, plus that of the level.
const LEVELS: usize = 16;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut model = txd::parse(bytes).map_err(|incomplete| failure(*incomplete, facts))?;
    let files = files(&mut model);
    Ok(Box::new(ListedView { model, files }))
}

fn files(txd: &mut Txd) -> Vec<Listed<Txd>> {
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("textures.tsv", table),
    ]);
    let count = txd.textures.len();
    let mut pictures = Vec::new();
    let mut mipmaps = Vec::new();
    for (index, entry) in txd.textures.iter_mut().enumerate() {
        let Ok(texture) = &entry.texture else {
            continue;
        };
        if let Some(problem) = export::picture_problem(texture) {
            let what = format!("texture {index}");
            entry.warnings.push(not_shown(what, problem));
            continue;
        }
        let name = format!("{} {}", padded(index, count, 2), entry.name);
        let name = name.trim_end();
        let file = |folder, name, level| {
            Listed::new(
                Some(folder),
                name,
                Render::Part(picture, index * LEVELS + level),
            )
        };
        pictures.push(file(TEXTURES, format!("{name}.png"), 0));
        for level in 1..texture.levels.len() {
            mipmaps.push(file(MIPMAPS, format!("{name}_{level}.png"), level));
        }
    }
    if !pictures.is_empty() {
        files.push(Listed::whole("preview.png", preview));
    }
    files.extend(pictures);
    files.extend(mipmaps);
    files
}

fn picture(txd: &Txd, part: usize, out: &mut dyn Write) -> io::Result<()> {
    let entry = txd.textures.get(part / LEVELS);
    let texture = entry.and_then(|entry| entry.texture.as_ref().ok());
    match texture.and_then(|texture| level(texture, part % LEVELS)) {
        Some(picture) => png::write(&picture, out),
        None => Ok(()),
    }
}

fn level(texture: &Texture, number: usize) -> Option<Picture> {
    let level = texture.levels.get(number)?;
    Some(Picture {
        width: level.width,
        height: level.height,
        pixels: Pixels::Rgba(texture.rgba(number)?),
    })
}

/// Writes the contact sheet.
fn preview(txd: &Txd, out: &mut dyn Write) -> io::Result<()> {
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

fn info(txd: &Txd, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&facts(txd), out)
}

fn facts(txd: &Txd) -> Value {
    json!({
        "format": FORMAT.name,
        "version": txd.version.to_string(),
        "stamp": format!("{:#010x}", txd.version.0),
        "declared_textures": txd.declared,
        "device": txd.device,
        "trailing_bytes": txd.trailing,
        "textures": txd.textures.iter().map(texture_facts).collect::<Vec<_>>(),
        "warnings": txd.warnings.texts(),
    })
}

fn texture_facts(entry: &Entry) -> Value {
    let texture = match &entry.texture {
        Ok(texture) => texture,
        Err(error) => {
            return json!({
                "name": entry.name,
                "error": error.to_string(),
                "warnings": entry.warnings.texts(),
            });
        }
    };
    let sampling = texture.sampling;
    json!({
        "name": texture.name,
        "mask": texture.mask,
        "platform": texture.format.platform(),
        "format": texture.format.name(),
        "palette": texture.format.palette_name(),
        "raster": format!("{:#06x}", texture.raster),
        "width": texture.width,
        "height": texture.height,
        "depth": texture.depth,
        "levels": texture.levels.len(),
        "alpha": texture.has_alpha,
        "filter": sampling.filter_name(),
        "address_u": Sampling::address_name(sampling.address_u),
        "address_v": Sampling::address_name(sampling.address_v),
        "warnings": entry.warnings.texts(),
    })
}

fn page(txd: &Txd, out: &mut dyn Write) -> io::Result<()> {
    let mut summary = Summary::new("TXD texture dictionary (Grand Theft Auto)");
    let names = txd.textures.iter().map(|entry| &entry.name);
    summary.line("version", txd.version).list("textures", names);
    let broken = txd.textures.iter().filter(|entry| entry.texture.is_err());
    let broken = broken.count();
    if broken > 0 {
        summary.line("unreadable", broken);
    }
    let mut warnings = txd.warnings.clone();
    for (index, entry) in txd.textures.iter().enumerate() {
        if let Err(error) = &entry.texture {
            warnings.push(error.to_string());
        }
        for text in entry.warnings.texts() {
            warnings.push(format!("texture {index}: {text}"));
        }
    }
    summary.write(&warnings, out)
}

/// Writes `textures.tsv`.
fn table(txd: &Txd, out: &mut dyn Write) -> io::Result<()> {
    let columns = [&["index", "name"][..], &COLUMNS, &["error"]].concat();
    let mut table = Table::new(out, &columns)?;
    for (index, entry) in txd.textures.iter().enumerate() {
        table.cell(index).text(&entry.name);
        match &entry.texture {
            Ok(texture) => {
                cells(texture, &mut table);
                table.cell("");
            }
            Err(error) => {
                for _ in COLUMNS {
                    table.cell("");
                }
                table.text(&error.to_string());
            }
        }
        table.end_row()?;
    }
    Ok(())
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
