//! Edited pictures of consoles become assets again (`hpi apply`).

use std::io::ErrorKind;

use crate::converted::Edited;
use fixtures::container_seeds::zip_with;
use fixtures::hgo::Build;
use fixtures::{playstation, png_of, psx, txd};
use hpimount_assets::model::png;
use hpimount_containers::io::Endian;
use testkit::applied::{hpi_apply, open_changed, read_at};
use testkit::fuse_test;
use testkit::hpipack::stderr;
use testkit::listed::cat;
use testkit::mount::{Fixture, hpimount, run};

/// Returns an archive with a file of the PlayStation or the Dreamcast.
fn archive(name: &str) -> Edited {
    let bytes = match name {
        "level.psx" => psx::rich().bytes(),
        "mouse.hgo" => Build::new(Endian::Big).mouse(),
        name => {
            let mut files = playstation::files().into_iter();
            files.find(|(known, _)| *known == name).unwrap().1
        }
    };
    Edited::new("a.zip", &zip_with(name, &bytes))
}

#[test]
fn a_pixel_of_each_format_is_edited_and_shown_again() {
    for (name, path) in [
        ("palette.tim", "converted/palette.png"),
        ("true.tim", "converted/true.png"),
        ("palette.tm2", "converted/palette.png"),
        ("small.pvr", "converted/small.png"),
        (
            "level.psx",
            "converted/parts/level.psx/textures/00 0000001e.png",
        ),
        (
            "mouse.hgo",
            "converted/parts/mouse.hgo/textures/00 RGB5A3.png",
        ),
    ] {
        let shown = |archive: &Edited| {
            let picture = cat(&archive.archive, &[path]);
            png::read(&picture, 1 << 16).unwrap()
        };
        let original = archive(name);
        let picture = shown(&original);
        let mut pixels = picture.rgba();
        let (white, black) = ([255; 4], [0, 0, 0, 255]);
        pixels[1] = if pixels[1] == white { black } else { white };
        original.edit(path, &png_of(picture.width, picture.height, pixels.clone()));
        let changed = Edited::new("a.zip", &original.packed());
        assert!(shown(&changed).rgba() == pixels, "{path}");
    }
}

/// The largest side of a texture.
const SIDE: u16 = 2048;

/// A picture of a dictionary with one texture.
const PAINT: &str = "converted/parts/car.txd/textures/00 paint.png";

/// Returns a black picture with a white pixel.
fn black_but_one(side: u16) -> Vec<u8> {
    let mut pixels = vec![[0, 0, 0, 255]; usize::from(side).pow(2)];
    pixels[9] = [255; 4];
    png_of(side.into(), side.into(), pixels)
}

#[test]
fn the_largest_pictures_are_taken_with_the_default_memory() {
    let mut picture = black_but_one(SIDE);
    // As long as the file of a photo.
    picture.resize(4 << 20, 0);
    for (compression, side) in [(b"DXT1", SIDE), (b"DXT5", SIDE), (b"DXT5", 64)] {
        let texture = txd::blocks("paint", compression, side);
        let dictionary = txd::txd(&[texture]);
        let edited = Edited::new("a.zip", &zip_with("car.txd", &dictionary));
        edited.edit(PAINT, &picture);
        let vfs = open_changed(&edited.archive, &edited.folder());
        let vfs = vfs.unwrap_or_else(|error| panic!("{compression:?} {side}: {error}"));
        assert!(read_at(&vfs, "car.txd") != dictionary);
        let shown = png::read(&read_at(&vfs, PAINT), u64::from(SIDE).pow(2)).unwrap();
        assert_eq!(shown.into_rgba()[9], [255; 4]);
    }
}

#[test]
fn an_edit_that_changes_no_byte_of_the_asset_is_ignored() {
    let edited = archive("small.pvr");
    let path = "converted/small.png";
    let mut pixels = png::read(&cat(&edited.archive, &[path]), 2).unwrap().rgba();
    // Of 5 bits, which cannot represent it.
    assert_eq!(pixels[0], [0, 0, 255, 255]);
    pixels[0][2] -= 1;
    edited.edit(path, &png_of(2, 1, pixels));
    let out = edited.folder().with_extension("zip");
    let planned = hpi_apply(&["--dry-run"], &edited.folder(), &edited.archive, &out);
    let planned = stderr(&planned);
    let summary = "0 replaced, 0 added, 0 deleted, 1 ignored";
    assert!(planned.contains(summary), "{planned}");
}

#[fuse_test]
fn a_picture_is_not_refused_for_want_of_memory() {
    let dictionary = txd::txd(&[txd::blocks("paint", b"DXT1", SIDE)]);
    let edited = Edited::new("a.zip", &zip_with("car.txd", &dictionary));
    edited.edit(PAINT, &black_but_one(SIDE));
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.args(["-o", "cachesize=32M", "--apply"]);
    program.args([&edited.folder(), &edited.archive, &fixture.point]);
    let failed = run(&mut program);
    let message = "a.zip: encoding an edited file needs 50331648 bytes";
    assert!(failed.stderr.contains(message), "{}", failed.stderr);
    let mut program = hpimount();
    program.args(["-o", "cachesize=32M"]);
    program.args([&edited.archive, &fixture.point]);
    let mount = fixture.mount_by(program);
    let editable = xattr::get(mount.path().join(PAINT), "user.hpimount.editable");
    assert_eq!(editable.unwrap_err().kind(), ErrorKind::OutOfMemory);
}

#[test]
fn a_picture_of_another_size_is_refused() {
    let original = archive("small.pvr");
    original.edit("converted/small.png", &png_of(1, 1, vec![[0; 4]]));
    let refused = original.refused();
    assert!(
        refused.contains("converted/small.png: has 1x1 pixels, must have 2x1: scale it"),
        "{refused}"
    );
}
