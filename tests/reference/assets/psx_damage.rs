//! Damaged PSX samples cause errors, never panics.

use std::fs;
use std::sync::LazyLock;

use crate::shared;
use hpimount_neversoft::psx::FORMAT;
use proptest::prelude::*;
use testkit::limits::look;

/// The samples, good and bad.
static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = shared("samples/psx/generated").into_iter();
    let entries = folder.flat_map(|folder| fs::read_dir(folder).unwrap());
    let read = entries.map(|entry| fs::read(entry.unwrap().path()).unwrap());
    read.collect()
});

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn damaged_samples_never_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        for mut bytes in SAMPLES.iter().cloned() {
            for (at, byte) in &damage {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            if is_cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            look(&FORMAT, &bytes);
        }
    }
}
