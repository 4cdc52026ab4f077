//! What a container format declares: how it is detected, and how it is opened.

use std::sync::Arc;

use crate::file_type::FileType;
use crate::image::CdTrack;
use crate::io::{ReadAt, Result, read_vec};
use crate::volume::{Content, FileId, Sink, Volume};

/// Options for opening a volume.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Name of the volume's file, as users know it.
    pub name: String,
    /// Mount and read past damage as far as possible (`-o force`).
    pub force: bool,
    /// Compute checksums for listings as well, not only on request (`-o
    /// verify`).
    pub verify: bool,
}

/// A source to be detected or opened.
pub struct Input<'a> {
    /// The source.
    pub source: Arc<dyn ReadAt>,
    /// Finds another file beside the source by name, ignoring ASCII case: the
    /// second file of a pair.
    pub partner: &'a dyn Fn(&str) -> Option<Arc<dyn ReadAt>>,
    /// The tracks, if the source is a CD in frames of 2448 bytes; empty if it
    /// is not or they are unknown.
    pub tracks: &'a [CdTrack],
    /// The options.
    pub options: Options,
}

impl Input<'_> {
    /// Creates an input without other files.
    pub fn alone(source: Arc<dyn ReadAt>, options: Options) -> Self {
        Self {
            source,
            partner: &|_| None,
            tracks: &[],
            options,
        }
    }

    /// Returns the bytes at `offset` of the source; fewer at its end.
    ///
    /// # Errors
    /// Returns [`Error::Read`] if the source cannot be read.
    pub fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let left = self.source.len().saturating_sub(offset);
        read_vec(
            &*self.source,
            offset.min(self.source.len()),
            length.min(left),
            "header",
        )
    }
}

/// Extensions of formats that consist of two files: that of the data, and that
/// of the directory.
pub const PAIRS: &[(&str, &str)] = &[("img", "dir"), ("wad", "hed")];

/// Number of first bytes that determine the format of a file with an ambiguous
/// extension.
pub const HEAD: u64 = 16;

/// Returns the first bytes of a stored file of `size` bytes; `None` for other
/// files, or if they cannot be read.
pub fn head(volume: &dyn Volume, file: FileId, size: u64) -> Option<Vec<u8>> {
    let Ok(Content::Extent { source, offset }) = volume.content(file) else {
        return None;
    };
    let mut head = vec![0; size.min(HEAD) as usize];
    source.read_exact_at(&mut head, offset).ok()?;
    Some(head)
}

/// A container format: how it is detected and how it is opened.
pub struct Format {
    /// Short name, as shown in `info.json`.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Types of its files on desktops; none if other programs open them.
    pub types: &'static [FileType],
    /// Returns whether a source has the format. It may read a few bytes
    /// anywhere in the source.
    pub matches: fn(&Input<'_>) -> Result<bool>,
    /// Reads the directory of a source, declares it to the sink, and returns
    /// the volume.
    pub open: fn(Input<'_>, &mut dyn Sink) -> Result<Box<dyn Volume>>,
    /// Whether companions of assets are listed in it, as in a folder.
    pub is_plain_folder: bool,
    /// Whether games merge several of them.
    pub is_layered: bool,
}
