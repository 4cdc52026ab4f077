use super::*;
use crate::codec::ecc;

const HUNK: usize = 4896;

/// Returns an image of these stored hunks of two frames, and one of zeros.
fn plain(hunks: &[&[u8]]) -> Vec<u8> {
    let mut image = header(hunks.len() + 1, [0; 16]);
    let numbers = (1..=hunks.len() as u32).chain([0]);
    image.extend(numbers.flat_map(u32::to_be_bytes));
    image.resize(HUNK, 0);
    image.extend(hunks.concat());
    image
}

fn header(hunks: usize, codecs: [u8; 16]) -> Vec<u8> {
    let mut header = [&MAGIC[..], &124_u32.to_be_bytes(), &5_u32.to_be_bytes()].concat();
    header.extend(codecs);
    let len = (hunks * HUNK - 7) as u64;
    header.extend([len, HEADER, 0].map(u64::to_be_bytes).concat());
    header.extend([HUNK as u32, 2448].map(u32::to_be_bytes).concat());
    header.resize(HEADER as usize, 0);
    header
}

#[test]
fn hunks_without_codecs_are_stored_or_zeros() {
    let bytes = plain(&[&[5; HUNK], &[6; HUNK]]);
    assert!((FORMAT.matches)(&bytes).unwrap());
    let image = (FORMAT.open)(Arc::new(bytes)).unwrap();
    assert_eq!(image.decode(0).unwrap(), [5; HUNK]);
    assert_eq!(image.decode(1).unwrap(), [6; HUNK]);
    assert_eq!(image.decode(2).unwrap(), [0; HUNK - 7]);
}

/// Returns the error for an image whose header has `value` at `offset`.
fn refused(offset: usize, value: &[u8]) -> String {
    let mut bytes = plain(&[&[5; HUNK]]);
    bytes[offset..offset + value.len()].copy_from_slice(value);
    match (FORMAT.open)(Arc::new(bytes)) {
        Ok(_) => panic!("{value:?} at {offset} is not refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn unsupported_features_are_named() {
    assert!(refused(12, &4_u32.to_be_bytes()).contains("version 4"));
    assert!(refused(104, &[1]).contains("its parent"));
    assert!(refused(16, b"avhu").contains("laser disc"));
    assert!(refused(16, b"new!").contains("unknown codec new!"));
}

#[test]
fn impossible_numbers_are_refused() {
    assert!(refused(12, &6_u32.to_be_bytes()).contains("version"));
    assert!(refused(56, &0_u32.to_be_bytes()).contains("hunk size"));
    assert!(refused(56, &u32::MAX.to_be_bytes()).contains("hunk size"));
    assert!(refused(60, &0_u32.to_be_bytes()).contains("unit size"));
    assert!(refused(60, &13_u32.to_be_bytes()).contains("unit size"));
    assert!(refused(32, &u64::MAX.to_be_bytes()).contains("logical size"));
    assert!(refused(32, &(1_u64 << 31).to_be_bytes()).contains("map"));
    assert!(refused(40, &u64::MAX.to_be_bytes()).contains("map"));
}

#[test]
fn a_hunk_past_the_end_does_not_affect_other_hunks() {
    let mut bytes = plain(&[&[5; HUNK], &[6; HUNK]]);
    bytes[HEADER as usize..][..4].copy_from_slice(&9_u32.to_be_bytes());
    let image = (FORMAT.open)(Arc::new(bytes)).unwrap();
    assert!(image.decode(0).is_err());
    assert_eq!(image.decode(1).unwrap(), [6; HUNK]);
}

/// Packs bits given as text; the first one is the highest of its byte.
fn bits(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|digit| *digit != b' ').collect();
    let bytes = digits.chunks(8).map(|digits| {
        let digits = digits.iter().chain([b'0'; 8].iter()).take(8);
        digits.fold(0, |byte, digit| byte << 1 | (digit - b'0'))
    });
    bytes.collect()
}

/// Returns an image of two hunks with this map.
fn mapped(map: &str, sum: u16) -> Result<Box<dyn BlockImage>> {
    let mut codecs = [0; 16];
    codecs[..4].copy_from_slice(b"zlib");
    let map = bits(map);
    let mut image = header(2, codecs);
    image.extend((map.len() as u32).to_be_bytes());
    let first = HEADER as u16 + 16 + map.len() as u16;
    image.extend([0, 0, 0, 0]);
    image.extend(first.to_be_bytes());
    image.extend(sum.to_be_bytes());
    // 13 bits for a length, 8 for the number of an equal hunk.
    image.extend([13, 8, 0, 0]);
    image.extend(map);
    image.resize(image.len() + 2 * HUNK, 7);
    (FORMAT.open)(Arc::new(image))
}

#[test]
fn a_hunk_may_only_equal_an_earlier_one() {
    // Of 16 symbols, 4 (stored) and 5 (the same as a hunk) have codes of one
    // bit, 0 and 1. A length of 1 is written as 1, 1.
    let lengths = ["0000".repeat(4), "0001".repeat(4), "0000".repeat(10)].concat();
    let checksum = format!("{:016b}", CRC.checksum(&[7; HUNK]));
    let stored_then_same = |number: &str| format!("{lengths} 0 1 {checksum} {number}");
    let error = |map: &str, sum| match mapped(map, sum) {
        Ok(_) => panic!("{map} is not refused"),
        Err(error) => error.to_string(),
    };
    assert!(error(&stored_then_same("00000001"), 0).contains("later one 1"));
    assert!(error(&stored_then_same("00000000"), 0).contains("CRC-16"));
    // The checksum is named in the error above.
    let named = error(&stored_then_same("00000000"), 0);
    let sum = named.split("CRC-16 is ").nth(1).unwrap();
    let sum = u16::from_str_radix(&sum[..4], 16).unwrap();
    let image = mapped(&stored_then_same("00000000"), sum).unwrap();
    assert_eq!(image.decode(0).unwrap(), [7; HUNK]);
    assert_eq!(image.decode(1).unwrap(), [7; HUNK - 7]);
}

/// Returns an image whose hunks decode to `decoded` and are all packed by one
/// codec.
fn packed(codec: &[u8; 4], hunks: &[Vec<u8>], decoded: &[Vec<u8>]) -> Box<dyn BlockImage> {
    let mut codecs = [0; 16];
    codecs[..4].copy_from_slice(codec);
    // Of 16 symbols, 0 (the first codec) and 1 have codes of one bit.
    let lengths = ["0001".repeat(4), "0000".repeat(14)].concat();
    let kinds = "0".repeat(hunks.len());
    let entries = hunks.iter().zip(decoded);
    let entries = entries.map(|(hunk, bytes)| {
        let (length, sum) = (hunk.len(), CRC.checksum(bytes));
        format!("{length:013b}{sum:016b}")
    });
    let map = bits(&[lengths, kinds, entries.collect()].concat());
    let image = |sum: u16| {
        let mut image = header(hunks.len(), codecs);
        image.extend((map.len() as u32).to_be_bytes());
        image.extend(&(image.len() as u64 + 12 + map.len() as u64).to_be_bytes()[2..]);
        image.extend(sum.to_be_bytes());
        image.extend([13, 0, 0, 0]);
        image.extend(&map);
        image.extend(hunks.concat());
        (FORMAT.open)(Arc::new(image))
    };
    // The checksum of the map is named in the error about a wrong one.
    let error = image(0).err().unwrap().to_string();
    let sum = error.split("CRC-16 is ").nth(1).unwrap();
    image(u16::from_str_radix(&sum[..4], 16).unwrap()).unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    zstd_safe::compress(&mut packed, bytes, 3).unwrap();
    packed
}

#[test]
fn zstandard_hunks_decode_to_the_packed_bytes() {
    let bytes = |step| (0..HUNK).map(|at| (at / step) as u8).collect();
    let hunks: [Vec<u8>; 2] = [bytes(7), bytes(40)];
    let image = packed(
        b"zstd",
        &hunks.each_ref().map(|hunk| zstandard(hunk)),
        &hunks,
    );
    assert_eq!(image.decode(0).unwrap(), hunks[0]);
    assert_eq!(image.decode(1).unwrap(), hunks[1][..HUNK - 7]);
}

#[test]
fn zstandard_frames_are_restored_with_subchannels_and_error_correction() {
    const SECTOR: usize = 2352;
    let sectors: Vec<u8> = (0..2 * SECTOR).map(|at| (at / 5) as u8).collect();
    let subchannels: Vec<u8> = (0..2 * 96).map(|at| at as u8 ^ 0x5A).collect();
    let (first, second) = sectors.split_at(SECTOR);
    let mut restored = first.to_vec();
    ecc::restore(&mut restored);
    assert_ne!(restored, first);
    let frames = [
        &restored[..],
        &subchannels[..96],
        second,
        &subchannels[96..],
    ]
    .concat();
    let (sectors, subchannels) = (zstandard(&sectors), zstandard(&subchannels));
    let length = (sectors.len() as u16).to_be_bytes();
    // The first bit: error correction was omitted from the first frame.
    let hunk = [&[1][..], &length, &sectors, &subchannels].concat();
    let image = packed(b"cdzs", &[hunk], std::slice::from_ref(&frames));
    assert_eq!(image.decode(0).unwrap(), frames[..HUNK - 7]);
}
