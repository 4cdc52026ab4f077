//! AES as WinZip encrypts files (its specification AE-1 and AE-2): in counter
//! mode, with a code over the encrypted bytes.

use std::io;
use std::sync::Arc;

use aes::cipher::{Block, BlockCipherEncrypt, KeyInit as _};
use aes::{Aes128, Aes192, Aes256};
use hmac::{Hmac, Mac};
use sha1::Sha1;

use super::Password;
use crate::io::{Error, ReadAt, Result, read_vec};

/// Rounds of deriving the key.
const ROUNDS: u32 = 1000;

/// Length of what verifies the password, and of the code after the data.
const VERIFIER: usize = 2;
const CODE: u64 = 10;

/// Bytes of a block.
const BLOCK: usize = 16;

/// Bytes that are read at a time to compute the code.
const PIECE: u64 = 64 << 10;

/// The length of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    Bits128,
    Bits192,
    Bits256,
}

impl Strength {
    /// Returns the strength with this number.
    pub(crate) fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Bits128),
            2 => Some(Self::Bits192),
            3 => Some(Self::Bits256),
            _ => None,
        }
    }

    /// Returns the length of a key in bytes.
    fn key(self) -> usize {
        match self {
            Self::Bits128 => 16,
            Self::Bits192 => 24,
            Self::Bits256 => 32,
        }
    }

    /// Returns the length of the salt in bytes.
    fn salt(self) -> usize {
        self.key() / 2
    }
}

enum Cipher {
    Bits128(Aes128),
    Bits192(Aes192),
    Bits256(Aes256),
}

impl Cipher {
    /// Creates the cipher for a key of one of the three lengths.
    fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128::new_from_slice(key).ok().map(Self::Bits128),
            24 => Aes192::new_from_slice(key).ok().map(Self::Bits192),
            _ => Aes256::new_from_slice(key).ok().map(Self::Bits256),
        }
    }

    /// Returns the key stream of the block with this number, from 0.
    fn block(&self, number: u64) -> [u8; BLOCK] {
        let mut bytes = [0; BLOCK];
        // Counted from 1, little-endian.
        bytes[..8].copy_from_slice(&number.wrapping_add(1).to_le_bytes());
        let mut block = Block::<Aes128>::from(bytes);
        match self {
            Self::Bits128(cipher) => cipher.encrypt_block(&mut block),
            Self::Bits192(cipher) => cipher.encrypt_block(&mut block),
            Self::Bits256(cipher) => cipher.encrypt_block(&mut block),
        }
        block.into()
    }
}

/// A decrypted file.
pub(crate) struct WinZip {
    source: Arc<dyn ReadAt>,
    /// Offset in the source of the first encrypted byte, and the number of them.
    start: u64,
    len: u64,
    cipher: Cipher,
    code_key: Vec<u8>,
}

impl WinZip {
    /// Decrypts the `stored` bytes at `offset`. Returns `None` if the password is
    /// wrong; one of 65,536 wrong ones passes.
    ///
    /// # Errors
    /// Returns an error if the bytes are too few, or cannot be read.
    pub(crate) fn open(
        source: &Arc<dyn ReadAt>,
        (offset, stored): (u64, u64),
        strength: Strength,
        password: &Password,
    ) -> Result<Option<Self>> {
        let head = strength.salt() + VERIFIER;
        let len = stored.checked_sub(head as u64 + CODE);
        let len = len.ok_or_else(|| {
            let problem = format!("{stored} bytes are too few for an encrypted file");
            Error::damaged(offset, "packed data", problem)
        })?;
        let bytes = read_vec(&**source, offset, head as u64, "salt")?;
        let (salt, verifier) = bytes.split_at(strength.salt());
        let mut derived = vec![0; 2 * strength.key() + VERIFIER];
        pbkdf2::pbkdf2_hmac::<Sha1>(password.bytes(), salt, ROUNDS, &mut derived);
        let (keys, expected) = derived.split_at(2 * strength.key());
        let (key, code_key) = keys.split_at(strength.key());
        let cipher = Cipher::new(key).filter(|_| verifier == expected);
        Ok(cipher.map(|cipher| Self {
            source: source.clone(),
            start: offset + head as u64,
            len,
            cipher,
            code_key: code_key.to_vec(),
        }))
    }

    /// Compares the code over all encrypted bytes.
    ///
    /// # Errors
    /// Returns an error if it is wrong, or the bytes cannot be read.
    pub(crate) fn verify(&self) -> Result<()> {
        let problem = |text: &str| Error::damaged(self.start, "encrypted data", text);
        let code = Hmac::<Sha1>::new_from_slice(&self.code_key);
        let mut code = code.map_err(|error| problem(&error.to_string()))?;
        let mut position = 0;
        while position < self.len {
            let length = PIECE.min(self.len - position);
            let offset = self.start + position;
            code.update(&read_vec(&*self.source, offset, length, "encrypted data")?);
            position += length;
        }
        let end = self.start + self.len;
        let stored = read_vec(&*self.source, end, CODE, "authentication code")?;
        let is_right = code.verify_truncated_left(&stored).is_ok();
        is_right
            .then_some(())
            .ok_or_else(|| problem("its authentication code is wrong"))
    }
}

impl ReadAt for WinZip {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        self.source.read_exact_at(buf, self.start + offset)?;
        let mut number = offset / BLOCK as u64;
        let mut keys = self.cipher.block(number);
        let mut within = (offset % BLOCK as u64) as usize;
        for byte in buf {
            if within == BLOCK {
                number += 1;
                keys = self.cipher.block(number);
                within = 0;
            }
            *byte ^= keys[within];
            within += 1;
        }
        Ok(())
    }
}
