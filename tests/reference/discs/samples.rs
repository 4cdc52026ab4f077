//! Discs by other programs and by independent generators: the mount matches the
//! results of independent readers.

use crate::shared;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::nested::is_plain_disc;
use testkit::skip;
use testkit::walked;

use hpimount::mount::Options;
use serde_json::Value;
use testkit::walked::Walked;

/// Returns the samples of a kind, sorted; none if they are missing.
fn samples(kind: &str, prefixes: &[&str], extensions: &[&str]) -> Vec<PathBuf> {
    let Some(directory) = shared(&format!("samples/containers/{kind}")) else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        prefixes.iter().any(|prefix| name(path).starts_with(prefix))
            && extension.is_some_and(|extension| extensions.contains(&extension))
    });
    paths.sort();
    assert!(!paths.is_empty(), "there are no {kind} samples");
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Returns the output of an independent reader for a sample.
fn reference(reader: &str, path: &Path) -> Option<Value> {
    let script = shared("oracle/containers")?.join(reader);
    let output = Command::new("python3").arg(script).arg(path).output();
    if !skip::possible(output.is_ok(), "python3 cannot be run") {
        return None;
    }
    serde_json::from_slice(&output.ok()?.stdout).ok()
}

/// Returns the files that a reference reader lists, with `prefix` before paths.
fn expected(reference: &Value, prefix: &str) -> BTreeMap<String, Walked> {
    let entries = reference["entries"].as_array().unwrap();
    let mut files = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry["dir"] == false) {
        let sha256 = match entry["sha256"].as_str() {
            Some(sum) => Ok(sum.to_owned()),
            None => Err(String::new()),
        };
        let size = entry["size"].as_u64().unwrap();
        let mut path = format!("{prefix}{}", entry["path"].as_str().unwrap());
        // Names that differ only in the version are both shown.
        while files.contains_key(&path) {
            path.push('~');
        }
        files.insert(path, Walked { size, sha256 });
    }
    files
}

/// Returns options without companions, so that only files of the disc are seen.
fn options() -> Options {
    Options {
        companions: false,
        meta: hpimount::namespace::companion::Meta::Off,
        ..Options::default()
    }
}

/// Returns the files of a sample below a directory, without the reasons of
/// failures.
fn mounted(path: &Path, prefix: &str) -> Result<BTreeMap<String, Walked>, String> {
    let vfs = walked::open(path.to_owned(), options())?;
    let mut files = walked::files(&vfs);
    files.retain(|path, _| path.starts_with(prefix));
    for file in files.values_mut() {
        file.sha256 = file.sha256.clone().map_err(|_| String::new());
    }
    Ok(files)
}

/// Returns sizes and checksums, independent of names.
fn contents(files: &BTreeMap<String, Walked>) -> Vec<(u64, Result<String, String>)> {
    let files = files.values();
    let mut contents: Vec<_> = files.map(|file| (file.size, file.sha256.clone())).collect();
    contents.sort();
    contents
}

const GAMECUBE: &[&str] = &["iso", "ciso", "gcz", "rvz", "wia", "tgc"];

#[test]
fn gamecube_discs_have_the_files_that_the_reference_reader_finds() {
    for path in samples("gcm", &["good", "quirk"], GAMECUBE) {
        let Some(reference) = reference("gcm_ref.py", &path) else {
            return;
        };
        let expected = expected(&reference, "files/");
        let found = mounted(&path, "files/").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(contents(&found), contents(&expected), "{}", name(&path));
        if !name(&path).contains("bad_names") {
            assert_eq!(found, expected, "{}", name(&path));
        }
    }
}

#[test]
fn plain_discs_of_block_images_have_the_bytes_of_the_dump() {
    let Some(samples) = shared("samples/containers") else {
        return;
    };
    let plain = [
        "gcm/good.ciso",
        "gcm/good.gcz",
        "gcm/good_bzip2.rvz",
        "gcm/good_bzip2.wia",
        "gcm/good_none.rvz",
        "gcm/good_none.wia",
    ];
    for (dump, images) in [
        ("gcm/good.iso", &plain[..]),
        (
            "gcm/good_junk.iso",
            &["gcm/good_junk.rvz", "gcm/good_junk_bzip2.rvz"],
        ),
        ("iso/good_plain.iso", &["chd/good_hd.chd"]),
    ] {
        let dump = std::fs::read(samples.join(dump)).unwrap();
        for image in images {
            is_plain_disc(&samples.join(image), &dump);
        }
    }
}

#[test]
fn damaged_gamecube_discs_are_refused_if_the_reference_reader_refuses_them() {
    for path in samples("gcm", &["bad"], GAMECUBE) {
        let Some(reference) = reference("gcm_ref.py", &path) else {
            return;
        };
        match (reference.get("error"), mounted(&path, "files/")) {
            (Some(_), Err(_)) => {}
            (Some(error), Ok(_)) => panic!("{} is not refused: {error}", name(&path)),
            (None, Ok(found)) => {
                let expected = contents(&expected(&reference, ""));
                assert_eq!(contents(&found), expected, "{}", name(&path));
            }
            (None, Err(error)) => panic!("{error}"),
        }
    }
}

#[test]
fn the_files_that_dolphin_boots_are_in_sys() {
    for path in samples("gcm", &["good.iso"], &["iso"]) {
        let found = mounted(&path, "sys/").unwrap();
        let sizes = found.iter().map(|(path, file)| (path.as_str(), file.size));
        // As the generator writes them.
        assert_eq!(
            sizes.collect::<Vec<_>>(),
            [
                ("sys/apploader.img", 0x20),
                ("sys/bi2.bin", 0x2000),
                ("sys/boot.bin", 0x440),
                ("sys/fst.bin", fst_size(&path)),
                ("sys/main.dol", 0x100),
            ]
        );
    }
}

/// Returns the length of the FST in the header of a disc.
fn fst_size(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    u32::from_be_bytes(bytes[0x428..0x42C].try_into().unwrap()).into()
}

/// Compares archives by other programs with the files that were packed, by the
/// last components of their paths, since writers may add directories.
fn foreign(extensions: &[&str], prefix: &str) {
    let paths = samples("foreign", &["foreign"], extensions);
    let Some(first) = paths.first() else {
        return;
    };
    let manifest = std::fs::read(first.with_file_name("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let last = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    for path in paths {
        let files = manifest[name(&path)]["files"].as_object().unwrap();
        let expected = files.iter();
        let expected = expected.map(|(path, sum)| (last(path), sum.as_str().unwrap()));
        let expected: BTreeMap<String, &str> = expected.collect();
        let found = mounted(&path, prefix).unwrap_or_else(|error| panic!("{error}"));
        let found = found.iter().map(|(path, file)| {
            let sum = file.sha256.as_ref();
            (last(path), sum.map_or("unreadable", String::as_str))
        });
        let found: BTreeMap<String, &str> = found.collect();
        assert_eq!(found, expected, "{}", name(&path));
    }
}

#[test]
fn gamecube_discs_by_other_programs_have_the_files_that_were_packed() {
    foreign(&["ciso", "gcz", "wia", "rvz"], "files/");
}

const ISO: &[&str] = &["iso", "bin", "cue"];

/// Returns the files of a disc that the reference reader lists too: no WAV
/// files and no raw sectors.
fn iso_mounted(path: &Path) -> Result<BTreeMap<String, Walked>, String> {
    let mut files = mounted(path, "")?;
    files.retain(|path, _| {
        !path.ends_with(".raw2336") && !path.ends_with(".cdxa.str") && !path.starts_with("tracks/")
    });
    Ok(files)
}

#[test]
fn iso_discs_have_the_files_that_the_reference_reader_finds() {
    for path in samples("iso", &["good", "quirk", "one"], ISO) {
        let Some(reference) = reference("iso_ref.py", &path) else {
            return;
        };
        let expected = expected(&reference, "");
        let found = iso_mounted(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(contents(&found), contents(&expected), "{}", name(&path));
        if !name(&path).contains("bad_names") {
            assert_eq!(found, expected, "{}", name(&path));
        }
    }
    foreign(&["iso"], "");
}

#[test]
fn damaged_iso_discs_are_refused_or_match_the_reference_reader() {
    for path in samples("iso", &["bad"], ISO) {
        let Some(reference) = reference("iso_ref.py", &path) else {
            return;
        };
        match (reference.get("error"), iso_mounted(&path)) {
            (Some(_), Err(_)) => {}
            (Some(error), Ok(_)) => panic!("{} is not refused: {error}", name(&path)),
            (None, found) => {
                let expected = contents(&expected(&reference, ""));
                // Without a root, nothing is mounted.
                let found = found.map(|files| contents(&files)).unwrap_or_default();
                assert_eq!(found, expected, "{}", name(&path));
            }
        }
    }
}

#[test]
fn movies_have_a_companion_with_their_raw_sectors() {
    for (image, step) in [("good_mode2_2352", 2352), ("good_mode2_2336", 2336)] {
        for path in samples("iso", &[image], &["bin"]) {
            let movie = std::fs::read(&path).unwrap();
            let files = mounted(&path, "MOVIE").unwrap();
            let plain = &files["MOVIE.STR"];
            let (raw, played) = (&files["MOVIE.STR.raw2336"], &files["MOVIE.STR.cdxa.str"]);
            assert_eq!(plain.size / 2048, raw.size / 2336);
            assert_eq!(plain.size / 2048, (played.size - 44) / 2352);
            let skip = step - 2336;
            let whole = |bytes: &[u8]| bytes[skip + 2] & 0x20 != 0;
            let sectors = movie.chunks(step).filter(|sector| whole(sector));
            let bytes: Vec<u8> = sectors.flat_map(|sector| sector[skip..].to_vec()).collect();
            assert_eq!(raw.sha256, Ok(walked::sha256_of(&bytes)), "{}", name(&path));
            if step == 2336 {
                continue;
            }
            // The sectors of the image with Form 2 in their submode.
            let sectors = movie.chunks(step);
            let sectors = sectors.filter(|sector| sector[18] & 0x20 != 0);
            let frames: Vec<u8> = sectors.flatten().copied().collect();
            let length = |bytes: usize| (bytes as u32).to_le_bytes();
            let header = [
                &b"RIFF"[..],
                &length(frames.len() + 36),
                b"CDXAfmt ",
                &length(16),
                b"\0\0\0\0UUXA\x01\0\0\0\0\0\0\0",
                b"data",
                &length(frames.len()),
            ];
            let bytes = [header.concat(), frames].concat();
            assert_eq!(
                played.sha256,
                Ok(walked::sha256_of(&bytes)),
                "{}",
                name(&path)
            );
        }
    }
}

#[test]
fn a_wrong_edc_is_an_error_with_verify() {
    for path in samples("iso", &["bad_mode2_edc"], &["bin"]) {
        let options = Options {
            verify: true,
            ..options()
        };
        let plain = mounted(&path, "").unwrap();
        let is_readable = |file: &Walked| file.sha256.is_ok();
        assert!(plain.values().all(is_readable));
        match walked::open(path, options) {
            Ok(vfs) => {
                let files = walked::files(&vfs);
                assert!(files.len() < plain.len() || !files.values().all(is_readable));
            }
            Err(error) => assert!(error.contains("EDC"), "{error}"),
        }
    }
}

#[test]
fn audio_tracks_are_wav_files() {
    for path in samples("iso", &["good_two_files", "quirk_one_file_two"], &["cue"]) {
        let files = mounted(&path, "tracks/").unwrap();
        let sizes = files.iter().map(|(path, file)| (path.as_str(), file.size));
        // The audio tracks of the generator, of 160 and 300 sectors, begin
        // after 2 seconds.
        let sectors = match name(&path).as_str() {
            "good_two_files.cue" => 160 - 150,
            _ => 300 - 150,
        };
        let expected = [("tracks/02.wav", 44 + sectors * 2352)];
        assert_eq!(sizes.collect::<Vec<_>>(), expected, "{}", name(&path));
    }
}
