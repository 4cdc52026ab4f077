//! Converting files ahead of readers.
//!
//! A file of a converted tree is made when its size or its bytes are requested, which
//! takes longer than all other requests. If a program takes the files of a directory in
//! their order, as `cp -r` and thumbnailers do, the other cores make the next ones
//! meanwhile. They are kept like those that were requested.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::Path;

use crate::memory::latest::Latest;
use crate::mount::{Ino, Node};
use crate::namespace::tree::Index;

/// Maximum number of readers in the list.
const MAX_RUNS: usize = 16;

/// Files that a reader must take in order until more are made.
const MIN_FILES: u32 = 2;

/// Entries of a directory between two files that are taken in succession.
const GAP: usize = 8;

/// Files that each thread makes ahead of a reader.
const AHEAD: usize = 2;

/// Minimum memory budget: with less, files would be evicted before they are read.
pub(super) const MIN_BUDGET: usize = 16 << 20;

/// The readers of converted files, and the files to make for them.
pub(super) struct Conversions {
    runs: Latest<Run>,
    queue: VecDeque<Ino>,
}

/// A reader that takes the files of a directory in their order.
struct Run {
    directory: Ino,
    /// Number in the directory of the file that was taken last.
    number: usize,
    /// Number of files that were taken in order.
    count: u32,
    /// Files before this number were queued or passed.
    queued: usize,
}

impl Default for Conversions {
    fn default() -> Self {
        Self {
            runs: Latest::new(MAX_RUNS),
            queue: VecDeque::new(),
        }
    }
}

impl Conversions {
    /// Notes that the size or the bytes of a rendered file are requested. Returns whether
    /// there are files to make for its reader, on `threads` threads. Files that `is_known`
    /// accepts need not be made for their attributes.
    pub(super) fn note(
        &mut self,
        node: &Node<'_>,
        threads: usize,
        is_known: impl Fn(&Node<'_>) -> bool,
    ) -> bool {
        let Some((directory, number)) = node.tree().position(node.index) else {
            return false;
        };
        let ino = node.ino_of(directory);
        let continued =
            |run: &Run| run.directory == ino && (run.number..=run.number + GAP).contains(&number);
        let mut run = self.runs.take(continued).unwrap_or(Run {
            directory: ino,
            number,
            count: 1,
            queued: 0,
        });
        if number > run.number {
            run.count = run.count.saturating_add(1);
            if run.count >= MIN_FILES {
                let is_wanted = |node: &Node<'_>| node.rendered().is_some() && !is_known(node);
                let position = (directory, number);
                self.queue_after(&mut run, node, position, threads * AHEAD, is_wanted);
            }
            run.number = number;
        }
        self.runs.put(run);
        !self.queue.is_empty()
    }

    /// Queues the next files of a reader that has come to the file with a number in its
    /// directory. If it has passed some, it reads only those with the same extension.
    fn queue_after(
        &mut self,
        run: &mut Run,
        node: &Node<'_>,
        (directory, number): (Index, usize),
        count: usize,
        is_wanted: impl Fn(&Node<'_>) -> bool,
    ) {
        let entries = |from| (from..).zip(node.tree().entries(directory, from));
        let is_rendered = |index| node.other(index).rendered().is_some();
        let mut passed = entries(run.number + 1).take_while(|&(at, _)| at < number);
        let has_passed = passed.any(|(_, (_, index))| is_rendered(index));
        let taken = extension(node.tree().name(node.index));
        let next = entries(number + 1)
            .take(count * GAP)
            .filter(|&(_, (name, index))| {
                (!has_passed || extension(name) == taken) && is_wanted(&node.other(index))
            });
        for (at, (_, index)) in next.take(count) {
            if at >= run.queued {
                self.queue.push_back(node.ino_of(index));
                run.queued = at + 1;
            }
        }
    }

    /// Takes the next file to make.
    pub(super) fn take(&mut self) -> Option<Ino> {
        self.queue.pop_front()
    }
}

fn extension(name: &str) -> Option<&OsStr> {
    Path::new(name).extension()
}
