//! XDVDFS, the file system of Xbox discs: images of only the file system (XISO)
//! and of whole discs (redump). See `docs/formats/xdvdfs.md`.

mod apply;
mod table;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::json;

use self::table::{Node, nodes};
use super::paths::{Span, record};
use super::time;
use crate::changes::Changeable;
use crate::file_type::{FileType, Magic};
use crate::format::{Format, Input, Options};
use crate::io::{Compact, Cursor, Endian, Error, ReadAt, Result, Warnings, read_vec};
use crate::volume::{
    Content, DiscImage, Entry, FileId, MAX_DEPTH, MAX_ENTRIES, Mountable, Name, NodeId, Sink,
    Volume,
};
use crate::xbe::{MAX_HEADERS, Program};

/// The format of XDVDFS images. An `.iso` may be an image of another kind of disc.
pub const FORMAT: Format = Format {
    name: "XDVDFS",
    extensions: &["xiso", "iso"],
    types: &[FileType {
        magic: &[Magic::at(0x1_0000, MAGIC)],
        patterns: &["*.xiso"],
        ..FileType::archive("application/x-xbox-disc", "Xbox disc image")
    }],
    matches,
    open,
    change: Some(|input, sink| {
        let mut slots = Slots::default();
        let disc = read(input, sink, Some(&mut slots))?;
        Ok(Changeable::new((disc, slots), apply::apply))
    }),
    ..Format::PLAIN
};

/// Length of a sector in bytes.
const SECTOR: u64 = 2048;

/// Magic at the start and end of the volume descriptor.
const MAGIC: &[u8; 20] = b"MICROSOFT*XBOX*MEDIA";

/// Offset of the second magic in the volume descriptor.
const SECOND_MAGIC: usize = 0x7EC;

/// Sector of the volume descriptor.
const DESCRIPTOR: u64 = 32;

/// Offsets of the file system in images of it alone, of Xbox discs, and of Xbox
/// 360 discs of two generations (FORMATS, XDVDFS 1).
const BASES: [u64; 4] = [0, 0x1830_0000, 0x0FD9_0000, 0x0208_0000];

/// Name of the program that a console starts, in the root.
const PROGRAM: &str = "default.xbe";

/// Maximum length of a directory's table: enough for about 200,000 files.
const MAX_TABLE: u64 = 8 << 20;

/// Maximum number of bytes of all tables together.
const MAX_TABLES: u64 = 64 << 20;

/// An Xbox disc.
struct Disc {
    source: Arc<dyn ReadAt>,
    files: Vec<Span>,
    options: Options,
    base: u64,
    /// The facts about the game, if it has a program.
    game: serde_json::Value,
    warnings: Vec<String>,
}

fn matches(input: &Input<'_>) -> Result<bool> {
    Ok(base(&*input.source)?.is_some())
}

/// Returns the offset of the file system, if there is one.
fn base(source: &dyn ReadAt) -> Result<Option<u64>> {
    for base in BASES {
        let descriptor = base + DESCRIPTOR * SECTOR;
        if descriptor + SECTOR > source.len() {
            continue;
        }
        if read_vec(source, descriptor, MAGIC.len() as u64, "magic")? == MAGIC {
            return Ok(Some(base));
        }
    }
    Ok(None)
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    Ok(Box::new(read(input, sink, None)?))
}

/// The nodes of the tables, for writing.
#[derive(Default)]
struct Slots {
    /// Of the files, by their numbers.
    files: Vec<Slot>,
    /// Of the directories; that of the root has no node.
    directories: HashMap<NodeId, Slot>,
}

impl Slots {
    /// Returns the slot of a file.
    fn file(&self, file: FileId) -> Option<Slot> {
        self.files.get(file.0 as usize).copied()
    }
}

/// The place of an entry in a table, and what it says.
#[derive(Clone, Copy)]
struct Slot {
    /// Absolute offset of the node.
    at: u64,
    extent: Extent,
    attributes: u8,
}

/// Reads all directories. The places of their nodes are added to `slots`.
fn read(input: Input<'_>, sink: &mut dyn Sink, slots: Option<&mut Slots>) -> Result<Disc> {
    let Input {
        source, options, ..
    } = input;
    let base = base(&*source)?.ok_or(Error::UnknownFormat)?;
    let offset = base + DESCRIPTOR * SECTOR;
    let descriptor = read_vec(&*source, offset, SECTOR, "volume descriptor")?;
    let mut cursor = Cursor::new(&descriptor, offset, Endian::Little);
    cursor.take(MAGIC.len(), "magic")?;
    let root = Extent {
        sector: cursor.u32("root directory sector")?,
        size: cursor.u32("root directory size")?,
    };
    let low = u64::from(cursor.u32("time")?);
    let high = u64::from(cursor.u32("time")?);
    let mut walk = Walk {
        source: &*source,
        base,
        modified: time::filetime(high << 32 | low),
        force: options.force,
        pending: Vec::new(),
        entered: HashSet::new(),
        room: MAX_TABLES,
        files: Vec::new(),
        program: None,
        slots,
        warnings: Warnings::default(),
    };
    if &descriptor[SECOND_MAGIC..] != MAGIC {
        let text = "the volume descriptor does not end with its magic";
        walk.warnings.push(text);
    }
    walk.all(root, sink)?;
    let Walk {
        mut files,
        program,
        warnings,
        ..
    } = walk;
    files.compact();
    let game = program.and_then(|program| game(&*source, program));
    Ok(Disc {
        source,
        files,
        options,
        base,
        game: game.unwrap_or_default(),
        warnings: warnings.texts(),
    })
}

/// Returns the facts about the game whose program is at `program`. An unreadable
/// program is reported when its file is read.
fn game(source: &dyn ReadAt, program: Span) -> Option<serde_json::Value> {
    let length = program.size.min(MAX_HEADERS);
    let headers = read_vec(source, program.offset, length, "program").ok()?;
    let program = Program::parse(&headers).ok()?;
    Some(program.certificate.facts())
}

/// The extent of a directory table or a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extent {
    /// First sector, from the base on.
    sector: u32,
    /// Length in bytes.
    size: u32,
}

/// A directory that is yet to be read.
struct Pending {
    table: Extent,
    node: NodeId,
    depth: usize,
}

/// A walk through the directories.
struct Walk<'a> {
    source: &'a dyn ReadAt,
    base: u64,
    modified: Option<i64>,
    force: bool,
    /// Directories that are yet to be read; the next one is the last.
    pending: Vec<Pending>,
    /// Sectors of the tables that were read. Each is read once, so that cycles
    /// end.
    entered: HashSet<u32>,
    /// Number of bytes that the remaining tables may have.
    room: u64,
    files: Vec<Span>,
    /// The program that a console starts.
    program: Option<Span>,
    /// The nodes, if they are wanted.
    slots: Option<&'a mut Slots>,
    warnings: Warnings,
}

impl Walk<'_> {
    fn all(&mut self, root: Extent, sink: &mut dyn Sink) -> Result<()> {
        let root = Pending {
            table: root,
            node: sink.root(),
            depth: 0,
        };
        let read = self.directory(&root, sink);
        self.tolerate(read)?;
        if let Some(slots) = &mut self.slots {
            let slot = Slot {
                at: 0,
                extent: root.table,
                attributes: table::DIRECTORY,
            };
            slots.directories.insert(root.node, slot);
        }
        while let Some(directory) = self.pending.pop() {
            match self.directory(&directory, sink) {
                // The others can still be read.
                Err(error @ Error::Damaged { .. }) => {
                    self.warnings.push(format!("a directory is empty: {error}"));
                }
                read => read?,
            }
        }
        Ok(())
    }

    /// With `force`, turns damage into a warning.
    fn tolerate(&mut self, read: Result<()>) -> Result<()> {
        match read {
            Err(error @ Error::Damaged { .. }) if self.force => {
                self.warnings.push(error.to_string());
                Ok(())
            }
            read => read,
        }
    }

    fn directory(&mut self, directory: &Pending, sink: &mut dyn Sink) -> Result<()> {
        let table = directory.table;
        if table.size == 0 {
            return Ok(());
        }
        let offset = self.base + u64::from(table.sector) * SECTOR;
        let size = u64::from(table.size);
        let problem = if !self.entered.insert(table.sector) {
            "is used by two directories".to_owned()
        } else if directory.depth > MAX_DEPTH {
            format!("is nested deeper than {MAX_DEPTH} directories")
        } else if size > MAX_TABLE.min(self.room) {
            format!("has {size} bytes, more than are read")
        } else {
            self.room -= size;
            // The end of a table is padding, which may be missing from a
            // truncated image.
            let present = self.source.len().saturating_sub(offset).min(size);
            if present > 0 && present < size {
                let missing = size - present;
                self.warnings.push(format!(
                    "the directory table at {offset:#x} lacks {missing} bytes"
                ));
            }
            let length = if present > 0 { present } else { size };
            let bytes = read_vec(self.source, offset, length, "directory table")?;
            let nodes = nodes(&bytes, offset, &mut self.warnings);
            return self.announce(directory, nodes, sink);
        };
        Err(Error::damaged(offset, "directory table", problem))
    }

    fn announce(
        &mut self,
        directory: &Pending,
        nodes: Vec<Node<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let before = self.pending.len();
        for node in nodes {
            let name = Name::windows_1252(node.name);
            let slot = Slot {
                at: node.at,
                extent: node.extent,
                attributes: node.attributes,
            };
            if node.is_directory() {
                let inner = sink.dir(directory.node, name, self.modified)?;
                self.pending.push(Pending {
                    table: node.extent,
                    node: inner,
                    depth: directory.depth + 1,
                });
                if let Some(slots) = &mut self.slots {
                    slots.directories.insert(inner, slot);
                }
                continue;
            }
            if self.files.len() >= MAX_ENTRIES {
                let text = format!("has more than {MAX_ENTRIES} files");
                return Err(Error::Unsupported(text));
            }
            let entry = Entry {
                file: FileId(self.files.len() as u32),
                size: Some(node.extent.size.into()),
                modified: self.modified,
                asset: None,
            };
            let is_program = directory.depth == 0 && name.text.eq_ignore_ascii_case(PROGRAM);
            sink.file(directory.node, name, entry)?;
            if let Some(slots) = &mut self.slots {
                slots.files.push(slot);
            }
            let span = self.span(node.extent);
            if is_program {
                self.program = Some(span);
            }
            self.files.push(span);
        }
        // These are read in order, before those that were found earlier.
        self.pending[before..].reverse();
        Ok(())
    }

    fn span(&mut self, extent: Extent) -> Span {
        let span = Span {
            offset: self.base + u64::from(extent.sector) * SECTOR,
            size: extent.size.into(),
        };
        if span.size > 0 && !span.is_inside(self.source.len()) {
            let number = self.files.len();
            self.warnings
                .push(format!("file {number} extends past the end of the image"));
        }
        span
    }
}

impl Volume for Disc {
    fn content(&self, file: FileId) -> Result<Content<'_>> {
        record(&self.files, file)?.content(&*self.source, self.options.force)
    }

    fn info(&self) -> serde_json::Value {
        json!({ "base": self.base, "files": self.files.len(), "game": self.game })
    }

    fn images(&self) -> Vec<DiscImage> {
        DiscImage::whole(&self.source)
    }

    fn plain_files(&self, stem: &str) -> Vec<(String, Arc<dyn ReadAt>)> {
        crate::disc::plain::iso(stem, &self.source)
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl Mountable for Disc {
    fn memory(&self) -> usize {
        size_of::<Self>() + self.files.capacity() * size_of::<Span>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::{open, read};
    use super::*;

    /// Sector of the root's table, and of the first file.
    const ROOT: u32 = 33;
    const DATA: u32 = 34;

    /// Returns an entry of a table; its parent links to its position.
    fn node(links: [u16; 2], extent: [u32; 2], attributes: u8, name: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = links.iter().flat_map(|link| link.to_le_bytes()).collect();
        bytes.extend(extent.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend([attributes, name.len() as u8]);
        bytes.extend_from_slice(name);
        bytes.resize(bytes.len().next_multiple_of(4), 0xFF);
        bytes
    }

    /// Returns an image with this table of the root and one sector of data.
    fn image(table: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 35 * 2048];
        let descriptor = &mut bytes[32 * 2048..33 * 2048];
        descriptor[..20].copy_from_slice(MAGIC);
        descriptor[20..24].copy_from_slice(&ROOT.to_le_bytes());
        descriptor[24..28].copy_from_slice(&(table.len() as u32).to_le_bytes());
        descriptor[28..36].copy_from_slice(&116_444_736_000_000_000_u64.to_le_bytes());
        descriptor[SECOND_MAGIC..].copy_from_slice(MAGIC);
        bytes[33 * 2048..][..table.len()].copy_from_slice(table);
        bytes[34 * 2048..].fill(7);
        bytes
    }

    #[test]
    fn the_tree_is_followed_on_both_sides() {
        let root = node([5, 10], [DATA, 3], 0x20, b"m.txt");
        let left = node([0, 0], [DATA, 2], 0x20, b"a.txt");
        let right = node([0xFFFF, 0], [0, 0], 0x10, b"z");
        let bytes = image(&[root, left, right].concat());
        let (listing, volume) = open(&FORMAT, "x.iso", bytes, None).unwrap();
        assert_eq!(listing.paths(), ["a.txt", "m.txt", "z/"]);
        let (_, entry) = listing.files().nth(1).unwrap();
        assert_eq!(entry.modified, Some(0));
        assert_eq!(read(&*volume, entry).unwrap(), [7; 3]);
    }

    #[test]
    fn cycles_of_nodes_and_of_directories_end() {
        let root = node([0, 5], [DATA, 1], 0x20, b"a.txt");
        let cycle = node([5, 5], [ROOT, 40], 0x10, b"b.txt");
        let bytes = image(&[root, cycle].concat());
        let (listing, volume) = open(&FORMAT, "x.iso", bytes, None).unwrap();
        assert_eq!(listing.paths(), ["a.txt", "b.txt/"]);
        // One warning for each of three links: two of the node to itself, one
        // of the subdirectory to the root's table.
        assert_eq!(volume.warnings().len(), 3);
    }

    #[test]
    fn nodes_past_the_table_or_the_image_are_skipped() {
        let far = node([0, 0x7FFF], [0xFFFF_FFF0, 0xFFFF_FFFF], 0x20, b"a.txt");
        let (listing, volume) = open(&FORMAT, "x.iso", image(&far), None).unwrap();
        let (_, entry) = listing.files().next().unwrap();
        assert!(volume.content(entry.file).is_err());
        let mut long = node([0, 0], [DATA, 1], 0x20, b"a.txt");
        long[13] = 200;
        let (listing, _) = open(&FORMAT, "x.iso", image(&long), None).unwrap();
        assert!(listing.paths().is_empty());
    }

    #[test]
    fn a_root_that_cannot_be_read_is_an_error() {
        let mut bytes = image(&[]);
        bytes[32 * 2048 + 20..][..8].fill(0xFF);
        assert!(open(&FORMAT, "x.iso", bytes, None).is_err());
    }

    /// An image after the video part of a disc.
    struct Disc(Vec<u8>);

    impl ReadAt for Disc {
        fn len(&self) -> u64 {
            BASES[1] + self.0.len() as u64
        }

        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
            match offset.checked_sub(BASES[1]) {
                Some(offset) => self.0.read_exact_at(buf, offset),
                None => {
                    buf.fill(0);
                    Ok(())
                }
            }
        }
    }

    #[test]
    fn sectors_of_a_whole_disc_count_from_the_end_of_its_video_part() {
        let table = node([0, 0], [DATA, 3], 0x20, b"a.txt");
        let input = Input::alone(Arc::new(Disc(image(&table))), Options::default());
        assert!(matches(&input).unwrap());
        let mut listing = crate::extract::Listing::default();
        let volume = super::open(input, &mut listing).unwrap();
        let (_, entry) = listing.files().next().unwrap();
        assert_eq!(read(&*volume, entry).unwrap(), [7; 3]);
    }

    #[test]
    fn a_truncated_table_has_the_remaining_nodes() {
        let mut table = node([5, 0], [DATA, 1], 0x20, b"m.txt");
        table.extend(node([0, 0], [DATA, 1], 0x20, b"a.txt"));
        table.resize(2048, 0xFF);
        let mut bytes = image(&table);
        bytes.truncate(33 * 2048 + 30);
        let (listing, volume) = open(&FORMAT, "x.iso", bytes, None).unwrap();
        assert_eq!(listing.paths(), ["m.txt"]);
        assert!(!volume.warnings().is_empty());
    }

    #[test]
    fn an_empty_directory_may_have_a_table_without_nodes() {
        let (listing, _) = open(&FORMAT, "x.iso", image(&[0xFF; 2048]), None).unwrap();
        assert!(listing.paths().is_empty());
    }
}
