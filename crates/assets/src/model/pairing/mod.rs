//! Pairing of an edited model with the shown model.
//!
//! Programs lose or change extras, order, visibility, lines and the transformations of
//! joints. Pairing therefore relies on names, geometry and hierarchy alone. This module
//! is independent of formats.

mod altered;
mod change;
mod names;
mod places;
mod worlds;

pub use self::altered::Altered;
pub use self::change::{Change, Compared, change};
pub use self::names::numbered;
pub use self::places::Places;
pub use self::worlds::{Placed, deformed};

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Scene;
use super::affine::Affine;
use super::edited::Edited;
use super::scene::{Material, Mesh, Node, Weight, Weights};

/// Suffix of copies of nodes above hidden ones, in GLB files.
const COPY: &str = " (hidden)";

/// Suffix of materials without their texture.
const MISSING: &str = " (missing)";

/// A shown and an edited model with their paired parts.
pub struct Pairing<'a> {
    /// The shown model.
    pub shown: &'a Scene<'a>,
    /// The saved model.
    pub edited: &'a Edited,
    /// The edited node of each shown one; `None` for a deleted node.
    pub nodes: Vec<Option<usize>>,
    /// The shown node of each edited one.
    pub origins: Vec<Option<usize>>,
    /// New edited nodes that have a mesh or are below other nodes.
    pub new: Vec<usize>,
    /// Deleted shown nodes, except nodes that some programs hide or drop.
    pub deleted: BTreeSet<usize>,
    /// The largest coordinate of the smaller model. Tolerances are relative to it, so that
    /// a wrong vertex far away does not hide other changes.
    pub size: f32,
    /// The edited node with the mesh of each shown node.
    drawn: Vec<Option<usize>>,
    /// The shown material of each edited one.
    materials: Vec<Option<usize>>,
    /// The shown joint of each edited one.
    joints: Vec<Option<u16>>,
    /// The maps from edited nodes to the scene.
    worlds: Vec<Affine>,
    /// The maps from shown nodes to the scene.
    shown_worlds: Vec<Affine>,
}

impl<'a> Pairing<'a> {
    /// Finds the parts.
    ///
    /// # Errors
    /// Returns the reason why the models cannot be compared: no common names, or
    /// another scale.
    pub fn new(shown: &'a Scene<'a>, edited: &'a Edited) -> Result<Self, String> {
        let shown_worlds = worlds::of(shown);
        let worlds = worlds::of(&edited.scene);
        let size = worlds::size(shown, &shown_worlds);
        let mut pairing = Self {
            nodes: vec![None; shown.nodes.len()],
            origins: Vec::new(),
            new: Vec::new(),
            deleted: BTreeSet::new(),
            size: size.min(worlds::size(&edited.scene, &worlds)),
            drawn: vec![None; shown.nodes.len()],
            materials: materials(shown, &edited.scene),
            joints: Vec::new(),
            worlds,
            shown_worlds,
            shown,
            edited,
        };
        pairing.pair_nodes();
        if pairing.nodes.iter().all(Option::is_none) {
            let names = shown.nodes.iter().map(|node| node.name.as_str());
            let names = names.take(3).collect::<Vec<_>>().join(", ");
            return Err(format!("has no node of the model, such as {names}"));
        }
        pairing.pair_joints();
        pairing.check_units()?;
        Ok(pairing)
    }

    /// Also pairs materials by color. Formats without material names show added
    /// materials under other names.
    #[must_use]
    pub fn with_materials_by_color(mut self) -> Self {
        let mut known = HashMap::new();
        for (number, material) in self.shown.materials.iter().enumerate() {
            if let Some(color) = plain_color(material) {
                known.entry(color).or_insert(number);
            }
        }
        let edited = self.edited.scene.materials.iter();
        for (found, material) in self.materials.iter_mut().zip(edited) {
            let alike = || known.get(&plain_color(material)?).copied();
            *found = found.or_else(alike);
        }
        self
    }

    fn pair_nodes(&mut self) {
        let (shown, edited) = (self.shown, &self.edited.scene);
        let names: Vec<String> = edited.nodes.iter().map(|node| node.name.clone()).collect();
        let shown_names = shown.nodes.iter().map(|node| node.name.as_str());
        self.origins = names::pairs(shown_names, &names);
        for (node, origin) in self.origins.iter().enumerate() {
            if let Some(origin) = *origin {
                self.nodes[origin] = Some(node);
                self.drawn[origin] = edited.nodes[node].mesh.map(|_| node);
            }
        }
        self.pair_copies();
        self.pair_skinned();
        self.find_new();
        self.find_deleted();
    }

    /// Finds the copies of nodes above hidden ones. They carry the meshes of hidden
    /// nodes.
    fn pair_copies(&mut self) {
        let suffix = names::key(COPY);
        let mut known: HashMap<String, usize> = HashMap::new();
        for (number, node) in self.shown.nodes.iter().enumerate() {
            known.entry(names::key(&node.name)).or_insert(number);
        }
        for (number, node) in self.edited.scene.nodes.iter().enumerate() {
            let name = names::numbered(&node.name).map_or(&*node.name, |(stem, _)| stem);
            let name = names::key(name);
            let Some(stem) = name.strip_suffix(&suffix) else {
                continue;
            };
            let Some(&origin) = known.get(stem.trim_end()) else {
                continue;
            };
            if self.origins[number].is_none() {
                self.origins[number] = Some(origin);
                if node.mesh.is_some() {
                    self.drawn[origin].get_or_insert(number);
                }
            }
        }
    }

    /// Finds skinned meshes that programs put on separate nodes with the names of the
    /// meshes.
    fn pair_skinned(&mut self) {
        let mut free: HashMap<String, usize> = HashMap::new();
        for (number, node, mesh) in self.edited.scene.drawn() {
            if self.origins[number].is_none() {
                for name in [&mesh.name, &node.name] {
                    free.insert(names::key(name), number);
                }
            }
        }
        for (number, shown, mesh) in self.shown.drawn() {
            if mesh.weights.is_empty() || self.drawn[number].is_some() {
                continue;
            }
            let mut names = [&mesh.name, &shown.name].into_iter();
            let found = names.find_map(|name| free.get(&names::key(name)).copied());
            if let Some(node) = found.filter(|&node| self.origins[node].is_none()) {
                self.origins[node] = Some(number);
                self.drawn[number] = Some(node);
                self.nodes[number].get_or_insert(node);
            }
        }
    }

    /// Finds the new nodes. Skips wrappers above shown nodes, and nodes without mesh
    /// and parent, which are cameras and lights.
    fn find_new(&mut self) {
        let nodes = &self.edited.scene.nodes;
        let outlines = self.shown.outlines.iter();
        let outlines: HashSet<String> = outlines.map(|one| names::key(&one.name)).collect();
        let is_outline = |name: &str| {
            let stem = names::numbered(name).map_or(name, |(stem, _)| stem);
            [name, stem]
                .iter()
                .any(|name| outlines.contains(&names::key(name)))
        };
        let mut above = HashSet::new();
        for known in (0..nodes.len()).filter(|&node| self.origins[node].is_some()) {
            let mut next = nodes[known].parent;
            while let Some(node) = next.filter(|&node| above.insert(node)) {
                next = nodes[node].parent;
            }
        }
        let is_part = |number: usize, node: &Node| match node.mesh {
            Some(_) => true,
            None => node.parent.is_some() && !above.contains(&number) && !is_outline(&node.name),
        };
        let numbers = (0..nodes.len()).filter(|&number| self.origins[number].is_none());
        self.new = numbers
            .filter(|&number| is_part(number, &nodes[number]))
            .collect();
    }

    /// Finds the deleted nodes. Hidden nodes, nodes without faces in OBJ files, and
    /// joints do not count as deleted.
    fn find_deleted(&mut self) {
        let shown = self.shown;
        let mut kept: HashSet<usize> = shown.hidden.union(&shown.hidden_groups).copied().collect();
        for joint in &shown.joints {
            let mut next = Some(joint.node).filter(|&node| node < shown.nodes.len());
            while let Some(node) = next.filter(|&node| kept.insert(node)) {
                next = shown.nodes[node].parent;
            }
        }
        if self.edited.is_flat {
            let has_faces = |node: &Node| {
                let mesh = node.mesh.and_then(|mesh| shown.meshes.get(mesh));
                mesh.is_some_and(|mesh| mesh.triangles() > 0)
            };
            let nodes = shown.nodes.iter().enumerate();
            kept.extend(
                nodes
                    .filter(|(_, node)| !has_faces(node))
                    .map(|(number, _)| number),
            );
        }
        let (children, mut pending) = shown.children();
        let mut below: HashSet<usize> = HashSet::new();
        while let Some(node) = pending.pop() {
            let parent = shown.nodes[node].parent;
            let is_kept = kept.contains(&node) || below.contains(&node);
            let hangs = parent.is_none_or(|parent| !self.deleted.contains(&parent));
            if self.nodes[node].is_none() && !(is_kept && hangs) {
                self.deleted.insert(node);
            }
            let hides = shown.hidden.contains(&node) && shown.nodes[node].mesh.is_none();
            if hides || shown.hidden_groups.contains(&node) || below.contains(&node) {
                below.extend(&children[node]);
            }
            pending.extend(&children[node]);
        }
    }

    /// Returns the new nodes that are not below other new nodes.
    pub fn new_roots(&self) -> impl Iterator<Item = usize> {
        let new: HashSet<usize> = self.new.iter().copied().collect();
        let parent = |node: usize| self.edited.scene.nodes[node].parent;
        let roots = self.new.iter().copied();
        roots.filter(move |&node| parent(node).is_none_or(|parent| !new.contains(&parent)))
    }

    fn pair_joints(&mut self) {
        let shown = self.shown.joints.iter().zip(0_u16..);
        let shown: HashMap<usize, u16> =
            shown.map(|(joint, number)| (joint.node, number)).collect();
        let joints = self.edited.scene.joints.iter();
        self.joints = joints
            .map(|joint| {
                let node = self.origins.get(joint.node).copied().flatten()?;
                shown.get(&node).copied()
            })
            .collect();
    }

    /// Returns a material by its number in [`Pairing::mesh`]; `None` for faces without
    /// one.
    pub fn material(&self, number: usize) -> Option<&Material> {
        match number.checked_sub(self.shown.materials.len()) {
            None => self.shown.materials.get(number),
            Some(new) => self.edited.scene.materials.get(new),
        }
    }

    /// Returns warnings about edits that cannot be stored: changes of materials that
    /// kept their names, and attributes that a mesh did not have.
    pub fn ignored(&self) -> Vec<String> {
        let scene = &self.edited.scene;
        let materials = self.repainted().map(|(_, edited)| {
            let name = &edited.name;
            format!("material \"{name}\": another color or picture needs a material of a new name")
        });
        let mut ignored: Vec<String> = materials.collect();
        for (number, node, shown) in self.shown.drawn() {
            let edited = self.drawn[number].and_then(|node| scene.nodes[node].mesh);
            let Some(edited) = edited.and_then(|mesh| scene.meshes.get(mesh)) else {
                continue;
            };
            let has_sets = edited.other_uvs.len() > shown.other_uvs.len();
            let has_weights = shown.weights.is_empty() && !edited.weights.is_empty();
            let lost = [
                (has_sets, "further texture coordinates"),
                (has_weights, "weights of joints"),
            ];
            let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
            ignored.extend(
                lost.map(|(_, what)| {
                    format!("node \"{}\": its mesh cannot have {what}", node.name)
                }),
            );
        }
        ignored
    }

    /// Returns the edited mesh of a shown node, mapped by `map`.
    ///
    /// # Errors
    /// Returns an error if a joint is new.
    pub fn mesh_of(&self, node: usize, map: &Affine) -> Result<Option<Mesh>, String> {
        self.drawn[node].map_or(Ok(None), |node| self.mesh(node, map))
    }

    /// Returns whether the edited mesh of a shown node has no colors.
    pub fn is_uncolored(&self, node: usize) -> bool {
        let mesh = self.drawn[node].and_then(|node| self.edited.scene.nodes[node].mesh);
        mesh.is_some_and(|mesh| self.edited.uncolored.contains(&mesh))
    }

    /// Returns whether the edited mesh of a shown node has a color other than white.
    pub fn is_painted(&self, node: usize) -> bool {
        let scene = &self.edited.scene;
        let mesh = self.drawn[node].and_then(|node| scene.meshes.get(scene.nodes[node].mesh?));
        let mut corners = mesh.into_iter().flat_map(|mesh| &mesh.corners);
        corners.any(|corner| corner.color[..3] != [u8::MAX; 3])
    }

    /// Returns the shown materials with a new color or picture, each with its edited
    /// material.
    pub fn repainted(&self) -> impl Iterator<Item = (&Material, &Material)> {
        let edited = self.edited.scene.materials.iter().zip(&self.materials);
        let pairs = edited.filter_map(|(edited, shown)| {
            let shown = self.shown.materials.get((*shown)?)?;
            Some((shown, edited))
        });
        pairs.filter(|(shown, edited)| !has_same_look(shown, edited))
    }

    /// Returns the mesh of an edited node, mapped by `map`. Materials and joints have
    /// the numbers of the shown ones; new materials are numbered after these.
    ///
    /// # Errors
    /// Returns an error if a joint is new.
    pub fn mesh(&self, node: usize, map: &Affine) -> Result<Option<Mesh>, String> {
        let scene = &self.edited.scene;
        let Some(mesh) = scene.nodes[node]
            .mesh
            .and_then(|mesh| scene.meshes.get(mesh))
        else {
            return Ok(None);
        };
        let mut mesh = mesh.clone();
        if *map != Affine::IDENTITY {
            for point in &mut mesh.points {
                *point = map.apply(*point);
            }
            if !mesh.points.iter().flatten().all(|part| part.is_finite()) {
                return Err("has places that are not finite".to_owned());
            }
            for corner in &mut mesh.corners {
                corner.normal = map.apply_normal(corner.normal);
            }
        }
        for part in &mut mesh.parts {
            let known = self.materials.get(part.material).copied().flatten();
            let new = self.shown.materials.len() + part.material.min(scene.materials.len());
            part.material = known.unwrap_or(new);
            if map.is_mirror() {
                part.triangles
                    .iter_mut()
                    .for_each(|triangle| triangle.swap(1, 2));
            }
        }
        for weights in &mut mesh.weights {
            self.rename_joints(weights)?;
        }
        Ok(Some(mesh))
    }

    fn rename_joints(&self, weights: &mut Weights) -> Result<(), String> {
        for Weight { joint, .. } in weights.iter_mut().filter(|one| one.weight > 0.0) {
            let known = self.joints.get(usize::from(*joint)).copied().flatten();
            *joint = known.ok_or_else(|| {
                let scene = &self.edited.scene;
                let node = scene.joints.get(usize::from(*joint));
                let name = node.map_or("", |one| scene.nodes[one.node].name.as_str());
                format!("joint \"{name}\" is new: joints cannot be added")
            })?;
        }
        Ok(())
    }
}

/// Returns the color of a material without a texture, in stored form.
fn plain_color(material: &Material) -> Option<[u8; 4]> {
    let color = material.color.map(|part| (part * 255.0).round() as u8);
    material.texture.is_none().then_some(color)
}

/// Returns true if two materials have the same color or picture. Programs lose alpha,
/// and may not save pictures.
fn has_same_look(shown: &Material, edited: &Material) -> bool {
    match (&shown.texture, &edited.texture) {
        (None, None) => has_near_parts(&shown.color[..3], &edited.color[..3]),
        (None, Some(_)) => false,
        (Some(_), None) => true,
        (Some(_), Some(_)) => {
            let pictures = picture(shown).zip(picture(edited));
            pictures.is_none_or(|(shown, edited)| shown == edited)
        }
    }
}

fn has_near_parts(one: &[f32], other: &[f32]) -> bool {
    let parts = one.iter().zip(other);
    parts
        .into_iter()
        .all(|(one, other)| (one - other).abs() < 1.0 / 255.0)
}

/// Returns the name of a material's picture for comparisons.
fn picture(material: &Material) -> Option<String> {
    let file = &material.texture.as_ref()?.file;
    let file = names::numbered(file).map_or(&**file, |(stem, _)| stem);
    let file = file.strip_suffix(".png").unwrap_or(file);
    (!file.is_empty()).then(|| names::key(file))
}

/// Returns the shown material for each edited one, by name or else by picture.
fn materials(shown: &Scene<'_>, edited: &Scene<'_>) -> Vec<Option<usize>> {
    let plain = |name: &str| {
        let name = names::key(name);
        let missing = names::key(MISSING);
        name.strip_suffix(&format!(" {}", missing.trim()))
            .map_or(name.clone(), str::to_owned)
    };
    let (mut named, mut pictured) = (HashMap::new(), HashMap::new());
    for (number, material) in shown.materials.iter().enumerate() {
        named.entry(plain(&material.name)).or_insert(number);
        if let Some(picture) = picture(material) {
            pictured.entry(picture).or_insert(number);
        }
    }
    let materials = edited.materials.iter().map(|material| {
        let name = plain(&material.name);
        let stem = names::numbered(&name).map_or(&*name, |(stem, _)| stem);
        let found = named.get(&name).or_else(|| named.get(stem));
        let found = found.or_else(|| pictured.get(&picture(material)?));
        found.copied()
    });
    materials.collect()
}

#[cfg(test)]
mod tests;
