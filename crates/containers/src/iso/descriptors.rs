//! Volume descriptors, and the choice between their trees.

use super::record::le32;
use super::susp::SystemUse;
use crate::disc::{SECTOR, Sectors, read_user};
use crate::io::{Error, ReadAt, Result};

/// Maximum number of volume descriptors.
const MAX_DESCRIPTORS: u64 = 32;

const PRIMARY: u8 = 1;
const SUPPLEMENTARY: u8 = 2;
const TERMINATOR: u8 = 255;

/// Escape sequences of a Joliet descriptor.
const JOLIET: [&[u8]; 3] = [b"%/@", b"%/C", b"%/E"];

/// Offset of the root's record in a volume descriptor.
pub(super) const ROOT_RECORD: usize = 156;

/// A volume descriptor with a directory tree.
pub(super) struct Descriptor<'a> {
    /// Its sector.
    pub(super) sector: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) is_joliet: bool,
    /// The fields of the records of its tree, if they have any.
    pub(super) system_use: Option<SystemUse<'a>>,
}

impl<'a> Descriptor<'a> {
    fn new(sectors: &'a Sectors, sector: u64, bytes: Vec<u8>, is_joliet: bool) -> Result<Self> {
        let mut descriptor = Self {
            sector,
            bytes,
            is_joliet,
            system_use: None,
        };
        if !is_joliet {
            let (block, root) = (descriptor.block(), &descriptor.bytes[ROOT_RECORD..]);
            let root = u64::from(le32(root, 2)) * block;
            descriptor.system_use = SystemUse::detect(sectors, block, root)?;
        }
        Ok(descriptor)
    }

    /// Returns the length of a logical block in bytes.
    pub(super) fn block(&self) -> u64 {
        u16::from_le_bytes([self.bytes[128], self.bytes[129]]).into()
    }

    /// Returns whether it says that the disc is of CD-ROM XA.
    pub(super) fn is_xa(&self) -> bool {
        self.bytes[1024..].starts_with(b"CD-XA001")
    }

    /// Returns whether the tree has names of Rock Ridge.
    pub(super) fn is_rock_ridge(&self) -> bool {
        let fields = self.system_use.as_ref();
        fields.is_some_and(|fields| fields.is_rock_ridge)
    }

    /// Returns a text in it.
    pub(super) fn text(&self, range: std::ops::Range<usize>) -> String {
        let bytes = &self.bytes[range];
        let text = match self.is_joliet {
            true => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
            false => crate::text::windows_1252(bytes),
        };
        text.trim_end_matches([' ', '\0']).to_owned()
    }
}

/// The volume descriptors of a disc.
pub(super) struct Descriptors<'a> {
    /// The descriptors with a tree: the first primary one, and the first one of Joliet.
    pub(super) trees: Vec<Descriptor<'a>>,
    /// The number of the tree that is shown.
    pub(super) shown: usize,
    /// The sector after the last one.
    pub(super) end: u64,
    /// True if the last one is a terminator.
    pub(super) is_terminated: bool,
}

impl<'a> Descriptors<'a> {
    /// Reads the volume descriptors from sector `first` on, up to the terminator.
    ///
    /// # Errors
    /// Returns an error if no descriptor has a tree, or the source cannot be read.
    pub(super) fn read(sectors: &'a Sectors, first: u64) -> Result<Self> {
        let mut trees: Vec<Descriptor<'a>> = Vec::new();
        let (mut end, mut is_terminated) = (first, false);
        while !is_terminated && end < first + MAX_DESCRIPTORS {
            let mut bytes = vec![0; SECTOR as usize];
            match read_user(sectors, end * SECTOR, &mut bytes) {
                Ok(()) if bytes[1..6] == *b"CD001" => {}
                Err(error) if error.is_fault() && sectors.len() >= (end + 1) * SECTOR => {
                    return Err(error);
                }
                _ => break,
            }
            is_terminated = bytes[0] == TERMINATOR;
            let is_joliet = bytes[0] == SUPPLEMENTARY && JOLIET.contains(&&bytes[88..91]);
            let is_known = trees.iter().any(|tree| tree.is_joliet == is_joliet);
            if (bytes[0] == PRIMARY || is_joliet) && !is_known {
                trees.push(Descriptor::new(sectors, end, bytes, is_joliet)?);
            }
            end += 1;
        }
        if trees.is_empty() {
            let offset = first * SECTOR;
            return Err(Error::damaged(offset, "volume descriptor", "is missing"));
        }
        // As in Linux, Rock Ridge is preferred to Joliet.
        let rock_ridge = trees.iter().position(Descriptor::is_rock_ridge);
        let shown = rock_ridge.or_else(|| trees.iter().position(|tree| tree.is_joliet));
        Ok(Self {
            trees,
            shown: shown.unwrap_or(0),
            end,
            is_terminated,
        })
    }
}
