//! GameCube geometry: arrays of positions, normals, colors and texture coordinates, and
//! display lists with an index into each array for every vertex. Big-endian except for
//! the first three words.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::shape::Shape;
use crate::Chunk;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Maximum number of attributes of a vertex.
const MAX_ATTRIBUTES: u32 = 16;

/// Numbers of attributes.
const POSITION: u8 = 9;
const NORMAL: u8 = 10;
const COLOR: u8 = 11;
const UV: u8 = 13;
const LAST: u8 = 20;

/// Commands of display lists, without the number of a vertex format.
const QUADS: u8 = 0x80;
const TRIANGLES: u8 = 0x90;
const STRIP: u8 = 0x98;
const FAN: u8 = 0xA0;

/// The slots of a vertex: its indices into the arrays, by attribute, and the number of
/// its matrix.
pub(super) const SLOTS: usize = (LAST - POSITION) as usize + 2;
const MATRIX: usize = SLOTS - 1;
pub(super) type Corner = [u16; SLOTS];

/// Geometry as the GameCube draws it.
#[derive(Debug, Default)]
pub struct Gx {
    attributes: Vec<Attribute>,
    lists: Vec<Bytes>,
    has_matrices: bool,
    vertices: usize,
    triangles: usize,
}

/// An array of values of vertices.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// 9 position, 10 normal, 11 and 12 colors, from 13 texture coordinates.
    pub number: u8,
    /// Length of a value in bytes.
    pub size: u8,
    /// True if indices have 16 bits instead of 8.
    pub is_wide: bool,
    /// The values, big-endian.
    pub data: Bytes,
}

impl Attribute {
    /// Returns the number of values.
    pub fn count(&self) -> usize {
        self.data.len() / usize::from(self.size.max(1))
    }

    fn index_size(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }

    /// Returns the value at `index`, as floats.
    fn floats<const N: usize>(&self, index: u16) -> Option<[f32; N]> {
        let start = usize::from(index) * 4 * N;
        let words = self.data.get(start..start + 4 * N)?.as_chunks().0;
        Some(std::array::from_fn(|i| f32::from_be_bytes(words[i])))
    }
}

impl Gx {
    /// Returns the arrays.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Returns the display lists, one for each mesh.
    pub fn lists(&self) -> &[Bytes] {
        &self.lists
    }

    /// Returns true if every vertex in the lists begins with a matrix number, which is
    /// three times a bone number. Only the lists tell.
    pub fn has_matrices(&self) -> bool {
        self.has_matrices
    }

    /// Returns the number of vertices in all lists.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Returns the number of triangles in all lists, including degenerate ones.
    pub fn triangles(&self) -> usize {
        self.triangles
    }

    /// Reads the structure of a native geometry. `has_matrices` tells whether vertices
    /// begin with a matrix number, if the skin decides that.
    pub(super) fn read(fields: &Chunk, has_matrices: Option<bool>) -> Result<Self> {
        let mut cursor = fields.cursor(Endian::Little);
        cursor.u32("native platform")?;
        let header = cursor.u32("native header size")?;
        let data = cursor.u32("native data size")?;
        let header = cursor.check_count(header.into(), 1, "native header size")?;
        let head = take(&mut cursor, &fields.body, header, "native header")?;
        let mut head = Cursor::new(&head, cursor.offset() - header as u64, Endian::Big);
        let data = cursor.check_count(data.into(), 1, "native data size")?;
        let base = cursor.offset();
        let data = take(&mut cursor, &fields.body, data, "native data")?;
        let mut gx = Self {
            attributes: attributes(&mut head, &data)?,
            lists: lists(&mut head, &data)?,
            has_matrices: has_matrices.unwrap_or_default(),
            ..Self::default()
        };
        if let Err(error) = gx.count(base) {
            if has_matrices.is_some() {
                return Err(error);
            }
            gx.has_matrices = true;
            // Only the error of the usual form is reported.
            gx.count(base).map_err(|_| error)?;
        }
        Ok(gx)
    }

    /// Counts vertices and triangles, and checks every command and index.
    fn count(&mut self, base: u64) -> Result<()> {
        let (mut vertices, mut triangles) = (0, 0);
        for list in 0..self.lists.len() {
            self.walk(list, base, |corners, shape| {
                vertices += corners.len();
                triangles += shape.triangles(corners.len()).count();
            })?;
        }
        (self.vertices, self.triangles) = (vertices, triangles);
        Ok(())
    }

    /// Calls `visit` with the vertices of every command of a list.
    fn walk(&self, list: usize, base: u64, mut visit: impl FnMut(&[Corner], Shape)) -> Result<()> {
        let Some(list) = self.lists.get(list) else {
            return Ok(());
        };
        let mut cursor = Cursor::new(list, base, Endian::Big);
        let mut corners = Vec::new();
        while cursor.remaining() > 0 {
            let at = cursor.offset();
            let command = cursor.u8("command")?;
            if command == 0 {
                continue;
            }
            let Some(shape) = shape_of(command) else {
                let problem = format!("is {command:#x}, which is unknown");
                return Err(Error::damaged(at, "command", problem));
            };
            let count = cursor.u16("vertex count")?;
            let count = cursor.check_count(count.into(), self.vertex_size(), "vertex count")?;
            corners.clear();
            for _ in 0..count {
                corners.push(self.corner(&mut cursor)?);
            }
            visit(&corners, shape);
        }
        Ok(())
    }

    /// Returns the length of a vertex in a list in bytes; not 0, since every
    /// vertex has a position.
    fn vertex_size(&self) -> usize {
        let indices: usize = self.attributes.iter().map(Attribute::index_size).sum();
        indices + usize::from(self.has_matrices)
    }

    fn corner(&self, cursor: &mut Cursor<'_>) -> Result<Corner> {
        let mut corner = [0; SLOTS];
        if self.has_matrices {
            corner[MATRIX] = cursor.u8("matrix")?.into();
        }
        for attribute in &self.attributes {
            let at = cursor.offset();
            let index = match attribute.is_wide {
                true => cursor.u16("index")?,
                false => cursor.u8("index")?.into(),
            };
            if usize::from(index) >= attribute.count() {
                return Err(Error::damaged(
                    at,
                    format!("index of attribute {}", attribute.number),
                    format!("is {index} of {}", attribute.count()),
                ));
            }
            corner[usize::from(attribute.number - POSITION)] = index;
        }
        Ok(corner)
    }

    /// Calls `visit` with the triangles of a list, counter-clockwise.
    pub(super) fn each_triangle(&self, list: usize, mut visit: impl FnMut([Corner; 3])) {
        let walked = self.walk(list, 0, |corners, shape| {
            for [a, b, c] in shape.triangles(corners.len()) {
                visit([corners[a], corners[b], corners[c]]);
            }
        });
        debug_assert!(walked.is_ok(), "lists were checked when they were read");
    }

    fn attribute(&self, number: u8) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|attribute| attribute.number == number)
    }

    /// Returns whether vertices have normals.
    pub(super) fn has_normals(&self) -> bool {
        self.attribute(NORMAL).is_some()
    }

    /// Returns whether vertices have colors.
    pub(super) fn has_colors(&self) -> bool {
        self.attribute(COLOR).is_some()
    }

    /// Returns the attributes that are UV sets, in their order.
    pub(super) fn uv_sets(&self) -> Vec<u8> {
        let numbers = self.attributes.iter().map(|attribute| attribute.number);
        let sets: BTreeSet<u8> = numbers.filter(|&number| number >= UV).collect();
        sets.into_iter().collect()
    }

    pub(super) fn position(&self, corner: &Corner) -> [f32; 3] {
        self.value(corner, POSITION, Attribute::floats)
    }

    pub(super) fn normal(&self, corner: &Corner) -> [f32; 3] {
        self.value(corner, NORMAL, Attribute::floats)
    }

    pub(super) fn uv(&self, corner: &Corner, number: u8) -> [f32; 2] {
        self.value(corner, number, Attribute::floats)
    }

    pub(super) fn color(&self, corner: &Corner) -> [u8; 4] {
        self.value(corner, COLOR, |attribute, index| {
            attribute
                .data
                .as_chunks()
                .0
                .get(usize::from(index))
                .copied()
        })
    }

    fn value<T: Default>(
        &self,
        corner: &Corner,
        number: u8,
        read: impl Fn(&Attribute, u16) -> Option<T>,
    ) -> T {
        let index = corner[usize::from(number - POSITION)];
        let attribute = self.attribute(number);
        attribute
            .and_then(|attribute| read(attribute, index))
            .unwrap_or_default()
    }

    /// Returns the number of the position of a vertex.
    pub(super) fn place(corner: &Corner) -> usize {
        corner[0].into()
    }

    /// Returns the number of the matrix of a vertex.
    pub(super) fn matrix(corner: &Corner) -> u8 {
        corner[MATRIX] as u8
    }
}

/// Reads the attributes. The end of an array is the start of the next.
fn attributes(head: &mut Cursor<'_>, data: &Bytes) -> Result<Vec<Attribute>> {
    head.take(8, "native header")?;
    let at = head.offset();
    let count = head.u32("attribute count")?;
    if count > MAX_ATTRIBUTES {
        let problem = format!("is {count}, at most {MAX_ATTRIBUTES} are possible");
        return Err(Error::damaged(at, "attribute count", problem));
    }
    let (mut found, mut starts) = (Vec::new(), BTreeSet::from([data.len()]));
    for number in 0..count {
        let at = head.offset();
        let start = head.u32("attribute offset")? as usize;
        let (attribute, size) = (head.u8("attribute")?, head.u8("attribute size")?);
        let index = head.u8("index type")?;
        head.u8("attribute")?;
        let problem = |text| Error::damaged(at, format!("attribute {number}"), text);
        let is_known = match attribute {
            POSITION | NORMAL => size == 12,
            COLOR..UV => size == 4,
            UV..=LAST => size == 8,
            _ => false,
        };
        if !is_known || !matches!(index, 2 | 3) {
            let text = format!("is {attribute} of {size} bytes with indices of type {index}");
            return Err(problem(text));
        }
        if start >= data.len() {
            let length = data.len();
            return Err(problem(format!("begins at {start:#x} of {length:#x}")));
        }
        starts.insert(start);
        found.push((start, attribute, size, index == 3));
    }
    let count_of = |number| found.iter().filter(|array| array.1 == number).count();
    if count_of(POSITION) != 1 || found.iter().any(|array| count_of(array.1) != 1) {
        let text = "have no positions, or one attribute twice";
        return Err(Error::damaged(at, "attributes", text));
    }
    let arrays = found.into_iter().map(|(start, number, size, is_wide)| {
        let end = starts.range(start + 1..).next().copied().unwrap_or(start);
        let whole = (end - start) / usize::from(size) * usize::from(size);
        Attribute {
            number,
            size,
            is_wide,
            data: data.slice(start..start + whole),
        }
    });
    Ok(arrays.collect())
}

/// Takes the display lists, which are the rest of the header. Together they must not
/// exceed the data.
fn lists(head: &mut Cursor<'_>, data: &Bytes) -> Result<Vec<Bytes>> {
    let mut lists = Vec::new();
    let mut left = data.len();
    while head.remaining() >= 8 {
        let at = head.offset();
        let start = head.u32("display list offset")? as usize;
        let size = head.u32("display list size")? as usize;
        let end = start.checked_add(size).filter(|&end| end <= data.len());
        let fits = left.checked_sub(size).zip(end);
        let Some((rest, end)) = fits else {
            let (number, length) = (lists.len(), data.len());
            return Err(Error::damaged(
                at,
                format!("display list {number}"),
                format!("has {size} bytes from {start:#x} of {length:#x}"),
            ));
        };
        left = rest;
        lists.push(data.slice(start..end));
    }
    Ok(lists)
}

/// Returns the shape that a command draws; `None` for an unknown command.
fn shape_of(command: u8) -> Option<Shape> {
    Some(match command & 0xF8 {
        QUADS => Shape::Quads,
        TRIANGLES => Shape::Triangles,
        STRIP => Shape::Strip,
        FAN => Shape::Fan,
        _ => return None,
    })
}
