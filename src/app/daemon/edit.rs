//! Mounts that can be edited.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Confinement;
use super::confine::Confined;
use super::notifier::Notifier;
use crate::app::{Failure, MountPlan};
use crate::edit::{EditPlan, EditedMount, OpenedFolder};

/// Opens the folder of edits `folder` and the sources, whose threads are confined to them.
///
/// # Errors
/// Returns [`Failure::Usage`] if the folder is a source, in one, or around the mount
/// point, and the errors of opening them.
pub(super) fn open(
    plan: &MountPlan,
    folder: &Path,
    options: crate::mount::Options,
    confined: &Confined,
    notifier: Option<Notifier>,
) -> Result<Arc<EditedMount>, Failure> {
    let unusable =
        |why: &dyn std::fmt::Display| Failure::Usage(format!("--edit {}: {why}", folder.display()));
    let no_sandbox = plan.options.no_sandbox;
    let confine = move |path: &Path| match no_sandbox {
        true => Ok(()),
        false => Confinement::to_edit(path).enter(),
    };
    let prepared = plan.sources.clone().absolute()?.prepare()?;
    let prepared = prepared.with_changes(&plan.options.apply, plan.options.apply_strict)?;
    let mut readable = prepared.paths();
    let point = options.mount_point.as_deref();
    let path = resolved(folder).map_err(|error| unusable(&error))?;
    check(&path, &readable, point).map_err(|why| unusable(&why))?;
    let opened = OpenedFolder::open(&path, confine).map_err(|error| unusable(&error))?;
    readable.push(opened.path().to_owned());
    let confinement = plan.options.confinement(&readable);
    let edit = EditPlan {
        prepared,
        options,
        is_strict: plan.options.apply_strict,
        refused: Box::new(move |path, reason| {
            if let Some(notifier) = &notifier {
                notifier.notify(&format!("{path} is refused"), reason);
            }
        }),
    };
    let mount = confined.run(move || {
        confinement.restrict_files()?;
        Ok(EditedMount::open(edit, opened))
    });
    let mount: io::Result<_> = mount.flatten();
    Ok(mount.map_err(Failure::no_thread)??)
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
