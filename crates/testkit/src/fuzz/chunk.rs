//! Chunks and LZ77.

use std::io::{self, Read};

use hpimount_containers::hpi::chunk::{CHUNK_SIZE, MARKER};
use hpimount_containers::hpi::lz77::{self, Lz77Error};
use hpimount_containers::hpi::record::{
    Dir2, Entry1, File1, File2, Header1, Header2, MAGIC, Node1, VERSION_1, VERSION_2,
};
use zerocopy::IntoBytes;

use super::archive::{examine, sealed};

/// The beginning of the bytes for [`chunk`].
#[derive(Clone, Copy)]
pub(super) struct ChunkHead {
    /// Bit 0: in a version 2 archive. Bit 1: with unchanged checksums.
    pub flags: u8,
    /// Key of a version 1 archive.
    pub key: u8,
    /// Length of the file, little-endian.
    pub size: [u8; 3],
}

impl ChunkHead {
    pub(super) fn bytes(self) -> Vec<u8> {
        [&[self.flags, self.key][..], &self.size].concat()
    }
}

/// Arbitrary chunks as the only file of an archive. The chunks follow a
/// `ChunkHead`; in version 1 each begins at a marker.
pub fn chunk(data: &[u8]) {
    let Some((&[flags, key, low, middle, high], chunks)) = data.split_first_chunk() else {
        return;
    };
    let size = u32::from_le_bytes([low, middle, high, 0]);
    let archive = match flags & 1 {
        0 => in_version_1(chunks, key, size),
        _ => in_version_2(chunks, size),
    };
    match flags & 2 {
        0 => examine(&sealed(archive)),
        _ => examine(&archive),
    }
}

/// Returns an archive whose file has these chunks, not enciphered.
fn in_version_1(chunks: &[u8], key: u8, size: u32) -> Vec<u8> {
    let size = size.min(8 * CHUNK_SIZE as u32);
    let node = size_of::<Header1>();
    let entry = node + size_of::<Node1>();
    let name = entry + size_of::<Entry1>();
    let record = name + 2;
    let data = record + size_of::<File1>();
    let header = Header1 {
        magic: MAGIC,
        version: VERSION_1.into(),
        dir_end: (data as u32).into(),
        key: [key, 0, 0, 0],
        dir_start: (node as u32).into(),
    };
    let root = Node1 {
        count: 1.into(),
        entry_list_offset: (entry as u32).into(),
    };
    let entry = Entry1 {
        name_offset: (name as u32).into(),
        data_offset: (record as u32).into(),
        flags: 0,
    };
    let file = File1 {
        data_offset: (data as u32).into(),
        size: size.into(),
        compression: 1,
    };
    let mut bytes = [header.as_bytes(), root.as_bytes(), entry.as_bytes(), b"a\0"].concat();
    bytes.extend(file.as_bytes());
    let mut rest = chunks;
    for _ in 0..size.div_ceil(CHUNK_SIZE as u32) {
        let mut marks = rest.windows(MARKER.len()).skip(1);
        let next = marks.position(|window| window == MARKER);
        let length = next.map_or(rest.len(), |at| at + 1);
        bytes.extend((length as u32).to_le_bytes());
        rest = &rest[length..];
    }
    bytes.extend(chunks);
    bytes
}

fn in_version_2(chunks: &[u8], size: u32) -> Vec<u8> {
    let names = size_of::<Header2>();
    let root = names + 3;
    let list = size_of::<Dir2>();
    let data = root + list + size_of::<File2>();
    let header = Header2 {
        magic: MAGIC,
        version: VERSION_2.into(),
        dir_block: (root as u32).into(),
        dir_size: ((data - root) as u32).into(),
        name_block: (names as u32).into(),
        name_size: 3.into(),
        data_start: (data as u32).into(),
    };
    let directory = Dir2 {
        first_file: (list as u32).into(),
        files: 1.into(),
        ..Dir2::default()
    };
    let file = File2 {
        name: 1.into(),
        start: (data as u32).into(),
        size: size.into(),
        stored_size: (chunks.len() as u32).into(),
        ..File2::default()
    };
    let head = [
        header.as_bytes(),
        b"\0a\0",
        directory.as_bytes(),
        file.as_bytes(),
    ];
    [head.concat().as_slice(), chunks].concat()
}

/// LZ77 data after two bytes with the declared length and one with the read size. The
/// same bytes are also packed.
pub fn lz77(data: &[u8]) {
    let Some((&[low, high, step], packed)) = data.split_first_chunk() else {
        return;
    };
    let step = usize::from(step) + 1;
    let _ = both(packed, u16::from_le_bytes([low, high]).into(), step);
    // Output of data with a wrong declared length is never returned.
    let most = packed.len() * 17;
    if let Err(Lz77Error::TooShort { produced, .. }) = both(packed, most + 1, step) {
        let produced = produced as usize;
        for length in produced.saturating_sub(2)..produced + 2 {
            let _ = both(packed, length, step);
        }
        for cut in packed.len().saturating_sub(30)..packed.len() {
            let _ = both(&packed[..cut], produced, step);
        }
    }
    let again = lz77::encode(packed);
    assert_eq!(both(&again, packed.len(), step).unwrap(), packed);
}

/// Decodes in both ways, which must agree exactly.
fn both(packed: &[u8], length: usize, step: usize) -> Result<Vec<u8>, Lz77Error> {
    let cause = |error: io::Error| {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        *cause.unwrap_or_else(|| panic!("is no LZ77 error: {error}"))
    };
    let whole = lz77::Decoder::default().decode(packed, length);
    let whole = whole.map_err(cause);
    let stream = streamed(packed, length, step).map_err(cause);
    assert_eq!(whole, stream);
    if let Ok(whole) = &whole {
        let wanted = length / 2;
        let start = lz77::Decoder::default().decode_start(packed, wanted, length);
        assert_eq!(start.unwrap(), whole[..wanted]);
    }
    whole
}

fn streamed(packed: &[u8], length: usize, step: usize) -> io::Result<Vec<u8>> {
    let mut reader = lz77::Reader::new(Dribble { packed, step }, length as u64);
    let mut out = Vec::new();
    let mut part = vec![0; step * 3 % 251 + 1];
    loop {
        match reader.read(&mut part)? {
            0 => return Ok(out),
            count => out.extend_from_slice(&part[..count]),
        }
    }
}

/// A reader that returns a few bytes at a time.
struct Dribble<'a> {
    packed: &'a [u8],
    step: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let length = buf.len().min(self.step).min(self.packed.len());
        let (now, later) = self.packed.split_at(length);
        buf[..length].copy_from_slice(now);
        self.packed = later;
        Ok(length)
    }
}
