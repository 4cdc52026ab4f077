//! Windows and their sections.

/// Read or decode size of sections, in bytes.
pub(super) const PIECE: usize = 64 << 10;

/// The sections of a window, in order.
pub(super) const DATA: usize = 0;
pub(super) const INSTRUCTIONS: usize = 1;
pub(super) const ADDRESSES: usize = 2;

/// A section of a window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Section {
    /// Offset of the first byte in the patch, or in the spool.
    pub(super) start: u64,
    /// Length in bytes.
    pub(super) length: u64,
    /// True if the section was compressed and is in the spool.
    pub(super) is_spooled: bool,
}

/// A window: a range of the result, and the sections that produce it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Offset of the header in the patch.
    pub(super) offset: u64,
    /// Offset of the first byte in the result.
    pub(super) start: u64,
    /// Length in the result, in bytes.
    pub(super) length: u64,
    /// Offset and length of the source segment of the original.
    pub(super) segment: (u64, u64),
    /// Adler-32 of the result.
    pub(super) adler: Option<u32>,
    pub(super) sections: [Section; 3],
}
