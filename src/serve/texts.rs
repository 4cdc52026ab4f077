//! The texts of all files, for searches: an index in a temporary file. A thread of its own
//! writes and reads it, and parses nothing.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;

use super::answer::Refusal;
use super::names::Collected;
use crate::inspect::EXPANSION;
use crate::inspect::index::{Database, Found, Row, index};
use crate::memory::budget::Charge;
use crate::mount::Vfs;
use crate::sync::lock;

pub(super) use crate::inspect::index::Words;

/// Rows and searches that may wait.
const MAX_WAITING: usize = 64;

/// How long a search may wait, and how soon one is noticed.
const PATIENCE: Duration = Duration::from_secs(10);
const MOMENT: Duration = Duration::from_millis(20);

/// Sources that have more bytes are not indexed.
const MAX_SOURCE: u64 = 4 << 30;

/// Threads that read texts: people wait for other work.
const THREADS: usize = 1;

/// A search, and where its result goes.
struct Search {
    words: Words,
    after: i64,
    most: usize,
    reply: SyncSender<Vec<Found>>,
}

/// The index of texts.
pub struct Texts {
    /// To the thread with the index; `None` without one.
    searches: Option<SyncSender<Search>>,
    rows: Mutex<Option<SyncSender<Row>>>,
    collected: Mutex<Collected>,
    /// Accounts for the memory of the index, once there is something in it.
    charge: Mutex<Option<Charge>>,
    /// Counts the entries that were read.
    bar: ProgressBar,
}

impl Texts {
    /// Creates none.
    pub fn none() -> Self {
        Self {
            searches: None,
            rows: Mutex::new(None),
            collected: Mutex::new(Collected::Off),
            charge: Mutex::default(),
            bar: ProgressBar::hidden(),
        }
    }

    /// Starts the thread with the index, which calls `enter` first, to be confined. The file
    /// has at most `most` bytes.
    ///
    /// # Errors
    /// Returns an error if there is no room for temporary files, or the thread cannot be
    /// started.
    pub fn start(
        most: u64,
        enter: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let database = Database::temporary(most).map_err(io::Error::other)?;
        let (rows, received) = sync_channel(MAX_WAITING);
        let (searches, asked) = sync_channel(MAX_WAITING);
        let work = move || match enter() {
            Ok(()) => work(database, &received, &asked),
            Err(error) => log::warn!("texts cannot be searched: {error}"),
        };
        thread::Builder::new()
            .name("texts".to_owned())
            .spawn(work)?;
        Ok(Self {
            searches: Some(searches),
            rows: Mutex::new(Some(rows)),
            collected: Mutex::new(Collected::Running),
            ..Self::none()
        })
    }

    /// Reads all texts of a tree, unless it is very large or on a server, or memory is short.
    pub(super) fn collect(&self, vfs: &Vfs) {
        let Some(rows) = lock(&self.rows).take() else {
            return;
        };
        if vfs.has_servers() || vfs.extent().bytes > MAX_SOURCE {
            *lock(&self.collected) = Collected::Off;
            return;
        }
        let budget = vfs.reader().budget();
        match budget.charge("the index of texts", Database::TEMPORARY_MEMORY) {
            Ok(charge) => *lock(&self.charge) = Some(charge),
            Err(error) => {
                log::warn!("texts cannot be searched: {error}");
                *lock(&self.collected) = Collected::Off;
                return;
            }
        }
        let indexed = index(vfs, THREADS, EXPANSION, &rows, &self.bar);
        *lock(&self.collected) = match indexed {
            Ok(()) => Collected::Done,
            Err(_) => Collected::Partial,
        };
    }

    /// Returns how far it is, and the number of entries that were read.
    pub(super) fn progress(&self) -> (Collected, u64) {
        (*lock(&self.collected), self.bar.position())
    }

    /// Returns the files with words that come after the one with number `after`, at most
    /// `most`.
    ///
    /// # Errors
    /// Returns an error if there is too much to do.
    pub(super) fn find(
        &self,
        words: Words,
        after: i64,
        most: usize,
    ) -> Result<Vec<Found>, Refusal> {
        let Some(searches) = &self.searches else {
            return Ok(Vec::new());
        };
        let (reply, found) = sync_channel(1);
        let search = Search {
            words,
            after,
            most,
            reply,
        };
        // The thread has ended if it could not be confined.
        if searches.send(search).is_err() {
            return Ok(Vec::new());
        }
        found.recv_timeout(PATIENCE).map_err(|_| Refusal::Busy)
    }
}

/// Adds rows to the index, and answers searches, until the server ends.
fn work(mut database: Database, rows: &Receiver<Row>, searches: &Receiver<Search>) {
    let mut is_writable = database.begin("", None).is_ok();
    loop {
        searches
            .try_iter()
            .for_each(|search| answer(&database, search));
        match rows.recv_timeout(MOMENT) {
            Ok(row) if is_writable => {
                if let Err(error) = database.add(&row) {
                    log::warn!("not all texts can be searched: {error}");
                    is_writable = false;
                }
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    searches.iter().for_each(|search| answer(&database, search));
}

fn answer(database: &Database, search: Search) {
    let found = database.find(&search.words, search.after, search.most);
    let found = found.unwrap_or_else(|error| {
        log::warn!("{error}");
        Vec::new()
    });
    // Whoever asked may not wait any more.
    let _ = search.reply.try_send(found);
}
