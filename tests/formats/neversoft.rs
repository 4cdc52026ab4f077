//! Files of Neversoft's games and of the PlayStation, in a mount of their folder
//! or disc.

use std::fs;
use std::path::PathBuf;

use fixtures::disc::Disc;
use fixtures::psx;
use fixtures::{playstation, qb};
use testkit::fuse_test;
use testkit::gltf::{list, scene};
use testkit::mount::Mount;
use testkit::programs::{accepts, installed};
use testkit::shown::bytes_of;
use testkit::sources::{file, folder, names, output};
use testkit::ta_files::all;

/// Returns a mount of a folder with a file of each kind, and the models of the
/// level that `level_t.trg` describes.
fn mounted() -> Mount {
    let fixture = folder(|source| {
        for (name, bytes) in playstation::files() {
            fs::write(source.join(name), bytes).unwrap();
        }
        // Without a hierarchy and animations, the file is no character.
        let level = psx::File {
            chunks: Vec::new(),
            ..psx::rich()
        };
        fs::write(source.join("level.psx"), level.bytes()).unwrap();
    });
    fixture.mount(&[])
}

fn made(name: &str) -> Vec<u8> {
    let mut files = playstation::files().into_iter();
    files.find(|(known, _)| *known == name).unwrap().1
}

#[fuse_test]
fn players_open_every_sound() {
    let mount = mounted();
    let mut sounds = Vec::new();
    for (name, _) in playstation::files() {
        all(&mount.file(&format!("{name}.meta")), ".wav", &mut sounds);
    }
    let kinds = [
        "sound.vag",
        "two.vag",
        "bank.vab",
        "bank.kat",
        "music.xa",
        "intro.str",
    ];
    for kind in kinds {
        let is_of = |sound: &PathBuf| sound.to_string_lossy().contains(&format!("/{kind}.meta/"));
        assert!(sounds.iter().any(is_of), "{kind}: {sounds:?}");
    }
    for player in installed(&["ffprobe", "sox"]) {
        let arguments: &[&str] = match player {
            "sox" => &["--info"],
            _ => &["-v", "error"],
        };
        for sound in &sounds {
            accepts(player, arguments, sound);
        }
    }
}

#[fuse_test]
fn players_open_the_movies_and_sounds_of_a_disc() {
    let mut disc = Disc::default();
    // FFmpeg does not recognize fewer than four sectors. Each copy ends its sound.
    disc.form_2_file("INTRO.STR", &made("intro.str").repeat(4));
    disc.form_2_file("MUSIC.XA", &made("music.xa").repeat(4));
    let mount = file("game.bin", &disc.raw()).mount(&[]);
    for (name, has_picture) in [("INTRO.STR.cdxa.str", true), ("MUSIC.XA.cdxa.xa", false)] {
        let meta = names(&mount.file(&format!("{name}.meta")));
        assert!(meta.contains(&"001_00-04.wav".to_owned()), "{meta:?}");
        assert_eq!(meta.contains(&"frame.png".to_owned()), has_picture);
        for player in installed(&["ffprobe"]) {
            let arguments = ["-v", "error", "-show_entries", "stream=codec_type"];
            let kinds = output(player, &arguments, &mount.file(name));
            assert!(kinds.contains("=audio"), "{name}: {kinds}");
            assert_eq!(kinds.contains("=video"), has_picture, "{name}: {kinds}");
        }
    }
}

#[fuse_test]
fn a_converted_tree_has_what_other_programs_open() {
    let mount = mounted();
    for (name, start) in [
        ("true.png", &b"\x89PNG"[..]),
        ("palette.tim.png", b"\x89PNG"),
        ("sound.wav", b"RIFF"),
        ("bank.vab/001.wav", b"RIFF"),
        ("bank.kat/000.wav", b"RIFF"),
        ("music.wav", b"RIFF"),
        ("intro.png", b"\x89PNG"),
        ("parts/intro.str/001_00.wav", b"RIFF"),
        ("title.png", b"\x89PNG"),
        ("small.png", b"\x89PNG"),
        ("level.ddx/00 floor.png", b"\x89PNG"),
        ("level_t.glb", b"glTF"),
        ("level_t.json", b"{"),
    ] {
        let path = mount.file("converted").join(name);
        assert!(
            path.exists(),
            "{name}: {:?}",
            names(&mount.file("converted"))
        );
        assert!(bytes_of(&path).starts_with(start), "{name}");
    }
}

#[fuse_test]
fn each_kind_of_nodes_of_a_level_can_be_hidden() {
    let mount = mounted();
    let level = scene(&mount.file("level_t.trg.meta/level.glb"));
    let nodes = list(&level, "nodes");
    let roots = list(&list(&level, "scenes")[0], "nodes");
    let kinds = roots.iter().map(|root| {
        let node = &nodes[root.as_u64().unwrap() as usize];
        assert!(node["mesh"].is_null(), "{node}");
        node["name"].as_str().unwrap()
    });
    let kinds: Vec<&str> = kinds.collect();
    for kind in ["geometry", "rails", "objects"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

#[fuse_test]
fn a_script_compiles_to_the_same_tokens() {
    let mount = mounted();
    let source = fs::read_to_string(mount.file("converted/script.q")).unwrap();
    let (expected, names) = qb::tokens(&made("script.qb"));
    assert!(expected.len() > 20, "{expected:?}");
    assert_eq!(qb::compile(&source, &names), Ok(expected), "{source}");
}
