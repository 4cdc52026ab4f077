//! The builders of odd and broken archives make what they say.

mod support;

use std::process::Command;

use hpimount::archive::hpi::chunk::Method;
use support::hpi::{Content, Entry, V1, V2, hostile, quirks, usual_tree};
use support::shared;

/// Number of files in a tree.
fn files(entries: &[Entry]) -> u64 {
    let count = |entry: &Entry| match &entry.content {
        Content::Directory(inner) => files(inner),
        Content::File(_) => 1,
    };
    entries.iter().map(count).sum()
}

/// What the independent reader says about an archive; `None` where it cannot
/// open it.
fn info(bytes: &[u8]) -> Option<Option<serde_json::Value>> {
    let reader = shared("oracle/hpi_ref.py")?;
    let archive = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(archive.path(), bytes).unwrap();
    let mut command = Command::new("python3");
    command.arg(reader).arg("info").arg(archive.path());
    let output = command.output().unwrap();
    let info = output.status.success();
    Some(info.then(|| serde_json::from_slice(&output.stdout).unwrap()))
}

#[test]
fn odd_archives_can_be_read() {
    for quirk in quirks::all() {
        // The reader takes this key as the game does.
        if quirk.name == "key 0xFF, enciphered" {
            continue;
        }
        let Some(info) = info(&quirk.bytes) else {
            return;
        };
        let info = info.unwrap_or_else(|| panic!("{} does not open", quirk.name));
        assert_eq!(info["nerrors"], 0, "{}: {}", quirk.name, info["errors"]);
        assert_eq!(info["files"], files(&quirk.entries), "{}", quirk.name);
    }
}

#[test]
fn usual_archives_have_nothing_odd() {
    let v1 = V1::new(usual_tree(Method::Lz77)).keyed(0x7D).build().bytes;
    let v2 = V2::new(usual_tree(Method::Zlib)).build().bytes;
    for bytes in [v1, v2] {
        let Some(info) = info(&bytes) else { return };
        let info = info.unwrap();
        assert_eq!(info["nerrors"], 0);
        assert_eq!((&info["ngaps"], &info["overlaps"]), (&0.into(), &0.into()));
        assert_eq!(info["trailer_ok"], true);
    }
}

#[test]
fn broken_archives_are_broken() {
    for broken in hostile::unopenable() {
        // It would take the reader long to find out.
        if broken.name == "shared directories" {
            continue;
        }
        let Some(info) = info(&broken.bytes) else {
            return;
        };
        assert!(info.is_none(), "{} opens", broken.name);
    }
    for broken in hostile::unreadable() {
        let Some(info) = info(&broken.bytes) else {
            return;
        };
        let errors = info.map(|info| info["nerrors"].clone());
        assert_ne!(errors, Some(0.into()), "{} can be read", broken.name);
    }
}
