//! What an edited mount shows: a sequence of versions that never change.
//!
//! A version is the source with all changes of DIR, opened anew. A thread makes the next
//! one as soon as DIR has changed; whoever looks at something that follows from the
//! changes waits for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::errno;
use super::folder::{REJECTED, Writer};
use super::names::{is_converted, join};
use crate::content::MadeAssets;
use crate::memory::budget::Budget;
use crate::mount::{Edits, OpenCause, OpenError, Options, Prepared, Vfs, each_change};
use crate::source::{FilePool, KeptFile};
use crate::sync::{Condvar, Mutex, PoisonError, lock, wait};
use hpimount_containers::changes::{Change, NewFile, Notice};

/// How long the planner waits for more changes, unless a request waits for the version.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum number of attempts at a version: after some changes are left out, others may be
/// refused.
const MAX_TRIES: usize = 16;

/// Maximum number of files without names that versions keep open; with so many, changes wait
/// for the next version. No more than a quarter of all that can be open.
const MAX_KEPT: usize = 4096;

/// What the versions are made of.
pub(super) struct Recipe {
    /// The sources, without changes.
    pub(super) prepared: Prepared,
    pub(super) options: Options,
    /// Folders of changes below DIR.
    pub(super) below: Vec<PathBuf>,
    /// DIR.
    pub(super) folder: PathBuf,
    pub(super) is_strict: bool,
    pub(super) budget: Arc<Budget>,
    /// Assets that were made for earlier versions.
    pub(super) made: Arc<MadeAssets>,
    pub(super) writer: Writer,
    /// DIR as it was read the last time.
    pub(super) read: Mutex<Option<Edits>>,
    /// Opens its files.
    pub(super) pool: Arc<FilePool>,
    /// What versions keep open, also one that is being made.
    pub(super) kept: Mutex<Vec<Weak<KeptFiles>>>,
}

/// Files without names that a version shows.
pub(super) type KeptFiles = Mutex<Vec<KeptFile>>;

/// What DIR will have at the path of the last change.
#[derive(Clone, Copy)]
pub(super) enum New<'a> {
    /// A file with these bytes.
    File(&'a Arc<File>),
    /// A directory.
    Directory,
    /// Nothing: the file of the original is deleted.
    Nothing,
}

/// A state of the mount.
pub(super) struct Version {
    /// The number of the last change that is in it.
    pub(super) number: u64,
    /// The sources with the changes.
    pub(super) vfs: Arc<Vfs>,
    /// The changes that are in it.
    pub(super) edits: Edits,
    /// Files of DIR that are shown as they were saved, by their paths.
    pub(super) kept: BTreeMap<String, Kept>,
    /// Files of DIR that are not in it, since later ones say something else about the same
    /// asset.
    pub(super) superseded: Vec<String>,
    /// Directories of DIR that are not in it, and why.
    pub(super) refused: Vec<(String, String)>,
    /// Files that DIR does not have any more.
    kept_files: Arc<KeptFiles>,
    /// Number of listings of its directories.
    pub(super) listings: AtomicUsize,
    /// When it was made. It is later than the version before by a second at least, since
    /// programs compare times in seconds.
    pub(super) modified: SystemTime,
}

/// A file of DIR that is shown as it was saved.
pub(super) struct Kept {
    pub(super) file: NewFile,
    pub(super) state: State,
}

/// What became of a file of DIR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It is a converted file that the source has the edit of.
    Edited,
    /// It is a converted file that is being written.
    Empty,
    /// It is not in the source, for this reason.
    Refused(String),
}

impl Recipe {
    /// Makes a version of what DIR says now, with the bytes of a file that is not in DIR
    /// yet, if there is one. `number` and `latest` are the number and the path of the
    /// last change: of two files about one asset, the one at `latest` wins, or else the newer
    /// one.
    ///
    /// # Errors
    /// Returns an error if a source or DIR cannot be read, or with refusals that concern the
    /// whole source.
    pub(super) fn version(
        &self,
        number: u64,
        latest: &str,
        new: Option<New<'_>>,
    ) -> Result<Version, OpenError> {
        let unreadable = |error| OpenError {
            source_name: self.folder.display().to_string(),
            cause: OpenCause::Unreadable(error),
        };
        let kept_files = self.kept_files();
        let mut edits = self.read().map_err(unreadable)?;
        match new {
            Some(New::File(file)) => edits.put(latest, file).map_err(unreadable)?,
            Some(New::Directory) => edits.put_directory(latest).map_err(unreadable)?,
            Some(New::Nothing) => edits.delete(latest).map_err(unreadable)?,
            None => {}
        }
        let new_path = matches!(new, Some(New::File(_))).then_some(latest);
        let mut kept = take_unusual(&mut edits, new_path);
        let options = Options {
            spool: self.writer.nameless().ok().map(Arc::new),
            ..self.options.clone()
        };
        let (mut superseded, mut refused) = (Vec::new(), Vec::new());
        let version_of_made = self.made.begin();
        for _ in 0..MAX_TRIES {
            let prepared = self
                .prepared
                .with_edits(&self.below, &edits, self.is_strict)?;
            let error = match Vfs::open_within(&self.budget, prepared, options.clone()) {
                Ok(vfs) => {
                    self.made.end(version_of_made);
                    return Ok(Version {
                        number,
                        vfs,
                        edits,
                        kept,
                        superseded,
                        refused,
                        kept_files,
                        listings: AtomicUsize::new(0),
                        modified: SystemTime::now(),
                    });
                }
                Err(error) => error,
            };
            let OpenCause::Refused(refusals) = &error.cause else {
                return Err(error);
            };
            let mut is_changed = false;
            for Notice { path, text, rivals } in refusals {
                if let Some(rivals) = rivals {
                    let winner = rivals.iter().position(|rival| **rival == *latest);
                    let loser = &rivals[1 - winner.unwrap_or_else(|| edits.newer(rivals))];
                    if edits.take(loser).is_some() {
                        kept.remove(&**loser);
                        superseded.push(loser.to_string());
                        is_changed = true;
                    }
                    continue;
                }
                let taken = edits.take(path);
                is_changed |= taken.is_some();
                let state = State::Refused(text.clone());
                let mut keep = |path: &str, change: &Change| {
                    if let Change::File(file) = change {
                        let (file, state) = (file.clone(), state.clone());
                        kept.insert(path.to_owned(), Kept { file, state });
                    }
                };
                match taken {
                    Some(Change::Directory(inside)) => {
                        refused.push((path.clone(), text.clone()));
                        each_change(&inside, &join(path, ""), &mut keep);
                    }
                    Some(change) => keep(path, &change),
                    None => {}
                }
            }
            if !is_changed {
                return Err(error);
            }
        }
        Err(unreadable(io::Error::other("too much of it is refused")))
    }
}

impl Recipe {
    /// Reads what has changed in DIR, and returns all of it.
    fn read(&self) -> io::Result<Edits> {
        let mut read = lock(&self.read);
        let changed = self.writer.take_changed();
        let edits = match read.take() {
            Some(mut edits) => {
                edits.read_again(&changed)?;
                edits
            }
            None => Edits::read(&self.folder, &self.pool)?,
        };
        Ok(read.insert(edits).clone())
    }

    /// Returns what a new version keeps open.
    fn kept_files(&self) -> Arc<KeptFiles> {
        let files = Arc::default();
        let mut kept = lock(&self.kept);
        kept.retain(|files| files.strong_count() > 0);
        kept.push(Arc::downgrade(&files));
        files
    }
}

/// Removes files that are not applied: rejected ones, and empty converted files, which are
/// being written. Returns the files that are shown as they are; the one at
/// `new_path` replaces one that was rejected.
fn take_unusual(edits: &mut Edits, new_path: Option<&str>) -> BTreeMap<String, Kept> {
    let (mut kept, mut rejected) = (BTreeMap::new(), Vec::new());
    edits.each(&mut |path, change| {
        if let (Some(path), Change::File(file)) = (path.strip_suffix(REJECTED), change) {
            rejected.push((path.to_owned(), file.clone()));
        } else if let Change::File(file) = change
            && is_converted(path)
        {
            let state = match file.is_empty() {
                true => State::Empty,
                false => State::Edited,
            };
            let file = file.clone();
            kept.insert(path.to_owned(), Kept { file, state });
        }
    });
    let empty = kept.iter().filter(|(_, kept)| kept.state == State::Empty);
    for (path, _) in empty {
        edits.take(path);
    }
    for (path, file) in rejected {
        edits.take(&format!("{path}{REJECTED}"));
        if new_path == Some(path.as_str()) {
            continue;
        }
        let reason = "was refused when it was saved; save it again to see why";
        let state = State::Refused(reason.to_owned());
        kept.insert(path, Kept { file, state });
    }
    kept
}

/// Returns when a file was modified.
pub(super) fn time_of(file: &NewFile) -> Option<SystemTime> {
    let since = Duration::from_secs(u64::try_from(file.modified()?).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Makes the versions.
pub(super) struct Planner {
    pub(super) recipe: Recipe,
    /// Maximum number of [kept](Planner::keep) files.
    max_kept: usize,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// The number of the last change.
    wanted: u64,
    /// Its path.
    latest: String,
    /// The number of the last change that a version was made for, or tried.
    planned: u64,
    current: Arc<Version>,
    /// All versions that may still be open.
    versions: Vec<Weak<Version>>,
    /// Number of threads that wait.
    waiting: usize,
    /// Why the last version could not be made.
    problem: Option<String>,
    /// How long the last version took.
    took: Duration,
    closed: bool,
}

/// A version with a change that is not in DIR yet.
pub(super) struct Tried {
    version: Version,
    path: String,
    took: Duration,
}

/// Why there is no version with a change.
pub(super) enum Untried {
    /// The source cannot have it, for this reason.
    Refused(String),
    /// The system has failed.
    Failed(Errno),
}

impl From<OpenError> for Untried {
    fn from(error: OpenError) -> Self {
        let OpenCause::Unreadable(cause) = &error.cause else {
            return Self::Refused(error.to_string());
        };
        log::error!("{error}");
        Self::Failed(errno(cause))
    }
}

/// Returns the error of a version whose making has panicked, which the log has.
fn panicked() -> OpenError {
    OpenError {
        source_name: "the sources".to_owned(),
        cause: OpenCause::Unreadable(io::Error::other("internal error")),
    }
}

impl Tried {
    /// Returns the files of DIR that it supersedes, which the caller moves to the trash.
    pub(super) fn take_superseded(&mut self) -> Vec<String> {
        std::mem::take(&mut self.version.superseded)
    }

    /// Returns the converted files that it refuses and `before` does not.
    pub(super) fn refused_since(&self, before: &Version) -> Vec<String> {
        let is_refused = |kept: &Kept| matches!(kept.state, State::Refused(_));
        let refused = self.version.kept.iter().filter(|(path, kept)| {
            is_refused(kept) && !before.kept.get(*path).is_some_and(is_refused)
        });
        refused.map(|(path, _)| path.clone()).collect()
    }
}

impl Progress {
    /// Returns the version before.
    fn show(&mut self, mut version: Version) -> Arc<Version> {
        let next = self.current.modified + Duration::from_secs(1);
        version.modified = version.modified.max(next);
        let version = Arc::new(version);
        self.versions.retain(|old| old.strong_count() > 0);
        self.versions.push(Arc::downgrade(&version));
        self.problem = None;
        std::mem::replace(&mut self.current, version)
    }
}

impl Planner {
    /// Makes the first version.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Recipe::version`].
    pub(super) fn new(recipe: Recipe) -> Result<Self, OpenError> {
        let current = Arc::new(recipe.version(0, "", None)?);
        let open = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Ok(Self {
            recipe,
            max_kept: (open / 4).min(MAX_KEPT as u64) as usize,
            progress: Mutex::new(Progress {
                wanted: 0,
                latest: String::new(),
                planned: 0,
                versions: vec![Arc::downgrade(&current)],
                current,
                waiting: 0,
                problem: None,
                took: Duration::ZERO,
                closed: false,
            }),
            changed: Condvar::new(),
        })
    }

    /// Makes versions until it is [closed](Planner::close), and calls `shown` after each.
    pub(super) fn work(&self, shown: impl Fn()) {
        while let Some((number, latest)) = self.next() {
            let begun = Instant::now();
            let make = AssertUnwindSafe(|| self.recipe.version(number, &latest, None));
            let made = catch_unwind(make).unwrap_or_else(|_| Err(panicked()));
            self.publish(number, made, begun.elapsed());
            shown();
        }
    }

    /// Waits for changes, and returns the number and the path of the last one; `None` when
    /// it is closed.
    fn next(&self) -> Option<(u64, String)> {
        let mut progress = lock(&self.progress);
        loop {
            if progress.closed {
                return None;
            }
            if progress.wanted > progress.planned {
                break;
            }
            progress = wait(&self.changed, progress);
        }
        // While many changes follow one another, half of the time is enough for versions
        // that nobody waits for.
        let until = Instant::now() + PAUSE.max(progress.took);
        while progress.waiting == 0 && !progress.closed {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                break;
            };
            let waited = self.changed.wait_timeout(progress, left);
            progress = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some((progress.wanted, progress.latest.clone()))
    }

    /// Shows a version that has all changes up to `number`, or why it could not be made.
    fn publish(&self, number: u64, made: Result<Version, OpenError>, took: Duration) {
        let mut progress = lock(&self.progress);
        progress.took = took;
        let is_late = made.is_err() && progress.wanted > number;
        if number < progress.planned || is_late {
            // A file may have changed while it was read.
            return;
        }
        progress.planned = number;
        let replaced = match made {
            Ok(version) => Some(progress.show(version)),
            Err(error) => {
                let text = error.to_string();
                if progress.problem.as_ref() != Some(&text) {
                    log::error!("the image stays as it was: {text}");
                }
                progress.problem = Some(text);
                None
            }
        };
        drop(progress);
        // Dropping it may take long.
        drop(replaced);
        self.changed.notify_all();
    }

    /// Makes a version with a change of `path` that is not in DIR yet, for
    /// [`Planner::show`] when it is.
    ///
    /// # Errors
    /// Returns why there is no version with the change.
    pub(super) fn try_change(&self, path: &str, new: New<'_>) -> Result<Tried, Untried> {
        let begun = Instant::now();
        let before = lock(&self.progress).wanted;
        let make = AssertUnwindSafe(|| self.recipe.version(before + 1, path, Some(new)));
        let made = catch_unwind(make).unwrap_or_else(|_| Err(panicked()));
        let version = made?;
        if let Some(Kept {
            state: State::Refused(text),
            ..
        }) = version.kept.get(path)
        {
            return Err(Untried::Refused(text.clone()));
        }
        match version.refused.iter().find(|(refused, _)| refused == path) {
            Some((_, text)) => Err(Untried::Refused(text.clone())),
            None => Ok(Tried {
                version,
                path: path.to_owned(),
                took: begun.elapsed(),
            }),
        }
    }

    /// Shows a version whose change is in DIR now, and returns its number.
    pub(super) fn show(&self, tried: Tried) -> u64 {
        let mut progress = lock(&self.progress);
        progress.wanted += 1;
        progress.latest = tried.path;
        let number = progress.wanted;
        // Otherwise DIR has changed meanwhile, and the next version has both.
        let replaced = (number == tried.version.number).then(|| {
            progress.planned = number;
            progress.took = tried.took;
            progress.show(tried.version)
        });
        drop(progress);
        // Dropping it may take long.
        drop(replaced);
        self.changed.notify_all();
        number
    }

    /// Counts a change of `path` in DIR, and returns its number.
    pub(super) fn count(&self, path: &str) -> u64 {
        let mut progress = lock(&self.progress);
        progress.wanted += 1;
        path.clone_into(&mut progress.latest);
        let number = progress.wanted;
        drop(progress);
        self.changed.notify_all();
        number
    }

    /// Returns the latest version.
    pub(super) fn current(&self) -> Arc<Version> {
        lock(&self.progress).current.clone()
    }

    /// Returns whether a version has all changes so far.
    pub(super) fn is_newest(&self, version: &Version) -> bool {
        lock(&self.progress).wanted <= version.number
    }

    /// Returns the latest version after all changes so far.
    pub(super) fn newest(&self) -> Arc<Version> {
        let mut progress = lock(&self.progress);
        let wanted = progress.wanted;
        progress.waiting += 1;
        self.changed.notify_all();
        while progress.planned < wanted && !progress.closed {
            progress = wait(&self.changed, progress);
        }
        progress.waiting -= 1;
        progress.current.clone()
    }

    /// Returns why the image is older than the last change, if it is, and how long the
    /// last version took.
    pub(super) fn state(&self) -> (Option<String>, Duration) {
        let progress = lock(&self.progress);
        (progress.problem.clone(), progress.took)
    }

    /// Keeps the file of DIR at `path`, which is about to lose its name, for the versions
    /// that show it.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(super) fn keep(&self, path: &str, file: File) -> io::Result<()> {
        let kept = self.recipe.pool.keep(file)?;
        for files in lock(&self.recipe.kept).iter().filter_map(Weak::upgrade) {
            let versions = lock(&self.progress).versions.clone().into_iter();
            let version = versions
                .filter_map(|version| version.upgrade())
                .find(|version: &Arc<Version>| Arc::ptr_eq(&version.kept_files, &files));
            match version {
                Some(version) if !self.is_read(&version) => lock(&files).clear(),
                Some(version) if !version.has_file(path) => {}
                // One that is being made may have it.
                _ => lock(&files).push(kept.clone()),
            }
        }
        Ok(())
    }

    /// Returns whether anybody may read files of a version, which the caller has once.
    fn is_read(&self, version: &Arc<Version>) -> bool {
        let listings = version.listings.load(Relaxed);
        Arc::strong_count(version) > 1 + listings || Arc::ptr_eq(version, &self.current())
    }

    /// Returns whether so many files are [kept](Planner::keep) that the versions that show
    /// them should end before there are more.
    pub(super) fn keeps_many(&self) -> bool {
        self.recipe.pool.kept() >= self.max_kept
    }

    /// Ends the work.
    pub(super) fn close(&self) {
        lock(&self.progress).closed = true;
        self.changed.notify_all();
    }
}

impl Version {
    /// Returns the time when the file of DIR at `path` was saved.
    pub(super) fn kept_time(&self, path: &str) -> Option<SystemTime> {
        time_of(&self.kept.get(path)?.file)
    }

    /// Returns whether it may read the file of DIR at `path`.
    fn has_file(&self, path: &str) -> bool {
        self.edits.file(path).is_some() || self.kept.contains_key(path)
    }

    /// Returns the time when the file of DIR that a file of the source is was saved.
    pub(super) fn edit_time(&self, path: &str) -> Option<SystemTime> {
        time_of(self.edits.file(path)?)
    }
}
