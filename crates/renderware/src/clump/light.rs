//! Lights of a clump.

use crate::{Chunk, kind};
use hpimount_assets::parse::floats;
use hpimount_containers::io::{Endian, Result};

/// A light.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Light {
    /// Number of its frame; `None` if the frame does not exist.
    pub frame: Option<usize>,
    /// Range of the light.
    pub radius: f32,
    /// Red, green and blue, usually 0 to 1.
    pub color: [f32; 3],
    /// The negated cosine of half the angle of a cone.
    pub minus_cosine: f32,
    /// Flags: 1 lights atomics, 2 lights worlds.
    pub flags: u16,
    /// 1 directional, 2 ambient, 0x80 point, 0x81 spot, 0x82 soft spot.
    pub kind: u16,
}

impl Light {
    /// Reads a light, without its frame.
    pub(super) fn read(light: &Chunk) -> Result<Self> {
        let fields = light.child(kind::STRUCT, "light")?;
        let mut cursor = fields.cursor(Endian::Little);
        Ok(Self {
            frame: None,
            radius: cursor.f32("light radius")?,
            color: floats(&mut cursor, "light color")?,
            minus_cosine: cursor.f32("light angle")?,
            flags: cursor.u16("light flags")?,
            kind: cursor.u16("light type")?,
        })
    }

    /// Returns the name of the light's kind.
    pub fn kind_name(&self) -> Option<&'static str> {
        Some(match self.kind {
            1 => "directional",
            2 => "ambient",
            0x80 => "point",
            0x81 => "spot",
            0x82 => "soft spot",
            _ => return None,
        })
    }
}
