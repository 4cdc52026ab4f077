//! The names of all entries, for searches.

use std::sync::Mutex;

use crate::memory::budget::Charge;
use crate::mount::Vfs;
use crate::sync::lock;

/// Number of bytes of a block of paths.
const BLOCK: usize = 64 << 10;

/// The paths of all entries that were found so far, one per line.
pub(super) struct Names(Mutex<State>);

struct State {
    blocks: Vec<String>,
    count: u64,
    collected: Collected,
    charge: Charge,
}

/// Progress of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collected {
    /// Nothing is collected.
    Off,
    Running,
    Done,
    /// Something was left out, since there is too much of it.
    Partial,
}

impl Collected {
    /// Returns its name in answers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Running => "running",
            Self::Done => "done",
            Self::Partial => "partial",
        }
    }
}

impl Names {
    /// Creates an empty list, which counts towards the memory budget.
    pub(super) fn new(vfs: &Vfs) -> Self {
        Self(Mutex::new(State {
            blocks: Vec::new(),
            count: 0,
            collected: Collected::Running,
            charge: vfs.reader().budget().empty_charge("names to search"),
        }))
    }

    /// Adds a path. Returns false if there is no memory for it.
    pub(super) fn add(&self, path: &str) -> bool {
        let mut state = lock(&self.0);
        let is_full = |block: &String| block.len() + path.len() + 1 > block.capacity();
        if state.blocks.last().is_none_or(is_full) {
            let block = String::with_capacity(BLOCK.max(path.len() + 1));
            let memory = state.charge.bytes() + block.capacity() + size_of::<String>();
            if state.charge.grow_sparing(memory).is_err() {
                return false;
            }
            state.blocks.push(block);
        }
        if let Some(block) = state.blocks.last_mut() {
            block.push_str(path);
            block.push('\n');
        }
        state.count += 1;
        true
    }

    /// Ends the collection.
    pub(super) fn end(&self, collected: Collected) {
        lock(&self.0).collected = collected;
    }

    /// Returns how far it is, and the number of paths.
    pub(super) fn progress(&self) -> (Collected, u64) {
        let state = lock(&self.0);
        (state.collected, state.count)
    }

    /// Returns the paths from number `after` on for which `is_wanted`, at most `most`, and the
    /// number of the first one that was not looked at; `None` if all were.
    pub(super) fn find(
        &self,
        after: u64,
        most: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> (Vec<String>, Option<u64>) {
        let state = lock(&self.0);
        let mut found = Vec::new();
        let paths = state.blocks.iter().flat_map(|block| block.lines());
        for (number, path) in (0..).zip(paths).skip(after as usize) {
            if !is_wanted(path) {
                continue;
            }
            if found.len() == most {
                return (found, Some(number));
            }
            found.push(path.to_owned());
        }
        (found, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mount::{Options, Sources};

    #[test]
    fn paths_are_found_page_by_page() {
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources::one(folder.path());
        let vfs = Vfs::open(&sources, Options::default()).unwrap();
        let names = Names::new(&vfs);
        for number in 0..10_000 {
            assert!(names.add(&format!("units/{number}.fbi")));
        }
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let (found, next) = names.find(after, 7, |path| path.contains("99"));
            all.extend(found);
            match next {
                Some(next) => after = next,
                None => break,
            }
        }
        let expected = (0..10_000).map(|number| format!("units/{number}.fbi"));
        let expected: Vec<String> = expected.filter(|path| path.contains("99")).collect();
        assert_eq!(all, expected);
    }
}
