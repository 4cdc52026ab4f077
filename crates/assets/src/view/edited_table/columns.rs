//! The columns of an edited table, by their names in the shown table.

use std::collections::HashMap;
use std::rc::Rc;

use hpimount_record::shortened;

use super::cell;
use super::dialect::Text;
use super::place;
use crate::view::import::Problems;

/// The column with marks of deleted rows.
pub(super) const DELETED: &str = "#";

/// The columns of an edited table.
pub(super) struct Columns {
    /// The columns that both tables have.
    pub(super) both: Vec<Column>,
    /// The column of the edited table that marks deleted rows.
    pub(super) deleted: Option<usize>,
}

/// A column that both tables have.
pub(super) struct Column {
    /// Name in the shown table.
    pub(super) name: Rc<str>,
    /// Number in the shown table.
    pub(super) old: usize,
    /// Number in the edited table.
    pub(super) new: usize,
    /// True if it has numbers with decimal commas.
    pub(super) has_commas: bool,
}

impl Columns {
    /// Finds the columns of an edited table.
    pub(super) fn new(old: &Text, new: &Text, problems: &mut Problems) -> Self {
        let mut deleted = None;
        let mut both: Vec<Column> = Vec::new();
        let mut places = HashMap::new();
        for (place, name) in old.header.iter().enumerate() {
            places.entry(name.to_owned()).or_insert(place);
        }
        for (place, name) in old.header.iter().enumerate() {
            places.entry(name.to_ascii_lowercase()).or_insert(place);
        }
        let mut is_taken = vec![false; old.header.len()];
        for (place, name) in new.header.iter().enumerate() {
            let name = new.cell(name, "");
            let name = name.trim();
            if name == DELETED {
                deleted = Some(place);
            }
            if name.is_empty() || name.starts_with('#') {
                continue;
            }
            let found = places.get(name);
            let found = found.or_else(|| places.get(&name.to_ascii_lowercase()));
            match found {
                None => problems.add(place_in_header(name, "is unknown")),
                Some(&found) if is_taken[found] => {
                    problems.add(place_in_header(name, "is there twice"));
                }
                Some(&found) => {
                    is_taken[found] = true;
                    both.push(Column::new(old, new, found, place));
                }
            }
        }
        both.sort_by_key(|column| column.old);
        Self { both, deleted }
    }

    /// Returns the columns of a key, if the edited table has them all.
    pub(super) fn key(&self, key: &[&str]) -> Option<Vec<&Column>> {
        let found = |name: &&str| self.both.iter().find(|column| *column.name == **name);
        key.iter().map(found).collect()
    }
}

fn place_in_header(name: &str, what: &str) -> String {
    place(1, &shortened(name), "", what)
}

impl Column {
    fn new(old: &Text, new: &Text, old_place: usize, new_place: usize) -> Self {
        fn cells(table: &Text, place: usize) -> impl Iterator<Item = &str> {
            let cells = table.rows.iter().filter_map(move |row| row.get(place));
            cells.filter(|cell| !cell.is_empty())
        }
        let mut numbers = cells(old, old_place).peekable();
        let has_commas = numbers.peek().is_some()
            && numbers.all(cell::is_number)
            && cells(new, new_place).all(|cell| !cell.contains('.'));
        Self {
            name: old.header.get(old_place).unwrap_or_default().into(),
            old: old_place,
            new: new_place,
            has_commas,
        }
    }
}
