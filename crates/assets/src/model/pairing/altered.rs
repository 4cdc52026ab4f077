//! What changed in a scene of objects besides their places. Their models are edited
//! elsewhere.

use std::collections::HashMap;
use std::fmt;
use std::iter::successors;

use super::{Change, Compared, Pairing, change};
use crate::model::affine::Affine;
use crate::model::scene::Mesh;

/// What changed in a shown node besides the place of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Altered {
    /// Its mesh differs, or is gone.
    Mesh,
    /// It is no object, and has another place in its parent.
    Moved,
    /// It is a part of an object, and is gone without it.
    Deleted,
}

impl fmt::Display for Altered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mesh => "has another mesh, which is not edited here: edit the GLB of its model",
            Self::Moved => "is no object, and cannot be moved, turned or scaled here",
            Self::Deleted => "is a part of an object, and cannot be deleted here",
        })
    }
}

/// Whether the meshes of nodes differ, by the numbers of the shown and the edited mesh.
type KnownMeshes = HashMap<[usize; 2], bool>;

impl Pairing<'_> {
    /// Returns what changed besides the places of the nodes that are objects.
    pub fn altered(&self, is_object: &dyn Fn(usize) -> bool) -> Vec<(usize, Altered)> {
        let mut meshes = KnownMeshes::new();
        let mut altered = Vec::new();
        for node in 0..self.shown.nodes.len() {
            if !is_object(node) {
                let place = self.altered_place(node, is_object);
                altered.extend(place.map(|what| (node, what)));
            }
            if self.has_other_mesh(node, &mut meshes) {
                altered.push((node, Altered::Mesh));
            }
        }
        altered
    }

    fn altered_place(&self, node: usize, is_object: &dyn Fn(usize) -> bool) -> Option<Altered> {
        let nodes = &self.shown.nodes;
        let parent = nodes[node].parent?;
        let above = &self.worlds[self.nodes[parent]?];
        let Some(edited) = self.nodes[node] else {
            let is_part = || successors(Some(parent), |&node| nodes[node].parent).any(is_object);
            let is_deleted = self.deleted.contains(&node) && is_part();
            return is_deleted.then_some(Altered::Deleted);
        };
        let local = above.inverse()?.after(&self.worlds[edited]);
        let shown = Affine::from(&nodes[node].transform);
        (!local.is_near(&shown, self.size)).then_some(Altered::Moved)
    }

    fn has_other_mesh(&self, node: usize, known: &mut KnownMeshes) -> bool {
        let Some(number) = self.shown.nodes[node].mesh else {
            return false;
        };
        let shown = &self.shown.meshes[number];
        if shown.triangles() == 0 {
            return false;
        }
        let drawn = self.drawn[node];
        let mesh = drawn.and_then(|drawn| self.edited.scene.nodes[drawn].mesh);
        let Some(mesh) = mesh else {
            return self.nodes[node].is_some();
        };
        let is_other = || {
            // Meshes with other numbers of triangles need no comparison, which takes long.
            let has_as_many = self.edited.scene.meshes[mesh].triangles() == shown.triangles();
            !has_as_many || self.is_other_mesh(node, shown)
        };
        *known.entry([number, mesh]).or_insert_with(is_other)
    }

    /// Returns whether the edited mesh of a node differs from the shown one in its own
    /// axes, wherever the node is. Programs make normals anew.
    fn is_other_mesh(&self, node: usize, shown: &Mesh) -> bool {
        let Ok(Some(edited)) = self.mesh_of(node, &Affine::IDENTITY) else {
            return true;
        };
        let parts = shown.points.as_flattened().iter();
        let compared = Compared {
            size: parts.fold(1e-6, |most, part| most.max(part.abs())),
            has_normals: false,
            has_uvs: true,
            has_colors: !self.is_uncolored(node),
        };
        !matches!(change(shown, edited, &compared), Change::None)
    }
}
