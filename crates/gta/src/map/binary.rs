//! Binary IPL files from archives of San Andreas (FORMATS, GTA 6.3).

use get_size2::GetSize;

use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};
use hpimount_record::{self as record, FixedSize, Record};

/// The magic of a binary file.
pub const MAGIC: &[u8] = b"bnry";

/// Bytes of the header.
const HEADER: usize = 0x4C;

/// Kinds of entries in the header. Only two are used.
const KINDS: usize = 6;
const INSTANCES: usize = 0;
const CARS: usize = 4;

/// A binary file.
#[derive(Debug, Default, GetSize)]
pub struct Binary {
    /// Placed objects.
    pub instances: Vec<Placed>,
    /// Offset in the file.
    pub(super) instances_at: usize,
    /// Parked cars.
    pub cars: Vec<Car>,
    /// Offset in the file.
    pub(super) cars_at: usize,
    /// Warnings.
    pub warnings: Warnings,
}

/// A placed object.
#[derive(Debug, Default, Clone, Copy, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct Placed {
    /// Position to the right.
    pub x: f32,
    /// Position forward.
    pub y: f32,
    /// Height.
    pub z: f32,
    /// Inverse rotation as a quaternion: x.
    pub rx: f32,
    /// Inverse rotation: y.
    pub ry: f32,
    /// Inverse rotation: z.
    pub rz: f32,
    /// Inverse rotation: w.
    pub rw: f32,
    /// Number of its model.
    pub id: i32,
    /// Interior in the low byte, and flags.
    pub interior: u32,
    /// Number of the distant replacement in the text file, or -1.
    pub lod: i32,
}

impl Placed {
    /// Returns its position.
    pub fn position(&self) -> [f32; 3] {
        [self.x, self.y, self.z]
    }

    /// Returns the inverse of its rotation.
    pub fn rotation(&self) -> [f32; 4] {
        [self.rx, self.ry, self.rz, self.rw]
    }
}

/// A parked car.
#[derive(Debug, Default, Clone, Copy, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/gta.md")]
pub struct Car {
    /// Position to the right.
    pub x: f32,
    /// Position forward.
    pub y: f32,
    /// Height.
    pub z: f32,
    /// Angle around the vertical axis in radians.
    pub angle: f32,
    /// Number of its model; -1 for any.
    pub model: i32,
    /// First color; -1 for any.
    pub color1: i32,
    /// Second color.
    pub color2: i32,
    /// Nonzero if it always exists.
    pub force: i32,
    /// Chance of an alarm.
    pub alarm: i32,
    /// Chance that it is locked.
    pub locked: i32,
    /// Least delay before it is there again.
    pub min_delay: i32,
    /// Largest delay.
    pub max_delay: i32,
}

/// Reads a binary file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the header is incomplete or entries do not fit
/// into the file.
pub fn parse(bytes: &[u8]) -> Result<Binary> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    cursor.take(MAGIC.len(), "magic")?;
    let mut counts = [0; KINDS];
    for count in &mut counts {
        *count = cursor.u32("entry count")?;
    }
    let mut offsets = [0; KINDS];
    for offset in &mut offsets {
        *offset = cursor.u32("entry offset")?;
        cursor.u32("entry size")?;
    }
    let mut binary = Binary {
        instances_at: offsets[INSTANCES] as usize,
        cars_at: offsets[CARS] as usize,
        ..Binary::default()
    };
    let entries = |kind: usize, size: usize, field: &'static str| {
        let (count, offset) = (counts[kind], offsets[kind]);
        let stored_at = 4 + 4 * KINDS as u64 + 8 * kind as u64;
        if count == 0 {
            return Ok(Cursor::new(&[], 0, Endian::Little));
        }
        if (offset as usize) < HEADER {
            let problem = format!("is {offset:#x}, inside of the header");
            return Err(Error::damaged(stored_at, field, problem));
        }
        let mut cursor = Cursor::new(bytes, 0, Endian::Little);
        cursor.seek(offset.into(), field)?;
        let count = cursor.check_count(count.into(), size, field)?;
        cursor.section(count * size, field)
    };
    let mut instances = entries(INSTANCES, Placed::SIZE, "instances")?;
    while instances.remaining() > 0 {
        binary.instances.push(record::read(&mut instances)?);
    }
    let mut cars = entries(CARS, Car::SIZE, "cars")?;
    while cars.remaining() > 0 {
        binary.cars.push(record::read(&mut cars)?);
    }
    for (kind, count) in counts.iter().enumerate() {
        if *count > 0 && ![INSTANCES, CARS].contains(&kind) {
            binary.warnings.push(format!(
                "kind {kind} has {count} entries, whose form is unknown"
            ));
        }
    }
    Ok(binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_bounded_by_the_file() {
        let file = |count: u32, offset: u32| {
            let mut words = [0_u32; 18];
            (words[0], words[6]) = (count, offset);
            [MAGIC, &words.map(u32::to_le_bytes).concat(), &[0; 40]].concat()
        };
        let read = |count, offset| parse(&file(count, offset));
        assert_eq!(read(1, 0x4C).unwrap().instances.len(), 1);
        assert_eq!(read(0, 7).unwrap().instances.len(), 0);
        for (count, offset) in [(2, 0x4C), (1, 0x4D), (u32::MAX, 0x4C), (1, 8)] {
            assert!(read(count, offset).is_err(), "{count} at {offset:#x}");
        }
        assert!(parse(&file(1, 0x4C)[..50]).is_err());
    }
}
