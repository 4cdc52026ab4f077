//! Damaged and malicious archives.

use std::mem::offset_of;

use hpimount_containers::hpi::chunk::{ChunkHeader, Method, checksum};
use hpimount_containers::hpi::record::{Entry1, File1, File2, Header1, MAGIC, Node1, VERSION_1};
use zerocopy::IntoBytes;

use super::super::text;
use super::{Built, File, TRAILER, V1, V2, file, usual_tree, zlib};

/// A broken archive: a name for the damage, and its bytes.
pub struct Broken {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

fn broken(name: &'static str, bytes: impl Into<Vec<u8>>) -> Broken {
    Broken {
        name,
        bytes: bytes.into(),
    }
}

/// Offsets of the root's node, of its list offset, and of its first entry.
const ROOT: usize = size_of::<Header1>();
const ROOT_LIST: usize = ROOT + 4;
const FIRST_ENTRY: usize = ROOT + size_of::<Node1>();

const HUGE: [u8; 4] = u32::MAX.to_le_bytes();

/// Returns archives that must be refused.
pub fn unopenable() -> Vec<Broken> {
    let usual = V1::new(usual_tree(Method::Zlib)).build();
    let bytes = &usual.bytes;
    let version = |version: &[u8; 4]| usual.patched(4, version);
    let mut all = vec![
        broken("empty", []),
        broken("marker alone", MAGIC),
        broken("header alone", &bytes[..ROOT]),
        broken("another format", [&b"\x89PNG"[..], &[0; 60]].concat()),
        broken("saved game", version(b"BANK")),
        broken("version 3", version(&[0, 0, 3, 0])),
        broken("directory cut off", &bytes[..40]),
        broken(
            "directory end past the end",
            usual.patched(8, 0x7FFF_FFFF_u32.to_le_bytes()),
        ),
        broken(
            "root past the end",
            usual.patched(16, 0xFFFF_FFF0_u32.to_le_bytes()),
        ),
        broken(
            "count too high",
            usual.patched(ROOT, 0x4000_0000_u32.to_le_bytes()),
        ),
        broken(
            "entries past the end",
            usual.patched(ROOT_LIST, 0xFFFF_FF00_u32.to_le_bytes()),
        ),
        broken(
            "name past the end",
            usual.patched(FIRST_ENTRY, 0x00FF_FFFF_u32.to_le_bytes()),
        ),
        broken("node past the end", usual.patched(FIRST_ENTRY + 4, HUGE)),
        broken("directory in itself", directory_in_itself()),
        broken("shared directories", shared_directories(12, 16)),
    ];
    all.extend(unopenable_v2());
    all
}

fn unopenable_v2() -> Vec<Broken> {
    let raw = V2 {
        raw_blocks: true,
        ..V2::new(usual_tree(Method::Zlib))
    };
    let raw = raw.build();
    let directory = u32::from_le_bytes(raw.bytes[8..12].try_into().unwrap()) as usize;
    let in_itself = [0_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
    vec![
        broken(
            "version 2, directory in itself",
            raw.patched(directory + 4, in_itself),
        ),
        broken(
            "version 2, count too high",
            raw.patched(directory + 8, [0xFF, 0xFF, 0xFF, 0x7F]),
        ),
        broken(
            "version 2, block past the end",
            raw.patched(8, 0x7FFF_FFFF_u32.to_le_bytes()),
        ),
        broken(
            "version 2, name past the end",
            raw.patched(directory + 20, [0xFF, 0xFF, 0xFF, 0x7F]),
        ),
    ]
}

/// Returns archives that open, with a first file that cannot be read to its
/// end.
pub fn unreadable() -> Vec<Broken> {
    let one = one_file();
    let file_offsets = &one.files[0];
    let (record, table, chunk) = (
        file_offsets.record,
        file_offsets.data,
        file_offsets.chunks[0],
    );
    let last = file_offsets.chunks[file_offsets.chunks.len() - 1];
    let mut all = vec![
        broken("size of 4 GiB", one.patched(record + 4, HUGE)),
        broken(
            "data past the end",
            one.patched(record, 0xFFFF_FF00_u32.to_le_bytes()),
        ),
        broken(
            "chunk table wraps around",
            one.patched(table, 0xFFFF_FFF0_u32.to_le_bytes()),
        ),
        broken("chunk of no length", one.patched(table, [0; 4])),
        broken("wrong marker", one.patched(chunk, [0; 4])),
        broken("unknown method", one.patched(chunk + 5, [9])),
        broken(
            "compressed size too high",
            one.patched(chunk + 7, 0x7FFF_FFFF_u32.to_le_bytes()),
        ),
        broken("decompressed size too high", one.patched(chunk + 11, HUGE)),
        broken(
            "wrong checksum",
            one.patched(chunk + 15, 1_u32.to_le_bytes()),
        ),
        broken("data cut off", &one.bytes[..last + 30]),
        broken(
            "version 2, long chunk past the end",
            long_chunk_past_the_end(),
        ),
    ];
    all.extend(
        [
            (
                "LZ77 without end mark",
                Method::Lz77,
                b"\0abcdefgh".to_vec(),
                8,
            ),
            (
                "LZ77 too long",
                Method::Lz77,
                b"\x02a\x1F\0\0\0".to_vec(),
                4,
            ),
            ("LZ77 too short", Method::Lz77, b"\x02a\0\0".to_vec(), 100),
            ("zlib noise", Method::Zlib, b"\x12\x34\x56\x78".to_vec(), 10),
            ("zlib too long", Method::Zlib, zlib(&[0; 5_000_000]), 10),
            ("zlib too short", Method::Zlib, zlib(b"12345"), 10),
            (
                "zlib cut off",
                Method::Zlib,
                zlib(&text(900))[..99].to_vec(),
                900,
            ),
        ]
        .map(|(name, method, payload, size)| broken(name, one_chunk(method, payload, size))),
    );
    all
}

/// Returns a version 2 archive with one file of one chunk. Its payload extends
/// a byte past the end of the archive; everything else is right, including the
/// checksum of the existing bytes.
fn long_chunk_past_the_end() -> Vec<u8> {
    let archive = V2 {
        raw_blocks: true,
        chunk_size: None,
        ..V2::new(vec![file(b"a", File::new(text(100_000), Method::Zlib))])
    };
    let Built { mut bytes, files } = archive.build();
    let (record, chunk) = (files[0].record, files[0].chunks[0]);
    let payload = chunk + size_of::<ChunkHeader>();
    let length = (bytes.len() - payload + 1) as u32;
    let stored_size = length + size_of::<ChunkHeader>() as u32;
    let mut put = |at: usize, number: u32| {
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        checksum(&bytes[payload..])
    };
    let sum = put(record + offset_of!(File2, stored_size), stored_size);
    put(chunk + offset_of!(ChunkHeader, compressed_size), length);
    put(chunk + offset_of!(ChunkHeader, checksum), sum);
    bytes
}

/// Returns an archive with one file of several chunks and nothing else.
pub fn one_file() -> Built {
    V1::new(vec![file(b"a", File::new(text(200_000), Method::Zlib))]).build()
}

/// Returns an archive with one file of one chunk, which has this payload.
pub fn one_chunk(method: Method, payload: Vec<u8>, size: usize) -> Vec<u8> {
    let file_of_payload = File::new(vec![0; size], method).with(|chunk| {
        chunk.payload = Some(payload);
    });
    V1::new(vec![file(b"a", file_of_payload)]).build().bytes
}

/// Returns an archive with nothing but a directory, from the root's node on.
fn directory_alone(directory: &[u8]) -> Vec<u8> {
    let header = Header1 {
        magic: MAGIC,
        version: VERSION_1.into(),
        dir_end: ((ROOT + directory.len()) as u32).into(),
        key: [0; 4],
        dir_start: (ROOT as u32).into(),
    };
    [header.as_bytes(), directory, TRAILER].concat()
}

fn node(count: usize, list: usize) -> Node1 {
    Node1 {
        count: (count as u32).into(),
        entry_list_offset: (list as u32).into(),
    }
}

fn entry(name: usize, data: usize, flags: u8) -> Entry1 {
    Entry1 {
        name_offset: (name as u32).into(),
        data_offset: (data as u32).into(),
        flags,
    }
}

/// Returns a root whose only entry is the root.
pub fn directory_in_itself() -> Vec<u8> {
    let name = FIRST_ENTRY + size_of::<Entry1>();
    let (node, entry) = (node(1, FIRST_ENTRY), entry(name, ROOT, 1));
    directory_alone(&[node.as_bytes(), entry.as_bytes(), b"a\0"].concat())
}

/// Returns directories whose entries all lead to the next directory, so that a
/// few bytes describe `width` to the power of `levels` files.
pub fn shared_directories(levels: usize, width: usize) -> Vec<u8> {
    let length = size_of::<Node1>() + width * size_of::<Entry1>();
    let record = ROOT + levels * length;
    let name = record + size_of::<File1>();
    let mut bytes = Vec::new();
    for level in 0..levels {
        let start = ROOT + level * length;
        let flag = u8::from(level + 1 < levels);
        // The last level's entries lead to the file's record after it.
        bytes.extend_from_slice(node(width, start + size_of::<Node1>()).as_bytes());
        bytes.extend_from_slice(&entry(name, start + length, flag).as_bytes().repeat(width));
    }
    bytes.extend_from_slice(File1::default().as_bytes());
    bytes.extend_from_slice(b"n\0");
    directory_alone(&bytes)
}
