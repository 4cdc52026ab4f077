//! The samples beside the repository, compared with the results of an
//! independent reader.

use crate::hip::samples::{Golden, digest, reaches_past, samples, size, verdict};
use hpimount_containers::format::Options;
use hpimount_containers::io::Error;
use hpimount_containers::volume::FileId;
use serde_json::Value;
use testkit::files::sha256;
use testkit::record::{Opened, open, read_extent};

#[test]
fn every_sample_matches_the_independent_reader() {
    for golden in samples().unwrap_or_default() {
        check(&golden);
    }
}

fn check(golden: &Golden) {
    let bytes = std::fs::read(&golden.path).unwrap();
    let end = bytes.len() as u64;
    let opened = open(bytes, Options::default());
    if golden.is_refused() {
        assert!(opened.is_err(), "{}", golden.name);
        return;
    }
    let opened = opened.unwrap_or_else(|error| panic!("{}: {error}", golden.name));
    golden.check_info(&opened.archive.info());
    check_layers(golden, &opened);
    for (number, asset) in (0..).zip(golden.assets()) {
        let file = FileId(number);
        golden.check_attributes(asset, |name| attribute(&opened, file, name));
        check_bytes(&opened, file, asset, end, &golden.shown(asset));
    }
    golden.check_table(&opened.text("assets.tsv"));
    check_links(golden, &opened);
}

/// Checks that layers have the right names and contain the right assets, once.
fn check_layers(golden: &Golden, opened: &Opened) {
    let mut folders = opened.tree.list(opened.tree.find("layers")).iter();
    let names = opened.tree.names("layers");
    for ((expected, ids), name) in golden.layers().into_iter().zip(&names) {
        assert_eq!(*name, expected, "{}", golden.name);
        let (_, folder) = folders.next().unwrap();
        let files = opened.tree.list(*folder).iter();
        let found: Vec<String> = files
            .map(|&(_, file)| attribute(opened, opened.tree.entry(file).file, "id"))
            .collect();
        assert_eq!(found, ids, "{} {expected}", golden.name);
    }
    assert_eq!(folders.next().is_some(), golden.has_unlayered());
}

fn check_bytes(opened: &Opened, file: FileId, asset: &Value, end: u64, shown: &str) {
    let found = opened.archive.xattr(file, "user.hip.checksum_ok");
    let size = size(asset);
    if reaches_past(asset, end) {
        let last = read_extent(&*opened.archive, file, size - 1, &mut [0]);
        assert!(matches!(last, Err(Error::Read { .. })), "{shown}");
        assert_eq!(found.is_err(), verdict(asset) != "unset", "{shown}");
        return;
    }
    let mut bytes = vec![0; size as usize];
    if size > 0 {
        read_extent(&*opened.archive, file, 0, &mut bytes).unwrap();
    }
    assert_eq!(sha256(&bytes), digest(asset), "{shown}");
    assert_eq!(found.unwrap().unwrap(), verdict(asset), "{shown}");
}

/// Checks that every asset is in `ids` and `types`.
fn check_links(golden: &Golden, opened: &Opened) {
    let assets = golden.assets().len();
    assert_eq!(opened.tree.names("ids").len(), assets);
    let folders = opened.tree.names("types");
    let in_types = folders.iter().filter(|folder| *folder != "Settings.ini");
    let count = in_types.map(|folder| opened.tree.names(&format!("types/{folder}")).len());
    assert_eq!(count.sum::<usize>(), assets, "{}", golden.name);
}

/// Returns an attribute, empty if the asset does not have it.
fn attribute(opened: &Opened, file: FileId, name: &str) -> String {
    let value = opened.archive.xattr(file, &format!("user.hip.{name}"));
    value.unwrap().unwrap_or_default()
}
