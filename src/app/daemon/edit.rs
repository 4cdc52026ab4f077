//! Trees whose folder of edits (DIR) is shown.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Confinement;
use super::confine::Confined;
use crate::app::{Failure, MountOptions};
use crate::edit::{EditPlan, EditedMount, OpenedFolder};
use crate::mount::{Options, Prepared, Sources};

/// The sources of such a tree.
pub(super) struct Sourced<'o> {
    /// The sources, by paths that are valid wherever this process is.
    pub(super) prepared: Prepared,
    folder: PathBuf,
    options: &'o MountOptions,
}

impl<'o> Sourced<'o> {
    /// Prepares sources for the folder of edits `folder`.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] if the folder is a source, in one, or around the mount
    /// point, and the errors of the sources.
    pub(super) fn prepare(
        sources: &Sources,
        folder: &Path,
        options: &'o MountOptions,
        point: Option<&Path>,
    ) -> Result<Self, Failure> {
        let prepared = sources.clone().absolute()?.prepare()?;
        let prepared = prepared.with_changes(&options.apply, options.apply_strict)?;
        let resolved = resolved(folder).map_err(|error| unusable(folder, &error))?;
        let checked = check(&resolved, &prepared.paths(), point);
        checked.map_err(|why| unusable(folder, &why))?;
        Ok(Self {
            prepared,
            folder: resolved,
            options,
        })
    }

    /// Opens the folder for a mount that can be edited.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] if it cannot be opened.
    pub(super) fn open_folder(&self) -> Result<OpenedFolder, Failure> {
        let no_sandbox = self.options.no_sandbox;
        let confine = move |path: &Path| match no_sandbox {
            true => Ok(()),
            false => Confinement::to_edit(path).enter(),
        };
        OpenedFolder::open(&self.folder, confine).map_err(|error| unusable(&self.folder, &error))
    }

    /// Opens the folder to show what others make of it.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] if it cannot be opened.
    #[cfg(serve)]
    pub(super) fn follow_folder(&self) -> Result<OpenedFolder, Failure> {
        let no_sandbox = self.options.no_sandbox;
        let to_watch = move |path: &Path| match no_sandbox {
            true => Ok(()),
            false => Confinement::to_watch(path).enter(),
        };
        let to_make_files = move || match no_sandbox {
            true => Ok(()),
            false => Confinement::to_edit(&std::env::temp_dir()).enter(),
        };
        let opened = OpenedFolder::follow(&self.folder, to_watch, to_make_files);
        opened.map_err(|error| unusable(&self.folder, &error))
    }

    /// Opens the sources; their threads are confined to them and to the folder. `refused` is
    /// called with the path of each file that is refused, and the reason.
    ///
    /// # Errors
    /// Returns the errors of opening the sources.
    pub(super) fn open(
        self,
        opened: OpenedFolder,
        options: Options,
        confined: &Confined,
        refused: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Result<Arc<EditedMount>, Failure> {
        let mut readable = self.prepared.paths();
        readable.push(opened.path().to_owned());
        let confinement = self.options.confinement(&readable);
        let edit = EditPlan {
            prepared: self.prepared,
            options,
            is_strict: self.options.apply_strict,
            refused: Box::new(refused),
        };
        let mount = confined.run(move || {
            confinement.restrict_files()?;
            Ok(EditedMount::open(edit, opened))
        });
        let mount: io::Result<_> = mount.flatten();
        Ok(mount.map_err(Failure::no_thread)??)
    }
}

fn unusable(folder: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("--edit {}: {why}", folder.display()))
}

/// Returns the path of a folder without symbolic links; it may be missing.
fn resolved(folder: &Path) -> io::Result<PathBuf> {
    match (folder.canonicalize(), folder.parent(), folder.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(parent.canonicalize()?.join(name))
        }
        (path, ..) => path,
    }
}

/// Checks that a folder of edits is apart from the sources and from the mount point.
fn check(folder: &Path, read: &[PathBuf], point: Option<&Path>) -> Result<(), &'static str> {
    if point.is_some_and(|point| point.starts_with(folder) || folder.starts_with(point)) {
        return Err("contains the mount point, or is in it");
    }
    let read = read.iter().filter_map(|path| path.canonicalize().ok());
    match read
        .into_iter()
        .any(|path| folder.starts_with(&path) || path.starts_with(folder))
    {
        true => Err("is a source, or is in one, or contains one"),
        false => Ok(()),
    }
}
