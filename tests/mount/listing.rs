//! Directories list their entries exactly once, wherever the listing is
//! resumed.

use std::collections::BTreeSet;
use std::fs::{self, File as Opened};
use std::mem::MaybeUninit;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;
use testkit::fuse_test;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Entry, File, V1, dir, file};
use hpimount_containers::hip::asset_id;
use hpimount_containers::hpi::chunk::Method;
use rustix::fs::{FileType, RawDir, SeekFrom};
use testkit::mount::{Mount, has_programs};
use testkit::mounted::{mounted, output, stats};

fn leaf(name: &str) -> Entry {
    file(name.as_bytes(), File::new(*b"x", Method::Stored))
}

fn small() -> Mount {
    let inner = vec![dir(b"deeper", vec![]), leaf("x")];
    let entries = vec![dir(b"first", inner), dir(b"second", vec![]), leaf("file")];
    mounted(&V1::new(entries).build().bytes, "")
}

const MANY: usize = 20_000;

/// Returns a directory of [`MANY`] files.
fn large() -> Mount {
    let files = (0..MANY).map(|number| leaf(&format!("file {number:05}.txt")));
    mounted(
        &V1::new(vec![dir(b"large", files.collect())]).build().bytes,
        "",
    )
}

/// An entry as returned by the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    name: String,
    ino: u64,
    kind: FileType,
    /// The offset where the listing continues after it.
    next: u64,
}

/// Lists an open directory from `start` on, through a buffer of `room` bytes.
fn list(directory: &Opened, start: u64, room: usize) -> Vec<Listed> {
    rustix::fs::seek(directory, SeekFrom::Start(start)).unwrap();
    let mut buffer = vec![MaybeUninit::uninit(); room];
    let mut listing = RawDir::new(directory, &mut buffer);
    let mut found = Vec::new();
    while let Some(entry) = listing.next() {
        let entry = entry.unwrap();
        found.push(Listed {
            name: entry.file_name().to_str().unwrap().to_owned(),
            ino: entry.ino(),
            kind: entry.file_type(),
            next: entry.next_entry_cookie(),
        });
    }
    found
}

#[fuse_test]
fn a_large_directory_lists_every_entry_once_and_in_order() {
    let mount = large();
    let path = mount.path().join("large");
    let directory = Opened::open(&path).unwrap();
    for room in [300, 4096, 1 << 20] {
        let found = list(&directory, 0, room);
        assert_eq!(found.len(), MANY + 2);
        for (number, entry) in found[2..].iter().enumerate() {
            assert_eq!(entry.name, format!("file {number:05}.txt"));
        }
        let numbers: BTreeSet<_> = found.iter().map(|entry| entry.ino).collect();
        assert_eq!(numbers.len(), MANY + 2);
    }
    let listed = output("ls", &["-l", "large"], mount.path());
    assert_eq!(listed.lines().count(), MANY + 1);
}

#[fuse_test]
fn a_listing_resumes_at_any_position_any_number_of_times() {
    let mount = large();
    let directory = Opened::open(mount.path().join("large")).unwrap();
    let all = list(&directory, 0, 1 << 16);
    for index in [0, 1, 2, 3, 100, 7777, MANY, MANY + 1] {
        for room in [400, 1 << 16] {
            let rest = list(&directory, all[index].next, room);
            assert!(rest == all[index + 1..], "from {index}");
        }
    }
    assert!(list(&directory, 0, 1 << 16) == all, "rewound");
    let last = all.last().unwrap().next;
    assert_eq!(list(&directory, last + 1000, 4096), []);
}

#[fuse_test]
fn concurrent_listings_do_not_disturb_each_other() {
    let mount = large();
    let path = mount.path().join("large");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let names: BTreeSet<_> = fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().file_name())
                    .collect();
                assert_eq!(names.len(), MANY);
            });
        }
    });
}

#[fuse_test]
fn dots_are_the_directory_and_its_parent() {
    let mount = small();
    let inode = |path: &Path| path.metadata().unwrap().ino();
    let root = mount.path();
    let first = root.join("first");
    let open = |path: &Path| list(&Opened::open(path).unwrap(), 0, 4096);
    let dots = |path: &Path| {
        open(path)[..2]
            .iter()
            .map(|dot| (dot.name.clone(), dot.ino))
            .collect::<Vec<_>>()
    };
    let named = |own, parent| vec![(".".to_owned(), own), ("..".to_owned(), parent)];
    assert_eq!(dots(root), named(inode(root), inode(root)));
    assert_eq!(dots(&first), named(inode(&first), inode(root)));
    let deeper = first.join("deeper");
    assert_eq!(dots(&deeper), named(inode(&deeper), inode(&first)));
    let alias = root.join("FIRST");
    assert_eq!(dots(&alias), named(inode(&alias), inode(root)));
    assert_eq!(inode(&alias.join("deeper/..")), inode(&alias));
}

#[fuse_test]
fn listings_agree_with_stat() {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"MRKR", "MARKER_01", b"0123"));
    let hip = mounted(&hip.build(), "");
    let hpi = small();
    for path in [
        hip.path().to_owned(),
        hpi.path().to_owned(),
        hpi.path().join("first"),
    ] {
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.path().symlink_metadata().unwrap();
            assert_eq!(entry.ino(), metadata.ino(), "{:?}", entry.path());
            assert_eq!(entry.file_type().unwrap(), metadata.file_type());
        }
    }
    let link = hip
        .path()
        .join("ids")
        .join(format!("{:08X}", asset_id(b"MARKER_01")));
    let listed = list(&Opened::open(hip.path().join("ids")).unwrap(), 0, 4096);
    assert_eq!(listed[2].kind, FileType::Symlink);
    assert!(link.symlink_metadata().unwrap().is_symlink());
}

/// `find` looks for no more subdirectories than the number of links implies.
#[fuse_test]
fn links_count_names_and_subdirectories() {
    let mount = small();
    let links = |path: &str| mount.path().join(path).metadata().unwrap().nlink();
    assert_eq!(links("."), 4);
    assert_eq!(links("first"), 3);
    assert_eq!(links("second"), 2);
    assert_eq!(links("file"), 1);
    if has_programs(&["find"]) {
        let found = output("find", &[".", "-type", "d"], mount.path());
        assert_eq!(found.lines().count(), 4);
    }
}

#[fuse_test]
fn only_directories_can_be_listed() {
    let mount = small();
    let error = |path: &str| fs::read_dir(mount.path().join(path)).unwrap_err();
    assert_eq!(error("file").raw_os_error(), Some(libc::ENOTDIR));
    assert_eq!(error("file/x").raw_os_error(), Some(libc::ENOTDIR));
    assert_eq!(error("none").raw_os_error(), Some(libc::ENOENT));
}

#[fuse_test]
fn a_walk_takes_two_requests_per_directory_and_none_per_file() {
    if !has_programs(&["find"]) {
        return;
    }
    let directories = 50;
    let directory = |number: usize| {
        let files = (0..20).map(|file| leaf(&format!("file{file:02}")));
        dir(format!("dir{number:02}").as_bytes(), files.collect())
    };
    let tree = (0..directories).map(directory).collect();
    let mount = mounted(&V1::new(tree).build().bytes, "");
    let before = stats(&mount);
    let arguments = [
        ".",
        "-name",
        ".hpimount",
        "-prune",
        "-o",
        "-type",
        "f",
        "-print",
    ];
    let found = output("find", &arguments, mount.path());
    assert_eq!(found.lines().count(), directories * 20);
    let after = stats(&mount);
    let more = |name: &str| after[name].as_u64().unwrap() - before[name].as_u64().unwrap();
    // The second one says that the directory ends: no reply with entries can.
    let listed = directories as u64 + 1;
    assert_eq!(more("readdirs"), 2 * listed);
    // A listing takes the attributes of `.` and `..`, and the test reads the
    // counters.
    let others = more("lookups") + more("getattrs") - 2 * listed;
    assert!(others < 20, "{others} requests");
}
