//! Every source can be edited: discs, merged archives, folders, other archives.

use std::fs;
use std::path::PathBuf;

use fixtures::container_seeds::{cso, gcm, img, sectors, zip};
use fixtures::disc::Disc;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform};
use testkit::applied::hpi_apply;
use testkit::fuse_test;
use testkit::hpipack::stderr;
use testkit::mount::{Fixture, Mount, eventually, hpimount};

use crate::kit::{Editing, UNIT, units};

/// Returns an archive with a text.
fn texts() -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"));
    hip.build()
}

/// Returns a disc with it.
fn disc() -> Vec<u8> {
    let mut disc = Disc::default();
    disc.file("DATA/A.HIP", &texts())
        .file("README.TXT", b"read me");
    disc.iso()
}

/// Checks that the disc in the root equals the output of `hpi apply`.
fn assert_disc(editing: &Editing) -> Vec<u8> {
    let out = editing.mount().fixture.dir().join("applied.iso");
    let ran = hpi_apply(&["--force"], &editing.folder, &editing.source, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let (applied, shown) = (fs::read(out).unwrap(), editing.read("disc.iso"));
    assert!(applied == shown, "the disc is not what `hpi apply` writes");
    shown
}

#[fuse_test]
fn a_text_of_an_archive_on_a_disc_is_edited_while_the_disc_is_read() {
    for (name, image) in [("game.iso", disc()), ("game.cso", cso(&disc()))] {
        let editing = Editing::new(name, &image);
        let before = editing.read("disc.iso");
        editing.write("DATA/A.HIP.d/converted/texts/greeting.txt", "Good morning");
        let after = assert_disc(&editing);
        assert!(after != before, "{name}");
        assert!(
            after.windows(12).any(|bytes| bytes == b"Good morning"),
            "{name}"
        );
        assert_eq!(
            editing.edits(),
            ["DATA/A.HIP.d/converted/texts/greeting.txt"]
        );
        editing.write("README.TXT", "a longer text than before");
        assert_disc(&editing);
        fs::remove_file(editing.path("DATA/A.HIP.d/converted/texts/greeting.txt")).unwrap();
        fs::remove_file(editing.edit("README.TXT")).unwrap();
        eventually("both are undone", || editing.read("disc.iso") == before);
    }
}

#[fuse_test]
fn files_of_a_disc_of_gamecube_are_edited() {
    let editing = Editing::new("game.gcm", &gcm());
    editing.write("files/a.txt", "edited");
    editing.write("files/bb/new.txt", "new");
    let disc = assert_disc(&editing);
    assert!(disc.windows(6).any(|bytes| bytes == b"edited"));
}

#[fuse_test]
fn entries_of_a_zip_are_edited() {
    let editing = Editing::new("a.zip", &zip());
    let first = editing.names("");
    editing.write("added.txt", "added");
    editing.assert_applied();
    assert_eq!(editing.names("").len(), first.len() + 1);
}

#[fuse_test]
fn a_name_that_the_archive_cannot_have_is_refused_afterwards() {
    let editing = Editing::new("gta.img", &img());
    let image = editing.image();
    let name = "a_name_of_more_than_23_bytes.txt";
    editing.write(name, sectors());
    eventually("it is refused", || {
        editing.rows().iter().any(|row| row.contains("refused"))
    });
    assert_eq!(editing.read(name), sectors());
    assert!(editing.path(&format!("{name}.error.txt")).exists());
    eventually("it is set aside", || {
        editing.edits() == [format!("{name}.rejected~")]
    });
    assert!(editing.image() == image);
    editing.write("good.txt", "good");
    editing.assert_applied();
}

/// Mounts according to `arguments`.
fn mounted(fixture: Fixture, arguments: &[&str]) -> Mount {
    let mut command = hpimount();
    command.arg("--edit").arg(fixture.dir().join("edits"));
    let own = fixture.dir().to_str().unwrap().to_owned();
    command.args(arguments.iter().map(|text| text.replace("{}", &own)));
    command.arg(&fixture.point);
    fixture.mount_by(command)
}

fn edits(mount: &Mount) -> PathBuf {
    mount.fixture.dir().join("edits")
}

#[fuse_test]
fn merged_archives_are_edited_above_all_of_them() {
    let fixture = Fixture::new();
    fs::write(fixture.dir().join("units.hpi"), units()).unwrap();
    let mount = mounted(fixture, &["{}/sample.hpi", "{}/units.hpi"]);
    fs::write(mount.file("units/ARMTANK.FBI"), "edited").unwrap();
    fs::write(mount.file("hello.txt"), "edited too").unwrap();
    fs::remove_file(mount.file("readme.txt")).unwrap();
    assert_eq!(
        fs::read(mount.file("units/armtank.fbi")).unwrap(),
        b"edited"
    );
    assert!(!mount.file("readme.txt").exists());
    assert_eq!(
        fs::read(edits(&mount).join("units/ARMTANK.FBI")).unwrap(),
        b"edited"
    );
    assert!(edits(&mount).join(".wh.readme.txt").exists());
    assert_eq!(fs::read(mount.file("hello.txt")).unwrap(), b"edited too");
}

#[fuse_test]
fn a_folder_is_edited_and_not_written() {
    let fixture = Fixture::new();
    let folder = fixture.dir().join("source");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt"), "a").unwrap();
    fs::write(folder.join("units.hpi"), units()).unwrap();
    let mount = mounted(fixture, &["{}/source"]);
    fs::write(mount.file("a.txt"), "edited").unwrap();
    fs::write(mount.file("units.hpi.d/readme.txt"), "inner").unwrap();
    assert_eq!(fs::read(mount.file("a.txt")).unwrap(), b"edited");
    assert_eq!(fs::read(folder.join("a.txt")).unwrap(), b"a");
    assert!(fs::read(mount.file("units.hpi")).unwrap() != units());
    assert!(fs::read(folder.join("units.hpi")).unwrap() == units());
}

#[fuse_test]
fn edits_are_above_applied_changes() {
    let fixture = Fixture::new();
    fs::write(fixture.dir().join("units.hpi"), units()).unwrap();
    let below = fixture.dir().join("below");
    fs::create_dir_all(below.join("units")).unwrap();
    fs::write(below.join("units/ARMTANK.FBI"), "below").unwrap();
    fs::write(below.join("only.txt"), "below").unwrap();
    let mount = mounted(fixture, &["--apply", "{}/below", "{}/units.hpi"]);
    let read = |path: &str| fs::read(mount.file(path)).unwrap();
    assert_eq!(read("units/ARMTANK.FBI"), b"below");
    fs::write(mount.file("units/ARMTANK.FBI"), UNIT).unwrap();
    assert_eq!(read("units/ARMTANK.FBI"), UNIT.as_bytes());
    fs::remove_file(mount.file("only.txt")).unwrap();
    assert!(!mount.file("only.txt").exists());
    fs::remove_file(edits(&mount).join("units/ARMTANK.FBI")).unwrap();
    eventually("the change below is shown", || {
        read("units/ARMTANK.FBI") == b"below"
    });
    assert_eq!(fs::read(below.join("units/ARMTANK.FBI")).unwrap(), b"below");
}

#[fuse_test]
fn later_changes_of_an_applied_folder_are_not_shown() {
    let fixture = Fixture::new();
    fs::write(fixture.dir().join("units.hpi"), units()).unwrap();
    let below = fixture.dir().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("before.txt"), "before").unwrap();
    let mount = mounted(fixture, &["--apply", "{}/below", "{}/units.hpi"]);
    fs::write(below.join("after.txt"), "after").unwrap();
    fs::write(mount.file("readme.txt"), "edited").unwrap();
    assert_eq!(fs::read(mount.file("readme.txt")).unwrap(), b"edited");
    assert_eq!(fs::read(mount.file("before.txt")).unwrap(), b"before");
    assert!(!mount.file("after.txt").exists());
}
