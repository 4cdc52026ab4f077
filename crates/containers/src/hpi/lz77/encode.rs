//! Encoding to the shortest sequence of literals and matches.

use super::{GROUP, MAX_MATCH, MIN_MATCH, Pair, WINDOW, window_position};

/// Cost of a literal in bits: its byte and its bit of the tag.
const LITERAL_COST: u32 = 9;

/// Cost of a match in bits, whatever its length and distance.
const MATCH_COST: u32 = 17;

/// Encodes `input`, including the end mark.
///
/// The result is as short as matches inside the input allow, except that once
/// in 4096 bytes a position has no match of its own: `Finder::advance`.
pub fn encode(input: &[u8]) -> Vec<u8> {
    let matches = longest_matches(input);
    let lengths = cheapest_lengths(&matches);
    let mut packer = Packer::new(input.len());
    let mut at = 0;
    while at < input.len() {
        let length = usize::from(lengths[at]);
        if length == 1 {
            packer.push(&[input[at]], false);
        } else {
            let position = window_position(at - usize::from(matches[at].distance));
            packer.push(&Pair { position, length }.bits().to_le_bytes(), true);
        }
        at += length;
    }
    packer.push(&[0, 0], true);
    packer.bytes
}

/// The longest match at a position. All shorter ones from [`MIN_MATCH`] on
/// exist as well, at the same distance.
#[derive(Debug, Default, Clone, Copy)]
struct Match {
    /// Distance back to its start, in bytes.
    distance: u16,
    /// Length in bytes; 0 if nothing matches.
    length: u8,
}

/// Finds the longest match at every position.
fn longest_matches(input: &[u8]) -> Vec<Match> {
    let mut finder = Finder::new(input);
    (0..input.len()).map(|at| finder.advance(at)).collect()
}

/// Marks an absent position.
const NONE: u32 = u32::MAX;

/// Finds earlier occurrences of the next bytes in the last [`WINDOW`] bytes.
///
/// Positions are kept in binary search trees, one for every two initial bytes,
/// ordered by the [`MAX_MATCH`] bytes at each. The newest position is the root
/// and a child is older than its parent, so the path down from the root meets
/// the longest match before it leaves the window.
struct Finder<'a> {
    input: &'a [u8],
    /// Root of the tree for every two bytes.
    roots: Vec<u32>,
    /// For each position, modulo the window, the subtree of lower and the
    /// subtree of higher strings.
    children: Vec<[u32; 2]>,
}

impl<'a> Finder<'a> {
    fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            roots: vec![NONE; 1 << 16],
            children: vec![[NONE; 2]; WINDOW],
        }
    }

    /// Finds the longest match at `at`, and inserts `at` as the new root.
    fn advance(&mut self, at: usize) -> Match {
        let mut best = Match::default();
        let next = &self.input[at..];
        // The position of the end mark in the window cannot be a source, so it
        // is neither inserted into the trees nor searched for.
        if next.len() < MIN_MATCH || window_position(at) == 0 {
            return best;
        }
        let root = &mut self.roots[usize::from(u16::from_le_bytes([next[0], next[1]]))];
        let mut node = std::mem::replace(root, at as u32);
        // Attachment points of the next lower and the next higher node.
        let mut hooks = [(at % WINDOW, 0), (at % WINDOW, 1)];
        let set = |children: &mut [[u32; 2]], (parent, side): (usize, usize), node| {
            children[parent][side] = node;
        };
        // A match a whole window back would start at the cursor. Some decoders
        // treat that as a distance of 0.
        while node != NONE && at - (node as usize) < WINDOW {
            let start = node as usize;
            let length = common_prefix(&self.input[start..], next);
            if length > usize::from(best.length) {
                best = Match {
                    distance: (at - start) as u16,
                    length: length as u8,
                };
            }
            let below = self.children[start % WINDOW];
            if length == MAX_MATCH || length == next.len() {
                // Equal to the old position, and newer: replace it.
                set(&mut self.children, hooks[0], below[0]);
                set(&mut self.children, hooks[1], below[1]);
                return best;
            }
            let side = usize::from(self.input[start + length] > next[length]);
            set(&mut self.children, hooks[side], node);
            hooks[side] = (start % WINDOW, 1 - side);
            node = below[1 - side];
        }
        set(&mut self.children, hooks[0], NONE);
        set(&mut self.children, hooks[1], NONE);
        best
    }
}

/// Returns the length of the common prefix, up to [`MAX_MATCH`].
fn common_prefix(first: &[u8], second: &[u8]) -> usize {
    const WORD: usize = size_of::<u128>();
    if let (Some(a), Some(b)) = (first.first_chunk::<WORD>(), second.first_chunk::<WORD>()) {
        let difference = u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
        if difference != 0 {
            return difference.trailing_zeros() as usize / 8;
        }
    }
    let alike = first.iter().zip(second).take(MAX_MATCH);
    alike.take_while(|(a, b)| a == b).count()
}

/// Returns the length of the item at every position on the cheapest path to the
/// end: 1 for a literal, more for a match.
fn cheapest_lengths(matches: &[Match]) -> Vec<u8> {
    let mut lengths = vec![1; matches.len()];
    let mut costs = vec![0; matches.len() + 1];
    for (at, found) in matches.iter().enumerate().rev() {
        let mut best = LITERAL_COST + costs[at + 1];
        for length in MIN_MATCH as u8..=found.length {
            let cost = MATCH_COST + costs[at + usize::from(length)];
            if cost <= best {
                best = cost;
                lengths[at] = length;
            }
        }
        costs[at] = best;
    }
    lengths
}

/// Writes items in groups with their tags.
struct Packer {
    bytes: Vec<u8>,
    /// Position of the tag of the current group.
    tag: usize,
    /// Items in the current group.
    items: usize,
}

impl Packer {
    /// Creates a packer for `length` bytes of input.
    fn new(length: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(length + length / GROUP + 4),
            tag: 0,
            items: GROUP,
        }
    }

    fn push(&mut self, item: &[u8], is_pair: bool) {
        if self.items == GROUP {
            self.tag = self.bytes.len();
            self.bytes.push(0);
            self.items = 0;
        }
        self.bytes[self.tag] |= u8::from(is_pair) << self.items;
        self.bytes.extend_from_slice(item);
        self.items += 1;
    }
}
