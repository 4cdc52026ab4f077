//! The model of a character.

use get_size2::GetSize;

use super::texture::Texture;
use hpimount_containers::io::Warnings;

/// The versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Version {
    /// 1: the Dreamcast, with PVR textures. Every part contains its vertices.
    Dreamcast,
    /// 3: the Xbox, with DDS textures and short counts.
    Xbox,
    /// 4: the Xbox, with long counts.
    LaterXbox,
}

impl Version {
    /// Returns its number in files.
    pub fn number(self) -> u32 {
        match self {
            Self::Dreamcast => 1,
            Self::Xbox => 3,
            Self::LaterXbox => 4,
        }
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        let all = [Self::Dreamcast, Self::Xbox, Self::LaterXbox];
        all.into_iter().find(|version| version.number() == number)
    }
}

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Bon {
    /// The version.
    pub version: Version,
    /// The materials.
    pub materials: Vec<Material>,
    /// The sizes of the lists shared by all parts, since version 3.
    pub shared: Option<Shared>,
    /// The parts, each after its parent.
    pub parts: Vec<Part>,
    /// Number of bytes after the last field.
    pub unread: usize,
    /// Warnings.
    pub warnings: Warnings,
}

/// A material.
#[derive(Debug, Clone, GetSize)]
pub struct Material {
    /// Name.
    pub name: String,
    /// Red, green, blue and alpha.
    pub color: Color,
    /// Numbers of unknown meaning: three in version 1, otherwise two.
    pub values: Vec<f32>,
    /// A byte of unknown meaning, in version 1.
    pub flag: Option<u8>,
    /// Texture.
    pub texture: Option<Texture>,
}

/// A color as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, GetSize)]
pub enum Color {
    /// Floats of 0 to 1, in version 1.
    Floats([f32; 4]),
    /// From version 3 on.
    Bytes([u8; 4]),
}

/// The lists that all parts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Shared {
    /// Number of vertices.
    pub vertices: u32,
    /// A number without a known meaning.
    pub second: u32,
    /// Number of indices.
    pub indices: u32,
}

/// A part of the character.
#[derive(Debug, Clone, GetSize)]
pub struct Part {
    /// Type, as it is stored.
    pub kind: u8,
    /// Name.
    pub name: String,
    /// Number of the parent part.
    pub parent: Option<usize>,
    /// The version-dependent fields.
    pub body: Body,
    /// Strips.
    pub splits: Vec<Split>,
}

/// The fields of a part that differ between versions.
#[derive(Debug, Clone, PartialEq, GetSize)]
pub enum Body {
    /// Version 1.
    First {
        /// Flags, as they are stored.
        flags: u8,
        /// Matrices, whose numbers have no known order.
        matrices: Vec<[f32; 11]>,
        /// Numbers without a known meaning.
        unknown: [f32; 6],
        /// Number of its vertices.
        vertices: u32,
    },
    /// Version 3 and later.
    Later {
        /// A rotation.
        matrix: [f32; 9],
        /// Position.
        position: [f32; 3],
        /// Another rotation.
        second_matrix: [f32; 9],
        /// Strips between parts.
        joint_splits: Vec<Split>,
    },
}

/// A strip of triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Split {
    /// Index of the material.
    pub material: u16,
    /// First index, from version 3 on.
    pub first: Option<u16>,
    /// Number of indices.
    pub count: u32,
}
