//! The views of the IFP and HGO samples match the known contents.

use crate::assets::samples::{Sample, damage, offsets, rendered, samples};
use hpimount_assets::view::View;
use serde_json::{Value, json};
use testkit::views::rendering;

/// Returns the sample with this name.
fn sample(folder: &str, name: &str) -> Option<Sample> {
    samples(folder)
        .into_iter()
        .find(|sample| sample.name == name)
}

/// Returns the view of a sample, if the samples are available.
fn view(folder: &str, name: &str) -> Option<Box<dyn View>> {
    Some(sample(folder, name)?.open())
}

#[test]
fn every_ifp_and_hgo_sample_has_the_known_facts() {
    let folders = ["ifp/generated", "ifp/real", "hgo/generated"];
    let mut found = Vec::new();
    for sample in folders.into_iter().flat_map(samples) {
        if !sample.is_damaged() {
            let view = sample.open();
            found.extend(sample.differences(rendered(&*view, "info.json").as_bytes()));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn damaged_samples_are_errors_at_the_right_byte_and_keep_the_part_before() {
    let kept = [
        ("bad_anim_count.ifp", "name", json!("ped")),
        ("bad_anpk_truncated.ifp", "name", json!("ped")),
        ("bad_frame_count.ifp", "name", json!("ped")),
        ("bad_frame_type.ifp", "format", json!("ANP3")),
        ("bad_magic.ifp", "file_size", json!(770)),
        ("bad_truncated.ifp", "declared_size", json!(762)),
        ("bad_chunk_size.hgo", "declared_size", json!(3496)),
        ("bad_magic.hgo", "file_size", json!(3493)),
        ("bad_material_count.hgo", "materials", json!([])),
        ("bad_texture_len.hgo", "textures", json!([])),
        ("bad_truncated.hgo", "poi_index", json!([0, 255])),
    ];
    let mut all = samples("ifp/generated");
    all.extend(samples("hgo/generated"));
    all.retain(Sample::is_damaged);
    if all.is_empty() {
        return;
    }
    assert_eq!(all.len(), kept.len());
    for sample in all {
        let name = sample.name.as_str();
        let (_, key, fact) = kept.iter().find(|case| case.0 == name).unwrap();
        let (error, partial) = sample.damage();
        assert!(error.starts_with(damage(name)), "{name}: {error}");
        assert_eq!(partial[key], *fact, "{name}");
        for offset in offsets(sample.known["error"].as_str().unwrap()) {
            // A limit in the known error, not the position of the damage.
            assert!(
                error.contains(offset) || offset == "0xc4",
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn a_truncated_model_keeps_the_parts_that_were_read() {
    let folder = "hgo/generated";
    let Some(whole) = view(folder, "crash_like.hgo") else {
        return;
    };
    let whole: Value = serde_json::from_str(&rendered(&*whole, "info.json")).unwrap();
    let cut = sample(folder, "bad_truncated.hgo").unwrap();
    let (_, partial) = cut.damage();
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
            "ifp/generated",
            "anp3_types1to4.ifp",
            "animations.tsv",
            "index name objects frames duration_s root_motion key_types",
            "0 run 3 6 0.16666667 true 3,4",
        ),
        (
            "ifp/generated",
            "anpk_mixed.ifp",
            "animations.tsv",
            "index name objects frames duration_s root_motion key_types",
            "0 walk 4 5 0.133333 true KR00,KRT0,KRTS",
        ),
        (
            "hgo/generated",
            "crash_like.hgo",
            "layers.tsv",
            "name slot joint meshes vertices triangles skinned blend_shapes",
            "LAYER_HIGH rigid 1 1 4 2 false 0",
        ),
    ];
    for (folder, name, table, columns, first) in cases {
        let Some(view) = view(folder, name) else {
            return;
        };
        let text = rendered(&*view, table).replace('\t', " ");
        let lines: Vec<_> = text.lines().take(2).collect();
        assert_eq!(lines, [columns, first], "{name}");
    }
}

#[test]
fn both_layouts_rotate_as_the_running_game_does() {
    // Both samples rotate about z by 0.2 per key; ANPK stores the inverse.
    for sample in ["anpk_mixed.ifp", "anp3_types1to4.ifp"] {
        let Some(view) = view("ifp/generated", sample) else {
            return;
        };
        let files = view.files();
        let index = files
            .iter()
            .position(|file| file.folder.as_deref() == Some("animations"));
        let keys: Value = serde_json::from_slice(&rendering(&*view, index.unwrap())).unwrap();
        let z = keys["objects"][0]["keys"][1]["rotation"][2]
            .as_f64()
            .unwrap();
        assert!((z - 0.1_f64.sin()).abs() < 1e-3, "{sample}: {z}");
    }
}

#[test]
fn all_keys_of_a_real_package_are_shown() {
    let Some(view) = view("ifp/real", "SCR_Anime_anims_arena.ifp") else {
        return;
    };
    let info: Value = serde_json::from_str(&rendered(&*view, "info.json")).unwrap();
    let files = view.files();
    let start = files.iter().position(|file| file.folder.is_some()).unwrap();
    for (index, animation) in info["animations"].as_array().unwrap().iter().enumerate() {
        let keys: Value = serde_json::from_slice(&rendering(&*view, start + index)).unwrap();
        assert_eq!(keys["name"], animation["name"]);
        let known = animation["objects"].as_array().unwrap().iter();
        for (known, ours) in known.zip(keys["objects"].as_array().unwrap()) {
            let count = ours["keys"].as_array().unwrap().len();
            assert_eq!(known["frames"].as_u64(), Some(count as u64));
        }
    }
    // Each animation is also shown as a package.
    let animations = info["animations"].as_array().unwrap().len();
    let shown = files.iter().filter(|file| file.folder.is_some());
    assert_eq!(shown.count(), 2 * animations);
}
