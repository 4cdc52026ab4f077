//! Small files of the PlayStation.

/// Returns files of all kinds, with names.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("gray.tim", tim(0, &[1, 4], 8)),
        ("palette.tim", tim(9, &[2, 2], 8)),
        ("true.tim", tim(3, &[3, 2], 12)),
        ("palette.tm2", tim2()),
        ("sound.vag", vag(b"VAGp")),
        ("two.vag", vag(b"VAGi")),
        ("bank.vab", vab()),
        ("script.qb", qb()),
        ("level_t.trg", trg()),
        ("title.rle", rle()),
        ("small.pvr", pvr()),
        ("hawk.psh", psh()),
        ("bank.kat", kat()),
        ("cues.sfx", sfx()),
        ("music.xa", xa()),
        ("intro.str", movie()),
        ("level.ddm", ddm()),
        ("level.ddx", ddx()),
        ("hawk.bon", bon()),
    ]
}

/// Returns numbers of 16 bits in the order of the file.
fn halves(halves: &[u16]) -> Vec<u8> {
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// Returns numbers of 32 bits in the order of the file.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A script with a condition, a choice of two blocks, texts and a name.
fn qb() -> Vec<u8> {
    let name = [&[0x16][..], &words(&[7])].concat();
    let number = |number| [&[0x17][..], &words(&[number])].concat();
    [
        vec![1, 0x23],
        name.clone(),
        vec![1, 0x25, 0x0E],
        name,
        vec![0x12, 0x1A, 0, 0, 0xC0, 0x3F, 0x0F, 1],
        vec![0x2F],
        words(&[2, 4, 10]),
        number(5),
        vec![0x2E, 5, 0, 0, 0],
        number(6),
        vec![1, 0x28, 1, 0x1B, 3, 0, 0, 0, b'a', b'"', 0, 0x1F],
        vec![0; 8],
        vec![1, 0x24, 1, 0x2B, 7, 0, 0, 0, b'G', b'o', 0, 0],
    ]
    .concat()
}

/// Nodes: commands, a rail of two points, a moving object, and the end.
fn trg() -> Vec<u8> {
    let place = words(&[4096, 8192, 12_288]);
    let nodes = [
        [
            halves(&[4, 128]),
            b"Level\0".to_vec(),
            halves(&[134, 1, 0xFFFF]),
        ]
        .concat(),
        [halves(&[10, 1, 2, 0]), place.clone(), halves(&[17, 0])].concat(),
        [halves(&[11, 0]), place.clone(), halves(&[17, 0])].concat(),
        [
            halves(&[1, 402, 0x1000, 0]),
            vec![0, 2, 4, 0xFF],
            place,
            halves(&[0, 1024, 0, 0x4112, 0x2120, 0, 5, 0x4100]),
        ]
        .concat(),
        halves(&[255]),
    ];
    let mut file = [
        b"_TRG".to_vec(),
        halves(&[2, 0]),
        words(&[nodes.len() as u32]),
    ]
    .concat();
    let mut offset = file.len() + 4 * nodes.len();
    for node in &nodes {
        file.extend(words(&[offset as u32]));
        offset += node.len();
    }
    [file, nodes.concat()].concat()
}

/// A picture of 512 by 1 pixels in two runs.
fn rle() -> Vec<u8> {
    let runs = halves(&[0x8000 | 510, 0x1F, 2, 0x03E0, 0x7C00]);
    [b"_RLE_16_".to_vec(), words(&[2 * 512 + 8]), runs].concat()
}

/// A picture of 2 by 1 pixels with an index.
fn pvr() -> Vec<u8> {
    let index = [b"GBIX".to_vec(), words(&[4, 7])].concat();
    let head = [b"PVRT".to_vec(), words(&[12]), vec![1, 9, 0, 0]].concat();
    [index, head, halves(&[2, 1, 0x1F, 0xF800])].concat()
}

/// The names of two parts.
fn psh() -> Vec<u8> {
    let text =
        "#define XPART_HIPS 0\n// parent: Scene Root\n#define XPART_LEG 1\n// parent: hips\n";
    text.as_bytes().to_vec()
}

/// A bank of three sounds that share their bytes: 16, 8 and 4 bits.
fn kat() -> Vec<u8> {
    let mut file = words(&[3]);
    for bits in [16, 8, 4] {
        file.extend(words(&[
            1,
            136,
            8,
            11_025,
            u32::from(bits == 8),
            bits,
            1000,
        ]));
        file.extend([0; 16]);
    }
    file.extend([1, 0x80, 2, 0x7F, 0x30, 0xC0, 0x55, 0xAA]);
    file
}

/// Two cues.
fn sfx() -> Vec<u8> {
    let cue = |marker| [vec![marker, 0, 0, 60], halves(&[0, 127, 1]), vec![0; 6]].concat();
    [cue(0), cue(0xFE), vec![0xFF; 4]].concat()
}

/// A level of one object with two triangles.
fn ddm() -> Vec<u8> {
    let named = |name: &str| {
        let mut name = name.as_bytes().to_vec();
        name.resize(64, 0);
        name
    };
    let mut object = [words(&[0, 7, 0, 0, 0, 0, 0]), named("Floor"), vec![0; 28]].concat();
    object.extend(words(&[1, 4, 4, 1]));
    object.extend(
        [
            named("m"),
            named("floor.dds"),
            words(&[0, u32::MAX, 0, 0, 0, 0]),
        ]
        .concat(),
    );
    for [x, z] in [[0.0_f32, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
        let floats = [x, 0.0, z, 0.0, -1.0, 0.0].map(f32::to_le_bytes).concat();
        object.extend([floats, vec![255; 4], [x, z].map(f32::to_le_bytes).concat()].concat());
    }
    object.extend(halves(&[0, 1, 2, 3, 0, 0, 4]));
    let length = object.len() as u32;
    [words(&[1, 20 + length, 1, 20, length]), object].concat()
}

/// A list of one texture of 2 by 1 pixels.
fn ddx() -> Vec<u8> {
    let mut texture = b"DDS ".to_vec();
    texture.resize(128, 0);
    (texture[12], texture[16], texture[88]) = (1, 2, 24);
    texture.extend([1, 2, 3, 4, 5, 6]);
    let mut name = b"floor.dds".to_vec();
    name.resize(256, 0);
    let length = texture.len() as u32;
    [words(&[0, 280 + length, 280, 1, 0, length]), name, texture].concat()
}

/// A character of version 3 with a texture of 2 by 1 pixels, and a part in a
/// part.
fn bon() -> Vec<u8> {
    let texture = pvr();
    let mut file = [b"Bon\0".to_vec(), words(&[3]), halves(&[1, 1])].concat();
    file.extend([b"m\xFF\xFF\xFF\xFF".to_vec(), words(&[0, 0]), vec![1]].concat());
    file.extend([halves(&[1]), b"s\x01\0\x02".to_vec()].concat());
    file.extend([words(&[texture.len() as u32]), texture].concat());
    file.extend([halves(&[1, 0]), vec![0; 40], halves(&[1, 0])].concat());
    let head = |name: u8, children| {
        let start = [vec![1], halves(&[1]), vec![name], words(&[0x3F80_0000; 12])];
        [start.concat(), halves(&[children])].concat()
    };
    let end = || [words(&[0; 9]), halves(&[1, 0, 0, 1, 0])].concat();
    let parts = [head(b'a', 1), head(b'b', 0), end(), end()];
    [file, halves(&[1]), parts.concat()].concat()
}

/// Returns a sector of a CD, from its subheader on.
fn sector(subheader: [u8; 4], data: &[u8]) -> Vec<u8> {
    let mut sector = [&subheader, &subheader, data].concat();
    sector.resize(2336, 0);
    sector
}

/// Two sectors of stereo sound.
fn xa() -> Vec<u8> {
    let group: Vec<u8> = (0..128_u8).map(|at| at.wrapping_mul(37)).collect();
    let sound = |submode| sector([1, 0, submode, 1], &group.repeat(18));
    [sound(0x64), sound(0xE4)].concat()
}

/// A movie with a frame of 16 by 16 pixels, and sound.
fn movie() -> Vec<u8> {
    // Six blocks of version 2: a first coefficient of 64, and the end.
    let block = "000100000010";
    let digits = block.repeat(6) + &"0".repeat(8);
    let bits = digits.as_bytes().chunks(16).flat_map(|word| {
        let word = std::str::from_utf8(word).unwrap();
        u16::from_str_radix(word, 2).unwrap().to_le_bytes()
    });
    let frame: Vec<u8> = halves(&[1, 0x3800, 1, 2]).into_iter().chain(bits).collect();
    let head = [
        vec![0x60, 1, 1, 0x80],
        halves(&[0, 1]),
        words(&[1, frame.len() as u32]),
        halves(&[16, 16]),
        vec![0; 12],
    ];
    let video = sector([1, 0, 0x48, 0], &[head.concat(), frame].concat());
    [video, xa()].concat()
}

/// A bank of version 4 with two programs and two sounds.
fn vab() -> Vec<u8> {
    let mut file = b"pBAV\x04\0\0\0".to_vec();
    file.resize(0x20 + 64 * 16 + 2 * 512 + 512, 0);
    (file[0x12], file[0x14], file[0x16]) = (2, 3, 2);
    let sound = vag(b"VAGp").split_off(0x30);
    for (slot, tones) in [(0, 2), (60, 1)] {
        file[0x20 + 16 * slot] = tones;
    }
    for (tone, sound) in [(0, 1), (1, 2), (16, 2)] {
        let at = 0x20 + 64 * 16 + 32 * tone;
        file[at + 4..at + 8].copy_from_slice(&[72, 64, 0, 127]);
        file[at + 22] = sound;
    }
    let sizes = 0x20 + 64 * 16 + 2 * 512;
    (file[sizes + 2], file[sizes + 4]) = (16, 16);
    [file, sound.clone(), sound].concat()
}

/// A VAG sound of four blocks. The last two are a loop.
fn vag(magic: &[u8; 4]) -> Vec<u8> {
    let mut file = magic.to_vec();
    let words = [32_u32, 16 << 24, 64, 22_050];
    file.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    file.resize(if magic == b"VAGi" { 0x800 } else { 0x30 }, 0);
    for (filter, flags) in [(0x0C, 0), (0x16, 0), (0x2A, 4), (0x4B, 3)] {
        file.extend([filter, flags]);
        file.extend((0..14).map(|at| 18 * at));
    }
    file
}

/// A TIM picture of `size` words; with a palette if bit 3 of the flags says so.
fn tim(flags: u32, size: &[u16; 2], bytes: usize) -> Vec<u8> {
    let block = |size: &[u16; 2], bytes: usize| {
        let mut block = (12 + bytes as u32).to_le_bytes().to_vec();
        block.extend(
            [0, 0, size[0], size[1]]
                .iter()
                .flat_map(|half: &u16| half.to_le_bytes()),
        );
        block.extend((0..bytes).map(|at| at as u8));
        block
    };
    let mut file = [0x10, flags].map(u32::to_le_bytes).concat();
    if flags & 8 != 0 {
        file.extend(block(&[256, 1], 512));
    }
    file.extend(block(size, bytes));
    file
}

/// A TIM2 file with a picture of 4 by 2 pixels and a palette of 256 colors.
fn tim2() -> Vec<u8> {
    let mut file = b"TIM2\x04\0\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend(
        [48 + 8 + 1024, 1024, 8]
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes()),
    );
    file.extend([48, 0, 0, 1, 0, 1, 3, 5, 4, 0, 2, 0]);
    file.resize(64, 0);
    file.extend((0..8 + 1024).map(|at| at as u8));
    file
}
