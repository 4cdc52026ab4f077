//! Names are found in any spelling, without affecting other processes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::fuse_test;

use fixtures::hpi::{Entry, File, V1, dir, file};
use hpimount_containers::hpi::chunk::Method;
use testkit::files::contents;
use testkit::mount::others::forget_names;
use testkit::mount::{Mount, eventually, has_programs};
use testkit::mounted::{counter, mounted, output};

fn leaf(name: &str) -> Entry {
    file(name.as_bytes(), File::new(name.as_bytes(), Method::Zlib))
}

fn tree() -> Vec<Entry> {
    let deep = dir(b"Deep", vec![leaf("Map.TNT"), leaf("Map.ota")]);
    let sub = dir(b"Sub", vec![deep, leaf("Gods.ota")]);
    vec![
        dir(b"MAPS", vec![sub, leaf("Readme.txt")]),
        leaf("Top.TXT"),
        dir(b"units", vec![leaf("ARMPW.FBI")]),
    ]
}

fn tree_mounted(options: &str) -> Mount {
    mounted(&V1::new(tree()).build().bytes, options)
}

#[fuse_test]
fn any_spelling_finds_files_and_directories() {
    let mount = tree_mounted("");
    for path in [
        "MAPS/Sub/Deep/Map.TNT",
        "maps/sub/deep/map.tnt",
        "Maps/SUB/dEEP/MAP.tnt",
        "MAPS/SUB/Deep/Map.tnt",
    ] {
        let path = mount.path().join(path);
        assert_eq!(fs::read(&path).unwrap(), b"Map.TNT");
    }
    assert_eq!(fs::read(mount.path().join("tOP.txt")).unwrap(), b"Top.TXT");
    assert!(!mount.path().join("maps/none").exists());
    assert!(!mount.path().join("mapss").exists());
}

#[fuse_test]
fn only_ascii_letters_have_two_cases() {
    let entries = vec![file(b"caf\xE9.txt", File::new(b"x", Method::Zlib))];
    let mount = mounted(&V1::new(entries).build().bytes, "");
    assert!(mount.path().join("CAF\u{e9}.TXT").exists());
    assert!(!mount.path().join("caf\u{c9}.txt").exists());
}

#[fuse_test]
fn the_exact_spelling_is_found_first_and_then_the_last_one() {
    let entries = ["a.txt", "A.TXT", "a.TXT"].map(leaf).to_vec();
    let mount = mounted(&V1::new(entries).build().bytes, "");
    for (name, found) in [
        ("a.txt", "a.txt"),
        ("A.TXT", "A.TXT"),
        ("a.TXT", "a.TXT"),
        ("A.txt", "a.TXT"),
        ("a.Txt", "a.TXT"),
    ] {
        let bytes = fs::read(mount.path().join(name)).unwrap();
        assert_eq!(bytes, found.as_bytes(), "{name}");
    }
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 3);
}

#[fuse_test]
fn case_sensitive_finds_the_exact_spelling_only() {
    let mount = tree_mounted("case_sensitive");
    assert!(mount.path().join("MAPS/Sub/Gods.ota").exists());
    for path in ["maps", "MAPS/sub", "top.txt", "MAPS/Sub/gods.ota"] {
        assert!(!mount.path().join(path).exists(), "{path}");
    }
    assert_eq!(counter(&mount, "transient_inodes"), 0);
}

#[fuse_test]
fn files_have_one_inode_and_directories_one_for_each_spelling() {
    let mount = tree_mounted("");
    let inode = |path: &str| mount.path().join(path).metadata().unwrap().ino();
    assert_eq!(inode("top.txt"), inode("Top.TXT"));
    assert_eq!(inode("maps/readme.txt"), inode("MAPS/Readme.txt"));
    assert_ne!(inode("maps"), inode("MAPS"));
    assert_ne!(inode("maps"), inode("Maps"));
    assert_ne!(inode("maps/Sub"), inode("MAPS/Sub"));
    let parent = |path: &str| inode(&format!("{path}/.."));
    assert_eq!(parent("maps/sub"), inode("maps"));
    assert_eq!(parent("maps"), inode("."));
}

/// A process with a working directory, which is killed on drop.
struct Process(Child);

impl Process {
    fn new(directory: &Path) -> Self {
        let mut command = Command::new("sleep");
        command
            .arg("60")
            .current_dir(directory)
            .stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn directory(&self) -> PathBuf {
        fs::read_link(format!("/proc/{}/cwd", self.0.id())).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a different spelling of a path for each number.
fn spelling(path: &str, number: u64) -> String {
    let mut bits = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let swap = |letter: char| {
        bits = bits.rotate_left(1);
        if bits & 1 == 0 {
            letter.to_ascii_lowercase()
        } else {
            letter.to_ascii_uppercase()
        }
    };
    path.chars().map(swap).collect()
}

#[fuse_test]
fn a_working_directory_keeps_its_path_while_others_look_it_up() {
    let mount = tree_mounted("");
    let directories = ["MAPS/Sub", "maps/SUB/deep", "units"].map(|path| mount.path().join(path));
    let processes = directories.each_ref().map(|path| Process::new(path));
    let end = Instant::now() + Duration::from_secs(2);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let root = mount.path();
            scope.spawn(move || {
                for number in (thread..).step_by(8) {
                    if Instant::now() > end {
                        break;
                    }
                    let path = spelling("maps/sub/deep/map.tnt", number);
                    assert!(root.join(&path).metadata().is_ok(), "{path}");
                    assert!(root.join(spelling("units", number)).is_dir());
                }
            });
        }
        while Instant::now() < end {
            for (process, path) in processes.iter().zip(&directories) {
                assert_eq!(process.directory(), *path);
            }
        }
    });
    // As from a shell in that directory.
    let listed = output("ls", &["/proc/self/cwd/"], &directories[0]);
    assert_eq!(listed, "Deep\nGods.ota\n");
}

#[fuse_test]
fn unused_spellings_are_forgotten() {
    let mount = tree_mounted("");
    let spellings = 300;
    for number in 0..spellings {
        let path = mount.path().join(spelling("maps/sub/deep", number));
        assert!(path.is_dir());
    }
    let before = counter(&mount, "transient_inodes");
    assert!(before > spellings, "{before} transient inodes");
    eventually("the kernel forgets", || {
        forget_names(mount.path());
        counter(&mount, "transient_inodes") == 0
    });
    assert!(mount.path().join("mapS/suB/deeP/map.tnT").exists());
}

/// Tools must find the same files below a directory in every spelling.
#[fuse_test]
fn tools_walk_through_another_spelling() {
    let mount = tree_mounted("");
    if !has_programs(&["find", "cp", "tar", "du"]) {
        return;
    }
    let work_dir = tempfile::tempdir().unwrap();
    let right = contents(&mount.path().join("MAPS"));
    assert!(contents(&mount.path().join("maps")) == right);

    let found = output("find", &["mAPS", "-ls"], mount.path());
    assert_eq!(found.lines().count(), right.len() + 1, "{found}");
    let found = output("find", &["mAPS", "-depth", "-type", "f"], mount.path());
    assert_eq!(found.lines().count(), 4, "{found}");

    let copy = work_dir.path().join("copy");
    let arguments = ["-r", "mapS", copy.to_str().unwrap()];
    output("cp", &arguments, mount.path());
    assert!(contents(&copy) == right);

    let archive = work_dir.path().join("maps.tar");
    let archive = archive.to_str().unwrap();
    output("tar", &["cf", archive, "mAPs"], mount.path());
    output("tar", &["xf", archive], work_dir.path());
    assert!(contents(&work_dir.path().join("mAPs")) == right);

    let used = |name| output("du", &["-s", name], mount.path());
    let amount = |text: String| text.split('\t').next().map(str::to_owned);
    assert_eq!(amount(used("maPS")), amount(used("MAPS")));
}
