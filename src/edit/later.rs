//! Delayed work after a file was closed or DIR was changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::fs::{Dir, FileType, OFlags};

use super::EditedMount;
use super::folder::{UNFINISHED, split};
use super::inode::{Body, Note};
use super::inodes::Inodes;
use super::names::Use;
use super::watch::{Signal, Watch, changed_name};
use crate::mount::is_plain;
use crate::namespace::joined;
use crate::platform::unix::open_beneath;
use crate::platform::{FileKind, FileStat};
use crate::source::{OPAQUE, WHITEOUT};
use crate::sync::lock;
use hpimount_containers::volume::MAX_DEPTH;

/// Delay from the last write through a mapping until a file is given its place.
const MAPPED: Duration = Duration::from_millis(200);

/// Time after which a temporary name of a program counts as a file.
const MOMENT: Duration = Duration::from_secs(2);

/// Time to wait for further changes after a change of DIR.
const SETTLED: Duration = Duration::from_millis(50);

/// Maximum number of the mount's own changes that are remembered, to tell them from changes
/// by other programs.
const MAX_MARKS: usize = 4096;

/// State of a path in DIR: the version of the file or the identity of the directory, and whether
/// it is deleted.
type Mark = (Option<u64>, bool);

/// States of DIR that the mount itself has made.
#[derive(Default)]
pub(super) struct Marks {
    known: HashMap<String, Mark>,
    /// All of DIR, when changes were missed the last time.
    scanned: Option<BTreeMap<String, Mark>>,
}

/// Work for later.
#[derive(Default)]
struct Pending {
    /// Files, with when to look at them.
    files: HashMap<u64, Instant>,
    /// Paths of DIR that may have changed.
    paths: BTreeSet<String>,
    /// When to look at them.
    settled: Option<Instant>,
}

/// Does the pending work until the mount ends.
pub(super) fn work(mount: &Weak<EditedMount>, watch: &Watch) {
    let mut pending = Pending::default();
    loop {
        let due = pending.files.values().chain(&pending.settled).min();
        let signal = match due {
            Some(due) => watch.next_within(due.saturating_duration_since(Instant::now())),
            None => watch.next(),
        };
        let Some(mount) = mount.upgrade() else {
            return;
        };
        match signal {
            Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(Signal::Written(number)) => {
                pending.files.insert(number, Instant::now() + MAPPED);
            }
            Ok(Signal::Closed(number)) => {
                pending.files.insert(number, Instant::now() + MOMENT);
            }
            Ok(Signal::Refused(number, version)) => mount.set_aside(number, version),
            Ok(Signal::Superseded(path, version)) => mount.throw_away(&path, version),
            Ok(Signal::Outdated(version)) => mount.renew_all(version),
            Ok(Signal::Changed(path)) => {
                pending.paths.insert(path);
                pending.settled.get_or_insert(Instant::now() + SETTLED);
            }
            Ok(Signal::Missed) => {
                pending.paths = BTreeSet::from([String::new()]);
                pending.settled.get_or_insert(Instant::now() + SETTLED);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        pending.run(&mount);
    }
}

impl Pending {
    fn run(&mut self, mount: &Arc<EditedMount>) {
        let now = Instant::now();
        let due: Vec<u64> = self
            .files
            .extract_if(|_, due| *due <= now)
            .map(|(number, _)| number)
            .collect();
        due.into_iter().for_each(|number| mount.look_again(number));
        if self.settled.is_some_and(|settled| settled <= now) {
            self.settled = None;
            mount.changed_outside(std::mem::take(&mut self.paths));
        }
    }
}

impl EditedMount {
    /// Gives a file its place in DIR if it was written through a mapping, or if its name
    /// was not for a moment.
    fn look_again(&self, number: u64) {
        let _turn = lock(&self.turn);
        let name = {
            let mut inodes = lock(&self.inodes);
            let Some(inode) = inodes.get_mut(number).filter(|inode| !inode.is_gone) else {
                return;
            };
            let (name, writers) = (inode.name.clone(), inode.writers);
            let Body::Own(own) = &mut inode.body else {
                return;
            };
            if writers > 0 {
                // It will be closed.
                return;
            }
            match own.is_dirty && own.note.is_none() {
                true => None,
                false => (own.note == Some(Note::Scratch)).then_some(name),
            }
        };
        if let Some(name) = name {
            if self.use_of_entry(number, &name) == Use::Scratch {
                return;
            }
            if let Some(inode) = lock(&self.inodes).get_mut(number)
                && let Body::Own(own) = &mut inode.body
            {
                (own.is_dirty, own.is_over, own.note) = (true, true, None);
            }
        }
        if let Err(error) = self.commit_in_turn(number) {
            log::error!("a file cannot be put into {}: {error}", self.path.display());
        }
    }

    /// Gives unfinished files their places in DIR, and removes those that programs would
    /// have removed.
    pub(super) fn finish_all(&self) {
        let _turn = lock(&self.turn);
        let unfinished: Vec<(u64, String)> = {
            let inodes = lock(&self.inodes);
            let owned = inodes.owned();
            let unfinished = owned.filter(|(_, inode, own)| {
                !inode.is_gone
                    && own
                        .elsewhere
                        .as_ref()
                        .is_some_and(|name| is_unfinished(name))
            });
            unfinished
                .map(|(number, inode, _)| (number, inode.name.clone()))
                .collect()
        };
        for (number, name) in unfinished {
            if self.use_of_entry(number, &name) == Use::Scratch {
                self.keep_scratch(number);
                continue;
            }
            if let Some(inode) = lock(&self.inodes).get_mut(number)
                && let Body::Own(own) = &mut inode.body
            {
                (own.is_dirty, own.is_over) = (true, true);
            }
            if let Err(error) = self.commit_in_turn(number) {
                log::error!("{name} is lost: {error}");
            }
        }
    }

    /// Keeps a scratch file in DIR under a name that is not applied, unless it is empty.
    fn keep_scratch(&self, number: u64) {
        let (own, path) = {
            let inodes = lock(&self.inodes);
            let own = inodes.get(number).and_then(|inode| inode.own().cloned());
            (own, inodes.path(number).unwrap_or_default())
        };
        let Some((own, unfinished)) = own.and_then(|own| Some((own.clone(), own.elsewhere?)))
        else {
            return;
        };
        let is_empty = own.bytes.attributes().is_ok_and(|(size, _)| size == 0);
        let path = format!("{}~", path.trim_end_matches('~'));
        let kept = match is_empty {
            true => self.writer.discard(unfinished),
            false => self.writer.rename(unfinished, path.clone(), false),
        };
        if let Err(error) = kept {
            log::error!("{path} is lost: {error}");
        }
    }

    /// Returns what DIR says about a path.
    fn mark(&self, path: &str) -> Mark {
        let (parent, name) = split(path);
        let Ok(directory) = open_beneath(
            &self.folder,
            Path::new(parent),
            OFlags::RDONLY | OFlags::DIRECTORY,
        ) else {
            return (None, false);
        };
        let number = |name: &str| number_at(directory.as_fd(), OsStr::new(name));
        (number(name), number(&format!("{WHITEOUT}{name}")).is_some())
    }

    /// Returns whether DIR has a file at a path.
    pub(super) fn is_in_folder(&self, path: &str) -> bool {
        let opened = open_beneath(
            &self.folder,
            Path::new(path),
            OFlags::RDONLY | OFlags::NONBLOCK,
        );
        let stat = opened.and_then(FileStat::of);
        stat.is_ok_and(|stat| stat.kind == FileKind::File)
    }

    /// Remembers what the mount has made DIR say about a path, and about the directories
    /// that it may have made for it. Those who call it have the turn.
    pub(super) fn know(&self, path: &str) {
        let mut marks = lock(&self.marks);
        let known = &mut marks.known;
        if known.len() >= MAX_MARKS {
            known.clear();
        }
        known.insert(path.to_owned(), self.mark(path));
        let mut above = split(path).0;
        while !above.is_empty() && !known.contains_key(above) {
            known.insert(above.to_owned(), self.mark(above));
            above = split(above).0;
        }
    }

    /// Remembers the same about everything in a directory that the mount has renamed.
    pub(super) fn know_inside(&self, from: &str, to: &str) {
        let mut inside = BTreeMap::new();
        self.scan(to, &mut inside);
        for path in inside.keys() {
            self.know(path);
            self.know(&path.replacen(to, from, 1));
        }
    }

    /// Returns the paths of DIR that have changed since it was scanned the last time; all
    /// of it the first time.
    fn missed(&self) -> BTreeSet<String> {
        let mut now = BTreeMap::new();
        self.scan("", &mut now);
        let scanned = &mut lock(&self.marks).scanned;
        let changed = match scanned {
            None => BTreeSet::from([String::new()]),
            Some(before) => {
                let differs = |path: &&String| before.get(*path) != now.get(*path);
                let paths = before.keys().chain(now.keys());
                paths.filter(differs).cloned().collect()
            }
        };
        *scanned = Some(now);
        changed
    }

    /// Adds the entries of a directory of DIR.
    fn scan(&self, path: &str, found: &mut BTreeMap<String, Mark>) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let Ok(directory) = open_beneath(&self.folder, Path::new(path), flags) else {
            return;
        };
        // Entries that cannot be listed now are found once they can.
        for entry in Dir::read_from(&directory).into_iter().flatten().flatten() {
            let raw = OsStr::from_bytes(entry.file_name().to_bytes());
            let text = raw.to_string_lossy();
            let Some(name) = changed_name(&text).filter(|name| ![".", ".."].contains(name)) else {
                continue;
            };
            let inner = joined(path, name);
            if entry.file_type() == FileType::Directory && inner.split('/').count() < MAX_DEPTH {
                self.scan(&inner, found);
            }
            let (there, is_deleted) = found.entry(inner).or_default();
            match name == text {
                true => *there = number_at(directory.as_fd(), raw),
                false => *is_deleted = true,
            }
        }
    }

    /// Returns the paths below others that the mount has made: what happens in a new
    /// directory before it is watched is not told.
    fn known_below(&self, paths: &BTreeSet<String>) -> Vec<String> {
        let is_below = |path: &&String| {
            let mut ends = path.match_indices('/');
            ends.any(|(end, _)| paths.contains(&path[..end]))
        };
        let marks = lock(&self.marks);
        marks.known.keys().filter(is_below).cloned().collect()
    }

    /// Shows changes of DIR that others have made.
    pub(super) fn changed_outside(&self, paths: BTreeSet<String>) {
        // Looking at all of DIR may take long, and need not stop those who change it.
        let mut paths = match paths.contains("") {
            true => self.missed(),
            false => paths,
        };
        let _turn = lock(&self.turn);
        paths.extend(self.known_below(&paths));
        let is_known = |path: &String| {
            let mark = self.mark(path);
            is_plain(path) && lock(&self.marks).known.get(path) == Some(&mark)
        };
        let mut changed: Vec<String> = paths.into_iter().filter(|path| !is_known(path)).collect();
        if changed.is_empty() {
            return;
        }
        if !changed.iter().all(|path| is_plain(path)) {
            changed = vec![String::new()];
        }
        for path in &changed {
            let (parent, name) = split(path);
            self.writer.note(if name == OPAQUE { parent } else { path });
        }
        let paths: Vec<&str> = changed.iter().map(String::as_str).collect();
        self.publish(&paths, |inodes, _| {
            changed.iter().for_each(|path| inodes.is_there(path));
            show_anew(inodes, &changed);
        });
    }
}

/// Lets the names of files that others have changed lead to what DIR has now.
pub(super) fn show_anew(inodes: &mut Inodes, changed: &[String]) {
    let owned: Vec<u64> = inodes.owned().map(|(number, ..)| number).collect();
    for number in owned {
        let path = inodes.path(number).unwrap_or_default();
        let is_changed = changed.iter().any(|changed| {
            changed.is_empty() || path == *changed || path.starts_with(&joined(changed, ""))
        });
        // A program that has it open for writing is the last to write it, as on a local file
        // system.
        let is_free = inodes.get(number).is_some_and(|inode| {
            let own = inode.own();
            inode.handles == 0 && own.is_some_and(|own| own.elsewhere.is_none() && !own.is_dirty)
        });
        if is_changed && is_free {
            inodes.remove_name(number);
        }
    }
}

/// Returns the version of the file or the identity of the directory with a name.
fn number_at(directory: BorrowedFd<'_>, name: &OsStr) -> Option<u64> {
    let stat = FileStat::now_at(directory, Path::new(name)).ok()?;
    Some(match stat.kind {
        FileKind::Directory => stat.identity.number(),
        _ => stat.version(),
    })
}

/// Returns whether a path in DIR belongs to an unfinished file.
fn is_unfinished(path: &str) -> bool {
    path.starts_with(UNFINISHED)
}
