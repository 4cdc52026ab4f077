//! Import of edited GLB files as DFF: geometry in the platform-independent form, and
//! the places of frames.

use bytes::Bytes;

use super::export::{self, ExportPlan, FIRST_FRAME};
use super::parse::{self, BREAKABLE};
use super::{Dff, plan};
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::edited::Edited;
use hpimount_assets::model::gltf;
use hpimount_assets::model::pairing::Pairing;
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_renderware::clump::{Clump, Geometry, Vertices};
use hpimount_renderware::rewrite::{self, Bodies, ClumpSource, ModelEdit, NewPart, ShownGeometry};
use hpimount_renderware::{Chunk, Chunks, kind};

/// Encodes an edited model.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let parsed =
        |file: &Bytes| parse::parse(file).map_err(|incomplete| incomplete.error.to_string());
    let model = parsed(edit.asset)?;
    let number = plan::clump_of(edit.part, &model);
    let number = number.ok_or_else(|| format!("{NOT_THIS_FILE}: edit model.glb"))?;
    let edited = gltf::read(edit.file, &|bytes| edit.context.reserve(bytes))?;
    let (asset, warnings) = changed(edit, edit.asset, (&model, number), &edited)?;
    let Some(asset) = asset else {
        return Ok(Imported::same(edit.asset, warnings));
    };
    let written = Bytes::copy_from_slice(&asset);
    let again = changed(edit, &written, (&parsed(&written)?, number), &edited);
    if !matches!(again, Ok((None, _))) {
        return Err("was not stored as written".to_owned());
    }
    Ok(Imported::Changed(Changed {
        asset,
        warnings,
        ..Changed::default()
    }))
}

/// Returns the reason why a model cannot be edited.
pub(super) fn refusal(edit: &Edit<'_>) -> Option<String> {
    let model = parse::parse(edit.asset).ok()?;
    rewrite::refusal(model.clumps.first()?)
}

/// Returns the new file, if a clump differs, and warnings.
fn changed(
    edit: &Edit<'_>,
    file: &Bytes,
    (model, number): (&Dff, usize),
    edited: &Edited,
) -> Result<(Option<Vec<u8>>, Vec<String>), String> {
    let plan = plan::plan(model, edit.context);
    let missing = || "shows a clump that is not there".to_owned();
    let clump = model.clumps.get(number).ok_or_else(missing)?;
    let chunk = clump_chunk(file, number).ok_or_else(missing)?;
    let memory = edit.context.reserve_scene(export::sizes(clump).0);
    let _memory = memory.map_err(|error| error.to_string())?;
    let mut problems = Problems::default();
    let (bodies, parts, warnings) = new_parts(&plan, clump, chunk, edited, &mut problems)?;
    problems.check()?;
    if bodies.is_empty() && parts.is_empty() {
        return Ok((None, warnings));
    }
    let new = rewrite::replaced(file, &bodies)?;
    if parts.is_empty() {
        return Ok((Some(new), warnings));
    }
    let new = Bytes::from(new);
    let chunk = clump_chunk(&new, number).ok_or_else(missing)?;
    let body = rewrite::with_parts(&chunk, &parts)?;
    let bodies = Bodies::from([(chunk.offset, body)]);
    Ok((Some(rewrite::replaced(&new, &bodies)?), warnings))
}

/// Returns the new bodies of the chunks of a clump, its new parts, and warnings.
fn new_parts(
    plan: &ExportPlan,
    clump: &Clump,
    chunk: Chunk,
    edited: &Edited,
    problems: &mut Problems,
) -> Result<(Bodies, Vec<NewPart>, Vec<String>), String> {
    let (scene, drawn) = plan.drawn(clump);
    let pairing = Pairing::new(&scene, edited)?.with_materials_by_color();
    let frames = FIRST_FRAME..FIRST_FRAME + clump.frames.len();
    let placed = pairing.placed(|node| frames.contains(&node));
    let shown: Vec<_> = drawn
        .iter()
        .map(|&(node, geometry)| ShownGeometry {
            node,
            clump: 0,
            geometry,
            back: is_straight(&pairing, node, &clump.geometries[geometry])
                .then_some(Affine::IDENTITY),
            is_brightened: false,
        })
        .collect();
    let mut changes = Vec::new();
    for (node, placed) in placed.iter().enumerate() {
        changes.extend(node.checked_sub(FIRST_FRAME).zip(placed.changed));
    }
    let model = ModelEdit {
        clumps: &[ClumpSource {
            clump,
            chunk: chunk.clone(),
        }],
        pairing: &pairing,
        placed: &placed,
        is_counted: is_breakable,
        adds: true,
    };
    let warnings = model.warnings(&shown);
    let mut bodies = model.bodies(&shown, problems);
    if let Err(problem) = rewrite::frames(&chunk, clump, &changes, &mut bodies) {
        problems.add(problem);
    }
    let parts = model.new_parts(&shown, FIRST_FRAME, problems);
    Ok((bodies, parts, warnings))
}

/// Returns whether a node shows the stored points of a geometry. A sheared frame bends
/// them.
fn is_straight(pairing: &Pairing<'_>, node: usize, geometry: &Geometry) -> bool {
    let mesh = pairing.shown.nodes[node].mesh;
    let mesh = mesh.and_then(|mesh| pairing.shown.meshes.get(mesh));
    let is_plain = matches!(geometry.vertices, Vertices::Plain(_));
    let shape = geometry.morphs.first().filter(|_| is_plain);
    mesh.zip(shape)
        .is_none_or(|(mesh, shape)| mesh.points.iter().copied().eq(shape.positions()))
}

/// Returns whether a geometry is stored with the pieces that it breaks into.
fn is_breakable(geometry: &Geometry) -> bool {
    let plugin = geometry.plugins.find(BREAKABLE);
    plugin.is_some_and(|plugin| plugin.body.first_chunk() != Some(&[0; 4]))
}

/// Returns the chunk of a clump of a model.
fn clump_chunk(file: &Bytes, number: usize) -> Option<Chunk> {
    let chunks = Chunks::new(file.clone(), 0);
    let mut clumps = chunks.filter(|chunk| matches!(chunk.kind, kind::CLUMP | kind::ATOMIC));
    clumps.nth(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dff::FORMAT;
    use fixtures::clump as build;
    use hpimount_assets::model::scene::{Corner, Node, Part};
    use hpimount_assets::model::{Scene, Transform};
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered;

    /// Returns a model of two parts with a shared geometry that has a list of triangles
    /// by material.
    fn model() -> Vec<u8> {
        let meshes = build::words(&[0, 2, 6, 3, 0, 0, 1, 2, 3, 1, 2, 3, 1]);
        let plugins = [build::chunk(kind::BIN_MESH, &meshes)];
        let square = build::square(&["wood", "stone"], &plugins);
        let frames = build::frames(&[("root", -1), ("arm", 0), ("hand", 1)]);
        let atomics = [build::atomic(1, 0), build::atomic(2, 1)];
        let geometries = [square.clone(), square];
        build::clump(&frames, &geometries, &atomics, &[])
    }

    fn import(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Result<Imported, String> {
        let file = rendered(&FORMAT, asset, "model.glb").unwrap();
        edited(&FORMAT, asset, "model.glb", &fixtures::resaved(&file, edit))
    }

    fn changed(asset: &[u8], edit: impl FnOnce(&mut Scene<'static>)) -> Vec<u8> {
        match import(asset, edit) {
            Ok(Imported::Changed(changed)) => changed.asset,
            other => panic!("{other:?}"),
        }
    }

    fn read(asset: &[u8]) -> Dff {
        let model = parse::parse(&Bytes::copy_from_slice(asset)).unwrap();
        assert_eq!(model.warnings.texts(), [""; 0]);
        model
    }

    fn mesh_of(scene: &Scene<'_>, name: &str) -> usize {
        let node = scene.nodes.iter().find(|node| node.name == name);
        node.unwrap().mesh.unwrap()
    }

    #[test]
    fn the_file_of_a_model_is_no_change() {
        assert_eq!(import(&model(), |_| ()), Ok(Imported::Unchanged));
    }

    #[test]
    fn a_moved_vertex_changes_its_bytes_and_the_sphere() {
        let asset = model();
        let new = changed(&asset, |scene| {
            let mesh = mesh_of(scene, "hand");
            scene.meshes[mesh].points[3] = [4.0, 4.0, 2.0];
        });
        assert_eq!(new.len(), asset.len());
        let (old, new) = (read(&asset), read(&new));
        let [old, new] = [old, new].map(|mut model| model.clumps.remove(0).geometries);
        let shape = &new[1].morphs[0];
        let positions: Vec<_> = shape.positions().collect();
        assert_eq!(positions[3], [4.0, 4.0, 2.0]);
        assert_eq!(shape.sphere, [2.0, 2.0, 1.0, 3.0]);
        assert!(old[0].mesh() == new[0].mesh());
        assert_eq!(new[0].morphs[0].sphere, old[0].morphs[0].sphere);
    }

    proptest! {
        #[test]
        fn any_moved_vertices_change_their_own_bytes_and_the_sphere(
            moved in proptest::collection::vec((0..4_usize, any::<[i16; 3]>()), 1..4),
        ) {
            let asset = model();
            let moved: Vec<_> = moved
                .into_iter()
                .map(|(vertex, place)| (vertex, place.map(|part| f32::from(part) / 64.0)))
                .collect();
            let mut expected = [[0.0; 3]; 4];
            let new = changed(&asset, |scene| {
                let mesh = mesh_of(scene, "hand");
                let points = &mut scene.meshes[mesh].points;
                moved.iter().for_each(|&(vertex, place)| points[vertex] = place);
                expected.copy_from_slice(points);
            });
            prop_assert_eq!(new.len(), asset.len());
            let differ = (0..asset.len()).filter(|&at| asset[at] != new[at]).count();
            // Twelve bytes of each vertex, and sixteen of the sphere.
            prop_assert!(differ <= 12 * moved.len() + 16, "{}", differ);
            let [old, new] = [&asset, &new].map(|asset| read(asset).clumps.remove(0).geometries);
            let found: Vec<_> = new[1].morphs[0].positions().collect();
            prop_assert_eq!(&found, &expected);
            prop_assert!(old[0].mesh() == new[0].mesh());
        }
    }

    #[test]
    fn a_moved_frame_changes_only_its_place() {
        let asset = model();
        let new = changed(&asset, |scene| {
            let arm = scene
                .nodes
                .iter_mut()
                .find(|node| node.name == "arm")
                .unwrap();
            arm.transform.translation = [1.0, 9.0, 3.0];
        });
        let differ = asset
            .iter()
            .zip(&new)
            .filter(|(old, new)| old != new)
            .count();
        assert!(
            new.len() == asset.len() && (1..=4).contains(&differ),
            "{differ}"
        );
        let frames = read(&new).clumps.remove(0).frames;
        assert_eq!(frames[1].placement.position, [1.0, 9.0, 3.0]);
    }

    #[test]
    fn a_moved_node_that_is_no_frame_moves_its_geometry() {
        let frames = build::frames(&[("root", -1), ("door_dam", 0), ("hinge", 1)]);
        let squares = [build::square(&["wood"], &[]), build::square(&["wood"], &[])];
        let atomics = [build::atomic(1, 0), build::atomic(2, 1)];
        let asset = build::clump(&frames, &squares, &atomics, &[]);
        let new = changed(&asset, |scene| {
            let mut nodes = scene.nodes.iter_mut();
            let node = nodes.find(|node| node.name == "door_dam mesh").unwrap();
            node.transform.translation = [0.0, 0.0, 4.0];
        });
        let clump = read(&new).clumps.remove(0);
        let positions: Vec<_> = clump.geometries[0].morphs[0].positions().collect();
        assert!(positions.iter().all(|position| position[2] == 4.0));
        let old = read(&asset).clumps.remove(0);
        let places = |clump: &Clump| -> Vec<_> {
            let frames = clump.frames.iter();
            frames.map(|frame| frame.placement.position).collect()
        };
        assert_eq!(places(&clump), places(&old));
        assert_eq!(clump.geometries[1].mesh(), old.geometries[1].mesh());
    }

    #[test]
    fn other_triangles_and_materials_make_the_geometry_anew() {
        let asset = model();
        let new = changed(&asset, |scene| {
            let mesh = mesh_of(scene, "hand");
            let mut material = scene.materials[0].clone();
            material.name = "gold.001".to_owned();
            material.color = [1.0, 0.0, 0.0, 1.0];
            let material_number = scene.materials.len();
            scene.materials.push(material);
            let mesh = &mut scene.meshes[mesh];
            let corner = mesh.corners[0];
            mesh.points.push([5.0, 0.0, 0.0]);
            let point = mesh.points.len() as u32 - 1;
            mesh.corners.push(Corner { point, ..corner });
            let last = mesh.corners.len() as u32 - 1;
            let mut part = mesh.parts[0].clone();
            part.material = material_number;
            part.triangles = vec![[1, last, 3]];
            mesh.parts.push(part);
        });
        let (mut old, mut new) = (read(&asset), read(&new));
        let [old, new] = [&mut old, &mut new].map(|model| model.clumps.remove(0).geometries);
        assert!(old[0].mesh() == new[0].mesh());
        let geometry = &new[1];
        assert_eq!(
            (geometry.declared_triangles, geometry.declared_vertices),
            (3, 5)
        );
        assert_eq!(geometry.materials.len(), 3);
        assert_eq!(geometry.materials[2].color, [255, 0, 0, 255]);
        assert_eq!(geometry.meshes.len(), 3);
        assert!(!geometry.is_strips);
        let listed = geometry
            .meshes
            .iter()
            .map(|mesh| (mesh.material, mesh.count));
        assert_eq!(Vec::from_iter(listed), [(0, 3), (1, 3), (2, 3)]);
    }

    #[test]
    fn a_material_of_another_geometry_is_copied() {
        let textures: [&[&str]; 4] = [&[], &["wood"], &["stone"], &["glass"]];
        let squares = textures.map(|textures| build::square(textures, &[]));
        let frames = build::frames(&[("root", -1), ("a", 0), ("b", 0), ("c", 0), ("d", 0)]);
        let atomics = [0, 1, 2, 3].map(|number| build::atomic(number + 1, number));
        let asset = build::clump(&frames, &squares, &atomics, &[]);
        let new = changed(&asset, |scene| {
            let glass = |part: &Part| scene.materials[part.material].name.starts_with("glass");
            let of_d = &scene.meshes[mesh_of(scene, "d")].parts[0];
            assert!(glass(of_d));
            let glass = of_d.material;
            let mesh = mesh_of(scene, "b");
            scene.meshes[mesh].parts[0].material = glass;
        });
        let model = parse::parse(&new.into()).unwrap();
        let names = textures_of(&model.clumps[0].geometries[1]);
        assert_eq!(names, ["wood", "glass"]);
    }

    fn textures_of(geometry: &Geometry) -> Vec<&str> {
        let textures = geometry.materials.iter();
        let textures = textures.filter_map(|one| one.texture.as_ref());
        textures.map(|texture| texture.name.as_str()).collect()
    }

    #[test]
    fn a_new_material_has_the_texture_of_its_picture() {
        let asset = model();
        let file = rendered(&FORMAT, &asset, "model.glb").unwrap();
        let file = fixtures::resaved(&file, |scene| {
            let hand = mesh_of(scene, "hand");
            scene.meshes[hand].parts[0].material = scene.materials.len();
            scene.materials.push(scene.materials[0].clone());
        });
        let file = fixtures::glb_with_json(&file, |json| {
            json["images"] = fixtures::json!([{"name": "chrome", "bufferView": 0}]);
            json["textures"] = fixtures::json!([{"source": 0}]);
            let materials = json["materials"].as_array_mut().unwrap();
            let material = materials.last_mut().unwrap();
            material["name"] = "shiny".into();
            material["pbrMetallicRoughness"]["baseColorTexture"] = fixtures::json!({"index": 0});
        });
        let Ok(Imported::Changed(changed)) = edited(&FORMAT, &asset, "model.glb", &file) else {
            panic!("is changed");
        };
        let model = read(&changed.asset);
        let names = textures_of(&model.clumps[0].geometries[1]);
        assert_eq!(names, ["wood", "stone", "chrome"]);
    }

    #[test]
    fn what_a_geometry_cannot_have_is_a_warning() {
        let imported = import(&model(), |scene| {
            let hand = mesh_of(scene, "hand");
            let mesh = &mut scene.meshes[hand];
            mesh.points[0] = [9.0; 3];
            mesh.corners
                .iter_mut()
                .for_each(|corner| corner.color[1] = 7);
            let stone = scene
                .materials
                .iter_mut()
                .find(|one| one.name.starts_with("stone"));
            stone.unwrap().color = [0.5, 0.0, 0.0, 1.0];
        });
        let Ok(Imported::Changed(changed)) = imported else {
            panic!("{imported:?}");
        };
        let [material, node] = &changed.warnings[..] else {
            panic!("{:?}", changed.warnings);
        };
        assert!(material.starts_with("material \"stone"), "{material}");
        assert_eq!(node, "node \"hand\": its mesh cannot have colors");
    }

    #[test]
    fn what_a_geometry_cannot_have_is_a_warning_also_without_other_changes() {
        let asset = model();
        let imported = import(&asset, |scene| {
            let hand = mesh_of(scene, "hand");
            let corners = &mut scene.meshes[hand].corners;
            corners.iter_mut().for_each(|corner| corner.color[1] = 7);
        });
        let Ok(Imported::Changed(changed)) = imported else {
            panic!("{imported:?}");
        };
        assert_eq!(
            changed.warnings,
            ["node \"hand\": its mesh cannot have colors"]
        );
        assert_eq!(changed.asset, asset);
    }

    #[test]
    fn a_primitive_without_triangles_is_no_part() {
        let asset = model();
        let file = rendered(&FORMAT, &asset, "model.glb").unwrap();
        let file = fixtures::resaved(&file, |scene| {
            let mesh = mesh_of(scene, "hand");
            let mesh = &mut scene.meshes[mesh];
            mesh.parts[0].triangles.push([1, 2, 0]);
            let empty = mesh.parts[1].clone();
            mesh.parts.push(empty);
            scene.materials.push(scene.materials[0].clone());
        });
        let file = fixtures::glb_with_json(&file, |json| {
            let material = json["materials"].as_array().unwrap().len() - 1;
            let accessors = json["accessors"].as_array_mut().unwrap();
            let last = accessors.len() - 1;
            accessors[last]["count"] = 0.into();
            let primitives = &mut json["meshes"][1]["primitives"];
            assert_eq!(primitives[2]["indices"], last);
            primitives[2]["material"] = material.into();
        });
        let Ok(Imported::Changed(changed)) = edited(&FORMAT, &asset, "model.glb", &file) else {
            panic!("is changed");
        };
        let geometry = &read(&changed.asset).clumps[0].geometries[1];
        assert_eq!(
            (geometry.declared_triangles, geometry.materials.len()),
            (3, 2)
        );
    }

    fn mesh_node(scene: &Scene<'_>, name: &str) -> usize {
        let mut nodes = scene.nodes.iter();
        nodes.position(|node| node.name == name).unwrap()
    }

    #[test]
    fn a_new_node_becomes_a_frame_of_the_first_list() {
        let frames = build::frames(&[("root", -1), ("arm", 0)]);
        let atomics = [build::atomic(1, 0), build::frames(&[("other", -1)])];
        let square = build::square(&["wood"], &[]);
        let asset = build::clump(&frames, &[square], &atomics, &[]);
        let new = changed(&asset, |scene| {
            let arm = mesh_node(scene, "arm");
            scene.nodes.push(Node {
                name: "dummy".to_owned(),
                parent: Some(arm),
                transform: Transform::IDENTITY,
                mesh: None,
            });
        });
        let model = parse::parse(&Bytes::from(new)).unwrap();
        let frames = &model.clumps[0].frames;
        let names: Vec<_> = frames.iter().map(|frame| frame.name.as_str()).collect();
        assert_eq!(names, ["root", "arm", "dummy"]);
    }

    #[test]
    fn new_nodes_become_frames_behind_their_parents_and_parts_with_their_meshes() {
        let asset = model();
        let at = |translation: [f32; 3]| Transform {
            translation,
            ..Transform::IDENTITY
        };
        let new = changed(&asset, |scene| {
            let [arm, hand] = ["arm", "hand"].map(|name| mesh_node(scene, name));
            let copied = scene.nodes[hand].mesh;
            let mut other = scene.meshes[copied.unwrap()].clone();
            other.points[2] = [4.0, 4.0, 2.0];
            other.parts.truncate(1);
            let mesh = Some(scene.meshes.len());
            scene.meshes.push(other);
            let first = scene.nodes.len();
            let mut add = |name: &str, parent, transform, mesh| {
                scene.nodes.push(Node {
                    name: name.to_owned(),
                    parent: Some(parent),
                    transform,
                    mesh,
                });
            };
            // The part precedes its parent frame.
            add("finger", first + 1, at([0.0, 0.5, 0.0]), mesh);
            add("seat_dummy", arm, at([1.0, 2.0, 3.0]), None);
            add("hand.001", arm, at([0.0, 0.0, 7.0]), copied);
        });
        let (old, new) = (read(&asset), read(&new));
        let (old, new) = (&old.clumps[0], &new.clumps[0]);
        let frames = new.frames.iter().skip(old.frames.len());
        let frames = frames.map(|one| (one.name.as_str(), one.parent, one.placement.position));
        let arm = old.frames.iter().position(|frame| frame.name == "arm");
        let dummy = Some(old.frames.len());
        assert_eq!(
            Vec::from_iter(frames),
            [
                ("seat_dummy", arm, [1.0, 2.0, 3.0]),
                ("hand.001", arm, [0.0, 0.0, 7.0]),
                ("finger", dummy, [0.0, 0.5, 0.0]),
            ]
        );
        let [.., hand, finger] = &new.geometries[..] else {
            panic!("has too few geometries");
        };
        assert_eq!(new.geometries.len(), old.geometries.len() + 2);
        assert!(hand.mesh() == old.geometries[1].mesh());
        let positions: Vec<_> = finger.morphs[0].positions().collect();
        assert!(positions.contains(&[4.0, 4.0, 2.0]), "{positions:?}");
        let atomics = new.atomics.iter().skip(old.atomics.len());
        let atomics: Vec<_> = atomics.map(|one| (one.frame, one.geometry)).collect();
        let (frames, geometries) = (old.frames.len(), old.geometries.len());
        let expected = [1, 2].map(|part| (Some(frames + part), Some(geometries + part - 1)));
        assert_eq!(atomics, expected);
    }

    #[test]
    fn what_a_dff_cannot_have_is_refused() {
        let asset = model();
        let refused = |edit: &dyn Fn(&mut Scene<'static>)| import(&asset, edit).unwrap_err();
        let error = refused(&|scene| scene.nodes.truncate(3));
        assert_eq!(error, "node \"hand\" is gone: parts cannot be deleted");
        let named = |name: &str, parent: usize| Node {
            name: name.to_owned(),
            parent: Some(parent),
            transform: Transform::IDENTITY,
            mesh: None,
        };
        let long = "a".repeat(24);
        let error = refused(&|scene| scene.nodes.push(named(&long, 2)));
        let expected = format!("node \"{long}\" is new: its name must have 1 to 23 letters");
        assert_eq!(error, expected);
        let error = edited(&FORMAT, &asset, "preview.png", b"").unwrap_err();
        assert!(error.ends_with("edit model.glb"), "{error}");
    }

    #[test]
    fn native_geometry_is_refused_with_its_console() {
        let square = build::mobile_square("wood");
        let frames = build::frames(&[("root", -1)]);
        let asset = build::clump(&frames, &[square], &[build::atomic(0, 0)], &[]);
        assert_eq!(import(&asset, |_| ()), Ok(Imported::Unchanged));
        let error = import(&asset, |scene| {
            let root = mesh_node(scene, "root");
            scene.nodes.push(Node {
                name: "copy".to_owned(),
                parent: Some(root),
                transform: Transform::IDENTITY,
                mesh: Some(0),
            });
        });
        let expected = "node \"copy\" is new: no part of the model is a plain geometry, whose form \
                        it could have";
        assert_eq!(error, Err(expected.to_owned()));
        let error = import(&asset, |scene| scene.meshes[0].points[0] = [9.0; 3]);
        let expected = "node \"root\": is native OpenGL geometry: only plain models can be edited";
        assert_eq!(error, Err(expected.to_owned()));
    }
}
