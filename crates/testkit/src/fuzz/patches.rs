//! Patches, Riivolution XML and game mod descriptors.

use std::sync::Arc;

use hpimount_containers::io::ReadAt;
use hpimount_patches::riivolution::{Card, Descriptor, Disc, Entry, Mod, Output};
use hpimount_patches::{Error, Extents, Options, Patch, write};

/// Maximum length of results that are read as a whole. Longer ones are only read at
/// their end.
const MAX_WHOLE: u64 = 1 << 20;

/// Memory of a patch, in bytes.
const MEMORY: usize = 4 << 20;

fn original() -> Arc<dyn ReadAt> {
    let bytes = (0..5000_u32).map(|number| ((number * number) >> 7) as u8);
    Arc::new(bytes.collect::<Vec<u8>>())
}

/// A patch of an original of 5,000 bytes. It is applied or refused, all ways to read
/// the result agree, and it can be written as another patch.
pub fn patches(data: &[u8]) {
    if let Ok(parsed) = Mod::parse(data) {
        plan(&parsed);
    }
    let _ = Descriptor::parse(data);
    let options = Options {
        memory: MEMORY,
        windows: MEMORY,
        spool: None,
    };
    let Ok(patch) = Patch::open_with(Arc::new(summed(data)), options) else {
        return;
    };
    let original = original();
    let _ = patch.check(&original);
    let Ok(patched) = patch.apply(original.clone()) else {
        return;
    };
    let patched = Arc::new(patched);
    let length = patched.len();
    let last = length.min(100);
    let _ = patched.read_exact_at(&mut vec![0; last as usize], length - last);
    if length > MAX_WHOLE {
        return;
    }
    let mut whole = vec![0; length as usize];
    if patched.read_exact_at(&mut whole, 0).is_err() {
        return;
    }
    for (number, expected) in whole.chunks(777).enumerate() {
        let mut piece = vec![0; expected.len()];
        let read = patched.read_exact_at(&mut piece, number as u64 * 777);
        read.unwrap();
        assert_eq!(piece, expected);
    }
    let mut again = Vec::new();
    let options = write::VcdiffOptions::default();
    match write::xdelta(&patched.extents().unwrap(), &*original, options, &mut again) {
        Err(Error::Unchanged) => return,
        written => written.unwrap(),
    }
    let again = Patch::open(Arc::new(again))
        .unwrap()
        .apply(original)
        .unwrap();
    again.verify().unwrap();
    let mut bytes = vec![0; whole.len()];
    again.read_exact_at(&mut bytes, 0).unwrap();
    assert!(bytes == whole);
}

/// Corrects the CRC-32 of BPS and UPS patches.
fn summed(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    if let Some(end) = data.len().checked_sub(4)
        && (data.starts_with(b"BPS1") || data.starts_with(b"UPS1"))
    {
        let sum = crc32fast::hash(&data[..end]);
        data[end..].copy_from_slice(&sum.to_le_bytes());
    }
    data
}

/// A card with one file in every folder.
struct OneFile;

impl Card for OneFile {
    fn size(&self, path: &str) -> Option<u64> {
        (!path.is_empty()).then_some(10)
    }

    fn entries(&self, _folder: &str) -> Option<Vec<Entry>> {
        let entry = |name: &str, is_folder| Entry {
            name: name.to_owned(),
            is_folder,
        };
        Some(vec![entry("a.bin", false), entry("b", true)])
    }
}

fn plan(parsed: &Mod) {
    let files = [
        ("files/a.bin".to_owned(), 100),
        ("sys/main.dol".to_owned(), 9),
    ];
    let disc = Disc::new("GXXE01", 0, 0, &files);
    if let Ok(plan) = parsed.plan(&disc, &OneFile, "riivolution", &[]) {
        let is_known = |path: &String| path.starts_with("files/") || path == "sys/main.dol";
        assert!(plan.files.iter().all(|file| is_known(&file.path)));
    }
}

/// Returns a patch of each format.
pub(super) fn patches_seeds() -> Vec<Vec<u8>> {
    let mut extents = Extents::default();
    extents.append_original(100..900);
    extents.append_bytes(b"some new bytes, some new bytes".to_vec());
    extents.append_fill(3, 300);
    extents.append_original(2000..5000);
    extents.append_bytes(vec![1; 2000]);
    let of = |write: fn(&Extents, &dyn ReadAt, &mut dyn std::io::Write) -> _| {
        let mut patch = Vec::new();
        let written: hpimount_patches::Result<()> = write(&extents, &*original(), &mut patch);
        written.unwrap();
        patch
    };
    let xdelta = of(|extents, original, out| {
        let names = Some(("new", "old"));
        let options = write::VcdiffOptions {
            names,
            has_checksums: false,
        };
        write::xdelta(extents, original, options, out)
    });
    let files = ["files/a.bin".to_owned(), "sys/main.dol".to_owned()];
    let output = Output {
        name: "mod",
        id: "GXXE01",
        disc: Some((0, 0)),
        files: &files,
        base_file: Some("game.iso"),
    };
    let start = |version: &[u8], rest: &[u8]| [b"PPF", version, &[b' '; 50], rest].concat();
    vec![
        xdelta,
        // A window of an ADD, a copy of itself and a run, without checksum.
        b"\xD6\xC3\xC4\0\0\0\x0F\x0E\0\x05\x04\x01abcd\x05\x05\x14\0\x06\0".to_vec(),
        of(write::bps),
        of(write::ppf),
        of(write::ips),
        b"IPS32\0\0\0\x05\0\x03abc\0\0\x20\0\0\0\0\x10ZEEOF".to_vec(),
        b"PATCH\0\0\x05\0\x03abcEOF\0\x10\0".to_vec(),
        summed(b"UPS1\x08\xA6\x08\xA6\x85abc\0\x90d\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        start(b"10\0", b"\x05\0\0\0\x03abc"),
        start(b"20\x01", &[&[0; 1028][..], b"\x05\0\0\0\x03abc"].concat()),
        output.xml().unwrap().into_bytes(),
        output.descriptor().unwrap().into_bytes(),
    ]
}
