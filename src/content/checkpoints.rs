//! Copies of a decoder at several positions of a file.

use std::sync::{Mutex, MutexGuard};

use super::BLOCK_SIZE;
use crate::sync::lock;
use hpimount_containers::volume::Decoder;

/// Minimum distance between two checkpoints in bytes, a multiple of
/// [`BLOCK_SIZE`]. Decoding that many takes three milliseconds.
pub(super) const SPACING: u64 = 1 << 20;

/// Minimum distance between checkpoints without a window in memory.
const DENSE_SPACING: u64 = BLOCK_SIZE as u64;

/// The checkpoints of a file.
pub(super) struct Checkpoints(Mutex<Points>);

/// Checkpoints, and their minimum distances.
struct Points {
    spacing: u64,
    dense_spacing: u64,
    /// In ascending order of their positions in the file.
    points: Vec<Point>,
}

/// A checkpoint.
struct Point {
    position: u64,
    decoder: Box<dyn Decoder>,
    window: Window,
}

/// Location of the window of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Window {
    /// The decoder needs no earlier bytes.
    None,
    InMemory,
    Spooled,
}

/// Storage for the windows of checkpoints outside of memory.
pub(super) trait Windows {
    /// Keeps the window of the checkpoint at `position`. Returns false if there
    /// is no space for it.
    fn keep(&self, position: u64, window: &[u8]) -> bool;

    /// Returns the window of the checkpoint at `position`, if it is still kept.
    fn get(&self, position: u64) -> Option<Box<[u8]>>;
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self(Mutex::new(Points {
            spacing: SPACING,
            dense_spacing: DENSE_SPACING,
            points: Vec::new(),
        }))
    }
}

impl Checkpoints {
    fn points(&self) -> MutexGuard<'_, Points> {
        lock(&self.0)
    }

    /// Returns their memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.points().memory()
    }

    /// Returns a decoder at the last checkpoint that is after `from` and not
    /// after `position`, and where it is.
    pub(super) fn between(
        &self,
        from: u64,
        position: u64,
        windows: &dyn Windows,
    ) -> Option<(u64, Box<dyn Decoder>)> {
        let points = self.points();
        let count_to = |bound| {
            let points = &points.points;
            points.partition_point(|point| point.position <= bound)
        };
        let between = points.points.get(count_to(from)..count_to(position))?;
        between.iter().rev().find_map(|point| {
            let mut copy = point.decoder.fork()?;
            if point.window == Window::Spooled {
                copy.set_window(windows.get(point.position)?);
            }
            Some((point.position, copy))
        })
    }

    /// Saves a copy of a decoder, if a checkpoint is due at `position`, with its
    /// window in `windows` if possible. The checkpoints are thinned out to at
    /// most `limit` bytes. Returns whether they have changed.
    pub(super) fn save(
        &self,
        position: u64,
        decoder: &dyn Decoder,
        windows: &dyn Windows,
        limit: usize,
    ) -> bool {
        let mut points = self.points();
        let index = points
            .points
            .partition_point(|point| point.position < position);
        let next = points.points.get(index);
        let is_saved = next.is_some_and(|point| point.position == position);
        if position == 0 || is_saved || !position.is_multiple_of(points.dense_spacing) {
            return false;
        }
        let Some(mut copy) = decoder.fork() else {
            return false;
        };
        let bytes = copy.take_window();
        let window = match bytes.is_empty() {
            true => Window::None,
            false if windows.keep(position, &bytes) => Window::Spooled,
            false => {
                copy.set_window(bytes);
                Window::InMemory
            }
        };
        if !position.is_multiple_of(points.spacing_of(window)) {
            return false;
        }
        let point = Point {
            position,
            decoder: copy,
            window,
        };
        points.points.insert(index, point);
        points.thin_out(limit);
        true
    }
}

impl Points {
    fn memory(&self) -> usize {
        let decoders = self.points.iter().map(|point| point.decoder.memory());
        self.points.capacity() * size_of::<Point>() + decoders.sum::<usize>()
    }

    fn spacing_of(&self, window: Window) -> u64 {
        match window {
            Window::None | Window::Spooled => self.dense_spacing,
            Window::InMemory => self.spacing,
        }
    }

    fn thin_out(&mut self, limit: usize) {
        while self.memory() > limit && !self.points.is_empty() {
            self.spacing *= 2;
            self.dense_spacing *= 2;
            let mut points = std::mem::take(&mut self.points);
            points.retain(|point| point.position.is_multiple_of(self.spacing_of(point.window)));
            points.shrink_to_fit();
            self.points = points;
        }
    }
}
