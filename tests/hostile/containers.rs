//! Containers of arbitrary bytes: each is opened or refused, and its files are read or
//! return an error.

use fixtures::container_seeds as seeds;
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::containers::{self, Contents as _};
use testkit::fuzz::container as fuzz;
use testkit::trial;

/// The entry point of a format, and its seeds.
type Target = (fn(&[u8]), fn() -> Vec<Vec<u8>>);

const TARGETS: [Target; 14] = [
    (fuzz::img, fuzz::img_seeds),
    (fuzz::wad, fuzz::wad_seeds),
    (fuzz::pkr, fuzz::pkr_seeds),
    (fuzz::pre, fuzz::pre_seeds),
    (fuzz::zip, fuzz::zip_seeds),
    (fuzz::xdvdfs, fuzz::xdvdfs_seeds),
    (fuzz::seven_zip, fuzz::seven_zip_seeds),
    (fuzz::inno, fuzz::inno_seeds),
    (fuzz::tar, fuzz::tar_seeds),
    (fuzz::compressed, fuzz::compressed_seeds),
    (fuzz::gcm, fuzz::gcm_seeds),
    (fuzz::iso, fuzz::iso_seeds),
    (fuzz::udf, fuzz::udf_seeds),
    (fuzz::image, fuzz::image_seeds),
];

/// Seeds that cannot be opened would test nothing.
#[test]
fn the_seeds_are_containers_with_files_that_can_be_read() {
    let sectors = seeds::sectors();
    let disc = [vec![0; 32 * seeds::SECTOR], seeds::xdvdfs()].concat();
    let mut all = vec![
        ("x.img", seeds::img(), 2),
        ("x.dir", seeds::img_directory(), 4),
        ("x.pkr", seeds::pkr(), 2),
        ("x.pre", seeds::pre_flat(), 2),
        ("x.pre", seeds::pre_packed(), 2),
        ("x.zip", seeds::zip(), 3),
        ("x.iso", disc, 3),
        ("x.7z", seeds::seven_zip(), 3),
        // A hard link is another file.
        ("x.tar", seeds::tar(), 4),
        ("x.gcm", seeds::gcm(), 7),
        ("x.tgc", seeds::tgc(0x10_0000), 7),
    ];
    all.extend(
        seeds::compressed()
            .into_iter()
            .map(|bytes| ("x.gz", bytes, 1)),
    );
    let [names, offsets, hashed] = seeds::wad_directories();
    all.extend([
        ("x.hed", names, 2),
        ("x.hed", offsets, 1),
        ("x.hed", hashed, 2),
    ]);
    for (name, bytes, files) in all {
        let partner = |_: &str| Some(sectors.clone());
        let opened = containers::open(name, bytes, &partner, true).unwrap();
        let read = opened.files().map(|(_, entry)| opened.sha256(entry));
        let encrypted = usize::from(name == "x.zip");
        let readable = read.filter(Result::is_ok).count();
        assert_eq!(opened.files().count(), files, "{name}");
        assert_eq!(readable, files - encrypted, "{name}");
    }
}

#[test]
fn truncated_seeds_cause_no_panic() {
    for (run, seeds) in TARGETS {
        for seed in seeds() {
            let step = (seed.len() / 400).max(1) * trial::step(8);
            for length in (trial::first(step)..seed.len()).step_by(step) {
                run(&seed[..length]);
            }
        }
    }
}

/// Returns about a hundred positions of numbers in a seed; about fifty for a disc,
/// which is examined in several forms. Most test runs use one in eight. Skips empty
/// sectors, which most of a disc consists of.
fn positions(seed: &[u8]) -> impl Iterator<Item = usize> {
    let sectors = seed.chunks(seeds::SECTOR);
    let is_empty: Vec<bool> = sectors
        .map(|sector| sector.iter().all(|&byte| byte == 0))
        .collect();
    let all = 0..seed.len().saturating_sub(4);
    let filled: Vec<usize> = all.filter(|at| !is_empty[at / seeds::SECTOR]).collect();
    let is_disc = is_empty.len() > 4;
    let step = (filled.len() / if is_disc { 50 } else { 100 }).max(1) * trial::step(8);
    filled.into_iter().skip(trial::first(step)).step_by(step)
}

#[test]
fn extreme_numbers_cause_no_panic() {
    for (run, seeds) in TARGETS {
        for seed in seeds() {
            for at in positions(&seed) {
                for value in [0, 1, 0x7FFF_FFFF, 0x8000_0000, u32::MAX] {
                    let mut bytes = seed.clone();
                    bytes[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
                    run(&bytes);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_seeds_cause_no_panic(
        target in 0..TARGETS.len(),
        seed in any::<prop::sample::Index>(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let (run, seeds) = TARGETS[target];
        let seeds = seeds();
        let mut bytes = seed.get(&seeds).clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        run(&bytes);
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(
        target in 0..TARGETS.len(),
        bytes in vec(any::<u8>(), 0..3000),
    ) {
        TARGETS[target].0(&bytes);
    }
}
