//! The cipher of PKWARE, also called ZipCrypto (APPNOTE 6.1). Its state depends
//! on all bytes before; the states of some positions are kept.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::Password;
use crate::io::{ReadAt, Result, read_vec};

/// Bytes of random data before a file; the last one verifies the password.
const HEADER: u64 = 12;

/// Distance of the positions whose states are kept, in bytes.
const SPACING: u64 = 64 << 10;

/// The state of the cipher.
#[derive(Debug, Clone, Copy)]
struct Keys([u32; 3]);

impl Keys {
    fn new(password: &[u8]) -> Self {
        let mut keys = Self([0x1234_5678, 0x2345_6789, 0x3456_7890]);
        password.iter().for_each(|&byte| keys.update(byte));
        keys
    }

    fn update(&mut self, byte: u8) {
        let Self([first, second, third]) = self;
        *first = crc32(*first, byte);
        *second = second
            .wrapping_add(*first & 0xFF)
            .wrapping_mul(134_775_813)
            .wrapping_add(1);
        *third = crc32(*third, (*second >> 24) as u8);
    }

    fn decrypt(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            let key = (self.0[2] | 2) as u16;
            *byte ^= (key.wrapping_mul(key ^ 1) >> 8) as u8;
            self.update(*byte);
        }
    }
}

/// Adds a byte to a CRC-32 that is neither inverted before nor after.
fn crc32(sum: u32, byte: u8) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(!sum);
    hasher.update(&[byte]);
    !hasher.finalize()
}

/// A decrypted file.
pub(crate) struct Traditional {
    source: Arc<dyn ReadAt>,
    /// Offset in the source of the first encrypted byte after the header, and
    /// the number of bytes there.
    start: u64,
    len: u64,
    /// The states at the multiples of [`SPACING`].
    states: Mutex<Vec<Keys>>,
}

impl Traditional {
    /// Decrypts the `stored` bytes at `offset`, whose header ends with the byte
    /// `check`. Returns `None` if the password is wrong; one of 256 wrong ones
    /// passes.
    ///
    /// # Errors
    /// Returns an error if the header cannot be read.
    pub(crate) fn open(
        source: &Arc<dyn ReadAt>,
        (offset, stored): (u64, u64),
        check: u8,
        password: &Password,
    ) -> Result<Option<Self>> {
        let mut header = read_vec(&**source, offset, HEADER, "encryption header")?;
        let mut keys = Keys::new(password.bytes());
        keys.decrypt(&mut header);
        let is_right = header.last() == Some(&check);
        Ok(is_right.then(|| Self {
            source: source.clone(),
            start: offset + HEADER,
            len: stored.saturating_sub(HEADER),
            states: Mutex::new(vec![keys]),
        }))
    }

    /// Returns the state at the last multiple of [`SPACING`] up to `position`.
    fn state(&self, position: u64) -> io::Result<Keys> {
        let wanted = (position / SPACING) as usize;
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piece = vec![0; SPACING as usize];
        while states.len() <= wanted {
            let done = states.len() - 1;
            let mut keys = states[done];
            let offset = self.start + done as u64 * SPACING;
            self.source.read_exact_at(&mut piece, offset)?;
            keys.decrypt(&mut piece);
            states.push(keys);
        }
        Ok(states[wanted])
    }
}

impl ReadAt for Traditional {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        if buf.is_empty() {
            return Ok(());
        }
        let mut keys = self.state(offset)?;
        let before = (offset % SPACING) as usize;
        let mut bytes = vec![0; before + buf.len()];
        let start = self.start + (offset - before as u64);
        self.source.read_exact_at(&mut bytes, start)?;
        keys.decrypt(&mut bytes);
        buf.copy_from_slice(&bytes[before..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypt(password: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut keys = Keys::new(password);
        let encrypt = |&byte: &u8| {
            let key = (keys.0[2] | 2) as u16;
            let encrypted = byte ^ (key.wrapping_mul(key ^ 1) >> 8) as u8;
            keys.update(byte);
            encrypted
        };
        bytes.iter().map(encrypt).collect()
    }

    #[test]
    fn any_part_can_be_decrypted_in_any_order() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n / 7) as u8).collect();
        let header = [&[1; 11][..], &[0x77]].concat();
        let encrypted = encrypt(b"secret", &[&header[..], &bytes].concat());
        let stored = encrypted.len() as u64;
        let source: Arc<dyn ReadAt> = Arc::new([&[9; 5][..], &encrypted].concat());
        let open = |check, password: &str| {
            Traditional::open(&source, (5, stored), check, &Password::new(password)).unwrap()
        };
        assert!(open(0x78, "secret").is_none() && open(0x77, "wrong").is_none());
        let file = open(0x77, "secret").unwrap();
        assert_eq!(file.len(), bytes.len() as u64);
        for start in [299_000, 0, 65_535, 65_536, 200_001] {
            let mut part = [0; 1000];
            file.read_exact_at(&mut part, start).unwrap();
            assert_eq!(part, bytes[start as usize..][..1000], "{start}");
        }
        assert!(file.read_exact_at(&mut [0; 2], 299_999).is_err());
    }
}
