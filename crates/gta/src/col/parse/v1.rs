//! Version 1: GTA III and Vice City.

use bytes::Bytes;

use super::shapes::{BOX, Bounds, Mesh, SPHERE, box_shape, sphere};
use super::{HEADER, Model};
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::{floats, take};
use hpimount_containers::io::{Cursor, Endian, Result};

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
    for _ in 0..count(&mut cursor, SPHERE, "sphere count")? {
        shapes.spheres.push(sphere(&mut cursor, true)?);
    }
    shapes.lines = count(&mut cursor, LINE, "line count")?;
    cursor.take(shapes.lines * LINE, "lines")?;
    for _ in 0..count(&mut cursor, BOX, "box count")? {
        shapes.boxes.push(box_shape(&mut cursor)?);
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
