//! The texts of the view of an asset.

use std::sync::Arc;

use super::Trouble;
use crate::content::{Caller, Model};
use crate::mount::{Context, Node, Vfs};
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{ViewFile, ViewFormat};
use hpimount_containers::io::{self, Bounded};

/// Names of the facts and of the summary of a view.
pub(super) const INFO: &str = "info.json";
pub(super) const SUMMARY: &str = "info.txt";

/// An asset with its view.
pub(super) struct Shown<'a> {
    pub(super) vfs: &'a Vfs,
    files: Vec<ViewFile>,
    pub(super) model: Arc<Model>,
    context: Context<'a>,
}

impl<'a> Shown<'a> {
    /// Parses an asset.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or if there is not enough memory.
    pub(super) fn new(
        vfs: &'a Vfs,
        asset: &'a Node<'a>,
        format: &'static ViewFormat,
    ) -> Result<Self, Trouble> {
        let context = Context::new(vfs, asset);
        let model = vfs.model_in(&context, format, Caller::Request)?;
        Ok(Self {
            vfs,
            files: model.view.files(),
            model,
            context,
        })
    }

    /// Returns the names of the files that are not in a folder.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter().filter(|file| file.folder.is_none());
        files.map(|file| file.name.as_str())
    }

    /// Returns the number of the file with this name.
    fn position(&self, name: &str) -> Option<usize> {
        let named = |file: &ViewFile| file.folder.is_none() && file.name == name;
        self.files.iter().position(named)
    }

    /// Returns the rows of the table with this name.
    pub(super) fn table(&self, name: &str) -> Option<Rows<'_>> {
        self.model.view.table(self.position(name)?, &self.context)
    }

    /// Returns the text of the file with this name; `None` if there is none, or
    /// it is longer than `most` bytes.
    ///
    /// # Errors
    /// Returns an error if something that it depends on cannot be read.
    pub(super) fn text(&self, name: &str, most: usize) -> Result<Option<String>, Trouble> {
        let Some(number) = self.position(name) else {
            return Ok(None);
        };
        let mut text = Bounded::new(most);
        match self.model.view.render(number, &self.context, &mut text) {
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => return Ok(None),
            Err(error) => return Err(io::Error::of_output(&error).into()),
            Ok(()) => {}
        }
        match self.context.fault() {
            Some(fault) => Err(fault.into()),
            None => Ok(String::from_utf8(text.into_bytes()).ok()),
        }
    }
}
