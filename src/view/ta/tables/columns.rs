//! The columns of a table: the union of the keys of its rows.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::asset::ta::tdf::{Item, Key, Section};
use crate::text::push_escaped;

/// The first columns of every table.
pub(super) const FIRST: [&str; 3] = ["name", "file", "archive"];

/// Most columns for keys. Spreadsheets take 16,384.
const MAX_COLUMNS: usize = 4096;

/// Most cells of a table. The largest mods of the games have a tenth of them.
const MAX_CELLS: usize = 1 << 24;

/// Longest name of a column in bytes.
const MAX_NAME_LENGTH: usize = 255;

/// The last column of a table whose rows have more keys than it has columns.
const MORE: &str = "more";

/// The columns for keys, in the order in which the keys appear.
#[derive(Default)]
pub(super) struct Columns {
    names: Vec<String>,
    /// By the names of keys in lower case.
    indices: HashMap<String, usize>,
    rows: usize,
    has_more: bool,
    /// The name of a key in lower case.
    folded: String,
}

impl Columns {
    /// Adds the keys of a row.
    pub(super) fn add(&mut self, row: Section<'_>) {
        self.rows += 1;
        each_key(row, &mut String::new(), &mut |name, _| self.add_key(name));
    }

    fn add_key(&mut self, name: &str) {
        if self.find(name).is_some() {
            return;
        }
        if name.len() > MAX_NAME_LENGTH || self.names.len() == MAX_COLUMNS {
            self.has_more = true;
            return;
        }
        let mut shown = String::new();
        if FIRST.iter().any(|first| first.eq_ignore_ascii_case(name)) {
            shown.push_str("key.");
        }
        push_escaped(&mut shown, name);
        self.indices.insert(self.folded.clone(), self.names.len());
        self.names.push(shown);
    }

    fn find(&mut self, name: &str) -> Option<usize> {
        self.folded.clear();
        self.folded.push_str(name);
        self.folded.make_ascii_lowercase();
        self.indices.get(&self.folded).copied()
    }

    /// Leaves out columns where the table would have too many cells.
    pub(super) fn limit(&mut self) {
        let most = MAX_CELLS / self.rows.max(1);
        if self.names.len() > most {
            self.names.truncate(most);
            self.indices.retain(|_, index| *index < most);
            self.has_more = true;
        }
    }

    /// The names of all columns of the table.
    pub(super) fn names(&self) -> Vec<&str> {
        let names = FIRST.into_iter();
        let names = names.chain(self.names.iter().map(String::as_str));
        names.chain(self.has_more.then_some(MORE)).collect()
    }

    /// The cells of a row, for each column for a key. Of several keys of one
    /// name the last one counts. What has no column is in the last cell.
    pub(super) fn cells<'a>(&mut self, row: Section<'a>) -> Vec<Cow<'a, str>> {
        let mut cells = vec![Cow::Borrowed(""); self.names.len()];
        let mut more = String::new();
        each_key(row, &mut String::new(), &mut |name, key| match self
            .find(name)
            .and_then(|index| cells.get_mut(index))
        {
            Some(cell) => *cell = key.value(),
            None => more.extend([name, "=", &key.value(), ";"]),
        });
        if self.has_more {
            cells.push(more.into());
        }
        cells
    }

    /// The cells of a row without keys.
    pub(super) fn no_cells(&self) -> Vec<Cow<'static, str>> {
        vec![Cow::Borrowed(""); self.names.len() + usize::from(self.has_more)]
    }
}

/// Visits the keys of a section and of those in it, whose names stand in front
/// of the keys: `DAMAGE.default`. Sections are at most as deep as the reader
/// allows.
fn each_key<'a>(section: Section<'a>, path: &mut String, visit: &mut dyn FnMut(&str, Key<'a>)) {
    let length = path.len();
    for item in section.items() {
        match item {
            Item::Key(key) => {
                path.push_str(&key.name());
                visit(path, key);
            }
            Item::Section(inner) => {
                path.push_str(&inner.name());
                path.push('.');
                each_key(inner, path, visit);
            }
        }
        path.truncate(length);
    }
}
