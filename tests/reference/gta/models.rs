//! Models of Grand Theft Auto, compared with the results of an independent
//! reader and with the triangles that they were generated from.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Sample, glbs, list, native, same, samples};
use crate::shared;
use hpimount_gta::dff::{self, Dff, Effect, coats};
use hpimount_record::Value as Field;
use hpimount_renderware::clump::{
    Clump, Frame, Geometry, Material, Placement, Skin, SkinForm, Vertices,
};
use hpimount_renderware::texture::Sampling;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Calls `check` with each sample in these folders, its model and its golden.
fn each(folders: &[&str], mut check: impl FnMut(&Sample, &Dff)) {
    for folder in folders {
        for sample in samples(folder, "dff") {
            let name = &sample.name;
            match dff::parse(&sample.bytes) {
                Ok(model) => {
                    assert!(sample.golden["error"].is_null(), "{name}: only we read it");
                    check(&sample, &model);
                }
                Err(incomplete) => {
                    let error = incomplete.error;
                    assert!(sample.golden["error"].is_string(), "{name}: {error}");
                    assert!(error.to_string().contains("0x"), "{name}: {error}");
                }
            }
        }
    }
}

/// Returns whether a geometry has the form of a console or of mobile games.
fn is_native(golden: &Value) -> bool {
    golden["native"].is_string()
}

#[test]
fn models_equal_those_of_the_independent_reader() {
    let mut compared = 0;
    each(&["dff", "real", "peer"], |sample, model| {
        let Sample { name, golden, .. } = sample;
        assert_eq!(golden["rw_version"], model.version.to_string(), "{name}");
        assert_eq!(golden["trailing"], model.trailing, "{name}");
        let animations = list(golden, "uv_animations");
        assert_eq!(animations.len(), model.uv_animations.len(), "{name}");
        for (found, golden) in model.uv_animations.iter().zip(animations) {
            assert_eq!(golden["name"], found.name, "{name}");
            same(
                name,
                &[found.seconds],
                &Value::from(vec![golden["duration"].clone()]),
            );
            assert_eq!(list(golden, "keys").len(), found.keys as usize, "{name}");
        }
        // A file of one atomic has the lists of its clump.
        let clumps = match list(golden, "clumps") {
            [] => std::slice::from_ref(golden),
            clumps => clumps,
        };
        assert_eq!(clumps.len(), model.clumps.len(), "{name}");
        for (number, (clump, golden)) in model.clumps.iter().zip(clumps).enumerate() {
            let shown = format!("{name}: clump {number}");
            compare_clump(&shown, clump, golden);
            compare_plugins(&shown, model, number, golden);
            compared += clump.geometries.len();
        }
    });
    assert!(
        compared > 90 || shared("samples/gta/dff").is_none(),
        "{compared}"
    );
}

fn compare_clump(shown: &str, clump: &Clump, golden: &Value) {
    let frames = list(golden, "frames");
    assert_eq!(frames.len(), clump.frames.len(), "{shown}");
    for (number, (frame, golden)) in clump.frames.iter().zip(frames).enumerate() {
        compare_frame(&format!("{shown}: frame {number}"), frame, golden, frames);
    }
    let geometries = list(golden, "geometries");
    assert_eq!(geometries.len(), clump.geometries.len(), "{shown}");
    for (number, (geometry, golden)) in clump.geometries.iter().zip(geometries).enumerate() {
        compare_geometry(&format!("{shown}: geometry {number}"), geometry, golden);
    }
    let atomics = list(golden, "atomics");
    assert_eq!(atomics.len(), clump.atomics.len(), "{shown}");
    for (atomic, golden) in clump.atomics.iter().zip(atomics) {
        let within = |key: &str, count: usize| {
            let number = golden[key].as_u64().map(|number| number as usize);
            number.filter(|&number| number < count)
        };
        assert_eq!(within("frame", frames.len()), atomic.frame, "{shown}");
        assert_eq!(
            within("geometry", geometries.len()),
            atomic.geometry,
            "{shown}"
        );
        assert_eq!(golden["flags"], atomic.flags, "{shown}");
    }
    let lights = list(golden, "lights");
    assert_eq!(lights.len(), clump.lights.len(), "{shown}");
    for (light, golden) in clump.lights.iter().zip(lights) {
        assert_eq!(golden["frame"], Value::from(light.frame), "{shown}");
        same(shown, &light.color, &golden["colour"]);
        let others = ["radius", "minus_cos_angle"].map(|key| golden[key].clone());
        let found = [light.radius, light.minus_cosine];
        same(shown, &found, &Value::from(&others[..]));
        let kind = light.kind_name().map(|kind| kind.replace(' ', "_"));
        assert_eq!(golden["type"], Value::from(kind), "{shown}");
        assert_eq!(golden["flags"], light.flags, "{shown}");
    }
}

fn compare_frame(shown: &str, frame: &Frame, golden: &Value, frames: &[Value]) {
    assert_eq!(golden["name"], frame.name, "{shown}");
    assert_eq!(golden["flags"], frame.flags, "{shown}");
    let place = frame.placement;
    same(shown, &place.position, &golden["position"]);
    let axes = [place.right, place.up, place.at];
    same(shown, axes.as_flattened(), &golden["rotation"]);
    // A parent that does not exist or closes a cycle is ignored.
    let stored = golden["parent"].as_u64().map(|parent| parent as usize);
    let is_odd = |parent: usize| {
        let up = |&index: &usize| {
            frames.get(index)?["parent"]
                .as_u64()
                .map(|parent| parent as usize)
        };
        parent >= frames.len()
            || std::iter::successors(Some(parent), up)
                .nth(frames.len())
                .is_some()
    };
    match stored.filter(|&parent| !is_odd(parent)) {
        None => {}
        stored => assert_eq!(stored, frame.parent, "{shown}"),
    }
    let node = &golden["hanim"];
    assert_eq!(node.is_object(), frame.node.is_some(), "{shown}");
    if let Some(found) = &frame.node {
        assert_eq!(node["id"], found.id, "{shown}");
        let bones: Vec<Value> = found
            .bones
            .iter()
            .map(|bone| Value::from(&bone[..]))
            .collect();
        assert_eq!(list(node, "nodes"), bones, "{shown}");
        if !bones.is_empty() {
            assert_eq!(node["flags"], found.flags, "{shown}");
            assert_eq!(node["key_size"], found.key_size, "{shown}");
        }
    }
}

fn compare_geometry(shown: &str, geometry: &Geometry, golden: &Value) {
    if is_native(golden) {
        native::compare(shown, geometry, golden);
        return;
    }
    let error = geometry.error.as_ref().map(ToString::to_string);
    assert_eq!(
        golden["error"].is_string(),
        error.is_some(),
        "{shown}: {error:?}"
    );
    if let Some(error) = error {
        assert!(error.contains("0x"), "{shown}: {error}");
        return;
    }
    let Vertices::Plain(plain) = &geometry.vertices else {
        panic!("{shown}: {:?}", geometry.vertices);
    };
    assert_eq!(
        golden["rw_version"],
        geometry.version.to_string(),
        "{shown}"
    );
    assert_eq!(
        golden["flags"].as_u64().unwrap() as u16,
        geometry.flags,
        "{shown}"
    );
    assert_eq!(golden["uv_sets"], geometry.uv_sets, "{shown}");
    assert_eq!(golden["vertices"], geometry.declared_vertices, "{shown}");
    assert_eq!(golden["triangles"], geometry.declared_triangles, "{shown}");
    assert_eq!(golden["morph_targets"], geometry.declared_morphs, "{shown}");
    let shape = geometry.morphs.first().cloned().unwrap_or_default();
    let floats = |values: Vec<[f32; 3]>| Floats(values.as_flattened().to_vec(), 3);
    floats(shape.positions().collect()).equal(shown, golden, "positions");
    floats(shape.normals().collect()).equal(shown, golden, "normals");
    if golden["sphere"].is_object() {
        same(shown, &shape.sphere[..3], &golden["sphere"]["center"]);
    }
    bytes_equal(shown, plain.colors().collect(), golden, "colours");
    bytes_equal(shown, geometry.night_colors().collect(), golden, "night");
    let sets = list(golden, "uv")
        .len()
        .max(list(golden, "uv_f32_sha256").len());
    assert_eq!(sets, geometry.uv_sets, "{shown}");
    for set in 0..sets {
        let values: Vec<[f32; 2]> = plain.uvs(set).collect();
        let values = Floats(values.as_flattened().to_vec(), 2);
        match golden["uv_f32_sha256"].get(set) {
            Some(hash) => assert_eq!(*hash, values.hash(), "{shown}"),
            None => values.same(shown, &golden["uv"][set]),
        }
    }
    let faces = plain
        .triangles()
        .map(|([a, b, c], material)| [a, b, c, material].map(u32::from));
    let faces: Vec<[u32; 4]> = faces.collect();
    match golden["faces_u32_sha256"].as_str() {
        Some(hash) => assert_eq!(hash, words_hash(faces.as_flattened()), "{shown}"),
        None => assert_eq!(golden["faces"], serde_json::json!(faces), "{shown}"),
    }
    compare_meshes(shown, geometry, &golden["binmesh"]);
    let entries = list(golden, "materials");
    assert_eq!(entries.len(), geometry.material_entries.len(), "{shown}");
    for (entry, golden) in geometry.material_entries.iter().zip(entries) {
        compare_material(shown, &geometry.materials[*entry], golden);
    }
    compare_skin(shown, geometry.skin.as_ref(), &golden["skin"]);
}

fn compare_meshes(shown: &str, geometry: &Geometry, golden: &Value) {
    let meshes = list(golden, "meshes");
    assert_eq!(meshes.len(), geometry.meshes.len(), "{shown}");
    assert_eq!(golden["strip"] == true, geometry.is_strips, "{shown}");
    for (mesh, golden) in geometry.meshes.iter().zip(meshes) {
        assert_eq!(golden["material"], mesh.material, "{shown}");
        assert_eq!(golden["count"], mesh.count, "{shown}");
        if let Some(indices) = golden["indices"].as_array() {
            let found: Vec<Value> = mesh.indices().map(Value::from).collect();
            assert_eq!(*indices, found, "{shown}");
        }
    }
}

fn compare_material(shown: &str, material: &Material, golden: &Value) {
    assert_eq!(
        golden["colour"],
        Value::from(&material.color[..]),
        "{shown}"
    );
    if let Some(surface) = material.surface {
        let known = ["ambient", "specular", "diffuse"].map(|key| golden[key].clone());
        same(shown, &surface, &Value::from(&known[..]));
    }
    let texture = &golden["texture"];
    assert_eq!(texture.is_object(), material.texture.is_some(), "{shown}");
    if let Some(found) = &material.texture {
        assert_eq!(texture["name"], found.name, "{shown}");
        assert_eq!(texture["mask"], found.mask, "{shown}");
        let named = |name: Option<&str>| name.unwrap_or_default().replace(' ', "_");
        let sampling = found.sampling;
        assert_eq!(texture["filter"], named(sampling.filter_name()), "{shown}");
        for (key, address) in [
            ("address_u", sampling.address_u),
            ("address_v", sampling.address_v),
        ] {
            assert_eq!(
                texture[key],
                named(Sampling::address_name(address)),
                "{shown}"
            );
        }
    }
    let (found, error) = coats(material);
    assert!(error.is_none(), "{shown}: {error:?}");
    let count = |key: &str| found.iter().filter(|coat| coat.kind == key).count();
    for (kind, effect) in [
        ("bump", "bump"),
        ("environment", "environment"),
        ("second texture", "dual"),
        ("transformed coordinates", "uv"),
    ] {
        let effects = list(&golden["matfx"], "effects").iter();
        let known = effects.filter(|one| one["effect"] == effect).count();
        assert_eq!(known, count(kind), "{shown}: {kind}");
    }
    for (kind, key) in [("reflection", "reflection"), ("specular", "specular_map")] {
        assert_eq!(
            usize::from(golden[key].is_object()),
            count(kind),
            "{shown}: {kind}"
        );
    }
    let moving = found.iter().find(|coat| coat.kind == "moving coordinates");
    let moving = moving.iter().flat_map(|coat| coat.names.clone());
    let moving: Vec<Value> = moving.map(Value::from).collect();
    assert_eq!(list(golden, "uv_animations"), &moving, "{shown}");
}

fn compare_skin(shown: &str, skin: Option<&Skin>, golden: &Value) {
    assert_eq!(golden.is_object(), skin.is_some(), "{shown}: skin");
    let Some(skin) = skin else { return };
    assert_eq!(golden["bones"], skin.bones, "{shown}");
    let form = match skin.form {
        SkinForm::New => "new",
        SkinForm::Old => "old",
        SkinForm::Atomic => "atomic",
        other => panic!("{shown}: {other:?}"),
    };
    assert_eq!(golden["form"], form, "{shown}");
    assert_eq!(golden["max_weights"], skin.most_weights, "{shown}");
    assert_eq!(golden["used_bones"], Value::from(&skin.used[..]), "{shown}");
    bytes_equal(shown, skin.indices().collect(), golden, "indices");
    let weights: Vec<[f32; 4]> = skin.weights().collect();
    Floats(weights.as_flattened().to_vec(), 4).equal(shown, golden, "weights");
    let matrices: Vec<[f32; 16]> = skin.matrices().collect();
    Floats(matrices.as_flattened().to_vec(), 16).equal(shown, golden, "matrices");
    let nodes = list(golden, "nodes").iter();
    let nodes: Vec<[i64; 3]> = nodes
        .map(|node| ["id", "index", "flags"].map(|key| node[key].as_i64().unwrap()))
        .collect();
    let found: Vec<[i64; 3]> = skin.nodes.iter().map(|node| node.map(i64::from)).collect();
    assert_eq!(nodes, found, "{shown}");
}

/// Floats in groups of a length.
pub(super) struct Floats(pub(super) Vec<f32>, pub(super) usize);

impl Floats {
    fn hash(&self) -> String {
        let words: Vec<u32> = self.0.iter().map(|value| value.to_bits()).collect();
        words_hash(&words)
    }

    /// Asserts that a list of a golden, or its hash, has these values.
    pub(super) fn equal(&self, shown: &str, golden: &Value, key: &str) {
        match &golden[format!("{key}_f32_sha256")] {
            Value::String(hash) => assert_eq!(*hash, self.hash(), "{shown}: {key}"),
            _ => self.same(&format!("{shown}: {key}"), &golden[key]),
        }
    }

    fn same(&self, shown: &str, golden: &Value) {
        let groups = self.0.chunks(self.1);
        let known = golden.as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(known.len(), groups.len(), "{shown}");
        groups
            .zip(known)
            .for_each(|(group, golden)| same(shown, group, golden));
    }
}

fn words_hash(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    hash(&bytes)
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn bytes_equal(shown: &str, found: Vec<[u8; 4]>, golden: &Value, key: &str) {
    match &golden[format!("{key}_u8_sha256")] {
        Value::String(known) => assert_eq!(*known, hash(found.as_flattened()), "{shown}: {key}"),
        _ => {
            let known = list(golden, key);
            assert_eq!(
                known,
                found
                    .iter()
                    .map(|one| Value::from(&one[..]))
                    .collect::<Vec<_>>()
            );
        }
    }
}

/// Compares the effects, breakables and collision of a clump.
fn compare_plugins(shown: &str, model: &Dff, clump: usize, golden: &Value) {
    for (number, golden) in list(golden, "geometries").iter().enumerate() {
        let is_here = |at: (usize, usize)| at == (clump, number);
        let effects = model.effects.iter();
        let effects: Vec<&Effect> = effects
            .filter(|one| is_here((one.clump, one.geometry)))
            .collect();
        let known = list(golden, "effects");
        assert_eq!(known.len(), effects.len(), "{shown}");
        effects
            .iter()
            .zip(known)
            .for_each(|(effect, golden)| compare_effect(shown, effect, golden));
        let mut breakables = model.breakables.iter();
        let breakable = breakables.find(|one| is_here((one.clump, one.geometry)));
        let known = &golden["breakable"];
        assert_eq!(known.is_object(), breakable.is_some(), "{shown}");
        if let Some(breakable) = breakable {
            assert_eq!(known["position_rule"], breakable.rule, "{shown}");
            assert_eq!(known["vertices"], breakable.vertices, "{shown}");
            assert_eq!(known["triangles"], breakable.triangles, "{shown}");
            let pieces = list(known, "materials");
            assert_eq!(pieces.len(), breakable.pieces.len(), "{shown}");
            for (piece, golden) in breakable.pieces.iter().zip(pieces) {
                assert_eq!(golden["texture"], piece.texture, "{shown}");
                assert_eq!(golden["mask"], piece.mask, "{shown}");
                same(shown, &piece.ambient, &golden["ambient"]);
            }
        }
    }
    let collision = list(golden, "collision");
    if clump == 0 {
        let found = model.collision.as_ref().map_or(&[][..], |one| &one.models);
        assert_eq!(collision.len(), found.len(), "{shown}");
        for (model, golden) in found.iter().zip(collision) {
            super::compare_model(shown, model, golden);
        }
    }
}

/// The names of fields in goldens that differ from ours.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("color", "colour"),
    ("light_range", "point_light_range"),
    ("sky_color", "sky_colour"),
];

fn compare_effect(shown: &str, effect: &Effect, golden: &Value) {
    same(shown, &effect.position, &golden["position"]);
    assert_eq!(golden["size"], effect.size, "{shown}");
    match effect.kind_name() {
        Some(name) => assert_eq!(golden["type"], name.replace(' ', "_"), "{shown}"),
        None => assert_eq!(golden["type"], effect.kind, "{shown}"),
    }
    for (name, value) in &effect.fields {
        let other = OTHER_NAMES.iter().find(|(ours, _)| ours == name);
        let golden = &golden[other.map_or(*name, |(_, theirs)| theirs)];
        if golden.is_null() || golden.is_array() != matches!(value, Field::List(_)) {
            // Flags of two bytes and lines of signs are joined in goldens.
            continue;
        }
        let is_joined = name.starts_with("flags");
        match value {
            Field::Text(text) => assert_eq!(*golden, text[..], "{shown}: {name}"),
            Field::Integer(value) => assert!(is_joined || *golden == *value, "{shown}: {name}"),
            Field::Float(value) => same(shown, &[*value], &Value::from(vec![golden.clone()])),
            Field::List(values) => {
                let numbers: Vec<_> = values.iter().filter_map(Field::number).collect();
                let numbers: Vec<_> = numbers.into_iter().map(|number| number as f32).collect();
                assert_eq!(numbers.len(), values.len(), "{shown}: {name}");
                same(shown, &numbers, golden);
            }
            other => panic!("{shown}: {name} is {other:?}"),
        }
    }
}

/// A triangle in the space of its clump: a material, and for each corner its
/// position and texture coordinates in thousandths. The least corner is first.
type Triangle = (u32, [[i64; 5]; 3]);

fn triangle(material: u32, corners: [[f64; 5]; 3]) -> Triangle {
    let mut corners = corners.map(|corner| corner.map(|value| (value * 1000.0).round() as i64));
    let least = (0..3).min_by_key(|&index| corners[index]).unwrap();
    corners.rotate_left(least);
    (material, corners)
}

/// Returns triangles and how often each occurs.
fn counted(triangles: impl Iterator<Item = Triangle>) -> BTreeMap<Triangle, usize> {
    let mut counted = BTreeMap::new();
    triangles.for_each(|triangle| *counted.entry(triangle).or_default() += 1);
    counted
}

/// Returns the triangles of a list, without coordinates of textures if the
/// model has none.
fn known_triangles(path: &Path, has_uvs: bool) -> BTreeMap<Triangle, usize> {
    let text = std::fs::read_to_string(path).unwrap();
    counted(text.lines().skip(1).map(|line| {
        let numbers: Vec<f64> = line.split('\t').map(|word| word.parse().unwrap()).collect();
        let corners: [[f64; 5]; 3] = numbers[1..].as_chunks().0.try_into().unwrap();
        let kept = |[x, y, z, u, v]: [f64; 5]| match has_uvs {
            true => [x, y, z, u, v],
            false => [x, y, z, 0.0, 0.0],
        };
        triangle(numbers[0] as u32, corners.map(kept))
    }))
}

/// Returns whether two lists have the same triangles, within the quantization of
/// native models.
fn are_near(known: &BTreeMap<Triangle, usize>, found: &BTreeMap<Triangle, usize>) -> bool {
    if known == found {
        return true;
    }
    let all = |counted: &BTreeMap<Triangle, usize>| -> Vec<Triangle> {
        let all = counted.iter();
        all.flat_map(|(triangle, &count)| vec![*triangle; count])
            .collect()
    };
    let is_near = |a: &[[i64; 5]; 3], b: &[[i64; 5]; 3], turn: usize| {
        (0..3).all(|corner| {
            let parts = a[corner].iter().zip(b[(corner + turn) % 3]);
            parts.clone().all(|(a, b)| (a - b).abs() <= 5)
        })
    };
    let mut left = all(found);
    let taken = all(known).into_iter().all(|(material, corners)| {
        let place = left.iter().position(|(other, others)| {
            *other == material && (0..3).any(|turn| is_near(&corners, others, turn))
        });
        place.map(|place| left.swap_remove(place)).is_some()
    });
    taken && left.is_empty()
}

fn triangles_of(clump: &Clump) -> BTreeMap<Triangle, usize> {
    let placements = clump.placements();
    let mut triangles = Vec::new();
    for atomic in &clump.atomics {
        let mesh = clump.geometry_of(atomic).and_then(Geometry::mesh);
        let errors = clump.geometries.iter().filter_map(|one| one.error.as_ref());
        let mesh = mesh.unwrap_or_else(|| panic!("{:?}", errors.collect::<Vec<_>>()));
        let place = atomic
            .frame
            .map_or(Placement::IDENTITY, |frame| placements[frame]);
        for part in &mesh.parts {
            triangles.extend(part.triangles.iter().map(|corners| {
                let corners = corners.map(|index| {
                    let [x, y, z] = place.placed(mesh.positions[index as usize]);
                    let uvs = mesh.uvs.first().map(|uvs| uvs[index as usize]);
                    let [u, v] = uvs.unwrap_or_default();
                    [x, y, z, u, v].map(f64::from)
                });
                triangle(part.material, corners)
            }));
        }
    }
    counted(triangles.into_iter())
}

#[test]
fn models_have_the_triangles_that_they_were_generated_from() {
    let Some(known) = shared("golden/gta/source/dff") else {
        return;
    };
    let mut compared = 0;
    each(&["dff", "peer"], |sample, model| {
        // A native model is named after the plain one that it was made of.
        let name = &sample.name;
        let platform = ["ps2_", "xbox_", "wdgl_"]
            .iter()
            .find_map(|one| name.strip_prefix(one));
        let path = known.join(format!("{}.tris.tsv", platform.unwrap_or(name)));
        let clump = &model.clumps[0];
        let is_read = |one: &Geometry| one.mesh().is_some();
        if !path.exists() || !clump.geometries.iter().all(is_read) {
            return;
        }
        let has_uvs = clump.geometries.iter().any(|one| one.uv_sets > 0);
        let (known, found) = (known_triangles(&path, has_uvs), triangles_of(clump));
        assert!(
            are_near(&known, &found),
            "{name}: {known:?} are known, found {found:?}",
        );
        compared += 1;
    });
    assert!(compared >= 57, "{compared}");
}

#[test]
fn written_models_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = Vec::new();
    for from in ["dff", "real", "peer"] {
        for Sample { name, bytes, .. } in samples(from, "dff") {
            written.extend(glbs(&dff::FORMAT, &name, &bytes, folder.path()));
        }
    }
    assert!(written.len() > 50 || shared("samples/gta/dff").is_none());
    testkit::gltf::validate(&written);
}
