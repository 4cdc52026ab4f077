//! The files of the view of an asset: values, texts, and hashes of others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use super::Trouble;
use super::hash::{Hash, Hasher};
use crate::content::{Caller, Model};
use crate::mount::{Context, Node, Vfs};
use hpimount_assets::view::page::Rows;
use hpimount_assets::view::{ViewFile, ViewFormat};
use hpimount_containers::io::{self, Bounded};
use hpimount_record::Value;

/// Names of the facts and of the summary of a view.
pub(super) const INFO: &str = "info.json";
pub(super) const SUMMARY: &str = "info.txt";

/// Extensions of pictures, sounds and models.
const MEDIA: [&str; 4] = ["glb", "obj", "png", "wav"];

/// Name of the picture of a model.
const PREVIEW: &str = "preview.png";

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
        let context = Context::new(vfs.assets(), asset);
        let model = vfs.assets().model_in(&context, format, Caller::Request)?;
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

    /// Returns the numbers of the pictures, sounds and models by their paths, without
    /// previews, which show the others.
    pub(super) fn media(&self) -> BTreeMap<Cow<'_, str>, usize> {
        let files = self.files.iter().enumerate();
        let media = files.filter(|(_, file)| {
            let extension = file.name.rsplit_once('.').map(|(_, extension)| extension);
            extension.is_some_and(|extension| MEDIA.contains(&extension)) && file.name != PREVIEW
        });
        media.map(|(number, file)| (file.path(), number)).collect()
    }

    /// Returns the SHA-256 and the length of the file with this number; `None` if it is
    /// longer than `most` bytes.
    ///
    /// # Errors
    /// Returns an error if something that it depends on cannot be read.
    pub(super) fn sha256(&self, number: usize, most: u64) -> Result<Option<Hash>, Trouble> {
        let mut hasher = Hasher::new(most);
        match self.model.view.render(number, &self.context, &mut hasher) {
            Ok(()) => {}
            Err(error) => match error.kind() {
                ErrorKind::FileTooLarge => return Ok(None),
                // Damage is compared by its message.
                ErrorKind::InvalidData => hasher.update(error.to_string().as_bytes()),
                _ => return Err(io::Error::of_output(&error).into()),
            },
        }
        self.without_fault(Some(hasher.finish()))
    }

    /// Returns the number of the file with this name.
    fn position(&self, name: &str) -> Option<usize> {
        let named = |file: &ViewFile| file.folder.is_none() && file.name == name;
        self.files.iter().position(named)
    }

    /// Returns what `collect` makes of the rows of the table with this name; `None`
    /// without that table.
    ///
    /// # Errors
    /// Returns an error if something that the rows depend on cannot be read.
    pub(super) fn table<T>(
        &self,
        name: &str,
        collect: impl FnOnce(Rows<'_>) -> Option<T>,
    ) -> Result<Option<T>, Trouble> {
        let rows = |number| self.model.view.table(number, &self.context);
        let collected = self.position(name).and_then(rows).and_then(collect);
        self.without_fault(collected)
    }

    /// Returns the values of the JSON file with this name; `None` without such a file, or
    /// if its values need more than `most` bytes.
    ///
    /// # Errors
    /// Returns an error if something that they depend on cannot be read.
    pub(super) fn values(&self, name: &str, most: usize) -> Result<Option<Value>, Trouble> {
        let values = |number| self.model.view.json(number, &self.context);
        let values = self.position(name).and_then(values);
        self.without_fault(values.and_then(|values| values.collect(&mut { most })))
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
            Err(error) if error.kind() == ErrorKind::FileTooLarge => return Ok(None),
            Err(error) => return Err(io::Error::of_output(&error).into()),
            Ok(()) => {}
        }
        self.without_fault(String::from_utf8(text.into_bytes()).ok())
    }

    /// Returns the value, unless something that it may depend on could not be read.
    fn without_fault<T>(&self, value: T) -> Result<T, Trouble> {
        match self.context.fault() {
            Some(fault) => Err(fault.into()),
            None => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::{Ino, Options, Sources, format_of};
    use hpimount_assets::view::{AssetContext, AssetKey};

    #[test]
    fn a_table_that_depends_on_a_file_that_cannot_be_read_is_an_error() {
        let source = tempfile::tempdir().unwrap();
        let other = source.path().join("other.dat");
        std::fs::write(source.path().join("carcols.dat"), "col\n1,2,3\nend\n").unwrap();
        std::fs::write(&other, "other").unwrap();
        let sources = Sources::one(source.path());
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let node = vfs
            .node(vfs.lookup(Ino::ROOT, "carcols.dat").unwrap().ino)
            .unwrap();
        let shown = Shown::new(&vfs, &node, format_of(&node).unwrap()).unwrap();
        let count = |rows: Rows<'_>| Some(rows.rows.count());
        assert_eq!(shown.table("colors.tsv", count).unwrap(), Some(1));
        assert_eq!(shown.table("none.tsv", count).unwrap(), None);

        std::fs::remove_file(other).unwrap();
        let unreadable = shown.table("colors.tsv", |rows| {
            let other = shown.context.find(AssetKey::Sibling("other.dat")).unwrap();
            assert_eq!(shown.context.read(other), None);
            count(rows)
        });
        assert!(unreadable.is_err());
    }
}
