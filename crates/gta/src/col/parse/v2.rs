//! Versions 2 to 4: San Andreas. Offsets of parts count from 4 bytes after the start of
//! the model's magic.

use bytes::Bytes;

use super::shapes::{BoxShape, FaceGroup, Mesh, Sphere};
use super::{HEADER, Model, Offsets};
use hpimount_assets::parse::slice_of;
use hpimount_containers::io::{Cursor, Endian, Error, Result};
use hpimount_record::{self as record, FixedSize};

/// Flags.
const NOT_EMPTY: u32 = 2;
const HAS_GROUPS: u32 = 8;
const HAS_SHADOW: u32 = 16;

/// From where offsets count.
const BASE: u64 = 4;

/// A model with its parts.
struct Parts<'a> {
    whole: &'a Bytes,
    offset: u64,
}

/// The offset of a part, and the absolute offset of this field.
type Stored = (u32, u64);

/// Reads the shapes of a model; `whole` begins with its magic.
pub(super) fn read(whole: &Bytes, model: &mut Model) -> Result<()> {
    let parts = Parts {
        whole,
        offset: model.offset,
    };
    let mut cursor = Cursor::new(whole, model.offset, Endian::Little);
    cursor.take(HEADER, "model header")?;
    let shapes = &mut model.shapes;
    shapes.bounds = Some(record::read(&mut cursor)?);
    let spheres = cursor.u16("sphere count")?;
    let boxes = cursor.u16("box count")?;
    let faces = cursor.u16("face count")?;
    shapes.lines = cursor.u8("line count")?.into();
    cursor.u8("line count")?;
    let flags = cursor.u32("flags")?;
    shapes.flags = Some(flags);
    let mut offset = || -> Result<Stored> {
        let at = cursor.offset();
        Ok((cursor.u32("offset")?, at))
    };
    let (spheres_at, boxes_at) = (offset()?, offset()?);
    offset()?;
    let (vertices_at, faces_at) = (offset()?, offset()?);
    offset()?;
    let mut shadow = None;
    if model.version >= 3 {
        let (count, vertices, faces) = (offset()?.0, offset()?, offset()?);
        shadow = (count > 0 && faces.0 > 0).then_some((count, vertices, faces));
    }
    let place = |(stored, _): Stored| BASE as usize + stored as usize;
    shapes.offsets = Offsets {
        spheres: place(spheres_at),
        boxes: place(boxes_at),
        mesh: [vertices_at, faces_at].map(place),
        shadow: shadow.map_or([0; 2], |(_, vertices, faces)| [vertices, faces].map(place)),
    };
    let mut part = parts.at(spheres_at, spheres.into(), Sphere::SIZE, "spheres")?;
    for _ in 0..spheres {
        shapes.spheres.push(record::read(&mut part)?);
    }
    let mut part = parts.at(boxes_at, boxes.into(), BoxShape::SIZE, "boxes")?;
    for _ in 0..boxes {
        shapes.boxes.push(record::read(&mut part)?);
    }
    shapes.mesh = parts.mesh(faces.into(), faces_at, vertices_at, ["faces", "vertices"])?;
    if flags & HAS_GROUPS != 0 && faces > 0 {
        match parts.groups(faces_at.0) {
            Ok(groups) => shapes.groups = groups,
            Err(error) => model.warnings.push(error.to_string()),
        }
    }
    let start = model.offset;
    if let Some((count, vertices, faces)) = shadow {
        if flags & HAS_SHADOW == 0 {
            model.warnings.push(format!(
                "collision model at {start:#x}: has a shadow mesh, but the flag for that is not set"
            ));
        }
        let fields = ["shadow faces", "shadow vertices"];
        shapes.shadow = parts.mesh(count, faces, vertices, fields)?;
    }
    if flags & NOT_EMPTY == 0 && (spheres > 0 || boxes > 0 || faces > 0) {
        model.warnings.push(format!(
            "collision model at {start:#x}: has shapes, but is marked as empty"
        ));
    }
    Ok(())
}

impl Parts<'_> {
    /// Returns a cursor at a part of `count` items.
    fn at(
        &self,
        (stored, stored_at): Stored,
        count: u32,
        size: usize,
        field: &'static str,
    ) -> Result<Cursor<'_>> {
        let mut cursor = Cursor::new(self.whole, self.offset, Endian::Little);
        if count == 0 {
            return Ok(cursor);
        }
        if stored == 0 {
            let problem = format!("is 0, but there are {count}");
            return Err(Error::damaged(
                stored_at,
                format!("offset of {field}"),
                problem,
            ));
        }
        cursor.seek(self.offset + BASE + u64::from(stored), field)?;
        cursor.check_count(count.into(), size, field)?;
        Ok(cursor)
    }

    /// Returns `count` items as stored.
    fn taken(&self, at: Stored, count: u32, size: usize, field: &'static str) -> Result<Bytes> {
        let mut cursor = self.at(at, count, size, field)?;
        let bytes = cursor.take(count as usize * size, field)?;
        Ok(slice_of(self.whole, bytes))
    }

    /// Reads a mesh. The number of vertices follows from the faces.
    fn mesh(
        &self,
        count: u32,
        faces: Stored,
        vertices: Stored,
        [face_field, vertex_field]: [&'static str; 2],
    ) -> Result<Mesh> {
        let (vertex, face) = Mesh::sizes(true);
        let mut mesh = Mesh {
            is_short: true,
            vertices: Bytes::new(),
            faces: self.taken(faces, count, face, face_field)?,
        };
        let highest = mesh.faces().flat_map(|face| face.corners).max();
        let needed = highest.map_or(0, |highest| highest + 1);
        mesh.vertices = self.taken(vertices, needed, vertex, vertex_field)?;
        Ok(mesh)
    }

    /// Reads the groups. They precede their count, which precedes the faces.
    fn groups(&self, faces: u32) -> Result<Vec<FaceGroup>> {
        let count_at = self.offset + u64::from(faces);
        let mut cursor = Cursor::new(self.whole, self.offset, Endian::Little);
        cursor.seek(count_at, "face group count")?;
        let count = cursor.u32("face group count")?;
        let size = u64::from(count) * FaceGroup::SIZE as u64;
        let problem = || {
            let problem = format!("is {count}; so many do not fit before the faces");
            Error::damaged(count_at, "face group count", problem)
        };
        let start = count_at.checked_sub(size).ok_or_else(problem)?;
        if start < self.offset + HEADER as u64 {
            return Err(problem());
        }
        cursor.seek(start, "face groups")?;
        (0..count).map(|_| record::read(&mut cursor)).collect()
    }
}
