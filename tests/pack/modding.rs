//! Editing a mod in an overlay file system on top of a mount, and packing it
//! with hpipack (docs/MODDING.md).

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use fixtures::container_seeds::zip_with;
use fixtures::hip::{Asset, Hip};
use fixtures::text;
use rustix::mount::{MountFlags, UnmountFlags};
use tempfile::{TempDir, tempdir};
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::hpipack::{hpipack, stderr};
use testkit::mount::Mount;
use testkit::mount::others::unmount;
use testkit::mounted::mounted;
use testkit::skip::skip;
use testkit::walked;

/// An overlay on top of a directory, with its changes in memory.
struct Overlay {
    fixture: TempDir,
    options: CString,
}

impl Overlay {
    /// Returns `None`, and reports it, if overlays cannot be mounted.
    fn new(lower: &Path) -> Option<Self> {
        let fixture = tempdir().unwrap();
        let root = fixture.path();
        rustix::mount::mount("tmpfs", root, "tmpfs", MountFlags::empty(), None).unwrap();
        for name in ["upper", "work", "merged"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let (lower, root) = (lower.display(), root.display());
        let options = format!("lowerdir={lower},upperdir={root}/upper,workdir={root}/work");
        let options = CString::new(options).unwrap();
        let overlay = Self { fixture, options };
        match overlay.mount() {
            Ok(()) => Some(overlay),
            Err(error) => {
                skip(&format!("overlay file systems cannot be mounted: {error}"));
                None
            }
        }
    }

    fn mount(&self) -> rustix::io::Result<()> {
        let flags = MountFlags::empty();
        let options = self.options.as_c_str();
        rustix::mount::mount("overlay", self.path(), "overlay", flags, options)
    }

    fn unmount(&self) {
        unmount(&self.path());
    }

    fn path(&self) -> PathBuf {
        self.fixture.path().join("merged")
    }

    fn upper(&self) -> PathBuf {
        self.fixture.path().join("upper")
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        for point in [self.path(), self.fixture.path().to_owned()] {
            // The overlay may not have been mounted.
            let _ = rustix::mount::unmount(&point, UnmountFlags::DETACH);
        }
    }
}

/// Returns the archive of a small mod, and its files.
fn mod_archive() -> (Vec<u8>, BTreeMap<String, Vec<u8>>) {
    let files = BTreeMap::from([
        ("maps/a.ota".to_owned(), b"map".to_vec()),
        ("units/armpw.fbi".to_owned(), text(70_000)),
        ("units/corak.fbi".to_owned(), text(300)),
    ]);
    let fixture = tempdir().unwrap();
    let directory = fixture.path().join("mod");
    for (path, bytes) in &files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let out = fixture.path().join("mod.ufo");
    assert!(hpipack(&[], &directory, &out).status.success());
    (fs::read(out).unwrap(), files)
}

/// Returns a mount with these options and an overlay on top of it.
fn overlaid(archive: &[u8], options: &str) -> Option<(Mount, Overlay)> {
    let mount = mounted(archive, options);
    let overlay = Overlay::new(mount.path())?;
    Some((mount, overlay))
}

/// Returns the digests of the files of an archive, by path.
fn contents(archive: &Path) -> BTreeMap<String, String> {
    let options = hpimount::mount::Options::default();
    let vfs = walked::open(archive.to_owned(), options).unwrap();
    let files = walked::files(&vfs).into_iter();
    files
        .map(|(path, file)| (path, file.sha256.unwrap()))
        .collect()
}

#[fuse_test]
fn a_mod_is_edited_in_an_overlay_and_packed() {
    let (archive, mut expected) = mod_archive();
    let Some((mount, overlay)) = overlaid(&archive, "case_sensitive") else {
        return;
    };
    let merged = overlay.path();
    fs::write(merged.join("units/armpw.fbi"), "changed").unwrap();
    expected.insert("units/armpw.fbi".to_owned(), b"changed".to_vec());
    fs::remove_file(merged.join("maps/a.ota")).unwrap();
    expected.remove("maps/a.ota");
    fs::write(merged.join("units/new.fbi"), "new").unwrap();
    expected.insert("units/new.fbi".to_owned(), b"new".to_vec());
    let out = tempdir().unwrap();
    let out = out.path().join("changed.ufo");
    let ran = hpipack(&[], &merged, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|(path, bytes)| (path.clone(), walked::sha256_of(bytes)))
        .collect();
    assert_eq!(contents(&out), expected);
    // The archive is unchanged.
    let below = fs::read(mount.path().join("maps/a.ota")).unwrap();
    assert_eq!(below, b"map");
}

#[fuse_test]
fn the_upper_directory_of_an_overlay_is_a_folder_of_changes() {
    let work = tempdir().unwrap();
    let folder = work.path().join("folder");
    for (path, bytes) in [
        ("data/one.txt", &b"one"[..]),
        ("data/two.txt", b"two"),
        ("emptied/a.txt", b"a"),
        ("emptied/b.txt", b"b"),
        ("gone.txt", b"gone"),
        ("inner.zip", &zip_with("deep/a.txt", b"old")),
        ("stays.txt", b"stays"),
    ] {
        write(&folder, path, bytes);
    }
    let archive = work.path().join("a.zip");
    assert!(hpipack(&[], &folder, &archive).status.success());
    let Some((_mount, overlay)) = overlaid(&fs::read(&archive).unwrap(), "") else {
        return;
    };
    let merged = overlay.path();
    fs::write(merged.join("data/one.txt"), "changed").unwrap();
    fs::write(merged.join("data/new.txt"), "new").unwrap();
    fs::remove_file(merged.join("gone.txt")).unwrap();
    fs::write(merged.join("inner.zip.d/deep/a.txt"), "changed inside").unwrap();
    // A directory that is deleted and made again has nothing of the one below.
    fs::remove_dir_all(merged.join("emptied")).unwrap();
    fs::create_dir(merged.join("emptied")).unwrap();
    fs::write(merged.join("emptied/c.txt"), "c").unwrap();
    overlay.unmount();
    let mut expected = BTreeMap::new();
    for (path, bytes) in [
        ("data/new.txt", &b"new"[..]),
        ("data/one.txt", b"changed"),
        ("data/two.txt", b"two"),
        ("emptied/c.txt", b"c"),
        ("inner.zip.d/deep/a.txt", b"changed inside"),
        ("stays.txt", b"stays"),
    ] {
        expected.insert(path.to_owned(), walked::sha256_of(bytes));
    }
    let out = work.path().join("changed.zip");
    let ran = hpi_apply(&[], &overlay.upper(), &archive, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let mut found = contents(&out);
    assert!(found.remove("inner.zip").is_some());
    assert_eq!(found, expected);
    let mounted = open_changed(&archive, &overlay.upper()).unwrap();
    let image = read_at(&mounted, ".hpimount/image/a.zip");
    assert!(image == fs::read(&out).unwrap());
}

#[fuse_test]
fn another_case_makes_a_second_file_in_an_overlay_and_hpipack_reports_it() {
    let (archive, files) = mod_archive();
    let Some((_mount, overlay)) = overlaid(&archive, "") else {
        return;
    };
    let merged = overlay.path();
    // The file can be read in any case.
    let other = merged.join("units/ARMPW.FBI");
    assert!(fs::read(&other).unwrap() == files["units/armpw.fbi"]);
    fs::write(&other, "changed").unwrap();
    let mut names: Vec<_> = fs::read_dir(merged.join("units"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["ARMPW.FBI", "armpw.fbi", "corak.fbi"]);
    let out = tempdir().unwrap();
    let ran = hpipack(&[], &merged, &out.path().join("changed.ufo"));
    assert_eq!(ran.status.code(), Some(10));
    assert_eq!(
        stderr(&ran),
        "hpipack: units/ARMPW.FBI and units/armpw.fbi are the same name to the game, \
         which would see only one of them\n"
    );
    // It is renamed in the directory of the changes.
    overlay.unmount();
    let units = overlay.upper().join("units");
    fs::rename(units.join("ARMPW.FBI"), units.join("armpw.fbi")).unwrap();
    overlay.mount().unwrap();
    let out = out.path().join("changed.ufo");
    let ran = hpipack(&[], &merged, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let found = contents(&out);
    assert_eq!(found["units/armpw.fbi"], walked::sha256_of(b"changed"));
    assert_eq!(found.len(), files.len());
}

#[fuse_test]
fn with_case_sensitive_names_in_another_case_are_not_found() {
    let (archive, _) = mod_archive();
    let Some((_mount, overlay)) = overlaid(&archive, "case_sensitive") else {
        return;
    };
    let wrong = fs::read(overlay.path().join("units/ARMPW.FBI")).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::NotFound);
    let wrong = fs::write(overlay.path().join("Units/armpw.fbi"), "x").unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::NotFound);
}

#[fuse_test]
fn assets_of_a_hip_are_changed_removed_and_added_in_an_overlay() {
    let mut hip = Hip::default();
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"hello"))
        .add(Asset::new(b"MRKR", "lone", b"marker"));
    let Some((_mount, overlay)) = overlaid(&hip.build(), "") else {
        return;
    };
    let merged = overlay.path();
    fs::write(merged.join("layers/00-DEFAULT/greeting.text"), "good day").unwrap();
    fs::remove_file(merged.join("types/Marker/[0A43E1FA] lone")).unwrap();
    fs::write(merged.join("types/Text/[00000007] new"), "new").unwrap();
    let settings = merged.join("types/Settings.ini");
    let lines = fs::read_to_string(&settings).unwrap();
    let lines = lines.lines().flat_map(|line| match line {
        "EndLayer" => vec!["Asset=00000007;Text;2;0;new;;0", "EndLayer"],
        line if line.contains(";Marker;") => Vec::new(),
        line => vec![line],
    });
    fs::write(&settings, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let out = tempdir().unwrap();
    let out = out.path().join("changed.HIP");
    let ran = hpipack(&[], &merged.join("types"), &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let contents = contents(&out);
    let in_layer: Vec<_> = contents
        .iter()
        .filter_map(|(path, digest)| Some((path.strip_prefix("layers/00-DEFAULT/")?, digest)))
        .collect();
    let expected = [
        ("greeting.text", walked::sha256_of(b"good day")),
        ("new.text", walked::sha256_of(b"new")),
    ];
    assert_eq!(
        in_layer,
        expected.each_ref().map(|(name, digest)| (*name, digest))
    );
}
