//! View of a map: its ground, minimap, heights, and features.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::ota;
use super::scenery::{self, Scenery};
use crate::pal::colors::Colors;
use crate::pal::shown::Shown;
use crate::tdf;
use crate::terrain::TILE_EDGE;
use crate::terrain::view::{self, REDUCED};
use crate::tnt::{self, Tnt, Version};
use crate::view::{parts, stem};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::listed::{Listed, Render, whole_files};
use hpimount_assets::view::{
    AssetContext, AssetRef, Failure, Preview, Summary, Table, View, ViewFormat, Wanted, json,
};
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
        files: &["minimap.png", "map_1_8.png"],
        rank: 5,
    }),
    ..ViewFormat::new("TNT", open)
};

fn open(bytes: &Bytes, context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    let (mut tnt, error) = parts(tnt::parse(bytes), |tnt| tnt.cells() > 0, head)?;
    let mut files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    if !tnt.features.is_empty() {
        files.push(Listed::whole("features.tsv", features));
    }
    let minimap = tnt.minimap.as_ref();
    if minimap.is_some_and(|minimap| view::is_picture(minimap, tnt.minimap_used())) {
        files.push(Listed::whole("minimap.png", minimap_picture));
    }
    if view::has_ground(&tnt.terrain) {
        files.push(Listed::whole("map_1_8.png", small));
        if view::is_shown_whole(&tnt.terrain) {
            files.push(Listed::whole("map.png", map));
            if !tnt.features.is_empty() && !scenery::texts(context).is_empty() {
                let render = Render::InContext(map_with_features, 0);
                files.push(Listed::new(None, "map_features.png".to_owned(), render));
            }
            if text_of(context).is_some() {
                let render = Render::InContext(map_with_starts, 0);
                files.push(Listed::new(None, "map_starts.png".to_owned(), render));
            }
        } else {
            tnt.warnings
                .push("the map is shown only at an eighth of its size");
        }
    }
    // After the pictures that are better previews.
    if tnt.heights().next().is_some() {
        files.push(Listed::whole("height.png", heights));
    }
    let colors = match tnt.version {
        Version::Kingdoms => Colors::of_kingdoms_map(context),
        Version::Ta | Version::OldTa => Colors::of_mount(context),
    };
    let shown = Shown { colors, asset: tnt };
    Ok(shown.partial_view(files, error))
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

fn map_with_features(
    shown: &Shown<Tnt>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let scenery = Scenery::new(&shown.asset, &shown.colors.palette, context);
    let mut rows = scenery.rows();
    let mut draw = |y: u32, row: &mut [u8]| rows.draw(y, row);
    view::write_with(&shown.asset.terrain, &shown.colors, &mut draw, out)
}

fn map_with_starts(
    shown: &Shown<Tnt>,
    _part: usize,
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut scenery = Scenery::new(&shown.asset, &shown.colors.palette, context);
    let text = text_of(context).and_then(|file| context.read(file));
    if let Some(text) = text.map(|bytes| tdf::parse(&bytes).unwrap_or_else(|lost| lost.model)) {
        let header = text.root().section("GlobalHeader");
        let starts = header.map(ota::starts).unwrap_or_default();
        scenery.add_starts(&starts, &shown.colors.palette);
    }
    let mut rows = scenery.rows();
    let mut draw = |y: u32, row: &mut [u8]| rows.draw(y, row);
    view::write_with(&shown.asset.terrain, &shown.colors, &mut draw, out)
}

/// Returns the text of a map.
fn text_of(context: &dyn AssetContext) -> Option<AssetRef> {
    let name = format!("{}.ota", stem(context.name()));
    context.find(Wanted::Sibling(&name))
}

fn small(shown: &Shown<Tnt>, out: &mut dyn Write) -> io::Result<()> {
    view::write(&shown.asset.terrain, &shown.colors, REDUCED, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::put;
    use fixtures::ta::tnt::{Kingdoms, Map};
    use hpimount_assets::view::Alone;

    /// Offsets of the pointers to the parts of a map in its header.
    const CELLS: usize = 0x10;
    const TILES: usize = 0x14;
    const FEATURES: usize = 0x20;

    /// Returns a map of 16 x 16 cells, which is large enough for a minimap.
    fn map() -> Map {
        Map {
            width: 16,
            height: 16,
            map: vec![0; 64],
            cells: vec![(1, 0xFFFF); 256],
            minimap: (252, 252, vec![0; 252 * 252]),
            ..Map::small()
        }
    }

    /// Opens a file with the word `value` at the offset `at`, renders all files
    /// of its view, and returns their names.
    fn files_with(mut bytes: Vec<u8>, at: usize, value: u32) -> Vec<String> {
        put(&mut bytes, at, &value.to_le_bytes());
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        let files = view.files();
        for (index, file) in files.iter().enumerate() {
            let mut rendering = Vec::new();
            view.render(index, &Alone, &mut rendering).unwrap();
            assert!(!rendering.is_empty(), "{}", file.name);
            if file.name == "error.txt" {
                let error = view.failure().unwrap();
                assert_eq!(rendering, format!("{error}\n").into_bytes());
            }
        }
        let has_error = files.iter().any(|file| file.name == "error.txt");
        assert_eq!(view.failure().is_some(), has_error);
        files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn a_damaged_part_hides_only_itself() {
        let expected = [
            "error.txt",
            "info.json",
            "info.txt",
            "features.tsv",
            "minimap.png",
            "map_1_8.png",
            "map.png",
            "height.png",
        ];
        let without = |hidden: &[&str]| -> Vec<&str> {
            let names = expected.into_iter();
            names.filter(|name| !hidden.contains(name)).collect()
        };
        let damaged = |at| files_with(map().file(0x2000), at, u32::MAX);
        assert_eq!(damaged(FEATURES), without(&["features.tsv"]));
        assert_eq!(damaged(CELLS), without(&["height.png"]));
        assert_eq!(damaged(TILES), expected, "missing tiles are black");
        let intact = files_with(map().file(0x2000), 4, 16);
        assert_eq!(intact, without(&["error.txt"]));
        let kingdoms = files_with(Kingdoms::small(false).file(), 0x20, u32::MAX);
        assert_eq!(
            kingdoms,
            without(&["map_1_8.png", "map.png"]),
            "the ground is in other files"
        );
    }

    #[test]
    fn a_map_with_a_damaged_part_has_its_preview_in_the_converted_tree() {
        let mut bytes = map().file(0x2000);
        put(&mut bytes, FEATURES, &[0xFF; 4]);
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        assert!(view.failure().is_some());
        let preview = FORMAT.converted.of(None).files[0].find(&*view).unwrap();
        assert_eq!(view.files()[preview].name, "minimap.png");
    }

    #[test]
    fn a_file_of_another_version_or_size_has_only_its_error() {
        for (at, value) in [(0, 0x3000), (4, 0), (8, u32::MAX)] {
            let mut bytes = map().file(0x2000);
            put(&mut bytes, at, &u32::to_le_bytes(value));
            let failure = open(&bytes.into(), &Alone).err().unwrap();
            assert_eq!(failure.partial["features"], 0);
        }
    }

    #[test]
    fn a_map_without_minimap_is_previewed_by_its_ground() {
        let mut bytes = map().file(0x2000);
        put(&mut bytes, 0x28, &[0; 4]);
        let view = open(&bytes.into(), &Alone).ok().unwrap();
        let Conversion::Always(converted) = FORMAT.converted else {
            unreachable!("maps of all types are converted alike");
        };
        let preview = converted.files[0].find(&*view).unwrap();
        assert_eq!(view.files()[preview].name, "map_1_8.png");
        assert!(FORMAT.preview.unwrap().files.contains(&"map_1_8.png"));
    }
}
