//! The table of one directory: a binary tree of nodes.

use std::collections::HashSet;

use super::Extent;
use crate::io::{Cursor, Endian, Error, Result, Warnings};

/// Length of a node without its name in bytes.
pub(super) const NODE: usize = 14;

/// Unit of the links between nodes in bytes.
pub(super) const LINK_UNIT: usize = 4;

/// The attribute of directories.
pub(super) const DIRECTORY: u8 = 0x10;

/// Invalid links.
const NO_LINKS: [u16; 2] = [0, 0xFFFF];

/// The first sector of an empty node.
const NO_SECTOR: u32 = 0xFFFF_FFFF;

/// An entry of a directory.
pub(super) struct Node<'a> {
    pub(super) name: &'a [u8],
    pub(super) extent: Extent,
    pub(super) attributes: u8,
    /// Absolute offset of the node.
    pub(super) at: u64,
}

impl Node<'_> {
    /// Returns whether it is a directory.
    pub(super) fn is_directory(&self) -> bool {
        self.attributes & DIRECTORY != 0
    }
}

/// Returns the entries of the table at `offset`, in the order of their
/// upper-case names. Damaged ones are skipped with a warning.
pub(super) fn nodes<'a>(table: &'a [u8], offset: u64, warnings: &mut Warnings) -> Vec<Node<'a>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![0_u16];
    while let Some(link) = pending.pop() {
        if !seen.insert(link) {
            let at = offset + u64::from(link) * LINK_UNIT as u64;
            warnings.push(format!("node at {at:#x}: is linked twice"));
            continue;
        }
        match node(table, offset, link) {
            Ok((links, node)) => {
                let links = links.into_iter().filter(|link| !NO_LINKS.contains(link));
                pending.extend(links);
                match node.transpose() {
                    Ok(node) => found.extend(node),
                    Err(error) => warnings.push(error.to_string()),
                }
            }
            Err(error) => warnings.push(error.to_string()),
        }
    }
    found.sort_by_cached_key(|node| node.name.to_ascii_uppercase());
    found
}

/// Returns the links of a node, and its entry, which an empty node lacks. A
/// damaged entry does not affect the links.
fn node(table: &[u8], offset: u64, link: u16) -> Result<([u16; 2], Option<Result<Node<'_>>>)> {
    let at = offset + u64::from(link) * LINK_UNIT as u64;
    let mut cursor = Cursor::new(table, offset, Endian::Little);
    cursor.seek(at, "node")?;
    let mut node = cursor.clone();
    let links = [node.u16("left")?, node.u16("right")?];
    let extent = Extent {
        sector: node.u32("sector")?,
        size: node.u32("size")?,
    };
    let attributes = node.u8("attributes")?;
    let length = node.u8("name length")?;
    let is_empty = links == [0xFFFF; 2] && extent.sector == NO_SECTOR;
    if is_empty || cursor.take(NODE, "node")? == [0; NODE] {
        return Ok(([0; 2], None));
    }
    let entry = node.take(length.into(), "name").and_then(|name| {
        if name.is_empty() {
            return Err(Error::damaged(at, "name", "is empty"));
        }
        Ok(Node {
            name,
            extent,
            attributes,
            at,
        })
    });
    Ok((links, Some(entry)))
}
