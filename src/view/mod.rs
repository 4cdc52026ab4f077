//! Synthetic files: what a parsed asset looks like as JSON, tables and text.
//!
//! Beside an asset `X` stands a directory `X.meta`; its files are the
//! [`ViewFile`]s of the asset's [`View`]. A new asset format is one folder in
//! `asset/`, one here, and one line in [`VIEW_FORMATS`].

pub mod ifp;
pub mod json;
mod summary;
mod table;

pub use summary::Summary;
pub use table::Table;

use crate::io::Error;

/// One synthetic file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFile {
    /// Folder below `X.meta`, where it is not in `X.meta` itself.
    pub folder: Option<&'static str>,
    /// Name of the file, as the asset spells it; it is made safe where it is
    /// shown.
    pub name: String,
}

/// A parsed asset that can be looked at.
pub trait View: Send + Sync {
    /// The synthetic files. The order is fixed: a file's number is its place.
    fn files(&self) -> Vec<ViewFile>;

    /// Makes the bytes of the file with number `index`; the same bytes
    /// whenever it is asked. Empty for a number that does not exist.
    fn render(&self, index: usize) -> Vec<u8>;

    /// Memory that the model takes, in bytes, roughly.
    fn memory(&self) -> usize;
}

/// An asset that could not be parsed to its end.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong, and where.
    pub error: Error,
    /// What was read until then, for `info.json`.
    pub partial: serde_json::Value,
}

/// Parses the bytes of a whole file.
pub type Open = fn(&[u8]) -> Result<Box<dyn View>, Box<Failure>>;

/// An asset format that can be looked into.
pub struct ViewFormat {
    /// Short name, as `info.json` shows it.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Parses a file.
    pub open: Open,
}

/// The asset formats that have views.
pub const VIEW_FORMATS: &[ViewFormat] = &[ifp::FORMAT];
