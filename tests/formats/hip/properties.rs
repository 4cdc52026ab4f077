//! Properties of every HIP archive, and of arbitrary bytes.

use std::collections::{BTreeMap, BTreeSet};

use fixtures::hip::Hip;
use hpimount_containers::format::Options;
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::text::windows_1252;
use hpimount_containers::volume::FileId;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use testkit::hip_random::{archives, members};
use testkit::record::{Node, Opened, generated, open, read_extent};

fn check_identity(target: (Game, Platform), opened: &Opened) {
    let info = opened.archive.info();
    assert_eq!(info["game"], target.0.name());
    assert_eq!(info["platform"], target.1.name());
}

fn check_layers(hip: &Hip, opened: &Opened) {
    let mut folders = opened.tree.list(opened.tree.find("layers")).iter();
    let mut placed = BTreeSet::new();
    for members in members(hip) {
        let (_, folder) = folders.next().unwrap();
        let entries = opened.tree.list(*folder);
        let files = entries
            .iter()
            .map(|&(_, node)| opened.tree.entry(node).file);
        let found: Vec<usize> = files.map(|file| file.0 as usize).collect();
        assert_eq!(found, members);
        placed.extend(found);
        let names: BTreeSet<_> = entries
            .iter()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
        assert_eq!(names.len(), entries.len(), "names in a layer are unique");
    }
    let rest: Vec<usize> = (0..hip.assets.len())
        .filter(|number| !placed.contains(number))
        .collect();
    let unlayered = folders
        .next()
        .map_or(&[][..], |&(_, node)| opened.tree.list(node));
    let files = unlayered
        .iter()
        .map(|&(_, node)| opened.tree.entry(node).file);
    assert_eq!(files.map(|file| file.0 as usize).collect::<Vec<_>>(), rest);
}

fn check_assets(hip: &Hip, opened: &Opened) {
    for (number, asset) in (0..).zip(&hip.assets) {
        let file = FileId(number);
        let entry = opened.tree.find(&format!("ids/{:08X}", asset.id));
        let entry = opened.tree.entry(entry);
        assert_eq!(
            (entry.file, entry.size),
            (file, Some(asset.bytes.len() as u64))
        );
        assert_eq!(opened.read(entry).unwrap(), asset.bytes);
        let attributes = opened.attributes(file);
        let value = |name: &str| attributes[name].as_ref().unwrap().as_str();
        assert_eq!(value("user.hip.name"), windows_1252(&asset.name));
        assert_eq!(
            value("user.hip.source_file"),
            windows_1252(&asset.source_file)
        );
        assert_eq!(value("user.hip.flags"), asset.flags.to_string());
        assert_eq!(value("user.hip.alignment"), asset.align.to_string());
        let right = hpimount_containers::hip::CHECKSUM.checksum(&asset.bytes);
        let verdict = match asset.checksum {
            Some(0) => "unset".to_owned(),
            stated => stated.is_none_or(|stated| stated == right).to_string(),
        };
        assert_eq!(value("user.hip.checksum_ok"), verdict);
    }
}

/// Reads `types/` with its `Settings.ini` by HipHopTool's rules, which must
/// find the layers and all assets in them.
fn check_settings(hip: &Hip, opened: &Opened) {
    let mut files = BTreeMap::new();
    for (folder, node) in opened.tree.list(opened.tree.find("types")) {
        let Node::Dir(entries) = &opened.tree.nodes[node.0 as usize] else {
            continue;
        };
        for (name, file) in entries {
            assert!(!name.contains(&b'/') && name[0] == b'[' && name[9..11] == *b"] ");
            let id = std::str::from_utf8(&name[1..9]).unwrap();
            let bytes = opened.read(opened.tree.entry(*file)).unwrap();
            let folder = String::from_utf8(folder.clone()).unwrap();
            let old = files.insert(u32::from_str_radix(id, 16).unwrap(), (folder, bytes));
            assert!(old.is_none());
        }
    }
    let text = opened.text("types/Settings.ini");
    let mut layers = Vec::new();
    let mut packed = BTreeSet::new();
    for line in text.lines() {
        let mut parts = line.split('=');
        let (key, value) = (parts.next().unwrap(), parts.next().unwrap_or_default());
        assert!(parts.next().is_none(), "{line}");
        match key {
            "LayerType" => {
                let kind = value.split(' ').next().unwrap();
                layers.push((kind.parse::<u32>().unwrap(), Vec::new()));
            }
            "Asset" => {
                let fields: Vec<&str> = value.split(';').collect();
                assert_eq!(fields.len(), 7, "{line}");
                let id = u32::from_str_radix(fields[0], 16).unwrap();
                let index = hip.assets.iter().position(|asset| asset.id == id).unwrap();
                let asset = &hip.assets[index];
                let (folder, bytes) = &files[&id];
                assert_eq!((fields[1], bytes), (folder.as_str(), &asset.bytes));
                assert_eq!(fields[2].parse::<i32>().unwrap(), asset.flags.cast_signed());
                assert_eq!(fields[3].parse::<i32>().unwrap(), asset.align);
                assert_eq!(fields[4].chars().count(), asset.name.len());
                assert!(packed.insert(index), "{id:08X} is packed twice");
                layers.last_mut().unwrap().1.push(index);
            }
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    let expected: Vec<(u32, Vec<usize>)> = hip
        .layers
        .iter()
        .zip(members(hip))
        .map(|(&(kind, _), mut members)| {
            members.retain(|&member| seen.insert(member));
            (kind, members)
        })
        .collect();
    assert_eq!(layers, expected);
}

/// Reads everything in an archive. An asset may have a wrong size, so only its first
/// and last bytes are read.
fn read_everything(opened: &Opened) {
    let _ = opened.archive.info();
    for node in &opened.tree.nodes {
        let Node::File(entry) = node else { continue };
        if entry.size.is_none() {
            assert!(generated(&*opened.archive, entry.file).is_ok());
            continue;
        }
        let _ = opened.attributes(entry.file);
        let size = entry.size.unwrap_or_default();
        let mut start = vec![0; size.min(4096) as usize];
        let _ = read_extent(&*opened.archive, entry.file, 0, &mut start);
        let end = size.saturating_sub(1);
        let _ = read_extent(&*opened.archive, entry.file, end, &mut [0]);
    }
}

/// Opens bytes that may not be an archive, and reads everything.
fn open_and_read(bytes: &[u8]) {
    for (force, verify) in [(false, false), (true, true)] {
        let options = Options {
            force,
            verify,
            ..Options::default()
        };
        if let Ok(opened) = open(bytes.to_vec(), options) {
            read_everything(&opened);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_archive_reads_back_as_it_was_built((target, hip) in archives()) {
        let opened = open(hip.build(), Options::default()).unwrap();
        check_identity(target, &opened);
        check_layers(&hip, &opened);
        check_assets(&hip, &opened);
        check_settings(&hip, &opened);
    }

    #[test]
    fn damaged_archives_never_panic(
        (_, hip) in archives(),
        changes in vec((any::<Index>(), any::<u8>()), 0..20),
        length in any::<Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = hip.build();
        for (offset, value) in changes {
            let offset = offset.index(bytes.len());
            bytes[offset] = value;
        }
        if cut {
            bytes.truncate(length.index(bytes.len()));
        }
        open_and_read(&bytes);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..600)) {
        open_and_read(&bytes);
        open_and_read(&[b"HIPA\0\0\0\0", bytes.as_slice()].concat());
        let size = (bytes.len() as u32).to_be_bytes();
        let table = [b"ATOC", &size[..], bytes.as_slice()].concat();
        open_and_read(&[&b"HIPA\0\0\0\0DICT\0\0\xff\xff"[..], &table].concat());
    }
}
