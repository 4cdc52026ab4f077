//! The tree over the network (`hpi serve`): a page for the browser, HTTP for scripts,
//! WebDAV for file managers, and NFS for other systems.
//!
//! One thread has the connections (`http`, `records`, `connection`). It decides whom to answer
//! (`guard`) and parses requests (`head`, `route`, `range`), opens no files and parses nothing
//! of a source. Reading threads have the tree and no sockets (`dispatch`, `site`): each takes
//! the next work from a queue (`pieces`, `job`) and returns an answer (`answer`), or a piece of
//! one. There is a module for each route: `nfs` with its `handles` and `nodes` (`live` for trees
//! that follow a folder of edits, which `edited` implements), `file`, `list`, `dav`, `thumb`,
//! `zip`, `search`, `place`, `page`; `kind` knows the types of files. `offline` answers requests
//! without a network.

mod answer;
mod connection;
mod dav;
mod dispatch;
#[cfg(edit)]
mod edited;
mod file;
mod guard;
mod handles;
mod head;
mod http;
mod job;
mod kind;
mod list;
mod live;
mod names;
mod nfs;
mod nodes;
pub mod offline;
mod page;
mod pieces;
mod place;
mod range;
mod records;
mod route;
mod search;
mod site;
#[cfg_attr(not(feature = "index"), path = "texts_elsewhere.rs")]
mod texts;
mod thumb;
mod zip;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use socket2::SockRef;
use tokio::runtime::Builder;
use tokio::sync::watch;

pub use self::connection::Patience;
#[cfg(edit)]
pub use self::edited::EditedTree;
pub use self::guard::{Guard, HostName, Network, Token};
pub use self::handles::Handles;
use self::job::{Job, Work};
pub use self::page::has_explorer;
use self::pieces::Queue;
pub use self::site::{Equipment, Share, SourceIdentity};
pub use self::texts::Texts;

/// Size of the kernel's send buffer for a client, in bytes. A client that reads nothing looks like
/// a fast one until this is full.
const SEND_BUFFER: usize = 256 << 10;

/// Listens at an address.
///
/// # Errors
/// Returns an error if it is in use or not permitted.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    // Its connections inherit it.
    SockRef::from(&listener).set_send_buffer_size(SEND_BUFFER)?;
    Ok(listener)
}

/// Reads what the page is developed from, if that is not built in.
pub fn read_page_in_development() {
    #[cfg(debug_assertions)]
    page::development::read();
}

/// A server that answers clients.
pub struct Serving {
    threads: usize,
    queue: Arc<Queue<Job>>,
    stop: watch::Sender<bool>,
    network: JoinHandle<io::Result<()>>,
}

impl Serving {
    /// Starts the thread with the connections of all listeners, which calls `enter` first, to be
    /// confined. `threads` is the number of threads that will read the share.
    ///
    /// # Errors
    /// Returns an error if it cannot be started.
    pub fn start(
        listeners: Vec<TcpListener>,
        nfs: Option<TcpListener>,
        guard: Guard,
        patience: Patience,
        threads: usize,
        share: &Share,
        enter: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(threads / 2));
        let (stop, stopped) = watch::channel(false);
        // The confined thread could not make its epoll descriptor.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let work = Work {
            queue: queue.clone(),
            budget: share.budget().clone(),
        };
        let serve = move || {
            enter()?;
            http::run(&runtime, listeners, nfs, guard, patience, work, stopped)
        };
        let network = thread::Builder::new().name("network".to_owned());
        Ok(Self {
            network: network.spawn(serve)?,
            threads,
            queue,
            stop,
        })
    }

    /// Starts the threads that read the share. They are confined as the current one.
    ///
    /// # Errors
    /// Returns an error if one cannot be started.
    pub fn read(&self, share: &Arc<Share>) -> io::Result<()> {
        for number in 0..self.threads {
            let (share, queue) = (share.clone(), self.queue.clone());
            let work = move || {
                let perform = |job: Job| {
                    let perform = || job.perform(&share);
                    // The client gets an internal error.
                    if catch_unwind(AssertUnwindSafe(perform)).is_err() {
                        log::error!("internal error in a request");
                    }
                };
                while queue.perform(perform) {}
            };
            let reader = thread::Builder::new().name(format!("reader-{number}"));
            reader.spawn(work)?;
        }
        share.start_prefetch()?;
        let share = share.clone();
        let names = thread::Builder::new().name("names".to_owned());
        names.spawn(move || search::collect(&share))?;
        Ok(())
    }

    /// Ends the server: no more clients are accepted, and answers get a moment to end. What
    /// reading threads do is left to the end of the process, since a source may hang.
    ///
    /// # Errors
    /// Returns the error that has ended the thread with the connections before.
    pub fn end(self) -> io::Result<()> {
        // The thread may be gone.
        let _ = self.stop.send(true);
        let panicked = |_| Err(io::Error::other("the thread with the connections panicked"));
        let ended = self.network.join().unwrap_or_else(panicked);
        self.queue.close();
        ended
    }
}
