//! Directories, and the walk over all of them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::descriptor::{Descriptor, FILE_IDENTIFIER};
use super::icb::{Node, NodeKind, Steps};
use super::text::text;
use super::volume::{Address, LogicalVolume};
use crate::disc::{Disc, NewFile, file_in};
use crate::io::{Composed, Error, ReadAt, Result, Warnings, read_vec};
use crate::volume::{MAX_DEPTH, Name, NodeId, Sink};

/// Number of bytes of a directory that are read at once.
const PIECE: u64 = 64 << 10;

/// Maximum number of bytes of directories in total: directories that have the
/// same blocks could otherwise be read endlessly.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum length of the target of a symbolic link, in bytes.
const MAX_TARGET: u64 = 64 << 10;

/// Length of an identifier before its name, in bytes.
const IDENTIFIER: usize = 38;

/// Characteristics of an identifier.
const DELETED: u8 = 4;
const PARENT: u8 = 8;

/// The name of a file in a directory, and the address of its entry.
struct Identifier<'a> {
    characteristics: u8,
    address: Address,
    name: &'a [u8],
}

impl<'a> Identifier<'a> {
    /// Returns the length of the identifier that begins with these bytes, with
    /// its padding, which the CRC may cover.
    fn length(start: &[u8; IDENTIFIER]) -> u64 {
        let used = u16::from_le_bytes([start[36], start[37]]);
        (IDENTIFIER as u64 + u64::from(used) + u64::from(start[19])).next_multiple_of(4)
    }

    fn parse(bytes: &'a [u8]) -> std::result::Result<Self, String> {
        let found = Descriptor::parse(bytes)?;
        if found.id != FILE_IDENTIFIER {
            return Err(format!("is a descriptor {}", found.id));
        }
        let [characteristics, name] = found.field(18);
        let used = usize::from(found.u16(36));
        let name = found.bytes(IDENTIFIER + used, name.into());
        Ok(Self {
            characteristics,
            address: Address::of_long(&found, 20),
            name: name.unwrap_or_default(),
        })
    }

    /// Returns the name. One in an unknown character set is treated as
    /// Windows-1252.
    fn name(&self) -> Name<'a> {
        Name {
            text: text(self.name).unwrap_or_else(|| crate::text::windows_1252(self.name)),
            raw: self.name,
            escaped: false,
        }
    }
}

/// The bytes of a directory. A piece of them is in memory.
struct Pieces {
    bytes: Composed,
    piece: Vec<u8>,
    /// Position of the piece.
    start: u64,
}

impl Pieces {
    fn at(&mut self, position: u64, length: u64) -> Result<&[u8]> {
        let end = self.start + self.piece.len() as u64;
        if position < self.start || position + length > end {
            let rest = self.bytes.len().saturating_sub(position);
            let wanted = PIECE.min(rest).max(length);
            self.piece = read_vec(&self.bytes, position, wanted, "directory")?;
            self.start = position;
        }
        let from = (position - self.start) as usize;
        Ok(&self.piece[from..from + length as usize])
    }
}

/// A directory that is still to be listed.
struct Pending {
    node: NodeId,
    /// Its path, for warnings.
    path: String,
    entry: Node,
    depth: usize,
}

/// A walk over the directories of a volume.
pub(super) struct Walk<'a> {
    volume: &'a LogicalVolume,
    disc: &'a mut Disc,
    sink: &'a mut dyn Sink,
    warnings: &'a mut Warnings,
    steps: Steps,
    /// Directories that were found. Each is listed once, so that cycles end.
    seen: HashSet<Address>,
    /// The files with several names that were added.
    linked: HashMap<Address, NodeId>,
    pending: Vec<Pending>,
    /// Number of bytes that the remaining directories may have.
    left: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        volume: &'a LogicalVolume,
        disc: &'a mut Disc,
        sink: &'a mut dyn Sink,
        warnings: &'a mut Warnings,
    ) -> Self {
        Self {
            volume,
            disc,
            sink,
            warnings,
            steps: Steps::default(),
            seen: HashSet::new(),
            linked: HashMap::new(),
            pending: Vec::new(),
            left: MAX_BYTES,
        }
    }

    /// Adds everything below the root directory.
    ///
    /// # Errors
    /// Returns an error if the root cannot be read, or the errors of the sink.
    pub(super) fn all(&mut self) -> Result<()> {
        let address = self.volume.root;
        let root = Pending {
            node: self.sink.root(),
            path: String::new(),
            entry: self.volume.node(address, &mut self.steps)?,
            depth: 0,
        };
        if root.entry.kind != NodeKind::Directory {
            let offset = self.volume.offset(address)?;
            return Err(Error::damaged(offset, "root", "is not a directory"));
        }
        self.seen.insert(address);
        self.list(&root)?;
        while let Some(directory) = self.pending.pop() {
            match self.list(&directory) {
                // The others can still be read.
                Err(error @ (Error::Damaged { .. } | Error::Read { .. })) if !error.is_fault() => {
                    self.warn(&directory.path, error);
                }
                listed => listed?,
            }
        }
        Ok(())
    }

    fn warn(&mut self, path: &str, problem: impl std::fmt::Display) {
        self.warnings.push(format!("/{path}: {problem}"));
    }

    /// Adds the entries of one directory.
    fn list(&mut self, directory: &Pending) -> Result<()> {
        let first = self.pending.len();
        let entry = &directory.entry;
        let mut pieces = Pieces {
            bytes: file_in(&self.volume.sectors, &entry.extents),
            piece: Vec::new(),
            start: 0,
        };
        let size = entry.size.min(pieces.bytes.len());
        let offset = entry.extents.first().and_then(|extent| extent.at);
        let damaged = |problem: String| {
            let field = format!("directory /{}", directory.path);
            Error::damaged(offset.unwrap_or(0), field, problem)
        };
        if size > self.left {
            let problem = format!("directories have more than {MAX_BYTES} bytes");
            return Err(damaged(problem));
        }
        if !self.volume.sectors.contain(&entry.extents) {
            return Err(damaged("extends past the end of the image".to_owned()));
        }
        self.left -= size;
        let mut position = 0;
        while size - position >= IDENTIFIER as u64 {
            let start = pieces.at(position, IDENTIFIER as u64)?;
            let start = start.first_chunk().expect("it has this length");
            let length = Identifier::length(start);
            if length > size - position {
                let problem = format!("has an identifier of {length} bytes at {position:#x}");
                return Err(damaged(problem));
            }
            let identifier = Identifier::parse(pieces.at(position, length)?);
            let identifier = identifier
                .map_err(|problem| damaged(format!("identifier at {position:#x} {problem}")))?;
            if identifier.characteristics & (DELETED | PARENT) == 0 {
                self.add(directory, &identifier)?;
            }
            position += length;
        }
        // The first one is listed next.
        self.pending[first..].reverse();
        Ok(())
    }

    /// Adds a file or directory.
    fn add(&mut self, directory: &Pending, identifier: &Identifier<'_>) -> Result<()> {
        let name = identifier.name();
        let path = format!("{}{}", directory.path, name.text);
        let address = identifier.address;
        if let Some(&file) = self.linked.get(&address) {
            return self.sink.link(directory.node, name, file);
        }
        let entry = match self.volume.node(address, &mut self.steps) {
            Ok(entry) => entry,
            Err(error @ (Error::Damaged { .. } | Error::Read { .. })) if !error.is_fault() => {
                self.warn(&path, error);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        match entry.kind {
            NodeKind::Directory => self.add_directory(directory, name, (address, entry), path),
            NodeKind::File => self.add_file(directory.node, name, (address, &entry), &path),
            NodeKind::SymbolicLink => self.add_link(directory.node, name, &entry, &path),
            NodeKind::VirtualTable => Ok(()),
            NodeKind::Other(kind) => {
                self.warn(
                    &path,
                    format!("is a special file of type {kind}, which is left out"),
                );
                Ok(())
            }
        }
    }

    fn add_directory(
        &mut self,
        parent: &Pending,
        name: Name<'_>,
        (address, entry): (Address, Node),
        path: String,
    ) -> Result<()> {
        let node = self.sink.dir(parent.node, name, entry.modified)?;
        let depth = parent.depth + 1;
        if !self.seen.insert(address) {
            self.warn(&path, "was shown before and is left empty");
        } else if depth > MAX_DEPTH {
            self.warn(&path, format!("is deeper than {MAX_DEPTH}"));
        } else {
            self.pending.push(Pending {
                node,
                path: path + "/",
                entry,
                depth,
            });
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        parent: NodeId,
        name: Name<'_>,
        (address, entry): (Address, &Node),
        path: &str,
    ) -> Result<()> {
        let found: u64 = entry.extents.iter().map(|extent| extent.length).sum();
        let end = self.volume.sectors.len();
        if found < entry.size {
            let text = format!("has {} bytes, of which {found} are recorded", entry.size);
            self.warn(path, text);
        } else if !entry.extents.iter().all(|extent| extent.is_inside(end)) {
            self.warn(path, "extends past the end of the image");
        }
        let file = NewFile {
            parent,
            name,
            modified: entry.modified,
        };
        let extents = (&self.volume.sectors, &entry.extents[..]);
        let node = self
            .disc
            .add_extents(self.sink, file, extents, entry.size)?;
        if entry.links > 1 {
            self.linked.insert(address, node);
        }
        Ok(())
    }

    fn add_link(&mut self, parent: NodeId, name: Name<'_>, entry: &Node, path: &str) -> Result<()> {
        let bytes = file_in(&self.volume.sectors, &entry.extents);
        if entry.size > MAX_TARGET || !self.volume.sectors.contain(&entry.extents) {
            self.warn(path, "is a symbolic link without a target");
            return Ok(());
        }
        let components = read_vec(&bytes, 0, bytes.len(), "symbolic link")?;
        let target = target(&components);
        self.sink
            .text_link(parent, name, target.as_bytes(), entry.modified)
    }
}

/// Returns the target of a symbolic link, given its components.
fn target(mut components: &[u8]) -> String {
    let mut target = String::new();
    while let Some((&[kind, length, _, _], rest)) = components.split_first_chunk() {
        let (name, rest) = rest.split_at(usize::from(length).min(rest.len()));
        components = rest;
        let component = match kind {
            // The root of a volume, or of all.
            1 | 2 => {
                target = "/".to_owned();
                continue;
            }
            3 => Cow::Borrowed(".."),
            4 => Cow::Borrowed("."),
            _ => text(name).unwrap_or_else(|| crate::text::windows_1252(name)),
        };
        if !target.is_empty() && !target.ends_with('/') {
            target.push('/');
        }
        target += &component;
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_components_of_a_link_are_joined() {
        assert_eq!(
            target(b"\x03\0\0\0\x05\x02\0\0\x08a\x05\x03\0\0\x08bc"),
            "../a/bc"
        );
        assert_eq!(target(b"\x02\0\0\0\x05\x02\0\0\x08a"), "/a");
        assert_eq!(target(b"\x05\xFF\0\0\x08cut"), "cut");
        assert_eq!(target(b""), "");
    }
}
