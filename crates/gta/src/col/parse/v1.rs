//! Version 1: GTA III and Vice City.

use bytes::Bytes;

use super::shapes::{Bounds, BoxShape, Mesh, Sphere};
use super::{HEADER, Model};
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::{floats, take};
use hpimount_containers::io::{Cursor, Endian, Result};
use hpimount_record::{self as record, FixedSize};

/// Bytes of a line.
const LINE: usize = 24;

/// Reads the shapes of a model; `whole` begins with its magic.
pub(super) fn read(whole: &Bytes, model: &mut Model) -> Result<()> {
    let body = whole.slice(HEADER..);
    let mut cursor = Cursor::new(&body, model.offset + HEADER as u64, Endian::Little);
    let shapes = &mut model.shapes;
    let radius = cursor.f32("bounding radius")?;
    let center = floats(&mut cursor, "bounding center")?;
    shapes.bounds = Some(Bounds {
        radius,
        center,
        min: floats(&mut cursor, "bounding box")?,
        max: floats(&mut cursor, "bounding box")?,
    });
    for _ in 0..count(&mut cursor, Sphere::SIZE, "sphere count")? {
        shapes.spheres.push(Sphere {
            radius: cursor.f32("sphere radius")?,
            center: floats(&mut cursor, "sphere center")?,
            surface: record::read(&mut cursor, 0)?,
        });
    }
    shapes.lines = count(&mut cursor, LINE, "line count")?;
    cursor.take(shapes.lines * LINE, "lines")?;
    for _ in 0..count(&mut cursor, BoxShape::SIZE, "box count")? {
        shapes.boxes.push(record::read(&mut cursor, 0)?);
    }
    let (vertex, face) = Mesh::sizes(false);
    let vertices = count(&mut cursor, vertex, "vertex count")?;
    let vertices = take(&mut cursor, &body, vertices * vertex, "vertices")?;
    let faces = count(&mut cursor, face, "face count")?;
    shapes.mesh = Mesh {
        is_short: false,
        vertices,
        faces: take(&mut cursor, &body, faces * face, "faces")?,
    };
    Ok(())
}
