//! AES-256 as 7-Zip encrypts streams: blocks that are chained (CBC), with a key
//! of many rounds of SHA-256.

use std::io;
use std::sync::Arc;

use aes::Aes256;
use aes::cipher::{Block, BlockCipherDecrypt, KeyInit as _};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::Password;
use crate::io::ReadAt;

/// Bytes of a block.
const BLOCK: usize = 16;

/// Largest number of rounds, as a power of two: 7-Zip writes 19.
const MAX_ROUNDS: u8 = 24;

/// The number of rounds that means that the password is the key.
const NO_ROUNDS: u8 = 0x3F;

/// The properties of the coder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameters {
    /// Rounds of deriving the key, as a power of two.
    rounds: u8,
    salt: Vec<u8>,
    /// The initialization vector.
    start: [u8; BLOCK],
}

impl Parameters {
    /// Reads the properties; `None` if they are not valid, or ask for more work
    /// than any program.
    pub(crate) fn read(properties: &[u8]) -> Option<Self> {
        let (&first, rest) = properties.split_first()?;
        let rounds = first & 0x3F;
        if rounds > MAX_ROUNDS && rounds != NO_ROUNDS {
            return None;
        }
        let (mut salt, mut start) = (usize::from(first >> 7), usize::from(first >> 6 & 1));
        let mut rest = rest;
        if first & 0xC0 != 0 {
            let (&lengths, more) = rest.split_first()?;
            salt += usize::from(lengths >> 4);
            start += usize::from(lengths & 15);
            rest = more;
        }
        let salt = rest.get(..salt)?.to_vec();
        let mut chained = [0; BLOCK];
        chained[..start].copy_from_slice(rest.get(salt.len()..salt.len() + start)?);
        Some(Self {
            rounds,
            salt,
            start: chained,
        })
    }

    /// Returns the key for a password. This takes a tenth of a second.
    pub(crate) fn key(&self, password: &Password) -> Key {
        let password = password.utf_16();
        let mut key = [0; 32];
        if self.rounds == NO_ROUNDS {
            let bytes = self.salt.iter().chain(password.iter());
            key.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            return Key(key);
        }
        let mut sum = Sha256::new();
        let mut round = Zeroizing::new([&self.salt[..], &password, &[0; 8]].concat());
        let counter = round.len() - 8;
        for number in 0..1_u64 << self.rounds {
            round[counter..].copy_from_slice(&number.to_le_bytes());
            sum.update(&round);
        }
        key.copy_from_slice(&sum.finalize());
        Key(key)
    }

    /// Returns whether the key of other parameters is the same.
    pub(crate) fn has_same_key(&self, other: &Self) -> bool {
        (self.rounds, &self.salt) == (other.rounds, &other.salt)
    }

    /// Decrypts the `stored` bytes at `offset`.
    pub(crate) fn open(
        &self,
        source: &Arc<dyn ReadAt>,
        (offset, stored): (u64, u64),
        key: &Key,
    ) -> impl ReadAt + use<> {
        Chained {
            source: source.clone(),
            start: offset,
            len: stored - stored % BLOCK as u64,
            before: self.start,
            cipher: Aes256::new(&key.0.into()),
        }
    }
}

/// A key.
#[derive(Clone, Copy)]
pub(crate) struct Key([u8; 32]);

/// A decrypted stream.
struct Chained {
    source: Arc<dyn ReadAt>,
    start: u64,
    /// A multiple of [`BLOCK`].
    len: u64,
    before: [u8; BLOCK],
    cipher: Aes256,
}

impl ReadAt for Chained {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        let first = offset - offset % BLOCK as u64;
        let end = (offset + buf.len() as u64).next_multiple_of(BLOCK as u64);
        let mut before = self.before;
        if first > 0 {
            let chained = self.start + first - BLOCK as u64;
            self.source.read_exact_at(&mut before, chained)?;
        }
        // No more than `buf` and two blocks.
        let mut bytes = vec![0; (end - first) as usize];
        self.source.read_exact_at(&mut bytes, self.start + first)?;
        for block in bytes.as_chunks_mut::<BLOCK>().0 {
            let mut plain = Block::<Aes256>::from(*block);
            self.cipher.decrypt_block(&mut plain);
            for ((plain, before), encrypted) in plain.iter().zip(&mut before).zip(block) {
                let byte = plain ^ *before;
                *before = *encrypted;
                *encrypted = byte;
            }
        }
        let skipped = (offset - first) as usize;
        buf.copy_from_slice(&bytes[skipped..skipped + buf.len()]);
        Ok(())
    }
}
