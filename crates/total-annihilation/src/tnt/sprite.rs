//! Sprites on the ground of a map.

/// A sprite; its pixels have indices of the palette.
pub(super) struct Sprite {
    pub(super) width: i32,
    pub(super) height: i32,
    /// From its upper left corner to the point that is placed.
    pub(super) origin: [i32; 2],
    pub(super) indices: Vec<u8>,
    /// 0 for transparent pixels.
    pub(super) mask: Vec<u8>,
}
