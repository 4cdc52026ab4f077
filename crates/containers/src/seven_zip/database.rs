//! The database of a 7z archive: packed streams, blocks, and files.

use super::block::{Block, Coder};
use crate::codec::Solid as _;
use crate::io::{Cursor, Error, Result};
use crate::time;
use crate::volume::MAX_ENTRIES;

/// Length of the header before the packed streams. Offsets count from its end.
pub(super) const HEADER: u64 = 32;

/// Ids of the database's parts.
mod id {
    pub(super) const END: u8 = 0x00;
    pub(super) const ARCHIVE_PROPERTIES: u8 = 0x02;
    pub(super) const ADDITIONAL_STREAMS: u8 = 0x03;
    pub(super) const MAIN_STREAMS: u8 = 0x04;
    pub(super) const FILES: u8 = 0x05;
    pub(super) const PACK_INFO: u8 = 0x06;
    pub(super) const UNPACK_INFO: u8 = 0x07;
    pub(super) const SUBSTREAMS: u8 = 0x08;
    pub(super) const SIZE: u8 = 0x09;
    pub(super) const CRC: u8 = 0x0A;
    pub(super) const FOLDER: u8 = 0x0B;
    pub(super) const UNPACK_SIZE: u8 = 0x0C;
    pub(super) const UNPACK_COUNT: u8 = 0x0D;
    pub(super) const EMPTY_STREAM: u8 = 0x0E;
    pub(super) const EMPTY_FILE: u8 = 0x0F;
    pub(super) const ANTI: u8 = 0x10;
    pub(super) const NAMES: u8 = 0x11;
    pub(super) const MODIFIED: u8 = 0x14;
    pub(super) const ATTRIBUTES: u8 = 0x15;
}

/// Maximum number of coders of a block, and of their input streams.
const MAX_CODERS: u64 = 32;

/// The contents of an archive.
#[derive(Debug, Default)]
pub(super) struct Database {
    pub(super) blocks: Vec<Block>,
    pub(super) items: Vec<Item>,
}

/// A file or a directory.
#[derive(Debug, Default, Clone)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) is_directory: bool,
    /// Seconds since 1970 UTC.
    pub(super) modified: Option<i64>,
    pub(super) is_link: bool,
    /// Permission bits, if it was packed on Unix.
    pub(super) mode: Option<u16>,
    /// Numbers of its block and of the file in the block; `None` if it is
    /// empty.
    pub(super) location: Option<(u32, u32)>,
}

/// Packed streams and the blocks that use them.
#[derive(Debug, Default)]
pub(super) struct StreamsInfo {
    /// Absolute offset and length of each packed stream.
    packed: Vec<(u64, u64)>,
    blocks: Vec<Block>,
}

impl StreamsInfo {
    /// Returns the blocks, with the packed streams assigned to them in order.
    pub(super) fn into_blocks(self) -> Result<Vec<Block>> {
        let mut blocks = self.blocks;
        let mut packed = self.packed.into_iter();
        for (number, block) in blocks.iter_mut().enumerate() {
            let wanted = block.packed_count();
            let streams: Vec<(u64, u64)> = packed.by_ref().take(wanted).collect();
            if streams.len() < wanted {
                let problem = "has fewer packed streams than its coders take";
                return Err(Error::damaged(HEADER, format!("block {number}"), problem));
            }
            block.location(streams);
        }
        Ok(blocks)
    }
}

/// Parsing of database fields.
trait Fields {
    fn number(&mut self, field: &'static str) -> Result<u64>;
    fn count(&mut self, most: u64, field: &'static str) -> Result<usize>;
    fn bits(&mut self, count: usize, field: &'static str) -> Result<Vec<bool>>;
    fn defined(&mut self, count: usize, field: &'static str) -> Result<Vec<bool>>;
    fn sums(&mut self, count: usize) -> Result<Vec<Option<u32>>>;
    fn expect(&mut self, id: u8, field: &'static str) -> Result<()>;
    fn wrong(&self, field: &'static str, problem: String) -> Error;
}

impl Fields for Cursor<'_> {
    /// Reads a number of one to nine bytes: the number of leading one bits in
    /// the first byte is the number of bytes that follow.
    fn number(&mut self, field: &'static str) -> Result<u64> {
        let first = self.u8(field)?;
        let mut number = 0;
        for location in 0..8 {
            let mask = 0x80 >> location;
            if first & mask == 0 {
                let high = u64::from(first & (mask - 1));
                return Ok(number | high << (8 * location));
            }
            number |= u64::from(self.u8(field)?) << (8 * location);
        }
        Ok(number)
    }

    /// Reads a count of items of at least one byte each.
    fn count(&mut self, most: u64, field: &'static str) -> Result<usize> {
        let count = self.number(field)?;
        if count > most {
            return Err(self.wrong(field, format!("is {count}, more than {most}")));
        }
        self.check_count(count, 1, field)
    }

    fn bits(&mut self, count: usize, field: &'static str) -> Result<Vec<bool>> {
        let bytes = self.take(count.div_ceil(8), field)?;
        let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1 == 1;
        Ok((0..count).map(bit).collect())
    }

    /// Reads which of `count` items have a value.
    fn defined(&mut self, count: usize, field: &'static str) -> Result<Vec<bool>> {
        match self.u8(field)? {
            0 => self.bits(count, field),
            _ => Ok(vec![true; count]),
        }
    }

    fn sums(&mut self, count: usize) -> Result<Vec<Option<u32>>> {
        let defined = self.defined(count, "checksums")?;
        let sums = defined.into_iter();
        sums.map(|is_defined| is_defined.then(|| self.u32("checksum")).transpose())
            .collect()
    }

    fn expect(&mut self, id: u8, field: &'static str) -> Result<()> {
        match self.u8(field)? {
            found if found == id => Ok(()),
            found => Err(self.wrong(field, format!("has id {found:#x}, should be {id:#x}"))),
        }
    }

    fn wrong(&self, field: &'static str, problem: String) -> Error {
        Error::damaged(self.offset(), field, problem)
    }
}

/// Reads a database after its id.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Database> {
    let mut blocks = Vec::new();
    let mut items = Vec::new();
    loop {
        match cursor.u8("database")? {
            id::END => break,
            id::ARCHIVE_PROPERTIES => skip_properties(cursor)?,
            id::ADDITIONAL_STREAMS => drop(read_streams(cursor)?),
            id::MAIN_STREAMS => blocks = read_streams(cursor)?.into_blocks()?,
            id::FILES => {
                items = read_files(cursor, &blocks)?;
                // The rest is not needed.
                break;
            }
            id => return Err(cursor.wrong("database", format!("has a part of id {id:#x}"))),
        }
    }
    Ok(Database { blocks, items })
}

fn skip_properties(cursor: &mut Cursor<'_>) -> Result<()> {
    while cursor.u8("properties")? != id::END {
        let size = cursor.number("property size")?;
        skip(cursor, size, "property")?;
    }
    Ok(())
}

fn skip(cursor: &mut Cursor<'_>, size: u64, field: &'static str) -> Result<()> {
    let size = cursor.check_count(size, 1, field)?;
    cursor.take(size, field).map(drop)
}

/// Reads the description of streams.
pub(super) fn read_streams(cursor: &mut Cursor<'_>) -> Result<StreamsInfo> {
    let mut info = StreamsInfo::default();
    let mut has_substreams = false;
    loop {
        match cursor.u8("streams")? {
            id::END => break,
            id::PACK_INFO => info.packed = read_packed(cursor)?,
            id::UNPACK_INFO => info.blocks = read_blocks(cursor)?,
            id::SUBSTREAMS => {
                read_substreams(cursor, &mut info.blocks)?;
                has_substreams = true;
            }
            id => return Err(cursor.wrong("streams", format!("have a part of id {id:#x}"))),
        }
    }
    if !has_substreams {
        info.blocks.iter_mut().for_each(Block::hold_one_file);
    }
    Ok(info)
}

/// Returns the offsets and lengths of the packed streams.
fn read_packed(cursor: &mut Cursor<'_>) -> Result<Vec<(u64, u64)>> {
    let offset = cursor.number("packed offset")?;
    let mut offset = HEADER.saturating_add(offset);
    let count = cursor.count(MAX_ENTRIES as u64, "packed streams")?;
    let mut packed = Vec::new();
    loop {
        match cursor.u8("packed streams")? {
            id::END => return Ok(packed),
            id::SIZE => {
                for _ in 0..count {
                    let size = cursor.number("packed size")?;
                    packed.push((offset, size));
                    offset = offset.saturating_add(size);
                }
            }
            id::CRC => drop(cursor.sums(count)?),
            id => return Err(cursor.wrong("packed streams", format!("have id {id:#x}"))),
        }
    }
}

fn read_blocks(cursor: &mut Cursor<'_>) -> Result<Vec<Block>> {
    cursor.expect(id::FOLDER, "blocks")?;
    let count = cursor.count(MAX_ENTRIES as u64, "blocks")?;
    if cursor.u8("blocks")? != 0 {
        return Err(cursor.wrong("blocks", "are stored elsewhere".to_owned()));
    }
    let mut blocks = Vec::new();
    for _ in 0..count {
        blocks.push(read_block(cursor)?);
    }
    cursor.expect(id::UNPACK_SIZE, "block sizes")?;
    for block in &mut blocks {
        for coder in &mut block.coders {
            coder.size = cursor.number("block size")?;
        }
    }
    loop {
        match cursor.u8("blocks")? {
            id::END => return Ok(blocks),
            id::CRC => {
                let sums = cursor.sums(count)?;
                blocks
                    .iter_mut()
                    .zip(sums)
                    .for_each(|(block, sum)| block.set_sum(sum));
            }
            id => return Err(cursor.wrong("blocks", format!("have id {id:#x}"))),
        }
    }
}

/// Set in the first byte of a coder with explicit numbers of streams, and in
/// one with properties.
const IS_COMPLEX: u8 = 0x10;
const HAS_PROPERTIES: u8 = 0x20;

fn read_block(cursor: &mut Cursor<'_>) -> Result<Block> {
    let count = cursor.count(MAX_CODERS, "coders")?;
    let mut coders = Vec::new();
    let mut inputs = 0;
    for _ in 0..count {
        let flags = cursor.u8("coder")?;
        let method = cursor.take(usize::from(flags & 0x0F), "coder")?.to_vec();
        let mut coder = Coder {
            method,
            first_input: inputs,
            inputs: 1,
            properties: Vec::new(),
            size: 0,
        };
        if flags & IS_COMPLEX != 0 {
            coder.inputs = cursor.count(MAX_CODERS, "streams of a coder")?;
            let outputs = cursor.number("streams of a coder")?;
            if outputs != 1 {
                let problem = format!("are {outputs} outputs");
                return Err(cursor.wrong("streams of a coder", problem));
            }
        }
        if flags & HAS_PROPERTIES != 0 {
            let size = cursor.number("coder properties")?;
            let size = cursor.check_count(size, 1, "coder properties")?;
            coder.properties = cursor.take(size, "coder properties")?.to_vec();
        }
        inputs += coder.inputs;
        coders.push(coder);
    }
    if coders.is_empty() || inputs as u64 > MAX_CODERS {
        let problem = format!("are {}, of {inputs} streams", coders.len());
        return Err(cursor.wrong("coders", problem));
    }
    let mut bound = Vec::new();
    for _ in 1..coders.len() {
        let input = cursor.count(MAX_CODERS, "bound stream")?;
        let output = cursor.number("bound stream")? as usize;
        bound.push((input, output));
    }
    let packed_count = inputs.checked_sub(bound.len()).filter(|&count| count > 0);
    let Some(packed_count) = packed_count else {
        return Err(cursor.wrong("coders", "have no packed stream as input".to_owned()));
    };
    let packed = match packed_count {
        1 => {
            let is_free = |input: &usize| bound.iter().all(|(taken, _)| taken != input);
            (0..inputs).filter(is_free).take(1).collect()
        }
        count => (0..count)
            .map(|_| Ok(cursor.number("packed stream of a coder")? as usize))
            .collect::<Result<Vec<usize>>>()?,
    };
    Ok(Block::new(coders, bound, packed))
}

/// Reads the sizes and checksums of the files in the blocks.
fn read_substreams(cursor: &mut Cursor<'_>, blocks: &mut [Block]) -> Result<()> {
    let mut next = cursor.u8("files of blocks")?;
    let mut counts = vec![1; blocks.len()];
    if next == id::UNPACK_COUNT {
        for count in &mut counts {
            *count = cursor.number("files of a block")?;
        }
        next = cursor.u8("files of blocks")?;
    }
    let total = counts
        .iter()
        .try_fold(0_u64, |sum, &count| sum.checked_add(count));
    if total.is_none_or(|total| total > MAX_ENTRIES as u64) {
        let problem = format!("are more than {MAX_ENTRIES}");
        return Err(cursor.wrong("files of blocks", problem));
    }
    let has_sizes = next == id::SIZE;
    for (block, &count) in blocks.iter_mut().zip(&counts) {
        // The size of the last file in a block is the rest.
        let mut sizes = Vec::new();
        for _ in 1..count {
            if !has_sizes {
                return Err(cursor.wrong("files of blocks", "have no sizes".to_owned()));
            }
            sizes.push(cursor.number("file size")?);
        }
        let left = sizes
            .iter()
            .try_fold(block.size(), |left, &size| left.checked_sub(size));
        let Some(left) = left else {
            let problem = format!("are larger than its {} bytes", block.size());
            return Err(cursor.wrong("files of a block", problem));
        };
        sizes.extend((count > 0).then_some(left));
        block.hold_files(&sizes);
    }
    if has_sizes {
        next = cursor.u8("files of blocks")?;
    }
    while next != id::END {
        match next {
            id::CRC => {
                let unknown = blocks.iter_mut().flat_map(Block::unknown_sums);
                let unknown: Vec<_> = unknown.collect();
                let sums = cursor.sums(unknown.len())?;
                unknown
                    .into_iter()
                    .zip(sums)
                    .for_each(|(sum, found)| *sum = found);
            }
            id => return Err(cursor.wrong("files of blocks", format!("have id {id:#x}"))),
        }
        next = cursor.u8("files of blocks")?;
    }
    Ok(())
}

/// Properties of the files, each in a separate list.
#[derive(Default)]
struct Lists {
    is_empty: Vec<bool>,
    /// For empty entries: which are files, and which are deletions.
    is_file: Vec<bool>,
    is_anti: Vec<bool>,
    names: Vec<String>,
    modified: Vec<Option<i64>>,
    attributes: Vec<Option<u32>>,
}

fn read_files(cursor: &mut Cursor<'_>, blocks: &[Block]) -> Result<Vec<Item>> {
    let count = cursor.count(MAX_ENTRIES as u64, "files")?;
    let mut lists = Lists::default();
    loop {
        let id = cursor.u8("file properties")?;
        if id == id::END {
            break;
        }
        let size = cursor.number("property size")?;
        let size = cursor.check_count(size, 1, "property size")?;
        let offset = cursor.offset();
        let bytes = cursor.take(size, "file properties")?;
        let mut fields = Cursor::new(bytes, offset, crate::io::Endian::Little);
        let empty = || lists.is_empty.iter().filter(|is_empty| **is_empty).count();
        match id {
            id::EMPTY_STREAM => lists.is_empty = fields.bits(count, "empty files")?,
            id::EMPTY_FILE => lists.is_file = fields.bits(empty(), "empty files")?,
            id::ANTI => lists.is_anti = fields.bits(empty(), "deleted files")?,
            id::NAMES => lists.names = read_names(&mut fields, count)?,
            id::MODIFIED => lists.modified = read_times(&mut fields, count)?,
            id::ATTRIBUTES => lists.attributes = read_attributes(&mut fields, count)?,
            // Other times, padding.
            _ => {}
        }
    }
    if lists.names.is_empty() && count == 1 {
        // Packed from a pipe.
        lists.names.push(String::new());
    }
    if lists.names.len() < count {
        return Err(cursor.wrong("names", format!("are missing for {count} files")));
    }
    lists.items(count, blocks, cursor)
}

impl Lists {
    /// Returns the files and directories; non-empty files are assigned the
    /// files of the blocks in order.
    fn items(self, count: usize, blocks: &[Block], cursor: &Cursor<'_>) -> Result<Vec<Item>> {
        let locations = blocks.iter().enumerate().flat_map(|(number, block)| {
            (0..block.file_count()).map(move |file| (number as u32, file as u32))
        });
        let mut locations = locations.fuse();
        let mut empty = 0;
        let mut items = Vec::with_capacity(count);
        for (number, name) in self.names.into_iter().take(count).enumerate() {
            let mut item = Item {
                name,
                modified: self.modified.get(number).copied().flatten(),
                ..Item::default()
            };
            if let Some(attributes) = self.attributes.get(number).copied().flatten() {
                item.set_attributes(attributes);
            }
            if self.is_empty.get(number) == Some(&true) {
                item.is_directory = self.is_file.get(empty) != Some(&true);
                let is_anti = self.is_anti.get(empty) == Some(&true);
                empty += 1;
                if is_anti {
                    continue;
                }
            } else {
                item.location = locations.next();
                if item.location.is_none() {
                    let problem = "are more than the blocks hold".to_owned();
                    return Err(cursor.wrong("files", problem));
                }
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// Reads the names in UTF-16, each terminated by a NUL.
fn read_names(fields: &mut Cursor<'_>, count: usize) -> Result<Vec<String>> {
    if fields.u8("names")? != 0 {
        return Err(fields.wrong("names", "are stored elsewhere".to_owned()));
    }
    let mut names = Vec::new();
    let mut name = Vec::new();
    while names.len() < count {
        match fields.u16("names")? {
            0 => {
                names.push(String::from_utf16_lossy(&name));
                name.clear();
            }
            unit => name.push(unit),
        }
    }
    Ok(names)
}

/// Attributes of Windows; with this one, the upper 16 bits are a mode of Unix.
const HAS_MODE: u32 = 0x8000;

/// The attribute of a link of Windows (a reparse point).
const REPARSE: u32 = 0x400;

impl Item {
    fn set_attributes(&mut self, attributes: u32) {
        const KIND: u32 = 0o170_000;
        const LINK: u32 = 0o120_000;
        let mode = attributes >> 16;
        self.is_link = match attributes & HAS_MODE != 0 {
            true => mode & KIND == LINK,
            false => attributes & REPARSE != 0,
        };
        if attributes & HAS_MODE != 0 {
            self.mode = Some((mode & 0o7777) as u16);
        }
    }
}

fn read_attributes(fields: &mut Cursor<'_>, count: usize) -> Result<Vec<Option<u32>>> {
    let defined = fields.defined(count, "attributes")?;
    if fields.u8("attributes")? != 0 {
        return Ok(Vec::new());
    }
    let attributes = defined.into_iter().map(|is_defined| match is_defined {
        true => Ok(Some(fields.u32("attributes")?)),
        false => Ok(None),
    });
    attributes.collect()
}

fn read_times(fields: &mut Cursor<'_>, count: usize) -> Result<Vec<Option<i64>>> {
    let defined = fields.defined(count, "times")?;
    if fields.u8("times")? != 0 {
        return Ok(Vec::new());
    }
    let times = defined.into_iter().map(|is_defined| match is_defined {
        true => Ok(time::filetime(fields.u64("time")?)),
        false => Ok(None),
    });
    times.collect()
}
