//! Writing files, as on a local file system.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use testkit::fuse_test;
use testkit::mount::{Fixture, eventually, hpimount};

use crate::kit::{Editing, UNIT, assert_fails, save, units};

#[fuse_test]
fn a_saved_file_is_in_the_mount_in_the_folder_and_in_the_image() {
    let editing = Editing::of_units();
    let edited = UNIT.replace("Tank", "Bulldog");
    editing.write("units/ARMTANK.FBI", &edited);
    assert_eq!(editing.read("units/ARMTANK.FBI"), edited.as_bytes());
    assert_eq!(
        fs::read(editing.edit("units/ARMTANK.FBI")).unwrap(),
        edited.as_bytes()
    );
    assert_eq!(editing.edits(), ["units/ARMTANK.FBI"]);
    editing.assert_applied();
    let size = edited.len();
    assert_eq!(
        editing.rows(),
        [format!("units/ARMTANK.FBI\treplaced\t{size}\t")]
    );
}

#[fuse_test]
fn what_is_written_can_be_read_before_it_is_closed() {
    let editing = Editing::of_units();
    let path = editing.path("readme.txt");
    let mut other = File::open(&path).unwrap();
    // In a process of its own: one that another test starts would inherit the file, and close
    // it.
    let mut writer = Command::new("dd")
        .args(["conv=notrunc", "bs=5", "status=none"])
        .arg(format!("of={}", path.display()))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = writer.stdin.take().unwrap();
    input.write_all(b"WROTE").unwrap();
    eventually("it is written", || fs::read(&path).unwrap() == b"WROTEme\n");
    let mut text = String::new();
    other.read_to_string(&mut text).unwrap();
    assert_eq!(text, "WROTEme\n");
    assert!(
        editing.edits().iter().all(|name| name.ends_with('~')),
        "not closed yet"
    );
    drop(input);
    assert!(writer.wait().unwrap().success());
    assert_eq!(editing.edits(), ["readme.txt"]);
}

#[fuse_test]
fn appending_overwriting_and_truncating_are_as_on_a_plain_folder() {
    let editing = Editing::of_units();
    let plain = tempfile::tempdir().unwrap();
    let plain = plain.path().join("readme.txt");
    fs::write(&plain, "read me\n").unwrap();
    for path in [&plain, &editing.path("readme.txt")] {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"more\n").unwrap();
        drop(file);
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(b"READ", 0).unwrap();
        file.write_all_at(b"far", 100).unwrap();
        drop(file);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        file.set_len(60).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"end").unwrap();
        drop(file);
        let file = OpenOptions::new().write(true).open(path).unwrap();
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 70).unwrap();
        rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 700).unwrap();
        let punched = rustix::fs::fallocate(&file, FallocateFlags::PUNCH_HOLE, 0, 7);
        assert!(punched.is_err());
    }
    let expected = fs::read(&plain).unwrap();
    assert_eq!(expected.len(), 70);
    assert_eq!(editing.read("readme.txt"), expected);
    truncate(&editing.path("readme.txt"), 4);
    assert_eq!(editing.read("readme.txt"), b"READ");
    editing.assert_applied();
}

fn truncate(path: &std::path::Path, size: u64) {
    let file = rustix::fs::open(path, OFlags::WRONLY, Mode::empty()).unwrap();
    rustix::fs::ftruncate(&file, size).unwrap();
}

#[fuse_test]
fn a_file_that_is_truncated_by_its_path_is_shown_anew() {
    let zip = fixtures::container_seeds::zip_with("disc.txt", b"0123456789");
    let editing = Editing::new("a.zip", &zip);
    assert_eq!(editing.read("disc.txt").len(), 10);
    nix::unistd::truncate(&editing.path("disc.txt"), 4).unwrap();
    editing.image();
    assert_eq!(fs::metadata(editing.path("disc.txt")).unwrap().len(), 4);
    assert_eq!(editing.read("disc.txt"), b"0123");
    editing.assert_applied();
}

#[fuse_test]
fn files_of_the_source_with_names_for_a_moment_are_files() {
    for name in ["data.part", "#h#", "x~", ".Trash-1"] {
        let zip = fixtures::container_seeds::zip_with(name, b"original");
        let editing = Editing::new("a.zip", &zip);
        editing.write(name, "edited");
        editing.image();
        assert_eq!(editing.read(name), b"edited", "{name}");
        assert_eq!(editing.edits(), [name]);
        editing.assert_applied();
        fs::remove_file(editing.path(name)).unwrap();
        editing.image();
        assert!(!editing.path(name).exists(), "{name}");
        editing.assert_applied();
    }
}

#[fuse_test]
fn opening_a_file_for_writing_changes_nothing() {
    let editing = Editing::of_units();
    let path = editing.path("units/ARMTANK.FBI");
    drop(OpenOptions::new().write(true).open(&path).unwrap());
    drop(
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path),
    );
    assert!(editing.edits().is_empty());
    assert!(editing.rows().is_empty());
    let exclusive = OpenOptions::new().write(true).create_new(true).open(&path);
    assert_fails(exclusive, Errno::EXIST);
}

#[fuse_test]
fn stores_to_a_mapping_are_saved_after_the_file_is_closed() {
    let editing = Editing::of_units();
    let path = editing.path("maps/big.bin");
    let mut copied = fs::read(&path).unwrap();
    let python = "import mmap,sys; f=open(sys.argv[1],'r+b'); m=mmap.mmap(f.fileno(),0); \
                  f.close(); m[0:4]=b'MAPP'; m[100000]=65; m.close()";
    if !testkit::mount::has_programs(&["python3"]) {
        return;
    }
    let ran = std::process::Command::new("python3")
        .args(["-c", python])
        .arg(&path)
        .status();
    assert!(ran.unwrap().success());
    copied[..4].copy_from_slice(b"MAPP");
    copied[100_000] = 65;
    assert!(fs::read(&path).unwrap() == copied);
    let saved = editing.edit("maps/big.bin");
    eventually("the mapping is saved", || {
        fs::read(&saved).is_ok_and(|saved| saved == copied)
    });
    editing.assert_applied();
}

#[fuse_test]
fn times_that_programs_set_are_kept() {
    let editing = Editing::of_units();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let set = |path: &str| {
        let file = OpenOptions::new()
            .write(true)
            .open(editing.path(path))
            .unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
    };
    editing.write("readme.txt", "new");
    set("readme.txt");
    set("maps/big.bin");
    let of = |path: &str| {
        fs::metadata(editing.path(path))
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(of("readme.txt"), time);
    assert_eq!(
        fs::metadata(editing.edit("readme.txt"))
            .unwrap()
            .modified()
            .unwrap(),
        time
    );
    assert_eq!(of("maps/big.bin"), time);
    assert_eq!(
        editing.edits(),
        ["readme.txt"],
        "a time alone copies nothing"
    );
    // The file can still be read.
    editing.image();
    set("readme.txt");
    assert_eq!(editing.read("readme.txt"), b"new");
    let mut file = File::open(editing.path("readme.txt")).unwrap();
    set("readme.txt");
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "new");
    editing.assert_applied();
    let mut file = File::open(editing.path("readme.txt")).unwrap();
    fs::rename(editing.path("readme.txt"), editing.path("renamed.txt")).unwrap();
    assert_eq!(editing.read("renamed.txt"), b"new");
    text.clear();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "new");
    assert_eq!(editing.edits(), [".wh.readme.txt", "renamed.txt"]);
    editing.assert_applied();
}

#[fuse_test]
fn modes_owners_and_attributes_answer_as_programs_expect() {
    let editing = Editing::of_units();
    let path = editing.path("readme.txt");
    let data = fs::metadata(&path).unwrap();
    assert_eq!(data.permissions().mode() & 0o7777, 0o644);
    assert_eq!(
        fs::metadata(editing.path("units")).unwrap().mode() & 0o7777,
        0o755
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o644);
    std::os::unix::fs::chown(&path, Some(data.uid()), Some(data.gid())).unwrap();
    assert_fails(
        std::os::unix::fs::chown(&path, Some(data.uid() + 1), None),
        Errno::PERM,
    );
    let set = rustix::fs::setxattr(&path, "user.x", b"1", rustix::fs::XattrFlags::empty());
    assert_eq!(set, Err(Errno::OPNOTSUPP));
    assert_fails(
        std::os::unix::fs::symlink("a", editing.path("link")),
        Errno::PERM,
    );
    assert_fails(fs::hard_link(&path, editing.path("link")), Errno::PERM);
    let pipe = rustix::fs::mknodat(
        rustix::fs::CWD,
        editing.path("pipe"),
        rustix::fs::FileType::Fifo,
        Mode::RUSR,
        0,
    );
    assert_eq!(pipe, Err(Errno::PERM));
    assert!(editing.edits().is_empty());
    let (mounted, folder) = (
        rustix::fs::statvfs(editing.mount().path()).unwrap(),
        rustix::fs::statvfs(&editing.folder).unwrap(),
    );
    assert_eq!(
        (mounted.f_blocks, mounted.f_frsize),
        (folder.f_blocks, folder.f_frsize)
    );
    assert!(mounted.f_bavail > 0);
}

#[fuse_test]
fn files_that_follow_from_others_cannot_be_written() {
    let editing = Editing::of_units();
    for path in [
        ".hpimount/image/units.hpi",
        ".hpimount/info.json",
        ".hpimount/changes.tsv",
    ] {
        let path = editing.path(path);
        assert_fails(OpenOptions::new().write(true).open(&path), Errno::PERM);
        assert_fails(fs::remove_file(&path), Errno::PERM);
        assert_fails(fs::rename(editing.path("readme.txt"), &path), Errno::PERM);
    }
    assert_fails(fs::write(editing.path(".hpimount/new"), "x"), Errno::PERM);
    assert_fails(fs::create_dir(editing.path(".hpimount/new")), Errno::PERM);
    assert_fails(fs::write(editing.path(".wh.readme.txt"), "x"), Errno::INVAL);
    assert_fails(
        fs::write(editing.path(&"n".repeat(256)), "x"),
        Errno::NAMETOOLONG,
    );
    assert!(editing.edits().is_empty());
}

#[fuse_test]
fn a_file_that_is_removed_while_it_is_open_can_be_read_and_written() {
    let editing = Editing::of_units();
    let path = editing.path("readme.txt");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    fs::remove_file(&path).unwrap();
    assert!(!path.exists());
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "read me\n");
    file.write_all_at(b"gone", 0).unwrap();
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"gone");
    drop(file);
    assert_eq!(editing.edits(), [".wh.readme.txt"]);
    editing.assert_applied();
}

#[fuse_test]
fn direct_writes_work() {
    let editing = Editing::of_units();
    let path = editing.path("direct.bin");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let mut file = options.custom_flags(libc::O_DIRECT).open(&path).unwrap();
    file.write_all(&fixtures::noise(2, 8192)).unwrap();
    drop(file);
    assert!(fs::read(&path).unwrap() == fixtures::noise(2, 8192));
    editing.assert_applied();
}

#[fuse_test]
fn many_files_are_saved_and_deleted_with_few_descriptors() {
    let fixture = Fixture::new();
    let source = fixture.dir().join("units.hpi");
    fs::write(&source, units()).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 128; exec \"$@\"", "sh"]);
    command.arg(hpimount().get_program());
    command.arg("--edit").arg(fixture.dir().join("edits"));
    command.args([&source, &fixture.point]);
    let mount = fixture.mount_by(command);
    let folder = mount.file("new");
    fs::create_dir(&folder).unwrap();
    let paths: Vec<PathBuf> = (0..400)
        .map(|number| folder.join(format!("{number}.txt")))
        .collect();
    for round in ["first", "second"] {
        for path in &paths {
            save(path, round).unwrap();
        }
        for path in &paths {
            assert_eq!(fs::read_to_string(path).unwrap(), round);
        }
    }
    // The directory is open while its files go.
    fs::remove_dir_all(&folder).unwrap();
    assert!(!folder.exists());
}
