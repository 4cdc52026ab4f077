//! Objects: placed models (FORMATS, PSX 2).

use get_size2::GetSize;
use zerocopy::little_endian::{I16, I32, U16, U32};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use hpimount_assets::parse::count::count;
use hpimount_containers::io::{Cursor, Result};

/// A placed model.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Object {
    /// Bit 1: part of an animated character. The others are unknown.
    pub flags: u16,
    /// Flags of the same kind that the game requests elsewhere.
    pub inquiry: u16,
    /// Position in vertex units with 12 fractional bits; x right, y down,
    /// z forward.
    pub position: [i32; 3],
    /// Euler angles about x, y and z; 4096 is a full turn. Almost always 0.
    pub angles: [i16; 3],
    /// Index of the model. May be out of range, with a warning.
    pub model: u16,
    /// Frame, tint, animation and region, which the game sets at run time.
    pub runtime: [u8; 4],
    /// Link to another object, which the game sets at run time.
    pub next: u32,
    /// Offset of the `RGBs` colors that the object uses.
    pub palette_offset: u32,
}

/// The 36 bytes of an object.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct ObjectRecord {
    flags: U16,
    inquiry: U16,
    position: [I32; 3],
    angles: [I16; 3],
    model: U16,
    runtime: [u8; 4],
    next: U32,
    palette_offset: U32,
}

/// Reads the count of objects and the objects.
pub(super) fn read_all(cursor: &mut Cursor) -> Result<Vec<Object>> {
    let count = count(cursor, size_of::<ObjectRecord>(), "nobj")?;
    (0..count)
        .map(|_| {
            let record = cursor.record::<ObjectRecord>("object")?;
            Ok(Object {
                flags: record.flags.get(),
                inquiry: record.inquiry.get(),
                position: record.position.map(I32::get),
                angles: record.angles.map(I16::get),
                model: record.model.get(),
                runtime: record.runtime,
                next: record.next.get(),
                palette_offset: record.palette_offset.get(),
            })
        })
        .collect()
}
