//! Views of the assets of Total Annihilation and TA: Kingdoms.

pub mod blend;
pub mod bmp;
pub mod cob;
mod colors;
pub mod fnt;
pub mod gaf;
pub mod other;
pub mod pal;
pub mod pcx;
pub mod sct;
pub mod tables;
pub mod tdf;
pub mod tdo;
mod terrain;
mod textures;
pub mod tnt;
pub mod wav;

use get_size2::{GetSize, GetSizeTracker};
use serde_json::Value;

use self::colors::Colors;
use super::listed::{Listed, ListedView};
use super::{Failure, View};
use crate::asset::Incomplete;

/// A parsed asset, and the palette that it is shown with.
struct Shown<M> {
    asset: M,
    colors: Colors,
    /// Heap memory of the asset in bytes.
    heap: usize,
}

impl<M> GetSize for Shown<M> {
    fn get_heap_size_with_tracker<T: GetSizeTracker>(&self, tracker: T) -> (usize, T) {
        (self.heap + self.colors.heap_size(), tracker)
    }
}

impl<M: Send + Sync + 'static> Shown<M> {
    /// Returns the view with these files.
    fn view(self, files: Vec<Listed<Self>>) -> Box<dyn View> {
        Box::new(ListedView { model: self, files })
    }
}

/// Returns the failure for an asset that could not be parsed completely.
fn failure<M>(incomplete: Incomplete<M>, partial: impl FnOnce(&M) -> Value) -> Box<Failure> {
    let Incomplete { error, model } = incomplete;
    let partial = partial(&model);
    Box::new(Failure { error, partial })
}

/// Returns the name of an asset without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns a name as a part of a file's name, without separators and control
/// characters.
fn file_part(name: &str) -> String {
    let safe = |c: char| {
        if c.is_control() || "/\\".contains(c) {
            '_'
        } else {
            c
        }
    };
    name.trim().chars().map(safe).collect()
}

/// Returns the heap memory of warnings in bytes.
fn warnings_size(warnings: &crate::io::Warnings) -> usize {
    warnings.get_heap_size()
}
