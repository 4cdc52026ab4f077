//! PlayStation 2 geometry: for each mesh a chain of DMA tags, whose data are codes that
//! unpack batches of vertices. Little-endian (FORMATS, HIP assets 7).

use std::collections::BTreeMap;

use bytes::Bytes;

use super::mesh::Mesh;
use super::shape::Shape;
use super::skin::Influence;
use crate::Chunk;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Maximum number of tags of a chain.
const MAX_TAGS: usize = 1 << 16;

/// Maximum number of vertices of a geometry, counting those that batches repeat.
const MAX_VERTICES: usize = 1 << 20;

/// Kinds of DMA tags.
const NEXT: u32 = 1;
const REFERENCE: u32 = 3;
const END: u32 = 6;

/// Length of a DMA tag in bytes. The second half contains codes.
const TAG: usize = 16;

/// Address that positions are unpacked to. The other addresses depend on the set of
/// attributes.
const POSITIONS: u16 = 0;

/// Address that texture coordinates are unpacked to.
const UVS: u16 = 1;

/// An attribute of vertices other than the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Uvs,
    Colors,
    /// Day colors in the low bytes, night colors in the high bytes.
    DayAndNight,
    Normals,
    Bones,
}

/// Flag in the last number of a position: no triangle ends at this vertex.
const NO_TRIANGLE: i32 = 0x8000;

/// Mask of the bone number in a weight.
const BONE: u32 = 0x3FF;

/// Geometry as the PlayStation 2 draws it.
#[derive(Debug)]
pub struct Ps2 {
    /// A chain for each mesh.
    chains: Vec<Bytes>,
    is_strips: bool,
    /// Unit of positions in 16 bits.
    unit: f32,
    /// Number of sets of texture coordinates.
    uv_sets: usize,
    has_colors: bool,
    vertices: usize,
    triangles: usize,
    has_normals: bool,
}

/// The vertices of all batches, without repeated ones that continue a strip.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// The vertices, without triangles.
    pub(super) mesh: Mesh,
    /// The bones of each vertex; empty without a skin.
    pub(super) influences: Vec<Influence>,
    /// The triangles of each mesh, counter-clockwise.
    pub(super) triangles: Vec<Vec<[u32; 3]>>,
}

/// The elements of one attribute in a batch.
#[derive(Debug)]
struct Array {
    /// Numbers of an element, 1 to 4.
    width: usize,
    size: Size,
    is_unsigned: bool,
    /// The elements, with 0 for missing numbers.
    elements: Vec<[i32; 4]>,
}

/// The length of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Word,
    Half,
    Byte,
}

impl Size {
    fn bytes(self) -> usize {
        match self {
            Self::Word => 4,
            Self::Half => 2,
            Self::Byte => 1,
        }
    }
}

/// The attributes of the vertices of one drawing call.
type Batch = BTreeMap<u16, Array>;

impl Ps2 {
    /// Reads the structure of a native geometry of `meshes` meshes. If the geometry
    /// lacks the flag for colors, its colors are placeholders. Fails if a chain is
    /// broken or endless, or vertices lack an attribute.
    pub(super) fn read(
        fields: &Chunk,
        meshes: usize,
        is_strips: bool,
        is_prelit: bool,
        uv_sets: usize,
    ) -> Result<Self> {
        let mut cursor = fields.cursor(Endian::Little);
        cursor.u32("native platform")?;
        let mut geometry = Self {
            chains: Vec::new(),
            is_strips,
            unit: if is_prelit { 1.0 / 128.0 } else { 1.0 / 1024.0 },
            uv_sets,
            has_colors: is_prelit,
            vertices: 0,
            triangles: 0,
            has_normals: false,
        };
        for _ in 0..meshes {
            let length = cursor.u32("DMA size")?;
            cursor.u32("DMA flag")?;
            let length = cursor.check_count(length.into(), 1, "DMA size")?;
            let chain = take(&mut cursor, &fields.body, length, "DMA chain")?;
            geometry.chains.push(chain);
        }
        let unpacked = geometry.unpack(fields.offset)?;
        geometry.vertices = unpacked.mesh.positions.len();
        geometry.triangles = unpacked.triangles.iter().map(Vec::len).sum();
        geometry.has_normals = !unpacked.mesh.normals.is_empty();
        Ok(geometry)
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Returns the number of triangles, including degenerate ones.
    pub fn triangles(&self) -> usize {
        self.triangles
    }

    /// Returns whether vertices have normals.
    pub fn has_normals(&self) -> bool {
        self.has_normals
    }

    /// Returns the vertices and triangles, which were checked while reading.
    pub(super) fn unpacked(&self) -> Unpacked {
        self.unpack(0).unwrap_or_default()
    }

    fn unpack(&self, at: u64) -> Result<Unpacked> {
        let mut unpacked = Unpacked::default();
        let mut drawn = 0;
        for chain in &self.chains {
            unpacked.triangles.push(Vec::new());
            // The positions at the end of the previous batch.
            let mut last = Vec::new();
            run(chain, at, |count, batch| {
                drawn += count;
                if drawn > MAX_VERTICES {
                    let text = format!("draws more than {MAX_VERTICES} vertices");
                    return Err(Error::damaged(at, "DMA chain", text));
                }
                self.add(count, batch, &mut last, &mut unpacked)
                    .map_err(|text| Error::damaged(at, "batch of vertices", text))
            })?;
        }
        let count = unpacked.mesh.positions.len();
        let mesh = &unpacked.mesh;
        let lengths = [
            mesh.normals.len(),
            mesh.colors.len(),
            mesh.night_colors.len(),
            unpacked.influences.len(),
        ];
        let uvs = mesh.uvs.iter().map(Vec::len);
        let mut lengths = lengths.into_iter().chain(uvs);
        match lengths.find(|&length| length != 0 && length != count) {
            Some(length) => {
                let text = format!("have {length} elements for {count} vertices");
                Err(Error::damaged(at, "attributes", text))
            }
            None => Ok(unpacked),
        }
    }

    /// Adds the vertices and triangles of a batch.
    fn add(
        &self,
        count: usize,
        batch: &Batch,
        last: &mut Vec<[f32; 3]>,
        unpacked: &mut Unpacked,
    ) -> std::result::Result<(), String> {
        let short = batch.iter().find(|(_, array)| array.elements.len() < count);
        if let Some((address, array)) = short {
            let held = array.elements.len();
            return Err(format!(
                "has {held} of {count} elements at address {address}"
            ));
        }
        let places = batch.get(&POSITIONS).ok_or("has no positions")?;
        let positions: Vec<_> = places.elements[..count]
            .iter()
            .map(|&[x, y, z, _]| [x, y, z].map(|part| places.number(part, self.unit)))
            .collect();
        // A batch that repeats the last two vertices continues the strip.
        let repeats = self.is_strips && positions.len() >= 2 && last.ends_with(&positions[..2]);
        let skip = if repeats { 2 } else { 0 };
        let mesh = &mut unpacked.mesh;
        let first = mesh.positions.len() as u32 - skip as u32;
        mesh.positions.extend(&positions[skip..]);
        *last = positions;
        for (&address, array) in batch.range(POSITIONS + 1..) {
            let elements = &array.elements[skip..count];
            match array.attribute(address, self.uv_sets) {
                Some(attribute) => self.add_attribute(attribute, array, elements, unpacked),
                None => return Err(format!("has an unknown attribute at address {address}")),
            }
        }
        let shape = match self.is_strips {
            true => Shape::Strip,
            false => Shape::Triangles,
        };
        let is_drawn = |[.., end]: &[usize; 3]| {
            let flags = places.elements[*end][3];
            !(self.is_strips && places.width == 4 && flags & NO_TRIANGLE != 0)
        };
        let triangles = shape.triangles(count).filter(is_drawn);
        let triangles = triangles.map(|triangle| triangle.map(|corner| first + corner as u32));
        if let Some(of_mesh) = unpacked.triangles.last_mut() {
            of_mesh.extend(triangles);
        }
        Ok(())
    }
}

impl Ps2 {
    /// Adds the values of an attribute of vertices.
    fn add_attribute(
        &self,
        attribute: Attribute,
        array: &Array,
        elements: &[[i32; 4]],
        unpacked: &mut Unpacked,
    ) {
        let mesh = &mut unpacked.mesh;
        match attribute {
            Attribute::Uvs => {
                for (set, part) in (0..array.width / 2).zip([0, 2]) {
                    if mesh.uvs.len() <= set {
                        mesh.uvs.push(Vec::new());
                    }
                    let uv = |element: &[i32; 4]| {
                        [part, part + 1].map(|part| array.number(element[part], 1.0 / 4096.0))
                    };
                    mesh.uvs[set].extend(elements.iter().map(uv));
                }
            }
            Attribute::Colors if self.has_colors => {
                let color = |element: &[i32; 4]| element.map(|part| part as u8);
                mesh.colors.extend(elements.iter().map(color));
            }
            Attribute::Colors => {}
            Attribute::DayAndNight => {
                let part = |shift: u32| {
                    move |element: &[i32; 4]| element.map(|part| (part >> shift) as u8)
                };
                mesh.colors.extend(elements.iter().map(part(0)));
                mesh.night_colors.extend(elements.iter().map(part(8)));
            }
            Attribute::Normals => {
                let normal = |&[x, y, z, _]: &[i32; 4]| [x, y, z].map(|part| part as f32 / 127.0);
                mesh.normals.extend(elements.iter().map(normal));
            }
            Attribute::Bones => unpacked.influences.extend(elements.iter().map(influence)),
        }
    }
}

impl Array {
    /// Returns the attribute at an address, according to the form of its elements.
    fn attribute(&self, address: u16, uv_sets: usize) -> Option<Attribute> {
        match (self.size, self.width) {
            (Size::Word, 2) => Some(Attribute::Uvs),
            (Size::Word, 4) if address == UVS && uv_sets > 1 => Some(Attribute::Uvs),
            (Size::Word, 4) => Some(Attribute::Bones),
            (Size::Half, 2 | 4) if address == UVS => Some(Attribute::Uvs),
            (Size::Half, 4) if self.is_unsigned => Some(Attribute::DayAndNight),
            (Size::Byte, 4) if self.is_unsigned => Some(Attribute::Colors),
            (Size::Byte, 3 | 4) => Some(Attribute::Normals),
            _ => None,
        }
    }

    /// Returns a component of a position or of texture coordinates: a float, or a
    /// multiple of `unit`.
    fn number(&self, part: i32, unit: f32) -> f32 {
        match self.size {
            Size::Word => f32::from_bits(part.cast_unsigned()),
            Size::Half | Size::Byte => part as f32 * unit,
        }
    }
}

/// Returns the bones of a vertex. Each number is a weight whose lowest bits are four
/// times the next bone number.
fn influence(element: &[i32; 4]) -> Influence {
    let words = element.map(i32::cast_unsigned);
    let weights = words.map(|word| f32::from_bits(word & !BONE));
    let bones = words.map(|word| (word & BONE) / 4);
    let bones = std::array::from_fn(|index| match weights[index] {
        0.0 => 0,
        _ => bones[index].saturating_sub(1) as u8,
    });
    (bones, weights)
}

/// Calls `draw` with every batch of a chain, and its number of vertices.
fn run(chain: &Bytes, at: u64, mut draw: impl FnMut(usize, &Batch) -> Result<()>) -> Result<()> {
    let mut cursor = Cursor::new(chain, at, Endian::Little);
    let mut state = State::default();
    // References could repeat the same bytes endlessly.
    let mut left = 2 * chain.len();
    for _ in 0..MAX_TAGS {
        let here = cursor.offset();
        let problem = |text| Err(Error::damaged(here, "DMA tag", text));
        let tag = cursor.u32("DMA tag")?;
        let address = cursor.u32("DMA address")? as usize & 0x0FFF_FFFF;
        let kind = tag >> 28 & 7;
        let length = (tag & 0xFFFF) as usize * TAG;
        let codes = take(&mut cursor, chain, TAG / 2, "codes of a DMA tag")?;
        let data = match kind {
            NEXT | END => take(&mut cursor, chain, length, "DMA data")?,
            REFERENCE => {
                let start = address.saturating_mul(TAG);
                match start.checked_add(length).filter(|&end| end <= chain.len()) {
                    Some(end) => chain.slice(start..end),
                    None => return problem(format!("refers to {start:#x} past its chain")),
                }
            }
            other => return problem(format!("is of kind {other}, which is not supported")),
        };
        left = match left.checked_sub(data.len()) {
            Some(left) => left,
            None => return problem("repeats the data of its chain".to_owned()),
        };
        let codes = Codes {
            bytes: [&codes[..], &data].concat(),
            at: here,
            is_reference: kind == REFERENCE,
        };
        state.run(&codes, &mut draw)?;
        if kind == END {
            return match state.batch.is_empty() {
                true => Ok(()),
                false => problem("is the last, and vertices are not drawn".to_owned()),
            };
        }
    }
    Err(Error::damaged(at, "DMA chain", "has no end"))
}

/// The codes of a tag and its data.
struct Codes {
    bytes: Vec<u8>,
    at: u64,
    /// True if the tag refers to data elsewhere. Then the tag's unpack code ends it:
    /// data of other batches may follow.
    is_reference: bool,
}

/// State for the next batch.
#[derive(Default)]
struct State {
    batch: Batch,
    /// Number of vertices of a batch.
    count: usize,
}

impl State {
    fn run(
        &mut self,
        codes: &Codes,
        draw: &mut impl FnMut(usize, &Batch) -> Result<()>,
    ) -> Result<()> {
        let mut cursor = Cursor::new(&codes.bytes, codes.at, Endian::Little);
        let end_of_tag = codes.at + TAG as u64 / 2;
        while cursor.remaining() >= 4 {
            let here = cursor.offset();
            let code = cursor.u32("code")?;
            match code >> 24 & 0x7F {
                // Settings without data: no operation, cycles, offsets, modes, masks,
                // marks, and waiting.
                0..=3 | 5..=7 | 0x10 | 0x11 | 0x13 => {}
                4 => self.count = (code & 0x3FF) as usize,
                0x14 | 0x15 | 0x17 => {
                    draw(self.count, &self.batch)?;
                    self.batch.clear();
                }
                0x20 => drop(cursor.take(4, "mask")?),
                0x30 | 0x31 => drop(cursor.take(16, "row or column")?),
                0x60.. => {
                    self.unpack(code, &mut cursor)?;
                    if codes.is_reference && here < end_of_tag {
                        return Ok(());
                    }
                }
                _ => {
                    let text = format!("is {code:#010x}, which is unknown");
                    return Err(Error::damaged(here, "code", text));
                }
            }
        }
        Ok(())
    }

    /// Unpacks elements to an address.
    fn unpack(&mut self, code: u32, cursor: &mut Cursor<'_>) -> Result<()> {
        let here = cursor.offset();
        let width = (code >> 26 & 3) as usize + 1;
        let size = match code >> 24 & 3 {
            0 => Size::Word,
            1 => Size::Half,
            2 => Size::Byte,
            _ => {
                let text = "unpacks colors of 16 bits, which is not supported";
                return Err(Error::damaged(here, "code", text));
            }
        };
        let is_unsigned = code & 1 << 14 != 0;
        let count = match (code >> 16 & 0xFF) as usize {
            0 => 256,
            count => count,
        };
        let element = width * size.bytes();
        let length = (count * element).next_multiple_of(4);
        let data = cursor.take(length, "unpacked data")?;
        let address = (code & 0x3FF) as u16;
        let array = self.batch.entry(address).or_insert(Array {
            width,
            size,
            is_unsigned,
            elements: Vec::new(),
        });
        array
            .elements
            .extend(data.chunks_exact(element).take(count).map(|stored| {
                let mut numbers = stored.chunks_exact(size.bytes());
                std::array::from_fn(|_| numbers.next().map_or(0, |part| number(part, is_unsigned)))
            }));
        Ok(())
    }
}

/// Returns a number of one, two or four bytes.
fn number(part: &[u8], is_unsigned: bool) -> i32 {
    match *part {
        [byte] if is_unsigned => byte.into(),
        [byte] => i8::from_ne_bytes([byte]).into(),
        [a, b] if is_unsigned => u16::from_le_bytes([a, b]).into(),
        [a, b] => i16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a chain of one tag with these codes and data.
    fn chain(words: &[u32]) -> Bytes {
        let mut words = words.to_vec();
        while words.len() % 4 != 2 {
            words.push(0);
        }
        let tag = [(END << 28) | ((words.len() as u32 - 2) / 4), 0];
        tag.iter()
            .chain(&words)
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// The code that unpacks `count` positions of three floats.
    fn positions(count: u32) -> u32 {
        0x6800_0000 | count << 16
    }

    const DRAW: u32 = 0x1400_0000;

    fn batches(chain: &Bytes) -> Result<Vec<usize>> {
        let mut counts = Vec::new();
        run(chain, 0, |count, batch| {
            assert_eq!(batch[&POSITIONS].elements.len(), count);
            counts.push(count);
            Ok(())
        })?;
        Ok(counts)
    }

    #[test]
    fn codes_unpack_batches_and_draw_them() {
        let one = 1.0_f32.to_bits();
        let words = [0x0400_0001, positions(1), one, one, one, DRAW];
        assert_eq!(batches(&chain(&words)).unwrap(), [1]);
        // Data that are never drawn, and an unknown code.
        assert!(batches(&chain(&words[..5])).is_err());
        assert!(batches(&chain(&[0x4000_0000])).is_err());
    }

    #[test]
    fn what_follows_referenced_data_belongs_to_others() {
        let one = 1.0_f32.to_bits();
        // A position of three words and the start of the next one.
        let reference = [REFERENCE << 28 | 1, 3, 0, positions(1)];
        let end = [END << 28, 0, 0x0400_0001, DRAW];
        let data = [one, one, one, 0xBF80_0000];
        let words = [reference, end, [0; 4], data].concat();
        let bytes: Bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(batches(&bytes).unwrap(), [1]);
    }

    #[test]
    fn references_cannot_repeat_their_chain() {
        let reference = [REFERENCE << 28 | 1, 0, 0, 0];
        let words: Vec<u32> = std::iter::repeat_n(reference, 64).flatten().collect();
        let bytes: Bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(run(&bytes, 0, |_, _| Ok(())).is_err());
    }

    #[test]
    fn weights_have_the_numbers_of_their_bones() {
        let weight = |value: f32, bone: u32| (value.to_bits() & !BONE | ((bone + 1) * 4)) as i32;
        let (bones, weights) = influence(&[weight(0.75, 9), weight(0.25, 0), 0, 0]);
        assert_eq!((bones, weights), ([9, 0, 0, 0], [0.75, 0.25, 0.0, 0.0]));
    }
}
