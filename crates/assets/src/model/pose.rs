//! Meshes in the rest pose of a scene, with skinning.

use super::Scene;
use super::math::{Vector, add, subtract, unit};
use super::scene::{Corner, Mesh};

/// The joints of a scene in its rest pose.
pub(super) struct Pose<'a> {
    scene: &'a Scene<'a>,
    /// For each joint, the images of the origin and of the axes.
    joints: Vec<(Vector, [Vector; 3])>,
}

impl<'a> Pose<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        let joints = scene.joints.iter().map(|joint| {
            let [x, y, z, origin] = [0, 4, 8, 12]
                .map(|column| std::array::from_fn(|row| joint.inverse_bind[column + row]));
            let place = |point| scene.point(joint.node, point);
            let moved = place(origin);
            let axes = [x, y, z].map(|axis| subtract(place(add(axis, origin)), moved));
            (moved, axes)
        });
        Self {
            scene,
            joints: joints.collect(),
        }
    }

    /// Returns a point of a node's mesh in the scene.
    pub(super) fn point(&self, node: usize, mesh: &Mesh, index: usize) -> Vector {
        let point = mesh.points.get(index).copied().unwrap_or_default();
        let moved = self.sum(mesh, index, |(origin, axes)| {
            add(*origin, along(axes, point))
        });
        moved.unwrap_or_else(|| self.scene.point(node, point))
    }

    /// Returns the normal of a corner in the scene.
    pub(super) fn normal(&self, node: usize, mesh: &Mesh, corner: &Corner) -> Vector {
        let normal = corner.normal;
        let moved = self.sum(mesh, corner.point as usize, |(_, axes)| along(axes, normal));
        let moved = moved.map(|moved| unit(moved).unwrap_or(normal));
        moved.unwrap_or_else(|| self.scene.normal(node, normal))
    }

    /// Returns the weighted sum over the joints of a point; `None` without weights.
    fn sum(
        &self,
        mesh: &Mesh,
        point: usize,
        image: impl Fn(&(Vector, [Vector; 3])) -> Vector,
    ) -> Option<Vector> {
        let weights = mesh.weights.get(point)?.iter();
        let shares = weights.filter(|one| one.weight > 0.0).filter_map(|one| {
            let image = image(self.joints.get(usize::from(one.joint))?);
            Some(image.map(|part| part * one.weight))
        });
        shares.reduce(add)
    }
}

/// Returns the linear combination of these axes.
fn along(axes: &[Vector; 3], [x, y, z]: Vector) -> Vector {
    std::array::from_fn(|part| x * axes[0][part] + y * axes[1][part] + z * axes[2][part])
}
