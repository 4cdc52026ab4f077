//! No IFP or HGO file, however it is made, makes its view panic, take more
//! than a second for a megabyte, or take more than 64 MiB.

mod support;

use std::fs;
use std::sync::LazyLock;

use hpimount::view::{VIEW_FORMATS, ViewFormat, hgo, ifp};
use proptest::prelude::*;
use support::limits::{look, peak_memory, second, timed};
use support::shared;

const MEGABYTE: usize = 1 << 20;

/// The formats that this program tests.
const FORMATS: [ViewFormat; 3] = [ifp::FORMAT, hgo::FORMAT, hgo::blk::FORMAT];

fn little(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn big(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// `item` as often as it fits into a megabyte, behind a head that is made from
/// the number of items and their length.
fn full_of(item: &[u8], head: impl Fn(u32, u32) -> Vec<u8>) -> Vec<u8> {
    let count = (MEGABYTE - 200) / item.len();
    let body = item.repeat(count);
    let mut bytes = head(count as u32, body.len() as u32);
    bytes.extend(body);
    bytes
}

fn anp3_head(animations: u32) -> Vec<u8> {
    [b"ANP3".to_vec(), vec![0xff; 28], little(&[animations])].concat()
}

/// A megabyte of the smallest parts of IFP files.
fn full_ifp_files() -> Vec<(&'static str, Vec<u8>)> {
    let object = [vec![1; 24], little(&[3, 0, 0])].concat();
    let objects = full_of(&object, |count, _| {
        let animation = [vec![1; 24], little(&[count, 0, 0])].concat();
        [anp3_head(1), animation].concat()
    });
    let animation = [vec![1; 24], little(&[0, 0, 0])].concat();
    let animations = full_of(&animation, |count, _| anp3_head(count));
    let keys = full_of(&[1; 10], |count, _| {
        let animation = [vec![1; 24], little(&[1, 0, 0])].concat();
        let object = [vec![1; 24], little(&[3, count, 0])].concat();
        [anp3_head(1), animation, object].concat()
    });
    let anpk_animation = little(&[0, 0, 0, 0, 0, 4, 0]);
    let anpk = full_of(&anpk_animation, |count, _| {
        [b"ANPK".to_vec(), little(&[0, 0, 4, count])].concat()
    });
    let package = [b"ANPK".to_vec(), little(&[0, 0, 4, 0])].concat();
    let list = full_of(&package, |count, _| {
        [b"ANLF".to_vec(), little(&[4, count])].concat()
    });
    vec![
        ("objects", objects),
        ("animations", animations),
        ("keys", keys),
        ("tagged animations", anpk),
        ("packages", list),
    ]
}

fn block(tag: &[u8; 4], size: usize) -> Vec<u8> {
    big(&[u32::from_le_bytes(*tag), size as u32])
}

/// Zeros at the end of every HGO file, enough for what may follow the items.
const TAIL: usize = 60;

/// The head of a file with this block, of which `before` bytes are not items.
fn hgo_head(tag: &[u8; 4], before: &[u8], items: u32) -> Vec<u8> {
    let size = 8 + before.len() + items as usize + TAIL;
    [block(b"HGOF", 8 + size), block(tag, size), before.to_vec()].concat()
}

/// A megabyte of the smallest parts of HGO files.
fn full_hgo_files() -> Vec<(&'static str, Vec<u8>)> {
    let in_block = |tag: &'static [u8; 4], item: &[u8]| {
        full_of(item, |count, length| hgo_head(tag, &big(&[count]), length))
    };
    let names = full_of(&[1, 0], |_, length| {
        hgo_head(b"NTBL", &big(&[length]), length)
    });
    let blocks = full_of(&block(b"XYZ0", 8), |_, length| {
        block(b"HGOF", length as usize + 8)
    });
    let texture = [block(b"TXM0", 24), big(&[0x83, 0, 0, 0])].concat();
    let textures = full_of(&texture, |_, length| hgo_head(b"TST0", &[], length));
    // Many references to a name without an end, every byte of which is long
    // where it is written.
    let table = [block(b"NTBL", 112), big(&[100]), vec![1; 100]].concat();
    let animations = full_of(&[0; 32], |count, length| {
        let size = 16 + length as usize + TAIL;
        let head = block(b"HGOF", 8 + table.len() + size);
        [head, table.clone(), block(b"TAS0", size), big(&[count, 0])].concat()
    });
    // Geometry of a single joint: what stands before the number of meshes.
    let skeleton = [
        vec![1],
        vec![0; 210],
        vec![0; 2],
        vec![1],
        vec![0; 4],
        vec![1, 1],
        big(&[1, 0, 0, 0, 0]),
    ]
    .concat();
    let in_geometry = |item: &[u8], before: &[u32]| {
        full_of(item, |count, length| {
            let words = big(&[before, &[count]].concat());
            hgo_head(b"HGO0", &[skeleton.clone(), words].concat(), length)
        })
    };
    let mut files = vec![
        ("materials", in_block(b"MS00", &[0xff; 84])),
        ("names", names),
        ("blocks", blocks),
        ("textures", textures),
        ("texture animations", animations),
        ("meshes", in_geometry(&[0; 24], &[])),
        ("primitives", in_geometry(&big(&[5, 0]), &[1, 0, 0, 0])),
        ("skin groups", in_geometry(&[0; 12], &[1, 0, 0, 0, 0])),
    ];
    for (_, bytes) in &mut files {
        bytes.extend([0; TAIL]);
    }
    files
}

#[test]
fn a_megabyte_of_the_smallest_parts_takes_no_more_than_its_due() {
    let before = peak_memory();
    let files = [
        (ifp::FORMAT, full_ifp_files as fn() -> Vec<_>),
        (hgo::FORMAT, full_hgo_files),
    ];
    for (format, files) in files {
        for (name, mut bytes) in files() {
            let whole = timed(|| look(&format, &bytes));
            assert!(whole < second(), "{name}: {whole:?}");
            // Objects with an unknown type at the end, geometry without one.
            let last_type = bytes.len() - 12;
            bytes[last_type] = 9;
            if format.name == hgo::FORMAT.name {
                bytes.truncate(bytes.len() - TAIL);
            }
            let spoilt = timed(|| look(&format, &bytes));
            assert!(spoilt < second(), "{name}, spoilt: {spoilt:?}");
            let memory = peak_memory() - before;
            eprintln!(
                "{name}: {whole:?}, spoilt {spoilt:?}, peak so far {} KiB",
                memory >> 10
            );
            // The files of a format, all there at once, take some as well.
            assert!(memory < (64 + 8) << 20, "{name}: {memory} bytes");
        }
    }
}

/// The good and bad samples of both formats, the largest left out.
fn samples() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for folder in ["ifp/generated", "ifp/real", "hgo/generated"] {
        let Some(folder) = shared(&format!("samples/{folder}")) else {
            continue;
        };
        for entry in fs::read_dir(folder).unwrap() {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            if bytes.len() < 64 << 10 {
                found.push(bytes);
            }
        }
    }
    found
}

/// What happens to a file on its way.
#[derive(Debug, Clone)]
enum Damage {
    Byte(prop::sample::Index, u8),
    Word(prop::sample::Index, u32),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>;
    let word = prop_oneof![
        Just(0),
        Just(1),
        Just(0xff),
        Just(0x7fff_ffff),
        Just(u32::MAX),
        any::<u32>()
    ];
    prop_oneof![
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (place(), word).prop_map(|(at, word)| Damage::Word(at, word)),
        place().prop_map(Damage::Cut),
        (place(), place()).prop_map(|(from, to)| Damage::Repeat(from, to)),
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
    fn damaged_samples_never_panic_or_take_long(
        sample in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        if !SAMPLES.is_empty() {
            let mut bytes = sample.get(&SAMPLES).clone();
            for damage in &damages {
                apply(damage, &mut bytes);
            }
            let time = timed(|| FORMATS.iter().for_each(|format| look(format, &bytes)));
            prop_assert!(time < second(), "{time:?}");
        }
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

static SAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(samples);

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
