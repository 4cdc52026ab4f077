//! The tracks of a disc, as its description has them.

use crate::disc::plain::Mode;
use crate::disc::sector::RAW;

/// Maximum number of tracks.
pub(super) const MAX_TRACKS: usize = 99;

/// The contents of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Frames of this many bytes.
    Data(u64),
    /// Samples in frames of this many bytes.
    Audio(u64),
    Other,
}

/// A track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) number: u8,
    pub(super) kind: Kind,
    pub(super) mode: Mode,
    /// Name of its file, without directories.
    pub(super) file: String,
    /// True if the file consists of sectors only, without a container format.
    pub(super) is_binary: bool,
    /// Sectors of a pregap that no file has.
    pub(super) silence: u64,
    /// Sectors of the file before its pregap, and before the track itself.
    pub(super) gap: u64,
    pub(super) start: u64,
    /// Sectors of the file before its end; `None` if it ends where the next track
    /// of the file begins.
    pub(super) end: Option<u64>,
    /// Lines of the cue sheet about the disc, in its first track, and about the track,
    /// which say nothing about places.
    pub(super) of_sheet: Vec<String>,
    pub(super) commands: Vec<String>,
}

impl Track {
    /// Returns the length of one of its frames, in bytes.
    pub(super) fn step(&self) -> u64 {
        match self.kind {
            Kind::Data(step) | Kind::Audio(step) => step,
            Kind::Other => RAW,
        }
    }
}
