//! Archives on real servers: nginx, and a bucket on an S3 emulator.

use std::fs;

use crate::fixtures::servers::{Moto, Nginx, PlainServer, S3sFs, as_texts, moto};
use crate::fixtures::{mounted, mounted_all, mounted_with, refused};
use fixtures::hpi::{File, V1, file};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use testkit::applied::write;
use testkit::fuse_test;
use testkit::mount::sample;
use testkit::mounted::{counter, stats};

/// The smallest useful cache.
const OPTIONS: &str = "cachesize=1M";

#[fuse_test]
fn servers_without_etags_are_read_and_servers_without_ranges_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("big #1.hpi"), sample().bytes).unwrap();
    let without_etag = Nginx::start(dir.path(), "etag off;");
    let without_ranges = Nginx::start(dir.path(), "max_ranges 0;");
    let (Some(without_etag), Some(without_ranges)) = (without_etag, without_ranges) else {
        return;
    };
    let mount = mounted(&without_etag.url("big #1.hpi"), OPTIONS);
    mount.assert_answers();
    let plain = PlainServer::start(dir.path()).unwrap();
    for url in [
        without_ranges.url("big #1.hpi"),
        plain.url("big%20%231.hpi"),
    ] {
        let ran = refused(&url, "timeout=2");
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
        mounted(&url, OPTIONS).assert_answers();
    }
}

#[fuse_test]
fn redirects_are_followed_unless_they_are_endless() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.hpi"), sample().bytes).unwrap();
    let more = "location /old { return 302 /a.hpi?signed; } location /loop { return 302 /loop; }";
    let Some(nginx) = Nginx::start(dir.path(), more) else {
        return;
    };
    let mount = mounted(&nginx.url("old"), OPTIONS);
    mount.assert_answers();
    let ran = refused(&nginx.url("loop"), "timeout=2");
    assert!(ran.stderr.contains("redirects without end"), "{ran:?}");
}

#[fuse_test]
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
    let mount = mounted_with(url, OPTIONS, &as_texts(&variables));
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

    // A file and a folder with the same name are distinguished like duplicates.
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

#[fuse_test]
fn changes_are_applied_to_a_folder_of_a_bucket() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    moto.put("mods", "all/sub/a.txt", b"a\n");
    moto.put("mods", "all/sub/gone.txt", b"gone\n");
    moto.put("mods", "all/kept.txt", b"kept\n");
    let edit = tempfile::tempdir().unwrap();
    write(edit.path(), "sub/a.txt", b"new\n");
    write(edit.path(), "sub/b.txt", b"b\n");
    write(edit.path(), "sub/.wh.gone.txt", b"");
    let folder = edit.path().to_str().unwrap();
    let arguments = ["-o", OPTIONS, "--apply", folder];
    let mount = mounted_all(&["s3://mods/all/"], &arguments, &as_texts(&variables));
    let read = |path: &str| fs::read_to_string(mount.file(path)).ok();
    assert_eq!(read("sub/a.txt").unwrap(), "new\n");
    assert_eq!(read("sub/b.txt").unwrap(), "b\n");
    assert_eq!(read("sub/gone.txt"), None);
    assert_eq!(read("kept.txt").unwrap(), "kept\n");
}

#[fuse_test]
fn a_folder_with_a_key_that_cannot_be_a_path_is_eio_and_the_error_names_it() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    moto.put("mods", "good/a.txt", b"a");
    moto.put("mods", "bad/x//y.txt", b"b");
    moto.put("mods", "bad/../up.txt", b"c");
    let mount = mounted_with("s3://mods", OPTIONS, &as_texts(&variables));
    assert_eq!(fs::read(mount.file("good/a.txt")).unwrap(), b"a");
    let listed = fs::read_dir(mount.file("bad"))
        .and_then(|mut entries| entries.next().transpose().map(drop));
    assert_eq!(listed.unwrap_err().raw_os_error(), Some(libc::EIO));
    let errors = stats(&mount)["last_errors"].to_string();
    assert!(errors.contains("bad/.."), "{errors}");
}

#[fuse_test]
fn a_large_folder_is_listed_in_pages() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    let count = Moto::PAGE + 20;
    for number in 0..count {
        moto.put("mods", &format!("many/{number:04}.txt"), b"x");
    }
    let mount = mounted_with("s3://mods/many/", OPTIONS, &as_texts(&variables));
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), count);
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
    let mount = mounted_with("s3://mods/a.hpi", "noprefetch", &as_texts(variables));
    put(&archive(2));
    let read = |offset| {
        let file = testkit::files::open_direct(&mount.file("big.bin"));
        testkit::files::read_at(&file, offset, 4096)
    };
    assert_eq!(read(2 << 20).unwrap_err().raw_os_error(), Some(libc::EIO));
    put(&archive(1));
    testkit::mount::eventually("it can be read again", || read(2 << 20).is_ok());
    assert!(read(2 << 20).unwrap() == noise(1, 3 << 20)[2 << 20..(2 << 20) + 4096]);
}

#[fuse_test]
fn a_replaced_object_of_a_bucket_is_eio() {
    let Some((moto, variables)) = moto() else {
        return;
    };
    moto.make_bucket("mods");
    assert_replaced_is_eio(&variables, |bytes| moto.put("mods", "a.hpi", bytes));
}

#[fuse_test]
fn a_replaced_object_of_a_bucket_that_ignores_conditions_is_eio() {
    let Some(server) = S3sFs::start() else {
        return;
    };
    assert_replaced_is_eio(&server.variables(), |bytes| {
        server.put("mods", "a.hpi", bytes)
    });
}

#[fuse_test]
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
        let mount = mounted_with("s3://mods/a.hpi", OPTIONS, &as_texts(&all));
        mount.assert_answers();
    }
}
