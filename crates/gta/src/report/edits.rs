//! Edited tables of a whole game. Their cells are cells of the tables of the game's
//! files.

use std::collections::{BTreeMap, HashMap};

use crate::gxt::{self, ALL};
use hpimount_assets::view::edited_table::{Change, Rules, ShownTable, differences};
use hpimount_assets::view::import::Problems;
use hpimount_assets::view::report::{EditTable, Editing, TableEdit, TableEdits, shown_file};
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef};

/// The table of models.
pub(super) const MODELS: Editing = of_lines(|context, shown, edited| {
    let section = |table: &ShownTable, row: usize| table.cell(row, "section").to_owned();
    edit(context, shown, edited, &section)
});

/// The table of placed objects.
pub(super) const PLACEMENTS: Editing = Editing {
    key: "file and line; file and index of a binary file",
    cells: "id, model, interior, x, y, z, rx, ry, rz, rw (as drawn: the file has the inverse), lod",
    ..of_lines(|context, shown, edited| edit(context, shown, edited, &|_, _| "inst".to_owned()))
};

/// The table of vehicles.
pub(super) const CARS: Editing =
    of_lines(|context, shown, edited| edit(context, shown, edited, &|_, _| "cars".to_owned()));

/// The table of people.
pub(super) const PEDS: Editing =
    of_lines(|context, shown, edited| edit(context, shown, edited, &|_, _| "peds".to_owned()));

/// The table of zones.
pub(super) const ZONES: Editing =
    of_lines(|context, shown, edited| edit(context, shown, edited, &|_, _| "zone".to_owned()));

/// The table of texts.
pub(super) const TEXTS: Editing = Editing {
    key: "file, table and key",
    cells: "text of a GXT file",
    rows: Editing::FIXED_ROWS,
    edit: texts,
};

/// A table with lines of many files.
const fn of_lines(edit: EditTable) -> Editing {
    Editing {
        key: "file and line",
        cells: "the fields of the row",
        rows: Editing::FIXED_ROWS,
        edit,
    }
}

/// The columns that follow from others.
const DERIVED: [&str; 6] = ["file", "line", "index", "section", "defined", "problem"];

/// The axes of a rotation, which files store inverted.
const INVERTED: [&str; 3] = ["rx", "ry", "rz"];

/// A table of a file: the file, and the section.
type Place = (u64, String);

/// Edits a table with rows of many files. Each changed cell belongs to the table of a
/// section in a file.
fn edit(
    context: &dyn AssetContext,
    shown: &[u8],
    edited: &[u8],
    section: &dyn Fn(&ShownTable, usize) -> String,
) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[
            &["file", "line", "index"],
            &["file", "line"],
            &["file", "index"],
        ],
        name: Some("file"),
        is_editable: &|column| !DERIVED.contains(&column),
        ..Rules::FIXED_ROWS
    };
    let found = differences(shown, edited, &rules)?;
    let table = ShownTable::read(shown)?;
    let mut problems = Problems::default();
    let mut changes: BTreeMap<Place, Vec<&Change>> = BTreeMap::new();
    for change in &found.changes {
        match context.find(AssetKey::Path(table.cell(change.row, "file"))) {
            Some(file) => {
                let place = (file.0, section(&table, change.row));
                changes.entry(place).or_default().push(change);
            }
            None => problems.add(change.problem("its file is not in this game")),
        }
    }
    let mut edits = Vec::new();
    for ((file, section), changes) in changes {
        let file = AssetRef(file);
        let name = format!("{section}.tsv");
        match shown_file(context, file, &name) {
            Some(shown) => {
                let bytes = with_changes(&shown, &table, &changes, &mut problems);
                edits.push((file, TableEdit::File(name, bytes, changes[0].place())));
            }
            None => problems.add(changes[0].problem("its file cannot be edited")),
        }
    }
    problems.check()?;
    Ok(TableEdits {
        edits,
        warnings: found.warnings,
    })
}

/// The columns of the table of texts.
const TEXT_RULES: Rules<'_> = Rules {
    keys: &[&["file", "table", "key"]],
    name: Some("key"),
    is_editable: &|column| column == "text",
    ..Rules::FIXED_ROWS
};

/// Edits the table of texts. In a file, its texts are lines of `texts.txt`.
fn texts(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let found = differences(shown, edited, &TEXT_RULES)?;
    let table = ShownTable::read(shown)?;
    // The rows of a file are contiguous, in the order of its lines.
    let mut first_rows: HashMap<&str, usize> = HashMap::new();
    for row in 0..table.len() {
        first_rows.entry(table.cell(row, "file")).or_insert(row);
    }
    let mut changes: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in &found.changes {
        let path = table.cell(change.row, "file");
        changes.entry(path).or_default().push(change);
    }
    let mut problems = Problems::default();
    let mut edits = Vec::new();
    for (path, changes) in changes {
        let file = context.find(AssetKey::Path(path));
        let gxt = file.and_then(|file| Some((file, gxt::parse(&context.read(file)?).ok()?)));
        let Some((file, gxt)) = gxt else {
            problems.add(changes[0].problem("edit the file itself"));
            continue;
        };
        let mut texts = HashMap::new();
        let entries: Vec<_> = gxt.tables.iter().flat_map(|table| &table.entries).collect();
        for change in &changes {
            let number = change.row - first_rows[path];
            let entry = entries.get(number);
            if entry.is_none_or(|entry| entry.key.to_string() != table.cell(change.row, "key")) {
                problems.add(change.problem("is of another text: edit its file"));
            }
            if gxt::has_escape(&change.text) {
                problems.add(change.problem(format!(
                    "looks like an escape: edit the {ALL} of its file, where \\x5c is a backslash"
                )));
            }
            texts.insert(number, change.text.as_str());
        }
        let lines = gxt::lines(&gxt, &texts).map(|line| line + "\n");
        let lines = lines.collect::<String>().into_bytes();
        let edit = TableEdit::File(ALL.to_owned(), lines, changes[0].place());
        edits.push((file, edit));
    }
    problems.check()?;
    Ok(TableEdits {
        edits,
        warnings: found.warnings,
    })
}

/// Returns the table of a section with changed cells.
fn with_changes(
    shown: &[u8],
    table: &ShownTable,
    changes: &[&Change],
    problems: &mut Problems,
) -> Vec<u8> {
    let text = String::from_utf8_lossy(shown);
    let mut lines: Vec<Vec<String>> = text
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    let header = lines.first().cloned().unwrap_or_default();
    let place = |column: &str| header.iter().position(|name| name == column);
    // The rows by line, or by index in binary files.
    let keys = ["line", "index"].map(|key| {
        let rows = lines.iter().enumerate().skip(1).rev();
        let cell = |cells: &Vec<String>| cells.get(place(key)?).cloned();
        let rows = rows.filter_map(|(row, cells)| Some((cell(cells)?, row)));
        (key, rows.collect::<HashMap<String, usize>>())
    });
    for change in changes {
        let row = keys.iter().find_map(|(key, rows)| {
            let wanted = table.cell(change.row, key);
            rows.get(wanted).filter(|_| !wanted.is_empty())
        });
        let row = row.and_then(|&row| lines.get_mut(row));
        let cell = row.zip(place(&change.column));
        let cell = cell.and_then(|(row, column)| row.get_mut(column));
        let Some(cell) = cell else {
            problems.add(change.problem("is derived"));
            continue;
        };
        *cell = match INVERTED.contains(&&*change.column) {
            true => inverted(&change.text),
            false => change.text.clone(),
        };
    }
    let lines = lines.into_iter().map(|cells| cells.join("\t") + "\n");
    lines.collect::<String>().into_bytes()
}

/// Returns a number with the opposite sign; 0 stays 0.
fn inverted(number: &str) -> String {
    let number = number.trim();
    match number.strip_prefix('-') {
        Some(positive) => positive.to_owned(),
        None if number.parse() == Ok(0.0) => number.to_owned(),
        None => format!("-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_stored_inverted() {
        let pairs = [("0.5", "-0.5"), ("-1", "1"), ("0", "0"), ("0.0", "0.0")];
        for (drawn, stored) in pairs {
            assert_eq!(inverted(drawn), stored);
        }
    }
}
