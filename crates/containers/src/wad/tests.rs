use super::super::listing::{Beside, open, read};
use super::*;

/// Returns a name with its NUL and padding.
fn text(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize((name.len() + 1).next_multiple_of(4), 0);
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Lists a WAD whose sectors are filled with their numbers.
fn listed(hed: Vec<u8>, sectors: usize) -> Result<(Vec<String>, Vec<Vec<u8>>)> {
    let bytes: Vec<u8> = (0..sectors * 2048).map(|at| (at / 2048) as u8).collect();
    let beside: Beside = Some(("cd.hed", hed));
    let (listing, volume) = open(&FORMAT, "CD.WAD", bytes, beside)?;
    let contents = listing.files().map(|(_, entry)| read(&*volume, entry));
    Ok((listing.paths(), contents.filter_map(Result::ok).collect()))
}

#[test]
fn names_may_come_first() {
    let hed = [text("a.psx"), words(&[2047, 2]), text("b"), words(&[0, 0])].concat();
    for end in [&[0xFF][..], &[0xFF; 4], &[]] {
        let (paths, contents) = listed([&hed[..], end].concat(), 2).unwrap();
        assert_eq!(paths, ["a.psx", "b"]);
        assert_eq!(contents[0], [0, 1]);
    }
}

#[test]
fn offsets_may_come_first_and_files_may_be_outside() {
    let hed = [
        words(&[2048, 1]),
        text("\\levels\\x.psx"),
        words(&[0, 0x8000_0009]),
        text("m.str"),
        words(&[u32::MAX]),
    ];
    let (paths, contents) = listed(hed.concat(), 2).unwrap();
    assert_eq!(paths, ["levels/", "levels/x.psx"]);
    assert_eq!(contents, [[1]]);
}

#[test]
fn offsets_may_count_sectors() {
    let hed = [
        words(&[0x0100_0000, 3000]),
        text("a"),
        words(&[0x0100_0002, 1]),
        text("b"),
        words(&[u32::MAX]),
    ];
    let (_, contents) = listed(hed.concat(), 3).unwrap();
    assert_eq!(contents[0].len(), 3000);
    assert_eq!(contents[1], [2]);
}

#[test]
fn hashes_are_resolved_or_get_an_extension_from_the_first_bytes() {
    let hed = words(&[0x31A1_EA54, 0, 1, 0xFFFF_0000, 2048, 1, 0, 0, 0]);
    let (paths, _) = listed(hed, 2).unwrap();
    assert_eq!(paths, ["bits.psx", "FFFF0000.bin"]);
}

#[test]
fn noise_and_text_are_not_directories() {
    let noise: Vec<u8> = (0..240_u32).map(|at| (at * 167 + 13) as u8).collect();
    assert!(listed(noise, 2).is_err());
    assert!(listed(b"A line of text.\r\n".to_vec(), 2).is_err());
    assert!(listed(Vec::new(), 2).is_err());
}

#[test]
fn a_file_past_the_end_is_listed_and_damaged() {
    let hed = [text("a"), words(&[u32::MAX, u32::MAX]), vec![0xFF]].concat();
    let (paths, contents) = listed(hed, 1).unwrap();
    assert_eq!(paths, ["a"]);
    assert!(contents.is_empty());
}

#[test]
fn wads_of_other_games_are_refused_with_a_message() {
    let error = open(&FORMAT, "doom.wad", b"IWAD\0\0\0\0".to_vec(), None).err();
    assert!(error.unwrap().to_string().contains("Doom"));
}
