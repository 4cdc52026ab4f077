//! Committing files: giving them their names in DIR.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::folder::REJECTED;
use super::inode::{Body, Bytes, Note, Own};
use super::inodes::Inodes;
use super::names::{INSIDE, Use, may_be_of, use_of};
use super::plan::{Tried, Untried};
use super::version::New;
use super::watch::Signal;
use super::{EditedMount, Result, at, errno};
use crate::namespace::joined;
use crate::platform::unix::open_beneath;
use crate::sync::lock;

/// Maximum number of files with what there is to say about them.
const MAX_NOTES: usize = 1000;

impl EditedMount {
    /// Commits a file if it was changed, and returns whether it was.
    ///
    /// # Errors
    /// Returns `INVAL` if the bytes are refused, or the error of writing to DIR.
    pub(super) fn commit(&self, number: u64) -> Result<bool> {
        let _turn = lock(&self.turn);
        self.commit_in_turn(number)
    }

    /// Like [`EditedMount::commit`], for callers that hold the turn.
    pub(super) fn commit_in_turn(&self, number: u64) -> Result<bool> {
        let Some((path, name, own)) = self.dirty(number) else {
            return Ok(false);
        };
        // No thread writes to the file until it is committed.
        let gate = own.gate.clone();
        let _closed = gate.write().unwrap_or_else(PoisonError::into_inner);
        let Some(unfinished) = own.elsewhere.clone().filter(|name| !name.is_empty()) else {
            return Ok(false);
        };
        let use_of_name = match own.is_over {
            true => Use::File,
            false => self.use_of_entry(number, &name),
        };
        if use_of_name != Use::File {
            self.closed(number, own, Some(Note::Scratch));
            return Ok(true);
        }
        let is_slot = self.is_view(&path) && self.is_slot(number)?;
        let (size, _) = own.bytes.attributes().map_err(|error| errno(&error))?;
        if is_slot && size == 0 {
            // Programs close it in between.
            self.closed(number, own, Some(Note::Empty));
            return Ok(true);
        }
        let committed = match is_slot {
            true => self.commit_converted(number, path, own, unfinished),
            false => self.commit_plain(number, path, own, unfinished),
        };
        committed.map(|()| true)
    }

    /// Returns a file that was changed and has a name, with its path and its name.
    fn dirty(&self, number: u64) -> Option<(String, String, Own)> {
        let inodes = lock(&self.inodes);
        let inode = inodes.get(number).filter(|inode| !inode.is_gone)?;
        let own = inode.own().filter(|own| own.is_dirty)?.clone();
        Some((inodes.path(number)?, inode.name.clone(), own))
    }

    /// Returns how programs use the name of an entry.
    pub(super) fn use_of_entry(&self, number: u64, name: &str) -> Use {
        let parent = lock(&self.inodes).get(number).map(|inode| inode.parent);
        let has = |other: &str| parent.is_some_and(|parent| self.find(parent, other).is_ok());
        use_of(name, &has)
    }

    /// Returns whether the sources have a file at the path of an inode in a view.
    fn is_slot(&self, number: u64) -> Result<bool> {
        Ok(self.in_tree(number, |_, _| ())?.is_some())
    }

    fn closed(&self, number: u64, own: Own, note: Option<Note>) {
        if let Some(inode) = lock(&self.inodes).get_mut(number) {
            inode.body = Body::Own(Own {
                is_dirty: false,
                note,
                ..own
            });
        }
        self.signal(Signal::Closed(number));
    }

    fn commit_plain(&self, number: u64, path: String, own: Own, unfinished: String) -> Result<()> {
        if self.has_rivals(&path)
            && let Bytes::Open(file) = &own.bytes
            && let Ok(tried) = self.planner.try_change(&path, New::File(file))
        {
            return self.commit_tried(number, &path, own, unfinished, tried);
        }
        self.place(&path, unfinished)?;
        self.forget_refusal(&path)?;
        self.publish(&[&path], |inodes, change| {
            committed(inodes, number, own, &path, change);
        });
        Ok(())
    }

    /// Removes what is left of a file that was refused, when another one replaces it or it is
    /// removed. Returns whether it was refused.
    pub(super) fn forget_refusal(&self, path: &str) -> Result<bool> {
        let is_refused = self.refusal(path).is_some();
        if is_refused {
            let discarded = self.writer.discard(format!("{path}{REJECTED}"));
            discarded.map_err(|error| errno(&error))?;
            lock(&self.refusals).remove(path);
        }
        lock(&self.superseded).remove(path);
        Ok(is_refused)
    }

    fn commit_converted(
        &self,
        number: u64,
        path: String,
        own: Own,
        unfinished: String,
    ) -> Result<()> {
        let Bytes::Open(file) = &own.bytes else {
            return Err(Errno::STALE);
        };
        let tried = match self.planner.try_change(&path, New::File(file)) {
            Ok(tried) => tried,
            Err(Untried::Refused(reason)) => {
                return self.reject(number, path, own, unfinished, reason);
            }
            Err(Untried::Failed(errno)) => return Err(errno),
        };
        self.commit_tried(number, &path, own, unfinished, tried)
    }

    /// Gives a file its place whose version has been made.
    fn commit_tried(
        &self,
        number: u64,
        path: &str,
        own: Own,
        unfinished: String,
        mut tried: Tried,
    ) -> Result<()> {
        // A folder with both could not be applied.
        let superseded = tried.take_superseded();
        let outdated = tried.take_outdated();
        let renewed = self.copy_anew(tried.version(), outdated)?;
        let others = superseded
            .iter()
            .chain(renewed.iter().map(|one| one.path()));
        let placed = self.throw_all_away(others).and_then(|thrown_away| {
            let placed = self.place(path, unfinished);
            placed.inspect_err(|_| self.put_back(thrown_away))
        });
        if let Err(error) = placed {
            self.discard_all(renewed);
            return Err(error);
        }
        superseded.iter().for_each(|other| tell_moved(other));
        self.forget_refusal(path)?;
        self.know(path);
        superseded.iter().for_each(|other| self.know(other));
        let mut inodes = lock(&self.inodes);
        let change = self.planner.show(tried);
        inodes.changed(change, path);
        for other in &superseded {
            inodes.changed(change, other);
            remove_names(&mut inodes, other);
        }
        committed(&mut inodes, number, own, path, change);
        drop(inodes);
        self.renew(renewed)
    }

    /// Returns whether DIR has files in views of the asset at a path, or of several assets.
    pub(super) fn has_rivals(&self, path: &str) -> bool {
        let version = self.current();
        let mut kept = version.kept.keys().filter(|kept| may_be_of(kept, path));
        kept.any(|kept| {
            let shown = at(&version.vfs, kept, |ino| version.vfs.shown_asset(ino));
            match shown {
                Ok(Some(Some(asset))) => asset.eq_ignore_ascii_case(path),
                _ => true,
            }
        })
    }

    /// Moves converted files of an asset that is about to be deleted to the trash of DIR: a
    /// folder that has both cannot be applied. Returns their paths, and the version without
    /// all of them if it was made.
    pub(super) fn throw_away_views(&self, path: &str) -> Result<(Vec<String>, Option<Tried>)> {
        if !self.has_rivals(path) {
            return Ok((Vec::new(), None));
        }
        let Ok(mut tried) = self.planner.try_change(path, New::Nothing) else {
            return Ok((Vec::new(), None));
        };
        let views = tried.take_refused_since(&self.current());
        for view in &views {
            self.move_to_trash(view)?;
            tell_moved(view);
        }
        Ok((views, Some(tried)))
    }

    /// Gives an unfinished file its path in DIR.
    fn place(&self, path: &str, unfinished: String) -> Result<()> {
        self.keep_before(path)?;
        let placed = self.writer.rename(unfinished, path.to_owned(), false);
        placed.map_err(|error| errno(&error))
    }

    /// Keeps the file of DIR at a path open for its readers, before it is replaced or
    /// removed.
    pub(super) fn keep_before(&self, path: &str) -> Result<()> {
        if self.planner.keeps_many() {
            // Files without readers are closed with the version before.
            self.newest();
        }
        match open_beneath(
            &self.folder,
            Path::new(path),
            OFlags::RDONLY | OFlags::NONBLOCK,
        ) {
            Ok(file) => {
                let kept = self.planner.keep(path, file.into());
                kept.map_err(|error| errno(&error))
            }
            Err(_) => Ok(()),
        }
    }

    /// Does the same for all files below a directory.
    pub(super) fn keep_below(&self, directory: &str) -> Result<()> {
        let prefix = joined(directory, "");
        let mut paths = Vec::new();
        self.current().edits.each(&mut |path, _| {
            if path.starts_with(&prefix) {
                paths.push(path.to_owned());
            }
        });
        paths.iter().try_for_each(|path| self.keep_before(path))
    }

    /// Moves the changes inside an archive that is about to go to the trash of DIR.
    pub(super) fn throw_away_inside(&self, archive: &str) -> Result<()> {
        let inside = format!("{archive}{INSIDE}");
        let version = self.current();
        let is_companion = at(&version.vfs, &inside, |ino| version.vfs.is_companion(ino))?;
        if is_companion != Some(true) {
            return Ok(());
        }
        self.keep_below(&inside)?;
        let moved = self.writer.throw_away(inside);
        moved.map(drop).map_err(|error| errno(&error))
    }

    /// Counts a change of DIR at these paths, and lets `then` record it before a version with
    /// it is visible. Callers hold the turn.
    pub(super) fn publish(&self, paths: &[&str], then: impl FnOnce(&mut Inodes, u64)) -> u64 {
        self.publish_version(paths, None, then)
    }

    /// Does the same with the version that has the changes, if it was made.
    pub(super) fn publish_version(
        &self,
        paths: &[&str],
        tried: Option<Tried>,
        then: impl FnOnce(&mut Inodes, u64),
    ) -> u64 {
        paths.iter().for_each(|path| self.know(path));
        let mut inodes = lock(&self.inodes);
        let change = match tried {
            Some(tried) => self.planner.show(tried),
            None => self
                .planner
                .count(paths.last().copied().unwrap_or_default()),
        };
        paths.iter().for_each(|path| inodes.changed(change, path));
        then(&mut inodes, change);
        change
    }

    fn reject(
        &self,
        number: u64,
        path: String,
        own: Own,
        unfinished: String,
        reason: String,
    ) -> Result<()> {
        log::error!("{path}: {reason}");
        let rejected = format!("{path}{REJECTED}");
        let moved = self.writer.rename(unfinished, rejected.clone(), false);
        moved.map_err(|error| errno(&error))?;
        self.refuse(&path, &reason);
        let own = Own {
            elsewhere: Some(rejected),
            ..own
        };
        self.closed(number, own, Some(Note::Refused(reason)));
        Err(Errno::INVAL)
    }

    /// Remembers and tells why a file was refused.
    fn refuse(&self, path: &str, reason: &str) {
        (self.refused)(path, reason);
        remember(&self.refusals, path, reason.to_owned());
    }

    /// Gives a file that the source cannot have a name in DIR that is not applied, so that
    /// the rest of DIR can be; unless it has changed since the version that has refused it.
    pub(super) fn set_aside(&self, number: u64, version: u64) {
        let turn = lock(&self.turn);
        let place = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(number);
            let inode = inode.filter(|inode| !inode.is_gone && inode.since <= version);
            let own = inode.and_then(|inode| inode.own());
            let own = own.filter(|own| own.elsewhere.is_none() && !own.is_dirty);
            own.cloned().zip(inodes.path(number))
        };
        let Some((own, path)) = place else {
            return;
        };
        let Some(reason) = self.refusal(&path) else {
            return;
        };
        log::error!("{path}: {reason}");
        let rejected = format!("{path}{REJECTED}");
        let moved = self.keep_before(&path).and_then(|()| {
            let moved = self.writer.rename(path.clone(), rejected.clone(), false);
            moved.map_err(|error| errno(&error))
        });
        match moved {
            Ok(()) => {}
            // There is no room for the end of such a name.
            Err(Errno::NAMETOOLONG) => {
                drop(turn);
                (self.refused)(&path, &reason);
                return self.throw_away(&path, version);
            }
            Err(error) => return log::error!("{path}: {error}"),
        }
        self.refuse(&path, &reason);
        self.publish(&[&path], |inodes, change| {
            if let Some(inode) = inodes.get_mut(number) {
                inode.since = change;
                inode.body = Body::Own(Own {
                    elsewhere: Some(rejected),
                    is_over: false,
                    note: Some(Note::Refused(reason)),
                    ..own
                });
            }
        });
    }

    /// Moves a file that a version does not have, since another one has changed its asset or
    /// the source cannot have it, to the trash of DIR; unless it has changed since.
    pub(super) fn throw_away(&self, path: &str, version: u64) {
        let _turn = lock(&self.turn);
        if lock(&self.inodes).is_behind(version, path) {
            return;
        }
        if let Err(error) = self.move_to_trash(path) {
            return log::error!("{path}: {error}");
        }
        tell_moved(path);
        self.publish(&[path], |inodes, _| remove_names(inodes, path));
    }

    /// Moves such a file, and returns its path there; callers record it.
    fn move_to_trash(&self, path: &str) -> Result<Option<String>> {
        self.keep_before(path)?;
        let moved = self.writer.throw_away(path.to_owned());
        moved.map_err(|error| errno(&error))
    }

    /// Moves such files: all or none.
    pub(super) fn throw_all_away<'a>(
        &self,
        paths: impl Iterator<Item = &'a String>,
    ) -> Result<Vec<ThrownAway>> {
        let mut moved = Vec::new();
        for path in paths {
            match self.move_to_trash(path) {
                Ok(Some(trash)) => moved.push(ThrownAway {
                    path: path.clone(),
                    trash,
                }),
                Ok(None) => {}
                Err(error) => {
                    self.put_back(moved);
                    return Err(error);
                }
            }
        }
        Ok(moved)
    }

    /// Gives files back their paths that were thrown away for a change that could not be made.
    fn put_back(&self, thrown_away: Vec<ThrownAway>) {
        for ThrownAway { path, trash } in thrown_away {
            match self.writer.rename(trash, path.clone(), false) {
                Ok(()) => self.know(&path),
                Err(error) => log::error!("{path} stays in the trash of DIR: {error}"),
            }
        }
    }
}

/// Says that a file was moved to the trash.
fn tell_moved(path: &str) {
    log::warn!(
        "{path}: moved to the trash of DIR, since its asset was changed otherwise or it is refused"
    );
}

/// A file in the trash of DIR.
pub(super) struct ThrownAway {
    path: String,
    /// Its path there.
    trash: String,
}

/// Remembers what there is to say about the file at a path.
pub(super) fn remember(notes: &Mutex<BTreeMap<String, String>>, path: &str, note: String) {
    let mut notes = lock(notes);
    if notes.len() >= MAX_NOTES {
        notes.clear();
    }
    notes.insert(path.to_owned(), note);
}

/// Makes the name of a file of DIR that is not there any more lead elsewhere.
pub(super) fn remove_names(inodes: &mut Inodes, path: &str) {
    let own = inodes.owned();
    let at_path: Vec<u64> = own
        .filter(|(number, _, own)| {
            own.elsewhere.is_none() && inodes.path(*number).as_deref() == Some(path)
        })
        .map(|(number, ..)| number)
        .collect();
    at_path
        .into_iter()
        .for_each(|number| inodes.remove_name(number));
}

/// Records that a file is at its place in DIR.
fn committed(inodes: &mut Inodes, number: u64, own: Own, path: &str, change: u64) {
    inodes.is_there(path);
    if let Some(inode) = inodes.get_mut(number) {
        inode.since = change;
        inode.body = Body::Own(Own {
            elsewhere: None,
            is_dirty: false,
            is_over: true,
            note: None,
            ..own
        });
    }
}
