use super::super::{Blocks, D3dFormat, Level, Sampling, Version};
use super::*;
use hpimount_assets::view::Alone;

/// The size of the pictures.
const SIDES: (u32, u32) = (32, 8);
const PIXELS: usize = 32 * 8;

/// A file with a palette and a level of random bytes.
struct Sample {
    format: Format,
    palette: usize,
    file: Bytes,
    pitch: usize,
    is_opaque: bool,
}

impl Sample {
    fn new(format: Format, palette: usize, level: usize, pitch: usize) -> Self {
        let mut state = 7_u32;
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        Self {
            format,
            palette,
            file: random.take(palette + level).collect(),
            pitch,
            is_opaque: false,
        }
    }

    /// Returns the texture in a file of this form.
    fn texture(&self, file: &Bytes) -> Texture {
        let (width, height) = SIDES;
        Texture {
            name: String::new(),
            mask: String::new(),
            width,
            height,
            depth: 0,
            raster: 0,
            sampling: Sampling::default(),
            has_alpha: Some(true),
            declared_levels: 1,
            declared_size: None,
            levels: vec![Level {
                width,
                height,
                data: file.slice(self.palette..),
                pitch: self.pitch,
            }],
            format: self.format,
            is_opaque: self.is_opaque,
            palette: file.slice(..self.palette),
            version: Version::default(),
            offset: 0,
        }
    }

    fn with_pixels(&self, pixels: &[[u8; 4]]) -> Vec<u8> {
        let read = |file: Bytes| Some(self.texture(&file));
        let encoded = with_pixels(&self.file, &self.texture(&self.file), pixels, &Alone, read);
        encoded.unwrap().asset
    }

    /// Asserts that an equal picture changes nothing, and that recoloring one pixel is
    /// exact and changes at most `most` bytes.
    fn check(&self, most: usize) {
        let name = format!("{:?}", self.format);
        let mut pixels = self.texture(&self.file).rgba(0).unwrap();
        assert_eq!(self.with_pixels(&pixels), self.file, "{name}");
        let other = pixels
            .iter()
            .rposition(|&pixel| pixel != pixels[3])
            .unwrap();
        pixels[other] = pixels[3];
        let changed = self.with_pixels(&pixels);
        let differing = self
            .file
            .iter()
            .zip(&changed)
            .filter(|(old, new)| old != new);
        assert!((1..=most).contains(&differing.count()), "{name}");
        let shown = self.texture(&changed.into()).rgba(0).unwrap();
        assert_eq!(shown, pixels, "{name}");
    }
}

fn direct3d(pixels: D3dPixels) -> Format {
    let version = D3dVersion::Nine;
    Format::Direct3d(D3dFormat { version, pixels })
}

#[test]
fn a_pixel_of_windows_textures_changes_its_own_bytes_alone() {
    for (colors, size) in [
        (D3dColors::Argb8888, 4),
        (D3dColors::Xrgb8888, 4),
        (D3dColors::Rgb888, 3),
        (D3dColors::Abgr8888, 4),
        (D3dColors::Xbgr8888, 4),
        (D3dColors::Rgb565, 2),
        (D3dColors::Xrgb1555, 2),
        (D3dColors::Argb1555, 2),
        (D3dColors::Argb4444, 2),
        (D3dColors::Xrgb4444, 2),
        (D3dColors::A8, 1),
        (D3dColors::L8, 1),
        (D3dColors::A8L8, 2),
        (D3dColors::A4L4, 1),
    ] {
        let pitch = 32 * size + 4;
        let format = direct3d(D3dPixels::Colors(colors));
        Sample::new(format, 0, 8 * pitch, pitch).check(size);
    }
    for (colors, row) in [(16, 16), (32, 32), (256, 32)] {
        let format = direct3d(D3dPixels::Palette { colors });
        let mut sample = Sample::new(format, 4 * colors, 8 * row, row);
        if colors == 32 {
            // Indices are below 16.
            let mut file = sample.file.to_vec();
            file[128..].iter_mut().for_each(|index| *index &= 15);
            sample.file = file.into();
        }
        sample.check(1);
    }
}

#[test]
fn blocks_of_windows_textures_that_are_equal_keep_their_bytes() {
    for kind in [Blocks::Dxt1, Blocks::Dxt3, Blocks::Dxt5] {
        let sample = Sample::new(direct3d(D3dPixels::Blocks(kind)), 0, 16 * kind.size(), 0);
        let mut pixels = sample.texture(&sample.file).rgba(0).unwrap();
        assert_eq!(sample.with_pixels(&pixels), sample.file);
        pixels[0] = [1, 2, 3, 255];
        let changed = sample.with_pixels(&pixels);
        assert_eq!(changed[kind.size()..], sample.file[kind.size()..]);
        assert_ne!(changed, sample.file);
    }
}

#[test]
fn a_pixel_of_playstation_2_textures_changes_its_own_bytes_alone() {
    let check = |pixels, is_swizzled, least, palette, bits: usize| {
        let format = Ps2Format {
            pixels,
            is_swizzled,
            least,
        };
        let sample = Sample::new(Format::PlayStation2(format), palette, PIXELS * bits / 8, 0);
        sample.check(bits.div_ceil(8));
    };
    for (is_wide, size) in [(false, 2), (true, 4)] {
        for is_swizzled in [false, true] {
            let indices = Ps2Pixels::Indices8 { is_wide };
            check(indices, is_swizzled, (16, 4), 256 * size, 8);
            let indices = Ps2Pixels::Indices4 { is_wide };
            check(indices, is_swizzled, (32, 4), 16 * size, 4);
        }
    }
    check(Ps2Pixels::Bits16, false, (1, 1), 0, 16);
}

#[test]
fn a_pixel_of_opaque_textures_leaves_the_alpha_of_their_palettes() {
    let xbox = XboxFormat::Palette {
        colors: 256,
        has_alpha: true,
    };
    let formats = [
        Format::Xbox(xbox),
        direct3d(D3dPixels::Palette { colors: 256 }),
    ];
    for format in formats {
        let mut sample = Sample::new(format, 1024, PIXELS, 32);
        sample.is_opaque = true;
        sample.check(1);
    }
}

#[test]
fn alpha_of_playstation_2_textures_is_halved() {
    let format = Ps2Format {
        pixels: Ps2Pixels::Bits32,
        is_swizzled: false,
        least: (1, 1),
    };
    let sample = Sample::new(Format::PlayStation2(format), 0, 4 * PIXELS, 0);
    let mut pixels = sample.texture(&sample.file).rgba(0).unwrap();
    assert_eq!(sample.with_pixels(&pixels), sample.file);
    for (alpha, stored) in [(0, 0), (127, 64), (255, 128)] {
        pixels[1] = [1, 2, 3, alpha];
        assert_eq!(sample.with_pixels(&pixels)[4..8], [1, 2, 3, stored]);
    }
}

#[test]
fn palettes_are_made_anew_for_colors_that_they_lack() {
    let format = direct3d(D3dPixels::Palette { colors: 16 });
    let sample = Sample::new(format, 64, PIXELS / 2, 16);
    let pixels: Vec<[u8; 4]> = (0..PIXELS).map(|n| [n as u8 % 7 * 30, 1, 2, 255]).collect();
    let changed = sample.with_pixels(&pixels);
    assert_eq!(sample.texture(&changed.into()).rgba(0).unwrap(), pixels);
}

#[test]
fn no_color_is_put_where_a_palette_is_cut() {
    let format = Ps2Format {
        pixels: Ps2Pixels::Indices4 { is_wide: true },
        is_swizzled: false,
        least: (1, 1),
    };
    let mut sample = Sample::new(Format::PlayStation2(format), 32, PIXELS / 2, 0);
    let mut file = sample.file.to_vec();
    let (palette, indices) = file.split_at_mut(32);
    palette
        .iter_mut()
        .skip(3)
        .step_by(4)
        .for_each(|alpha| *alpha = 128);
    // There are eight colors, and all of them are needed.
    indices.iter_mut().for_each(|pair| *pair &= 0x77);
    sample.file = file.into();
    let mut pixels = sample.texture(&sample.file).rgba(0).unwrap();
    pixels[1] = [1, 2, 3, 255];
    let shown = sample.texture(&sample.with_pixels(&pixels).into()).rgba(0);
    assert!(shown.unwrap().iter().all(|pixel| pixel[3] == 255));
}
