//! Models in their places, as the writers take them: right-handed, y up, in
//! the game's own units.

use std::ops::Range;

use super::math::Transform;

/// What is written into one file.
#[derive(Default)]
pub struct Scene<'a> {
    /// What a reader must know: axes, winding, units. A sentence each.
    pub notes: Vec<String>,
    /// Surfaces of the meshes.
    pub materials: Vec<Material>,
    /// Geometry.
    pub meshes: Vec<Mesh>,
    /// Where the meshes are, and the joints that bend them. A parent may follow
    /// its children.
    pub nodes: Vec<Node>,
    /// The nodes that are joints, in the order in which [`Weight::joint`]
    /// counts; with the inverse of each one's place in the rest pose.
    pub joints: Vec<Joint>,
    /// How the nodes move.
    pub animations: Vec<Animation<'a>>,
    /// Lines that belong to the model and are no part of its looks: hidden
    /// nodes in GLB files, and in no others.
    pub outlines: Vec<Outline>,
}

/// A surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name, which no other one in the file has.
    pub name: String,
    /// Red, green, blue and alpha, 0 to 1, that everything is multiplied by.
    pub colour: [f32; 4],
    /// Its texture.
    pub texture: Option<Texture>,
    /// What alpha does.
    pub alpha: Alpha,
    /// Whether it is seen from behind.
    pub double_sided: bool,
    /// Whether light leaves it as it is.
    pub unlit: bool,
}

impl Material {
    /// Returns the white one of surfaces without a material.
    pub(super) fn plain() -> Self {
        Self {
            name: "plain".into(),
            colour: [1.0; 4],
            texture: None,
            alpha: Alpha::Opaque,
            double_sided: true,
            unlit: false,
        }
    }
}

/// A texture of a material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texture {
    /// By what the caller knows the picture.
    pub picture: usize,
    /// Name of the picture's file, without folder and extension.
    pub file: String,
    /// What is outside of 0 to 1, to the right and down.
    pub wrap: [Wrap; 2],
    /// Whether its pixels have sharp edges.
    pub sharp: bool,
}

/// What a texture shows outside of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// Itself.
    Repeat,
    /// Itself, mirrored.
    Mirror,
    /// Its edge.
    Clamp,
}

/// What alpha does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alpha {
    /// Nothing.
    Opaque,
    /// Less than a half is not drawn.
    Mask,
    /// It blends with what is after.
    Blend,
}

/// Geometry. Corners share points, and triangles share corners.
#[derive(Debug, Default)]
pub struct Mesh {
    /// Its name.
    pub name: String,
    /// Positions.
    pub points: Vec<[f32; 3]>,
    /// Corners of the triangles.
    pub corners: Vec<Corner>,
    /// The triangles, by their material.
    pub parts: Vec<Part>,
    /// Lines and single points, which have no surface.
    pub strokes: Vec<Stroke>,
    /// How joints bend the mesh: the weights of each point; empty for a mesh
    /// that only moves as a whole.
    pub weights: Vec<Weights>,
    /// Shapes that it can take.
    pub shapes: Vec<Shape>,
}

/// A corner of triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// Index of its point.
    pub point: u32,
    /// Where the surface faces, of length 1.
    pub normal: [f32; 3],
    /// Place on the texture from its top left corner, which is 1 wide and
    /// high.
    pub uv: [f32; 2],
    /// Red, green, blue and alpha as a screen takes them (sRGB); white for
    /// what has no colour of its own.
    pub colour: [u8; 4],
}

/// Triangles of one material.
#[derive(Debug, Default)]
pub struct Part {
    /// Index of the material.
    pub material: usize,
    /// Corners of each triangle, anticlockwise where it is seen from its
    /// front.
    pub triangles: Vec<[u32; 3]>,
}

/// A line, or a single point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stroke {
    /// Index of the material.
    pub material: usize,
    /// Indices of its points, one or more.
    pub points: Vec<u32>,
}

/// The joints of a point: no joint twice, weights above 0 that add up to 1,
/// and those of weight 0 last.
pub type Weights = [Weight; 4];

/// How much of a point follows a joint.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Weight {
    /// Index in [`Scene::joints`]; 0 if the weight is 0.
    pub joint: u16,
    /// 0 to 1.
    pub weight: f32,
}

/// A shape that a mesh can take.
#[derive(Debug, Default)]
pub struct Shape {
    /// Its name.
    pub name: String,
    /// How far each point moves.
    pub deltas: Vec<[f32; 3]>,
}

/// A place with a name.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Index of the node that it is in. Never part of a circle.
    pub parent: Option<usize>,
    /// Where it is in its parent.
    pub transform: Transform,
    /// Index of the mesh that is shown there.
    pub mesh: Option<usize>,
}

/// A closed line.
#[derive(Debug)]
pub struct Outline {
    /// Its name.
    pub name: String,
    /// Index of the node that it is in.
    pub parent: usize,
    /// Positions, two or more.
    pub points: Vec<[f32; 3]>,
}

/// A node that bends meshes.
#[derive(Debug)]
pub struct Joint {
    /// Index of the node.
    pub node: usize,
    /// From the mesh to the joint in the rest pose: column by column, with
    /// the translation in the last one.
    pub inverse_bind: [f32; 16],
}

/// How nodes move. The places are found when they are written, so that no
/// animation is held in memory as a whole.
pub struct Animation<'a> {
    /// Its name.
    pub name: String,
    /// Seconds from one frame to the next.
    pub interval: f32,
    /// Number of frames.
    pub frames: usize,
    /// The nodes that move.
    pub nodes: Range<usize>,
    /// Where a node is in a frame: called with the index of the frame and that
    /// of the node.
    pub transform: Box<dyn Fn(usize, usize) -> Transform + Send + Sync + 'a>,
}

impl Mesh {
    /// Returns the number of triangles.
    pub fn triangles(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }
}

impl Scene<'_> {
    /// Of each node, whether it is the first, second ... below a root: the
    /// nodes from each to its root, itself first.
    fn line(&self, node: usize) -> impl Iterator<Item = &Node> {
        let first = self.nodes.get(node);
        std::iter::successors(first, |node| self.nodes.get(node.parent?)).take(self.nodes.len())
    }

    /// Returns where a point of a node is for the whole scene.
    pub fn point(&self, node: usize, point: [f32; 3]) -> [f32; 3] {
        let line = self.line(node);
        line.fold(point, |point, node| node.transform.apply(point))
    }

    /// Returns where a direction of a node points for the whole scene.
    pub fn normal(&self, node: usize, normal: [f32; 3]) -> [f32; 3] {
        let line = self.line(node);
        line.fold(normal, |normal, node| node.transform.apply_normal(normal))
    }

    /// Returns the nodes that are in each node, and those that are in none.
    pub fn children(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut children = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            match node.parent.and_then(|parent| children.get_mut(parent)) {
                Some(siblings) => siblings.push(index),
                None => roots.push(index),
            }
        }
        (children, roots)
    }
}

/// For each of `count` nodes its parent by `parent_of`, which may lead
/// anywhere: a parent that does not exist, is the node itself or closes a
/// circle is none.
pub(super) fn sound_parents(
    count: usize,
    parent_of: impl Fn(usize) -> Option<usize>,
) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = (0..count)
        .map(|node| parent_of(node).filter(|&parent| parent < count && parent != node))
        .collect();
    let mut walk_of = vec![None; count];
    for start in 0..count {
        let mut node = start;
        while walk_of[node].is_none() {
            walk_of[node] = Some(start);
            let Some(parent) = parents[node] else { break };
            if walk_of[parent] == Some(start) {
                parents[node] = None;
                break;
            }
            node = parent;
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_line_of_parents_ends(links in proptest::collection::vec(any::<u8>(), 0..40)) {
            let link = |node: usize| Some(usize::from(links[node]) % 48);
            let parents = sound_parents(links.len(), link);
            for start in 0..links.len() {
                let line = std::iter::successors(Some(start), |&node: &usize| parents[node]);
                prop_assert!(line.take(links.len() + 1).count() <= links.len());
            }
        }
    }

    #[test]
    fn a_sound_tree_stays_as_it_is() {
        let links = [None, Some(0), Some(1), Some(1)];
        assert_eq!(sound_parents(4, |node| links[node]), links);
    }
}
