//! Edited values of assets, from JSON files and from tables of many assets.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::super::context::Context;
use super::super::{Ino, format_of};
use super::{EditedAsset, Edits, MEMORY_OF_EDIT, unexpected};
use crate::content::Caller;
use hpimount_assets::view::edit;
use hpimount_assets::view::report::{Report, TableEdit};
use hpimount_assets::view::{AssetContext, AssetRef, ViewFormat};
use hpimount_containers::changes::{NewFile, Weight};
use hpimount_containers::io::{self, Bounded, read_vec};

/// How many times the bytes of a table and of an edited one a comparison takes.
const MEMORY_OF_TABLE: u64 = 3;

/// The most bytes of a table that can be edited.
const MAX_TABLE: usize = 256 << 20;

impl Edits<'_> {
    /// Adds what an edited report changes in the assets that it combines.
    pub(super) fn table(
        &mut self,
        report: &Report,
        directory: Ino,
        new: &NewFile,
    ) -> io::Result<()> {
        let Some(editing) = &report.edit else {
            let reason = "is made from many files, and only shows them: edit these";
            self.report.refuse(new.path(), reason);
            return Ok(());
        };
        let node = self.vfs.node(directory).map_err(unexpected)?;
        let node = self.vfs.enter(node).map_err(unexpected)?;
        let context = Context::new(self.vfs, &node);
        let mut shown = Bounded::new(MAX_TABLE);
        if let Err(error) = (report.render)(&context, &mut shown) {
            if error.kind() == std::io::ErrorKind::FileTooLarge {
                let reason = format!("has more than {MAX_TABLE} bytes as it is shown");
                self.report.refuse(new.path(), reason);
                return Ok(());
            }
            return Err(io::Error::of_output(&error));
        }
        let shown = shown.into_bytes();
        let budget = self.vfs.reader.budget();
        let memory = new.len().saturating_add(shown.len() as u64);
        let memory = usize::try_from(memory.saturating_mul(MEMORY_OF_TABLE)).unwrap_or(usize::MAX);
        let _memory = budget.charge("an edited table", memory)?;
        let bytes = read_vec(new, 0, new.len(), "edited file")?;
        let edits = (editing.edit)(&context, &shown, &bytes);
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
                let edited = self.edited(asset, format);
                edited.values.push((edit, new.clone()));
                Ok(())
            }
            TableEdit::File(name, bytes, place) => {
                let model = self.vfs.model(&node, format)?;
                let number = model.view.position(&|file| file.name == name);
                let new = NewFile::new(placed(&place), Arc::new(bytes));
                match number {
                    Some(number) => self.view_file(asset, format, number, new),
                    None => Ok(()),
                }
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
        let context = Context::new(self.vfs, &node);
        let model = self.vfs.model_in(&context, format, Caller::Request)?;
        let values = model.view.values(&context);
        Ok(values.is_some_and(|(number, _)| number == Some(file)))
    }

    /// Returns the values of an edited JSON file; `None` if it is refused.
    pub(super) fn values_of(&mut self, new: NewFile) -> io::Result<Option<(edit::Edit, NewFile)>> {
        let bytes = read_vec(&new, 0, new.len(), "edited file")?;
        Ok(match edit::value_of_json(&bytes) {
            Ok(values) => {
                let place = new.path().to_owned();
                let what = edit::What::Values(values);
                Some((edit::Edit { place, what }, new))
            }
            Err(reason) => {
                self.report.refuse(new.path(), reason);
                None
            }
        })
    }

    /// Writes all edited values of an asset. Returns whether it has changed.
    pub(super) fn edit_values(
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
