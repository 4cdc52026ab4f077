//! Small files by which consoles show games.

/// Returns files of all kinds, with names.
pub fn files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("opening.bnr", banner(1)),
        ("languages.bnr", banner(6)),
        ("default.xbe", program()),
        ("SaveImage.xbx", xpr()),
        ("one.mcs", [entry(), save(1)].concat()),
        ("card.mcr", card()),
    ]
}

/// Returns numbers of 32 bits in the order of the file.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A banner of the GameCube in one language or in six, half of it red.
pub fn banner(languages: usize) -> Vec<u8> {
    let mut bytes = if languages == 1 { b"BNR1" } else { b"BNR2" }.to_vec();
    bytes.resize(0x20, 0);
    bytes.extend([0xFC, 0].repeat(96 * 16));
    bytes.extend([0x80, 0x1F].repeat(96 * 16));
    for language in 0..languages {
        let start = bytes.len();
        for (at, text) in [
            (0, "Short"),
            (0x20, "Maker"),
            (0x40, "Title"),
            (0x80, "By"),
            (0xC0, "x"),
        ] {
            bytes.resize(start + at, 0);
            bytes.extend(format!("{text} {language}").bytes());
        }
        bytes.resize(start + 0x140, 0);
    }
    bytes
}

/// Pictures of the Xbox: one of 8 by 8 pixels in blocks.
pub fn xpr() -> Vec<u8> {
    let format = 3 << 24 | 3 << 20 | 0x0C << 8 | 0x29;
    let head = words(&[0x60, 0x40, 0x4_0001, 0, 0, format, 0, u32::MAX]);
    let mut bytes = [&b"XPR0"[..], &head].concat();
    bytes.resize(0x40, 0);
    bytes.extend([0xE0, 0x07, 0, 0, 0, 0, 0, 0].repeat(4));
    bytes
}

/// A program of the Xbox with a title image.
pub fn program() -> Vec<u8> {
    const BASE: u32 = 0x1_0000;
    let picture = xpr();
    let mut bytes = vec![0; 0x300];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, b"XBEH");
    put(0x104, &words(&[BASE]));
    put(0x118, &words(&[BASE + 0x180, 1, BASE + 0x258]));
    put(0x184, &words(&[1_000_000_000, 0x4156_0007]));
    let title = "A Gäme".encode_utf16().flat_map(u16::to_le_bytes);
    put(0x18C, &title.collect::<Vec<_>>());
    put(0x220, &words(&[1]));
    put(0x264, &words(&[0x300, picture.len() as u32, BASE + 0x2F0]));
    put(0x2F0, b"$$XTIMAG\0");
    bytes.extend(picture);
    bytes
}

/// A save of the PlayStation with an icon of some frames.
fn save(frames: u8) -> Vec<u8> {
    let mut bytes = vec![b'S', b'C', 0x10 | frames, 1];
    // In double width.
    bytes.extend(b"\x82\x60\x81\x40\x82\x62");
    bytes.resize(0x60, 0);
    bytes.extend((0..16_u16).flat_map(|color| (color * 0x842).to_le_bytes()));
    for frame in 0..frames {
        bytes.extend([0x11 * (frame + 1); 0x80]);
    }
    bytes
}

/// The entry of a save in the directory of a card.
fn entry() -> Vec<u8> {
    let mut entry = vec![0x51, 0, 0, 0];
    entry.resize(0x0A, 0);
    entry.extend(b"BASLUS-00001GAME");
    entry.resize(0x80, 0);
    entry
}

/// A memory card of the PlayStation with two saves, cut after the second one.
fn card() -> Vec<u8> {
    let mut card = b"MC".to_vec();
    for (at, part) in [
        (0x80, entry()),
        (0x180, entry()),
        (0x2000, save(1)),
        (0x6000, save(3)),
    ] {
        card.resize(at, 0);
        card.extend(part);
    }
    card
}
