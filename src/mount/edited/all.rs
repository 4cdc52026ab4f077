//! Assets whose edited files are encoded at once, with those that were added and
//! deleted.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::folder::{LINK, UNKNOWN};
use super::{EditedAsset, Edits, keep};
use crate::content::{Caller, MAX_ASSET};
use crate::mount::Ino;
use crate::mount::assets::context::Context;
use crate::mount::assets::editable::{memory_of_edit, unexpected};
use crate::mount::tree::subtree::{Node, RenderedFile, Viewed};
use hpimount_assets::view::import::{AllEdits, EditedFile, ImportAll, Imported, Refused};
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_containers::changes::{Change, NewFile, is_litter};
use hpimount_containers::io::{self, read_vec};

/// Returns whether a file that an asset's view does not have is added to it.
fn is_added(path: &str, all: ImportAll) -> bool {
    path.ends_with(all.adds) && !is_litter(name_of(path))
}

/// Returns the last name of a path.
fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

impl Edits<'_> {
    /// Takes a change in the view of an asset to which files can be added: `path` is its
    /// path, and `below` that below the view. Returns the change if it is another one.
    pub(super) fn added_or_deleted(
        &mut self,
        (viewed, all): (&Viewed, ImportAll),
        change: Change,
        found: Option<&Node<'_>>,
        path: &str,
        below: &str,
    ) -> Option<Change> {
        match (change, found) {
            (Change::Deleted, Some(found)) if found.rendered().is_some() => {
                self.deleted(found, path);
            }
            (Change::File(new), None) if is_added(path, all) => {
                self.added(viewed, below, new);
            }
            (Change::Directory(folder), None) if !is_litter(name_of(path)) => {
                for (name, change) in folder.entries {
                    let (path, below) = (format!("{path}/{name}"), format!("{below}/{name}"));
                    match change {
                        Change::File(new) if is_added(&path, all) => {
                            self.added(viewed, &below, new);
                        }
                        Change::Deleted => self.report.ignored += 1,
                        _ if is_litter(&name) => self.skipped(path),
                        Change::Unusable(reason) => self.report.refuse(path, reason),
                        Change::Link => self.report.refuse(path, LINK),
                        _ => self.report.refuse(path, UNKNOWN),
                    }
                }
            }
            (change, _) => return Some(change),
        }
        None
    }

    /// Adds a file that an asset's view does not have, with this path below it.
    fn added(&mut self, viewed: &Viewed, below: &str, new: NewFile) {
        if new.len() > MAX_ASSET {
            let reason = format!("has more than {MAX_ASSET} bytes");
            self.report.refuse(new.path(), reason);
            return;
        }
        let edited = self.edited(viewed.asset, viewed.format);
        edited.added.insert(below.to_owned(), new);
    }

    /// Adds the deletion of a file of an asset's view.
    fn deleted(&mut self, shown: &Node<'_>, path: &str) {
        if let Some((RenderedFile::OfView(viewed, number), _)) = shown.rendered() {
            let edited = self.edited(viewed.asset, viewed.format);
            let nothing = NewFile::new(path, Arc::new(Vec::new()));
            edited.deleted.insert(number.0 as usize, nothing);
        }
    }

    /// Encodes all edited files of an asset at once. Returns these, and the assets that
    /// changed.
    pub(super) fn edit_all(
        &mut self,
        ino: Ino,
        edited: EditedAsset,
        all: ImportAll,
        changed: &mut HashMap<Ino, Bytes>,
    ) -> io::Result<(Vec<NewFile>, Vec<Ino>)> {
        let node = self.vfs.node(ino).map_err(unexpected)?;
        let context = Context::with_changes(self.vfs.assets(), &node, changed);
        let model = self
            .vfs
            .assets()
            .model_in(&context, edited.format, Caller::Request)?;
        let parts = model.view.files();
        let shown = |(number, new): (usize, NewFile), is_there| {
            let path = parts.get(number)?.path().into_owned();
            Some((path, new, is_there))
        };
        let files = edited
            .files
            .into_iter()
            .filter_map(|file| shown(file, true));
        let deleted = edited
            .deleted
            .into_iter()
            .filter_map(|file| shown(file, false));
        let added = edited
            .added
            .into_iter()
            .map(|(path, new)| (path, new, true));
        let files: Vec<_> = files.chain(deleted).chain(added).collect();
        let length: u64 = files.iter().map(|(_, new, _)| new.len()).sum();
        let size = self.vfs.assets().size_of(&node)?;
        let _memory = memory_of_edit(&self.vfs.mount, size.saturating_add(length))?;
        let Some(asset) = AssetContext::read(&context, AssetRef(ino.0)) else {
            return Err(context.fault().unwrap_or(io::Error::Changed));
        };
        let mut contents = Vec::with_capacity(files.len());
        for (path, new, is_there) in &files {
            let content = match is_there {
                true => Some(read_vec(new, 0, new.len(), "edited file")?.into()),
                false => None,
            };
            let path = path.clone();
            contents.push(EditedFile { path, content });
        }
        let imported = (all.import)(&AllEdits {
            asset: &asset,
            context: &context,
            files: &contents,
        });
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        drop(context);
        let files: Vec<NewFile> = files.into_iter().map(|(_, new, _)| new).collect();
        match (imported, files.first()) {
            (Ok(Imported::Changed(new_assets)), Some(first)) => {
                self.tell(first.path(), &new_assets);
                Ok((files, keep(ino, new_assets, changed)))
            }
            (Ok(_), _) => {
                self.report.ignored += files.len();
                Ok(Default::default())
            }
            (Err(refused), _) => {
                for Refused { file, reason } in refused {
                    let path = files.get(file).map(NewFile::path).unwrap_or_default();
                    self.report.refuse(path, reason);
                }
                Ok(Default::default())
            }
        }
    }
}
