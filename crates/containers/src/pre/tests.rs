use super::super::listing::{open, read};
use super::*;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns an archive of form 2 with one file with these stored bytes.
fn form_2(name: &[u8], size: u32, packed: u32, stored: &[u8]) -> Vec<u8> {
    let mut bytes = words(&[0, 0xABCD_0002, 1, size, packed, name.len() as u32]);
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(stored);
    bytes
}

#[test]
fn padding_counts_from_the_start_of_the_data() {
    // A name of five bytes: the data is not aligned in the file.
    let one = form_2(b"a\\b\0\0", 5, 0, b"12345\0\0\0");
    let mut bytes = one.clone();
    bytes[8] = 2;
    bytes.extend_from_slice(&one[12..]);
    let (listing, volume) = open(&PACKED_FORMAT, "x.prx", bytes, None).unwrap();
    assert_eq!(listing.paths(), ["a/", "a/b", "a/b"]);
    for (_, entry) in listing.files() {
        assert_eq!(read(&*volume, entry).unwrap(), b"12345");
    }
}

#[test]
fn lzss_matches_reach_into_the_spaces_before_the_data() {
    // A literal, 3 bytes of the ring of spaces, and 18 that repeat their own
    // output.
    let stored = [0b001, b'x', 0x00, 0x00, 0xEE, 0xFF];
    let expected = [&b"x   "[..], &b"x   x   x   x   x "[..]].concat();
    let bytes = form_2(b"a\0", expected.len() as u32, 6, &stored);
    let (listing, volume) = open(&PACKED_FORMAT, "x.prx", bytes, None).unwrap();
    let (_, entry) = listing.files().next().unwrap();
    assert_eq!(read(&*volume, entry).unwrap(), expected);
}

#[test]
fn streams_that_end_early_and_impossible_sizes_are_damaged() {
    let read_as = |size: u32| {
        let bytes = form_2(b"a\0", size, 2, &[1, b'x']);
        let (listing, volume) = open(&PACKED_FORMAT, "x.prx", bytes, None).unwrap();
        let (_, entry) = listing.files().next().unwrap();
        let Ok(Content::Stream(streams)) = volume.content(entry.file) else {
            panic!("is packed");
        };
        let decoder = streams.decoder(entry.file)?;
        assert!(size <= Lzss::longest(2) as u32);
        let mut decoder = decoder;
        decoder.read(&mut vec![0; size as usize])
    };
    assert!(read_as(1).is_ok());
    assert!(read_as(2).is_err());
    assert!(read_as(u32::MAX).is_err());
}

#[test]
fn the_flat_form_is_detected_by_its_extension_and_all_headers() {
    let bytes = [
        words(&[2]),
        b"abc\0".to_vec(),
        words(&[5]),
        b"12345\0\0\0".to_vec(),
        b"defg\0\0\0\0".to_vec(),
        words(&[1]),
        b"6".to_vec(),
    ]
    .concat();
    let (listing, volume) = open(&FLAT_FORMAT, "x.PRE", bytes.clone(), None).unwrap();
    let files: Vec<_> = listing.files().collect();
    assert_eq!((files[0].0, files[1].0), ("abc", "defg"));
    assert_eq!(read(&*volume, files[0].1).unwrap(), b"12345");
    assert_eq!(read(&*volume, files[1].1).unwrap(), b"6");
    assert!(open(&FLAT_FORMAT, "x.bin", bytes.clone(), None).is_err());
    assert!(open(&FLAT_FORMAT, "x.pre", bytes[..20].to_vec(), None).is_err());
}

#[test]
fn impossible_names_and_counts_are_refused() {
    let mut bytes = form_2(b"a\0", 1, 0, b"x");
    bytes[8..12].fill(0xFF);
    assert!(open(&PACKED_FORMAT, "x.prx", bytes, None).is_err());
    let bytes = form_2(b"a\0", 1, 1000, b"x");
    assert!(open(&PACKED_FORMAT, "x.prx", bytes, None).is_err());
    let unprintable = [words(&[1]), b"\x01\0\0\0".to_vec(), words(&[0])].concat();
    assert!(open(&FLAT_FORMAT, "x.pre", unprintable, None).is_err());
}

#[test]
fn modules_of_consoles_are_not_archives() {
    let mut bytes = form_2(b"a\0", 1, 0, b"x");
    bytes[..4].copy_from_slice(b"~PSP");
    assert!(open(&PACKED_FORMAT, "x.prx", bytes, None).is_err());
}
