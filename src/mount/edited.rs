//! Edited files of converted trees become assets again (`--apply`).
//!
//! The archive that is changed is opened like a source of its own, without a
//! kernel, and each edited file is looked up in its converted tree. So the names
//! of that tree decide which asset a file shows, and views, palettes and tables
//! are found as they are for the mount. The [`Import`](hpimount_assets::view::import::Import)
//! of the asset's format encodes the file; several files that show one asset are
//! applied one after the other. Edited values of an asset, from all files that show
//! them, are written together ([`hpimount_assets::view::edit`]).

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;

use super::context::Context;
use super::hidden::HiddenCompanions;
use super::subtree::{FileOfAsset, Node, RenderedFile};
use super::{Access, Error, Ino, Options, Vfs, asset, format_of, place};
use crate::content::{Caller, MAX_ASSET, Reader, Spooled};
use crate::memory::budget::Charge;
use crate::namespace::companion::CONVERTED;
use hpimount_assets::view::edit;
use hpimount_assets::view::import::{Changed, Edit, Imported};
use hpimount_assets::view::report::{self as tables, TableEdit};
use hpimount_assets::view::{AssetContext, AssetRef, ViewFile, ViewFormat};
use hpimount_containers::changes::{
    Change, Convert, Edited, Folder, NewFile, Original, Report, Weight, is_litter,
};
use hpimount_containers::io::{self, ReadAt, read_vec};
use hpimount_containers::volume::FileId;

/// Turns edited files of converted trees into assets.
pub(crate) struct Converter<'a> {
    /// The options of the mount that the edited files were copied from.
    pub(crate) options: &'a Options,
    /// The reader with the memory for the trees, and with the storage for the new
    /// assets.
    pub(crate) reader: &'a Reader,
}

impl Convert for Converter<'_> {
    fn convert(
        &self,
        original: &Original<'_>,
        edited: Edited,
        report: &mut Report,
    ) -> io::Result<Vec<(FileId, NewFile)>> {
        let vfs = self.open(original)?;
        let assets = assets(&vfs, edited, self.reader, report)?;
        with_file_numbers(&vfs, assets)
    }

    fn is_asset(&self, original: &Original<'_>) -> io::Result<bool> {
        match asset::shows(original.shown, &*original.source) {
            Err(io::Error::UnknownFormat) => Ok(false),
            shows => shows.map(|_| true),
        }
    }
}

/// Returns the new assets that edited files of the converted tree of a mount show, as
/// [`Convert::convert`] does. They are kept in the storage of `reader`.
///
/// # Errors
/// Returns an error under the same conditions.
pub(super) fn assets(
    vfs: &Vfs,
    edited: Edited,
    reader: &Reader,
    report: &mut Report,
) -> io::Result<Vec<(Ino, NewFile)>> {
    let root = vfs.node(Ino::ROOT).map_err(unexpected)?;
    let hidden = HiddenCompanions::in_directory(vfs, &root);
    let tree = hidden.and_then(|hidden| hidden.find(CONVERTED));
    let Ok(tree) = tree else {
        report.refuse(edited.path, "shows nothing: the original has no assets");
        return Ok(Vec::new());
    };
    let mut edits = Edits::new(vfs, report);
    edits.directory(edited.folder, &tree.root, &edited.path)?;
    edits.assets(reader)
}

/// Returns files of an archive, which is the root of a mount, by their numbers in it.
fn with_file_numbers(vfs: &Vfs, assets: Vec<(Ino, NewFile)>) -> io::Result<Vec<(FileId, NewFile)>> {
    let number = |(ino, new)| {
        let node = vfs.node(ino).map_err(unexpected)?;
        let file = node.file().ok_or(io::Error::Changed)?;
        Ok((file.file, new))
    };
    assets.into_iter().map(number).collect()
}

impl Converter<'_> {
    /// Opens an archive or an asset with its converted tree.
    fn open(&self, original: &Original<'_>) -> io::Result<Arc<Vfs>> {
        let options = self.options.of_original();
        Vfs::of_original(original, options, self.reader.budget())
    }

    /// Encodes files in the form of assets of an archive, as [`Convert::convert`]
    /// does for files of its converted tree.
    ///
    /// # Errors
    /// Returns an error under the same conditions.
    pub(crate) fn encode(
        &self,
        original: &Original<'_>,
        files: Vec<ForAsset>,
        report: &mut Report,
    ) -> io::Result<Vec<(FileId, NewFile)>> {
        let vfs = self.open(original)?;
        let mut edits = Edits::new(&vfs, report);
        for ForAsset {
            asset,
            extension,
            new,
            otherwise,
        } in files
        {
            match edits.conversion(asset, extension)? {
                Some(shown) => edits.file_of(RenderedFile::OfAsset(&shown), new)?,
                None => edits.report.refuse(&*new.path, otherwise),
            }
        }
        let assets = edits.assets(self.reader)?;
        with_file_numbers(&vfs, assets)
    }
}

/// A file that an asset is to be made from.
pub(crate) struct ForAsset {
    /// The asset.
    pub(crate) asset: FileId,
    /// The extension of the conversion that the file is.
    pub(crate) extension: &'static str,
    /// The file.
    pub(crate) new: NewFile,
    /// Why it is refused if there is no such conversion.
    pub(crate) otherwise: String,
}

/// The reason for names that the converted tree does not have.
const UNKNOWN: &str = "shows no asset: the converted tree of the original has no such file";

/// Edited files by the assets that they show.
struct Edits<'a> {
    vfs: &'a Vfs,
    report: &'a mut Report,
    assets: BTreeMap<Ino, EditedAsset>,
}

/// An asset that edited files show.
struct EditedAsset {
    format: &'static ViewFormat,
    /// The edited files, by their numbers in the asset's view.
    files: BTreeMap<usize, NewFile>,
    /// The edited values, with the files that have them.
    values: Vec<(edit::Edit, NewFile)>,
}

impl<'a> Edits<'a> {
    fn new(vfs: &'a Vfs, report: &'a mut Report) -> Self {
        Self {
            vfs,
            report,
            assets: BTreeMap::new(),
        }
    }

    /// Returns the conversion of an asset with this extension, if the asset can be
    /// made from it.
    fn conversion(&self, asset: FileId, extension: &str) -> io::Result<Option<FileOfAsset>> {
        let root = self.vfs.node(Ino::ROOT).map_err(unexpected)?;
        let Some(index) = root.tree().asset(asset) else {
            return Ok(None);
        };
        let node = root.other(index);
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

    /// Finds the assets that the files of a folder show. `directory` is the one
    /// that it has the edited files of; `path` has no slash at the end.
    fn directory(&mut self, folder: Folder, directory: &Node<'a>, path: &str) -> io::Result<()> {
        for (name, change) in folder.entries {
            let path = format!("{path}/{name}");
            let found = directory.tree().find(directory.index, &name, true);
            let found = found.map(|(_, index)| directory.other(index));
            match (change, found) {
                (Change::Deleted, None) => self.report.ignored += 1,
                (_, None) if is_litter(&name) => {
                    self.report.ignored += 1;
                    self.report.note(Weight::Information, path, "is skipped");
                }
                (Change::Unusable(reason), _) => self.report.refuse(path, reason),
                (Change::Link, _) => self.report.refuse(path, "is a symbolic link"),
                (Change::Deleted, Some(_)) => {
                    let reason = "cannot be deleted: delete the asset that it shows";
                    self.report.refuse(path, reason);
                }
                (Change::Directory(folder), found) => {
                    let entered = found.ok_or(Error::NotFound);
                    match entered.and_then(|found| self.vfs.enter(found)) {
                        Ok(directory) => self.directory(folder, &directory, &path)?,
                        Err(_) => self.report.refuse(path, UNKNOWN),
                    }
                }
                (Change::File(new), Some(found)) => self.file(new, &found)?,
                // What editors keep beside the files that they save.
                (Change::File(_), None) => {
                    self.report.ignored += 1;
                    let text = "is ignored: the converted tree of the original has no such file";
                    self.report.note(Weight::Warning, path, text);
                }
            }
        }
        Ok(())
    }

    /// Finds the asset that an edited file shows, unless the file is the one that
    /// the tree has.
    fn file(&mut self, new: NewFile, shown: &Node<'_>) -> io::Result<()> {
        let Some((rendered, _)) = shown.rendered() else {
            self.report.refuse(&*new.path, UNKNOWN);
            return Ok(());
        };
        match self.is_shown(&new, shown)? {
            true => self.report.ignored += 1,
            false => self.file_of(rendered, new)?,
        }
        Ok(())
    }

    /// Returns whether an edited file is equal to the one that the tree has.
    fn is_shown(&self, new: &NewFile, shown: &Node<'_>) -> io::Result<bool> {
        match self.vfs.rendered_size(shown) {
            Ok(size) if size == new.len() => {}
            Err(error) if error.is_fault() => return Err(error),
            _ => return Ok(false),
        }
        let mut offset = 0;
        let mut is_equal = true;
        new.read(&mut |piece| {
            let range = offset..offset + piece.len() as u64;
            let bytes = self.vfs.node_bytes(shown, range, Access::Unknown);
            is_equal &= matches!(bytes, Ok(Ok(bytes)) if *bytes == *piece);
            offset += piece.len() as u64;
        })?;
        Ok(is_equal)
    }

    /// Adds an edited file to the edits of the asset that it shows.
    fn file_of(&mut self, rendered: RenderedFile<'_>, new: NewFile) -> io::Result<()> {
        let (asset, format, number) = match rendered {
            RenderedFile::OfView(viewed, number) => {
                (viewed.asset, viewed.format, Some(number.0 as usize))
            }
            RenderedFile::OfAsset(file) => {
                let asset = self.vfs.node(file.asset).map_err(unexpected)?;
                let number = self.vfs.number_in_view(&asset, file)?;
                (file.asset, file.format, number)
            }
            RenderedFile::Report(report, directory) => {
                return self.table(report, directory, &new);
            }
        };
        let has_values = match number {
            Some(number) => self.has_values(asset, format, number)?,
            None => false,
        };
        let Some(number) = number.filter(|_| has_values || format.import.is_some()) else {
            let reason = self.not_made_from(asset, format)?;
            self.report.refuse(&*new.path, reason);
            return Ok(());
        };
        if new.len() > MAX_ASSET {
            let reason = format!("has more than {MAX_ASSET} bytes");
            self.report.refuse(&*new.path, reason);
            return Ok(());
        }
        self.view_file(asset, format, number, new)
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
            let read = |file: &NewFile| read_vec(&*file.bytes, 0, file.len(), "edited file");
            if read(other)? != read(&new)? {
                let reason = format!("shows the same as {}, which differs", other.path);
                self.report.refuse(&*new.path, reason);
            }
            return Ok(());
        }
        edited.files.insert(number, new);
        Ok(())
    }

    /// Adds what an edited report changes in the assets that it combines.
    fn table(&mut self, report: &tables::Report, directory: Ino, new: &NewFile) -> io::Result<()> {
        let Some(edit) = report.edit else {
            let reason = "is made from many files, and only shows them: edit these";
            self.report.refuse(&*new.path, reason);
            return Ok(());
        };
        let node = self.vfs.node(directory).map_err(unexpected)?;
        let node = self.vfs.enter(node).map_err(unexpected)?;
        let context = Context::new(self.vfs, &node);
        let mut shown = Vec::new();
        let rendered = (report.render)(&context, &mut shown);
        rendered.map_err(|error| io::Error::of_output(&error))?;
        let budget = self.vfs.reader.budget();
        let memory = new.len().saturating_add(shown.len() as u64);
        let memory = usize::try_from(memory.saturating_mul(MEMORY_OF_EDIT)).unwrap_or(usize::MAX);
        let _memory = budget.charge("an edited table", memory)?;
        let bytes = read_vec(&*new.bytes, 0, new.len(), "edited file")?;
        let edits = edit(&context, &shown, &bytes);
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        let edits = match edits {
            Ok(edits) => edits,
            Err(reason) => {
                self.report.refuse(&*new.path, reason);
                return Ok(());
            }
        };
        for warning in edits.warnings {
            self.report.note(Weight::Warning, &*new.path, warning);
        }
        if edits.edits.is_empty() {
            self.report.ignored += 1;
        }
        for (asset, edit) in edits.edits {
            self.table_edit(Ino(asset.0), edit, new)?;
        }
        Ok(())
    }

    /// Adds what an edited report changes in an asset.
    fn table_edit(&mut self, asset: Ino, edit: TableEdit, new: &NewFile) -> io::Result<()> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let Some(format) = format_of(&node) else {
            return Err(io::Error::Changed);
        };
        let placed = |place: &str| format!("{}: {place}", new.path);
        match edit {
            TableEdit::Value(mut edit) => {
                edit.place = placed(&edit.place);
                let edited = self.edited(asset, format);
                edited.values.push((edit, new.clone()));
                Ok(())
            }
            TableEdit::File(name, bytes, place) => {
                let model = self.vfs.model(&node, format)?;
                let number = model.view.position(&|file| file.name == name);
                let new = NewFile {
                    path: placed(&place).into(),
                    bytes: Arc::new(bytes),
                    modified: new.modified,
                };
                match number {
                    Some(number) => self.view_file(asset, format, number, new),
                    None => Ok(()),
                }
            }
        }
    }

    /// Returns the edits of an asset.
    fn edited(&mut self, asset: Ino, format: &'static ViewFormat) -> &mut EditedAsset {
        self.assets.entry(asset).or_insert_with(|| EditedAsset {
            format,
            files: BTreeMap::new(),
            values: Vec::new(),
        })
    }

    /// Returns whether a file of an asset's view can be edited value by value.
    fn has_values(&self, asset: Ino, format: &'static ViewFormat, file: usize) -> io::Result<bool> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let context = Context::new(self.vfs, &node);
        let model = self.vfs.model_in(&context, format, Caller::Request)?;
        let values = model.view.values(&context);
        Ok(values.is_some_and(|(number, _)| number == Some(file)))
    }

    /// Returns why an asset cannot be made from a file that shows it.
    fn not_made_from(&self, asset: Ino, format: &'static ViewFormat) -> io::Result<String> {
        let asset = self.vfs.node(asset).map_err(unexpected)?;
        let path = place::path(self.vfs, &asset).map_err(unexpected)?;
        if format.import.is_some() {
            let model = self.vfs.model(&asset, format)?;
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
        for (asset, mut edited) in std::mem::take(&mut self.assets) {
            for (number, new) in std::mem::take(&mut edited.files) {
                if self.has_values(asset, edited.format, number)? {
                    edited.values.extend(self.values_of(new)?);
                    continue;
                }
                for ino in self.edit(asset, edited.format, number, &new, &mut changed)? {
                    made_from.entry(ino).or_default().push(new.clone());
                }
            }
            if self.edit_values(asset, &edited, &mut changed)? {
                let files = edited.values.into_iter().map(|(_, new)| new);
                made_from.entry(asset).or_default().extend(files);
            }
            if let (Some(bytes), Some(files)) = (changed.remove(&asset), made_from.remove(&asset)) {
                assets.extend(new_asset(asset, bytes, files, reader)?);
            }
        }
        for (ino, files) in made_from {
            if let Some(bytes) = changed.remove(&ino) {
                assets.extend(new_asset(ino, bytes, files, reader)?);
            }
        }
        Ok(assets)
    }

    /// Encodes an edited file, and returns the assets that changed; none if it is
    /// refused, or shows what the asset has.
    fn edit(
        &mut self,
        ino: Ino,
        format: &'static ViewFormat,
        number: usize,
        new: &NewFile,
        changed: &mut HashMap<Ino, Bytes>,
    ) -> io::Result<Vec<Ino>> {
        let node = self.vfs.node(ino).map_err(unexpected)?;
        let context = Context::with_changes(self.vfs, &node, changed);
        let part = self.part(&context, format, number)?;
        let (Some(import), Some(file), Some(part)) = (format.import, node.file(), part) else {
            return Ok(Vec::new());
        };
        let reader = &self.vfs.reader;
        let size = self.vfs.size_of(&node)?;
        let memory = size
            .saturating_add(new.len())
            .saturating_mul(MEMORY_OF_EDIT);
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let _memory = reader.budget().charge("an edited asset", memory)?;
        let asset = match changed.get(&ino) {
            Some(asset) => asset.clone(),
            None => reader.all_bytes(file, size)?.into(),
        };
        let bytes = read_vec(&*new.bytes, 0, new.len(), "edited file")?;
        let imported = import(&Edit {
            asset: &asset,
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
                self.tell(&new.path, &new_assets);
                let others = new_assets.others.into_iter();
                let others = others.map(|(other, bytes)| (Ino(other.0), bytes));
                let all = others.chain([(ino, new_assets.asset)]);
                Ok(all
                    .map(|(ino, bytes)| {
                        changed.insert(ino, bytes.into());
                        ino
                    })
                    .collect())
            }
            Err(reason) => {
                self.report.refuse(&*new.path, reason);
                Ok(Vec::new())
            }
        }
    }

    /// Returns the values of an edited JSON file; `None` if it is refused.
    fn values_of(&mut self, new: NewFile) -> io::Result<Option<(edit::Edit, NewFile)>> {
        let bytes = read_vec(&*new.bytes, 0, new.len(), "edited file")?;
        Ok(match edit::value_of_json(&bytes) {
            Ok(values) => {
                let place = new.path.to_string();
                let what = edit::What::Values(values);
                Some((edit::Edit { place, what }, new))
            }
            Err(reason) => {
                self.report.refuse(&*new.path, reason);
                None
            }
        })
    }

    /// Writes all edited values of an asset. Returns whether it has changed.
    fn edit_values(
        &mut self,
        ino: Ino,
        edited: &EditedAsset,
        changed: &mut HashMap<Ino, Bytes>,
    ) -> io::Result<bool> {
        if edited.values.is_empty() {
            return Ok(false);
        }
        let node = self.vfs.node(ino).map_err(unexpected)?;
        let context = Context::with_changes(self.vfs, &node, changed);
        let Some(asset) = AssetContext::read(&context, AssetRef(ino.0)) else {
            return Err(context.fault().unwrap_or(io::Error::Changed));
        };
        let memory = asset.len().saturating_mul(MEMORY_OF_EDIT as usize);
        let _memory = self.vfs.reader.budget().charge("an edited asset", memory)?;
        let edits: Vec<_> = edited.values.iter().map(|(edit, _)| edit.clone()).collect();
        let written = written(edited.format, &asset, &edits, &context);
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        drop(context);
        match written {
            Ok(Some(asset)) => {
                changed.insert(ino, asset);
                return Ok(true);
            }
            Ok(None) => self.report.ignored += edits.len(),
            Err(problems) => {
                for (number, problem) in problems {
                    self.report.refuse(&*edits[number].place, problem);
                }
            }
        }
        Ok(false)
    }

    /// Returns the file with this number of an asset's view.
    fn part(
        &self,
        context: &Context<'_>,
        format: &'static ViewFormat,
        number: usize,
    ) -> io::Result<Option<ViewFile>> {
        let model = self.vfs.model_in(context, format, Caller::Request)?;
        Ok(model.view.files().into_iter().nth(number))
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

/// Returns an asset with edited values; `None` if they are as it has them. What is
/// written is read again, and must show the edited values.
fn written(
    format: &ViewFormat,
    asset: &Bytes,
    edits: &[edit::Edit],
    context: &Context<'_>,
) -> Result<Option<Bytes>, Vec<edit::Problem>> {
    if let Some(edit) = format.edit {
        return Ok(edit(asset, edits)?.map(Bytes::from));
    }
    let open =
        |asset: &Bytes| (format.open)(asset, context).map_err(|error| vec![(0, error.to_string())]);
    let nothing = || vec![(0, "the asset has no values to edit".to_owned())];
    let view = open(asset)?;
    let (_, values) = view.values(context).ok_or_else(nothing)?;
    let Some(mut edited) = edit::edited(&values, asset, edits, context)? else {
        return Ok(None);
    };
    let new = Bytes::from(std::mem::take(&mut edited.asset));
    let view = open(&new)?;
    let (_, values) = view.values(context).ok_or_else(nothing)?;
    edited.check(&values, &new, context)?;
    Ok(Some(new))
}

/// Returns an asset with its new contents, which were made from `edited`.
fn new_asset(
    asset: Ino,
    bytes: Bytes,
    edited: Vec<NewFile>,
    reader: &Reader,
) -> io::Result<Option<(Ino, NewFile)>> {
    let Some(first) = edited.first() else {
        return Ok(None);
    };
    let new = NewFile {
        path: first.path.clone(),
        bytes: Arc::new(Encoded {
            stored: Stored::new(bytes, reader)?,
            edited,
        }),
        modified: None,
    };
    Ok(Some((asset, new)))
}

/// How many times the bytes of an asset and of an edited file an encoding takes,
/// at most: decoded pictures have four bytes for each of theirs, or more.
const MEMORY_OF_EDIT: u64 = 8;

/// A new asset.
struct Encoded {
    stored: Stored,
    /// The files that it was made from.
    edited: Vec<NewFile>,
}

/// The bytes of a new asset.
enum Stored {
    /// On disk.
    Spooled(Arc<Spooled>),
    /// In memory, because there is no room on disk.
    Kept { bytes: Bytes, _charge: Charge },
}

impl Stored {
    fn new(bytes: Bytes, reader: &Reader) -> io::Result<Self> {
        let mut writer = reader.spool().writer();
        match writer.write_all(&bytes).and_then(|()| writer.finish()) {
            Ok(spooled) => Ok(Self::Spooled(spooled)),
            Err(_) => Ok(Self::Kept {
                _charge: reader.budget().charge("edited assets", bytes.len())?,
                bytes,
            }),
        }
    }
}

impl Encoded {
    /// Fails if one of the files that it was made from is not the same any more:
    /// reading a byte of a file of the folder compares its identity.
    fn check_edited(&self) -> std::io::Result<()> {
        let edited = self.edited.iter().filter(|file| !file.is_empty());
        for file in edited {
            file.bytes.read_exact_at(&mut [0], 0)?;
        }
        Ok(())
    }
}

impl ReadAt for Encoded {
    fn len(&self) -> u64 {
        match &self.stored {
            Stored::Spooled(spooled) => spooled.len(),
            Stored::Kept { bytes, .. } => bytes.len() as u64,
        }
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        self.check_edited()?;
        match &self.stored {
            Stored::Spooled(spooled) => spooled.read_exact_at(buf, offset),
            Stored::Kept { bytes, .. } => {
                buf.copy_from_slice(&bytes[offset as usize..][..buf.len()]);
                Ok(())
            }
        }
    }
}

/// Converts an error that only a source that changes can cause.
fn unexpected(_: Error) -> io::Error {
    io::Error::Changed
}
