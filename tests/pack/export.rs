//! `hpi diff --export`: the folder of changes that turns the first side into the
//! second.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::{TempDir, tempdir};

use fixtures::container_seeds as seeds;
use fixtures::disc::{Disc, MODE_2};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{self, V1};
use fixtures::noise;
use hpimount::mount::Options;
use hpimount_containers::hpi::chunk::Method;
use testkit::applied::{hpi_apply, open_changed, write};
use testkit::hpipack::stderr;
use testkit::mount::{Run, hpi, run};
use testkit::mounted::few_cases;
use testkit::sources;
use testkit::walked;

/// Two sides in files of a directory.
struct Sides {
    work: TempDir,
    names: [&'static str; 2],
}

impl Sides {
    fn new(names: [&'static str; 2], sides: [&[u8]; 2]) -> Self {
        let work = tempdir().unwrap();
        for (name, bytes) in names.iter().zip(sides) {
            fs::write(work.path().join(name), bytes).unwrap();
        }
        Self { work, names }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn export(&self, options: &[&str]) -> Run {
        let mut program = hpi("diff");
        program.current_dir(self.work.path());
        run(program
            .args(["--brief", "--export", "mod"])
            .args(options)
            .args(self.names))
    }

    /// Returns the files of the folder after a successful export, which must turn the
    /// first side into the second.
    fn exported(&self, options: &[&str]) -> Vec<String> {
        let ran = self.export(options);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
        let changed = open_changed(&self.path(self.names[0]), &self.path("mod")).unwrap();
        let new = walked::open(self.path(self.names[1]), Options::default()).unwrap();
        assert_eq!(files(walked::files(&changed)), files(walked::files(&new)));
        exported(&self.path("mod"))
    }

    fn refused(&self, options: &[&str]) -> String {
        let ran = self.export(options);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(!self.path("mod").exists());
        ran.stderr
    }
}

/// Returns files except for archives, whose files are among them, and for tables of
/// positions.
fn files<T>(mut files: BTreeMap<String, T>) -> BTreeMap<String, T> {
    let paths: Vec<String> = files.keys().cloned().collect();
    let is_entered = |path: &str| {
        let inside = format!("{path}.d/");
        paths.iter().any(|other| other.starts_with(&inside))
    };
    let is_table = |path: &str| {
        let name = path.rsplit('/').next().unwrap();
        ["A.HED", "assets.tsv", "fst.bin", "info.json"].contains(&name)
    };
    files.retain(|path, _| !is_entered(path) && !is_table(path));
    files
}

/// Returns the paths of the files in a folder, sorted.
fn exported(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => found.push(path.strip_prefix(folder).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

fn hip(assets: &[(&str, &[u8])]) -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    for (name, bytes) in assets {
        hip.add(Asset::new(b"MRKR", name, bytes));
    }
    hip.build()
}

fn hpi_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let entries = files.iter();
    let file = |bytes: &[u8]| hpi::File::new(bytes, Method::Zlib);
    let entries = entries.map(|(name, bytes)| hpi::file(name.as_bytes(), file(bytes)));
    V1::new(entries.collect()).build().bytes
}

fn disc(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut disc = Disc::default();
    for (path, bytes) in files {
        disc.file(path, bytes);
    }
    disc.iso()
}

#[test]
fn only_what_differs_is_in_the_folder_also_inside_archives() {
    let big = noise(1, 50_000);
    let old = disc(&[
        (
            "A.HIP",
            &hip(&[("kept", &big), ("edited", b"old"), ("gone", b"gone")]),
        ),
        (
            "DATA/B.UFO",
            &hpi_of(&[("kept", &big), ("inner.hip", &hip(&[("deep", b"old")]))]),
        ),
        ("DATA/GONE.DAT", b"gone"),
        ("DATA/SAME.DAT", &big),
        ("OLD/ONE.DAT", b"one"),
        ("OLD/TWO.DAT", b"two"),
        ("KIND", b"a file"),
    ]);
    let new = disc(&[
        (
            "A.HIP",
            &hip(&[("kept", &big), ("edited", b"new"), ("added", b"added")]),
        ),
        (
            "DATA/B.UFO",
            &hpi_of(&[("kept", &big), ("inner.hip", &hip(&[("deep", b"new")]))]),
        ),
        ("DATA/SAME.DAT", &big),
        ("KIND/IN/DEEP.DAT", b"now a directory"),
        ("MOVED.DAT", b"one"),
    ]);
    let sides = Sides::new(["old.iso", "new.iso"], [&old, &new]);
    let layer = "layers/00-DEFAULT";
    let expected = [
        ".wh.OLD".to_owned(),
        format!("A.HIP.d/{layer}/.wh.gone.mrkr"),
        format!("A.HIP.d/{layer}/added.mrkr"),
        format!("A.HIP.d/{layer}/edited.mrkr"),
        "DATA/.wh.GONE.DAT".to_owned(),
        format!("DATA/B.UFO.d/inner.hip.d/{layer}/deep.mrkr"),
        "KIND/.wh..wh..opq".to_owned(),
        "KIND/IN/DEEP.DAT".to_owned(),
        "MOVED.DAT".to_owned(),
    ];
    assert_eq!(sides.exported(&[]), expected);
    fs::remove_dir_all(sides.path("mod")).unwrap();
    let whole = sides.exported(&["--whole"]);
    assert!(whole.contains(&"A.HIP".to_owned()), "{whole:?}");
    assert!(whole.contains(&"DATA/B.UFO".to_owned()), "{whole:?}");
}

#[test]
fn an_archive_whose_changes_do_not_give_the_same_is_exported_as_a_whole() {
    // The date of an archive is in no asset, and nothing writes 7z.
    let dated = |time: u32, bytes: &[u8]| {
        let mut hip = Hip {
            time,
            ..Hip::default()
        };
        hip.layer(0).add(Asset::new(b"MRKR", "mark", bytes));
        hip.build()
    };
    let seven = |bytes: &[u8]| seeds::seven_zip_of(seeds::Method7z::Copy, &[("in.txt", bytes)], 0);
    let side = |time, bytes: &[u8]| {
        disc(&[
            ("A.HIP", &dated(time, bytes)),
            ("B.7Z", &seven(bytes)),
            (
                "C.UFO",
                &hpi_of(&[("d.hip", &dated(time, bytes)), ("e", bytes)]),
            ),
        ])
    };
    let sides = Sides::new(["old.iso", "new.iso"], [&side(1, b"old"), &side(2, b"new")]);
    let expected = ["A.HIP", "B.7Z", "C.UFO.d/d.hip", "C.UFO.d/e"];
    assert_eq!(sides.exported(&[]), expected);
}

#[test]
fn a_patch_becomes_a_folder_of_changes() {
    let sides = Sides::new(
        ["a.iso", "a.iso"],
        [&[], &disc(&[("README.TXT", b"original")])],
    );
    write(&sides.path("edit"), "README.TXT", b"changed, and longer");
    let patch = sides.path("mod.xdelta");
    let ran = hpi_apply(&[], &sides.path("edit"), &sides.path("a.iso"), &patch);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let mut program = hpi("diff");
    program.current_dir(sides.work.path());
    let export = ["--apply", "mod.xdelta", "a.iso", "--export", "mod"];
    let ran = run(program.args(export));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(exported(&sides.path("mod")), ["README.TXT"]);
    let bytes = fs::read(sides.path("mod/README.TXT")).unwrap();
    assert_eq!(bytes, b"changed, and longer");
}

#[test]
fn tables_of_discs_and_directories_of_pairs_are_not_exported() {
    let old = seeds::gcm();
    let mut new = old.clone();
    // The second file is one byte shorter, and another one is different.
    new[0x2600 + 36 + 11] -= 1;
    let data = old.windows(8).position(|window| window == b"GCM txt\0");
    new[data.unwrap() + 8 + 50] = 77;
    let sides = Sides::new(["old.iso", "new.iso"], [&old, &new]);
    assert_eq!(sides.exported(&[]), ["files/bb/c.HIP"]);

    let side = |bytes: &[u8]| {
        let work = tempdir().unwrap();
        write(&work.path().join("files"), "one.txt", bytes);
        write(&work.path().join("files"), "two.txt", b"two");
        let [wad, hed] = ["a.wad", "a.hed"].map(|name| work.path().join(name));
        sources::pack(&work.path().join("files"), &wad);
        disc(&[
            ("A.WAD", &fs::read(wad).unwrap()),
            ("A.HED", &fs::read(hed).unwrap()),
        ])
    };
    let sides = Sides::new(
        ["old.iso", "new.iso"],
        [&side(b"old"), &side(&noise(1, 9000))],
    );
    assert_eq!(sides.exported(&[]), ["A.WAD.d/one.txt"]);
    fs::remove_dir_all(sides.path("mod")).unwrap();
    assert_eq!(sides.exported(&["--whole"]), ["A.HED", "A.WAD"]);
}

#[test]
fn a_movie_is_exported_with_its_whole_sectors() {
    let side = |seed| {
        let mut disc = Disc::default();
        disc.form_2_file("MOVIE.STR", &form_2(seed));
        disc.file("SYSTEM.CNF", b"BOOT");
        disc.raw()
    };
    let sides = Sides::new(["old.bin", "new.bin"], [&side(1), &side(2)]);
    assert_eq!(sides.exported(&[]), ["MOVIE.STR.raw2336"]);
}

/// Returns the contents of three sectors of Form 2.
fn form_2(seed: u64) -> Vec<u8> {
    let mut sectors = noise(seed, 3 * MODE_2);
    for sector in sectors.chunks_mut(MODE_2) {
        sector[..8].copy_from_slice(&[1, 0, 0x20, 0, 1, 0, 0x20, 0]);
        // Without a checksum.
        sector[MODE_2 - 4..].fill(0);
    }
    sectors
}

#[test]
fn what_a_folder_of_changes_cannot_say_is_listed_and_nothing_is_left() {
    let [old, new] = [&b"old"[..], b"new"].map(|bytes| hpi_of(&[("a", bytes), ("backup~", bytes)]));
    let sides = Sides::new(["old.ufo", "new.ufo"], [&old, &new]);
    // It is in the original, where the name counts.
    assert_eq!(sides.exported(&[]), ["a", "backup~"]);
    fs::remove_dir_all(sides.path("mod")).unwrap();

    let new = hpi_of(&[
        ("a", b"old"),
        ("Thumbs.db", b"skipped"),
        (".wh.b", b"marks"),
    ]);
    fs::write(sides.path("new.ufo"), new).unwrap();
    let refused = sides.refused(&[]);
    assert!(refused.contains("new.ufo: .wh.b: "), "{refused}");
    let new = hpi_of(&[
        ("a", b"old"),
        ("Thumbs.db", b"skipped"),
        ("backup~", b"old"),
    ]);
    fs::write(sides.path("new.ufo"), new).unwrap();
    let refused = sides.refused(&[]);
    assert!(
        refused.contains("Thumbs.db: has a name that `--apply` skips"),
        "{refused}"
    );

    // An archive that cannot be written.
    let [old, new] = [&b"old"[..], b"new"]
        .map(|bytes| seeds::seven_zip_of(seeds::Method7z::Copy, &[("in.txt", bytes)], 0));
    let sides = Sides::new(["old.7z", "new.7z"], [&old, &new]);
    let refused = sides.refused(&[]);
    assert!(refused.contains("cannot be changed"), "{refused}");
}

#[test]
fn only_a_new_or_empty_folder_outside_of_the_sources_is_written() {
    let [old, new] = [&b"old"[..], b"new"].map(|bytes| hpi_of(&[("a", bytes)]));
    let sides = Sides::new(["old.ufo", "new.ufo"], [&old, &new]);
    write(&sides.path("mod"), "mine", b"mine");
    let ran = sides.export(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("mod: is not empty"), "{ran:?}");
    assert_eq!(exported(&sides.path("mod")), ["mine"]);

    fs::remove_file(sides.path("mod/mine")).unwrap();
    assert_eq!(sides.exported(&[]), ["a"]);

    let [old, new] = ["one", "two"].map(|name| {
        write(&sides.path(name), "a", name.as_bytes());
        sides.path(name)
    });
    let mut program = hpi("diff");
    let inside = new.join("mod");
    program.args([&old, &new]).arg("--export").arg(&inside);
    let ran = run(&mut program);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("is in a folder that is read"),
        "{ran:?}"
    );
    assert!(!inside.exists());
    // A folder that existed remains, and is empty.
    fs::create_dir(sides.path("empty")).unwrap();
    fs::write(sides.path("old.7z"), seeds::seven_zip()).unwrap();
    let mut program = hpi("diff");
    program.current_dir(sides.work.path());
    let ran = run(program.args(["--export", "empty", "old.7z", "new.ufo"]));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(exported(&sides.path("empty")).is_empty());
}

#[test]
fn nothing_is_left_of_an_export_that_is_ended() {
    let work = tempdir().unwrap();
    fs::create_dir(work.path().join("old")).unwrap();
    // More lines than a pipe holds.
    for number in 0..500 {
        write(&work.path().join("new"), &format!("{number:0200}"), b"new");
    }
    let by_signal = |child: &mut Child| kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    let by_closed_pipe = |child: &mut Child| drop(child.stdout.take());
    let ends: [&dyn Fn(&mut Child); 2] = [&by_signal, &by_closed_pipe];
    for end in ends {
        let mut child = hpi("diff")
            .current_dir(work.path())
            .args(["--export", "mod", "old", "new"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The folder is begun before the first line is printed.
        let mut byte = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut byte)
            .unwrap();
        assert!(!work.path().join("mod").exists());
        end(&mut child);
        assert_eq!(child.wait().unwrap().code(), None);
        let mut names: Vec<_> = fs::read_dir(work.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["new", "old"]);
    }
}

/// An entry of a made-up tree.
#[derive(Debug, Clone)]
enum Made {
    File(&'static [u8]),
    Directory(Vec<(&'static str, Made)>),
    Hpi(Vec<(&'static str, Made)>),
    Hip(Vec<(&'static str, &'static [u8])>),
}

/// Few contents and names exist, so that the sides have much in common.
const CONTENTS: &[&[u8]] = &[b"one", b"two", &[7; 70_000]];
const NAMES: &[&str] = &["A", "B", "C", "D"];

fn named<T: std::fmt::Debug + Clone>(
    made: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<(&'static str, T)>> {
    vec((select(NAMES), made), 1..5).prop_map(|mut entries| {
        entries.sort_by_key(|(name, _)| *name);
        entries.dedup_by_key(|(name, _)| *name);
        entries
    })
}

fn made() -> impl Strategy<Value = Vec<(&'static str, Made)>> {
    let leaf = prop_oneof![
        2 => select(CONTENTS).prop_map(Made::File),
        1 => named(select(CONTENTS)).prop_map(Made::Hip),
    ];
    let tree = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            2 => inner.clone(),
            1 => named(inner.clone()).prop_map(Made::Directory),
            1 => named(inner).prop_map(Made::Hpi),
        ]
    });
    named(tree)
}

/// Returns the files of a made-up tree with their paths.
fn all_files(made: &[(&'static str, Made)], start: &str) -> Vec<(String, Vec<u8>)> {
    let files = made.iter().flat_map(|(name, made)| match made {
        Made::File(bytes) => vec![(format!("{start}{name}"), bytes.to_vec())],
        Made::Directory(inner) => all_files(inner, &format!("{start}{name}/")),
        Made::Hpi(inner) => vec![(format!("{start}{name}.UFO"), hpi_with(inner))],
        Made::Hip(assets) => vec![(format!("{start}{name}.HIP"), hip(assets))],
    });
    files.collect()
}

fn hpi_with(made: &[(&'static str, Made)]) -> Vec<u8> {
    fn entries(made: &[(&'static str, Made)]) -> Vec<hpi::Entry> {
        let file = |name: String, bytes: Vec<u8>| {
            hpi::file(name.as_bytes(), hpi::File::new(&*bytes, Method::Zlib))
        };
        let entries = made.iter().map(|(name, made)| match made {
            Made::File(bytes) => file((*name).to_owned(), bytes.to_vec()),
            Made::Directory(inner) => hpi::dir(name.as_bytes(), entries(inner)),
            Made::Hpi(inner) => file(format!("{name}.UFO"), hpi_with(inner)),
            Made::Hip(assets) => file(format!("{name}.HIP"), hip(assets)),
        });
        entries.collect()
    }
    V1::new(entries(made)).build().bytes
}

#[test]
fn each_side_is_made_out_of_the_other() {
    let mut runner = TestRunner::new(few_cases());
    let ran = runner.run(&(made(), made()), |sides| {
        let made = [&sides.0, &sides.1];
        let discs = made.map(|made| {
            let mut disc = Disc::default();
            for (path, bytes) in all_files(made, "") {
                disc.file(&path, &bytes);
            }
            disc.iso()
        });
        Sides::new(["old.iso", "new.iso"], [&discs[0], &discs[1]]).exported(&[]);
        let archives = made.map(|made| hpi_with(made));
        Sides::new(["old.ufo", "new.ufo"], [&archives[0], &archives[1]]).exported(&[]);
        Ok(())
    });
    ran.unwrap();
}
