//! 7z archives: output of 7-Zip is read, solid blocks are decoded forward, and
//! unsupported methods are named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixtures::container_seeds::{Method7z, seven_zip, seven_zip_of};
use hpimount::mount::Options;
use hpimount::namespace::companion::Meta;
use hpimount_containers::Archive;
use hpimount_containers::io::Error;
use hpimount_containers::volume::{Content, FileId};
use testkit::applied::read_at;
use testkit::containers::{Contents as _, open, open_path};
use testkit::{skip, walked};

fn opened(bytes: Vec<u8>) -> Result<Archive, Error> {
    open("x.7z", bytes, &|_| None, false)
}

/// Returns the files with their bytes, or the errors of reading them.
fn read(opened: &Archive) -> BTreeMap<String, Result<Vec<u8>, String>> {
    let files = opened.files().map(|(path, entry)| {
        let bytes = opened.bytes(entry).map_err(|error| error.to_string());
        (path.to_owned(), bytes)
    });
    files.collect()
}

#[test]
fn files_of_a_block_follow_one_another() {
    let files: [(&str, &[u8]); 3] = [("d/a", b"first"), ("d/b", b"second one"), ("c", b"3")];
    for method in [Method7z::Copy, Method7z::Deflate] {
        let opened = opened(seven_zip_of(method, &files, 0)).unwrap();
        let mut expected: BTreeMap<String, _> = files
            .iter()
            .map(|(path, bytes)| (path.to_string(), Ok(bytes.to_vec())))
            .collect();
        expected.insert("empty".into(), Ok(Vec::new()));
        assert_eq!(read(&opened), expected, "{method:?}");
        assert_eq!(opened.directories(), ["d"]);
        let (_, entry) = opened.files().next().unwrap();
        assert_eq!(entry.modified, Some(13_200_000_000 - 11_644_473_600));
    }
}

#[test]
fn a_wrong_checksum_is_an_error_of_its_file() {
    let files: [(&str, &[u8]); 2] = [("a", b"first"), ("b", b"second")];
    let wrong = opened(seven_zip_of(Method7z::Deflate, &files, 1)).unwrap();
    let found = read(&wrong);
    assert!(found["a"].as_ref().unwrap_err().contains("checksum"));
    assert!(found["b"].as_ref().unwrap_err().contains("checksum"));
    assert!(found["empty"].is_ok());
}

#[test]
fn an_unsupported_method_is_named_when_its_file_is_read() {
    let files: [(&str, &[u8]); 1] = [("a", b"first")];
    let unknown = opened(seven_zip_of(Method7z::Unknown, &files, 0)).unwrap();
    let error = read(&unknown)["a"].clone().unwrap_err();
    assert!(
        error.contains("unknown method [09, 09], which is not supported"),
        "{error}"
    );
}

#[test]
fn truncated_or_damaged_archives_are_refused() {
    let good = seven_zip();
    for length in 0..good.len() {
        assert!(opened(good[..length].to_vec()).is_err(), "{length}");
    }
    // The header, and the end of the database.
    for at in (8..32).chain(good.len() - 100..good.len()) {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        assert!(opened(bytes).is_err(), "{at}");
    }
}

/// Writes and returns files that suit several methods.
fn sources(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut state = 7_u32;
    let mut noise = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut files = BTreeMap::new();
    for number in 0..12_usize {
        let text = format!("line {number} of a text that repeats itself\n").repeat(2000 + number);
        files.insert(
            format!("d{}/text {number}.txt", number % 3),
            text.into_bytes(),
        );
    }
    let program = (0..60_000_u32).flat_map(|at| [0xE8, at as u8, (at >> 8) as u8, 0, 0]);
    files.insert(
        "program.exe".into(),
        [&b"MZ"[..], &program.collect::<Vec<u8>>()].concat(),
    );
    files.insert(
        "noise".into(),
        std::iter::repeat_with(&mut noise).take(150_000).collect(),
    );
    files.insert("empty".into(), Vec::new());
    for (path, bytes) in &files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    files
}

/// Packs a directory with 7-Zip; returns `None` if it is not installed.
fn pack(directory: &Path, options: &[&str]) -> Option<PathBuf> {
    let out = tempfile::Builder::new().suffix(".7z").tempfile().unwrap();
    let out = out.into_temp_path().to_path_buf();
    let mut command = Command::new("7z");
    command
        .arg("a")
        .args(options)
        .arg(&out)
        .arg(".")
        .current_dir(directory);
    let status = command.stdout(Stdio::null()).status();
    if !skip::possible(status.is_ok(), "7z (7zip) is missing") {
        return None;
    }
    assert!(status.unwrap().success(), "7z {options:?}");
    Some(out)
}

#[test]
fn everything_that_7_zip_packs_with_supported_methods_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let files = sources(directory.path());
    let expected: BTreeMap<_, _> = files
        .into_iter()
        .map(|(path, bytes)| (path, Ok(bytes)))
        .collect();
    let options: [&[&str]; 10] = [
        &[],
        &["-mx0"],
        &["-m0=lzma:d=64k", "-ms=on"],
        &["-m0=lzma:lc=8:lp=4"],
        &["-m0=lzma2", "-ms=off"],
        &["-m0=deflate"],
        &["-m0=bcj", "-m1=lzma2"],
        &[
            "-m0=bcj2", "-m1=lzma", "-m2=lzma", "-m3=lzma", "-mb0:1", "-mb0s1:2", "-mb0s2:3",
        ],
        &["-m0=delta:4", "-m1=lzma"],
        &["-mhc=off"],
    ];
    for options in options {
        let Some(archive) = pack(directory.path(), options) else {
            return;
        };
        let opened = open_path(&archive).unwrap_or_else(|error| panic!("{options:?}: {error}"));
        assert!(read(&opened) == expected, "{options:?}");
        fs::remove_file(archive).unwrap();
    }
}

#[test]
fn encrypted_files_of_7_zip_are_listed_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let files = sources(directory.path());
    let Some(archive) = pack(directory.path(), &["-psecret"]) else {
        return;
    };
    let found = read(&open_path(&archive).unwrap());
    assert!(found.keys().eq(files.keys()));
    for (path, read) in found.iter().filter(|(path, _)| *path != "empty") {
        let error = read.as_ref().unwrap_err();
        assert!(error.contains("is encrypted"), "{path}: {error}");
    }
    fs::remove_file(archive).unwrap();
    let Some(archive) = pack(directory.path(), &["-psecret", "-mhe=on"]) else {
        return;
    };
    let error = open_path(&archive).err().unwrap();
    assert!(
        matches!(&error, Error::Encrypted(text) if text.contains("encrypted names")),
        "{error}"
    );
    fs::remove_file(archive).unwrap();
}

/// Returns the files of a mount without companions, with this cache size.
fn mounted(path: &Path, cache_size: usize) -> BTreeMap<String, walked::Walked> {
    let options = Options {
        companions: false,
        meta: Meta::Off,
        cache_size,
        ..Options::default()
    };
    walked::files(&walked::open(path.to_owned(), options).unwrap())
}

#[test]
fn solid_blocks_are_read_in_any_order_through_a_small_cache() {
    let directory = tempfile::tempdir().unwrap();
    let files = sources(directory.path());
    let Some(archive) = pack(directory.path(), &["-m0=lzma2:d=256k"]) else {
        return;
    };
    let expected = files.iter().map(|(path, bytes)| {
        let sha256 = Ok(walked::sha256_of(bytes));
        let size = bytes.len() as u64;
        (path.clone(), walked::Walked { size, sha256 })
    });
    let expected: BTreeMap<_, _> = expected.collect();
    for cache_size in [1 << 20, 64 << 20] {
        assert_eq!(mounted(&archive, cache_size), expected, "{cache_size}");
    }
    fs::remove_file(archive).unwrap();
}

#[test]
fn a_dictionary_that_is_larger_than_the_budget_is_used_beyond_it() {
    let directory = tempfile::tempdir().unwrap();
    let zeros = vec![0; 20 << 20];
    fs::write(directory.path().join("zeros"), &zeros).unwrap();
    fs::write(directory.path().join("more"), &zeros).unwrap();
    let Some(archive) = pack(directory.path(), &["-m0=lzma2:d=16m", "-ms=off"]) else {
        return;
    };
    let found = mounted(&archive, 8 << 20);
    for name in ["zeros", "more"] {
        assert_eq!(found[name].sha256, Ok(walked::sha256_of(&zeros)), "{name}");
    }
    // Two readers take turns.
    let options = Options {
        cache_size: 8 << 20,
        ..Options::default()
    };
    let vfs = walked::open(archive.clone(), options).unwrap();
    let read = |name| assert!(read_at(&vfs, name) == zeros, "{name}");
    std::thread::scope(|scope| {
        scope.spawn(|| read("zeros"));
        scope.spawn(|| read("more"));
    });
    fs::remove_file(archive).unwrap();
}

#[test]
fn decoding_begins_where_7_zip_has_packed_in_parts() {
    let directory = tempfile::tempdir().unwrap();
    let size = 700_000;
    let text = |number: usize| {
        let lines = (0..).flat_map(move |line| format!("{number} {line}\n").into_bytes());
        lines.take(size).collect::<Vec<u8>>()
    };
    let files: Vec<_> = (0..6).map(text).collect();
    for (number, bytes) in files.iter().enumerate() {
        fs::write(directory.path().join(format!("{number}.txt")), bytes).unwrap();
    }
    let Some(archive) = pack(directory.path(), &["-m0=lzma2:c=1m:d=64k"]) else {
        return;
    };
    let all = files.concat();
    let opened = open_path(&archive).unwrap();
    let block = FileId(files.len() as u32);
    let Ok(Content::Stream(streams)) = opened.volume().content(block) else {
        panic!("blocks are numbered after the files");
    };
    let mut restarts = BTreeSet::new();
    for position in (0..all.len()).step_by(400_000) {
        let restart = streams.restart_before(block, position as u64) as usize;
        assert!(restart <= position && position - restart <= 2 << 20);
        let mut decoder = streams.decoder_before(block, position as u64).unwrap();
        assert_eq!(decoder.left(), (all.len() - restart) as u64);
        let mut bytes = vec![0; all.len() - restart];
        decoder.read(&mut bytes).unwrap();
        assert!(bytes == all[restart..], "{position}");
        restarts.insert(restart);
    }
    assert!(restarts.len() > 2, "{restarts:?}");
    // No checksum mismatch is reported because the start of a file was missing.
    assert!(read(&opened).values().all(Result::is_ok));
    fs::remove_file(archive).unwrap();
}
