//! View of a section of a map.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::total_annihilation::pal::colors::Colors;
use crate::total_annihilation::sct::{self, Sct};
use crate::total_annihilation::terrain::view;
use crate::total_annihilation::view::{Shown, failure};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::listed::{Listed, whole_files};
use crate::view::{AssetContext, Failure, Preview, Summary, View, ViewFormat, json};
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
    let mut sct = sct::parse(bytes).map_err(|incomplete| failure(*incomplete, head))?;
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("height.png", heights),
    ]);
    if sct.minimap.is_some() {
        files.push(Listed::whole("minimap.png", minimap));
    }
    if view::has_ground(&sct.terrain) && view::is_shown_whole(&sct.terrain) {
        files.push(Listed::whole("section.png", section));
    } else {
        sct.warnings
            .push("the picture of the section is too large to be shown");
    }
    let shown = Shown {
        colors: Colors::of_mount(context),
        asset: sct,
    };
    Ok(shown.view(files))
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
