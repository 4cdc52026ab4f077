//! Colors in forms that several families use.

use super::pixels::color::from_xrgb1555;

/// Converts an opaque 16-bit color: 5 bits of red, green and blue each, from the
/// lowest. The highest bit matters for blending only.
pub fn opaque(stored: u16) -> [u8; 4] {
    let part = |shift: u16| {
        let value = (stored >> shift & 31) as u8;
        value << 3 | value >> 2
    };
    [part(0), part(5), part(10), 255]
}

/// Returns the nearest 16-bit color, with the highest bit clear.
pub fn nearest([r, g, b, a]: [u8; 4]) -> u16 {
    from_xrgb1555([b, g, r, a]) & 0x7FFF
}

/// Returns 256 colors, each red, green, blue; `None` for another number of bytes.
pub fn palette(bytes: &[u8]) -> Option<[[u8; 3]; 256]> {
    let (colors, rest) = bytes.as_chunks();
    let colors = colors.try_into().ok()?;
    rest.is_empty().then_some(colors)
}
