//! Folders of changes for archives whose tables point past their end.

use fixtures::container_seeds as seeds;
use hpimount_containers::changes::{Folder, Written};
use hpimount_containers::io::ReadAt;
use testkit::applied::{new_file, planned};

/// Allowed growth of an archive in addition to the changes in bytes, for alignment.
const ALIGNMENT: u64 = 0x2_0000;

/// Replaces the file at a path in an archive, or adds it.
fn applied(name: &str, archive: &[u8], file: &str, bytes: &[u8]) -> Result<Written, String> {
    let mut folder = Folder::default();
    folder.insert(file, new_file(file, bytes));
    planned(name, archive, folder)
}

/// Returns archives with a file that begins past their end.
fn pointing_past_the_end() -> [(&'static str, Vec<u8>, &'static str); 3] {
    let mut img = seeds::img();
    let record = find(&img, b"abcdefghijklmnopqrst.ifp") - 8;
    set(&mut img, record, 0xF000_0000_u32.to_le_bytes());
    let mut xbox = seeds::xdvdfs_with("a.txt", &[7; 100]);
    let row = find(&xbox, b"a.txt") - 14;
    set(&mut xbox, row + 4, 0x00FF_0000_u32.to_le_bytes());
    let mut cube = seeds::gcm();
    set(&mut cube, 0x2600 + 12 + 4, 0xF000_0000_u32.to_be_bytes());
    [
        ("a.img", img, "abcdefghijklmnopqrst.ifp"),
        ("a.xiso", xbox, "a.txt"),
        ("a.gcm", cube, "files/a.txt"),
    ]
}

/// Overwrites a number of a table.
fn set(archive: &mut [u8], at: usize, number: [u8; 4]) {
    archive[at..at + 4].copy_from_slice(&number);
}

/// Returns the offset of a text.
fn find(archive: &[u8], text: &[u8]) -> usize {
    let mut windows = archive.windows(text.len());
    windows.position(|window| window == text).unwrap()
}

#[test]
fn a_replaced_file_past_the_end_makes_the_result_no_larger_than_its_parts() {
    for (name, archive, file) in pointing_past_the_end() {
        let written = applied(name, &archive, file, b"new");
        let written = written.unwrap_or_else(|why| panic!("{name}: {why}"));
        let grown = written.data.len() - archive.len() as u64;
        assert!(grown <= ALIGNMENT, "{name} grows by {grown} bytes");
    }
}

#[test]
fn a_kept_file_past_the_end_is_named_before_new_data_takes_its_place() {
    for (name, archive, file) in pointing_past_the_end() {
        let new = match file.rsplit_once('/') {
            Some((directory, _)) => format!("{directory}/new.txt"),
            None => "new.txt".to_owned(),
        };
        // More than fits between the files.
        let refused = applied(name, &archive, &new, &[1; 100_000]).err();
        let expected = format!("{file}: ends past the end of the original");
        assert!(
            refused.as_ref().is_some_and(|why| why.contains(&expected)),
            "{name}: {refused:?}"
        );
    }
}

#[test]
fn a_cut_file_in_the_way_of_a_longer_table_is_named() {
    // The table of 63 files ends in the first sector; the table of 64 does not.
    let records = (0..63_u32).map(|number| {
        let sectors = if number == 7 { 0xFFFF } else { 1 };
        let name = format!("{number:02}.dff");
        [
            seeds::words(&[1, sectors]),
            seeds::field(name.as_bytes(), 24),
        ]
        .concat()
    });
    let head = [
        b"VER2".to_vec(),
        seeds::words(&[63]),
        records.collect::<Vec<_>>().concat(),
    ];
    let img = [seeds::field(&head.concat(), 2048), vec![1; 2048]].concat();
    let refused = applied("a.img", &img, "new.dff", b"new").err().unwrap();
    assert!(refused.contains("07.dff: ends past the end"), "{refused}");
}
