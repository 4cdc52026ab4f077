//! Editing converted files.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{File, V1, dir, file};
use fixtures::png_of;
use fixtures::ta::pcx::Pcx;
use hpimount_assets::model::png;
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use nix::unistd::close;
use rustix::io::Errno;
use serde_json::{Value, json};
use testkit::fuse_test;
use testkit::mount::eventually;

use crate::kit::{Editing, assert_fails, save};

const TEXT: &str = "converted/texts/greeting.txt";
const ASSET: &str = "layers/00-DEFAULT/greeting.text";
const PICTURE: &str = "converted/bitmaps/logo.png";

/// Mounts an archive with texts.
fn texts() -> Editing {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"TEXT", "greeting", b"\0\0\0\x05Hello\0\0\0"))
        .add(Asset::new(b"TEXT", "farewell", b"\0\0\0\x03Bye\0"));
    Editing::new("a.HIP", &hip.build())
}

/// Returns an archive with a picture of 4 x 3 pixels with these indices.
fn archive_of_picture(indices: Vec<u8>) -> Vec<u8> {
    let picture = Pcx::indexed(4, 3, indices).file();
    let hpi = V1::new(vec![dir(
        b"bitmaps",
        vec![file(b"logo.pcx", File::new(picture, Method::Zlib))],
    )]);
    hpi.build().bytes
}

/// Mounts an archive with a picture of 4 x 3 pixels.
fn picture() -> Editing {
    Editing::new("a.hpi", &archive_of_picture((0..12).collect()))
}

/// Returns the picture of [`picture`] with two pixels exchanged.
fn edited(editing: &Editing) -> Vec<u8> {
    let mut pixels = png::read(&editing.read(PICTURE), 1 << 16).unwrap().rgba();
    pixels.swap(0, 5);
    png_of(4, 3, pixels)
}

#[fuse_test]
fn a_saved_text_is_its_asset_and_reads_as_it_was_saved() {
    let editing = texts();
    editing.write(TEXT, "Good morning");
    assert_eq!(editing.read(TEXT), b"Good morning");
    assert_eq!(editing.read(ASSET), b"\0\0\0\x0cGood morning\0\0\0\0");
    assert_eq!(editing.edits(), [TEXT]);
    editing.assert_applied();
    assert_eq!(editing.rows(), [format!("{TEXT}\tedited\t12\t")]);
}

#[fuse_test]
fn a_saved_picture_is_its_asset() {
    let editing = picture();
    let new = edited(&editing);
    let asset = editing.read("bitmaps/logo.pcx");
    editing.write(PICTURE, &new);
    assert!(editing.read(PICTURE) == new);
    assert!(editing.read("bitmaps/logo.pcx") != asset);
    editing.assert_applied();
}

#[fuse_test]
fn a_picture_that_is_saved_twice_and_read_in_between_is_its_asset() {
    // As GIMP does, which reads it again to add its metadata.
    let editing = picture();
    let new = edited(&editing);
    for _ in 0..2 {
        editing.write(PICTURE, &new);
        for _ in 0..9 {
            assert!(editing.read(PICTURE) == new);
        }
    }
    assert_eq!(editing.edits(), [PICTURE]);
    editing.assert_applied();
}

#[fuse_test]
fn an_empty_file_is_being_written() {
    let editing = picture();
    let (new, asset) = (edited(&editing), editing.read("bitmaps/logo.pcx"));
    editing.write(PICTURE, "");
    assert!(editing.read("bitmaps/logo.pcx") == asset);
    assert!(
        editing
            .edits()
            .iter()
            .all(|name| name.starts_with(".hpimount-"))
    );
    editing.write(PICTURE, &new);
    assert_eq!(editing.edits(), [PICTURE]);
    editing.assert_applied();
}

#[fuse_test]
fn a_refused_file_is_said_at_the_end_beside_it_and_in_the_table() {
    let mut editing = picture();
    let good = edited(&editing);
    editing.write(PICTURE, &good);
    let image = editing.image();
    let bad = png_of(5, 3, vec![[9; 4]; 15]);
    assert_fails(save(&editing.path(PICTURE), &bad), Errno::INVAL);
    assert!(
        editing.read(PICTURE) == bad,
        "what was saved can be saved again"
    );
    assert!(editing.image() == image, "the image is as before");
    let message = String::from_utf8(editing.read(&format!("{PICTURE}.error.txt"))).unwrap();
    assert!(
        message.contains("has 5x3 pixels, must have 4x3: scale it"),
        "{message}"
    );
    assert!(
        editing
            .names("converted/bitmaps")
            .contains(&"logo.png.error.txt".to_owned())
    );
    let rows = editing.rows().join("\n");
    assert!(rows.contains("refused"), "{rows}");
    assert_eq!(
        editing.edits(),
        [PICTURE.to_owned(), format!("{PICTURE}.rejected~")]
    );
    editing.assert_applied();
    editing.remount();
    editing.assert_applied();
    editing.write(PICTURE, &good);
    assert_eq!(editing.edits(), [PICTURE]);
    assert!(!editing.path(&format!("{PICTURE}.error.txt")).exists());
}

#[fuse_test]
fn an_open_converted_file_is_saved_after_others_were() {
    let editing = texts();
    let path = editing.path(TEXT);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    editing.write("converted/texts/farewell.txt", "Goodbye");
    assert!(fs::metadata(&path).is_ok());
    file.write_all_at(b"Yo", 0).unwrap();
    nix::unistd::close(file).unwrap();
    assert_eq!(editing.read(TEXT), b"Yollo");
    assert_eq!(editing.edits(), ["converted/texts/farewell.txt", TEXT]);
    editing.assert_applied();
}

#[fuse_test]
fn many_converted_files_take_no_descriptors() {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    let names: Vec<String> = (0..120).map(|number| format!("text{number}")).collect();
    for name in &names {
        hip.layer(0)
            .add(Asset::new(b"TEXT", name, b"\0\0\0\x05Hello\0\0\0"));
    }
    let editing = Editing::new("a.HIP", &hip.build());
    let open = || {
        let open = fs::read_dir(format!("/proc/{}/fd", editing.mount().pid()));
        open.unwrap().count()
    };
    let before = open();
    for name in &names {
        editing.write(&format!("converted/texts/{name}.txt"), name);
    }
    editing.image();
    eventually("descriptors are as before", || open() <= before + 48);
    for name in &names {
        assert_eq!(
            editing.read(&format!("converted/texts/{name}.txt")),
            name.as_bytes()
        );
    }
    editing.assert_applied();
}

#[fuse_test]
fn each_end_of_an_open_file_says_that_it_is_refused() {
    let editing = picture();
    let good = edited(&editing);
    let mut file = fs::File::create(editing.path(PICTURE)).unwrap();
    file.write_all(&png_of(5, 3, vec![[9; 4]; 15])).unwrap();
    for _ in 0..2 {
        let closed = close(file.try_clone().unwrap());
        assert_fails(closed.map_err(io::Error::from), Errno::INVAL);
    }
    file.set_len(0).unwrap();
    file.write_all_at(&good, 0).unwrap();
    close(file.try_clone().unwrap()).unwrap();
    close(file).unwrap();
    assert_eq!(editing.edits(), [PICTURE]);
}

#[fuse_test]
fn a_refused_file_stays_when_it_is_renamed_onto_another() {
    let editing = picture();
    let original = editing.read(PICTURE);
    let (temporary, bad) = (
        "converted/bitmaps/.goutputstream-ABCDEF",
        png_of(5, 3, vec![[9; 4]; 15]),
    );
    editing.write(temporary, &bad);
    let renamed = fs::rename(editing.path(temporary), editing.path(PICTURE));
    assert_fails(renamed, Errno::INVAL);
    assert!(editing.read(temporary) == bad);
    assert!(editing.read(PICTURE) == original);
    let message = String::from_utf8(editing.read(&format!("{PICTURE}.error.txt"))).unwrap();
    assert!(message.contains("has 5x3 pixels"), "{message}");
    editing.assert_applied();
}

#[fuse_test]
fn removing_an_edit_shows_the_original_again() {
    let editing = picture();
    let original = editing.read(PICTURE);
    let image = editing.image();
    editing.write(PICTURE, edited(&editing));
    fs::remove_file(editing.path(PICTURE)).unwrap();
    assert!(
        !editing.path(PICTURE).exists(),
        "for as long as programs replace it"
    );
    assert!(editing.edits().is_empty());
    assert!(editing.image() == image);
    eventually("the original is listed", || {
        editing.names("converted/bitmaps") == ["logo.png"]
    });
    assert!(editing.read(PICTURE) == original);
}

#[fuse_test]
fn programs_that_move_the_old_file_away_save_too() {
    let editing = picture();
    let new = edited(&editing);
    let backup = format!("{PICTURE}~");
    fs::rename(editing.path(PICTURE), editing.path(&backup)).unwrap();
    editing.write(PICTURE, "");
    editing.write(PICTURE, &new);
    fs::remove_file(editing.path(&backup)).unwrap();
    assert!(editing.read(PICTURE) == new);
    assert_eq!(editing.edits(), [PICTURE]);
    editing.assert_applied();
}

#[fuse_test]
fn of_an_asset_and_its_converted_file_the_last_one_wins() {
    let editing = texts();
    editing.write(ASSET, b"\0\0\0\x02Hi\0\0");
    assert_eq!(editing.read(TEXT), b"Hi");
    editing.write(TEXT, "Hello you");
    assert_eq!(editing.read(ASSET), b"\0\0\0\x09Hello you\0\0\0");
    // Immediately: a folder with both could not be applied.
    assert_eq!(editing.edits(), [".Trash-hpimount/greeting.text", TEXT]);
    editing.assert_applied();
    editing.write(ASSET, b"\0\0\0\x02Ho\0\0");
    let trash = [
        ".Trash-hpimount/greeting.text",
        ".Trash-hpimount/greeting.txt",
    ];
    assert_eq!(editing.edits(), [trash[0], trash[1], ASSET]);
    assert_eq!(editing.read(TEXT), b"Ho");
    editing.assert_applied();
}

#[fuse_test]
fn an_edit_goes_to_the_trash_with_its_asset() {
    let editing = texts();
    for change in [
        |editing: &Editing| fs::remove_file(editing.path(ASSET)),
        |editing: &Editing| {
            let new = "layers/00-DEFAULT/welcome.text";
            fs::rename(editing.path(ASSET), editing.path(new))
        },
    ] {
        editing.write(TEXT, "Good morning");
        change(&editing).unwrap();
        assert!(!editing.edit(TEXT).exists());
        assert!(!editing.path(ASSET).exists());
        editing.assert_applied();
        editing.write(ASSET, b"\0\0\0\x02Hi\0\0");
        assert_eq!(editing.read(TEXT), b"Hi");
        editing.assert_applied();
    }
}

#[fuse_test]
fn notes_beside_converted_files_are_in_no_image() {
    let mut editing = picture();
    let image = editing.image();
    editing.write("converted/bitmaps/logo.xcf", "layers");
    assert_eq!(editing.read("converted/bitmaps/logo.xcf"), b"layers");
    assert!(editing.image() == image);
    editing.remount();
    assert_eq!(editing.read("converted/bitmaps/logo.xcf"), b"layers");
    assert_eq!(editing.names("converted/bitmaps"), ["logo.png", "logo.xcf"]);
}

#[fuse_test]
fn files_that_only_show_an_asset_cannot_be_written() {
    let editing = texts();
    let open = |path: &str| OpenOptions::new().write(true).open(editing.path(path));
    assert_fails(open("converted/errors.tsv"), Errno::PERM);
    assert_fails(open(&format!("{ASSET}.meta/info.json")), Errno::PERM);
    assert_fails(
        fs::write(editing.path(&format!("{ASSET}.meta/x")), "x"),
        Errno::PERM,
    );
    assert!(editing.edits().is_empty());
}

#[fuse_test]
fn an_asset_is_edited_by_all_of_its_names() {
    let editing = texts();
    let link = fs::read_dir(editing.path("types/Text")).unwrap();
    let mut links: Vec<_> = link.map(|entry| entry.unwrap().path()).collect();
    links.sort();
    let greeting = links
        .iter()
        .find(|path| path.to_str().unwrap().contains("greeting"))
        .unwrap();
    fs::write(greeting, b"\0\0\0\x02Hi\0\0").unwrap();
    assert_eq!(editing.read(ASSET), b"\0\0\0\x02Hi\0\0");
    assert_eq!(editing.read(TEXT), b"Hi");
    assert_eq!(editing.edits(), [ASSET]);
    let target = fs::read_link(greeting).unwrap();
    assert!(target.ends_with(Path::new("greeting.text")), "{target:?}");
    editing.assert_applied();
    // Replaced by renaming, as editors do: the asset gets the bytes, and the link comes
    // back.
    let temporary = greeting.with_file_name(".goutputstream-ABCDEF");
    fs::write(&temporary, b"\0\0\0\x03Hey\0").unwrap();
    fs::rename(&temporary, greeting).unwrap();
    assert_eq!(editing.read(ASSET), b"\0\0\0\x03Hey\0");
    assert_eq!(fs::read_link(greeting).unwrap(), target);
    assert_eq!(editing.edits(), [ASSET]);
    editing.assert_applied();
    // Removing one name removes all.
    fs::remove_file(greeting).unwrap();
    assert!(fs::symlink_metadata(greeting).is_err());
    assert!(!editing.path(ASSET).exists());
    assert_eq!(editing.names("converted/texts"), ["farewell.txt"]);
    editing.assert_applied();
}

#[fuse_test]
fn an_edited_picture_is_put_into_the_archive_that_replaces_the_one_before() {
    let zip = fixtures::container_seeds::zip_with("a.hpi", &archive_of_picture((0..12).collect()));
    let editing = Editing::new("z.zip", &zip);
    let picture = format!("a.hpi.d/{PICTURE}");
    let shown = editing.read(&picture);
    let mut pixels = png::read(&shown, 1 << 16).unwrap().rgba();
    pixels.swap(0, 5);
    let edited = png_of(4, 3, pixels);
    editing.write(&picture, &edited);
    let asset = editing.read("a.hpi.d/bitmaps/logo.pcx");
    // Saving another file does not rebuild it.
    editing.write("other.txt", "other");
    assert!(editing.read("a.hpi.d/bitmaps/logo.pcx") == asset);
    editing.assert_applied();
    editing.write("a.hpi", archive_of_picture((100..112).collect()));
    editing.assert_applied();
    editing.write(&picture, &edited);
    editing.assert_applied();
}

#[fuse_test]
fn the_table_of_changes_and_the_facts_tell_what_became_of_each_edit() {
    let editing = texts();
    editing.write(TEXT, "Good morning");
    let farewell = "layers/00-DEFAULT/farewell.text";
    let size = editing.read(farewell).len();
    editing.write(farewell, b"\0\0\0\x02Hi\0\0");
    editing.write("converted/texts/notes.doc", "notes");
    let mut rows = editing.table();
    for row in &mut rows {
        let saved: jiff::Timestamp = row[5].parse().unwrap();
        assert!(saved.duration_until(jiff::Timestamp::now()).as_secs() < 600);
        row[5].clear();
    }
    let size = size.to_string();
    assert_eq!(
        rows,
        [
            [TEXT, "edited", ASSET, "12", "", "", ""],
            [
                "converted/texts/notes.doc",
                "unchanged",
                "",
                "5",
                "",
                "",
                ""
            ],
            [farewell, "replaced", "", "8", &size, "", ""],
        ]
    );
    let info: Value = serde_json::from_slice(&editing.read(".hpimount/info.json")).unwrap();
    let edit = &info["edit"];
    assert_eq!(
        edit["folder"],
        editing.folder.canonicalize().unwrap().to_str().unwrap()
    );
    assert_eq!(
        edit["entries"],
        json!({"edited": 1, "replaced": 1, "unchanged": 1})
    );
    assert_eq!(edit["problem"], Value::Null);
    assert!(
        edit["version"].as_u64() >= Some(3) && edit["planned_ms"].is_u64(),
        "{edit}"
    );
    assert_eq!(info["sources"][0]["name"], "a.HIP");
}
