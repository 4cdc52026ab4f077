//! Edited tables of a whole game, whose cells are cells of the tables of its files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::gxt::ALL;
use hpimount_assets::view::edited_table::{Adding, Change, Rules, ShownTable, differences};
use hpimount_assets::view::report::{EditTable, Editing, TableEdit, TableEdits, shown_file};
use hpimount_assets::view::{AssetContext, AssetRef, Wanted};

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

/// A table of the lines of many files.
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

/// The axes of a rotation, which a file has inverted.
const INVERTED: [&str; 3] = ["rx", "ry", "rz"];

/// A table of a file: the file, and the section.
type Place = (u64, String);

/// Edits a table of rows of many files: each changed cell is one of the table that the
/// file has of this section.
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
        adding: Adding::Never,
        can_delete: false,
    };
    let found = differences(shown, edited, &rules)?;
    let table = ShownTable::read(shown)?;
    let mut changes: BTreeMap<Place, Vec<&Change>> = BTreeMap::new();
    for change in &found.changes {
        let file = context.find(Wanted::Path(table.cell(change.row, "file")));
        let file = file.ok_or_else(|| change.problem("its file is not in this game"))?;
        let place = (file.0, section(&table, change.row));
        changes.entry(place).or_default().push(change);
    }
    let mut edits = Vec::new();
    for ((file, section), changes) in changes {
        let file = AssetRef(file);
        let name = format!("{section}.tsv");
        let place = changes.first().map(|change| change.place());
        let shown = shown_file(context, file, &name)
            .ok_or_else(|| changes[0].problem("its file cannot be edited"))?;
        let bytes = with_changes(&shown, &table, &changes)?;
        edits.push((
            file,
            TableEdit::File(name, bytes, place.unwrap_or_default()),
        ));
    }
    Ok(TableEdits {
        edits,
        warnings: found.warnings,
    })
}

/// Edits the table of texts. A file shows its texts as the lines of `texts.txt`.
fn texts(context: &dyn AssetContext, shown: &[u8], edited: &[u8]) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["file", "table", "key"]],
        name: Some("key"),
        is_editable: &|column| column == "text",
        adding: Adding::Never,
        can_delete: false,
    };
    let found = differences(shown, edited, &rules)?;
    let table = ShownTable::read(shown)?;
    // The rows of a file are together, in the order of its lines.
    let mut first_rows: HashMap<&str, usize> = HashMap::new();
    for row in 0..table.len() {
        first_rows.entry(table.cell(row, "file")).or_insert(row);
    }
    let mut changes: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in &found.changes {
        let path = table.cell(change.row, "file");
        changes.entry(path).or_default().push(change);
    }
    let mut edits = Vec::new();
    for (path, changes) in changes {
        let file = context.find(Wanted::Path(path));
        let file = file.and_then(|file| Some((file, shown_file(context, file, ALL)?)));
        let (file, text) = file.ok_or_else(|| changes[0].problem("edit the file itself"))?;
        let bytes = with_texts(&text, first_rows[path], &changes)?;
        edits.push((
            file,
            TableEdit::File(ALL.to_owned(), bytes, changes[0].place()),
        ));
    }
    Ok(TableEdits {
        edits,
        warnings: found.warnings,
    })
}

/// Returns all texts of a file with changed ones. `first` is the row of the first one.
fn with_texts(shown: &[u8], first: usize, changes: &[&Change]) -> Result<Vec<u8>, String> {
    let text = String::from_utf8_lossy(shown);
    let mut lines: Vec<Cow<'_, str>> = text.lines().map(Cow::from).collect();
    let is_table = |line: &str| line.starts_with('[') && line.ends_with(']');
    let texts = lines.iter_mut();
    let mut texts: Vec<_> = texts
        .filter(|line| !line.is_empty() && !is_table(line))
        .collect();
    for change in changes {
        let line = texts.get_mut(change.row - first);
        let key = line.as_ref().and_then(|line| line.find('='));
        let (line, key) = line.zip(key).ok_or_else(|| change.problem("is derived"))?;
        line.to_mut().replace_range(key + 1.., &change.text);
    }
    Ok(lines.join("\n").into_bytes())
}

/// Returns the table of a section with changed cells.
fn with_changes(shown: &[u8], table: &ShownTable, changes: &[&Change]) -> Result<Vec<u8>, String> {
    let text = String::from_utf8_lossy(shown);
    let mut lines: Vec<Vec<String>> = text
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    let header = lines.first().cloned().unwrap_or_default();
    let place = |column: &str| header.iter().position(|name| name == column);
    // The rows by their lines, or their indices in binary files.
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
        let cell = cell.ok_or_else(|| change.problem("is derived"))?;
        *cell = match INVERTED.contains(&&*change.column) {
            true => inverted(&change.text),
            false => change.text.clone(),
        };
    }
    let lines = lines.into_iter().map(|cells| cells.join("\t") + "\n");
    Ok(lines.collect::<String>().into_bytes())
}

/// Returns a number with the other sign; 0 stays 0.
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
