//! The share of a server: its tree, and the site, which is the tree at one time, with its
//! entries and their tags.

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::answer::{Answer, Broken, Content, Pieces, Policy, Refusal};
use super::handles::Handles;
use super::live::{LiveTree, Snapshot};
use super::names::Names;
use super::nodes::Nodes;
use super::range::Tag;
use super::texts::Texts;
use crate::content::{Access, OverlayFile};
use crate::inspect::path::{PathEntry, find};
use crate::memory::budget::Budget;
use crate::memory::cache::{Cache, Value as Cached};
use crate::mount::{Attr, Error, FileKind, Ino, Prepared, Vfs};
use crate::namespace::joined;
use crate::namespace::tree::InodeKind;
use crate::prefetch::Prefetch;
use crate::printable::printable;

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

/// A tree with everything that a server has for it.
pub struct Share {
    tree: Tree,
    common: Arc<Common>,
}

enum Tree {
    /// A tree that stays as it is.
    Fixed(Arc<Vfs>),
    /// One that follows a folder of edits.
    #[cfg_attr(not(edit), expect(dead_code, reason = "only `edited` makes one"))]
    Live(Box<dyn LiveTree>),
}

/// State with the lifetime of the server.
pub(super) struct Common {
    /// Hash state that all tags follow from.
    base: Sha256,
    budget: Arc<Budget>,
    /// Facts about the sources in `/api/state`.
    sources: Value,
    /// File handles of NFS clients.
    pub(super) handles: Handles,
    /// The names of all entries.
    pub(super) names: Names,
    /// The texts of all files.
    pub(super) texts: Texts,
    /// Decodes ahead of clients that download quickly.
    prefetch: Prefetch,
    /// Thumbnails that were made.
    pub(super) thumbnails: Arc<Thumbnails>,
}

/// Parts of a share besides its tree.
pub struct Equipment {
    /// Identity of the sources.
    pub identity: SourceIdentity,
    /// A number that is another one in each run.
    pub salt: u128,
    /// The index of texts.
    pub texts: Texts,
    /// Generator of handles for clients of NFS.
    pub handles: Handles,
}

impl Share {
    /// Creates the share of a tree that stays as it is.
    pub fn fixed(vfs: Arc<Vfs>, equipment: Equipment) -> Self {
        Self {
            common: Common::new(&vfs, equipment),
            tree: Tree::Fixed(vfs),
        }
    }

    /// Creates the share of a tree that follows a folder of edits.
    #[cfg(edit)]
    pub fn live(live: super::EditedTree, equipment: Equipment) -> Self {
        Self {
            common: Common::new(live.now().vfs(), equipment),
            tree: Tree::Live(Box::new(live)),
        }
    }

    /// Returns the tree of this moment, which stays as it is.
    pub(super) fn now(&self) -> Arc<Site> {
        let (vfs, snapshot) = match &self.tree {
            Tree::Fixed(vfs) => (vfs.clone(), None),
            Tree::Live(live) => {
                let snapshot = live.now();
                (snapshot.vfs().clone(), Some(snapshot))
            }
        };
        Arc::new(Site {
            vfs,
            snapshot,
            common: self.common.clone(),
        })
    }

    /// Returns the files by their numbers.
    pub(super) fn nodes(&self) -> &dyn Nodes {
        match &self.tree {
            Tree::Fixed(vfs) => &**vfs,
            Tree::Live(live) => &**live,
        }
    }

    /// Starts to decode ahead of clients. There is no page cache to fill: the blocks stay in
    /// the cache of this process. In a tree that follows edits nothing is decoded ahead.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub(super) fn start_prefetch(&self) -> io::Result<()> {
        match &self.tree {
            Tree::Fixed(vfs) => self.common.prefetch.start(vfs, |_, _, _| {}),
            Tree::Live(_) => Ok(()),
        }
    }

    /// Returns the budget that all memory counts towards.
    pub(super) fn budget(&self) -> &Arc<Budget> {
        &self.common.budget
    }

    /// Returns the handles of NFS clients.
    pub(super) fn handles(&self) -> &Handles {
        &self.common.handles
    }
}

impl Common {
    fn new(vfs: &Arc<Vfs>, equipment: Equipment) -> Arc<Self> {
        let Equipment {
            identity,
            salt,
            texts,
            handles,
        } = equipment;
        let mut base = Sha256::new();
        let options = vfs.options();
        base.update(env!("CARGO_PKG_VERSION"));
        base.update(format!(
            "{:?} {:?} {} {} {:?}",
            options.encoding, options.palette, options.force, options.verify, options.meta
        ));
        base.update(identity.number.to_le_bytes());
        if !identity.is_complete {
            base.update(salt.to_le_bytes());
        }
        Arc::new(Self {
            base,
            sources: sources(vfs),
            budget: vfs.reader().budget().clone(),
            handles: handles.within(vfs.reader().budget()),
            names: Names::new(vfs),
            texts,
            prefetch: Prefetch::default(),
            thumbnails: Cache::new(vfs.reader().budget(), 1),
        })
    }
}

/// The tree at one time.
pub(super) struct Site {
    vfs: Arc<Vfs>,
    /// The version of a tree that follows a folder of edits.
    snapshot: Option<Arc<dyn Snapshot>>,
    pub(super) common: Arc<Common>,
}

impl Site {
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
            "sources": self.common.sources,
            "index": index,
            "errors": stats["errors"],
            "messages": stats["last_errors"],
            "memory": reader.cache_json()["bytes"],
        });
        Answer::text(Policy::Data, "application/json", state.to_string())
    }

    /// Returns whether it follows a folder of edits: undoing an edit makes files older.
    pub(super) fn is_live(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Returns the version of a tree that follows a folder of edits.
    pub(super) fn snapshot(&self) -> Option<&dyn Snapshot> {
        self.snapshot.as_deref()
    }

    /// Returns the tag of the bytes of an entry; `None` for directories, and for files
    /// without an identity.
    pub(super) fn tag(&self, path: &str, ino: Ino, overlay: Option<&OverlayFile>) -> Option<Tag> {
        let mut hasher = self.common.base.clone();
        if let Some(snapshot) = &self.snapshot {
            hasher.update(snapshot.folder_version().to_le_bytes());
        }
        let is_vague = match overlay {
            Some(overlay) if overlay.is_saved() => {
                hasher.update(path);
                false
            }
            Some(_) => return None,
            None => {
                let node = self.vfs.node(ino).ok()?;
                if !matches!(node.kind(), Some(InodeKind::File { .. })) {
                    return None;
                }
                let identity = self.vfs.identity(&node).ok()?;
                hasher.update(identity.number.to_le_bytes());
                identity.is_vague
            }
        };
        let digest = hasher.finalize();
        let tag = hex::encode(&digest[..16]);
        Some(match is_vague {
            true => Tag::Weak(tag),
            false => Tag::Strong(tag),
        })
    }
}

/// A number that identifies the sources before they are opened.
#[derive(Debug, Clone, Copy)]
pub struct SourceIdentity {
    number: u64,
    /// True if all sources have an identity: those on servers have none before they are read.
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
    let text = find(vfs, ".hpimount/info.json").ok().and_then(|found| {
        let size = u32::try_from(found.attr.size).ok()?;
        let text = vfs.read(found.attr.ino, 0, size).ok();
        found.lookups.iter().for_each(|ino| vfs.forget(*ino, 1));
        text
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

/// The inode number of files of the overlay, which are in no tree.
pub(super) const NO_INODE: Ino = Ino(0);

/// An entry of a site, whose number stays valid while this lives.
pub(super) struct Place {
    site: Arc<Site>,
    /// Its path and attributes.
    pub(super) found: PathEntry,
    /// The file of the overlay, if it is one.
    overlay: Option<OverlayFile>,
}

impl Place {
    /// Finds the entry at a path.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub(super) fn find(site: &Arc<Site>, path: &str) -> Result<Self, Refusal> {
        let overlay = site
            .snapshot()
            .and_then(|snapshot| find_in_overlay(site, snapshot, path));
        let (found, overlay) = match overlay {
            Some((found, overlay)) => (found, Some(overlay)),
            None => (find(&site.vfs, path)?, None),
        };
        Ok(Self {
            site: site.clone(),
            found,
            overlay,
        })
    }

    /// Returns the site that it is in.
    pub(super) fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Returns the tree that it is in.
    pub(super) fn vfs(&self) -> &Arc<Vfs> {
        &self.site.vfs
    }

    /// Returns whether it is a file of the overlay, and not of the tree.
    pub(super) fn is_in_overlay(&self) -> bool {
        self.overlay.is_some()
    }

    /// Returns the tag of its bytes.
    pub(super) fn tag(&self) -> Option<Tag> {
        let PathEntry { path, attr, .. } = &self.found;
        self.site.tag(path, attr.ino, self.overlay.as_ref())
    }

    /// Returns its modification time in seconds since 1970. `None` for a tree that follows a
    /// folder of edits, where a file may become older.
    pub(super) fn lasting_time(&self) -> Option<i64> {
        (!self.site.is_live()).then_some(self.found.attr.modified)
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
        if let Some(overlay) = &self.overlay {
            let read = overlay.read(offset, wanted);
            let failed = |error| {
                let message = format!("{}: {error}", self.found.path);
                log::error!("{}", printable(&message));
                (Error::Io, message)
            };
            return read.map(Bytes::from_owner).map_err(failed);
        }
        let ino = self.found.attr.ino;
        let read = self.vfs().read_explained(ino, offset, wanted, access);
        read.map(Bytes::from_owner)
    }

    /// Notes that a client takes the file from its beginning: if it takes converted files
    /// in their order, the next ones are made meanwhile.
    pub(super) fn note_taken(&self) {
        if !self.site.is_live() && self.overlay.is_none() {
            let prefetch = &self.site.common.prefetch;
            prefetch.note_taken(self.vfs(), self.found.attr.ino);
        }
    }

    /// Reads bytes for a client that goes on to the end of the file: the next blocks are
    /// decoded meanwhile.
    ///
    /// # Errors
    /// Returns an error if one of the bytes cannot be read.
    pub(super) fn read_on(&self, offset: u64, wanted: u32) -> Result<Bytes, (Error, String)> {
        let is_fixed = !self.site.is_live();
        let node = is_fixed.then(|| self.vfs().node(self.found.attr.ino).ok());
        let node = node.flatten();
        let prefetch = &self.site.common.prefetch;
        let noted = node
            .as_ref()
            .map(|node| prefetch.note(node, offset, wanted));
        let read = self.read(offset, wanted, Access::Sequential);
        if let Some(noted) = noted {
            noted.answered();
        }
        read
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for ino in &self.found.lookups {
            self.site.vfs.forget(*ino, 1);
        }
    }
}

/// Finds the file of the overlay at a path.
fn find_in_overlay(
    site: &Site,
    snapshot: &dyn Snapshot,
    path: &str,
) -> Option<(PathEntry, OverlayFile)> {
    let vfs = &site.vfs;
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let around = find(vfs, directory).ok()?;
    let at = |name: &str| {
        let path = joined(&around.path, name);
        snapshot.overlay(&path).map(|overlay| (path, overlay))
    };
    let found = at(name).or_else(|| at(&vfs.spelling(around.attr.ino, name).ok()?));
    let Some((path, overlay)) = found else {
        around.lookups.iter().for_each(|ino| vfs.forget(*ino, 1));
        return None;
    };
    let found = PathEntry {
        path,
        attr: attr_of_overlay(&overlay),
        lookups: around.lookups,
    };
    Some((found, overlay))
}

/// Returns the attributes of a file of the overlay.
pub(super) fn attr_of_overlay(overlay: &OverlayFile) -> Attr {
    Attr {
        ino: NO_INODE,
        kind: FileKind::File,
        size: overlay.size(),
        mode: 0o444,
        modified: overlay.modified(),
        nlink: 1,
        lasting: true,
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
