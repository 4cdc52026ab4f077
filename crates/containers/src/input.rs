//! The input of a format for detecting and opening a source.

use std::sync::Arc;

pub use encoding_rs::Encoding;

use crate::crypt::Password;
use crate::image::CdTrack;
use crate::io::{ReadAt, Result, read_vec};
use crate::time;

/// Options for opening a volume.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Name of the volume's file, as users know it.
    pub name: String,
    /// Open and read past damage as far as possible.
    pub force: bool,
    /// Compute checksums for listings as well, not only on request.
    pub verify: bool,
    /// The character set of names that do not say theirs.
    pub encoding: Option<&'static Encoding>,
    /// The password of encrypted archives.
    pub password: Option<Password>,
    /// Converts local times, counted as if they were UTC, to seconds since 1970
    /// UTC. Without it they are treated as UTC.
    pub of_local_time: Option<fn(i64) -> i64>,
    /// The volume is opened to be written with changes.
    pub to_change: bool,
    /// Called between the steps of long work, which ends with the errors that it
    /// returns.
    pub step: Option<fn() -> Result<()>>,
}

impl Options {
    /// Calls [`step`](Self::step).
    ///
    /// # Errors
    /// Returns its errors.
    pub(crate) fn step(&self) -> Result<()> {
        self.step.map_or(Ok(()), |step| step())
    }

    /// Returns the seconds since 1970 UTC of a local date (year, month, day) and
    /// time (hour, minute, second); `None` if they are not valid.
    pub(crate) fn local_time(&self, date: [u16; 3], time: [u8; 3]) -> Option<i64> {
        let seconds = time::seconds(date, time)?;
        Some(match self.of_local_time {
            Some(convert) => convert(seconds),
            None => seconds,
        })
    }
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
    /// Returns [`Error::Read`](crate::io::Error::Read) if the source cannot be
    /// read.
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
