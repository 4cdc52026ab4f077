//! Odd archives that can be read.

use hpimount_containers::hpi::chunk::Method;

use super::super::text;
use super::{Entry, File, V1, V2, dir, file, usual_tree};

/// An odd archive: a name for the oddity, its bytes, and its contents.
pub struct Quirk {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub entries: Vec<Entry>,
}

/// Returns all the odd archives.
pub fn all() -> Vec<Quirk> {
    [version_1(), odd_chunks(), odd_names(), version_2()]
        .into_iter()
        .flatten()
        .collect()
}

fn v1(name: &'static str, archive: V1) -> Quirk {
    Quirk {
        name,
        bytes: archive.build().bytes,
        entries: archive.entries,
    }
}

fn v2(name: &'static str, archive: V2) -> Quirk {
    Quirk {
        name,
        bytes: archive.build().bytes,
        entries: archive.entries,
    }
}

/// Returns version 1 archives that are odd as a whole.
fn version_1() -> Vec<Quirk> {
    let plain = || V1::new(usual_tree(Method::Zlib));
    let keyed = || plain().keyed(0x7D);
    let with = |change: fn(&mut V1), mut archive: V1| {
        change(&mut archive);
        archive
    };
    vec![
        v1("empty root", V1::new(vec![])),
        v1("root elsewhere", with(|v1| v1.root = 0x40, keyed())),
        v1(
            "lists elsewhere",
            with(|v1| v1.lists_elsewhere = true, keyed()),
        ),
        v1("gap before data", with(|v1| v1.gap = 777, keyed())),
        v1("no trailer", with(|v1| v1.trailer.clear(), plain())),
        v1(
            "longer trailer",
            with(
                |v1| v1.trailer.splice(..0, *b"Packed by me. ").for_each(drop),
                plain(),
            ),
        ),
        v1("key 0xFF, plain", with(|v1| v1.key = 0xFF, plain())),
        v1("key 0xFF, enciphered", plain().keyed(0xFF)),
        v1(
            "upper bytes of the key",
            with(|v1| v1.key = 0x1234_567D, keyed()),
        ),
    ]
}

/// Returns archives with odd chunks.
fn odd_chunks() -> Vec<Quirk> {
    let both = |change: fn(&mut super::Chunk)| {
        let one = |name: &[u8], method| {
            let packed = File::new(text(200_000), method).with(change);
            file(name, packed)
        };
        V1::new(vec![
            one(b"a.bin", Method::Lz77),
            one(b"b.bin", Method::Zlib),
        ])
    };
    vec![
        v1(
            "chunks not scrambled",
            both(|chunk| chunk.scrambled = false),
        ),
        v1("chunk version 1", both(|chunk| chunk.version = 1)),
        v1("stored chunks", both(|chunk| chunk.method = Method::Stored)),
        v1("all chunks LZ77", both(|chunk| chunk.method = Method::Lz77)),
        v1("all chunks zlib", both(|chunk| chunk.method = Method::Zlib)),
        v1(
            "padding behind payload",
            both(|chunk| chunk.behind_payload = vec![0xAA; 5]),
        ),
        v1(
            "byte behind LZ77 end mark",
            V1::new(vec![file(
                b"a.bin",
                File::new(text(200_000), Method::Lz77).with(|chunk| chunk.behind_data = vec![b'L']),
            )])
            .keyed(0xBF),
        ),
    ]
}

/// Returns archives with odd names.
fn odd_names() -> Vec<Quirk> {
    let named = |name: &[u8], data: &[u8]| file(name, File::new(data, Method::Zlib));
    vec![
        v1(
            "the same name twice",
            V1::new(vec![
                named(b"a.txt", b"first"),
                named(b"a.txt", b"second"),
                dir(b"d", vec![named(b"x", b"1")]),
                dir(b"d", vec![named(b"y", b"2")]),
            ]),
        ),
        v1(
            "names that differ in case",
            V1::new(vec![
                named(b"a.txt", b"first"),
                named(b"A.TXT", b"second"),
                dir(b"Dir", vec![named(b"x", b"1")]),
                dir(b"dir", vec![named(b"y", b"2")]),
            ]),
        ),
        v1(
            "names in Windows-1252",
            V1::new(vec![
                named(b"caf\xE9.txt", b"small"),
                named(b"CAF\xC9.TXT", b"large"),
                named(b"\x93quoted\x94.ota", b"quotes"),
                named(b"undefined \x81\x8D.bin", b"undefined"),
            ])
            .keyed(0xBF),
        ),
        v1(
            "names that are no file names",
            V1::new(vec![
                named(b"a/b.txt", b"slash"),
                named(b"c\\d.txt", b"backslash"),
                dir(b"..", vec![named(b"evil.txt", b"parent")]),
                named(b".", b"dot"),
                named(b"", b"nothing"),
                named(b"CON", b"device"),
                named(b"tab\t\n.x", b"control"),
                named(&[b'n'; 300], b"long"),
            ]),
        ),
    ]
}

fn version_2() -> Vec<Quirk> {
    let packed = || V2::new(usual_tree(Method::Zlib));
    vec![
        v2("version 2, chunks", packed()),
        v2(
            "version 2, one chunk for a file",
            V2 {
                chunk_size: None,
                ..packed()
            },
        ),
        v2(
            "version 2, odd chunk size",
            V2 {
                chunk_size: Some(1000),
                ..packed()
            },
        ),
        v2(
            "version 2, raw blocks",
            V2 {
                raw_blocks: true,
                ..packed()
            },
        ),
        v2(
            "version 2, stored",
            V2 {
                raw_blocks: true,
                ..V2::new(usual_tree(Method::Stored))
            },
        ),
        v2(
            "version 2, no trailer",
            V2 {
                trailer: vec![],
                ..packed()
            },
        ),
        v2("version 2, LZ77", V2::new(usual_tree(Method::Lz77))),
    ]
}
