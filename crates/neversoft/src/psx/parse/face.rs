//! Faces: triangles and quads of a model (FORMATS, PSX 4).

use get_size2::GetSize;

use super::Version;
use hpimount_containers::io::{Cursor, Error, Result};

const TEXTURED: u16 = 0x0003;
const LIT: u16 = 0x0004;
const TRIANGLE: u16 = 0x0010;
const SEMI_TRANSPARENT: u16 = 0x0040;
const INVISIBLE: u16 = 0x0080;
const GOURAUD: u16 = 0x0800;

/// A texture coordinate in texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Uv {
    /// From the left; 0 to 255 before version 6.
    pub u: u16,
    /// From the top; 0 to 255 before version 6.
    pub v: i16,
}

/// A triangle (corners 0, 1, 2) or a quad in Z order (triangles 0, 1, 2 and 1, 3, 2).
/// Viewed against its normal, the corners are clockwise.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Face {
    /// Appearance of the face, and the presence of fields.
    pub flags: u16,
    /// Vertex indices. The last one of a triangle is unused.
    pub indices: [u16; 4],
    /// Gouraud faces: an index into the `RGBs` colors for each corner. Other faces: r,
    /// g, b and the PlayStation's GPU command.
    pub color: [u8; 4],
    /// Index of the face's normal.
    pub normal: u16,
    /// Effect of the surface on a skater. 1 in its two low bits excludes the face from
    /// collisions; the other bits are unverified.
    pub surface: u16,
    /// Index into the texture ids.
    pub texture: Option<u32>,
    /// Texture coordinates of the corners. A face may have a texture and lack
    /// these.
    pub uv: Option<[Uv; 4]>,
}

impl Face {
    /// Returns the length of the part common to all faces in bytes.
    pub(super) fn fixed_size(version: Version) -> usize {
        match version {
            Version::V3 => 20,
            Version::V4 | Version::V6 => 16,
        }
    }

    /// Reads a face and moves past it, according to its length. Fields beyond the
    /// length are missing, regardless of the flags. Skips data after the known fields.
    pub(super) fn read(cursor: &mut Cursor, version: Version) -> Result<Self> {
        let mut head = cursor.clone();
        let flags = head.u16("flags")?;
        let length_at = head.offset();
        let length = usize::from(head.u16("length")? & 0xFFFC);
        let fixed = Self::fixed_size(version);
        if length < fixed {
            return Err(Error::damaged(
                length_at,
                "length",
                format!("is {length}, less than the {fixed} bytes that every face has"),
            ));
        }
        let mut body = cursor.section(length, "body")?;
        body.take(4, "head")?;
        let mut indices = [0; 4];
        for index in &mut indices {
            *index = match version {
                Version::V3 => body.u16("vertex index")?,
                Version::V4 | Version::V6 => body.u8("vertex index")?.into(),
            };
        }
        let color = *body.record("color")?;
        let normal = body.u16("normal")?;
        let surface = body.u16("surface")?;
        let textured = flags & TEXTURED != 0 && body.remaining() >= 4;
        let texture = textured.then(|| body.u32("texture")).transpose()?;
        let has_uv = textured && body.remaining() >= uv_size(version);
        let uv = has_uv.then(|| read_uv(&mut body, version)).transpose()?;
        Ok(Self {
            flags,
            indices,
            color,
            normal,
            surface,
            texture,
            uv,
        })
    }

    /// Returns whether the face has three corners instead of four.
    pub fn is_triangle(&self) -> bool {
        self.flags & TRIANGLE != 0
    }

    /// Returns whether the game lights the face and ignores its colors.
    pub fn is_lit(&self) -> bool {
        self.flags & LIT != 0
    }

    /// Returns whether the face takes part in collisions, visible or not.
    pub fn collides(&self) -> bool {
        self.surface & 3 != 1
    }

    /// Returns whether the corners have individual colors.
    pub fn is_gouraud(&self) -> bool {
        self.flags & GOURAUD != 0
    }

    /// Returns whether the face is blended with the background.
    pub fn is_semi_transparent(&self) -> bool {
        self.flags & SEMI_TRANSPARENT != 0
    }

    /// Returns whether the face is invisible: collision or a trigger.
    pub fn is_invisible(&self) -> bool {
        self.flags & (SEMI_TRANSPARENT | INVISIBLE) == INVISIBLE
    }

    /// Returns the number of corners.
    pub fn corners(&self) -> usize {
        if self.is_triangle() { 3 } else { 4 }
    }
}

/// Returns the length of the texture coordinates of a face in bytes.
fn uv_size(version: Version) -> usize {
    match version {
        Version::V3 | Version::V4 => 8,
        Version::V6 => 16,
    }
}

/// Reads four texture coordinates: `u0 v0 u1 v1 ...` as bytes, or in version 6 all u
/// and then all v.
fn read_uv(body: &mut Cursor, version: Version) -> Result<[Uv; 4]> {
    let mut uv = [Uv { u: 0, v: 0 }; 4];
    if version == Version::V6 {
        for corner in &mut uv {
            corner.u = body.u16("u")?;
        }
        for corner in &mut uv {
            corner.v = body.i16("v")?;
        }
    } else {
        for corner in &mut uv {
            corner.u = body.u8("u")?.into();
            corner.v = body.u8("v")?.into();
        }
    }
    Ok(uv)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::psx::{face, shorts};
    use hpimount_containers::io::Endian;

    fn read(bytes: &[u8], version: Version) -> Result<(Face, usize)> {
        let mut cursor = Cursor::new(bytes, 0x100, Endian::Little);
        let face = Face::read(&mut cursor, version)?;
        Ok((face, cursor.remaining()))
    }

    #[test]
    fn a_textured_triangle_has_a_texture_and_three_corners() {
        let rest = [7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0];
        let bytes = face(0x0813, [0, 1, 2, 0], [9, 8, 7, 0], &rest);
        let (face, left) = read(&bytes, Version::V4).unwrap();
        assert_eq!(left, 0);
        assert_eq!(face.texture, Some(7));
        assert_eq!(face.uv.unwrap()[1], Uv { u: 3, v: 4 });
        assert_eq!(face.corners(), 3);
        assert!(face.is_gouraud());
        assert_eq!((face.indices, face.surface), ([0, 1, 2, 0], 0x0110));
    }

    #[test]
    fn the_length_takes_precedence_over_the_flags() {
        let read = |flags, rest: &[u8]| {
            let mut bytes = face(flags, [0; 4], [0; 4], rest);
            bytes.push(0xEE);
            read(&bytes, Version::V4).unwrap()
        };
        let (untextured, left) = read(0x0003, &[]);
        assert_eq!((untextured.texture, left), (None, 1));
        let (without_uv, left) = read(0x0003, &[5, 0, 0, 0]);
        assert_eq!(
            (without_uv.texture, without_uv.uv, left),
            (Some(5), None, 1)
        );
        let (with_more, left) = read(0x0028, &[0; 12]);
        assert_eq!((with_more.texture, left), (None, 1));
    }

    #[test]
    fn the_low_bits_of_the_length_are_not_part_of_it() {
        let mut bytes = face(0, [0; 4], [0; 4], &[]);
        bytes[2] |= 3;
        assert_eq!(read(&bytes, Version::V4).unwrap().1, 0);
    }

    #[test]
    fn version_6_has_wide_texture_coordinates_and_version_3_wide_indices() {
        let mut rest = vec![1, 0, 0, 0];
        rest.extend(shorts(&[10, 20, 30, 400, -1, -2, -3, -4]));
        let bytes = face(0x0003, [0; 4], [0; 4], &rest);
        let (face, _) = read(&bytes, Version::V6).unwrap();
        assert_eq!(face.uv.unwrap()[3], Uv { u: 400, v: -4 });
        let mut bytes = shorts(&[0, 20, 300, 1, 2, 3]);
        bytes.extend([0; 8]);
        let (face, _) = read(&bytes, Version::V3).unwrap();
        assert_eq!(face.indices, [300, 1, 2, 3]);
    }

    #[test]
    fn a_face_shorter_than_its_fixed_part_is_an_error_at_its_length() {
        let mut bytes = face(0, [0; 4], [0; 4], &[]);
        bytes[2] = 12;
        assert_eq!(
            read(&bytes, Version::V4).unwrap_err().to_string(),
            "length at 0x102: is 12, less than the 16 bytes that every face has"
        );
    }

    #[test]
    fn only_one_kind_of_surface_does_not_collide() {
        let collides = |surface: i16| {
            let mut bytes = face(0x80, [0; 4], [0; 4], &[]);
            bytes[14..16].copy_from_slice(&surface.to_le_bytes());
            read(&bytes, Version::V4).unwrap().0.collides()
        };
        assert!(!collides(0x0101));
        assert!(!collides(0x0001));
        for surface in [0x0100, 0x0102, 0x0103] {
            assert!(collides(surface), "{surface:#x}");
        }
    }

    #[test]
    fn a_blended_face_is_drawn_regardless_of_the_bit_for_invisible() {
        let invisible = |flags| {
            let bytes = face(flags, [0; 4], [0; 4], &[]);
            read(&bytes, Version::V4).unwrap().0.is_invisible()
        };
        assert!(invisible(0x80));
        assert!(!invisible(0xC0));
        assert!(!invisible(0));
    }
}
