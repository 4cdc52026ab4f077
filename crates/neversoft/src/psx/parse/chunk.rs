//! Tagged chunks: everything that is neither an object nor a model
//! (FORMATS, PSX 5).

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Hex, Pad, Record};

use super::animation::{self, AnimationV1, AnimationV2, SpriteAnimation};
use hpimount_assets::parse::count::count;
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Error, Result};

/// Tag of the end of the list, without a length.
const END: u32 = 0xFFFF_FFFF;

/// Maximum number of chunks.
const MAX_CHUNKS: usize = 256;

/// Length of an object's record. Wibbles identify their object by the offset of its
/// record.
const OBJECT_SIZE: u32 = 36;

/// Offset of the first object.
const FIRST_OBJECT: u32 = 12;

/// A tagged chunk.
#[derive(Debug, Clone, GetSize)]
pub struct Chunk {
    /// Type of the chunk: four letters or a small number.
    pub tag: u32,
    /// Offset of the data in the file.
    pub offset: u64,
    /// Length of the data in bytes.
    pub length: u32,
    /// The parsed contents, possibly incomplete.
    pub content: Content,
    /// The reason why the content is incomplete.
    #[get_size(ignore)] // A short text in each of at most 256 chunks.
    pub problem: Option<Error>,
}

/// Data of a chunk.
#[derive(Debug, Clone, GetSize)]
pub enum Content {
    /// `RGBs`: colors that gouraud faces refer to, as r, g, b; may be fewer
    /// than 256.
    Colors(Vec<[u8; 3]>),
    /// `HIER`: the parent of each of the first objects; a root is its own
    /// parent.
    Hierarchy(Vec<u16>),
    /// 0x0A: the objects in each cell of a grid.
    BlockMap(BlockMap),
    /// 0x2A: keyframe animations.
    AnimationsV1(Vec<AnimationV1>),
    /// 0x2C: compressed keyframe animations.
    AnimationsV2(Vec<AnimationV2>),
    /// 0x45: sprite animations.
    Sprites(Vec<SpriteAnimation>),
    /// 0x06: textures that move.
    Wibbles(Vec<Wibble>),
    /// 0x07: gouraud colors that change.
    Pulses(Vec<Pulse>),
    /// `Chnk`: items that can be destroyed.
    Chnk(Vec<ChnkItem>),
    /// An unknown tag.
    Unknown,
}

/// A grid over the level, for collisions.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize)]
pub struct BlockMap {
    /// Edges and its size.
    pub grid: Grid,
    /// Number of entries in all cells together.
    pub entries: u64,
    /// Number of entries in the fullest cell.
    pub max_per_cell: u32,
    /// Length of the map in bytes.
    pub consumed: u64,
}

/// The edges and the size of a grid.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/psx.md")]
pub struct Grid {
    /// Left edge in vertex units with 12 fractional bits, like the other three.
    pub xmin: i32,
    /// Near edge.
    pub zmin: i32,
    /// Right edge.
    pub xmax: i32,
    /// Far edge.
    pub zmax: i32,
    /// Number of cells in x.
    #[record(derived)]
    pub width: u16,
    /// Number of cells in z.
    #[record(derived)]
    pub height: u16,
}

/// Texture coordinates of an object that move.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Wibble {
    /// Index of the object, or `None` if it does not exist.
    pub object: Option<u32>,
    /// Offset of the motion in the file.
    pub offset: usize,
    /// Motion.
    pub motion: WibbleMotion,
}

/// The motion of texture coordinates.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/psx.md")]
pub struct WibbleMotion {
    /// Speed to the right.
    pub u_velocity: i16,
    /// Speed downwards.
    pub v_velocity: i16,
    /// Frequency of the oscillation.
    pub frequency: i32,
    /// Number of faces that move.
    #[record(derived)]
    pub faces: u16,
    /// Start in u and v; ignored in version 6.
    pub start: Pad<2>,
}

/// A gouraud color that changes.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Pulse {
    /// Offset in the file.
    pub offset: usize,
    /// Index of the color.
    pub color: u8,
    /// Index of the initial key.
    pub key: u8,
    /// Time since that key.
    pub time: u8,
    /// For each key, r, g, b and the time to the next one.
    pub keys: Vec<[u8; 4]>,
}

impl ChnkItem {
    /// Returns the location of the item with this number in a chunk.
    pub fn place(number: usize) -> usize {
        const FIRST: usize = 4;
        FIRST + number * Self::SIZE
    }
}

impl Pulse {
    /// Returns the initial color as r, g, b of 0 to 255; `None` without keys.
    pub fn start(&self) -> Option<[u8; 3]> {
        let count = self.keys.len().max(1);
        let key = usize::from(self.key) % count;
        let [from, to] = [key, (key + 1) % count].map(|key| self.keys.get(key));
        let (&[r, g, b, interval], &[next @ .., _]) = (from?, to?);
        let interval = i32::from(interval).max(1);
        let time = i32::from(self.time).min(interval);
        let mut color = [r, g, b];
        for (part, next) in color.iter_mut().zip(next) {
            let change = i32::from(next) - i32::from(*part);
            *part = (i32::from(*part) + change * time / interval) as u8;
        }
        Some(color)
    }
}

/// An item that can be destroyed.
#[derive(Debug, Clone, Default, PartialEq, Eq, GetSize, Record)]
#[record(table = "../../docs/formats/psx.md")]
pub struct ChnkItem {
    /// Hash of the item's name.
    pub checksum: Hex<u32>,
    /// Offset of its data in the chunk.
    #[record(derived)]
    pub offset: u32,
}

impl Chunk {
    /// Reads the data after the tag.
    fn read(cursor: &mut Cursor, file: &Bytes, tag: u32, object_count: usize) -> Result<Self> {
        let length_at = cursor.offset();
        let length = cursor.u32("length")?;
        let (offset, left) = (cursor.offset(), cursor.remaining());
        if length as usize > left {
            let problem = format!("is {length}, but only {left} bytes are left");
            return Err(Error::damaged(length_at, "length", problem));
        }
        let mut data = cursor.section(length as usize, "data")?;
        let mut content = Content::empty(tag);
        let problem = content.read(&mut data, file, object_count).err();
        Ok(Self {
            tag,
            offset,
            length,
            content,
            problem,
        })
    }

    /// Returns the short name of the tag; `unknown` for an unknown one.
    pub fn name(&self) -> &'static str {
        match self.content {
            Content::Colors(_) => "RGBs",
            Content::Hierarchy(_) => "HIER",
            Content::BlockMap(_) => "block_map",
            Content::AnimationsV1(_) => "animations_v1",
            Content::AnimationsV2(_) => "animations_v2",
            Content::Sprites(_) => "sprite_animations",
            Content::Wibbles(_) => "texture_wibble",
            Content::Pulses(_) => "color_pulse",
            Content::Chnk(_) => "Chnk",
            Content::Unknown => "unknown",
        }
    }
}

impl Content {
    fn empty(tag: u32) -> Self {
        match tag {
            0x7342_4752 => Self::Colors(Vec::new()),
            0x5245_4948 => Self::Hierarchy(Vec::new()),
            0x0A => Self::BlockMap(BlockMap::default()),
            0x2A => Self::AnimationsV1(Vec::new()),
            0x2C => Self::AnimationsV2(Vec::new()),
            0x45 => Self::Sprites(Vec::new()),
            0x06 => Self::Wibbles(Vec::new()),
            0x07 => Self::Pulses(Vec::new()),
            0x6B6E_6843 => Self::Chnk(Vec::new()),
            _ => Self::Unknown,
        }
    }

    /// Parses a chunk's data. Keeps everything before an error.
    fn read(&mut self, data: &mut Cursor, file: &Bytes, object_count: usize) -> Result<()> {
        match self {
            Self::Colors(colors) => read_colors(data, colors),
            Self::Hierarchy(parents) => read_hierarchy(data, object_count, parents),
            Self::BlockMap(map) => map.read(data),
            Self::AnimationsV1(list) => animation::read_v1(data, file, object_count, list),
            Self::AnimationsV2(list) => animation::read_v2(data, file, list),
            Self::Sprites(list) => animation::read_sprites(data, list),
            Self::Wibbles(list) => read_wibbles(data, list),
            Self::Pulses(list) => read_pulses(data, list),
            Self::Chnk(list) => read_chnk(data, list),
            Self::Unknown => Ok(()),
        }
    }
}

/// Reads the chunks up to and including the end of the list. Damaged contents are a
/// warning, because the next chunk can still be found.
pub(super) fn read_all(
    cursor: &mut Cursor,
    file: &Bytes,
    object_count: usize,
    chunks: &mut Vec<Chunk>,
    warnings: &mut Warnings,
) -> Result<()> {
    loop {
        let tag_at = cursor.offset();
        let tag = cursor.u32("chunk tag")?;
        if tag == END {
            return Ok(());
        }
        if chunks.len() == MAX_CHUNKS {
            return Err(Error::damaged(
                tag_at,
                "chunk tag",
                format!("follows {MAX_CHUNKS} chunks and is not the end of their list"),
            ));
        }
        let chunk = Chunk::read(cursor, file, tag, object_count)
            .map_err(|error| error.within(format_args!("chunk {tag:08x}")))?;
        if let Some(problem) = &chunk.problem {
            warnings.push(format!("chunk {}: {problem}", chunk.name()));
        }
        chunks.push(chunk);
    }
}

fn read_colors(data: &mut Cursor, colors: &mut Vec<[u8; 3]>) -> Result<()> {
    while data.remaining() >= 4 {
        let [r, g, b, _] = *data.record("color")?;
        colors.push([r, g, b]);
    }
    Ok(())
}

fn read_hierarchy(data: &mut Cursor, object_count: usize, parents: &mut Vec<u16>) -> Result<()> {
    while parents.len() < object_count && data.remaining() >= 2 {
        parents.push(data.u16("parent")?);
    }
    Ok(())
}

impl BlockMap {
    fn read(&mut self, data: &mut Cursor) -> Result<()> {
        let start = data.offset();
        record::fill(&mut self.grid, data)?;
        for _ in 0..u32::from(self.grid.width) * u32::from(self.grid.height) {
            data.take(8, "cell")?;
            let objects = count(data, 4, "cell's objects")?;
            data.take(4 * objects, "cell's objects")?;
            data.take(4, "cell's end")?;
            self.entries += objects as u64;
            self.max_per_cell = self.max_per_cell.max(objects as u32);
            self.consumed = data.offset() - start;
        }
        Ok(())
    }
}

fn read_wibbles(data: &mut Cursor, list: &mut Vec<Wibble>) -> Result<()> {
    while data.remaining() >= 4 {
        let position = data.u32("object")?;
        if position == 0 {
            break;
        }
        let relative = position.checked_sub(FIRST_OBJECT);
        let wibble = Wibble {
            object: relative.map(|relative| relative / OBJECT_SIZE),
            offset: data.offset() as usize,
            motion: record::read(data)?,
        };
        let corners = 16 * usize::from(wibble.motion.faces);
        list.push(wibble);
        data.take(corners, "faces")?;
    }
    Ok(())
}

fn read_pulses(data: &mut Cursor, list: &mut Vec<Pulse>) -> Result<()> {
    while data.remaining() >= 4 {
        let offset = data.offset() as usize;
        let [color, count, key, time] = *data.record("pulse")?;
        if count == 0 {
            break;
        }
        list.push(Pulse {
            offset,
            color,
            key,
            time,
            keys: Vec::new(),
        });
        let keys = data.take(4 * usize::from(count), "keys")?;
        if let Some(pulse) = list.last_mut() {
            pulse.keys = keys.as_chunks().0.to_vec();
        }
    }
    Ok(())
}

fn read_chnk(data: &mut Cursor, list: &mut Vec<ChnkItem>) -> Result<()> {
    for _ in 0..count(data, ChnkItem::SIZE, "items")? {
        list.push(record::read(data)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::psx::{CHNK, HIER, RGBS, shorts, words};
    use hpimount_containers::io::Endian;

    /// Returns the chunks with these tags and data, for two objects.
    fn read(chunks: &[(u32, Vec<u8>)]) -> Result<(Vec<Chunk>, Vec<String>)> {
        let mut bytes = Vec::new();
        for (tag, data) in chunks {
            bytes.extend(words(&[*tag, data.len() as u32]));
            bytes.extend(data);
        }
        bytes.extend(words(&[END]));
        let mut found = Vec::new();
        let mut warnings = Warnings::default();
        let bytes = Bytes::from(bytes);
        let mut cursor = Cursor::new(&bytes, 0x80, Endian::Little);
        read_all(&mut cursor, &bytes, 2, &mut found, &mut warnings)?;
        assert_eq!(cursor.remaining(), 0);
        Ok((found, warnings.texts()))
    }

    fn content(tag: u32, data: &[u8]) -> Content {
        let (mut chunks, warnings) = read(&[(tag, data.to_vec())]).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        chunks.remove(0).content
    }

    #[test]
    fn unknown_chunks_are_listed_and_skipped() {
        let (chunks, warnings) = read(&[(0x99, vec![0; 12]), (RGBS, vec![1, 2, 3, 0])]).unwrap();
        assert_eq!(
            (chunks[0].name(), chunks[0].offset, chunks[0].length),
            ("unknown", 0x88, 12)
        );
        assert_eq!((chunks[1].name(), chunks[1].offset), ("RGBs", 0x9C));
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_list_without_an_end_is_an_error() {
        let most = vec![(0x99, Vec::new()); MAX_CHUNKS];
        assert_eq!(read(&most).unwrap().0.len(), MAX_CHUNKS);
        let error = read(&[most, vec![(0x99, Vec::new())]].concat()).unwrap_err();
        assert!(
            error.to_string().starts_with("chunk tag at 0x880: "),
            "{error}"
        );
    }

    #[test]
    fn a_damaged_chunk_keeps_its_beginning_and_does_not_affect_the_next() {
        let damaged = words(&[2, 0xABCD, 12]);
        let (chunks, warnings) = read(&[(CHNK, damaged), (HIER, shorts(&[0, 0]))]).unwrap();
        assert_eq!(
            warnings,
            ["chunk Chnk: items at 0x88: 2 items of 8 bytes do not fit into 8 bytes"]
        );
        assert!(chunks[0].problem.is_some());
        assert!(matches!(&chunks[1].content, Content::Hierarchy(p) if *p == [0, 0]));
        let pulses = vec![1, 1, 0, 0, 9, 9, 9, 9, 2, 5, 0, 0];
        let (chunks, warnings) = read(&[(0x07, pulses)]).unwrap();
        assert_eq!(warnings.len(), 1);
        assert!(matches!(&chunks[0].content, Content::Pulses(list) if list.len() == 2));
    }

    #[test]
    fn padding_after_the_parents_is_ignored() {
        let parents = content(HIER, &shorts(&[0, 0, 5, 5]));
        assert!(matches!(parents, Content::Hierarchy(list) if list == [0, 0]));
    }

    #[test]
    fn every_cell_of_the_grid_is_read() {
        let mut data = words(&[1, 2, 3, 4, 0x0001_0002]);
        data.extend(words(&[0, 0, 2, 7, 8, 0]));
        data.extend(words(&[0, 0, 0, 0]));
        let Content::BlockMap(map) = content(0x0A, &data) else {
            panic!("not a grid")
        };
        let grid = &map.grid;
        assert_eq!((grid.xmin, grid.zmin, grid.xmax, grid.zmax), (1, 2, 3, 4));
        assert_eq!((grid.width, grid.height), (2, 1));
        assert_eq!((map.entries, map.max_per_cell), (2, 2));
        assert_eq!(map.consumed, data.len() as u64);
    }

    #[test]
    fn a_wibble_refers_to_its_object_by_offset() {
        let one = [words(&[12 + 36, 0, 3, 1]), vec![0; 16]].concat();
        let none = [words(&[4, 0, 3, 0]), words(&[0])].concat();
        let Content::Wibbles(list) = content(0x06, &[one, none].concat()) else {
            panic!("no wibbles")
        };
        let objects: Vec<_> = list.iter().map(|wibble| wibble.object).collect();
        assert_eq!(objects, [Some(1), None]);
        let motion = &list[0].motion;
        assert_eq!((motion.frequency, motion.faces), (3, 1));
    }

    #[test]
    fn pulses_end_at_one_without_keys() {
        let data = [3, 2, 0, 0, 255, 0, 0, 30, 0, 0, 255, 60, 0, 0, 0, 0];
        let Content::Pulses(list) = content(0x07, &data) else {
            panic!("no pulses")
        };
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].keys, [[255, 0, 0, 30], [0, 0, 255, 60]]);
    }

    #[test]
    fn a_pulse_starts_between_its_keys() {
        let pulse = |key, time| Pulse {
            offset: 0,
            color: 0,
            key,
            time,
            keys: vec![[200, 0, 0, 30], [0, 100, 0, 60]],
        };
        assert_eq!(pulse(0, 0).start(), Some([200, 0, 0]));
        assert_eq!(pulse(0, 15).start(), Some([100, 50, 0]));
        assert_eq!(pulse(1, 30).start(), Some([100, 50, 0]));
        // Past the interval, and past the last key.
        assert_eq!(pulse(0, 255).start(), Some([0, 100, 0]));
        assert_eq!(pulse(2, 0).start(), Some([200, 0, 0]));
        let without_keys = Pulse {
            keys: Vec::new(),
            ..pulse(0, 0)
        };
        assert_eq!(without_keys.start(), None);
    }
}
