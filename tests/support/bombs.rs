//! Bombs: archives and assets with huge counts, sizes and names, chunks and
//! directories that unpack to huge sizes, cyclic directories, deeply nested
//! archives. Each number always produces the same bomb.

use std::sync::LazyLock;

use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::record::{Header2, MAGIC, VERSION_2};
use zerocopy::IntoBytes;

use super::full::{full_hgo_files, full_ifp_files};
use super::hip::{Asset, Hip, block, hipb};
use super::hpi::hostile::{directory_in_itself, one_chunk, one_file, shared_directories};
use super::hpi::{Chunk, Entry, File, V1, V2, dir, file, zlib};
use super::{noise, text};

/// A file that needs much more than its size suggests.
pub struct Bomb {
    /// With the extension of the format that it imitates.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Pseudorandom numbers that depend only on the seed.
struct Dice {
    bytes: std::vec::IntoIter<u8>,
}

impl Dice {
    fn new(seed: u64) -> Self {
        let bytes = noise(seed + 1, 4096).into_iter();
        Self { bytes }
    }

    fn word(&mut self) -> u32 {
        let mut byte = || self.bytes.next().expect("few numbers are used");
        u32::from_le_bytes([byte(), byte(), byte(), byte()])
    }

    /// Returns a number from 0 to one less than `end`.
    fn below(&mut self, end: usize) -> usize {
        self.word() as usize % end
    }

    /// Returns a number that breaks code that does not check it.
    fn huge(&mut self) -> u32 {
        let shift = self.below(16) as u32;
        match self.below(4) {
            0 => u32::MAX - (self.word() & 0xFF),
            1 => i32::MAX as u32 - (self.word() & 0xFF),
            2 => 0x8000_0000 >> shift,
            _ => self.word(),
        }
    }
}

/// The name of a kind of bomb, its extension, and the function that builds it.
type Maker = (&'static str, &'static str, fn(&mut Dice) -> Vec<u8>);

const MAKERS: [Maker; 25] = [
    ("count", "hpi", huge_numbers),
    ("size", "ufo", huge_size),
    ("chunk table", "hpi", hostile_table),
    ("chunk header", "hpi", hostile_chunk),
    ("shared nodes", "hpi", |dice| {
        shared_directories(2 + dice.below(40), 1 + dice.below(60))
    }),
    ("cycle", "ccx", |_| directory_in_itself()),
    ("deep", "hpi", deep),
    ("overlap", "hpi", overlapping),
    ("zlib", "hpi", zlib_bomb),
    ("zlib chunk without end", "kmp", long_zlib_bomb),
    ("zlib directory", "kmp", zlib_directory),
    ("LZ77", "hpi", lz77_bomb),
    ("version 2 numbers", "kmp", huge_numbers_2),
    ("shared long name", "hpi", shared_name),
    ("names", "hpi", many_names),
    ("nested", "hpi", nested),
    ("nested fan", "hpi", nested_fan),
    ("HIP numbers", "hip", huge_numbers_hip),
    ("HIP counts", "hop", many_assets),
    ("HIP layers", "hip", many_layers),
    ("HIP names", "hip", long_names_hip),
    ("IFP", "ifp", |dice| {
        let mut files = full_ifp_files();
        smaller(files.swap_remove(dice.below(files.len())).1, dice)
    }),
    ("HGO", "hgo", |dice| {
        let mut files = full_hgo_files();
        smaller(files.swap_remove(dice.below(files.len())).1, dice)
    }),
    ("IFP numbers", "ifp", |dice| {
        let mut files = full_ifp_files();
        let mut bytes = files.swap_remove(dice.below(files.len())).1;
        bytes.truncate(20_000);
        overwritten(bytes, dice)
    }),
    ("PSX numbers", "psx", |dice| {
        let mut bytes = [0x0002_0004_u32, 16, 0, 0].map(u32::to_le_bytes).concat();
        bytes.extend(noise(dice.word().into(), 2000));
        overwritten(bytes, dice)
    }),
];

/// Returns the bomb with this number.
pub fn bomb(number: usize) -> Bomb {
    let (what, extension, make) = MAKERS[number % MAKERS.len()];
    let mut dice = Dice::new(number as u64);
    Bomb {
        name: format!("{number} {what}.{extension}"),
        bytes: make(&mut dice),
    }
}

/// Overwrites a few numbers near the start, where headers and tables are.
fn overwritten(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    for _ in 0..1 + dice.below(4) {
        let at = 4 * (1 + dice.below(bytes.len().min(400) / 4 - 2));
        let number = dice.huge();
        let number = match dice.below(2) {
            0 => number.to_le_bytes(),
            _ => number.to_be_bytes(),
        };
        bytes[at..at + 4].copy_from_slice(&number);
    }
    bytes
}

/// Returns the beginning of a file that is full of the smallest parts: without
/// optimization, a view of the whole file takes long.
fn smaller(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    bytes.truncate(50_000 + dice.below(50_000));
    bytes
}

fn huge_numbers(dice: &mut Dice) -> Vec<u8> {
    overwritten(one_file().bytes, dice)
}

fn huge_size(dice: &mut Dice) -> Vec<u8> {
    let one = one_file();
    one.patched(one.files[0].record + 4, dice.huge().to_le_bytes())
}

fn hostile_table(dice: &mut Dice) -> Vec<u8> {
    let mut one = one_file();
    let table = one.files[0].data;
    let entries: Vec<u8> = (0..4).flat_map(|_| dice.huge().to_le_bytes()).collect();
    one.bytes = one.patched(table, entries);
    one.patched(one.files[0].record + 4, dice.huge().to_le_bytes())
}

fn hostile_chunk(dice: &mut Dice) -> Vec<u8> {
    let one = one_file();
    let chunk = one.files[0].chunks[dice.below(4)];
    one.patched(chunk + 7 + 4 * dice.below(2), dice.huge().to_le_bytes())
}

fn deep(dice: &mut Dice) -> Vec<u8> {
    let mut entries = Vec::new();
    for _ in 0..1 + dice.below(300) {
        entries = vec![dir(b"d", entries)];
    }
    V1::new(entries).build().bytes
}

/// Returns many files that share the data of the first, which unpacks to 2 MB.
fn overlapping(dice: &mut Dice) -> Vec<u8> {
    let first = File::new(vec![0; 2_000_000], Method::Zlib);
    let others = (0..500 + dice.below(1500)).map(|number| {
        let name = format!("{number}.ifp");
        file(name.as_bytes(), File::new(Vec::new(), Method::Zlib))
    });
    let entries: Vec<Entry> = [file(b"first.ifp", first)]
        .into_iter()
        .chain(others)
        .collect();
    let mut built = V1::new(entries).build();
    let record = built.bytes[built.files[0].record..][..9].to_vec();
    for offsets in &built.files[1..] {
        built.bytes[offsets.record..][..9].copy_from_slice(&record);
    }
    built.bytes
}

/// 64 MiB of zeros, packed.
static ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| zlib(&vec![0; 64 << 20]));

fn zlib_bomb(dice: &mut Dice) -> Vec<u8> {
    one_chunk(Method::Zlib, ZEROS.clone(), 1 + dice.below(65_536))
}

/// Returns a file of 4 GiB in one chunk, which ends after 64 MiB.
fn long_zlib_bomb(dice: &mut Dice) -> Vec<u8> {
    let packed = File::new(vec![0; 100], Method::Zlib).with(|chunk| {
        chunk.payload = Some(ZEROS.clone());
    });
    let archive = V2 {
        chunk_size: None,
        raw_blocks: true,
        ..V2::new(vec![file(b"a.ifp", packed)])
    };
    let mut built = archive.build();
    let size = (u32::MAX - dice.word() % 1000).to_le_bytes();
    let offsets = built.files[0].clone();
    built.bytes = built.patched(offsets.record + 8, size);
    built.patched(offsets.chunks[0] + 11, size)
}

/// Returns a directory and names that unpack to as much as is allowed, or more.
fn zlib_directory(dice: &mut Dice) -> Vec<u8> {
    static BLOCKS: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
        let zeros = |mebibytes: usize| packed_block(&vec![0; mebibytes << 20]);
        [1, 60, 128].map(zeros)
    });
    let pick = |dice: &mut Dice| BLOCKS[dice.below(3)].clone();
    let (names, directory) = (pick(dice), pick(dice));
    let start = size_of::<Header2>();
    let header = Header2 {
        magic: MAGIC,
        version: VERSION_2.into(),
        dir_block: ((start + names.len()) as u32).into(),
        dir_size: (directory.len() as u32).into(),
        name_block: (start as u32).into(),
        name_size: (names.len() as u32).into(),
        data_start: (start as u32).into(),
    };
    [header.as_bytes(), &names, &directory].concat()
}

fn packed_block(plain: &[u8]) -> Vec<u8> {
    Chunk::new(Method::Zlib).pack(plain)
}

/// Returns groups of eight copies of the maximum length, with a wrong size.
fn lz77_bomb(dice: &mut Dice) -> Vec<u8> {
    let group = [&[0xFF][..], &[0x1F, 0].repeat(8)].concat();
    one_chunk(
        Method::Lz77,
        group.repeat(1 + dice.below(3000)),
        1 + dice.below(65_536),
    )
}

fn huge_numbers_2(dice: &mut Dice) -> Vec<u8> {
    let archive = V2 {
        raw_blocks: true,
        ..V2::new(vec![
            dir(b"d", vec![file(b"x", File::new(text(300), Method::Lz77))]),
            file(b"y", File::new(text(300), Method::Zlib)),
        ])
    };
    let mut bytes = archive.build().bytes;
    // The directory is at the end.
    bytes.reverse();
    bytes = overwritten(bytes, dice);
    bytes.reverse();
    if dice.below(2) == 0 {
        bytes = overwritten(bytes, dice);
    }
    bytes
}

/// Returns many entries with the same long name.
fn shared_name(dice: &mut Dice) -> Vec<u8> {
    let long = vec![b'n'; 20_000 + dice.below(80_000)];
    let mut entries = vec![file(&long, File::new("x", Method::Stored))];
    for _ in 0..5000 + dice.below(20_000) {
        entries.push(file(b"", File::new(Vec::new(), Method::Stored)));
    }
    let mut bytes = V1::new(entries.clone()).build().bytes;
    let first = bytes[28..32].to_vec();
    for entry in 1..entries.len() {
        bytes[28 + 9 * entry..][..4].copy_from_slice(&first);
    }
    bytes
}

/// Returns many entries with one name, short or long.
fn many_names(dice: &mut Dice) -> Vec<u8> {
    let length = [1, 255, 300, 2000][dice.below(4)];
    let names = (0..3000).map(|_| file(&vec![b'%'; length], File::new("x", Method::Stored)));
    V1::new(names.collect()).build().bytes
}

/// Returns nested archives.
fn nested(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = huge_size(dice);
    for _ in 0..2 + dice.below(30) {
        let method = [Method::Stored, Method::Lz77, Method::Zlib][dice.below(3)];
        bytes = V1::new(vec![file(b"in.hpi", File::new(bytes, method))])
            .build()
            .bytes;
    }
    bytes
}

/// Returns nested archives, each with many names for the archive in it.
fn nested_fan(dice: &mut Dice) -> Vec<u8> {
    let width = 2 + dice.below(20);
    let mut bytes = one_file().bytes;
    for _ in 0..2 + dice.below(18) {
        let mut entries = vec![file(b"0.hpi", File::new(bytes, Method::Zlib))];
        for number in 1..width {
            let name = format!("{number}.hpi");
            entries.push(file(name.as_bytes(), File::new(Vec::new(), Method::Zlib)));
        }
        let mut built = V1::new(entries).build();
        let record = built.bytes[built.files[0].record..][..9].to_vec();
        for offsets in &built.files[1..] {
            built.bytes[offsets.record..][..9].copy_from_slice(&record);
        }
        bytes = built.bytes;
    }
    bytes
}

fn small_hip() -> Hip {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0).add(Asset::new(b"TEXT", "t", b"some text"));
    hip.layer(1).add(Asset::new(b"DYNA", "d", &[7; 16]));
    hip
}

fn huge_numbers_hip(dice: &mut Dice) -> Vec<u8> {
    let mut hip = small_hip();
    hip.hipb = Some(hipb(dice.huge(), &[(dice.huge(), b"x")], dice.huge()));
    let bytes = hip.build();
    let (head, rest) = bytes.split_at(dice.below(200));
    [head, &overwritten(rest.to_vec(), dice)].concat()
}

/// Returns many of the smallest assets, with one id or different ones, in no
/// layer.
fn many_assets(dice: &mut Dice) -> Vec<u8> {
    let step = dice.below(2) as u32;
    let text = u32::from_be_bytes(*b"TEXT");
    let numbers = [0, text, dice.huge(), dice.huge(), 0, 0];
    let one = block(b"AHDR", &numbers.map(u32::to_be_bytes).concat());
    let assets: Vec<u8> = (0..2000 + dice.below(8000) as u32)
        .flat_map(|number| {
            let mut asset = one.clone();
            asset[8..12].copy_from_slice(&(number * step).to_be_bytes());
            asset
        })
        .collect();
    let tables = [block(b"ATOC", &assets), block(b"LTOC", &[])].concat();
    [block(b"HIPA", &[]), block(b"DICT", &tables)].concat()
}

/// Returns layers that list one asset repeatedly, or that are empty.
fn many_layers(dice: &mut Dice) -> Vec<u8> {
    let mut hip = small_hip();
    let id = hip.assets[0].id;
    let length = [0, 1, 1000][dice.below(3)];
    for _ in 0..1000 {
        hip.layers.push((dice.below(20) as u32, vec![id; length]));
    }
    hip.build()
}

fn long_names_hip(dice: &mut Dice) -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    for number in 0..20 {
        let mut asset = Asset::new(b"TEXT", "t", b"x").with_id(number);
        asset.name = vec![b';'; 1 + dice.below(50_000)];
        asset.source_file = vec![b'%'; 1 + dice.below(50_000)];
        hip.add(asset);
    }
    hip.build()
}
