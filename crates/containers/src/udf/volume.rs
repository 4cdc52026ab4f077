//! A logical volume: its partitions, and where their blocks are.

use std::sync::Arc;

use serde_json::json;

use super::descriptor::Descriptor;
use super::partition::{Kind, Partition};
use crate::disc::Sectors;
use crate::io::{Error, ReadAt, Result};

/// A logical volume.
pub(super) struct LogicalVolume {
    pub(super) sectors: Arc<Sectors>,
    /// Length of a block in bytes.
    pub(super) block: u32,
    pub(super) partitions: Vec<Partition>,
    /// Address of the root directory.
    pub(super) root: Address,
    pub(super) name: String,
    /// Revision of UDF, in hexadecimal digits.
    pub(super) revision: u16,
}

/// The address of a block in a partition.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Address {
    /// Number of the partition map.
    pub(super) partition: u16,
    pub(super) block: u32,
}

impl Address {
    /// Returns the address in a long allocation descriptor.
    pub(super) fn of_long(descriptor: &Descriptor<'_>, at: usize) -> Self {
        Self {
            partition: descriptor.u16(at + 8),
            block: descriptor.u32(at + 4),
        }
    }
}

impl LogicalVolume {
    /// Returns the offset of the end of the last partition, or the end of a disc
    /// that is written once, whose partition has room for more.
    pub(super) fn end(&self) -> u64 {
        let is_virtual = |one: &Partition| matches!(one.kind, Kind::Virtual { .. });
        if self.partitions.iter().any(is_virtual) {
            return self.sectors.len();
        }
        let ends = self.partitions.iter().map(|one| one.start + one.length);
        ends.max().unwrap_or(0) * u64::from(self.block)
    }

    /// Returns the metadata of the volume.
    pub(super) fn info(&self) -> serde_json::Value {
        json!({
            "volume": self.name,
            "revision": format!("{:x}.{:02x}", self.revision >> 8, self.revision & 0xFF),
            "block": self.block,
            "size": self.end(),
        })
    }

    /// Returns the offset of a block.
    ///
    /// # Errors
    /// Returns an error if there is no such block.
    pub(super) fn offset(&self, address: Address) -> Result<u64> {
        let (block, _) = self.run(address)?;
        Ok(block.saturating_mul(self.block.into()))
    }

    /// Returns the block of the disc at an address, and how many follow it in
    /// order.
    ///
    /// # Errors
    /// Returns an error if there is no such block.
    pub(super) fn run(&self, address: Address) -> Result<(u64, u64)> {
        let partition = self.partitions.get(usize::from(address.partition));
        let run = partition.and_then(|partition| partition.run(address.block));
        run.ok_or_else(|| {
            let Address { partition, block } = address;
            let offset = u64::from(block) * u64::from(self.block);
            let problem = format!("is not in partition {partition}");
            Error::damaged(offset, format!("block {block}"), problem)
        })
    }
}
