//! The blocks of objects, in memory and on disk, and their keys.

use std::sync::Arc;

use ring::digest::{Context, SHA256};

use super::BLOCK;
use super::store::Pin;
use crate::memory::cache::Value;

/// The identity of a version of an object, in the keys of its blocks.
pub(super) type Id = [u8; 32];

/// The key of a block: the version of its object, and its number.
pub(super) type BlockKey = (Id, u64);

/// A block, or the reason why it could not be fetched.
pub(super) type Fetched = Result<Block, Arc<str>>;

/// The bytes of a block.
#[derive(Debug, Clone)]
pub(super) struct Block(pub(super) Arc<Vec<u8>>);

impl Value for Block {
    fn weight(&self) -> usize {
        self.0.capacity()
    }
}

/// Returns the key of the blocks of an object's version, in memory and on disk.
/// An ETag identifies versions of one URL, but may be equal for different URLs.
pub(super) fn identity(endpoint: &str, url: &str, pin: &Pin) -> Id {
    let mut hash = Context::new(&SHA256);
    for part in [endpoint, url, &pin.stamp()] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(&pin.len().to_le_bytes());
    hash.update(&BLOCK.to_le_bytes());
    let mut id = Id::default();
    id.copy_from_slice(hash.finish().as_ref());
    id
}
