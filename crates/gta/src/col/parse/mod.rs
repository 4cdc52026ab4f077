//! COL: collision models (FORMATS, GTA 3). A file is a sequence of models.

mod shapes;
mod v1;
mod v2;

pub use shapes::{Bounds, BoxShape, Face, FaceGroup, Mesh, Sphere, Surface};

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};
use hpimount_record::FixedSize;

/// Extensions of files with collision models.
pub const EXTENSIONS: &[&str] = &["col"];

/// Bytes before the body of a model: magic, size, name and id.
const HEADER: usize = 32;

/// Part of the header that the size includes, in bytes.
const NAMED: u32 = 24;

/// Maximum number of models of a file, a hundred times as many as the games' largest
/// file has.
const MAX_MODELS: usize = 1 << 16;

/// Collision models.
#[derive(Debug, Default, GetSize)]
pub struct Col {
    /// The models, in the order of the file.
    pub models: Vec<Model>,
    /// Bytes after the last model.
    pub trailing: u64,
    /// Warnings.
    pub warnings: Warnings,
}

/// A collision model. A broken model does not hide the others.
#[derive(Debug, GetSize)]
pub struct Model {
    /// Version of the format, 1 to 4.
    pub version: u8,
    /// Name of the visible model that it belongs to.
    pub name: String,
    /// Id in the game.
    pub id: u16,
    /// Absolute offset of its magic.
    pub offset: u64,
    /// Length in bytes after the first 8, as stored.
    pub size: u32,
    /// Shapes; after an error, the shapes before it.
    pub shapes: Shapes,
    /// The error that ended the reading of the model.
    #[get_size(ignore)]
    pub error: Option<Error>,
    /// Warnings.
    pub warnings: Warnings,
}

/// Offsets of a model's parts from its magic.
#[derive(Debug, Default, Clone, Copy, GetSize)]
pub struct Offsets {
    /// The spheres.
    pub spheres: usize,
    /// The boxes.
    pub boxes: usize,
    /// The vertices and the faces of the mesh.
    pub mesh: [usize; 2],
    /// The vertices and the faces of the shadow mesh.
    pub shadow: [usize; 2],
}

/// The shapes of a model.
#[derive(Debug, Default, GetSize)]
pub struct Shapes {
    /// The offsets of its parts.
    pub offsets: Offsets,
    /// Bounds; `None` if they cannot be read.
    #[get_size(ignore)]
    pub bounds: Option<Bounds>,
    /// Flags of version 2 and later: 1 cones, 2 not empty, 8 face groups, 16
    /// shadow mesh.
    pub flags: Option<u32>,
    /// Spheres.
    pub spheres: Vec<Sphere>,
    /// Number of lines, which games do not use.
    pub lines: usize,
    /// Boxes along the axes.
    pub boxes: Vec<BoxShape>,
    /// The mesh.
    pub mesh: Mesh,
    /// The mesh that casts the shadow, since version 3.
    pub shadow: Mesh,
    /// Ranges of faces with their bounds.
    pub groups: Vec<FaceGroup>,
}

/// Sizes of the header of version 1, with the bounds, and of later versions, with the
/// offsets of the parts.
const HEADER_WITH_BOUNDS: usize = 72;
const HEADER_WITH_OFFSETS: usize = 108;

impl Shapes {
    /// Returns whether parts share bytes with each other or with the header, which only
    /// happens in damaged models.
    pub(super) fn overlap(&self) -> bool {
        let header = match self.flags {
            Some(_) => HEADER_WITH_OFFSETS,
            None => HEADER_WITH_BOUNDS,
        };
        let Offsets {
            spheres,
            boxes,
            mesh,
            shadow,
        } = self.offsets;
        let parts = [
            (0, header),
            (spheres, Sphere::SIZE * self.spheres.len()),
            (boxes, BoxShape::SIZE * self.boxes.len()),
            (mesh[0], self.mesh.vertices.len()),
            (mesh[1], self.mesh.faces.len()),
            (shadow[0], self.shadow.vertices.len()),
            (shadow[1], self.shadow.faces.len()),
        ];
        let mut parts: Vec<_> = parts.into_iter().filter(|part| part.1 > 0).collect();
        parts.sort_unstable();
        let mut pairs = parts.windows(2);
        pairs.any(|pair| pair[0].0 + pair[0].1 > pair[1].0)
    }
}

/// Returns the version of a model with this magic.
fn version(magic: [u8; 4]) -> Option<u8> {
    match &magic {
        b"COLL" => Some(1),
        b"COL2" => Some(2),
        b"COL3" => Some(3),
        b"COL4" => Some(4),
        _ => None,
    }
}

/// Returns whether a file begins with a collision model.
pub fn is_col(bytes: &Bytes) -> bool {
    bytes
        .first_chunk()
        .is_some_and(|magic| version(*magic).is_some())
        && bytes.len() > HEADER
}

/// Parses the collision models of a file.
///
/// # Errors
/// Returns an error if the file does not begin with a model. A model with
/// an error is in the result.
pub fn parse(bytes: &Bytes) -> Result<Col> {
    let mut col = Col::default();
    let mut start = 0;
    while let Some(magic) = bytes.get(start..).and_then(|rest| rest.first_chunk()) {
        let Some(version) = version(*magic) else {
            break;
        };
        if col.models.len() == MAX_MODELS {
            col.warnings.push(format!(
                "collision model at {start:#x}: is not shown; a file has at most {MAX_MODELS}"
            ));
            break;
        }
        if bytes.len() - start < HEADER {
            if col.models.is_empty() {
                let problem = format!("needs {HEADER} bytes, {} are left", bytes.len() - start);
                return Err(Error::damaged(start as u64, "collision model", problem));
            }
            break;
        }
        let model = model(bytes, start, version)?;
        let (is_last, end) = (model.size < NAMED, start + 8 + model.size as usize);
        col.models.push(model);
        start = if is_last {
            start + 8
        } else {
            end.min(bytes.len())
        };
        if is_last {
            break;
        }
    }
    if col.models.is_empty() {
        return Err(Error::damaged(
            0,
            "magic",
            "is not that of a collision model",
        ));
    }
    let rest = &bytes[start.min(bytes.len())..];
    col.trailing = rest.len() as u64;
    if rest.iter().any(|&byte| byte != 0) {
        col.warnings.push(format!(
            "{} bytes at {start:#x} belong to no model",
            rest.len()
        ));
    }
    Ok(col)
}

/// Reads the model at `start`, which has at least a header.
fn model(bytes: &Bytes, start: usize, version: u8) -> Result<Model> {
    let mut cursor = Cursor::new(&bytes[start..], start as u64, Endian::Little);
    cursor.take(4, "magic")?;
    let size_at = cursor.offset();
    let size = cursor.u32("model size")?;
    let name = until_nul(cursor.take(22, "model name")?);
    let id = cursor.u16("model id")?;
    let mut model = Model {
        version,
        name,
        id,
        offset: start as u64,
        size,
        shapes: Shapes::default(),
        error: None,
        warnings: Warnings::default(),
    };
    let end = (start + 8).saturating_add(size as usize);
    if end > bytes.len() {
        let left = bytes.len() - start - 8;
        model.warnings.push(format!(
            "model size at {size_at:#x}: is {size}, {left} bytes are left"
        ));
    }
    let whole = bytes.slice(start..end.clamp(start + HEADER, bytes.len()));
    let read = match version {
        1 => v1::read(&whole, &mut model),
        _ => v2::read(&whole, &mut model),
    };
    let too_small = (size < NAMED).then(|| {
        let problem = format!("is {size}, the least is {NAMED}");
        Error::damaged(size_at, "model size", problem)
    });
    model.error = too_small.or(read.err());
    let shapes = &model.shapes;
    for (what, mesh) in [("faces", &shapes.mesh), ("shadow faces", &shapes.shadow)] {
        let vertices = mesh.vertices().count();
        let is_odd = |face: &Face| face.corners.iter().any(|&one| one as usize >= vertices);
        let odd = mesh.faces().filter(is_odd).count();
        if odd > 0 {
            model.warnings.push(format!(
                "collision model at {start:#x}: {odd} {what} have a vertex of {vertices} that \
                 does not exist; they are not shown"
            ));
        }
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::col as build;

    #[test]
    fn all_versions_hold_the_same_shapes() {
        for version in 1..=4 {
            let col = parse(&build::model(version, "crate").into()).unwrap();
            let [model] = &col.models[..] else {
                panic!("{:?}", col.models)
            };
            assert!(model.error.is_none(), "{:?}", model.error);
            assert!(model.warnings.is_empty(), "{:?}", model.warnings.texts());
            assert_eq!((model.name.as_str(), model.id), ("crate", 7));
            let shapes = &model.shapes;
            assert_eq!(shapes.spheres[0].center, [1.0, 2.0, 3.0]);
            assert_eq!(shapes.spheres[0].surface.material, 9);
            assert_eq!(shapes.boxes[0].max, [1.0; 3]);
            let vertices: Vec<_> = shapes.mesh.vertices().collect();
            assert_eq!(vertices, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.5]]);
            let faces: Vec<_> = shapes.mesh.faces().collect();
            assert_eq!(
                (faces[0].corners, faces[0].surface.material),
                ([0, 1, 2], 5)
            );
            assert_eq!(faces[0].surface.light, 17);
        }
    }

    #[test]
    fn models_follow_each_other_until_the_padding() {
        let bytes = [build::model(1, "a"), build::model(3, "b"), vec![0; 9]].concat();
        let col = parse(&bytes.into()).unwrap();
        let names: Vec<_> = col.models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!((names, col.trailing), (vec!["a", "b"], 9));
        assert!(col.warnings.is_empty());
    }

    #[test]
    fn a_broken_model_does_not_hide_the_next() {
        let mut first = build::model(1, "a");
        first[HEADER + 40..][..4].copy_from_slice(&[255; 4]);
        let col = parse(&[first, build::model(2, "b")].concat().into()).unwrap();
        let error = col.models[0].error.as_ref().unwrap().to_string();
        assert_eq!(
            error,
            "sphere count at 0x48: 4294967295 items of 20 bytes do not fit into 116 bytes"
        );
        assert!(col.models[1].error.is_none());
    }

    #[test]
    fn a_size_of_0_ends_the_file() {
        let mut bytes = [build::model(1, "a"), build::model(1, "b")].concat();
        bytes[4..8].copy_from_slice(&[0; 4]);
        let col = parse(&bytes.into()).unwrap();
        assert_eq!(col.models.len(), 1);
        assert!(
            col.models[0]
                .error
                .as_ref()
                .unwrap()
                .to_string()
                .contains("0x4")
        );
    }

    #[test]
    fn faces_without_their_vertices_are_a_warning() {
        let mut bytes = build::model(1, "a");
        let last = bytes.len() - 16;
        bytes[last] = 3;
        let col = parse(&bytes.into()).unwrap();
        assert!(col.models[0].error.is_none());
        assert_eq!(col.models[0].warnings.len(), 1);
    }

    #[test]
    fn another_file_is_an_error() {
        for bytes in [&b""[..], b"COLX", b"COL2 is short"] {
            assert!(parse(&Bytes::from_static(bytes)).is_err());
        }
    }
}
