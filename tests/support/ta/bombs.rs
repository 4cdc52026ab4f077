//! Bombs: small files that need far more than their size suggests.

use super::Writer;

/// Number of entries of [`shared_frame`].
pub const SHARED: u16 = u16::MAX;

/// Returns a sprite file with one sequence that refers repeatedly to one frame
/// of 1000 x 1000 pixels.
pub fn shared_frame() -> Vec<u8> {
    let mut out = Writer::default();
    out.u32s(&[0x0001_0100, 1, 0, 16]);
    out.u16(SHARED);
    out.u16(1);
    out.u32(0);
    out.fixed("bomb", 32);
    let frame = out.at() + 8 * u32::from(SHARED);
    for _ in 0..SHARED {
        out.u32s(&[frame, 1]);
    }
    for edge in [1000, 1000, 0, 0] {
        out.u16(edge);
    }
    out.u8(9);
    out.u8(1);
    out.u16(0);
    out.u32s(&[0, frame + 24, 0]);
    // Runs of 64 pixels; the last one of a row exceeds it.
    let row = [63 << 2 | 2, 7].repeat(16);
    for _ in 0..1000 {
        out.u16(row.len() as u16);
        out.extend(&row);
    }
    out.bytes
}

/// Returns a model whose object is its own sibling, or its own child.
pub fn cycle(is_child: bool) -> Vec<u8> {
    let mut root = super::tdo::object("base");
    root.children = vec![super::tdo::object("arm")];
    let mut bytes = super::tdo::file(&root);
    let arm = super::u32_at(&bytes, 48) as usize;
    let field = if is_child { 48 } else { 44 };
    super::put(&mut bytes, arm + field, &(arm as u32).to_le_bytes());
    bytes
}

/// Returns a map of Kingdoms of 4096 x 4096 cells with overlapping parts; all
/// numbers in it are 0.
pub fn vast_map() -> Vec<u8> {
    const EDGE: u32 = 4096;
    let mut out = Writer::default();
    let parts = 64;
    out.u32s(&[0x4000, EDGE, EDGE, 0, parts, parts, parts, 0]);
    out.u32s(&[parts, parts, parts, 0, 0, 0, 0, 0]);
    let mut bytes = out.bytes;
    bytes.resize(64 + 2 * (EDGE * EDGE) as usize, 0);
    bytes
}

/// Returns a text with sections nested a million deep.
pub fn deep_text() -> Vec<u8> {
    b"[a]{".repeat(1_000_000)
}
