//! `--apply` on everything that can be mounted: merged archives, games, separate
//! sources, folders and single assets.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::SystemTime;

use tempfile::{TempDir, tempdir};
use testkit::fuse_test;

use fixtures::container_seeds::zip_with;
use fixtures::gxt;
use fixtures::hpi::{V1, V2};
use hpimount::mount::{FileKind, Ino, Sources, Vfs};
use testkit::applied::{hpi_apply, open_sources, read_at, write};
use testkit::hpipack::stderr;
use testkit::merging::{folder, text};
use testkit::mount::{Fixture, hpimount};
use testkit::walked::{files, sha256_of};

/// Exit codes of `hpi diff` with differences, and of refused changes.
const DIFFERENT: i32 = 1;
const REFUSED: i32 = 14;

/// Sources and a folder of changes.
struct Work(TempDir);

impl Work {
    fn new() -> Self {
        Self(tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a source.
    fn source(&self, name: &str, bytes: &[u8]) -> PathBuf {
        write(self.0.path(), name, bytes);
        self.path(name)
    }

    /// Writes a file of the folder of changes.
    fn edit(&self, path: &str, bytes: &[u8]) {
        write(&self.path("edit"), path, bytes);
    }

    /// Opens sources with the changes.
    fn open(&self, sources: &Sources) -> Result<Arc<Vfs>, String> {
        open_sources(sources, &[self.path("edit")])
    }

    /// Runs hpimount with the changes and these arguments; `{}` is the folder of the
    /// sources.
    fn run(&self, arguments: &[&str]) -> Output {
        let own = self.0.path().to_str().unwrap();
        let arguments = arguments.iter().map(|text| text.replace("{}", own));
        let mut program = Command::new(env!("CARGO_BIN_EXE_hpi"));
        program
            .args(arguments)
            .arg("--apply")
            .arg(self.path("edit"));
        program.output().unwrap()
    }
}

fn given(paths: &[PathBuf]) -> Sources {
    Sources::Given {
        locations: paths.iter().cloned().map(Into::into).collect(),
        order: None,
        separate: false,
    }
}

/// Returns the files of a mount with their checksums.
fn sums(vfs: &Vfs) -> BTreeMap<String, String> {
    let files = files(vfs).into_iter();
    let files = files.map(|(path, file)| (path, file.sha256.unwrap()));
    files.collect()
}

fn expected(files: &[(&str, &[u8])]) -> BTreeMap<String, String> {
    let files = files.iter();
    let files = files.map(|(path, bytes)| ((*path).to_owned(), sha256_of(bytes)));
    files.collect()
}

fn hpi(entries: Vec<fixtures::hpi::Entry>) -> Vec<u8> {
    V1::new(entries).build().bytes
}

/// Writes two archives that are merged, and changes of both.
fn merged(work: &Work) -> [PathBuf; 2] {
    let low = vec![
        folder(
            "units",
            vec![text("a.fbi", "low a"), text("b.fbi", "low b")],
        ),
        folder("gone", vec![text("x.txt", "x")]),
        text("kept.txt", "kept"),
    ];
    let high = vec![
        folder(
            "UNITS",
            vec![text("B.FBI", "high b"), text("c.fbi", "high c")],
        ),
        folder("gone", vec![text("y.txt", "y")]),
        text("both.txt", "file"),
    ];
    work.edit("Units/A.fbi", b"new a");
    work.edit("units/b.fbi", b"new b");
    work.edit("units/.wh.c.fbi", b"");
    work.edit("units/d.fbi", b"new d");
    work.edit(".wh.gone", b"");
    work.edit("both.txt/.wh..wh..opq", b"");
    work.edit("both.txt/inner.txt", b"inner");
    [
        work.source("a.hpi", &hpi(low)),
        work.source("b.hpi", &hpi(high)),
    ]
}

const MERGED: [(&str, &[u8]); 5] = [
    ("UNITS/B.FBI", b"new b"),
    ("UNITS/a.fbi", b"new a"),
    ("UNITS/d.fbi", b"new d"),
    ("both.txt/inner.txt", b"inner"),
    ("kept.txt", b"kept"),
];

#[test]
fn changes_are_above_all_merged_archives_and_delete_from_all_of_them() {
    let work = Work::new();
    let vfs = work.open(&given(&merged(&work))).unwrap();
    assert_eq!(sums(&vfs), expected(&MERGED));
    let shadowed = |path: &str| read_at(&vfs, &format!(".hpimount/shadowed/{path}"));
    assert_eq!(shadowed("a.hpi/units/a.fbi"), b"low a");
    assert_eq!(shadowed("b.hpi/UNITS/c.fbi"), b"high c");
    assert_eq!(shadowed("a.hpi/gone/x.txt"), b"x");
    assert_eq!(shadowed("b.hpi/both.txt"), b"file");
}

/// There the newest file of any archive is shown.
#[test]
fn changes_are_above_newer_files_of_kingdoms_too() {
    let work = Work::new();
    let game = work.path("game");
    for (name, date) in [("a.hpi", 950_000_000), ("b.hpi", 950_000_001)] {
        let files = ["changed.txt", "gone.txt", "kept.txt"].map(|path| text(path, name));
        let archive = V2 {
            date,
            ..V2::new(files.into())
        };
        write(&game, name, &archive.build().bytes);
    }
    work.edit("changed.txt", b"new");
    work.edit(".wh.gone.txt", b"");
    let changed = work.path("edit/changed.txt");
    let changed = fs::File::options().append(true).open(changed).unwrap();
    changed.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let vfs = work.open(&Sources::Game {
        folder: game,
        order: None,
        mods: Vec::new(),
    });
    let changed: [(&str, &[u8]); 2] = [("changed.txt", b"new"), ("kept.txt", b"b.hpi")];
    assert_eq!(sums(&vfs.unwrap()), expected(&changed));
}

#[test]
fn changes_are_above_the_loose_files_of_a_game_and_its_mods() {
    let work = Work::new();
    let [low, _] = merged(&work);
    let game = work.path("game");
    fs::create_dir(&game).unwrap();
    fs::rename(low, game.join("totala1.hpi")).unwrap();
    write(&game, "units/b.fbi", b"loose b");
    write(&work.path("mod"), "units/d.fbi", b"mod d");
    write(&work.path("mod"), "units/e.fbi", b"mod e");
    let vfs = work.open(&Sources::Game {
        folder: game,
        order: None,
        mods: vec![work.path("mod")],
    });
    let files = sums(&vfs.unwrap());
    let below = |path: &str| files[path].clone();
    assert_eq!(below("units/b.fbi"), sha256_of(b"new b"));
    assert_eq!(below("units/d.fbi"), sha256_of(b"new d"));
    assert_eq!(below("units/e.fbi"), sha256_of(b"mod e"));
    assert!(!files.keys().any(|path| path.starts_with("gone")));
}

#[test]
fn changes_inside_an_archive_of_a_merge_or_a_folder_change_its_bytes() {
    let work = Work::new();
    let inner = zip_with("d/f.txt", b"old");
    let outer = |name: &str| {
        let file =
            fixtures::hpi::File::new(inner.clone(), hpimount_containers::hpi::chunk::Method::Zlib);
        let file = fixtures::hpi::file(b"inner.zip", file);
        work.source(name, &hpi(vec![text(&format!("{name}.txt"), name), file]))
    };
    let archives = [outer("a.hpi"), outer("b.hpi")];
    let folder = work.path("folder");
    write(&folder, "inner.zip", &inner);
    write(&work.path("inside"), "d/f.txt", b"new");
    work.edit("inner.zip.d/d/f.txt", b"new");
    let source = work.source("inner.zip", &inner);
    let written = work.path("written.zip");
    let ran = hpi_apply(&["--quiet"], &work.path("inside"), &source, &written);
    assert!(ran.status.success(), "{}", stderr(&ran));
    for sources in [given(&archives), given(&[folder])] {
        let vfs = work.open(&sources).unwrap();
        assert_eq!(read_at(&vfs, "inner.zip.d/d/f.txt"), b"new");
        assert_eq!(read_at(&vfs, "inner.zip"), fs::read(&written).unwrap());
    }
}

/// Writes a folder, and changes of it.
fn changed_folder(work: &Work) -> PathBuf {
    let folder = work.path("folder");
    for (path, bytes) in [
        ("kept/x.txt", &b"x"[..]),
        ("sub/deep/a.txt", b"old a"),
        ("sub/deep/b.txt", b"old b"),
        ("sub/c.txt", b"old c"),
        ("opaque/old.txt", b"old"),
        ("opaque/sub/old.txt", b"old"),
        ("opaque/file.txt", b"old"),
        ("file.txt", b"file"),
    ] {
        write(&folder, path, bytes);
    }
    symlink("file.txt", folder.join("link")).unwrap();
    symlink("kept", folder.join("kept_link")).unwrap();
    work.edit("SUB/deep/a.txt", b"new a");
    work.edit("sub/deep/.wh.b.txt", b"");
    work.edit("sub/new/n.txt", b"n");
    work.edit("opaque/.wh..wh..opq", b"");
    work.edit("opaque/own.txt", b"own");
    work.edit("opaque/sub/own.txt", b"own");
    work.edit("opaque/file.txt/own.txt", b"own");
    work.edit("file.txt/.wh..wh..opq", b"");
    work.edit("file.txt/inner.txt", b"inner");
    work.edit("link", b"no link");
    work.edit("Thumbs.db", b"skipped");
    folder
}

const CHANGED_FOLDER: [(&str, &[u8]); 9] = [
    ("file.txt/inner.txt", b"inner"),
    ("kept/x.txt", b"x"),
    ("link", b"no link"),
    ("opaque/file.txt/own.txt", b"own"),
    ("opaque/own.txt", b"own"),
    ("opaque/sub/own.txt", b"own"),
    ("sub/c.txt", b"old c"),
    ("sub/deep/a.txt", b"new a"),
    ("sub/new/n.txt", b"n"),
];

#[test]
fn a_folder_has_the_changes_on_top() {
    let work = Work::new();
    let vfs = work.open(&given(&[changed_folder(&work)])).unwrap();
    assert_eq!(sums(&vfs), expected(&CHANGED_FOLDER));
    let link = vfs.lookup(Ino::ROOT, "kept_link").unwrap();
    assert_eq!(link.kind, FileKind::Symlink);
}

#[test]
fn a_folder_without_changes_in_a_directory_shows_what_is_written_there_later() {
    let work = Work::new();
    let folder = changed_folder(&work);
    let vfs = work.open(&given(std::slice::from_ref(&folder))).unwrap();
    write(&folder, "kept/later.txt", b"later");
    write(&folder, "sub/later.txt", b"later");
    assert_eq!(read_at(&vfs, "kept/later.txt"), b"later");
    assert_eq!(read_at(&vfs, "sub/later.txt"), b"later");
}

#[test]
fn an_edited_text_of_a_folder_or_a_merge_becomes_its_asset() {
    let work = Work::new();
    let folder = work.path("folder");
    write(&folder, "text/american.gxt", &gxt::third());
    let plain = open_sources(&given(std::slice::from_ref(&folder)), &[]).unwrap();
    let old = read_at(&plain, "converted/text/american.txt");
    let new = String::from_utf8(old).unwrap().replace("Grün", "Blau");
    work.edit("converted/text/american.txt", new.as_bytes());
    let vfs = work.open(&given(&[folder])).unwrap();
    let shown = read_at(&vfs, "converted/text/american.txt");
    assert_eq!(String::from_utf8(shown).unwrap(), new);
    assert_ne!(read_at(&vfs, "text/american.gxt"), gxt::third());
}

#[test]
fn edited_cells_of_the_table_of_a_games_texts_become_its_files() {
    let work = Work::new();
    let folder = work.path("folder");
    write(&folder, "text/american.gxt", &gxt::third());
    write(&folder, "text/later.gxt", &gxt::later());
    let given = given(&[folder]);
    const TABLE: &str = "converted/tables/texts.tsv";
    let old = read_at(&open_sources(&given, &[]).unwrap(), TABLE);
    let old = String::from_utf8(old).unwrap();
    let line = "text/later.gxt\tDEMO\t0x00000001\tGrün\n";
    assert!(old.contains(line), "{old}");
    let new = old.replace(line, "text/later.gxt\tDEMO\t0x00000001\tBlau\n");
    let new = new.replace("\tNO\t\n", "\tNO\tNein\n");
    work.edit(TABLE, new.as_bytes());
    let vfs = work.open(&given).unwrap();
    assert_eq!(String::from_utf8(read_at(&vfs, TABLE)).unwrap(), new);
    let later = String::from_utf8(read_at(&vfs, "converted/text/later.txt")).unwrap();
    assert_eq!(
        later,
        "[MAIN]\n0x00000001=Grün\n0x00000002=\n\n[DEMO]\n0x00000001=Blau\n0x00000002=\n"
    );
    // A line of the file's texts would have a line feed there.
    let escape = old.replace("\tNO\t\n", "\tNO\tC:\\new\n");
    work.edit(TABLE, escape.as_bytes());
    let problem = work.open(&given).err().unwrap();
    assert!(problem.contains("looks like an escape"), "{problem}");
    fs::remove_file(work.path("edit").join(TABLE)).unwrap();
    let told = later.replace("0x00000001=Blau", "0x00000001=C:\\x5cnew");
    work.edit("converted/text/later.txt", told.as_bytes());
    let shown = read_at(&work.open(&given).unwrap(), "converted/text/later.txt");
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("[DEMO]\n0x00000001=C:\\new\n"), "{shown}");
}

#[test]
fn the_directories_that_an_edited_table_lists_count_towards_the_cache() {
    let work = Work::new();
    let folder = work.path("folder");
    write(&folder, "text/american.gxt", &gxt::third());
    for number in 0..2000 {
        write(&folder, &format!("files/{number}"), b"");
    }
    for number in 0..1200 {
        fs::create_dir(folder.join(number.to_string())).unwrap();
    }
    let table = "converted/tables/texts.tsv";
    let shown = read_at(&open_sources(&given(&[folder]), &[]).unwrap(), table);
    let shown = String::from_utf8(shown).unwrap();
    work.edit(table, shown.replace("Grün", "Blau").as_bytes());
    let check = |size: &str| work.run(&["check", "-o", size, "{}/folder"]);
    let checked = check("cachesize=8M");
    assert!(checked.status.success(), "{}", stderr(&checked));
    let refused = check("cachesize=1M");
    assert!(!refused.status.success());
    let problem = String::from_utf8(refused.stdout).unwrap();
    assert!(problem.contains("of memory"), "{problem}");
}

#[test]
fn a_single_asset_takes_an_edited_text_or_other_bytes() {
    let work = Work::new();
    let asset = work.source("american.gxt", &gxt::third());
    let plain = open_sources(&given(std::slice::from_ref(&asset)), &[]).unwrap();
    let old = read_at(&plain, "converted/american.txt");
    let new = String::from_utf8(old).unwrap().replace("Grün", "Blau");
    work.edit("converted/american.txt", new.as_bytes());
    let vfs = work.open(&given(std::slice::from_ref(&asset))).unwrap();
    let shown = read_at(&vfs, "converted/american.txt");
    assert_eq!(String::from_utf8(shown).unwrap(), new);
    let out = work.path("out.gxt");
    let ran = hpi_apply(&["--quiet"], &work.path("edit"), &asset, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert_eq!(fs::read(&out).unwrap(), read_at(&vfs, "american.gxt"));
    let dry = hpi_apply(&["--dry-run"], &work.path("edit"), &asset, &out);
    assert!(dry.status.success(), "{}", stderr(&dry));

    fs::remove_dir_all(work.path("edit")).unwrap();
    work.edit("American.gxt", &gxt::later());
    let vfs = work.open(&given(std::slice::from_ref(&asset))).unwrap();
    assert_eq!(read_at(&vfs, "american.gxt"), gxt::later());
    work.edit("other.gxt", b"x");
    work.edit("american.gxt.meta/x", b"x");
    let problem = work.open(&given(&[asset])).err().unwrap();
    for reason in [
        "other.gxt: cannot be added",
        "american.gxt.meta: is generated",
    ] {
        assert!(problem.contains(reason), "{problem}");
    }
}

#[test]
fn sources_side_by_side_have_their_changes_in_directories_of_their_names() {
    let work = Work::new();
    let folder = work.path("folder");
    write(&folder, "x.txt", b"x");
    let sources = given(&[
        work.source("a.zip", &zip_with("d/f.txt", b"old")),
        work.source("b.zip", &zip_with("d/f.txt", b"old")),
        folder,
    ]);
    work.edit("A.ZIP/d/F.txt", b"new");
    work.edit("folder/x.txt", b"y");
    let vfs = work.open(&sources).unwrap();
    let changed: [(&str, &[u8]); 3] = [
        ("a.zip/d/f.txt", b"new"),
        ("b.zip/d/f.txt", b"old"),
        ("folder/x.txt", b"y"),
    ];
    assert_eq!(sums(&vfs), expected(&changed));
    work.edit("stray.txt", b"x");
    work.edit(".wh.b.zip", b"");
    work.edit("a.zip/d.zip.d/x", b"x");
    let problem = work.open(&sources).err().unwrap();
    for reason in [
        "stray.txt: is in no source: they are a.zip, b.zip, folder",
        "b.zip: is a source, and cannot be deleted",
    ] {
        assert!(problem.contains(reason), "{problem}");
    }
    fs::remove_file(work.path("edit/stray.txt")).unwrap();
    fs::remove_file(work.path("edit/.wh.b.zip")).unwrap();
    let problem = work.open(&sources).err().unwrap();
    assert!(problem.contains("a.zip/d.zip.d: "), "{problem}");
}

/// The directory of the second one has a number; its asset has none.
#[test]
fn assets_of_one_name_side_by_side_each_have_their_changes() {
    let work = Work::new();
    let paths = ["one", "two"].map(|folder| {
        write(&work.path(folder), "a.tdf", b"[A]{x=1;}");
        work.path(folder).join("a.tdf")
    });
    let sources = given(&paths);
    work.edit("a.tdf/a.tdf", b"[A]{x=2;}");
    work.edit("a (1).tdf/a.tdf", b"[A]{x=3;}");
    let vfs = work.open(&sources).unwrap();
    assert_eq!(read_at(&vfs, "a.tdf/a.tdf"), b"[A]{x=2;}");
    assert_eq!(read_at(&vfs, "a (1).tdf/a.tdf"), b"[A]{x=3;}");
    work.edit("a (1).tdf/b.tdf", b"[B]{}");
    let problem = work.open(&sources).err().unwrap();
    let reason = "a (1).tdf/b.tdf: cannot be added: the source is the file a.tdf";
    assert!(problem.contains(reason), "{problem}");
}

#[test]
fn hpipack_says_what_to_do_with_a_folder() {
    let work = Work::new();
    let folder = changed_folder(&work);
    let ran = hpi_apply(&[], &work.path("edit"), &folder, &work.path("out"));
    assert_eq!(ran.status.code(), Some(REFUSED));
    let problem = stderr(&ran);
    assert!(problem.contains("is a folder: mount it with"), "{problem}");
    assert!(!work.path("out").exists());
}

#[test]
fn a_side_alone_is_compared_with_itself_as_changed() {
    let work = Work::new();
    merged(&work);
    changed_folder(&work);
    fs::remove_dir_all(work.path("edit")).unwrap();
    work.edit("kept/x.txt", b"y");
    work.edit("sub/.wh.c.txt", b"");
    let found = work.run(&["diff", "{}/folder"]);
    assert_eq!(found.status.code(), Some(DIFFERENT));
    let lines = String::from_utf8(found.stdout).unwrap();
    assert_eq!(lines, "changed: kept/x.txt\nremoved: sub/c.txt\n");

    fs::remove_dir_all(work.path("edit")).unwrap();
    work.edit("kept.txt", b"new");
    let against = [
        "diff",
        "{}/a.hpi",
        "{}/b.hpi",
        "--against",
        "{}/a.hpi",
        "--against",
    ];
    let found = work.run(&[&against[..], &["{}/b.hpi"]].concat());
    let lines = String::from_utf8(found.stdout).unwrap();
    assert!(lines.contains("changed: kept.txt"), "{lines}");
    let found = work.run(&["diff", "{}/a.hpi"]);
    let lines = String::from_utf8(found.stdout).unwrap();
    assert!(lines.contains("changed: kept.txt"), "{lines}");
}

#[test]
fn what_is_done_without_a_mount_is_done_with_the_changes() {
    let work = Work::new();
    merged(&work);
    let checked = work.run(&["check", "{}/a.hpi", "{}/b.hpi"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    let summary = String::from_utf8(checked.stdout).unwrap();
    assert!(summary.contains("4 of 4 changed files"), "{summary}");
    assert!(summary.contains("5 files"), "{summary}");
    #[cfg(feature = "index")]
    {
        let indexed = work.run(&["index", "{}/i.sqlite", "{}/a.hpi", "{}/b.hpi"]);
        assert!(indexed.status.success(), "{}", stderr(&indexed));
    }
    fs::remove_dir_all(work.path("edit")).unwrap();
    changed_folder(&work);
    let listed = work.run(&["list", "-0", "{}/folder"]);
    assert!(listed.status.success(), "{}", stderr(&listed));
    let listed = String::from_utf8(listed.stdout).unwrap();
    for (path, _) in CHANGED_FOLDER {
        assert!(listed.split('\0').any(|line| line == path), "{listed}");
    }
    let checked = work.run(&["check", "{}/folder"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
}

#[fuse_test]
fn a_mount_of_a_changed_folder_says_what_was_applied() {
    let work = Work::new();
    let folder = changed_folder(&work);
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.arg("--apply").arg(work.path("edit"));
    program.args([&folder, &fixture.point]);
    let mount = fixture.mount_by(program);
    let shown = testkit::walked::files_below(mount.path());
    let shown = shown.into_iter();
    let shown: BTreeMap<_, _> = shown
        .map(|(path, file)| (path, file.sha256.unwrap()))
        .collect();
    assert_eq!(shown, expected(&CHANGED_FOLDER));
    let applied = |path: &str| {
        let mut value = [0; 100];
        let path: &Path = &mount.path().join(path);
        let length = rustix::fs::getxattr(path, "user.hpimount.applied", &mut value[..]);
        length.map(|length| String::from_utf8_lossy(&value[..length]).into_owned())
    };
    assert_eq!(applied("sub/deep/a.txt").unwrap(), "SUB/deep/a.txt");
    assert!(applied("sub/c.txt").is_err());
    let info = testkit::mounted::info(&mount);
    assert_eq!(info["applied"]["ignored"], 1);
    assert_eq!(info["applied"]["deleted"], 5);
}
