//! The nodes and scenes of a file. Viewers without KHR_node_visibility show the whole
//! first scene, so hidden nodes go into a second scene, below copies of their
//! ancestors.

use std::collections::{BTreeMap, BTreeSet};

use gltf_json::extensions::scene::Node as NodeExtensions;
use gltf_json::scene::UnitQuaternion;
use gltf_json::{Index, Node, Scene as GltfScene, Skin};
use serde_json::json;

use super::Writer;
use crate::model::scene;
use crate::model::{Scene, Transform};

/// Extension that hides nodes by `visible: false`. Files do not require it.
const VISIBILITY: &str = "KHR_node_visibility";

/// Name of the common root of joints with several roots.
const COMMON_ROOT: &str = "skeleton";

/// Name of the second scene.
const HIDDEN: &str = "hidden";

/// The order of the nodes: the nodes of the scene, its outlines, the copies of nodes
/// above hidden ones, and the common root of the joints.
struct Tree {
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Roots of the first scene.
    roots: Vec<usize>,
    /// Roots of the second scene.
    hidden_roots: Vec<usize>,
    /// Hidden nodes.
    hidden: BTreeSet<usize>,
    /// Nodes of the first scene whose meshes moved to their copies.
    apart: BTreeSet<usize>,
    /// The copied nodes in the order of the copies.
    copied: Vec<usize>,
    copies: BTreeMap<usize, usize>,
    /// True if the last node is the common root of the joints.
    has_common_root: bool,
}

impl Tree {
    /// Arranges the nodes of a scene. `has_mesh` returns true for nodes with a mesh.
    fn new(scene: &Scene<'_>, has_mesh: &dyn Fn(usize) -> bool) -> Self {
        let (mut children, roots) = scene.children();
        let mut parents: Vec<_> = scene.nodes.iter().map(|node| node.parent).collect();
        for outline in &scene.outlines {
            if let Some(siblings) = children.get_mut(outline.parent) {
                siblings.push(parents.len());
            }
            parents.push(Some(outline.parent));
            children.push(Vec::new());
        }
        let mut tree = Self {
            parents,
            children,
            roots,
            hidden_roots: Vec::new(),
            hidden: BTreeSet::new(),
            apart: BTreeSet::new(),
            copied: Vec::new(),
            copies: BTreeMap::new(),
            has_common_root: false,
        };
        let bones = tree.above_joints(scene);
        tree.hide(scene, has_mesh, &bones);
        let root = tree.join(&bones);
        // A skinned mesh must be in the scene of its joints.
        let root = root.filter(|_| tree.hides_skin(scene));
        tree.hidden_roots.extend(root);
        tree
    }

    /// Returns the joints and the nodes above them.
    fn above_joints(&self, scene: &Scene<'_>) -> BTreeSet<usize> {
        let mut above = BTreeSet::new();
        for joint in &scene.joints {
            let mut node = Some(joint.node).filter(|&node| node < scene.nodes.len());
            while let Some(one) = node.filter(|&one| above.insert(one)) {
                node = self.parents[one];
            }
        }
        above
    }

    /// Finds hidden nodes and moves them to the second scene, unless nothing else is
    /// shown. Joints stay in the scene of the meshes that follow them.
    fn hide(
        &mut self,
        scene: &Scene<'_>,
        has_mesh: &dyn Fn(usize) -> bool,
        bones: &BTreeSet<usize>,
    ) {
        let nodes = scene.nodes.len();
        let mut pending: Vec<usize> = self.roots.iter().rev().copied().collect();
        let (mut moved, mut is_any_shown) = (BTreeSet::new(), false);
        while let Some(node) = pending.pop() {
            let outline = node.checked_sub(nodes).map(|index| &scene.outlines[index]);
            let is_group = scene.hidden_groups.contains(&node);
            let is_hidden =
                scene.hidden.contains(&node) || outline.is_some_and(|one| one.is_hidden);
            // The nodes below a hidden mesh are not hidden.
            let is_inner = !self.children[node].is_empty() || bones.contains(&node);
            let is_mesh = scene.nodes.get(node).is_some_and(|one| one.mesh.is_some());
            if is_hidden && !is_group && is_inner && is_mesh {
                if has_mesh(node) {
                    self.apart.insert(node);
                }
            } else if is_hidden || is_group {
                self.hidden.insert(node);
                if !bones.contains(&node) {
                    moved.insert(node);
                }
                continue;
            } else if outline.is_some() || has_mesh(node) {
                is_any_shown = true;
            }
            pending.extend(self.children[node].iter().rev());
        }
        if !is_any_shown {
            self.apart.clear();
            return;
        }
        for list in self.children.iter_mut().chain([&mut self.roots]) {
            list.retain(|node| !moved.contains(node));
        }
        for node in moved {
            let above = self.parents[node].map(|parent| self.copy(parent));
            self.put(node, above);
        }
        for node in self.apart.clone() {
            let copy = self.copy(node);
            self.hidden.insert(copy);
        }
    }

    /// Puts a node below another one, or at the root of the second scene.
    fn put(&mut self, node: usize, above: Option<usize>) {
        let siblings = above.and_then(|above| self.children.get_mut(above));
        siblings.unwrap_or(&mut self.hidden_roots).push(node);
    }

    /// Returns the copy of a node.
    fn copy(&mut self, node: usize) -> usize {
        let (mut line, mut above) = (vec![node], None);
        while let Some(&last) = line.last() {
            above = self.copies.get(&last).copied();
            match self.parents[last].filter(|_| above.is_none()) {
                Some(parent) => line.push(parent),
                None => break,
            }
        }
        if above.is_some() {
            line.pop();
        }
        for one in line.into_iter().rev() {
            let copy = self.children.len();
            self.children.push(Vec::new());
            self.put(copy, above);
            self.copies.insert(one, copy);
            self.copied.push(one);
            above = Some(copy);
        }
        self.copies[&node]
    }

    /// Gives joints a common root, which glTF requires, and returns it.
    fn join(&mut self, bones: &BTreeSet<usize>) -> Option<usize> {
        let (of_joints, mut roots): (Vec<_>, Vec<_>) =
            self.roots.iter().partition(|root| bones.contains(root));
        if of_joints.len() < 2 {
            return of_joints.first().copied();
        }
        self.has_common_root = true;
        roots.push(self.children.len());
        self.children.push(of_joints);
        self.roots = roots;
        self.roots.last().copied()
    }

    /// Returns whether the second scene has a skinned mesh.
    fn hides_skin(&self, scene: &Scene<'_>) -> bool {
        let mut pending = self.hidden_roots.clone();
        while let Some(node) = pending.pop() {
            pending.extend(&self.children[node]);
            let of_copy = node.checked_sub(self.parents.len());
            let node = match of_copy {
                Some(copy) => Some(self.copied[copy]).filter(|node| self.apart.contains(node)),
                None => Some(node),
            };
            if node.is_some_and(|node| is_skinned(scene, node)) {
                return true;
            }
        }
        false
    }
}

/// Returns whether the mesh of a node follows joints.
fn is_skinned(scene: &Scene<'_>, node: usize) -> bool {
    let mesh = scene.nodes.get(node).and_then(|node| node.mesh);
    let mesh = mesh.and_then(|mesh| scene.meshes.get(mesh));
    mesh.is_some_and(|mesh| !mesh.weights.is_empty())
}

impl Writer<'_> {
    /// Adds the nodes and scenes.
    pub(super) fn nodes(&mut self, scene: &Scene<'_>, meshes: &[Option<Index<gltf_json::Mesh>>]) {
        let mesh_of = |node: usize| *meshes.get(scene.nodes.get(node)?.mesh?)?;
        let tree = Tree::new(scene, &|node| mesh_of(node).is_some());
        let skin = self.skin(scene);
        for (number, node) in scene.nodes.iter().enumerate() {
            let mut written = self.node(&tree, number, node.name.clone(), &node.transform);
            if !tree.apart.contains(&number) {
                written.mesh = mesh_of(number);
            }
            written.skin = skin.filter(|_| written.mesh.is_some() && is_skinned(scene, number));
            written.extras = scene.identities.get(&number).and_then(extras);
            self.root.push(written);
        }
        for (number, outline) in (scene.nodes.len()..).zip(&scene.outlines) {
            let name = outline.name.clone();
            let mut written = self.node(&tree, number, name, &Transform::IDENTITY);
            written.mesh = Some(self.line(outline));
            self.root.push(written);
        }
        for (number, &copied) in (tree.parents.len()..).zip(&tree.copied) {
            let node = &scene.nodes[copied];
            let name = format!("{} (hidden)", node.name);
            let mut written = self.node(&tree, number, name, &node.transform);
            if tree.apart.contains(&copied) {
                written.mesh = mesh_of(copied);
                written.skin = skin.filter(|_| is_skinned(scene, copied));
            }
            self.root.push(written);
        }
        if tree.has_common_root {
            let number = tree.children.len() - 1;
            let name = COMMON_ROOT.to_owned();
            let written = self.node(&tree, number, name, &Transform::IDENTITY);
            self.root.push(written);
        }
        self.root.scene = Some(self.scene(None, &tree.roots));
        if !tree.hidden_roots.is_empty() {
            self.scene(Some(HIDDEN.to_owned()), &tree.hidden_roots);
        }
        self.copies = tree.copies;
    }

    /// Returns a node without a mesh.
    fn node(&mut self, tree: &Tree, number: usize, name: String, transform: &Transform) -> Node {
        let children = &tree.children[number];
        let is_hidden = tree.hidden.contains(&number);
        Node {
            name: Some(name),
            children: (!children.is_empty()).then(|| indexes(children)),
            translation: (transform.translation != [0.0; 3]).then_some(transform.translation),
            rotation: (transform.rotation != Transform::IDENTITY.rotation)
                .then_some(UnitQuaternion(transform.rotation)),
            scale: (transform.scale != [1.0; 3]).then_some(transform.scale),
            extensions: is_hidden.then(|| {
                self.uses(VISIBILITY);
                let hidden = json!({ "visible": false });
                NodeExtensions {
                    others: [(VISIBILITY.to_owned(), hidden)].into_iter().collect(),
                }
            }),
            ..Default::default()
        }
    }

    fn scene(&mut self, name: Option<String>, roots: &[usize]) -> Index<GltfScene> {
        self.root.push(GltfScene {
            name,
            nodes: indexes(roots),
            extensions: None,
            extras: None,
        })
    }

    /// Returns the skin that all skinned meshes share.
    fn skin(&mut self, scene: &Scene<'_>) -> Option<Index<Skin>> {
        if scene.joints.is_empty() {
            return None;
        }
        let joints = scene.joints.iter();
        let matrices: Vec<[f32; 16]> = joints.clone().map(|joint| joint.inverse_bind).collect();
        let matrices = self.buffer.matrices(&mut self.root, &matrices);
        Some(self.root.push(Skin {
            inverse_bind_matrices: Some(matrices),
            joints: joints.map(|joint| Index::new(joint.node as u32)).collect(),
            name: None,
            skeleton: None,
            extensions: None,
            extras: None,
        }))
    }
}

fn indexes<T>(nodes: &[usize]) -> Vec<Index<T>> {
    nodes.iter().map(|&node| Index::new(node as u32)).collect()
}

/// Returns the id and type of an object.
fn extras(identity: &scene::Identity) -> gltf_json::Extras {
    let code = identity.code.escape_ascii().to_string();
    let extras = serde_json::json!({
        "id": format!("{:08X}", identity.id),
        "type": code.trim_end(),
    });
    serde_json::value::to_raw_value(&extras).ok()
}
