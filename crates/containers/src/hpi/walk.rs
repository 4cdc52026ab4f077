//! The common parts of reading the directories of both versions: the queue, the
//! limits for hostile ones, and passing entries to the sink.

use std::collections::{HashSet, VecDeque};

use super::FileRecord;
use crate::io::Warnings;
use crate::io::{Error, Result};
use crate::volume::{Entry, FileId, MAX_DEPTH, NodeId, Sink};

/// A directory that is yet to be read.
pub(super) struct Pending {
    /// The position of its node or record.
    pub(super) offset: u32,
    node: NodeId,
    depth: usize,
}

/// A breadth-first walk over an archive's directories.
pub(super) struct Walk<'a> {
    sink: &'a mut dyn Sink,
    force: bool,
    pending: VecDeque<Pending>,
    /// Offsets of the directories that were entered. Each may be entered once,
    /// since a cycle or a fan-out of shared nodes would be endless.
    entered: HashSet<u32>,
    /// Number of further entries that fit in the directory. Overlapping lists could
    /// have any number.
    room: usize,
    /// Number of further bytes that names may have. Entries that share a long name
    /// could have any number.
    name_room: usize,
    /// The files in the order of their [`FileId`]s.
    pub(super) files: Vec<FileRecord>,
    /// The position of the record of each file.
    pub(super) records: Vec<u32>,
    /// Number of directories except for the root.
    pub(super) directories: u32,
    /// The warnings.
    pub(super) warnings: Warnings,
}

impl<'a> Walk<'a> {
    /// Creates a walk that begins with the root directory at `root`, in a
    /// directory with room for this many entries and bytes of names.
    pub(super) fn new(
        sink: &'a mut dyn Sink,
        force: bool,
        root: u32,
        room: usize,
        name_room: usize,
    ) -> Self {
        let root = Pending {
            offset: root,
            node: sink.root(),
            depth: 0,
        };
        Self {
            sink,
            force,
            pending: VecDeque::from([root]),
            entered: HashSet::new(),
            room,
            name_room,
            files: Vec::new(),
            records: Vec::new(),
            directories: 0,
            warnings: Warnings::default(),
        }
    }

    /// Returns the next directory to read.
    pub(super) fn next(&mut self) -> Option<Pending> {
        self.pending.pop_front()
    }

    /// Registers that the `entries` of a directory are about to be read.
    ///
    /// # Errors
    /// Returns an error if they were read before, are nested too deep, or
    /// exceed the possible number of entries.
    pub(super) fn enter(&mut self, directory: &Pending, entries: usize) -> Result<()> {
        let problem = if entries > self.room {
            "has entries that belong to other directories".to_owned()
        } else if !self.entered.insert(directory.offset) {
            "is used by two directories".to_owned()
        } else if directory.depth > MAX_DEPTH {
            format!("is nested deeper than {MAX_DEPTH} directories")
        } else {
            self.room -= entries;
            return Ok(());
        };
        Err(Error::damaged(
            directory.offset.into(),
            "directory",
            problem,
        ))
    }

    /// Registers that the directory has an entry with this name.
    fn take_name(&mut self, directory: &Pending, name: &[u8]) -> Result<()> {
        let Some(left) = self.name_room.checked_sub(name.len()) else {
            return Err(Error::damaged(
                directory.offset.into(),
                "directory",
                "has names that belong to other entries",
            ));
        };
        self.name_room = left;
        Ok(())
    }

    /// Adds a subdirectory, to be read later.
    pub(super) fn dir(&mut self, parent: &Pending, name: &[u8], offset: u32) -> Result<()> {
        self.take_name(parent, name)?;
        let node = self.sink.dir(parent.node, name.into(), None)?;
        self.directories += 1;
        self.pending.push_back(Pending {
            offset,
            node,
            depth: parent.depth + 1,
        });
        Ok(())
    }

    /// Adds a file, whose record is at `record_offset`.
    pub(super) fn file(
        &mut self,
        parent: &Pending,
        name: &[u8],
        record_offset: u32,
        record: FileRecord,
        modified: Option<i64>,
    ) -> Result<()> {
        self.take_name(parent, name)?;
        let entry = Entry {
            file: FileId(self.files.len() as u32),
            size: Some(record.size.into()),
            modified,
            asset: None,
        };
        self.sink.file(parent.node, name.into(), entry)?;
        self.files.push(record);
        self.records.push(record_offset);
        Ok(())
    }

    /// With `force`, turns damage into a warning; damaged entries are not added
    /// to the tree.
    pub(super) fn tolerate(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Err(error @ Error::Damaged { .. }) if self.force => {
                self.warnings.push(format!("skipped: {error}"));
                Ok(())
            }
            other => other,
        }
    }
}
