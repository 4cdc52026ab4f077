//! Edited values of assets, from JSON files and from tables of many assets.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{EditedAsset, Edits};
use crate::content::Caller;
use crate::memory::budget::Charge;
use crate::mount::Access;
use crate::mount::assets::context::Context;
use crate::mount::assets::editable::{memory_of_edit, unexpected};
use crate::mount::tree::subtree::Node;
use crate::mount::{Ino, format_of};
use hpimount_assets::view::edit;
use hpimount_assets::view::edited_table;
use hpimount_assets::view::report::{Report, TableEdit, TableEdits};
use hpimount_assets::view::{AssetContext, AssetRef, ViewFormat};
use hpimount_containers::changes::{NewFile, Weight};
use hpimount_containers::io::{self, read_vec};
use hpimount_record::Value;

/// The most bytes of a table that can be edited.
pub(super) const MAX_TABLE: u64 = 256 << 20;

/// The memory of an edited value until it is written, in bytes, at most on average: two
/// texts with the place, the path, and the value.
const MEMORY_OF_VALUE: usize = 512;

/// Returns the memory of an edit of a table until it is written, in bytes.
fn memory_of(edit: &TableEdit) -> usize {
    match edit {
        TableEdit::Value(_) => MEMORY_OF_VALUE,
        TableEdit::File(_, bytes, _) => MEMORY_OF_VALUE + bytes.len(),
    }
}

/// Returns the memory of the values of a JSON file, in bytes.
fn memory_of_json(json: &[u8]) -> usize {
    let values = json.iter().filter(|byte| b",[{".contains(byte)).count();
    // Lists that grow have room for twice their elements, with names in maps; and a copy
    // is made where a number selects other fields.
    2 * (json.len() + values.saturating_mul(4 * size_of::<Value>()))
}

impl Edits<'_> {
    /// Adds what an edited report changes in the assets that it combines.
    pub(super) fn table(
        &mut self,
        report: &Report,
        directory: Ino,
        shown: &Node<'_>,
        new: &NewFile,
    ) -> io::Result<()> {
        const ONLY_SHOWS: &str = "is made from many files, and only shows them: edit these";
        if report.edit.is_none() && !report.is_table() {
            self.report.refuse(new.path(), ONLY_SHOWS);
            return Ok(());
        }
        let node = self.vfs.node(directory).map_err(unexpected)?;
        let node = self.vfs.mount.enter(node).map_err(unexpected)?;
        let unchanged = HashMap::new();
        let context = Context::with_changes(self.vfs.assets(), &node, &unchanged);
        let size = self.vfs.assets().rendered_size(shown)?;
        if size.max(new.len()) > MAX_TABLE {
            let reason = format!("has more than {MAX_TABLE} bytes, or is shown with more");
            self.report.refuse(new.path(), reason);
            return Ok(());
        }
        let budget = self.vfs.reader().budget();
        let mut memory = budget.charge("an edited table", (size + new.len()) as usize)?;
        let shown = self.vfs.assets().bytes(shown, 0..size, Access::Unknown);
        let shown = shown.map_err(unexpected)??;
        let bytes = read_vec(new, 0, new.len(), "edited file")?;
        memory.grow_to(memory.bytes() + edited_table::memory(&shown, &bytes))?;
        let edits = match &report.edit {
            Some(editing) => (editing.edit)(&context, &shown, &bytes),
            None if edited_table::is_unchanged(&shown, &bytes) => Ok(TableEdits::default()),
            None => Err(ONLY_SHOWS.to_owned()),
        };
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        let edits = match edits {
            Ok(edits) => edits,
            Err(reason) => {
                self.report.refuse(new.path(), reason);
                return Ok(());
            }
        };
        for warning in edits.warnings {
            self.report.note(Weight::Warning, new.path(), warning);
        }
        if edits.edits.is_empty() {
            self.report.ignored += 1;
        }
        let edited = edits.edits.iter().map(|(_, edit)| memory_of(edit));
        let edited: usize = edited.sum();
        self.memory.grow_to(self.memory.bytes() + edited)?;
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
        let placed = |place: &str| format!("{}: {place}", new.path());
        match edit {
            TableEdit::Value(mut edit) => {
                edit.place = placed(&edit.place);
                edit.rank = self.rank(new);
                let edited = self.edited(asset, format);
                edited.values.push((edit, new.clone()));
                if edited.tables.last().map(NewFile::path) != Some(new.path()) {
                    edited.tables.push(new.clone());
                }
                Ok(())
            }
            TableEdit::File(name, bytes, place) => {
                let model = self.vfs.assets().model(&node, format)?;
                let number = model.view.position(&|file| file.name == name);
                let new = NewFile::new(placed(&place), Arc::new(bytes));
                match number {
                    Some(number) => self.view_file(asset, format, number, new)?,
                    None => self.report.refuse(new.path(), "is not shown by its asset"),
                }
                Ok(())
            }
        }
    }

    /// Returns whether a file of an asset's view can be edited value by value.
    pub(super) fn has_values(
        &self,
        asset: Ino,
        format: &'static ViewFormat,
        file: usize,
    ) -> io::Result<bool> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let context = Context::new(self.vfs.assets(), &node);
        let model = self
            .vfs
            .assets()
            .model_in(&context, format, Caller::Request)?;
        Ok(model.view.has_values(file, &context))
    }

    /// Returns whether a file of an asset's view is a table with such values.
    pub(super) fn has_cells(
        &self,
        asset: Ino,
        format: &'static ViewFormat,
        file: usize,
    ) -> io::Result<bool> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        Ok(self.vfs.assets().model(&node, format)?.view.has_cells(file))
    }

    /// Returns the values of an edited JSON file, with their memory; `None` if it is
    /// refused.
    fn values_of(&mut self, new: &NewFile) -> io::Result<Option<(edit::Edit, Charge)>> {
        let budget = self.vfs.reader().budget();
        let mut memory = budget.charge("edited values", new.len() as usize)?;
        let bytes = read_vec(new, 0, new.len(), "edited file")?;
        memory.grow_to(memory_of_json(&bytes))?;
        Ok(match edit::value_of_json(&bytes) {
            Ok(values) => {
                let place = new.path().to_owned();
                let what = edit::What::Values(values);
                let rank = self.rank(new);
                Some((edit::Edit { place, what, rank }, memory))
            }
            Err(reason) => {
                self.report.refuse(new.path(), reason);
                None
            }
        })
    }

    /// Returns the values that an edited table of an asset changes, with their memory;
    /// `None` if it is refused.
    fn cells_of(
        &mut self,
        (asset, format): (Ino, &'static ViewFormat),
        (number, new): (usize, &NewFile),
    ) -> io::Result<Option<(Vec<edit::Edit>, Charge)>> {
        let node = self.vfs.node(asset).map_err(unexpected)?;
        let unchanged = HashMap::new();
        let context = Context::with_changes(self.vfs.assets(), &node, &unchanged);
        let model = self
            .vfs
            .assets()
            .model_in(&context, format, Caller::Request)?;
        let budget = self.vfs.reader().budget();
        let mut memory = budget.charge("an edited table", new.len() as usize)?;
        let bytes = read_vec(new, 0, new.len(), "edited file")?;
        let found = model.view.cell_edits(number, &context, &bytes);
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        let mut found = match found {
            Ok(found) => found,
            Err(reason) => {
                self.report.refuse(new.path(), reason);
                return Ok(None);
            }
        };
        memory.grow_to(memory.bytes() + found.edits.len() * MEMORY_OF_VALUE)?;
        let rank = self.rank(new);
        for edit in &mut found.edits {
            edit.place = format!("{}: {}", new.path(), edit.place);
            edit.rank = rank;
        }
        for warning in found.warnings {
            self.report.note(Weight::Warning, new.path(), warning);
        }
        if found.edits.is_empty() {
            self.report.ignored += 1;
        }
        Ok(Some((found.edits, memory)))
    }

    /// Writes all edited values of an asset, from JSON files and tables. `files` are files
    /// of its view, each with its number. Returns whether the asset has changed.
    pub(super) fn edit_values(
        &mut self,
        ino: Ino,
        edited: &mut EditedAsset,
        files: &[(usize, NewFile)],
        changed: &mut HashMap<Ino, Bytes>,
    ) -> io::Result<bool> {
        let values = std::mem::take(&mut edited.values).into_iter();
        let (mut edits, mut files_of_edits): (Vec<_>, Vec<_>) = values.unzip();
        let mut memory_of_files = Vec::new();
        for (number, new) in files {
            let found = match self.has_cells(ino, edited.format, *number)? {
                true => self.cells_of((ino, edited.format), (*number, new))?,
                false => self
                    .values_of(new)?
                    .map(|(edit, memory)| (vec![edit], memory)),
            };
            if let Some((found, memory)) = found {
                files_of_edits.extend(found.iter().map(|_| new.clone()));
                edits.extend(found);
                memory_of_files.push(memory);
            }
        }
        if edits.is_empty() {
            return Ok(false);
        }
        let node = self.vfs.node(ino).map_err(unexpected)?;
        let context = Context::with_changes(self.vfs.assets(), &node, changed);
        let Some(asset) = AssetContext::read(&context, AssetRef(ino.0)) else {
            return Err(context.fault().unwrap_or(io::Error::Changed));
        };
        let _memory = memory_of_edit(&self.vfs.mount, asset.len() as u64)?;
        let written = written(edited.format, &asset, &edits, &context);
        if let Some(fault) = context.fault() {
            return Err(fault);
        }
        drop(context);
        match written {
            Ok(Some((asset, warnings))) => {
                for (edit, warning) in warnings {
                    self.report
                        .note(Weight::Warning, &*edits[edit].place, warning);
                }
                changed.insert(ino, asset);
                return Ok(true);
            }
            Ok(None) => self.report.ignored += edits.len(),
            Err(problems) => {
                for edit::Problem {
                    edit,
                    text,
                    disagreement,
                } in problems
                {
                    let place = &*edits[edit].place;
                    let others = disagreement.map(|other| {
                        let files = [edit, other.with].map(|edit| &files_of_edits[edit]);
                        (files, other.path)
                    });
                    match others.filter(|([one, other], _)| one.path() != other.path()) {
                        Some((files, value)) => {
                            self.report.refuse_values(place, text, files, &value);
                        }
                        None => self.report.refuse(place, text),
                    }
                }
            }
        }
        Ok(false)
    }
}

/// An edited asset, and doubtful values, each with the number of its edit.
type Written = (Bytes, Vec<(usize, String)>);

/// Returns an asset with edited values; `None` if it has them already. The new asset is
/// read again, and must show the edited values.
fn written(
    format: &ViewFormat,
    asset: &Bytes,
    edits: &[edit::Edit],
    context: &Context<'_>,
) -> Result<Option<Written>, Vec<edit::Problem>> {
    if let Some(edit) = format.edit {
        let new = edit(asset, edits)?;
        return Ok(new.map(|new| (new.into(), Vec::new())));
    }
    let problem = |text| vec![edit::Problem::new(0, text)];
    let open =
        |asset: &Bytes| (format.open)(asset, context).map_err(|error| problem(error.to_string()));
    let nothing = || problem("the asset has no values to edit".to_owned());
    let view = open(asset)?;
    let (_, values) = view.values(context).ok_or_else(nothing)?;
    let Some(mut edited) = edit::edited(&values, asset, edits, context)? else {
        return Ok(None);
    };
    let new = Bytes::from(std::mem::take(&mut edited.asset));
    let view = open(&new)?;
    let (_, values) = view.values(context).ok_or_else(nothing)?;
    edited.check(&values, &new, context)?;
    Ok(Some((new, edited.warnings)))
}
