//! Edited files of converted trees become assets again: `hpi apply`, and a mount with
//! the same changes, whose converted tree shows the edit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::{TempDir, tempdir};
use testkit::fuse_test;

use fixtures::container_seeds::zip_with;
use fixtures::heavy_iron::{bank_table, kinds};
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{V1, dir, file};
use fixtures::ta::gaf;
use fixtures::ta::pcx::Pcx;
use hpimount::formats::VIEW_FORMATS;
use hpimount_containers::hip::{Game, Platform, asset_id};
use hpimount_containers::hpi::chunk::Method;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::edits::{music, photo, samples};
use testkit::hpipack::stderr;
use testkit::mount::{Fixture, Mount, hpimount};
use testkit::packed::hpipack_replace;
use testkit::pictures::pixels;

/// Exit code of refused changes.
const REFUSED: i32 = 14;

/// An archive, and a folder of changes.
pub(crate) struct Edited {
    work: TempDir,
    pub(crate) archive: PathBuf,
}

impl Edited {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        let work = tempdir().unwrap();
        let archive = work.path().join(name);
        fs::write(&archive, bytes).unwrap();
        Self { work, archive }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.work.path().join("edit")
    }

    /// Edits a file.
    pub(crate) fn edit(&self, path: &str, bytes: &[u8]) -> &Self {
        write(&self.folder(), path, bytes);
        self
    }

    /// Returns the changed archive as a file.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let out = self.work.path().join("out");
        let ran = hpi_apply(&["--force"], &self.folder(), &self.archive, &out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        fs::read(out).unwrap()
    }

    /// Returns why the changes are refused.
    pub(crate) fn refused(&self) -> String {
        let out = self.work.path().join("out");
        let _ = fs::remove_file(&out);
        let ran = hpi_apply(&[], &self.folder(), &self.archive, &out);
        assert_eq!(ran.status.code(), Some(REFUSED), "{}", stderr(&ran));
        assert!(!out.exists());
        stderr(&ran)
    }

    /// Mounts the archive without the changes.
    pub(crate) fn original(&self) -> Mount {
        let fixture = Fixture::new();
        let mut program = hpimount();
        program.args([&self.archive, &fixture.point]);
        fixture.mount_by(program)
    }

    /// Mounts the archive with the changes, after checking that the written file shows
    /// the same at `path`.
    fn mounted(&self, path: &str) -> Mount {
        let fixture = Fixture::new();
        let mut program = hpimount();
        program.arg("--apply").arg(self.folder());
        program.args([&self.archive, &fixture.point]);
        let mount = fixture.mount_by(program);
        let name = self.archive.file_name().unwrap();
        let written = Self::new(name.to_str().unwrap(), &self.packed());
        let shown = fs::read(written.original().path().join(path)).unwrap();
        assert!(
            fs::read(mount.path().join(path)).unwrap() == shown,
            "{path}"
        );
        mount
    }

    /// Checks that the changed archive shows `edited` at a path of its converted tree,
    /// and that everything else is unchanged.
    pub(crate) fn assert_shown(&self, path: &str, edited: &[u8]) {
        let before = tree(self.original().path());
        let mount = self.mounted(path);
        let mut after = tree(mount.path());
        let shown = after.remove(Path::new(path)).unwrap();
        match path.ends_with(".png") {
            true => assert!(pixels(&shown) == pixels(edited), "{path}"),
            false => assert!(shown == edited, "{path}"),
        }
        let is_report = |path: &Path| path.extension().is_some_and(|known| known == "tsv");
        for (other, bytes) in after.into_iter().filter(|(path, _)| !is_report(path)) {
            let is_same = before.get(&other) == Some(&bytes);
            assert!(is_same, "{} changed as well", other.display());
        }
    }
}

/// Returns the files of the converted tree of a mount, with their paths in the
/// mount.
pub(crate) fn tree(point: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![point.join("converted")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let bytes = fs::read(&path).unwrap();
                    files.insert(path.strip_prefix(point).unwrap().to_owned(), bytes);
                }
            }
        }
    }
    files
}

/// Returns an archive of a game on GameCube with a text.
fn hip() -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"))
        .add(Asset::new(b"TEXT", "farewell", b"\0\0\0\x03Bye\0"));
    hip.build()
}

/// Returns an archive of Total Annihilation with a picture.
fn hpi() -> Vec<u8> {
    let picture = Pcx::indexed(4, 3, (0..12).collect()).file();
    V1::new(vec![dir(
        b"bitmaps",
        vec![
            file(b"logo.pcx", fixtures::hpi::File::new(picture, Method::Zlib)),
            file(b"notes.txt", fixtures::hpi::File::new("n", Method::Stored)),
        ],
    )])
    .build()
    .bytes
}

#[fuse_test]
fn an_edited_text_is_read_back_and_gets_the_right_length() {
    let edited = Edited::new("a.HIP", &hip());
    let text = "Good morning, café";
    edited.edit("converted/texts/greeting.txt", text.as_bytes());
    edited.assert_shown("converted/texts/greeting.txt", text.as_bytes());
    let mount = edited.mounted("converted/texts/greeting.txt");
    let asset = fs::read(mount.path().join("layers/00-DEFAULT/greeting.text")).unwrap();
    assert_eq!(asset, b"\0\0\0\x12Good morning, caf\xE9\0\0");
}

#[fuse_test]
fn an_archive_in_an_archive_is_edited_in_either_converted_tree() {
    let zip = zip_with("dir/a.HIP", &hip());
    for path in [
        "converted/dir/a.HIP.d/texts/greeting.txt",
        "dir/a.HIP.d/converted/texts/greeting.txt",
    ] {
        let edited = Edited::new("a.zip", &zip);
        edited.edit(path, b"Hi");
        edited.assert_shown("converted/dir/a.HIP.d/texts/greeting.txt", b"Hi");
    }
    // Both together, with different texts for the same asset.
    let edited = Edited::new("a.zip", &zip);
    edited.edit("converted/dir/a.HIP.d/texts/greeting.txt", b"Hi");
    edited.edit("dir/a.HIP.d/converted/texts/greeting.txt", b"Ho");
    let refused = edited.refused();
    assert!(refused.contains("has the same name as"), "{refused}");
}

#[fuse_test]
fn a_converted_tree_that_is_copied_back_changes_nothing() {
    for (name, bytes) in [("a.HIP", hip()), ("a.hpi", hpi())] {
        let edited = Edited::new(name, &bytes);
        let files = tree(edited.original().path());
        assert!(!files.is_empty(), "{name}");
        for (path, bytes) in files {
            edited.edit(path.to_str().unwrap(), &bytes);
        }
        assert!(edited.packed() == bytes, "{name}");
    }
}

#[fuse_test]
fn an_edited_picture_keeps_its_palette() {
    let edited = Edited::new("a.hpi", &hpi());
    let path = "converted/bitmaps/logo.png";
    let mut picture = Pcx::indexed(4, 3, (0..12).rev().collect());
    let shown = Edited::new("b.pcx", &picture.file());
    let shown = fs::read(shown.original().path().join("converted/b.png")).unwrap();
    edited.edit(path, &shown);
    edited.assert_shown(path, &shown);
    let mount = edited.mounted(path);
    let asset = fs::read(mount.path().join("bitmaps/logo.pcx")).unwrap();
    assert!(asset == picture.file());
    picture.width = 3;
    let shown = Edited::new("b.pcx", &picture.file());
    let shown = fs::read(shown.original().path().join("converted/b.png")).unwrap();
    let refused = edited.edit(path, &shown).refused();
    assert!(
        refused.contains("converted/bitmaps/logo.png: has 3x3 pixels, must have 4x3: scale it"),
        "{refused}"
    );
}

#[fuse_test]
fn what_no_asset_can_be_made_from_is_refused_with_a_reason() {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"))
        .add(Asset::new(b"TIMR", "here", &[0; 24]));
    let edited = Edited::new("a.HIP", &hip.build());
    edited
        .edit("converted/tables/refs.tsv", b"x")
        .edit("converted/texts/greeting.txt", "a\n→".as_bytes())
        .edit("converted/text/unknown.txt", b"x")
        .edit("converted/texts.tsv", b"x");
    let refused = edited.refused();
    for expected in [
        "converted/tables/refs.tsv: is made from many files, and only shows them".to_owned(),
        "converted/texts/greeting.txt: has the character '→', which is not in Windows-1252, at \
         line 2, column 1"
            .to_owned(),
        "converted/text: shows no asset".to_owned(),
        "converted/texts.tsv: line 1: must be the header".to_owned(),
    ] {
        let is_line = refused.lines().any(|line| line.contains(&expected));
        assert!(is_line, "{expected}\n{refused}");
    }
    assert_eq!(refused.lines().count(), 4, "{refused}");
}

/// Returns the files below a directory.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path),
        }
    }
}

#[fuse_test]
fn what_is_left_out_says_why_before_an_edit_and_after_it() {
    let files = [fixtures::consoles::files(), fixtures::playstation::files()].concat();
    let files = files.into_iter().map(|(name, bytes)| {
        let packed = fixtures::hpi::File::new(bytes, Method::Stored);
        file(name.as_bytes(), packed)
    });
    let edited = Edited::new("a.hpi", &V1::new(files.collect()).build().bytes);
    let mount = edited.original();
    let mut shown = Vec::new();
    files_below(&mount.path().join("converted"), &mut shown);
    let mut expected = Vec::new();
    let mut formats = BTreeSet::new();
    for path in shown {
        let value = xattr::get(&path, "user.hpimount.editable")
            .unwrap()
            .unwrap();
        let value = String::from_utf8(value).unwrap();
        let reason = value.strip_prefix("no: ").unwrap_or_default();
        let left_out = VIEW_FORMATS.iter().filter(|format| {
            let mut files = format.left_out.iter();
            files.any(|file| file.what == reason)
        });
        let names: Vec<_> = left_out.map(|format| format.name).collect();
        if names.is_empty() {
            continue;
        }
        formats.extend(names);
        let path = path.strip_prefix(mount.path()).unwrap();
        let path = path.to_str().unwrap().to_owned();
        edited.edit(&path, b"x");
        expected.push(format!("{path}: {reason}"));
    }
    let all = [
        "BON",
        "DDX",
        "KAT",
        "PlayStation save",
        "QB",
        "RLE",
        "STR",
        "VAB",
        "XA",
        "XBE",
    ];
    for name in all {
        assert!(formats.contains(name), "{name} is not in {formats:?}");
    }
    let refused = edited.refused();
    for line in &expected {
        assert!(refused.contains(line), "{line}\n{refused}");
    }
    assert_eq!(refused.lines().count(), expected.len(), "{refused}");
}

#[fuse_test]
fn sounds_of_banks_cannot_be_edited() {
    let id = asset_id(b"BOING");
    let mut hip = Hip::target(Game::Incredibles, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"SND ", "BOING", b""))
        .add(Asset::new(b"SNDI", "sounds", &bank_table(id, &[7; 16])));
    let edited = Edited::new("a.HIP", &hip.build());
    let path = "converted/sounds/BOING.wav";
    let reason = "shows a sound of a bank (FSB3), which is not rebuilt";
    let mount = edited.original();
    let value = xattr::get(mount.path().join(path), "user.hpimount.editable");
    let value = String::from_utf8(value.unwrap().unwrap()).unwrap();
    assert_eq!(value, format!("no: {reason}"));
    let mut sound = fs::read(mount.path().join(path)).unwrap();
    sound[44] ^= 1;
    edited.edit(path, &sound);
    let refused = edited.refused();
    assert!(refused.contains(&format!("{path}: {reason}")), "{refused}");
}

#[fuse_test]
fn textures_that_no_dictionary_has_are_ignored_with_a_reason() {
    let dictionary = fixtures::txd::txd(&[fixtures::txd::gray("wall", [1, 2])]);
    let edited = Edited::new("a.txd", &dictionary);
    let path = "converted/parts/a.txd/textures/01 roof.png";
    edited.edit(path, b"x");
    let out = edited.work.path().join("out");
    let ran = hpi_apply(&[], &edited.folder(), &edited.archive, &out);
    let told = stderr(&ran);
    let line = format!("{path}: is ignored: the original has no such file, and none can be added");
    assert!(ran.status.success() && told.contains(&line), "{told}");
}

#[fuse_test]
fn work_files_beside_an_edited_file_are_listed_and_ignored() {
    let edited = Edited::new("a.HIP", &hip());
    let path = "converted/texts/farewell.txt";
    edited.edit(path, b"Hi");
    let beside = ["farewell.xcf", ".farewell.kra"].map(|name| format!("converted/texts/{name}"));
    for path in &beside {
        edited.edit(path, b"a work file");
    }
    let scratch = "converted/texts/.goutputstream-V7K2A1";
    edited.edit(scratch, b"a name for a moment");
    let out = edited.work.path().join("out");
    let ran = hpi_apply(&[], &edited.folder(), &edited.archive, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    for path in &beside {
        let line = format!("{path}: is ignored");
        assert_eq!(stderr(&ran).matches(&line).count(), 1, "{}", stderr(&ran));
    }
    assert!(!stderr(&ran).contains(scratch), "{}", stderr(&ran));
    edited.assert_shown(path, b"Hi");
}

#[fuse_test]
fn an_edited_file_that_is_saved_while_mounted_is_an_error_and_a_line_in_the_log() {
    let edited = Edited::new("a.HIP", &hip());
    let path = "converted/texts/farewell.txt";
    // Small assets are read with the tables of their archive, when it is opened.
    edited.edit(path, &b"Hi, ".repeat(100_000));
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.arg("--apply").arg(edited.folder());
    program.args([&edited.archive, &fixture.point]);
    let mount = fixture.mount_in_foreground_by(program);
    edited.edit(path, &b"Ho, ".repeat(100_000));
    for shown in [path, "layers/00-DEFAULT/farewell.text"] {
        let error = fs::read(mount.file(shown)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(5), "{shown}");
    }
    let log = mount.fixture.log();
    let problem = format!("{path}: has changed since it was applied; mount again");
    assert_eq!(log.matches(&problem).count(), 1, "{log}");
}

#[fuse_test]
fn an_asset_that_is_edited_and_replaced_must_get_the_same_bytes() {
    let edited = Edited::new("a.HIP", &hip());
    edited
        .edit("converted/texts/farewell.txt", b"Hi")
        .edit("layers/00-DEFAULT/farewell.text", b"\0\0\0\x02Hi\0\0");
    edited.assert_shown("converted/texts/farewell.txt", b"Hi");
    edited.edit("layers/00-DEFAULT/farewell.text", b"\0\0\0\x02Ho\0\0");
    let refused = edited.refused();
    let expected = "converted/texts/farewell.txt: is changed differently by \
                    layers/00-DEFAULT/farewell.text";
    assert!(refused.contains(expected), "{refused}");
}

#[fuse_test]
fn an_edited_frame_of_a_sprite_is_read_back() {
    let frame = |shift: u8| {
        let pixels: Vec<_> = (0..20).map(|at| (at > 3).then_some(at + shift)).collect();
        (gaf::Frame::rle(5, 4, &pixels), 1)
    };
    let sprite = gaf::file(&[gaf::sequence("walk", vec![frame(0), frame(9)])]);
    let archive = V1::new(vec![dir(
        b"anims",
        vec![file(
            b"man.gaf",
            fixtures::hpi::File::new(sprite, Method::Zlib),
        )],
    )]);
    let edited = Edited::new("a.hpi", &archive.build().bytes);
    let files = tree(edited.original().path());
    let path = files.keys().find(|path| path.ends_with("01.png")).unwrap();
    let other = files.keys().find(|path| path.ends_with("00.png")).unwrap();
    let path = path.to_str().unwrap();
    // The frame gets the picture of the other one.
    edited.edit(path, &files[other]);
    let mount = edited.mounted(path);
    let shown = fs::read(mount.path().join(path)).unwrap();
    assert!(pixels(&shown) == pixels(&files[other]));
    let shown = fs::read(mount.path().join(other)).unwrap();
    assert!(shown == files[other]);
    let preview = files.keys().find(|path| path.ends_with("man.png")).unwrap();
    let refused = edited
        .edit(preview.to_str().unwrap(), &files[other])
        .refused();
    assert!(refused.contains("edit the frames"), "{refused}");
}

#[fuse_test]
fn edited_assets_may_be_larger_than_the_cache() {
    const COUNT: usize = 24;
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    for number in 0..COUNT {
        let name = format!("text{number:02}");
        hip.add(Asset::new(b"TEXT", &name, b"\0\0\0\x05Hello\0\0\0"));
    }
    let edited = Edited::new("a.HIP", &hip.build());
    let text = |number: usize| format!("{number:02}").repeat(60_000).into_bytes();
    let path = |number: usize| format!("converted/texts/text{number:02}.txt");
    for number in 0..COUNT {
        edited.edit(&path(number), &text(number));
    }
    let fixture = Fixture::new();
    let mut program = hpimount();
    program
        .args(["-o", "cachesize=2M", "--apply"])
        .arg(edited.folder());
    program.args([&edited.archive, &fixture.point]);
    let mount = fixture.mount_by(program);
    for number in 0..COUNT {
        assert!(fs::read(mount.file(&path(number))).unwrap() == text(number));
    }
    let image = fs::read(mount.file(".hpimount/image/a.HIP")).unwrap();
    assert!(image.len() > 24 * 120_000 && image == edited.packed());
}

#[test]
fn a_replaced_asset_is_made_from_a_text_a_picture_or_a_sound() {
    let work = tempdir().unwrap();
    let (text, picture, sound) = ("greeting.txt", "new.png", "new.wav");
    fs::write(work.path().join(text), "Hi, café").unwrap();
    fs::write(work.path().join(picture), photo(64, 32)).unwrap();
    fs::write(work.path().join(sound), music(1, 22_050, 448)).unwrap();
    let mut textures = kinds::textures(1).into_iter();
    let texture = textures.find(|(name, _)| name.starts_with("gx_6"));
    let (_, table, data) = kinds::sounds(1).remove(0);
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"))
        .add(Asset::new(b"RWTX", "wall", &texture.unwrap().1))
        .add(Asset::new(b"SND ", "beep", &data).with_id(1))
        .add(Asset::new(b"SNDI", "table", &table));
    let archive = work.path().join("a.HIP");
    fs::write(&archive, hip.build()).unwrap();
    let changes = [
        ("greeting.text", text),
        ("wall.txd", picture),
        ("00000001", sound),
    ];
    let changes = changes.map(|(name, file)| (name, work.path().join(file)));
    let changes = changes.each_ref().map(|(name, file)| (*name, &**file));
    let out = work.path().join("out.HIP");
    let ran = hpipack_replace(&[], &changes, &archive, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let empty = work.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let vfs = open_changed(&out, &empty).unwrap();
    let read = |path: &str| read_at(&vfs, path);
    assert_eq!(read("converted/texts/greeting.txt"), "Hi, café".as_bytes());
    assert!(pixels(&read("converted/textures/wall.png")) == pixels(&photo(64, 32)));
    assert_eq!(samples(&read("converted/sounds/beep.wav")).2.len(), 448);
    // A picture of a size that no texture has.
    fs::write(work.path().join(picture), photo(24, 8)).unwrap();
    let ran = hpipack_replace(&["--force"], &changes, &archive, &out);
    assert_eq!(ran.status.code(), Some(10));
    assert!(stderr(&ran).contains("has 24x8 pixels"), "{}", stderr(&ran));
}
