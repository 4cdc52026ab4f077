//! Geometries in the forms of consoles, compared with the results of an
//! independent reader.

use std::collections::BTreeMap;

use super::list;
use super::models::{Floats, bytes_equal};
use hpimount_renderware::clump::{Geometry, Mesh};
use serde_json::Value;

/// A sample whose indices have offsets past its end. They are found without
/// the offsets.
const MISPLACED: &str = "bad_xbox_offsets.dff";

/// Compares a geometry in the form of a console.
pub(super) fn compare(shown: &str, geometry: &Geometry, golden: &Value) {
    let is_known = |known: &&str| golden["native"] == **known;
    if !["xbox", "ps2", "opengl"].iter().any(is_known) {
        assert!(
            geometry.error.is_none() || geometry.mesh().is_none(),
            "{shown}"
        );
        return;
    }
    let Some(mesh) = geometry.mesh() else {
        let error = geometry.error.as_ref();
        assert!(golden["error"].is_string(), "{shown}: {error:?}");
        return;
    };
    if shown.starts_with(MISPLACED) {
        return;
    }
    assert!(golden["error"].is_null(), "{shown}: {golden:#}");
    if golden["native"] != "ps2" {
        let floats = |values: &[[f32; 3]]| Floats(values.as_flattened().to_vec(), 3);
        floats(&mesh.positions).equal(shown, golden, "positions");
        bytes_equal(shown, mesh.colors.clone(), golden, "colours");
    }
    // Large geometries only have hashes, in the order of the reader.
    if golden["positions"].is_array() && golden["faces"].is_array() {
        let known = counted_corners(known_corners(golden));
        let found = counted_corners(found_corners(&mesh, &geometry.influences()));
        assert_eq!(known, found, "{shown}");
    }
}

/// A triangle: a material, and for each corner the values of all attributes in
/// thousandths.
type Face = (u64, [Vec<i64>; 3]);

/// Returns triangles, rotated to their smallest corner, with their numbers of
/// occurrences.
fn counted_corners(faces: Vec<Face>) -> BTreeMap<Face, usize> {
    let mut counted = BTreeMap::new();
    for (material, mut corners) in faces {
        let least = (0..3).min_by_key(|&index| &corners[index]).unwrap();
        corners.rotate_left(least);
        *counted.entry((material, corners)).or_default() += 1;
    }
    counted
}

fn thousandths(values: impl IntoIterator<Item = f64>) -> Vec<i64> {
    let values = values.into_iter();
    values
        .map(|value| (value * 1000.0).round() as i64)
        .collect()
}

/// Returns the bones of a vertex that have a weight.
fn bones_of(bones: [i64; 4], weights: [f64; 4]) -> Vec<i64> {
    let pairs = bones.into_iter().zip(weights);
    let mut pairs: Vec<_> = pairs
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(bone, weight)| [bone, (weight * 1000.0).round() as i64])
        .collect();
    pairs.sort_unstable();
    pairs.concat()
}

fn known_corners(golden: &Value) -> Vec<Face> {
    let numbers = |values: &Value| -> Vec<f64> {
        let values = values.as_array().into_iter().flatten();
        values.filter_map(Value::as_f64).collect()
    };
    let uvs = list(golden, "uv");
    let skin = &golden["skin"];
    let faces = list(golden, "faces").iter().map(|face| {
        let face = numbers(face);
        let corners = std::array::from_fn(|corner| {
            let index = face[corner] as usize;
            let mut values = thousandths(numbers(&golden["positions"][index]));
            for set in uvs {
                values.extend(thousandths(numbers(&set[index])));
            }
            for key in ["colours", "night"] {
                values.extend(thousandths(numbers(&golden[key][index])));
            }
            if skin["indices"].is_array() {
                let bones = numbers(&skin["indices"][index]);
                let weights = numbers(&skin["weights"][index]).try_into().unwrap();
                let bones: [f64; 4] = bones.try_into().unwrap();
                values.extend(bones_of(bones.map(|bone| bone as i64), weights));
            }
            values
        });
        (face[3] as u64, corners)
    });
    faces.collect()
}

fn found_corners(mesh: &Mesh, influences: &[([u8; 4], [f32; 4])]) -> Vec<Face> {
    let corner = |index: usize| {
        let mut values = thousandths(mesh.positions[index].map(f64::from));
        for set in &mesh.uvs {
            values.extend(thousandths(set[index].map(f64::from)));
        }
        for colors in [&mesh.colors, &mesh.night_colors] {
            let color = colors.get(index).into_iter().flatten();
            values.extend(thousandths(color.map(|&part| part.into())));
        }
        if let Some((bones, weights)) = influences.get(index) {
            values.extend(bones_of(bones.map(i64::from), weights.map(f64::from)));
        }
        values
    };
    let faces = mesh.parts.iter().flat_map(|part| {
        let triangles = part.triangles.iter();
        triangles.map(|corners| {
            let corners = corners.map(|index| corner(index as usize));
            (u64::from(part.material), corners)
        })
    });
    faces.collect()
}
