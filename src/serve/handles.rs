//! Handles: what clients name files by, for as long as they like.
//!
//! A handle is the number of an inode and a proof that this server has given it. Numbers mean
//! other files after a restart, since they are given in the order in which directories are
//! entered; so the key of the proofs is another one in each run, and handles of earlier runs
//! are stale. The proof also keeps out those who have not mounted anything.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use lru::LruCache;
use sha2::{Digest, Sha256};

use super::guard::Token;
use super::nodes::Nodes;
use crate::memory::budget::{Budget, Charge};
use crate::mount::{Error, Ino};
use crate::sync::lock;

/// Length of a handle in bytes.
pub(super) const LENGTH: usize = 16;

/// Number of inodes that clients may use without looking them up again.
const MAX_KEPT: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// Memory of one of them in bytes, and number of those that are accounted for at a time.
const MEMORY: usize = 80;
const CHARGED: usize = 256;

/// Generator of handles, with the token that the first one requires.
pub struct Handles {
    token: Option<Token>,
    key: u128,
    kept: Mutex<Kept>,
}

/// Inodes with handles, whose numbers one lookup each keeps.
struct Kept {
    inodes: LruCache<u64, ()>,
    /// Accounts for their memory; `None` if nothing does.
    charge: Option<Charge>,
}

impl Kept {
    /// Keeps an inode, and returns the lookup that is not needed any more.
    fn keep(&mut self, ino: u64) -> Option<u64> {
        if self.inodes.get(&ino).is_some() {
            return Some(ino);
        }
        let memory = (self.inodes.len() + 1) * MEMORY;
        let is_full = self.charge.as_mut().is_some_and(|charge| {
            memory > charge.bytes() && charge.grow_to(memory + CHARGED * MEMORY).is_err()
        });
        let oldest = is_full.then(|| self.inodes.pop_lru()).flatten();
        oldest.or(self.inodes.push(ino, ())).map(|(ino, ())| ino)
    }
}

impl Handles {
    /// Creates those of a run with a random key. A client must name `token` to mount.
    pub fn new(token: Option<Token>, key: u128) -> Self {
        Self {
            token,
            key,
            kept: Mutex::new(Kept {
                inodes: LruCache::new(MAX_KEPT),
                charge: None,
            }),
        }
    }

    /// Counts the memory of the table towards a budget.
    pub(super) fn within(self, budget: &Arc<Budget>) -> Self {
        let charge = budget.empty_charge("handles of NFS");
        lock(&self.kept).charge = Some(charge);
        self
    }

    /// Returns the path in the tree that the path of an export means; `None` if that does not
    /// have the token.
    pub(super) fn exported<'p>(&self, path: &'p str) -> Option<&'p str> {
        let Some(token) = &self.token else {
            return Some(path.trim_start_matches('/'));
        };
        let (word, path) = match path.strip_prefix("/t/")?.split_once('/') {
            Some((word, path)) => (word, path),
            None => (path.strip_prefix("/t/")?, ""),
        };
        token.is(word).then_some(path)
    }

    /// Returns a handle of an inode that was looked up once. Its number is kept.
    pub(super) fn of_lookup(&self, nodes: &dyn Nodes, ino: Ino) -> [u8; LENGTH] {
        let evicted = lock(&self.kept).keep(ino.0);
        if let Some(ino) = evicted {
            nodes.forget(Ino(ino));
        }
        self.of(ino)
    }

    /// Returns a handle of an inode.
    pub(super) fn of(&self, ino: Ino) -> [u8; LENGTH] {
        let mut handle = [0; LENGTH];
        handle[..8].copy_from_slice(&ino.0.to_be_bytes());
        handle[8..].copy_from_slice(&self.proof(ino.0));
        handle
    }

    /// Returns the inode of a handle.
    ///
    /// # Errors
    /// Returns [`Error::Stale`] if this server has not given it.
    pub(super) fn ino(&self, handle: &[u8]) -> Result<Ino, Error> {
        let (number, proof) = handle.split_first_chunk().ok_or(Error::Stale)?;
        let number = u64::from_be_bytes(*number);
        let own = self.proof(number);
        let differences = own.iter().zip(proof).fold(0, |all, (a, b)| all | (a ^ b));
        match proof.len() == own.len() && std::hint::black_box(differences) == 0 {
            true => {
                lock(&self.kept).inodes.promote(&number);
                Ok(Ino(number))
            }
            false => Err(Error::Stale),
        }
    }

    /// Returns what clients compare to know that listings go on: it is of this run, and of
    /// this version of the tree.
    pub(super) fn verifier(&self, version: u64) -> [u8; 8] {
        self.proof(!version)
    }

    fn proof(&self, number: u64) -> [u8; 8] {
        let mut hasher = Sha256::new();
        hasher.update(self.key.to_le_bytes());
        hasher.update(number.to_le_bytes());
        hasher.update(self.key.to_be_bytes());
        let digest = hasher.finalize();
        let mut proof = [0; 8];
        proof.copy_from_slice(&digest[..8]);
        proof
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_another_run_or_a_forged_one_is_stale() {
        let (one, other) = (Handles::new(None, 1), Handles::new(None, 2));
        let handle = one.of(Ino(77));
        assert_eq!(one.ino(&handle), Ok(Ino(77)));
        assert_eq!(other.ino(&handle), Err(Error::Stale));
        let mut forged = handle;
        forged[7] ^= 1;
        assert_eq!(one.ino(&forged), Err(Error::Stale));
        for wrong in [&handle[..15], &[], &[&handle[..], &[0]].concat()] {
            assert_eq!(one.ino(wrong), Err(Error::Stale));
        }
    }

    #[test]
    fn an_export_has_the_token() {
        let token = Token::new("a-word-of-some-length").unwrap();
        let handles = Handles::new(Some(token), 1);
        assert_eq!(handles.exported("/t/a-word-of-some-length"), Some(""));
        assert_eq!(
            handles.exported("/t/a-word-of-some-length/a/b"),
            Some("a/b")
        );
        for wrong in ["/", "", "/t/", "/t/other", "/a", "a-word-of-some-length"] {
            assert_eq!(handles.exported(wrong), None, "{wrong}");
        }
        assert_eq!(Handles::new(None, 1).exported("/a"), Some("a"));
    }
}
