//! Edited models with many parts that share large data are imported quickly.

use fixtures::{clump as build, resaved};
use hpimount_assets::model::edited::Edited;
use hpimount_assets::model::pairing::Pairing;
use hpimount_assets::model::scene::{Material, Node};
use hpimount_assets::model::{Scene, Transform};
use hpimount_assets::view::import::{Imported, edited};
use hpimount_assets::view::rendered;
use hpimount_gta::dff;
use testkit::limits::{second, timed};

/// Returns a model whose parts share a geometry, with a material plugin of this many
/// bytes.
fn with_plugin(parts: u32, plugin: usize) -> Vec<u8> {
    let square = build::square(&["wood"], &[]);
    let words = |at: usize| u32::from_le_bytes(*square[at..].first_chunk().unwrap()) as usize;
    let fields = &square[12..24 + words(16)];
    let extension = build::chunk(3, &build::chunk(0x1234, &vec![7; plugin]));
    let material = [
        build::chunk(1, &build::words(&[0, u32::MAX, 0, 0, 0, 0, 0])),
        extension,
    ];
    let materials = [
        build::chunk(1, &build::words(&[1, u32::MAX])),
        build::chunk(7, &material.concat()),
    ];
    let materials = build::chunk(8, &materials.concat());
    let geometry = [fields, &materials, &build::chunk(3, &[])].concat();
    let frames: Vec<_> = (0..=parts).map(|frame| format!("part{frame}")).collect();
    let frames: Vec<_> = frames
        .iter()
        .enumerate()
        .map(|(number, name)| (name.as_str(), if number == 0 { -1 } else { 0 }))
        .collect();
    let atomics: Vec<_> = (1..=parts).map(|frame| build::atomic(frame, 0)).collect();
    let geometries = [build::chunk(0x0F, &geometry)];
    build::clump(&build::frames(&frames), &geometries, &atomics, &[])
}

#[test]
fn a_large_material_is_compared_once_for_all_parts() {
    let asset = with_plugin(4000, 16 << 20);
    let file = rendered(&dff::FORMAT, &asset, "model.glb").unwrap();
    let took = timed(|| {
        let imported = edited(&dff::FORMAT, &asset, "model.glb", &file);
        assert_eq!(imported, Ok(Imported::Unchanged));
    });
    assert!(took < second(), "{took:?}");
}

#[test]
fn new_parts_that_share_a_mesh_take_a_bounded_number_of_bytes() {
    let asset = with_plugin(1, 33 << 20);
    let file = rendered(&dff::FORMAT, &asset, "model.glb").unwrap();
    let import = |copies: usize| {
        let file = resaved(&file, |scene| {
            let part = scene.nodes.iter().find(|node| node.name == "part1");
            let (parent, mesh) = part.map(|part| (part.parent, part.mesh)).unwrap();
            let nodes = (1..=copies).map(|number| Node {
                name: format!("part1.{number:03}"),
                parent,
                transform: Transform::IDENTITY,
                mesh,
            });
            let nodes: Vec<_> = nodes.collect();
            scene.nodes.extend(nodes);
        });
        edited(&dff::FORMAT, &asset, "model.glb", &file)
    };
    assert!(matches!(import(1), Ok(Imported::Changed(_))));
    let refused = import(2).unwrap_err();
    assert_eq!(refused, "the new parts have more than 67108864 bytes");
}

/// Returns a scene with many materials of one color.
fn with_materials(name: &str, color: [f32; 4]) -> Scene<'static> {
    let materials = (0..1 << 17).map(|number| Material {
        name: format!("{name} {number}"),
        color,
        ..Material::plain()
    });
    Scene {
        nodes: vec![Node {
            name: "root".to_owned(),
            parent: None,
            transform: Transform::IDENTITY,
            mesh: None,
        }],
        materials: materials.collect(),
        ..Scene::default()
    }
}

#[test]
fn many_materials_are_found_by_their_color() {
    let shown = with_materials("shown", [1.0, 0.0, 0.0, 1.0]);
    let edited = Edited {
        scene: with_materials("new", [1.0, 0.0, 0.0, 0.5]),
        ..Edited::default()
    };
    let took = timed(|| {
        let pairing = Pairing::new(&shown, &edited).unwrap();
        assert_eq!(pairing.with_materials_by_color().repainted().count(), 0);
    });
    assert!(took < second(), "{took:?}");
}
