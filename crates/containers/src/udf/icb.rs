//! File entries: what a directory or file is, and where its bytes are.

use super::descriptor::{ALLOCATION_EXTENT, Descriptor, EXTENDED_FILE, FILE, INDIRECT, expect};
use super::text::{TIMESTAMP, timestamp};
use super::volume::{Address, LogicalVolume};
use crate::disc::Extent;
use crate::io::{Error, Result, read_vec, undamaged};

/// Maximum number of entries that refer to one another before the one in use.
const MAX_CHAIN: usize = 64;

/// Maximum number of allocation descriptors, and of parts of files that are not
/// in order, in a volume.
const MAX_STEPS: u32 = 2 << 20;

/// Strategy of discs that are written once: an entry may be followed by the
/// address of a newer one.
const STRATEGY_4096: u16 = 4096;

/// A file or directory.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) size: u64,
    pub(super) modified: Option<i64>,
    /// Number of its names.
    pub(super) links: u16,
    /// At most `size` bytes.
    pub(super) extents: Vec<Extent>,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeKind {
    Directory,
    File,
    SymbolicLink,
    VirtualTable,
    /// A device, socket, or the like.
    Other(u8),
}

impl NodeKind {
    fn of(number: u8) -> Self {
        match number {
            4 => Self::Directory,
            // Unspecified, a file, a file that is read in real time.
            0 | 5 | 249 => Self::File,
            12 => Self::SymbolicLink,
            248 => Self::VirtualTable,
            _ => Self::Other(number),
        }
    }
}

/// The number of steps that were taken for a volume, so that hostile ones end.
#[derive(Default)]
pub(super) struct Steps(u32);

impl Steps {
    fn take(&mut self) -> Result<()> {
        self.0 += 1;
        if self.0 > MAX_STEPS {
            let text = format!("has more than {MAX_STEPS} allocation descriptors");
            return Err(Error::Unsupported(text));
        }
        Ok(())
    }
}

/// Allocation descriptors of a file entry.
struct Allocation<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the volume.
    offset: u64,
    /// 0 for short ones, 1 for long ones, 3 for data in their place.
    kind: u16,
    partition: u16,
}

impl LogicalVolume {
    /// Reads the entry of a file, and where its bytes are.
    ///
    /// # Errors
    /// Returns an error if it is damaged or cannot be read.
    pub(super) fn node(&self, mut address: Address, steps: &mut Steps) -> Result<Node> {
        let mut found = None;
        for _ in 0..MAX_CHAIN {
            steps.take()?;
            let next = match self.entry_at(address, steps) {
                Ok((Some(node), next)) => {
                    found = Some(node);
                    next
                }
                Ok((None, next)) => next,
                // The newer entry was not written yet.
                Err(error) if found.is_some() && !error.is_fault() => None,
                Err(error) => return Err(error),
            };
            match next {
                Some(next) => address = next,
                None => break,
            }
        }
        found.ok_or_else(|| {
            let offset = u64::from(address.block) * u64::from(self.block);
            let problem = format!("is behind more than {MAX_CHAIN} others");
            Error::damaged(offset, "file entry", problem)
        })
    }

    /// Reads the entry at an address. Returns the entry, unless it is only a
    /// reference, and the address of a newer one.
    fn entry_at(
        &self,
        address: Address,
        steps: &mut Steps,
    ) -> Result<(Option<Node>, Option<Address>)> {
        let offset = self.offset(address)?;
        let bytes = self.read(offset)?;
        let wanted = [FILE, EXTENDED_FILE, INDIRECT];
        let entry = expect(&bytes, offset, &wanted, "file entry")?;
        if entry.id == INDIRECT {
            return Ok((None, Some(Address::of_long(&entry, 36))));
        }
        let node = self.entry(&bytes, offset, address.partition, steps)?;
        let next = match entry.u16(20) {
            STRATEGY_4096 => self.newer(offset + u64::from(self.block))?,
            _ => None,
        };
        Ok((Some(node), next))
    }

    /// Returns the address of a newer entry that the block at `offset` has, if
    /// any.
    fn newer(&self, offset: u64) -> Result<Option<Address>> {
        let Some(bytes) = undamaged(self.read(offset))? else {
            return Ok(None);
        };
        let entry = expect(&bytes, offset, &[INDIRECT], "indirect entry").ok();
        Ok(entry.map(|entry| Address::of_long(&entry, 36)))
    }

    fn read(&self, offset: u64) -> Result<Vec<u8>> {
        read_vec(&*self.sectors, offset, self.block.into(), "file entry")
    }

    /// Parses the file entry in the block at `offset`. Short allocation
    /// descriptors refer to the partition `partition`.
    ///
    /// # Errors
    /// Returns an error if it is not one, or damaged.
    pub(super) fn entry(
        &self,
        bytes: &[u8],
        offset: u64,
        partition: u16,
        steps: &mut Steps,
    ) -> Result<Node> {
        let entry = expect(bytes, offset, &[FILE, EXTENDED_FILE], "file entry")?;
        // The extended one has more times and addresses.
        let (modified, lengths) = match entry.id {
            FILE => (84, 168),
            _ => (92, 208),
        };
        let attributes = entry.u32(lengths) as usize;
        let length = entry.u32(lengths + 4) as usize;
        let at = (lengths + 8).saturating_add(attributes);
        let area = entry.bytes(at, length).ok_or_else(|| {
            let problem = format!("has {length} bytes at {at}, past the end of its block");
            Error::damaged(offset, "allocation descriptors", problem)
        })?;
        let size = entry.u64(56);
        let allocation = Allocation {
            bytes: area,
            offset: offset + at as u64,
            kind: entry.u16(34) & 7,
            partition,
        };
        let [kind] = entry.field(27);
        Ok(Node {
            kind: NodeKind::of(kind),
            size,
            modified: timestamp(entry.field::<TIMESTAMP>(modified)),
            links: entry.u16(48),
            extents: self.extents(&allocation, size, steps)?,
        })
    }

    /// Returns the extents of a file of `size` bytes.
    fn extents(
        &self,
        allocation: &Allocation<'_>,
        size: u64,
        steps: &mut Steps,
    ) -> Result<Vec<Extent>> {
        let mut extents = Extents {
            found: Vec::new(),
            left: size,
        };
        let step = match allocation.kind {
            0 => 8,
            1 => 16,
            3 => {
                let length = allocation.bytes.len() as u64;
                extents.push(Some(allocation.offset), length);
                return Ok(extents.found);
            }
            kind => {
                let problem = format!("are of kind {kind}");
                return Err(Error::damaged(
                    allocation.offset,
                    "allocation descriptors",
                    problem,
                ));
            }
        };
        let mut next = self.fill(&mut extents, allocation.bytes, step, allocation, steps)?;
        while let Some(address) = next {
            let offset = self.offset(address)?;
            let bytes = self.read(offset)?;
            let field = "extent of allocation descriptors";
            let extent = expect(&bytes, offset, &[ALLOCATION_EXTENT], field)?;
            let area = extent.bytes(24, extent.u32(20) as usize).ok_or_else(|| {
                Error::damaged(offset, field, "extends past the end of its block")
            })?;
            next = self.fill(&mut extents, area, step, allocation, steps)?;
        }
        Ok(extents.found)
    }

    /// Adds the extents of some allocation descriptors of `step` bytes each.
    /// Returns where there are more.
    fn fill(
        &self,
        extents: &mut Extents,
        area: &[u8],
        step: usize,
        allocation: &Allocation<'_>,
        steps: &mut Steps,
    ) -> Result<Option<Address>> {
        for bytes in area.chunks_exact(step) {
            let descriptor = Descriptor::unchecked(bytes);
            let (kind, length) = (descriptor.u32(0) >> 30, descriptor.u32(0) & 0x3FFF_FFFF);
            if length == 0 || extents.left == 0 {
                return Ok(None);
            }
            steps.take()?;
            let address = match step {
                8 => Address {
                    partition: allocation.partition,
                    block: descriptor.u32(4),
                },
                _ => Address::of_long(&descriptor, 0),
            };
            match kind {
                0 => self.add_recorded(extents, address, length.into(), steps)?,
                3 => return Ok(Some(address)),
                // Not recorded.
                _ => extents.push(None, length.into()),
            }
        }
        Ok(None)
    }

    /// Adds a recorded extent, which consists of several if its blocks are not
    /// in order on the disc.
    fn add_recorded(
        &self,
        extents: &mut Extents,
        mut address: Address,
        length: u64,
        steps: &mut Steps,
    ) -> Result<()> {
        let block = u64::from(self.block);
        let mut left = length.min(extents.left);
        while left > 0 {
            steps.take()?;
            let (start, blocks) = self.run(address)?;
            let part = blocks.saturating_mul(block).min(left);
            extents.push(Some(start.saturating_mul(block)), part);
            left -= part;
            // A part has fewer than 2^30 bytes.
            address.block = address.block.wrapping_add(part.div_ceil(block) as u32);
        }
        Ok(())
    }
}

/// The extents of a file that were found, and the number of missing bytes.
struct Extents {
    found: Vec<Extent>,
    left: u64,
}

impl Extents {
    /// Adds an extent, up to the end of the file. One that continues the last
    /// one extends it.
    fn push(&mut self, at: Option<u64>, length: u64) {
        let length = length.min(self.left);
        self.left -= length;
        match self.found.last_mut() {
            Some(last) if at == last.at.map(|start| start.saturating_add(last.length)) => {
                last.length += length;
            }
            _ if length > 0 => self.found.push(Extent { at, length }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_in_order_are_one() {
        let mut extents = Extents {
            found: Vec::new(),
            left: 10_000,
        };
        extents.push(Some(4096), 2048);
        extents.push(Some(6144), 2048);
        extents.push(None, 2048);
        extents.push(None, 2048);
        extents.push(Some(0), 2048);
        let one = |at, length| Extent { at, length };
        assert_eq!(
            extents.found,
            [one(Some(4096), 4096), one(None, 4096), one(Some(0), 1808)]
        );
    }
}
