//! Broken assets of Heavy Iron's games: the samples beside the repository, and
//! good samples that are truncated or have changed bytes.

use crate::heavy_iron::samples::{archives, look};
use proptest::prelude::*;
use testkit::look::Verdict;
use testkit::trial;

/// Assets that are fine although the manifest calls them odd or bad, and why.
const OTHERWISE: [(&str, &str); 7] = [
    ("c14x2_top_bits.RW3", "bits above an index are unused"),
    (
        "pal4_index_200.RW3",
        "the change is in the chunk after the pixels",
    ),
    ("tone", "its entry is whole; the error is that of the table"),
    ("controls", "every byte is a character"),
    ("braces_10000", "braces without tags are text"),
    ("COND_OP_99", "numbers without names are shown as numbers"),
    (
        "NAN_TIMER",
        "floats that are not finite are left to the writers",
    ),
];

/// Assets that are odd although the manifest calls them bad, and why.
const ODD: [(&str, &str); 2] = [
    ("atomic_geometry_77.dff", "other atomics would be shown"),
    ("face_index_high.dff", "the other triangles are shown"),
];

#[test]
fn broken_samples_are_odd_or_damaged_as_in_the_manifest() {
    let mut wrong = Vec::new();
    for archive in archives(true) {
        for asset in &archive.assets {
            let found = look(&archive, asset, &asset.bytes);
            let is_in = |list: &[(&str, &str)]| list.iter().any(|(name, _)| *name == asset.name);
            let expected = match Verdict::of(&asset.expect) {
                _ if is_in(&OTHERWISE) => Verdict::Fine,
                Verdict::Bad if is_in(&ODD) => Verdict::Odd,
                expected => expected,
            };
            if found.verdict != expected {
                let (name, text) = (&asset.name, &found.text);
                wrong.push(format!(
                    "{}: {name}: {expected:?}, but {text}",
                    archive.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn assets_truncated_anywhere_are_harmless() {
    for archive in archives(false) {
        for asset in &archive.assets {
            let length = asset.bytes.len();
            let step = (length / 60).max(1);
            for end in (0..length).step_by(step) {
                look(&archive, asset, &asset.bytes.slice(..end));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trial::length(8, 200)))]

    #[test]
    fn assets_with_changed_bytes_are_harmless(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..6)) {
        for archive in archives(false) {
            for asset in archive.assets.iter().filter(|asset| !asset.bytes.is_empty()) {
                let mut bytes = asset.bytes.to_vec();
                for (at, word) in &changes {
                    let at = at.index(bytes.len());
                    let value = [0, u32::MAX, *word, word & 0xFF][*word as usize % 4];
                    for (byte, new) in bytes.iter_mut().skip(at).zip(value.to_le_bytes()) {
                        *byte = new;
                    }
                }
                look(&archive, asset, &bytes.into());
            }
        }
    }
}
