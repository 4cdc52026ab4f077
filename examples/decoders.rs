//! Decodes everything in an archive or a block image with its decoders alone, computes
//! the checksums that the archive records, on all cores, and prints how long that took
//! in seconds. For a disc, as many bytes as it has go through its checksums meanwhile.
//! No program that checks everything can be faster; `scripts/bench` compares `hpi
//! check` with it.
//!
//! Usage: `cargo run --release --example decoders ARCHIVE`

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use hpimount_containers::extract::{self, Listing};
use hpimount_containers::format::{Input, Options};
use hpimount_containers::volume::{Content, Entry, FileId, Volume};
use hpimount_containers::{formats, image, io};
use md5::{Digest, Md5};
use sha1::Sha1;

/// Number of bytes that go through a checksum at a time.
const PIECE: usize = 64 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which archive?")?;
    let source: Arc<dyn io::ReadAt> = Arc::new(std::fs::read(path)?);
    let begun = Instant::now();
    match image::detect(&*source)? {
        Some(format) => {
            let image = (format.open)(source)?;
            let blocks = image.len().div_ceil(image.block_size().into());
            beside_checksums(image.len(), || {
                on_all_cores(blocks as usize, &|block| {
                    image.decode(block as u64).map(drop)
                })
            })?;
        }
        None => volume(source)?,
    }
    println!("{:.3}", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Decodes every file of an archive, the largest ones first.
fn volume(source: Arc<dyn io::ReadAt>) -> io::Result<()> {
    let options = Options {
        verify: true,
        ..Options::default()
    };
    let input = Input::alone(source, options);
    let mut listing = Listing::default();
    let volume = (formats::detect(&input)?.open)(input, &mut listing)?;
    let images = volume.images();
    let hashed = images.iter().map(|image| image.bytes.len()).sum();
    let work = work(&*volume, &listing);
    beside_checksums(hashed, || {
        on_all_cores(work.len(), &|number| match work[number] {
            Work::File(file) => extract::check(&*volume, file),
            Work::Block { file, size } => decode(&*volume, file, size),
        })
    })
}

/// What one thread does at a time.
enum Work {
    /// Decode a file, compute its checksum, or both.
    File(Entry),
    /// Decode the first `size` bytes of what several files are parts of, such as a
    /// solid block.
    Block { file: FileId, size: u64 },
}

impl Work {
    fn size(&self) -> u64 {
        match self {
            Self::File(entry) => entry.size.unwrap_or(0),
            Self::Block { size, .. } => *size,
        }
    }
}

/// Returns the work for the files of an archive, each of them once. A file that is
/// stored as it is, without a checksum, makes no work.
fn work(volume: &dyn Volume, listing: &Listing) -> Vec<Work> {
    let assets = volume.assets();
    let is_summed = |file| assets.is_some_and(|it| it.recorded_sum(file).is_some());
    let mut seen = HashSet::new();
    let mut blocks: HashMap<FileId, u64> = HashMap::new();
    let mut work = Vec::new();
    for (_, entry) in listing.files() {
        if !seen.insert(entry.file) {
            continue;
        }
        match volume.content(entry.file) {
            Ok(Content::Generated(_)) => {}
            Ok(Content::Extent { .. }) if !is_summed(entry.file) => {}
            Ok(Content::Part { whole, offset }) => {
                let end = blocks.entry(whole).or_default();
                *end = (*end).max(offset + entry.size.unwrap_or(0));
            }
            _ => work.push(Work::File(entry)),
        }
    }
    let blocks = blocks.into_iter();
    work.extend(blocks.map(|(file, size)| Work::Block { file, size }));
    work.sort_by_key(|work| std::cmp::Reverse(work.size()));
    work
}

/// Decodes the first bytes of a stream, whose decoder computes the checksums of the
/// files in it.
fn decode(volume: &dyn Volume, file: FileId, size: u64) -> io::Result<()> {
    let whole = Entry {
        file,
        size: Some(size),
        modified: None,
        asset: None,
    };
    extract::copy(volume, whole, &mut std::io::sink())
}

/// Decodes while `length` bytes go through the checksums of a disc: MD5, which is as
/// slow as the other two together, in a thread of its own. The bytes are zeros, which
/// take as long as any others.
fn beside_checksums(length: u64, decode: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut md5 = Md5::new();
            in_pieces(length, |piece| md5.update(piece));
            md5.finalize()
        });
        scope.spawn(|| {
            let (mut crc32, mut sha1) = (crc32fast::Hasher::new(), Sha1::new());
            in_pieces(length, |piece| {
                crc32.update(piece);
                sha1.update(piece);
            });
            (crc32.finalize(), sha1.finalize())
        });
        decode()
    })
}

/// Calls `add` with pieces of `length` bytes in all.
fn in_pieces(length: u64, mut add: impl FnMut(&[u8])) {
    let piece = vec![0; PIECE];
    let mut left = length;
    while left > 0 {
        let next = left.min(PIECE as u64);
        add(&piece[..next as usize]);
        left -= next;
    }
}

/// Calls `decode` with each number below `count`, on as many threads as there
/// are cores.
fn on_all_cores(count: usize, decode: &(dyn Fn(usize) -> io::Result<()> + Sync)) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            decode(number)?;
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let done = workers
            .into_iter()
            .map(|worker| worker.join().expect("a decoder panicked"));
        done.collect::<io::Result<Vec<()>>>().map(drop)
    })
}
