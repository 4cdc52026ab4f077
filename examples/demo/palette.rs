//! The palette of the mod: sixteen hues, each in sixteen shades.

/// The hues: the color of the lightest shade.
const HUES: [[u8; 3]; 16] = [
    [250, 250, 250],
    [170, 196, 226],
    [240, 70, 60],
    [250, 150, 50],
    [250, 225, 90],
    [150, 170, 80],
    [110, 190, 90],
    [80, 200, 190],
    [80, 140, 250],
    [170, 110, 230],
    [170, 120, 75],
    [235, 215, 165],
    [120, 130, 140],
    [255, 240, 190],
    [70, 150, 210],
    [240, 150, 190],
];

pub(super) const GRAY: u8 = 0;
pub(super) const STEEL: u8 = 1;
pub(super) const RED: u8 = 2;
pub(super) const OLIVE: u8 = 5;
pub(super) const GREEN: u8 = 6;
pub(super) const TEAL: u8 = 7;
pub(super) const BLUE: u8 = 8;
pub(super) const SAND: u8 = 11;
pub(super) const METAL: u8 = 12;
pub(super) const FIRE: u8 = 13;
pub(super) const WATER: u8 = 14;

/// The index that is transparent in sprites.
const TRANSPARENT: u8 = 9;

/// Returns the color of a hue in a shade from 0, which is almost black, to 15.
pub(super) fn color(hue: u8, shade: i32) -> u8 {
    let index = hue * 16 + shade.clamp(0, 15) as u8;
    if index == TRANSPARENT {
        index - 1
    } else {
        index
    }
}

/// Returns red, green and blue of all colors.
pub(super) fn rgb() -> Vec<u8> {
    let shades = HUES
        .iter()
        .flat_map(|hue| (2..18_u32).map(move |shade| (hue, shade)));
    let parts =
        shades.flat_map(|(hue, shade)| hue.map(|part| (u32::from(part) * shade / 17) as u8));
    parts.collect()
}

/// Returns `palettes/palette.pal`: four bytes per color.
pub(super) fn file() -> Vec<u8> {
    let rgb = rgb();
    let (colors, _) = rgb.as_chunks::<3>();
    colors.iter().flat_map(|&[r, g, b]| [r, g, b, 0]).collect()
}
