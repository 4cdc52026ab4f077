//! Copies of a decoder at several positions of a file.

use std::sync::Arc;

use hpimount_containers::volume::Decoder;

/// Minimum distance between two checkpoints in bytes, a multiple of
/// [`super::BLOCK_SIZE`]. Decoding that many takes three milliseconds.
pub(super) const SPACING: u64 = 1 << 20;

/// The checkpoints of a file.
pub(super) struct Checkpoints {
    /// Bytes between two checkpoints.
    spacing: u64,
    /// The decoders, with their positions in the file in ascending order.
    points: Vec<(u64, Arc<dyn Decoder>)>,
}

impl Checkpoints {
    pub(super) const NONE: Self = Self {
        spacing: SPACING,
        points: Vec::new(),
    };

    /// Returns their memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let points = self.points.iter();
        points
            .map(|(_, decoder)| size_of::<(u64, Arc<dyn Decoder>)>() + decoder.memory())
            .sum()
    }

    /// Returns the last one that is not after `position`.
    pub(super) fn before(&self, position: u64) -> Option<&(u64, Arc<dyn Decoder>)> {
        let after = self.points.partition_point(|&(at, _)| at <= position);
        self.points.get(after.checked_sub(1)?)
    }

    /// Returns whether a checkpoint is due at `position`.
    pub(super) fn lacks(&self, position: u64) -> bool {
        let last = self.before(position).map(|&(at, _)| at);
        position > 0 && position.is_multiple_of(self.spacing) && last != Some(position)
    }

    /// Returns these and one at `position`, thinned out to at most `limit`
    /// bytes. `None` if the decoder cannot be copied.
    pub(super) fn with(&self, position: u64, decoder: &dyn Decoder, limit: usize) -> Option<Self> {
        let copy = decoder.fork()?;
        let mut points = self.points.clone();
        let index = points.partition_point(|&(at, _)| at < position);
        points.insert(index, (position, copy.into()));
        let mut more = Self {
            spacing: self.spacing,
            points,
        };
        while more.memory() > limit && !more.points.is_empty() {
            more.spacing *= 2;
            let spacing = more.spacing;
            more.points.retain(|(at, _)| at.is_multiple_of(spacing));
        }
        Some(more)
    }
}
