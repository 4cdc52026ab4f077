//! Decoding, in memory and as a stream.

use std::hint::select_unpredictable;
use std::io::{self, BufReader, Read};

use super::super::chunk::CHUNK_SIZE;
use super::{GROUP, Lz77Error, MAX_MATCH, MIN_MATCH, Pair, START, WINDOW};

/// Index of the first decoded byte in the arena: the window position of each
/// decoded byte is its index modulo [`WINDOW`]. The bytes before are the zeros
/// of a new window.
const OUTPUT: usize = WINDOW + START;

/// Index of the first packed byte in the arena, a power of two.
const INPUT: usize = 1 << 17;

/// Bytes of the arena that are addressed, a power of two.
const ARENA: usize = 2 * INPUT;

/// Maximum number of packed bytes of a group: its tag and pairs.
const MAX_GROUP: usize = 1 + GROUP * size_of::<u16>();

/// Bytes that are copied for an item, whatever its length.
const COPY: usize = MAX_MATCH - 1;

/// Bytes after [`ARENA`], so that a copy can begin at each of its indices.
const SLACK: usize = MAX_MATCH;

// The last group may exceed the decoded length before that is noticed.
const _: () = assert!(OUTPUT + CHUNK_SIZE + GROUP * MAX_MATCH + MAX_MATCH <= INPUT);

/// Decodes chunks in memory.
///
/// Packed and decoded bytes are in one array, the arena: literals and matches
/// are then copies that differ only in source and length, and items are decoded
/// without a branch on their kind. Such a branch would be mispredicted for
/// every few items, which takes longer than the copy.
pub struct Decoder {
    arena: Box<[u8; ARENA + SLACK]>,
}

impl Default for Decoder {
    fn default() -> Self {
        // Allocated as zeros, not copied: pages that are not used take no memory.
        let arena: Box<[u8]> = vec![0; ARENA + SLACK].into_boxed_slice();
        let Ok(arena) = arena.try_into() else {
            unreachable!("the lengths are the same");
        };
        Self { arena }
    }
}

impl Decoder {
    /// Decodes `input`, which must decode to exactly `length` bytes followed by
    /// the end mark. Anything after the end mark is ignored, as by the games.
    ///
    /// # Errors
    /// Returns `InvalidData` with an [`Lz77Error`] inside if the data ends
    /// early or has another length.
    pub fn decode(&mut self, input: &[u8], length: usize) -> io::Result<Vec<u8>> {
        let progress = self.decode_fast(input, length);
        if progress.is_some_and(|progress| progress.has_ended && progress.decoded == length) {
            return Ok(self.arena[OUTPUT..OUTPUT + length].to_vec());
        }
        // The stream decoder finds the first error.
        let mut decoded = Vec::new();
        Reader::new(input, length as u64).read_to_end(&mut decoded)?;
        Ok(decoded)
    }

    /// Decodes the first `wanted` bytes of `input`, which must decode to
    /// exactly `length` bytes. What follows them is not verified.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Decoder::decode`], but
    /// not if the data is damaged only after these bytes.
    pub fn decode_start(
        &mut self,
        input: &[u8],
        wanted: usize,
        length: usize,
    ) -> io::Result<Vec<u8>> {
        // A decoded byte takes at most a packed one and a bit of a tag.
        let enough = wanted + wanted / GROUP + 2 * MAX_GROUP;
        let progress = self.decode_fast(&input[..input.len().min(enough)], wanted);
        if progress.is_some_and(|progress| progress.decoded >= wanted) {
            return Ok(self.arena[OUTPUT..OUTPUT + wanted].to_vec());
        }
        self.decode(input, length)
    }

    /// Decodes up to the end mark, or until at least `length` bytes are
    /// decoded. Returns `None` if there is no room for these, or if the data
    /// ends early.
    fn decode_fast(&mut self, input: &[u8], length: usize) -> Option<Progress> {
        if length > CHUNK_SIZE || input.len() > ARENA - INPUT {
            return None;
        }
        // Masked with this, indices need no bounds checks.
        const MASK: usize = ARENA - 1;
        let arena = &mut *self.arena;
        let input_end = INPUT + input.len();
        arena[INPUT..input_end].copy_from_slice(input);
        let mut from = INPUT;
        let mut to = OUTPUT;
        while from < input_end && to <= OUTPUT + length {
            let mut tag = usize::from(arena[from & MASK]);
            from += 1;
            for _ in 0..GROUP {
                let is_pair = tag & 1 == 1;
                tag >>= 1;
                let low = from & MASK;
                let bits = usize::from(u16::from_le_bytes([arena[low], arena[low + 1]]));
                // One less than the distance of the match.
                let back = (to - 1).wrapping_sub(bits >> 4) % WINDOW;
                let source = select_unpredictable(is_pair, to - 1 - back, from) & MASK;
                let mut bytes: [u8; COPY] = *arena[source..].first_chunk()?;
                // A match at position 0 is the end mark, and a short distance
                // repeats bytes that are not there yet.
                if back.min(bits) < usize::from(is_pair) * COPY {
                    if bits < COPY {
                        return (from + 2 <= input_end).then_some(Progress {
                            decoded: to - OUTPUT,
                            has_ended: true,
                        });
                    }
                    bytes = repeat(bytes, back + 1);
                }
                let target = to & MASK;
                *arena[target..].first_chunk_mut()? = bytes;
                arena[target + COPY] = arena[source + COPY];
                from += 1 + usize::from(is_pair);
                to += select_unpredictable(is_pair, bits % 16 + MIN_MATCH, 1);
            }
        }
        (from <= input_end).then_some(Progress {
            decoded: to - OUTPUT,
            has_ended: false,
        })
    }
}

/// The progress of a [`Decoder`].
#[derive(Clone, Copy)]
struct Progress {
    /// Number of decoded bytes.
    decoded: usize,
    /// True if the end mark has been reached.
    has_ended: bool,
}

/// For each number of bytes, the factor that repeats them over a 16-byte word:
/// a 1 at every multiple of that number.
const REPETITIONS: [u128; COPY + 1] = {
    let mut factors = [0; COPY + 1];
    let mut period = 1;
    while period <= COPY {
        let mut at = 0;
        while at < COPY {
            factors[period] |= 1 << (8 * at);
            at += period;
        }
        period += 1;
    }
    factors
};

/// Fills the array with repetitions of its first `period` bytes: 1 to 16.
fn repeat(bytes: [u8; COPY], period: usize) -> [u8; COPY] {
    let unused = 8 * (COPY - period);
    let first = u128::from_le_bytes(bytes) << unused >> unused;
    first.wrapping_mul(REPETITIONS[period]).to_le_bytes()
}

/// Decodes a stream of any length through a window, byte by byte.
///
/// It returns exactly the declared number of bytes. It returns the last byte
/// only after it has found the end mark.
pub struct Reader<R> {
    input: BufReader<R>,
    window: Box<[u8; WINDOW]>,
    /// Number of packed bytes that were used.
    read: u64,
    /// Number of decoded bytes so far.
    produced: u64,
    /// Number of decoded bytes in the end.
    length: u64,
    /// The remaining items of the current group, below a 1.
    tag: u16,
    /// The rest of the match that is being copied.
    pair: Pair,
    state: State,
}

/// The progress of a [`Reader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There are items left.
    Running,
    /// The end mark has been found, where it should be.
    Ended,
    /// An error was returned; the position is lost.
    Failed,
}

/// One item of packed data.
enum Item {
    Literal(u8),
    Match(Pair),
    End,
}

impl<R: Read> Reader<R> {
    /// Creates a reader that decodes `input`, which must decode to exactly
    /// `length` bytes.
    pub fn new(input: R, length: u64) -> Self {
        Self {
            input: BufReader::new(input),
            window: Box::new([0; WINDOW]),
            read: 0,
            produced: 0,
            length,
            tag: 1,
            pair: Pair {
                position: 0,
                length: 0,
            },
            state: State::Running,
        }
    }

    /// Reads the next `N` packed bytes.
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            self.input
                .read_exact(std::slice::from_mut(byte))
                .map_err(|cause| match cause.kind() {
                    io::ErrorKind::UnexpectedEof => invalid(Lz77Error::Truncated {
                        position: self.read,
                    }),
                    _ => cause,
                })?;
            self.read += 1;
        }
        Ok(bytes)
    }

    /// Reads the next item. Its length is at most the number of bytes left.
    fn item(&mut self) -> io::Result<Item> {
        if self.tag == 1 {
            let [tag] = self.take()?;
            self.tag = u16::from(tag) | 1 << GROUP;
        }
        let is_pair = self.tag & 1 == 1;
        self.tag >>= 1;
        let position = self.read;
        let (item, length) = if is_pair {
            let pair = Pair::from_bits(u16::from_le_bytes(self.take()?));
            if pair.position == 0 {
                return self.end(position).map(|()| Item::End);
            }
            (Item::Match(pair), pair.length)
        } else {
            let [byte] = self.take()?;
            (Item::Literal(byte), 1)
        };
        if self.length - self.produced < length as u64 {
            return Err(invalid(Lz77Error::TooLong {
                position,
                length: self.length,
            }));
        }
        Ok(item)
    }

    /// Checks that the end mark at `position` is not too early.
    fn end(&self, position: u64) -> io::Result<()> {
        if self.produced == self.length {
            return Ok(());
        }
        Err(invalid(Lz77Error::TooShort {
            position,
            produced: self.produced,
            length: self.length,
        }))
    }

    /// Puts a byte into the window and returns it.
    fn produce(&mut self, byte: u8) -> u8 {
        self.window[(self.produced as usize + START) % WINDOW] = byte;
        self.produced += 1;
        byte
    }

    /// Fills `buf` as far as there are bytes; it is not empty.
    fn fill(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            while self.pair.length > 0 && filled < buf.len() {
                let byte = self.window[self.pair.position];
                buf[filled] = self.produce(byte);
                filled += 1;
                self.pair.position = (self.pair.position + 1) % WINDOW;
                self.pair.length -= 1;
            }
            let all_produced = self.produced == self.length;
            if filled == buf.len() && !all_produced {
                return Ok(filled);
            }
            match self.item()? {
                Item::Literal(byte) => {
                    buf[filled] = self.produce(byte);
                    filled += 1;
                }
                Item::Match(pair) => self.pair = pair,
                Item::End => {
                    self.state = State::Ended;
                    return Ok(filled);
                }
            }
        }
    }
}

impl<R: Read> Read for Reader<R> {
    /// # Errors
    /// Returns `InvalidData` with an [`Lz77Error`] inside, or the errors of the
    /// inner reader. Reading after an error fails again.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.state {
            State::Running if !buf.is_empty() => self.fill(buf).inspect_err(|_| {
                self.state = State::Failed;
            }),
            State::Running | State::Ended => Ok(0),
            State::Failed => Err(io::Error::other("LZ77 data could not be read earlier")),
        }
    }
}

/// Returns the error of a stream whose data is wrong.
fn invalid(cause: Lz77Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, cause)
}
