//! View of a section of a map.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::sct::{self, Sct};
use crate::terrain::view;
use crate::view::parts;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
use hpimount_containers::file_type::FileType;

/// Sections.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: sct::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "minimap.png",
    )])),
    types: &[FileType {
        patterns: &["*.sct"],
        ..FileType::new("image/x-ta-sct", Some("Total Annihilation map section"))
    }],
    preview: Some(Preview {
        files: &["minimap.png", "section.png"],
        rank: 10,
    }),
    ..ViewFormat::new("SCT", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let is_shown = |sct: &Sct| sct.terrain.tiles_on_map() > 0;
    let (mut sct, error) = parts(sct::parse(bytes), is_shown, head)?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    if sct.minimap.is_some() {
        files.push(Listed::whole("minimap.png", minimap));
    }
    if view::has_ground(&sct.terrain) {
        if view::is_shown_whole(&sct.terrain) {
            files.push(Listed::whole("section.png", section));
        } else {
            sct.warnings
                .push("the picture of the section is too large to be shown");
        }
    }
    // After the pictures that are better previews.
    if sct.heights().next().is_some() {
        files.push(Listed::whole("height.png", heights));
    }
    let shown = Shown {
        colors: Colors::of_mount(context),
        asset: sct,
    };
    Ok(shown.partial_view(files, error))
}

fn head(sct: &Sct) -> Value {
    let (width, height) = view::size(&sct.terrain);
    json!({
        "format": FORMAT.name,
        "version": sct.version,
        "tiles": [sct.terrain.width, sct.terrain.height],
        "cells": [sct.width(), sct.height()],
        "pixels": [width, height],
        "tile_count": sct.terrain.tile_count(),
        "warnings": sct.warnings.texts(),
    })
}

fn info(shown: &Shown<Sct>, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = head(&shown.asset);
    facts["height_range"] = json!(view::range(shown.asset.heights()));
    facts["palette"] = shown.colors.source.as_str().into();
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<Sct>, out: &mut dyn Write) -> io::Result<()> {
    let sct = &shown.asset;
    let mut page = Summary::new(format_args!(
        "SCT section of a map (version {})",
        sct.version
    ));
    let (width, height) = view::size(&sct.terrain);
    page.line("pixels", format_args!("{width} x {height}"));
    page.line("palette", &shown.colors.source);
    page.write(&sct.warnings, out)
}

fn heights(shown: &Shown<Sct>, out: &mut dyn Write) -> io::Result<()> {
    let sct = &shown.asset;
    view::write_heights((sct.width(), sct.height()), sct.heights(), out)
}

fn minimap(shown: &Shown<Sct>, out: &mut dyn Write) -> io::Result<()> {
    match &shown.asset.minimap {
        Some(minimap) => view::write_minimap(minimap, None, &shown.colors, out),
        None => Ok(()),
    }
}

fn section(shown: &Shown<Sct>, out: &mut dyn Write) -> io::Result<()> {
    view::write(&shown.asset.terrain, &shown.colors, 1, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::put;
    use fixtures::ta::tnt::Section;
    use hpimount_assets::view::Alone;

    #[test]
    fn a_damaged_part_hides_only_itself() {
        let mut bytes = Section::small(3).file();
        put(&mut bytes, 4, &[0xFF; 4]);
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        let names: Vec<_> = view.files().into_iter().map(|file| file.name).collect();
        let shown = ["info.json", "info.txt", "section.png", "height.png"];
        assert_eq!(names[0], "error.txt");
        assert_eq!(names[1..], shown);
        assert!(view.failure().unwrap().to_string().starts_with("minimap"));
    }
}
