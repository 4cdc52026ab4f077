//! The columns of a table: the union of the keys of its rows.

use std::collections::HashMap;

use hpimount_containers::text::push_escaped;

/// The first columns of every table.
pub(super) const FIRST: [&str; 3] = ["name", "file", "archive"];

/// Maximum number of columns for keys. Spreadsheets support 16,384.
const MAX_COLUMNS: usize = 4096;

/// Maximum number of cells of a table, ten times as many as the games' largest mods
/// have.
const MAX_CELLS: usize = 1 << 24;

/// Maximum length of the name of a column in bytes.
const MAX_NAME_LENGTH: usize = 255;

/// The last column of a table whose rows have more keys than columns.
const MORE: &str = "more";

/// Prefix for keys named like one of the first columns.
const KEY: &str = "key.";

fn is_first(name: &str) -> bool {
    FIRST.iter().any(|first| first.eq_ignore_ascii_case(name))
}

/// Returns the name of the column of a key.
pub(super) fn column_of(name: &str) -> String {
    let mut column = String::new();
    if is_first(name) {
        column.push_str(KEY);
    }
    push_escaped(&mut column, name);
    column
}

/// Returns the name of the key of a column.
pub(super) fn key_of(column: &str) -> &str {
    let name = column.strip_prefix(KEY).filter(|name| is_first(name));
    name.unwrap_or(column)
}

/// The columns for keys, in order of appearance.
#[derive(Default)]
pub(super) struct Columns {
    names: Vec<String>,
    /// By lower-case key name.
    indices: HashMap<String, usize>,
    rows: usize,
    has_more: bool,
    /// True if the columns are final.
    is_settled: bool,
    /// The key name in lower case.
    folded: String,
}

impl Columns {
    /// Counts a row.
    pub(super) fn add_row(&mut self) {
        self.rows += 1;
    }

    /// Returns the column of a key. A missing column is added if possible.
    pub(super) fn of_key(&mut self, name: &str) -> Option<usize> {
        self.folded.clear();
        self.folded.push_str(name);
        self.folded.make_ascii_lowercase();
        if let Some(&index) = self.indices.get(&self.folded) {
            return Some(index);
        }
        if self.is_settled {
            return None;
        }
        if name.len() > MAX_NAME_LENGTH || self.names.len() == MAX_COLUMNS {
            self.has_more = true;
            return None;
        }
        let shown = column_of(name);
        let index = self.names.len();
        self.names.push(shown);
        self.indices.insert(self.folded.clone(), index);
        Some(index)
    }

    /// Makes the columns final, and drops some if the table would have too many cells.
    /// Returns whether all were kept.
    pub(super) fn settle(&mut self) -> bool {
        self.is_settled = true;
        let most = MAX_CELLS / self.rows.max(1);
        let has_all = self.names.len() <= most;
        if !has_all {
            self.names.truncate(most);
            self.indices.retain(|_, index| *index < most);
            self.has_more = true;
        }
        has_all
    }

    /// Returns the number of columns for keys.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there is a last column, for keys without a column.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Returns the names of all columns of the table.
    pub(super) fn names(&self) -> Vec<&str> {
        let names = FIRST.into_iter();
        let names = names.chain(self.names.iter().map(String::as_str));
        names.chain(self.has_more.then_some(MORE)).collect()
    }
}
