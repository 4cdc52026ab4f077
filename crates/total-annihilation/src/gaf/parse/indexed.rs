//! Pixels as palette indices with transparency.

use super::Frame;

/// Palette indices with a mask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Indexed {
    width: usize,
    /// Index of transparent pixels.
    pub(super) key: u8,
    /// An index for each pixel; transparent pixels have the frame's key.
    pub indices: Vec<u8>,
    /// 255 for each opaque pixel, 0 for each transparent one.
    pub mask: Vec<u8>,
}

impl Indexed {
    pub(super) fn new(frame: &Frame) -> Self {
        // At most `MAX_PIXELS`.
        let pixels = frame.pixels() as usize;
        Self {
            width: frame.width.into(),
            key: frame.key,
            indices: vec![frame.key; pixels],
            mask: vec![0; pixels],
        }
    }

    /// Returns the indices and mask of each row.
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = (&mut [u8], &mut [u8])> {
        let width = self.width.max(1);
        let indices = self.indices.chunks_exact_mut(width);
        indices.zip(self.mask.chunks_exact_mut(width))
    }

    /// Returns whether no pixel is transparent.
    pub fn is_opaque(&self) -> bool {
        self.mask.iter().all(|&mask| mask != 0)
    }
}
