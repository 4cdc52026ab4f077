//! The assets of Heavy Iron's games, read through the kernel and compared with
//! the results of independent readers.

#[path = "support/heavy_iron/mod.rs"]
mod heavy_iron;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use heavy_iron::build;
use heavy_iron::shown::{built, bytes_of, each, records, rows};
use hpimount_containers::hip::{Game, Platform, asset_id};
use serde_json::Value;
use support::hip::{Asset as Packed, Hip};
use support::mount::can_mount;
use support::mounted::{mounted, mounted_files};
use support::pictures::pixels;
use support::shared;
use support::skip::skip_anywhere;
use support::sources::{json, names};

/// Returns the only file with this extension.
fn file_with(directory: &Path, extension: &str) -> PathBuf {
    let end = format!(".{extension}");
    let mut names = names(directory);
    names.retain(|name| name.ends_with(&end));
    assert_eq!(names.len(), 1, "{}: {names:?}", directory.display());
    directory.join(&names[0])
}

/// Returns those of the programs that are installed.
fn installed(programs: &[&'static str]) -> Vec<&'static str> {
    let mut found = programs.to_vec();
    found.retain(|program| {
        let ran = Command::new(program).arg("--help").output();
        if ran.is_err() {
            skip_anywhere(&format!("needs {program}"));
        }
        ran.is_ok()
    });
    found
}

/// Asserts that a program accepts a file.
fn accepts(program: &str, arguments: &[&str], file: &Path) {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}: {output:?}", file.display());
}

#[test]
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
        assert_eq!(info["id"], asset.hex());
        let table = fs::read_to_string(meta.join("textures.tsv")).unwrap();
        assert_eq!(table.lines().count(), 2, "{table}");
    });
}

#[test]
fn sounds_have_the_samples_and_loops_that_the_independent_reader_decodes() {
    let players = installed(&["ffprobe", "sox"]);
    let mut played = 0;
    let ran = each(&["SND", "SNDS"], |archive, asset, meta| {
        if asset.name == "no_entry" {
            assert_eq!(names(meta), ["error.txt", "info.json"]);
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

#[test]
fn texts_match_the_independent_reader() {
    each(&["TEXT"], |archive, asset, meta| {
        let golden = fs::read(archive.golden(asset, "txt").unwrap()).unwrap();
        let shown = bytes_of(&meta.join("text.txt"));
        assert_eq!(shown, golden, "{}: {}", archive.name, asset.name);
    });
}

#[test]
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

/// A triangle: a texture, and for each corner its position and texture
/// coordinates, in thousandths. The least corner is first.
type Triangle = (String, [[i64; 5]; 3]);

fn triangle(texture: &str, corners: [[f64; 5]; 3]) -> Triangle {
    let mut corners = corners.map(|corner| corner.map(|value| (value * 1000.0).round() as i64));
    let least = (0..3).min_by_key(|&index| corners[index]).unwrap();
    corners.rotate_left(least);
    (texture.to_owned(), corners)
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

/// Returns the triangles of an OBJ file with the textures of its materials.
fn shown_triangles(meta: &Path) -> Vec<Triangle> {
    let mtl = fs::read_to_string(meta.join("model.mtl")).unwrap();
    let mut textures = BTreeMap::new();
    let mut material = "";
    for line in mtl.lines() {
        if let Some(name) = line.strip_prefix("newmtl ") {
            material = name;
        } else if let Some(file) = line.strip_prefix("map_Kd textures/") {
            textures.insert(material, file.trim_end_matches(".png"));
        }
    }
    let obj = String::from_utf8(bytes_of(&meta.join("model.obj"))).unwrap();
    let (mut points, mut uvs, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    let mut texture = "";
    for line in obj.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = || rest.split(' ').map(|number| number.parse::<f64>().unwrap());
        match kind {
            "v" => points.push(numbers().take(3).collect::<Vec<_>>()),
            "vt" => uvs.push(numbers().collect::<Vec<_>>()),
            "usemtl" => texture = textures.get(rest).copied().unwrap_or("mat0"),
            "f" => {
                let corners: Vec<_> = rest
                    .split(' ')
                    .map(|corner| {
                        let mut numbers = corner.split('/').map(|n| n.parse::<usize>().unwrap());
                        let point = &points[numbers.next().unwrap() - 1];
                        let uv = &uvs[numbers.next().unwrap() - 1];
                        [point[0], point[1], point[2], uv[0], 1.0 - uv[1]]
                    })
                    .collect();
                triangles.push(triangle(texture, corners.try_into().unwrap()));
            }
            _ => {}
        }
    }
    triangles.sort();
    triangles
}

#[test]
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
            let warnings = info["warnings"].to_string();
            let words = "is not shown: native Xbox geometry is not converted";
            assert!(warnings.contains(words), "{warnings}");
            assert!(!names(meta).contains(&"model.obj".to_owned()));
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

#[test]
fn a_small_archive_shows_all_kinds_of_assets() {
    if !can_mount() {
        return;
    }
    let sound = asset_id(b"beep");
    let model = build::plain_model(
        &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        &[[0.0; 2]; 3],
        &[[0, 1, 2]],
    );
    let target = asset_id(b"gate");
    let link = build::big(&[0x0001_0002, target, 0x3F80_0000, target, 0, 0, 0, 0]);
    let dispatcher = [&build::big(&[7, 0x1E01_001D])[..], &link].concat();
    let gate = build::big(&[target, 0x0E00_001D, 0x3F80_0000, 0]);
    let pixels_of_tile = [0xFC, 0].repeat(32);
    let texture = build::gamecube(4, 0, [8, 4], &[], &pixels_of_tile, 1);
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    for (code, name, bytes) in [
        (b"RWTX", "wood.RW3", &texture),
        (b"RWTX", "cut.RW3", &texture[..40].to_vec()),
        (b"SND ", "beep", &vec![0; 8]),
        (b"SNDI", "sound_info", &build::dsp_table(sound, 14, 8000)),
        (b"TEXT", "hello", &b"\0\0\0\x05h{c}\xE9\0\0\0".to_vec()),
        (b"CRDT", "credits", &build::credits()),
        (b"MODL", "crate.dff", &model),
        (b"DPAT", "opener", &dispatcher),
        (b"TIMR", "gate", &gate),
        (b"MRKR", "marker", &build::big_floats(&[1.0, 2.5, -3.0])),
        (b"ALST", "list", &build::big(&[target, 9])),
        (b"JSP ", "info", &build::level_info()),
        (b"XYZ ", "other", &vec![1]),
    ] {
        hip.add(Packed::new(code, name, bytes));
    }
    let mount = mounted(&hip.build(), "").unwrap();
    let shown = built(&mount, "wood.RW3");
    assert_eq!(
        names(&shown),
        ["info.json", "info.txt", "textures.tsv", "wood.png"]
    );
    let (width, height, colors) = pixels(&bytes_of(&shown.join("wood.png")));
    assert_eq!((width, height), (8, 4));
    assert_eq!(colors[..4], [255, 130, 0, 255]);
    assert_eq!(names(&built(&mount, "cut.RW3")), ["error.txt", "info.json"]);
    let shown = built(&mount, "beep");
    let wav = bytes_of(&shown.join("beep.wav"));
    assert_eq!(wav.len(), 44 + 28);
    assert_eq!(bytes_of(&shown.join("beep.dsp")).len(), 0x60 + 8);
    let text = bytes_of(&built(&mount, "hello").join("text.txt"));
    assert_eq!(text, "h{c}é".as_bytes());
    let text = bytes_of(&built(&mount, "credits").join("text.txt"));
    assert_eq!(text, b"text\n");
    let shown = built(&mount, "crate.dff");
    assert_eq!(
        names(&shown),
        [
            "info.json",
            "info.txt",
            "model.glb",
            "model.mtl",
            "model.obj",
            "preview.png",
            "textures",
            "textures.tsv"
        ]
    );
    assert_eq!(names(&shown.join("textures")), ["wood.png"]);
    assert_eq!(shown_triangles(&shown).len(), 1);
    let object = json(&built(&mount, "opener").join("object.json"));
    let link = &object["links"][0];
    assert_eq!(
        (&link["event"], &link["send"]),
        (&"Enable".into(), &"Disable".into())
    );
    assert_eq!(link["target"]["name"], "gate");
    assert_eq!(link["params"][1]["name"], "gate");
    let row = &rows(&built(&mount, "opener").join("links.tsv"))[0];
    assert_eq!((&*row["target_name"], &*row["param1"]), ("gate", "1"));
    let row = &rows(&built(&mount, "marker").join("table.tsv"))[0];
    assert_eq!((&*row["y"], &*row["z"]), ("2.5", "-3"));
    let list = rows(&built(&mount, "list").join("table.tsv"));
    assert_eq!(
        (&*list[0]["animation_name"], &*list[1]["animation"]),
        ("gate", "00000009")
    );
    let info = json(&built(&mount, "info").join("info.json"));
    assert_eq!((&info["nodes"], &info["vectors"]), (&1.into(), &1.into()));
    assert!(!built(&mount, "other").exists());
}

#[test]
fn a_missing_texture_has_a_placeholder_and_is_reported() {
    if !can_mount() {
        return;
    }
    let model = build::plain_model(
        &[[0.0; 3], [1.0; 3], [0.0, 1.0, 0.0]],
        &[[0.0; 2]; 3],
        &[[0, 1, 2]],
    );
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0).add(Packed::new(b"MODL", "crate.dff", &model));
    let mount = mounted(&hip.build(), "").unwrap();
    let shown = built(&mount, "crate.dff");
    assert!(!names(&shown).contains(&"textures".to_owned()));
    let row = &rows(&shown.join("textures.tsv"))[0];
    assert!(
        row["problem"].starts_with("is in no available archive"),
        "{row:?}"
    );
    let materials = fs::read_to_string(shown.join("model.mtl")).unwrap();
    assert!(materials.contains("Kd 1 0 1"), "{materials}");
}

#[test]
fn every_hostile_asset_is_shown_or_has_an_error() {
    if !can_mount() {
        return;
    }
    let Some(folder) = shared("samples/hip_assets/hostile") else {
        return;
    };
    for name in names(&folder) {
        let mount = mounted_files(&[folder.join(&name)], "meta=visible").unwrap();
        let mut count = 0;
        for file in support::files::walk(mount.path()) {
            if file.is_file() && file.to_string_lossy().contains(".meta/") {
                fs::read(&file).unwrap();
                count += 1;
            }
        }
        assert!(count > 0, "{name}");
    }
}
