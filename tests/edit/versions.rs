//! Derived files change immediately, and open files keep their bytes.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform};
use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Editing, units};

/// Path of the image of an archive called `units.hpi`.
const IMAGE: &str = ".hpimount/image/units.hpi";

#[fuse_test]
fn the_next_open_shows_each_of_many_saves() {
    let editing = Editing::of_units();
    let mut before = units();
    for number in 0..20 {
        let text = format!("save {number}");
        editing.write("units/ARMTANK.FBI", &text);
        let image = editing.image();
        assert!(image != before, "save {number}");
        before = image;
    }
    editing.assert_applied();
}

#[fuse_test]
fn an_open_image_keeps_its_bytes() {
    let editing = Editing::of_units();
    editing.write("maps/big.bin", fixtures::noise(7, 150_000));
    let before = editing.image();
    let mut file = File::open(editing.path(IMAGE)).unwrap();
    let data = file.metadata().unwrap();
    // Makes the kernel request the bytes again.
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    for number in 0..3 {
        editing.write("maps/big.bin", fixtures::noise(8 + number, 150_000));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    assert!(bytes == before, "an open file keeps its version");
    file.seek(SeekFrom::Start(0)).unwrap();
    let mut head = [0; 64];
    file.read_exact_at(&mut head, 0).unwrap();
    assert_eq!(head, before[..64]);
    let now = fs::metadata(editing.path(IMAGE)).unwrap();
    assert_ne!(now.ino(), data.ino());
    assert!(editing.image() != before);
}

#[fuse_test]
fn a_file_that_did_not_change_keeps_its_number() {
    let editing = Editing::of_units();
    let number = |path: &str| fs::metadata(editing.path(path)).unwrap().ino();
    let before = number("maps/big.bin");
    editing.write("readme.txt", "new");
    let own = number("readme.txt");
    editing.image();
    editing.write("readme.txt", "newer");
    editing.image();
    assert_eq!(number("maps/big.bin"), before);
    assert_eq!(number("readme.txt"), own);
}

#[fuse_test]
fn many_saves_take_no_more_than_a_few() {
    let editing = Editing::of_units();
    let state = || {
        let process = format!("/proc/{}", editing.mount().pid());
        let open = fs::read_dir(format!("{process}/fd")).unwrap().count();
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        let kilobytes = resident
            .trim()
            .trim_end_matches(" kB")
            .parse::<u64>()
            .unwrap();
        (open, kilobytes)
    };
    let save = |number: u32| {
        editing.write("units/ARMTANK.FBI", format!("{number}"));
        editing.image();
    };
    (0..30).for_each(save);
    let before = state();
    (0..trial_saves()).for_each(save);
    eventually("descriptors are as before", || state().0 <= before.0 + 5);
    let after = state();
    assert!(after.1 <= before.1 + 4096, "{before:?} {after:?}");
    assert_eq!(editing.edits(), ["units/ARMTANK.FBI"]);
}

fn trial_saves() -> u32 {
    testkit::trial::length(200, 1000)
}

#[fuse_test]
fn saves_are_in_the_image_that_is_opened_next_while_others_read_it() {
    let editing = Editing::of_units();
    let image = editing.path(IMAGE);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // It may be replaced between the lookup and the opening.
                let _ = fs::read(&image);
            }
        });
        for number in 0..testkit::trial::length(80, 2000) {
            let text = format!("save number {number:04}");
            editing.write("new.txt", &text);
            let bytes = editing.image();
            let is_there = bytes
                .windows(text.len())
                .any(|bytes| bytes == text.as_bytes());
            assert!(is_there, "{text}");
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[fuse_test]
fn an_archive_of_two_files_follows_in_both() {
    let [img, dir] = [
        fixtures::container_seeds::sectors(),
        fixtures::container_seeds::img_directory(),
    ];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("gta3.img"), img).unwrap();
    fs::write(folder.path().join("gta3.dir"), dir).unwrap();
    let editing = Editing::of_folder(folder.path());
    let name = editing
        .names("gta3.img.d")
        .into_iter()
        .find(|name| name.contains('.'))
        .unwrap();
    let before = [editing.read("gta3.img"), editing.read("gta3.dir")];
    editing.write(&format!("gta3.img.d/{name}"), fixtures::noise(5, 9000));
    let after = [editing.read("gta3.img"), editing.read("gta3.dir")];
    assert!(after[0] != before[0] && after[1] != before[1]);
}

#[fuse_test]
fn an_image_that_stays_open_keeps_no_descriptors_of_later_saves() {
    let editing = Editing::of_units();
    let held = File::open(editing.path(IMAGE)).unwrap();
    let open = || {
        let open = fs::read_dir(format!("/proc/{}/fd", editing.mount().pid()));
        open.unwrap().count()
    };
    let before = open();
    for number in 0..100 {
        editing.write("units/ARMTANK.FBI", format!("{number}"));
    }
    eventually("descriptors are as before", || open() <= before + 8);
    drop(held);
}

#[fuse_test]
fn open_files_keep_their_bytes_when_others_supersede_them_or_move() {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"));
    let editing = Editing::new("s.hip", &hip.build());
    editing.write("layers/00-DEFAULT/greeting.text", b"\0\0\0\x02Hi\0\0");
    let before = editing.image();
    let mut open = File::open(editing.path(".hpimount/image/s.hip")).unwrap();
    rustix::fs::fadvise(&open, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    editing.write("converted/texts/greeting.txt", "Good morning");
    assert!(editing.image() != before);
    let mut bytes = Vec::new();
    open.read_to_end(&mut bytes).unwrap();
    assert!(bytes == before);

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "a").unwrap();
    let editing = Editing::of_folder(folder.path());
    fs::create_dir(editing.path("d")).unwrap();
    editing.write("d/big", fixtures::noise(4, 300_000));
    let mut open = File::open(editing.path("d/big")).unwrap();
    fs::rename(editing.path("d"), editing.path("e")).unwrap();
    bytes.clear();
    open.read_to_end(&mut bytes).unwrap();
    assert!(bytes == fixtures::noise(4, 300_000));
}

#[fuse_test]
fn many_renames_take_no_more_than_a_few() {
    let files = (0..40).map(|number| format!("file{number}.txt"));
    let files: Vec<String> = files.collect();
    let folder = tempfile::tempdir().unwrap();
    for name in &files {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let editing = Editing::of_folder(folder.path());
    let open = || {
        let open = fs::read_dir(format!("/proc/{}/fd", editing.mount().pid()));
        open.unwrap().count()
    };
    let before = open();
    for name in &files {
        fs::rename(editing.path(name), editing.path(&format!("new-{name}"))).unwrap();
    }
    assert_eq!(editing.names("").len(), files.len());
    eventually("descriptors are as before", || open() <= before + 48);
}

#[fuse_test]
fn an_archive_in_an_archive_follows_its_files() {
    let zip = fixtures::container_seeds::zip_with("dir/units.hpi", &units());
    let editing = Editing::new("outer.zip", &zip);
    let before = editing.read("dir/units.hpi");
    editing.write("dir/units.hpi.d/readme.txt", "inner");
    assert_eq!(editing.edits(), ["dir/units.hpi.d/readme.txt"]);
    assert!(editing.read("dir/units.hpi") != before);
    assert_eq!(editing.read("dir/units.hpi.d/readme.txt"), b"inner");
    editing.assert_applied();
    fs::remove_file(editing.path("dir/units.hpi.d/units/ARMJEEP.FBI")).unwrap();
    editing.assert_applied();
}
