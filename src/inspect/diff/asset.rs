//! Changes of an asset in the terms of its view: the JSON, texts and tables of its `X.meta`.
//! Pictures, sounds and models are not compared.

use hpimount_record::Value;

use super::difference::{Difference, Differences};
use super::table::Table;
use super::{Side, table, text, value};
use crate::inspect::shown::{INFO, SUMMARY, Shown};
use crate::inspect::{Contents, Trouble};
use crate::memory::budget::Reservation;
use crate::mount::{Ino, Node, Vfs, format_of};

/// Maximum length of a compared file of a view in bytes, and the memory that its
/// comparison takes for each of them.
const MAX_TEXT: usize = 1 << 20;
const EXPANSION: usize = 12;

/// Part of the memory budget of a side that one comparison may use.
const PART_OF_BUDGET: usize = 4;

/// Comparison method for a file of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Table,
    Text,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "json" => Some(Self::Json),
            "tsv" => Some(Self::Table),
            "bos" | "q" | "txt" => Some(Self::Text),
            _ => None,
        }
    }
}

/// Returns how two files differ that are assets of the same format, or
/// generated tables or JSON; nothing for others.
///
/// Of the files of a view, those that describe it best and differ are compared:
/// the asset's own text and JSON, else its facts, else its tables.
///
/// # Errors
/// Returns the side that cannot be compared, and the cause.
pub(super) fn differences(
    sides: [&Vfs; 2],
    inos: [Ino; 2],
) -> Result<Vec<Difference>, (Side, Trouble)> {
    let node = |side: Side| {
        let node = sides[side].node(inos[side]);
        node.map_err(|error| (side, Trouble::from(error)))
    };
    let nodes = [node(0)?, node(1)?];
    let is_generated = |side: Side| Contents(sides[side]).is_generated(&nodes[side]);
    if is_generated(0) && is_generated(1) {
        return generated(sides, &nodes);
    }
    let formats = [format_of(&nodes[0]), format_of(&nodes[1])];
    let [Some(old), Some(new)] = formats else {
        return Ok(Vec::new());
    };
    if old.name != new.name {
        return Ok(Vec::new());
    }
    let shown = |side: Side| {
        let shown = Shown::new(sides[side], &nodes[side], old);
        shown.map_err(|trouble| (side, trouble))
    };
    let shown = [shown(0)?, shown(1)?];
    let tiers = [own_files, facts, tables];
    for tier in tiers {
        let mut found = Differences::default();
        tier(&shown, &mut found)?;
        if !found.is_empty() {
            return Ok(found.finish());
        }
    }
    Ok(Vec::new())
}

/// The side that cannot be compared, and the cause.
type Failed = (Side, Trouble);

/// Compares the texts and the JSON that say all of an asset.
fn own_files(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let vfs = [shown[0].vfs, shown[1].vfs];
    let most = most(vfs);
    for name in shown[0].names() {
        let Some(kind) = Kind::of(name).filter(|kind| *kind != Kind::Table) else {
            continue;
        };
        if [INFO, SUMMARY].contains(&name) {
            continue;
        }
        let _memory = reserved(vfs, most)?;
        let text = |side: Side| {
            let text = shown[side].text(name, most);
            text.map_err(|trouble| (side, trouble))
        };
        if let [Some(old), Some(new)] = &[text(0)?, text(1)?] {
            compare_texts(name, kind, [old, new], found);
        }
    }
    Ok(())
}

/// Compares the facts about an asset; of long lists, nothing.
fn facts(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let vfs = [shown[0].vfs, shown[1].vfs];
    let most = most(vfs);
    let _memory = reserved(vfs, most)?;
    let facts = |side: Side| shown[side].model.view.info().collect(&mut { most });
    if let [Some(old), Some(new)] = &[facts(0), facts(1)] {
        value::compare(String::new(), old, new, found);
    }
    Ok(())
}

/// Compares the tables about an asset that are not too long.
fn tables(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let vfs = [shown[0].vfs, shown[1].vfs];
    let most = most(vfs);
    for name in shown[0].names() {
        let _memory = reserved(vfs, most)?;
        let table = |side: Side| {
            let table = shown[side].table(name, |rows| Table::new(rows, most));
            table.map_err(|trouble| (side, trouble))
        };
        if let [Some(old), Some(new)] = [table(0)?, table(1)?] {
            table::compare(name, [old, new], found);
        }
    }
    Ok(())
}

/// Compares two generated files that are no parts of views.
fn generated(sides: [&Vfs; 2], nodes: &[Node<'_>; 2]) -> Result<Vec<Difference>, (Side, Trouble)> {
    let name = nodes[0].tree().name(nodes[0].index);
    let Some(kind) = Kind::of(name) else {
        return Ok(Vec::new());
    };
    let most = most(sides);
    let _memory = reserved(sides, most)?;
    let text = |side: Side| {
        let attr = sides[side].getattr(nodes[side].ino());
        let size = attr.map_err(|error| (side, Trouble::from(error)))?.size;
        if size > most as u64 {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        for piece in Contents(sides[side]).pieces(nodes[side].ino()) {
            bytes.extend_from_slice(&piece.map_err(|trouble| (side, trouble))?);
        }
        Ok(String::from_utf8(bytes).ok())
    };
    let mut found = Differences::default();
    if let [Some(old), Some(new)] = &[text(0)?, text(1)?] {
        compare_texts(name, kind, [old, new], &mut found);
    }
    Ok(found.finish())
}

/// Returns the maximum length of a compared text.
fn most(sides: [&Vfs; 2]) -> usize {
    let limit = |vfs: &Vfs| vfs.reader().budget().limit() / PART_OF_BUDGET / EXPANSION;
    MAX_TEXT.min(limit(sides[0])).min(limit(sides[1]))
}

/// Reserves the memory to compare two texts of this length, on the first side
/// first.
fn reserved(sides: [&Vfs; 2], most: usize) -> Result<[Reservation; 2], (Side, Trouble)> {
    let reserve = |side: Side| {
        let budget = sides[side].reader().budget();
        let reserved = budget.reserve("comparing it", most * EXPANSION, true);
        reserved.map_err(|error| (side, Trouble::from(error)))
    };
    Ok([reserve(0)?, reserve(1)?])
}

fn compare_texts(name: &str, kind: Kind, texts: [&str; 2], found: &mut Differences) {
    match kind {
        Kind::Json => {
            if let [Ok(old), Ok(new)] = &texts.map(Value::parse) {
                value::compare(String::new(), old, new, found);
            }
        }
        Kind::Table => table::compare(name, texts.map(Table::parse), found),
        Kind::Text => text::compare(name, texts, found),
    }
}
