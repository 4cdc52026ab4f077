//! Opening a volume: anchors, descriptors, partitions, and the file set with the
//! root directory.

use std::sync::Arc;

use super::descriptor::{
    ANCHOR, Descriptor, FILE_SET, LOGICAL_VOLUME, PARTITION, POINTER, TERMINATOR, expect,
};
use super::icb::{NodeKind, Steps};
use super::partition::{Kind, Map, MapKind, Partition, maps, moved};
use super::text::field;
use super::volume::{Address, LogicalVolume};
use crate::disc::{Sectors, file_in};
use crate::io::{Error, ReadAt, Result, Warnings, read_vec, undamaged};

/// Lengths of blocks in bytes: of discs, then of hard disks.
const BLOCKS: [u32; 4] = [2048, 512, 4096, 1024];

/// Maximum number of blocks in a sequence of volume descriptors.
const MAX_DESCRIPTORS: usize = 256;

/// Number of blocks at the end of a disc that are searched for its virtual
/// allocation table: the last block, unless a drive padded the track.
const VAT_BLOCKS: u64 = 512;

/// Maximum length of a virtual allocation table or a sparing table, in bytes.
const MAX_TABLE: u64 = 16 << 20;

/// A range of blocks of the disc.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    /// Length in bytes.
    length: u32,
}

impl Range {
    fn new(descriptor: &Descriptor<'_>, at: usize) -> Self {
        Self {
            first: descriptor.u32(at + 4),
            length: descriptor.u32(at),
        }
    }
}

/// An anchor, which has the positions of the volume descriptors.
struct Anchor {
    block: u32,
    main: Range,
    reserve: Range,
}

impl Anchor {
    /// Finds an anchor at one of its possible positions.
    fn find(sectors: &Sectors) -> Result<Self> {
        for block in BLOCKS {
            let count = sectors.len() / u64::from(block);
            let last = count.saturating_sub(1);
            // The fourth is the position on a disc that is not finished.
            for number in [256, last, last.saturating_sub(256), 512] {
                let offset = number * u64::from(block);
                let bytes = undamaged(read_vec(sectors, offset, block.into(), "anchor"))?;
                let anchor = bytes.as_ref().map(|bytes| Descriptor::parse(bytes));
                let Some(Ok(anchor)) = anchor else {
                    continue;
                };
                if anchor.id == ANCHOR && u64::from(anchor.location) == number {
                    return Ok(Self {
                        block,
                        main: Range::new(&anchor, 16),
                        reserve: Range::new(&anchor, 24),
                    });
                }
            }
        }
        let offset = 256 * u64::from(BLOCKS[0]);
        Err(Error::damaged(offset, "anchor of the volume", "is missing"))
    }
}

/// The volume descriptors in use.
#[derive(Default)]
struct Sequence {
    /// The logical volume with its offset.
    logical: Option<(u64, Vec<u8>)>,
    partitions: Vec<Extents>,
}

/// The blocks of the disc that a partition has.
struct Extents {
    number: u16,
    start: u32,
    length: u32,
}

impl Sequence {
    /// Reads the descriptors in a range.
    fn read(sectors: &Sectors, block: u32, mut range: Range) -> Result<Self> {
        let mut sequence = Self::default();
        let start = u64::from(range.first) * u64::from(block);
        for _ in 0..MAX_DESCRIPTORS {
            if range.length < block {
                break;
            }
            let offset = u64::from(range.first) * u64::from(block);
            let bytes = read_vec(sectors, offset, block.into(), "volume descriptor")?;
            range.first = range.first.wrapping_add(1);
            range.length -= block;
            let Ok(found) = Descriptor::parse(&bytes) else {
                break;
            };
            match found.id {
                TERMINATOR => break,
                POINTER => range = Range::new(&found, 20),
                PARTITION => sequence.add_partition(&found),
                LOGICAL_VOLUME => sequence.add_logical(offset, &found, &bytes),
                _ => {}
            }
        }
        match sequence.logical {
            Some(_) => Ok(sequence),
            None => Err(Error::damaged(
                start,
                "volume descriptors",
                "have no logical volume",
            )),
        }
    }

    /// Adds a logical volume. Of several, the one with the highest number is in
    /// use.
    fn add_logical(&mut self, offset: u64, found: &Descriptor<'_>, bytes: &[u8]) {
        let is_older =
            |(_, known): &(u64, Vec<u8>)| Descriptor::unchecked(known).u32(16) <= found.u32(16);
        if self.logical.as_ref().is_none_or(is_older) {
            self.logical = Some((offset, bytes.to_vec()));
        }
    }

    /// Adds a partition. One that is described again has changed.
    fn add_partition(&mut self, found: &Descriptor<'_>) {
        let number = found.u16(22);
        self.partitions.retain(|known| known.number != number);
        self.partitions.push(Extents {
            number,
            start: found.u32(188),
            length: found.u32(192),
        });
    }
}

impl LogicalVolume {
    /// Reads the structure of a volume.
    ///
    /// # Errors
    /// Returns an error if it is damaged, of a revision that is not supported,
    /// or cannot be read.
    pub(super) fn open(sectors: &Arc<Sectors>, warnings: &mut Warnings) -> Result<Self> {
        let anchor = Anchor::find(sectors)?;
        let read = |range| Sequence::read(sectors, anchor.block, range);
        let sequence = match read(anchor.main) {
            Err(error) if !error.is_fault() => {
                let reserve = read(anchor.reserve)?;
                warnings.push(format!("the reserve descriptors are used: {error}"));
                reserve
            }
            sequence => sequence?,
        };
        let (offset, bytes) = sequence.logical.as_ref().expect("it was checked");
        let logical = Descriptor::unchecked(bytes);
        let block = logical.u32(212);
        if block != anchor.block {
            let problem = format!("is {block}, that of the disc is {}", anchor.block);
            return Err(Error::damaged(*offset, "length of a block", problem));
        }
        let maps = maps(&logical, *offset)?;
        let mut volume = Self {
            sectors: sectors.clone(),
            block,
            partitions: Vec::new(),
            root: Address::default(),
            name: field(&logical.field::<128>(84)),
            revision: logical.u16(240),
        };
        for map in &maps {
            let partition = volume.partition(map, &sequence.partitions, *offset, warnings)?;
            volume.partitions.push(partition);
        }
        if maps.iter().any(|map| matches!(map.kind, MapKind::Virtual)) {
            volume.read_virtual_table()?;
        }
        volume.root = volume.root_of(Address::of_long(&logical, 248))?;
        Ok(volume)
    }

    /// Returns the partition of a map. The table of a virtual one is still
    /// empty.
    fn partition(
        &self,
        map: &Map,
        all: &[Extents],
        offset: u64,
        warnings: &mut Warnings,
    ) -> Result<Partition> {
        let extents = all.iter().find(|extents| extents.number == map.number);
        let extents = extents.ok_or_else(|| {
            let problem = format!("refer to partition {}, which is missing", map.number);
            Error::damaged(offset, "partition maps", problem)
        })?;
        Ok(Partition {
            start: extents.start.into(),
            length: extents.length.into(),
            kind: match &map.kind {
                MapKind::Physical => Kind::Physical,
                MapKind::Virtual => Kind::Virtual { table: Vec::new() },
                MapKind::Sparable {
                    packet,
                    tables,
                    size,
                } => Kind::Sparable {
                    packet: (*packet).into(),
                    moved: self.sparing_table(tables, *size, *packet, warnings)?,
                },
            },
        })
    }

    /// Returns the moved packets according to the first copy of the sparing
    /// table that is whole.
    fn sparing_table(
        &self,
        tables: &[u32],
        size: u32,
        packet: u16,
        warnings: &mut Warnings,
    ) -> Result<Vec<(u32, u32)>> {
        let size = u64::from(size).min(MAX_TABLE);
        for &table in tables {
            let offset = u64::from(table) * u64::from(self.block);
            let bytes = undamaged(read_vec(&*self.sectors, offset, size, "sparing table"))?;
            if let Some(bytes) = bytes
                && Descriptor::unchecked(&bytes).field(17) == *b"*UDF Sparing Table"
            {
                return Ok(moved(&bytes, packet));
            }
        }
        warnings.push("the sparing table is missing: moved packets show what they replaced");
        Ok(Vec::new())
    }

    /// Finds the virtual allocation table at the end of the disc.
    fn read_virtual_table(&mut self) -> Result<()> {
        let block = u64::from(self.block);
        let count = self.sectors.len() / block;
        let first = count.saturating_sub(VAT_BLOCKS);
        let length = (count - first) * block;
        let bytes = read_vec(&*self.sectors, first * block, length, "last blocks")?;
        for (number, bytes) in bytes.chunks_exact(block as usize).enumerate().rev() {
            let offset = (first + number as u64) * block;
            if let Some(table) = self.virtual_table(bytes, offset)? {
                for partition in &mut self.partitions {
                    if let Kind::Virtual { table: empty } = &mut partition.kind {
                        empty.clone_from(&table);
                    }
                }
                return Ok(());
            }
        }
        let problem = format!("is not in the last {VAT_BLOCKS} blocks: the disc is cut or open");
        Err(Error::damaged(
            first * block,
            "virtual allocation table",
            problem,
        ))
    }

    /// Returns the virtual allocation table of the file that the block at
    /// `offset` describes; `None` if that is not one.
    fn virtual_table(&self, bytes: &[u8], offset: u64) -> Result<Option<Vec<u32>>> {
        const OLD: &[u8] = b"*UDF Virtual Alloc Tbl";
        /// Length of the identifier and the link after the table of UDF 1.50.
        const OLD_END: usize = 36;
        // Its addresses are of the partition that the virtual one is a part of.
        let is_physical = |one: &Partition| !matches!(one.kind, Kind::Virtual { .. });
        let Some(partition) = self.partitions.iter().position(is_physical) else {
            return Ok(None);
        };
        let entry = self.entry(bytes, offset, partition as u16, &mut Steps::default());
        let Some(node) = entry.ok().filter(|node| node.size <= MAX_TABLE) else {
            return Ok(None);
        };
        let is_new = node.kind == NodeKind::VirtualTable;
        if !is_new && node.kind != NodeKind::File {
            return Ok(None);
        }
        let file = file_in(&self.sectors, &node.extents);
        if !self.sectors.contain(&node.extents) {
            return Ok(None);
        }
        let table = read_vec(&file, 0, node.size, "virtual allocation table")?;
        let table = match is_new {
            true => {
                let header = Descriptor::unchecked(&table).u16(0);
                table.get(usize::from(header)..)
            }
            false => table
                .split_last_chunk::<OLD_END>()
                .filter(|(_, end)| end[1..].starts_with(OLD))
                .map(|(table, _)| table),
        };
        let numbers = |table: &[u8]| {
            let (numbers, _) = table.as_chunks::<4>();
            numbers
                .iter()
                .map(|&word| u32::from_le_bytes(word))
                .collect()
        };
        Ok(table.map(numbers))
    }

    /// Returns the address of the root directory, given the address of the file
    /// set.
    fn root_of(&self, file_set: Address) -> Result<Address> {
        let offset = self.offset(file_set)?;
        let bytes = read_vec(&*self.sectors, offset, self.block.into(), "file set")?;
        let file_set = expect(&bytes, offset, &[FILE_SET], "file set")?;
        Ok(Address::of_long(&file_set, 400))
    }
}
