//! The layout of an archive.

/// The position of an asset.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::hip) struct Extent {
    /// Absolute offset in the archive.
    pub(in crate::hip) offset: u32,
    /// Length in bytes.
    pub(in crate::hip) size: u32,
    /// AHDR's `plus`.
    pub(in crate::hip) plus: u32,
    /// ADBG's `align`.
    pub(in crate::hip) align: i32,
}

/// An asset to be written, and the number of padding bytes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Its number in [`Settings::assets`](super::Settings::assets).
    pub(super) asset: usize,
    pub(super) padding: u64,
}

/// The layout of an archive.
#[derive(Debug)]
pub(super) struct Layout {
    /// The position of each asset.
    pub(super) extents: Vec<Extent>,
    /// The numbers of the assets in the order of the table, by id.
    pub(super) table: Vec<usize>,
    /// For each layer its assets, in order.
    pub(super) layers: Vec<Vec<usize>>,
    /// The assets in the order of their data.
    pub(super) steps: Vec<Step>,
    /// Padding before the first asset, in bytes.
    pub(super) padding: u32,
    /// Length of all assets including padding, in bytes.
    pub(super) data: u32,
}

impl Layout {
    /// Returns the number of bytes of all assets without padding.
    pub(super) fn bytes(&self) -> u64 {
        self.extents
            .iter()
            .map(|extent| u64::from(extent.size))
            .sum()
    }
}
