//! Changes in a scene of objects other than moved objects. The models of objects are
//! edited elsewhere.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::iter::successors;

use super::{Change, Compared, Pairing, change};
use crate::model::affine::Affine;
use crate::model::scene::Mesh;

/// Maximum number of parts of an object to compare with a part of its copy.
const MAX_COMPARED: usize = 64;

/// A change in a shown node or a copy of one, other than a moved object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Altered {
    /// The mesh differs, or is gone.
    Mesh,
    /// The node is not an object, and moved in its parent.
    Moved,
    /// The node is a deleted part of an object that still exists.
    Deleted,
    /// The node is a copy with other parts below it.
    Parts,
}

impl fmt::Display for Altered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mesh => "has another mesh, which is not edited here: edit the GLB of its model",
            Self::Moved => "is no object, and cannot be moved, turned or scaled here",
            Self::Deleted => "is a part of an object, and cannot be deleted here",
            Self::Parts => "has other parts than its original: copy it with all of its parts",
        })
    }
}

/// Results of mesh comparisons, by the numbers of the shown and the edited mesh.
type KnownMeshes = HashMap<[usize; 2], bool>;

impl Pairing<'_> {
    /// Returns all changes except the places of objects, which `is_object` tells from
    /// other nodes.
    pub fn altered(&self, is_object: &dyn Fn(usize) -> bool) -> Vec<(usize, Altered)> {
        let mut meshes = KnownMeshes::new();
        let mut altered = Vec::new();
        for node in 0..self.shown.nodes.len() {
            if !is_object(node) {
                let place = self.altered_place(node, is_object);
                altered.extend(place.map(|what| (node, what)));
            }
            let is_other = match self.drawn[node] {
                Some(drawn) => self.has_other_mesh(node, drawn, &mut meshes),
                None => self.triangles(node) > 0 && self.nodes[node].is_some(),
            };
            if is_other {
                altered.push((node, Altered::Mesh));
            }
        }
        altered
    }

    /// Returns all changes in copies of objects except their places. The copies are
    /// edited nodes, each with the shown node of its original.
    pub fn altered_copies(&self, copies: &[(usize, usize)]) -> Vec<(usize, Altered)> {
        let mut comparison = Comparison {
            pairing: self,
            meshes: KnownMeshes::new(),
            parts: self.shown.children().0,
            copied_parts: self.edited.scene.children().0,
        };
        let altered = copies.iter().filter_map(|&(copy, original)| {
            let what = comparison.altered_copy(copy, original)?;
            Some((copy, what))
        });
        altered.collect()
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

    /// Returns true if an edited node has the same placement in its parent as a shown
    /// one.
    fn is_placed_like(&self, parent: usize, edited: usize, shown: usize) -> bool {
        let local = self.worlds[parent].inverse();
        let local = local.map(|inverse| inverse.after(&self.worlds[edited]));
        let shown = Affine::from(&self.shown.nodes[shown].transform);
        local.is_some_and(|local| local.is_near(&shown, self.size))
    }

    /// Returns whether an edited node has triangles.
    fn has_triangles(&self, node: usize) -> bool {
        let scene = &self.edited.scene;
        let mesh = scene.nodes[node]
            .mesh
            .and_then(|mesh| scene.meshes.get(mesh));
        mesh.is_some_and(|mesh| mesh.triangles() > 0)
    }

    /// Returns the number of triangles of a shown node.
    fn triangles(&self, node: usize) -> usize {
        let mesh = self.shown.nodes[node].mesh;
        mesh.map_or(0, |mesh| self.shown.meshes[mesh].triangles())
    }

    /// Returns true if an edited node has another mesh than a shown node with
    /// triangles.
    fn has_other_mesh(&self, node: usize, edited: usize, known: &mut KnownMeshes) -> bool {
        let triangles = self.triangles(node);
        let Some(number) = self.shown.nodes[node].mesh.filter(|_| triangles > 0) else {
            return false;
        };
        let Some(mesh) = self.edited.scene.nodes[edited].mesh else {
            return true;
        };
        let is_other = || {
            // A different number of triangles makes the slow comparison unnecessary.
            let has_as_many = self.edited.scene.meshes[mesh].triangles() == triangles;
            !has_as_many || self.is_other_mesh(&self.shown.meshes[number], edited, mesh)
        };
        *known.entry([number, mesh]).or_insert_with(is_other)
    }

    /// Returns true if the meshes of two nodes differ in local coordinates. Programs
    /// recompute normals, so they do not count.
    fn is_other_mesh(&self, shown: &Mesh, node: usize, number: usize) -> bool {
        let Ok(Some(edited)) = self.mesh(node, &Affine::IDENTITY) else {
            return true;
        };
        let parts = shown.points.as_flattened().iter();
        let compared = Compared {
            size: parts.fold(1e-6, |most, part| most.max(part.abs())),
            has_normals: false,
            has_uvs: true,
            has_colors: !self.edited.uncolored.contains(&number),
        };
        !matches!(change(shown, edited, &compared), Change::None)
    }
}

/// Compares copies with their originals.
struct Comparison<'a> {
    pairing: &'a Pairing<'a>,
    meshes: KnownMeshes,
    /// The children of each shown node.
    parts: Vec<Vec<usize>>,
    /// The children of each edited node.
    copied_parts: Vec<Vec<usize>>,
}

impl Comparison<'_> {
    fn altered_copy(&mut self, copy: usize, original: usize) -> Option<Altered> {
        let pairing = self.pairing;
        let adds_mesh = pairing.triangles(original) == 0 && pairing.has_triangles(copy);
        if adds_mesh || pairing.has_other_mesh(original, copy, &mut self.meshes) {
            return Some(Altered::Mesh);
        }
        let mut pending = vec![(copy, original)];
        while let Some((copy, original)) = pending.pop() {
            let copied = self.copied_parts[copy].iter().copied();
            let copied = copied.filter(|&part| pairing.origins[part].is_none());
            let copied: Vec<usize> = copied.collect();
            if copied.len() != self.parts[original].len() {
                return Some(Altered::Parts);
            }
            let mut left = VecDeque::from(self.parts[original].clone());
            for part in copied {
                let mut compared = left.iter().take(MAX_COMPARED);
                let found = compared.position(|&known| {
                    pairing.is_placed_like(copy, part, known)
                        && !pairing.has_other_mesh(known, part, &mut self.meshes)
                });
                let Some(found) = found.and_then(|found| left.remove(found)) else {
                    return Some(Altered::Parts);
                };
                pending.push((part, found));
            }
        }
        None
    }
}
