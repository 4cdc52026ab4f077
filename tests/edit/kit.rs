//! An archive in an editable mount.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixtures::hpi::{File, V1, dir, file};
use hpimount_containers::hpi::chunk::Method;
use testkit::applied::hpi_apply;
use testkit::hpipack::stderr;
use testkit::mount::{Fixture, Mount, eventually, hpimount};

/// The text of a unit in [`units`].
pub(crate) const UNIT: &str = "[UNITINFO]\n\t{\n\tName=Tank;\n\t}\n";

/// An editable mount, its source and the folder of edits.
pub(crate) struct Editing {
    mount: Option<Mount>,
    pub(crate) source: PathBuf,
    pub(crate) folder: PathBuf,
    name: String,
    options: Vec<String>,
}

/// Returns an archive with some files.
pub(crate) fn units() -> Vec<u8> {
    let stored = |bytes: &[u8]| File::new(bytes, Method::Stored);
    let packed = |bytes: &[u8]| File::new(bytes, Method::Zlib);
    V1::new(vec![
        file(b"readme.txt", stored(b"read me\n")),
        dir(
            b"units",
            vec![
                file(b"ARMTANK.FBI", packed(UNIT.as_bytes())),
                file(
                    b"ARMJEEP.FBI",
                    packed(UNIT.replace("Tank", "Jeep").as_bytes()),
                ),
            ],
        ),
        dir(
            b"maps",
            vec![file(b"big.bin", packed(&fixtures::noise(1, 200_000)))],
        ),
    ])
    .build()
    .bytes
}

impl Editing {
    /// Mounts an archive called `name`.
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        Self::with(name, bytes, &[])
    }

    /// Like [`Editing::new`], with further arguments.
    pub(crate) fn with(name: &str, bytes: &[u8], options: &[&str]) -> Self {
        let fixture = Fixture::new();
        let source = fixture.dir().join(name);
        fs::write(&source, bytes).unwrap();
        let mut editing = Self {
            mount: None,
            folder: fixture.dir().join("edits"),
            source,
            name: name.to_owned(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
        };
        editing.mount_on(fixture);
        editing
    }

    /// Mounts [`units`].
    pub(crate) fn of_units() -> Self {
        Self::new("units.hpi", &units())
    }

    /// Like [`Editing::new`], with the edits in this folder.
    pub(crate) fn in_folder(name: &str, bytes: &[u8], folder: &Path) -> Self {
        let fixture = Fixture::new();
        let source = fixture.dir().join(name);
        fs::write(&source, bytes).unwrap();
        let mut editing = Self {
            mount: None,
            folder: folder.to_owned(),
            source,
            name: name.to_owned(),
            options: Vec::new(),
        };
        editing.mount_on(fixture);
        editing
    }

    /// Like [`Editing::new`], of a copy of a folder.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        let fixture = Fixture::new();
        let source = fixture.dir().join("source");
        let copied = Command::new("cp")
            .arg("-r")
            .arg(folder)
            .arg(&source)
            .status();
        assert!(copied.unwrap().success());
        let mut editing = Self {
            mount: None,
            folder: fixture.dir().join("edits"),
            source,
            name: "source".to_owned(),
            options: Vec::new(),
        };
        editing.mount_on(fixture);
        editing
    }

    fn mount_on(&mut self, fixture: Fixture) {
        let command = self.command(&fixture.point);
        self.mount = Some(fixture.mount_by(command));
    }

    /// Returns the command that mounts the source.
    pub(crate) fn command(&self, point: &Path) -> Command {
        let mut command = hpimount();
        command.arg("--edit").arg(&self.folder);
        command.args(&self.options).args([&self.source, point]);
        command
    }

    pub(crate) fn mount(&self) -> &Mount {
        self.mount.as_ref().unwrap()
    }

    /// Returns a path in the mount.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.mount().path().join(path)
    }

    /// Reads a file of the mount.
    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        let read = fs::read(self.path(path));
        read.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Writes a file of the mount like a shell.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let written = save(&self.path(path), bytes);
        written.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// Returns the path of a file in the folder of edits.
    pub(crate) fn edit(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Returns the entries of the folder of edits below it, sorted.
    pub(crate) fn edits(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![self.folder.clone()];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => left.push(path),
                    false => {
                        let path = path.strip_prefix(&self.folder).unwrap();
                        found.push(path.to_str().unwrap().to_owned());
                    }
                }
            }
        }
        found.sort();
        found
    }

    /// Returns the names in a directory of the mount, sorted.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Returns the changed source as the mount shows it.
    pub(crate) fn image(&self) -> Vec<u8> {
        self.read(&format!(".hpimount/image/{}", self.name))
    }

    /// Returns the paths, states, sizes and notes of the table of changes.
    pub(crate) fn rows(&self) -> Vec<String> {
        let row = |row: [String; 7]| {
            let [path, state, _, bytes, _, _, note] = row;
            [path, state, bytes, note].join("\t")
        };
        self.table().into_iter().map(row).collect()
    }

    /// Returns the rows of the table of changes, cell by cell.
    pub(crate) fn table(&self) -> Vec<[String; 7]> {
        let table = String::from_utf8(self.read(".hpimount/changes.tsv")).unwrap();
        let rows = table.lines().skip(1).map(|line| {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            cells.try_into().unwrap()
        });
        rows.collect()
    }

    /// Checks that the changed source equals the output of `hpi apply`, and returns it.
    pub(crate) fn assert_applied(&self) -> Vec<u8> {
        let (applied, shown) = (self.applied(), self.image());
        assert!(applied == shown, "the image is not what `hpi apply` writes");
        shown
    }

    /// Returns the changed source as `hpi apply` writes it.
    pub(crate) fn applied(&self) -> Vec<u8> {
        let out = self.mount().fixture.dir().join("applied");
        let ran = hpi_apply(&["--force"], &self.folder, &self.source, &out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        fs::read(out).unwrap()
    }

    /// Unmounts and mounts again.
    pub(crate) fn remount(&mut self) {
        self.unmount();
        self.mount_again();
    }

    /// Mounts again after the daemon has ended.
    pub(crate) fn mount_again(&mut self) {
        let fixture = self.mount.take().unwrap().into_fixture();
        self.mount_on(fixture);
    }

    /// Unmounts, and waits for the daemon to end.
    pub(crate) fn unmount(&self) {
        let mount = self.mount();
        // The kernel may not have closed the last file yet.
        eventually("it is unmounted", || {
            let flags = rustix::mount::UnmountFlags::empty();
            rustix::mount::unmount(mount.path(), flags).is_ok()
        });
        eventually("the daemon ends", || mount.daemon().has_ended());
    }
}

/// A mount of another program, detached when it is dropped.
pub(crate) struct Detached(pub(crate) PathBuf);

impl Drop for Detached {
    fn drop(&mut self) {
        // It may not have been mounted.
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

/// Saves a file, and returns errors of closing it, which `fs::write` ignores.
pub(crate) fn save(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    io::Write::write_all(&mut file, bytes.as_ref())?;
    Ok(nix::unistd::close(file)?)
}

/// Asserts that an operation fails with an error of the operating system.
pub(crate) fn assert_fails<T>(result: io::Result<T>, errno: rustix::io::Errno) {
    let error = result.err().expect("must fail");
    assert_eq!(error.raw_os_error(), Some(errno.raw_os_error()), "{error}");
}
