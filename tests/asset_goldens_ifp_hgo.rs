//! What the views tell about the IFP and HGO samples is what is known of them.

mod support;

use std::fs;
use std::path::Path;

use hpimount::view::{Failure, VIEW_FORMATS, View};
use serde_json::{Value, json};
use support::facts::differences;
use support::shared;

/// Opens a sample as the mount does, by its name.
fn open(sample: &Path) -> Result<Box<dyn View>, Box<Failure>> {
    let name = sample.file_name().unwrap().as_encoded_bytes();
    let mut formats = VIEW_FORMATS.iter();
    let format = formats.find(|format| format.shows(name)).unwrap();
    (format.open)(&fs::read(sample).unwrap())
}

fn rendered(view: &dyn View, name: &str) -> String {
    let index = view.files().iter().position(|file| file.name == name);
    String::from_utf8(view.render(index.unwrap())).unwrap()
}

/// The samples in a folder, each with what is known of it.
fn samples(folder: &str) -> Vec<(std::path::PathBuf, Value)> {
    let (Some(samples), Some(goldens)) = (
        shared(&format!("samples/{folder}")),
        shared(&format!("golden/{folder}")),
    ) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(samples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let golden = fs::read(goldens.join(format!("{name}.json"))).unwrap();
        found.push((path.clone(), serde_json::from_slice(&golden).unwrap()));
    }
    assert!(!found.is_empty());
    found
}

/// Every hexadecimal number that a text names.
fn offsets(text: &str) -> Vec<&str> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with("0x")).collect()
}

/// Takes the warnings out of what is known and of ours, and compares them: our
/// words are others, but there are as many, and each names the same offsets.
fn compare_warnings(known: &mut Value, ours: &mut Value) -> Vec<String> {
    let take = |facts: &mut Value| -> Vec<String> {
        let warnings = facts.as_object_mut().unwrap().remove("warnings").unwrap();
        serde_json::from_value(warnings).unwrap()
    };
    let (known, ours) = (take(known), take(ours));
    let mut found = Vec::new();
    if known.len() != ours.len() {
        found.push(format!("warnings: {known:?} are known, ours are {ours:?}"));
    }
    for (known, ours) in known.iter().zip(&ours) {
        let named = offsets(ours);
        if !offsets(known).iter().all(|offset| named.contains(offset)) {
            found.push(format!("warnings: {known:?} is known, ours is {ours:?}"));
        }
    }
    found
}

/// Compares all good samples of a folder with what is known of them, after
/// `adapt` has taken out of that what is meant differently.
fn compare(folder: &str, adapt: impl Fn(&mut Value)) {
    let mut found = Vec::new();
    for (path, mut known) in samples(folder) {
        if known.get("error").is_some() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let view = open(&path).unwrap_or_else(|failure| panic!("{name}: {}", failure.error));
        let mut ours: Value = serde_json::from_str(&rendered(&*view, "info.json")).unwrap();
        if known.is_array() {
            // A block table is known as a bare list.
            known = json!({"blocks": known, "warnings": []});
        }
        adapt(&mut known);
        let mut here = compare_warnings(&mut known, &mut ours);
        here.extend(differences(&known, &ours));
        found.extend(here.iter().map(|line| format!("{name}: {line}")));
    }
    let shown = &found[..found.len().min(50)];
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        shown.join("\n")
    );
}

/// Where `anpk_zero_markers.ifp` has its zeroed tags.
const ZERO_MARKERS: [u64; 16] = [
    0x8, 0x30, 0x40, 0x48, 0x124, 0x12c, 0x1a4, 0x1ac, 0x240, 0x248, 0x290, 0x2a0, 0x2a8, 0x328,
    0x330, 0x3d8,
];

fn is_marker(warning: &Value) -> bool {
    warning
        .as_str()
        .is_some_and(|text| text.starts_with("marker"))
}

#[test]
fn the_facts_of_every_ifp_sample_are_the_known_ones() {
    let adapt = |known: &mut Value| {
        // Zeroed tags were reported there at the end of their section's body
        // less 8; here, at the tag.
        if let Some(warnings) = known["warnings"].as_array_mut() {
            for (warning, tag) in warnings
                .iter_mut()
                .filter(|w| is_marker(w))
                .zip(ZERO_MARKERS)
            {
                *warning = json!(format!("section tag at {tag:#x}"));
            }
        }
        // The packages of a list have warnings of their own there; here all
        // warnings of a file are in one place.
        for package in known
            .get_mut("packages")
            .iter_mut()
            .flat_map(|p| p.as_array_mut().unwrap())
        {
            let warnings = package.as_object_mut().unwrap().remove("warnings");
            assert_eq!(warnings, Some(json!([])));
        }
    };
    compare("ifp/generated", adapt);
    compare("ifp/real", adapt);
}

#[test]
fn the_facts_of_every_hgo_sample_are_the_known_ones() {
    compare("hgo/generated", |_| {});
}

#[test]
fn damaged_samples_are_errors_at_the_right_byte_and_show_what_was_read() {
    // The offsets are those of the damage; where what is known names one, it
    // is the same.
    let expected = [
        (
            "bad_anim_count.ifp",
            "animation count at 0x20: ",
            "name",
            json!("ped"),
        ),
        (
            "bad_anpk_truncated.ifp",
            "frame count at 0x6c: ",
            "name",
            json!("ped"),
        ),
        (
            "bad_frame_count.ifp",
            "frame count at 0x64: ",
            "name",
            json!("ped"),
        ),
        (
            "bad_frame_type.ifp",
            "frame type at 0x60: is 9",
            "format",
            json!("ANP3"),
        ),
        (
            "bad_magic.ifp",
            "magic at 0x0: is \"ANP4\"",
            "file_size",
            json!(770),
        ),
        (
            "bad_truncated.ifp",
            "object count at 0x172: ",
            "declared_size",
            json!(762),
        ),
        (
            "bad_chunk_size.hgo",
            "block NTBL at 0x8: its size is 3",
            "declared_size",
            json!(3496),
        ),
        (
            "bad_magic.hgo",
            "magic at 0x0: is \"FOGX\"",
            "file_size",
            json!(3493),
        ),
        (
            "bad_material_count.hgo",
            "material count at 0x1bc: ",
            "materials",
            json!([]),
        ),
        (
            "bad_texture_len.hgo",
            "texture data at 0x84: needs 268435456 bytes",
            "textures",
            json!([]),
        ),
        (
            "bad_truncated.hgo",
            "mesh count at 0x6bf: ",
            "poi_index",
            json!([0, 255]),
        ),
    ];
    let mut all = samples("ifp/generated");
    all.extend(samples("hgo/generated"));
    all.retain(|(_, known)| known.get("error").is_some());
    if all.is_empty() {
        return;
    }
    assert_eq!(all.len(), expected.len());
    for (path, known) in all {
        let name = path.file_name().unwrap().to_str().unwrap();
        let (_, start, key, fact) = expected.iter().find(|case| case.0 == name).unwrap();
        let Failure { error, partial } = *open(&path).err().unwrap();
        let error = error.to_string();
        assert!(error.starts_with(start), "{name}: {error}");
        assert_eq!(partial[key], *fact, "{name}");
        for offset in offsets(known["error"].as_str().unwrap()) {
            // The limit that a known error adds is no place of the damage.
            assert!(
                error.contains(offset) || offset == "0xc4",
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn a_truncated_model_keeps_the_parts_that_were_read() {
    let Some(path) = shared("samples/hgo/generated/bad_truncated.hgo") else {
        return;
    };
    let whole = open(&path.with_file_name("crash_like.hgo")).ok().unwrap();
    let whole: Value = serde_json::from_str(&rendered(&*whole, "info.json")).unwrap();
    let partial = open(&path).err().unwrap().partial;
    for list in [
        "textures",
        "materials",
        "texture_animations",
        "joints",
        "joint_index",
    ] {
        assert_eq!(partial[list], whole[list], "{list}");
    }
    let (known, ours) = (&whole["layers"][0], &partial["layers"][0]);
    assert_eq!(ours["rigid"]["1"], known["rigid"]["1"]);
    assert_eq!(ours["name"], "LAYER_HIGH");
}

#[test]
fn the_tables_have_exactly_the_promised_columns() {
    let cases = [
        (
            "samples/ifp/generated/anp3_types1to4.ifp",
            "animations.tsv",
            "index name objects frames duration_s root_motion key_types",
            "0 run 3 6 0.16666667 true 3,4",
        ),
        (
            "samples/ifp/generated/anpk_mixed.ifp",
            "animations.tsv",
            "index name objects frames duration_s root_motion key_types",
            "0 walk 4 5 0.133333 true KR00,KRT0,KRTS",
        ),
        (
            "samples/hgo/generated/crash_like.hgo",
            "layers.tsv",
            "name slot joint meshes vertices triangles skinned blend_shapes",
            "LAYER_HIGH rigid 1 1 4 2 false 0",
        ),
    ];
    for (sample, table, columns, first) in cases {
        let Some(path) = shared(sample) else { return };
        let text = rendered(&*open(&path).ok().unwrap(), table).replace('\t', " ");
        let lines: Vec<_> = text.lines().take(2).collect();
        assert_eq!(lines, [columns, first], "{sample}");
    }
}

#[test]
fn a_rotation_is_that_of_the_running_game_in_both_layouts() {
    // Both samples hold a turn about z by 0.2 per key; ANPK stores it inverse.
    for sample in ["anpk_mixed.ifp", "anp3_types1to4.ifp"] {
        let Some(path) = shared(&format!("samples/ifp/generated/{sample}")) else {
            return;
        };
        let view = open(&path).ok().unwrap();
        let files = view.files();
        let index = files
            .iter()
            .position(|file| file.folder == Some("animations"));
        let keys: Value = serde_json::from_slice(&view.render(index.unwrap())).unwrap();
        let z = keys["objects"][0]["keys"][1]["rotation"][2]
            .as_f64()
            .unwrap();
        assert!((z - 0.1_f64.sin()).abs() < 1e-3, "{sample}: {z}");
    }
}

#[test]
fn the_keys_of_a_real_package_are_all_there() {
    let Some(path) = shared("samples/ifp/real/SCR_Anime_anims_arena.ifp") else {
        return;
    };
    let view = open(&path).ok().unwrap();
    let info: Value = serde_json::from_str(&rendered(&*view, "info.json")).unwrap();
    let files = view.files();
    let start = files.iter().position(|file| file.folder.is_some()).unwrap();
    for (index, animation) in info["animations"].as_array().unwrap().iter().enumerate() {
        let keys: Value = serde_json::from_slice(&view.render(start + index)).unwrap();
        assert_eq!(keys["name"], animation["name"]);
        let known = animation["objects"].as_array().unwrap().iter();
        for (known, ours) in known.zip(keys["objects"].as_array().unwrap()) {
            let count = ours["keys"].as_array().unwrap().len();
            assert_eq!(known["frames"].as_u64(), Some(count as u64));
        }
    }
    assert_eq!(
        files.len(),
        start + info["animations"].as_array().unwrap().len()
    );
}
