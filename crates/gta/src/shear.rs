//! Shear. Frames of models may have it and nodes of scenes may not, so it is applied to
//! the vertices of meshes.

use hpimount_assets::model::Scene;
use hpimount_assets::model::math::finite;
use hpimount_assets::model::scene::Mesh;
use hpimount_renderware::clump::Placement;

/// Moves meshes of a scene within their nodes.
pub(super) struct Bender {
    /// Number of nodes that show each mesh.
    uses: Vec<usize>,
}

impl Bender {
    pub(super) fn new(scene: &Scene<'_>) -> Self {
        let mut uses = vec![0; scene.meshes.len()];
        for mesh in scene.nodes.iter().filter_map(|node| node.mesh) {
            uses[mesh] += 1;
        }
        Self { uses }
    }

    /// Adapts the mesh of a node with the placement `given` so that it appears at
    /// `wanted`. Other nodes with the same mesh are not affected.
    pub(super) fn bend(
        &mut self,
        scene: &mut Scene<'_>,
        node: usize,
        given: &Placement,
        wanted: &Placement,
    ) {
        let Some(mesh) = scene.nodes[node].mesh.filter(|_| !given.is_near(wanted)) else {
            return;
        };
        let Some(inverse) = given.inverse() else {
            return;
        };
        let rest = wanted.within(&inverse);
        let uses = &mut self.uses[mesh];
        if *uses == 1 {
            return place(&mut scene.meshes[mesh], &rest);
        }
        *uses -= 1;
        let mut own = scene.meshes[mesh].clone();
        place(&mut own, &rest);
        scene.nodes[node].mesh = Some(scene.meshes.len());
        scene.meshes.push(own);
        self.uses.push(1);
    }
}

fn place(mesh: &mut Mesh, placement: &Placement) {
    for point in &mut mesh.points {
        *point = placement.placed(*point).map(finite);
    }
    for corner in &mut mesh.corners {
        corner.normal = placement.normal(corner.normal).unwrap_or(corner.normal);
    }
}

/// Places the nodes of frames, beginning with node `first`, according to `frames`, and
/// bends the meshes of sheared frames.
pub(super) fn apply(scene: &mut Scene<'_>, first: usize, frames: &[Placement]) {
    let (children, roots) = scene.children();
    let mut bender = Bender::new(scene);
    let same = |placement| (placement, placement);
    let mut next: Vec<_> = roots
        .into_iter()
        .map(|root| (root, same(Placement::IDENTITY), Placement::IDENTITY))
        .collect();
    while let Some((node, (given, wanted), root)) = next.pop() {
        let frame = node.checked_sub(first).and_then(|frame| frames.get(frame));
        let own = scene.nodes[node].transform;
        let own_wanted = match frame {
            Some(frame) => frame.within(&root),
            None => Placement::of(|point| own.apply(point)).within(&wanted),
        };
        if frame.is_some()
            && !given.is_near(&wanted)
            && let Some(inverse) = given.inverse()
        {
            scene.nodes[node].transform = own_wanted.within(&inverse).transform();
        }
        let transform = scene.nodes[node].transform;
        let own_given = Placement::of(|point| transform.apply(point)).within(&given);
        bender.bend(scene, node, &own_given, &own_wanted);
        let root = match frame {
            Some(_) => root,
            None => own_wanted,
        };
        let below = children[node].iter();
        next.extend(below.map(|&child| (child, (own_given, own_wanted), root)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::model::Transform;
    use hpimount_assets::model::scene::Node;

    fn node(parent: Option<usize>, mesh: Option<usize>) -> Node {
        Node {
            name: String::new(),
            parent,
            transform: Transform::IDENTITY,
            mesh,
        }
    }

    #[test]
    fn points_are_where_sheared_frames_place_them() {
        let sheared = Placement {
            up: [0.5, 1.0, 0.0],
            position: [1.0, 2.0, 3.0],
            ..Placement::IDENTITY
        };
        let turned = Placement {
            right: [0.0, 1.0, 0.0],
            up: [-1.0, 0.0, 0.0],
            position: [0.0, 4.0, 0.0],
            ..Placement::IDENTITY
        };
        let frames = [
            Placement::IDENTITY,
            sheared,
            turned.within(&sheared),
            turned,
        ];
        let mesh = Mesh {
            points: vec![[1.0, 1.0, 0.0], [2.0, -1.0, 5.0]],
            ..Mesh::default()
        };
        let mut scene = Scene {
            meshes: vec![mesh.clone()],
            nodes: vec![
                node(None, None),
                node(Some(0), None),
                node(Some(1), Some(0)),
                node(Some(2), Some(0)),
                node(Some(1), Some(0)),
            ],
            ..Scene::default()
        };
        scene.nodes[0].transform = Transform::at([0.0, 0.0, 7.0]);
        for (frame, own) in [(1, sheared), (2, turned), (3, turned)] {
            scene.nodes[1 + frame].transform = own.transform();
        }
        apply(&mut scene, 1, &frames);
        assert_eq!(scene.meshes.len(), 3, "two are sheared");
        for (frame, placement) in frames.iter().enumerate().skip(1) {
            let node = 1 + frame;
            let found = &scene.meshes[scene.nodes[node].mesh.unwrap()];
            for (found, point) in found.points.iter().zip(&mesh.points) {
                let (found, expected) = (scene.point(node, *found), placement.placed(*point));
                let near = |axis: usize| {
                    let expected = expected[axis] + [0.0, 0.0, 7.0][axis];
                    (found[axis] - expected).abs() < 1e-4
                };
                assert!((0..3).all(near), "{frame}: {found:?} {expected:?}");
            }
        }
    }
}
