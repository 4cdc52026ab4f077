//! Decoding of chunks (HPI 5).
//!
//! Chunks of at most 64 KiB, which includes all of version 1, are decoded from
//! one buffer into another. Longer ones, which occur in version 2, are decoded
//! as a stream, so that memory is bounded.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::Read;
use std::sync::Arc;

use flate2::read::ZlibDecoder;
use zerocopy::FromBytes;

use super::chunk::{ChunkHeader, MARKER, Method, checksum, unscramble};
use super::cipher::Cipher;
use super::lz77;
use crate::codec::{Wrapping, inflate, inflate_start};
use crate::io::{self, Error, ReadAt, Result, SourceReader, check_sum};
use crate::volume::Chunk;

/// Length of the header in bytes.
const HEADER_SIZE: usize = size_of::<ChunkHeader>();

/// Buffers that are reused from one chunk to the next.
#[derive(Default)]
struct Scratch {
    /// The whole-buffer LZ77 decoder.
    lz77: lz77::Decoder,
    /// Stored bytes of the current chunk.
    stored: Vec<u8>,
}

thread_local! {
    /// The buffers of each thread. They are taken out while they are in use: a
    /// nested archive is read while the outer one decodes.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Reads and checks the marker of a chunk header; `field` names the chunk.
pub(super) fn header<F: Into<Cow<'static, str>>>(
    source: &dyn ReadAt,
    cipher: Cipher,
    offset: u64,
    field: impl FnOnce() -> F,
) -> Result<ChunkHeader> {
    let mut bytes = io::read_vec(source, offset, HEADER_SIZE as u64, "chunk header")?;
    cipher.apply(offset, &mut bytes);
    let (header, _) = ChunkHeader::read_from_prefix(&bytes)
        .map_err(|_| Error::damaged(offset, "chunk header", "is too short"))?;
    check_marker(&header, offset, field)?;
    Ok(header)
}

fn check_marker<F: Into<Cow<'static, str>>>(
    header: &ChunkHeader,
    offset: u64,
    field: impl FnOnce() -> F,
) -> Result<()> {
    if header.marker == MARKER {
        return Ok(());
    }
    let marker = header.marker.escape_ascii();
    Err(Error::damaged(
        offset,
        field(),
        format!("begins with \"{marker}\", should be \"SQSH\""),
    ))
}

/// Returns the name of the method that packed `chunk`.
pub(super) fn method_of(source: &dyn ReadAt, cipher: Cipher, chunk: Chunk) -> Result<Method> {
    let header = header(source, cipher, chunk.offset, || chunk_name(chunk))?;
    Problem { chunk }.method(&header)
}

fn chunk_name(chunk: Chunk) -> String {
    format!("chunk {}", chunk.index)
}

/// Creates errors about one chunk.
#[derive(Clone, Copy)]
struct Problem {
    chunk: Chunk,
}

impl Problem {
    fn error(self, problem: impl Into<String>) -> Error {
        Error::damaged(self.chunk.offset, chunk_name(self.chunk), problem)
    }

    fn method(self, header: &ChunkHeader) -> Result<Method> {
        Method::from_number(header.method)
            .ok_or_else(|| self.error(format!("method is {}, known are 0 to 2", header.method)))
    }

    /// Checks the sizes in a header against the chunk table.
    fn check_sizes(self, header: &ChunkHeader) -> Result<()> {
        let room = (self.chunk.stored as usize).saturating_sub(HEADER_SIZE);
        let compressed_size = header.compressed_size.get();
        if compressed_size as usize > room {
            return Err(self.error(format!(
                "payload is {compressed_size} bytes, has room for {room}"
            )));
        }
        let decompressed_size = header.decompressed_size.get();
        if decompressed_size != self.chunk.length {
            return Err(self.error(format!(
                "decodes to {decompressed_size} bytes, should be {}",
                self.chunk.length
            )));
        }
        Ok(())
    }

    /// Compares checksums; with `force` a mismatch is only logged.
    fn check_sum(self, header: &ChunkHeader, sum: u32, force: bool) -> Result<()> {
        let Err(problem) = check_sum("checksum", sum, header.checksum.get()) else {
            return Ok(());
        };
        let error = self.error(problem);
        if !force {
            return Err(error);
        }
        log::warn!("{error}; ignored");
        Ok(())
    }
}

/// Decodes at least the first `wanted` bytes of a chunk of at most 64 KiB; all
/// of it if that takes no longer.
///
/// With `force`, a wrong checksum is only logged, and a damaged zlib stream is
/// decoded as far as possible and padded with zeros.
pub(super) fn chunk(
    source: &dyn ReadAt,
    cipher: Cipher,
    chunk: Chunk,
    wanted: u32,
    force: bool,
) -> Result<Vec<u8>> {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let decoded = decode(source, cipher, chunk, wanted, &mut scratch, force);
    SCRATCH.set(Some(scratch));
    decoded
}

fn decode(
    source: &dyn ReadAt,
    cipher: Cipher,
    chunk: Chunk,
    wanted: u32,
    scratch: &mut Scratch,
    force: bool,
) -> Result<Vec<u8>> {
    let problem = Problem { chunk };
    let Scratch { lz77, stored } = scratch;
    stored.resize(chunk.stored as usize, 0);
    source
        .read_exact_at(stored, chunk.offset)
        .map_err(|cause| io::read_error(chunk.offset, chunk.stored.into(), cause))?;
    cipher.apply(chunk.offset, stored);

    let Ok((header, rest)) = ChunkHeader::mut_from_prefix(stored) else {
        return Err(problem.error(format!("has {} bytes", chunk.stored)));
    };
    check_marker(header, chunk.offset, || chunk_name(chunk))?;
    problem.check_sizes(header)?;
    let method = problem.method(header)?;
    let payload = &mut rest[..header.compressed_size.get() as usize];
    problem.check_sum(header, checksum(payload), force)?;
    if header.scrambled != 0 {
        unscramble(0, payload);
    }

    let length = chunk.length as usize;
    let decoded = match method {
        Method::Stored if payload.len() == length => Ok(payload.to_vec()),
        Method::Stored => Err(format!("holds {} bytes, should be {length}", payload.len())),
        Method::Lz77 if wanted < chunk.length => lz77
            .decode_start(payload, wanted as usize, length)
            .map_err(|error| error.to_string()),
        Method::Lz77 => lz77
            .decode(payload, length)
            .map_err(|error| error.to_string()),
        Method::Zlib => match start_of_zlib(payload, wanted as usize, length) {
            Some(start) => Ok(start),
            None => decode_zlib(payload, length),
        },
    };
    match decoded {
        Err(text) if force && method == Method::Zlib => {
            log::warn!("{}; decoded as far as possible", problem.error(text));
            Ok(salvage(payload, length))
        }
        decoded => decoded.map_err(|text| problem.error(text)),
    }
}

/// Decodes the first `wanted` bytes of a chunk; `None` if they are so many that
/// decoding all takes no longer, or if they are damaged.
fn start_of_zlib(payload: &[u8], wanted: usize, length: usize) -> Option<Vec<u8>> {
    // The decoder that can stop takes a fifth more time for each byte.
    if wanted > length / 5 * 4 {
        return None;
    }
    let mut decoded = vec![0; wanted];
    inflate_start(payload, &mut decoded).then_some(decoded)
}

fn decode_zlib(payload: &[u8], length: usize) -> std::result::Result<Vec<u8>, String> {
    let mut decoded = vec![0; length];
    match inflate(payload, &mut decoded, Wrapping::Zlib)? {
        actual if actual == length => Ok(decoded),
        actual => Err(format!("decodes to {actual} of {length} bytes")),
    }
}

/// Decodes a damaged zlib stream as far as possible; the rest is zeros.
fn salvage(payload: &[u8], length: usize) -> Vec<u8> {
    let mut decoded = vec![0; length];
    let mut stream = ZlibDecoder::new(payload);
    let mut filled = 0;
    while let Ok(count) = stream.read(&mut decoded[filled..]) {
        if count == 0 {
            break;
        }
        filled += count;
    }
    decoded
}

/// Opens a chunk of any length as a stream of its decoded bytes.
///
/// The checksum is verified first. The stream fails with `InvalidData` if the
/// packed data is damaged, or if it does not end exactly at the chunk's decoded
/// length.
pub(super) fn open(
    source: &Arc<dyn ReadAt>,
    cipher: Cipher,
    chunk: Chunk,
    force: bool,
) -> Result<Box<dyn Read + Send>> {
    let problem = Problem { chunk };
    let header = header(&**source, cipher, chunk.offset, || chunk_name(chunk))?;
    problem.check_sizes(&header)?;
    let method = problem.method(&header)?;
    let payload = || Payload {
        reader: SourceReader::new(
            source.clone(),
            chunk.offset + HEADER_SIZE as u64,
            header.compressed_size.get().into(),
        ),
        cipher,
        scrambled: None,
    };
    let sum = stream_sum(payload())
        .map_err(|error| Error::of_reader(&error, |text| problem.error(text)))?;
    problem.check_sum(&header, sum, force)?;
    let payload = Payload {
        scrambled: (header.scrambled != 0).then_some(0),
        ..payload()
    };
    let length = chunk.length;
    Ok(match method {
        Method::Stored => Exact::boxed(payload, length),
        Method::Lz77 => {
            let buffered = std::io::BufReader::with_capacity(BUFFER, payload);
            Exact::boxed(lz77::Reader::new(buffered, length.into()), length)
        }
        Method::Zlib => Exact::boxed(ZlibDecoder::new_with_buf(payload, vec![0; BUFFER]), length),
    })
}

/// Read-ahead of the streams in bytes.
const BUFFER: usize = 32 << 10;

/// Decodes a chunk that is at `offset` with `size` bytes and not part of a
/// file. Its decoded length is taken from its header, and may be at most
/// `limit`.
pub(super) fn block(
    source: &Arc<dyn ReadAt>,
    offset: u64,
    size: u64,
    limit: u64,
) -> Result<Vec<u8>> {
    let header = header(&**source, Cipher::PLAIN, offset, || "chunk 0")?;
    let length = header.decompressed_size.get();
    let chunk = Chunk {
        index: 0,
        offset,
        stored: u32::try_from(size).unwrap_or(u32::MAX),
        start: 0,
        length,
    };
    let problem = Problem { chunk };
    if u64::from(length) > limit {
        return Err(problem.error(format!("decodes to {length} bytes")));
    }
    // The vector grows with the decoded data, not with the declared length.
    let mut decoded = Vec::new();
    open(source, Cipher::PLAIN, chunk, false)?
        .read_to_end(&mut decoded)
        .map_err(|error| Error::of_reader(&error, |text| problem.error(text)))?;
    Ok(decoded)
}

/// The payload of a chunk as a stream, deciphered and unscrambled.
struct Payload {
    reader: SourceReader,
    cipher: Cipher,
    /// Position in the payload of the next byte, if it is scrambled.
    scrambled: Option<u64>,
}

impl Read for Payload {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let offset = self.reader.position();
        let length = self.reader.read(buf)?;
        let bytes = &mut buf[..length];
        self.cipher.apply(offset, bytes);
        if let Some(position) = &mut self.scrambled {
            unscramble(*position, bytes);
            *position += length as u64;
        }
        Ok(length)
    }
}

/// Returns the checksum of a stream.
fn stream_sum(mut payload: Payload) -> std::io::Result<u32> {
    let mut buffer = vec![0; BUFFER];
    let mut sum = 0_u32;
    loop {
        match payload.read(&mut buffer)? {
            0 => return Ok(sum),
            length => sum = sum.wrapping_add(checksum(&buffer[..length])),
        }
    }
}

/// A stream that must have exactly the declared number of bytes.
struct Exact<R> {
    reader: R,
    left: u64,
}

impl<R: Read + Send + 'static> Exact<R> {
    fn boxed(reader: R, length: u32) -> Box<dyn Read + Send> {
        Box::new(Self {
            reader,
            left: length.into(),
        })
    }
}

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let wrong = |text: String| std::io::Error::new(std::io::ErrorKind::InvalidData, text);
        if self.left == 0 {
            return match self.reader.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(wrong("decodes to more bytes than it should".to_owned())),
            };
        }
        let wanted = buf
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let length = self.reader.read(&mut buf[..wanted])?;
        if length == 0 && wanted > 0 {
            return Err(wrong(format!("decodes to {} bytes too few", self.left)));
        }
        self.left -= length as u64;
        Ok(length)
    }
}
