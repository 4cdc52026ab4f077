//! Views of Total Annihilation's assets whose files are edited, added and deleted
//! (`hpi apply`).

use std::fs;
use std::path::PathBuf;

use fixtures::hpi::{Entry, File, V1, dir, file};
use fixtures::png_of;
use fixtures::ta::{cob, gaf};
use hpimount_containers::hpi::chunk::Method;
use tempfile::{TempDir, tempdir};
use testkit::applied::{hpi_apply, write};
use testkit::hpipack::stderr;
use testkit::listed::cat;
use testkit::mount::{hpi, run};

/// Exit code of refused changes.
const REFUSED: i32 = 14;

/// The frames of the sprite.
const PARTS: &str = "converted/anims/parts/man.gaf";

const SCRIPT: &str = "converted/scripts/man.cob/script.bos";

/// An archive with a sprite of two frames and a script, and a folder of changes.
pub(super) struct Mod {
    work: TempDir,
    archive: PathBuf,
}

impl Mod {
    fn new() -> Self {
        let frame = |color: u8| (gaf::Frame::rle(2, 1, &[Some(color), None]), 2);
        let sprite = gaf::file(&[gaf::sequence("walk", vec![frame(20), frame(30)])]);
        let stored = |name: &[u8], bytes| file(name, File::new(bytes, Method::Zlib));
        Self::of(vec![
            dir(b"anims", vec![stored(b"man.gaf", sprite)]),
            dir(b"scripts", vec![stored(b"man.cob", cob::small(4).file())]),
        ])
    }

    pub(super) fn of(entries: Vec<Entry>) -> Self {
        let work = tempdir().unwrap();
        let path = work.path().join("a.hpi");
        fs::write(&path, V1::new(entries).build().bytes).unwrap();
        Self {
            work,
            archive: path,
        }
    }

    pub(super) fn edit(&self, path: &str, bytes: &[u8]) -> &Self {
        write(&self.work.path().join("edit"), path, bytes);
        self
    }

    /// Returns a text file of the changed archive.
    pub(super) fn shown(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    /// Returns a text file of the archive without changes.
    pub(super) fn original(&self, path: &str) -> String {
        String::from_utf8(cat(&self.archive, &[path])).unwrap()
    }

    /// Returns a file of the changed archive.
    pub(super) fn read(&self, path: &str) -> Vec<u8> {
        let out = self.work.path().join("out.hpi");
        let folder = self.work.path().join("edit");
        let ran = hpi_apply(&["--force"], &folder, &self.archive, &out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        cat(&out, &[path])
    }

    /// Returns the output of a check of the changed archive with a cache of this size.
    pub(super) fn checked(&self, cache: &str) -> String {
        let mut program = hpi("check");
        program.args(["-o", cache, "--apply"]);
        run(program
            .arg(self.work.path().join("edit"))
            .arg(&self.archive))
        .stdout
    }

    pub(super) fn refused(&self) -> String {
        let out = self.work.path().join("out.hpi");
        let folder = self.work.path().join("edit");
        let ran = hpi_apply(&[], &folder, &self.archive, &out);
        assert_eq!(ran.status.code(), Some(REFUSED), "{}", stderr(&ran));
        stderr(&ran)
    }
}

/// Returns a picture with this number of pixels.
fn picture(width: u32) -> Vec<u8> {
    png_of(width, 1, vec![[255; 4]; width as usize])
}

/// Returns the sequence, the number, the width and the ticks of each frame.
fn frames(table: &str) -> Vec<[&str; 4]> {
    let rows = table.lines().skip(1);
    let rows = rows.map(|row| row.split('\t').collect::<Vec<_>>());
    rows.map(|cells| [cells[1], cells[2], cells[3], cells[7]])
        .collect()
}

#[test]
fn frames_and_sequences_that_are_added_are_shown() {
    let sprite = Mod::new();
    sprite
        .edit(&format!("{PARTS}/000 walk/02.png"), &picture(3))
        .edit(&format!("{PARTS}/001 fly/00.png"), &picture(4))
        .edit(&format!("{PARTS}/notes.txt"), b"left by an editor");
    assert_eq!(
        frames(&sprite.shown(&format!("{PARTS}/frames.tsv"))),
        [
            ["walk", "0", "2", "2"],
            ["walk", "1", "2", "2"],
            ["walk", "2", "3", "2"],
            ["fly", "0", "4", "3"],
        ]
    );
}

#[test]
fn what_desktops_leave_beside_frames_is_skipped() {
    let sprite = Mod::new();
    for path in [
        "000 walk/._01.png",
        "000 walk/02.png",
        "001 fly/00.png",
        "001 fly/._00.png",
        "001 fly/Thumbs.db",
        ".Trash-1000/files/00.png",
        "000 walk/.Trash-1000/files/03.png",
        "000 walk/.Trash-1000/04.png",
        "001 fly/.Trash-1000/files/01.png",
    ] {
        sprite.edit(&format!("{PARTS}/{path}"), &picture(2));
    }
    sprite.edit(&format!("{PARTS}/001 fly/.wh.05.png"), b"");
    let table = sprite.shown(&format!("{PARTS}/frames.tsv"));
    let shown = frames(&table).into_iter();
    let shown: Vec<_> = shown.map(|[name, number, ..]| [name, number]).collect();
    assert_eq!(
        shown,
        [["walk", "0"], ["walk", "1"], ["walk", "2"], ["fly", "0"]]
    );
    let link = sprite
        .work
        .path()
        .join("edit")
        .join(PARTS)
        .join("001 fly/01.png");
    std::os::unix::fs::symlink("00.png", link).unwrap();
    let refused = sprite.refused();
    assert!(refused.contains("01.png: is a symbolic link"), "{refused}");
}

#[test]
fn the_last_frame_is_deleted_and_others_are_not() {
    let sprite = Mod::new();
    sprite.edit(&format!("{PARTS}/000 walk/.wh.01.png"), b"");
    let table = sprite.shown(&format!("{PARTS}/frames.tsv"));
    assert_eq!(frames(&table), [["walk", "0", "2", "2"]]);
    sprite.edit(&format!("{PARTS}/.wh.info.json"), b"");
    let refused = sprite.refused();
    assert!(
        refused.contains("info.json: cannot be deleted"),
        "{refused}"
    );
    let sprite = Mod::new();
    sprite.edit(&format!("{PARTS}/000 walk/04.png"), &picture(1));
    let refused = sprite.refused();
    assert!(
        refused.contains("04.png: needs the frames 02, 03 before it"),
        "{refused}"
    );
}

#[test]
fn a_picture_that_is_only_saved_again_keeps_the_edit_of_one_with_the_same_pixels() {
    let block = |words: u16, data: &[u8]| {
        let length = 12 + data.len() as u32;
        let place = [0, 0, words, 1].map(u16::to_le_bytes).concat();
        [&length.to_le_bytes(), &place[..], data].concat()
    };
    // Four pixels, with a red and a green color, and with a blue and a white one.
    let mut palettes = [0_u16; 32];
    palettes[..2].copy_from_slice(&[0x001F, 0x03E0]);
    palettes[16..18].copy_from_slice(&[0x7C00, 0x7FFF]);
    let palettes = block(32, &palettes.map(u16::to_le_bytes).concat());
    let header = [0x10, 8].map(u32::to_le_bytes).concat();
    let tim = [header, palettes, block(1, &[0x00, 0x11])].concat();
    let stored = file(b"a.tim", File::new(tim, Method::Stored));
    let pictures = Mod::of(vec![stored]);
    let [red, green] = [[255, 0, 0, 255], [0, 255, 0, 255]];
    let [blue, white] = [[0, 0, 255, 255], [255; 4]];
    let moved = png_of(4, 1, vec![green, red, green, red]);
    let saved_again = png_of(4, 1, vec![blue, blue, white, white]);
    pictures
        .edit("converted/parts/a.tim/00_00.png", &moved)
        .edit("converted/parts/a.tim/00_01.png", &saved_again);
    let changed = pictures.read("a.tim");
    assert_eq!(changed[changed.len() - 2..], [0x01, 0x01]);
}

#[test]
fn an_edited_script_is_compiled_and_its_problems_have_a_place() {
    let script = Mod::new();
    let text = String::from_utf8(cat(&script.archive, &[SCRIPT])).unwrap();
    script.edit(SCRIPT, text.replace("hide gun", "show base").as_bytes());
    assert_eq!(script.shown(SCRIPT), text.replace("hide gun", "show base"));
    script.edit(SCRIPT, text.replace("hide gun", "hide gum").as_bytes());
    let refused = script.refused();
    assert!(
        refused.contains("script.bos: 6:7: no piece is called \"gum\"; nearest: gun"),
        "{refused}"
    );
}
