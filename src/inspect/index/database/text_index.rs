//! An index for searches in texts.

use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};

use super::{Database, create, set_journal, wrong};
use crate::inspect::Error;
use crate::inspect::index::{Row, SearchHit, Words};
use crate::platform::unnamed_database;

/// Memory for pages in KiB, and the bytes of a page.
const CACHE: i32 = 2 << 10;
const PAGE: u64 = 4096;

/// Finds files with words.
const FIND: &str = "
SELECT entries.id, entries.path, entries.size, snippet(texts, 1, '<', '>', '\u{2026}', 12)
FROM texts JOIN entries ON entries.id = texts.rowid
WHERE texts MATCH ?1 AND texts.rowid >= ?2 AND texts.rowid < ?3
    AND substr(entries.path, 1, length(?4)) = ?4
    AND (?5 IS NULL OR lower(entries.type) = ?5)
ORDER BY texts.rowid LIMIT ?6";

/// The texts of a tree, in a database of this process alone. An interruption destroys it. A
/// complete tree replaces the tree before.
pub struct TextIndex {
    database: Database,
    /// Number of trees so far.
    trees: u64,
    /// True if the rows of the last tree are not complete.
    is_begun: bool,
    /// The entries that searches find: the last complete tree, or the beginning of the first
    /// tree.
    found: Range<i64>,
}

impl TextIndex {
    /// Its memory in bytes, about.
    pub const MEMORY: usize = (CACHE as usize) << 10;

    /// Makes an index of at most this many bytes, in a file without a name.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
    pub fn new(most: u64) -> Result<Self, Error> {
        let name = "the index of texts".to_owned();
        let make = |path: &Path, access: &str| {
            let flags = OpenFlags::default();
            let connection = Connection::open_with_flags_and_vfs(path, flags, access)?;
            set_journal(&connection, "OFF")?;
            connection.pragma_update(None, "synchronous", "OFF")?;
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            connection.pragma_update(None, "cache_size", -CACHE)?;
            let pages = i64::try_from(most / PAGE).unwrap_or(i64::MAX);
            connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
            create(&connection)?;
            Ok::<_, rusqlite::Error>(connection)
        };
        let connection = unnamed_database(make)
            .map_err(|error| wrong(&name, error))?
            .map_err(|error| wrong(&name, error))?;
        Ok(Self {
            // Sorting takes memory.
            database: Database::new(connection, name, i64::MAX),
            trees: 0,
            is_begun: false,
            found: 0..i64::MAX,
        })
    }

    /// Begins the rows of another tree.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn begin(&mut self) -> Result<(), Error> {
        if self.is_begun {
            self.database.end(None)?;
        }
        self.trees += 1;
        self.is_begun = self.database.begin(&self.trees.to_string(), None)?;
        Ok(())
    }

    /// Adds a row of the tree.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        self.database.add(row)
    }

    /// Ends the rows of the tree, and removes all other rows.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn end(&mut self) -> Result<(), Error> {
        self.database.end(None)?;
        self.is_begun = false;
        let replaced = self.replace_others();
        replaced.map_err(|error| self.database.wrong(&error))
    }

    fn replace_others(&mut self) -> rusqlite::Result<()> {
        let sources = "SELECT id, entries_from, entries_to FROM sources";
        let mut sources = self.database.connection.prepare_cached(sources)?;
        let sources = sources.query_map([], |row| {
            let entries: Range<i64> = row.get(1)?..row.get(2)?;
            Ok((row.get(0)?, entries))
        })?;
        for source in sources.collect::<rusqlite::Result<Vec<(i64, _)>>>()? {
            match source {
                (id, entries) if id == self.database.source => self.found = entries,
                (id, Range { start, end }) => self.database.remove_source(id, start, end)?,
            }
        }
        Ok(())
    }

    /// Returns the files whose texts have words, and that come after the one with number
    /// `after`, at most `most`.
    ///
    /// # Errors
    /// Returns an error if the database cannot be read.
    pub fn find(&self, words: &Words, after: i64, most: usize) -> Result<Vec<SearchHit>, Error> {
        let quoted = words.text.replace('"', "\"\"");
        let found = || {
            let mut find = self.database.connection.prepare_cached(FIND)?;
            let wanted = params![
                format!("text : \"{quoted}\" *"),
                self.found.start.max(after.saturating_add(1)),
                self.found.end,
                words.folder,
                words.type_of,
                most as i64,
            ];
            let rows = find.query_map(wanted, |row| {
                Ok(SearchHit {
                    number: row.get(0)?,
                    path: row.get(1)?,
                    size: row.get::<_, i64>(2)? as u64,
                    snippet: row.get(3)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        found().map_err(|error| self.database.wrong(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::entry;
    use super::*;

    fn words(text: &str, folder: &str) -> Words {
        Words {
            text: text.to_owned(),
            folder: folder.to_owned(),
            type_of: None,
        }
    }

    fn add(index: &mut TextIndex, paths: impl Iterator<Item = String>) {
        paths.for_each(|path| index.add(&entry(&path)).unwrap());
    }

    #[test]
    fn texts_are_found_without_the_name_of_the_file() {
        let mut index = TextIndex::new(8 << 20).unwrap();
        index.begin().unwrap();
        add(
            &mut index,
            (0..1000).map(|number| format!("units/{number}.txt")),
        );
        // Also before the end.
        let found = index.find(&words("THE wor", "units/"), 0, 2).unwrap();
        assert_eq!(found[0].path, "units/0.txt");
        assert_eq!(found[0].snippet, "<the words> of a file");
        index.end().unwrap();
        let rest = index.find(&words("words", ""), found[1].number, 5000);
        assert_eq!(rest.unwrap().len(), 998);
        for nothing in ["word of", "units", "\"", "*", "NOT (", ""] {
            let found = index.find(&words(nothing, ""), 0, 5).unwrap();
            assert_eq!(found, [], "{nothing}");
        }
        assert_eq!(index.find(&words("words", "other/"), 0, 5).unwrap(), []);
        index.begin().unwrap();
        let mut all = 0..1_000_000;
        let is_full = all.any(|number| index.add(&entry(&number.to_string())).is_err());
        assert!(is_full, "it is bounded");
    }

    #[test]
    fn texts_of_another_tree_replace_the_old_ones_at_its_end_in_the_same_room() {
        let mut index = TextIndex::new(4 << 20).unwrap();
        let paths = |index: &TextIndex| {
            let found = index.find(&words("words", ""), 0, 5000).unwrap();
            found.into_iter().map(|one| one.path).collect::<Vec<_>>()
        };
        let mut old: Vec<String> = Vec::new();
        for tree in 0..30 {
            let new: Vec<String> = (0..1000).map(|number| format!("{tree}/{number}")).collect();
            index.begin().unwrap();
            add(&mut index, new.iter().cloned());
            if tree > 0 {
                assert!(paths(&index) == old);
            }
            index.end().unwrap();
            assert!(paths(&index) == new);
            old = new;
        }
        // A tree that was given up is not found.
        index.begin().unwrap();
        add(&mut index, ["given up".to_owned()].into_iter());
        index.begin().unwrap();
        assert!(paths(&index) == old);
        index.end().unwrap();
        assert!(paths(&index).is_empty());
    }
}
