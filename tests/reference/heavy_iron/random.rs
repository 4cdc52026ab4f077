//! Random archives of Heavy Iron's games: the mount shows the contents from the
//! builders, and the independent readers agree.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shared;
use fixtures::heavy_iron as build;
use fixtures::heavy_iron::kinds::{sounds, textures};
use fixtures::hip::{Asset, Hip};
use fixtures::noise;
use hpimount_containers::hip::{Game, Platform, asset_id};
use serde_json::Value;
use testkit::fuse_test;
use testkit::mount::Mount;
use testkit::mounted::mounted_files;
use testkit::pictures::pixels;
use testkit::shown::{bytes_of, meta, rows};
use testkit::sources::{json, names};
use testkit::{skip, trial};

/// The consoles, each with the start of the names of its textures, and the name
/// of its sounds.
const CONSOLES: [(Platform, &str, &str); 3] = [
    (Platform::GameCube, "gx", "gc"),
    (Platform::Xbox, "xbox", "xbox"),
    (Platform::PlayStation2, "ps2", "ps2"),
];

fn id(name: &str) -> u32 {
    asset_id(name.as_bytes())
}

/// Returns random numbers.
fn numbers(seed: u64, count: usize) -> Vec<u32> {
    let bytes = noise(seed, 4 * count);
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

/// Joins tables of one sound each into one table. Their heads, which contain
/// the count, have `head` bytes.
fn joined(tables: &[(u32, Vec<u8>)], is_big: bool, head: usize) -> Vec<u8> {
    let mut all = tables
        .first()
        .map_or(Vec::new(), |(_, table)| table[..head].to_vec());
    for (asset, table) in tables {
        let mut entry = table[head..].to_vec();
        let id = build::words(is_big, &[1]);
        let at = match head {
            16 => entry.len() - 4,
            12 => 24,
            _ => 8,
        };
        assert_eq!(entry[at..at + 4], id);
        entry[at..at + 4].copy_from_slice(&build::words(is_big, &[*asset]));
        all.extend(entry);
    }
    if head > 0 && !all.is_empty() {
        let count = build::words(is_big, &[tables.len() as u32]);
        all[..4].copy_from_slice(&count);
    }
    all
}

/// Returns a random archive for a console.
fn archive(seed: u64, (platform, start, name): (Platform, &str, &str)) -> Vec<u8> {
    let is_big = platform == Platform::GameCube;
    let mut hip = Hip::target(Game::Bfbb, platform);
    hip.layer(0);
    for (name, bytes) in textures(seed) {
        if name.starts_with(start) {
            hip.add(Asset::new(b"RWTX", &format!("{name}.RW3"), &bytes));
        }
    }
    let mut tables = Vec::new();
    for (number, (console, table, data)) in sounds(seed).into_iter().enumerate() {
        if console == name {
            let name = format!("sound{number}");
            tables.push((id(&name), table));
            hip.add(Asset::new(b"SND ", &name, &data));
        }
    }
    let head = match platform {
        Platform::GameCube => 16,
        Platform::Xbox => 12,
        _ => 8,
    };
    hip.add(Asset::new(
        b"SNDI",
        "sound_info",
        &joined(&tables, is_big, head),
    ));
    let letters: Vec<u8> = noise(seed, 200)
        .iter()
        .map(|byte| 0x20 + byte % 0x5F)
        .collect();
    let text = [build::words(is_big, &[200]), letters, vec![0; 4]].concat();
    hip.add(Asset::new(b"TEXT", "text", &text));
    let random = numbers(seed, 400);
    for number in 0..8 {
        let name = format!("opener{number}");
        let links = number as u32;
        let events = |at: usize| random[at] % 541;
        let mut bytes = build::words(is_big, &[id(&name)]);
        bytes.extend([30, links as u8]);
        let flags = 0x1D_u16;
        bytes.extend(if is_big {
            flags.to_be_bytes()
        } else {
            flags.to_le_bytes()
        });
        for link in 0..number {
            let at = 40 * number + 5 * link;
            let (event, send) = (events(at), events(at + 1));
            let pair = if is_big {
                event << 16 | send
            } else {
                send << 16 | event
            };
            let target = id(&format!("opener{}", random[at + 2] % 10));
            let value = (random[at + 3] % 1000) as f32 / 4.0;
            let link = [pair, target, value.to_bits(), 0, 0, 0, 0, random[at + 4]];
            bytes.extend(build::words(is_big, &link));
        }
        hip.add(Asset::new(b"DPAT", &name, &bytes));
    }
    let rows = [&[9][..], &random[..27]].concat();
    hip.add(Asset::new(
        b"COLL",
        "collisions",
        &build::words(is_big, &rows),
    ));
    let part = |number: &u32| (number % 4000) as f32 / 8.0;
    let positions: Vec<[f32; 3]> = random[..90]
        .as_chunks::<3>()
        .0
        .iter()
        .map(|corner| corner.each_ref().map(part))
        .collect();
    let uvs = vec![[0.25, 0.5]; positions.len()];
    let triangles: Vec<[u16; 3]> = (0..28).map(|first| [first, first + 1, first + 2]).collect();
    let model = build::plain_model(&positions, &uvs, &triangles);
    hip.add(Asset::new(b"MODL", "model.dff", &model));
    hip.build()
}

/// Runs an independent reader that reads an archive into a directory; returns
/// `false` if Python is missing.
fn read_by(reader: &Path, archive: &Path, into: &Path) -> bool {
    let mut python = Command::new("python3");
    python.arg("-B").arg(reader).arg(into).arg(archive);
    match python.output() {
        Ok(output) => {
            let problem = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {problem}", reader.display());
            true
        }
        Err(error) => skip::possible(false, &format!("python3: {error}")),
    }
}

/// Returns the triangles of an OBJ file as the positions of their corners, in
/// thousandths.
fn triangles(obj: &str) -> Vec<[[i64; 3]; 3]> {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for line in obj.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut part = || words.next().unwrap().parse::<f64>().unwrap();
                points.push([part(), part(), part()].map(|part| (part * 1000.0).round() as i64));
            }
            Some("f") => {
                let corners = words.map(|word| word.split('/').next().unwrap());
                let corners = corners.map(|corner| points[corner.parse::<usize>().unwrap() - 1]);
                let corners: Vec<_> = corners.collect();
                triangles.push(corners.try_into().unwrap());
            }
            _ => {}
        }
    }
    triangles.sort_unstable();
    triangles
}

/// Returns the only file with this extension in the companion of an asset.
fn shown(mount: &Mount, id: u32, extension: &str) -> PathBuf {
    let meta = meta(mount, id);
    let mut found = names(&meta);
    found.retain(|name| name.ends_with(&format!(".{extension}")));
    assert_eq!(found.len(), 1, "{}: {found:?}", meta.display());
    meta.join(&found[0])
}

/// Compares a file that a reader made from an asset with the mount's. Returns `false`
/// for files that are not compared.
fn compare(mount: &Mount, made: &Path) -> bool {
    let name = made.file_name().unwrap().to_str().unwrap();
    let id = name
        .get(..8)
        .and_then(|id| u32::from_str_radix(id, 16).ok());
    let (Some(id), Some((_, extension))) = (id, name.rsplit_once('.')) else {
        return false;
    };
    let known = fs::read(made).unwrap();
    match extension {
        "png" => assert!(
            pixels(&bytes_of(&shown(mount, id, "png"))) == pixels(&known),
            "{name}"
        ),
        "wav" => {
            let ours = bytes_of(&shown(mount, id, "wav"));
            assert!(ours[8..48] == known[8..48], "{name}");
            let end = 44 + u32::from_le_bytes(known[40..44].try_into().unwrap()) as usize;
            assert!(ours[44..end] == known[44..end], "{name}");
        }
        "dsp" | "vag" => {
            let ours = bytes_of(&shown(mount, id, extension));
            assert_eq!(ours.len(), known.len(), "{name}");
        }
        "txt" => assert_eq!(bytes_of(&meta(mount, id).join("text.txt")), known, "{name}"),
        "obj" => {
            let ours = bytes_of(&meta(mount, id).join("model.obj"));
            let [ours, known] = [ours, known].map(|text| String::from_utf8(text).unwrap());
            assert_eq!(triangles(&ours), triangles(&known), "{name}");
        }
        _ => return false,
    }
    true
}

/// Compares a reader's results for objects and tables, and counts them.
fn compare_records(mount: &Mount, records: &Path) -> usize {
    let lines = fs::read_to_string(records).unwrap();
    let mut compared = 0;
    for line in lines.lines() {
        let known: Value = serde_json::from_str(line).unwrap();
        let name = known["asset"].as_str().unwrap();
        let meta = meta(mount, id(name));
        if let Some(links) = known["links"].as_array() {
            let ours = json(&meta.join("object.json"));
            let ours = ours["links"].as_array().unwrap();
            assert_eq!(ours.len(), links.len(), "{name}");
            for (ours, known) in ours.iter().zip(links) {
                for field in [
                    "event",
                    "event_id",
                    "send",
                    "send_id",
                    "target",
                    "check_asset",
                ] {
                    assert_eq!(ours[field], known[field], "{name}: {field}");
                }
                let value = |link: &Value| link["params"][0].as_f64();
                assert_eq!(value(ours), value(known), "{name}");
            }
            compared += 1;
        } else if let Some(entries) = known["entries"].as_array() {
            let rows = rows(&meta.join("table.tsv"));
            assert_eq!(rows.len(), entries.len(), "{name}");
            for (row, known) in rows.iter().zip(entries) {
                let known: BTreeMap<String, Value> = serde_json::from_value(known.clone()).unwrap();
                for (field, value) in known {
                    assert_eq!(
                        row[&field].trim_start_matches("0x"),
                        value["id"].as_str().unwrap_or_default(),
                        "{name}"
                    );
                }
            }
            compared += 1;
        }
    }
    compared
}

#[fuse_test]
fn random_archives_are_shown_as_the_independent_readers_read_them() {
    let Some(readers) = shared("oracle/hip_assets") else {
        return;
    };
    for seed in 1..trial::length(2, 30) {
        for console in CONSOLES {
            let work_dir = tempfile::tempdir().unwrap();
            let file = work_dir.path().join("a.HIP");
            fs::write(&file, archive(1000 * seed, console)).unwrap();
            let made = work_dir.path().join("made");
            for reader in [
                "rwtx_ref.py",
                "snd_ref.py",
                "text_ref.py",
                "base_ref.py",
                "modl_ref.py",
            ] {
                if !read_by(&readers.join(reader), &file, &made) {
                    return;
                }
            }
            let mount = mounted_files(&[file], "");
            let files = names(&made);
            let compared = files
                .iter()
                .filter(|name| compare(&mount, &made.join(name)));
            let compared = compared.count();
            assert!(compared >= 10, "{compared}: {files:?}");
            assert!(compare_records(&mount, &made.join("a.HIP.ndjson")) >= 9);
        }
    }
}
