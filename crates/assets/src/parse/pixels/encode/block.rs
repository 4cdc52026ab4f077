//! Encoder for blocks of 4 by 4 pixels. `texpresso` finds the endpoints of a block.
//! Consoles interpolate between these, with other weights on GameCube, and each pixel
//! gets the nearest color.

use texpresso::{Algorithm, COLOUR_WEIGHTS_UNIFORM, Format, Params};

use super::OPAQUE;
use crate::parse::pixels::Level;
use crate::parse::pixels::color::{from_rgb565, rgb565};
use crate::parse::pixels::dxt::{
    self, Block, Blocks, cmpr_block, dxt_colors, interpolated, padded,
};

/// Maximum number of times a block is encoded again until its pixels are stable.
const MAX_ROUNDS: usize = 8;

/// Error of a pixel with wrong transparency.
const WRONG_ALPHA: u32 = 4 * 255 * 255;

/// Maximum number of values whose pairs are all tried as endpoints.
const MAX_TRIED: usize = 8;

/// Interpolation of the colors of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Colors {
    /// GameCube: one may be transparent.
    Cmpr,
    /// Elsewhere: one may be transparent.
    Dxt1,
    /// Always four.
    Four,
}

/// Encodes a block of GameCube textures.
pub fn cmpr(pixels: &Block) -> [u8; 8] {
    settled(
        pixels,
        |pixels| colors(Colors::Cmpr, pixels),
        |bytes| cmpr_block(*bytes),
        |pixels, bytes| *bytes = pin_colors(Colors::Cmpr, pixels, *bytes),
    )
}

/// Encodes a level in blocks. Blocks that look like the old ones in `level` keep their
/// bytes.
pub fn level(level: &Level, kind: Blocks, is_opaque: bool, pixels: &[[u8; 4]]) -> Vec<u8> {
    let (width, height) = (level.width as usize, level.height as usize);
    let size = kind.size();
    let mut shown = vec![[0; 4]; level.pixels()];
    dxt::decode(&level.data, width, height, kind, &mut shown);
    if is_opaque {
        shown.iter_mut().for_each(|pixel| pixel[3] = 255);
    }
    let mut data = Vec::with_capacity(width.div_ceil(4) * height.div_ceil(4) * size);
    for y in (0..height).step_by(4) {
        for x in (0..width).step_by(4) {
            // Pixels of a block outside of the picture repeat the edge.
            let at: [usize; 16] = std::array::from_fn(|pixel| {
                let (x, y) = (x + pixel % 4, y + pixel / 4);
                y.min(height - 1) * width + x.min(width - 1)
            });
            let block = at.map(|at| pixels[at]);
            let new = match block == at.map(|at| shown[at]) {
                true => padded(&level.data, data.len(), size),
                false => encode(kind, &block, is_opaque),
            };
            data.extend_from_slice(&new[..size]);
        }
    }
    data
}

/// Encodes a block; only the first [`Blocks::size`] bytes count. With `is_opaque`, its
/// alpha is not visible.
fn encode(kind: Blocks, pixels: &Block, is_opaque: bool) -> [u8; 16] {
    let shown = |bytes: &[u8; 16]| match is_opaque {
        true => kind.decode(bytes).map(|[r, g, b, _]| [r, g, b, 255]),
        false => kind.decode(bytes),
    };
    settled(
        pixels,
        |pixels| encode_once(kind, pixels),
        shown,
        |pixels, bytes| pin(kind, pixels, bytes),
    )
}

/// Makes each color and alpha endpoint the value of a pixel.
fn pin(blocks: Blocks, pixels: &Block, bytes: &mut [u8; 16]) {
    let (kind, at) = match blocks {
        Blocks::Dxt1 => (Colors::Dxt1, 0),
        Blocks::Dxt2 | Blocks::Dxt3 | Blocks::Dxt4 | Blocks::Dxt5 => (Colors::Four, 8),
    };
    if let Some(colors) = bytes[at..].first_chunk_mut() {
        *colors = pin_colors(kind, pixels, *colors);
    }
    if let (Blocks::Dxt4 | Blocks::Dxt5, Some(alphas)) = (blocks, bytes.first_chunk_mut()) {
        *alphas = pin_alphas(pixels, *alphas);
    }
}

fn encode_once(kind: Blocks, pixels: &Block) -> [u8; 16] {
    let multiplied = |[r, g, b, a]: [u8; 4]| {
        let part = |part: u8| ((u32::from(part) * u32::from(a) + 127) / 255) as u8;
        [part(r), part(g), part(b), a]
    };
    let alphas = pixels.map(|pixel| pixel[3]);
    let separate = |alphas: [u8; 8], pixels: &Block| {
        let colors = colors(Colors::Four, pixels);
        std::array::from_fn(|at| if at < 8 { alphas[at] } else { colors[at - 8] })
    };
    match kind {
        Blocks::Dxt1 => {
            let colors = colors(Colors::Dxt1, pixels);
            std::array::from_fn(|at| colors.get(at).copied().unwrap_or_default())
        }
        Blocks::Dxt2 => encode_once(Blocks::Dxt3, &pixels.map(multiplied)),
        Blocks::Dxt4 => encode_once(Blocks::Dxt5, &pixels.map(multiplied)),
        Blocks::Dxt3 => {
            let four = alphas.map(|alpha| (u16::from(alpha) + 8) / 17);
            let stored = |at: usize| (four[2 * at] | four[2 * at + 1] << 4) as u8;
            separate(std::array::from_fn(stored), pixels)
        }
        Blocks::Dxt5 => separate(interpolation(alphas), pixels),
    }
}

/// Encodes pixels repeatedly until the decoded pixels are stable, so that saving and
/// applying the picture of a texture again changes nothing. If they do not converge,
/// `pin` makes a stable block.
fn settled<const N: usize>(
    pixels: &Block,
    encode: impl Fn(&Block) -> [u8; N],
    decode: impl Fn(&[u8; N]) -> Block,
    pin: impl Fn(&Block, &mut [u8; N]),
) -> [u8; N] {
    let mut bytes = encode(pixels);
    for _ in 0..MAX_ROUNDS {
        let shown = decode(&bytes);
        let again = encode(&shown);
        if decode(&again) == shown {
            return bytes;
        }
        bytes = again;
    }
    let mut bytes = encode(pixels);
    pin(pixels, &mut bytes);
    bytes
}

/// Assigns the nearest pixel to each unused color endpoint. Then both endpoints are
/// visible colors, and the encoder finds them again.
fn pin_colors(kind: Colors, pixels: &Block, bytes: [u8; 8]) -> [u8; 8] {
    let [a0, a1, b0, b1, bits @ ..] = bytes;
    let (ends, mut indices) = match kind {
        Colors::Cmpr => {
            let bits = u32::from_be_bytes(bits);
            let indices: [u8; 16] = std::array::from_fn(|at| (bits >> (30 - 2 * at) & 3) as u8);
            ([[a0, a1], [b0, b1]].map(u16::from_be_bytes), indices)
        }
        Colors::Dxt1 | Colors::Four => {
            let bits = u32::from_le_bytes(bits);
            let indices: [u8; 16] = std::array::from_fn(|at| (bits >> (2 * at) & 3) as u8);
            ([[a0, a1], [b0, b1]].map(u16::from_le_bytes), indices)
        }
    };
    for (end, index) in ends.into_iter().zip(0..) {
        if indices.contains(&index) {
            continue;
        }
        let color = rgb565(end);
        let free = (0..16).filter(|&at| indices[at] != 1 - index);
        let free = free.filter(|&at| kind == Colors::Four || pixels[at][3] >= OPAQUE);
        if let Some(at) = free.min_by_key(|&at| distance(&pixels[at], &color)) {
            indices[at] = index;
        }
    }
    stored(kind, ends[0], ends[1], indices)
}

/// Returns the squared distance of two colors.
fn distance(one: &[u8; 4], other: &[u8; 4]) -> u32 {
    let parts = one.iter().zip(other).take(3);
    parts.map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
}

/// Encodes the colors of a block.
fn colors(kind: Colors, pixels: &Block) -> [u8; 8] {
    let mut best = (u32::MAX, [0; 8]);
    let mut consider = |first: u16, second: u16| {
        let found = nearest(kind, first, second, pixels);
        if found.0 < best.0 {
            best = found;
        }
        best.0 == 0
    };
    for (first, second) in exact_ends(kind, pixels) {
        if consider(first, second) {
            return best.1;
        }
    }
    let mut ends = vec![range(kind, pixels)];
    ends.extend(flat_ends(kind, pixels));
    for (first, second) in ends {
        consider(first, second);
        if kind != Colors::Four {
            consider(second, first);
        }
    }
    best.1
}

/// Returns the endpoints whose mean shows a block of one color best.
fn flat_ends(kind: Colors, pixels: &Block) -> Option<(u16, u16)> {
    let [r, g, b, _] = pixels[0];
    let is_flat = pixels.iter().all(|pixel| pixel[..3] == [r, g, b]);
    let mixed = |a: u8, b: u8| {
        let (a, b) = (u32::from(a), u32::from(b));
        let mixed = match kind {
            Colors::Cmpr => (5 * a + 3 * b) >> 3,
            Colors::Dxt1 | Colors::Four => (2 * a + b) / 3,
        };
        mixed as u8
    };
    // For each channel, two values in its stored precision.
    let best = |part: u8, bits: u32, wide: fn(u16) -> u8| {
        let values = 0..1_u16 << bits;
        let pairs = values
            .clone()
            .flat_map(|a| values.clone().map(move |b| (a, b)));
        let error = |&(a, b): &(u16, u16)| mixed(wide(a), wide(b)).abs_diff(part);
        pairs.min_by_key(error).unwrap_or_default()
    };
    is_flat.then(|| {
        let red = best(r, 5, |value| rgb565(value << 11)[0]);
        let green = best(g, 6, |value| rgb565(value << 5)[1]);
        let blue = best(b, 5, |value| rgb565(value)[2]);
        (
            red.0 << 11 | green.0 << 5 | blue.0,
            red.1 << 11 | green.1 << 5 | blue.1,
        )
    })
}

/// Returns all pairs of a block's own colors, if they are few.
fn exact_ends(kind: Colors, pixels: &Block) -> Vec<(u16, u16)> {
    let is_counted = |pixel: &&[u8; 4]| kind == Colors::Four || pixel[3] >= OPAQUE;
    let mut colors: Vec<[u8; 4]> = pixels
        .iter()
        .filter(is_counted)
        .map(|&[r, g, b, _]| [r, g, b, 255])
        .collect();
    colors.sort_unstable();
    colors.dedup();
    if colors.len() > 4 {
        return Vec::new();
    }
    let ends = colors.into_iter();
    let ends = ends.filter(|&color| rgb565(from_rgb565(color)) == color);
    let ends: Vec<u16> = ends.map(from_rgb565).collect();
    let pairs = ends.iter().flat_map(|&a| ends.iter().map(move |&b| (a, b)));
    pairs.collect()
}

/// Returns the endpoints of a block's color range.
fn range(kind: Colors, pixels: &Block) -> (u16, u16) {
    let params = Params {
        algorithm: Algorithm::ClusterFit,
        weights: COLOUR_WEIGHTS_UNIFORM,
        weigh_colour_by_alpha: false,
    };
    let mut bytes = [0; 16];
    let colors = match kind {
        Colors::Four => {
            Format::Bc3.compress_block_masked(*pixels, 0xFFFF, params, &mut bytes);
            &bytes[8..12]
        }
        Colors::Cmpr | Colors::Dxt1 => {
            Format::Bc1.compress_block_masked(*pixels, 0xFFFF, params, &mut bytes);
            &bytes[..4]
        }
    };
    let word = |at: usize| u16::from_le_bytes([colors[at], colors[at + 1]]);
    (word(0), word(2))
}

/// Encodes a block with these endpoints, and returns the sum of squared errors.
fn nearest(kind: Colors, first: u16, second: u16, pixels: &Block) -> (u32, [u8; 8]) {
    // The first four pixels have the four colors.
    let indices: [u8; 16] = std::array::from_fn(|at| (at % 4) as u8);
    let stored = stored(kind, first, second, indices);
    let shown = match kind {
        Colors::Cmpr => cmpr_block(stored),
        Colors::Dxt1 => dxt_colors(stored, false),
        Colors::Four => dxt_colors(stored, true),
    };
    let error = |pixel: &[u8; 4], color: &[u8; 4]| -> u32 {
        let is_opaque = kind == Colors::Four || pixel[3] >= OPAQUE;
        match (is_opaque, color[3] == 255) {
            (true, true) => distance(pixel, color),
            (false, false) => 0,
            _ => WRONG_ALPHA,
        }
    };
    let mut total = 0;
    let indices = pixels.each_ref().map(|pixel| {
        let errors = (0_u8..4)
            .zip(&shown)
            .map(|(at, color)| (error(pixel, color), at));
        let (error, index) = errors.min().unwrap_or_default();
        total += error;
        index
    });
    (total, self::stored(kind, first, second, indices))
}

/// Returns the bytes of a block.
fn stored(kind: Colors, first: u16, second: u16, indices: [u8; 16]) -> [u8; 8] {
    let indices = indices.iter().enumerate();
    let (ends, bits) = match kind {
        Colors::Cmpr => {
            let bits = indices.fold(0, |bits, (at, &index)| {
                bits | u32::from(index) << (30 - 2 * at)
            });
            ([first, second].map(u16::to_be_bytes), bits.to_be_bytes())
        }
        Colors::Dxt1 | Colors::Four => {
            let bits = indices.fold(0, |bits, (at, &index)| bits | u32::from(index) << (2 * at));
            ([first, second].map(u16::to_le_bytes), bits.to_le_bytes())
        }
    };
    let [[a0, a1], [b0, b1]] = ends;
    let [c, d, e, f] = bits;
    [a0, a1, b0, b1, c, d, e, f]
}

/// Makes each alpha endpoint the value of a pixel, like [`pin_colors`].
fn pin_alphas(pixels: &Block, bytes: [u8; 8]) -> [u8; 8] {
    let (_, mut bits) = interpolated(bytes);
    for (end, index) in bytes.into_iter().take(2).zip(0_u64..) {
        let index_of = |at: usize| bits >> (3 * at) & 7;
        if (0..16).any(|at| index_of(at) == index) {
            continue;
        }
        let free = (0..16).filter(|&at| index_of(at) != 1 - index);
        if let Some(at) = free.min_by_key(|&at| pixels[at][3].abs_diff(end)) {
            bits = bits & !(7 << (3 * at)) | index << (3 * at);
        }
    }
    let [a, b, c, d, e, f, ..] = bits.to_le_bytes();
    [bytes[0], bytes[1], a, b, c, d, e, f]
}

/// Encodes the alphas of a DXT5 block.
fn interpolation(alphas: [u8; 16]) -> [u8; 8] {
    let mut values = alphas.to_vec();
    values.sort_unstable();
    values.dedup();
    let inner: Vec<u8> = values
        .iter()
        .copied()
        .filter(|value| !matches!(value, 0 | 255))
        .collect();
    let ends = |values: &[u8]| Some((*values.first()?, *values.last()?));
    let (least, most) = ends(&values).unwrap_or_default();
    let mut pairs = vec![(most, least)];
    pairs.extend(ends(&inner));
    if values.len() <= MAX_TRIED {
        pairs.extend(
            values
                .iter()
                .flat_map(|&a| values.iter().map(move |&b| (a, b))),
        );
    }
    let encoded = pairs.into_iter().map(|(first, second)| {
        let (shown, _) = interpolated([first, second, 0, 0, 0, 0, 0, 0]);
        let mut total = 0;
        let mut bits = 0_u64;
        for (at, alpha) in alphas.iter().enumerate() {
            let errors = (0_u64..8).zip(shown);
            let errors = errors.map(|(index, value)| (u32::from(value.abs_diff(*alpha)), index));
            let (error, index) = errors.min().unwrap_or_default();
            total += error * error;
            bits |= index << (3 * at);
        }
        let [a, b, c, d, e, f, ..] = bits.to_le_bytes();
        (total, [first, second, a, b, c, d, e, f])
    });
    let best = encoded.min_by_key(|&(error, _)| error);
    best.unwrap_or_default().1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Blocks; 5] = [
        Blocks::Dxt1,
        Blocks::Dxt2,
        Blocks::Dxt3,
        Blocks::Dxt4,
        Blocks::Dxt5,
    ];

    proptest! {
        #[test]
        fn what_a_block_shows_is_encoded_without_loss_from_the_second_time_on(
            pixels: [[u8; 4]; 16],
            has_alpha: bool,
        ) {
            let pixels = pixels.map(|[r, g, b, a]| [r, g, b, if has_alpha { a } else { 255 }]);
            let once = cmpr_block(cmpr(&pixels));
            prop_assert_eq!(cmpr_block(cmpr(&once)), once);
            for kind in [Blocks::Dxt1, Blocks::Dxt3, Blocks::Dxt5] {
                let once = kind.decode(&encode(kind, &pixels, false));
                let twice = kind.decode(&encode(kind, &once, false));
                prop_assert_eq!(twice, once, "{}", kind.name());
            }
        }

        #[test]
        fn a_block_with_the_same_pixels_stays(
            stored: [[u8; 16]; 4],
            width in 5_u32..=8,
            height in 5_u32..=8,
            is_opaque: bool,
        ) {
            for kind in ALL {
                let data = stored.as_flattened()[..4 * kind.size()].to_vec();
                let before = Level { width, height, pitch: 0, data: data.clone().into() };
                let mut pixels = vec![[0; 4]; before.pixels()];
                dxt::decode(&data, width as usize, height as usize, kind, &mut pixels);
                if is_opaque {
                    pixels.iter_mut().for_each(|pixel| pixel[3] = 255);
                }
                prop_assert_eq!(level(&before, kind, is_opaque, &pixels), data);
            }
        }
    }

    #[test]
    fn transparent_pixels_stay_transparent() {
        let mut pixels = [[200, 10, 10, 255]; 16];
        pixels[3] = [0; 4];
        assert_eq!(cmpr_block(cmpr(&pixels))[3][3], 0);
        for kind in ALL {
            let shown = kind.decode(&encode(kind, &pixels, false));
            assert_eq!((shown[3][3], shown[4][3]), (0, 255), "{}", kind.name());
        }
    }
}
