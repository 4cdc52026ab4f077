//! The assets of Heavy Iron's games, read through the kernel and compared with
//! the results of independent readers.

use std::fs;
use std::path::{Path, PathBuf};

use crate::heavy_iron::samples::{each, records};
use crate::shared;
use hpimount_containers::hip::asset_id;
use serde_json::Value;
use testkit::fuse_test;
use testkit::mounted::mounted_files;
use testkit::pictures::pixels;
use testkit::programs::{accepts, installed};
use testkit::shown::{Triangle, bytes_of, rows, shown_triangles, triangle};
use testkit::sources::{json, names};

/// Returns the only file with this extension.
fn file_with(directory: &Path, extension: &str) -> PathBuf {
    let end = format!(".{extension}");
    let mut names = names(directory);
    names.retain(|name| name.ends_with(&end));
    assert_eq!(names.len(), 1, "{}: {names:?}", directory.display());
    directory.join(&names[0])
}

#[fuse_test]
fn textures_have_the_pixels_that_the_independent_reader_decodes() {
    let checkers = installed(&["pngcheck"]);
    each(&["RWTX", "TEXS"], |archive, asset, meta| {
        if asset.bytes.is_empty() {
            assert_eq!(
                names(meta),
                ["info.json", "info.txt", "textures.tsv"],
                "{}",
                asset.name
            );
            return;
        }
        let shown = file_with(meta, "png");
        let golden = fs::read(archive.golden(asset, "png").unwrap()).unwrap();
        assert_eq!(pixels(&bytes_of(&shown)), pixels(&golden), "{}", asset.name);
        for checker in &checkers {
            accepts(checker, &["-q"], &shown);
        }
        let info = json(&meta.join("info.json"));
        assert_eq!(info["textures"].as_array().unwrap().len(), 1);
        assert_eq!(info["id"], format!("0x{}", asset.hex()));
        let table = fs::read_to_string(meta.join("textures.tsv")).unwrap();
        assert_eq!(table.lines().count(), 2, "{table}");
    });
}

#[fuse_test]
fn sounds_have_the_samples_and_loops_that_the_independent_reader_decodes() {
    let players = installed(&["ffprobe", "sox"]);
    let mut played = 0;
    let ran = each(&["SND", "SNDS"], |archive, asset, meta| {
        if asset.name == "no_entry" {
            assert_eq!(names(meta), ["error.txt", "info.json", "info.txt"]);
            let error = fs::read_to_string(meta.join("error.txt")).unwrap();
            assert!(error.contains("no entry for 3FF28D50"), "{error}");
            return;
        }
        let shown = file_with(meta, "wav");
        let ours = wav_parts(&bytes_of(&shown));
        let golden = wav_parts(&fs::read(archive.golden(asset, "wav").unwrap()).unwrap());
        assert_eq!(ours, golden, "{}: {}", archive.name, asset.name);
        for player in &players {
            let quiet: &[&str] = match *player {
                "sox" => &["--i"],
                _ => &["-v", "error"],
            };
            accepts(player, quiet, &shown);
        }
        for extension in ["dsp", "vag"] {
            let Some(golden) = archive.golden(asset, extension) else {
                continue;
            };
            let native = bytes_of(&file_with(meta, extension));
            let golden = fs::read(golden).unwrap();
            assert_eq!(native.len(), golden.len(), "{}", asset.name);
            assert!(native.ends_with(&asset.bytes), "{}", asset.name);
        }
        played += 1;
    });
    assert!(!ran || played >= 23, "{played}");
}

/// Returns the format, the samples, and the ends of the loop of a WAV file.
fn wav_parts(bytes: &[u8]) -> (Vec<u8>, Vec<u8>, Option<Vec<u8>>) {
    let size = u32::from_le_bytes(bytes[40..44].try_into().unwrap()) as usize;
    let tail = &bytes[44 + size..];
    let loops = tail.starts_with(b"smpl").then(|| tail[52..60].to_vec());
    (bytes[8..40].to_vec(), bytes[44..44 + size].to_vec(), loops)
}

#[fuse_test]
fn texts_match_the_independent_reader() {
    each(&["TEXT"], |archive, asset, meta| {
        let golden = fs::read(archive.golden(asset, "txt").unwrap()).unwrap();
        let shown = bytes_of(&meta.join("text.txt"));
        assert_eq!(shown, golden, "{}: {}", archive.name, asset.name);
    });
}

#[fuse_test]
fn credits_are_shown_as_lines() {
    each(&["CRDT"], |archive, asset, meta| {
        let known = records(archive).remove(&asset.name).unwrap();
        let mut expected = String::new();
        for (number, section) in known["sections"].as_array().unwrap().iter().enumerate() {
            expected += if number > 0 { "\n" } else { "" };
            for line in section["lines"].as_array().unwrap() {
                let texts = line.as_array().unwrap()[1..].iter();
                // Enciphered texts are not shown.
                let texts = texts.filter(|_| known["state"] != 3);
                let texts: Vec<_> = texts.filter_map(Value::as_str).collect();
                expected += &format!("{}\n", texts.join("\t"));
            }
        }
        let shown = String::from_utf8(bytes_of(&meta.join("text.txt"))).unwrap();
        assert_eq!(shown, expected, "{}", asset.name);
    });
}

/// Returns the triangles that a model was generated from.
fn known_triangles(path: &Path) -> Vec<Triangle> {
    let text = fs::read_to_string(path).unwrap();
    let triangles = text.lines().skip(1).map(|line| {
        let (texture, numbers) = line.split_once('\t').unwrap();
        let numbers: Vec<f64> = numbers.split('\t').map(|n| n.parse().unwrap()).collect();
        triangle(texture, numbers.as_chunks().0.try_into().unwrap())
    });
    let mut triangles: Vec<_> = triangles.collect();
    triangles.sort();
    triangles
}

#[fuse_test]
fn models_have_the_triangles_and_textures_that_they_were_generated_from() {
    let mut compared = 0;
    let ran = each(&["MODL", "JSP", "BSP"], |archive, asset, meta| {
        let shown = format!("{}: {}", archive.name, asset.name);
        let info = json(&meta.join("info.json"));
        if asset.layer == "JSPINFO" {
            let known = records(archive).remove(&asset.name).unwrap();
            for count in ["branches", "triangles", "version"] {
                assert_eq!(info[count], known[count], "{shown}");
            }
            return;
        }
        let goldens = archive.goldens();
        let Some(golden) = goldens.get(&format!("source/{}.tris.tsv", asset.hex())) else {
            return;
        };
        if asset.name.starts_with("xbox_native") {
            // The samples are wrong: their sizes are too large by 4.
            assert!(!names(meta).contains(&"model.obj".to_owned()), "{shown}");
            return;
        }
        assert_eq!(shown_triangles(meta), known_triangles(golden), "{shown}");
        let glb = meta.join("model.glb");
        assert!(bytes_of(&glb).starts_with(b"glTF\x02\0\0\0"), "{shown}");
        for row in rows(&meta.join("textures.tsv")) {
            assert_eq!(row["problem"], "", "{shown}");
            let picture = meta.join(format!("textures/{}.png", row["name"]));
            let known = asset_id(format!("{}.RW3", row["name"]).as_bytes());
            let known = &goldens[&format!("source/{known:08X}.png")];
            let (shown, known) = (bytes_of(&picture), fs::read(known).unwrap());
            assert_eq!(pixels(&shown).0, pixels(&known).0);
        }
        compared += 1;
    });
    assert!(!ran || compared >= 33, "{compared}");
}

#[fuse_test]
fn every_hostile_asset_is_shown_or_has_an_error() {
    let Some(folder) = shared("samples/hip_assets/hostile") else {
        return;
    };
    for name in names(&folder) {
        let mount = mounted_files(&[folder.join(&name)], "meta=visible");
        let mut count = 0;
        for file in testkit::files::walk(mount.path()) {
            if file.is_file() && file.to_string_lossy().contains(".meta/") {
                fs::read(&file).unwrap();
                count += 1;
            }
        }
        assert!(count > 0, "{name}");
    }
}
