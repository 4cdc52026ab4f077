//! Scenes for the writers: right-handed, y up, in the game's own units.

use super::math::{cross, subtract, unit};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::Picture;
use super::math::Transform;

/// The contents of one file.
#[derive(Default)]
pub struct Scene<'a> {
    /// Notes for readers: axes, winding, units. One sentence each.
    pub notes: Vec<String>,
    /// Surfaces of the meshes.
    pub materials: Vec<Material>,
    /// Geometry.
    pub meshes: Vec<Mesh>,
    /// Transformations of meshes, and joints. A parent may follow its children.
    pub nodes: Vec<Node>,
    /// The nodes that are joints, in the order of [`Weight::joint`], with the
    /// inverse of each one's transformation in the rest pose.
    pub joints: Vec<Joint>,
    /// Animations of the nodes.
    pub animations: Vec<Animation<'a>>,
    /// Animations of nodes with individual keyframes. Only GLB files have them.
    pub motions: Vec<Motion>,
    /// Nodes whose meshes the game shows only at times, such as damaged parts. They are
    /// hidden in GLB files, and omitted from OBJ files and from previews unless nothing
    /// else is visible. A node without a mesh hides everything below it in GLB files.
    pub hidden: BTreeSet<usize>,
    /// Nodes that GLB files hide with everything below them.
    pub hidden_groups: BTreeSet<usize>,
    /// Lines that are not part of the model. They are nodes in GLB files, and omitted
    /// from other formats.
    pub outlines: Vec<Outline>,
    /// The game objects of nodes. Only GLB files name them.
    pub identities: BTreeMap<usize, Identity>,
}

/// An object of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Id.
    pub id: u32,
    /// The four letters of the type, with trailing spaces.
    pub code: [u8; 4],
}

/// A surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name, which is unique in the file.
    pub name: String,
    /// Red, green, blue and alpha factors, 0 to 1.
    pub color: [f32; 4],
    /// Texture.
    pub texture: Option<Texture>,
    /// Kind of transparency.
    pub alpha: Alpha,
    /// True if it is visible from behind.
    pub double_sided: bool,
    /// True if it is not affected by light.
    pub unlit: bool,
}

impl Material {
    /// Returns the white material of surfaces without one.
    pub fn plain() -> Self {
        Self {
            name: "plain".into(),
            color: [1.0; 4],
            texture: None,
            alpha: Alpha::Opaque,
            double_sided: true,
            unlit: false,
        }
    }
}

/// Names of materials that are unique in a file, even for programs that ignore case and
/// formats without spaces in names.
#[derive(Debug, Default)]
pub struct MaterialNames {
    /// The names so far, with the number of requests for each.
    taken: HashMap<String, usize>,
}

impl MaterialNames {
    /// Returns `name`, followed by a number if it is taken.
    pub fn unique(&mut self, name: &str) -> String {
        let key = |name: &str| name.to_lowercase().replace(char::is_whitespace, "_");
        let Some(mut count) = self.taken.insert(key(name), 1) else {
            return name.to_owned();
        };
        loop {
            count += 1;
            let other = format!("{name}_{count}");
            if let Entry::Vacant(vacant) = self.taken.entry(key(&other)) {
                vacant.insert(1);
                self.taken.insert(key(name), count);
                return other;
            }
        }
    }
}

/// A texture of a material.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texture {
    /// The caller's number of the picture.
    pub picture: usize,
    /// Name of the picture's file, without folder and extension.
    pub file: String,
    /// Wrapping of coordinates outside of 0 to 1, horizontally and vertically.
    pub wrap: [Wrap; 2],
    /// True if it is sampled without interpolation.
    pub sharp: bool,
}

/// Wrapping of texture coordinates outside of 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// It repeats.
    Repeat,
    /// It repeats, mirrored.
    Mirror,
    /// The edge is extended.
    Clamp,
}

/// A kind of transparency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alpha {
    /// Opaque.
    Opaque,
    /// Pixels with an alpha below one half are not drawn.
    Mask,
    /// The material blends with its background.
    Blend,
}

/// The transparency of a texture's picture.
impl From<&Picture> for Alpha {
    fn from(picture: &Picture) -> Self {
        if picture.rgba().iter().all(|color| color[3] == 255) {
            Self::Opaque
        } else {
            Self::Mask
        }
    }
}

/// Geometry. Corners share points, and triangles share corners.
#[derive(Debug, Default, Clone)]
pub struct Mesh {
    /// Name.
    pub name: String,
    /// Positions.
    pub points: Vec<[f32; 3]>,
    /// Corners of the triangles.
    pub corners: Vec<Corner>,
    /// The triangles, by their material.
    pub parts: Vec<Part>,
    /// Lines and single points.
    pub strokes: Vec<Stroke>,
    /// Texture coordinates of each corner, by set, in addition to [`Corner::uv`].
    pub other_uvs: Vec<Vec<[f32; 2]>>,
    /// Second colors of each corner, like [`Corner::color`]; may be empty. Viewers show
    /// the first colors.
    pub other_colors: Vec<[u8; 4]>,
    /// The weights of each point; empty for a mesh that is not skinned.
    pub weights: Vec<Weights>,
    /// Blend shapes.
    pub shapes: Vec<Shape>,
}

/// A corner of triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corner {
    /// Index of its point.
    pub point: u32,
    /// Normal of the surface, of length 1.
    pub normal: [f32; 3],
    /// Texture coordinates, 0 to 1 from the top left corner.
    pub uv: [f32; 2],
    /// Red, green, blue and alpha in sRGB; white without a vertex color.
    pub color: [u8; 4],
}

/// Triangles of one material.
#[derive(Debug, Default, Clone)]
pub struct Part {
    /// Index of the material.
    pub material: usize,
    /// Corners of each triangle, counterclockwise seen from the front.
    pub triangles: Vec<[u32; 3]>,
    /// The polygons that were triangulated, in order: the number of successive
    /// triangles of each, which form a fan around its first corner. Later triangles are
    /// faces by themselves.
    pub polygons: Vec<u32>,
}

impl Part {
    /// Adds a polygon with at least three corners as a fan around the first corner.
    pub fn add_polygon(&mut self, corners: std::ops::Range<u32>) {
        let first = corners.start;
        let count = self.triangles.len();
        let others = first + 1..corners.end.saturating_sub(1);
        self.triangles
            .extend(others.map(|corner| [first, corner, corner + 1]));
        self.polygons.push((self.triangles.len() - count) as u32);
    }

    /// Calls `write` with the corners of each polygon, and of each other triangle.
    ///
    /// # Errors
    /// Returns the first error of `write`, and does not call it again.
    pub fn try_for_each_face<E>(
        &self,
        mut write: impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut triangles = &self.triangles[..];
        let mut face = Vec::new();
        for &count in &self.polygons {
            let count = triangles.len().min(count as usize);
            let (fan, rest) = triangles.split_at(count);
            triangles = rest;
            face.clear();
            face.extend(fan.first().into_iter().flatten());
            face.extend(fan.iter().skip(1).map(|triangle| triangle[2]));
            write(&face)?;
        }
        triangles.iter().try_for_each(|triangle| write(triangle))
    }
}

/// A line, or a single point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stroke {
    /// Index of the material.
    pub material: usize,
    /// Indices of its points, one or more.
    pub points: Vec<u32>,
}

/// The joints of a point: distinct joints with positive weights that sum to 1, then
/// unused entries of weight 0.
pub type Weights = [Weight; 4];

/// The influence of a joint on a point.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Weight {
    /// Index in [`Scene::joints`]; 0 if the weight is 0.
    pub joint: u16,
    /// 0 to 1.
    pub weight: f32,
}

/// A blend shape of a mesh.
#[derive(Debug, Default, Clone)]
pub struct Shape {
    /// Name.
    pub name: String,
    /// The displacement of each point.
    pub deltas: Vec<[f32; 3]>,
}

/// A named transformation.
#[derive(Debug)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Index of its parent node. Never part of a cycle.
    pub parent: Option<usize>,
    /// Transformation relative to the parent.
    pub transform: Transform,
    /// Index of its mesh.
    pub mesh: Option<usize>,
}

/// A line that is not part of a surface.
#[derive(Debug)]
pub struct Outline {
    /// Name.
    pub name: String,
    /// Index of its parent node.
    pub parent: usize,
    /// Positions, two or more.
    pub points: Vec<[f32; 3]>,
    /// Topology of the points.
    pub joined: Joined,
    /// True if viewers should not show it at first.
    pub is_hidden: bool,
}

/// Topology of the points of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// One to the next, and the last one to the first.
    Closed,
    /// Each two, from the first one on.
    Pairs,
}

/// A node that deforms meshes.
#[derive(Debug)]
pub struct Joint {
    /// Index of the node.
    pub node: usize,
    /// The inverse bind matrix: column by column, with the translation in the
    /// last one.
    pub inverse_bind: [f32; 16],
}

/// An animation of nodes. Poses are computed while they are written, so an animation is
/// never held in memory as a whole.
pub struct Animation<'a> {
    /// Name.
    pub name: String,
    /// Seconds from one frame to the next.
    pub interval: f32,
    /// Number of frames.
    pub frames: usize,
    /// The animated nodes.
    pub nodes: Range<usize>,
    /// Returns the transformation of a node in a frame: called with the indexes
    /// of the frame and of the node.
    pub transform: Box<dyn Fn(usize, usize) -> Transform + Send + Sync + 'a>,
}

/// An animation with individual keyframes.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Name.
    pub name: String,
    /// The keys of the moved nodes.
    pub tracks: Vec<Track>,
}

/// The keys of a node, between which its transformation is interpolated.
#[derive(Debug, Clone, PartialEq)]
pub struct Track {
    /// Index of the node.
    pub node: usize,
    /// Times in seconds, which rise.
    pub times: Vec<f32>,
    /// The translation at each time; empty if the node keeps its own.
    pub translations: Vec<[f32; 3]>,
    /// The rotation at each time, as a quaternion x, y, z, w of length 1.
    pub rotations: Vec<[f32; 4]>,
}

impl Mesh {
    /// Returns the number of triangles.
    pub fn triangles(&self) -> usize {
        self.parts.iter().map(|part| part.triangles.len()).sum()
    }

    /// Adds the corners of a flat triangle with its normal, and returns their numbers.
    /// The points must be finite.
    pub fn add_flat(&mut self, points: [[f32; 3]; 3]) -> [u32; 3] {
        let [a, b, c] = points;
        let normal = unit(cross(subtract(b, a), subtract(c, a))).unwrap_or([0.0, 1.0, 0.0]);
        points.map(|point| {
            let number = self.points.len() as u32;
            self.points.push(point);
            self.corners.push(Corner {
                point: number,
                normal,
                uv: [0.0; 2],
                color: [255; 4],
            });
            number
        })
    }
}

impl Scene<'_> {
    /// Returns a node and its ancestors.
    fn line(&self, node: usize) -> impl Iterator<Item = &Node> {
        let first = self.nodes.get(node);
        std::iter::successors(first, |node| self.nodes.get(node.parent?)).take(self.nodes.len())
    }

    /// Returns the nodes with meshes, with their numbers.
    pub fn drawn(&self) -> impl Iterator<Item = (usize, &Node, &Mesh)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(index, node)| Some((index, node, self.meshes.get(node.mesh?)?)))
    }

    /// Returns the visible nodes that have a mesh, with their numbers.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &Node, &Mesh)> {
        self.drawn()
            .filter(|(index, ..)| !self.hidden.contains(index))
    }

    /// Transforms a point from a node to the scene.
    pub fn point(&self, node: usize, point: [f32; 3]) -> [f32; 3] {
        let line = self.line(node);
        line.fold(point, |point, node| node.transform.apply(point))
    }

    /// Transforms a normal from a node to the scene.
    pub fn normal(&self, node: usize, normal: [f32; 3]) -> [f32; 3] {
        let line = self.line(node);
        line.fold(normal, |normal, node| node.transform.apply_normal(normal))
    }

    /// Returns the children of each node, and the roots.
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

/// Returns the parents of `count` nodes. `parent_of` is untrusted: parents that do not
/// exist, are the node itself or close a cycle are omitted.
pub fn sound_parents(
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
        fn every_chain_of_parents_ends(links in proptest::collection::vec(any::<u8>(), 0..40)) {
            let link = |node: usize| Some(usize::from(links[node]) % 48);
            let parents = sound_parents(links.len(), link);
            for start in 0..links.len() {
                let line = std::iter::successors(Some(start), |&node: &usize| parents[node]);
                prop_assert!(line.take(links.len() + 1).count() <= links.len());
            }
        }
    }

    #[test]
    fn a_valid_tree_is_unchanged() {
        let links = [None, Some(0), Some(1), Some(1)];
        assert_eq!(sound_parents(4, |node| links[node]), links);
    }
}
