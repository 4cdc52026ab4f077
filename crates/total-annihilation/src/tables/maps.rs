//! The table of maps. A map has a picture (TNT) and a text (OTA).

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use crate::tdf::{self, Section, Tdf};
use crate::tnt::ota;
use crate::tnt::{self, Tnt, Version};
use hpimount_assets::view::{AssetContext, AssetRef, TableSink};
use hpimount_containers::text::stem;
use hpimount_record::Value;

/// Maximum number of bytes of maps to read for the table, ten times as many as all maps
/// for the games have.
const MAX_BYTES: u64 = 4 << 30;

const COLUMNS: [&str; 17] = [
    "map",
    "archive",
    "size",
    "players",
    "minwind",
    "tidal",
    "schemas",
    "features",
    "title",
    "planet",
    "maxwind",
    "gravity",
    "kingdom",
    "cells",
    "sea_level",
    "starts",
    "file",
];

/// Returns the files of maps.
pub(super) fn files(context: &dyn AssetContext) -> Vec<AssetRef> {
    context.find_extensions("maps", &["ota", "tnt"])
}

/// The files of a map.
#[derive(Default)]
struct Map {
    ota: Option<AssetRef>,
    tnt: Option<AssetRef>,
}

/// Returns the maps, sorted by path.
fn maps(context: &dyn AssetContext) -> Vec<Map> {
    let mut maps: Vec<Map> = Vec::new();
    let mut indices = HashMap::new();
    for file in files(context) {
        let path = context.path_of(file);
        let (stem, extension) = path.rsplit_once('.').unwrap_or((&path, ""));
        let index = *indices
            .entry(stem.to_ascii_lowercase())
            .or_insert(maps.len());
        if index == maps.len() {
            maps.push(Map::default());
        }
        match extension.eq_ignore_ascii_case("ota") {
            true => maps[index].ota = Some(file),
            false => maps[index].tnt = Some(file),
        }
    }
    maps
}

/// A map that was read.
struct Opened {
    file: AssetRef,
    ota: Option<Tdf>,
    tnt: Option<Tnt>,
}

/// Reads the maps lazily, sorted by path.
fn opened(context: &dyn AssetContext) -> impl Iterator<Item = Opened> {
    let mut left = MAX_BYTES;
    maps(context).into_iter().filter_map(move |map| {
        let mut read = |file: Option<AssetRef>| {
            let bytes = context.read(file?).filter(|_| left > 0)?;
            left = left.saturating_sub(bytes.len() as u64);
            Some(bytes)
        };
        let ota = read(map.ota).map(|bytes| tdf::parse(&bytes));
        let tnt = read(map.tnt).map(|bytes| tnt::parse(&bytes));
        let tnt = tnt.map(|parsed| parsed.unwrap_or_else(|lost| lost.model));
        Some(Opened {
            file: map.ota.or(map.tnt)?,
            ota: ota.map(|parsed| parsed.unwrap_or_else(|lost| lost.model)),
            tnt: tnt.filter(|tnt| tnt.cells() > 0),
        })
    })
}

/// Calls `found` with each mistake in a map: a player who starts outside of it, or a
/// feature that `is_feature` does not know.
pub(super) fn check(
    context: &dyn AssetContext,
    is_feature: &dyn Fn(&str) -> bool,
    found: &mut dyn FnMut(AssetRef, String),
) {
    for Opened { file, ota, tnt } in opened(context) {
        let Some(tnt) = tnt else {
            continue;
        };
        let edge = match tnt.version {
            Version::Ta | Version::OldTa => tnt::CELL_EDGE,
            Version::Kingdoms => 1,
        };
        let size = [tnt.width, tnt.height].map(|cells| i64::from(cells) * i64::from(edge));
        let header = Text::new(ota.as_ref()).header;
        for start in header.map(ota::starts).unwrap_or_default() {
            let [x, z] = start.position;
            let is_in = |(at, size): (i32, i64)| (0..size).contains(&at.into());
            if ![(x, size[0]), (z, size[1])].into_iter().all(is_in) {
                let player = start.player;
                let text = format!("player {player} starts at {x},{z}, outside of the map");
                found(file, text);
            }
        }
        let names = tnt.features.iter().map(|feature| feature.name);
        for name in names.filter(|name| !is_feature(name)) {
            found(file, format!("the feature {name} does not exist"));
        }
    }
}

/// Sends the table.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&COLUMNS)?;
    for Opened { file, ota, tnt } in opened(context) {
        let ota = Text::new(ota.as_ref());
        let path = context.path_of(file);
        let tnt = tnt.as_ref();
        let cells = tnt.map(|tnt| format!("{} x {}", tnt.width, tnt.height));
        out.row(vec![
            stem(&path).to_owned().into(),
            context.archive_of(file).into(),
            ota.get("size"),
            ota.get("numplayers"),
            ota.get("minwindspeed"),
            ota.get("tidalstrength"),
            ota.schemas().into(),
            tnt.map(placed).into(),
            ota.get("missionname"),
            ota.get("planet"),
            ota.get("maxwindspeed"),
            ota.get("gravity"),
            ota.get("kingdom"),
            cells.into(),
            tnt.map(|tnt| tnt.sea_level).into(),
            ota.starts().into(),
            path.into(),
        ])?;
    }
    Ok(())
}

/// Returns the number of cells with a feature.
fn placed(tnt: &Tnt) -> usize {
    (0..tnt.cells())
        .filter(|&cell| tnt.feature(cell).is_some())
        .count()
}

/// The text of a map.
struct Text<'a> {
    header: Option<Section<'a>>,
}

impl<'a> Text<'a> {
    fn new(ota: Option<&'a Tdf>) -> Self {
        let header = ota.and_then(|ota| ota.root().section("GlobalHeader"));
        Self { header }
    }

    /// Returns the cell of a key.
    fn get(&self, key: &str) -> Value {
        let value = self.header.and_then(|header| header.get(key));
        value.map(Cow::into_owned).into()
    }

    /// Returns the start positions of the players, with their numbers.
    fn starts(&self) -> String {
        let starts = self.header.map(ota::starts).unwrap_or_default();
        let starts = starts.iter().map(|start| {
            let [x, z] = start.position;
            format!("{}:{x},{z}", start.player)
        });
        starts.collect::<Vec<_>>().join(" ")
    }

    /// Returns the game types of the map, which are the types of its schemas.
    fn schemas(&self) -> String {
        let sections = self.header.iter().flat_map(|header| header.sections());
        let schemas = sections.filter(|section| {
            let name = section.name().to_ascii_lowercase();
            name.starts_with("schema")
        });
        let types = schemas.map(|schema| schema.get("Type").unwrap_or_else(|| schema.name()));
        types.collect::<Vec<_>>().join(", ")
    }
}
