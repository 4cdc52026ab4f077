//! The site: the tree, its entries and their tags.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::answer::{Answer, Broken, Content, Pieces, Policy, Refusal};
use super::handles::Handles;
use super::names::Names;
use super::range::Tag;
use super::texts::Texts;
use crate::content::Access;
use crate::inspect::path::{Found, find};
use crate::memory::cache::{Cache, Value as Cached};
use crate::mount::{Error, Node, Prepared, Vfs};

/// Thumbnails by the tags of their files and their sizes.
pub(super) type Thumbnails = Cache<(String, u32), Thumbnail, Error>;

/// A PNG file.
#[derive(Clone)]
pub(super) struct Thumbnail(pub(super) Bytes);

impl Cached for Thumbnail {
    fn weight(&self) -> usize {
        self.0.len()
    }
}

/// Number of bytes of a piece of a body that is not large.
pub(super) const PIECE: usize = 64 << 10;

/// A tree that is served.
pub struct Site {
    vfs: Arc<Vfs>,
    /// What all tags follow from.
    base: Sha256,
    /// What `/api/state` says of the sources.
    sources: Value,
    /// What clients of NFS name files by.
    pub(super) handles: Handles,
    /// The names of all entries.
    pub(super) names: Names,
    /// The texts of all files.
    pub(super) texts: Texts,
    /// Thumbnails that were made.
    pub(super) thumbnails: Arc<Thumbnails>,
}

impl Site {
    /// Creates a site of a tree, which was opened of these sources. `salt` is another one in
    /// each run.
    pub fn new(
        vfs: Arc<Vfs>,
        base: &SourceIdentity,
        salt: u128,
        texts: Texts,
        handles: Handles,
    ) -> Self {
        let mut hasher = Sha256::new();
        let options = vfs.options();
        hasher.update(env!("CARGO_PKG_VERSION"));
        hasher.update(format!(
            "{:?} {:?} {} {} {:?}",
            options.encoding, options.palette, options.force, options.verify, options.meta
        ));
        hasher.update(base.number.to_le_bytes());
        if !base.is_complete {
            hasher.update(salt.to_le_bytes());
        }
        let sources = sources(&vfs);
        Self {
            handles,
            names: Names::new(&vfs),
            texts,
            thumbnails: Cache::new(vfs.reader().budget(), 1),
            vfs,
            base: hasher,
            sources,
        }
    }

    /// Returns the tree.
    pub(super) fn vfs(&self) -> &Arc<Vfs> {
        &self.vfs
    }

    /// Answers with the sources and the state of the server.
    pub(super) fn state(&self, index: Value) -> Answer {
        let reader = self.vfs.reader();
        let stats = reader.stats.to_json();
        let state = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "sources": self.sources,
            "index": index,
            "errors": stats["errors"],
            "messages": stats["last_errors"],
            "memory": reader.cache_json()["bytes"],
        });
        Answer::text(Policy::Data, "application/json", state.to_string())
    }

    /// Returns the tag of the bytes of a file.
    pub(super) fn tag(&self, node: &Node<'_>) -> Option<Tag> {
        let identity = self.vfs.identity(node).ok()?;
        let mut hasher = self.base.clone();
        hasher.update(identity.number.to_le_bytes());
        let digest = hasher.finalize();
        let tag = digest[..16].iter();
        let tag: String = tag.map(|byte| format!("{byte:02x}")).collect();
        Some(match identity.is_vague {
            true => Tag::Weak(tag),
            false => Tag::Strong(tag),
        })
    }
}

/// A number that identifies the sources before they are opened.
#[derive(Debug, Clone, Copy)]
pub struct SourceIdentity {
    number: u64,
    /// Whether all sources have an identity: those on servers have none before they are read.
    is_complete: bool,
}

impl SourceIdentity {
    /// Returns the identity of sources.
    pub fn of(prepared: &Prepared) -> Self {
        let mut hasher = DefaultHasher::new();
        let is_complete = prepared.identify(&mut hasher);
        Self {
            number: hasher.finish(),
            is_complete,
        }
    }
}

/// Returns what the mount says of its sources.
fn sources(vfs: &Arc<Vfs>) -> Value {
    let info = Place::find(vfs, ".hpimount/info.json").ok();
    let text = info.and_then(|place| {
        let size = u32::try_from(place.found.attr.size).ok()?;
        place.read(0, size, Access::Unknown).ok()
    });
    let info: Value = text
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let sources = info["sources"].as_array().into_iter().flatten();
    let sources = sources.map(|source| {
        json!({
            "name": source["name"],
            "format": source["format"],
            "warnings": source["warnings"],
        })
    });
    let skipped = info["skipped"].as_array().into_iter().flatten();
    let skipped = skipped.map(|error| json!({ "error": error }));
    sources.chain(skipped).collect()
}

/// An entry of the tree, whose number stays valid while this lives.
pub(super) struct Place {
    vfs: Arc<Vfs>,
    /// Its path and attributes.
    pub(super) found: Found,
}

impl Place {
    /// Finds the entry at a path.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub(super) fn find(vfs: &Arc<Vfs>, path: &str) -> Result<Self, Refusal> {
        let found = find(vfs, path)?;
        Ok(Self {
            vfs: vfs.clone(),
            found,
        })
    }

    /// Returns the tree that it is in.
    pub(super) fn vfs(&self) -> &Arc<Vfs> {
        &self.vfs
    }

    /// Reads bytes of a file: all that are wanted, or less at its end.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read.
    pub(super) fn read(
        &self,
        offset: u64,
        wanted: u32,
        access: Access,
    ) -> Result<Bytes, (Error, String)> {
        let ino = self.found.attr.ino;
        let read = match self.vfs.node(ino) {
            Ok(node) => self.vfs.read_explained(&node, offset, wanted, access),
            // It has no node.
            Err(Error::NotFound) => {
                let read = self.vfs.read_snapshot(ino, offset, wanted);
                read.map_err(|error| (error, error.to_string()))
            }
            Err(error) => Err((error, error.to_string())),
        };
        read.map(Bytes::from_owner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for ino in &self.found.lookups {
            self.vfs.forget(*ino, 1);
        }
    }
}

/// Returns an answer whose body is made of pieces; the first one is read now, so that an
/// error in it is the answer.
pub(super) fn streamed(
    answer: Answer,
    length: Option<u64>,
    mut pieces: Box<dyn Pieces>,
) -> Result<Answer, Broken> {
    let first = pieces.read(PIECE)?;
    Ok(Answer {
        length,
        body: Content::Pieces(first, pieces),
        ..answer
    })
}

/// Returns a JSON text of a string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
