//! The database of an index, in SQLite.
//!
//! Each source is one transaction, so that sources that were indexed before an
//! interruption need not be indexed again, and a source is never half there. While
//! it is written, a write-ahead log lets others read, and other writers wait.

mod text_index;

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::{AssetRow, EntryRow, ReferenceRow, Row};
use crate::inspect::Error;
use crate::inspect::text::Date;

pub use self::text_index::TextIndex;

/// Identifies files with these tables in their headers (`hpiX`).
const APPLICATION: i32 = 0x6870_6958;

/// Version of the tables.
const VERSION: i32 = 1;

/// The tables. An entry has the same number in `entries`, `assets` and `texts`.
const TABLES: &str = "
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    entries_from INTEGER NOT NULL,
    entries_to INTEGER NOT NULL,
    error TEXT
);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES sources,
    archive TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT,
    size INTEGER NOT NULL,
    stored_size INTEGER,
    modified TEXT NOT NULL,
    sha256 TEXT,
    error TEXT
);
CREATE TABLE assets (
    entry INTEGER PRIMARY KEY REFERENCES entries,
    format TEXT NOT NULL,
    name TEXT,
    asset_id TEXT,
    width INTEGER,
    height INTEGER,
    vertices INTEGER,
    seconds REAL,
    error TEXT
);
CREATE TABLE refs (
    source INTEGER NOT NULL REFERENCES sources,
    archive TEXT NOT NULL,
    from_name TEXT NOT NULL,
    from_place TEXT NOT NULL,
    field TEXT NOT NULL,
    to_name TEXT NOT NULL,
    to_place TEXT NOT NULL,
    resolved_in TEXT,
    missing INTEGER NOT NULL
);
CREATE INDEX refs_by_source ON refs (source);
CREATE VIRTUAL TABLE texts USING fts5 (name, text);
CREATE VIEW source_names AS
    SELECT id, replace(name, rtrim(name, replace(name, '/', '')), '') AS source FROM sources;
CREATE VIEW files AS
    SELECT source_names.source, entries.id, archive, path, kind, type, size, stored_size, modified,
        sha256, error
    FROM entries JOIN source_names ON source_names.id = entries.source;
";

/// The index that finds equal files.
const BY_SHA256: &str = "CREATE INDEX entries_by_sha256 ON entries (sha256)";

/// A source with at least this many entries, and more than all before it, has
/// [`BY_SHA256`] made anew: checksums come in no order, and sorting them once is quicker
/// than finding a place for each.
const MANY: i64 = 10_000;

/// Memory for pages in KiB.
const CACHE: i32 = 16 << 10;

/// Pause of a writer before it looks whether others are done.
const PAUSE: Duration = Duration::from_millis(50);

/// Number of pauses after which the log says what it waits for.
const QUIET: i32 = 40;

/// The database of an index.
pub struct Database {
    connection: Connection,
    /// The name of its file.
    name: String,
    /// The source that rows are added to.
    source: i64,
    /// Numbers of the first entry of the source and of the next one.
    first: i64,
    next: i64,
    /// A source with at least this many entries has [`BY_SHA256`] made anew.
    many: i64,
    /// True if it has to be made anew.
    is_unsorted: bool,
}

impl Database {
    /// Opens a database, which is created if there is none.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, or if it is not an index.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let mut pauses = 0;
        let (connection, kind) = loop {
            match connect(path) {
                // SQLite does not wait for all locks that others may have at their start.
                Err(error) if is_busy(&error) => _ = wait(pauses),
                connected => break connected.map_err(|error| wrong(&name, error))?,
            }
            pauses += 1;
        };
        match kind {
            Kind::Empty | Kind::Index(VERSION) => {}
            Kind::Index(version) => {
                let text = format!("has tables of version {version}; delete it first");
                return Err(wrong(&name, text));
            }
            Kind::Other => return Err(wrong(&name, "is a database of another program")),
        }
        Ok(Self::new(connection, name, MANY))
    }

    fn new(connection: Connection, name: String, many: i64) -> Self {
        Self {
            connection,
            name,
            source: 0,
            first: 0,
            next: 0,
            many,
            is_unsorted: false,
        }
    }

    /// Closes a database, which is one file again, unless others still use it.
    ///
    /// # Errors
    /// Returns an error if the write-ahead log cannot be written back.
    pub fn close(self) -> Result<(), Error> {
        let closed = self
            .connection
            .busy_timeout(Duration::ZERO)
            .and_then(|()| set_journal(&self.connection, "DELETE"));
        match closed {
            Err(error) if !is_busy(&error) => Err(self.wrong(&error)),
            _ => Ok(()),
        }
    }

    /// Returns whether a source with this identity was indexed completely.
    fn has(&self, source: &str, identity: &str) -> rusqlite::Result<bool> {
        let known = self.connection.query_row(
            "SELECT identity = ?2 AND error IS NULL FROM sources WHERE name = ?1",
            params![source, identity],
            |row| row.get(0),
        );
        Ok(known.optional()?.unwrap_or(false))
    }

    /// Begins the rows of a source, and removes those that it has. Returns false,
    /// and begins nothing, if a source with this identity was indexed completely.
    /// Waits until no other process writes.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn begin(&mut self, source: &str, identity: Option<&str>) -> Result<bool, Error> {
        self.begin_source(source, identity)
            .map_err(|error| self.wrong(&error))
    }

    fn begin_source(&mut self, source: &str, identity: Option<&str>) -> rusqlite::Result<bool> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        if let Some(identity) = identity
            && self.has(source, identity)?
        {
            self.connection.execute_batch("ROLLBACK")?;
            return Ok(false);
        }
        let old = self.connection.query_row(
            "SELECT id, entries_from, entries_to FROM sources WHERE name = ?1",
            [source],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        );
        if let Some((id, from, to)) = old.optional()? {
            self.remove_source(id, from, to)?;
        }
        let next = "SELECT coalesce(max(entries_to), 1) FROM sources";
        self.first = self.connection.query_row(next, [], |row| row.get(0))?;
        self.next = self.first;
        self.is_unsorted = false;
        self.connection.execute(
            "INSERT INTO sources (name, identity, entries_from, entries_to) VALUES (?1, ?2, ?3, ?3)",
            params![source, identity.unwrap_or_default(), self.next],
        )?;
        self.source = self.connection.last_insert_rowid();
        Ok(true)
    }

    /// Removes a source and the entries from one number to before another.
    fn remove_source(&self, id: i64, from: i64, to: i64) -> rusqlite::Result<()> {
        for condition in [
            "texts WHERE rowid >= ?1 AND rowid < ?2",
            "assets WHERE entry >= ?1 AND entry < ?2",
            "entries WHERE id >= ?1 AND id < ?2",
        ] {
            let delete = format!("DELETE FROM {condition}");
            self.connection.execute(&delete, [from, to])?;
        }
        for condition in ["refs WHERE source = ?1", "sources WHERE id = ?1"] {
            let delete = format!("DELETE FROM {condition}");
            self.connection.execute(&delete, [id])?;
        }
        Ok(())
    }

    /// Adds a row of the source.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        let added = match row {
            Row::Entry(entry) => self.add_entry(entry),
            Row::Reference(reference) => self.add_reference(reference),
        };
        added.map_err(|error| self.wrong(&error))
    }

    fn add_entry(&mut self, row: &EntryRow) -> rusqlite::Result<()> {
        let id = self.next;
        self.next += 1;
        // By then they are more than all before them.
        if id - self.first == self.first.max(self.many) {
            self.connection
                .execute_batch("DROP INDEX entries_by_sha256")?;
            self.is_unsorted = true;
        }
        let insert = "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        self.connection.prepare_cached(insert)?.execute(params![
            id,
            self.source,
            row.archive,
            row.path,
            row.kind,
            row.type_of,
            row.size as i64,
            row.stored_size.map(|size| size as i64),
            Date::new(row.modified).long(),
            row.sha256.map(hex::encode),
            row.error,
        ])?;
        if let Some(asset) = &row.asset {
            self.add_asset(id, asset)?;
        }
        let name = row.path.rsplit('/').next().unwrap_or_default();
        let insert = "INSERT INTO texts (rowid, name, text) VALUES (?1, ?2, ?3)";
        let mut insert = self.connection.prepare_cached(insert)?;
        insert.execute(params![id, name, row.text])?;
        Ok(())
    }

    fn add_asset(&self, id: i64, asset: &AssetRow) -> rusqlite::Result<()> {
        let (width, height) = asset.measures.pixels.map(<(u32, u32)>::from).unzip();
        let vertices = asset.measures.vertices.map(u64::cast_signed);
        let insert = "INSERT INTO assets VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        self.connection.prepare_cached(insert)?.execute(params![
            id,
            asset.format,
            asset.name,
            asset.id.map(|id| format!("{id:08X}")),
            width,
            height,
            vertices,
            asset.measures.seconds,
            asset.error,
        ])?;
        Ok(())
    }

    fn add_reference(&self, row: &ReferenceRow) -> rusqlite::Result<()> {
        let ReferenceRow { archive, reference } = row;
        let insert = "INSERT INTO refs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        self.connection.prepare_cached(insert)?.execute(params![
            self.source,
            archive,
            reference.from[0],
            reference.from[1],
            reference.field,
            reference.to[0],
            reference.to[1],
            reference.resolved_in,
            reference.is_missing,
        ])?;
        Ok(())
    }

    /// Ends the rows of a source; `error` is set if the source could not be
    /// opened.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn end(&mut self, error: Option<&str>) -> Result<(), Error> {
        let ended = self.end_source(error);
        ended.map_err(|error| self.wrong(&error))
    }

    fn end_source(&self, error: Option<&str>) -> rusqlite::Result<()> {
        if self.is_unsorted {
            self.connection.execute_batch(BY_SHA256)?;
        }
        let update = "UPDATE sources SET entries_to = ?2, error = ?3 WHERE id = ?1";
        self.connection
            .execute(update, params![self.source, self.next, error])?;
        self.connection.execute_batch("COMMIT")
    }

    fn wrong(&self, error: &rusqlite::Error) -> Error {
        wrong(&self.name, error)
    }
}

/// Waits for another process, which may write a whole source, for the `pauses`th
/// time. There is no limit: whoever does not want to wait ends the program.
fn wait(pauses: i32) -> bool {
    if pauses == QUIET {
        log::warn!("the database is locked; waiting for the process that uses it");
    }
    std::thread::sleep(PAUSE);
    true
}

/// The kinds of database files.
enum Kind {
    Empty,
    /// An index, and the version of its tables.
    Index(i32),
    Other,
}

impl Kind {
    fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let pragma =
            |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        // In one transaction, because another process may be making the tables.
        connection.execute_batch("BEGIN")?;
        let kind = match (pragma("application_id")?, pragma("schema_version")?) {
            (APPLICATION, _) => Self::Index(pragma("user_version")?),
            (_, 0) => Self::Empty,
            _ => Self::Other,
        };
        connection.execute_batch("COMMIT")?;
        Ok(kind)
    }
}

/// Opens a database. An index can be written to; an empty file becomes one.
fn connect(path: &Path) -> rusqlite::Result<(Connection, Kind)> {
    let mut connection = Connection::open(path)?;
    connection.busy_handler(Some(wait))?;
    let kind = Kind::of(&connection)?;
    if matches!(kind, Kind::Empty) {
        create(&connection)?;
    }
    if matches!(kind, Kind::Empty | Kind::Index(VERSION)) {
        set_journal(&connection, "WAL")?;
        connection.pragma_update(None, "cache_size", -CACHE)?;
    }
    Ok((connection, kind))
}

/// Makes the tables, unless another process was quicker.
fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let version: i32 = connection.pragma_query_value(None, "schema_version", |row| row.get(0))?;
    if version == 0 {
        connection.execute_batch(&format!(
            "{TABLES} {BY_SHA256}; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        ))?;
    }
    connection.execute_batch("COMMIT")
}

/// Sets how changes are logged. File systems without shared memory keep `DELETE`:
/// then readers wait while a source is written.
fn set_journal(connection: &Connection, mode: &str) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

fn wrong(name: &str, error: impl Display) -> Error {
    Error::Database(format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::Measures;

    pub(super) fn entry(path: &str) -> Row {
        Row::Entry(Box::new(EntryRow {
            path: path.to_owned(),
            kind: "file",
            asset: Some(AssetRow {
                format: "GAF",
                measures: Measures::picture(64_u8, 16_u8),
                ..AssetRow::default()
            }),
            text: Some("the words of a file".to_owned()),
            ..EntryRow::default()
        }))
    }

    fn number(database: &Database, query: &str) -> i64 {
        database
            .connection
            .query_row(query, [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn rows_of_a_source_are_replaced_and_those_of_others_stay() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.sqlite");
        let mut database = Database::open(&path).unwrap();
        let mut add = |source: &str, identity: &str, paths: &[&str]| {
            assert!(database.begin(source, Some(identity)).unwrap());
            for path in paths {
                database.add(&entry(path)).unwrap();
                database
                    .add(&Row::Reference(ReferenceRow::default()))
                    .unwrap();
            }
            database.end(None).unwrap();
        };
        add("one", "1", &["a", "b"]);
        add("two", "1", &["c"]);
        add("one", "2", &["d"]);
        drop(database);
        let database = Database::open(&path).unwrap();
        assert!(database.has("one", "2").unwrap() && database.has("two", "1").unwrap());
        assert!(!database.has("one", "1").unwrap() && !database.has("three", "1").unwrap());
        for table in ["entries", "assets", "texts", "refs", "files"] {
            assert_eq!(
                number(&database, &format!("SELECT count(*) FROM {table}")),
                2,
                "{table}"
            );
        }
        let words = "SELECT count(*) FROM texts JOIN files ON files.id = texts.rowid \
                     WHERE texts MATCH 'words' AND path IN ('c', 'd')";
        assert_eq!(number(&database, words), 2);
    }

    #[test]
    fn equal_files_are_found_quickly_however_many_entries_a_source_has() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.sqlite");
        let mut database = Database::open(&path).unwrap();
        for (source, count) in [("one", 5), ("two", MANY + 5), ("three", MANY + 5)] {
            database.begin(source, None).unwrap();
            for _ in 0..count {
                database.add(&entry("a")).unwrap();
            }
            assert_eq!(database.is_unsorted, source == "two");
            database.end(None).unwrap();
            let query = "EXPLAIN QUERY PLAN SELECT id FROM entries WHERE sha256 = 'a'";
            let plan = database.connection.query_row(query, [], |row| row.get(3));
            let plan: String = plan.unwrap();
            assert!(
                plan.contains("USING COVERING INDEX entries_by_sha256"),
                "{plan}"
            );
        }
    }

    #[test]
    fn an_interrupted_source_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.sqlite");
        let mut database = Database::open(&path).unwrap();
        assert!(database.begin("one", Some("1")).unwrap());
        database.add(&entry("a")).unwrap();
        drop(database);
        let mut database = Database::open(&path).unwrap();
        assert!(!database.has("one", "1").unwrap());
        assert_eq!(number(&database, "SELECT count(*) FROM entries"), 0);
        assert!(database.begin("one", Some("1")).unwrap());
        database.end(Some("is damaged")).unwrap();
        assert!(!database.has("one", "1").unwrap());
    }

    #[test]
    fn writers_wait_for_each_other_and_do_nothing_twice() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.sqlite");
        let write = || {
            let mut database = Database::open(&path).unwrap();
            let is_first = database.begin("one", Some("1")).unwrap();
            if is_first {
                database.add(&entry("a")).unwrap();
                database.end(None).unwrap();
            }
            database.close().unwrap();
            is_first
        };
        let wrote = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
            let wrote = writers.into_iter().map(|writer| writer.join().unwrap());
            wrote.filter(|wrote| *wrote).count()
        });
        assert_eq!(wrote, 1);
        let database = Database::open(&path).unwrap();
        assert_eq!(number(&database, "SELECT count(*) FROM entries"), 1);
    }

    #[test]
    fn others_read_the_finished_sources_while_one_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.sqlite");
        let mut database = Database::open(&path).unwrap();
        database.begin("one", None).unwrap();
        database.add(&entry("a")).unwrap();
        database.end(None).unwrap();
        database.begin("two", None).unwrap();
        for _ in 0..50_000 {
            database
                .add(&entry("more than the pages in memory"))
                .unwrap();
        }
        let reader = Connection::open(&path).unwrap();
        reader.busy_timeout(Duration::ZERO).unwrap();
        let count = "SELECT count(*) FROM entries";
        let seen: i64 = reader.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(seen, 1);
        drop(reader);
        database.end(None).unwrap();
        database.close().unwrap();
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn other_files_are_refused_and_stay_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("other.sqlite");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE mine (a)").unwrap();
        drop(other);
        let error = Database::open(&path).err().unwrap().to_string();
        assert!(
            error.ends_with("is a database of another program"),
            "{error}"
        );
        let path = directory.path().join("text");
        std::fs::write(
            &path,
            "a text, and no database at all, that is long enough".repeat(9),
        )
        .unwrap();
        let error = Database::open(&path).err().unwrap().to_string();
        assert!(error.contains("not a database"), "{error}");
    }
}
