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
    let start = model.offset;
    let place = |cursor: &Cursor<'_>| (cursor.offset() - start) as usize;
    let shapes = &mut model.shapes;
    shapes.bounds = Some(Bounds {
        radius: cursor.f32("bounding radius")?,
        center: floats(&mut cursor, "bounding center")?,
        min: floats(&mut cursor, "bounding box")?,
        max: floats(&mut cursor, "bounding box")?,
    });
    let spheres = count(&mut cursor, Sphere::SIZE, "sphere count")?;
    shapes.offsets.spheres = place(&cursor);
    for _ in 0..spheres {
        shapes.spheres.push(Sphere {
            radius: cursor.f32("sphere radius")?,
            center: floats(&mut cursor, "sphere center")?,
            surface: record::read(&mut cursor)?,
        });
    }
    shapes.lines = count(&mut cursor, LINE, "line count")?;
    cursor.take(shapes.lines * LINE, "lines")?;
    let boxes = count(&mut cursor, BoxShape::SIZE, "box count")?;
    shapes.offsets.boxes = place(&cursor);
    for _ in 0..boxes {
        shapes.boxes.push(record::read(&mut cursor)?);
    }
    let (vertex, face) = Mesh::sizes(false);
    let vertices = count(&mut cursor, vertex, "vertex count")?;
    shapes.offsets.mesh[0] = place(&cursor);
    let vertices = take(&mut cursor, &body, vertices * vertex, "vertices")?;
    let faces = count(&mut cursor, face, "face count")?;
    shapes.offsets.mesh[1] = place(&cursor);
    shapes.mesh = Mesh {
        is_short: false,
        vertices,
        faces: take(&mut cursor, &body, faces * face, "faces")?,
    };
    Ok(())
}
