//! Stored colors, as red, green, blue and alpha of 8 bits.

/// Returns a 3-bit value as 8 bits.
fn wide3(value: u16) -> u8 {
    let value = value & 7;
    (value << 5 | value << 2 | value >> 1) as u8
}

/// Returns a 4-bit value as 8 bits.
pub(super) fn wide4(value: u8) -> u8 {
    (value & 15) * 17
}

/// Returns a 5-bit value as 8 bits.
fn wide5(value: u16) -> u8 {
    let value = value & 31;
    (value << 3 | value >> 2) as u8
}

/// Returns a 6-bit value as 8 bits.
fn wide6(value: u16) -> u8 {
    let value = value & 63;
    (value << 2 | value >> 4) as u8
}

/// Converts 5 bits of red, 6 of green and 5 of blue, red highest.
pub(super) fn rgb565(word: u16) -> [u8; 4] {
    [wide5(word >> 11), wide6(word >> 5), wide5(word), 255]
}

/// Converts three times 5 bits, red highest; ignores the top bit.
fn rgb555(word: u16) -> [u8; 4] {
    [wide5(word >> 10), wide5(word >> 5), wide5(word), 255]
}

/// Converts 555 with alpha in the top bit.
pub(super) fn argb1555(word: u16) -> [u8; 4] {
    let [r, g, b, _] = rgb555(word);
    [r, g, b, if word & 0x8000 != 0 { 255 } else { 0 }]
}

/// Converts 555 with an unused top bit.
pub(super) fn xrgb1555(word: u16) -> [u8; 4] {
    rgb555(word)
}

/// Converts 1555 with blue highest below alpha.
pub(super) fn abgr1555(word: u16) -> [u8; 4] {
    let [b, g, r, a] = argb1555(word);
    [r, g, b, a]
}

/// Converts four times 4 bits: alpha, red, green, blue.
pub(super) fn argb4444(word: u16) -> [u8; 4] {
    let part = |shift: u32| wide4((word >> shift) as u8);
    [part(8), part(4), part(0), part(12)]
}

/// Converts a GameCube color: 555 if the top bit is set, otherwise 3 bits of
/// alpha and 444.
pub(super) fn rgb5a3(word: u16) -> [u8; 4] {
    if word & 0x8000 != 0 {
        return rgb555(word);
    }
    let [r, g, b, _] = argb4444(word);
    [r, g, b, wide3(word >> 12)]
}

/// Converts a GameCube color: alpha, then intensity.
pub(super) fn ia8(word: u16) -> [u8; 4] {
    let [alpha, gray] = word.to_be_bytes();
    [gray, gray, gray, alpha]
}

/// Converts a stored color: blue, green, red, alpha.
pub(super) fn bgra([b, g, r, a]: [u8; 4], has_alpha: bool) -> [u8; 4] {
    [r, g, b, if has_alpha { a } else { 255 }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_channel_are_0_and_255() {
        assert_eq!(rgb565(0xFFFF), [255; 4]);
        assert_eq!(rgb565(0x07E0), [0, 255, 0, 255]);
        assert_eq!(rgb5a3(0xFFFF), [255; 4]);
        assert_eq!(rgb5a3(0x7F00), [255, 0, 0, 255]);
        assert_eq!(rgb5a3(0x0FFF), [255, 255, 255, 0]);
        assert_eq!(rgb5a3(0x4000), [0, 0, 0, 146]);
        assert_eq!(argb1555(0x7C00), [255, 0, 0, 0]);
        assert_eq!(xrgb1555(0x001F), [0, 0, 255, 255]);
        assert_eq!(abgr1555(0x801F), [255, 0, 0, 255]);
        assert_eq!(argb4444(0xF00F), [0, 0, 255, 255]);
        assert_eq!(ia8(0x80FF), [255, 255, 255, 128]);
    }
}
