//! Folders full of archives, and the contents of their mounts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use hpimount_containers::hpi::chunk::Method;

use crate::mount::{Fixture, Mount, Run, hpimount, run};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Built, Entry, File as Packed, V1, V2, dir, file};

/// The contents of a directory: the bytes of files by path, and `None` for
/// directories.
pub type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// A folder for archives and loose files, and a mount point.
pub struct Folder {
    fixture: Fixture,
    /// The folder of the archives.
    pub path: PathBuf,
}

impl Folder {
    /// Creates an empty folder.
    pub fn new() -> Self {
        let fixture = Fixture::new();
        let path = fixture.dir().join("game");
        fs::create_dir(&path).unwrap();
        Self { fixture, path }
    }

    /// Writes a file, and creates the directories above it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes an archive of Total Annihilation.
    pub fn archive(&self, name: &str, entries: Vec<Entry>) -> PathBuf {
        self.write(name, V1::new(entries).build().bytes)
    }

    /// Writes an archive of Kingdoms whose first file has this date.
    pub fn kingdoms(&self, name: &str, date: u32, entries: Vec<Entry>) -> PathBuf {
        let archive = V2 {
            date,
            ..V2::new(entries)
        };
        self.write(name, archive.build().bytes)
    }

    /// Writes an archive truncated in its directory.
    pub fn damaged(&self, name: &str) -> PathBuf {
        let Built { bytes, .. } = V1::new(vec![text("lost.txt", "lost")]).build();
        self.write(name, &bytes[..bytes.len() / 3])
    }

    /// Sets the modification time of a file, in seconds since 1970.
    pub fn date(&self, name: &str, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let file = File::open(self.path.join(name)).unwrap();
        file.set_modified(time).unwrap();
    }

    /// Returns a command with these arguments, with `{}` replaced by the
    /// folder, and the mount point.
    fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.path.to_str().unwrap();
        let mut command = hpimount();
        command.args(arguments.iter().map(|text| text.replace("{}", folder)));
        command.arg(&self.fixture.point);
        command
    }

    /// Mounts with these arguments. Messages go to [`Fixture::log`].
    pub fn mount(self, arguments: &[&str]) -> Mount {
        let command = self.command(arguments);
        self.fixture.mount_in_foreground_by(command)
    }

    /// Mounts the folder as a game's.
    pub fn game(self) -> Mount {
        self.mount(&["--game", "{}"])
    }

    /// Runs the program, which must not mount.
    ///
    /// # Panics
    /// Panics if it mounts.
    pub fn refused(&self, arguments: &[&str]) -> Run {
        let ran = run(&mut self.command(arguments));
        if ran.code == Some(0) {
            let detach = rustix::mount::UnmountFlags::DETACH;
            rustix::mount::unmount(&self.fixture.point, detach).unwrap();
            panic!("{arguments:?} is mounted");
        }
        ran
    }
}

/// Returns a small file for an archive.
pub fn text(name: &str, content: &str) -> Entry {
    file(name.as_bytes(), Packed::new(content, Method::Stored))
}

/// Returns a directory for an archive.
pub fn folder(name: &str, entries: Vec<Entry>) -> Entry {
    dir(name.as_bytes(), entries)
}

/// Returns everything below a directory. Symbolic links are not expected.
pub fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut pending = vec![(String::new(), root.to_owned())];
    while let Some((name, path)) = pending.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let below = entry.file_name().into_string().unwrap();
            let name = match name.as_str() {
                "" => below,
                _ => format!("{name}/{below}"),
            };
            if entry.file_type().unwrap().is_dir() {
                pending.push((name.clone(), entry.path()));
                found.insert(name, None);
            } else {
                let bytes = fs::read(entry.path()).unwrap();
                assert_eq!(bytes.len() as u64, entry.metadata().unwrap().len());
                found.insert(name, Some(bytes));
            }
        }
    }
    found
}

/// Returns a tree as text: the path of each directory, and the path and content of each
/// file, separated by a colon.
pub fn lines(tree: &Tree) -> Vec<String> {
    let line = |(path, bytes): (&String, &Option<Vec<u8>>)| match bytes {
        Some(bytes) => format!("{path}: {}", String::from_utf8_lossy(bytes)),
        None => path.clone(),
    };
    tree.iter().map(line).collect()
}

/// Returns the shadowed files of a mount.
pub fn shadowed(mount: &Mount) -> Tree {
    tree(&mount.file(".hpimount/shadowed"))
}

/// Returns `.hpimount/info.json`.
pub fn info(mount: &Mount) -> serde_json::Value {
    let bytes = fs::read(mount.file(".hpimount/info.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Returns the file names of the merged archives, the lowest first.
pub fn order(mount: &Mount) -> Vec<String> {
    let names = info(mount)["order"]["lowest_to_highest"].take();
    serde_json::from_value(names).unwrap()
}

/// Returns an extended attribute, or `None` if the file does not have it.
pub fn attribute(path: &Path, name: &str) -> Option<String> {
    let value = xattr::get(path, format!("user.hpimount.{name}")).unwrap();
    value.map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Returns an archive of another format.
pub fn other_archive() -> Vec<u8> {
    let asset = Asset::new(b"TEXT", "text", b"some bytes");
    Hip::default().layer(1).add(asset).build()
}
