//! Small files of the PlayStation.

/// Returns a file of each kind.
pub fn files() -> Vec<Vec<u8>> {
    vec![
        tim(0, &[1, 4], 8),
        tim(9, &[2, 2], 8),
        tim(3, &[3, 2], 12),
        tim2(),
        vag(b"VAGp"),
        vag(b"VAGi"),
        vab(),
    ]
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
