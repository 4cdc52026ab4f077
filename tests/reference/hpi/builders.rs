//! The builders of odd and broken archives keep their promises.

use crate::hpi::reader::reports_on_bytes;
use fixtures::hpi::{Content, Entry, V1, V2, hostile, quirks, usual_tree};
use hpimount_containers::hpi::chunk::Method;

/// Returns the number of files in a tree.
fn files(entries: &[Entry]) -> u64 {
    let count = |entry: &Entry| match &entry.content {
        Content::Directory(inner) => files(inner),
        Content::File(_) => 1,
    };
    entries.iter().map(count).sum()
}

#[test]
fn odd_archives_can_be_read() {
    let mut quirks = quirks::all();
    // The reader interprets this key as the game does.
    quirks.retain(|quirk| quirk.name != "key 0xFF, enciphered");
    let bytes: Vec<&[u8]> = quirks.iter().map(|quirk| &*quirk.bytes).collect();
    let Some(reports) = reports_on_bytes(&bytes) else {
        return;
    };
    for (quirk, found) in quirks.iter().zip(reports) {
        let found = found.unwrap_or_else(|| panic!("{} does not open", quirk.name));
        let report = &found["report"];
        assert_eq!(report["nerrors"], 0, "{}: {}", quirk.name, report["errors"]);
        assert_eq!(report["files"], files(&quirk.entries), "{}", quirk.name);
    }
}

#[test]
fn usual_archives_have_no_warnings() {
    let v1 = V1::new(usual_tree(Method::Lz77)).keyed(0x7D).build().bytes;
    let v2 = V2::new(usual_tree(Method::Zlib)).build().bytes;
    for found in reports_on_bytes(&[&v1, &v2]).unwrap_or_default() {
        let report = &found.unwrap()["report"];
        assert_eq!(report["nerrors"], 0);
        assert_eq!(
            (&report["ngaps"], &report["overlaps"]),
            (&0.into(), &0.into())
        );
        assert_eq!(report["trailer_ok"], true);
    }
}

#[test]
fn broken_archives_are_broken() {
    let mut unopenable = hostile::unopenable();
    // The reader would need a long time to detect this one.
    unopenable.retain(|broken| broken.name != "shared directories");
    let unreadable = hostile::unreadable();
    let all = unopenable.iter().chain(&unreadable);
    let bytes: Vec<&[u8]> = all.clone().map(|broken| &*broken.bytes).collect();
    let Some(reports) = reports_on_bytes(&bytes) else {
        return;
    };
    for (index, (broken, found)) in all.zip(reports).enumerate() {
        if index < unopenable.len() {
            assert!(found.is_none(), "{} opens", broken.name);
        } else {
            let errors = found.map(|found| found["report"]["nerrors"].clone());
            assert_ne!(errors, Some(0.into()), "{} can be read", broken.name);
        }
    }
}
