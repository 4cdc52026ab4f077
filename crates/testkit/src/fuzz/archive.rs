//! Archives: all operations of HPI and HIP volumes.

use std::io::Read;

use hpimount_containers::format::Options;
use hpimount_containers::hpi::chunk::{CHUNK_SIZE, ChunkHeader, MARKER, checksum};
use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::hpi::record::{Header1, MAGIC, VERSION_1, VERSION_2};
use hpimount_containers::io::Error;
use hpimount_containers::volume::{Chunk, Chunks, Content, Entry};
use zerocopy::FromBytes;

use super::changed::changed;
use crate::record::{Node, Opened, generated, open, read_extent};

/// Maximum number of bytes of one archive that are decoded.
const DECODED: usize = 1 << 20;

/// Maximum number of checksums of one archive that are corrected.
const SUMS: usize = 64;

/// A version 1 archive. After the header, `data` has the plain bytes. If the byte after
/// the key is odd, they are not enciphered.
pub fn hpi_v1(data: &[u8]) {
    let bytes = marked(data, VERSION_1);
    examine(&bytes);
    examine(&sealed(bytes));
}

/// A version 2 archive.
pub fn hpi_v2(data: &[u8]) {
    let bytes = marked(data, VERSION_2);
    examine(&bytes);
    examine(&sealed(bytes));
}

/// A HIP archive.
pub fn hip(data: &[u8]) {
    let mut bytes = data.to_vec();
    put(&mut bytes, 0, b"HIPA\0\0\0\0");
    examine(&bytes);
}

/// Returns `data` with the magic and the version of an HPI archive.
fn marked(data: &[u8], version: u32) -> Vec<u8> {
    let mut bytes = data.to_vec();
    put(&mut bytes, 0, &MAGIC);
    put(&mut bytes, MAGIC.len(), &version.to_le_bytes());
    bytes
}

/// Replaces bytes as far as they exist.
fn put(bytes: &mut [u8], at: usize, with: &[u8]) {
    let there = bytes.iter_mut().skip(at);
    there.zip(with).for_each(|(byte, new)| *byte = *new);
}

/// Makes an HPI archive from its plain bytes: corrects the checksums of chunks, and
/// enciphers version 1. Otherwise, a changed payload would fail the checksum, and later
/// code would not be tested.
pub(super) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let starts = bytes.windows(MARKER.len()).enumerate();
    let starts = starts.filter(|(_, window)| *window == MARKER);
    let starts: Vec<usize> = starts.map(|(at, _)| at).take(SUMS).collect();
    // Inner chunks first: their checksums are covered by the checksums of the outer
    // chunks.
    for &at in starts.iter().rev() {
        seal_chunk(&mut bytes[at..]);
    }
    let Ok((header, _)) = Header1::read_from_prefix(&bytes) else {
        return bytes;
    };
    if header.version == VERSION_1 && header.key[1] & 1 == 0 {
        let start = size_of::<Header1>();
        Cipher::from_header(header.key[0]).apply(start as u64, &mut bytes[start..]);
    }
    bytes
}

/// Corrects the checksum of the chunk at the start of `bytes`.
pub(super) fn seal_chunk(bytes: &mut [u8]) {
    if let Ok((header, payload)) = ChunkHeader::mut_from_prefix(bytes)
        && let Some(payload) = payload.get(..header.compressed_size.get() as usize)
    {
        header.checksum = checksum(payload).into();
    }
}

/// Opens an archive in every way and reads everything in it.
pub(super) fn examine(bytes: &[u8]) {
    let options = |force, verify| Options {
        force,
        verify,
        ..Options::default()
    };
    let strict = open(bytes.to_vec(), options(false, true));
    let forced = open(bytes.to_vec(), options(true, false));
    match (&strict, &forced) {
        (Ok(strict), Ok(forced)) => {
            assert_eq!(strict.tree.nodes.len(), forced.tree.nodes.len());
            assert_eq!(strict.archive.warnings(), forced.archive.warnings());
        }
        (Ok(_), Err(error)) => panic!("refused with force only: {error}"),
        (Err(_), _) => {}
    }
    for (opened, force) in [(strict, false), (forced, true)] {
        match opened {
            Ok(opened) => everything(&opened, force),
            Err(error) => located(&error),
        }
    }
    let _ = changed("x.hip", bytes, None);
}

/// Asserts that an error about the bytes has an offset.
pub(super) fn located(error: &Error) {
    let has_offset = match error {
        Error::Read { .. } | Error::Damaged { .. } => error.to_string().contains("0x"),
        Error::Unsupported(_) | Error::UnknownFormat => true,
        other => panic!("not about the bytes: {other}"),
    };
    assert!(has_offset, "{error}");
}

fn everything(opened: &Opened, force: bool) {
    let _ = opened.archive.info();
    let mut examiner = Examiner {
        opened,
        force,
        left: DECODED,
    };
    for node in &opened.tree.nodes {
        if let Node::File(entry) = node
            && examiner.left > 0
        {
            examiner.file(*entry);
        }
    }
}

/// Reads the files of an archive.
struct Examiner<'a> {
    opened: &'a Opened,
    force: bool,
    /// Bytes that may yet be decoded.
    left: usize,
}

impl Examiner<'_> {
    fn file(&mut self, entry: Entry) {
        for value in self.opened.attributes(entry.file).values() {
            value.as_ref().map(drop).unwrap_or_else(located);
        }
        let opened = self.opened;
        let content = match opened.archive.content(entry.file) {
            Ok(content) => content,
            Err(error) => return located(&error),
        };
        match content {
            Content::Extent { .. } => self.stored(entry),
            Content::Chunks(chunks) => self.chunks(entry, chunks),
            Content::Stream(_) | Content::Part { .. } => {
                unreachable!("archives of HPI and HIP have no streams")
            }
            Content::Generated(_) => {
                let text = generated(&*opened.archive, entry.file);
                let text = text.unwrap_or_else(|error| panic!("no text: {error}"));
                self.left = self.left.saturating_sub(text.len());
            }
        }
    }

    /// Reads the whole file, and again in two parts; of a longer file, only both ends.
    fn stored(&mut self, entry: Entry) {
        let size = entry.size.expect("a stored file has a size");
        let read = |position, length: usize| {
            let mut bytes = vec![0; length];
            let archive = &*self.opened.archive;
            let read = read_extent(archive, entry.file, position, &mut bytes);
            read.inspect_err(located).map(|()| bytes)
        };
        self.left = self.left.saturating_sub(64);
        if size > self.left as u64 {
            let _ = (read(0, 64), read(size - 64, 64));
            return;
        }
        let (size, middle) = (size as usize, size as usize / 3);
        if let Ok(whole) = read(0, size) {
            assert_eq!(read(0, middle).unwrap(), whole[..middle]);
            assert_eq!(read(middle as u64, size - middle).unwrap(), whole[middle..]);
            self.left -= size;
        }
    }

    fn chunks(&mut self, entry: Entry, archive: &dyn Chunks) {
        let size = entry.size.expect("a file in chunks has a size");
        let table = match archive.chunk_table(entry.file) {
            Ok(table) => table,
            Err(error) => return located(&error),
        };
        let mut position = 0;
        while position < size && self.left > 0 {
            let chunk = match table.at(position) {
                Ok(chunk) => chunk,
                Err(error) => return located(&error),
            };
            assert_eq!(chunk.start, position);
            assert_eq!(
                table.at(position + u64::from(chunk.length) - 1).unwrap(),
                chunk
            );
            self.chunk(entry, archive, chunk);
            position += u64::from(chunk.length);
        }
        assert!(position <= size || self.left == 0);
    }

    /// Decodes a chunk as a whole and as a stream, which must agree.
    fn chunk(&mut self, entry: Entry, archive: &dyn Chunks, chunk: Chunk) {
        let stream = archive.open_chunk(entry.file, chunk);
        let stream = stream.map(|stream| streamed(stream, self.left));
        self.left = self.left.saturating_sub(chunk.length as usize + 64);
        let stream = match stream {
            Ok(stream) => stream.map_err(|error| error.to_string()),
            Err(error) => {
                located(&error);
                Err(error.to_string())
            }
        };
        if chunk.length as usize > CHUNK_SIZE {
            return;
        }
        let whole = archive.decode_chunk(entry.file, chunk, chunk.length);
        let whole = whole.inspect_err(located);
        match (whole, stream) {
            (Ok(whole), Ok(stream)) => {
                assert_eq!(whole.len(), chunk.length as usize);
                assert!(whole.starts_with(&stream));
            }
            (Ok(whole), Err(stream)) => {
                assert_eq!(whole.len(), chunk.length as usize);
                // libdeflate accepts the unused code in a table of one code;
                // the data still has the right Adler-32.
                let lenient = self.force || stream.contains("deflate");
                assert!(lenient, "decodes as a whole only: {stream}");
            }
            (Err(whole), Ok(_)) => {
                // Built for a fuzzer, miniz_oxide does not check the Adler-32.
                let lenient = cfg!(fuzzing) && whole.to_string().contains("zlib");
                assert!(lenient, "decodes as a stream only: {whole}");
            }
            (Err(_), Err(_)) => {}
        }
    }
}

/// Returns the bytes of a stream, at most about `most` of them.
fn streamed(mut stream: impl Read, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut part = vec![0; 777];
    while bytes.len() <= most {
        match stream.read(&mut part)? {
            0 => break,
            length => bytes.extend_from_slice(&part[..length]),
        }
    }
    Ok(bytes)
}
