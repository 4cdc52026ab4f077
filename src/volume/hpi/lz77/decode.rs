//! Decoding, in memory and as a stream.

use std::io::{self, BufReader, Read};

use super::{GROUP, Lz77Error, MAX_MATCH, Pair, START, WINDOW};

/// Maximum number of packed bytes that the fast path touches in one
/// group: the tag, eight pairs, and eight bytes taken as literals past them.
const FAST_INPUT: usize = 1 + 2 * GROUP + GROUP;

/// Maximum number of bytes that the fast path writes in one group: eight of the
/// longest matches, and eight literals past them.
const FAST_OUTPUT: usize = GROUP * MAX_MATCH + GROUP;

/// Decodes `input`, which must decode to exactly `out.len()` bytes followed by
/// the end mark. Anything after the end mark is ignored, as by the games.
///
/// # Errors
/// Returns [`Lz77Error`] if the data ends early or has another length; the
/// contents of `out` are then unspecified.
pub fn decode(input: &[u8], out: &mut [u8]) -> Result<(), Lz77Error> {
    let mut decoder = Decoder {
        input,
        out,
        read: 0,
        written: 0,
    };
    while !decoder.group()? {}
    Ok(())
}

/// Decodes from one buffer into another. Matches are copied inside the output,
/// which serves as the window.
struct Decoder<'a> {
    input: &'a [u8],
    out: &'a mut [u8],
    /// Number of bytes of `input` that were used.
    read: usize,
    /// Number of bytes of `out` that were written.
    written: usize,
}

impl Decoder<'_> {
    /// Decodes one group and returns whether it held the end mark.
    fn group(&mut self) -> Result<bool, Lz77Error> {
        if let Some(packed) = self.input.get(self.read..)
            && let Some(packed) = packed.first_chunk::<FAST_INPUT>()
            && self.out.len() - self.written >= FAST_OUTPUT
        {
            return self.fast_group(packed);
        }
        let [tag] = self.take()?;
        for bit in 0..GROUP {
            let at = self.read;
            if tag >> bit & 1 == 0 {
                let [byte] = self.take()?;
                let room = self.room(1, at)?;
                room[0] = byte;
                self.written += 1;
                continue;
            }
            let pair = Pair::from_bits(u16::from_le_bytes(self.take()?));
            if pair.position == 0 {
                return self.end(at).map(|()| true);
            }
            self.room(pair.length, at)?;
            self.copy_bytes(pair);
        }
        Ok(false)
    }

    /// Like [`Self::group`], for when there is room to copy more than needed
    /// and overwrite it later.
    fn fast_group(&mut self, packed: &[u8; FAST_INPUT]) -> Result<bool, Lz77Error> {
        let mut tag = u32::from(packed[0]) | 1 << GROUP;
        let mut at = 1;
        loop {
            // Literals up to the next pair, or up to the end of the group.
            let literals = tag.trailing_zeros() as usize;
            let source = packed.get(at..at + GROUP);
            let target = self.out.get_mut(self.written..self.written + GROUP);
            if let (Some(source), Some(target)) = (source, target) {
                target.copy_from_slice(source);
            }
            at += literals;
            self.written += literals;
            tag >>= literals;
            if tag == 1 {
                self.read += at;
                return Ok(false);
            }
            tag >>= 1;
            let pair = Pair::from_bits(u16::from_le_bytes([packed[at], packed[at + 1]]));
            if pair.position == 0 {
                return self.end(self.read + at).map(|()| true);
            }
            at += 2;
            self.copy_fast(pair);
        }
    }

    /// Writes the bytes of a match when there is room for the longest one.
    fn copy_fast(&mut self, pair: Pair) {
        let distance = pair.distance(self.written);
        let window = self.written.checked_sub(distance).and_then(|start| {
            let window = self.out.get_mut(start..self.written + MAX_MATCH)?;
            Some((window.first_chunk::<16>().copied()?, window))
        });
        let Some((bytes, window)) = window else {
            return self.copy_bytes(pair);
        };
        let bytes = if distance < bytes.len() {
            repeat(bytes, distance)
        } else {
            bytes
        };
        if let Some(target) = window.get_mut(distance..distance + bytes.len()) {
            target.copy_from_slice(&bytes);
        }
        if pair.length == MAX_MATCH {
            window[distance + bytes.len()] = window[bytes.len()];
        }
        self.written += pair.length;
    }

    /// Writes the bytes of a match, for which there is room, one by one.
    fn copy_bytes(&mut self, pair: Pair) {
        let distance = pair.distance(self.written);
        for at in self.written..self.written + pair.length {
            // Positions before the start are the zeros of a new window.
            self.out[at] = at.checked_sub(distance).map_or(0, |from| self.out[from]);
        }
        self.written += pair.length;
    }

    /// Reads the next `N` packed bytes.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Lz77Error> {
        let rest = self.input.get(self.read..).unwrap_or_default();
        let bytes = rest.first_chunk().ok_or(Lz77Error::Truncated {
            position: self.input.len() as u64,
        })?;
        self.read += N;
        Ok(*bytes)
    }

    /// Checks that there is room for the `length` bytes of the item at
    /// `position`.
    fn room(&mut self, length: usize, position: usize) -> Result<&mut [u8], Lz77Error> {
        let announced = self.out.len() as u64;
        self.out
            .get_mut(self.written..self.written + length)
            .ok_or(Lz77Error::TooLong {
                position: position as u64,
                length: announced,
            })
    }

    /// Checks that the end mark at `position` is where it should be.
    fn end(&self, position: usize) -> Result<(), Lz77Error> {
        check_end(position as u64, self.written as u64, self.out.len() as u64)
    }
}

/// Checks that the end mark at `position`, after `produced` bytes, is not too
/// early.
fn check_end(position: u64, produced: u64, length: u64) -> Result<(), Lz77Error> {
    if produced == length {
        return Ok(());
    }
    Err(Lz77Error::TooShort {
        position,
        produced,
        length,
    })
}

/// For each number of bytes, the factor that repeats them over a 16-byte word:
/// a 1 at every multiple of that number.
const REPETITIONS: [u128; 16] = {
    let mut factors = [0; 16];
    let mut period = 1;
    while period < 16 {
        let mut at = 0;
        while at < 16 {
            factors[period] |= 1 << (8 * at);
            at += period;
        }
        period += 1;
    }
    factors
};

/// Fills the array with repetitions of its first `period` bytes, which are at
/// least one and fewer than all.
fn repeat(bytes: [u8; 16], period: usize) -> [u8; 16] {
    let first = u128::from_le_bytes(bytes) & ((1 << (8 * period)) - 1);
    first.wrapping_mul(REPETITIONS[period]).to_le_bytes()
}

/// Decodes a stream of any length through a window, byte by byte.
///
/// It returns exactly the declared number of bytes, and the last of them only
/// after the end mark has been found.
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
                check_end(position, self.produced, self.length).map_err(invalid)?;
                return Ok(Item::End);
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
