//! Archives on real servers: nginx, and a bucket on an S3 emulator.
#![cfg(feature = "remote")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hpimount_containers::hpi::chunk::Method;
use support::files::{Found, walk};
use support::hpi::{File, V1, file};
use support::mount::{Mount, can_mount, sample};
use support::mounted::{counter, stats};
use support::odd_reads::{THREADS, read_oddly};
use support::remote::servers::{Moto, Nginx, PlainServer, S3sFs, files_in};
use support::remote::{mounted, mounted_all, mounted_with, refused};
use support::{noise, shared};

/// The smallest useful cache.
const OPTIONS: &str = "cachesize=1M";

/// The same, without generated files.
const FILES_ONLY: [&str; 3] = ["--no-meta", "-o", OPTIONS];

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
        Ok(Found::File(bytes)) => Some((there.path().join(path), bytes.as_slice())),
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
fn all_in(mount: &Mount) -> BTreeMap<PathBuf, Result<Found, ErrorKind>> {
    let found = |path: &Path| {
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() {
            return Ok(Found::Directory);
        }
        match kind.is_symlink() {
            true => fs::read_link(path).map(Found::Link),
            false => fs::read(path).map(Found::File),
        }
    };
    let paths = walk(mount.path()).into_iter().map(|path| {
        let found = found(&path).map_err(|error: std::io::Error| error.kind());
        let name = path.strip_prefix(mount.path()).unwrap().to_owned();
        (name, found)
    });
    paths.collect()
}

/// Folders of samples, and the extensions of those that are mounted: all if
/// there are none.
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

fn moto() -> Option<(Moto, Vec<(&'static str, String)>)> {
    let moto = can_mount().then(Moto::start).flatten()?;
    let variables = moto.variables();
    Some((moto, variables))
}

fn as_texts<'a>(variables: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    let pairs = variables.iter();
    pairs.map(|(name, value)| (*name, value.as_str())).collect()
}

#[test]
fn every_sample_reads_the_same_from_nginx() {
    for (folder, extensions) in SAMPLES {
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
        let Some(there) = mounted_all(&urls, &FILES_ONLY, &[]) else {
            return;
        };
        assert_same(&there, &mounted_all(&samples, &FILES_ONLY, &[]).unwrap());
        assert!(nginx.requests() > 0);
    }
}

#[test]
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
    for (name, extensions) in SAMPLES
        .iter()
        .filter(|one| with_real(one) || with_others(one))
    {
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
        let there = mounted_all(&urls, &FILES_ONLY, &as_texts(&variables)).unwrap();
        assert_same(&there, &mounted_all(&samples, &FILES_ONLY, &[]).unwrap());
    }
}

#[test]
fn servers_without_etags_are_read_and_those_without_ranges_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("big #1.hpi"), sample().bytes).unwrap();
    let without_etag = Nginx::start(dir.path(), "etag off;");
    let without_ranges = Nginx::start(dir.path(), "max_ranges 0;");
    let (Some(without_etag), Some(without_ranges)) = (without_etag, without_ranges) else {
        return;
    };
    let Some(mount) = mounted(&without_etag.url("big #1.hpi"), OPTIONS) else {
        return;
    };
    mount.assert_answers();
    let plain = PlainServer::start(dir.path()).unwrap();
    for url in [
        without_ranges.url("big #1.hpi"),
        plain.url("big%20%231.hpi"),
    ] {
        let ran = refused(&url, "timeout=2").unwrap();
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(
            ran.stderr.contains("does not support range requests"),
            "{ran:?}"
        );
    }
    // Objects that fit into one response need no range.
    let small = V1::new(vec![file(b"hello.txt", File::new("hello\n", Method::Zlib))]);
    fs::write(dir.path().join("small.hpi"), small.build().bytes).unwrap();
    for url in [without_ranges.url("small.hpi"), plain.url("small.hpi")] {
        mounted(&url, OPTIONS).unwrap().assert_answers();
    }
}

#[test]
fn redirects_are_followed_unless_they_are_endless() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.hpi"), sample().bytes).unwrap();
    let more = "location /old { return 302 /a.hpi?signed; } location /loop { return 302 /loop; }";
    let Some(nginx) = Nginx::start(dir.path(), more) else {
        return;
    };
    let Some(mount) = mounted(&nginx.url("old"), OPTIONS) else {
        return;
    };
    mount.assert_answers();
    let ran = refused(&nginx.url("loop"), "timeout=2").unwrap();
    assert!(ran.stderr.contains("redirects without end"), "{ran:?}");
}

#[test]
fn a_folder_of_a_bucket_is_listed_when_it_is_entered() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    let inner = V1::new(vec![file(b"deep.txt", File::new("deep\n", Method::Zlib))]);
    moto.put("mods", "all/sample.hpi", &sample().bytes);
    moto.put("mods", "all/old/inner.ufo", &inner.build().bytes);
    moto.put("mods", "all/old/notes 100%.txt", b"notes\n");
    moto.put("mods", "all/old", b"both\n");
    moto.put("mods", "all/empty/", b"");
    moto.put("mods", "other/away.hpi", b"no archive");
    let url = "s3://mods/all/";
    let mount = mounted_with(url, OPTIONS, &as_texts(&variables)).unwrap();
    let names = |path: &str| {
        let entries = fs::read_dir(mount.file(path)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let requests = || stats(&mount)["remote"]["requests"].as_u64().unwrap();
    assert_eq!(requests(), 1, "one listing");
    let root = names("");
    for name in ["empty", "sample.hpi", "sample.hpi.d"] {
        assert!(root.iter().any(|found| found == name), "{root:?}");
    }
    assert_eq!(requests(), 1, "archives are not opened");
    let metadata = fs::metadata(mount.file("sample.hpi")).unwrap();
    assert_eq!(metadata.len(), sample().bytes.len() as u64);
    assert_eq!(requests(), 1, "sizes come with the listing");
    assert!(fs::read(mount.file("sample.hpi")).unwrap() == sample().bytes);
    let inside = mount.file("sample.hpi.d/hello.txt");
    assert_eq!(fs::read(inside).unwrap(), b"hello\n");

    // The file and the folder of one name are distinguished as duplicates are.
    let folder = root
        .iter()
        .find(|name| name.starts_with("old") && mount.file(name).is_dir());
    let folder = folder.expect("exists").clone();
    let both = root
        .iter()
        .find(|name| name.starts_with("old") && mount.file(name).is_file());
    assert_eq!(
        fs::read(mount.file(both.expect("exists"))).unwrap(),
        b"both\n"
    );
    assert_eq!(
        names(&folder),
        ["inner.ufo", "inner.ufo.d", "notes 100%.txt"]
    );
    assert_eq!(
        fs::read(mount.file(&format!("{folder}/notes 100%.txt"))).unwrap(),
        b"notes\n"
    );
    let deep = mount.file(&format!("{folder}/inner.ufo.d/deep.txt"));
    assert_eq!(fs::read(deep).unwrap(), b"deep\n");
    assert!(names("empty").is_empty());
    assert_eq!(counter(&mount, "errors"), 0);
}

#[test]
fn a_folder_with_a_key_that_cannot_be_a_path_is_eio_and_the_error_names_it() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    moto.put("mods", "good/a.txt", b"a");
    moto.put("mods", "bad/x//y.txt", b"b");
    moto.put("mods", "bad/../up.txt", b"c");
    let mount = mounted_with("s3://mods", OPTIONS, &as_texts(&variables)).unwrap();
    assert_eq!(fs::read(mount.file("good/a.txt")).unwrap(), b"a");
    let listed = fs::read_dir(mount.file("bad"))
        .and_then(|mut entries| entries.next().transpose().map(drop));
    assert_eq!(listed.unwrap_err().raw_os_error(), Some(libc::EIO));
    let errors = stats(&mount)["last_errors"].to_string();
    assert!(errors.contains("bad/.."), "{errors}");
}

#[test]
fn a_large_folder_is_listed_in_pages() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    for number in 0..1200 {
        moto.put("mods", &format!("many/{number:04}.txt"), b"x");
    }
    let mount = mounted_with("s3://mods/many/", OPTIONS, &as_texts(&variables)).unwrap();
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 1200);
    assert_eq!(stats(&mount)["remote"]["requests"], 2);
}

/// Asserts that reads of `s3://mods/a.hpi`, which `put` writes, are EIO while
/// it is replaced.
fn assert_replaced_is_eio(variables: &[(&str, String)], put: impl Fn(&[u8])) {
    let archive = |seed| {
        let big = File::new(noise(seed, 3 << 20), Method::Stored);
        V1::new(vec![file(b"big.bin", big)]).build().bytes
    };
    put(&archive(1));
    let mount = mounted_with("s3://mods/a.hpi", "noprefetch", &as_texts(variables)).unwrap();
    put(&archive(2));
    let read = |offset| {
        let file = support::files::open_direct(&mount.file("big.bin"));
        support::files::read_at(&file, offset, 4096)
    };
    assert_eq!(read(2 << 20).unwrap_err().raw_os_error(), Some(libc::EIO));
    put(&archive(1));
    support::mount::eventually("it can be read again", || read(2 << 20).is_ok());
    assert!(read(2 << 20).unwrap() == noise(1, 3 << 20)[2 << 20..(2 << 20) + 4096]);
}

#[test]
fn a_replaced_object_of_a_bucket_is_eio() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    assert_replaced_is_eio(&variables, |bytes| moto.put("mods", "a.hpi", bytes));
}

#[test]
fn a_replaced_object_of_a_bucket_that_ignores_conditions_is_eio() {
    let Some(server) = can_mount().then(S3sFs::start).flatten() else {
        return;
    };
    assert_replaced_is_eio(&server.variables(), |bytes| {
        server.put("mods", "a.hpi", bytes)
    });
}

#[test]
fn keys_come_from_the_environment_or_a_profile_or_requests_are_anonymous() {
    let Some((moto, _)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    moto.put("mods", "a.hpi", &sample().bytes);
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let keys = file(
        "keys",
        "[m]\naws_access_key_id = K\naws_secret_access_key = S\n",
    );
    let settings = file("settings", "[profile m]\nregion = eu-west-1\n");
    let none = file("none", "");
    let profile = [
        ("AWS_SHARED_CREDENTIALS_FILE", keys),
        ("AWS_CONFIG_FILE", settings),
        ("AWS_PROFILE", "m".to_owned()),
    ];
    let given = [
        ("AWS_ACCESS_KEY_ID", "K".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "S".to_owned()),
    ];
    let anonymous = [("AWS_SHARED_CREDENTIALS_FILE", none)];
    for more in [&profile[..], &given, &anonymous] {
        let all = [&moto.address()[..], more].concat();
        let mount = mounted_with("s3://mods/a.hpi", OPTIONS, &as_texts(&all)).unwrap();
        mount.assert_answers();
    }
}
