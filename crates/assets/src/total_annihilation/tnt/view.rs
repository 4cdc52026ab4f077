//! View of a map: its ground, minimap, heights, and features.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::total_annihilation::pal::colors::Colors;
use crate::total_annihilation::terrain::TILE_EDGE;
use crate::total_annihilation::terrain::view::{self, REDUCED};
use crate::total_annihilation::tnt::{self, Tnt, Version};
use crate::total_annihilation::view::{Shown, failure};
use crate::view::converted::{Conversion, Converted, ConvertedFile};
use crate::view::listed::{Listed, whole_files};
use crate::view::{AssetContext, Failure, Preview, Summary, Table, View, ViewFormat, json};
use hpimount_containers::file_type::FileType;

/// Maps.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: tnt::EXTENSIONS,
    converted: Conversion::Always(Converted::parts(&[ConvertedFile::named(
        "png",
        "minimap.png",
    )])),
    types: &[FileType {
        patterns: &["*.tnt"],
        ..FileType::new("image/x-ta-tnt", Some("Total Annihilation map"))
    }],
    preview: Some(Preview {
        files: &["minimap.png"],
        rank: 5,
    }),
    ..ViewFormat::new("TNT", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let mut tnt = tnt::parse(bytes).map_err(|incomplete| failure(*incomplete, head))?;
    let mut files = whole_files(&[
        ("info.json", info as _),
        ("info.txt", page),
        ("features.tsv", features),
        ("height.png", heights),
    ]);
    let minimap = tnt.minimap.as_ref();
    if minimap.is_some_and(|minimap| view::is_picture(minimap, tnt.minimap_used())) {
        files.push(Listed::whole("minimap.png", minimap_picture));
    }
    if view::has_ground(&tnt.terrain) {
        files.push(Listed::whole("map_1_8.png", small));
        if view::is_shown_whole(&tnt.terrain) {
            files.push(Listed::whole("map.png", map));
        } else {
            tnt.warnings
                .push("the map is shown only at an eighth of its size");
        }
    }
    let colors = match tnt.version {
        Version::Kingdoms => Colors::of_kingdoms_map(context),
        Version::Ta | Version::OldTa => Colors::of_mount(context),
    };
    let shown = Shown { colors, asset: tnt };
    Ok(shown.view(files))
}

fn version(tnt: &Tnt) -> &'static str {
    match tnt.version {
        Version::Ta => "TA",
        Version::OldTa => "TA, early form",
        Version::Kingdoms => "TAK",
    }
}

/// Returns the width and height of the ground in tiles, each of which covers
/// four cells.
fn tiles(tnt: &Tnt) -> [u32; 2] {
    [tnt.width / 2, tnt.height / 2]
}

/// Returns the width and height of the ground in pixels.
fn size(tnt: &Tnt) -> [u32; 2] {
    tiles(tnt).map(|tiles| tiles.saturating_mul(TILE_EDGE))
}

/// Returns the facts that are known without reading the cells.
fn head(tnt: &Tnt) -> Value {
    let minimap = tnt.minimap.as_ref();
    let used = tnt.minimap_used().map(|(width, height)| [width, height]);
    let ground = tnt.ground.as_ref().map(|ground| {
        json!({
            "places": ground.len(),
            "coordinate_size": ground.coordinate_size,
            "large_minimap": ground.large_minimap,
        })
    });
    json!({
        "format": FORMAT.name,
        "game": version(tnt),
        "cells": [tnt.width, tnt.height],
        "tiles": tiles(tnt),
        "pixels": size(tnt),
        "tile_count": tnt.terrain.tile_count(),
        "sea_level": tnt.sea_level,
        "flags": tnt.flags,
        "uses_stored_minimap": tnt.flags & 1 != 0,
        "minimap": minimap.map(|minimap| [minimap.width, minimap.height]),
        "minimap_used": used,
        "ground": ground,
        "features": tnt.features.len(),
        "warnings": tnt.warnings.texts(),
    })
}

/// Returns the number of cells with each feature.
fn placed(tnt: &Tnt) -> Vec<usize> {
    let mut counts = vec![0; tnt.features.len()];
    for feature in (0..tnt.cells()).filter_map(|cell| tnt.feature(cell)) {
        if let Some(count) = counts.get_mut(feature) {
            *count += 1;
        }
    }
    counts
}

fn info(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    let tnt = &shown.asset;
    let mut facts = head(tnt);
    facts["height_range"] = json!(view::range(tnt.heights()));
    facts["features_placed"] = placed(tnt).iter().sum::<usize>().into();
    let words = tnt.cells_without_feature().into_iter();
    let words = words.map(|(word, count)| (format!("{word:04X}"), count.into()));
    facts["cells_without_feature"] = Value::Object(words.collect::<Map<_, _>>());
    facts["palette"] = shown.colors.source.as_str().into();
    json::write_pretty(&facts, out)
}

fn page(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    let tnt = &shown.asset;
    let mut page = Summary::new(format_args!("TNT map ({})", version(tnt)));
    let [width, height] = size(tnt);
    page.line("cells", format_args!("{} x {}", tnt.width, tnt.height));
    page.line("pixels", format_args!("{width} x {height}"));
    page.line("sea level", tnt.sea_level);
    page.line("features", tnt.features.len());
    page.line("palette", &shown.colors.source);
    page.write(&tnt.warnings, out)
}

/// Writes the names of features, and the number of cells with each.
fn features(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &["number", "index", "name", "placed"])?;
    let counts = placed(&shown.asset);
    for (number, (feature, count)) in shown.asset.features.iter().zip(counts).enumerate() {
        table.cell(number).cell(feature.index).text(&feature.name);
        table.cell(count).end_row()?;
    }
    Ok(())
}

fn heights(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    let tnt = &shown.asset;
    view::write_heights((tnt.width, tnt.height), tnt.heights(), out)
}

fn minimap_picture(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    let tnt = &shown.asset;
    match &tnt.minimap {
        Some(minimap) => view::write_minimap(minimap, tnt.minimap_used(), &shown.colors, out),
        None => Ok(()),
    }
}

fn map(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    view::write(&shown.asset.terrain, &shown.colors, 1, out)
}

fn small(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    view::write(&shown.asset.terrain, &shown.colors, REDUCED, out)
}
