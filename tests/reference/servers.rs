//! The samples on real servers read the same as on disk.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::fixtures::mounted_all;
use crate::fixtures::servers::{Nginx, as_texts, files_in, moto};
use crate::odd_reads::{THREADS, read_oddly};
use crate::shared;
use testkit::files::{FileEntry, walk};
use testkit::fuse_test;
use testkit::mount::Mount;
use testkit::mounted::stats;
use testkit::trial;

/// The same, without generated files.
const FILES_ONLY: [&str; 3] = ["--no-meta", "-o", "cachesize=1M"];

/// Compares a mount of samples on a server with one of the same samples on
/// disk, which other tests compare with independent readers.
fn assert_same(there: &Mount, here: &Mount) {
    let expected = all_in(here);
    let found = all_in(there);
    assert!(found.keys().eq(expected.keys()), "{:?}", found.keys());
    for (path, expected) in &expected {
        assert!(found[path] == *expected, "{}", path.display());
    }
    let files = expected.iter().filter_map(|(path, found)| match found {
        Ok(FileEntry::File(bytes)) => Some((there.path().join(path), bytes.as_slice())),
        _ => None,
    });
    let files: Vec<_> = files.collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let files = &files;
            scope.spawn(move || read_oddly(thread, files));
        }
    });
    let held = stats(there)["cache"]["bytes"].as_u64().unwrap();
    assert!(held <= 1 << 20, "{held} bytes in the cache");
}

/// Returns everything in a mount by path, or the error of reading it.
fn all_in(mount: &Mount) -> BTreeMap<PathBuf, Result<FileEntry, ErrorKind>> {
    let found = |path: &Path| {
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() {
            return Ok(FileEntry::Directory);
        }
        match kind.is_symlink() {
            true => fs::read_link(path).map(FileEntry::Link),
            false => fs::read(path).map(FileEntry::File),
        }
    };
    let paths = walk(mount.path()).into_iter().map(|path| {
        let found = found(&path).map_err(|error: std::io::Error| error.kind());
        let name = path.strip_prefix(mount.path()).unwrap().to_owned();
        (name, found)
    });
    paths.collect()
}

/// Folders of samples, and the extensions of the samples that are mounted; an
/// empty list is for all of them.
const SAMPLES: [(&str, &[&str]); 16] = [
    ("hpi/real", &[]),
    ("hpi/good", &[]),
    ("hpi/quirk", &[]),
    ("hip/real", &[]),
    ("hip/peer", &[]),
    ("hip/synthetic", &["HIP", "HOP"]),
    ("ifp/real", &[]),
    ("containers/img", &["img", "IMG"]),
    ("containers/hedwad", &["hed", "HED"]),
    ("containers/pkr", &[]),
    ("containers/pre", &[]),
    ("containers/gcm", &[]),
    ("containers/xdvdfs", &[]),
    ("containers/iso", &["iso", "cue", "bin"]),
    ("containers/chd", &["chd"]),
    ("containers/foreign", &[]),
];

/// Returns the undamaged samples of a folder.
fn samples(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = files_in(folder);
    files.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let extension = path.extension().unwrap_or_default().to_str().unwrap();
        let is_bad = ["bad_", "bomb_", "manifest"]
            .iter()
            .any(|bad| name.starts_with(bad));
        !is_bad && (extensions.is_empty() || extensions.contains(&extension))
    });
    files
}

#[fuse_test]
fn every_sample_reads_the_same_from_nginx() {
    for (folder, extensions) in trial::some(SAMPLES, 4) {
        let Some(folder) = shared(&format!("samples/{folder}")) else {
            return;
        };
        let Some(nginx) = Nginx::start(&folder, "") else {
            return;
        };
        let samples = samples(&folder, extensions);
        assert!(!samples.is_empty(), "{}", folder.display());
        let url = |path: &PathBuf| nginx.url(path.file_name().unwrap().to_str().unwrap());
        let urls: Vec<_> = samples.iter().map(url).collect();
        let there = mounted_all(&urls, &FILES_ONLY, &[]);
        assert_same(&there, &mounted_all(&samples, &FILES_ONLY, &[]));
        assert!(nginx.requests() > 0);
    }
}

#[fuse_test]
fn every_sample_reads_the_same_from_a_bucket() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    // Only requests, and the search for objects beside others, differ from
    // HTTP.
    let with_real = |(name, _): &(&str, _)| name.ends_with("real");
    let with_others = |(name, _): &(&str, _)| {
        ["/img", "/hedwad", "/iso"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let folders = SAMPLES.iter();
    let folders = folders.filter(|one| with_real(one) || with_others(one));
    for (name, extensions) in trial::some(folders, 3) {
        let Some(folder) = shared(&format!("samples/{name}")) else {
            return;
        };
        for path in files_in(&folder).iter().filter(|path| path.is_file()) {
            let key = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
            moto.put("mods", &key, &fs::read(path).unwrap());
        }
        let samples = samples(&folder, extensions);
        let url = |path: &PathBuf| {
            format!(
                "s3://mods/{name}/{}",
                path.file_name().unwrap().to_str().unwrap()
            )
        };
        let urls: Vec<_> = samples.iter().map(url).collect();
        let there = mounted_all(&urls, &FILES_ONLY, &as_texts(&variables));
        assert_same(&there, &mounted_all(&samples, &FILES_ONLY, &[]));
    }
}
