//! Edited files of converted trees, and of views of assets that these lack, become assets
//! again (`--apply`).
//!
//! The archive that is changed is opened like a source of its own, without a
//! kernel, and each edited file is looked up in its converted tree. So the names
//! of that tree decide which asset a file shows, and views, palettes and tables
//! are found as they are for the mount. The [`Import`](hpimount_assets::view::import::Import)
//! of the asset's format encodes the file; several files that show one asset are
//! applied one after the other. Edited values of an asset, from all files that show
//! them, are written together ([`hpimount_assets::view::edit`]).

mod all;
mod converter;
mod folder;
mod known;
mod stored;
mod values;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;

pub(crate) use self::converter::{Converter, ForAsset};
use self::known::Known;
use self::stored::new_asset;
use crate::content::{MAX_ASSET, Reader, Spool};
use crate::memory::budget::{Budget, Charge};
use crate::mount::assets::context::Context;
use crate::mount::assets::editable::{memory_of_part, unexpected};
use crate::mount::tree::place;
use crate::mount::tree::subtree::FileOfAsset;
use crate::mount::{Ino, Vfs, format_of};
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::edit;
use hpimount_assets::view::import::{Changed, Edit, Imported};
use hpimount_containers::changes::{Edited, NewFile, Report, Weight};
use hpimount_containers::io::{self, read_vec};
use hpimount_containers::volume::FileId;

/// Returns the new assets that edited files of a mount show, as [`Converter`] does;
/// `asset` finds the asset with a number. They are kept in the storage of `reader`.
///
/// # Errors
/// Returns an error under the same conditions.
pub(super) fn assets(
    vfs: &Vfs,
    edited: Edited,
    asset: &dyn Fn(FileId) -> Option<Ino>,
    reader: &Reader,
    report: &mut Report,
) -> io::Result<Vec<(Ino, NewFile)>> {
    Edits::new(vfs, report).all(edited, asset, reader)
}

/// Returns the asset with this number in an archive, which is the root of a mount.
fn asset_of(vfs: &Vfs, file: FileId) -> Option<Ino> {
    let root = vfs.node(Ino::ROOT).ok()?;
    let index = root.tree().asset(file)?;
    Some(root.other(index).ino())
}

/// Edited files by the assets that they show.
struct Edits<'a> {
    vfs: &'a Vfs,
    /// The assets that are known, if the mount is edited.
    known: Option<Known<'a>>,
    report: &'a mut Report,
    assets: BTreeMap<Ino, EditedAsset>,
    /// The memory of the values that tables edit.
    memory: Charge,
}

/// An asset that edited files show.
struct EditedAsset {
    format: &'static ViewFormat,
    /// The edited files, by their numbers in the asset's view.
    files: BTreeMap<usize, NewFile>,
    /// The files that the view does not have, by their paths below it.
    added: BTreeMap<String, NewFile>,
    /// The files that are gone, by their numbers; without a content.
    deleted: BTreeMap<usize, NewFile>,
    /// The values that tables edit, each with its table.
    values: Vec<(edit::Edit, NewFile)>,
    /// The tables.
    tables: Vec<NewFile>,
}

impl EditedAsset {
    fn new(format: &'static ViewFormat) -> Self {
        Self {
            format,
            files: BTreeMap::new(),
            added: BTreeMap::new(),
            deleted: BTreeMap::new(),
            values: Vec::new(),
            tables: Vec::new(),
        }
    }
}

impl<'a> Edits<'a> {
    fn new(vfs: &'a Vfs, report: &'a mut Report) -> Self {
        Self {
            vfs,
            known: None,
            report,
            assets: BTreeMap::new(),
            memory: vfs.reader().budget().empty_charge("edited values"),
        }
    }

    /// Returns the conversion of an asset with this extension, if the asset can be
    /// made from it.
    fn conversion(&self, asset: FileId, extension: &str) -> io::Result<Option<FileOfAsset>> {
        let Some(asset) = asset_of(self.vfs, asset) else {
            return Ok(None);
        };
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let Some(format) = format_of(&node).filter(|format| format.import.is_some()) else {
            return Ok(None);
        };
        let known = node
            .file()
            .and_then(|file| file.volume.volume.asset(file.file));
        let mut files = format.converted.of(known).files.iter();
        let position = files.position(|file| file.extension == extension);
        Ok(position.map(|position| FileOfAsset {
            asset: node.ino(),
            format,
            position: position as u8,
            stamp: None,
        }))
    }

    /// Adds an edited conversion to the edits of its asset.
    fn conversion_of(&mut self, file: &FileOfAsset, new: NewFile) -> io::Result<()> {
        let asset = self.vfs.node(file.asset).map_err(unexpected)?;
        let number = self.vfs.assets().number_in_view(&asset, file)?;
        self.file_of(file.asset, file.format, number, new)
    }

    /// Adds an edited file to the edits of the asset that it shows, by its number in the
    /// asset's view.
    fn file_of(
        &mut self,
        asset: Ino,
        format: &'static ViewFormat,
        number: Option<usize>,
        new: NewFile,
    ) -> io::Result<()> {
        if let Some(reason) = self.left_out(asset, format, number)? {
            self.report.refuse(new.path(), reason);
            return Ok(());
        }
        let has_values = match number {
            Some(number) => self.has_values(asset, format, number)?,
            None => false,
        };
        let Some(number) = number.filter(|_| has_values || format.import.is_some()) else {
            let reason = self.not_made_from(asset, format)?;
            self.report.refuse(new.path(), reason);
            return Ok(());
        };
        let most = match self.has_cells(asset, format, number)? {
            true => values::MAX_TABLE,
            false => MAX_ASSET,
        };
        if new.len() > most {
            let reason = format!("has more than {most} bytes");
            self.report.refuse(new.path(), reason);
            return Ok(());
        }
        self.view_file(asset, format, number, new)
    }

    /// Returns why the file with this number of an asset's view cannot be edited, if it is
    /// left out.
    fn left_out(
        &self,
        asset: Ino,
        format: &'static ViewFormat,
        number: Option<usize>,
    ) -> io::Result<Option<&'static str>> {
        let Some(number) = number.filter(|_| !format.left_out.is_empty()) else {
            return Ok(None);
        };
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let unchanged = HashMap::new();
        let context = Context::with_changes(self.vfs.assets(), &node, &unchanged);
        let part = context.part(format, number)?;
        Ok(part.and_then(|part| format.left_out(&part.path())))
    }

    /// Adds an edited file of an asset's view, by its number there.
    fn view_file(
        &mut self,
        asset: Ino,
        format: &'static ViewFormat,
        number: usize,
        new: NewFile,
    ) -> io::Result<()> {
        let edited = self.edited(asset, format);
        if let Some(other) = edited.files.get(&number) {
            let read = |file: &NewFile| read_vec(file, 0, file.len(), "edited file");
            if read(other)? != read(&new)? {
                let reason = format!("shows the same as {}, which differs", other.path());
                self.report.refuse(new.path(), reason);
            }
            return Ok(());
        }
        edited.files.insert(number, new);
        Ok(())
    }

    /// Returns the rank of edits of values in a file.
    fn rank(&self, new: &NewFile) -> u64 {
        match &self.vfs.options().newest {
            None => 0,
            Some(newest) if **newest == *new.path() => u64::MAX,
            Some(_) => new.modified().unwrap_or_default().max(0).unsigned_abs(),
        }
    }

    /// Returns the edits of an asset.
    fn edited(&mut self, asset: Ino, format: &'static ViewFormat) -> &mut EditedAsset {
        let edited = self.assets.entry(asset);
        edited.or_insert_with(|| EditedAsset::new(format))
    }

    /// Returns why an asset cannot be made from a file that shows it.
    fn not_made_from(&self, asset: Ino, format: &'static ViewFormat) -> io::Result<String> {
        let asset = self.vfs.node(asset).map_err(unexpected)?;
        let path = place::path(&self.vfs.mount, &asset).map_err(unexpected)?;
        if !format.edits.is_empty() {
            let model = self.vfs.assets().model(&asset, format)?;
            if let Some(failure) = model.view.failure() {
                return Ok(format!("shows nothing of {path}: {failure}"));
            }
        }
        Ok(format!(
            "is made from {path}, and not the other way: edit {path} itself"
        ))
    }

    /// Encodes all edited files, asset by asset, so that few new assets are in memory
    /// at a time.
    fn assets(mut self, reader: &Reader) -> io::Result<Vec<(Ino, NewFile)>> {
        let mut assets = Vec::with_capacity(self.assets.len());
        // Assets that change with others, such as tables, whose edits come later.
        let mut changed = HashMap::new();
        let mut made_from: BTreeMap<Ino, Vec<NewFile>> = BTreeMap::new();
        for (asset, edited) in std::mem::take(&mut self.assets) {
            let alone = match changed.is_empty() {
                true => self.ingredients(asset, &edited)?,
                false => None,
            };
            if let Some(known) = alone.as_ref().and_then(|alone| self.known_asset(alone)) {
                assets.push((asset, known));
                continue;
            }
            let before = std::mem::take(self.report);
            for (ino, files) in self.edit_asset(asset, edited, &mut changed)? {
                made_from.entry(ino).or_default().extend(files);
            }
            if let (Some(bytes), Some(files)) = (changed.remove(&asset), made_from.remove(&asset)) {
                let new = new_asset(asset, bytes, files, self.storage(reader))?;
                if let (Some(alone), Some((_, new)), true) = (alone, &new, changed.is_empty()) {
                    self.remember(alone, new, self.report);
                }
                assets.extend(new);
            }
            let report = std::mem::replace(self.report, before);
            self.report.extend(report);
        }
        for (ino, files) in made_from {
            if let Some(bytes) = changed.remove(&ino) {
                assets.extend(new_asset(ino, bytes, files, self.storage(reader))?);
            }
        }
        Ok(assets)
    }

    /// Returns the storage for new assets, and the budget of those for which it has no room.
    fn storage<'r>(&'r self, reader: &'r Reader) -> (&'r Spool, &'r Arc<Budget>) {
        let known = self.known.as_ref().map(|known| known.made.spool());
        (known.unwrap_or(reader.spool()), reader.budget())
    }

    /// Encodes all edited files of an asset. Returns the assets that changed, each with
    /// the files that it is made from.
    fn edit_asset(
        &mut self,
        asset: Ino,
        mut edited: EditedAsset,
        changed: &mut HashMap<Ino, Bytes>,
    ) -> io::Result<Vec<(Ino, Vec<NewFile>)>> {
        if let Some(all) = edited.format.import_all {
            let (files, inos) = self.edit_all(asset, edited, all, changed)?;
            return Ok(inos.into_iter().map(|ino| (ino, files.clone())).collect());
        }
        let (mut made_from, mut with_values) = (Vec::new(), Vec::new());
        let mut original = None;
        for (number, new) in std::mem::take(&mut edited.files) {
            if self.has_values(asset, edited.format, number)? {
                with_values.push((number, new));
                continue;
            }
            let file = (number, &new);
            let inos = self.edit(asset, edited.format, file, &mut original, changed)?;
            made_from.extend(inos.into_iter().map(|ino| (ino, vec![new.clone()])));
        }
        // Only the encoding of such files accounts for it.
        drop(original);
        if self.edit_values(asset, &mut edited, &with_values, changed)? {
            let mut files: Vec<_> = with_values.into_iter().map(|(_, file)| file).collect();
            files.extend(edited.tables);
            made_from.push((asset, files));
        }
        Ok(made_from)
    }

    /// Encodes an edited file, and returns the assets that changed; none if it is
    /// refused, or shows what the asset has. `original` has the bytes of the asset without
    /// earlier edits as soon as they were read.
    fn edit(
        &mut self,
        ino: Ino,
        format: &'static ViewFormat,
        (number, new): (usize, &NewFile),
        original: &mut Option<Bytes>,
        changed: &mut HashMap<Ino, Bytes>,
    ) -> io::Result<Vec<Ino>> {
        let node = self.vfs.node(ino).map_err(unexpected)?;
        let context = Context::with_changes(self.vfs.assets(), &node, changed);
        let part = context.part(format, number)?;
        let (Some(import), Some(part)) = (format.import, part) else {
            return Ok(Vec::new());
        };
        let Some(file) = node.file() else {
            return Ok(Vec::new());
        };
        let size = self.vfs.assets().size_of(&node)?;
        let _memory = memory_of_part(&self.vfs.mount, format, &part, [size, new.len()])?;
        let original = match original {
            Some(original) => original,
            None => original.insert(self.vfs.reader().all_bytes(file, size)?.into()),
        };
        let bytes = read_vec(new, 0, new.len(), "edited file")?;
        let asset = changed.get(&ino).unwrap_or(original);
        let imported = import(&Edit {
            asset,
            original,
            context: &context,
            part: &part,
            file: &bytes,
        });
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        drop(context);
        match imported {
            Ok(Imported::Unchanged) => {
                self.report.ignored += 1;
                Ok(Vec::new())
            }
            Ok(Imported::Changed(new_assets)) => {
                let is_same = new_assets.asset == *asset && new_assets.others.is_empty();
                self.tell(new.path(), &new_assets);
                if is_same {
                    self.report.ignored += 1;
                    return Ok(Vec::new());
                }
                Ok(keep(ino, new_assets, changed))
            }
            Err(reason) => {
                self.report.refuse(new.path(), reason);
                Ok(Vec::new())
            }
        }
    }

    /// Adds notes about a changed asset.
    fn tell(&mut self, path: &str, changed: &Changed) {
        for warning in &changed.warnings {
            self.report.note(Weight::Warning, path, warning);
        }
        if let Some(quality) = &changed.quality {
            self.report.note(Weight::Information, path, quality);
        }
    }
}

/// Keeps changed assets, and returns them.
fn keep(ino: Ino, new: Changed, changed: &mut HashMap<Ino, Bytes>) -> Vec<Ino> {
    let others = new.others.into_iter();
    let others = others.map(|(other, bytes)| (Ino(other.0), bytes));
    let all = others.chain([(ino, new.asset)]);
    all.map(|(ino, bytes)| {
        changed.insert(ino, bytes.into());
        ino
    })
    .collect()
}
