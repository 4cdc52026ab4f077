//! Import of edited maps: objects that were moved, rotated, copied or deleted in
//! `map.glb` become changes of rows of the section `inst`.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use super::objects::{Object, Objects};
use super::scene;
use crate::models;
use hpimount_assets::model::affine::Affine;
use hpimount_assets::model::pairing::{Pairing, numbered};
use hpimount_assets::model::{Transform, gltf};
use hpimount_assets::view::edited_table::{Added, Change, Deleted, Differences};
use hpimount_assets::view::import::{Edit, Problems};

/// The columns of positions, and of stored rotations.
const PLACE: [&str; 3] = ["x", "y", "z"];
const ROTATION: [&str; 4] = ["rx", "ry", "rz", "rw"];

/// Differences of rotations that are rounding.
const NOTHING: f32 = 1e-5;

/// The row of an object: its line, and its fields by name.
pub(super) trait Row {
    /// Returns the line of a row.
    fn line(&self, row: usize) -> u64;

    /// Returns the fields of a row.
    fn fields(&self, row: usize) -> Vec<(String, String)>;
}

/// Returns the changes of object rows by an edited `map.glb`. Fails with all invalid
/// changes, by node name.
pub(super) fn differences(
    edit: &Edit<'_>,
    objects: &Objects,
    rows: &dyn Row,
) -> Result<Differences, String> {
    let models = models::models(edit.context);
    let mut built = scene::build(objects, &models, edit.context);
    built.room.clear();
    let edited = gltf::read(edit.file, &|bytes| edit.context.reserve(bytes))?;
    let pairing = Pairing::new(&built.scene, &edited)?;
    let mut map = Map {
        pairing: &pairing,
        rows,
        root: root(&pairing)?,
        found: Differences::default(),
        problems: Problems::default(),
        by_name: HashMap::new(),
    };
    let nodes: HashSet<usize> = built.objects.iter().copied().flatten().collect();
    for (node, what) in pairing.altered(&|node| nodes.contains(&node)) {
        map.refuse(&pairing.shown.nodes[node].name, &what);
    }
    let placed = pairing.placed(|_| true);
    for (object, node) in objects.objects.iter().zip(&built.objects) {
        let Some(node) = *node else { continue };
        map.object(object, node, placed[node].changed);
    }
    let parts = parts(&pairing, &nodes);
    let copies = pairing.new_roots();
    let copies = copies.filter_map(|node| Some((node, map.original(node, &parts)?)));
    let copies: Vec<(usize, Original<'_>)> = copies.collect();
    let originals = copies.iter().map(|(node, original)| (*node, original.node));
    for (node, what) in pairing.altered_copies(&originals.collect::<Vec<_>>()) {
        map.refuse(&edited.scene.nodes[node].name, &what);
    }
    for (node, original) in copies {
        map.copy(node, original.object);
    }
    map.problems.check()?;
    Ok(map.found)
}

/// Returns the map from the edited scene to the axes of the game, which its root turns.
/// Without the root, all groups and objects would count as deleted.
fn root(pairing: &Pairing<'_>) -> Result<Affine, String> {
    let name = &pairing.shown.nodes[0].name;
    let root = pairing.nodes[0]
        .ok_or_else(|| format!("node \"{name}\": is gone, which has all objects: export it too"))?;
    let inverse = pairing.world(root).inverse();
    inverse.ok_or_else(|| format!("node \"{name}\": is scaled to nothing"))
}

/// Returns the edited nodes below the nodes of objects.
fn parts(pairing: &Pairing<'_>, objects: &HashSet<usize>) -> HashSet<usize> {
    let (children, _) = pairing.edited.scene.children();
    let of_objects = pairing.origins.iter().zip(&children);
    let of_objects =
        of_objects.filter(|(origin, _)| origin.is_some_and(|origin| objects.contains(&origin)));
    let mut pending: Vec<usize> = of_objects
        .flat_map(|(_, children)| children)
        .copied()
        .collect();
    let mut parts = HashSet::new();
    while let Some(node) = pending.pop() {
        if parts.insert(node) {
            pending.extend(&children[node]);
        }
    }
    parts
}

/// The original of a copied object, and its node.
#[derive(Clone, Copy)]
struct Original<'a> {
    object: &'a Object,
    node: usize,
}

struct Map<'a> {
    pairing: &'a Pairing<'a>,
    rows: &'a dyn Row,
    /// The map from the edited scene to the axes of the game.
    root: Affine,
    found: Differences,
    problems: Problems,
    /// The first object of each name.
    by_name: HashMap<String, Original<'a>>,
}

impl<'a> Map<'a> {
    fn refuse(&mut self, name: &str, problem: &dyn Display) {
        self.problems.add(format!("node \"{name}\": {problem}"));
    }

    fn object(&mut self, object: &'a Object, node: usize, changed: Option<Transform>) {
        let name = &self.pairing.shown.nodes[node].name;
        self.by_name
            .entry(name.to_ascii_lowercase())
            .or_insert(Original { object, node });
        let line = self.rows.line(object.row);
        let Some(found) = self.pairing.nodes[node] else {
            if self.pairing.deleted.contains(&node) {
                self.found.deleted.push(Deleted {
                    row: object.row,
                    line,
                });
            }
            return;
        };
        self.check_scale(found, name);
        let Some(changed) = changed else { return };
        let key = format!("node \"{name}\"");
        for (column, text) in changed_fields(object, &changed) {
            self.found.changes.push(Change {
                row: object.row,
                column: column.into(),
                text,
                line,
                key: key.as_str().into(),
            });
        }
    }

    /// Refuses a scaled node of an object.
    fn check_scale(&mut self, node: usize, name: &str) {
        let world = self.pairing.world(node);
        let is_scaled = |length: &f64| (length - 1.0).abs() > 1e-3;
        if world.lengths().iter().any(is_scaled) || world.is_mirror() {
            let problem = "is scaled, which the games do not do: scale its model";
            self.refuse(name, &problem);
        }
    }

    /// Returns the original of a new node. `parts` are the edited nodes of parts of
    /// objects.
    fn original(&mut self, node: usize, parts: &HashSet<usize>) -> Option<Original<'a>> {
        let name = &self.pairing.edited.scene.nodes[node].name;
        if parts.contains(&node) {
            self.refuse(name, &"is a part of an object, and cannot be added here");
            return None;
        }
        let stem = numbered(name).map_or(&**name, |(stem, _)| stem);
        let original = self.by_name.get(&stem.to_ascii_lowercase()).copied();
        if original.is_none() {
            self.refuse(name, &"is no copy of an object of this map, by its name");
        }
        original
    }

    /// Adds a row for a copied object: the row of the original, with its own placement.
    fn copy(&mut self, node: usize, object: &Object) {
        self.check_scale(node, &self.pairing.edited.scene.nodes[node].name);
        let place = self.root.after(self.pairing.world(node)).transform();
        let changed = changed_fields(object, &place);
        let cells = self
            .rows
            .fields(object.row)
            .into_iter()
            .map(|(name, text)| {
                let new = changed.iter().find(|(column, _)| *column == name);
                let text = match (new, name.as_str()) {
                    (Some((_, text)), _) => text.clone(),
                    (None, "lod") => "-1".to_owned(),
                    (None, _) => text,
                };
                (name.as_str().into(), text)
            });
        self.found.added.push(Added {
            line: self.rows.line(object.row),
            cells: cells.collect(),
        });
    }
}

/// Returns the fields of an object that a transformation changes.
fn changed_fields(object: &Object, place: &Transform) -> Vec<(&'static str, String)> {
    let parts = PLACE
        .into_iter()
        .zip(object.position.into_iter().zip(place.translation));
    let parts = parts.filter(|(_, (old, new))| (old - new).abs() > 1e-4 * old.abs().max(1.0));
    let mut fields: Vec<_> = parts
        .map(|(column, (_, new))| (column, number(new)))
        .collect();
    let same: f32 = (object.rotation.iter().zip(place.rotation))
        .map(|(old, new)| old * new)
        .sum();
    if 1.0 - same.abs() > NOTHING {
        // The file has the inverse, in the nearest of its two signs.
        let sign = if same < 0.0 { -1.0 } else { 1.0 };
        let [x, y, z, w] = place.rotation.map(|part| sign * part);
        let stored = [-x, -y, -z, w].map(|part| part + 0.0);
        fields.extend(ROTATION.into_iter().zip(stored.map(number)));
    }
    fields
}

/// Formats a number with the fewest digits that are exact except for rounding.
fn number(value: f32) -> String {
    let most = 1e-6 * value.abs().max(1.0);
    for digits in 0..6 {
        let text = format!("{value:.digits$}");
        let near = text
            .parse::<f32>()
            .is_ok_and(|near| (near - value).abs() <= most);
        if near {
            return if text == "-0" { "0".to_owned() } else { text };
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;
    use crate::document::schema::IPL;
    use crate::map::import::import_text;
    use crate::map::view::{IPL_FORMAT, write_map};
    use bytes::Bytes;
    use fixtures::clump as build;
    use hpimount_assets::model::Scene;
    use hpimount_assets::model::scene::Node;
    use hpimount_assets::view::import::Imported;
    use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, MakeShared, Shared, ViewFile};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A game with a model of two parts.
    struct Lamps;

    impl AssetContext for Lamps {
        fn name(&self) -> &str {
            "town.ipl"
        }

        fn find(&self, _: AssetKey<'_>) -> Option<AssetRef> {
            None
        }

        fn find_extensions(&self, _: &str, _: &[&str]) -> Vec<AssetRef> {
            Vec::new()
        }

        fn find_outside(&self, _: &[&str]) -> Vec<AssetRef> {
            vec![AssetRef(1)]
        }

        fn path_of(&self, _: AssetRef) -> String {
            "lamp.dff".to_owned()
        }

        fn read(&self, _: AssetRef) -> Option<Bytes> {
            let square = build::square(&["wood"], &[]);
            let frames = build::frames(&[("post", -1), ("bulb", 0)]);
            let atomics = [build::atomic(0, 0), build::atomic(1, 1)];
            let geometries = [square.clone(), square];
            Some(build::clump(&frames, &geometries, &atomics, &[]).into())
        }

        fn shared(&self, _: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            Some(make(self).into())
        }
    }

    const PLACED: &str = "inst\n1, lamp, 0, 10, 2, 0, 0, 0, 0, 1, -1\n\
                          1, lamp, 0, 20, 2, 0, 0, 0, 0, 1, -1\nend\n";

    /// Changes an edited scene.
    type ChangeScene = fn(&mut Scene<'static>);

    /// Returns a text file with an edited map.
    fn import(edit: impl FnOnce(&mut Scene<'static>)) -> Result<String, String> {
        let document = parse(PLACED.as_bytes(), &IPL).unwrap();
        let models = models::models(&Lamps);
        let objects = Objects::of_text(&document, &models, &Lamps);
        let mut file = Vec::new();
        write_map(&objects, &models, "map.glb", &Lamps, &mut file).unwrap();
        let asset = Bytes::from_static(PLACED.as_bytes());
        let edit = Edit {
            asset: &asset,
            original: &asset,
            context: &Lamps,
            part: &ViewFile::from("map.glb"),
            file: &fixtures::resaved(&file, edit),
        };
        Ok(match import_text(&edit, &IPL_FORMAT, &IPL)? {
            Imported::Unchanged => PLACED.to_owned(),
            Imported::Changed(changed) => String::from_utf8(changed.asset).unwrap(),
        })
    }

    /// Returns the nodes of the objects, and of their parts.
    fn lamps(scene: &Scene<'_>) -> [Vec<usize>; 2] {
        let is_lamp = |node: usize| scene.nodes[node].name.starts_with("lamp");
        let lamps = (0..scene.nodes.len()).filter(|&node| is_lamp(node));
        let (parts, objects) =
            lamps.partition(|&node| scene.nodes[node].parent.is_some_and(is_lamp));
        [objects, parts]
    }

    /// Adds a copy of a node below the same parent, and returns its number.
    fn copy_node(scene: &mut Scene<'static>, node: usize) -> usize {
        let Node {
            parent,
            transform,
            mesh,
            ..
        } = scene.nodes[node];
        scene.nodes.push(Node {
            name: "lamp.004".to_owned(),
            parent,
            transform,
            mesh,
        });
        scene.nodes.len() - 1
    }

    /// Adds a copy of the first object at another place. Returns the nodes of the object
    /// and of its last part.
    fn copy(scene: &mut Scene<'static>) -> [usize; 2] {
        let [objects, parts] = lamps(scene);
        let copied = copy_node(scene, objects[0]);
        scene.nodes[copied].transform.translation[0] = 30.0;
        for part in parts {
            if scene.nodes[part].parent == Some(objects[0]) {
                let part = copy_node(scene, part);
                scene.nodes[part].parent = Some(copied);
            }
        }
        [copied, scene.nodes.len() - 1]
    }

    /// Gives a node its own mesh, with a moved point.
    fn change_mesh(scene: &mut Scene<'static>, node: usize) {
        let mut mesh = scene.meshes[0].clone();
        mesh.points[0] = [9.0; 3];
        scene.nodes[node].mesh = Some(scene.meshes.len());
        scene.meshes.push(mesh);
    }

    #[test]
    fn objects_of_several_parts_are_moved_and_copied_as_one() {
        assert_eq!(import(|_| ()).unwrap(), PLACED);
        let changed = import(|scene| {
            let [objects, _] = lamps(scene);
            scene.nodes[objects[1]].transform.translation[0] = 25.0;
            copy(scene);
        });
        let expected = PLACED
            .replace("20, 2", "25, 2")
            .replace("end", "1, lamp, 0, 30, 2, 0, 0, 0, 0, 1, -1\nend");
        assert_eq!(changed.unwrap(), expected);
    }

    proptest! {
        #[test]
        fn the_place_of_a_moved_object_is_all_that_changes(
            object in 0..2_usize,
            quarters in -40_000_i32..40_000,
        ) {
            let x = quarters as f32 / 4.0;
            let changed = import(|scene| {
                let [objects, _] = lamps(scene);
                scene.nodes[objects[object]].transform.translation[0] = x;
            });
            let old = ["10, 2", "20, 2"][object];
            prop_assert_eq!(changed, Ok(PLACED.replace(old, &format!("{x}, 2"))));
        }
    }

    #[test]
    fn everything_but_places_of_objects_is_refused() {
        let cases: [(ChangeScene, &str); 12] = [
            (
                |scene| scene.meshes[0].points[0] = [9.0; 3],
                "node \"lamp\": has another mesh, which is not edited here",
            ),
            (
                |scene| {
                    let world = scene.nodes.iter_mut().find(|node| node.name == "world");
                    world.unwrap().transform.translation = [1.0; 3];
                },
                "node \"world\": is no object, and cannot be moved",
            ),
            (
                |scene| {
                    let [_, parts] = lamps(scene);
                    scene.nodes[parts[1]].transform.translation = [1.0; 3];
                },
                "node \"lamp\": is no object, and cannot be moved",
            ),
            (
                |scene| {
                    scene.nodes.pop();
                },
                "node \"lamp\": is a part of an object, and cannot be deleted",
            ),
            (
                |scene| {
                    let [objects, _] = lamps(scene);
                    scene.nodes[objects[0]].transform.scale = [-1.0, 1.0, 1.0];
                },
                "node \"lamp\": is scaled",
            ),
            (
                |scene| {
                    let [objects, _] = lamps(scene);
                    scene.nodes[objects[0]].transform.scale = [2.0, 0.5, 1.0];
                },
                "node \"lamp\": is scaled",
            ),
            (
                |scene| {
                    let [object, _] = copy(scene);
                    scene.nodes[object].transform.scale = [2.0; 3];
                },
                "node \"lamp.004\": is scaled",
            ),
            (
                |scene| {
                    let [object, _] = copy(scene);
                    change_mesh(scene, object);
                },
                "node \"lamp.004\": has another mesh",
            ),
            (
                |scene| {
                    let [_, part] = copy(scene);
                    change_mesh(scene, part);
                },
                "node \"lamp.004\": has other parts",
            ),
            (
                |scene| {
                    let [_, part] = copy(scene);
                    scene.nodes[part].transform.translation = [1.0; 3];
                },
                "node \"lamp.004\": has other parts",
            ),
            (
                |scene| {
                    copy(scene);
                    scene.nodes.pop();
                },
                "node \"lamp.004\": has other parts",
            ),
            (
                |scene| {
                    let [_, parts] = lamps(scene);
                    copy_node(scene, parts[0]);
                },
                "node \"lamp.004\": is a part of an object, and cannot be added here",
            ),
        ];
        for (edit, expected) in cases {
            let refused = import(edit).unwrap_err();
            assert!(refused.contains(expected), "{expected}: {refused}");
        }
    }

    #[test]
    fn a_map_without_its_root_is_refused() {
        let refused = import(|scene| {
            scene.nodes[0].name = "Collection".to_owned();
        });
        assert_eq!(
            refused.unwrap_err(),
            "node \"map\": is gone, which has all objects: export it too"
        );
    }

    #[test]
    fn numbers_have_no_digits_of_rounding() {
        let pairs = [
            (115.5, "115.5"),
            (12.000_001, "12"),
            (-0.000_000_1, "0"),
            (0.707_106_77, "0.70710677"),
        ];
        for (value, text) in pairs {
            assert_eq!(number(value), text);
        }
    }
}
