//! Edited rows of `frames.tsv`.

use std::collections::{BTreeMap, HashMap};

use crate::gaf::Gaf;
use crate::gaf::frames::{COLUMNS, rows};

/// Maximum number of bytes of a table.
const MAX_TABLE: usize = 64 << 20;

/// Maximum number of problems that are listed.
const MAX_PROBLEMS: usize = 50;

/// A frame: the numbers of its sequence and in this.
pub(super) type Place = (usize, usize);

/// The values of a frame that a table may change; `None` where it shows what is stored.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) x: Option<i16>,
    pub(super) y: Option<i16>,
    pub(super) ticks: Option<u32>,
    pub(super) key: Option<u8>,
}

/// Returns the rows of an edited table that differ from the file. `added` has the frames
/// that are new: all their values are taken.
///
/// # Errors
/// Returns the problems of the cells, each with its line and column.
pub(super) fn edited_rows(
    gaf: &Gaf,
    table: &[u8],
    added: &[Place],
) -> Result<BTreeMap<Place, Row>, String> {
    if table.len() > MAX_TABLE {
        return Err(format!("has more than {MAX_TABLE} bytes"));
    }
    let text = std::str::from_utf8(table).map_err(|_| "is not UTF-8: save it as UTF-8")?;
    let mut lines = text.trim_start_matches('\u{FEFF}').lines();
    let mut columns = Vec::new();
    for name in lines.next().unwrap_or_default().split('\t') {
        let found = COLUMNS
            .iter()
            .position(|column| column.eq_ignore_ascii_case(name.trim()));
        if found.is_none() && !name.starts_with('#') {
            return Err(format!("line 1: no column is called {name:?}"));
        }
        columns.push(found);
    }
    let stored: HashMap<Place, Vec<String>> = rows(gaf)
        .map(|row| {
            let cells = row.map(|cell| cell.to_string());
            let number = |column: usize| cells[column].parse().unwrap_or_default();
            ((number(SEQUENCE), number(FRAME)), cells.to_vec())
        })
        .collect();
    let mut edited = BTreeMap::new();
    let mut problems = Vec::new();
    for (line, text) in (2..).zip(lines).filter(|(_, text)| !text.trim().is_empty()) {
        let mut cells: [Option<&str>; COLUMNS.len()] = [None; COLUMNS.len()];
        for (column, cell) in columns.iter().zip(text.split('\t')) {
            if let Some(column) = column {
                cells[*column] = Some(cell.trim());
            }
        }
        let number = |column: usize| cells[column].and_then(|cell| cell.parse().ok());
        let place = number(SEQUENCE).zip(number(FRAME));
        let known = place.map(|place| (place, stored.get(&place)));
        let is_known =
            |(place, before): &(Place, Option<_>)| before.is_some() || added.contains(place);
        let Some((place, before)) = known.filter(is_known) else {
            problems.push(format!("line {line}: no frame has these numbers"));
            continue;
        };
        match row(&cells, before) {
            Err((column, why)) => {
                let (name, (sequence, frame)) = (COLUMNS[column], place);
                problems.push(format!(
                    "line {line}, column {name} ({sequence} {frame}): {why}"
                ));
            }
            Ok(row) => {
                if edited.insert(place, row).is_some_and(|other| other != row) {
                    problems.push(format!(
                        "line {line}: another line has other values of the frame"
                    ));
                }
            }
        }
    }
    problems.truncate(MAX_PROBLEMS);
    match problems.is_empty() {
        true => Ok(edited),
        false => Err(problems.join("; ")),
    }
}

const SEQUENCE: usize = 0;
const FRAME: usize = 2;
const X: usize = 5;
const Y: usize = 6;
const TICKS: usize = 7;
const KEY: usize = 10;

/// Returns the values of a row that differ, or the column of a wrong one and why.
fn row(cells: &[Option<&str>], before: Option<&Vec<String>>) -> Result<Row, (usize, String)> {
    let changed = |column: usize| {
        let cell = cells[column].filter(|cell| !cell.is_empty())?;
        (before.is_none_or(|before| before[column] != cell)).then_some(cell)
    };
    if let Some(before) = before {
        for (column, stored) in before.iter().enumerate() {
            let is_derived = ![X, Y, TICKS, KEY].contains(&column);
            if is_derived && cells[column].is_some_and(|cell| cell != stored.trim()) {
                return Err((column, "is derived".to_owned()));
            }
        }
    }
    Ok(Row {
        x: number(X, changed(X))?,
        y: number(Y, changed(Y))?,
        ticks: number(TICKS, changed(TICKS))?,
        key: number(KEY, changed(KEY))?,
    })
}

/// Returns the number in a cell, if it has one.
fn number<N: std::str::FromStr>(
    column: usize,
    cell: Option<&str>,
) -> Result<Option<N>, (usize, String)> {
    let parsed = cell.map(|cell| {
        cell.parse()
            .map_err(|_| (column, format!("{cell:?} is no whole number that fits")))
    });
    parsed.transpose()
}
