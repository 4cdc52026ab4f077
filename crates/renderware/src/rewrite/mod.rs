//! Edited models: replaces the bodies of chunks and leaves the rest of the file
//! unchanged.

mod added;
mod geometry;
mod material;
mod model;
mod place;

pub use self::added::{NewPart, with_parts};
pub use self::model::{ClumpSource, ModelEdit, ShownGeometry};
pub use self::place::frames;

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::clump::Clump;
use crate::{Chunk, Chunks, HEADER, Version, kind};

/// New bodies of chunks, by the offsets of the old ones.
pub type Bodies = BTreeMap<u64, Vec<u8>>;

/// Returns the reason why no mesh of a clump can be edited.
pub fn refusal(clump: &Clump) -> Option<String> {
    let refusals = clump.geometries.iter().map(geometry::refusal);
    refusals.collect::<Option<Vec<_>>>()?.into_iter().next()
}

/// Replaces the bodies of chunks, and updates the sizes of the chunks around them.
///
/// # Errors Returns an error if a chunk is cut, has a wrong size, or becomes too large.
pub fn replaced(file: &Bytes, bodies: &Bodies) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(file.len());
    copy(file, 0, bodies, &mut out)?;
    Ok(out)
}

/// Copies the chunks in `bytes`, which begin at `offset`.
fn copy(bytes: &Bytes, offset: u64, bodies: &Bodies, out: &mut Vec<u8>) -> Result<(), String> {
    let mut chunks = Chunks::new(bytes.clone(), offset);
    let mut at = 0;
    while let Some(chunk) = chunks.next() {
        let end = (chunks.offset() - offset) as usize;
        let stored = &bytes[at..end];
        at = end;
        let inside = chunk.offset..chunk.offset + chunk.body.len().max(1) as u64;
        if bodies.range(inside).next().is_none() {
            out.extend_from_slice(stored);
            continue;
        }
        if chunk.is_cut() || chunk.is_mended {
            return Err(
                "has chunks of spoilt sizes, as a tool that locks models leaves".to_owned(),
            );
        }
        let start = out.len();
        out.extend_from_slice(&stored[..HEADER]);
        match bodies.get(&chunk.offset) {
            Some(body) => out.extend_from_slice(body),
            None => copy(&chunk.body, chunk.offset, bodies, out)?,
        }
        let size = u32::try_from(out.len() - start - HEADER);
        let size = size.map_err(|_| "becomes larger than 4 GiB".to_owned())?;
        out[start + 4..start + 8].copy_from_slice(&size.to_le_bytes());
    }
    out.extend_from_slice(&bytes[at..]);
    Ok(())
}

/// Returns the chunks of the geometries of a clump, in the order of
/// [`Clump::geometries`](crate::clump::Clump::geometries).
fn geometries(clump: &Chunk) -> Vec<Chunk> {
    let mut found = Vec::new();
    let mut add = |parent: &Chunk| {
        found.extend(
            parent
                .children()
                .filter(|chunk| chunk.kind == kind::GEOMETRY),
        );
    };
    match clump.kind {
        kind::ATOMIC => add(clump),
        _ => {
            let parents = clump.children();
            let parents =
                parents.filter(|chunk| matches!(chunk.kind, kind::GEOMETRY_LIST | kind::ATOMIC));
            parents.for_each(|parent| add(&parent));
        }
    }
    found
}

/// Encodes a chunk.
fn stored(kind: u32, version: Version, body: &[u8]) -> Vec<u8> {
    let header = [kind, body.len() as u32, version.0];
    [&header.map(u32::to_le_bytes).concat(), body].concat()
}

/// Encodes a copy of a chunk with another body.
fn with_body(chunk: &Chunk, body: &[u8]) -> Vec<u8> {
    stored(chunk.kind, chunk.version, body)
}
