//! Throughput of decoding chunks.
//!
//! The blocks come from `scripts/bench`'s corpus, 64 KiB each. `libdeflate`
//! decodes the same blocks as `lz77`, packed both ways, as the reference.

#[allow(dead_code)]
#[path = "../examples/corpus/generate.rs"]
mod generate;

use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hpimount::pack::Threads;
use hpimount_containers::format::{Input, Options};
use hpimount_containers::hip::CHECKSUM;
use hpimount_containers::hpi::chunk::{CHUNK_SIZE, Method, checksum, scramble, unscramble};
use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::hpi::write::v1;
use hpimount_containers::hpi::{self, lz77};
use hpimount_containers::io::Result;
use hpimount_containers::volume::{Content, Entry, FileId, Name, NodeId, Sink, Volume};
use hpimount_containers::write::{Directory, File, Node, Source};
use libdeflater::{CompressionLvl, Compressor, Decompressor};

use generate::{Generator, Kind};

/// Lengths of the starts of chunks that are decoded.
const STARTS: [u32; 3] = [4 << 10, 16 << 10, 44 << 10];

/// Blocks of each kind of content.
const BLOCKS: usize = 16;

/// A sink that discards the tree of an archive.
struct Nowhere;

impl Sink for Nowhere {
    fn root(&self) -> NodeId {
        NodeId(0)
    }

    fn dir(&mut self, _: NodeId, _: Name<'_>, _: Option<i64>) -> Result<NodeId> {
        Ok(NodeId(0))
    }

    fn file(&mut self, _: NodeId, _: Name<'_>, _: Entry) -> Result<NodeId> {
        Ok(NodeId(0))
    }

    fn link(&mut self, _: NodeId, _: Name<'_>, _: NodeId) -> Result<()> {
        Ok(())
    }

    fn symlink(&mut self, _: NodeId, _: Name<'_>, _: Entry) -> Result<()> {
        Ok(())
    }
}

/// Returns an archive in memory with one file.
fn archive(bytes: &[u8], method: Method) -> Box<dyn Volume> {
    let file = File {
        source: Source::Bytes(bytes.to_owned()),
        modified: 0,
    };
    let root = Directory {
        entries: vec![("file".into(), Node::File(file))],
    };
    let mut out = Cursor::new(Vec::new());
    v1::write(
        &root,
        v1::Options { method, key: 0x7D },
        &mut out,
        &mut Threads::start(),
        &mut |_| {},
    )
    .unwrap();
    let source = Arc::new(out.into_inner());
    let input = Input::alone(source, Options::default());
    (hpi::FORMAT.open)(input, &mut Nowhere).unwrap()
}

fn blocks(kind: Kind) -> Vec<u8> {
    Generator::new(1).bytes(kind, BLOCKS * CHUNK_SIZE)
}

/// Measures the decoders alone.
fn decoders(criterion: &mut Criterion) {
    for kind in [Kind::Text, Kind::Records] {
        let plain = blocks(kind);
        let mut group = criterion.benchmark_group(format!("{kind:?}"));
        group.throughput(Throughput::Bytes(plain.len() as u64));
        let mut out = vec![0; CHUNK_SIZE];

        let packed: Vec<_> = plain.chunks(CHUNK_SIZE).map(lz77::encode).collect();
        group.bench_function("lz77", |bencher| {
            let mut decoder = lz77::Decoder::default();
            bencher.iter(|| {
                for (block, plain) in packed.iter().zip(plain.chunks(CHUNK_SIZE)) {
                    decoder.decode(black_box(block), plain.len()).unwrap();
                }
            });
        });

        let mut compressor = Compressor::new(CompressionLvl::default());
        let deflated: Vec<Vec<u8>> = plain
            .chunks(CHUNK_SIZE)
            .map(|block| {
                let mut packed = vec![0; compressor.zlib_compress_bound(block.len())];
                let length = compressor.zlib_compress(block, &mut packed).unwrap();
                packed.truncate(length);
                packed
            })
            .collect();
        let mut decompressor = Decompressor::new();
        group.bench_function("libdeflate", |bencher| {
            bencher.iter(|| {
                for block in &deflated {
                    let block = black_box(block);
                    decompressor.zlib_decompress(block, &mut out).unwrap();
                }
            });
        });

        // With reading, cipher, checksum and all checks.
        for method in [Method::Zlib, Method::Lz77] {
            let archive = archive(&plain, method);
            let Content::Chunks(archive) = archive.content(FileId(0)).unwrap() else {
                panic!("a packed file is in chunks");
            };
            let table = archive.chunk_table(FileId(0)).unwrap();
            let mut measure = |name: &str, wanted: u32| {
                let name = format!("{name} {}", method.name());
                group.bench_function(name, |bencher| {
                    bencher.iter(|| {
                        for number in 0..BLOCKS {
                            let chunk = table.at((number * CHUNK_SIZE) as u64).unwrap();
                            let decoded = archive.decode_chunk(FileId(0), chunk, wanted);
                            black_box(decoded.unwrap());
                        }
                    });
                });
            };
            measure("whole chunks", CHUNK_SIZE as u32);
            for length in STARTS {
                measure(&format!("first {} KiB of chunks", length >> 10), length);
            }
        }
    }
}

/// Measures the steps that every byte takes in addition to unpacking.
fn per_byte(criterion: &mut Criterion) {
    let mut bytes = blocks(Kind::Noise);
    let mut group = criterion.benchmark_group("per byte");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("cipher", |bencher| {
        let cipher = Cipher::from_header(0x7D);
        bencher.iter(|| cipher.apply(black_box(1), &mut bytes));
    });
    group.bench_function("checksum", |bencher| {
        bencher.iter(|| checksum(black_box(&bytes)));
    });
    scramble(0, &mut bytes);
    group.bench_function("unscramble", |bencher| {
        bencher.iter(|| unscramble(black_box(0), &mut bytes));
    });
    group.bench_function("HIP CRC", |bencher| {
        bencher.iter(|| CHECKSUM.checksum(black_box(&bytes)));
    });
}

criterion_group!(benches, decoders, per_byte);
criterion_main!(benches);
