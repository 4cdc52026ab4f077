//! The assets in the samples of Total Annihilation, as shown by a mount:
//! pictures pixel by pixel, models vertex by vertex and properties field by
//! field, compared with the results of independent readers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use crate::shared;
use crate::total_annihilation::known;
use crate::total_annihilation::samples::samples;
use serde_json::Value;
use testkit::pictures::pixels;
use testkit::sources::{json, names, read};
use testkit::ta_files::other_programs_read;

/// Returns the goldens of a kind with names that end with `end`, each with the
/// rest of its name.
fn goldens(kind: &str, end: &str) -> Vec<(String, PathBuf)> {
    let Some(folder) = shared("golden/ta").map(|folder| folder.join(kind)) else {
        return Vec::new();
    };
    let found: Vec<_> = names(&folder)
        .into_iter()
        .filter_map(|name| Some((name.strip_suffix(end)?.to_owned(), folder.join(&name))))
        .filter(|(name, _)| !name.is_empty())
        .collect();
    assert!(!found.is_empty(), "goldens {kind} {end}");
    found
}

fn check_pixels(shown: &Path, golden: &Path) {
    let is_equal = pixels(&read(shown)) == pixels(&read(golden));
    assert!(is_equal, "{}", shown.display());
}

#[fuse_test]
fn flat_pictures_have_the_known_pixels() {
    let Some(mount) = samples() else { return };
    for (kind, end, file) in [
        ("pal", ".png", "swatch.png"),
        ("fnt", ".png", "sheet.png"),
        ("tnt", ".map.png", "map.png"),
        ("tnt", ".height.png", "height.png"),
        ("sct", ".minimap.png", "minimap.png"),
    ] {
        for (name, golden) in goldens(kind, end) {
            let shown = mount.file(&format!("{kind}/{name}.meta/{file}"));
            check_pixels(&shown, &golden);
        }
    }
    for (name, golden) in goldens("pcx", ".png") {
        let shown = mount.file(&format!("pcx/{name}.meta/picture.png"));
        check_pixels(&shown, &golden);
    }
}

#[fuse_test]
fn a_minimap_is_cropped_to_the_used_part() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("tnt", ".minimap.png") {
        let meta = mount.file(&format!("tnt/{name}.meta"));
        let used = json(&meta.join("info.json"))["minimap_used"].clone();
        let (width, height, known) = pixels(&read(&golden));
        let side = |index: usize, whole: u32| match used[index].as_u64() {
            Some(side) => whole.min(side as u32),
            None => whole,
        };
        let (shown_width, shown_height) = (side(0, width), side(1, height));
        let rows = known.chunks(4 * width as usize).take(shown_height as usize);
        let part: Vec<u8> = rows
            .flat_map(|row| &row[..4 * shown_width as usize])
            .copied()
            .collect();
        let shown = pixels(&read(&meta.join("minimap.png")));
        assert!(shown == (shown_width, shown_height, part), "{name}");
    }
}

#[fuse_test]
fn the_small_map_has_every_eighth_pixel() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("tnt", ".map.png") {
        let (width, _, known) = pixels(&read(&golden));
        let rows = known.chunks(4 * width as usize).step_by(8);
        let part: Vec<u8> = rows
            .flat_map(|row| row.chunks(4).step_by(8).flatten())
            .copied()
            .collect();
        let shown = mount.file(&format!("tnt/{name}.meta/map_1_8.png"));
        assert!(pixels(&read(&shown)).2 == part, "{name}");
    }
}

#[fuse_test]
fn every_frame_has_the_known_pixels() {
    let Some(mount) = samples() else { return };
    let mut compared = 0;
    for (name, known) in goldens("gaf", ".d") {
        let meta = mount.file(&format!("gaf/{name}.meta"));
        for golden in names(&known) {
            // 000_Name_000.png
            let parts: Vec<&str> = golden.trim_end_matches(".png").split('_').collect();
            let [sequence, title, frame] = parts[..] else {
                panic!("{golden}")
            };
            let frame: usize = frame.parse().unwrap();
            let shown = meta.join(format!("{sequence} {title}/{frame:02}.png"));
            // The independent reader keeps the colors of some transparent
            // pixels.
            let seen = |path: &Path| {
                let (width, height, mut pixels) = pixels(&read(path));
                let transparent = pixels.chunks_mut(4).filter(|pixel| pixel[3] == 0);
                transparent.for_each(|pixel| pixel.fill(0));
                (width, height, pixels)
            };
            assert!(
                seen(&shown) == seen(&known.join(&golden)),
                "{name} {golden}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 11, "{compared}");
}

#[fuse_test]
fn the_table_of_frames_has_the_known_headers() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("gaf", ".json") {
        let known = json(&golden);
        let meta = mount.file(&format!("gaf/{name}.meta"));
        if !meta.join("frames.tsv").exists() {
            let sequences = known["sequences"].as_array().unwrap();
            let has_frames = |one: &Value| !one["frames"].as_array().unwrap().is_empty();
            assert!(!sequences.iter().any(has_frames), "{name}");
            continue;
        }
        let table = String::from_utf8(read(&meta.join("frames.tsv"))).unwrap();
        let mut rows = table.lines().map(|row| row.split('\t').collect::<Vec<_>>());
        let columns = rows.next().unwrap();
        for (number, sequence) in known["sequences"].as_array().unwrap().iter().enumerate() {
            for frame in sequence["frames"].as_array().unwrap() {
                let row: BTreeMap<_, _> =
                    columns.iter().copied().zip(rows.next().unwrap()).collect();
                assert_eq!(row["sequence"], number.to_string(), "{name}");
                assert_eq!(row["name"], sequence["name"], "{name}");
                for (ours, theirs) in [
                    ("width", "width"),
                    ("height", "height"),
                    ("x", "x"),
                    ("y", "y"),
                    ("ticks", "ticks"),
                    ("format", "format"),
                    ("layers", "layers"),
                    ("key", "key"),
                    ("offset", "at"),
                    ("unknown_12", "u12"),
                    ("unknown_20", "u20"),
                ] {
                    assert_eq!(row[ours], frame[theirs].to_string(), "{name}: {ours}");
                }
            }
        }
        assert_eq!(rows.next(), None, "{name}");
    }
}

/// Points, faces (from the point with the lowest number on), lines and single
/// points of an OBJ.
type Shape = (Vec<[f64; 3]>, Vec<Vec<u32>>);

fn shape(text: &str) -> Shape {
    let (mut points, mut elements) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let index = |word: &str| word.split('/').next().unwrap().parse::<u32>().unwrap();
        match kind {
            "v" => {
                let part = |word: Option<&str>| word.unwrap().parse().unwrap();
                points.push([part(words.next()), part(words.next()), part(words.next())]);
            }
            "f" => {
                let mut corners: Vec<u32> = words.map(index).collect();
                let lowest = corners.iter().enumerate().min_by_key(|(_, point)| **point);
                let lowest = lowest.map_or(0, |(number, _)| number);
                corners.rotate_left(lowest);
                elements.push(corners);
            }
            "l" | "p" => elements.push(words.map(index).collect()),
            _ => {}
        }
    }
    // hpimount orders the faces by material.
    elements.sort();
    (points, elements)
}

#[fuse_test]
fn models_have_the_known_vertices_and_faces() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("3do", ".obj") {
        let meta = mount.file(&format!("3do/{name}.meta"));
        let text = |path: &Path| String::from_utf8(read(path)).unwrap();
        let (points, elements) = shape(&text(&meta.join("model.obj")));
        let (known_points, known_elements) = shape(&text(&golden));
        assert_eq!(points, known_points, "{name}");
        assert_eq!(elements, known_elements, "{name}");
    }
}

#[fuse_test]
fn scripts_and_their_facts_are_the_known_ones() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("cob", ".json") {
        let meta = mount.file(&format!("cob/{name}.meta"));
        let (known, info) = (json(&golden), json(&meta.join("info.json")));
        for field in ["version", "statics", "code_words", "scripts", "pieces"] {
            assert_eq!(info[field], known[field], "{name}: {field}");
        }
        assert_eq!(info["strings"], known["sounds"], "{name}");
        assert_eq!(info["compiled_with"], known["banner"], "{name}");
        assert!(!read(&meta.join("script.asm")).is_empty());
    }
}

/// Returns the keys of a section that the game reads, from the list of the
/// independent reader.
fn effective(section: &Value) -> BTreeMap<String, String> {
    let keys = section["keys"].as_array().unwrap().iter();
    let pairs = keys.map(|pair| [0, 1].map(|part| pair[part].as_str().unwrap().to_owned()));
    pairs
        .map(|[key, value]| (key.to_ascii_lowercase(), value))
        .collect()
}

fn check_section(name: &str, shown: &Value, known: &Value) {
    let keys = shown["keys"].as_object().unwrap().iter();
    let keys: BTreeMap<_, _> = keys
        .map(|(key, value)| (key.to_ascii_lowercase(), value.as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(keys, effective(known), "{name}");
    let overridden = shown["overridden"].as_array().map_or(0, Vec::len);
    let all = known["keys"].as_array().unwrap().len();
    assert_eq!(keys.len() + overridden, all, "{name}");
    let sections = |value: &Value| value["sections"].as_array().unwrap().clone();
    let (shown, known) = (sections(shown), sections(known));
    assert_eq!(shown.len(), known.len(), "{name}");
    for (shown, known) in shown.iter().zip(&known) {
        assert_eq!(shown["name"], known["name"], "{name}");
        check_section(name, shown, known);
    }
}

#[fuse_test]
fn texts_have_the_known_sections_and_keys() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("tdf", ".json") {
        let shown = json(&mount.file(&format!("tdf/{name}.meta/info.json")));
        check_section(&name, &shown, &json(&golden));
    }
}

#[fuse_test]
fn maps_and_pictures_have_the_known_facts() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("tnt", ".json") {
        let shown = json(&mount.file(&format!("tnt/{name}.meta/info.json")));
        let known = json(&golden);
        let fields = ["cells", "sea_level", "features_placed", "height_range"];
        for field in fields {
            assert_eq!(shown[field], known[field], "{name}: {field}");
        }
        if !known["feature_sentinels"].is_null() {
            let words = &shown["cells_without_feature"];
            assert_eq!(words, &known["feature_sentinels"], "{name}");
        }
        for field in ["tiles", "pixels", "tile_count"] {
            if !known[field].is_null() {
                assert_eq!(shown[field], known[field], "{name}: {field}");
            }
        }
    }
    for (name, golden) in goldens("pcx", ".json") {
        let shown = json(&mount.file(&format!("pcx/{name}.meta/info.json")));
        let known = json(&golden);
        for (ours, theirs) in [
            ("version", "version"),
            ("encoding", "encoding"),
            ("bits", "bpp"),
            ("planes", "planes"),
            ("width", "width"),
            ("height", "height"),
            ("bytes_per_line", "bytes_per_line"),
        ] {
            assert_eq!(shown[ours], known[theirs], "{name}: {ours}");
        }
        let count = |value: &Value| value["game_issues"].as_array().unwrap().len();
        assert_eq!(count(&shown), count(&known), "{name}");
    }
    let shown = json(&mount.file("smk/one.zrb.meta/info.json"));
    assert_eq!(shown["frames"], 2);
    assert_eq!(
        (&shown["width"], &shown["height"]),
        (&320.into(), &240.into())
    );
    let shown = json(&mount.file("crt/one.crt.meta/info.json"));
    assert_eq!(shown["units"], 1);
}

#[fuse_test]
fn every_sample_matches_the_manifest() {
    let Some(samples) = shared("samples/ta") else {
        return;
    };
    let manifest = json(&samples.join("manifest.json"));
    let mut fixture = testkit::mount::Fixture::new();
    fixture.archive = samples;
    let mount = fixture.mount(&[]);
    let mut wrong = Vec::new();
    for (name, entry) in manifest.as_object().unwrap() {
        let meta = mount.file(&format!("{name}.meta"));
        let error = fs::read_to_string(meta.join("error.txt"));
        let is_odd = || {
            let info = json(&meta.join("info.json"));
            let has = |field: &str| match &info[field] {
                Value::Array(texts) => !texts.is_empty(),
                Value::Number(number) => number.as_u64() != Some(0),
                value => value == true,
            };
            let facts = ["warnings", "game_issues", "has_block_comments", "non_ascii"];
            facts.into_iter().any(has)
        };
        let is_right = match entry["expect"].as_str().unwrap() {
            _ if known::HEALTHY.contains(&name.as_str()) => error.is_err() && !is_odd(),
            "bad" => error.is_ok(),
            "odd" | "bad-frame" => error.is_err() && is_odd(),
            _ => error.is_err() && !is_odd(),
        };
        if !is_right {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[fuse_test]
fn other_programs_read_the_files_of_the_samples() {
    if let Some(mount) = samples() {
        other_programs_read(mount.path());
    }
}
