//! What follows from a change follows at once, and what is open stays.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};

use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Editing, units};

/// Where the image of an archive called `units.hpi` is.
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
