//! `.hpimount/` describes the mount, and is not listed.

use std::fs::{self, File as Opened};
use std::io::{Read, Seek};
use std::path::Path;

use fixtures::hip::Hip;
use fixtures::hpi::{Entry, File, V1, dir, file, usual_tree};
use hpimount_containers::hpi::chunk::Method;
use serde_json::Value;
use testkit::files::walk;
use testkit::fuse_test;
use testkit::mount::others::forget_names;
use testkit::mount::{Mount, eventually, has_programs};
use testkit::mounted::{counter, info, mounted, output, stats};

fn usual() -> Mount {
    mounted(&V1::new(usual_tree(Method::Zlib)).build().bytes, "")
}

fn leaf(name: &str) -> Entry {
    file(name.as_bytes(), File::new(name.as_bytes(), Method::Zlib))
}

#[fuse_test]
fn it_always_exists_and_is_never_listed() {
    let mount = usual();
    let listed = |directory: &Path| walk(directory).len();
    let before = listed(mount.path());
    let control = mount.path().join(".hpimount");
    assert!(control.is_dir());
    assert_eq!(listed(mount.path()), before);
    assert!(
        walk(mount.path())
            .iter()
            .all(|path| !path.ends_with(".hpimount"))
    );
    let mut names: Vec<_> = walk(&control)
        .iter()
        .map(|path| path.file_name().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["info.json", "stats.json"]);
    assert!(
        !mount.path().join("units/.hpimount").exists(),
        "in the root only"
    );
    assert!(!mount.path().join(".HPIMOUNT").exists());
    let back = control.join("..").canonicalize().unwrap();
    assert_eq!(back, mount.path());
}

#[fuse_test]
fn info_has_sources_formats_and_options() {
    let archive = V1::new(usual_tree(Method::Zlib)).keyed(0x7D).build();
    let mount = mounted(&archive.bytes, "cachesize=3M,case_sensitive");
    let info = info(&mount);
    assert_eq!(info["hpimount"], env!("CARGO_PKG_VERSION"));
    let source = &info["sources"][0];
    assert_eq!(source["path"], mount.fixture.archive.to_str().unwrap());
    assert_eq!(source["format"], "HPI");
    assert_eq!(source["archive"]["key"], 0x7D);
    assert_eq!(source["archive"]["files"], 7);
    assert_eq!(source["archive"]["mounts_in_game"], true);
    assert_eq!(source["warnings"], Value::Array(vec![]));
    assert_eq!(info["cache_size"], 3 << 20);
    assert_eq!(
        (&info["case_sensitive"], &info["force"]),
        (&true.into(), &false.into())
    );
}

#[fuse_test]
fn warnings_are_shown() {
    let mut hip = Hip::default();
    hip.layer(0);
    hip.layers[0].1.push(0x1234);
    let mount = mounted(&hip.build(), "");
    let warnings = &info(&mount)["sources"][0]["warnings"];
    assert!(!warnings.as_array().unwrap().is_empty());
}

#[fuse_test]
fn counters_are_current_whenever_they_are_opened() {
    let mount = usual();
    assert_eq!(counter(&mount, "bytes_decoded"), 0);
    fs::read(mount.path().join("noise.bin")).unwrap();
    let first = stats(&mount);
    assert_eq!(first["bytes_decoded"], 70_000);
    assert_eq!(first["errors"], 0);
    assert!(first["reads"].as_u64() > Some(0) && first["lookups"].as_u64() > Some(0));
    fs::read(mount.path().join("big.tdf")).unwrap();
    assert_eq!(counter(&mount, "bytes_decoded"), 270_000);
}

#[fuse_test]
fn counters_do_not_change_while_they_are_read() {
    let mount = usual();
    let path = mount.path().join(".hpimount/stats.json");
    let mut opened = Opened::open(&path).unwrap();
    let mut before = String::new();
    opened.read_to_string(&mut before).unwrap();
    assert_eq!(opened.metadata().unwrap().len(), before.len() as u64);
    fs::read(mount.path().join("noise.bin")).unwrap();
    for _ in 0..50 {
        stats(&mount);
    }
    let mut after = String::new();
    opened.rewind().unwrap();
    opened.read_to_string(&mut after).unwrap();
    assert_eq!(before, after);
    assert_eq!(opened.metadata().unwrap().len(), before.len() as u64);
}

#[fuse_test]
fn tools_read_the_files_to_their_end() {
    if !has_programs(&["cat", "cp", "tail"]) {
        return;
    }
    let mount = usual();
    let control = mount.path().join(".hpimount");
    for _ in 0..20 {
        let text = output("cat", &["stats.json"], &control);
        serde_json::from_str::<Value>(&text).unwrap();
        // This changes a counter, and perhaps the size of the file.
        fs::read(mount.path().join("noise.bin")).unwrap();
    }
    let listed = output("ls", &["-l"], &control);
    assert_eq!(listed.lines().count(), 3);
    let copies = tempfile::tempdir().unwrap();
    output(
        "cp",
        &["-a", ".", copies.path().to_str().unwrap()],
        &control,
    );
    for name in ["info.json", "stats.json"] {
        let copy = fs::read(copies.path().join(name)).unwrap();
        serde_json::from_slice::<Value>(&copy).unwrap();
    }
}

#[fuse_test]
fn counters_read_by_eight_threads_leave_no_inodes() {
    let mount = usual();
    let path = mount.path().join(".hpimount/stats.json");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let text = fs::read(&path).unwrap();
                    serde_json::from_slice::<Value>(&text).unwrap();
                }
            });
        }
    });
    eventually("the kernel forgets", || {
        forget_names(mount.path());
        counter(&mount, "transient_inodes") == 0
    });
}

#[fuse_test]
fn a_directory_of_the_archive_with_this_name_wins() {
    let entries = vec![dir(b".hpimount", vec![leaf("mine.txt")])];
    let mount = mounted(&V1::new(entries).build().bytes, "");
    let found = walk(mount.path());
    assert_eq!(found.len(), 2);
    assert_eq!(
        fs::read(mount.path().join(".hpimount/mine.txt")).unwrap(),
        b"mine.txt"
    );
    assert!(!mount.path().join(".hpimount/info.json").exists());
}
