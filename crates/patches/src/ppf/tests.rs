use std::sync::Arc;

use hpimount_containers::io::ReadAt;

use crate::{Check, Error, Extents, Format, Mismatch, Patch, Result, write};

fn original(length: usize) -> Arc<dyn ReadAt> {
    Arc::new((0..=250).cycle().take(length).collect::<Vec<u8>>())
}

fn start(version: u8, rest: &[u8]) -> Vec<u8> {
    let magic = [b'P', b'P', b'F', b'0' + version, b'0', version - 1];
    [&magic[..], &[b' '; 50], rest].concat()
}

/// Applies a patch to 60,000 bytes, and returns the ten bytes at 3.
fn apply(patch: Vec<u8>) -> Result<Vec<u8>> {
    let patch = Patch::open(Arc::new(patch))?;
    let patched = patch.apply(original(60_000))?;
    let mut bytes = vec![0; 10];
    patched.read_exact_at(&mut bytes, 3).unwrap();
    Ok(bytes)
}

const EXPECTED: &[u8] = b"\x03\x04abc\x08\x09\x0A\x0B\x0C";

#[test]
fn each_version_has_records_of_its_own_form() {
    let mut block = vec![0; 1024];
    original(60_000).read_exact_at(&mut block, 0x9320).unwrap();
    let short = b"\x05\0\0\0\x03abc";
    let long = b"\x05\0\0\0\0\0\0\0\x03abc";
    let file_id = b"@BEGIN_FILE_ID.DIZhello@END_FILE_ID.DIZ";
    for patch in [
        start(1, short),
        start(2, &[&60_000_u32.to_le_bytes(), &*block, short].concat()),
        start(
            2,
            &[&[0; 4], &*block, short, file_id, &[5, 0, 0, 0]].concat(),
        ),
        start(3, &[&[0; 4], &long[..]].concat()),
        start(3, &[&[0, 1, 0, 0], &*block, long].concat()),
        start(3, &[&[0, 0, 1, 0], &long[..], b"xyz"].concat()),
        start(3, &[&[0; 4], &long[..], file_id, &[5, 0]].concat()),
        start(3, &[&[0; 4], &long[..], file_id, &[5, 0, 0, 0]].concat()),
    ] {
        assert_eq!(apply(patch).unwrap(), EXPECTED);
    }
}

#[test]
fn a_wrong_block_is_an_error_before_anything_is_applied() {
    let patch = start(
        3,
        &[&[0, 1, 0, 0], &[9; 1024][..], b"\x05\0\0\0\0\0\0\0\x03abc"].concat(),
    );
    let error = apply(patch.clone()).unwrap_err();
    assert!(
        matches!(error, Error::WrongOriginal(Mismatch::Block(0x9320))),
        "{error}"
    );
    let patch = Patch::open(Arc::new(patch)).unwrap();
    patch.check(&original(60_000)).unwrap_err();
    patch.check(&original(100)).unwrap_err();
}

#[test]
fn damage_and_other_versions_are_refused() {
    for patch in [
        start(3, &[7, 0, 0, 0]),
        start(3, &[0; 4]),
        start(3, b"\0\0\0\0\x05\0\0\0\0\0\0\0\x04abc"),
        start(3, b"\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x03abc"),
        start(1, b"\x05\0\0\0\0a\x03"),
        start(4, &[0; 4]),
    ] {
        assert!(!apply(patch).unwrap_err().is_fault());
    }
}

fn patch_at(length: usize, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let mut extents = Extents::default();
    let end = offset + bytes.len() as u64;
    extents.append_original(0..offset);
    extents.append_bytes(bytes.to_vec());
    extents.append_original(end..length as u64);
    let mut patch = Vec::new();
    write::ppf(&extents, &*original(length), &mut patch).unwrap();
    patch
}

#[test]
fn records_have_only_what_differs() {
    let mut bytes = vec![0; 100];
    original(50_000).read_exact_at(&mut bytes, 1000).unwrap();
    (bytes[10], bytes[15], bytes[40]) = (255, 255, 255);
    let patch = patch_at(50_000, 1000, &bytes);
    assert_eq!(patch.len(), 60 + 1024 + 9 + 6 + 9 + 1);
    let opened = Patch::open(Arc::new(patch)).unwrap();
    assert_eq!(opened.check(&original(50_000)).unwrap(), Check::Block);
}

/// Other programs would take such an end for a description file.
#[test]
fn no_patch_ends_like_a_file_id() {
    for end in [&b"x.DIZ12"[..], b"x.DIZ1234"] {
        let patch = patch_at(100, 50, end);
        let last = [
            &(49 + end.len() as u64).to_le_bytes()[..],
            &[1],
            &end[end.len() - 1..],
        ]
        .concat();
        assert!(patch.ends_with(&last), "{patch:?}");
    }
}

#[test]
fn shorter_results_are_refused_by_name() {
    let mut extents = Extents::default();
    extents.append_original(0..10);
    let error = write::ppf(&extents, &*original(20), &mut Vec::new()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Limit {
                format: Format::Ppf,
                ..
            }
        ),
        "{error}"
    );
}

/// A source of zeros.
struct Zeros(u64);

impl ReadAt for Zeros {
    fn len(&self) -> u64 {
        self.0
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.check_end(buf.len(), offset)?;
        buf.fill(0);
        Ok(())
    }
}

#[test]
fn no_record_begins_where_other_programs_expect_a_file_id() {
    let original: Arc<dyn ReadAt> = Arc::new(Zeros(2 << 30));
    let position = u64::from(u32::from_le_bytes(*b"@BEG"));
    let mut extents = Extents::default();
    extents.append_original(0..position);
    extents.append_bytes(vec![1; 300]);
    extents.append_original(position + 300..original.len());
    let mut patch = Vec::new();
    write::ppf(&extents, &*original, &mut patch).unwrap();
    assert!(!patch.windows(4).any(|bytes| bytes == b"@BEG"));
    let patched = Patch::open(Arc::new(patch))
        .unwrap()
        .apply(original)
        .unwrap();
    let mut bytes = vec![0; 302];
    patched.read_exact_at(&mut bytes, position - 1).unwrap();
    assert_eq!(bytes, [&[0][..], &[1; 300], &[0]].concat());
}
