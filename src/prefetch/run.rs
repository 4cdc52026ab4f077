//! A reader that reads files in order, and what to push for it.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;

use super::head::{Head, MAX_HEAD};
use super::walk::{Order, Walk};
use crate::content::{Access, BLOCK_SIZE};
use crate::mount::{Ino, Node};
use crate::platform::page_size;

/// Bytes that are pushed before the reader is seen again.
const WINDOW: u64 = 2 << 20;

/// Bytes of files whose order is determined ahead of the reader: when it is
/// seen again, up to half a window is already pushed.
const PLANNED: u64 = 2 * WINDOW;

/// Maximum number of files whose order is determined ahead of the reader.
const MAX_PLANNED: usize = 512;

/// Bytes that are decoded of files that the kernel does not know yet.
const MAX_DECODED: u64 = 1 << 20;

/// Bytes that are decoded ahead of the kernel's read-ahead in a file.
const AHEAD: u64 = 256 << 10;

/// Minimum number of bytes that a file counts for.
const FILE_COST: u64 = 1 << 10;

/// Number of files that a reader must read in order until more are expected.
const MIN_FILES: u32 = 2;

/// Files that a reader may skip in succession.
const GAP: usize = 2;

/// A reader that reads files in order.
pub(super) struct Run {
    /// The file that it reads, and those after it.
    files: VecDeque<PlannedFile>,
    /// The sum of their costs, in bytes.
    planned: u64,
    /// The position after the last planned file; `None` if the plan ends there.
    walk: Option<Walk>,
    /// The file that it began with.
    first_file: Ino,
    /// The file before the current one: late requests for it may still come.
    previous: Option<Ino>,
    /// Number of files that were read in order.
    count: u32,
    /// The ends of the furthest read and of the last read in the current file, which may be
    /// read again.
    read_to: u64,
    last_end: u64,
    /// Offsets in the current file that are decoded ahead of the kernel's
    /// read-ahead: the next block, and the end.
    current: Range<u64>,
    /// True if the current file was pushed, so that its reads are not seen.
    is_pushed: bool,
    /// Position to push next: a number in `files`, and an offset.
    next: (usize, u64),
    /// Bytes that may be pushed until the reader is seen again.
    budget: u64,
    /// Bytes pushed since something was omitted.
    unmarked: u64,
    /// The last omission: file and offset.
    mark: Option<(Ino, u64)>,
    /// Length of the start of each file that is pushed.
    head: Head,
    /// The directory of the current file, and those around it. The kernel
    /// knows the files in them.
    listed: Vec<Ino>,
    /// The first of the bytes that are only decoded so far.
    decoded: Option<Push>,
    /// The number of those bytes.
    decoded_bytes: u64,
}

/// A file that a reader is expected to read.
#[derive(Clone, Copy)]
struct PlannedFile {
    ino: Ino,
    /// The directory that it is in, and its number there.
    position: Option<(Ino, usize)>,
    size: u64,
}

/// Bytes of a file to push: a block, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Push {
    /// The file.
    pub(super) ino: Ino,
    /// Offset of the first byte.
    pub(super) start: u64,
    /// Number of bytes.
    pub(super) length: u64,
    /// Expected access pattern of the reader.
    pub(super) access: Access,
    /// True if the bytes are only decoded: the kernel does not know the file yet, or will request
    /// them itself.
    pub(super) is_decoded_only: bool,
}

impl Push {
    /// Returns the number of bytes that it counts for.
    pub(super) fn cost(self) -> u64 {
        self.length.max(FILE_COST)
    }
}

impl Run {
    /// Creates the run of a reader that begins with a file, and reads the heads of
    /// files. If it continues another run, the first file is enough to expect more.
    pub(super) fn new(node: &Node<'_>, head: Head, continues: bool) -> Self {
        let file = PlannedFile::new(node);
        let position = node.tree().position(node.index);
        Self {
            files: VecDeque::from([file]),
            planned: file.cost(),
            walk: position.map(|position| Walk::after(position, Order::Listed)),
            first_file: node.ino(),
            previous: None,
            count: if continues { MIN_FILES } else { 0 },
            read_to: 0,
            last_end: 0,
            current: 0..0,
            is_pushed: false,
            next: (1, 0),
            budget: 0,
            unmarked: 0,
            mark: None,
            head,
            listed: Vec::new(),
            decoded: None,
            decoded_bytes: 0,
        }
    }

    /// Returns what to push of each file for another reader of the same program;
    /// `None` if that is unknown.
    pub(super) fn inherited_head(&self) -> Option<Head> {
        self.head.inherited()
    }

    /// Returns the file that the run began with.
    pub(super) fn first_file(&self) -> Ino {
        self.first_file
    }

    /// Returns whether more files are expected to be read.
    pub(super) fn is_active(&self) -> bool {
        self.count >= MIN_FILES
    }

    /// Returns whether a read at `offset` of this file continues the run.
    pub(super) fn expects(&self, ino: Ino, offset: u64) -> bool {
        // Files that are not pushed are read from their start.
        let last = match self.is_active() {
            false if offset > 0 => 0,
            _ => self.next.0 + GAP,
        };
        let mut expected = self.files.iter().take(last + 1);
        self.previous == Some(ino) || expected.any(|file| file.ino == ino)
    }

    /// Returns whether a read of this file would be the second one in the reverse
    /// order.
    pub(super) fn turns_to(&self, node: &Node<'_>) -> bool {
        let positions = (self.files[0].position, PlannedFile::new(node).position);
        let (Some((directory, here)), Some((other, there))) = positions else {
            return false;
        };
        !self.is_active() && directory == other && (1..=GAP + 1).contains(&here.wrapping_sub(there))
    }

    /// Expects the files before the current one, in the reverse order. `node` is
    /// in the same directory.
    pub(super) fn turn(&mut self, node: &Node<'_>) {
        let here = self.files[0];
        let positions = node.tree().position(node.index).zip(here.position);
        self.walk = positions.map(|((directory, _), (_, number))| {
            let position = (directory, number);
            Walk::after(position, Order::Reversed)
        });
        self.files.truncate(1);
        self.planned = here.cost();
        self.next = (1, 0);
        self.plan(node, |_| false);
    }

    /// Notes a read of an expected file, and returns how the reader reads it.
    /// The next files are determined up to the first one where another run
    /// begins, according to `is_taken`.
    pub(super) fn note_read(
        &mut self,
        node: &Node<'_>,
        offset: u64,
        size: u64,
        is_taken: impl Fn(Ino) -> bool,
    ) -> Access {
        let ino = node.ino();
        let Some(number) = self.files.iter().position(|file| file.ino == ino) else {
            return Access::Unknown;
        };
        // All that comes before a mark was pushed.
        let is_mark = self.mark == Some((ino, offset));
        if !is_mark {
            self.head.note_read_beyond(offset);
        }
        if number > 0 {
            self.advance(number);
        } else if offset > 0 {
            self.head.note_whole();
        }
        if number > 0 || self.count == 0 {
            self.count = self.count.saturating_add(1);
        }
        let is_sequential = is_mark || [self.read_to, self.last_end].contains(&offset);
        self.note_sequential(is_sequential, offset, size);
        self.last_end = offset + size;
        self.read_to = self.read_to.max(self.last_end);
        self.enter_directory(node);
        if self.is_active() {
            self.budget = WINDOW;
        }
        self.plan(node, is_taken);
        if !is_sequential {
            Access::Unknown
        } else if self.head.ends_at(offset + size) {
            Access::Head
        } else {
            Access::Sequential
        }
    }

    /// Notes a read in the current file. If it is the kernel's read-ahead for a
    /// sequential reader, the next blocks are decoded as well: the kernel
    /// requests them only when the reader comes to the end of this one.
    fn note_sequential(&mut self, is_sequential: bool, offset: u64, size: u64) {
        if !is_sequential || size < BLOCK_SIZE.into() {
            self.current = 0..0;
            return;
        }
        let next = (offset + size).next_multiple_of(BLOCK_SIZE.into());
        let end = self.files[0].size.min(offset + size + AHEAD);
        self.current = next.max(self.current.start)..end;
    }

    /// Returns whether blocks of the current file are to be decoded.
    pub(super) fn reads_on(&self) -> bool {
        !self.current.is_empty()
    }

    /// Makes the file with this number the current one.
    fn advance(&mut self, number: usize) {
        let reads_heads = !self.is_pushed && self.read_to < self.files[0].size;
        let passed = self.files.range(..number);
        let has_passed = |ino| passed.clone().any(|file| file.ino == ino);
        let mark = self.mark.filter(|&(_, offset)| offset > 0);
        let skips_mark = mark.is_some_and(|(ino, _)| has_passed(ino));
        self.head.note_passed(has_passed);
        if reads_heads || skips_mark {
            self.head.note_head(self.read_to);
        }
        self.mark = None;
        self.is_pushed = (number, 0) < self.next;
        self.previous = Some(self.files[number - 1].ino);
        let passed = self.files.drain(..number);
        self.planned -= passed.map(|file| file.cost()).sum::<u64>();
        self.read_to = 0;
        self.last_end = 0;
        self.current = 0..0;
        self.next = match self.next.0.checked_sub(number) {
            // The kernel reads ahead in the current file. If the reader has
            // caught up in a short one, it requests the next one itself before that
            // is pushed.
            None | Some(0) => {
                let is_short = self.files[0].size <= MAX_HEAD;
                (1 + usize::from(self.is_active() && is_short), 0)
            }
            Some(next) => (next, self.next.1),
        };
    }

    /// Notes the directory of the reader, whose files the kernel knows.
    fn enter_directory(&mut self, node: &Node<'_>) {
        let parent = |index| node.tree().position(index).map(|(parent, _)| parent);
        let directory = parent(node.index);
        if self.listed.first().copied() == directory.map(|index| node.ino_of(index)) {
            return;
        }
        self.listed.clear();
        let directories = iter::successors(directory, |&index| parent(index));
        self.listed
            .extend(directories.map(|index| node.ino_of(index)));
        self.push_decoded();
    }

    /// Notes that the kernel knows the files of a directory. Returns whether
    /// there is something to push of them.
    pub(super) fn note_listed(&mut self, directory: Ino) -> bool {
        let mut positions = self.files.iter().filter_map(|file| file.position);
        let is_ahead = positions.any(|(parent, _)| parent == directory);
        if is_ahead {
            self.push_decoded();
        }
        is_ahead && self.is_active()
    }

    /// Continues with the first of the bytes that are only decoded so far, which
    /// the kernel may take now.
    fn push_decoded(&mut self) {
        self.decoded_bytes = 0;
        if let Some(decoded) = self.decoded.take() {
            let number = self.files.iter().position(|file| file.ino == decoded.ino);
            self.next = match number {
                None | Some(0) => (1, 0),
                Some(number) => (number, decoded.start),
            };
        }
    }

    /// Ends in front of the first file of another reader.
    pub(super) fn end_before(&mut self, ino: Ino) {
        let number = self.files.iter().position(|file| file.ino == ino);
        if let Some(number) = number.filter(|&number| number > 0) {
            let others = self.files.drain(number..);
            self.planned -= others.map(|file| file.cost()).sum::<u64>();
            self.walk = None;
            self.next = self.next.min((number, 0));
        }
    }

    /// Returns whether the reader has yet to come to a file.
    pub(super) fn is_ahead(&self, ino: Ino) -> bool {
        let mut next = self.files.iter().skip(1);
        next.any(|file| file.ino == ino)
    }

    /// Plans the next files: those to push, and a few more, so that the reader
    /// is recognized when it comes to them.
    fn plan(&mut self, node: &Node<'_>, is_taken: impl Fn(Ino) -> bool) {
        let wanted = if self.is_active() { PLANNED } else { 0 };
        while self.planned < wanted && self.files.len() < MAX_PLANNED
            || self.files.len() <= self.next.0 + GAP
        {
            let walk = self.walk.as_mut();
            let index = walk.and_then(|walk| walk.next_file(node.tree()));
            let file = index.map(|index| PlannedFile::new(&node.other(index)));
            let Some(file) = file.filter(|file| !is_taken(file.ino)) else {
                self.walk = None;
                return;
            };
            self.planned += file.cost();
            self.files.push_back(file);
        }
    }

    /// Returns the next bytes to push. `is_listed` says of a directory whether
    /// it was listed lately.
    pub(super) fn take(&mut self, is_listed: impl Fn(Ino) -> bool) -> Option<Push> {
        if self.reads_on() {
            return Some(self.take_current());
        }
        while self.budget > 0 {
            let (number, start) = self.next;
            let file = *self.files.get(number)?;
            let kept_back = if self.walk.is_some() { GAP } else { 0 };
            let is_known = file.position.is_some_and(|(directory, _)| {
                self.listed.contains(&directory) || is_listed(directory)
            });
            // No less than a block is decoded.
            let reads_blocks = self.head.to_push() >= BLOCK_SIZE.into();
            let may_decode = reads_blocks && self.decoded_bytes < MAX_DECODED;
            if number + kept_back >= self.files.len() || !is_known && !may_decode {
                return None;
            }
            let end = file.size.min(self.head.to_push());
            if start >= end {
                self.next = (number + 1, 0);
                continue;
            }
            let push = Push {
                ino: file.ino,
                start,
                length: (end - start).min(BLOCK_SIZE.into()),
                access: match self.head.is_whole() {
                    true => Access::Sequential,
                    false => Access::Head,
                },
                is_decoded_only: !is_known,
            };
            if let Some(push) = self.spend(push, file.size) {
                return Some(push);
            }
        }
        None
    }

    fn take_current(&mut self) -> Push {
        let start = self.current.start;
        self.current.start += u64::from(BLOCK_SIZE);
        Push {
            ino: self.files[0].ino,
            start,
            length: u64::from(BLOCK_SIZE).min(self.files[0].size - start),
            access: Access::Sequential,
            is_decoded_only: true,
        }
    }

    /// Accounts for a push, and returns the part that is not omitted.
    fn spend(&mut self, push: Push, size: u64) -> Option<Push> {
        let cost = push.cost();
        self.budget = self.budget.saturating_sub(cost);
        self.next.1 = push.start + push.length;
        if push.is_decoded_only {
            self.decoded.get_or_insert(push);
            self.decoded_bytes += cost;
            return Some(push);
        }
        self.unmarked += cost;
        if self.unmarked < WINDOW / 2 {
            if self.head.note_pushed(push.ino, size) {
                self.next = (self.next.0 + 1, 0);
            }
            return Some(push);
        }
        self.omit_mark(push, size)
    }

    /// Omits something that the kernel requests when the reader is there: the
    /// last page of a file, or a whole file if only its head would be pushed.
    /// The kernel's read-ahead works best from the start of a file.
    fn omit_mark(&mut self, push: Push, size: u64) -> Option<Push> {
        let omitted = if push.start == 0 && size > self.head.to_push() {
            self.next = (self.next.0 + 1, 0);
            push.length
        } else if push.start + push.length == size {
            (push.length - 1) % page_size() + 1
        } else {
            return Some(push);
        };
        self.unmarked = 0;
        let length = push.length - omitted;
        self.mark = Some((push.ino, push.start + length));
        (length > 0).then_some(Push { length, ..push })
    }
}

impl PlannedFile {
    fn new(node: &Node<'_>) -> Self {
        let position = node.tree().position(node.index);
        Self {
            ino: node.ino(),
            position: position.map(|(directory, number)| (node.ino_of(directory), number)),
            size: node.size().unwrap_or(0),
        }
    }

    fn cost(&self) -> u64 {
        self.size.clamp(FILE_COST, MAX_HEAD)
    }
}
