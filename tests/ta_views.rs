//! What a mount shows of the assets of Total Annihilation: pictures pixel by
//! pixel, models vertex by vertex and facts field by field as the independent
//! readers have them, and the same of assets that the tests make.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::gltf;
use support::mount::{Mount, can_mount, has_programs};
use support::pictures::pixels;
use support::shared;
use support::sources::{folder, names};
use support::ta::{bmp, cob, gaf, pcx, tdf, tdo, tnt};

/// Returns a mount of the samples, if there are some, with the shades of grey
/// as its palette, in which the independent readers show pictures.
fn samples() -> Option<Mount> {
    let samples = shared("samples/ta")?;
    can_mount().then(|| {
        folder(|source| {
            let grey = (0..=255).flat_map(|shade| [shade, shade, shade, 0]);
            fs::create_dir(source.join("palettes")).unwrap();
            fs::write(
                source.join("palettes/palette.pal"),
                grey.collect::<Vec<u8>>(),
            )
            .unwrap();
            for kind in names(&samples) {
                let from = samples.join(&kind);
                if from.is_dir() {
                    fs::create_dir(source.join(&kind)).unwrap();
                    for name in names(&from) {
                        if from.join(&name).is_file() {
                            fs::copy(from.join(&name), source.join(&kind).join(&name)).unwrap();
                        }
                    }
                }
            }
        })
        .mount(&[])
    })
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&read(path)).unwrap()
}

/// Returns the goldens of a kind whose names end so, with what is in front of
/// that.
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

#[test]
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

#[test]
fn a_minimap_is_cut_to_the_part_that_is_used() {
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

#[test]
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

#[test]
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
            // The independent reader keeps the colours of some transparent
            // pixels, which nobody sees.
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

#[test]
fn the_table_of_frames_has_the_known_headers() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("gaf", ".json") {
        let known = json(&golden);
        let meta = mount.file(&format!("gaf/{name}.meta"));
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

/// Points, faces (as triangles of points), lines and single points of an OBJ.
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
                // Triangles around the first corner.
                let corners: Vec<u32> = words.map(index).collect();
                let triangles =
                    (1..corners.len() - 1).map(|k| vec![corners[0], corners[k], corners[k + 1]]);
                elements.extend(triangles);
            }
            "l" | "p" => elements.push(words.map(index).collect()),
            _ => {}
        }
    }
    // Here the triangles of a material follow each other.
    elements.sort();
    (points, elements)
}

#[test]
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

#[test]
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

/// Returns what the game reads of a section, as the independent reader lists
/// it.
fn counting(section: &Value) -> BTreeMap<String, String> {
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
    assert_eq!(keys, counting(known), "{name}");
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

#[test]
fn texts_have_the_known_sections_and_keys() {
    let Some(mount) = samples() else { return };
    for (name, golden) in goldens("tdf", ".json") {
        let shown = json(&mount.file(&format!("tdf/{name}.meta/info.json")));
        check_section(&name, &shown, &json(&golden));
    }
}

#[test]
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

#[test]
fn every_sample_shows_what_the_manifest_says() {
    let (Some(samples), true) = (shared("samples/ta"), can_mount()) else {
        return;
    };
    let manifest = json(&samples.join("manifest.json"));
    let mut fixture = support::mount::Fixture::new();
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

/// Returns a model with a textured face, a piece that its script spells
/// otherwise, and a texture that nobody has.
fn model() -> Vec<u8> {
    let one = 65536;
    let mut root = tdo::object("BASE");
    root.vertices = vec![
        [-one, one, -one],
        [one, one, -one],
        [one, 0, -one],
        [-one, 0, -one],
    ];
    let textured = |name: &str| tdo::Primitive {
        texture: Some(name.to_owned()),
        ..tdo::primitive(&[0, 1, 2, 3])
    };
    root.primitives = vec![textured("wall"), textured("ARMlogo"), textured("nowhere")];
    root.children = vec![tdo::object("GUN")];
    tdo::file(&root)
}

fn sprite(name: &str, frames: &[(u16, u8)]) -> gaf::Sequence {
    let frame = |&(width, index): &(u16, u8)| {
        let pixels = vec![Some(index); 2 * usize::from(width)];
        (gaf::Frame::rle(width, 2, &pixels), 0)
    };
    gaf::sequence(name, frames.iter().map(frame).collect())
}

/// The files of a small game.
fn game(source: &Path) {
    let write = |path: &str, bytes: Vec<u8>| {
        let path = source.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("objects3d/TANK.3do", model());
    write("scripts/TANK.cob", cob::small(4).file());
    write(
        "textures/walls.gaf",
        gaf::file(&[sprite("Wall", &[(4, 7)])]),
    );
    let logos = [sprite("armLOGO", &[(2, 20); 10])];
    write("textures/LOGOS.GAF", gaf::file(&logos));
    let walk = [sprite("walk", &[(4, 7), (2, 9), (3, 8)])];
    write("anims/tank.gaf", gaf::file(&walk));
    let picture = pcx::Pcx::indexed(2, 1, vec![1, 2]);
    write("bitmaps/two.pcx", picture.file());
    let picture = bmp::Bmp {
        width: 2,
        height: 2,
        bits: 8,
        colors: vec![[255, 0, 0], [0, 255, 0]],
        rows: vec![0, 1, 0, 0, 1, 1, 0, 0],
    };
    write("unitpics/two.bmp", picture.file());
    write(
        "palettes/light.lht",
        [vec![7; 256], vec![0; 31 * 256]].concat(),
    );
    let mut sound = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0".to_vec();
    sound.extend(b"\x11\x2b\0\0\x22\x56\0\0\x02\0\x08\0data\x04\0\0\0abcd");
    write("sounds/shot.wav", sound);
    write("maps/small.tnt", tnt::Map::small().file(0x2000));
    let keys = vec![tdf::key("x", "1"), tdf::key("X", "2")];
    write("gamedata/a.tdf", tdf::file(&[tdf::section("A", keys)]));
    // Blue at index 7.
    let mut palette = vec![0; 1024];
    palette[4 * 7 + 2] = 255;
    write("palettes/palette.pal", palette);
}

fn small_game() -> Option<Mount> {
    can_mount().then(|| folder(game).mount(&[]))
}

#[test]
fn the_palette_of_the_mount_colors_sprites() {
    let Some(mount) = small_game() else { return };
    let meta = mount.file("anims/tank.gaf.meta");
    let shown = pixels(&read(&meta.join("000 walk/00.png")));
    assert_eq!(shown, (4, 2, [0, 0, 255, 255].repeat(8)));
    let source = json(&meta.join("info.json"))["palette"].clone();
    assert!(
        source.as_str().unwrap().ends_with("palettes/palette.pal"),
        "{source}"
    );
}

#[test]
fn pictures_of_units_and_blend_tables_are_shown() {
    let Some(mount) = small_game() else { return };
    let shown = pixels(&read(&mount.file("unitpics/two.bmp.meta/picture.png")));
    let (red, green) = ([255, 0, 0, 255], [0, 255, 0, 255]);
    assert_eq!(shown, (2, 2, [green, green, red, green].concat()));
    let (width, height, colors) = pixels(&read(&mount.file("palettes/light.lht.meta/table.png")));
    assert_eq!((width, height), (256, 32));
    // The table has colour 7 of the mount's palette in its first row.
    assert!(
        colors[..1024]
            .chunks(4)
            .all(|color| color == [0, 0, 255, 255])
    );
}

#[test]
fn the_facts_of_sounds_are_told() {
    let Some(mount) = small_game() else { return };
    let info = json(&mount.file("sounds/shot.wav.meta/info.json"));
    for (field, value) in [
        ("channels", 2),
        ("rate", 11025),
        ("bits", 8),
        ("samples", 2),
    ] {
        assert_eq!(info[field], value, "{field}");
    }
}

#[test]
fn textures_are_found_by_sequence_and_say_where() {
    let Some(mount) = small_game() else { return };
    let meta = mount.file("objects3d/TANK.3do.meta");
    let table = String::from_utf8(read(&meta.join("textures.tsv"))).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[1][0], "wall");
    assert!(rows[1][2].ends_with("textures/walls.gaf"), "{table}");
    assert_eq!((rows[1][3], rows[1][4]), ("0", "false"));
    assert!(
        rows[2][2].ends_with("LOGOS.GAF") && rows[2][4] == "true",
        "{table}"
    );
    assert_eq!(rows[3][..3], ["nowhere", "1", ""]);
    let textures = meta.join("textures");
    assert_eq!(
        names(&textures),
        ["00 wall.png", "01 ARMlogo.png", "02 nowhere.png"]
    );
    let wall = pixels(&read(&textures.join("00 wall.png")));
    assert_eq!(wall, (4, 2, [0, 0, 255, 255].repeat(8)));
    let materials = String::from_utf8(read(&meta.join("model.mtl"))).unwrap();
    assert!(materials.contains("textures/00 wall.png"), "{materials}");
    assert!(
        materials.contains("newmtl nowhere_(missing)"),
        "{materials}"
    );
}

#[test]
fn pieces_have_the_names_of_the_script() {
    let Some(mount) = small_game() else { return };
    let script = json(&mount.file("scripts/TANK.cob.meta/info.json"));
    let pieces: Vec<&str> = script["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| piece.as_str().unwrap())
        .collect();
    let glb = read(&mount.file("objects3d/TANK.3do.meta/model.glb"));
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let scene: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    for piece in pieces {
        let known = ["base", "gun"].contains(&piece.to_ascii_lowercase().as_str());
        let nodes = scene["nodes"].as_array().unwrap();
        let is_node = nodes.iter().any(|node| node["name"] == piece);
        assert_eq!(is_node, known, "{piece}: {scene}");
        let warning = format!("piece \"{piece}\" is not in objects3d/TANK.3do");
        let warnings = script["warnings"].as_array().unwrap();
        assert_eq!(warnings.contains(&warning.into()), !known, "{piece}");
    }
}

#[test]
fn a_preview_is_the_same_to_the_byte() {
    let (Some(first), Some(second)) = (small_game(), small_game()) else {
        return;
    };
    for path in ["objects3d/TANK.3do.meta", "anims/tank.gaf.meta"] {
        let path = format!("{path}/preview.png");
        let [a, b] = [&first, &second].map(|mount| read(&mount.file(&path)));
        assert_eq!(a, b, "{path}");
        let (width, height, pixels) = pixels(&a);
        assert_eq!((width, height), (256, 256));
        let mut alphas = pixels.chunks(4).map(|pixel| pixel[3]);
        assert!(alphas.clone().any(|alpha| alpha == 255) && alphas.any(|alpha| alpha == 0));
    }
}

#[test]
fn the_last_of_equal_keys_counts_and_the_others_are_told() {
    let Some(mount) = small_game() else { return };
    let info = json(&mount.file("gamedata/a.tdf.meta/info.json"));
    let section = &info["sections"][0];
    assert_eq!(section["keys"], serde_json::json!({"X": "2"}));
    assert_eq!(section["overridden"], serde_json::json!([["x", "1"]]));
}

/// All files below a folder whose names end so.
fn all(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            all(&path, end, found);
        } else if name.ends_with(end) {
            found.push(path);
        }
    }
}

#[test]
fn other_programs_read_what_is_written() {
    for mount in [small_game(), samples()].into_iter().flatten() {
        let run = |program: &str, arguments: &[&str], path: &Path| {
            let mut command = Command::new(program);
            let output = command.args(arguments).arg(path).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{}: {text}", path.display());
            text
        };
        if has_programs(&["pngcheck"]) {
            let mut pictures = Vec::new();
            all(mount.path(), ".png", &mut pictures);
            assert!(pictures.len() > 10);
            for picture in pictures {
                run("pngcheck", &["-q"], &picture);
            }
        }
        if has_programs(&["assimp"]) {
            let mut models = Vec::new();
            all(mount.path(), ".glb", &mut models);
            for model in &models {
                run("assimp", &["info"], model);
            }
            gltf::validate(&models);
        }
        if has_programs(&["ffprobe"]) {
            let mut animations = Vec::new();
            all(mount.path(), ".apng", &mut animations);
            let options = ["-v", "error", "-of", "csv=p=0", "-f", "apng"];
            let entries = ["-show_entries", "packet=duration_time"];
            let arguments = [&options[..], &entries[..]].concat();
            for animation in animations {
                let durations = run("ffprobe", &arguments, &animation);
                let durations = durations.lines().map(|line| line.parse::<f64>().unwrap());
                let known = ticks(&animation);
                assert_eq!(durations.clone().count(), known.len());
                for (duration, ticks) in durations.zip(known) {
                    let expected = f64::from(ticks) / 30.0;
                    assert!((duration - expected).abs() < 0.001, "{duration} {ticks}");
                }
            }
        }
    }
}

/// Returns how long each frame of an animation is shown, in 1/30 s, as
/// `frames.tsv` has it; no ticks are one.
fn ticks(animation: &Path) -> Vec<u32> {
    let name = animation.file_name().unwrap().to_str().unwrap();
    let number: usize = name[..3].parse().unwrap();
    let table = String::from_utf8(read(&animation.with_file_name("frames.tsv"))).unwrap();
    let rows = table
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect::<Vec<_>>());
    let rows = rows.filter(|row| row[0] == number.to_string());
    rows.map(|row| row[7].parse::<u32>().unwrap().max(1))
        .collect()
}

#[test]
fn an_animation_has_a_frame_for_each_picture() {
    let Some(mount) = small_game() else { return };
    let bytes = read(&mount.file("anims/tank.gaf.meta/000 walk.apng"));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes))
        .read_info()
        .unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 3);
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    for _ in 0..3 {
        reader.next_frame(&mut buffer).unwrap();
        let control = reader.info().frame_control.unwrap();
        // No ticks are one.
        assert_eq!((control.delay_num, control.delay_den), (1, 30));
    }
}
