//! Models: vertices, normals and faces (FORMATS, PSX 3).

use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Record};
use zerocopy::little_endian::{I16, U16};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::{Face, Version};
use hpimount_assets::parse::count::fitting;
use hpimount_containers::io::{Cursor, Result};

/// The geometry that objects show.
#[derive(Debug, Clone, GetSize)]
pub struct Model {
    /// Offset of the model in the file.
    pub offset: u64,
    /// Usually 8, sometimes 10; meaning unknown.
    pub flags: u32,
    /// Radius about the model's origin in vertex units with 12 fractional
    /// bits.
    pub radius: u32,
    /// Box around the model, in vertex units.
    pub bounds: Bounds,
    /// The next level of detail; missing in Apocalypse.
    pub lod: Option<Lod>,
    /// Corners of the faces.
    pub vertices: Vec<Vertex>,
    /// Unit normals with 12 fractional bits. If there are as many as vertices and faces
    /// together, the vertex normals come first.
    pub normals: Vec<[i16; 3]>,
    /// Triangles and quads.
    pub faces: Vec<Face>,
    /// Offset after the last face.
    pub end: u64,
}

/// An axis-aligned box in vertex units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Bounds {
    /// Smallest x, y and z.
    pub min: [i16; 3],
    /// Largest x, y and z.
    pub max: [i16; 3],
}

/// The step to the next level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Lod {
    /// Distance where the next model begins to replace it; 0x7FFF for never.
    pub distance: i16,
    /// Index of the next model; 0xFFFF for none.
    pub next: u16,
}

impl Lod {
    /// Returns the index of the next model, if any.
    pub fn next_model(self) -> Option<usize> {
        (self.next != 0xFFFF).then_some(self.next.into())
    }
}

/// A vertex as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct Vertex {
    /// x, y and z relative to the object. A stitched vertex has its source's number in
    /// y, and a corner of a sprite has references in x and y.
    pub position: [i16; 3],
    /// 1: vertices of other models are stitched to this one. 2: stitched. 16: corner of
    /// a sprite. Other values are plain vertices.
    pub kind: u16,
}

/// A corner of a sprite: a strip that always faces the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpriteCorner<'a> {
    /// The end of the axis beside the corner.
    pub anchor: &'a Vertex,
    /// The other end of the axis.
    pub mate: &'a Vertex,
    /// Distance from the axis, negative on its other side.
    pub half_width: i16,
}

impl Vertex {
    /// Returns whether stitched vertices may refer to this one.
    pub fn is_stitch_source(&self) -> bool {
        self.kind == 1
    }

    /// Returns whether this is the corner of a sprite.
    pub fn is_sprite_corner(&self) -> bool {
        self.kind == 16
    }

    /// Returns the index in [`Psx::stitch_sources`] for a stitched vertex.
    ///
    /// [`Psx::stitch_sources`]: super::Psx::stitch_sources
    pub fn stitched_to(&self) -> Option<usize> {
        let [_, source, _] = self.position;
        (self.kind == 2).then(|| usize::try_from(source).unwrap_or(usize::MAX))
    }
}

/// A vertex of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub struct VertexRef {
    /// Index of the model.
    pub model: usize,
    /// Index of the vertex in the model.
    pub vertex: usize,
}

/// Numbers of faces of a model by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, GetSize)]
pub struct FaceCounts {
    /// Faces with three corners.
    pub triangles: usize,
    /// Faces with four corners.
    pub quads: usize,
    /// Faces with a texture.
    pub textured: usize,
    /// Faces with a color for each corner.
    pub gouraud: usize,
    /// Faces that are blended with the background.
    pub semi_transparent: usize,
    /// Faces that are not drawn.
    pub invisible: usize,
    /// Faces that the game lights.
    pub lit: usize,
    /// Faces that take part in collisions.
    pub colliding: usize,
}

/// Radius and box, after the counts of a model.
#[derive(Debug, Default, Record)]
#[record(table = "../../docs/formats/psx.md")]
struct Extent {
    /// Radius with 12 fractional bits.
    radius: u32,
    /// Largest and smallest x, y and z.
    bounds: [[i16; 2]; 3],
}

/// A vertex, or a normal with a meaningless last word.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct VertexRecord {
    position: [I16; 3],
    kind: U16,
}

impl Model {
    /// Reads the model at the cursor. `has_lod` tells whether headers have the LOD
    /// words.
    pub(super) fn read(cursor: &mut Cursor, version: Version, has_lod: bool) -> Result<Self> {
        let offset = cursor.offset();
        let flags = read_wide(cursor, version, "flags")?.value;
        let nverts = read_wide(cursor, version, "nverts")?;
        let nnormals = read_wide(cursor, version, "nnormals")?;
        let nfaces = read_wide(cursor, version, "nfaces")?;
        let mut extent = cursor.section(Extent::SIZE, "radius and bounds")?;
        let Extent { radius, bounds } = record::read(&mut extent)?;
        let lod = has_lod.then(|| read_lod(cursor)).transpose()?;

        let unit = size_of::<VertexRecord>();
        let vertices = (0..nverts.fits(cursor, unit)?)
            .map(|_| {
                let record = cursor.record::<VertexRecord>("vertex")?;
                Ok(Vertex {
                    position: record.position.map(I16::get),
                    kind: record.kind.get(),
                })
            })
            .collect::<Result<_>>()?;
        let normals = (0..nnormals.fits(cursor, unit)?)
            .map(|_| {
                let record = cursor.record::<VertexRecord>("normal")?;
                Ok(record.position.map(I16::get))
            })
            .collect::<Result<_>>()?;
        let faces = (0..nfaces.fits(cursor, Face::fixed_size(version))?)
            .map(|index| {
                Face::read(cursor, version)
                    .map_err(|error| error.within(format_args!("face {index}")))
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            offset,
            flags,
            radius,
            bounds: Bounds {
                min: bounds.map(|[_, min]| min),
                max: bounds.map(|[max, _]| max),
            },
            lod,
            vertices,
            normals,
            faces,
            end: cursor.offset(),
        })
    }

    /// Counts the faces of each kind.
    pub fn face_counts(&self) -> FaceCounts {
        let mut counts = FaceCounts::default();
        for face in &self.faces {
            counts.triangles += usize::from(face.is_triangle());
            counts.quads += usize::from(!face.is_triangle());
            counts.textured += usize::from(face.texture.is_some());
            counts.gouraud += usize::from(face.is_gouraud());
            counts.semi_transparent += usize::from(face.is_semi_transparent());
            counts.invisible += usize::from(face.is_invisible());
            counts.lit += usize::from(face.is_lit());
            counts.colliding += usize::from(face.collides());
        }
        counts
    }

    /// Returns the meaning of a sprite corner's fields. `None` for other vertices, and
    /// if the ends of the axis are not two plain vertices.
    pub fn sprite_corner(&self, vertex: &Vertex) -> Option<SpriteCorner<'_>> {
        let [anchor, mate, half_width] = vertex.position;
        let end = |reference: i16| {
            let index = usize::try_from(reference).ok()?;
            let end = self.vertices.get(index / REFERENCE_UNIT)?;
            (index % REFERENCE_UNIT == 0 && !end.is_sprite_corner()).then_some(end)
        };
        let corner = SpriteCorner {
            anchor: end(anchor)?,
            mate: end(mate)?,
            half_width,
        };
        vertex.is_sprite_corner().then_some(corner)
    }

    /// Returns the used texture indices, without duplicates, in ascending order.
    pub fn textures_used(&self) -> Vec<u32> {
        let mut used: Vec<u32> = self.faces.iter().filter_map(|face| face.texture).collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}

/// Factor of vertex indices in the corners of sprites: the length of a vertex in bytes.
const REFERENCE_UNIT: usize = size_of::<VertexRecord>();

/// A count that precedes its items by some bytes.
struct Count {
    offset: u64,
    value: u32,
    field: &'static str,
}

impl Count {
    /// Returns the count, if that many items of `unit_size` bytes remain.
    fn fits(&self, cursor: &Cursor, unit_size: usize) -> Result<usize> {
        fitting(cursor, self.offset, self.value, unit_size, self.field)
    }
}

/// Reads a number that is wide in version 3 and narrow in other versions.
fn read_wide(cursor: &mut Cursor, version: Version, field: &'static str) -> Result<Count> {
    Ok(Count {
        offset: cursor.offset(),
        value: match version {
            Version::V3 => cursor.u32(field)?,
            Version::V4 | Version::V6 => cursor.u16(field)?.into(),
        },
        field,
    })
}

fn read_lod(cursor: &mut Cursor) -> Result<Lod> {
    Ok(Lod {
        distance: cursor.i16("zMax")?,
        next: cursor.u16("NextLOD")?,
    })
}

/// Returns whether model headers of a version 3 file have the LOD words.
///
/// No field stores this. The first vertex's type, which has few valid bits, is 4 bytes
/// later with the LOD words. Up to five models vote; if both variants or neither are
/// possible, a model votes by the usual LOD distance.
pub(super) fn v3_has_lod(file: &Cursor, pointers: &[u32]) -> bool {
    const EXTENT_END: u64 = 32;
    const LEGAL_TYPE: u16 = 0x13;
    let word = |offset: u64| -> Result<u16> {
        let mut cursor = file.clone();
        cursor.seek(offset, "model")?;
        cursor.u16("vertex type")
    };
    let vote = |pointer: u32| -> Result<bool> {
        let end = u64::from(pointer) + EXTENT_END;
        let legal = |offset| word(offset).map(|kind| kind & !LEGAL_TYPE == 0);
        let (without, with) = (legal(end + 6)?, legal(end + 10)?);
        Ok(if with == without {
            word(end)? == 0x7FFF
        } else {
            with
        })
    };
    let votes: Vec<bool> = pointers
        .iter()
        .take(5)
        .filter_map(|&pointer| vote(pointer).ok())
        .collect();
    let with = votes.iter().filter(|&&with| with).count();
    !votes.is_empty() && 2 * with >= votes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::psx::{face, model, shorts, words};
    use hpimount_containers::io::Endian;

    /// Returns a version 3 model of one vertex, with or without the LOD words.
    fn version_3(has_lod: bool, vertex: [i16; 4]) -> Vec<u8> {
        let mut bytes = words(&[8, 1, 1, 0, 4096]);
        bytes.extend(shorts(&[2, 1, 4, 3, 6, 5]));
        if has_lod {
            bytes.extend(shorts(&[0x7FFF, -1]));
        }
        bytes.extend(shorts(&vertex));
        bytes.extend(shorts(&[0, -4096, 0, 0]));
        bytes
    }

    #[test]
    fn a_model_is_read_to_its_last_face() {
        let quad = face(0, [0, 1, 2, 3], [1, 2, 3, 0x28], &[]);
        let bytes = model((500, 2), &[[1, 2, 3, 1], [4, 1, 6, 2]], &[quad]);
        let mut cursor = Cursor::new(&bytes, 0x40, Endian::Little);
        let model = Model::read(&mut cursor, Version::V4, true).unwrap();
        assert_eq!((model.offset, model.end), (0x40, 0x40 + bytes.len() as u64));
        assert_eq!(model.bounds.min, [-50, -60, -70]);
        assert_eq!(model.bounds.max, [50, 60, 70]);
        assert_eq!(model.lod.unwrap().next_model(), Some(2));
        assert!(model.vertices[0].is_stitch_source());
        assert_eq!(model.vertices[0].stitched_to(), None);
        assert_eq!(model.vertices[1].stitched_to(), Some(1));
        assert_eq!(model.normals, [[0, -4096, 0]]);
        assert_eq!(model.face_counts().quads, 1);
    }

    fn vertices(vertices: &[[i16; 4]]) -> Model {
        let bytes = model((0x7FFF, -1), vertices, &[]);
        let mut cursor = Cursor::new(&bytes, 0, Endian::Little);
        Model::read(&mut cursor, Version::V4, true).unwrap()
    }

    #[test]
    fn only_the_exact_types_are_special() {
        let model = vertices(&[[0, 0, 0, 3], [0, 0, 0, 4], [0, 0, 0, 17], [0, 0, 0, 18]]);
        for vertex in &model.vertices {
            assert!(!vertex.is_stitch_source(), "{vertex:?}");
            assert!(!vertex.is_sprite_corner(), "{vertex:?}");
            assert_eq!(vertex.stitched_to(), None);
        }
    }

    #[test]
    fn a_corner_of_a_sprite_refers_to_the_ends_of_its_axis() {
        let sprite = |x, y| {
            let model = vertices(&[[1, 2, 3, 0], [4, 5, 6, 0], [x, y, -20, 16]]);
            let corner = model.sprite_corner(&model.vertices[2]);
            corner.map(|corner| (corner.anchor.position, corner.mate.position))
        };
        assert_eq!(sprite(8, 0), Some(([4, 5, 6], [1, 2, 3])));
        // Past the last vertex, not a multiple of 8, negative, a corner itself.
        for (x, y) in [(24, 0), (0, 12), (-8, 0), (0, 16)] {
            assert_eq!(sprite(x, y), None);
        }
    }

    #[test]
    fn counts_that_do_not_fit_are_errors_at_the_counts() {
        let bytes = model((0x7FFF, -1), &[[0; 4]], &[]);
        for (at, field) in [(2, "nverts"), (4, "nnormals"), (6, "nfaces")] {
            let mut bytes = bytes.clone();
            bytes[at + 1] = 0xFF;
            let mut cursor = Cursor::new(&bytes, 0, Endian::Little);
            let error = Model::read(&mut cursor, Version::V4, true).unwrap_err();
            let start = format!("{field} at {at:#x}: ");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }

    #[test]
    fn both_forms_of_version_3_are_distinguished() {
        for has_lod in [false, true] {
            let bytes = version_3(has_lod, [100, 200, 300, 0]);
            let mut cursor = Cursor::new(&bytes, 0, Endian::Little);
            assert_eq!(v3_has_lod(&cursor, &[0]), has_lod);
            let model = Model::read(&mut cursor, Version::V3, has_lod).unwrap();
            assert_eq!(model.lod.is_some(), has_lod);
            assert_eq!(model.vertices[0].position, [100, 200, 300]);
        }
    }

    #[test]
    fn an_ambiguous_model_votes_by_the_usual_distance() {
        // y of the vertex is also a valid vertex type.
        let with = version_3(true, [1, 1, 1, 1]);
        let without = version_3(false, [0, 0, 0x10, 0]);
        for (bytes, has_lod) in [(with, true), (without, false)] {
            let cursor = Cursor::new(&bytes, 0, Endian::Little);
            assert_eq!(v3_has_lod(&cursor, &[0]), has_lod);
        }
    }

    #[test]
    fn the_majority_decides_and_unreadable_models_do_not_vote() {
        let with = version_3(true, [100, 200, 300, 0]);
        let without = version_3(false, [100, 200, 300, 0]);
        let mut bytes = [with, without.clone()].concat();
        let second = bytes.len() as u32 - without.len() as u32;
        bytes.extend([0; 16]);
        let cursor = Cursor::new(&bytes, 0, Endian::Little);
        assert!(!v3_has_lod(&cursor, &[0, second, second, u32::MAX]));
        assert!(v3_has_lod(&cursor, &[0, 0, second, u32::MAX]));
        assert!(!v3_has_lod(&cursor, &[u32::MAX]));
    }
}
