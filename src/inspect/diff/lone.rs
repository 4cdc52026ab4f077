//! Files that only one side has, and which of them belong together.

use std::collections::{HashMap, HashSet, VecDeque};

use super::Side;
use super::record::Record;
use crate::mount::{FileKind, HeldIno, Ino};

/// An entry that only one side has.
pub(super) struct Lone {
    pub(super) side: Side,
    pub(super) path: Box<str>,
    pub(super) ino: HeldIno,
    pub(super) kind: FileKind,
    /// Its size in bytes; 0 for anything but a file.
    pub(super) size: u64,
    /// The number of its pair of archives and its id in them, if it is an asset
    /// with an id.
    pub(super) asset: Option<(u32, u32)>,
}

impl Lone {
    pub(super) fn into_record(self) -> Record {
        Record::Lone {
            side: self.side,
            path: self.path.into(),
            kind: self.kind,
            size: self.size,
        }
    }

    /// Returns whether it may be a file that was moved. All empty files are
    /// equal.
    fn may_be_moved(&self) -> bool {
        self.kind == FileKind::File && self.size > 0
    }
}

/// The entries of one side alone, as many as fit.
pub(super) struct LoneFiles {
    sides: [Vec<Lone>; 2],
    /// Number of bytes that more of them may take.
    room: usize,
}

impl LoneFiles {
    /// Creates an empty list of at most this many bytes.
    pub(super) fn new(room: usize) -> Self {
        Self {
            sides: [Vec::new(), Vec::new()],
            room,
        }
    }

    /// Keeps an entry. Returns it if there is no room for it.
    pub(super) fn add(&mut self, file: Lone) -> Option<Lone> {
        // A list has up to twice the capacity that it needs, and so have the
        // checksums later.
        let bytes = file.path.len() + 2 * size_of::<Lone>() + 2 * size_of::<Sum>();
        let Some(room) = self.room.checked_sub(bytes) else {
            return Some(file);
        };
        self.room = room;
        self.sides[file.side].push(file);
        None
    }

    pub(super) fn into_matching(self) -> Matching {
        let kept = |files: Vec<Lone>| files.into_iter().map(Some).collect();
        Matching {
            sides: self.sides.map(kept),
            sums: [HashMap::new(), HashMap::new()],
        }
    }
}

/// A SHA-256.
type Sum = [u8; 32];

/// The entries of one side alone, of which those that belong together are taken.
pub(super) struct Matching {
    sides: [Vec<Option<Lone>>; 2],
    /// The checksums of some of them, by their positions.
    sums: [HashMap<usize, Sum>; 2],
}

impl Matching {
    /// Takes the assets that have the same id in both archives of a pair.
    pub(super) fn take_same_assets(&mut self) -> Vec<[Lone; 2]> {
        let mut olds = HashMap::new();
        for (number, file) in self.sides[0].iter().enumerate() {
            if let Some(asset) = file.as_ref().and_then(|file| file.asset) {
                olds.entry(asset).or_insert(number);
            }
        }
        let mut pairs = Vec::new();
        for number in 0..self.sides[1].len() {
            let new = self.sides[1][number].as_ref();
            let asset = new.and_then(|file| file.asset);
            if let Some(old) = asset.and_then(|asset| olds.remove(&asset)) {
                pairs.push((old, number));
            }
        }
        self.take(pairs)
    }

    /// Returns the files of both sides that have the size of one of the other
    /// side: side, position and inode number.
    pub(super) fn of_equal_size(&self) -> Vec<(Side, usize, Ino)> {
        let sizes = [0, 1].map(|side: Side| {
            let files = self.sides[side].iter().flatten();
            let files = files.filter(|file| file.may_be_moved());
            files.map(|file| file.size).collect::<HashSet<u64>>()
        });
        let mut found = Vec::new();
        for (side, files) in self.sides.iter().enumerate() {
            for (number, file) in files.iter().enumerate() {
                if let Some(file) = file
                    && file.may_be_moved()
                    && sizes[1 - side].contains(&file.size)
                {
                    found.push((side, number, *file.ino));
                }
            }
        }
        found
    }

    /// Sets the checksum of the file at a position.
    pub(super) fn set_sum(&mut self, side: Side, number: usize, sum: Sum) {
        self.sums[side].insert(number, sum);
    }

    /// Takes the files with equal checksums, each with the first one of the
    /// other side that is left.
    pub(super) fn take_equal(&mut self) -> Vec<[Lone; 2]> {
        let mut olds: HashMap<Sum, VecDeque<usize>> = HashMap::new();
        for number in 0..self.sides[0].len() {
            if let Some(sum) = self.sums[0].get(&number) {
                olds.entry(*sum).or_default().push_back(number);
            }
        }
        let mut pairs = Vec::new();
        for number in 0..self.sides[1].len() {
            let sum = self.sums[1].get(&number);
            let olds = sum.and_then(|sum| olds.get_mut(sum));
            if let Some(old) = olds.and_then(VecDeque::pop_front) {
                pairs.push((old, number));
            }
        }
        self.take(pairs)
    }

    /// Takes the files at these positions of both sides.
    fn take(&mut self, pairs: Vec<(usize, usize)>) -> Vec<[Lone; 2]> {
        let [olds, news] = &mut self.sides;
        let pairs = pairs.into_iter();
        pairs
            .filter_map(|(old, new)| Some([olds[old].take()?, news[new].take()?]))
            .collect()
    }

    /// Returns the entries that belong to no other, those of the first side
    /// first.
    pub(super) fn into_rest(self) -> impl Iterator<Item = Lone> {
        self.sides.into_iter().flatten().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lone(side: Side, path: &str, size: u64, asset: Option<(u32, u32)>) -> Lone {
        Lone {
            side,
            path: path.into(),
            ino: HeldIno::kept(Ino(1)),
            kind: FileKind::File,
            size,
            asset,
        }
    }

    fn matching(files: Vec<Lone>) -> Matching {
        let mut lone = LoneFiles::new(1 << 20);
        for file in files {
            assert!(lone.add(file).is_none());
        }
        lone.into_matching()
    }

    fn paths(pairs: &[[Lone; 2]]) -> Vec<[&str; 2]> {
        let pairs = pairs.iter();
        pairs.map(|[old, new]| [&*old.path, &*new.path]).collect()
    }

    #[test]
    fn each_file_moves_once_and_only_files_of_equal_size_are_hashed() {
        let mut matching = matching(vec![
            lone(0, "a", 5, None),
            lone(0, "b", 5, None),
            lone(0, "long", 9, None),
            lone(0, "empty", 0, None),
            lone(1, "c", 5, None),
            lone(1, "other", 5, None),
            lone(1, "none", 0, None),
        ]);
        let hashed: Vec<(Side, usize)> = matching
            .of_equal_size()
            .into_iter()
            .map(|(side, number, _)| (side, number))
            .collect();
        assert_eq!(hashed, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        for (side, number) in hashed {
            let is_other = (side, number) == (1, 1);
            matching.set_sum(side, number, [u8::from(is_other); 32]);
        }
        assert_eq!(paths(&matching.take_equal()), [["a", "c"]]);
        let rest: Vec<_> = matching.into_rest().map(|file| file.path).collect();
        let rest: Vec<&str> = rest.iter().map(|path| &**path).collect();
        assert_eq!(rest, ["b", "long", "empty", "other", "none"]);
    }

    #[test]
    fn assets_belong_together_by_their_ids_in_one_pair_of_archives() {
        let mut matching = matching(vec![
            lone(0, "a", 5, Some((0, 7))),
            lone(0, "b", 5, Some((1, 7))),
            lone(1, "c", 6, Some((1, 7))),
            lone(1, "d", 6, Some((1, 8))),
        ]);
        assert_eq!(paths(&matching.take_same_assets()), [["b", "c"]]);
    }

    #[test]
    fn a_file_without_room_is_returned() {
        let mut lone_files = LoneFiles::new(10);
        assert!(lone_files.add(lone(0, "a", 5, None)).is_some());
    }
}
