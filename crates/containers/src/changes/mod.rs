//! Types for applying changes to a format: the [`Folder`] of changes, the [`Tree`] of
//! an original's entries with the fate of each, the [`Composed`] source that results,
//! and the [`Report`].
//!
//! Each format declares how it is opened to be written in
//! [`Format::change`](crate::format::Format::change): the [`Write`] in its result gets a
//! [`Job`] with the tree, and places the new data. [`apply`](mod@crate::apply) goes through
//! archives in archives.

pub(crate) mod converted;
mod folder;
mod job;
pub(crate) mod matching;
pub(crate) mod member;
mod new_file;
mod occupied;
mod report;
mod tree;

use std::sync::Arc;

pub use self::converted::{Convert, ConvertEdited, NotConverted};
pub use self::folder::{Change, Folder, is_litter};
pub use self::job::{Job, are_equal};
pub use self::matching::{Edited, EditedFolder};
pub use self::new_file::{Checksum, FileTable, NewFile, NewFiles};
pub(crate) use self::occupied::Occupied;
pub use self::report::{
    Action, Applied, AppliedPatch, Notice, Report, Rivals, Weight, lines, listed,
};
pub use self::tree::{Fate, Kind, Node, Tree};
use crate::input::Input;
pub use crate::io::{Composed, Patch};
use crate::io::{ReadAt, Result};
use crate::volume::{Sink, Volume};

/// Finds another file beside a source by name, ignoring ASCII case.
pub type FindPartner<'a> = &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>;

/// Opens an archive to be written with changes, and declares its entries to the sink.
///
/// # Errors
/// Returns an error if the source cannot be read, or if it is damaged.
pub type OpenForChanges = for<'a> fn(Input<'a>, &mut dyn Sink) -> Result<Changeable<'a>>;

/// Writes an archive that was opened with changes.
///
/// # Errors
/// Returns an error if the original or a file of the folder cannot be read, or
/// if the original is damaged. Changes that the format cannot express are
/// refused in the report instead.
pub type Write<'a> = Box<dyn FnOnce(&mut Job<'_>) -> Result<Written> + 'a>;

/// An archive that was opened to be written with changes.
pub struct Changeable<'a> {
    /// The archive.
    pub volume: Arc<dyn Volume>,
    /// Writes it.
    pub write: Write<'a>,
}

impl<'a> Changeable<'a> {
    /// Creates an archive of its volume and of the tables that its writer needs besides.
    pub fn new<V: Volume + 'static, T: 'a>(
        (volume, tables): (V, T),
        write: fn(&V, T, &mut Job<'_>) -> Result<Written>,
    ) -> Self {
        let volume = Arc::new(volume);
        Self {
            volume: volume.clone(),
            write: Box::new(move |job| write(&volume, tables, job)),
        }
    }

    /// Creates a disc whose writer reads its source and partners again.
    pub fn of_input(
        volume: Box<dyn Volume>,
        input: Input<'a>,
        write: fn(&Input<'a>, &mut Job<'_>) -> Result<Written>,
    ) -> Self {
        Self {
            volume: volume.into(),
            write: Box::new(move |job| write(&input, job)),
        }
    }
}

/// An archive or a disc that is changed.
pub struct Original<'a> {
    /// Its bytes.
    pub source: Arc<dyn ReadAt>,
    /// The name of its file, which differs from those of other sources.
    pub name: &'a str,
    /// The name that the mount shows for it if it is an asset.
    pub shown: &'a str,
    /// Finds the other files that it consists of.
    pub partner: FindPartner<'a>,
    /// True if earlier changes have made it or a source around it: the next plan may
    /// have another one in its place.
    pub is_changed: bool,
}

impl<'a> Original<'a> {
    /// Creates an original of one file, which nothing has changed.
    pub fn alone(source: Arc<dyn ReadAt>, name: &'a str) -> Self {
        Self {
            source,
            name,
            shown: name,
            partner: &|_| None,
            is_changed: false,
        }
    }
}

/// A changed archive.
pub struct Written {
    /// The archive, or the file with the data of a pair.
    pub data: Composed,
    /// The file with the directory of a pair.
    pub directory: Option<Composed>,
    /// The files that a sheet refers to, by their names there.
    pub files: Vec<(String, Composed)>,
}

impl Written {
    /// Creates an archive of one file.
    pub fn alone(mut data: Composed) -> Self {
        data.compact();
        Self {
            data,
            directory: None,
            files: Vec::new(),
        }
    }
}
