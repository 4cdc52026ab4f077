//! Facts of PSX files that earlier descriptions have wrong.

use hpimount_assets::model::Scene;
use hpimount_neversoft::psx::export::{Colors, ExportPlan};
use hpimount_neversoft::psx::{self, Psx};
use serde_json::{Value, json};

use super::samples::samples;

/// Returns a sample and its known facts; `None` without `../shared`.
fn sample(name: &str) -> Option<(Psx, Value)> {
    let mut samples = samples("psx", &["psx"]).into_iter();
    let sample = samples.find(|sample| sample.name == name)?;
    Some((psx::parse(&sample.bytes).unwrap(), sample.known))
}

/// Returns the result of `pick` for the scene of a sample.
fn of_scene<T>(psx: &Psx, pick: impl Fn(&Scene<'_>) -> T) -> T {
    let plan = ExportPlan::new(psx, Vec::new());
    pick(&plan.scene(psx, Colors::Corners))
}

#[test]
fn sprites_have_the_known_corners() {
    let Some((psx, known)) = sample("good_sprite.psx") else {
        return;
    };
    let points = of_scene(&psx, |scene| scene.meshes[0].points[2..].to_vec());
    let ours = points
        .iter()
        .map(|point| json!(point.map(|part| part as i32)));
    assert_eq!(Value::from_iter(ours), known["corners"]);
    assert!(psx.warnings.is_empty(), "{:?}", psx.warnings);
}

#[test]
fn version_6_has_the_known_texture_coordinates() {
    let Some((psx, known)) = sample("good_uv_v6.psx") else {
        return;
    };
    let faces = of_scene(&psx, |scene| {
        let mesh = &scene.meshes[0];
        let corners = mesh.corners.iter().map(|corner| corner.uv);
        corners.collect::<Vec<_>>()
    });
    let known = known["uv"].as_array().unwrap().iter();
    let known = known.flat_map(|face| face.as_array().unwrap().clone());
    let known: Vec<[f32; 2]> = known
        .map(|uv| serde_json::from_value(uv).unwrap())
        .collect();
    assert_eq!(faces, known);
}

#[test]
fn faces_have_the_known_kinds() {
    let Some((psx, known)) = sample("good_flags.psx") else {
        return;
    };
    let faces = &psx.models[0].faces;
    let lit: Vec<_> = faces.iter().map(|face| face.is_lit()).collect();
    let drawn: Vec<_> = faces.iter().map(|face| !face.is_invisible()).collect();
    let collides: Vec<_> = faces.iter().map(|face| face.collides()).collect();
    assert_eq!(json!(lit), known["lit"]);
    assert_eq!(json!(drawn), known["drawn"]);
    assert_eq!(json!(collides), known["collides"]);
}
