//! Views of the assets in archives of Heavy Iron's games: pictures, sounds,
//! texts, models, objects and tables.
//!
//! The view depends on the asset type given by the archive; names for ids come
//! from the same archive.

use std::io::{self, Write};

use bytes::Bytes;
use get_size2::GetSize;

use crate::Parsed;
use crate::info::Info;
use crate::names::Names;
use hpimount_assets::view::listed::{Listed, ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, View};
use hpimount_containers::io::Warnings;
use hpimount_containers::text::has_extension;

/// A parsed asset, and its `info.json`.
pub(crate) struct Shown<M> {
    pub(crate) model: M,
    pub(crate) info: Info,
    /// Heap memory of the model in bytes.
    pub(crate) heap: usize,
}

impl<M> GetSize for Shown<M> {
    fn get_heap_size(&self) -> usize {
        self.heap + self.info.memory()
    }
}

/// The description of a kind of asset.
pub(crate) struct Kind<M: 'static> {
    /// The title in `info.json` and `info.txt`.
    pub(crate) title: &'static str,
    /// Adds the properties of a model.
    pub(crate) describe: fn(&M, &mut Info, Names<'_>),
    /// Returns the warnings of a model.
    pub(crate) warnings: fn(&mut M) -> &mut Warnings,
    /// Heap memory of a model in bytes.
    pub(crate) heap: fn(&M) -> usize,
}

impl<M: Send + Sync + 'static> Kind<M> {
    /// Returns the view of a parsed asset, with the files that `files` adds to
    /// `info.json` and `info.txt`.
    pub(crate) fn view(
        &self,
        bytes: &Bytes,
        context: &dyn AssetContext,
        parsed: Parsed<M>,
        files: impl FnOnce(&mut Shown<M>) -> Vec<Listed<Shown<M>>>,
    ) -> Result<Box<dyn View>, Box<Failure>> {
        let mut info = Info::new(self.title, bytes, context);
        match parsed {
            Ok(mut model) => {
                (self.describe)(&model, &mut info, Names(context));
                info.warnings = std::mem::take((self.warnings)(&mut model));
                let heap = (self.heap)(&model);
                let mut model = Shown { model, info, heap };
                let own = files(&mut model);
                let mut files = whole_files::<Shown<M>>(&[
                    ("info.json", |shown, out| shown.info.json(out)),
                    ("info.txt", |shown, out| shown.info.text(out)),
                ]);
                files.extend(own);
                Ok(Box::new(ListedView { model, files }))
            }
            Err(mut incomplete) => {
                (self.describe)(&incomplete.model, &mut info, Names(context));
                info.warnings = std::mem::take((self.warnings)(&mut incomplete.model));
                Err(Box::new(Failure {
                    partial: hpimount_assets::view::json::value(&info),
                    error: incomplete.error,
                }))
            }
        }
    }
}

/// Returns the name of the asset in its archive, or else the name of its file.
pub(crate) fn name_of(context: &dyn AssetContext) -> String {
    let asset = context.asset();
    let own = asset.and_then(|asset| context.asset_name(asset.id));
    own.map_or_else(|| context.name().to_owned(), |own| own.name)
}

/// Returns the name of the asset without an extension that its files replace;
/// `unnamed` if it is empty.
pub(crate) fn stem(context: &dyn AssetContext, extensions: &[&str], unnamed: &str) -> String {
    let mut name = name_of(context);
    let has = |known: &&&str| has_extension(name.as_bytes(), known);
    if let Some(known) = extensions.iter().find(has) {
        name.truncate(name.len() - known.len() - 1);
    }
    match name.is_empty() {
        true => unnamed.to_owned(),
        false => name,
    }
}

/// Writes a text as a whole file.
pub(crate) fn write_text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(text.as_bytes())
}
