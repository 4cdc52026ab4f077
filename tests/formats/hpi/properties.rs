//! Any tree, packed in any way, is unchanged when it is mounted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use testkit::fuse_test;

use fixtures::hpi::{Content, Entry, File as PackedFile, V1, V2, dir, file};
use fixtures::{noise, text};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::text::windows_1252;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rustix::fs::{RawDir, SeekFrom};
use testkit::files::{FileEntry, contents, expected, forget_pages, open_direct, read_at, sha256};
use testkit::mount::{has_programs, hpimount};
use testkit::mounted::{few_cases, mounted_by, output};

/// Generates names that are shown unchanged, including names of archives and
/// assets.
fn names() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-zA-Z0-9_]{1,12}(\\.[a-zA-Z]{3})?".prop_map(String::into_bytes),
        1 => select(vec![
            &b"a"[..], b"A", b"b.txt", b"B.TXT", b"b.Txt", b"a.hpi", b"a.HGO", b"b.ifp", b"b.Psx",
        ]).prop_map(<[u8]>::to_vec),
        1 => vec(select((0x20..=0xFF).filter(|byte| *byte != b'/' && *byte != 0x7F).collect::<Vec<u8>>()), 3..40),
    ]
}

fn files() -> impl Strategy<Value = PackedFile> {
    let sizes = prop_oneof![
        4 => 0_usize..3000,
        1 => select(vec![65_535_usize, 65_536, 65_537, 131_072, 200_001]),
        1 => 0_usize..150_000,
    ];
    let methods = select(vec![Method::Stored, Method::Lz77, Method::Zlib]);
    let chunks = (methods.clone(), any::<bool>(), 0_usize..6);
    (sizes, methods, chunks, any::<u64>(), any::<bool>()).prop_map(
        |(size, method, (chunk_method, scrambled, padding), seed, compresses)| {
            let data = if compresses {
                text(size)
            } else {
                noise(seed >> 1, size)
            };
            PackedFile::new(data, method).with(|chunk| {
                chunk.method = chunk_method;
                chunk.scrambled = scrambled;
                chunk.behind_payload = vec![0xAA; padding];
            })
        },
    )
}

fn trees() -> impl Strategy<Value = Vec<Entry>> {
    let leaf = (names(), files()).prop_map(|(name, content)| file(&name, content));
    let tree = leaf.prop_recursive(4, 24, 6, |inner| {
        (names(), vec(inner, 0..6)).prop_map(|(name, entries)| dir(&name, entries))
    });
    vec(tree, 0..8).prop_map(|mut entries| {
        make_unique(&mut entries);
        entries
    })
}

/// Keeps one entry for each spelling.
fn make_unique(entries: &mut Vec<Entry>) {
    let mut names = BTreeSet::new();
    entries.retain(|entry| names.insert(entry.name.clone()));
    for entry in entries {
        if let Content::Directory(inner) = &mut entry.content {
            make_unique(inner);
        }
    }
}

/// A way to pack: either version, with its options.
#[derive(Debug, Clone)]
enum Variant {
    V1 {
        key: u8,
        upper: u32,
        root: usize,
        elsewhere: bool,
        gap: usize,
        trailer: bool,
    },
    V2 {
        chunk_size: Option<usize>,
        raw_blocks: bool,
        trailer: bool,
    },
}

fn variants() -> impl Strategy<Value = Variant> {
    let keys = prop_oneof![Just(0_u8), Just(0xFF), Just(0x7D), any::<u8>()];
    let first = (
        keys,
        any::<u32>(),
        20_usize..99,
        any::<bool>(),
        0_usize..900,
        any::<bool>(),
    );
    let first = first.prop_map(|(key, upper, root, elsewhere, gap, trailer)| Variant::V1 {
        key,
        upper: upper << 8,
        root,
        elsewhere,
        gap,
        trailer,
    });
    let sizes = select(vec![None, Some(65_536), Some(1000), Some(100_000)]);
    let second = (sizes, any::<bool>(), any::<bool>());
    let second = second.prop_map(|(chunk_size, raw_blocks, trailer)| Variant::V2 {
        chunk_size,
        raw_blocks,
        trailer,
    });
    prop_oneof![first, second]
}

fn pack(variant: &Variant, mut entries: Vec<Entry>) -> Vec<u8> {
    match *variant {
        Variant::V1 {
            key,
            upper,
            root,
            elsewhere,
            gap,
            trailer,
        } => {
            let mut archive = V1::new(entries);
            archive.key = upper | u32::from(key);
            archive.cipher = Cipher::from_header(key);
            archive.root = root;
            archive.lists_elsewhere = elsewhere;
            archive.gap = gap;
            if !trailer {
                archive.trailer.clear();
            }
            archive.build().bytes
        }
        Variant::V2 {
            chunk_size,
            raw_blocks,
            trailer,
        } => {
            without_padding(&mut entries);
            let mut archive = V2::new(entries);
            archive.chunk_size = chunk_size;
            archive.raw_blocks = raw_blocks;
            if !trailer {
                archive.trailer.clear();
            }
            archive.build().bytes
        }
    }
}

/// Removes the padding after chunks, which version 2 does not have.
fn without_padding(entries: &mut [Entry]) {
    for entry in entries {
        match &mut entry.content {
            Content::Directory(inner) => without_padding(inner),
            Content::File(file) => file.chunk.behind_payload.clear(),
        }
    }
}

/// Reads parts of a file, through the kernel's cache and past it.
fn check_parts(path: &Path, bytes: &[u8], parts: &[(Index, usize)]) {
    let (cached, direct) = (File::open(path).unwrap(), open_direct(path));
    forget_pages(&cached);
    for (position, length) in parts {
        let start = position.index(bytes.len() + 1);
        let end = bytes.len().min(start + length);
        for file in [&cached, &direct] {
            let found = read_at(file, start as u64, *length).unwrap();
            assert!(
                found == bytes[start..end],
                "{} {start}..{end}",
                path.display()
            );
        }
    }
}

/// The name and the inode number of an entry, and the offset after it.
type Listed = (Vec<u8>, u64, u64);

/// Lists a directory through a buffer that holds only a few entries, from
/// `start` on.
fn list(directory: &Path, start: u64) -> Vec<Listed> {
    let directory = File::open(directory).unwrap();
    rustix::fs::seek(&directory, SeekFrom::Start(start)).unwrap();
    let mut buffer = [MaybeUninit::uninit(); 600];
    let mut listing = RawDir::new(&directory, &mut buffer);
    let mut found = Vec::new();
    while let Some(entry) = listing.next() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_bytes().to_vec();
        found.push((name, entry.ino(), entry.next_entry_cookie()));
    }
    found
}

/// Checks that a listing continues from every offset that it returned.
fn check_listing(directory: &Path, expected: &[Vec<u8>]) {
    let all = list(directory, 0);
    let names: Vec<_> = all.iter().map(|(name, ..)| name.clone()).collect();
    assert_eq!(names[..2], [b".".to_vec(), b"..".to_vec()]);
    assert_eq!(names[2..], *expected, "{}", directory.display());
    for (position, (_, _, next)) in all.iter().enumerate() {
        assert_eq!(list(directory, *next), all[position + 1..]);
    }
}

/// Returns the names in the order of the archive: version 2 lists directories
/// first.
fn order(variant: &Variant, entries: &[Entry]) -> Vec<Vec<u8>> {
    let mut entries: Vec<&Entry> = entries.iter().collect();
    if let Variant::V2 { .. } = variant {
        entries.sort_by_key(|entry| matches!(entry.content, Content::File(_)));
    }
    let shown = |entry: &&Entry| windows_1252(&entry.name).into_owned().into_bytes();
    entries.iter().map(shown).collect()
}

fn check_listings(variant: &Variant, directory: &Path, entries: &[Entry]) {
    check_listing(directory, &order(variant, entries));
    for entry in entries {
        if let Content::Directory(inner) = &entry.content {
            let inner_directory = directory.join(&*windows_1252(&entry.name));
            check_listings(variant, &inner_directory, inner);
        }
    }
}

/// Maps every file into memory, and prints the digest of its bytes.
const MAP: &str = "
import hashlib, mmap, os, sys
for path in sys.stdin.buffer.read().split(b'\\0')[:-1]:
    with open(path, 'rb') as file:
        size = os.fstat(file.fileno()).st_size
        data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) if size else b''
        print(hashlib.sha256(data).hexdigest())
";

fn check_maps(root: &Path, found: &BTreeMap<PathBuf, FileEntry>) {
    let files = found.iter().filter_map(|(path, found)| match found {
        FileEntry::File(bytes) => Some((root.join(path), sha256(bytes))),
        _ => None,
    });
    let (paths, digests): (Vec<_>, Vec<_>) = files.unzip();
    let list = tempfile::NamedTempFile::new().unwrap();
    let terminated = |path: &PathBuf| format!("{}\0", path.to_str().unwrap());
    fs::write(
        list.path(),
        paths.iter().map(terminated).collect::<String>(),
    )
    .unwrap();
    let script = "python3 -c \"$1\" < \"$2\"";
    let arguments = ["-c", script, "sh", MAP, list.path().to_str().unwrap()];
    let printed = output("sh", &arguments, root);
    assert!(printed.lines().eq(digests), "{}", root.display());
}

proptest! {
    #![proptest_config(few_cases())]

    #[fuse_test]
    fn a_tree_packed_and_mounted_is_the_same_tree(
        variant in variants(),
        entries in trees(),
        parts in vec((any::<Index>(), select(vec![1_usize, 4096, 65_536, 100_001])), 1..12),
    ) {
        let mut program = hpimount();
        // Shows exactly the packed files.
        program.arg("--no-meta");
        let archive = pack(&variant, entries.clone());
        let mount = mounted_by(program, &archive, "cachesize=1M");
        let expected = expected(&entries);
        check_listings(&variant, mount.path(), &entries);
        for (path, found) in &expected {
            if let FileEntry::File(bytes) = found {
                let path = mount.path().join(path);
                prop_assert_eq!(path.metadata().unwrap().len(), bytes.len() as u64);
                check_parts(&path, bytes, &parts);
            }
        }
        prop_assert!(contents(mount.path()) == expected, "{:?}", variant);
        if has_programs(&["python3"]) {
            check_maps(mount.path(), &expected);
        }
    }
}
