//! Conversions between encoded colors and 8-bit red, green, blue and alpha.

/// Returns a 3-bit value as 8 bits.
fn wide3(value: u16) -> u8 {
    let value = value & 7;
    (value << 5 | value << 2 | value >> 1) as u8
}

/// Returns a 4-bit value as 8 bits.
pub fn wide4(value: u8) -> u8 {
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
pub fn rgb565(word: u16) -> [u8; 4] {
    [wide5(word >> 11), wide6(word >> 5), wide5(word), 255]
}

/// Converts three times 5 bits, red highest; ignores the top bit.
fn rgb555(word: u16) -> [u8; 4] {
    [wide5(word >> 10), wide5(word >> 5), wide5(word), 255]
}

/// Converts 555 with alpha in the top bit.
pub fn argb1555(word: u16) -> [u8; 4] {
    let [r, g, b, _] = rgb555(word);
    [r, g, b, if word & 0x8000 != 0 { 255 } else { 0 }]
}

/// Converts 555 with an unused top bit.
pub fn xrgb1555(word: u16) -> [u8; 4] {
    rgb555(word)
}

/// Converts 1555 with blue highest below alpha.
pub fn abgr1555(word: u16) -> [u8; 4] {
    let [b, g, r, a] = argb1555(word);
    [r, g, b, a]
}

/// Converts four times 4 bits: alpha, red, green, blue.
pub fn argb4444(word: u16) -> [u8; 4] {
    let part = |shift: u32| wide4((word >> shift) as u8);
    [part(8), part(4), part(0), part(12)]
}

/// Converts a GameCube color: 555 if the top bit is set, otherwise 3 bits of
/// alpha and 444.
pub fn rgb5a3(word: u16) -> [u8; 4] {
    if word & 0x8000 != 0 {
        return rgb555(word);
    }
    let [r, g, b, _] = argb4444(word);
    [r, g, b, wide3(word >> 12)]
}

/// Converts a GameCube color: alpha, then intensity.
pub fn ia8(word: u16) -> [u8; 4] {
    let [alpha, gray] = word.to_be_bytes();
    [gray, gray, gray, alpha]
}

/// Returns the 3-bit value nearest to 8 bits.
fn nearest3(value: u8) -> u16 {
    (u16::from(value) * 7 + 127) / 255
}

/// Returns the 4-bit value nearest to 8 bits.
pub fn nearest4(value: u8) -> u8 {
    ((u16::from(value) + 8) / 17) as u8
}

/// Returns the 5-bit value nearest to 8 bits.
fn nearest5(value: u8) -> u16 {
    (u16::from(value) * 31 + 127) / 255
}

/// Returns the 6-bit value nearest to 8 bits.
fn nearest6(value: u8) -> u16 {
    (u16::from(value) * 63 + 127) / 255
}

/// Returns the nearest color with 5 bits of red, 6 of green and 5 of blue.
pub fn from_rgb565([r, g, b, _]: [u8; 4]) -> u16 {
    nearest5(r) << 11 | nearest6(g) << 5 | nearest5(b)
}

/// Returns the nearest color with three times 5 bits; the top bit is set.
pub fn from_xrgb1555([r, g, b, _]: [u8; 4]) -> u16 {
    0x8000 | nearest5(r) << 10 | nearest5(g) << 5 | nearest5(b)
}

/// Returns the nearest 555 with alpha in the top bit.
pub fn from_argb1555(color: [u8; 4]) -> u16 {
    let opaque = from_xrgb1555(color);
    if color[3] >= 128 {
        opaque
    } else {
        opaque & 0x7FFF
    }
}

/// Returns the nearest color with four times 4 bits: alpha, red, green, blue.
pub fn from_argb4444(color: [u8; 4]) -> u16 {
    let [r, g, b, a] = color.map(|part| u16::from(nearest4(part)));
    a << 12 | r << 8 | g << 4 | b
}

/// Returns the nearest GameCube color: the better one of the opaque form and the form
/// with 3 bits of alpha.
pub fn from_rgb5a3(color: [u8; 4]) -> u16 {
    let opaque = from_xrgb1555(color);
    let faded = from_argb4444(color) & 0x0FFF | nearest3(color[3]) << 12;
    let error = |word: u16| -> u32 {
        let parts = rgb5a3(word).into_iter().zip(color);
        parts.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    if error(faded) < error(opaque) {
        faded
    } else {
        opaque
    }
}

/// Returns the nearest GameCube color of alpha and intensity.
pub fn from_ia8([r, g, b, a]: [u8; 4]) -> u16 {
    let gray = (u16::from(r) + u16::from(g) + u16::from(b) + 1) / 3;
    u16::from(a) << 8 | gray
}

/// Converts a stored color: blue, green, red, alpha.
pub fn bgra([b, g, r, a]: [u8; 4], has_alpha: bool) -> [u8; 4] {
    [r, g, b, if has_alpha { a } else { 255 }]
}

/// Converts a color of the PlayStation 2, with alpha from 0 to 128.
pub fn half_alpha([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    let alpha = (u32::from(a) * 255 / 128).min(255);
    [r, g, b, alpha as u8]
}

/// Returns the nearest color of the PlayStation 2, with alpha from 0 to 128.
pub fn from_half_alpha([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    let alpha = (u32::from(a) * 128 + 127) / 255;
    [r, g, b, alpha as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stored_color_is_the_nearest_one_to_itself() {
        for word in 0..=u16::MAX {
            assert_eq!(rgb565(from_rgb565(rgb565(word))), rgb565(word));
            assert_eq!(rgb5a3(from_rgb5a3(rgb5a3(word))), rgb5a3(word));
            assert_eq!(ia8(from_ia8(ia8(word))), ia8(word));
            assert_eq!(from_argb1555(argb1555(word)), word);
            assert_eq!(from_argb4444(argb4444(word)), word);
            assert_eq!(xrgb1555(from_xrgb1555(xrgb1555(word))), xrgb1555(word));
        }
    }

    #[test]
    fn alpha_of_the_playstation_2_ends_at_128() {
        for alpha in 0..=128 {
            let stored = [1, 2, 3, alpha];
            assert_eq!(from_half_alpha(half_alpha(stored)), stored);
        }
        assert_eq!(half_alpha([1, 2, 3, 128]), [1, 2, 3, 255]);
        assert_eq!(half_alpha([0, 0, 0, 255])[3], 255);
        assert_eq!(half_alpha([0, 0, 0, 64])[3], 127);
    }

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
