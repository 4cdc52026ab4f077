//! `-o palette=FILE`: the palette of assets without their own.

use std::fs;
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use fixtures::ta::{gaf, pcx, tdo, tnt};
use serde_json::Value;
use testkit::mount::{Fixture, Mount, hpi};
use testkit::pictures::pixels;
use testkit::sources::folder;

/// The color with index 7 in the palettes that are chosen.
const CHOSEN: [u8; 4] = [10, 200, 30, 255];

/// Writes sprites, a model, maps, and a picture with its own palette; the
/// folder has a palette, too.
fn game(source: &Path) {
    let write = |path: &str, bytes: Vec<u8>| {
        let path = source.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let frame = gaf::Frame::rle(2, 1, &[Some(7); 2]);
    let sprite = gaf::file(&[gaf::sequence("walk", vec![(frame, 1)])]);
    write("anims/tank.gaf", sprite.clone());
    write("textures/aramon.gaf", sprite);
    write("maps/small.tnt", tnt::Map::small().file(0x2000));
    write("maps/kingdom.tnt", tnt::Kingdoms::small(false).file());
    write("objects3d/tank.3do", tdo::file(&tdo::object("base")));
    // In Kingdoms, the picture beside a sprite has its colors.
    let picture = pcx::Pcx::indexed(2, 1, vec![7, 7]);
    write("anims/tank.pcx", picture.file());
    write("palettes/palette.pal", vec![0; 1024]);
}

/// Returns a mount of the game, with a file of this name beside it as the
/// palette.
fn mounted(name: &str, bytes: &[u8]) -> Mount {
    let fixture = folder(game);
    let palette = palette(&fixture, name, bytes);
    fixture.mount(&["-o", &format!("palette={}", palette.display())])
}

fn palette(fixture: &Fixture, name: &str, bytes: &[u8]) -> PathBuf {
    let palette = fixture.dir().join(name);
    fs::write(&palette, bytes).unwrap();
    palette
}

fn plain() -> Vec<u8> {
    let mut colors = vec![0; 768];
    colors[21..24].copy_from_slice(&CHOSEN[..3]);
    colors
}

/// Returns the same palette in every kind of file.
fn files() -> [(&'static str, Vec<u8>); 4] {
    let padded = plain();
    let padded = padded.chunks(3).flat_map(|color| [color, &[0]].concat());
    let picture = pcx::Pcx {
        palette: Some((0x0C, plain())),
        ..pcx::Pcx::indexed(1, 1, vec![0])
    };
    let colors = plain();
    let lines = colors.chunks(3).map(|color| {
        let [red, green, blue] = color.try_into().unwrap();
        format!("{red} {green} {blue}\n")
    });
    let lines = "GIMP Palette\nName: mine\n#\n".to_owned() + &lines.collect::<String>();
    [
        ("colors", plain()),
        ("colors.pal", padded.collect()),
        ("colors.pcx", picture.file()),
        ("colors.gpl", lines.into_bytes()),
    ]
}

fn read(mount: &Mount, path: &str) -> Vec<u8> {
    fs::read(mount.file(path)).unwrap()
}

fn source_of(mount: &Mount, asset: &str) -> String {
    let info = read(mount, &format!("{asset}.meta/info.json"));
    let info: Value = serde_json::from_slice(&info).unwrap();
    info["palette"].as_str().unwrap().to_owned()
}

#[fuse_test]
fn palettes_of_every_kind_color_assets_without_their_own() {
    for (name, bytes) in files() {
        let mount = mounted(name, &bytes);
        let shown = pixels(&read(&mount, "anims/tank.gaf.meta/000 walk/00.png"));
        assert_eq!(shown, (2, 1, CHOSEN.repeat(2)), "{name}");
        let sources = [
            "anims/tank.gaf",
            "textures/aramon.gaf",
            "maps/small.tnt",
            "maps/kingdom.tnt",
            "objects3d/tank.3do",
        ];
        for asset in sources {
            let source = source_of(&mount, asset);
            let is_chosen = source.starts_with("option:") && source.ends_with(name);
            assert!(is_chosen, "{asset}: {source}");
        }
    }
}

#[fuse_test]
fn a_picture_keeps_its_own_palette() {
    let (name, bytes) = &files()[0];
    let mount = mounted(name, bytes);
    assert_eq!(source_of(&mount, "anims/tank.pcx"), "file");
    let shown = pixels(&read(&mount, "anims/tank.pcx.meta/picture.png"));
    assert_eq!(shown.2[..4], [21, 22, 23, 255]);
}

#[fuse_test]
fn a_file_that_is_no_palette_is_an_error_at_the_start_that_names_it() {
    for (name, bytes, problem) in [
        ("short.pal", vec![0; 100], "palette at 0x0: has 100 bytes"),
        ("colors.gpl", b"GIMP Palette\n1 2".to_vec(), "color at 0xd"),
        ("missing", Vec::new(), "palette at 0x0: has 0 bytes"),
    ] {
        let fixture = folder(game);
        let palette = palette(&fixture, name, &bytes);
        let ran = fixture.run(&["-o", &format!("palette={}", palette.display())]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let named = format!("-o palette={}: {problem}", palette.display());
        assert!(ran.stderr.contains(&named), "{ran:?}");
        fs::remove_file(&palette).unwrap();
        let ran = fixture.run(&["-o", &format!("palette={}", palette.display())]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.stderr.contains(&palette.display().to_string()),
            "{ran:?}"
        );
    }
}

#[test]
fn a_palette_applies_without_a_mount_too() {
    let fixture = folder(game);
    let (name, bytes) = &files()[0];
    let palette = palette(&fixture, name, bytes);
    let mut command = hpi("cat");
    command.args(["-o", &format!("palette={}", palette.display())]);
    command.arg(&fixture.archive);
    let output = command.arg("anims/tank.gaf.meta/000 walk/00.png").output();
    assert_eq!(pixels(&output.unwrap().stdout), (2, 1, CHOSEN.repeat(2)));
}
