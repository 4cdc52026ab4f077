//! HGO: the models of Crash Bandicoot: The Wrath of Cortex on GameCube, as a
//! typed model.
//!
//! A file is a block that contains blocks (FORMATS, HGO 1): names, textures,
//! materials, texture animations, and the object itself, a skeleton with layers
//! of geometry. Numbers are big-endian; a little-endian variant is supported as
//! well. [`blk`] reads the table of blocks that comes with some files.

pub mod blk;
mod block;
mod geometry;
mod material;
mod mesh;
mod names;
mod object;
mod root;
mod texture;

pub use block::{Block, BlockKind};
pub use geometry::{Geometry, Sprite, Sprites};
pub use material::{Attributes, Material, TextureAnimation};
pub use mesh::{
    BlendShapes, Mesh, Primitive, PrimitiveKind, Skin, SkinGroup, Vertex, VertexWeights,
};
pub use names::{NameOffset, NameTable};
pub use object::{Bounds, Joint, Layer, Matrix, Part, Point, Shadow, ShadowMesh, Slot};
pub use texture::{Texture, TextureFormat};

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::parse::Incomplete;
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Endian, Error};

/// Extensions of HGO files.
pub const EXTENSIONS: &[&str] = &["hgo"];

/// The parsed contents of an HGO file.
#[derive(Debug, GetSize)]
pub struct Hgo {
    /// Byte order of the file: big on GameCube.
    #[get_size(ignore)]
    pub endian: Endian,
    /// The whole file; parts of the model are slices of it.
    #[get_size(ignore)]
    file: Bytes,
    /// All blocks in preorder, beginning with the root.
    pub blocks: Vec<Block>,
    /// The name table.
    pub names: NameTable,
    /// The number of textures according to the texture set (`None` without
    /// one).
    pub texture_count: Option<i32>,
    /// Textures, in the order of the file.
    pub textures: Vec<Texture>,
    /// Materials.
    pub materials: Vec<Material>,
    /// Texture animations.
    pub texture_animations: Vec<TextureAnimation>,
    /// Numbers of the textures of the texture animations.
    pub texture_ids: Vec<i16>,
    /// Joints; a parent usually precedes its children.
    pub joints: Vec<Joint>,
    /// Ids of joints in animations.
    pub joint_index: Vec<u8>,
    /// Numbers of points of interest by their meaning; 255 for none.
    pub point_index: Vec<u8>,
    /// Layers of geometry.
    pub layers: Vec<Layer>,
    /// Points of interest.
    pub points: Vec<Point>,
    /// Shapes that cast the shadow.
    pub shadows: Vec<Shadow>,
    /// Bounds of the whole object.
    pub bounds: Option<Bounds>,
    /// Offsets of the records in the file.
    pub places: Places,
    /// Warnings.
    pub warnings: Warnings,
}

/// Offsets of the first records of a model in its file. The records of a list are
/// contiguous.
#[derive(Debug, Default, Clone, Copy, GetSize)]
pub struct Places {
    /// The materials.
    pub materials: usize,
    /// The texture animations.
    pub texture_animations: usize,
    /// The joints.
    pub joints: usize,
    /// The points of interest.
    pub points: usize,
    /// The bounds.
    pub bounds: usize,
}

impl Hgo {
    fn new(file: Bytes, endian: Endian) -> Self {
        Self {
            endian,
            file,
            blocks: Vec::new(),
            names: NameTable::default(),
            texture_count: None,
            textures: Vec::new(),
            materials: Vec::new(),
            texture_animations: Vec::new(),
            texture_ids: Vec::new(),
            joints: Vec::new(),
            joint_index: Vec::new(),
            point_index: Vec::new(),
            layers: Vec::new(),
            points: Vec::new(),
            shadows: Vec::new(),
            bounds: None,
            places: Places::default(),
            warnings: Warnings::default(),
        }
    }
}

/// Type of the root block; reversed in a big-endian file.
const ROOT: [u8; 4] = *b"HGOF";

/// Returns the byte order of a file that starts with these bytes, or `None` if
/// it is not an HGO file.
pub fn endian(head: &[u8]) -> Option<Endian> {
    let mut reversed = ROOT;
    reversed.reverse();
    match head.get(..4)? {
        magic if magic == ROOT => Some(Endian::Little),
        magic if magic == reversed => Some(Endian::Big),
        _ => None,
    }
}

/// Parses an HGO file. Names, pixels and palettes of the model are slices of
/// `bytes`.
///
/// # Errors
/// Returns [`Incomplete`] with the model so far if the structure is broken: a
/// count that does not fit, a block shorter than its header, an unknown kind of
/// geometry. Indices that are out of range are warnings.
pub fn parse(bytes: &Bytes) -> Result<Hgo, Box<Incomplete<Hgo>>> {
    let mut hgo = Hgo::new(bytes.clone(), endian(bytes).unwrap_or(Endian::Big));
    let mut cursor = Cursor::new(bytes, 0, hgo.endian);
    let result = match endian(bytes) {
        Some(_) => root::read(&mut cursor, &mut hgo),
        None => Err(Error::damaged(
            0,
            "magic",
            format!(
                "is \"{}\", should be FOGH or HGOF",
                bytes[..bytes.len().min(4)].escape_ascii()
            ),
        )),
    };
    match result {
        Ok(()) => {
            hgo.check_indices();
            Ok(hgo)
        }
        Err(error) => Err(Box::new(Incomplete { error, model: hgo })),
    }
}

impl Hgo {
    /// Returns the length of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.file.len() as u64
    }

    /// Warns about numbers that are out of range.
    fn check_indices(&mut self) {
        let textures = self.textures.len();
        let warnings = &mut self.warnings;
        for (index, material) in self.materials.iter().enumerate() {
            let texture = material.texture;
            let exists = usize::try_from(texture).is_ok_and(|texture| texture < textures);
            if texture != -1 && !exists {
                warnings.push(format!(
                    "material {index}: texture {texture} does not exist"
                ));
            }
        }
        let joints = self.joints.len();
        for (index, joint) in self.joints.iter().enumerate() {
            if let Some(parent) = joint.parent.get().filter(|&parent| parent >= joints) {
                warnings.push(format!("joint {index}: parent {parent} does not exist"));
            }
        }
        let points = self.points.iter().map(|point| ("point", point.joint));
        let shadows = self.shadows.iter().map(|shadow| ("shadow", shadow.joint));
        for (what, joint) in points.chain(shadows) {
            if usize::from(joint) >= joints {
                warnings.push(format!("{what} of joint {joint}: it does not exist"));
            }
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let geometry = layer.parts.iter().flat_map(|part| &part.geometry);
            for material in geometry.flat_map(Geometry::materials) {
                let materials = self.materials.len();
                if usize::try_from(material).is_ok_and(|material| material < materials) {
                    continue;
                }
                warnings.push(format!("layer {index}: material {material} does not exist"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::hgo::Build;

    #[test]
    fn both_byte_orders_yield_the_same_model() {
        for endian in [Endian::Big, Endian::Little] {
            let hgo = parse(&Build::new(endian).mouse().into()).unwrap();
            assert_eq!(hgo.endian, endian);
            assert_eq!(hgo.joints[1].name.get(), Some("head"));
            assert_eq!(hgo.joints[1].parent.get(), Some(0));
            assert_eq!(hgo.joints[1].local[12..15], [0.0, 1.0, 0.5]);
            assert_eq!(hgo.layers[0].name.get(), Some("HIGH"));
            assert_eq!(hgo.textures[0].format, TextureFormat::Rgb5a3);
            assert_eq!(hgo.materials[0].texture, 0);
            assert_eq!(hgo.bounds.unwrap().sphere_radius, 1.0);
            assert!(hgo.warnings.is_empty(), "{:?}", hgo.warnings);
        }
    }

    #[test]
    fn indices_out_of_range_are_warnings() {
        let mut hgo = parse(&Build::new(Endian::Big).mouse().into()).unwrap();
        hgo.materials[0].texture = 9;
        hgo.joints[1].parent.stored = 7;
        hgo.points[0].joint = 2;
        hgo.layers[0].parts[0].geometry[0].set_material(3);
        hgo.check_indices();
        assert_eq!(
            hgo.warnings.texts(),
            [
                "material 0: texture 9 does not exist",
                "joint 1: parent 7 does not exist",
                "point of joint 2: it does not exist",
                "layer 0: material 3 does not exist",
            ]
        );
    }

    #[test]
    fn a_wrong_magic_is_an_error_at_the_start() {
        let error = parse(&Bytes::from_static(b"FOGX\0\0\0\x08"))
            .unwrap_err()
            .error;
        assert_eq!(
            error.to_string(),
            "magic at 0x0: is \"FOGX\", should be FOGH or HGOF"
        );
        assert!(parse(&Bytes::from_static(b"FO")).is_err());
    }
}
