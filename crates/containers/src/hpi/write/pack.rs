//! Packing one chunk.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use zerocopy::IntoBytes;

use crate::hpi::chunk::{self, ChunkHeader, Method, scramble};
use crate::hpi::lz77;

/// The version of all known chunks.
const CHUNK_VERSION: u8 = 2;

/// The first two bytes of all known zlib payloads. They encode the default
/// effort, which decoders ignore.
const ZLIB_HEADER: [u8; 2] = [0x78, 0x9C];

/// Packs `plain` into a chunk with its header.
///
/// The payload is packed even if that makes it longer, as in known archives:
/// Total Annihilation rejects chunks of [`Method::Stored`].
pub(crate) fn chunk(plain: &[u8], method: Method, scrambled: bool) -> Vec<u8> {
    let mut payload = match method {
        Method::Stored => plain.to_vec(),
        Method::Lz77 => lz77::encode(plain),
        Method::Zlib => zlib(plain),
    };
    if scrambled {
        scramble(0, &mut payload);
    }
    let header = ChunkHeader {
        marker: chunk::MARKER,
        version: CHUNK_VERSION,
        method: method.number(),
        scrambled: scrambled.into(),
        compressed_size: length(&payload).into(),
        decompressed_size: length(plain).into(),
        checksum: chunk::checksum(&payload).into(),
    };
    [header.as_bytes(), &payload].concat()
}

/// Returns the length of a chunk's bytes, decoded or not. Neither is as long as
/// 4 GiB: pieces of files are 64 KiB, directories are checked.
fn length(bytes: &[u8]) -> u32 {
    bytes.len() as u32
}

/// Packs `plain` with zlib at the best level.
fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(plain).and_then(|()| encoder.finish());
    let mut packed = packed.expect("writing to memory cannot fail");
    packed[..2].copy_from_slice(&ZLIB_HEADER);
    packed
}

#[cfg(test)]
mod tests {
    use zerocopy::FromBytes;

    use super::*;

    /// Returns the header of a chunk, and its payload after unscrambling.
    fn opened(chunk: &[u8]) -> (ChunkHeader, Vec<u8>) {
        let (header, payload) = ChunkHeader::read_from_prefix(chunk).unwrap();
        assert_eq!(header.compressed_size.get() as usize, payload.len());
        assert_eq!(header.checksum.get(), chunk::checksum(payload));
        let mut payload = payload.to_vec();
        if header.scrambled == 1 {
            chunk::unscramble(0, &mut payload);
        }
        (header, payload)
    }

    #[test]
    fn every_method_is_lossless() {
        let plain = b"Copyright Copyright 1997".repeat(99);
        let length = plain.len();
        for scrambled in [false, true] {
            let (header, payload) = opened(&chunk(&plain, Method::Lz77, scrambled));
            assert_eq!((header.version, header.method), (2, 1));
            assert_eq!(header.decompressed_size.get() as usize, length);
            let out = lz77::Decoder::default().decode(&payload, length).unwrap();
            assert_eq!(out, plain);

            let (header, payload) = opened(&chunk(&plain, Method::Zlib, scrambled));
            assert_eq!((header.version, header.method), (2, 2));
            assert_eq!(payload[..2], ZLIB_HEADER);
            let mut inflate = libdeflater::Decompressor::new();
            let mut out = vec![0; length];
            assert_eq!(inflate.zlib_decompress(&payload, &mut out), Ok(length));
            assert_eq!(out, plain);

            let (header, payload) = opened(&chunk(&plain, Method::Stored, scrambled));
            assert_eq!((header.version, header.method), (2, 0));
            assert_eq!(payload, plain);
        }
    }

    #[test]
    fn incompressible_data_is_packed_too() {
        for method in [Method::Lz77, Method::Zlib] {
            let (header, _) = opened(&chunk(b"x", method, true));
            assert_eq!(header.method, method.number());
            assert!(header.compressed_size > header.decompressed_size);
        }
    }
}
