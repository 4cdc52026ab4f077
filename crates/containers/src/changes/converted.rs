//! Edited files of converted trees: `converted/` in a folder of changes.
//!
//! This crate knows nothing of assets. The caller gives a [`Convert`], which
//! finds the asset that an edited file shows by the names in its own converted
//! tree, and encodes the file in the form of that asset. Here it is decided which
//! archive an edited file belongs to (`converted/a/X.d/b.png` is
//! `a/X.d/converted/b.png`), and the encoded assets become the new contents of
//! files, after all other changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::folder::{Change, Folder, NewFile};
use super::matching::{Inside, companion, replace};
use super::report::Report;
use super::tree::{Kind, Tree};
use super::{ENTERED, Original};
use crate::io::Result;
use crate::volume::{FileId, NodeId, Volume};

/// The directory with the edited files of an archive, in its root.
pub(crate) const CONVERTED: &str = "converted";

/// Turns edited files of the converted tree of an archive back into assets.
pub trait Convert {
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

/// The edited files of a converted tree.
pub struct Edited {
    /// The entries of the directory.
    pub folder: Folder,
    /// Its path in the folder of changes, without a slash at the end.
    pub path: String,
}

/// Moves the edited files of archives in `folder`, which is the part of
/// `converted` that mirrors the directory `at`, to the changes inside of these
/// archives.
pub(crate) fn enter_archives(
    folder: &mut Folder,
    at: NodeId,
    path: &str,
    tree: &Tree,
    inside: &mut Vec<Inside>,
    report: &mut Report,
) {
    let entries = std::mem::take(&mut folder.entries);
    for (name, change) in entries {
        let Change::Directory(mut inner) = change else {
            folder.entries.insert(name, change);
            continue;
        };
        let path = format!("{path}/{name}");
        match tree.find(at, &name) {
            Ok(Some(node)) if matches!(tree.node(node).kind, Kind::Directory) => {
                enter_archives(&mut inner, node, &path, tree, inside, report);
            }
            Ok(None) if let Some(node) = companion(tree, at, &name, ENTERED) => {
                let edited = Change::Directory(inner);
                let converted = Folder {
                    entries: BTreeMap::from([(CONVERTED.to_owned(), edited)]),
                    is_opaque: false,
                };
                add_inside(inside, node, converted, path, report);
                continue;
            }
            _ => {}
        }
        folder.entries.insert(name, Change::Directory(inner));
    }
}

/// Adds changes inside of a file that may have some already.
fn add_inside(
    inside: &mut Vec<Inside>,
    node: NodeId,
    folder: Folder,
    path: String,
    report: &mut Report,
) {
    let known = inside.iter_mut().find(|known| known.node == node);
    let Some(known) = known else {
        inside.push(Inside { node, folder, path });
        return;
    };
    for twice in known.folder.absorb(folder) {
        let beside = twice.split_once('/').map_or(&*twice, |(_, rest)| rest);
        let reason = format!("has the same name as {}/{twice}", known.path);
        report.refuse(format!("{path}/{beside}"), reason);
    }
}

/// Gives files of the original the new contents that a [`Convert`] made.
pub(crate) fn replace_assets(
    assets: Vec<(FileId, NewFile)>,
    tree: &mut Tree,
    volume: &Arc<dyn Volume>,
    report: &mut Report,
    prefix: &str,
) -> Result<()> {
    for (file, new) in assets {
        let Some(node) = tree.node_of(file) else {
            report.refuse(&*new.path, "shows no file of the original");
            continue;
        };
        if tree.is_deleted(node) {
            let reason = format!("shows {}, which is deleted", tree.path(node));
            report.refuse(&*new.path, reason);
            continue;
        }
        replace(tree, volume, report, prefix, node, new)?;
    }
    Ok(())
}
