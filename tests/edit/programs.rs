//! Programs that people save with.

use std::fs;
use std::process::{Command, Stdio};

use fixtures::hpi::{File, V1, dir, file};
use fixtures::ta::pcx::Pcx;
use hpimount_containers::hpi::chunk::Method;
use testkit::fuse_test;
use testkit::mount::has_programs;

use crate::kit::{Editing, UNIT};

/// Runs a command in the mount, which must succeed.
fn shell(editing: &Editing, command: &str) {
    let ran = Command::new("sh")
        .args(["-ec", command])
        .current_dir(editing.mount().path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{command}: {text}");
}

#[fuse_test]
fn sed_sort_dd_and_shells_save() {
    let editing = Editing::of_units();
    shell(&editing, "sed -i s/Tank/Bulldog/ units/ARMTANK.FBI");
    assert_eq!(
        editing.read("units/ARMTANK.FBI"),
        UNIT.replace("Tank", "Bulldog").as_bytes()
    );
    shell(
        &editing,
        "echo b > list.txt; echo a >> list.txt; sort -o list.txt list.txt",
    );
    assert_eq!(editing.read("list.txt"), b"a\nb\n");
    shell(
        &editing,
        "printf XY | dd of=readme.txt bs=1 seek=2 conv=notrunc 2>/dev/null",
    );
    assert_eq!(editing.read("readme.txt"), b"reXY me\n");
    shell(&editing, "truncate -s 3 readme.txt; touch readme.txt new");
    assert_eq!(editing.read("readme.txt"), b"reX");
    assert_eq!(
        editing.edits(),
        ["list.txt", "new", "readme.txt", "units/ARMTANK.FBI"]
    );
    editing.assert_applied();
}

#[fuse_test]
fn files_are_copied_in_with_their_times() {
    let editing = Editing::of_units();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("mod/docs")).unwrap();
    fs::write(outside.path().join("mod/docs/a.txt"), "a").unwrap();
    fs::write(outside.path().join("mod/readme.txt"), "copied").unwrap();
    let from = outside.path().join("mod");
    let from = from.to_str().unwrap();
    shell(&editing, &format!("cp -a {from}/. ."));
    shell(
        &editing,
        &format!("install {from}/readme.txt maps/installed.txt"),
    );
    shell(
        &editing,
        &format!("cp --remove-destination {from}/readme.txt units/ARMTANK.FBI"),
    );
    shell(
        &editing,
        &format!("tar cf - -C {from} docs | (cd maps && tar xf -)"),
    );
    shell(
        &editing,
        &format!("tar cf - -C {from} docs | (cd maps && tar xf -)"),
    );
    shell(
        &editing,
        &format!("cp {from}/readme.txt moved; mv {from}/readme.txt units/moved.txt"),
    );
    assert_eq!(editing.read("units/ARMTANK.FBI"), b"copied");
    assert_eq!(editing.read("units/moved.txt"), b"copied");
    assert_eq!(
        editing.edits(),
        [
            "docs/a.txt",
            "maps/docs/a.txt",
            "maps/installed.txt",
            "moved",
            "readme.txt",
            "units/ARMTANK.FBI",
            "units/moved.txt",
        ]
    );
    editing.assert_applied();
}

#[fuse_test]
fn rsync_copies_nothing_a_second_time() {
    if !has_programs(&["rsync"]) {
        return;
    }
    let editing = Editing::of_units();
    let outside = tempfile::tempdir().unwrap();
    for number in 0..20 {
        fs::write(
            outside.path().join(format!("file{number}.txt")),
            "x".repeat(number),
        )
        .unwrap();
    }
    let command = format!("rsync -a --stats {}/ maps/", outside.path().display());
    shell(&editing, &command);
    editing.assert_applied();
    let ran = Command::new("sh")
        .args(["-ec", &command])
        .current_dir(editing.mount().path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && text.contains("transferred: 0"),
        "{text}"
    );
}

#[fuse_test]
fn vim_leaves_nothing_but_the_file() {
    if !has_programs(&["vim"]) {
        return;
    }
    let editing = Editing::of_units();
    for settings in [
        "set backup",
        "set nobackup backupcopy=yes",
        "set writebackup",
    ] {
        let save =
            format!("vim -u NONE -es -c '{settings}' -c '%s/Tank/TankX/' -c wq units/ARMTANK.FBI");
        shell(&editing, &save);
    }
    assert!(
        String::from_utf8(editing.read("units/ARMTANK.FBI"))
            .unwrap()
            .contains("TankXXX")
    );
    let _ = fs::remove_file(editing.path("units/ARMTANK.FBI~"));
    assert_eq!(editing.names("units"), ["ARMJEEP.FBI", "ARMTANK.FBI"]);
    assert_eq!(editing.edits(), ["units/ARMTANK.FBI"]);
    editing.assert_applied();
}

#[fuse_test]
fn git_works_in_a_mount() {
    if !has_programs(&["git"]) {
        return;
    }
    let zip = fixtures::container_seeds::zip_with("docs/a.txt", b"first\n");
    let editing = Editing::new("a.zip", &zip);
    let git = "git -c user.name=name -c user.email=name@example.org -c gc.auto=0";
    shell(
        &editing,
        &format!("git init -q . && {git} add -A && {git} commit -qm one"),
    );
    shell(
        &editing,
        &format!("echo second > docs/a.txt; echo b > b.txt; {git} add -A; {git} commit -qm two"),
    );
    assert_eq!(editing.read("docs/a.txt"), b"second\n");
    shell(
        &editing,
        "git checkout -q HEAD~1 && test -z \"$(git status --porcelain)\"",
    );
    assert_eq!(editing.read("docs/a.txt"), b"first\n");
    assert!(!editing.path("b.txt").exists());
    shell(
        &editing,
        "git checkout -q - && git fsck --strict && rm -rf .git",
    );
    assert_eq!(editing.edits(), ["b.txt", "docs/a.txt"]);
    editing.assert_applied();
}

#[fuse_test]
fn imagemagick_edits_pictures_in_place() {
    if !has_programs(&["mogrify"]) {
        return;
    }
    let picture = Pcx::indexed(4, 3, (0..12).collect()).file();
    let hpi = V1::new(vec![dir(
        b"bitmaps",
        vec![file(b"logo.pcx", File::new(picture.clone(), Method::Zlib))],
    )]);
    let editing = Editing::new("a.hpi", &hpi.build().bytes);
    shell(&editing, "mogrify -flop converted/bitmaps/logo.png");
    assert_eq!(editing.edits(), ["converted/bitmaps/logo.png"]);
    assert!(editing.read("bitmaps/logo.pcx") != picture);
    editing.assert_applied();
    shell(&editing, "mogrify -flop converted/bitmaps/logo.png");
    assert!(
        editing.read("bitmaps/logo.pcx") == picture,
        "twice is the original"
    );
    editing.assert_applied();
}
