//! Archives on a web server: read bytes, requests, caches, and the display of URLs.

use std::fs;
use std::path::Path;
use std::time::Duration;
use testkit::fuse_test;

use crate::fixtures::big::{
    BIG, BLOCK, LENGTH, archive, assert_eio, assert_right, origin, ranges, served,
};
use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::{mounted, mounted_all, refused};
use fixtures::hpi::{File, V1, file};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::{Fixture, Mount, hpimount, run};
use testkit::mounted::{counter, info, stats};
use testkit::sources;

#[fuse_test]
fn reads_return_the_right_bytes_and_request_each_once() {
    let (origin, mount) = served("noprefetch");
    let opened = origin.take_requests();
    assert!(opened.len() <= 3, "{opened:?}");
    let all = fs::read(mount.file(BIG)).unwrap();
    assert!(all == noise(1, LENGTH));
    let mut ranges = ranges(&origin.take_requests());
    // Requests ahead of a reader grow.
    assert!(ranges.len() <= 14, "{ranges:?}");
    ranges.sort_by_key(|range| range.start);
    for pair in ranges.windows(2) {
        assert!(pair[0].end <= pair[1].start, "{pair:?}");
    }
    // Cached blocks are not requested.
    std::thread::scope(|scope| {
        for reader in 0..8 {
            let mount = &mount;
            scope.spawn(move || assert_right(mount, reader * 700_000 / 4096 * 4096));
        }
    });
    assert_eq!(origin.take_requests().len(), 0);
    let remote = &stats(&mount)["remote"];
    assert!(remote["bytes"].as_u64().unwrap() >= LENGTH as u64);
    assert!(remote["blocks_from_memory"].as_u64().unwrap() > 0);
    assert_eq!(remote["retries"], 0);
}

#[fuse_test]
fn a_block_that_many_readers_want_is_requested_once() {
    let (origin, mount) = served("noprefetch");
    origin.take_requests();
    origin.set(Faults {
        delay: Duration::from_millis(300),
        ..Faults::default()
    });
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let mount = &mount;
            scope.spawn(move || assert_right(mount, 3 << 20));
        }
    });
    let requests = ranges(&origin.take_requests());
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].end - requests[0].start <= 2 * BLOCK);
}

#[fuse_test]
fn a_random_read_fetches_only_its_block() {
    let (origin, mount) = served("noprefetch");
    origin.take_requests();
    for number in 0..10 {
        assert_right(&mount, number * 7 % 10 * (600 << 10));
    }
    let requests = ranges(&origin.take_requests());
    let bytes: u64 = requests.iter().map(|range| range.end - range.start).sum();
    assert!(requests.len() <= 10 && bytes <= 11 * BLOCK, "{requests:?}");
}

/// Returns everything that a mount shows in the mount table, in `/proc`, in its
/// control files and in its log.
fn visible(mount: &Mount) -> String {
    let pid = mount.pid();
    let mut all = fs::read_to_string("/proc/self/mountinfo").unwrap();
    all += &fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    all += &info(mount).to_string();
    all += &stats(mount).to_string();
    all += &mount.fixture.log();
    all
}

#[fuse_test]
fn secrets_of_a_url_or_header_are_shown_nowhere() {
    let origin = origin();
    let fixture = Fixture::new();
    let url = format!("{}?X-Amz-Signature=s3cret", origin.url("mods/big.hpi"));
    let (url_file, header) = (fixture.dir().join("url"), fixture.dir().join("header"));
    fs::write(&url_file, format!("{url}\n")).unwrap();
    fs::write(&header, "Bearer t0ken\n").unwrap();
    let mut command = hpimount();
    command
        .arg(format!("@{}", url_file.display()))
        .arg(&fixture.point);
    command
        .arg("-vv")
        .arg("-o")
        .arg(format!("noprefetch,timeout=1,header=@{}", header.display()));
    let mount = fixture.mount_in_foreground_by(command);
    assert_right(&mount, 0);
    let requests = origin.take_requests();
    for request in &requests {
        assert!(request.target.ends_with("?X-Amz-Signature=s3cret"));
        assert_eq!(request.headers["authorization"], "Bearer t0ken");
    }
    origin.put("mods/big.hpi", Object::new(archive(), "two"));
    assert_eio(&mount, 3 << 20);
    origin.set(Faults {
        status: Some((500, String::new())),
        ..Faults::default()
    });
    std::thread::sleep(Duration::from_millis(1100));
    assert_eio(&mount, 4 << 20);
    let all = visible(&mount);
    assert!(all.contains(&origin.url("mods/big.hpi")));
    assert!(all.contains("has changed on the server"));
    assert!(!all.contains("s3cret") && !all.contains("t0ken"), "{all}");
}

#[fuse_test]
fn blocks_on_disk_are_used_by_other_mounts_unless_damaged_or_outdated() {
    let origin = origin();
    let cache = tempfile::tempdir().unwrap();
    let directory = cache.path().join("blocks");
    let options = format!("noprefetch,blockcache={}", directory.display());
    let mount = || mounted(&origin.url("mods/big.hpi"), &options);
    let whole = |mount: &Mount| assert!(fs::read(mount.file(BIG)).unwrap() == noise(1, LENGTH));
    let first = mount();
    whole(&first);
    let kept = || walk_files(&directory);
    // Blocks are written after they are read.
    testkit::mount::eventually("all blocks are kept", || {
        kept().len() >= LENGTH / BLOCK as usize
    });
    drop(first);
    origin.take_requests();

    let second = mount();
    whole(&second);
    let requests = ranges(&origin.take_requests());
    // The first request determines the version.
    assert!(requests.len() <= 3, "{requests:?}");
    assert!(
        stats(&second)["remote"]["blocks_from_disk"]
            .as_u64()
            .unwrap()
            >= 20
    );
    drop(second);

    for (number, path) in kept().into_iter().enumerate().filter(|(at, _)| at % 3 == 0) {
        let mut bytes = fs::read(&path).unwrap();
        match number % 2 {
            0 => bytes.truncate(number * 100),
            _ => bytes[number * 50] ^= 1,
        }
        fs::write(&path, bytes).unwrap();
    }
    let third = mount();
    whole(&third);
    drop(third);
    origin.put("mods/big.hpi", Object::new(archive(), "two"));
    let fourth = mount();
    whole(&fourth);
    let read = stats(&fourth)["remote"]["bytes"].as_u64().unwrap();
    assert!(read >= LENGTH as u64, "the blocks are of another version");
}

fn walk_files(directory: &Path) -> Vec<std::path::PathBuf> {
    let found = testkit::files::walk(directory).into_iter();
    found
        .filter(|path| path.is_file() && path.file_name().is_some_and(|name| name != "sweep"))
        .collect()
}

#[fuse_test]
fn a_directory_for_blocks_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let origin = origin();
    let cache = tempfile::tempdir().unwrap();
    fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let options = format!("blockcache={}", cache.path().display());
    let ran = refused(&origin.url("mods/big.hpi"), &options);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("can write to it"), "{ran:?}");
}

#[fuse_test]
fn archives_on_disk_and_on_a_server_are_merged() {
    let origin = origin();
    let upper = V1::new(vec![file(b"HELLO.TXT", File::new("upper\n", Method::Zlib))]);
    origin.put("upper.hpi", Object::new(upper.build().bytes, "u"));
    let fixture = Fixture::new();
    let mut command = hpimount();
    command
        .arg(origin.url("mods/big.hpi"))
        .arg(&fixture.archive);
    command.arg(origin.url("upper.hpi")).arg(&fixture.point);
    let mount = fixture.mount_by(command);
    assert_eq!(fs::read(mount.file("hello.txt")).unwrap(), b"upper\n");
    assert_right(&mount, 4096);
    assert!(mount.file(testkit::mount::BIG).exists());
    assert_eq!(counter(&mount, "errors"), 0);

    let fixture = Fixture::new();
    let mut command = hpimount();
    command
        .arg(origin.url("mods/big.hpi"))
        .arg(origin.url("nothing.hpi"));
    command.arg(&fixture.point).arg("--strict");
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(
        ran.stderr.contains("nothing.hpi: cannot be opened"),
        "{ran:?}"
    );
}

#[fuse_test]
fn a_single_asset_on_a_server_is_a_folder_with_its_companion() {
    let ifp = sources::ifp(1, 2);
    let origin = Origin::with("walk%20on.ifp", Object::new(ifp.clone(), "i"));
    let mount = mounted(&origin.url("walk%20on.ifp"), "timeout=5");
    assert!(fs::read(mount.file("walk on.ifp")).unwrap() == ifp);
    assert!(mount.file("walk on.ifp.meta/info.json").exists());
}

#[fuse_test]
fn a_small_budget_is_kept_with_a_server_too() {
    let (_origin, mount) = served("cachesize=1M");
    assert!(fs::read(mount.file(BIG)).unwrap() == noise(1, LENGTH));
    let held = stats(&mount)["cache"]["bytes"].as_u64().unwrap();
    assert!(held <= 1 << 20, "{held}");
}

#[fuse_test]
fn urls_that_differ_only_in_their_queries_are_never_confused() {
    let origin = Origin::with("unrelated", Object::new("x", "x"));
    let get = |which: u64| {
        let big = File::new(noise(which, LENGTH), Method::Stored);
        let object = Object::new(V1::new(vec![file(b"big.bin", big)]).build().bytes, "same");
        Object {
            etag: None,
            ..object
        }
    };
    origin.put("get?file=1", get(1));
    origin.put("get?file=2", get(2));
    let urls = [1, 2].map(|which| origin.url(&format!("get?file={which}")));
    let mount = mounted_all(&urls, &["-o", "noprefetch"], &[]);
    let mut found = Vec::new();
    for entry in fs::read_dir(mount.path()).unwrap() {
        found.push(fs::read(entry.unwrap().path().join("big.bin")).unwrap());
    }
    assert_eq!(found.len(), 2);
    for which in [1, 2] {
        assert!(found.contains(&noise(which, LENGTH)), "{which}");
    }
}
