//! Views of damaged IFP and HGO files neither panic nor take long.

use std::io::sink;
use std::sync::LazyLock;

use fixtures::assets::one_of_each;
use fixtures::full::{full_hgo_files, full_ifp_files};
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{Alone, ViewFormat};
use hpimount_crash::hgo;
use hpimount_gta::ifp;
use proptest::prelude::*;
use testkit::limits::{look, second, timed};
use testkit::sources::ifp as ifp_of;

/// The formats that this program tests.
const FORMATS: [ViewFormat; 3] = [ifp::FORMAT, hgo::FORMAT, hgo::BLK_FORMAT];

/// Returns small files of both formats.
fn files() -> Vec<Vec<u8>> {
    let all = one_of_each().into_iter();
    let wanted = all.filter(|(name, ..)| !name.ends_with(".psx"));
    wanted.map(|(.., bytes)| bytes).collect()
}

/// A change that damages a file.
#[derive(Debug, Clone)]
enum Damage {
    Byte(prop::sample::Index, u8),
    Word(prop::sample::Index, u32),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let position = any::<prop::sample::Index>;
    let word = prop_oneof![
        Just(0),
        Just(1),
        Just(0xff),
        Just(0x7fff_ffff),
        Just(u32::MAX),
        any::<u32>()
    ];
    prop_oneof![
        (position(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (position(), word).prop_map(|(at, word)| Damage::Word(at, word)),
        position().prop_map(Damage::Cut),
        (position(), position()).prop_map(|(from, to)| Damage::Repeat(from, to)),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    match damage {
        Damage::Byte(at, byte) => bytes[at.index(length)] = *byte,
        Damage::Word(at, word) => {
            let at = at.index(length) & !3;
            let end = (at + 4).min(length);
            bytes[at..end].copy_from_slice(&word.to_be_bytes()[..end - at]);
        }
        Damage::Cut(at) => bytes.truncate(at.index(length)),
        Damage::Repeat(from, to) => {
            let (from, to) = (from.index(length), to.index(length));
            let copy = bytes[from.min(to)..from.max(to)].to_vec();
            bytes.splice(from..from, copy);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_never_panic(
        magic in prop::sample::select(vec!["ANPK", "ANLF", "ANP2", "ANP3", "FOGH", "HGOF", ""]),
        tail in prop::collection::vec(any::<u8>(), 0..2048),
    ) {
        let bytes = [magic.as_bytes(), &tail].concat();
        for format in &FORMATS {
            look(format, &bytes);
        }
    }

    #[test]
    fn damaged_files_never_panic_or_take_long(
        file in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let mut bytes = file.get(&FILES).clone();
        for damage in &damages {
            apply(damage, &mut bytes);
        }
        let time = timed(|| FORMATS.iter().for_each(|format| look(format, &bytes)));
        prop_assert!(time < second(), "{time:?}");
    }

    #[test]
    fn damaged_small_parts_never_panic(
        file in any::<prop::sample::Index>(),
        length in 0..4096_usize,
        damages in prop::collection::vec(damage(), 0..8),
    ) {
        let mut bytes = file.get(&SMALL).clone();
        bytes.truncate(length);
        for damage in &damages {
            apply(damage, &mut bytes);
        }
        FORMATS.iter().for_each(|format| look(format, &bytes));
    }
}

static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(files);

/// The beginnings of the files that are full of small parts.
static SMALL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let files = full_ifp_files().into_iter().chain(full_hgo_files());
    files.map(|(_, bytes)| bytes[..4096].to_vec()).collect()
});

#[test]
fn the_tested_formats_are_the_registered_ones() {
    for format in &FORMATS {
        let mut names = VIEW_FORMATS.iter().map(|registered| registered.name);
        assert!(names.any(|name| name == format.name));
    }
}

#[test]
fn a_package_of_two_megabytes_is_rendered_quickly() {
    let bytes = ifp_of(256, 512).into();
    let mut view = None;
    let open = timed(|| view = (ifp::FORMAT.open)(&bytes, &Alone).ok());
    let view = view.unwrap();
    let files = view.files();
    let slowest = (0..files.len())
        .map(|index| timed(|| view.render(index, &Alone, &mut sink()).unwrap()))
        .max();
    eprintln!(
        "open {open:?}, slowest of {} files {slowest:?}",
        files.len()
    );
    assert!(open + slowest.unwrap() < second() / 10);
}
