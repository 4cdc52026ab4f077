//! 3DO: models as trees of objects (FORMATS, TA 4).

use std::collections::HashSet;

use bytes::Bytes;
use get_size2::GetSize;

use crate::pointer::{Name, Pointer, little};
use hpimount_assets::parse::count::fill;
use hpimount_assets::parse::{Incomplete, finish};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};

/// Extensions of 3DO files.
pub const EXTENSIONS: &[&str] = &["3do"];

/// First word of every object.
const SIGNATURE: u32 = 1;

/// Bytes of a vertex.
pub(super) const VERTEX_SIZE: usize = 12;

/// Bytes of a primitive.
pub(super) const PRIMITIVE_SIZE: usize = 32;

/// Units of a coordinate per map pixel.
pub(super) const ONE: u32 = 1 << 16;

/// Maximum number of objects of a model.
pub(super) const MAX_OBJECTS: usize = 4096;

/// Maximum number of objects above an object.
const MAX_DEPTH: usize = 64;

/// Maximum number of vertices, and of primitives, of an object.
const MAX_PARTS: u32 = 1 << 16;

/// Maximum number of vertices, and of primitives, of a model. Objects may share them.
const MAX_TOTAL_PARTS: u64 = 1 << 18;

/// Maximum number of corners of all primitives of a model.
const MAX_CORNERS: u64 = 1 << 20;

/// The parsed contents of a 3DO file.
///
/// The coordinate system is left-handed: x to the unit's left, y up, z backwards. Front
/// faces are clockwise.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Model {
    /// All objects in preorder.
    pub objects: Vec<Object>,
    /// Warnings.
    pub warnings: Warnings,
}

impl Model {
    /// Returns the names of its objects, in lower case.
    pub fn names(&self) -> HashSet<String> {
        let objects = self.objects.iter();
        let names = objects.map(|object| object.name.text().to_ascii_lowercase());
        names.collect()
    }
}

/// A piece of a model, which scripts can move.
#[derive(Debug, Clone, Default, PartialEq, GetSize)]
pub struct Object {
    /// Absolute offset of its first byte.
    pub offset: u32,
    /// Name in scripts, ignoring case.
    pub name: Name,
    /// Index of the parent object; `None` for a root.
    pub parent: Option<usize>,
    /// Number of objects above it.
    pub depth: usize,
    /// Origin relative to the parent's: x, y, z in 1/65536 map pixels.
    pub position: [i32; 3],
    /// Index of the ground plate's primitive, -1 for none. Only roots should have one.
    pub selection: i32,
    /// Word at offset 32, usually 0.
    pub unknown_32: u32,
    /// Vertices of primitives, relative to the object's origin: x, y, z in 1/65536 map
    /// pixels.
    pub vertices: Vec<[i32; 3]>,
    /// Faces, lines and points.
    pub primitives: Vec<Primitive>,
}

impl Object {
    /// Returns the index of the ground plate among the primitives, if there is one. It
    /// marks the selected unit on the ground, and is not part of its appearance. Only
    /// roots have one: in other objects, the primitive is an ordinary face.
    pub fn ground_plate(&self) -> Option<usize> {
        self.named_primitive().filter(|_| self.depth == 0)
    }

    /// Returns the index of the primitive in `selection`, if it exists.
    fn named_primitive(&self) -> Option<usize> {
        let index = usize::try_from(self.selection).ok()?;
        (index < self.primitives.len()).then_some(index)
    }
}

/// A face; with two corners a line, with one a point.
#[derive(Debug, Clone, Default, PartialEq, GetSize)]
pub struct Primitive {
    /// Palette index; unused if there is a texture.
    pub color: u32,
    /// Corners, as indices into the object's vertices. May be out of range, with a
    /// warning.
    pub indices: Vec<u16>,
    /// Name of the GAF sequence with the texture; not empty.
    pub texture: Option<Name>,
    /// Color flag: any number except 0.
    pub flag: u32,
    /// Two words left by editors.
    pub editor: [u32; 2],
    /// Word at offset 8, usually 0.
    pub unknown_8: u32,
}

/// The appearance of a primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// Has a texture.
    Textured,
    /// Has the color of a palette index.
    Colored,
    /// Is not drawn.
    Invisible,
}

impl Primitive {
    /// Returns its surface. A texture is drawn regardless of the flag.
    pub fn surface(&self) -> Surface {
        match (&self.texture, self.flag) {
            (Some(_), _) => Surface::Textured,
            (None, 0) => Surface::Invisible,
            (None, _) => Surface::Colored,
        }
    }
}

/// Parses a 3DO file.
///
/// # Errors
/// Returns [`Incomplete`] with the objects so far if the structure is broken:
/// an object that is invalid or reached twice, a list outside the file, or more
/// parts than in any real model.
pub fn parse(bytes: &Bytes) -> std::result::Result<Model, Box<Incomplete<Model>>> {
    let mut reader = Reader {
        file: bytes,
        model: Model::default(),
        seen: HashSet::new(),
        vertices: 0,
        primitives: 0,
        corners: 0,
    };
    let result = reader.read();
    finish(reader.model, result)
}

/// An object that remains to be read.
struct Pending {
    pointer: Pointer,
    parent: Option<usize>,
    depth: usize,
}

struct Reader<'a> {
    file: &'a Bytes,
    model: Model,
    /// Offsets of the objects that were read.
    seen: HashSet<u32>,
    vertices: u64,
    primitives: u64,
    corners: u64,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<()> {
        // At most one sibling per level is pending.
        let mut pending = vec![Pending {
            pointer: Pointer::new(0, 0, "root object"),
            parent: None,
            depth: 0,
        }];
        while let Some(next) = pending.pop() {
            let index = self.model.objects.len();
            let links = self
                .object(&next)
                .map_err(|error| error.within(format_args!("object {index}")))?;
            if links.sibling.target != 0 {
                if next.depth == 0 {
                    self.warn(index, "is a root with a sibling");
                }
                pending.push(Pending {
                    pointer: links.sibling,
                    ..next
                });
            }
            if links.child.target != 0 {
                pending.push(Pending {
                    pointer: links.child,
                    parent: Some(index),
                    depth: next.depth + 1,
                });
            }
        }
        Ok(())
    }

    fn object(&mut self, next: &Pending) -> Result<Links> {
        let offset = next.pointer.target;
        let damaged = |problem: &str| Err(Error::damaged(offset.into(), "object", problem));
        if !self.seen.insert(offset) {
            return damaged("is reached twice");
        }
        if self.seen.len() > MAX_OBJECTS {
            return damaged(&format!("is one of more than {MAX_OBJECTS}"));
        }
        if next.depth > MAX_DEPTH {
            return damaged(&format!("has more than {MAX_DEPTH} objects above it"));
        }
        let mut objects = std::mem::take(&mut self.model.objects);
        let result = fill(&mut objects, |object| {
            object.offset = offset;
            object.parent = next.parent;
            object.depth = next.depth;
            self.fields(next.pointer, object)
        });
        self.model.objects = objects;
        result?;
        self.check_object();
        self.links(offset)
    }

    /// Reads the object itself, without its children.
    fn fields(&mut self, pointer: Pointer, object: &mut Object) -> Result<()> {
        let mut cursor = pointer.follow(self.file)?;
        let start = cursor.offset();
        let signature = cursor.u32("signature")?;
        if signature != SIGNATURE {
            let problem = format!("is {signature}, should be {SIGNATURE}");
            return Err(Error::damaged(start, "signature", problem));
        }
        let vertices = bounded(&mut cursor, "vertex count", &mut self.vertices)?;
        let primitives = bounded(&mut cursor, "primitive count", &mut self.primitives)?;
        object.selection = cursor.i32("selection")?;
        object.position = point(&mut cursor, "position")?;
        let name = Pointer::read(&mut cursor, "name")?;
        object.unknown_32 = cursor.u32("unknown word 32")?;
        let vertex_list = Pointer::read(&mut cursor, "vertices")?;
        let primitive_list = Pointer::read(&mut cursor, "primitives")?;
        object.name = self.name(name)?;
        let list = vertex_list.items(self.file, vertices, VERTEX_SIZE)?;
        let mut list = little(&list);
        for _ in 0..vertices {
            object.vertices.push(point(&mut list, "vertex")?);
        }
        let list = primitive_list.items(self.file, primitives, PRIMITIVE_SIZE)?;
        let mut list = Cursor::new(&list, primitive_list.target.into(), cursor.endian());
        for number in 0..primitives {
            let primitive = self
                .primitive(&mut list)
                .map_err(|error| error.within(format_args!("primitive {number}")))?;
            object.primitives.push(primitive);
        }
        Ok(())
    }

    fn primitive(&mut self, cursor: &mut Cursor<'_>) -> Result<Primitive> {
        let color = cursor.u32("color")?;
        let count_offset = cursor.offset();
        let corners = cursor.u32("corner count")?;
        let unknown_8 = cursor.u32("unknown word 8")?;
        let index_list = Pointer::read(cursor, "indices")?;
        let texture = Pointer::read(cursor, "texture name")?;
        let editor = [cursor.u32("editor word 1")?, cursor.u32("editor word 2")?];
        let flag = cursor.u32("colored flag")?;
        self.corners += u64::from(corners);
        if self.corners > MAX_CORNERS {
            let problem = format!("makes more than {MAX_CORNERS} with those before");
            return Err(Error::damaged(count_offset, "corner count", problem));
        }
        let indices = index_list.items(self.file, corners.into(), 2)?;
        let indices = indices.as_chunks().0.iter();
        let texture = match texture.target {
            0 => None,
            _ => Some(self.name(texture)?).filter(|name| !name.bytes().is_empty()),
        };
        Ok(Primitive {
            color,
            indices: indices.map(|&index| u16::from_le_bytes(index)).collect(),
            texture,
            flag,
            editor,
            unknown_8,
        })
    }

    fn name(&mut self, pointer: Pointer) -> Result<Name> {
        let (name, has_end) = pointer.name(self.file)?;
        if !has_end {
            let at = pointer.target;
            let warning = format!("the name at {at:#x} has no end within 256 bytes");
            self.model.warnings.push(warning);
        }
        Ok(name)
    }

    fn links(&self, offset: u32) -> Result<Links> {
        let mut cursor = Pointer::new(offset, 0, "object").follow(self.file)?;
        cursor.take(44, "object")?;
        Ok(Links {
            sibling: Pointer::read(&mut cursor, "sibling object")?,
            child: Pointer::read(&mut cursor, "child object")?,
        })
    }

    /// Adds warnings about the last object.
    fn check_object(&mut self) {
        let Some(index) = self.model.objects.len().checked_sub(1) else {
            return;
        };
        let object = &self.model.objects[index];
        let mut odd = Vec::new();
        match (object.depth, object.selection) {
            (0, -1) => odd.push("is a root without a selection primitive".to_owned()),
            (0, _) | (_, -1) => {}
            (_, number) => odd.push(format!(
                "is not a root and has selection primitive {number}"
            )),
        }
        if object.selection != -1 && object.named_primitive().is_none() {
            let (number, count) = (object.selection, object.primitives.len());
            odd.push(format!(
                "has selection primitive {number} of {count} primitives"
            ));
        }
        if object.unknown_32 != 0 {
            odd.push(format!("has {:#x} in word 32, not 0", object.unknown_32));
        }
        for (number, primitive) in object.primitives.iter().enumerate() {
            if let Some(problem) = oddity(primitive, object.vertices.len()) {
                odd.push(format!("primitive {number} {problem}"));
            }
        }
        odd.iter().for_each(|problem| self.warn(index, problem));
    }

    fn warn(&mut self, index: usize, problem: &str) {
        let name = self.model.objects[index].name.clone();
        self.model
            .warnings
            .push(format!("object {index} \"{name}\": {problem}"));
    }
}

/// The pointers to the next objects.
struct Links {
    sibling: Pointer,
    child: Pointer,
}

/// Reads a count and adds it to a total.
fn bounded(cursor: &mut Cursor<'_>, field: &'static str, total: &mut u64) -> Result<u64> {
    let offset = cursor.offset();
    let count = cursor.u32(field)?;
    *total += u64::from(count);
    if count > MAX_PARTS || *total > MAX_TOTAL_PARTS {
        let problem = format!(
            "is {count}, more than {MAX_PARTS}, or than {MAX_TOTAL_PARTS} with those before"
        );
        return Err(Error::damaged(offset, field, problem));
    }
    Ok(count.into())
}

fn point(cursor: &mut Cursor<'_>, field: &'static str) -> Result<[i32; 3]> {
    Ok([cursor.i32(field)?, cursor.i32(field)?, cursor.i32(field)?])
}

/// Returns a warning about a primitive of an object with `vertices` vertices.
fn oddity(primitive: &Primitive, vertices: usize) -> Option<String> {
    let outside = |index: &&u16| usize::from(**index) >= vertices;
    if let Some(index) = primitive.indices.iter().find(outside) {
        return Some(format!("has vertex {index} of {vertices}"));
    }
    if primitive.indices.is_empty() {
        return Some("has no corners".to_owned());
    }
    if primitive.surface() == Surface::Colored && primitive.color > 255 {
        return Some(format!("has color {}, more than 255", primitive.color));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ta::tdo::{self as build, object, primitive};
    use fixtures::ta::{put, u32_at};

    fn error(bytes: Vec<u8>) -> String {
        parse(&bytes.into()).unwrap_err().error.to_string()
    }

    fn warnings(bytes: Vec<u8>) -> Vec<String> {
        parse(&bytes.into()).unwrap().warnings.texts()
    }

    /// Returns a root with a child, which has a child and a sibling.
    fn family() -> Vec<u8> {
        let mut root = object("base");
        root.vertices = vec![[1, -2, 65536], [0; 3], [5; 3]];
        root.primitives = vec![primitive(&[0, 1, 2])];
        root.selection = 0;
        let mut arm = object("arm");
        arm.position = [0, -1, 7];
        arm.children.push(object("hand"));
        root.children = vec![arm, object("leg")];
        build::file(&root)
    }

    #[test]
    fn objects_precede_their_children_and_have_their_parents() {
        let model = parse(&family().into()).unwrap();
        assert!(model.warnings.is_empty());
        let objects = model.objects.iter();
        let known: Vec<_> = objects
            .map(|object| (object.name.to_string(), object.parent, object.depth))
            .collect();
        let expected = [
            ("base", None, 0),
            ("arm", Some(0), 1),
            ("hand", Some(1), 2),
            ("leg", Some(0), 1),
        ];
        let expected = expected.map(|(name, parent, depth)| (name.to_owned(), parent, depth));
        assert_eq!(known, expected);
        assert_eq!(model.objects[0].vertices[0], [1, -2, 65536]);
        assert_eq!(model.objects[0].primitives[0].indices, [0, 1, 2]);
        assert_eq!(model.objects[0].ground_plate(), Some(0));
        assert_eq!(model.objects[1].position, [0, -1, 7]);
    }

    #[test]
    fn a_texture_is_drawn_regardless_of_the_flag() {
        let mut root = object("base");
        root.vertices = vec![[0; 3]];
        root.selection = 0;
        let surfaces = [
            (Some("Wall"), 0, Surface::Textured),
            (Some("Wall"), 9, Surface::Textured),
            (None, 9, Surface::Colored),
            (None, 0, Surface::Invisible),
            (Some(""), 0, Surface::Invisible),
        ];
        for (texture, flag, _) in surfaces {
            root.primitives.push(build::Primitive {
                texture: texture.map(str::to_owned),
                flag,
                ..primitive(&[0])
            });
        }
        let model = parse(&build::file(&root).into()).unwrap();
        let primitives = model.objects[0].primitives.iter();
        let found: Vec<_> = primitives.map(Primitive::surface).collect();
        assert_eq!(found, surfaces.map(|(_, _, surface)| surface));
        let texture = model.objects[0].primitives[0].texture.as_ref().unwrap();
        assert_eq!(texture.text(), "Wall");
    }

    #[test]
    fn only_a_root_has_a_ground_plate() {
        let mut root = object("base");
        root.primitives = vec![primitive(&[])];
        root.selection = 0;
        let mut child = object("child");
        child.primitives = vec![primitive(&[])];
        child.selection = 0;
        root.children.push(child);
        let model = parse(&build::file(&root).into()).unwrap();
        let plates = model.objects.iter().map(Object::ground_plate);
        assert_eq!(plates.collect::<Vec<_>>(), [Some(0), None]);
    }

    #[test]
    fn odd_numbers_are_warnings() {
        let mut root = object("base");
        root.vertices = vec![[0; 3]];
        root.selection = 7;
        let mut bright = primitive(&[0]);
        (bright.color, bright.flag) = (256, 1);
        root.primitives = vec![primitive(&[0, 1]), primitive(&[]), bright];
        let mut child = object("child");
        child.selection = 0;
        child.primitives = vec![primitive(&[])];
        root.children.push(child);
        assert_eq!(
            warnings(build::file(&root)),
            [
                "object 0 \"base\": has selection primitive 7 of 3 primitives",
                "object 0 \"base\": primitive 0 has vertex 1 of 1",
                "object 0 \"base\": primitive 1 has no corners",
                "object 0 \"base\": primitive 2 has color 256, more than 255",
                "object 1 \"child\": is not a root and has selection primitive 0",
                "object 1 \"child\": primitive 0 has no corners",
            ]
        );
        let plain = object("base");
        assert_eq!(
            warnings(build::file(&plain)),
            ["object 0 \"base\": is a root without a selection primitive"]
        );
    }

    #[test]
    fn an_object_that_is_reached_twice_is_an_error() {
        let mut bytes = family();
        let arm = u32_at(&bytes, 48);
        put(&mut bytes, arm as usize + 44, &arm.to_le_bytes());
        let incomplete = parse(&bytes.clone().into()).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            format!("object 3: object at {arm:#x}: is reached twice")
        );
        assert_eq!(incomplete.model.objects.len(), 3);
        // The arm is the sibling of the root, and still its own.
        put(&mut bytes, 44, &arm.to_le_bytes());
        put(&mut bytes, 48, &[0; 4]);
        assert!(error(bytes).ends_with("is reached twice"));
    }

    #[test]
    fn objects_and_their_depth_are_bounded() {
        let chain = |depth: usize| {
            let mut object = object("last");
            for _ in 0..depth {
                object = build::Object {
                    children: vec![object],
                    ..build::object("link")
                };
            }
            build::file(&object)
        };
        assert_eq!(parse(&chain(64).into()).unwrap().objects.len(), 65);
        assert!(error(chain(65)).ends_with("has more than 64 objects above it"));
        let mut root = object("root");
        root.children = vec![object("child"); 4095];
        assert_eq!(
            parse(&build::file(&root).into()).unwrap().objects.len(),
            4096
        );
        root.children.push(object("child"));
        assert!(error(build::file(&root)).ends_with("is one of more than 4096"));
    }

    #[test]
    fn vertices_primitives_and_corners_are_bounded() {
        let with = |at: usize, value: u32| {
            let mut bytes = family();
            put(&mut bytes, at, &value.to_le_bytes());
            error(bytes)
        };
        let most = "more than 65536, or than 262144 with those before";
        assert_eq!(
            with(4, 65537),
            format!("object 0: vertex count at 0x4: is 65537, {most}")
        );
        assert_eq!(
            with(8, 65537),
            format!("object 0: primitive count at 0x8: is 65537, {most}")
        );
        let size = family().len();
        let vertices = u32_at(&family(), 36) as usize;
        assert_eq!(
            with(4, 65536),
            format!(
                "object 0: vertices at {vertices:#x}: 65536 items of 12 bytes do not fit into {} bytes",
                size - vertices
            )
        );
        let corners = u32_at(&family(), 40) as usize + 4;
        assert_eq!(
            with(corners, 1 << 20 | 1),
            format!(
                "object 0: primitive 0: corner count at {corners:#x}: makes more than 1048576 with those before"
            )
        );
    }

    #[test]
    fn data_outside_of_the_file_is_an_error_and_the_object_is_kept() {
        let mut bytes = family();
        put(&mut bytes, 28, &[0xFF; 4]);
        let incomplete = parse(&bytes.into()).unwrap_err();
        assert!(
            incomplete
                .error
                .to_string()
                .starts_with("object 0: name at 0x1c: ")
        );
        assert_eq!(incomplete.model.objects[0].selection, 0);
        let mut bytes = family();
        bytes[0] = 2;
        assert_eq!(
            error(bytes),
            "object 0: signature at 0x0: is 2, should be 1"
        );
        let short = family()[..51].to_vec();
        assert!(error(short).contains("at 0x"));
        assert!(error(Vec::new()).contains("at 0x0"));
    }
}
