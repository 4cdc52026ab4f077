//! Vertex colors for viewers, which multiply them with their own light.

/// Flag of a geometry that is lit by the level's lights.
const LIT: u16 = 0x20;

/// Adjusts the vertex colors of a geometry with these flags.
///
/// The games add the lights to the colors of a lit geometry, which may therefore all be
/// black. Viewers multiply instead. So this adds a light that raises the largest
/// component to the maximum. The colors of an unlit geometry are its light, and are
/// unchanged.
pub(super) fn adjust(colors: &mut [[u8; 4]], flags: u16) {
    if !is_brightened(flags) {
        return;
    }
    let parts = colors
        .iter()
        .flat_map(|[red, green, blue, _]| [red, green, blue]);
    let light = u8::MAX - parts.copied().max().unwrap_or(u8::MAX);
    for [red, green, blue, _] in colors {
        for part in [red, green, blue] {
            *part += light;
        }
    }
}

/// Returns whether the colors of a geometry with these flags are shown brighter than
/// stored.
pub(super) fn is_brightened(flags: u16) -> bool {
    flags & LIT != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adjusted<const N: usize>(mut colors: [[u8; 4]; N], flags: u16) -> [[u8; 4]; N] {
        adjust(&mut colors, flags);
        colors
    }

    #[test]
    fn a_lit_model_with_black_colors_is_white() {
        assert_eq!(
            adjusted([[0, 0, 0, 128]; 2], 0x68),
            [[255, 255, 255, 128]; 2]
        );
    }

    #[test]
    fn a_light_is_added_to_lit_colors_and_keeps_their_differences() {
        let dark = [[10, 20, 30, 255], [0, 0, 55, 0]];
        let light = [[210, 220, 230, 255], [200, 200, 255, 0]];
        assert_eq!(adjusted(dark, LIT), light);
        assert_eq!(adjusted(light, LIT), light);
    }

    #[test]
    fn the_colors_of_an_unlit_model_are_its_light() {
        assert_eq!(adjusted([[0, 0, 0, 255]], 0x48), [[0, 0, 0, 255]]);
    }
}
