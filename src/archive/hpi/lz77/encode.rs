//! Encoding: the shortest sequence of literals and matches.

use super::{GROUP, MAX_MATCH, MIN_MATCH, Pair, WINDOW, window_position};

/// Cost of a literal in bits: its byte and its bit of the tag.
const LITERAL_COST: u32 = 9;

/// Cost of a match in bits, whatever its length and distance.
const MATCH_COST: u32 = 17;

/// Encodes `input`, end mark included. The result decodes to `input` and is
/// as short as the format allows for matches inside the input, but for those
/// that a hash collision hides.
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

/// The longest match at a position. Every shorter one from [`MIN_MATCH`] up
/// is there as well, at the same distance.
#[derive(Debug, Default, Clone, Copy)]
struct Match {
    /// How far back it starts, in bytes.
    distance: u16,
    /// Length in bytes; 0 where there is none.
    length: u8,
}

/// Finds the longest match at every position.
fn longest_matches(input: &[u8]) -> Vec<Match> {
    let mut finder = Finder::new(input);
    (0..input.len()).map(|at| finder.advance(at)).collect()
}

/// Bits of the hash of three bytes.
const HASH_BITS: u32 = 15;

/// Stands for no position.
const NONE: u32 = u32::MAX;

/// Knows where in the last [`WINDOW`] bytes what is next has been before.
struct Finder<'a> {
    input: &'a [u8],
    /// Last position of every two bytes. One is enough: all matches of
    /// length two cost the same.
    pairs: Vec<u32>,
    /// Last position of every hash of three bytes.
    heads: Vec<u32>,
    /// For a position, modulo the window, the one before it with its hash.
    previous: Vec<u32>,
}

impl<'a> Finder<'a> {
    fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            pairs: vec![NONE; 1 << 16],
            heads: vec![NONE; 1 << HASH_BITS],
            previous: vec![NONE; WINDOW],
        }
    }

    /// Finds the longest match at `at`, and takes `at` in for later ones.
    fn advance(&mut self, at: usize) -> Match {
        let mut best = Match::default();
        let Some(&[a, b, ref rest @ ..]) = self.input.get(at..) else {
            return best;
        };
        // A match cannot start at the position that is the end mark's.
        let usable = window_position(at) != 0;
        let pair = usize::from(u16::from_le_bytes([a, b]));
        self.improve(&mut best, at, self.pairs[pair]);
        if usable {
            self.pairs[pair] = at as u32;
        }
        if let Some(&c) = rest.first() {
            let hash = hash([a, b, c]);
            let mut candidate = self.heads[hash];
            while usize::from(best.length) < MAX_MATCH && self.improve(&mut best, at, candidate) {
                candidate = self.previous[candidate as usize % WINDOW];
            }
            if usable {
                self.previous[at % WINDOW] = self.heads[hash];
                self.heads[hash] = at as u32;
            }
        }
        best
    }

    /// Takes the match at `candidate` if it is longer than `best`. Tells
    /// whether the candidate, and perhaps one before it, is near enough.
    fn improve(&self, best: &mut Match, at: usize, candidate: u32) -> bool {
        let start = candidate as usize;
        // A match a whole window back would start where the cursor is. Some
        // decoders take that for a distance of nothing.
        if candidate == NONE || at - start >= WINDOW {
            return false;
        }
        let tail = usize::from(best.length);
        if self.input.get(start + tail) == self.input.get(at + tail) {
            let length = common_prefix(&self.input[start..], &self.input[at..]);
            if length >= MIN_MATCH && length > tail {
                *best = Match {
                    distance: (at - start) as u16,
                    length: length as u8,
                };
            }
        }
        true
    }
}

/// Hash of three bytes, of [`HASH_BITS`] bits.
fn hash([a, b, c]: [u8; 3]) -> usize {
    let bytes = u32::from_le_bytes([a, b, c, 0]);
    (bytes.wrapping_mul(0x9E37_79B1) >> (u32::BITS - HASH_BITS)) as usize
}

/// Number of bytes in which both begin alike, up to [`MAX_MATCH`].
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

/// The length of the item at every position on the cheapest way to the end: 1
/// for a literal, more for a match.
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

/// Puts items into groups behind their tags.
struct Packer {
    bytes: Vec<u8>,
    /// Where the tag of the current group is.
    tag: usize,
    /// Items in the current group.
    items: usize,
}

impl Packer {
    /// A packer for `length` bytes of input.
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
