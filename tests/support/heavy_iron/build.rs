//! Writes assets of Heavy Iron's games from the description of their formats.

// The programs that include this use a part of it.
#![allow(dead_code, unreachable_pub)]

/// Version of the library that the games' models have.
pub const VERSION: u32 = 0x1003_FFFF;

/// A RenderWare chunk.
pub fn chunk(kind: u32, body: &[u8]) -> Vec<u8> {
    let words = [kind, body.len() as u32, VERSION].map(u32::to_le_bytes);
    [&words.concat(), body].concat()
}

/// Numbers, little-endian.
pub fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Numbers, big-endian.
pub fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Numbers in one of the two orders.
pub fn words(is_big: bool, words: &[u32]) -> Vec<u8> {
    if is_big { big(words) } else { little(words) }
}

/// Floats, little-endian.
pub fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Floats, big-endian.
pub fn big_floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect()
}

fn name(text: &str, length: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(length, 0);
    bytes
}

/// A texture dictionary with one texture, whose chunks are these.
fn dictionary(native: &[u8]) -> Vec<u8> {
    let body = [chunk(1, &[1, 0, 0, 0]), chunk(0x15, native), chunk(3, &[])];
    chunk(0x16, &body.concat())
}

/// A GameCube texture.
pub fn gamecube(
    format: u8,
    palette_format: u8,
    [width, height]: [u16; 2],
    palette: &[u8],
    levels: &[u8],
    count: u8,
) -> Vec<u8> {
    let sizes = [width, height].map(u16::to_be_bytes).concat();
    let fields = [
        &big(&[6, 0x1102, 0, 1, 1, 0])[..],
        &name("raster", 32),
        &name("", 32),
        &big(&[0x500]),
        &sizes,
        &[16, count, format, palette_format],
        &big(&[1]),
        palette,
        &big(&[levels.len() as u32]),
        levels,
    ];
    dictionary(&[chunk(1, &fields.concat()), chunk(3, &[])].concat())
}

/// An Xbox texture.
pub fn xbox(
    raster: u32,
    compression: u8,
    [width, height]: [u16; 2],
    palette: &[u8],
    levels: &[u8],
    count: u8,
) -> Vec<u8> {
    let sizes = [1, 0, width, height].map(u16::to_le_bytes).concat();
    let fields = [
        &little(&[5, 0x1102])[..],
        &name("raster", 32),
        &name("", 32),
        &little(&[raster]),
        &sizes,
        &[32, count, 4, compression],
        &little(&[levels.len() as u32]),
        palette,
        levels,
    ];
    dictionary(&[chunk(1, &fields.concat()), chunk(3, &[])].concat())
}

/// A square PlayStation 2 texture of this many bits a pixel. Pixels and
/// palette are as the version has them, packets included.
pub fn playstation2(
    bits: usize,
    version: u16,
    side: u16,
    pixels: &[u8],
    palette: &[u8],
) -> Vec<u8> {
    let raster: u16 = match bits {
        4 => 0x4500,
        8 => 0x2500,
        16 => 0x100,
        _ => 0x500,
    };
    let side = u32::from(side);
    let flags = u32::from(raster) | u32::from(version) << 16;
    let sizes = [pixels.len(), palette.len(), pixels.len() + palette.len(), 0];
    let sizes = sizes.map(|size| size as u32);
    let header = [
        &little(&[side, side, bits as u32, flags, 0, 0, 0, 0, 0, 0, 0, 0])[..],
        &little(&sizes),
    ];
    let raster = [
        chunk(1, &header.concat()),
        chunk(1, &[pixels, palette].concat()),
    ];
    let native = [
        chunk(1, &[&b"PS2\0"[..], &little(&[0x1102])].concat()),
        chunk(2, b"raster\0\0"),
        chunk(2, b"\0\0\0\0"),
        chunk(1, &raster.concat()),
        chunk(3, &[]),
    ];
    dictionary(&native.concat())
}

/// Pairs of coefficients of a DSP header.
pub const COEFFICIENTS: [i16; 16] = [
    0, 0, 2048, 0, 4080, -2040, 3680, -1664, 3020, -1100, 1500, 300, -1800, 0, 1024, -512,
];

/// A GameCube table with one sound.
pub fn dsp_table(asset: u32, samples: u32, rate: u32) -> Vec<u8> {
    dsp_table_with(asset, samples, rate, COEFFICIENTS, None)
}

/// The same with these coefficients and a loop between two half bytes.
pub fn dsp_table_with(
    asset: u32,
    samples: u32,
    rate: u32,
    coefficients: [i16; 16],
    loops: Option<(u32, u32)>,
) -> Vec<u8> {
    let nibbles = samples + 2 * samples.div_ceil(14);
    let (start, end) = loops.unwrap_or((2, nibbles.saturating_sub(1)));
    let flags = u32::from(loops.is_some()) << 16;
    let entry = [
        &big(&[samples, nibbles, rate, flags, start, end, 2])[..],
        &coefficients.map(i16::to_be_bytes).concat(),
        &[0; 0x60 - 0x3C],
        &big(&[asset]),
    ];
    [&big(&[1, 0xCDCD_CDCD, 0, 0])[..], &entry.concat()].concat()
}

/// An Xbox table with one sound.
pub fn xbox_table(asset: u32, format: u16, channels: u16, rate: u32, size: u32) -> Vec<u8> {
    let (block, bits) = match format {
        1 => (2 * channels, 16),
        _ => (36 * channels, 4),
    };
    let halves = |a: u16, b: u16| u32::from(a) | u32::from(b) << 16;
    let entry = [
        halves(format, channels),
        rate,
        rate * u32::from(block),
        halves(block, bits),
        0,
        size,
        asset,
        0,
        0,
        0,
        0,
    ];
    [little(&[1, 0, 0]), little(&entry)].concat()
}

/// A PlayStation 2 table with one sound.
pub fn vag_table(asset: u32, rate: u32, size: u32) -> Vec<u8> {
    let entry = [
        &b"VAGp"[..],
        &little(&[4, asset, size, rate, 0, 0, 0]),
        &name("sound", 16),
    ];
    [&little(&[1, 0])[..], &entry.concat()].concat()
}
