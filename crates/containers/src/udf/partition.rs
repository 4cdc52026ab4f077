//! Partitions: from the numbers of their blocks to the numbers of the disc.

use super::descriptor::Descriptor;
use crate::io::{Error, Result};

/// A partition as its maps number it.
pub(super) struct Partition {
    /// Number of the block of the disc where it begins.
    pub(super) start: u64,
    /// Number of its blocks.
    pub(super) length: u64,
    pub(super) kind: Kind,
}

/// The mapping of a partition's blocks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// In order.
    Physical,
    /// In order, but for the packets of a rewritable disc that became defective.
    Sparable {
        /// Number of blocks in a packet.
        packet: u32,
        /// The first blocks of defective packets, ascending, and the blocks of
        /// the disc that replace them.
        moved: Vec<(u32, u32)>,
    },
    /// By a table of the blocks where extents begin, of a disc that is written
    /// once.
    Virtual { table: Vec<u32> },
}

/// An entry of the virtual allocation table that is not in use.
const UNUSED: u32 = u32::MAX;

/// Entries of a sparing table from this one on are not in use.
const SPARE: u32 = 0xFFFF_FFF0;

impl Partition {
    /// Returns the block of the disc for a block of the partition, and how many
    /// follow it in order on both. `None` if there is no such block.
    pub(super) fn run(&self, block: u32) -> Option<(u64, u64)> {
        let here = self.start + u64::from(block);
        match &self.kind {
            Kind::Physical => Some((here, u64::MAX)),
            Kind::Sparable { packet, moved } => {
                let first = block - block % packet;
                let after = moved.partition_point(|&(from, _)| from < first);
                match moved.get(after) {
                    Some(&(from, to)) if from == first => {
                        let into = block - first;
                        Some((u64::from(to) + u64::from(into), (packet - into).into()))
                    }
                    Some(&(from, _)) => Some((here, (from - block).into())),
                    None => Some((here, u64::MAX)),
                }
            }
            Kind::Virtual { table } => {
                let to = *table.get(block as usize).filter(|&&to| to != UNUSED)?;
                Some((self.start + u64::from(to), u64::MAX))
            }
        }
    }
}

/// A partition map of a logical volume.
pub(super) struct Map {
    /// Number of the partition.
    pub(super) number: u16,
    pub(super) kind: MapKind,
}

pub(super) enum MapKind {
    Physical,
    Virtual,
    Sparable {
        packet: u16,
        /// Blocks of the disc with a copy of the table each.
        tables: Vec<u32>,
        /// Length of a table in bytes.
        size: u32,
    },
}

/// Returns the partition maps of a logical volume.
///
/// # Errors
/// Returns an error if they are damaged, or of a kind that is not supported.
pub(super) fn maps(volume: &Descriptor<'_>, offset: u64) -> Result<Vec<Map>> {
    const TABLE: usize = 440;
    let damaged = |problem: &str| Error::damaged(offset, "partition maps", problem);
    let (length, count) = (volume.u32(264) as usize, volume.u32(268));
    let table = volume.bytes(TABLE, length);
    let mut rest = table.ok_or_else(|| damaged("extend past the end of their block"))?;
    let mut maps = Vec::new();
    for _ in 0..count {
        let length = rest.get(1).copied().unwrap_or(0).into();
        let (map, after) = rest
            .split_at_checked(length)
            .filter(|(map, _)| map.len() >= 6)
            .ok_or_else(|| damaged("are fewer than their number"))?;
        rest = after;
        maps.push(self::map(map, offset)?);
    }
    Ok(maps)
}

/// Parses a map, which has at least 6 bytes.
fn map(bytes: &[u8], offset: u64) -> Result<Map> {
    let map = Descriptor::unchecked(bytes);
    match (bytes[0], bytes.len()) {
        (1, 6) => Ok(Map {
            number: map.u16(4),
            kind: MapKind::Physical,
        }),
        (2, 64) => Ok(Map {
            number: map.u16(38),
            kind: kind(&map, offset)?,
        }),
        (kind, length) => {
            let problem = format!("has a map of type {kind} and {length} bytes");
            Err(Error::damaged(offset, "partition maps", problem))
        }
    }
}

/// Returns the kind of a map of type 2, which an identifier tells.
fn kind(map: &Descriptor<'_>, offset: u64) -> Result<MapKind> {
    let id = map.field::<23>(5);
    let id = id.split(|&byte| byte == 0).next().unwrap_or_default();
    match id {
        b"*UDF Virtual Partition" => Ok(MapKind::Virtual),
        b"*UDF Sparable Partition" => {
            let packet = map.u16(40);
            if packet == 0 {
                let problem = "has packets without blocks";
                return Err(Error::damaged(offset, "sparable partition", problem));
            }
            let [count] = map.field::<1>(42);
            let tables = (0..usize::from(count).min(4)).map(|number| map.u32(48 + number * 4));
            Ok(MapKind::Sparable {
                packet,
                tables: tables.collect(),
                size: map.u32(44),
            })
        }
        b"*UDF Metadata Partition" => Err(Error::Unsupported(
            "has a metadata partition of UDF 2.50 or later, which is not supported; \
             `7z x` unpacks it"
                .to_owned(),
        )),
        _ => Err(Error::Unsupported(format!(
            "has a partition \"{}\", which is not supported",
            crate::text::windows_1252(id)
        ))),
    }
}

/// Returns the packets that a sparing table moves, in ascending order.
pub(super) fn moved(table: &[u8], packet: u16) -> Vec<(u32, u32)> {
    const ENTRIES: usize = 56;
    let fields = Descriptor::unchecked(table);
    let entries = table.get(ENTRIES..).unwrap_or_default();
    let number = |bytes: &[u8; 8], at: usize| {
        let word = bytes[at..].first_chunk().copied().unwrap_or_default();
        u32::from_le_bytes(word)
    };
    let entries = entries.as_chunks::<8>().0.iter();
    let entries = entries.take(fields.u16(48).into());
    let entries = entries.map(|entry| (number(entry, 0), number(entry, 4)));
    let packet = u32::from(packet);
    let mut moved: Vec<_> = entries
        .filter(|(from, _)| *from < SPARE && from % packet == 0)
        .collect();
    moved.sort_unstable();
    moved.dedup_by_key(|(from, _)| *from);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(kind: Kind) -> Partition {
        Partition {
            start: 1000,
            length: 500,
            kind,
        }
    }

    #[test]
    fn moved_packets_interrupt_the_order() {
        let sparable = partition(Kind::Sparable {
            packet: 32,
            moved: vec![(64, 5000), (96, 4000)],
        });
        assert_eq!(sparable.run(0), Some((1000, 64)));
        assert_eq!(sparable.run(63), Some((1063, 1)));
        assert_eq!(sparable.run(64), Some((5000, 32)));
        assert_eq!(sparable.run(100), Some((4004, 28)));
        assert_eq!(sparable.run(128), Some((1128, u64::MAX)));
    }

    #[test]
    fn a_table_has_the_blocks_of_a_virtual_partition() {
        let table = vec![7, UNUSED, 3];
        let partition = partition(Kind::Virtual { table });
        assert_eq!(partition.run(0), Some((1007, u64::MAX)));
        assert_eq!(partition.run(1), None);
        assert_eq!(partition.run(2), Some((1003, u64::MAX)));
        assert_eq!(partition.run(3), None);
    }

    #[test]
    fn unused_entries_of_a_sparing_table_are_omitted() {
        let mut table = vec![0; 56];
        table[48] = 3;
        for word in [96_u32, 4000, 64, 5000, u32::MAX, 6000, 32, 7000] {
            table.extend(word.to_le_bytes());
        }
        assert_eq!(moved(&table, 32), [(64, 5000), (96, 4000)]);
        assert_eq!(moved(&table[..20], 32), []);
    }
}
