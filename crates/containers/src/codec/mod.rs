//! Decoders of packed files. A decoder can be copied at any byte, and the copy
//! continues from there: it is a checkpoint with the state of the codec and of
//! the checksum, but without buffers.

pub mod bits;
pub mod block;
mod copy;
mod deflate;
pub(crate) mod ecc;
mod frames;
mod gzip;
mod lzma;
mod lzss;
mod reader;
mod restarts;
mod solid;

use std::sync::Arc;

use crc32fast::Hasher;

use crate::io::{Error, ReadAt, Result, check_sum, read_error};
use crate::volume::Decoder;

pub(super) use self::copy::Copy;
pub(super) use self::deflate::{Inflate, Wrapping, inflate, inflate_start};
pub(super) use self::frames::{XZ, ZSTANDARD, check_dictionary};
pub(super) use self::gzip::{GZIP, Gzip, GzipHeader};
pub(crate) use self::lzma::lzma;
pub(super) use self::lzss::Lzss;
pub use self::lzss::unpack_lzss;
pub(crate) use self::reader::Stream as ByteStream;
pub(super) use self::reader::{MAX_DICTIONARY, Method, ZSTANDARD_WINDOW, lzma2_dictionary};
pub(super) use self::restarts::{Restart, Restarts};
pub(super) use self::solid::{Solid, SolidDecoder};

/// Number of packed bytes read at a time.
const PIECE: u64 = 32 << 10;

/// Maximum number of bytes per packed byte of deflate: a match of 258 bytes
/// takes two bits.
pub(super) const MAX_DEFLATE_RATIO: u64 = 1032;

/// A packed file in a source.
#[derive(Clone)]
pub(super) struct PackedFile {
    /// The source.
    pub(super) source: Arc<dyn ReadAt>,
    /// Absolute offset in it of the first packed byte.
    pub(super) offset: u64,
    /// Number of packed bytes.
    pub(super) stored: u64,
    /// Number of decoded bytes.
    pub(super) size: u64,
    /// CRC-32 of the decoded bytes, if known.
    pub(super) crc: Option<u32>,
    /// True if a wrong checksum is only logged.
    pub(super) force: bool,
}

impl PackedFile {
    /// Checks that the decoded size is possible for the packed size, and that
    /// the packed bytes are inside the source.
    ///
    /// # Errors
    /// Returns an error if either is not the case.
    pub(super) fn check(&self, decoded_at_most: u64) -> Result<()> {
        let end = self.source.len();
        let reaches = self.offset.checked_add(self.stored);
        if reaches.is_none_or(|reaches| reaches > end) {
            let problem = format!("its {} bytes extend past the end at {end:#x}", self.stored);
            return Err(Error::damaged(self.offset, "packed data", problem));
        }
        if self.size > decoded_at_most {
            let problem = format!("{} bytes cannot decode to {}", self.stored, self.size);
            return Err(Error::damaged(self.offset, "packed data", problem));
        }
        Ok(())
    }

    /// Returns the packed bytes, read from the first one on.
    pub(super) fn packed(&self) -> Packed {
        Packed {
            next: self.offset,
            end: self.offset + self.stored,
            source: self.source.clone(),
            buffer: Vec::new(),
            taken: 0,
        }
    }

    /// Returns a decoder for it with `codec`.
    pub(super) fn decoder<C: Codec>(self, codec: C) -> Box<dyn Decoder> {
        Box::new(Stream {
            codec,
            packed: self.packed(),
            left: self.size,
            sum: self.crc.map(|crc| (Hasher::new(), crc)),
            force: self.force,
        })
    }
}

/// The state of decoding packed bytes.
pub(super) trait Codec: Sized + Send + Sync + 'static {
    /// True if the stream may continue after the last byte of the file.
    const RUNS_ON: bool;

    /// Decodes the next bytes into `out`, which is not empty; returns 0 at the
    /// end of the stream.
    ///
    /// # Errors
    /// Returns an error if the stream is damaged or truncated.
    fn decode(&mut self, packed: &mut Packed, out: &mut [u8]) -> Result<usize>;

    /// Returns a copy, and the absolute offset of its next packed byte. `packed`
    /// is where this state continues.
    fn fork(&self, packed: &Packed) -> (Self, u64);

    /// Takes the window out of a copy that has not been used; empty if the
    /// decoder has no window, or keeps it.
    fn take_window(&mut self) -> Box<[u8]> {
        Box::default()
    }

    /// Puts back a window.
    fn set_window(&mut self, window: Box<[u8]>) {
        drop(window);
    }

    /// Returns the memory that it uses, in bytes.
    fn memory(&self) -> usize;
}

/// The packed bytes of a file, read forward.
pub(super) struct Packed {
    source: Arc<dyn ReadAt>,
    /// Absolute offset of the next byte that is not in the buffer.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Number of consumed bytes of the buffer.
    taken: usize,
}

impl Packed {
    /// Returns the next packed bytes; none at the end.
    fn fill(&mut self) -> Result<&[u8]> {
        if self.taken == self.buffer.len() {
            let length = (self.end - self.next).min(PIECE);
            self.buffer.resize(length as usize, 0);
            self.taken = 0;
            let read = self.source.read_exact_at(&mut self.buffer, self.next);
            if let Err(cause) = read {
                self.buffer.clear();
                return Err(read_error(self.next, length, cause));
            }
            self.next += length;
        }
        Ok(&self.buffer[self.taken..])
    }

    /// Consumes the first `count` of the bytes returned by [`Packed::fill`].
    fn consume(&mut self, count: usize) {
        self.taken += count;
    }

    /// Returns the next packed byte; `None` at the end.
    fn byte(&mut self) -> Result<Option<u8>> {
        let byte = match self.buffer.get(self.taken) {
            Some(&byte) => byte,
            None => match self.fill()?.first() {
                Some(&byte) => byte,
                None => return Ok(None),
            },
        };
        self.taken += 1;
        Ok(Some(byte))
    }

    /// Returns whether no bytes follow those returned by [`Packed::fill`].
    fn is_last(&self) -> bool {
        self.next == self.end
    }

    /// Returns the absolute offset in the source of the next byte.
    fn position(&self) -> u64 {
        self.next - (self.buffer.len() - self.taken) as u64
    }

    /// Returns an error about the packed bytes at the current position.
    fn problem(&self, problem: impl Into<String>) -> Error {
        Error::damaged(self.position(), "packed data", problem)
    }

    /// Returns a reader of the same bytes from `offset` on, with an empty buffer.
    fn reading_at(&self, offset: u64) -> Self {
        Self {
            source: self.source.clone(),
            next: offset,
            end: self.end,
            buffer: Vec::new(),
            taken: 0,
        }
    }
}

/// A file that is being decoded.
struct Stream<C> {
    codec: C,
    packed: Packed,
    /// Number of decoded bytes that remain.
    left: u64,
    /// The checksum so far, and its expected final value.
    sum: Option<(Hasher, u32)>,
    force: bool,
}

impl<C: Codec> Stream<C> {
    /// Checks the end of the stream and the checksum after the last byte.
    fn finish(&mut self) -> Result<()> {
        if !C::RUNS_ON {
            let end = self.codec.decode(&mut self.packed, &mut [0]);
            check_end(end, self.force, || self.packed.problem(RUNS_ON))?;
        }
        let Some((hasher, should_be)) = &self.sum else {
            return Ok(());
        };
        let sum = hasher.clone().finalize();
        compare_sums(sum, *should_be, self.force, |problem| {
            self.packed.problem(problem)
        })
    }
}

/// The problem of a stream that does not end with the file.
const RUNS_ON: &str = "continues past the end of the file";

/// Checks that nothing was decoded after the last byte of a file. With `force`
/// a damaged end is only logged.
fn check_end(end: Result<usize>, force: bool, runs_on: impl FnOnce() -> Error) -> Result<()> {
    match end {
        Ok(0) => Ok(()),
        Ok(_) => Err(runs_on()),
        Err(error) if force && !error.is_fault() => {
            log::warn!("{error}; ignored");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Compares the checksum of a decoded file; with `force` a wrong one is only
/// logged.
fn compare_sums(
    sum: u32,
    should_be: u32,
    force: bool,
    error: impl Fn(String) -> Error,
) -> Result<()> {
    let Err(problem) = check_sum("checksum", sum, should_be) else {
        return Ok(());
    };
    let error = error(problem);
    if !force {
        return Err(error);
    }
    log::warn!("{error}; ignored");
    Ok(())
}

impl<C: Codec> Decoder for Stream<C> {
    fn left(&self) -> u64 {
        self.left
    }

    fn read(&mut self, out: &mut [u8]) -> Result<()> {
        let mut filled = 0;
        while filled < out.len() {
            let length = self.codec.decode(&mut self.packed, &mut out[filled..])?;
            if length == 0 {
                let missing = self.left - filled as u64;
                let problem = format!("ends {missing} bytes before the end of the file");
                return Err(self.packed.problem(problem));
            }
            filled += length;
        }
        self.left -= out.len() as u64;
        if let Some((hasher, _)) = &mut self.sum {
            hasher.update(out);
        }
        match self.left {
            0 => self.finish(),
            _ => Ok(()),
        }
    }

    fn fork(&self) -> Option<Box<dyn Decoder>> {
        let (codec, offset) = self.codec.fork(&self.packed);
        Some(Box::new(Self {
            codec,
            packed: self.packed.reading_at(offset),
            left: self.left,
            sum: self.sum.clone(),
            force: self.force,
        }))
    }

    fn take_window(&mut self) -> Box<[u8]> {
        self.codec.take_window()
    }

    fn set_window(&mut self, window: Box<[u8]>) {
        self.codec.set_window(window);
    }

    fn memory(&self) -> usize {
        size_of::<Self>() + self.codec.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns bytes that are neither repetitive nor random.
    fn sample(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 28) as u8
        };
        (0..length).map(next).collect()
    }

    fn file(packed: Vec<u8>, size: usize, crc: Option<u32>) -> PackedFile {
        PackedFile {
            stored: packed.len() as u64,
            source: Arc::new(packed),
            offset: 0,
            size: size as u64,
            crc,
            force: false,
        }
    }

    fn inflate(file: PackedFile) -> Box<dyn Decoder> {
        file.decoder(Inflate::new(Wrapping::None))
    }

    #[test]
    fn a_copy_continues_from_any_byte_with_the_checksum_so_far() {
        let bytes = sample(300_000);
        let packed = deflated(&bytes);
        let mut decoder = inflate(file(packed, bytes.len(), Some(crc32fast::hash(&bytes))));
        let mut position = 0;
        for step in [0, 1, 32_767, 70_000, 99_999] {
            decoder.read(&mut vec![0; step]).unwrap();
            position += step;
            let mut rest = vec![0; bytes.len() - position];
            decoder.fork().unwrap().read(&mut rest).unwrap();
            assert_eq!(rest, bytes[position..]);
        }
    }

    #[test]
    fn a_copy_decodes_little_again_and_needs_only_its_window() {
        let bytes = sample(2_000_000);
        let packed = deflated(&bytes);
        let mut decoder = inflate(file(packed, bytes.len(), Some(crc32fast::hash(&bytes))));
        for position in (0..bytes.len()).step_by(100_000) {
            let mut copy = decoder.fork().unwrap();
            let window = copy.take_window();
            assert!(copy.memory() < 1000, "{}", copy.memory());
            let mut again = copy.fork().unwrap();
            again.set_window(window);
            let mut rest = vec![0; bytes.len() - position];
            again.read(&mut rest).unwrap();
            assert_eq!(rest, bytes[position..], "{position}");
            decoder.read(&mut vec![0; 100_000]).unwrap();
        }
    }

    #[test]
    fn a_file_decoded_at_once_is_the_same_or_left_to_the_decoder() {
        let bytes = sample(200_000);
        let packed = deflated(&bytes);
        let crc = crc32fast::hash(&bytes);
        let good = file(packed.clone(), bytes.len(), Some(crc));
        assert_eq!(good.inflate_whole(Wrapping::None), Some(bytes.clone()));
        let wrong = [
            file(packed.clone(), bytes.len(), Some(crc ^ 1)),
            file(packed.clone(), bytes.len() - 1, None),
            file(packed.clone(), bytes.len() + 1, None),
            file(packed[..packed.len() / 2].to_vec(), bytes.len(), None),
        ];
        for file in wrong {
            assert_eq!(file.inflate_whole(Wrapping::None), None);
        }
    }

    #[test]
    fn a_wrong_checksum_fails_the_last_read_and_is_only_logged_with_force() {
        let bytes = sample(1000);
        let mut wrong = file(deflated(&bytes), bytes.len(), Some(7));
        let mut decoder = inflate(wrong.clone());
        decoder.read(&mut [0; 999]).unwrap();
        let error = decoder.read(&mut [0]).unwrap_err().to_string();
        assert!(error.contains("should be 00000007"), "{error}");
        wrong.force = true;
        inflate(wrong).read(&mut [0; 1000]).unwrap();
    }

    #[test]
    fn streams_that_are_longer_or_shorter_than_the_file_are_damaged() {
        let bytes = sample(1000);
        for (size, expected) in [(999, "continues past"), (1001, "ends 1 bytes before")] {
            let mut decoder = inflate(file(deflated(&bytes), size, None));
            let error = decoder.read(&mut vec![0; size]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_is_damaged() {
        let bytes = sample(500);
        let packed = deflated(&bytes);
        for length in 0..packed.len() {
            let mut decoder = inflate(file(packed[..length].to_vec(), bytes.len(), None));
            assert!(decoder.read(&mut [0; 500]).is_err(), "{length}");
        }
    }

    #[test]
    fn impossible_sizes_are_refused_before_anything_is_read() {
        let mut file = file(vec![0; 10], 10 * 1032, None);
        assert!(file.check(10 * MAX_DEFLATE_RATIO).is_ok());
        file.size += 1;
        assert!(file.check(10 * MAX_DEFLATE_RATIO).is_err());
        file.size = 1;
        file.stored = u64::MAX;
        assert!(file.check(u64::MAX).is_err());
    }
}
