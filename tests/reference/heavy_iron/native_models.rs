//! Models of every console and their animations, compared with the results of
//! independent readers.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value as Json;

use crate::heavy_iron::samples::text;
use crate::player::Player;
use crate::shared;
use hpimount_heavy_iron::model::{self, Model};
use hpimount_heavy_iron::tables::parse_animation;
use hpimount_heavy_iron::{Facts, Game, Platform};
use hpimount_renderware::clump::{Geometry, Mesh};
use testkit::fuse_test;
use testkit::gltf::{list, scene, validate};
use testkit::mounted::mounted_files;
use testkit::shown::{built, rows};
use testkit::sources::json;

const SAMPLES: &str = "samples/hip_assets2";

/// Returns the samples of a folder: their names, whether they are whole, and
/// the results of the reader.
pub(super) fn samples(folder: &str) -> Vec<(String, String, Bytes, Json)> {
    let Some(samples) = shared(SAMPLES) else {
        return Vec::new();
    };
    let read = |path: &str| std::fs::read(shared(path).unwrap()).unwrap();
    let manifest = std::fs::read(samples.join("manifest.json")).unwrap();
    let manifest: Json = serde_json::from_slice(&manifest).unwrap();
    let files = manifest["files"].as_array().unwrap().iter();
    files
        .map(|file| (text(&file["file"]), text(&file["expect"])))
        .filter(|(name, _)| name.starts_with(folder) && name.contains('/'))
        .map(|(name, expect)| {
            let bytes = read(&format!("{SAMPLES}/{name}")).into();
            let golden = read(&format!("golden/hip_assets2/{name}.json"));
            let golden = serde_json::from_slice(&golden).unwrap();
            (name.to_owned(), expect.to_owned(), bytes, golden)
        })
        .collect()
}

fn near(ours: f32, known: &Json) -> bool {
    let known = known.as_f64().unwrap();
    (f64::from(ours) - known).abs() <= 1e-4 * known.abs().max(1.0)
}

/// Asserts that vectors of vertices equal the reader's.
fn check_vectors<const N: usize>(shown: &str, ours: &[[f32; N]], known: &Json) {
    let known = known.as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(ours.len(), known.len(), "{shown}");
    for (ours, known) in ours.iter().zip(known) {
        let parts = ours.iter().zip(known.as_array().unwrap());
        assert!(parts.clone().count() == N, "{shown}");
        assert!(
            parts.into_iter().all(|(ours, known)| near(*ours, known)),
            "{shown}: {ours:?} should be {known}"
        );
    }
}

/// A triangle with its least corner first, and its material.
type Face = (u64, [u64; 3]);

fn turned(material: u64, [a, b, c]: [u64; 3]) -> Face {
    let turns = [[a, b, c], [b, c, a], [c, a, b]];
    (material, turns.into_iter().min().unwrap())
}

fn faces(mesh: &Mesh) -> Vec<Face> {
    let parts = mesh.parts.iter();
    let mut faces: Vec<_> = parts
        .flat_map(|part| {
            let triangles = part.triangles.iter();
            triangles.map(|triangle| turned(part.material.into(), triangle.map(u64::from)))
        })
        .collect();
    faces.sort_unstable();
    faces
}

fn known_faces(known: &Json) -> Vec<Face> {
    let faces = known.as_array().unwrap().iter();
    let mut faces: Vec<_> = faces
        .map(|face| {
            let part = |index: usize| face[index].as_u64().unwrap();
            turned(part(0), [part(1), part(2), part(3)])
        })
        .collect();
    faces.sort_unstable();
    faces
}

pub(super) fn check_mesh(shown: &str, mesh: &Mesh, known: &Json) {
    check_vectors(shown, &mesh.positions, &known["position"]);
    check_vectors(shown, &mesh.normals, &known["normal"]);
    let colors: Vec<_> = mesh.colors.iter().map(|one| one.map(f32::from)).collect();
    check_vectors(shown, &colors, &known["color"]);
    let uv = |set: usize| mesh.uvs.get(set).map_or(&[][..], Vec::as_slice);
    check_vectors(shown, uv(0), &known["uv0"]);
    check_vectors(shown, uv(1), &known["uv1"]);
    assert_eq!(faces(mesh), known_faces(&known["faces"]), "{shown}");
}

fn check_geometry(shown: &str, geometry: &Geometry, known: &Json) {
    let mesh = geometry.mesh().unwrap_or_else(|| panic!("{shown}"));
    check_mesh(shown, &mesh, known);
    let Some(skin) = known["skin"].as_object() else {
        return;
    };
    let ours = geometry.skin.as_ref().unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(Some(ours.bones.into()), skin["bones"].as_u64(), "{shown}");
    let influences = geometry.influences();
    let known: Vec<_> = skin["indices"]
        .as_array()
        .unwrap()
        .iter()
        .zip(skin["weights"].as_array().unwrap())
        .collect();
    assert_eq!(influences.len(), known.len(), "{shown}");
    for ((bones, weights), (known_bones, known_weights)) in influences.into_iter().zip(known) {
        let mut ours = BTreeMap::new();
        let shares = bones.into_iter().zip(weights);
        shares
            .filter(|(_, weight)| *weight != 0.0)
            .for_each(|(bone, weight)| *ours.entry(u64::from(bone)).or_insert(0.0) += weight);
        let known = known_bones.as_array().unwrap().iter();
        let known = known.zip(known_weights.as_array().unwrap());
        let known: Vec<_> = known
            .filter(|(_, weight)| weight.as_f64() != Some(0.0))
            .map(|(bone, weight)| (bone.as_u64().unwrap(), weight))
            .collect();
        assert_eq!(ours.len(), known.len(), "{shown}: {ours:?}, {known:?}");
        assert!(
            known.iter().all(|(bone, weight)| near(ours[bone], weight)),
            "{shown}"
        );
    }
}

/// Returns a model, or the text of its error.
fn parsed(bytes: &Bytes) -> Result<Model, String> {
    model::parse(bytes).map_err(|incomplete| incomplete.error.to_string())
}

#[test]
fn native_models_have_the_vertices_triangles_and_weights_of_the_independent_reader() {
    let mut seen = 0;
    for (name, expect, bytes, known) in samples("model/") {
        let read = parsed(&bytes);
        if expect == "bad" {
            let is_refused = match &read {
                Ok(model) => !model.warnings.is_empty(),
                Err(_) => true,
            };
            assert!(is_refused, "{name}: {read:?}");
            continue;
        }
        let model = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        let clumps = known["clumps"].as_array().unwrap();
        assert_eq!(model.clumps.len(), clumps.len(), "{name}");
        for (clump, known) in model.clumps.iter().zip(clumps) {
            let known = known["geometries"].as_array().unwrap();
            assert_eq!(clump.geometries.len(), known.len(), "{name}");
            for (geometry, known) in clump.geometries.iter().zip(known) {
                check_geometry(&name, geometry, known);
                seen += 1;
            }
        }
    }
    assert!(seen >= 20 || shared(SAMPLES).is_none(), "{seen}");
}

#[test]
fn a_model_has_the_same_triangles_on_every_console() {
    let mut meshes = Vec::new();
    for (name, _, bytes, _) in samples("model/good_figure") {
        let model = parsed(&bytes).unwrap();
        let mesh = model.clumps[0].geometries[0].mesh().unwrap();
        let triangles = mesh.parts.iter().flat_map(|part| &part.triangles);
        let mut triangles: Vec<_> = triangles
            .map(|triangle| {
                let [a, b, c] = triangle.map(|corner| {
                    mesh.positions[corner as usize].map(|part| (part * 1e3).round() as i32)
                });
                [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap()
            })
            .collect();
        triangles.sort_unstable();
        meshes.push((name, triangles));
    }
    for pair in meshes.windows(2) {
        assert_eq!(pair[0].1, pair[1].1, "{} and {}", pair[0].0, pair[1].0);
    }
    assert!(meshes.len() >= 6 || shared(SAMPLES).is_none());
}

#[test]
fn animations_have_the_keys_that_the_independent_reader_finds() {
    let mut seen = 0;
    for (name, expect, bytes, known) in samples("anim/") {
        let facts = Facts::new(Platform::Unknown, Game::Unknown);
        let read = parse_animation(&bytes, &facts).map_err(|incomplete| incomplete.error);
        let tracks = read.as_ref().map(|animation| animation.tracks());
        if expect == "bad" {
            let is_odd = read.as_ref().map_or(true, |one| {
                // The byte order of the magic is one warning.
                one.warnings
                    .texts()
                    .iter()
                    .any(|text| !text.contains("magic"))
            });
            let is_refused = !matches!(tracks, Ok(Ok(_)));
            assert!(is_refused || is_odd, "{name}: {tracks:?}");
            continue;
        }
        let animation = read
            .as_ref()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            Some(animation.bones.into()),
            known["bones"].as_u64(),
            "{name}"
        );
        assert!(near(animation.duration(), &known["duration"]), "{name}");
        let tracks = match tracks.unwrap() {
            Ok(tracks) => tracks,
            Err(why) => {
                assert_eq!(
                    (expect.as_str(), &*why),
                    ("odd", "its times do not rise"),
                    "{name}"
                );
                continue;
            }
        };
        let known = known["tracks"].as_array().unwrap();
        assert_eq!(tracks.len(), known.len(), "{name}");
        for (track, known) in tracks.iter().zip(known) {
            let keys = || track.iter().map(|&key| &animation.keys[usize::from(key)]);
            let times: Vec<_> = keys().map(|key| u64::from(key.time)).collect();
            assert_eq!(serde_json::json!(times), known["times"], "{name}");
            let turns: Vec<_> = keys().map(|key| key.rotation).collect();
            check_vectors(&name, &turns, &known["rotation"]);
            let moves: Vec<_> = keys().map(|key| key.translation).collect();
            check_vectors(&name, &moves, &known["translation"]);
        }
        seen += 1;
    }
    assert!(seen >= 12 || shared(SAMPLES).is_none(), "{seen}");
}

#[fuse_test]
fn a_model_plays_the_animations_of_its_tables_with_the_joints_of_the_independent_reader() {
    for platform in ["gc", "xbox", "ps2"] {
        let Some(archive) = shared(&format!("{SAMPLES}/character_{platform}.HIP")) else {
            return;
        };
        let golden = shared(&format!("golden/hip_assets2/character_{platform}.HIP.json"));
        let golden: Json =
            serde_json::from_slice(&std::fs::read(golden.unwrap()).unwrap()).unwrap();
        let mount = mounted_files(&[archive], "");
        let meta = built(&mount, "figure.dff");
        let player = Player::open(&meta.join("model.glb"));
        let animations = list(&player.scene, "animations").iter();
        let names: Vec<_> = animations.map(|one| text(&one["name"])).collect();
        assert_eq!(names, ["wave", "turn", "sixth"], "{platform}");
        for name in names {
            let known = golden["joints"][format!("{name}.anm")].as_array().unwrap();
            assert_eq!(known.len(), 10);
            for known in known {
                let time = known["time"].as_f64().unwrap();
                let ours = player.joints(player.animation(name), time);
                let known = known["nodes"].as_array().unwrap();
                assert_eq!(ours.len(), known.len(), "{platform}: {name}");
                for (ours, known) in ours.iter().zip(known) {
                    let parts = ours.iter().zip(known.as_array().unwrap());
                    let mut parts = parts.map(|(ours, known)| (ours, known.as_f64().unwrap()));
                    assert!(
                        parts.all(|(ours, known)| (ours - known).abs() < 2e-3),
                        "{platform}: {name} at {time}: {ours:?} should be {known}"
                    );
                }
            }
        }
        let table = rows(&meta.join("animations.tsv"));
        assert_eq!(table.len(), 3, "{table:?}");
        assert!(table.iter().all(|row| row["by_name"] == "figure.minf"));
        assert_eq!(rows(&meta.join("skeleton.tsv")).len(), 5);
        let wave = built(&mount, "wave.anm");
        assert_eq!(
            json(&wave.join("info.json"))["models"][0]["name"],
            "figure.dff"
        );
        let files = [meta.join("model.glb"), wave.join("model.glb")];
        assert_eq!(list(&scene(&files[1]), "animations").len(), 1);
        validate(&files);
        assert!(!built(&mount, "lonely.anm").join("model.glb").exists());
    }
}
