//! Archives packed by hpipack, compared with independent readers and with known
//! archives.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::hpi::reader::reports;
use crate::shared;
use hpimount_containers::hpi::chunk::{ChunkHeader, MARKER, checksum, unscramble};
use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::hpi::lz77;
use tempfile::tempdir;
use testkit::files::sha256;
use testkit::hpipack::{contents, hpipack, stderr, usual_directory};
use zerocopy::FromBytes;

/// Returns paths, sizes and digests of the files by the independent reader.
fn described(found: &serde_json::Value) -> BTreeMap<String, (u64, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let files = found["files"].as_array().unwrap().iter().map(|file| {
        let size = file["size"].as_u64().unwrap();
        (text(&file["path"]), (size, text(&file["sha256"])))
    });
    files.collect()
}

#[test]
fn packed_files_are_the_same_in_other_readers() {
    let (dir, work_dir) = (usual_directory(), tempdir().unwrap());
    let keys = ["0", "0x7D", "254"];
    let ta = ["stored", "lz77", "zlib"].map(|method| keys.map(|key| ["ta", method, key]));
    let kingdoms = ["stored", "zlib"].map(|method| ["kingdoms", method, "0"]);
    let ways: Vec<_> = ta.into_iter().flatten().chain(kingdoms).collect();
    let pack = |[format, method, key]: &[&str; 3]| {
        let out = work_dir.path().join(format!("{format} {method} {key}"));
        let options = ["--format", format, "--method", method, "--key", key];
        let output = hpipack(&options, dir.path(), &out);
        assert!(output.status.success(), "{options:?}: {}", stderr(&output));
        out
    };
    let archives: Vec<PathBuf> = ways.iter().map(pack).collect();

    let below = contents(dir.path());
    let directories = below.values().filter(|bytes| bytes.is_none()).count();
    let files = below.iter().filter_map(|(path, bytes)| {
        let bytes = bytes.as_ref()?;
        let path = path.to_str().unwrap().to_owned();
        Some((path, (bytes.len() as u64, sha256(bytes))))
    });
    let expected: BTreeMap<_, _> = files.collect();
    let reports = reports(&archives).unwrap_or_default();
    for (way, found) in ways.iter().zip(reports) {
        let found = found.unwrap();
        let report = &found["report"];
        assert_eq!(report["errors"], serde_json::json!([]), "{way:?}");
        assert_eq!(report["trailer_ok"], true, "{way:?}");
        assert_eq!(
            (&report["ngaps"], &report["overlaps"]),
            (&0.into(), &0.into())
        );
        assert_eq!(report["features"]["tak_sum_BAD"], serde_json::Value::Null);
        assert_eq!(report["dirs"], directories, "{way:?}");
        assert_eq!(described(&found), expected, "{way:?}");
    }
}

/// Returns the packed size of all LZ77 chunks in an archive, and their size when
/// our encoder packs them. An archive's key and chunks can be found without its
/// directory.
fn lz77_sizes(archive: &[u8]) -> (usize, usize) {
    let mut bytes = archive.to_vec();
    Cipher::from_header(bytes[12]).apply(20, &mut bytes[20..]);
    let (mut theirs, mut ours) = (0, 0);
    for at in 20..bytes.len() - 4 {
        if bytes[at..at + 4] != MARKER {
            continue;
        }
        let (header, rest) = ChunkHeader::read_from_prefix(&bytes[at..]).unwrap();
        let payload = rest.get(..header.compressed_size.get() as usize);
        let Some(payload) = payload.filter(|&bytes| header.checksum == checksum(bytes)) else {
            continue;
        };
        if header.method != 1 {
            continue;
        }
        let mut payload = payload.to_vec();
        unscramble(0, &mut payload);
        let length = header.decompressed_size.get() as usize;
        let plain = lz77::Decoder::default().decode(&payload, length).unwrap();
        theirs += payload.len();
        ours += lz77::encode(&plain).len();
    }
    (theirs, ours)
}

#[test]
fn lz77_packs_as_well_as_known_archives() {
    let Some(samples) = shared("samples/hpi/real") else {
        return;
    };
    let (mut theirs, mut ours) = (0, 0);
    for sample in fs::read_dir(samples).unwrap() {
        let path = sample.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ufo") {
            let sizes = lz77_sizes(&fs::read(path).unwrap());
            theirs += sizes.0;
            ours += sizes.1;
        }
    }
    let ratio = ours as f64 / theirs as f64;
    println!("LZ77: {ours} bytes here, {theirs} there, ratio {ratio:.4}");
    assert!(theirs > 1_000_000, "the samples have LZ77 chunks");
    assert!(ratio <= 1.02);
}
