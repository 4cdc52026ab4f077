//! Edited files of converted trees: `converted/` in a folder of changes.
//!
//! This crate knows nothing of assets. The caller gives a [`Convert`], which
//! finds the asset that an edited file shows by the names in its own converted
//! tree, and encodes the file in the form of that asset. Here it is decided which
//! archive an edited file belongs to (`converted/a/X.d/b.png` is
//! `a/X.d/converted/b.png`), and the encoded assets become the new contents of
//! files, after all other changes.

use std::collections::BTreeMap;

use super::Original;
use super::folder::{Change, Folder};
use super::job::Job;
use super::matching::{CONVERTED, ENTERED, Edited, EditedFolder, Inside, Matched};
use super::new_file::NewFile;
use super::report::Report;
use super::tree::Kind;
use crate::io::Result;
use crate::volume::{FileId, NodeId};

/// Turns edited files of one converted tree back into assets, as
/// [`Convert::convert`] does.
pub type ConvertEdited<'a> = &'a dyn Fn(Edited, &mut Report) -> Result<Vec<(FileId, NewFile)>>;

/// Turns edited files of converted trees back into assets.
pub trait Convert {
    /// Returns whether a source that is no archive is an asset, which has a
    /// converted tree of its own.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read.
    fn is_asset(&self, original: &Original<'_>) -> Result<bool>;

    /// Returns the new assets: files of the original, each with its new
    /// contents, which have the path of an edited file. Files that show what the
    /// original has are counted as ignored, and what cannot be converted is
    /// refused in the report.
    ///
    /// # Errors
    /// Returns an error if the original or an edited file cannot be read.
    fn convert(
        &self,
        original: &Original<'_>,
        edited: Edited,
        report: &mut Report,
    ) -> Result<Vec<(FileId, NewFile)>>;
}

/// Refuses all edited files of converted trees.
pub struct NotConverted;

impl Convert for NotConverted {
    fn is_asset(&self, _original: &Original<'_>) -> Result<bool> {
        Ok(false)
    }

    fn convert(
        &self,
        _original: &Original<'_>,
        edited: Edited,
        report: &mut Report,
    ) -> Result<Vec<(FileId, NewFile)>> {
        for folder in edited.folders() {
            report.refuse(&*folder.path, "is not converted");
        }
        Ok(Vec::new())
    }
}

/// Moves the edited files of archives to the changes inside of these archives.
pub(crate) fn enter_archives(matched: &mut Matched, job: &mut Job<'_>) {
    if let Some(EditedFolder { folder, path }) = &mut matched.edited.converted {
        enter(folder, NodeId(0), path, &mut matched.inside, job);
    }
}

/// Moves the edited files of archives in `folder`, which is the part of
/// `converted` that mirrors the directory `at`, to the changes `inside` of them.
fn enter(folder: &mut Folder, at: NodeId, path: &str, inside: &mut Vec<Inside>, job: &mut Job<'_>) {
    let entries = std::mem::take(&mut folder.entries);
    for (name, change) in entries {
        let Change::Directory(mut inner) = change else {
            folder.entries.insert(name, change);
            continue;
        };
        let path = format!("{path}/{name}");
        match job.tree.find(at, &name) {
            Ok(Some(node)) if matches!(job.tree.node(node).kind, Kind::Directory) => {
                enter(&mut inner, node, &path, inside, job);
            }
            Ok(None) if let Some(node) = job.tree.companion(at, &name, ENTERED) => {
                let edited = Change::Directory(inner);
                let folder = Folder {
                    entries: BTreeMap::from([(CONVERTED.into(), edited)]),
                    is_opaque: false,
                };
                add(inside, Inside { node, folder, path }, job.report);
                continue;
            }
            _ => {}
        }
        folder.entries.insert(name, Change::Directory(inner));
    }
}

/// Adds changes inside of a file that may have some already.
fn add(inside: &mut Vec<Inside>, new: Inside, report: &mut Report) {
    let Some(known) = inside.iter_mut().find(|known| known.node == new.node) else {
        inside.push(new);
        return;
    };
    for twice in known.folder.absorb(new.folder) {
        let beside = twice.split_once('/').map_or(&*twice, |(_, rest)| rest);
        let reason = format!("has the same name as {}/{twice}", known.path);
        report.refuse(format!("{}/{beside}", new.path), reason);
    }
}

/// Gives files of the original the new contents that a [`Convert`] made.
///
/// # Errors
/// Returns an error if the original or an asset cannot be read.
pub(crate) fn replace_assets(assets: Vec<(FileId, NewFile)>, job: &mut Job<'_>) -> Result<()> {
    for (file, new) in assets {
        let Some(node) = job.tree.node_of(file) else {
            job.report
                .refuse(new.path(), "shows no file of the original");
            continue;
        };
        if job.tree.is_deleted(node) {
            let reason = format!("shows {}, which is deleted", job.tree.path(node));
            job.report.refuse(new.path(), reason);
            continue;
        }
        job.replace(node, new)?;
    }
    Ok(())
}
