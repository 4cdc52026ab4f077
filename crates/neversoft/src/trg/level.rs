//! `level.glb`: the models and nodes of a level.
//!
//! All nodes of a kind are below a common node, so viewers can hide them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};

use bytes::Bytes;

use crate::psx::export::{Colors, ExportPlan, turn_of};
use crate::psx::view::level as open_level;
use crate::psx::{Kind, Psx};
use crate::trg::{self, Argument, Command, Node, Trg, kind_name};
use hpimount_assets::model::scene::{Joined, MaterialNames, Node as SceneNode, Outline};
use hpimount_assets::model::{
    MAX_CORNERS, Picture, Reservation, Scene, Transform, gltf, padded, preview,
};
use hpimount_assets::view::AssetContext;

/// Maximum number of files with models.
const MAX_FILES: usize = 8;

/// Maximum number of visible nodes. A level of the games has a thousand.
const MAX_MARKERS: usize = 1 << 16;

/// Memory of a file with models during rendering, as a multiple of its size.
const MEMORY_FACTOR: usize = 8;

/// Writes the level.
pub(super) fn write(trg: &Trg, context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    build(trg, context, |scene, pictures| {
        gltf::write(scene, pictures, &|bytes| context.reserve(bytes), out)
    })
}

/// Writes a picture of the level.
pub(super) fn draw(trg: &Trg, context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    build(trg, context, |scene, pictures| {
        preview::write(scene, pictures, &|bytes| context.reserve(bytes), out)
    })
}

/// Calls `write` with the level and its pictures.
fn build(
    trg: &Trg,
    context: &dyn AssetContext,
    write: impl FnOnce(&Scene<'_>, gltf::Pictures<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let names = file_names(trg, context.name());
    let files: Vec<(String, Option<Bytes>)> = names
        .into_iter()
        .map(|name| {
            let bytes = context.read_sibling(&name);
            (name, bytes)
        })
        .collect();
    let sizes = files.iter().flat_map(|(_, bytes)| bytes).map(Bytes::len);
    let _reserved = context.reserve(MEMORY_FACTOR * sizes.sum::<usize>())?;
    let mut level = Level::default();
    for (name, bytes) in files {
        level.add_file(trg, name, bytes.as_ref(), context);
    }
    level.add_rails(trg);
    level.add_markers(trg);
    let Level { scene, pieces, .. } = level;
    write(&scene, &|number| picture(&pieces, number))
}

/// Returns the names of the files with a level's models: those in its commands, or else
/// the file with the same stem without `_t`.
fn file_names(trg: &Trg, own: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in ["SpoolEnv", "SetObjFile"] {
        for argument in steps(trg, name).filter_map(|step| step.arguments.into_iter().next()) {
            if let Argument::Text(stem) = argument {
                names.push(format!("{stem}.psx"));
            }
        }
    }
    if names.is_empty() {
        let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
        let end = stem.len().saturating_sub(2);
        let is_marked = stem
            .get(end..)
            .is_some_and(|end| end.eq_ignore_ascii_case("_t"));
        let stem = if is_marked { &stem[..end] } else { stem };
        names.push(format!("{stem}.psx"));
    }
    let mut known = HashSet::new();
    names.retain(|name| known.insert(name.to_ascii_lowercase()));
    names.truncate(MAX_FILES);
    names
}

/// Returns the commands and statements with this name.
fn steps<'a>(trg: &'a Trg, name: &'a str) -> impl Iterator<Item = Command> + 'a {
    let nodes = trg.nodes();
    let steps = nodes.flat_map(|(_, node)| node.commands.or(node.script).unwrap_or_default());
    steps.filter(move |step| step.name == name)
}

/// A file with models.
struct Piece {
    psx: Psx,
    plan: ExportPlan,
    /// Number of the first picture in the level.
    first_picture: usize,
}

/// Returns a picture of a level.
fn picture(pieces: &[Piece], number: usize) -> Option<Picture> {
    let after = pieces.partition_point(|piece| piece.first_picture <= number);
    let piece = pieces.get(after.checked_sub(1)?)?;
    let textures = &piece.plan.textures;
    textures.picture(&piece.psx, number - piece.first_picture)
}

/// A model of the level at its first place.
#[derive(Clone, Copy)]
struct Placed {
    mesh: usize,
    transform: Transform,
}

/// A level under construction.
#[derive(Default)]
struct Level {
    scene: Scene<'static>,
    pieces: Vec<Piece>,
    materials: MaterialNames,
    /// The parent nodes of all nodes of a kind, by kind name.
    groups: BTreeMap<&'static str, usize>,
    /// Models by name: the hashes in hexadecimal digits.
    models: HashMap<String, Placed>,
    corners: usize,
    /// The memory of the scene.
    memory: Vec<Reservation>,
}

impl Level {
    fn node(
        &mut self,
        name: String,
        parent: Option<usize>,
        transform: Transform,
        mesh: Option<usize>,
    ) -> usize {
        self.scene.nodes.push(SceneNode {
            name,
            parent,
            transform,
            mesh,
        });
        self.scene.nodes.len() - 1
    }

    /// Returns the parent node of all nodes of a kind.
    fn group(&mut self, name: &'static str) -> usize {
        if let Some(&group) = self.groups.get(name) {
            return group;
        }
        let group = self.node(name.to_owned(), None, Transform::IDENTITY, None);
        self.groups.insert(name, group);
        group
    }

    fn note(&mut self, text: impl Into<String>) {
        self.scene.notes.push(text.into());
    }

    /// Adds the objects of a file with models.
    fn add_file(
        &mut self,
        trg: &Trg,
        name: String,
        bytes: Option<&Bytes>,
        context: &dyn AssetContext,
    ) {
        let Some(bytes) = bytes else {
            return self.note(format!("{name} was not found."));
        };
        let Some((psx, plan)) = open_level(bytes, &name, context) else {
            return self.note(format!("{name} is damaged and not shown."));
        };
        if psx.kind() != Kind::Level || !plan.has_scene {
            return self.note(format!("{name} has no level to show."));
        }
        let first_picture = self
            .pieces
            .last()
            .map_or(0, |piece| piece.first_picture + piece.plan.textures.len());
        let piece = Piece {
            psx,
            plan,
            first_picture,
        };
        if let Err(why) = self.add_scene(&name, &piece, &skies(trg), context) {
            return self.note(format!("{name} is not shown: {why}."));
        }
        self.pieces.push(piece);
    }

    fn add_scene(
        &mut self,
        name: &str,
        piece: &Piece,
        skies: &HashSet<String>,
        context: &dyn AssetContext,
    ) -> Result<(), String> {
        let corners = piece.plan.corners;
        if self.corners + corners > MAX_CORNERS {
            return Err(format!(
                "the level would have more than {MAX_CORNERS} corners"
            ));
        }
        let memory = context.reserve_scene(corners);
        self.memory
            .extend(memory.map_err(|error| error.to_string())?);
        self.corners += corners;
        let scene = piece.plan.scene(&piece.psx, Colors::Corners);
        if self.pieces.is_empty() {
            self.scene.notes.extend(scene.notes);
        }
        let first_material = self.scene.materials.len();
        for mut material in scene.materials {
            material.name = self.materials.unique(&material.name);
            if let Some(texture) = &mut material.texture {
                texture.picture += piece.first_picture;
            }
            self.scene.materials.push(material);
        }
        let geometry = self.group("geometry");
        let file = self.node(name.to_owned(), Some(geometry), Transform::IDENTITY, None);
        let first_mesh = self.scene.meshes.len();
        for node in scene.nodes {
            let Some(mesh) = node.mesh else { continue };
            let model = &scene.meshes[mesh].name;
            let is_sky = skies.contains(model);
            let placed = Placed {
                mesh: first_mesh + mesh,
                transform: node.transform,
            };
            self.models.entry(model.clone()).or_insert(placed);
            let parent = match is_sky {
                true => self.group("skies"),
                false => file,
            };
            self.node(node.name, Some(parent), node.transform, Some(placed.mesh));
        }
        let meshes = scene.meshes.into_iter().map(|mut mesh| {
            for part in &mut mesh.parts {
                part.material += first_material;
            }
            mesh
        });
        self.scene.meshes.extend(meshes);
        Ok(())
    }

    /// Adds the lines of each connected rail.
    fn add_rails(&mut self, trg: &Trg) {
        let mut rails: BTreeMap<usize, Vec<[f32; 3]>> = BTreeMap::new();
        let root_of = components(trg);
        let places = (0..trg.len()).map(|number| place(trg.node(number).ok()?.position));
        let places: Vec<_> = places.collect();
        for rail in &trg.rails {
            let ends = rail.map(|end| places.get(end).copied().flatten());
            if let ([Some(start), Some(end)], Some(&root)) = (ends, root_of.get(rail[0])) {
                rails.entry(root).or_default().extend([start, end]);
            }
        }
        for (number, points) in rails {
            let parent = self.group("rails");
            self.scene.outlines.push(Outline {
                name: format!("rail {}", padded(number, trg.len(), 3)),
                parent,
                points,
                joined: Joined::Pairs,
                is_hidden: false,
            });
        }
    }

    /// Adds an empty node for each node with a position.
    fn add_markers(&mut self, trg: &Trg) {
        self.note("Nodes of a kind are below a node of their own, which can be hidden.");
        self.note("Skies are where their objects are; the game draws them around the camera.");
        let mut left = MAX_MARKERS;
        for (number, node) in trg.nodes() {
            let Some((kind, transform, mesh)) = self.marker(&node) else {
                continue;
            };
            if left == 0 {
                return self.note(format!("Only the first {MAX_MARKERS} nodes are shown."));
            }
            left -= 1;
            let parent = self.group(kind);
            let name = format!("{} {}", padded(number, trg.len(), 3), Heading(&node));
            self.node(name, Some(parent), transform, mesh);
        }
    }

    /// Returns the kind and position of a visible node, and the mesh that it adds to
    /// the level.
    fn marker(&self, node: &Node) -> Option<(&'static str, Transform, Option<usize>)> {
        let kind = match node.kind {
            1 | 2 | 7 | 12 | 14 => "objects",
            3 => "points",
            5 => "powerups",
            6 if node.steps().iter().any(is_gap) => "gaps",
            6 => "commands",
            8 => "restarts",
            13 => "cameras",
            500 | 501 => "lights",
            1000 | 1001 => "script points",
            1002 => "spawns",
            _ => return None,
        };
        if let Some(position) = place(node.position) {
            let turn = turn_of(node.angles.unwrap_or_default());
            let transform = Transform::turned(turn, position);
            return Some((kind, transform, self.added_model(node, &transform)));
        }
        let model = self.models.get(&model_name(node.checksum?))?;
        Some((kind, model.transform, None))
    }

    /// Returns the mesh of a node's model, unless the model is already at this place.
    fn added_model(&self, node: &Node, transform: &Transform) -> Option<usize> {
        let steps = node.script.iter().flatten();
        let hash = steps.filter(|step| step.name == "V_MODEL_CHECKSUM");
        let hash = hash.flat_map(|step| &step.arguments).find_map(|argument| {
            let Argument::Hash(hash) = argument else {
                return None;
            };
            Some(*hash)
        });
        let model = self.models.get(&model_name(hash?))?;
        let is_there = model.transform.translation == transform.translation;
        (!is_there).then_some(model.mesh)
    }
}

fn is_gap(step: &Command) -> bool {
    matches!(step.name, "GapPolyHit" | "Gap")
}

/// Returns the names of the models of skies.
fn skies(trg: &Trg) -> HashSet<String> {
    let created = steps(trg, "BackgroundCreate");
    let hashes = created.filter_map(|step| match step.arguments.first() {
        Some(Argument::Hash(hash)) => Some(model_name(*hash)),
        _ => None,
    });
    hashes.collect()
}

/// Returns the name of a model's mesh in a scene.
fn model_name(hash: u32) -> String {
    format!("{hash:08x}")
}

/// Returns a position in the unit of object positions, with y up.
fn place(position: Option<[i32; 3]>) -> Option<[f32; 3]> {
    let [x, y, z] = position?;
    Some([x, y.saturating_neg(), z.saturating_neg()].map(|part| part as f32 / 4096.0))
}

/// Returns the smallest node number in the connected rail of each node.
fn components(trg: &Trg) -> Vec<usize> {
    fn root(parents: &mut [usize], mut number: usize) -> usize {
        while parents[number] != number {
            // The next search is shorter.
            parents[number] = parents[parents[number]];
            number = parents[number];
        }
        number
    }
    let mut parents: Vec<usize> = (0..trg.len()).collect();
    for rail in &trg.rails {
        let [a, b] = rail.map(|end| root(&mut parents, end));
        parents[a.max(b)] = a.min(b);
    }
    (0..trg.len())
        .map(|number| root(&mut parents, number))
        .collect()
}

/// The description of a node in words.
pub(super) struct Heading<'a>(pub(super) &'a trg::Node);

impl Display for Heading<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&kind_name(self.0.kind))?;
        if let Some(subtype) = self.0.subtype {
            write!(out, " {subtype}")?;
        }
        match &self.0.label {
            Some(label) => write!(out, " {}", label.escape_debug()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trg::parse::parse;
    use crate::trg::parse::tests::{file, rail, words};
    use fixtures::psx::{File, face, model, object};
    use hpimount_assets::view::{AssetKey, AssetRef, MakeShared, Shared};
    use serde_json::Value;
    use std::sync::Arc;

    /// The directory of a level with one file of models.
    struct Directory(Bytes);

    impl AssetContext for Directory {
        fn name(&self) -> &str {
            "SkTest_T.trg"
        }

        fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
            (key == AssetKey::Sibling("SkTest.psx")).then_some(AssetRef(0))
        }

        fn read(&self, _file: AssetRef) -> Option<Bytes> {
            Some(self.0.clone())
        }

        fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
            Some(make(self).into())
        }
    }

    /// Returns the JSON of a level of these nodes, with two objects of one model, named
    /// 6f0f6b9f.
    fn level(nodes: &[Vec<u8>]) -> Value {
        let corners = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]];
        let triangle = face(0x10, [0, 1, 2, 0], [9; 4], &[]);
        let psx = File {
            objects: vec![object(0, [5, -6, 7]), object(0, [1, 0, 0])],
            models: vec![model((0x7FFF, -1), &corners, &[triangle])],
            ..File::new(4)
        };
        let trg = parse(&file(nodes).into()).unwrap();
        let mut glb = Vec::new();
        write(&trg, &Directory(psx.bytes().into()), &mut glb).unwrap();
        let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
        serde_json::from_slice(&glb[20..20 + length]).unwrap()
    }

    /// Returns the names of the nodes below the root with this name.
    fn below(level: &Value, root: &str) -> Vec<String> {
        let nodes = level["nodes"].as_array().unwrap();
        let roots = level["scenes"][0]["nodes"].as_array().unwrap().iter();
        let mut roots = roots.map(|number| &nodes[number.as_u64().unwrap() as usize]);
        let root = roots.find(|node| node["name"] == root);
        let root = root.unwrap_or_else(|| panic!("no such root in {level:#}"));
        let children = root["children"].as_array().unwrap().iter();
        let names = children.map(|number| &nodes[number.as_u64().unwrap() as usize]["name"]);
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn each_kind_of_nodes_is_below_a_node_of_its_own() {
        let place = [words(&[3, 0]), vec![0; 12]].concat();
        let level = level(&[
            rail(1, [0; 3]),
            rail(0, [9, 9, 9]),
            rail(3, [0; 3]),
            rail(2, [1, 1, 1]),
            place,
        ]);
        assert_eq!(below(&level, "geometry"), ["SkTest.psx"]);
        assert_eq!(below(&level, "rails"), ["rail 000", "rail 002"]);
        assert_eq!(below(&level, "points"), ["004 point"]);
    }

    #[test]
    fn a_node_without_a_position_is_where_its_model_is() {
        let hash = words(&[0x6B9F, 0x6F0F]);
        let gap = words(&[201, 0, 0, 1, 3000, 0xFFFF]);
        let gap = [words(&[6, 0]), hash.clone(), gap].concat();
        let object = [words(&[12, 0]), hash].concat();
        let unknown = [words(&[14, 0]), vec![1; 4]].concat();
        let level = level(&[gap, object, unknown]);
        assert_eq!(below(&level, "gaps"), ["000 command"]);
        assert_eq!(below(&level, "objects"), ["001 trick_object"]);
        let mut nodes = level["nodes"].as_array().unwrap().iter();
        let gap = nodes.find(|node| node["name"] == "000 command");
        let place = &gap.unwrap()["translation"];
        assert_eq!(*place, serde_json::json!([5.0, 6.0, -7.0]));
    }

    #[test]
    fn a_sky_is_apart_from_the_geometry() {
        let sky = [
            words(&[4, 171]),
            words(&[0x6B9F, 0x6F0F]),
            words(&[0, 0, 0, 0xFFFF]),
        ];
        let level = level(&[sky.concat()]);
        assert_eq!(below(&level, "skies"), ["000_6f0f6b9f", "001_6f0f6b9f"]);
    }

    #[test]
    fn files_are_named_by_commands_or_by_the_stem() {
        let spool = |command: u16, name: &str| {
            let name = format!("{name}\0");
            [words(&[4, command]), name.into_bytes(), words(&[0xFFFF])].concat()
        };
        let names =
            |nodes: &[Vec<u8>]| file_names(&parse(&file(nodes).into()).unwrap(), "SkTest_T.trg");
        assert_eq!(names(&[]), ["SkTest.psx"]);
        let both = [spool(142, "a_o"), spool(128, "abc"), spool(128, "ABC")];
        assert_eq!(names(&both), ["abc.psx", "a_o.psx"]);
    }

    #[test]
    fn rails_that_touch_are_one() {
        let points = [3, 0, 1, 5, 5, 4].map(|link| rail(link, [0; 3]));
        let trg = parse(&file(&points).into()).unwrap();
        // 0 to 3, 1 to 0, 2 to 1, 3 to 5, 4 to 5, 5 to 4.
        let roots = components(&trg);
        assert_eq!(roots, [0; 6]);
    }
}
