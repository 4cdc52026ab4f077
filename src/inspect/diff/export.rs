//! `--export`: the differences as a folder of changes, from which `--apply` makes the
//! second side out of the first.
//!
//! Threads that read sources may not write, so that the folder is written by another one,
//! which gets [`Task`]s. A nested archive is first exported by the changes inside. Then the
//! folder is applied to the first side, and the result is compared with the second one:
//! archives that cannot be changed in this way or do not come out the same are exported as
//! a whole. What remains is refused.

use std::sync::mpsc::{SyncSender, sync_channel};

use super::edits::{Edit, Edits, Whole, split};
use crate::inspect::walk::Walk;
use crate::inspect::{Contents, Error, Role};
use crate::mount::{self, Bytes, HeldIno, Ino, OpenCause, OpenError, Prepared, Vfs};
use crate::namespace::companion::Shows;
use crate::source::{FolderTask, OPAQUE, WHITEOUT};
use hpimount_containers::changes::{Notice, is_litter};

/// Task of another thread for an export.
pub enum Task {
    /// Write to the folder.
    Write(FolderTask<Bytes>),
    /// Send the first side with the folder as it is now.
    Apply(SyncSender<Result<Prepared, OpenError>>),
}

/// Exports edits that make `new` out of the first side. `edits_after` returns what is still
/// to be edited in the first side with the folder.
///
/// # Errors
/// Returns [`OpenCause::Refused`] with everything that a folder of changes cannot express,
/// or an error if `new` cannot be read, or the folder cannot be written or checked.
pub(super) fn export(
    edits: &Edits,
    name: &str,
    new: &Vfs,
    tasks: &SyncSender<Task>,
    edits_after: impl Fn(Prepared) -> Result<Edits, Error>,
) -> Result<(), Error> {
    let folder = Folder { edits, new, tasks };
    check_complete(edits)?;
    let links = edits.all().filter(|(_, edit)| *edit == Edit::Link);
    let mut left: Vec<Notice> = links.map(|(path, edit)| refusal(path, edit)).collect();
    let mut written: Option<Whole> = None;
    loop {
        let mut whole = written.clone().unwrap_or_default();
        let around = |notice: &Notice| edits.archive_around(&notice.path, &whole);
        let archives: Whole = left.iter().filter_map(around).map(Box::from).collect();
        if archives.is_empty() && !left.is_empty() {
            return Err(Error::Open(OpenError {
                source_name: name.to_owned(),
                cause: OpenCause::Refused(left),
            }));
        }
        for archive in &archives {
            folder.write_task(FolderTask::Remove(Shows::Inside.name_beside(archive)))?;
        }
        whole.extend(archives);
        folder.write(written.as_ref(), &whole)?;
        left = match folder.apply().and_then(&edits_after) {
            Ok(after) => {
                check_complete(&after)?;
                let is_left = |(path, edit): &(&str, Edit)| {
                    *edit != Edit::Archive && !edits.is_of_pair(path, &whole)
                };
                let left = after.all().filter(is_left);
                left.map(|(path, edit)| refusal(path, edit)).collect()
            }
            Err(Error::Open(OpenError {
                cause: OpenCause::Refused(refusals),
                ..
            })) => refusals,
            Err(error) => return Err(error),
        };
        if left.is_empty() {
            return Ok(());
        }
        written = Some(whole);
    }
}

/// Checks that edits are all that there are.
fn check_complete(edits: &Edits) -> Result<(), Error> {
    if edits.is_full {
        return Err(Error::LeftOut(
            "there are too many differences for a folder of changes; `-o cachesize=` raises the \
             limit"
                .to_owned(),
        ));
    }
    match &edits.trouble {
        Some(trouble) => Err(Error::LeftOut(format!(
            "the folder of changes cannot be checked: {trouble}"
        ))),
        None => Ok(()),
    }
}

/// Returns why an edit is not exported.
fn refusal(path: &str, edit: Edit) -> Notice {
    let name = path.rsplit('/').next().unwrap_or(path);
    let text = match edit {
        Edit::File | Edit::Archive if is_litter(name) => "has a name that `--apply` skips",
        Edit::File | Edit::Archive => "would be missing or have other bytes",
        Edit::Directory | Edit::Instead => "would not be a directory",
        Edit::Deleted => "would not be deleted",
        Edit::Link => "is a symbolic link, which a folder of changes does not change",
        Edit::Generated => "differs in what is in no file",
    };
    Notice::new(path, text)
}

/// A folder of changes that another thread writes.
struct Folder<'a> {
    edits: &'a Edits,
    new: &'a Vfs,
    tasks: &'a SyncSender<Task>,
}

impl Folder<'_> {
    fn send(&self, task: Task) -> Result<(), Error> {
        self.tasks.send(task).map_err(|_| Error::stopped())
    }

    fn write_task(&self, task: FolderTask<Bytes>) -> Result<(), Error> {
        self.send(Task::Write(task))
    }

    /// Returns the first side with the folder as it is now.
    fn apply(&self) -> Result<Prepared, Error> {
        let (sender, changed) = sync_channel(1);
        self.send(Task::Apply(sender))?;
        Ok(changed.recv().map_err(|_| Error::stopped())??)
    }

    /// Writes the edits, with some archives as a whole, that were not `written` before, with
    /// these as a whole.
    fn write(&self, written: Option<&Whole>, whole: &Whole) -> Result<(), Error> {
        for (path, edit) in self.edits.all() {
            let is_written = |whole| self.edits.is_written(path, edit, whole);
            if is_written(whole) && !written.is_some_and(is_written) {
                self.edit(path, edit)?;
            }
        }
        Ok(())
    }

    fn edit(&self, path: &str, edit: Edit) -> Result<(), Error> {
        match edit {
            Edit::Deleted => {
                let (directory, name) = split(path);
                self.write_task(FolderTask::File(format!("{directory}{WHITEOUT}{name}")))
            }
            Edit::Directory if self.edits.has_below(path) => Ok(()),
            Edit::Directory => self.empty_directory(path, *self.find(path)?),
            Edit::Instead => {
                self.write_task(FolderTask::File(format!("{path}/{OPAQUE}")))?;
                self.tree(path, self.find(path)?)
            }
            Edit::File | Edit::Archive => self.file(path, *self.find(path)?),
            Edit::Link | Edit::Generated => Ok(()),
        }
    }

    /// Returns the entry of the second side at a path.
    fn find(&self, path: &str) -> Result<HeldIno, Error> {
        let mut found = HeldIno::kept(Ino::ROOT);
        for name in path.split('/') {
            let entry = Contents(self.new).find(*found, name);
            let entry = entry.and_then(|entry| entry.ok_or(mount::Error::NotFound));
            found = entry.map_err(|error| Error::path(path, error))?.ino;
        }
        Ok(found)
    }

    /// Writes everything in a directory.
    fn tree(&self, path: &str, directory: HeldIno) -> Result<(), Error> {
        let mut walk = Walk::new(directory, path.to_owned());
        while let Some(step) = walk.next(self.new) {
            let step = step.map_err(|missed| Error::missed(missed, path))?;
            match step.entry.role {
                Role::File { .. } | Role::Generated => self.file(&step.path, *step.entry.ino)?,
                Role::Directory => {
                    self.empty_directory(&step.path, *step.entry.ino)?;
                    walk.enter(self.new, step);
                }
                Role::Link { .. } | Role::Inside | Role::AssetDirectory => {}
            }
        }
        Ok(())
    }

    /// Writes a directory if it is empty. Other directories come with their files, or hold
    /// only links into the archive.
    fn empty_directory(&self, path: &str, directory: Ino) -> Result<(), Error> {
        let first = Contents(self.new).entries(directory, 0, 1);
        match first.map_err(|error| Error::path(path, error))?.is_empty() {
            true => self.write_task(FolderTask::Directory(path.to_owned())),
            false => Ok(()),
        }
    }

    fn file(&self, path: &str, file: Ino) -> Result<(), Error> {
        self.write_task(FolderTask::File(path.to_owned()))?;
        for piece in Contents(self.new).pieces(file) {
            let bytes = piece.map_err(|trouble| Error::path(path, trouble))?;
            self.write_task(FolderTask::Append(bytes))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_compared_with_the_second_side_is_refused() {
        let mut edits = Edits::new(1 << 10);
        check_complete(&edits).unwrap();
        edits.add(&Record::Trouble {
            side: 0,
            path: "a/b".to_owned(),
            cause: "cannot be read".to_owned(),
        });
        let error = check_complete(&edits).unwrap_err().to_string();
        assert!(
            error.ends_with("cannot be checked: a/b: cannot be read"),
            "{error}"
        );
    }
}
