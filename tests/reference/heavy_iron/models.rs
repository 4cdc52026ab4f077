//! The models in the sample HIP archives beside the repository, compared with
//! the triangles that they were generated from.

use std::collections::BTreeMap;
use std::path::Path;

use crate::heavy_iron::samples::{Archive, Asset, archives, text};
use hpimount_heavy_iron::model::{self, Model};
use hpimount_renderware::clump::{Clump, Placement, Vertices};
use serde_json::{Value as Json, json};

/// A triangle in the space of its clump: a texture, and for each corner its
/// position and texture coordinates, in thousandths. The least corner is first.
type Triangle = (String, [[i64; 5]; 3]);

/// Triangles, and how often each occurs.
type Triangles = BTreeMap<Triangle, usize>;

fn add(triangles: &mut Triangles, texture: &str, corners: [[f64; 5]; 3]) {
    let mut corners = corners.map(|corner| corner.map(|value| (value * 1000.0).round() as i64));
    let least = (0..3).min_by_key(|&index| corners[index]).unwrap();
    corners.rotate_left(least);
    *triangles.entry((texture.to_owned(), corners)).or_default() += 1;
}

fn known(path: &Path) -> Triangles {
    let mut triangles = Triangles::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let mut words = line.split('\t');
        let texture = words.next().unwrap();
        let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        add(
            &mut triangles,
            texture,
            numbers
                .as_chunks()
                .0
                .try_into()
                .unwrap_or_else(|_| panic!("{line}")),
        );
    }
    triangles
}

fn ours(clump: &Clump) -> Triangles {
    let mut triangles = Triangles::new();
    let placements = clump.placements();
    for atomic in &clump.atomics {
        let geometry = clump.geometry_of(atomic).unwrap();
        let mesh = geometry.mesh().expect("the vertices are supported");
        let placement = atomic
            .frame
            .map_or(Placement::IDENTITY, |frame| placements[frame]);
        for part in &mesh.parts {
            let material = &geometry.materials[geometry.material_entries[part.material as usize]];
            let texture = match &material.texture {
                Some(texture) => texture.name.clone(),
                None => format!("mat{}", part.material),
            };
            for triangle in &part.triangles {
                let corner = |index: u32| {
                    let [x, y, z] = placement.placed(mesh.positions[index as usize]);
                    let [u, v] = mesh.uvs[0][index as usize];
                    [x, y, z, u, v].map(f64::from)
                };
                add(&mut triangles, &texture, triangle.map(corner));
            }
        }
    }
    triangles
}

fn is_info(asset: &Asset) -> bool {
    asset.layer == "JSPINFO"
}

fn each(mut check: impl FnMut(&Archive, &Asset, &str, &Model)) {
    let mut seen = 0;
    for archive in archives(false) {
        for asset in archive
            .of_types(&["MODL", "JSP", "BSP"])
            .filter(|asset| !is_info(asset))
        {
            let shown = format!("{}: {}", archive.name, asset.name);
            let model = model::parse(&asset.bytes);
            if asset.name.starts_with("xbox_native") {
                // The samples are wrong: their sizes are too large by 4.
                assert!(model.is_err(), "{shown}");
                seen += 1;
                continue;
            }
            let model = model.unwrap_or_else(|incomplete| panic!("{shown}: {}", incomplete.error));
            assert!(model.warnings.is_empty(), "{shown}: {:?}", model.warnings);
            check(&archive, asset, &shown, &model);
            seen += 1;
        }
    }
    assert!(seen >= 39 || archives(false).is_empty(), "{seen}");
}

#[test]
fn models_have_the_triangles_that_they_were_generated_from() {
    let mut compared = 0;
    each(|archive, asset, shown, model| {
        let [clump] = &model.clumps[..] else {
            panic!("{shown} has {} clumps", model.clumps.len());
        };
        let golden = archive
            .goldens()
            .remove(&format!("source/{}.tris.tsv", asset.hex()));
        let Some(golden) = golden else {
            return;
        };
        let (known, ours) = (known(&golden), ours(clump));
        assert!(
            known == ours,
            "{shown}: {known:?} are known, ours are {ours:?}"
        );
        compared += 1;
    });
    assert!(compared >= 33 || archives(false).is_empty(), "{compared}");
}

#[test]
fn matrices_in_display_lists_are_detected() {
    each(|_, asset, shown, model| {
        let geometry = &model.clumps[0].geometries[0];
        let Vertices::GameCube(gx) = &geometry.vertices else {
            return;
        };
        let has_matrices = asset.name == "gx_skin_extra_byte.dff";
        assert_eq!(gx.has_matrices(), has_matrices, "{shown}");
        let mesh = geometry.mesh().unwrap();
        assert_eq!(mesh.matrices.is_empty(), !has_matrices, "{shown}");
        assert!(
            mesh.matrices
                .iter()
                .all(|matrix| [0, 3, 6].contains(matrix)),
            "{shown}"
        );
        let count = mesh.positions.len();
        for other in [mesh.normals.len(), mesh.colors.len(), mesh.matrices.len()] {
            assert!(other == 0 || other == count, "{shown}");
        }
    });
}

#[test]
fn skins_and_skeletons_of_plain_models_are_read() {
    each(|_, asset, shown, model| {
        if asset.name != "skinned_plain.dff" {
            return;
        }
        let clump = &model.clumps[0];
        let geometry = &clump.geometries[0];
        let skin = geometry.skin.as_ref().expect("has a skin");
        assert_eq!(
            (skin.bones, skin.indices().count()),
            (2, geometry.declared_vertices as usize)
        );
        assert!(
            skin.weights()
                .all(|weights| weights == [1.0, 0.0, 0.0, 0.0]),
            "{shown}"
        );
        assert_eq!(skin.indices().nth(1), Some([1, 0, 0, 0]));
        assert_eq!(skin.matrices().count(), 2);
        let nodes: Vec<_> = clump
            .frames
            .iter()
            .map(|frame| frame.node.as_ref().unwrap())
            .collect();
        assert_eq!(
            nodes.iter().map(|node| node.id).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert_eq!(nodes[1].bones, [[1, 0, 0], [2, 1, 1]]);
    });
}

#[test]
fn level_info_matches_the_independent_reader() {
    let mut seen = 0;
    for archive in archives(false) {
        for asset in archive.assets.iter().filter(|asset| is_info(asset)) {
            let info = model::parse_jsp_info(&asset.bytes, &archive.facts).unwrap();
            assert!(info.warnings.is_empty(), "{:?}", info.warnings);
            let lines = archive.goldens()[&format!("{}.HIP.ndjson", archive.name)].clone();
            let lines = std::fs::read_to_string(lines).unwrap();
            let facts = lines
                .lines()
                .map(|line| serde_json::from_str::<Json>(line).unwrap());
            let known = facts
                .into_iter()
                .find(|facts| text(&facts["asset"]) == asset.name)
                .unwrap();
            let collision = info.collision.expect("has a tree");
            assert_eq!(known["branches"], json!(collision.branches.len()));
            assert_eq!(known["triangles"], json!(collision.triangles.len()));
            assert_eq!(known["version"], json!(info.version));
            assert_eq!(known["nodes"].as_array().unwrap().len(), info.nodes.len());
            let vectors = known.get("strip_vecs").cloned().unwrap_or(json!(0));
            assert_eq!(vectors, json!(info.vectors.len()));
            seen += 1;
        }
    }
    assert!(seen >= 2 || archives(false).is_empty(), "{seen}");
}
