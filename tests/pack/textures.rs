//! Edited pictures of consoles become assets again (`hpipack --apply`).

use crate::converted::Edited;
use fixtures::container_seeds::zip_with;
use fixtures::hgo::Build;
use fixtures::{playstation, png_of, psx};
use hpimount_assets::model::png;
use hpimount_containers::io::Endian;
use testkit::listed::cat;

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
