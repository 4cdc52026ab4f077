//! `hpi apply`, and a mount with the same changes: for made-up archives and folders of
//! changes of every format, the result has the expected files, and the image in the
//! mount equals the written file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::dreamcast;
use fixtures::hpi::{V1, V2, usual_tree};
use fixtures::noise;
use hpimount::mount::{Error, Ino, Options};
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Change, Folder, NewFile, Original, Report};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::io::ReadAt;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::hpipack::{contents, hpipack, stderr};
use testkit::trial;
use testkit::walked::{files, open, sha256_of};

/// Exit code of refused changes, and of targets that cannot be written.
const REFUSED: i32 = 14;
const NOT_WRITTEN: i32 = 20;

/// An archive of a format.
pub(super) struct Seed {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    /// The other file of a pair.
    pub(super) beside: Option<(&'static str, Vec<u8>)>,
    /// The directory where files may be added, with a trailing slash; `None` if files
    /// cannot be added.
    pub(super) grows_in: Option<&'static str>,
    /// The paths that may be changed.
    pub(super) changes: fn(&str) -> bool,
    /// Files have whole sectors.
    pub(super) has_sectors: bool,
}

pub(super) fn seed(name: &'static str, bytes: Vec<u8>, grows_in: Option<&'static str>) -> Seed {
    Seed {
        name,
        bytes,
        beside: None,
        grows_in,
        changes: |_| true,
        has_sectors: false,
    }
}

fn disc() -> Disc {
    let mut disc = Disc::default();
    for (number, size) in [0, 1, 2048, 2049, 70_000].into_iter().enumerate() {
        disc.file(
            &format!("DATA/FILE{number}.DAT"),
            &noise(number as u64, size),
        );
    }
    disc.file("README.TXT", b"read me");
    disc
}

fn xiso() -> Vec<u8> {
    // The volume descriptor is in sector 32.
    [vec![0; 32 * seeds::SECTOR], seeds::xdvdfs()].concat()
}

/// Returns a CD with a track of data and one of audio in one file.
fn cue() -> Seed {
    let data = disc().raw();
    let start = data.len() / 2352;
    let sheet = format!(
        "FILE \"a.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n  \
         TRACK 02 AUDIO\n    INDEX 01 {:02}:{:02}:{:02}\n",
        start / 75 / 60,
        start / 75 % 60,
        start % 75
    );
    Seed {
        beside: Some(("a.bin", [data, noise(9, 20 * 2352)].concat())),
        changes: |path| !path.starts_with("tracks/"),
        ..seed("a.cue", sheet.into_bytes(), Some("DATA/"))
    }
}

/// Returns a Dreamcast disc with a single track.
fn gdi() -> Seed {
    let data = dreamcast::mode_1(&dreamcast::area(&disc()), dreamcast::AREA);
    Seed {
        beside: Some(("a.bin", data)),
        ..seed(
            "a.gdi",
            b"1\n1 45000 4 2352 a.bin 0\n".to_vec(),
            Some("DATA/"),
        )
    }
}

/// Returns an archive of each format and form that can be written.
pub(super) fn all() -> Vec<Seed> {
    let [names, offsets, hashed] = seeds::wad_directories();
    let wad = |directory: Vec<u8>, grows: bool| Seed {
        beside: Some(("CD.HED", directory)),
        ..seed("CD.WAD", seeds::sectors(), grows.then_some(""))
    };
    let is_file = |path: &str| path.starts_with("files/");
    vec![
        seed(
            "a.zip",
            seeds::zip_with("d/f.txt", &noise(1, 900)),
            Some("d/"),
        ),
        Seed {
            beside: Some(("gta3.dir", seeds::img_directory())),
            // Of equal names, the next one replaces a deleted one.
            changes: |path| !path.starts_with('a'),
            has_sectors: true,
            ..seed("gta3.img", seeds::sectors(), Some(""))
        },
        Seed {
            has_sectors: true,
            ..seed("gta_int.img", seeds::img(), Some(""))
        },
        wad(names, true),
        wad(offsets, true),
        wad(hashed, false),
        seed("a.pre", seeds::pre_flat(), Some("levels/")),
        seed("a.prx", seeds::pre_packed(), Some("d/")),
        seed("a.pkr", seeds::pkr(), Some("data/")),
        seed("a.xiso", xiso(), Some("sub/")),
        Seed {
            changes: is_file,
            ..seed("a.gcm", seeds::gcm(), Some("files/bb/"))
        },
        seed("a.iso", disc().iso(), Some("DATA/")),
        seed("a.bin", disc().raw(), Some("DATA/")),
        cue(),
        gdi(),
        seed(
            "a.hpi",
            V1::new(usual_tree(Method::Zlib)).keyed(0x7D).build().bytes,
            Some("units/"),
        ),
        seed(
            "b.hpi",
            V1::new(usual_tree(Method::Lz77)).build().bytes,
            Some("new/"),
        ),
        seed(
            "c.hpi",
            V2::new(usual_tree(Method::Zlib)).build().bytes,
            Some("deep/a/"),
        ),
    ]
}

impl Seed {
    /// Writes the archive to a folder, and returns its path.
    pub(super) fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join(self.name);
        fs::write(&path, &self.bytes).unwrap();
        if let Some((name, bytes)) = &self.beside {
            fs::write(folder.join(name), bytes).unwrap();
        }
        path
    }

    /// Returns the name of the image in `.hpimount/image`.
    pub(super) fn image(&self) -> String {
        let (stem, extension) = self.name.rsplit_once('.').unwrap();
        match extension {
            "xiso" | "gcm" => format!("{stem}.iso"),
            "cue" => format!("{stem}.bin"),
            "gdi" => "track01.bin".to_owned(),
            _ => self.name.to_owned(),
        }
    }

    /// Returns the bytes that a file has in the archive.
    fn stored(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.has_sectors {
            bytes.resize(bytes.len().next_multiple_of(seeds::SECTOR), 0);
        }
        bytes
    }
}

/// Files with the digests of their bytes.
pub(super) type Digests = BTreeMap<String, Result<String, String>>;

/// Returns the files of a mount that are the archive's own.
pub(super) fn digests(vfs: &hpimount::mount::Vfs) -> Digests {
    let files = files(vfs).into_iter();
    let own = files.filter(|(path, _)| !path.contains(".d/") && !path.contains(".meta/"));
    // The number of files is in the FST.
    let own = own.filter(|(path, _)| !path.starts_with("sys/"));
    own.map(|(path, file)| (path, file.sha256)).collect()
}

/// The operations on the files of an archive, by file number.
pub(super) type Plan = Vec<(u8, u64, usize)>;

pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let size = prop_oneof![0..5_usize, 2040..2060_usize, 0..100_000_usize];
    prop::collection::vec((0..4_u8, any::<u64>(), size), 1..8)
}

/// Writes the changes of a plan to a folder. `expected` has the files of the archive,
/// and is updated to the files after the changes.
pub(super) fn write_changes(seed: &Seed, plan: &Plan, folder: &Path, expected: &mut Digests) {
    let paths: Vec<String> = expected.keys().cloned().collect();
    let paths = paths
        .into_iter()
        .filter(|path| (seed.changes)(path) && !path.contains(" ("));
    let paths: Vec<String> = paths.collect();
    for (number, &(kind, random, size)) in plan.iter().enumerate() {
        let bytes = noise(random, size);
        let path = &paths[random as usize % paths.len()];
        let digest = Ok(sha256_of(&seed.stored(bytes.clone())));
        match (kind, seed.grows_in) {
            (0, Some(directory)) => {
                let path = format!("{directory}ADD{number}.DAT");
                write(folder, &path, &bytes);
                expected.insert(path, digest);
            }
            (1, _) => {
                let (parent, name) = match path.rsplit_once('/') {
                    Some((parent, name)) => (format!("{parent}/"), name),
                    None => (String::new(), &**path),
                };
                if !folder.join(path).exists() && expected.len() > 2 {
                    write(folder, &format!("{parent}.wh.{name}"), b"");
                    expected.remove(path);
                }
            }
            _ if expected.contains_key(path) => {
                write(folder, path, &bytes);
                expected.insert(path.clone(), digest);
            }
            _ => {}
        }
    }
}

/// Applies a plan to an archive, and compares the result and the mount with the plan.
fn check(seed: &Seed, plan: &Plan) {
    let work = tempdir().unwrap();
    let original = seed.write(work.path());
    let folder = work.path().join("changes");
    fs::create_dir(&folder).unwrap();
    let before = open(original.clone(), Options::default()).unwrap();
    let mut expected = digests(&before);
    write_changes(seed, plan, &folder, &mut expected);
    let out = work.path().join("out").join(seed.name);
    fs::create_dir(out.parent().unwrap()).unwrap();
    let ran = hpi_apply(&["--quiet"], &folder, &original, &out);
    assert!(
        ran.status.success(),
        "{}: {plan:?}: {}",
        seed.name,
        stderr(&ran)
    );
    let result = open(out.clone(), Options::default()).unwrap();
    assert_eq!(digests(&result), expected, "{}: {plan:?}", seed.name);
    let mounted = open_changed(&original, &folder).unwrap();
    assert_eq!(digests(&mounted), expected, "{}: {plan:?}", seed.name);
    let image = read_at(&mounted, &format!(".hpimount/image/{}", seed.image()));
    let written = match seed.name {
        "a.cue" | "a.gdi" => out.with_extension("bin"),
        _ => out,
    };
    assert!(
        image == fs::read(written).unwrap(),
        "{}: {plan:?}",
        seed.name
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trial::length(8, 200)))]

    #[test]
    fn a_changed_archive_has_what_the_folder_says_in_a_file_and_in_a_mount(
        number in any::<prop::sample::Index>(),
        plan in plan(),
    ) {
        let seeds = all();
        check(&seeds[number.index(seeds.len())], &plan);
    }
}

#[test]
fn every_format_takes_a_replacement_an_addition_and_a_deletion() {
    for seed in all() {
        check(&seed, &vec![(2, 0, 5_000), (0, 7, 3_000), (1, 1, 0)]);
    }
}

#[test]
fn a_folder_that_changes_nothing_gives_the_original() {
    for seed in all() {
        let work = tempdir().unwrap();
        let original = seed.write(work.path());
        let folder = work.path().join("changes");
        fs::create_dir(&folder).unwrap();
        let before = open(original.clone(), Options::default()).unwrap();
        for path in digests(&before).keys().filter(|path| !path.contains(" (")) {
            write(&folder, path, &read_at(&before, path));
        }
        let out = work.path().join("out").join(seed.name);
        fs::create_dir(out.parent().unwrap()).unwrap();
        let ran = hpi_apply(&["--quiet"], &folder, &original, &out);
        assert!(ran.status.success(), "{}: {}", seed.name, stderr(&ran));
        assert!(fs::read(&out).unwrap() == seed.bytes, "{}", seed.name);
    }
}

/// Returns a folder with an archive in an archive, and changes of the inner one.
fn nested() -> (TempDir, PathBuf, PathBuf) {
    let work = tempdir().unwrap();
    let inner = seeds::zip_with("a.txt", b"old");
    let outer = work.path().join("outer.zip");
    fs::write(&outer, seeds::zip_with("inner.zip", &inner)).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "inner.zip.d/a.txt", b"new text");
    (work, outer, folder)
}

#[test]
fn changes_inside_an_archive_in_an_archive_are_applied() {
    let (_work, outer, folder) = nested();
    let mounted = open_changed(&outer, &folder).unwrap();
    assert_eq!(read_at(&mounted, "inner.zip.d/a.txt"), b"new text");
}

#[test]
fn a_file_that_changes_after_it_was_applied_is_an_error_and_never_mixed() {
    let (_work, outer, folder) = nested();
    let mounted = open_changed(&outer, &folder).unwrap();
    fs::write(folder.join("inner.zip.d/a.txt"), b"changed!").unwrap();
    let image = mounted.lookup(Ino::ROOT, ".hpimount").unwrap();
    let image = mounted.lookup(image.ino, "image").unwrap();
    let image = mounted.lookup(image.ino, "outer.zip").unwrap();
    let read = mounted.read(image.ino, 0, image.size as u32);
    assert!(matches!(read, Err(Error::Io)), "{read:?}");
    // The next mount has the new contents.
    let again = open_changed(&outer, &folder).unwrap();
    assert_eq!(read_at(&again, "inner.zip.d/a.txt"), b"changed!");
}

#[test]
fn all_refusals_are_listed_at_once_and_nothing_is_written() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.img");
    fs::write(&original, seeds::img()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "noextension", b"x");
    write(&folder, "dir/file.txd", b"x");
    std::os::unix::fs::symlink("a.ifp", folder.join("link.txd")).unwrap();
    let out = work.path().join("out.img");
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert_eq!(ran.status.code(), Some(REFUSED));
    let told = stderr(&ran);
    for path in ["noextension", "dir", "link.txd"] {
        assert!(told.contains(path), "{told}");
    }
    assert!(!out.exists());
}

#[test]
fn a_folder_replaces_a_file_only_if_it_is_opaque() {
    let work = tempdir().unwrap();
    let refused = |original: &[u8], path: &str, why: &str| {
        let folder = tempfile::tempdir_in(&work).unwrap();
        write(folder.path(), path, b"x");
        let source = folder.path().with_extension("zip");
        fs::write(&source, original).unwrap();
        let told = open_changed(&source, folder.path()).err().unwrap();
        assert!(told.contains(why), "{path}: {told}");
        let (top, _) = path.split_once('/').unwrap();
        write(folder.path(), &format!("{top}/.wh..wh..opq"), b"");
        let mounted = open_changed(&source, folder.path()).unwrap();
        assert_eq!(read_at(&mounted, path), b"x");
    };
    let archive = seeds::zip_with("inner.zip", &seeds::zip_with("a.txt", b"old"));
    refused(
        &archive,
        "inner.zip/a.txt",
        "inner.zip: is an archive: name the folder inner.zip.d",
    );
    refused(
        &archive,
        "none.zip.d/a.txt",
        "none.zip.d: is for changes inside none.zip, which does not exist",
    );
    refused(
        &seeds::zip_with("plain", b"old"),
        "plain/a.txt",
        "plain: is a file",
    );
    let folder = work.path().join("added");
    write(&folder, "conf.d/a.txt", b"x");
    let source = work.path().join("plain.zip");
    fs::write(&source, seeds::zip_with("plain", b"old")).unwrap();
    let mounted = open_changed(&source, &folder).unwrap();
    assert_eq!(read_at(&mounted, "conf.d/a.txt"), b"x");
}

#[test]
fn what_desktops_and_file_systems_leave_behind_is_skipped() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.img");
    fs::write(&original, seeds::img()).unwrap();
    let folder = work.path().join("changes");
    for name in [
        ".DS_Store",
        "Thumbs.db",
        "a.ifp~",
        ".a.ifp.swp",
        ".fuse_hidden0000000a00000006",
        ".nfs00000000000a1b2c00000001",
    ] {
        write(&folder, name, b"x");
    }
    let out = work.path().join("out.img");
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert_eq!(fs::read(&out).unwrap(), seeds::img());
}

#[test]
fn an_opaque_directory_has_only_what_the_folder_has() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.iso");
    fs::write(&original, disc().iso()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "data/.wh..wh..opq", b"");
    write(&folder, "data/file1.dat", b"kept");
    let mounted = open_changed(&original, &folder).unwrap();
    let found: Vec<String> = digests(&mounted).into_keys().collect();
    assert_eq!(found, ["DATA/FILE1.DAT", "README.TXT"]);
}

/// An overlay leaves this for a directory that was deleted and created again.
#[test]
fn a_directory_in_an_opaque_one_has_only_what_the_folder_has() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.zip");
    fs::write(&original, seeds::zip_with("d/sub/deep/old", b"old")).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "d/.wh..wh..opq", b"");
    write(&folder, "d/sub/deep/new", b"new");
    let mounted = open_changed(&original, &folder).unwrap();
    let found: Vec<String> = digests(&mounted).into_keys().collect();
    assert_eq!(found, ["d/sub/deep/new"]);
}

#[test]
fn files_that_moved_on_a_disc_are_refused_only_if_asked() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.iso");
    fs::write(&original, disc().iso()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "README.TXT", &noise(1, 5000));
    let out = work.path().join("out.iso");
    let ran = hpi_apply(&["--strict"], &folder, &original, &out);
    assert_eq!(ran.status.code(), Some(REFUSED));
    assert!(stderr(&ran).contains("README.TXT: moved from block"));
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert!(ran.status.success() && stderr(&ran).contains("README.TXT: moved from block"));
}

#[test]
fn the_target_is_neither_the_original_nor_in_the_folder_of_changes() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.img");
    fs::write(&original, seeds::img()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "a.ifp", b"x");
    for (options, out) in [
        (&[][..], original.clone()),
        (&["--force"], folder.join("out.img")),
    ] {
        let ran = hpi_apply(options, &folder, &original, &out);
        assert_eq!(ran.status.code(), Some(NOT_WRITTEN), "{}", stderr(&ran));
    }
    assert_eq!(fs::read(&original).unwrap(), seeds::img());
    let ran = hpi_apply(&["--force"], &folder, &original, &original);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert_ne!(fs::read(&original).unwrap(), seeds::img());
}

#[test]
fn a_folder_is_packed_into_the_format_of_the_extension() {
    for (name, files) in [
        ("new.img", &["a.txd", "B.DFF"][..]),
        ("new.prx", &["levels/a/a.psx", "b.qb"]),
        ("new.wad", &["a.psx", "b.vab"]),
        ("NEW.WAD", &["a.psx"]),
        ("new.zip", &["units/a.fbi", "b.txt"]),
    ] {
        let work = tempdir().unwrap();
        let folder = work.path().join("folder");
        for (number, file) in files.iter().enumerate() {
            write(&folder, file, &noise(number as u64, 4096));
        }
        // More names than fit in the first sector.
        if name == "new.img" {
            for number in 0..200 {
                write(&folder, &format!("more{number}.txd"), &[7; 2048]);
            }
        }
        let out = work.path().join("out").join(name);
        fs::create_dir(out.parent().unwrap()).unwrap();
        let ran = hpipack(&["--quiet"], &folder, &out);
        assert!(ran.status.success(), "{name}: {}", stderr(&ran));
        let packed = open(out.clone(), Options::default()).unwrap();
        for path in contents(&folder)
            .into_iter()
            .filter_map(|(path, bytes)| Some((path, bytes?)))
        {
            let (path, bytes) = (path.0.to_str().unwrap().to_owned(), path.1);
            assert!(read_at(&packed, &path) == bytes, "{name}: {path}");
        }
    }
}

#[test]
fn damaged_originals_are_refused_or_changed_and_never_panic() {
    let mut tried = 0;
    for seed in all() {
        let source = |bytes: &[u8]| -> Arc<dyn ReadAt> { Arc::new(bytes.to_vec()) };
        let beside = seed.beside.as_ref().map(|(_, bytes)| bytes.clone());
        // The tables are in the first and last bytes.
        let length = seed.bytes.len();
        let places = (0..length.min(3000))
            .step_by(trial::length(11, 1))
            .chain((length.saturating_sub(600)..length).step_by(trial::length(5, 1)));
        for (number, at) in places.enumerate() {
            let (mut bytes, mut beside) = (seed.bytes.clone(), beside.clone());
            let value = [0, 1, 0x7F, 0xFF][number % 4];
            tried += 1;
            bytes[at] = value;
            if let Some(beside) = &mut beside {
                let at = at % beside.len();
                beside[at] = value;
            }
            let mut folder = Folder::default();
            for name in ["a.txt", "a.ifp", "NEW.DAT", "bits.psx"] {
                let new = NewFile::new(name, source(&noise(1, 3000)));
                folder.entries.insert(name.into(), Change::File(new));
            }
            folder.entries.insert("m.txt".into(), Change::Deleted);
            let original = Original {
                partner: &|_| beside.as_deref().map(source),
                ..Original::alone(source(&bytes), seed.name)
            };
            let mut report = Report::default();
            let written = apply(&original, folder, "", Tools::PLAIN, &mut report);
            if let Some(written) = written {
                let length = written.data.len().min(1 << 20) as usize;
                // The original may declare more than its length.
                let _ = written.data.read_exact_at(&mut vec![0; length], 0);
            }
        }
    }
    let happened = "refused, or written; no panic";
    trial::record("a changed original with a wrong byte", tried, happened);
}

#[test]
fn formats_that_cannot_be_written_are_refused() {
    let work = tempdir().unwrap();
    let original = work.path().join("a.7z");
    fs::write(&original, seeds::seven_zip()).unwrap();
    let folder = work.path().join("changes");
    write(&folder, "x", b"x");
    let out = work.path().join("out.7z");
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert_eq!(ran.status.code(), Some(REFUSED));
    assert!(
        stderr(&ran).contains("7z archives cannot be changed"),
        "{}",
        stderr(&ran)
    );
}
