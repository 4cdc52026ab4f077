//! Patches of random edits in each format produce the result, as a whole and by ranges.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use hpimount_containers::io::ReadAt;
use hpimount_patches::{Error, Extents, Format, Patch, Patched, Result, write};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A part of a result.
#[derive(Debug, Clone)]
enum Part {
    Keep(Index, usize),
    Bytes(Vec<u8>),
    Fill(u8, usize),
    /// The original at this place, except for some bytes.
    Edited(usize, Vec<(Index, u8)>),
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => (any::<Index>(), 0..3000_usize).prop_map(|(from, length)| Part::Keep(from, length)),
        3 => vec(any::<u8>(), 0..300).prop_map(Part::Bytes),
        2 => (any::<u8>(), prop_oneof![8 => 0..300_usize, 1 => Just(70_000)]).prop_map(|(byte, length)| Part::Fill(byte, length)),
        2 => (0..3000_usize, vec((any::<Index>(), any::<u8>()), 0..20))
            .prop_map(|(length, edits)| Part::Edited(length, edits)),
    ]
}

fn range(index: &Index, length: usize, len: usize) -> Range<usize> {
    let start = index.index(len + 1);
    start..len.min(start + length)
}

/// Returns the extents of a result, and the result.
fn build(original: &[u8], parts: &[Part]) -> (Extents, Vec<u8>) {
    let (mut extents, mut result) = (Extents::default(), Vec::new());
    for part in parts {
        match part {
            Part::Keep(from, length) => {
                let range = range(from, *length, original.len());
                extents.append_original(range.start as u64..range.end as u64);
                result.extend_from_slice(&original[range]);
            }
            Part::Bytes(bytes) => {
                extents.append_bytes(bytes.clone());
                result.extend_from_slice(bytes);
            }
            Part::Fill(byte, length) => {
                extents.append_fill(*byte, *length as u64);
                result.resize(result.len() + length, *byte);
            }
            Part::Edited(length, edits) => {
                let start = result.len().min(original.len());
                let end = original.len().min(start + length);
                let mut bytes = original[start..end].to_vec();
                for (at, byte) in edits {
                    if !bytes.is_empty() {
                        let at = at.index(bytes.len());
                        bytes[at] = *byte;
                    }
                }
                extents.append_bytes(bytes.clone());
                result.extend_from_slice(&bytes);
            }
        }
    }
    (extents, result)
}

/// Writes a patch in a format.
type WritePatch = fn(&Extents, &dyn ReadAt, &mut dyn Write) -> Result<()>;

const FORMATS: [(Format, WritePatch); 5] = [
    (Format::Vcdiff, |extents, original, out| {
        let names = Some(("new", "old"));
        let options = write::VcdiffOptions {
            names,
            has_checksums: true,
        };
        write::xdelta(extents, original, options, out)
    }),
    (Format::Vcdiff, |extents, original, out| {
        let options = write::VcdiffOptions {
            names: None,
            has_checksums: false,
        };
        write::xdelta(extents, original, options, out)
    }),
    (Format::Bps, write::bps),
    (Format::Ppf, write::ppf),
    (Format::Ips, write::ips),
];

fn apply(patch: Vec<u8>, original: &Arc<dyn ReadAt>) -> Patched {
    let patch = Patch::open(Arc::new(patch)).unwrap();
    patch.check(original).unwrap();
    let patched = patch.apply(original.clone()).unwrap();
    patched.verify().unwrap();
    patched
}

fn read(source: &dyn ReadAt, range: Range<usize>) -> Vec<u8> {
    let mut bytes = vec![0; range.len()];
    source
        .read_exact_at(&mut bytes, range.start as u64)
        .unwrap();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_format_gives_the_result(
        original in vec(any::<u8>(), 0..6000),
        parts in vec(part(), 0..12),
        reads in vec((any::<Index>(), 0..5000_usize), 8),
    ) {
        let (extents, result) = build(&original, &parts);
        prop_assert_eq!(extents.len(), result.len() as u64);
        let source: Arc<dyn ReadAt> = Arc::new(original.clone());
        for (format, write) in FORMATS {
            let mut patch = Vec::new();
            match write(&extents, &*source, &mut patch) {
                Ok(()) => {}
                Err(Error::Unchanged) => {
                    prop_assert_eq!(&original, &result);
                    continue;
                }
                Err(Error::Limit { format: Format::Ppf, .. }) => {
                    prop_assert!(result.len() < original.len());
                    continue;
                }
                Err(error) => panic!("{format}: {error}"),
            }
            let mut again = Vec::new();
            write(&extents, &*source, &mut again).unwrap();
            prop_assert!(patch == again, "{} is not deterministic", format);
            let patched = Arc::new(apply(patch, &source));
            prop_assert!(read(&*patched, 0..result.len()) == result, "{}", format);
            for (start, length) in &reads {
                let range = range(start, *length, result.len());
                prop_assert_eq!(&read(&*patched, range.clone()), &result[range]);
            }
            // From any format to BPS.
            let mut bps = Vec::new();
            match hpimount_patches::write::bps(&patched.extents().unwrap(), &*source, &mut bps) {
                Err(Error::Unchanged) => prop_assert_eq!(&original, &result),
                written => {
                    written.unwrap();
                    prop_assert!(read(&apply(bps, &source), 0..result.len()) == result);
                }
            }
        }
    }
}
