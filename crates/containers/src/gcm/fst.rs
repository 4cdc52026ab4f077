//! The FST: the files and directories of a disc in one table.
//!
//! Each entry has 12 bytes: its kind and the offset of its name; then for a
//! file its offset and size, for a directory the number of its parent and the
//! number after its last entry. The names follow the entries. Entry 0 is the
//! root, whose last number is the number of entries.

use std::ops::ControlFlow;

use crate::io::{Error, Result, Warnings};

use super::numbers;

/// Length of an entry in bytes.
pub(super) const ENTRY: usize = 12;

pub(super) const FILE: u8 = 0;
pub(super) const DIRECTORY: u8 = 1;

/// An FST with a validated number of entries.
pub(super) struct Fst<'a> {
    entries: &'a [[u8; ENTRY]],
    names: &'a [u8],
}

/// An entry of the FST.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'a> {
    Directory {
        name: &'a [u8],
    },
    File {
        name: &'a [u8],
        /// Its number in the FST.
        number: u32,
        offset: u32,
        size: u32,
    },
}

impl<'a> Fst<'a> {
    /// Returns the FST in `bytes`, which are at `base` in the source.
    ///
    /// # Errors
    /// Returns an error if it has no root, or more entries than bytes.
    pub(super) fn new(bytes: &'a [u8], base: u64) -> Result<Self> {
        let (entries, _) = bytes.as_chunks::<ENTRY>();
        let root = entries
            .first()
            .filter(|root| root[0] == DIRECTORY)
            .ok_or_else(|| Error::damaged(base, "FST root", "is not a directory"))?;
        let [count] = numbers(root, 8).unwrap_or_default();
        let split = entries.split_at_checked(count as usize);
        let Some((entries @ [_, ..], _)) = split else {
            let problem = format!("is {count} in {} bytes", bytes.len());
            return Err(Error::damaged(base + 8, "FST entries", problem));
        };
        Ok(Self {
            entries,
            names: &bytes[entries.len() * ENTRY..],
        })
    }

    /// Visits all entries in order, each with the number of directories around
    /// it, including the root. The visitor may stop the walk.
    ///
    /// # Errors
    /// Returns the error of the visitor.
    pub(super) fn walk(
        &self,
        warnings: &mut Warnings,
        mut visit: impl FnMut(Item<'a>, usize, &mut Warnings) -> ControlFlow<Error>,
    ) -> Result<()> {
        // The open directories: number, and the number after the last entry.
        // The root is never removed.
        let mut open = vec![(0, self.entries.len())];
        for (number, entry) in self.entries.iter().enumerate().skip(1) {
            while open.len() > 1 && open.last().is_some_and(|&(_, end)| number >= end) {
                open.pop();
            }
            let depth = open.len();
            let [first, middle, last] = numbers(entry, 0).unwrap_or_default();
            let name = self.name(number, first & 0xFF_FFFF, warnings);
            let item = match entry[0] {
                FILE => Item::File {
                    name,
                    number: number as u32,
                    offset: middle,
                    size: last,
                },
                DIRECTORY => {
                    let (parent, parent_end) = open.last().copied().unwrap_or_default();
                    if middle as usize != parent {
                        warnings.push(format!(
                            "FST entry {number}: its parent is {middle}, should be {parent}"
                        ));
                    }
                    let end = (last as usize).clamp(number + 1, parent_end.max(number + 1));
                    if end != last as usize {
                        warnings.push(format!(
                            "FST entry {number}: is a directory that ends at {last}, treated as {end}"
                        ));
                    }
                    open.push((number, end));
                    Item::Directory { name }
                }
                kind => {
                    warnings.push(format!("FST entry {number}: is of kind {kind}, skipped"));
                    continue;
                }
            };
            if let ControlFlow::Break(error) = visit(item, depth, warnings) {
                return Err(error);
            }
        }
        Ok(())
    }

    fn name(&self, number: usize, offset: u32, warnings: &mut Warnings) -> &'a [u8] {
        let rest = self.names.get(offset as usize..);
        let found = rest.and_then(|rest| {
            let end = rest.iter().position(|&byte| byte == 0)?;
            rest.get(..end)
        });
        found.unwrap_or_else(|| {
            warnings.push(format!(
                "FST entry {number}: its name at {offset:#x} is outside the names"
            ));
            b""
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u8, name: u32, middle: u32, last: u32) -> Vec<u8> {
        let first = u32::from(kind) << 24 | name;
        [first, middle, last].map(u32::to_be_bytes).concat()
    }

    /// Returns the visited entries with their depths, and the warnings.
    fn visited(entries: &[Vec<u8>], names: &[u8]) -> (Vec<String>, Vec<String>) {
        let bytes = [entries.concat(), names.to_vec()].concat();
        let mut warnings = Warnings::default();
        let mut visited = Vec::new();
        let fst = Fst::new(&bytes, 0x2600).unwrap();
        fst.walk(&mut warnings, |item, depth, _| {
            visited.push(match item {
                Item::Directory { name } => format!("{depth} {}/", name.escape_ascii()),
                Item::File {
                    name, offset, size, ..
                } => {
                    format!("{depth} {} {offset}+{size}", name.escape_ascii())
                }
            });
            ControlFlow::Continue(())
        })
        .unwrap();
        (visited, warnings.texts())
    }

    #[test]
    fn directories_hold_the_entries_up_to_their_ends() {
        let entries = [
            entry(DIRECTORY, 0, 0, 5),
            entry(DIRECTORY, 0, 0, 4),
            entry(DIRECTORY, 2, 1, 4),
            entry(FILE, 4, 100, 7),
            entry(FILE, 6, 200, 8),
        ];
        let (visited, warnings) = visited(&entries, b"a\0b\0c\0d\0");
        assert_eq!(visited, ["1 a/", "2 b/", "3 c 100+7", "1 d 200+8"]);
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn a_directory_ends_with_its_parent_at_the_latest() {
        let far = [
            entry(DIRECTORY, 0, 0, 3),
            entry(DIRECTORY, 0, 0, u32::MAX),
            entry(FILE, 2, 0, 0),
        ];
        let (entries, warnings) = visited(&far, b"a\0b\0");
        assert_eq!(entries, ["1 a/", "2 b 0+0"]);
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let back = [
            entry(DIRECTORY, 0, 0, 3),
            entry(DIRECTORY, 0, 0, 0),
            entry(FILE, 2, 0, 0),
        ];
        let (entries, _) = visited(&back, b"a\0b\0");
        assert_eq!(entries, ["1 a/", "1 b 0+0"]);
    }

    #[test]
    fn entries_without_a_name_or_a_kind_cause_warnings() {
        let entries = [
            entry(DIRECTORY, 0, 0, 3),
            entry(FILE, 0xFF_FFFF, 0, 0),
            entry(7, 0, 0, 0),
        ];
        let (visited, warnings) = visited(&entries, b"a\0");
        assert_eq!(visited, ["1  0+0"]);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }

    #[test]
    fn the_count_must_fit_into_the_table() {
        let refused = |root: Vec<u8>| Fst::new(&root, 0x2600).err().unwrap().to_string();
        assert_eq!(
            refused(entry(DIRECTORY, 0, 0, u32::MAX)),
            "FST entries at 0x2608: is 4294967295 in 12 bytes"
        );
        assert!(refused(entry(DIRECTORY, 0, 0, 0)).contains("is 0 in"));
        assert!(refused(entry(FILE, 0, 0, 1)).contains("is not a directory"));
        assert!(refused(Vec::new()).contains("FST root"));
    }
}
