//! Edited rows of `frames.tsv`.

use std::collections::BTreeMap;

use crate::gaf::Gaf;
use crate::gaf::frames::{COLUMNS, rows};
use hpimount_assets::view::edited_table::{Change, Rules, differences};
use hpimount_assets::view::import::Problems;
use hpimount_assets::view::page::Rows;
use hpimount_record::Value;

/// A frame: the numbers of its sequence and in the sequence.
pub(super) type Place = (usize, usize);

/// The editable values of a frame in a table; `None` for unchanged ones.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) x: Option<i16>,
    pub(super) y: Option<i16>,
    pub(super) ticks: Option<u32>,
    pub(super) key: Option<u8>,
}

/// The rows of an edited table that differ from the file.
#[derive(Debug, Default)]
pub(super) struct EditedRows {
    pub(super) rows: BTreeMap<Place, Row>,
    /// Doubtful edits, one sentence each.
    pub(super) warnings: Vec<String>,
}

/// Compares an edited table with the file. `added` has the new frames, whose rows may
/// have any values. Fails with the problems of the cells, each with line and column.
pub(super) fn edited_rows(gaf: &Gaf, table: &[u8], added: &[Place]) -> Result<EditedRows, String> {
    let new = added.iter().map(|&(sequence, frame)| {
        let mut row = [const { Value::Null }; COLUMNS.len()];
        (row[SEQUENCE], row[FRAME]) = (sequence.into(), frame.into());
        row
    });
    let mut shown = Vec::new();
    let written = Rows::new(COLUMNS, rows(gaf).chain(new)).write(&mut shown);
    written.map_err(|error| error.to_string())?;
    let rules = Rules {
        keys: &[&[COLUMNS[SEQUENCE], COLUMNS[FRAME]]],
        name: None,
        is_editable: &|_| true,
        ..Rules::FIXED_ROWS
    };
    let found = differences(&shown, table, &rules)?;
    let sequences = gaf.sequences.iter().enumerate();
    let old = sequences.flat_map(|(index, one)| (0..one.len()).map(move |frame| (index, frame)));
    let places: Vec<Place> = old.chain(added.iter().copied()).collect();
    let first_added = places.len() - added.len();
    let mut edited = EditedRows {
        warnings: found.warnings,
        ..EditedRows::default()
    };
    let mut problems = Problems::default();
    for change in &found.changes {
        let row = edited.rows.entry(places[change.row]).or_default();
        if let Err(problem) = row.set(change, change.row >= first_added) {
            problems.add(change.problem(problem));
        }
    }
    problems.check().map(|()| edited)
}

const SEQUENCE: usize = 0;
const FRAME: usize = 2;

impl Row {
    /// Takes a cell. In the row of a new frame, which is often a copy of another row,
    /// values derived from the picture may be anything.
    fn set(&mut self, change: &Change, is_added: bool) -> Result<(), String> {
        match &*change.column {
            "x" => self.x = Some(number(&change.text)?),
            "y" => self.y = Some(number(&change.text)?),
            "ticks" => self.ticks = Some(number(&change.text)?),
            "key" => self.key = Some(number(&change.text)?),
            _ if is_added => {}
            _ => return Err("is derived".to_owned()),
        }
        Ok(())
    }
}

/// Returns the integer in a cell, which may have a fraction of zeros.
fn number<N: std::str::FromStr>(cell: &str) -> Result<N, String> {
    let whole = cell
        .split_once('.')
        .filter(|(_, part)| part.bytes().all(|digit| digit == b'0'));
    let parsed = whole.map_or(cell, |(whole, _)| whole).parse();
    parsed.map_err(|_| format!("{cell:?} is no whole number that fits"))
}
