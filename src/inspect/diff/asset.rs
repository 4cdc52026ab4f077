//! Changes of an asset in the terms of its view: the JSON, texts and tables of its `X.meta`.
//! Pictures, sounds and models are named if nothing else differs.

use std::io::ErrorKind;

use hpimount_containers::io;
use hpimount_record::Value;

use super::difference::{Difference, Differences};
use super::table::Table;
use super::{Side, table, text, value};
use crate::inspect::shown::{INFO, SUMMARY, Shown};
use crate::inspect::texts::{self, MAX_TEXT};
use crate::inspect::{Contents, Trouble};
use crate::memory::budget::Reservation;
use crate::mount::{Ino, Node, Vfs, format_of};
use hpimount_assets::view::page::WARNINGS;

/// Memory that a comparison takes for each byte of a compared file.
const EXPANSION: usize = 12;

/// Part of the memory budget of a side that one comparison may use; of generated tables
/// twice as much.
const PART_OF_BUDGET: usize = 4;

/// Maximum number of bytes of pictures, sounds and models of an asset that are compared.
const MAX_MEDIA: u64 = 1 << 26;

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
/// What describes an asset best and differs is compared: the text and JSON of its view,
/// else its facts, else its tables, else its lines if it is a text, else its warnings, else
/// the names of pictures, sounds and models.
///
/// # Errors
/// Returns the side that cannot be compared, and the cause.
pub(super) fn differences(sides: [&Vfs; 2], inos: [Ino; 2]) -> Result<Vec<Difference>, Failed> {
    let nodes = both(|side| Ok(sides[side].node(inos[side])?))?;
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
    let shown = both(|side| Shown::new(sides[side], &nodes[side], old))?;
    let mut found = Differences::default();
    for tier in [own_files, facts, tables] {
        tier(&shown, &mut found)?;
        if !found.is_empty() {
            return Ok(found.finish());
        }
    }
    lines(sides, inos, &mut found)?;
    if found.is_empty() {
        warnings(&shown, &mut found);
    }
    if found.is_empty() {
        media(&shown, &mut found)?;
    }
    Ok(found.finish())
}

/// The side that cannot be compared, and the cause.
type Failed = (Side, Trouble);

/// Returns what `get` returns for the two sides, the old one first.
fn both<T>(get: impl Fn(Side) -> Result<T, Trouble>) -> Result<[T; 2], Failed> {
    let of = |side| get(side).map_err(|trouble| (side, trouble));
    Ok([of(0)?, of(1)?])
}

/// Compares the texts and the JSON that say all of an asset.
fn own_files(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let vfs = [shown[0].vfs, shown[1].vfs];
    let most = most(vfs);
    let names = shown[0].names();
    for name in names.filter(|name| ![INFO, SUMMARY].contains(name)) {
        let _memory = reserved(vfs, most)?;
        match Kind::of(name) {
            Some(Kind::Json) => {
                let values = both(|side| shown[side].values(name, most))?;
                if let [Some(old), Some(new)] = &values {
                    value::compare(String::new(), old, new, found);
                }
            }
            Some(Kind::Text) => {
                let texts = both(|side| shown[side].text(name, most))?;
                if let [Some(old), Some(new)] = &texts {
                    text::compare(name, [old, new], found);
                }
            }
            Some(Kind::Table) | None => {}
        }
    }
    Ok(())
}

/// Compares the facts about an asset without its warnings; of long lists, nothing.
fn facts(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let vfs = [shown[0].vfs, shown[1].vfs];
    let most = most(vfs);
    let _memory = reserved(vfs, most)?;
    let facts = |side: Side| {
        let mut facts = shown[side].model.view.info().collect(&mut { most })?;
        if let Value::Map(entries) = &mut facts {
            entries.retain(|(name, _)| name != WARNINGS);
        }
        Some(facts)
    };
    if let [Some(old), Some(new)] = &[facts(0), facts(1)] {
        value::compare(String::new(), old, new, found);
    }
    Ok(())
}

/// Compares the lines of assets that are texts, such as comments.
fn lines(sides: [&Vfs; 2], inos: [Ino; 2], found: &mut Differences) -> Result<(), Failed> {
    let most = most(sides);
    let _memory = reserved(sides, most)?;
    let text = |side: Side| texts::of_file(sides[side], inos[side], most);
    if let [Some(old), Some(new)] = &[text(0), text(1)] {
        text::compare("text", [old, new], found);
    }
    Ok(())
}

/// Compares the warnings about an asset, which often name places that move.
fn warnings(shown: &[Shown<'_>; 2], found: &mut Differences) {
    let [old, new] = shown.each_ref().map(|shown| {
        let warnings = shown.model.view.warnings();
        warnings.into_iter().map(Value::text).collect()
    });
    value::compare(WARNINGS.to_owned(), &old, &new, found);
}

/// Names the pictures, sounds and models that differ. Compares no more after many bytes.
fn media(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let mut left = MAX_MEDIA;
    let files = shown.each_ref().map(Shown::media);
    for (path, old) in &files[0] {
        let Some(new) = files[1].get(path) else {
            continue;
        };
        let hashes = both(|side| shown[side].sha256([*old, *new][side], left))?;
        if hashes[0] != hashes[1] {
            found.note(format!("{path} differs"));
        }
        let [Some((_, old)), Some((_, new))] = hashes else {
            found.note(format!("{path} and further files are not compared"));
            break;
        };
        left = left.saturating_sub(old.max(new));
    }
    Ok(())
}

/// Compares the tables about an asset that are not too long.
fn tables(shown: &[Shown<'_>; 2], found: &mut Differences) -> Result<(), Failed> {
    let vfs = [shown[0].vfs, shown[1].vfs];
    let most = most(vfs);
    for name in shown[0].names() {
        let _memory = reserved(vfs, most)?;
        let table = |side: Side| shown[side].table(name, |rows| Table::new(rows, most));
        if let [Some(old), Some(new)] = both(table)? {
            table::compare(name, [old, new], found);
        }
    }
    Ok(())
}

/// Compares two generated files: tables of views and reports by their values, and texts and
/// tables that an archive writes as they are written.
fn generated(sides: [&Vfs; 2], nodes: &[Node<'_>; 2]) -> Result<Vec<Difference>, Failed> {
    let name = nodes[0].tree().name(nodes[0].index);
    let Some(kind) = Kind::of(name) else {
        return Ok(Vec::new());
    };
    // A cell takes more memory than its text does, and reports have many empty ones.
    let most = most(sides) * if kind == Kind::Table { 2 } else { 1 };
    let sizes = both(|side| Ok(sides[side].getattr(nodes[side].ino())?.size))?;
    if sizes.iter().any(|&size| size > most as u64) {
        return Ok(Vec::new());
    }
    let _memory = reserved(sides, most)?;
    let text = |side: Side| generated_text(sides[side], &nodes[side]);
    let table = |side: Side| generated_table(sides[side], &nodes[side], most);
    let mut found = Differences::default();
    match kind {
        Kind::Table => {
            if let [Some(old), Some(new)] = both(table)? {
                table::compare(name, [old, new], &mut found);
            }
        }
        Kind::Json => {
            if let [Some(old), Some(new)] = &both(text)?
                && let [Ok(old), Ok(new)] = &[old, new].map(|json| Value::parse(json))
            {
                value::compare(String::new(), old, new, &mut found);
            }
        }
        Kind::Text => {
            if let [Some(old), Some(new)] = &both(text)? {
                text::compare(name, [old, new], &mut found);
            }
        }
    }
    Ok(found.finish())
}

/// Returns a generated table; `None` if it needs more than `most` bytes.
fn generated_table(vfs: &Vfs, node: &Node<'_>, most: usize) -> Result<Option<Table>, Trouble> {
    let mut table = Table::within(most);
    match vfs.assets().table(node, &mut table) {
        Ok(true) => Ok(Some(table)),
        Ok(false) => Ok(generated_text(vfs, node)?.as_deref().map(Table::parse)),
        Err(io::Error::Output(error)) if error.kind() == ErrorKind::FileTooLarge => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the text of a generated file; `None` if it is not UTF-8.
fn generated_text(vfs: &Vfs, node: &Node<'_>) -> Result<Option<String>, Trouble> {
    let mut bytes = Vec::new();
    for piece in Contents(vfs).pieces(node.ino()) {
        bytes.extend_from_slice(&piece?);
    }
    Ok(String::from_utf8(bytes).ok())
}

/// Returns the maximum length of a compared text.
fn most(sides: [&Vfs; 2]) -> usize {
    let limit = |vfs: &Vfs| vfs.reader().budget().limit() / PART_OF_BUDGET / EXPANSION;
    MAX_TEXT.min(limit(sides[0])).min(limit(sides[1]))
}

/// Reserves the memory to compare two texts of this length, on the first side
/// first.
fn reserved(sides: [&Vfs; 2], most: usize) -> Result<[Reservation; 2], Failed> {
    both(|side| {
        let budget = sides[side].reader().budget();
        Ok(budget.reserve("comparing it", most * EXPANSION, true)?)
    })
}
