//! Console banners, title images and icons, in a mount of a game's disc or of a folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use fixtures::consoles;
use fixtures::container_seeds::xdvdfs_with;
use serde_json::Value;
use testkit::fuse_test;
use testkit::pictures::pixels;
use testkit::shown::bytes_of;
use testkit::sources::{file, folder, names};

fn info(meta: &Path) -> Value {
    serde_json::from_slice(&bytes_of(&meta.join("info.json"))).unwrap()
}

/// Returns the size of a picture, and its first pixel.
fn picture(path: &Path) -> ((u32, u32), [u8; 4]) {
    let (width, height, pixels) = pixels(&bytes_of(path));
    ((width, height), pixels[..4].try_into().unwrap())
}

#[fuse_test]
fn a_program_on_an_xbox_disc_shows_its_title_and_its_picture() {
    let disc = xdvdfs_with("default.xbe", &consoles::program());
    let mount = file("game.iso", &disc).mount(&[]);
    let meta = mount.path().join("default.xbe.meta");
    let facts = info(&meta);
    assert_eq!(
        (&facts["title"], &facts["id"], &facts["region"]),
        (&"A Gäme".into(), &"AV-007".into(), &"North America".into())
    );
    assert_eq!(facts["sections"][0]["name"], "$$XTIMAG");
    assert_eq!(facts["warnings"], Value::Array(Vec::new()));
    let green = ((8, 8), [0, 255, 0, 255]);
    assert_eq!(picture(&meta.join("title.png")), green);
    assert_eq!(picture(&mount.path().join("converted/default.png")), green);
}

#[fuse_test]
fn other_files_with_the_extension_of_pictures_are_no_damaged_pictures() {
    let source = folder(|source| {
        fs::write(source.join("level.tex.xbx"), [1, 0, 0, 0, 9, 9, 9, 9]).unwrap();
        fs::write(source.join("SaveImage.xbx"), consoles::xpr()).unwrap();
    });
    let checked = Command::new(env!("CARGO_BIN_EXE_hpi"))
        .arg("check")
        .arg(&source.archive)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{text}");
    let mount = source.mount(&[]);
    assert!(mount.path().join("SaveImage.xbx.meta/frame.png").exists());
    assert!(!mount.path().join("level.tex.xbx.meta").exists());
    let parts = mount.path().join("converted/parts");
    assert_eq!(names(&parts), ["SaveImage.xbx"]);
}

#[fuse_test]
fn banners_pictures_and_saves_are_shown() {
    let mount = folder(|source| {
        for (name, bytes) in consoles::files() {
            fs::write(source.join(name), bytes).unwrap();
        }
    });
    let mount = mount.mount(&[]);
    let meta = |name: &str| mount.path().join(format!("{name}.meta"));
    let banner = info(&meta("opening.bnr"));
    assert_eq!(banner["texts"][0]["title"], "Title 0");
    assert_eq!(banner["texts"][0]["language"], Value::Null);
    let red = ((96, 32), [255, 0, 0, 255]);
    assert_eq!(picture(&meta("opening.bnr").join("banner.png")), red);
    let banner = info(&meta("languages.bnr"));
    assert_eq!(banner["texts"][5]["language"], "Dutch");
    assert_eq!(picture(&meta("SaveImage.xbx").join("frame.png")).0, (8, 8));
    let save = info(&meta("one.mcs"));
    assert_eq!(
        (&save["saves"][0]["title"], &save["card"]),
        (&"A C".into(), &false.into())
    );
    assert_eq!(save["saves"][0]["name"], "BASLUS-00001GAME");
    assert_eq!(picture(&meta("one.mcs").join("icon.png")).0, (16, 16));
    let card = info(&meta("card.mcr"));
    assert_eq!(
        (&card["saves"][1]["block"], &card["card"]),
        (&3.into(), &true.into())
    );
    assert_eq!(picture(&meta("card.mcr").join("03_icon.apng")).0, (16, 16));
    assert!(!meta("card.mcr").join("01_icon.apng").exists());
}
