//! Making, renaming and removing entries of directories.

use std::time::{Duration, Instant};

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::commit::remove_names;
use super::files::check_name;
use super::folder::split;
use super::inode::{Body, Directory, Inode, Note, Own};
use super::inodes::{Missing, ROOT};
use super::look::Attributes;
use super::names::{Use, is_derived, use_of};
use super::plan::Untried;
use super::version::New;
use super::{EditedMount, Result, errno, errno_of};
use crate::mount::FileKind;
use crate::sync::lock;

/// Duration of the absence of a converted file after its edit was removed: many programs remove or
/// rename a file before they save it.
const REPLACED: Duration = Duration::from_secs(5);

/// A file with its place.
struct Place {
    directory: u64,
    name: String,
    file: Attributes,
}

impl EditedMount {
    /// Removes a file.
    ///
    /// # Errors
    /// Returns `PERM` for files that follow from others, or the error of changing DIR.
    pub fn unlink(&self, parent: u64, name: &str) -> Result<()> {
        let found = self.lookup(parent, name)?;
        let removed = match found.kind {
            FileKind::Directory => Err(Errno::ISDIR),
            FileKind::Symlink => self.followed(found.number).and_then(|asset| {
                let _turn = lock(&self.turn);
                let Some(Place { file, .. }) = asset else {
                    return self.remove_file(found.number);
                };
                let removed = self.remove_file(file.number);
                self.forget(file.number, 1);
                removed
            }),
            FileKind::File => {
                let _turn = lock(&self.turn);
                self.remove_file(found.number)
            }
        };
        self.forget(found.number, 1);
        removed
    }

    /// Finds the file that a link is another name of, and counts one lookup of it; `None`
    /// for a link of the archive's own.
    fn followed(&self, link: u64) -> Result<Option<Place>> {
        let is_name = self.in_tree(link, |version, ino| {
            let is_name = version.vfs.is_asset_link(ino);
            is_name.then(|| version.vfs.readlink(ino)).transpose()
        });
        let Some(text) = is_name?.ok_or(Errno::NOENT)?.map_err(errno_of)? else {
            return Ok(None);
        };
        let text = String::from_utf8(text).map_err(|_| Errno::INVAL)?;
        let (path, _) = self.path_and_own(link)?;
        let mut names: Vec<&str> = path.split('/').collect();
        names.pop();
        for name in text.split('/') {
            match name {
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        let mut above = Vec::new();
        let mut place = None;
        let mut directory = ROOT;
        for name in names {
            let file = self.lookup(directory, name);
            above.extend(place.take().map(|place: Place| place.file.number));
            match file {
                Ok(file) => {
                    let name = name.to_owned();
                    place = Some(Place {
                        directory,
                        name,
                        file,
                    });
                    directory = file.number;
                }
                Err(error) => {
                    above.into_iter().for_each(|number| self.forget(number, 1));
                    return Err(error);
                }
            }
        }
        above.into_iter().for_each(|number| self.forget(number, 1));
        Ok(place)
    }

    /// Removes the file of an inode from its directory.
    fn remove_file(&self, number: u64) -> Result<()> {
        let (path, own) = self.path_and_own(number)?;
        if own.is_none() {
            self.check_removable(number)?;
        }
        if let Some(unfinished) = own.as_ref().and_then(|own| own.elsewhere.clone()) {
            let discarded = self.writer.discard(unfinished);
            discarded.map_err(|error| errno(&error))?;
        }
        match own.is_none_or(|own| own.is_over) {
            true => self.remove_path(&path)?,
            false => {
                // A version that is being made may have seen the refused file.
                if self.forget_refusal(&path)? {
                    self.publish(&[&path], |_, _| {});
                }
            }
        }
        let mut inodes = lock(&self.inodes);
        let parent = inodes.get(number).map(|inode| inode.parent);
        inodes.remove_name(number);
        parent.into_iter().for_each(|parent| inodes.touch(parent));
        let parent = parent.map(|parent| inodes.exact(parent));
        if let Some(inode) = parent.and_then(|parent| inodes.get_mut(parent))
            && let Body::Directory(directory) = &mut inode.body
        {
            directory.is_emptied = true;
        }
        Ok(())
    }

    fn path_and_own(&self, number: u64) -> Result<(String, Option<Own>)> {
        let inodes = lock(&self.inodes);
        let inode = inodes.get(number).ok_or(Errno::STALE)?;
        let path = inodes.path(number).ok_or(Errno::STALE)?;
        Ok((path, inode.own().cloned()))
    }

    /// Checks that a file of the versions can be removed.
    fn check_removable(&self, number: u64) -> Result<()> {
        let (path, parent, is_link) = {
            let inodes = lock(&self.inodes);
            let inode = inodes.get(number).ok_or(Errno::STALE)?;
            let is_link = matches!(inode.body, Body::Shown(FileKind::Symlink));
            (
                inodes.path(number).ok_or(Errno::STALE)?,
                inode.parent,
                is_link,
            )
        };
        match is_link {
            true => self.check_place(parent, split(&path).0),
            false => self.check_editable(number),
        }
    }

    /// Removes what DIR and the sources have at a path.
    fn remove_path(&self, path: &str) -> Result<()> {
        let is_edit = self.is_view(path);
        // Of a file in a view only the edit is removed.
        let is_original = !is_edit && self.is_original(path)?;
        self.keep_before(path)?;
        self.throw_away_inside(path)?;
        let (views, tried) = match is_original {
            true => self.throw_away_views(path)?,
            false => (Vec::new(), None),
        };
        let removed = self.writer.delete(path.to_owned(), is_original);
        let was_there = removed.map_err(|error| errno(&error))?;
        let was_there = self.forget_refusal(path)? || was_there;
        let replaced = Missing::Until(Instant::now() + REPLACED);
        if is_edit && !was_there {
            lock(&self.inodes).miss(path, replaced);
            return Ok(());
        }
        let changed: Vec<&str> = views.iter().map(String::as_str).chain([path]).collect();
        self.publish_version(&changed, tried, |inodes, change| {
            views.iter().for_each(|view| remove_names(inodes, view));
            let why = match is_edit {
                true => replaced,
                false => Missing::Since(change),
            };
            inodes.miss(path, why);
        });
        Ok(())
    }

    /// Makes a directory, and counts one lookup of it.
    ///
    /// # Errors
    /// Returns `EXIST`, or `PERM` where there can be no directories.
    pub fn mkdir(&self, parent: u64, name: &str) -> Result<Attributes> {
        check_name(name)?;
        match self.find(parent, name) {
            Ok(_) => return Err(Errno::EXIST),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
        let _turn = lock(&self.turn);
        let (parent, path) = self.new_entry(parent, name)?;
        if self.is_view(&path) || use_of(name, &|_| false) == Use::Scratch {
            return Err(Errno::PERM);
        }
        let tried = self.planner.try_change(&path, New::Directory);
        let tried = tried.map_err(|untried| match untried {
            Untried::Refused(reason) => {
                log::error!("{path}: {reason}");
                Errno::PERM
            }
            Untried::Failed(errno) => errno,
        })?;
        let made = self.writer.make_directory(path.clone());
        made.map_err(|error| errno(&error))?;
        self.know(&path);
        let mut inodes = lock(&self.inodes);
        let change = self.planner.show(tried);
        inodes.changed(change, &path);
        inodes.is_there(&path);
        let body = Body::Directory(Directory {
            needs: change,
            is_new: true,
            ..Directory::default()
        });
        let mut inode = Inode::new(parent, name, body, change);
        // Others may settle the version as soon as the lock is free.
        inode.lookups = 1;
        let number = inodes.add(inode);
        inodes.touch(number);
        inodes.touch(parent);
        drop(inodes);
        self.attributes_now(number)
    }

    /// Removes a directory that is empty but for names that programs use for a moment.
    ///
    /// # Errors
    /// Returns `NOTEMPTY`, or `PERM` for a directory that follows from files.
    pub fn rmdir(&self, parent: u64, name: &str) -> Result<()> {
        let found = self.lookup(parent, name)?;
        let removed = match found.kind {
            FileKind::Directory => self.remove_directory(found.number),
            _ => Err(Errno::NOTDIR),
        };
        self.forget(found.number, 1);
        removed
    }

    fn remove_directory(&self, number: u64) -> Result<()> {
        let scratch = self.only_scratch(number)?;
        let _turn = lock(&self.turn);
        let (path, _) = self.path_and_own(number)?;
        self.check_place(number, &path)?;
        if self.is_view(&path) {
            return Err(Errno::PERM);
        }
        for number in scratch {
            self.remove_file(number)?;
        }
        let is_original = self.is_original(&path)?;
        let removed = self.writer.delete_directory(path.clone(), is_original);
        removed.map_err(|error| errno(&error))?;
        self.publish(&[&path], |inodes, change| {
            inodes.miss(&path, Missing::Since(change));
            let exact = inodes.exact(number);
            let parent = inodes.get(exact).map(|inode| inode.parent);
            inodes.remove_name(exact);
            parent.into_iter().for_each(|parent| inodes.touch(parent));
        });
        Ok(())
    }

    /// Returns the inodes in a directory that has only unfinished files with names for a
    /// moment.
    fn only_scratch(&self, number: u64) -> Result<Vec<u64>> {
        let handle = self.opendir(number)?;
        let mut looked = Vec::new();
        let listed = self.readdir(number, handle, 0, &mut |entry| {
            looked.push(entry.attributes.number);
            false
        });
        self.release(handle);
        let is_scratch = |number: &u64| {
            let inodes = lock(&self.inodes);
            let own = inodes.get(*number).and_then(Inode::own);
            own.is_some_and(|own| own.note == Some(Note::Scratch) && !own.is_over)
        };
        let scratch: Vec<u64> = looked.iter().copied().filter(is_scratch).collect();
        let is_empty = scratch.len() == looked.len();
        looked.into_iter().for_each(|number| self.forget(number, 1));
        listed?;
        match is_empty {
            true => Ok(scratch),
            false => Err(Errno::NOTEMPTY),
        }
    }

    /// Gives an entry another name.
    ///
    /// # Errors
    /// Returns `EXIST`, `ISDIR`, `NOTDIR` and `NOTEMPTY` as rename(2); `XDEV` for a
    /// directory of the sources; `INVAL` if the file is refused under its new name, or if
    /// entries are to be exchanged that are not both files in DIR; or the error of changing DIR.
    pub fn rename(
        &self,
        (parent, name): (u64, &str),
        (new_parent, new_name): (u64, &str),
        flags: RenameFlags,
    ) -> Result<()> {
        check_name(new_name)?;
        if flags.contains(RenameFlags::WHITEOUT) {
            return Err(Errno::INVAL);
        }
        let from = self.lookup(parent, name)?;
        let to = self.lookup(new_parent, new_name);
        let renamed = match to {
            _ if flags.contains(RenameFlags::EXCHANGE) => to.and_then(|to| self.exchange(from, to)),
            Ok(_) if flags.contains(RenameFlags::NOREPLACE) => Err(Errno::EXIST),
            Ok(link) if link.kind == FileKind::Symlink => self.rename_onto_link(from, link),
            Ok(to) => self.rename_found(from, Some(to), (new_parent, new_name)),
            Err(Errno::NOENT) => self.rename_found(from, None, (new_parent, new_name)),
            Err(error) => Err(error),
        };
        for found in [Some(from), to.ok()].into_iter().flatten() {
            self.forget(found.number, 1);
        }
        renamed
    }

    /// Gives two files in DIR the names of each other.
    fn exchange(&self, one: Attributes, other: Attributes) -> Result<()> {
        let numbers = [one, other].map(|found| lock(&self.inodes).exact(found.number));
        if numbers[0] == numbers[1] {
            return Ok(());
        }
        let _turn = lock(&self.turn);
        let one = self.exchangeable(numbers[0])?;
        let other = self.exchangeable(numbers[1])?;
        for path in [&one, &other] {
            self.keep_before(path)?;
            self.throw_away_inside(path)?;
        }
        let exchanged = self.writer.exchange(one.clone(), other.clone());
        exchanged.map_err(|error| errno(&error))?;
        self.publish(&[&one, &other], |inodes, change| {
            inodes.exchange(numbers);
            for number in numbers {
                if let Some(inode) = inodes.get_mut(number) {
                    inode.since = change;
                }
            }
        });
        Ok(())
    }

    /// Returns the path of a file that can be exchanged with another one: a file in DIR that
    /// nothing else in DIR shows.
    fn exchangeable(&self, number: u64) -> Result<String> {
        self.commit_in_turn(number)?;
        let (path, own) = self.path_and_own(number)?;
        let is_at_its_place = own.is_none_or(|own| own.elsewhere.is_none());
        let is_alone = !is_derived(&path) && !self.has_rivals(&path);
        match is_at_its_place && is_alone && self.is_in_folder(&path) {
            true => Ok(path),
            false => Err(Errno::INVAL),
        }
    }

    /// Replaces the file that a link is another name of.
    fn rename_onto_link(&self, from: Attributes, link: Attributes) -> Result<()> {
        let Place {
            directory,
            name,
            file,
        } = self.followed(link.number)?.ok_or(Errno::PERM)?;
        let renamed = self.rename_found(from, Some(file), (directory, &name));
        self.forget(file.number, 1);
        renamed
    }

    fn rename_found(
        &self,
        from: Attributes,
        to: Option<Attributes>,
        (new_parent, new_name): (u64, &str),
    ) -> Result<()> {
        let exact = |found: Attributes| lock(&self.inodes).exact(found.number);
        if to.is_some_and(|to| exact(to) == exact(from)) {
            return Ok(());
        }
        let is_directory = from.kind == FileKind::Directory;
        match to.map(|to| to.kind) {
            Some(FileKind::Directory) if !is_directory => return Err(Errno::ISDIR),
            Some(FileKind::Directory) => {
                self.check_movable(from.number)?;
                self.rmdir(new_parent, new_name)?;
            }
            Some(_) if is_directory => return Err(Errno::NOTDIR),
            _ => {}
        }
        let _turn = lock(&self.turn);
        let (new_parent, new_path) = self.new_entry(new_parent, new_name)?;
        match is_directory {
            true => self.rename_directory(from.number, new_parent, new_name, &new_path),
            false => {
                if let Some(to) = to {
                    self.check_removable(to.number)?;
                }
                self.rename_file(from, to, (new_parent, new_name), &new_path)
            }
        }
    }

    /// Checks that a directory can be renamed, and returns its path.
    fn check_movable(&self, number: u64) -> Result<String> {
        let (path, _) = self.path_and_own(number)?;
        if is_derived(&path) {
            return Err(Errno::PERM);
        }
        match self.is_original(&path)? {
            // As overlayfs: programs copy it instead.
            true => Err(Errno::XDEV),
            false => Ok(path),
        }
    }

    fn rename_directory(&self, number: u64, parent: u64, name: &str, new_path: &str) -> Result<()> {
        let number = lock(&self.inodes).exact(number);
        let path = self.check_movable(number)?;
        self.keep_below(&path)?;
        let renamed = self.writer.rename(path.clone(), new_path.to_owned(), false);
        renamed.map_err(|error| errno(&error))?;
        self.know_inside(&path, new_path);
        self.publish(&[&path, new_path], |inodes, change| {
            inodes.rename(number, parent, name);
            inodes.miss(&path, Missing::Since(change));
            inodes.is_there(new_path);
            if let Some(inode) = inodes.get_mut(number) {
                inode.since = change;
                if let Body::Directory(directory) = &mut inode.body {
                    directory.needs = change;
                    directory.found = None;
                }
            }
        });
        Ok(())
    }

    fn rename_file(
        &self,
        from: Attributes,
        to: Option<Attributes>,
        (parent, name): (u64, &str),
        new_path: &str,
    ) -> Result<()> {
        let number = from.number;
        let (path, own) = self.path_and_own(number)?;
        if own.is_none() {
            self.check_removable(number)?;
            if from.kind == FileKind::Symlink {
                return Err(Errno::PERM);
            }
        }
        let is_plain = |path: &str| !self.is_view(path);
        let is_at_its_place = match &own {
            Some(own) => own.elsewhere.is_none(),
            None => self.is_in_folder(&path),
        };
        let keeps_place = is_at_its_place
            && is_plain(&path)
            && is_plain(new_path)
            && self.use_in(parent, name) == Use::File
            && !self.has_rivals(&path)
            && !self.has_rivals(new_path);
        if keeps_place {
            return self.rename_in_folder(number, to, (parent, name), &path, new_path);
        }
        // Its bytes get the new name first.
        let is_over = own.as_ref().is_none_or(|own| own.is_over);
        let replaces = to.is_some_and(|to| {
            let inodes = lock(&self.inodes);
            let own = inodes.get(to.number).and_then(Inode::own);
            own.is_none_or(|own| own.is_over)
        });
        self.begin_in_turn(number, true)?;
        let old = {
            let mut inodes = lock(&self.inodes);
            let inode = inodes.get_mut(number).ok_or(Errno::STALE)?;
            let old = (inode.parent, inode.name.clone());
            if let Body::Own(own) = &mut inode.body {
                own.is_over = replaces;
                own.note = None;
            }
            inodes.rename(number, parent, name);
            old
        };
        if let Err(error) = self.commit_in_turn(number) {
            self.undo_rename(number, old, to, is_over);
            return Err(error);
        }
        if let Some(to) = to {
            self.replaced(to.number);
        }
        match is_over {
            true => self.remove_path(&path),
            false => Ok(()),
        }
    }

    /// Returns how programs use a name in a directory.
    fn use_in(&self, parent: u64, name: &str) -> Use {
        use_of(name, &|other| self.find(parent, other).is_ok())
    }

    /// Discards the unfinished bytes of a file that another one has replaced.
    fn replaced(&self, number: u64) {
        let own = lock(&self.inodes)
            .get(number)
            .and_then(|inode| inode.own().cloned());
        if let Some(unfinished) = own.and_then(|own| own.elsewhere) {
            // The next mount removes it otherwise.
            let _ = self.writer.discard(unfinished);
        }
    }

    /// Renames a file that is at its place in DIR.
    fn rename_in_folder(
        &self,
        number: u64,
        to: Option<Attributes>,
        (parent, name): (u64, &str),
        path: &str,
        new_path: &str,
    ) -> Result<()> {
        let is_original = self.is_original(path)?;
        self.keep_before(path)?;
        self.keep_before(new_path)?;
        self.throw_away_inside(path)?;
        let moved = self
            .writer
            .rename(path.to_owned(), new_path.to_owned(), is_original);
        moved.map_err(|error| errno(&error))?;
        if let Some(to) = to {
            self.replaced(to.number);
        }
        self.publish(&[path, new_path], |inodes, change| {
            inodes.rename(number, parent, name);
            inodes.miss(path, Missing::Since(change));
            inodes.is_there(new_path);
            if let Some(inode) = inodes.get_mut(number) {
                inode.since = change;
            }
        });
        Ok(())
    }

    /// Gives a file its old name again after it was refused under a new one.
    fn undo_rename(
        &self,
        number: u64,
        (parent, name): (u64, String),
        to: Option<Attributes>,
        is_over: bool,
    ) {
        let rejected = self
            .path_and_own(number)
            .ok()
            .and_then(|(_, own)| own?.elsewhere);
        // It is a scratch file again.
        let unfinished = rejected.map(|rejected| self.writer.unname(rejected));
        let mut inodes = lock(&self.inodes);
        let place = inodes
            .get(number)
            .map(|inode| (inode.parent, inode.name.clone()));
        inodes.rename(number, parent, &name);
        if let Some(Inode {
            body: Body::Own(own),
            ..
        }) = inodes.get_mut(number)
        {
            own.is_over = is_over;
            own.note = Some(Note::Scratch);
            if let Some(Ok(unfinished)) = unfinished {
                own.elsewhere = Some(unfinished);
            }
        }
        if let (Some(to), Some((parent, name))) = (to, place) {
            inodes.restore(to.number, parent, &name);
        }
    }
}
