//! The nodes of a level. Parsing locates them, and they are decoded on demand.

mod fields;
mod node;
mod script;
mod table;

pub use node::{Flags, Node, kind_name};
pub use script::{Argument, Command};

use std::collections::BTreeMap;

use bytes::Bytes;
use get_size2::GetSize;

use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of the files.
pub const EXTENSIONS: &[&str] = &["trg"];

/// First bytes of a file.
pub const MAGIC: &[u8] = b"_TRG";

/// A parsed file.
#[derive(Debug, Clone, GetSize)]
pub struct Trg {
    /// Major and minor version.
    pub version: [u16; 2],
    /// The location of each node; `None` for an offset outside of the nodes.
    places: Vec<Place>,
    /// Number of nodes of each kind.
    pub kinds: BTreeMap<String, usize>,
    /// Links between points of rails.
    pub rails: Vec<[usize; 2]>,
    /// Warnings.
    pub warnings: Warnings,
    #[get_size(ignore)]
    bytes: Bytes,
}

/// The offset and end of a node; 0 if the offset is outside of the nodes.
#[derive(Debug, Clone, Copy, GetSize)]
struct Place {
    start: u32,
    end: u32,
}

/// Parses a file.
///
/// # Errors
/// Returns [`Error::Damaged`] if the header is wrong, or nodes overlap so much
/// that they are longer than twice the file.
pub fn parse(bytes: &Bytes) -> Result<Trg> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    if cursor.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Error::damaged(0, "magic", "is not that of a TRG file"));
    }
    let version = [cursor.u16("version")?, cursor.u16("version")?];
    if version[0] != 2 {
        let problem = format!("is {}.{}, not 2", version[0], version[1]);
        return Err(Error::damaged(4, "version", problem));
    }
    let count = cursor.u32("nodes")?;
    let count = cursor.check_count(count.into(), 4, "nodes")?;
    let table = cursor.offset();
    let offsets = (0..count).map(|_| cursor.u32("offset of a node"));
    let offsets = offsets.collect::<Result<Vec<_>>>()?;
    let mut trg = Trg {
        version,
        places: places(&offsets, table, cursor.offset(), bytes.len())?,
        kinds: BTreeMap::new(),
        rails: Vec::new(),
        warnings: Warnings::default(),
        bytes: bytes.clone(),
    };
    trg.examine();
    Ok(trg)
}

/// Returns the locations of nodes with these offsets in a file of `size` bytes: each
/// one ends where the next one begins. Nodes begin at `first` or later.
fn places(offsets: &[u32], table: u64, first: u64, size: usize) -> Result<Vec<Place>> {
    let is_inside = |offset: u32| u64::from(offset) >= first && offset as usize + 2 <= size;
    let mut starts = offsets.to_vec();
    starts.retain(|&start| (start as usize) < size);
    starts.sort_unstable();
    starts.dedup();
    let mut left = 2 * size as u64;
    let place = |(index, &start): (usize, &u32)| {
        if !is_inside(start) {
            return Ok(Place { start, end: 0 });
        }
        let after = starts.partition_point(|&other| other <= start);
        let end = starts.get(after).copied().unwrap_or(size as u32);
        let length = u64::from(end - start);
        let rest = left.checked_sub(length);
        left = rest.ok_or_else(|| {
            let at = table + 4 * index as u64;
            Error::damaged(at, "node", "overlaps others, which together are too long")
        })?;
        Ok(Place { start, end })
    };
    offsets.iter().enumerate().map(place).collect()
}

impl Trg {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Decodes the node with this number.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if its offset is outside of the nodes. A node
    /// that is damaged inside has a [`Node::problem`].
    pub fn node(&self, number: usize) -> Result<Node> {
        let place = self.places.get(number);
        let place = place.filter(|place| place.end > 0).ok_or_else(|| {
            let offset = place.map_or(0, |place| place.start);
            let problem = format!("begins at {offset:#x}, outside of the nodes");
            Error::damaged(offset.into(), "node", problem)
        })?;
        let bytes = &self.bytes[place.start as usize..place.end as usize];
        let cursor = Cursor::new(bytes, place.start.into(), Endian::Little);
        Node::read(cursor, self.version[1])
    }

    /// Returns the nodes that can be decoded, with their numbers.
    pub fn nodes(&self) -> impl Iterator<Item = (usize, Node)> {
        (0..self.len()).filter_map(|number| Some((number, self.node(number).ok()?)))
    }

    /// Counts the nodes of each kind, and finds the rails.
    fn examine(&mut self) {
        let mut is_rail = vec![false; self.len()];
        let mut last = None;
        for (number, is_rail) in is_rail.iter_mut().enumerate() {
            let node = self.node(number);
            let name = match &node {
                Ok(node) => kind_name(node.kind),
                Err(_) => "error".into(),
            };
            *self.kinds.entry(name.into_owned()).or_default() += 1;
            *is_rail = node.as_ref().is_ok_and(|node| node.is_rail());
            last = node.as_ref().ok().map(|node| node.kind);
            match node {
                Err(error) => self.warnings.push(format!("node {number}: {error}")),
                Ok(Node {
                    problem: Some(problem),
                    ..
                }) => self.warnings.push(format!("node {number}: {problem}")),
                Ok(_) => {}
            }
        }
        for number in 0..self.len() {
            let Ok(node) = self.node(number) else {
                continue;
            };
            for link in node.links.iter().flatten().copied().map(usize::from) {
                match is_rail.get(link) {
                    None => {
                        let count = self.len();
                        let text = format!("node {number} links to {link} of {count}");
                        self.warnings.push(text);
                    }
                    Some(true) if is_rail[number] && link != number => {
                        self.rails.push([number, link]);
                    }
                    Some(_) => {}
                }
            }
        }
        if !self.is_empty() && last != Some(node::TERMINATOR) {
            self.warnings.push("the last node is not the terminator");
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a file of version 2.0 with these nodes, each with an even number of
    /// bytes.
    pub(crate) fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
        let mut file = b"_TRG\x02\0\0\0".to_vec();
        file.extend((nodes.len() as u32).to_le_bytes());
        let mut offset = 12 + 4 * nodes.len();
        for node in nodes {
            file.extend((offset as u32).to_le_bytes());
            offset += node.len();
        }
        file.extend(nodes.concat());
        file
    }

    /// Returns words in the byte order of the file.
    pub(crate) fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Returns a rail point, whose size is a multiple of 4 bytes.
    pub(crate) fn rail(link: u16, position: [i32; 3]) -> Vec<u8> {
        let position = position.map(|part| (part * 4096).to_le_bytes()).concat();
        [words(&[10, 1, link, 0]), position, words(&[17, 0])].concat()
    }

    #[test]
    fn rails_are_links_between_their_points() {
        let nodes = [
            rail(1, [0; 3]),
            rail(1, [5, 0, 0]),
            rail(7, [0; 3]),
            words(&[255]),
        ];
        let trg = parse(&file(&nodes).into()).unwrap();
        assert_eq!(trg.rails, [[0, 1]]);
        assert_eq!(trg.kinds["rail_def"], 3);
        assert_eq!(trg.warnings.texts(), ["node 2 links to 7 of 4"]);
        assert_eq!(trg.node(1).unwrap().position, Some([5 * 4096, 0, 0]));
    }

    #[test]
    fn a_node_ends_where_the_next_one_in_the_file_begins() {
        let mut bytes = file(&[words(&[77, 1, 2]), words(&[255]), words(&[77, 3])]);
        // The first and the last one in reverse order.
        let (first, last) = (bytes[12..16].to_vec(), bytes[20..24].to_vec());
        bytes[12..16].copy_from_slice(&last);
        bytes[20..24].copy_from_slice(&first);
        let trg = parse(&bytes.into()).unwrap();
        let rest = |number| trg.node(number).unwrap().rest;
        assert_eq!(rest(0), Some(words(&[3])));
        assert_eq!(rest(2), Some(words(&[1, 2])));
    }

    #[test]
    fn nodes_may_not_be_longer_than_twice_the_file() {
        let mut bytes = file(&vec![words(&[255]); 20]);
        bytes.resize(bytes.len() + 40, 0);
        for entry in bytes[12..92].chunks_mut(4) {
            entry.copy_from_slice(&92_u32.to_le_bytes());
        }
        let error = parse(&bytes.into()).unwrap_err().to_string();
        assert!(error.starts_with("node at 0x1c: "), "{error}");
    }

    #[test]
    fn an_offset_outside_of_the_nodes_is_a_warning() {
        let mut bytes = file(&[words(&[255]), words(&[255])]);
        bytes[12..16].copy_from_slice(&[4, 0, 0, 0]);
        let trg = parse(&bytes.into()).unwrap();
        assert!(trg.node(0).is_err());
        assert_eq!(trg.kinds["error"], 1);
        assert_eq!(trg.warnings.len(), 1);
    }
}
