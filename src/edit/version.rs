//! A version of an edited mount, and what it is made of.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use super::folder::{REJECTED, TRASH, Writer};
use super::names::{is_converted, may_be_in_view};
use crate::content::MadeAssets;
use crate::memory::budget::Budget;
use crate::mount::{Edits, OpenCause, OpenError, Options, Prepared, Vfs, each_change};
use crate::namespace::joined;
use crate::source::{FilePool, KeptFile};
use crate::sync::{Mutex, lock};
use hpimount_containers::changes::{Change, NewFile, Notice};

/// Maximum number of attempts at a version: after some changes are left out, others may be
/// refused.
const MAX_TRIES: usize = 16;

/// The length of a list of values, in bytes, that grows no more.
const MAX_VALUES: usize = 200;

/// Inputs of the versions.
pub(super) struct Recipe {
    /// The sources, without the changes of DIR.
    pub(super) prepared: Prepared,
    pub(super) options: Options,
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
    /// Files that versions keep open, including one that is being made.
    pub(super) kept: Mutex<Vec<Weak<KeptFiles>>>,
}

/// Files without names that a version shows.
pub(super) type KeptFiles = Mutex<Vec<KeptFile>>;

/// New entry of DIR at the path of the last change.
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
    /// A number that changes with DIR.
    pub(super) folder_version: u64,
    /// Files of DIR that are shown as they were saved, by their paths.
    pub(super) kept: BTreeMap<String, Kept>,
    /// Files of DIR that are not in it, since later ones say something else about the same
    /// asset.
    pub(super) superseded: Vec<String>,
    /// Files of DIR with values that later ones have changed, and these values.
    pub(super) outdated: BTreeMap<String, String>,
    /// Directories of DIR that are not in it, and why.
    pub(super) refused: Vec<(String, String)>,
    /// Files that DIR does not have any more.
    pub(super) kept_files: Arc<KeptFiles>,
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

/// State of a file of DIR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It is a file of a view that the source has the edit of.
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
        let folder_version = edits.version();
        let new_path = matches!(new, Some(New::File(_))).then_some(latest);
        let mut kept = take_unusual(&mut edits, new_path);
        let mut options = Options {
            spool: self.writer.nameless().ok().map(Arc::new),
            ..self.options.clone()
        };
        let (mut superseded, mut refused) = (Vec::new(), Vec::new());
        let mut outdated: BTreeMap<String, String> = BTreeMap::new();
        let version_of_made = self.made.begin();
        for _ in 0..MAX_TRIES {
            let prepared = self.prepared.with_edits(&edits, self.is_strict)?;
            let error = match Vfs::open_within(&self.budget, prepared, options.clone()) {
                Ok(vfs) => {
                    self.made.end(version_of_made);
                    outdated.retain(|path, _| edits.file(path).is_some());
                    return Ok(Version {
                        number,
                        vfs,
                        edits,
                        folder_version,
                        kept,
                        superseded,
                        outdated,
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
                    let paths = &rivals.paths;
                    let winner = paths.iter().position(|rival| **rival == *latest);
                    let loser = &paths[1 - winner.unwrap_or_else(|| edits.newer(paths))];
                    if let (Some(value), None) = (&rivals.value, &options.newest) {
                        let values = outdated.entry(loser.to_string()).or_default();
                        *values = listed(values, value);
                        is_changed = true;
                    } else if edits.take(loser).is_some() {
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
                        each_change(&inside, &joined(path, ""), &mut keep);
                    }
                    Some(change) => keep(path, &change),
                    None => {}
                }
            }
            if !is_changed {
                return Err(error);
            }
            if !outdated.is_empty() {
                options.newest = Some(latest.into());
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

/// Removes files that are not applied: the trash, rejected ones, and empty converted files,
/// which are being written. Returns the files that are shown as they are; the one at
/// `new_path`, as any that was saved later, replaces one that was rejected.
fn take_unusual(edits: &mut Edits, new_path: Option<&str>) -> BTreeMap<String, Kept> {
    let (mut kept, mut rejected) = (BTreeMap::new(), Vec::new());
    edits.take(TRASH);
    edits.each(&mut |path, change| {
        if let (Some(path), Change::File(file)) = (path.strip_suffix(REJECTED), change) {
            rejected.push((path.to_owned(), file.clone()));
        } else if let Change::File(file) = change
            && may_be_in_view(path)
        {
            let state = match file.is_empty() && is_converted(path) {
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
        let later = edits.file(&path).map(NewFile::modified);
        let is_replaced = later.is_some_and(|later| later > file.modified());
        if is_replaced || new_path == Some(path.as_str()) {
            continue;
        }
        let reason = "was refused when it was saved; save it again to see why";
        let state = State::Refused(reason.to_owned());
        kept.insert(path, Kept { file, state });
    }
    kept
}

/// Returns a list of values with one more, unless it has that or many.
fn listed(values: &str, value: &str) -> String {
    let mut known = values.split(", ");
    match values {
        "" => value.to_owned(),
        _ if values.len() > MAX_VALUES || known.any(|known| known == value) => values.to_owned(),
        _ => format!("{values}, {value}"),
    }
}

/// Returns when a file was modified.
pub(super) fn time_of(file: &NewFile) -> Option<SystemTime> {
    let since = Duration::from_secs(u64::try_from(file.modified()?).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

impl Version {
    /// Returns the time when the file of DIR at `path` was saved.
    pub(super) fn kept_time(&self, path: &str) -> Option<SystemTime> {
        time_of(&self.kept.get(path)?.file)
    }

    /// Returns whether it may read the file of DIR at `path`.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.edits.file(path).is_some() || self.kept.contains_key(path)
    }

    /// Returns the time when the file of DIR that a file of the source is was saved.
    pub(super) fn edit_time(&self, path: &str) -> Option<SystemTime> {
        time_of(self.edits.file(path)?)
    }
}
