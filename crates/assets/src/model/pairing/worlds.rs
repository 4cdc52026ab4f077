//! Placements of nodes in a shown and an edited model.

use std::collections::HashSet;

use super::Pairing;
use crate::model::affine::{Affine, NEAR};
use crate::model::scene::Joint;
use crate::model::{Scene, Transform};

/// Scale factors that indicate another unit of length rather than an edit, if all nodes
/// have them.
const UNITS: [f64; 4] = [0.001, 0.01, 100.0, 1000.0];

/// The placement of a shown node in the edited model.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Transformation relative to its parent, if it changed. The scale stays.
    pub changed: Option<Transform>,
    /// The map from the node's edited mesh to the node.
    pub mesh: Affine,
}

/// Returns a warning if the map from the mesh of a node deforms it.
pub fn deformed(node: &str, mesh: &Affine) -> Option<String> {
    let text = || format!("node \"{node}\": its scale becomes a part of its mesh");
    mesh.is_deforming().then(text)
}

/// Returns the maps from the nodes of a scene to the scene.
pub(super) fn of(scene: &Scene<'_>) -> Vec<Affine> {
    let (children, roots) = scene.children();
    let mut worlds = vec![Affine::IDENTITY; scene.nodes.len()];
    let mut pending = roots;
    while let Some(node) = pending.pop() {
        let own = Affine::from(&scene.nodes[node].transform);
        let parent = scene.nodes[node]
            .parent
            .and_then(|parent| worlds.get(parent));
        worlds[node] = parent.map_or(own, |parent| parent.after(&own));
        pending.extend(&children[node]);
    }
    worlds
}

/// Returns the largest coordinate of a scene.
pub(super) fn size(scene: &Scene<'_>, worlds: &[Affine]) -> f32 {
    let mut most = 0.0_f32;
    for (node, _, mesh) in scene.drawn() {
        for &point in &mesh.points {
            let placed = worlds[node].apply(point);
            most = placed
                .iter()
                .chain(&point)
                .fold(most, |most, part| most.max(part.abs()));
        }
    }
    let origins = worlds.iter().flat_map(Affine::origin);
    origins
        .fold(most, |most, part| most.max(part.abs()))
        .max(1e-6)
}

impl Pairing<'_> {
    /// Fails if all nodes are scaled by the same unit factor, as after a mistake with
    /// units.
    pub(super) fn check_units(&self) -> Result<(), String> {
        let drawn = self
            .shown
            .drawn()
            .filter_map(|(node, ..)| Some((node, self.drawn[node]?)));
        let mut factors = drawn
            .filter(|_| !self.edited.is_flat)
            .map(|(shown, edited)| self.worlds[edited].scale() / self.shown_worlds[shown].scale());
        let Some(first) = factors.next() else {
            return Ok(());
        };
        let is_near = |factor: f64, unit: f64| (factor / unit - 1.0).abs() < 0.01;
        let unit = UNITS.into_iter().find(|&unit| is_near(first, unit));
        match unit.filter(|&unit| factors.all(|factor| is_near(factor, unit))) {
            None => Ok(()),
            Some(unit) => Err(format!(
                "is {unit} times as large as the model: apply the scale, or set the unit of the \
                 export to meters"
            )),
        }
    }

    /// Returns the place of a shown node in the edited scene. A deleted node, or a node
    /// of a file without hierarchy, keeps its shown place.
    pub fn origin(&self, node: usize) -> [f32; 3] {
        match self.nodes[node].filter(|_| !self.edited.is_flat) {
            Some(edited) => self.worlds[edited].origin(),
            None => self.shown_worlds[node].origin(),
        }
    }

    /// Returns the map from the space of an edited node to the edited scene.
    pub fn world(&self, edited: usize) -> &Affine {
        &self.worlds[edited]
    }

    /// Returns the map from a shown node's edited mesh to the edited scene.
    pub fn mesh_world(&self, node: usize) -> Affine {
        self.drawn[node].map_or(Affine::IDENTITY, |drawn| self.worlds[drawn])
    }

    /// Returns the placements of the shown nodes in the edited model, relative to their
    /// parents. Roots without a mesh only turn the axes and do not affect nodes below.
    /// Joints, and nodes whose places are not stored, keep their shown places; the maps
    /// of their meshes contain the movement.
    pub fn placed(&self, is_stored: impl Fn(usize) -> bool) -> Vec<Placed> {
        let (children, mut pending) = self.shown.children();
        let joints: HashSet<usize> = self.shown.joints.iter().map(|joint| joint.node).collect();
        let mut places = vec![Affine::IDENTITY; self.shown.nodes.len()];
        let mut changes = vec![None; self.shown.nodes.len()];
        while let Some(node) = pending.pop() {
            pending.extend(&children[node]);
            let shown = self.shown.nodes[node].transform;
            let Some(parent) = self.shown.nodes[node].parent else {
                places[node] = self.root(node);
                continue;
            };
            let edited = self.nodes[node].filter(|_| is_stored(node) && !joints.contains(&node));
            let local = edited
                .and_then(|edited| Some(places[parent].inverse()?.after(&self.worlds[edited])));
            changes[node] = local.and_then(|local| self.changed(&shown, &local));
            let own = Affine::from(&changes[node].unwrap_or(shown));
            places[node] = places[parent].after(&own);
        }
        let skin = self.skin_map();
        let placed = places.into_iter().zip(changes).enumerate();
        let placed = placed.map(|(node, (place, changed))| Placed {
            changed,
            mesh: self.mesh_map(node, &place, &skin),
        });
        placed.collect()
    }

    /// Returns the place of a root: the shown place, or, without a mesh, the edited
    /// place in the shown scale.
    fn root(&self, node: usize) -> Affine {
        let edited = self.nodes[node].filter(|_| self.shown.nodes[node].mesh.is_none());
        edited.map_or(self.shown_worlds[node], |edited| {
            let scale = [1.0; 3];
            let place = self.worlds[edited];
            Affine::from(&Transform {
                scale,
                ..place.transform()
            })
        })
    }

    /// Returns the transformation of a node if it changed. Unchanged parts are exactly
    /// as shown.
    fn changed(&self, shown: &Transform, edited: &Affine) -> Option<Transform> {
        let before = Affine::from(shown);
        if edited.is_near(&before, self.size) {
            return None;
        }
        let mut changed = Transform {
            scale: shown.scale,
            ..edited.transform()
        };
        let moved = |transform: &Transform| {
            Affine::from(&Transform {
                translation: [0.0; 3],
                ..*transform
            })
        };
        if moved(&changed).is_near(&moved(shown), self.size) {
            changed.rotation = shown.rotation;
        }
        let parts = changed.translation.iter_mut().zip(shown.translation);
        for (part, shown) in parts {
            if (*part - shown).abs() <= NEAR * self.size {
                *part = shown;
            }
        }
        (changed != *shown).then_some(changed)
    }

    /// Returns the map from the edited mesh of a node to the node, which is at `place`.
    /// `skin` is the map of skinned meshes.
    fn mesh_map(&self, node: usize, place: &Affine, skin: &Affine) -> Affine {
        let Some(drawn) = self.drawn[node] else {
            return Affine::IDENTITY;
        };
        let mesh = self.shown.nodes[node]
            .mesh
            .and_then(|mesh| self.shown.meshes.get(mesh));
        if mesh.is_some_and(|mesh| !mesh.weights.is_empty()) {
            return *skin;
        }
        let inverse = place.inverse().unwrap_or(Affine::IDENTITY);
        let map = inverse.after(&self.worlds[drawn]);
        match map.is_near(&Affine::IDENTITY, self.size) {
            true => Affine::IDENTITY,
            false => map,
        }
    }

    /// Returns the map from the points of edited skinned meshes to the shown points.
    /// Some programs apply the transformation above the skeleton to points and joints,
    /// and some do not; the places of the joints in the bind pose tell.
    fn skin_map(&self) -> Affine {
        let above = |scene: &Scene<'_>, worlds: &[Affine], joints: &[Joint]| {
            let nodes: HashSet<usize> = joints.iter().map(|joint| joint.node).collect();
            let parents = nodes.iter().filter_map(|&node| scene.nodes[node].parent);
            let above = parents.filter(|parent| !nodes.contains(parent)).min()?;
            worlds[above].inverse()
        };
        let shown = above(self.shown, &self.shown_worlds, &self.shown.joints);
        let edited = &self.edited.scene;
        let edited = above(edited, &self.worlds, &edited.joints);
        // Joints on a line fit several maps, so the map of the file itself is tried
        // first.
        let candidates = [Some(Affine::IDENTITY), edited, shown];
        let heads = self.heads();
        let error = |map: &Affine| -> f64 {
            let pairs = heads.iter().map(|&(edited, shown)| {
                let parts = map.apply(edited).into_iter().zip(shown);
                parts.map(|(a, b)| f64::from((a - b).abs())).sum::<f64>()
            });
            // Rounded, so that equal maps keep their order.
            (pairs.sum::<f64>() / f64::from(self.size) * 1e4).round()
        };
        let candidates = candidates.into_iter().flatten();
        let best = candidates.min_by(|a, b| error(a).total_cmp(&error(b)));
        best.unwrap_or(Affine::IDENTITY)
    }

    /// Returns the edited and the shown places of joints in the bind pose.
    fn heads(&self) -> Vec<([f32; 3], [f32; 3])> {
        let head = |joint: &Joint| {
            let m = joint.inverse_bind;
            let axes = [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]]];
            let bind = Affine::new(axes, [m[12], m[13], m[14]]).inverse();
            bind.map(|bind| bind.origin())
        };
        let joints = self.edited.scene.joints.iter().zip(&self.joints);
        let pairs = joints.filter_map(|(edited, shown)| {
            let shown = self.shown.joints.get(usize::from((*shown)?))?;
            Some((head(edited)?, head(shown)?))
        });
        pairs.collect()
    }
}
