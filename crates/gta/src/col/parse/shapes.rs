//! The shapes of collision models.

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_record::Record;

/// The space that a model takes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct Bounds {
    /// The corner with the smallest coordinates.
    pub min: [f32; 3],
    /// The corner with the largest coordinates.
    pub max: [f32; 3],
    /// Center of the sphere around it.
    pub center: [f32; 3],
    /// Radius of that sphere.
    pub radius: f32,
}

/// A surface.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct Surface {
    /// Number of its material.
    pub material: u8,
    /// Flags; of vehicles the part.
    pub flags: u8,
    /// Brightness, of unknown meaning.
    pub brightness: u8,
    /// Light: day in the high half, night in the low half.
    pub light: u8,
}

/// A sphere.
#[derive(Debug, Default, Clone, Copy, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct Sphere {
    /// Center.
    pub center: [f32; 3],
    /// Radius.
    pub radius: f32,
    /// Surface.
    pub surface: Surface,
}

/// A box along the axes.
#[derive(Debug, Default, Clone, Copy, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct BoxShape {
    /// The corner with the smallest coordinates.
    pub min: [f32; 3],
    /// The corner with the largest coordinates.
    pub max: [f32; 3],
    /// Surface.
    pub surface: Surface,
}

/// Consecutive faces.
#[derive(Debug, Default, Clone, Copy, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct FaceGroup {
    /// The corner with the smallest coordinates.
    pub min: [f32; 3],
    /// The corner with the largest coordinates.
    pub max: [f32; 3],
    /// Number of the first face.
    pub first: u16,
    /// Number of the last face.
    pub last: u16,
}

/// A face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face {
    /// Numbers of its vertices.
    pub corners: [u32; 3],
    /// Surface.
    pub surface: Surface,
}

/// A mesh, kept as stored.
#[derive(Debug, Default, GetSize)]
pub struct Mesh {
    /// True since version 2: vertices are 16-bit numbers and faces have 8 bytes,
    /// instead of floats and 16 bytes.
    pub(super) is_short: bool,
    #[get_size(ignore)]
    pub(super) vertices: Bytes,
    #[get_size(ignore)]
    pub(super) faces: Bytes,
}

/// Unit of coordinates of 16 bits.
const SHORT_UNIT: f32 = 128.0;

impl Mesh {
    /// Bytes of a vertex and of a face.
    pub(super) const fn sizes(is_short: bool) -> (usize, usize) {
        if is_short { (6, 8) } else { (12, 16) }
    }

    /// Returns the vertices.
    pub fn vertices(&self) -> impl Iterator<Item = [f32; 3]> {
        let (size, _) = Self::sizes(self.is_short);
        self.vertices.chunks_exact(size).map(|stored| {
            if self.is_short {
                let words = stored.as_chunks().0;
                std::array::from_fn(|i| f32::from(i16::from_le_bytes(words[i])) / SHORT_UNIT)
            } else {
                let words = stored.as_chunks().0;
                std::array::from_fn(|i| f32::from_le_bytes(words[i]))
            }
        })
    }

    /// Returns the faces. Their vertices are not checked.
    pub fn faces(&self) -> impl Iterator<Item = Face> {
        let (_, size) = Self::sizes(self.is_short);
        self.faces.chunks_exact(size).map(|stored| {
            if self.is_short {
                let words = stored.as_chunks().0;
                Face {
                    corners: std::array::from_fn(|i| u16::from_le_bytes(words[i]).into()),
                    surface: Surface {
                        material: stored[6],
                        light: stored[7],
                        ..Surface::default()
                    },
                }
            } else {
                let words = stored.as_chunks().0;
                Face {
                    corners: std::array::from_fn(|i| u32::from_le_bytes(words[i])),
                    surface: Surface {
                        material: stored[12],
                        flags: stored[13],
                        brightness: stored[14],
                        light: stored[15],
                    },
                }
            }
        })
    }

    /// Returns the materials of faces, each with its number of faces.
    pub fn materials(&self) -> impl Iterator<Item = (u8, usize)> + use<> {
        let mut counts = [0; 256];
        for face in self.faces() {
            counts[usize::from(face.surface.material)] += 1;
        }
        let all = (0..=u8::MAX).zip(counts);
        all.filter(|(_, count)| *count > 0)
    }

    /// Returns whether there are no faces.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }
}
