//! The object itself: joints, layers, points, shadow, bounds (FORMATS, HGO 5).

use get_size2::GetSize;
use hpimount_record::{self as record, Field, FixedSize, Index, Record};

use super::material::floats;
use super::{Geometry, Hgo, NameOffset, NameTable, geometry};
use hpimount_assets::parse::count;
use hpimount_assets::parse::count::{count, fill};
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Result};

/// A matrix of 4 by 4, row by row; the translation is in elements 12 to 14.
pub type Matrix = [f32; 16];

/// A joint of the skeleton.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct Joint {
    /// Flags of unknown meaning.
    pub flags: u8,
    /// Transform in the rest pose, relative to the parent.
    #[record(json)]
    pub local: Matrix,
    /// Inverse of its transform in the rest pose, relative to the object.
    #[record(json)]
    pub inverse_world: Matrix,
    /// Orientation of its axes.
    #[record(json)]
    pub orientation: Matrix,
    /// Position relative to the joint where other objects are attached.
    #[record(parts = "x y z")]
    pub locator_offset: [f32; 3],
    /// Number of the parent; none for a root. It may be out of range, or part
    /// of a cycle.
    pub parent: Index<u8>,
    /// Offset of its name plus 1, or 0.
    #[record(derived)]
    pub name: NameOffset,
}

/// A set of geometry that is visible as a whole, such as one level of detail.
#[derive(Debug, Default, GetSize)]
pub struct Layer {
    /// Offset of its name plus 1, or 0.
    pub name: NameOffset,
    /// Parts, in the order of the file.
    pub parts: Vec<Part>,
}

/// Attachment of the geometry of a part to the skeleton.
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
    /// Attachment to the skeleton.
    pub slot: Slot,
    /// The joint of the part, in a rigid slot.
    pub joint: Option<u8>,
    /// The geometry.
    pub geometry: Vec<Geometry>,
}

/// A named position on the object.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct Point {
    /// Number of the joint that it moves with.
    pub joint: u8,
    /// Transform relative to the joint.
    #[record(json)]
    pub matrix: Matrix,
    /// Offset of its name plus 1, or 0.
    #[record(derived)]
    pub name: NameOffset,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hgo.md")]
pub struct Bounds {
    /// Radius of the sphere around it.
    pub sphere_radius: f32,
    /// Height of the sphere's center.
    pub sphere_yoff: f32,
    /// Minimum corner of the box around it. If both corners are zero, the game
    /// uses -1 and 1.
    #[record(parts = "x y z")]
    pub min: [f32; 3],
    /// Maximum corner of the box around it.
    #[record(parts = "x y z")]
    pub max: [f32; 3],
    /// Height of the cylinder's lower end.
    pub cylinder_yoff: f32,
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
    hgo.places.bounds = cursor.offset() as usize;
    hgo.bounds = Some(record::read(cursor)?);
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
    let joints = count::fitting(cursor, count_offset, joints.into(), Joint::SIZE, field)?;
    hgo.places.joints = cursor.offset() as usize;
    for _ in 0..joints {
        let mut joint: Joint = record::read(cursor)?;
        look_up(&mut joint.name, cursor, hgo);
        hgo.joints.push(joint);
    }
    Ok(())
}

/// Looks up the last name.
fn look_up(name: &mut NameOffset, cursor: &Cursor<'_>, hgo: &mut Hgo) {
    let at = cursor.offset() - NameOffset::SIZE as u64;
    name.look_up(NameTable::one_based, at, &mut hgo.names, &mut hgo.warnings);
}

fn read_layers(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    for _ in 0..cursor.u8("layer count")? {
        let mut name = NameOffset::default();
        name.read(cursor, "layer name")?;
        look_up(&mut name, cursor, hgo);
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
    let points = cursor.u8("point count")?;
    hgo.places.points = cursor.offset() as usize;
    for _ in 0..points {
        let mut point: Point = record::read(cursor)?;
        look_up(&mut point.name, cursor, hgo);
        hgo.points.push(point);
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

/// Reads bytes after their one-byte count.
fn read_bytes(cursor: &mut Cursor<'_>, field: &'static str) -> Result<Vec<u8>> {
    let length = cursor.u8(field)?;
    Ok(cursor.take(length.into(), field)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hgo::parse::parse;
    use bytes::Bytes;
    use fixtures::hgo::Build;
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
        assert_eq!(hgo.points[0].name.get(), Some("hat"));
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
        let cut = object.offset as usize + 8 + 1 + 2 * Joint::SIZE + 5;
        let incomplete = parse(&Bytes::copy_from_slice(&bytes[..cut])).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            format!("layer count at {cut:#x}: needs 1 bytes, 0 are left")
        );
        assert_eq!(incomplete.model.joints, whole.joints);
        assert_eq!(incomplete.model.materials, whole.materials);
    }
}
