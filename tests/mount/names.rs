//! Every name in an archive becomes a valid file name, and the raw name can be
//! requested.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use testkit::fuse_test;

use fixtures::hpi::{Entry, File, V1, V2, dir, file};
use hpimount_containers::hpi::chunk::Method;
use testkit::files::{raw_name, walk};
use testkit::mounted::{mounted, mounted_files};

fn leaf(name: &[u8], data: &[u8]) -> Entry {
    file(name, File::new(data, Method::Zlib))
}

/// Returns the names in the root, with the contents of their files.
fn shown(entries: Vec<Entry>) -> BTreeMap<String, Vec<u8>> {
    let mount = mounted(&V1::new(entries).build().bytes, "");
    let entries = fs::read_dir(mount.path()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_dir = entry.file_type().unwrap().is_dir();
        let bytes = if is_dir {
            b"directory".to_vec()
        } else {
            fs::read(entry.path()).unwrap()
        };
        (name, bytes)
    });
    entries.collect()
}

fn table<const N: usize>(expected: [(&str, &str); N]) -> BTreeMap<String, Vec<u8>> {
    expected
        .map(|(name, bytes)| (name.to_owned(), bytes.into()))
        .into()
}

#[fuse_test]
fn windows_1252_becomes_utf_8() {
    let entries = vec![
        leaf(b"caf\xE9.txt", b"small"),
        leaf(b"CAF\xC9.TXT", b"large"),
        leaf(b"\x93q\x94 \x80.ota", b"quotes"),
        leaf(b"undef\x81\x8D\x8F\x90\x9D", b"undefined"),
    ];
    let found = shown(entries);
    let expected = table([
        ("caf\u{e9}.txt", "small"),
        ("CAF\u{c9}.TXT", "large"),
        ("\u{201c}q\u{201d} \u{20ac}.ota", "quotes"),
        ("undef\u{81}\u{8d}\u{8f}\u{90}\u{9d}", "undefined"),
    ]);
    assert_eq!(found, expected);
}

#[fuse_test]
fn invalid_file_names_are_escaped() {
    let entries = vec![
        leaf(b"a/b.txt", b"slash"),
        leaf(b"50%/x", b"percent"),
        leaf(b"50%", b"plain percent"),
        leaf(b"tab\t\n\x7F.x", b"control"),
        leaf(b"c\\d", b"backslash"),
        leaf(b"", b"nothing"),
        leaf(b".", b"dot"),
        dir(b"..", vec![leaf(b"x", b"below")]),
        leaf(b"...", b"dots"),
        leaf(b"CON", b"device"),
        leaf(b" ", b"space"),
        leaf(b"-rf *", b"option"),
    ];
    let found = shown(entries);
    let expected = table([
        ("a%2Fb.txt", "slash"),
        ("50%25%2Fx", "percent"),
        ("50%", "plain percent"),
        ("tab%09%0A%7F.x", "control"),
        ("c\\d", "backslash"),
        ("%00", "nothing"),
        ("%2E", "dot"),
        ("%2E%2E", "directory"),
        ("...", "dots"),
        ("CON", "device"),
        (" ", "space"),
        ("-rf *", "option"),
    ]);
    assert_eq!(found, expected);
}

#[fuse_test]
fn the_last_of_equal_names_is_unchanged_and_the_others_are_numbered() {
    let entries = vec![
        leaf(b"a.txt", b"first"),
        leaf(b"a.txt", b"second"),
        leaf(b"a (1).txt", b"real"),
        leaf(b"a.txt", b"last"),
        dir(b"d", vec![leaf(b"x", b"1")]),
        dir(b"d", vec![]),
        leaf(b"d", b"a file"),
    ];
    let found = shown(entries);
    let expected = table([
        ("a (1).txt", "real"),
        ("a (2).txt", "first"),
        ("a (3).txt", "second"),
        ("a.txt", "last"),
        ("d (1)", "directory"),
        ("d (2)", "directory"),
        ("d", "a file"),
    ]);
    assert_eq!(found, expected);
}

#[fuse_test]
fn names_that_become_equal_are_numbered_as_well() {
    // The first name escaped is the second name.
    let entries = vec![leaf(b"a/b", b"escaped"), leaf(b"a%2Fb", b"as it is")];
    let found = shown(entries);
    let expected = table([("a%2Fb (1)", "escaped"), ("a%2Fb", "as it is")]);
    assert_eq!(found, expected);
}

#[fuse_test]
fn long_names_are_cut_and_can_be_opened() {
    let long = |letter: u8, end: &[u8]| [&[letter; 300], end].concat();
    let entries = vec![
        leaf(&long(b'n', b"1.txt"), b"1"),
        leaf(&long(b'n', b"2.txt"), b"2"),
        leaf(&long(0xE9, b""), b"two bytes a letter"),
        leaf(&[b'x'; 255], b"fits"),
        dir(&long(b'd', b""), vec![leaf(b"inside", b"")]),
    ];
    let archive = V1::new(entries.clone()).build();
    let mount = mounted(&archive.bytes, "");
    let mut found: Vec<_> = walk(mount.path())
        .iter()
        .map(|path| raw_name(path))
        .collect();
    let mut expected: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    expected.push(b"inside".to_vec());
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    for path in walk(mount.path()) {
        let name = path.file_name().unwrap();
        assert!(name.len() <= 255 && path.exists());
        let cut = raw_name(&path).len() > 255;
        assert_eq!(
            name.to_str().unwrap().contains('~'),
            cut,
            "{}",
            path.display()
        );
    }
}

#[fuse_test]
fn raw_names_are_the_stored_names_in_both_versions() {
    let names: [&[u8]; 7] = [
        b"plain.txt",
        b"caf\xE9",
        b"a/b",
        b"",
        b"..",
        b"same",
        b"same",
    ];
    let entries: Vec<Entry> = names.iter().map(|name| leaf(name, b"x")).collect();
    for archive in [V1::new(entries.clone()).build(), V2::new(entries).build()] {
        let mount = mounted(&archive.bytes, "");
        let mut found: Vec<_> = walk(mount.path())
            .iter()
            .map(|path| raw_name(path))
            .collect();
        let mut expected = names.map(<[u8]>::to_vec).to_vec();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(
            xattr::get(mount.path(), "user.hpimount.raw_name").unwrap(),
            None
        );
    }
}

#[fuse_test]
fn sources_with_equal_names_are_numbered() {
    let work_dir = tempfile::tempdir().unwrap();
    let sources = ["a", "b"].map(|folder| {
        let folder = work_dir.path().join(folder);
        fs::create_dir(&folder).unwrap();
        let archive = V1::new(vec![leaf(b"x", b"x")]).build();
        let path = folder.join("mod.ufo");
        fs::write(&path, archive.bytes).unwrap();
        path
    });
    let separate = [PathBuf::from("--separate")];
    let mount = mounted_files(&[&separate[..], &sources].concat(), "");
    for name in ["mod.ufo", "mod (1).ufo"] {
        assert_eq!(fs::read(mount.path().join(name).join("x")).unwrap(), b"x");
    }
}
