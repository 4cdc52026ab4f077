//! Folders of edited files, and the assets that these show.

use super::Edits;
use crate::content::Reader;
use crate::mount::assets::editable::{EDIT_CONVERTED, is_converted, unexpected};
use crate::mount::requests::hidden::{self, HiddenCompanions};
use crate::mount::tree::subtree::{Node, RenderedFile};
use crate::mount::{Access, Error, Ino};
use crate::namespace::companion::CONVERTED;
use hpimount_containers::changes::{
    Change, Edited, EditedFolder, Folder, NewFile, Weight, is_litter,
};
use hpimount_containers::io;
use hpimount_containers::volume::FileId;

/// The reason for names that the converted tree does not have.
pub(super) const UNKNOWN: &str =
    "shows no asset: the converted tree of the original has no such file";

/// The reason for directories that are called as the views of assets, and are none.
const UNKNOWN_VIEW: &str = "is generated: change the file itself";

/// The reason to refuse a symbolic link.
pub(super) const LINK: &str = "is a symbolic link";

impl<'a> Edits<'a> {
    /// Returns the new assets that edited files show. `asset` finds the asset with a number.
    pub(super) fn all(
        mut self,
        edited: Edited,
        asset: &dyn Fn(FileId) -> Option<Ino>,
        reader: &Reader,
    ) -> io::Result<Vec<(Ino, NewFile)>> {
        if let Some(converted) = edited.converted {
            self.converted(converted)?;
        }
        for (file, view) in edited.views {
            match asset(file) {
                Some(asset) => self.view(asset, view)?,
                None => self.report.refuse(view.path, UNKNOWN_VIEW),
            }
        }
        self.assets(reader)
    }

    /// Finds the assets that files of the converted tree show.
    fn converted(&mut self, edited: EditedFolder) -> io::Result<()> {
        let root = self.vfs.node(Ino::ROOT).map_err(unexpected)?;
        let hidden = HiddenCompanions::in_directory(self.vfs, &root);
        let tree = hidden.and_then(|hidden| hidden.find(CONVERTED));
        let Ok(tree) = tree else {
            let reason = "shows nothing: the original has no assets";
            self.report.refuse(edited.path, reason);
            return Ok(());
        };
        self.directory(edited.folder, &tree.root, &edited.path, "")
    }

    /// Takes the files of the view of an asset, unless the converted tree has files of it:
    /// these are edited there, so that a value has one place.
    fn view(&mut self, asset: Ino, edited: EditedFolder) -> io::Result<()> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let Ok(view) = hidden::meta_of(self.vfs, &node) else {
            self.report.refuse(edited.path, UNKNOWN_VIEW);
            return Ok(());
        };
        if is_converted(&node) {
            let reason = format!("is generated: {EDIT_CONVERTED}, or change the asset itself");
            self.report.refuse(edited.path, reason);
            return Ok(());
        }
        self.directory(edited.folder, &view.root, &edited.path, "")
    }

    /// Finds the assets that the files of a folder show. `directory` is the one
    /// that it has the edited files of; `path` has no slash at the end. `below` is the path
    /// of the folder below the view of an asset that it is in.
    fn directory(
        &mut self,
        folder: Folder,
        directory: &Node<'a>,
        path: &str,
        below: &str,
    ) -> io::Result<()> {
        let viewed = directory.viewed();
        let grows = viewed.and_then(|viewed| Some((viewed, viewed.format.import_all?)));
        for (name, change) in folder.entries {
            let below = match viewed {
                Some(_) if !below.is_empty() => format!("{below}/{name}"),
                Some(_) => name.to_string(),
                None => String::new(),
            };
            let path = format!("{path}/{name}");
            let found = directory.tree().find(directory.index, &name, true);
            let found = found.map(|(_, index)| directory.other(index));
            let change = match grows {
                Some(grows) => self.added_or_deleted(grows, change, found.as_ref(), &path, &below),
                None => Some(change),
            };
            let Some(change) = change else {
                continue;
            };
            match (change, found) {
                (Change::Deleted, None) => self.report.ignored += 1,
                (_, None) if is_litter(&name) => self.skipped(path),
                (Change::Unusable(reason), _) => self.report.refuse(path, reason),
                (Change::Link, _) => self.report.refuse(path, LINK),
                (Change::Deleted, Some(_)) => {
                    let reason = "cannot be deleted: delete the asset that it shows";
                    self.report.refuse(path, reason);
                }
                (Change::Directory(folder), found) => {
                    let entered = found.ok_or(Error::NotFound);
                    match entered.and_then(|found| self.vfs.mount.enter(found)) {
                        Ok(directory) => self.directory(*folder, &directory, &path, &below)?,
                        Err(_) => self.report.refuse(path, UNKNOWN),
                    }
                }
                (Change::File(new), Some(found)) => self.file(new, &found)?,
                // Files that editors keep beside those that they save.
                (Change::File(_), None) => {
                    self.report.ignored += 1;
                    let format = viewed.map(|viewed| viewed.format);
                    let text = match format.and_then(|format| format.editable(&below)) {
                        Some(_) => {
                            "is ignored: the original has no such file, and none can be added"
                        }
                        None => "is ignored: the converted tree of the original has no such file",
                    };
                    self.report.note(Weight::Warning, path, text);
                }
            }
        }
        Ok(())
    }

    /// Skips what desktops and editors leave behind.
    pub(super) fn skipped(&mut self, path: String) {
        self.report.ignored += 1;
        self.report.note(Weight::Information, path, "is skipped");
    }

    /// Finds the asset that an edited file shows, unless the file is the one that
    /// the tree has.
    fn file(&mut self, new: NewFile, shown: &Node<'_>) -> io::Result<()> {
        let Some((rendered, _)) = shown.rendered() else {
            self.report.refuse(new.path(), UNKNOWN);
            return Ok(());
        };
        if !self.is_known(&new) && self.is_shown(&new, shown)? {
            self.report.ignored += 1;
            return Ok(());
        }
        match rendered {
            RenderedFile::Report(report, directory) => self.table(report, directory, shown, &new),
            RenderedFile::OfView(viewed, number) => {
                self.file_of(viewed.asset, viewed.format, Some(number.0 as usize), new)
            }
            RenderedFile::OfAsset(file) => self.conversion_of(file, new),
        }
    }

    /// Returns whether an edited file is equal to the one that the tree has.
    fn is_shown(&self, new: &NewFile, shown: &Node<'_>) -> io::Result<bool> {
        if io::undamaged(self.vfs.assets().rendered_size(shown))? != Some(new.len()) {
            return Ok(false);
        }
        let mut offset = 0;
        let mut is_equal = true;
        new.read(&mut |piece| {
            let range = offset..offset + piece.len() as u64;
            let bytes = self.vfs.assets().bytes(shown, range, Access::Unknown);
            is_equal &= matches!(bytes, Ok(Ok(bytes)) if *bytes == *piece);
            offset += piece.len() as u64;
        })?;
        Ok(is_equal)
    }
}
