//! The object itself: joints, layers, points, shadow, bounds (FORMATS, HGO 5).

use get_size2::GetSize;

use super::material::floats;
use super::{Geometry, Hgo, geometry};
use crate::parse::count;
use crate::parse::count::{count, fill};
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Result};

/// A matrix of 4 by 4, row by row; the translation is in elements 12 to 14.
pub type Matrix = [f32; 16];

/// Bytes of a joint.
const JOINT_SIZE: usize = 210;

/// Number of the parent of a root.
const NO_PARENT: u8 = 0xff;

/// A joint of the skeleton.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub struct Joint {
    /// Flags of unknown meaning.
    pub flags: u8,
    /// Transform in the rest pose, relative to the parent.
    pub local: Matrix,
    /// Inverse of its transform in the rest pose, relative to the object.
    pub inverse_world: Matrix,
    /// Orientation of its axes.
    pub orientation: Matrix,
    /// Position relative to the joint where other objects are attached.
    pub locator_offset: [f32; 3],
    /// Number of the parent; `None` for a root. It may be out of range, or part
    /// of a cycle.
    pub parent: Option<u8>,
    /// Its name.
    pub name: Option<String>,
}

/// A set of geometry that is shown or hidden as a whole, such as one level of
/// detail.
#[derive(Debug, Default, GetSize)]
pub struct Layer {
    /// Its name.
    pub name: Option<String>,
    /// Its parts, in the order of the file.
    pub parts: Vec<Part>,
}

/// How the geometry of a part follows the skeleton.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, GetSize)]
pub enum Slot {
    /// Fixed to a joint.
    #[default]
    Rigid,
    /// Bent by several joints.
    Skin,
    /// Fixed to a joint, with blend shapes.
    BlendRigid,
    /// Bent by several joints, with blend shapes.
    BlendSkin,
}

impl Slot {
    /// The slots in the order of a layer.
    pub const ALL: [Self; 4] = [Self::Rigid, Self::Skin, Self::BlendRigid, Self::BlendSkin];

    /// Returns its name in snake case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::Skin => "skin",
            Self::BlendRigid => "blend_rigid",
            Self::BlendSkin => "blend_skin",
        }
    }

    /// Returns whether each part belongs to one joint.
    fn is_rigid(self) -> bool {
        matches!(self, Self::Rigid | Self::BlendRigid)
    }
}

/// Geometry in one slot of a layer.
#[derive(Debug, Default, GetSize)]
pub struct Part {
    /// How it follows the skeleton.
    pub slot: Slot,
    /// The joint that it is fixed to, in a rigid slot.
    pub joint: Option<u8>,
    /// The geometry.
    pub geometry: Vec<Geometry>,
}

/// A named position on the object.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub struct Point {
    /// Number of the joint that it moves with.
    pub joint: u8,
    /// Transform relative to the joint.
    pub matrix: Matrix,
    /// Its name.
    pub name: Option<String>,
}

/// The shapes that cast the shadow of a joint.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct Shadow {
    /// Ellipsoids, 12 numbers each.
    pub ellipsoids: Vec<[f32; 12]>,
    /// Cylinders, 16 numbers each.
    pub cylinders: Vec<[f32; 16]>,
    /// Meshes.
    pub meshes: Vec<ShadowMesh>,
    /// Number of the joint.
    pub joint: u8,
}

/// A mesh that casts a shadow.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct ShadowMesh {
    /// Normals.
    pub normals: Vec<[f32; 4]>,
    /// Vertices.
    pub vertices: Vec<[f32; 4]>,
}

/// Bounds of the object in its own units, y up.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub struct Bounds {
    /// Radius of the sphere around it.
    pub sphere_radius: f32,
    /// Height of the sphere's center.
    pub sphere_y: f32,
    /// Minimum corner of the box around it. If both corners are zero, the game
    /// uses -1 and 1.
    pub min: [f32; 3],
    /// Maximum corner of the box around it.
    pub max: [f32; 3],
    /// Height of the cylinder's lower end.
    pub cylinder_y: f32,
    /// Height of the cylinder around it.
    pub cylinder_height: f32,
    /// Radius of the cylinder around it.
    pub cylinder_radius: f32,
}

/// Reads an `HGO0` block. A second one replaces the first.
pub(super) fn read(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    hgo.joints.clear();
    hgo.layers.clear();
    hgo.points.clear();
    hgo.shadows.clear();
    let joints = cursor.u8("joint count")?;
    if joints > 0 {
        read_joints(cursor, joints, hgo)?;
        hgo.joint_index = read_bytes(cursor, "joint index")?;
        hgo.point_index = read_bytes(cursor, "point index")?;
        read_layers(cursor, hgo)?;
        read_points(cursor, hgo)?;
        for _ in 0..cursor.u8("shadow count")? {
            fill(&mut hgo.shadows, |shadow| read_shadow(cursor, shadow))?;
        }
    }
    hgo.bounds = Some(Bounds {
        sphere_radius: cursor.f32("sphere radius")?,
        sphere_y: cursor.f32("sphere y offset")?,
        min: floats(cursor, "bounds minimum")?,
        max: floats(cursor, "bounds maximum")?,
        cylinder_y: cursor.f32("cylinder y offset")?,
        cylinder_height: cursor.f32("cylinder height")?,
        cylinder_radius: cursor.f32("cylinder radius")?,
    });
    if cursor.remaining() > 3 {
        hgo.warnings.push(format!(
            "block HGO0: {} bytes at {:#x}, after its bounds, are not known",
            cursor.remaining(),
            cursor.offset()
        ));
    }
    Ok(())
}

fn read_joints(cursor: &mut Cursor<'_>, joints: u8, hgo: &mut Hgo) -> Result<()> {
    let count_offset = cursor.offset() - 1;
    let field = "joint count";
    let joints = count::fitting(cursor, count_offset, joints.into(), JOINT_SIZE, field)?;
    for _ in 0..joints {
        let flags = cursor.u8("joint flags")?;
        let local = floats(cursor, "joint matrix")?;
        let inverse_world = floats(cursor, "joint inverse matrix")?;
        let orientation = floats(cursor, "joint orientation")?;
        let locator_offset = floats(cursor, "joint locator offset")?;
        let parent = cursor.u8("joint parent")?;
        let name = read_name(cursor, "joint name", hgo)?;
        hgo.joints.push(Joint {
            flags,
            local,
            inverse_world,
            orientation,
            locator_offset,
            parent: (parent != NO_PARENT).then_some(parent),
            name,
        });
    }
    Ok(())
}

fn read_layers(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    for _ in 0..cursor.u8("layer count")? {
        let name = read_name(cursor, "layer name", hgo)?;
        let joints = hgo.joints.len();
        let warnings = &mut hgo.warnings;
        fill(&mut hgo.layers, |layer| {
            layer.name = name;
            for slot in Slot::ALL {
                read_slot(cursor, slot, joints, &mut layer.parts, warnings)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn read_slot(
    cursor: &mut Cursor<'_>,
    slot: Slot,
    joints: usize,
    parts: &mut Vec<Part>,
    warnings: &mut Warnings,
) -> Result<()> {
    if cursor.u8("layer slot")? == 0 {
        return Ok(());
    }
    let owners: Vec<_> = if slot.is_rigid() {
        (0..joints).map(|joint| u8::try_from(joint).ok()).collect()
    } else {
        vec![None]
    };
    for joint in owners {
        if joint.is_some() && cursor.u8("layer joint")? == 0 {
            continue;
        }
        fill(parts, |part| {
            part.slot = slot;
            part.joint = joint;
            geometry::read(cursor, joints, &mut part.geometry, warnings)
        })?;
    }
    Ok(())
}

fn read_points(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    for _ in 0..cursor.u8("point count")? {
        let joint = cursor.u8("point joint")?;
        let matrix = floats(cursor, "point matrix")?;
        let name = read_name(cursor, "point name", hgo)?;
        hgo.points.push(Point {
            joint,
            matrix,
            name,
        });
    }
    Ok(())
}

fn read_shadow(cursor: &mut Cursor<'_>, shadow: &mut Shadow) -> Result<()> {
    for _ in 0..cursor.u8("ellipsoid count")? {
        shadow.ellipsoids.push(floats(cursor, "ellipsoid")?);
    }
    for _ in 0..cursor.u8("cylinder count")? {
        shadow.cylinders.push(floats(cursor, "cylinder")?);
    }
    for _ in 0..cursor.u8("shadow mesh count")? {
        fill(&mut shadow.meshes, |mesh| {
            for _ in 0..count(cursor, 16, "shadow normal count")? {
                mesh.normals.push(floats(cursor, "shadow normal")?);
            }
            for _ in 0..count(cursor, 16, "shadow vertex count")? {
                mesh.vertices.push(floats(cursor, "shadow vertex")?);
            }
            Ok(())
        })?;
    }
    shadow.joint = cursor.u8("shadow joint")?;
    Ok(())
}

fn read_name(
    cursor: &mut Cursor<'_>,
    field: &'static str,
    hgo: &mut Hgo,
) -> Result<Option<String>> {
    let at = cursor.offset();
    let number = cursor.i32(field)?;
    Ok(hgo.names.one_based(at, number, &mut hgo.warnings))
}

/// Reads bytes that are preceded by their number, which is one byte.
fn read_bytes(cursor: &mut Cursor<'_>, field: &'static str) -> Result<Vec<u8>> {
    let length = cursor.u8(field)?;
    Ok(cursor.take(length.into(), field)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crash::hgo::parse::build::Build;
    use crate::crash::hgo::parse::parse;
    use bytes::Bytes;
    use hpimount_containers::io::Endian;

    #[test]
    fn geometry_is_found_in_its_slot_and_at_its_joint() {
        let hgo = parse(&Build::new(Endian::Big).mouse().into()).unwrap();
        let parts: Vec<_> = hgo.layers[0]
            .parts
            .iter()
            .map(|part| (part.slot, part.joint, part.geometry.len()))
            .collect();
        assert_eq!(
            parts,
            [(Slot::Rigid, Some(1), 1), (Slot::BlendSkin, None, 2)]
        );
        assert_eq!(hgo.joint_index, [0, 1]);
        assert_eq!(hgo.point_index, [0xff]);
        assert_eq!(hgo.points[0].name.as_deref(), Some("hat"));
        let shadow = &hgo.shadows[0];
        assert_eq!((shadow.ellipsoids.len(), shadow.cylinders.len()), (1, 1));
        assert_eq!(shadow.meshes[0].vertices, [[1.0, 2.0, 3.0, 4.0]]);
        assert_eq!(shadow.joint, 1);
    }

    #[test]
    fn without_joints_there_are_only_bounds() {
        let build = Build::new(Endian::Big);
        let body = [vec![0], build.bounds()].concat();
        let hgo = parse(&build.root(&[build.block(b"HGO0", &body)]).into()).unwrap();
        assert!(hgo.joints.is_empty() && hgo.layers.is_empty());
        assert_eq!(hgo.bounds.unwrap().cylinder_radius, 11.0);
        assert!(hgo.warnings.is_empty());
    }

    #[test]
    fn everything_before_a_truncation_is_kept() {
        let bytes = Build::new(Endian::Big).mouse();
        let whole = parse(&bytes.clone().into()).unwrap();
        let object = whole.blocks.last().unwrap();
        let cut = object.offset as usize + 8 + 1 + 2 * JOINT_SIZE + 5;
        let incomplete = parse(&Bytes::copy_from_slice(&bytes[..cut])).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            format!("layer count at {cut:#x}: needs 1 bytes, 0 are left")
        );
        assert_eq!(incomplete.model.joints, whole.joints);
        assert_eq!(incomplete.model.materials, whole.materials);
    }
}
