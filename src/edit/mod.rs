//! A mount that can be edited (`--edit DIR`), independent of FUSE.
//!
//! The view is a function of the sources and of DIR, the folder of edits: it is that of
//! `--apply DIR`, except that a file of DIR in a converted tree has the bytes that were saved.
//! Each change of DIR makes another version of the whole, which never changes. Files that are
//! being written are beside the versions, in DIR under names that are not applied.
//!
//! # Parts
//!
//! * `look` finds inodes, `list` lists directories, and `read` reads files. `files` opens
//!   and writes files, and `commit` gives them their names in DIR. `entries` makes, renames and
//!   removes entries. `later` has the delayed work after a file was closed or DIR was changed.
//! * `inodes` has the inodes that the kernel knows, `changed` the paths that may have changed
//!   since they were looked up, and `report` the outcome for the files of DIR. `renew` writes
//!   files anew that disagree with later ones. `watch` notices changes of DIR that other
//!   programs make.
//! * `plan` makes the versions in a thread of its own. `folder` is DIR with the thread that
//!   changes it, which parses nothing. `names` has the meaning of names and paths.
//! * `snapshot` is a version for those who look at all of it, such as a server.
//!
//! # Lock order
//!
//! The turn to change DIR, then the gate of a file, then the inodes, then the progress of the
//! planner. Only the turn and a gate are held while a version is made, read, or waited for.

mod changed;
mod commit;
mod entries;
mod files;
mod folder;
mod inode;
mod inodes;
mod later;
mod list;
mod look;
mod names;
mod plan;
mod read;
mod renew;
mod report;
mod snapshot;
mod version;
mod watch;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::thread;

use rustix::io::Errno;

use self::folder::{EditFolder, Writer};
use self::inodes::Inodes;
use self::later::Marks;
use self::names::{INSIDE, is_converted, meta_of};
use self::plan::Planner;
use self::version::{Recipe, Version};
use self::watch::{Signal, Watch};
use crate::content::MadeAssets;
use crate::memory::budget::Budget;
use crate::mount::{self, Ino, OpenError, Options, Prepared, Vfs};
use crate::source::FilePool;
use crate::sync::{Mutex, lock};

pub use self::files::Change;
pub(crate) use self::folder::move_to_trash;
pub use self::list::Entry;
pub use self::look::Attributes;
pub(crate) use self::read::EDIT;
pub use self::snapshot::Snapshot;

/// Result of an operation on an inode.
pub type Result<T> = std::result::Result<T, Errno>;

/// Returns the number of an error for the kernel.
fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn errno_of(error: mount::Error) -> Errno {
    Errno::from_raw_os_error(crate::errno::errno(error))
}

/// Returns the error of a tree that is most like a number.
pub fn error_of(number: Errno) -> mount::Error {
    match number {
        Errno::NOENT => mount::Error::NotFound,
        Errno::NOTDIR => mount::Error::NotADirectory,
        Errno::ISDIR => mount::Error::IsADirectory,
        Errno::INVAL => mount::Error::NotALink,
        Errno::ACCESS => mount::Error::Encrypted,
        Errno::OPNOTSUPP => mount::Error::Unsupported,
        Errno::NOMEM => mount::Error::NoMemory,
        Errno::STALE => mount::Error::Stale,
        _ => mount::Error::Io,
    }
}

/// Calls `of` with the inode at a path of a tree; returns `None` if there is none.
fn at<T>(vfs: &Vfs, path: &str, of: impl FnOnce(Ino) -> T) -> Result<Option<T>> {
    let mut last = Ino::ROOT;
    let mut held = Vec::new();
    let mut outcome = Ok(());
    for name in path.split('/') {
        match vfs.lookup(last, name) {
            Ok(attr) => {
                held.push(attr.ino);
                last = attr.ino;
            }
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    let found = match outcome {
        Ok(()) => Ok(Some(of(last))),
        Err(mount::Error::NotFound | mount::Error::NotADirectory) => Ok(None),
        Err(error) => Err(errno_of(error)),
    };
    held.into_iter().for_each(|ino| vfs.forget(ino, 1));
    found
}

/// DIR, open, and its two threads.
pub struct OpenedFolder {
    writer: Writer,
    watch: Watch,
    handle: OwnedFd,
    path: PathBuf,
    is_followed: bool,
}

impl OpenedFolder {
    /// Opens the folder at `path`, which is made if it is missing, and starts the threads
    /// that change and watch it; `confine` confines each to the folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be opened, is in use, or could be changed by
    /// other users.
    pub fn open(
        path: &Path,
        confine: impl Fn(&Path) -> io::Result<()> + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let folder = EditFolder::open(path)?;
        let path = folder.path().to_owned();
        let handle = folder.handle()?;
        let confined = (confine.clone(), path.clone());
        let watch = Watch::start(&path, move || confined.0(&confined.1))?;
        let confined = path.clone();
        let writer = Writer::start(folder, move || confine(&confined))?;
        Ok(Self {
            writer,
            watch,
            handle,
            path,
            is_followed: false,
        })
    }

    /// Opens the folder at `path` to show what others make of it, and starts two threads:
    /// one that watches it, which `to_watch` confines to the folder, and one that makes
    /// temporary files elsewhere, which `to_make_files` confines.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be opened, or a thread not be started.
    pub fn follow(
        path: &Path,
        to_watch: impl FnOnce(&Path) -> io::Result<()> + Send + 'static,
        to_make_files: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let folder = EditFolder::follow(path)?;
        let path = folder.path().to_owned();
        let handle = folder.handle()?;
        let watched = path.clone();
        Ok(Self {
            watch: Watch::start(&path, move || to_watch(&watched))?,
            writer: Writer::start(folder, to_make_files)?,
            handle,
            path,
            is_followed: true,
        })
    }

    /// Returns its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The sources and options of an edited mount.
pub struct EditPlan {
    /// The sources, with the changes below DIR.
    pub prepared: Prepared,
    /// Options of the tree.
    pub options: Options,
    /// True if changes are refused that games may not find.
    pub is_strict: bool,
    /// Is called with the path of each file that is refused, and the reason.
    pub refused: Refused,
}

type Refused = Box<dyn Fn(&str, &str) + Send + Sync>;

/// A mount that can be edited.
pub struct EditedMount {
    planner: Arc<Planner>,
    writer: Writer,
    inodes: Mutex<Inodes>,
    /// The turn to change DIR.
    turn: Mutex<()>,
    /// DIR.
    folder: OwnedFd,
    path: PathBuf,
    /// True if DIR is only read: files in it that disagree stay as they are.
    is_followed: bool,
    /// The sources without the changes of DIR, once they are needed.
    original: OnceLock<Arc<Vfs>>,
    /// The mount's own changes of DIR.
    marks: Mutex<Marks>,
    /// The values of files of DIR that later ones have changed, by the paths of the files.
    superseded: Mutex<BTreeMap<String, String>>,
    /// Reasons for refusing files, by their paths.
    refusals: Mutex<BTreeMap<String, String>>,
    refused: Refused,
    /// Channel to the thread for delayed work.
    signals: Sender<Signal>,
    /// Number of lookups, attribute requests and listings.
    uses: AtomicU64,
}

impl EditedMount {
    /// Opens the sources with the changes of DIR, and starts the threads that follow
    /// changes. They are confined as the current one.
    ///
    /// # Errors
    /// Returns an error if a source cannot be opened, or a thread cannot be started.
    pub fn open(plan: EditPlan, folder: OpenedFolder) -> std::result::Result<Arc<Self>, OpenError> {
        let OpenedFolder {
            writer,
            watch,
            handle,
            path,
            is_followed,
        } = folder;
        let spool = writer.nameless().ok().map(Arc::new);
        let made = Arc::new(MadeAssets::new(spool, plan.options.spool_size));
        let recipe = Recipe {
            budget: Budget::new(plan.options.cache_size),
            prepared: plan.prepared,
            options: Options {
                made: Some(made.clone()),
                ..plan.options
            },
            made,
            folder: path.clone(),
            is_strict: plan.is_strict,
            writer: writer.clone(),
            read: Mutex::default(),
            pool: Arc::new(FilePool::edited()),
            kept: Mutex::default(),
        };
        let budget = recipe.budget.clone();
        let folds = !recipe.options.case_sensitive;
        let planner = Arc::new(Planner::new(recipe)?);
        let mount = Arc::new(Self {
            planner: planner.clone(),
            writer,
            inodes: Mutex::new(Inodes::new(folds, budget.empty_charge("inodes"))),
            turn: Mutex::new(()),
            folder: handle,
            path,
            is_followed,
            original: OnceLock::new(),
            marks: Mutex::default(),
            refusals: Mutex::default(),
            superseded: Mutex::default(),
            refused: plan.refused,
            signals: watch.sender(),
            uses: AtomicU64::new(0),
        });
        let unstarted = |error| OpenError {
            source_name: mount.path.display().to_string(),
            cause: mount::OpenCause::Unreadable(error),
        };
        let planning = thread::Builder::new().name("planner".to_owned());
        let edited = Arc::downgrade(&mount);
        let settle = move || {
            if let Some(mount) = edited.upgrade() {
                mount.current();
            }
        };
        planning
            .spawn(move || planner.work(settle))
            .map_err(unstarted)?;
        let later = thread::Builder::new().name("later".to_owned());
        let edited = Arc::downgrade(&mount);
        later
            .spawn(move || later::work(&edited, &watch))
            .map_err(unstarted)?;
        mount.signal_conflicts(&mount.planner.current());
        Ok(mount)
    }

    /// Returns the latest version.
    fn current(&self) -> Arc<Version> {
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.settled(self.planner.current())
    }

    /// Returns the latest version after all changes so far.
    fn newest(&self) -> Arc<Version> {
        self.settled(self.planner.newest())
    }

    /// Makes the inodes follow a version.
    fn settled(&self, version: Arc<Version>) -> Arc<Version> {
        let settled = lock(&self.inodes).settle(&version);
        if let Some(refused) = settled {
            refused
                .into_iter()
                .for_each(|number| self.signal(Signal::Refused(number, version.number)));
            self.signal_conflicts(&version);
        }
        version
    }

    /// Has files put in order that disagree in a version.
    fn signal_conflicts(&self, version: &Version) {
        if self.is_followed {
            return;
        }
        for path in &version.superseded {
            self.signal(Signal::Superseded(path.clone(), version.number));
        }
        if !version.outdated.is_empty() {
            self.signal(Signal::Outdated(version.number));
        }
    }

    /// Returns the sources without the changes of DIR.
    fn original(&self) -> Result<&Arc<Vfs>> {
        if let Some(original) = self.original.get() {
            return Ok(original);
        }
        let recipe = &self.planner.recipe;
        let options = Options {
            spool: None,
            ..recipe.options.clone()
        };
        let opened = Vfs::open_within(&recipe.budget, recipe.prepared.clone(), options).map_err(
            |error| {
                log::error!("{error}");
                Errno::IO
            },
        )?;
        Ok(self.original.get_or_init(|| opened))
    }

    /// Returns whether the sources have something at a path without DIR, or may have, inside
    /// an archive in DIR.
    fn is_original(&self, path: &str) -> Result<bool> {
        let ends = path.match_indices("/").map(|(end, _)| &path[..end]);
        let mut archives = ends.filter_map(|directory| directory.strip_suffix(INSIDE));
        if archives.any(|archive| self.is_in_folder(archive)) {
            return Ok(true);
        }
        Ok(at(self.original()?, path, |_| ())?.is_some())
    }

    /// Returns whether a path is in a view that can be edited: the converted tree, or the
    /// `X.meta` of an asset that has no files there.
    fn is_view(&self, path: &str) -> bool {
        is_converted(path)
            || meta_of(path).is_some_and(|meta| {
                let version = self.current();
                let is_edited = at(&version.vfs, meta, |ino| version.vfs.is_edited_in_meta(ino));
                is_edited == Ok(Some(true))
            })
    }

    /// Returns a number that grows with every use that reaches this process.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }

    /// Sends a signal to the thread for what happens later.
    fn signal(&self, signal: Signal) {
        // That thread ends with the mount.
        let _ = self.signals.send(signal);
    }

    /// Commits all unfinished files, and ends the threads.
    pub fn close(&self) {
        self.finish_all();
        self.signal(Signal::End);
        self.planner.close();
    }
}
