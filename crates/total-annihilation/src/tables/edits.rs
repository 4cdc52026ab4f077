//! Edited tables of a game: the mapping from cells to keys of texts.

use std::collections::HashMap;
use std::io;

use super::columns::{FIRST, column_of, key_of};
use super::lines::each_key;
use super::rows::{MAX_BYTES, Source, each_row};
use super::texts::{self, each_text};
use crate::tdf::{Key, Section};
use hpimount_assets::view::edit::{Edit, What};
use hpimount_assets::view::edited_table::{Change, Differences, Rules, differences, edited_text};
use hpimount_assets::view::import::Problems;
use hpimount_assets::view::report::{TableEdit, TableEdits};
use hpimount_assets::view::{AssetContext, AssetRef};

/// Edits the table of the sections in some sources.
pub(super) fn rows(
    sources: &[Source],
    context: &dyn AssetContext,
    shown: &[u8],
    edited: &[u8],
) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["file", "name"], &["name"]],
        name: Some("name"),
        is_editable: &|column| !FIRST.contains(&column) && column != "more",
        ..Rules::FIXED_ROWS
    };
    let (mut changes, mut edits) = by_row(differences(shown, edited, &rules)?);
    let mut number = 0;
    let read = each_row(sources, context, &mut |file, row| {
        if let Some(section) = row.section
            && let Some(changes) = changes.remove(&number)
        {
            let keys = by_column(section);
            for change in changes {
                let what = match keys.get(&change.column.to_ascii_lowercase()) {
                    Some(key) => of_key(*key, &change),
                    None => {
                        let name = key_of(&change.column).to_owned();
                        Ok(What::Text(section.position(), name, change.text.clone()))
                    }
                };
                edits.add(file, &change, what);
            }
        }
        number += 1;
        Ok(())
    });
    edits.finish(&read, &changes)
}

pub(super) fn texts(
    context: &dyn AssetContext,
    shown: &[u8],
    edited: &[u8],
) -> Result<TableEdits, String> {
    let rules = Rules {
        keys: &[&["file", "section", "key"]],
        name: Some("key"),
        is_editable: &|column| column == "value",
        ..Rules::FIXED_ROWS
    };
    let (mut changes, mut edits) = by_row(differences(shown, edited, &rules)?);
    let mut number = 0;
    let read = each_text(context, &mut |file, _, tdf| {
        texts::keys(tdf, &mut |_, key| {
            for change in changes.remove(&number).into_iter().flatten() {
                edits.add(file, &change, of_key(key, &change));
            }
            number += 1;
            Ok(())
        })
    });
    edits.finish(&read, &changes)
}

/// Returns the edit of a key.
fn of_key(key: Key<'_>, change: &Change) -> Result<What, &'static str> {
    let text = edited_text(&key.value(), &change.text)?;
    Ok(What::Text(key.position(), String::new(), text))
}

/// Returns the keys of a section, by lower-case column name.
fn by_column(section: Section<'_>) -> HashMap<String, Key<'_>> {
    let mut keys = HashMap::new();
    each_key(section, &mut String::new(), &mut |name, key| {
        keys.insert(column_of(name).to_ascii_lowercase(), key);
    });
    keys
}

/// Returns the changed cells by row, and edits with the warnings.
fn by_row(found: Differences) -> (HashMap<usize, Vec<Change>>, Edits) {
    let mut rows: HashMap<usize, Vec<Change>> = HashMap::new();
    for change in found.changes {
        rows.entry(change.row).or_default().push(change);
    }
    let edits = TableEdits {
        warnings: found.warnings,
        ..TableEdits::default()
    };
    let problems = Problems::default();
    (rows, Edits { edits, problems })
}

/// The edits of a table, and the cells that cannot be edited.
struct Edits {
    edits: TableEdits,
    problems: Problems,
}

impl Edits {
    fn add(&mut self, file: AssetRef, change: &Change, what: Result<What, &str>) {
        match what {
            Ok(what) => {
                let place = change.place();
                let edit = TableEdit::Value(Edit::new(place, what));
                self.edits.edits.push((file, edit));
            }
            Err(reason) => self.problems.add(change.problem(reason)),
        }
    }

    /// Returns the edits, unless some rows disappeared.
    fn finish(
        mut self,
        read: &io::Result<()>,
        left: &HashMap<usize, Vec<Change>>,
    ) -> Result<TableEdits, String> {
        if let Err(error) = read {
            return Err(error.to_string());
        }
        for change in left.values().flatten() {
            let most = MAX_BYTES >> 20;
            self.problems.add(change.problem(format!(
                "its file cannot be read, or all have over {most} MiB"
            )));
        }
        self.problems.check()?;
        Ok(self.edits)
    }
}
