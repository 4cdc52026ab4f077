//! Assets of Grand Theft Auto in the samples beside the repository, compared
//! with the results of independent readers.

mod animations;
mod data;
mod maps;
mod models;
mod native;

use std::path::{Path, PathBuf};

use crate::shared;
use bytes::Bytes;
use hpimount_assets::view::{Alone, ViewFormat};
use hpimount_gta::col::{self, Face, Mesh, Model, Surface};
use hpimount_gta::txd::{self, Txd};
use hpimount_gta::{dff, gxt};
use hpimount_renderware::texture::{Sampling, Texture};
use serde_json::Value;
use sha2::{Digest, Sha256};
use testkit::views::rendering;

/// A sample with the result of the independent reader.
struct Sample {
    name: String,
    bytes: Bytes,
    golden: Value,
}

/// Returns the samples with this extension in a folder that the independent
/// reader has read.
fn samples(folder: &str, extension: &str) -> Vec<Sample> {
    let (Some(from), Some(goldens)) = (
        shared(&format!("samples/gta/{folder}")),
        shared(&format!("golden/gta/{folder}")),
    ) else {
        return Vec::new();
    };
    let mut found: Vec<Sample> = entries(&from, extension)
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let golden = std::fs::read(goldens.join(format!("{name}.json"))).ok()?;
            Some(Sample {
                bytes: std::fs::read(&path).unwrap().into(),
                golden: serde_json::from_slice(&golden).unwrap(),
                name,
            })
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(!found.is_empty(), "no {extension} in {folder}");
    found
}

fn entries(folder: &Path, extension: &str) -> impl Iterator<Item = PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap();
    let paths = paths.map(|entry| entry.unwrap().path());
    paths.filter(move |path| path.extension().is_some_and(|found| found == extension))
}

/// Returns the objects in a list of a golden.
fn list<'a>(golden: &'a Value, key: &str) -> &'a [Value] {
    golden[key].as_array().map_or(&[], Vec::as_slice)
}

fn sha256(pixels: &[[u8; 4]]) -> String {
    let digest = Sha256::digest(pixels.as_flattened());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn textures_equal_those_of_the_independent_reader() {
    let mut compared = 0;
    for folder in ["txd", "real"] {
        for Sample {
            name,
            bytes,
            golden,
        } in samples(folder, "txd")
        {
            let Ok(model) = txd::parse(&bytes) else {
                assert!(golden["error"].is_string(), "{name}: only we refuse it");
                continue;
            };
            assert!(golden["error"].is_null(), "{name}: only we read it");
            compared += compare_dictionary(&name, &model, &golden);
        }
    }
    assert!(compared > 90 || shared("samples/gta/txd").is_none());
}

/// Compares a dictionary, and returns the number of compared levels.
fn compare_dictionary(name: &str, model: &Txd, golden: &Value) -> usize {
    assert_eq!(golden["count"], model.declared, "{name}");
    assert_eq!(golden["device"], model.device, "{name}");
    assert_eq!(golden["rw_version"], model.version.to_string(), "{name}");
    let expected = list(golden, "textures");
    assert_eq!(expected.len(), model.textures.len(), "{name}");
    let mut compared = 0;
    for (entry, golden) in model.textures.iter().zip(expected) {
        let shown = format!("{name}: {}", entry.name);
        match &entry.texture {
            Ok(texture) => {
                assert!(golden["error"].is_null(), "{shown}: {golden:#}");
                compared += compare_texture(&shown, texture, golden);
            }
            Err(error) => {
                assert!(golden["error"].is_string(), "{shown}: {error}");
                assert!(error.to_string().contains("0x"), "{shown}: {error}");
            }
        }
    }
    compared
}

fn compare_texture(shown: &str, texture: &Texture, golden: &Value) -> usize {
    assert_eq!(golden["name"], texture.name, "{shown}");
    assert_eq!(golden["mask"], texture.mask, "{shown}");
    assert_eq!(golden["platform"], texture.format.platform(), "{shown}");
    assert_eq!(golden["width"], texture.width, "{shown}");
    assert_eq!(golden["height"], texture.height, "{shown}");
    assert_eq!(golden["depth"], texture.depth, "{shown}");
    let named = |name: Option<&str>| name.unwrap_or_default().replace(' ', "_");
    let sampling = texture.sampling;
    assert_eq!(golden["filter"], named(sampling.filter_name()), "{shown}");
    for (key, address) in [
        ("address_u", sampling.address_u),
        ("address_v", sampling.address_v),
    ] {
        assert_eq!(
            golden[key],
            named(Sampling::address_name(address)),
            "{shown}"
        );
    }
    let format = golden["format"].as_str().unwrap();
    let is_ps2 = format.starts_with("PS2");
    assert!(is_ps2 || format == texture.format.name(), "{shown}");
    let levels = list(golden, "levels");
    assert_eq!(levels.len(), texture.levels.len(), "{shown}");
    for (number, (level, golden)) in texture.levels.iter().zip(levels).enumerate() {
        assert_eq!(golden["width"], level.width, "{shown}");
        assert_eq!(golden["height"], level.height, "{shown}");
        let pixels = texture.rgba(number).unwrap();
        assert_eq!(
            golden["rgba_sha256"],
            sha256(&pixels),
            "{shown}: level {number}"
        );
    }
    levels.len()
}

#[test]
fn collision_models_equal_those_of_the_independent_reader() {
    let mut compared = 0;
    for folder in ["col", "real"] {
        for Sample {
            name,
            bytes,
            golden,
        } in samples(folder, "col")
        {
            let Ok(found) = col::parse(&bytes) else {
                assert!(golden["error"].is_string() || golden["models"][0]["error"].is_string());
                continue;
            };
            let models = list(&golden, "models");
            assert_eq!(models.len(), found.models.len(), "{name}");
            for (model, golden) in found.models.iter().zip(models) {
                compare_model(&format!("{name}: {}", model.name), model, golden);
                compared += 1;
            }
        }
    }
    assert!(compared > 30 || shared("samples/gta/col").is_none());
}

/// Asserts that two lists of numbers are equal in the seven digits of the golden.
fn same(shown: &str, found: &[f32], golden: &Value) {
    let expected = golden.as_array().unwrap();
    assert_eq!(found.len(), expected.len(), "{shown}: {golden}");
    for (found, expected) in found.iter().zip(expected) {
        let expected = expected.as_f64().map_or(f64::NAN, |value| value);
        let found = f64::from(*found);
        let is_same = (found - expected).abs() <= 1e-6 * expected.abs().max(1e-30);
        assert!(
            is_same || !found.is_finite() && expected.is_nan(),
            "{shown}: {found} {golden}"
        );
    }
}

fn surface_of(surface: &Surface) -> [u8; 4] {
    let Surface {
        material,
        flags,
        brightness,
        light,
    } = *surface;
    [material, flags, brightness, light]
}

fn compare_model(shown: &str, model: &Model, golden: &Value) {
    assert_eq!(golden["version"], model.version, "{shown}");
    assert_eq!(golden["name"], model.name, "{shown}");
    assert_eq!(golden["id"], model.id, "{shown}");
    assert_eq!(golden["offset"], model.offset, "{shown}");
    assert_eq!(golden["size"], model.size, "{shown}");
    let error = model.error.as_ref().map(ToString::to_string);
    assert_eq!(
        golden["error"].is_string(),
        error.is_some(),
        "{shown}: {error:?}"
    );
    if let Some(error) = error {
        assert!(error.contains("0x"), "{shown}: {error}");
        return;
    }
    assert_eq!(
        list(golden, "warnings").len(),
        model.warnings.len(),
        "{shown}"
    );
    let shapes = &model.shapes;
    let bounds = shapes.bounds.as_ref().unwrap();
    same(shown, &bounds.min, &golden["bounds"]["min"]);
    same(shown, &bounds.max, &golden["bounds"]["max"]);
    same(shown, &bounds.center, &golden["bounds"]["center"]);
    let spheres = list(golden, "spheres");
    assert_eq!(spheres.len(), shapes.spheres.len(), "{shown}");
    for (sphere, golden) in shapes.spheres.iter().zip(spheres) {
        same(shown, &sphere.center, &golden["center"]);
        assert_eq!(
            golden["surface"],
            Value::from(&surface_of(&sphere.surface)[..]),
            "{shown}"
        );
    }
    let boxes = list(golden, "boxes");
    assert_eq!(boxes.len(), shapes.boxes.len(), "{shown}");
    for (shape, golden) in shapes.boxes.iter().zip(boxes) {
        same(shown, &shape.min, &golden["min"]);
        same(shown, &shape.max, &golden["max"]);
        assert_eq!(
            golden["surface"],
            Value::from(&surface_of(&shape.surface)[..]),
            "{shown}"
        );
    }
    assert_eq!(golden["lines"], shapes.lines, "{shown}");
    assert_eq!(
        list(golden, "face_groups").len(),
        shapes.groups.len(),
        "{shown}"
    );
    let meshes = [
        ("vertices", "faces", &shapes.mesh),
        ("shadow_vertices", "shadow_faces", &shapes.shadow),
    ];
    for (vertices, faces, mesh) in meshes {
        assert_eq!(golden[vertices], mesh.vertices().count(), "{shown}");
        assert_eq!(golden[faces], mesh.faces().count(), "{shown}");
        if golden["mesh"].is_object() {
            compare_mesh(
                shown,
                mesh,
                &golden["mesh"][vertices],
                &golden["mesh"][faces],
            );
        }
    }
}

fn compare_mesh(shown: &str, mesh: &Mesh, vertices: &Value, faces: &Value) {
    let points = mesh.vertices().zip(vertices.as_array().unwrap());
    points.for_each(|(point, golden)| same(shown, &point, golden));
    for (Face { corners, surface }, golden) in mesh.faces().zip(faces.as_array().unwrap()) {
        let surface = surface_of(&surface).map(u32::from);
        let found = [&corners[..], &surface[..]].concat();
        assert_eq!(*golden, Value::from(found), "{shown}");
    }
}

/// Returns the GLB files of a sample's view.
fn glbs(format: &ViewFormat, name: &str, bytes: &Bytes, folder: &Path) -> Vec<PathBuf> {
    let view = hpimount_assets::view::open(format, bytes, &Alone);
    let files = view.files().into_iter().enumerate();
    let models = files.filter(|(_, file)| file.name.ends_with(".glb"));
    models
        .map(|(index, _)| {
            let path = folder.join(format!("{name}_{index}.glb"));
            std::fs::write(&path, rendering(&*view, index)).unwrap();
            path
        })
        .collect()
}

#[test]
fn written_collision_models_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = Vec::new();
    for from in ["col", "real"] {
        for sample in samples(from, "col") {
            let bytes = &sample.bytes;
            written.extend(glbs(&col::FORMAT, &sample.name, bytes, folder.path()));
        }
    }
    assert!(written.len() > 20 || shared("samples/gta/col").is_none());
    testkit::gltf::validate(&written);
}

#[test]
fn texts_equal_those_of_the_independent_reader() {
    let mut compared = 0;
    for sample in samples("map", "gxt") {
        let (name, golden) = (&sample.name, &sample.golden);
        let Ok(found) = gxt::parse(&sample.bytes) else {
            assert!(golden["error"].is_string(), "{name}: only we refuse it");
            continue;
        };
        assert!(golden["error"].is_null(), "{name}: only we read it");
        let tables = list(golden, "tables");
        assert_eq!(tables.len(), found.tables.len(), "{name}");
        for (table, golden) in found.tables.iter().zip(tables) {
            assert_eq!(golden["name"], table.name, "{name}");
            let error = table.error.as_ref().map(ToString::to_string);
            assert_eq!(
                golden["error"].is_string(),
                error.is_some(),
                "{name}: {error:?}"
            );
            let entries = list(golden, "entries");
            assert_eq!(entries.len(), table.entries.len(), "{name}");
            for (entry, golden) in table.entries.iter().zip(entries) {
                assert_eq!(golden[0], entry.key.to_string(), "{name}");
                assert_eq!(golden[1], found.text(entry), "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 40 || shared("samples/gta/map").is_none());
}

#[test]
fn broken_and_oversized_samples_are_refused_or_bounded() {
    let formats = [
        ("txd", "txd", &txd::FORMAT),
        ("col", "col", &col::FORMAT),
        ("dff", "dff", &dff::FORMAT),
        ("map", "gxt", &gxt::FORMAT),
    ];
    for (folder, extension, format) in formats {
        let Some(from) = shared(&format!("samples/gta/{folder}")) else {
            return;
        };
        for path in entries(&from, extension) {
            let bytes = Bytes::from(std::fs::read(&path).unwrap());
            let view = hpimount_assets::view::open(format, &bytes, &Alone);
            let is_bomb = path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("bomb");
            let files = view.files().len();
            assert!(
                view.memory() < (64 << 20),
                "{}: {}",
                path.display(),
                view.memory()
            );
            for index in (0..files).take(if is_bomb { 8 } else { files }) {
                rendering(&*view, index);
            }
        }
    }
}
