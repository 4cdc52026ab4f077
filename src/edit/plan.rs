//! The sequence of versions that an edited mount shows. A version never changes.
//!
//! A version is the source with all changes of DIR, opened anew. A thread makes the next one as
//! soon as DIR has changed; requests for something that follows from the changes wait for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::errno;
use super::version::{Kept, New, Recipe, State, Version};
use crate::mount::{OpenCause, OpenError};
use crate::sync::{Condvar, Mutex, PoisonError, lock, wait};

/// Time that the planner waits for more changes, unless a request waits for the version.
const PAUSE: Duration = Duration::from_millis(20);

/// Number of attempts at a version that cannot be read.
const MAX_READS: usize = 4;

/// Maximum number of files without names that versions keep open; with so many, changes wait
/// for the next version. No more than a quarter of all that can be open.
const MAX_KEPT: usize = 4096;

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
    /// The reason why the last version could not be made.
    problem: Option<String>,
    /// Time that the last version took.
    took: Duration,
    closed: bool,
}

/// A version with a change that is not in DIR yet.
pub(super) struct Tried {
    version: Version,
    path: String,
    took: Duration,
}

/// The reason why no version has a change.
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

    /// Returns the files of DIR with values that it changes, and these values; the caller
    /// writes them anew.
    pub(super) fn take_outdated(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.version.outdated)
    }

    /// Returns the version.
    pub(super) fn version(&self) -> &Version {
        &self.version
    }

    /// Returns the converted files that it refuses and `before` does not; the caller removes
    /// them from DIR, and the version shows them no more.
    pub(super) fn take_refused_since(&mut self, before: &Version) -> Vec<String> {
        let is_refused = |kept: &Kept| matches!(kept.state, State::Refused(_));
        let refused = self.version.kept.extract_if(.., |path, kept| {
            is_refused(kept) && !before.kept.get(path).is_some_and(is_refused)
        });
        refused.map(|(path, _)| path).collect()
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
            let made = self.make(number, &latest, None);
            self.publish(number, made, begun.elapsed());
            shown();
        }
    }

    /// Makes a version. A file of DIR may change while it is read: then it is tried again.
    fn make(&self, number: u64, latest: &str, new: Option<New<'_>>) -> Result<Version, OpenError> {
        let make = || self.recipe.version(number, latest, new);
        let mut tries = 1..MAX_READS;
        loop {
            let made = catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| Err(panicked()));
            let is_unreadable = made
                .as_ref()
                .is_err_and(|error| matches!(error.cause, OpenCause::Unreadable(_)));
            if !is_unreadable || tries.next().is_none() {
                return made;
            }
            thread::sleep(PAUSE);
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
        if number < progress.planned {
            return;
        }
        progress.planned = number;
        let is_last = progress.wanted == number;
        let replaced = match made {
            Ok(version) => Some(progress.show(version)),
            // There are changes after it, which may be why.
            Err(_) if !is_last => None,
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
        let version = self.make(before + 1, path, Some(new))?;
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
