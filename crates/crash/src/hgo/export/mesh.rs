//! Geometry of a layer.

use super::flipped;
use crate::hgo::{BlendShapes, Geometry, Hgo, Mesh, Part, Skin};
use hpimount_assets::model::math::{finite, unit};
use hpimount_assets::model::scene::{self, Corner, Node, Shape, Weight, Weights};
use hpimount_assets::model::{Scene, Transform};

/// Adds the meshes of a part of a layer to a scene with its joints.
pub(super) struct Builder<'a> {
    pub(super) hgo: &'a Hgo,
    pub(super) scene: &'a mut Scene<'static>,
    /// Name of the layer.
    pub(super) layer: &'a str,
    pub(super) part: &'a Part,
}

impl Builder<'_> {
    /// Adds each mesh with its own node: below the joint of a rigid part, or without a
    /// parent for a skinned mesh.
    pub(super) fn add(&mut self) {
        let part = self.part;
        let joint = part.joint.map(usize::from);
        let joint = joint.filter(|&joint| joint < self.hgo.joints.len());
        for mesh in part.geometry.iter().flat_map(Geometry::meshes) {
            let number = self.scene.meshes.len();
            let name = format!("{} {} {number}", self.layer, part.slot.name());
            let mut converted = self.convert(mesh);
            if converted.triangles() == 0 {
                continue;
            }
            if joint.is_some() {
                converted.weights.clear();
            }
            converted.name.clone_from(&name);
            self.scene.meshes.push(converted);
            self.scene.nodes.push(Node {
                name,
                parent: joint,
                transform: Transform::IDENTITY,
                mesh: Some(number),
            });
        }
    }

    fn convert(&self, mesh: &Mesh) -> scene::Mesh {
        let vertices = mesh.vertices.iter().zip(0..);
        let corners = vertices.map(|(vertex, point)| {
            let [alpha, r, g, b] = vertex.color.to_be_bytes();
            Corner {
                point,
                normal: unit(flipped(vertex.normal)).unwrap_or([0.0, 1.0, 0.0]),
                uv: vertex.uv.map(finite),
                color: [r, g, b, alpha],
            }
        });
        let count = mesh.vertices.len();
        let triangles = mesh.primitives.iter().flat_map(|p| p.triangles());
        let sound = |triangle: &[u16; 3]| triangle.iter().all(|&c| usize::from(c) < count);
        let plain = self.hgo.materials.len();
        let material = usize::try_from(mesh.material).unwrap_or(plain);
        scene::Mesh {
            points: mesh
                .vertices
                .iter()
                .map(|v| flipped(v.position).map(finite))
                .collect(),
            corners: corners.collect(),
            parts: vec![scene::Part {
                material: material.min(plain),
                triangles: triangles.filter(sound).map(turned).collect(),
                ..scene::Part::default()
            }],
            weights: self.weights(mesh),
            shapes: mesh
                .blend_shapes
                .as_ref()
                .map_or(Vec::new(), |b| shapes(b, count)),
            ..scene::Mesh::default()
        }
    }

    /// Returns the weights of each vertex; empty for a mesh without a skin.
    fn weights(&self, mesh: &Mesh) -> Vec<Weights> {
        let joints = self.hgo.joints.len();
        let count = mesh.vertices.len();
        match &mesh.skin {
            Some(_) if joints == 0 => Vec::new(),
            None => Vec::new(),
            Some(Skin::Vertex(vertices)) => {
                let of_vertex = vertices.iter().map(|vertex| {
                    let pairs = vertex.joints.iter().zip(vertex.weights);
                    strongest(
                        pairs.map(|(&joint, weight)| (i32::from(joint), weight)),
                        joints,
                    )
                });
                let mut weights: Vec<_> = of_vertex.collect();
                weights.resize(count, strongest([].into_iter(), joints));
                weights
            }
            Some(Skin::Grouped(groups)) => {
                let mut weights = vec![strongest([].into_iter(), joints); count];
                for group in groups {
                    let Ok(first) = usize::try_from(group.first) else {
                        continue;
                    };
                    let Some(run) = weights.get_mut(first..) else {
                        continue;
                    };
                    let per_vertex = group.weights.chunks_exact(group.joints.len().max(1));
                    for (slot, weights) in run.iter_mut().zip(per_vertex) {
                        let pairs = group.joints.iter().copied().zip(weights.iter().copied());
                        *slot = strongest(pairs, joints);
                    }
                }
                weights
            }
        }
    }
}

/// Returns the corners of a triangle in reverse order, since the file has them
/// clockwise.
fn turned([a, b, c]: [u16; 3]) -> [u32; 3] {
    [a, c, b].map(u32::from)
}

/// Returns the four existing joints with the largest weights, normalized to a sum of 1;
/// without weights, the first joint alone.
fn strongest(pairs: impl Iterator<Item = (i32, f32)>, joints: usize) -> Weights {
    // At most the joints of the object; it has at most 255.
    let mut best: Vec<(u16, f32)> = Vec::with_capacity(4);
    for (joint, weight) in pairs {
        let exists = usize::try_from(joint).is_ok_and(|joint| joint < joints);
        let (Ok(joint), true) = (
            u16::try_from(joint),
            exists && weight.is_finite() && weight > 0.0,
        ) else {
            continue;
        };
        match best.iter_mut().find(|(known, _)| *known == joint) {
            Some((_, sum)) => *sum += weight,
            None => best.push((joint, weight)),
        }
    }
    // A joint may occur again, so weights are summed before any is dropped.
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    best.truncate(4);
    let sum: f32 = best.iter().map(|(_, weight)| weight).sum();
    if best.is_empty() || !sum.is_finite() {
        best = vec![(0, 1.0)];
    }
    let sum: f32 = best.iter().map(|(_, weight)| weight).sum();
    let mut weights = Weights::default();
    for (slot, (joint, weight)) in weights.iter_mut().zip(best) {
        let weight = weight / sum;
        if weight > 0.0 {
            *slot = Weight { joint, weight };
        }
    }
    weights
}

/// Returns the existing blend shapes, named by their ids in animations. Omits truncated
/// ones.
fn shapes(blend: &BlendShapes, vertices: usize) -> Vec<Shape> {
    let present = blend.ids.iter().zip(&blend.present);
    let present = present.filter(|(_, present)| **present != 0);
    let deltas = blend.deltas.chunks_exact(vertices.max(1));
    present
        .zip(deltas)
        .map(|((id, _), deltas)| Shape {
            name: format!("shape {id}"),
            deltas: deltas.iter().map(|&d| flipped(d).map(finite)).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn weights_add_up_to_one_and_each_joint_counts_once(
            pairs in proptest::collection::vec((-2..9_i32, any::<u32>().prop_map(f32::from_bits)), 0..8),
        ) {
            let weights = strongest(pairs.into_iter(), 7);
            let sum: f32 = weights.iter().map(|w| w.weight).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4, "{:?}", weights);
            let mut used: Vec<u16> = weights.iter().filter(|w| w.weight > 0.0).map(|w| w.joint).collect();
            prop_assert!(used.iter().all(|&joint| joint < 7));
            let count = used.len();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), count);
        }
    }

    #[test]
    fn a_joint_that_occurs_again_keeps_its_first_weight() {
        let pairs = [(0, 2.0), (1, 2.0), (2, 2.0), (3, 2.0), (4, 1.0), (4, 1.5)];
        let weights = strongest(pairs.into_iter(), 5);
        let mut used: Vec<u16> = weights.iter().map(|weight| weight.joint).collect();
        used.sort_unstable();
        assert_eq!(used, [0, 1, 2, 4]);
        assert_eq!(weights[0].joint, 4);
    }
}
