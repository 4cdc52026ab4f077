//! The texts of all files, for searches: an index in a temporary file. A thread of its own
//! writes and reads it, and parses nothing.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use indicatif::ProgressBar;

use super::answer::Refusal;
use super::names::Collected;
use crate::inspect::EXPANSION;
use crate::inspect::index::{Row, SearchHit, TextIndex, index};
use crate::memory::budget::Charge;
use crate::mount::Vfs;
use crate::sync::lock;

pub(super) use crate::inspect::index::Words;

/// Rows and requests that may wait.
const MAX_WAITING: usize = 64;

/// Timeout of a search, and maximum delay until one is noticed.
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
    reply: SyncSender<Vec<SearchHit>>,
}

/// The rows of a tree.
struct Rows {
    rows: Receiver<Vec<Row>>,
    /// Channel for a message when all of them are in the index.
    all: SyncSender<()>,
}

/// Request to the thread with the index.
enum Request {
    Search(Search),
    /// To replace all rows by these.
    Collect(Rows),
}

/// The index of texts.
pub struct Texts {
    /// To the thread with the index; `None` without one.
    requests: Option<SyncSender<Request>>,
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
            requests: None,
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
        let texts = TextIndex::new(most).map_err(io::Error::other)?;
        let (requests, received) = sync_channel(MAX_WAITING);
        let work = move || match enter() {
            Ok(()) => work(texts, &received),
            Err(error) => log::warn!("texts cannot be searched: {error}"),
        };
        thread::Builder::new()
            .name("texts".to_owned())
            .spawn(work)?;
        Ok(Self {
            requests: Some(requests),
            collected: Mutex::new(Collected::Running),
            ..Self::none()
        })
    }

    /// Reads all texts of a tree, unless it is very large or on a server, or memory is short.
    /// They replace the texts of an earlier tree. Returns how far it came.
    pub(super) fn collect(&self, vfs: &Vfs) -> Collected {
        let collected = self.index(vfs).unwrap_or(Collected::Off);
        *lock(&self.collected) = collected;
        collected
    }

    /// Does the same; returns `None` if texts are not searched.
    fn index(&self, vfs: &Vfs) -> Option<Collected> {
        let requests = self.requests.as_ref()?;
        if vfs.has_servers() || vfs.extent().bytes > MAX_SOURCE {
            return None;
        }
        let mut charge = lock(&self.charge);
        if charge.is_none() {
            let budget = vfs.reader().budget();
            let charged = budget.charge("the index of texts", TextIndex::MEMORY);
            let warn = |error: &_| log::warn!("texts cannot be searched: {error}");
            *charge = Some(charged.inspect_err(warn).ok()?);
        }
        drop(charge);
        *lock(&self.collected) = Collected::Running;
        self.bar.set_position(0);
        let (rows, received) = sync_channel(MAX_WAITING);
        let (all, ended) = sync_channel(1);
        let received = Rows {
            rows: received,
            all,
        };
        requests.send(Request::Collect(received)).ok()?;
        let read = index(vfs, THREADS, EXPANSION, &rows, &self.bar);
        drop(rows);
        Some(match read.is_ok() && ended.recv().is_ok() {
            true => Collected::Done,
            false => Collected::Partial,
        })
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
    ) -> Result<Vec<SearchHit>, Refusal> {
        let Some(requests) = &self.requests else {
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
        if requests.send(Request::Search(search)).is_err() {
            return Ok(Vec::new());
        }
        found.recv_timeout(PATIENCE).map_err(|_| Refusal::Busy)
    }
}

/// Adds rows to the index, and answers searches, until the server ends.
fn work(mut texts: TextIndex, requests: &Receiver<Request>) {
    let mut rows: Option<Rows> = None;
    let warn = |error| log::warn!("not all texts can be searched: {error}");
    loop {
        let request = match &rows {
            Some(_) => requests.try_recv(),
            None => requests.recv().map_err(|_| TryRecvError::Disconnected),
        };
        match request {
            Ok(Request::Search(search)) => {
                answer(&texts, search);
                continue;
            }
            Ok(Request::Collect(new)) => {
                rows = texts.begin().map_err(warn).is_ok().then_some(new);
            }
            Err(TryRecvError::Disconnected) => return,
            Err(TryRecvError::Empty) => {}
        }
        let Some(one) = &rows else { continue };
        let done = match one.rows.recv_timeout(MOMENT) {
            Ok(rows) => rows.iter().try_for_each(|row| texts.add(row)),
            Err(RecvTimeoutError::Disconnected) => {
                let ended = texts.end();
                if ended.is_ok() {
                    let _ = one.all.try_send(());
                }
                rows = None;
                ended
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
        };
        if let Err(error) = done {
            warn(error);
            rows = None;
        }
    }
}

fn answer(texts: &TextIndex, search: Search) {
    let found = texts.find(&search.words, search.after, search.most);
    let found = found.unwrap_or_else(|error| {
        log::warn!("{error}");
        Vec::new()
    });
    // Whoever asked may not wait any more.
    let _ = search.reply.try_send(found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::{Options, Sources};

    #[test]
    fn texts_that_do_not_fit_make_the_index_partial() {
        let folder = tempfile::tempdir().unwrap();
        // Few enough to be read before any row is written.
        for file in 0..MAX_WAITING / 2 {
            let words = (0..2000).map(|word| format!("word{file}x{word} "));
            let path = folder.path().join(format!("{file}.txt"));
            std::fs::write(path, words.collect::<String>()).unwrap();
        }
        let sources = Sources::one(folder.path());
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let collected = |most| {
            let texts = Texts::start(most, || Ok(())).unwrap();
            texts.collect(&vfs)
        };
        assert_eq!(collected(16 << 20), Collected::Done);
        assert_eq!(collected(256 << 10), Collected::Partial);
    }
}
