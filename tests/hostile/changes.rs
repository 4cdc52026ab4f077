//! Folders of changes for archives whose tables point past their end.

use std::sync::Arc;

use crate::support::applied::NotConverted;
use crate::support::container_seeds as seeds;
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{self, Change, Folder, NewFile, Original, Report, Written};
use hpimount_containers::io::ReadAt;

/// Bytes that an archive may grow by in addition to the changes: what alignment
/// needs.
const ALIGNMENT: u64 = 0x2_0000;

/// Replaces the file at a path in an archive, or adds it.
fn applied(name: &str, archive: &[u8], file: &str) -> Result<Written, String> {
    let new = NewFile {
        bytes: Arc::new(b"new".to_vec()),
        path: file.into(),
        modified: None,
    };
    let within = |name: &str, change| {
        let mut folder = Folder::default();
        folder.entries.insert(name.to_owned(), change);
        folder
    };
    let mut parts = file.rsplit('/');
    let innermost = within(parts.next().unwrap(), Change::File(new));
    let folder = parts.fold(innermost, |folder, name| {
        within(name, Change::Directory(folder))
    });
    let original = Original {
        source: Arc::new(archive.to_vec()),
        name,
        partner: &|_| None,
    };
    let mut report = Report::default();
    let unwrap = |source| Ok((source, Vec::new()));
    let tools = Tools {
        unwrap: &unwrap,
        convert: &NotConverted,
    };
    let written = apply(&original, folder, tools, &mut report);
    written.ok_or_else(|| changes::listed(&report.refusals))
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
    let mut img = seeds::img();
    let record = find(&img, b"abcdefghijklmnopqrst.ifp") - 8;
    set(&mut img, record, 0xF000_0000_u32.to_le_bytes());
    let mut xbox = seeds::xdvdfs_with("a.txt", &[7; 100]);
    let row = find(&xbox, b"a.txt") - 14;
    set(&mut xbox, row + 4, 0x00FF_0000_u32.to_le_bytes());
    let mut cube = seeds::gcm();
    set(&mut cube, 0x2600 + 12 + 4, 0xF000_0000_u32.to_be_bytes());
    for (name, archive, file) in [
        ("a.img", img, "abcdefghijklmnopqrst.ifp"),
        ("a.xiso", xbox, "a.txt"),
        ("a.gcm", cube, "files/a.txt"),
    ] {
        let written = applied(name, &archive, file).unwrap_or_else(|why| panic!("{name}: {why}"));
        let grown = written.data.len() - archive.len() as u64;
        assert!(grown <= ALIGNMENT, "{name} grows by {grown} bytes");
    }
}

#[test]
fn a_cut_file_that_is_in_the_way_of_a_longer_table_is_named() {
    // The table of 63 files ends in the first sector, and one more does not.
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
    let refused = applied("a.img", &img, "new.dff").err().unwrap();
    assert!(refused.contains("07.dff: is cut off"), "{refused}");
}
