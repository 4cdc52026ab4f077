//! Frames: the transform hierarchy of a clump.

use crate::{Chunk, Plugins, kind, user_data};
use hpimount_assets::model::Transform;
use hpimount_assets::model::math::{cross, dot, finite, subtract, unit};
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Endian, Result, Warnings};
use hpimount_record::{self as record, Record};

/// Bytes of a frame.
const FRAME: usize = 56;

/// A transform. A point v is mapped to
/// `v.x * right + v.y * up + v.z * at + position`.
#[derive(Debug, Clone, Copy, PartialEq, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct Placement {
    /// Image of the x axis.
    pub right: [f32; 3],
    /// Image of the y axis.
    pub up: [f32; 3],
    /// Image of the z axis.
    pub at: [f32; 3],
    /// Translation.
    pub position: [f32; 3],
}

impl Placement {
    /// The identity transform.
    pub const IDENTITY: Self = Self {
        right: [1.0, 0.0, 0.0],
        up: [0.0, 1.0, 0.0],
        at: [0.0, 0.0, 1.0],
        position: [0.0; 3],
    };

    /// Transforms a direction, without the translation.
    pub fn turned(&self, v: [f32; 3]) -> [f32; 3] {
        std::array::from_fn(|i| v[0] * self.right[i] + v[1] * self.up[i] + v[2] * self.at[i])
    }

    /// Transforms a point.
    pub fn placed(&self, v: [f32; 3]) -> [f32; 3] {
        let turned = self.turned(v);
        std::array::from_fn(|i| turned[i] + self.position[i])
    }

    /// Returns the transform of an affine map.
    pub fn of(map: impl Fn([f32; 3]) -> [f32; 3]) -> Self {
        let position = map([0.0; 3]);
        let [right, up, at] = AXES.map(|axis| subtract(map(axis), position));
        Self {
            right,
            up,
            at,
            position,
        }
    }

    /// Returns the transformation of a node. Shear is lost.
    pub fn transform(&self) -> Transform {
        Transform::from_axes([self.right, self.up, self.at, self.position])
    }

    /// Composes this transform with its parent's.
    pub fn within(&self, parent: &Self) -> Self {
        Self {
            right: parent.turned(self.right).map(finite),
            up: parent.turned(self.up).map(finite),
            at: parent.turned(self.at).map(finite),
            position: parent.placed(self.position).map(finite),
        }
    }

    /// Returns the inverse transform; `None` for a singular one.
    pub fn inverse(&self) -> Option<Self> {
        let [a, b, c] = self.cofactors();
        let volume = dot(self.right, a);
        if !volume.is_finite() || volume.abs() < 1e-12 {
            return None;
        }
        let rows = [a, b, c].map(|row| row.map(|part| part / volume));
        let map = |v: [f32; 3]| rows.map(|row| finite(dot(row, v)));
        let [right, up, at] = AXES.map(map);
        Some(Self {
            right,
            up,
            at,
            position: map(self.position).map(|part| 0.0 - part),
        })
    }

    /// Transforms the normal of a surface, or returns `None` if the result has no
    /// direction.
    pub fn normal(&self, normal: [f32; 3]) -> Option<[f32; 3]> {
        let cofactors = self.cofactors();
        let side = dot(self.right, cofactors[0]).signum();
        let turned = |i: usize| (0..3).map(|axis| normal[axis] * cofactors[axis][i]).sum();
        unit(std::array::from_fn(turned).map(|part: f32| side * part))
    }

    fn cofactors(&self) -> [[f32; 3]; 3] {
        let Self { right, up, at, .. } = *self;
        [cross(up, at), cross(at, right), cross(right, up)]
    }

    /// Returns whether two transforms are almost the same.
    pub fn is_near(&self, other: &Self) -> bool {
        let axes = |one: &Self| [one.right, one.up, one.at];
        let size = |parts: &[f32]| {
            parts
                .iter()
                .fold(0.0, |most: f32, part| most.max(part.abs()))
        };
        let differ = |a: &[f32], b: &[f32], size: f32| {
            let mut parts = a.iter().zip(b);
            // NaN differs from everything.
            !parts.all(|(a, b)| (a - b).abs() <= NEAR * size)
        };
        let (own, others) = (axes(self), axes(other));
        let (own, others) = (own.as_flattened(), others.as_flattened());
        let far = 1.0 + size(&other.position);
        !differ(own, others, size(others)) && !differ(&self.position, &other.position, far)
    }
}

const AXES: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Relative tolerance for rounding of transforms.
const NEAR: f32 = 1e-4;

impl Default for Placement {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// A frame.
#[derive(Debug, Default, Clone)]
pub struct Frame {
    /// Name, possibly empty.
    pub name: String,
    /// Transform relative to the parent.
    pub placement: Placement,
    /// Number of the parent. There are no cycles.
    pub parent: Option<usize>,
    /// Flags.
    pub flags: u32,
    /// The skeleton node of this frame.
    pub node: Option<Node>,
    /// Plugins.
    pub plugins: Plugins,
}

impl Frame {
    /// Returns its memory on the heap in bytes, without the bytes of its file.
    pub(super) fn memory(&self) -> usize {
        let bones = self.node.as_ref().map_or(0, |node| node.bones.capacity());
        self.name.capacity() + bones * size_of::<[i32; 3]>()
    }
}

/// A node of a skeleton, and the skeleton if it is the root.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Node {
    /// Id of the node.
    pub id: i32,
    /// Flags of the skeleton.
    pub flags: u32,
    /// Bytes of a key of its animations.
    pub key_size: u32,
    /// Id, index and flags of the nodes of the skeleton, in the order of its
    /// bones; flag 1 ends a branch, 2 begins one.
    pub bones: Vec<[i32; 3]>,
}

/// Returns the transforms of all frames into the space of the clump.
pub(super) fn placements(frames: &[Frame]) -> Vec<Placement> {
    let mut known: Vec<Option<Placement>> = vec![None; frames.len()];
    let mut chain = Vec::new();
    for start in 0..frames.len() {
        let mut next = Some(start);
        while let Some(index) = next.filter(|&index| known[index].is_none()) {
            chain.push(index);
            next = frames[index].parent;
        }
        while let Some(index) = chain.pop() {
            let own = frames[index].placement;
            let parent = frames[index].parent.and_then(|parent| known[parent]);
            known[index] = Some(parent.map_or(own, |parent| own.within(&parent)));
        }
    }
    known.into_iter().flatten().collect()
}

/// Reads a frame list. An extension for each frame follows its structure.
pub(super) fn read(list: &Chunk, warnings: &mut Warnings) -> Result<Vec<Frame>> {
    let fields = list.child(kind::STRUCT, "frame list")?;
    let mut cursor = fields.cursor(Endian::Little);
    let count = count(&mut cursor, FRAME, "frame count")?;
    let mut frames = Vec::with_capacity(count);
    for number in 0..count {
        let at = cursor.offset();
        let placement = record::read(&mut cursor)?;
        let stored = cursor.i32("frame parent")?;
        let parent = usize::try_from(stored)
            .ok()
            .filter(|&parent| parent < count);
        if parent.is_none() && stored != -1 {
            warnings.push(format!(
                "frame {number} at {at:#x}: has parent {stored} of {count}"
            ));
        }
        frames.push(Frame {
            placement,
            parent,
            flags: cursor.u32("frame flags")?,
            ..Frame::default()
        });
    }
    break_cycles(&mut frames, warnings);
    let extensions = list
        .children()
        .filter(|chunk| chunk.kind == kind::EXTENSION);
    for (frame, extension) in frames.iter_mut().zip(extensions) {
        frame.plugins = extension.as_plugins();
        let node = frame.plugins.find(kind::HANIM);
        frame.node = node.and_then(|node| read_node(&node).ok());
        frame.name = name(&frame.plugins);
    }
    Ok(frames)
}

/// Returns the name in the plugins of a frame, or an empty one.
fn name(plugins: &Plugins) -> String {
    let own = plugins.find(kind::FRAME_NAME);
    let own = own.map(|plugin| until_nul(&plugin.body));
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return own;
    }
    let values = plugins.find(kind::USER_DATA);
    let exported = values.and_then(|plugin| user_data::text(&plugin, "name"));
    exported.unwrap_or_default()
}

/// Removes the parent of one frame of each cycle.
fn break_cycles(frames: &mut [Frame], warnings: &mut Warnings) {
    // For each frame, the start of the walk that visited it first.
    let mut seen = vec![None; frames.len()];
    for start in 0..frames.len() {
        let mut index = start;
        seen[index].get_or_insert(start);
        while let Some(parent) = frames[index].parent {
            match seen[parent] {
                None => seen[parent] = Some(start),
                Some(walk) if walk == start => {
                    warnings.push(format!("frame {index}: its parents form a cycle"));
                    frames[index].parent = None;
                    break;
                }
                Some(_) => break,
            }
            index = parent;
        }
    }
}

fn read_node(chunk: &Chunk) -> Result<Node> {
    let mut cursor = chunk.cursor(Endian::Little);
    cursor.u32("node version")?;
    let id = cursor.i32("node id")?;
    let bones = cursor.u32("bone count")?;
    let mut node = Node {
        id,
        ..Node::default()
    };
    if bones > 0 {
        node.flags = cursor.u32("skeleton flags")?;
        node.key_size = cursor.u32("key size")?;
        for _ in 0..cursor.check_count(bones.into(), 12, "bone count")? {
            let bone = [
                cursor.i32("bone id")?,
                cursor.i32("bone index")?,
                cursor.i32("bone flags")?,
            ];
            node.bones.push(bone);
        }
    }
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(x: f32, parent: Option<usize>) -> Frame {
        let placement = Placement {
            right: [0.0, 1.0, 0.0],
            up: [-1.0, 0.0, 0.0],
            position: [x, 0.0, 0.0],
            ..Placement::IDENTITY
        };
        Frame {
            placement,
            parent,
            ..Frame::default()
        }
    }

    #[test]
    fn frames_are_placed_in_their_parents_in_any_order() {
        let frames = [frame(1.0, Some(1)), frame(2.0, None), frame(3.0, Some(0))];
        let found: Vec<_> = placements(&frames)
            .iter()
            .map(|placement| placement.position)
            .collect();
        // Each rotates by 90 degrees: (1, 0) in (2, 0) is (2, 1).
        assert_eq!(found, [[2.0, 1.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 1.0, 0.0]]);
    }

    #[test]
    fn cycles_are_broken() {
        let parents = [Some(1), Some(2), Some(0), Some(3), Some(0), None];
        let mut frames = parents.map(|parent| frame(1.0, parent));
        let mut warnings = Warnings::default();
        break_cycles(&mut frames, &mut warnings);
        assert_eq!(warnings.len(), 2);
        let left: Vec<_> = frames.iter().map(|frame| frame.parent).collect();
        assert_eq!(left, [Some(1), Some(2), None, None, Some(0), None]);
        assert_eq!(placements(&frames).len(), 6);
    }
}
