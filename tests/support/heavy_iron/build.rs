//! Builds assets of Heavy Iron's games from the descriptions of their formats.

// The programs that include this use a part of it.
#![allow(dead_code, unreachable_pub)]

/// Version of the library that the games' models have.
pub const VERSION: u32 = 0x1003_FFFF;

/// Returns a RenderWare chunk.
pub fn chunk(kind: u32, body: &[u8]) -> Vec<u8> {
    let words = [kind, body.len() as u32, VERSION].map(u32::to_le_bytes);
    [&words.concat(), body].concat()
}

/// Returns numbers in little-endian order.
pub fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns numbers in big-endian order.
pub fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Returns numbers in either order.
pub fn words(is_big: bool, words: &[u32]) -> Vec<u8> {
    if is_big { big(words) } else { little(words) }
}

/// Returns floats in little-endian order.
pub fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Returns floats in big-endian order.
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

/// Returns a texture dictionary with one texture of these chunks.
fn dictionary(native: &[u8]) -> Vec<u8> {
    let body = [chunk(1, &[1, 0, 0, 0]), chunk(0x15, native), chunk(3, &[])];
    chunk(0x16, &body.concat())
}

/// Returns a GameCube texture.
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

/// Returns an Xbox texture.
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

/// Returns a square PlayStation 2 texture of this many bits per pixel. Pixels
/// and palette are in the form of the version, including packets.
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

/// Returns a GameCube table with one sound.
pub fn dsp_table(asset: u32, samples: u32, rate: u32) -> Vec<u8> {
    dsp_table_with(asset, samples, rate, COEFFICIENTS, None)
}

/// Returns the same with these coefficients and a loop between two nibbles.
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

/// Returns an Xbox table with one sound.
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

/// Returns a PlayStation 2 table with one sound.
pub fn vag_table(asset: u32, rate: u32, size: u32) -> Vec<u8> {
    let entry = [
        &b"VAGp"[..],
        &little(&[4, asset, size, rate, 0, 0, 0]),
        &name("sound", 16),
    ];
    [&little(&[1, 0])[..], &entry.concat()].concat()
}

/// Returns a table with a bank of one sound for the GameCube since The
/// Incredibles: stereo DSP-ADPCM of 14 samples, whose channels alternate after
/// two bytes.
pub fn bank_table(asset: u32, data: &[u8; 16]) -> Vec<u8> {
    const GAMECUBE: u32 = 0x200_0000;
    let coefficients = [vec![0; 32], vec![0; 14]].concat().repeat(2);
    let header = [
        &(0x50 + coefficients.len() as u16).to_le_bytes()[..],
        &name("sound", 30),
        &little(&[14, data.len() as u32, 2, 13, GAMECUBE, 32_000]),
        &[255, 0, 128, 0, 255, 0, 2, 0],
        &[0; 16],
        &coefficients,
    ];
    let header = header.concat();
    let sizes = [1, header.len() as u32, data.len() as u32, 0x30001, 0];
    let mut bank = [b"FSB3", &little(&sizes)[..], &header, data].concat();
    bank.resize(bank.len().next_multiple_of(32), 0);
    let head = [
        &big(&[7, bank.len() as u32])[..],
        &[0; 16],
        &[0, 1, 0, 1, 0, 0, 1, 0],
    ];
    let entry = [big(&[0, asset]), vec![1, 0, 0, 0]];
    [head.concat(), bank, entry.concat()].concat()
}

/// Returns a clump of one frame at (5, 6, 7) with a geometry of these chunks.
fn clump(geometry: &[Vec<u8>]) -> Vec<u8> {
    let frame = [
        little(&[1]),
        floats(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 5.0, 6.0, 7.0]),
        little(&[u32::MAX, 0]),
    ];
    let frames = [chunk(1, &frame.concat()), chunk(3, &[])];
    clump_of(&chunk(0x0E, &frames.concat()), geometry)
}

/// Returns a clump of a list of frames with a geometry of these chunks.
fn clump_of(frames: &[u8], geometry: &[Vec<u8>]) -> Vec<u8> {
    let geometries = [chunk(1, &little(&[1])), chunk(0x0F, &geometry.concat())];
    let body = [
        chunk(1, &little(&[1, 0, 0])),
        frames.to_vec(),
        chunk(0x1A, &geometries.concat()),
        chunk(0x14, &chunk(1, &little(&[0, 0, 5, 0]))),
        chunk(3, &[]),
    ];
    chunk(0x10, &body.concat())
}

/// Returns a list of one material with the texture `wood`.
fn materials() -> Vec<u8> {
    let texture = [
        chunk(1, &[0; 4]),
        chunk(2, b"wood\0\0\0\0"),
        chunk(2, &[0; 4]),
    ];
    let material = [chunk(1, &[7; 28]), chunk(6, &texture.concat())];
    let list = [
        chunk(1, &little(&[1, u32::MAX])),
        chunk(7, &material.concat()),
    ];
    chunk(8, &list.concat())
}

/// Returns the flags of a geometry with positions and one UV set.
fn geometry_flags(is_native: bool) -> Vec<u8> {
    vec![2 | 4, 0, 1, is_native.into()]
}

/// Returns a clump with one geometry in the form that all consoles share.
pub fn plain_model(positions: &[[f32; 3]], uvs: &[[f32; 2]], triangles: &[[u16; 3]]) -> Vec<u8> {
    clump(&plain_geometry(positions, uvs, triangles))
}

/// Returns the chunks of a geometry in the form that all consoles share.
fn plain_geometry(
    positions: &[[f32; 3]],
    uvs: &[[f32; 2]],
    triangles: &[[u16; 3]],
) -> [Vec<u8>; 3] {
    let stored = triangles.iter().flat_map(|[a, b, c]| [*b, *a, 0, *c]);
    let fields = [
        geometry_flags(false),
        little(&[triangles.len() as u32, positions.len() as u32, 1]),
        floats(uvs.as_flattened()),
        stored.flat_map(u16::to_le_bytes).collect(),
        floats(&[0.0, 0.0, 0.0, 9.0]),
        little(&[1, 0]),
        floats(positions.as_flattened()),
    ];
    [chunk(1, &fields.concat()), materials(), chunk(3, &[])]
}

/// Returns a triangle with a skeleton of two bones; the second one is 3 above
/// the first.
pub fn figure() -> Vec<u8> {
    let axes = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let frame = |parent: u32, y: f32| {
        let place = floats(&[&axes[..], &[0.0, y, 0.0]].concat());
        [place, little(&[parent, 0])].concat()
    };
    let bone = |words: &[u32]| chunk(3, &chunk(0x11E, &little(words)));
    let frames = [
        chunk(
            1,
            &[little(&[2]), frame(u32::MAX, 0.0), frame(0, 3.0)].concat(),
        ),
        bone(&[0x100, 7, 2, 0, 36, 7, 0, 0, 8, 1, 1]),
        bone(&[0x100, 8, 0]),
    ];
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    clump_of(
        &chunk(0x0E, &frames.concat()),
        &plain_geometry(&corners, &[[0.0; 2]; 3], &[[0, 1, 2]]),
    )
}

/// Returns a pyramid.
pub fn pyramid() -> Vec<u8> {
    plain_model(
        &[
            [0.0, 0.0, 0.0],
            [4.0, 0.0, 0.0],
            [0.0, 4.0, 0.0],
            [0.0, 0.0, 4.0],
        ],
        &[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    )
}

/// Returns a clump with a geometry as the GameCube draws it: a strip of four
/// vertices with positions and texture coordinates.
pub fn gamecube_model(has_matrices: bool) -> Vec<u8> {
    let positions = big_floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    let uvs = big_floats(&[0.0, 0.0, 1.0, 0.0]);
    let mut list = vec![0x98, 0, 4];
    for vertex in 0..4_u8 {
        list.extend(has_matrices.then_some(3 * vertex));
        list.extend([vertex, vertex % 2]);
    }
    list.resize(32, 0);
    let (size, uvs_at) = (list.len() as u32, (list.len() + positions.len()) as u32);
    let header = [
        &big(&[0x0001_0001, 0, 2])[..],
        &big(&[size]),
        &[9, 12, 2, 0],
        &big(&[uvs_at]),
        &[13, 8, 2, 0],
        &big(&[0, size]),
    ];
    let (header, data) = (header.concat(), [list, positions, uvs].concat());
    let native = [
        &little(&[6, header.len() as u32, data.len() as u32])[..],
        &header,
        &data,
    ];
    let fields = [
        geometry_flags(true),
        little(&[2, 4, 1]),
        floats(&[0.0, 0.0, 0.0, 9.0]),
        little(&[0, 0]),
    ];
    let plugins = [
        chunk(0x50E, &little(&[1, 1, 4, 4, 0])),
        chunk(0x510, &chunk(1, &native.concat())),
        chunk(0x116, &[0; 8]),
    ];
    let extension = chunk(3, &plugins.concat());
    clump(&[chunk(1, &fields.concat()), materials(), extension])
}

/// Returns a world of one plane between two sectors of one triangle each.
pub fn world() -> Vec<u8> {
    let sector = |height: f32| {
        let fields = [
            little(&[0, 1, 3]),
            floats(&[1.0, height, 1.0, 0.0, height, 0.0]),
            little(&[0, 0]),
            floats(&[0.0, height, 0.0, 1.0, height, 0.0, 0.0, height, 1.0]),
            vec![0x80; 3 * 4],
            floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
            [0, 0, 1, 2_u16]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect(),
        ];
        chunk(0x09, &[chunk(1, &fields.concat()), chunk(3, &[])].concat())
    };
    let plane = [
        chunk(1, &little(&[4, 0, 1, 1, 0, 0])),
        sector(0.0),
        sector(5.0),
    ];
    let header = [
        little(&[0, 0, 0, 0, 2, 6, 1, 2, 0, 4 | 8]),
        floats(&[1.0, 5.0, 1.0, 0.0, 0.0, 0.0]),
    ];
    let body = [
        chunk(1, &header.concat()),
        materials(),
        chunk(0x0A, &plane.concat()),
        chunk(3, &[]),
    ];
    chunk(0x0B, &body.concat())
}

/// Returns the info of a level, big-endian.
pub fn level_info() -> Vec<u8> {
    // A branch with a leaf of one triangle.
    let collision = [big(&[0x4C4F_4343, 1, 1, 1, 0, 0, 0]), vec![0; 8]].concat();
    let nodes = [b"JSP\0".to_vec(), big(&[3, 1, 0, 0, 0, 5, 6])].concat();
    let vectors = big(&[1, 0, 0, 0]);
    [
        chunk(0xBE_EF01, &collision),
        chunk(0xBE_EF02, &nodes),
        chunk(0xBE_EF03, &vectors),
    ]
    .concat()
}

/// Returns credits of one section and one line, big-endian.
pub fn credits() -> Vec<u8> {
    let line_at = 24 + 56 + 76;
    let line = [
        big(&[32, 0, 0, 0, line_at + 24, 0]),
        b"text\0\0\0\0".to_vec(),
    ]
    .concat();
    let section = [
        big(&[56 + 76 + 32, 0, 0x41]),
        vec![0; 40],
        big(&[1]),
        vec![0; 76],
        line,
    ];
    let section = section.concat();
    let size = 24 + section.len() as u32;
    [big(&[0xBEEE_EEEF, 0x100, 7, 1, 0, size]), section].concat()
}
