//! Headers of xz blocks and Zstandard frames: the memory for decoding, and the size of
//! the decoded data.

use super::PackedFile;
use super::reader::{MAX_DICTIONARY, Method, ZSTANDARD_WINDOW, lzma2_dictionary};
use crate::io::{Error, Result, SourceReader, read_vec};

/// First bytes of an xz stream, and the length of its header.
pub(crate) const XZ: &[u8; 6] = b"\xFD7zXZ\0";
const XZ_HEADER: u64 = 12;

/// First bytes of a Zstandard frame.
pub(crate) const ZSTANDARD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Length of the longest header of a Zstandard frame, and of a block.
const FRAME_HEADER: u64 = 18;
const BLOCK_HEADER: u64 = 3;

/// Length of the header of a frame that decoders skip.
const SKIPPED_HEADER: u64 = 8;

impl PackedFile {
    fn header_error(&self, at: u64, problem: impl Into<String>) -> Error {
        Error::damaged(self.offset.saturating_add(at), "packed data", problem)
    }

    /// Returns up to `length` packed bytes at the position `at`.
    fn head(&self, at: u64, length: u64) -> Result<Vec<u8>> {
        let offset = self.offset.saturating_add(at);
        let length = length.min(self.stored.saturating_sub(at));
        read_vec(&*self.source, offset, length, "packed data")
    }

    /// Returns xz with the dictionary of the first block.
    ///
    /// # Errors
    /// Returns an error if the headers are damaged, or the dictionary is too
    /// large.
    pub(crate) fn xz(&self) -> Result<Method> {
        // The header of a block has at most 1024 bytes.
        let head = self.head(XZ_HEADER, 1024)?;
        let dictionary = match head.first() {
            // An index: there are no blocks.
            None | Some(0) => 0,
            Some(_) => xz_dictionary(&head)
                .ok_or_else(|| self.header_error(XZ_HEADER, "header of an xz block is damaged"))?,
        };
        check_dictionary(dictionary.into())?;
        Ok(Method::Xz { dictionary })
    }

    /// Returns the decoded size that the indexes of xz declare.
    ///
    /// # Errors
    /// Returns an error if they are damaged.
    pub(crate) fn xz_size(&self) -> Result<u64> {
        let all = SourceReader::new(self.source.clone(), self.offset, self.stored);
        lzma_rust2::xz_uncompressed_size(all).map_err(|error| {
            Error::of_reader(&error, |text| {
                self.header_error(0, format!("xz index: {text}"))
            })
        })
    }

    /// Returns Zstandard with the window of the first frame.
    ///
    /// # Errors
    /// Returns an error if its header is damaged, or the window is too large.
    pub(crate) fn zstandard(&self) -> Result<Method> {
        let mut at = 0;
        while let Some(frame) = self.frame(at)? {
            match frame {
                Frame::Skipped { length } => at += length,
                Frame::Data { window, .. } => {
                    check_dictionary(window)?;
                    // The check has limited it to 32 bits.
                    let window = ZSTANDARD_WINDOW.max(window as u32);
                    return Ok(Method::Zstandard { window });
                }
            }
        }
        Ok(Method::Zstandard {
            window: ZSTANDARD_WINDOW,
        })
    }

    /// Returns the decoded size that the Zstandard frames declare; `None` if one
    /// of them does not.
    ///
    /// # Errors
    /// Returns an error if the frames are damaged.
    pub(crate) fn zstandard_size(&self) -> Result<Option<u64>> {
        let (mut at, mut total) = (0_u64, 0_u64);
        while let Some(frame) = self.frame(at)? {
            match frame {
                Frame::Skipped { length } => at = at.saturating_add(length),
                Frame::Data { size: None, .. } => return Ok(None),
                Frame::Data {
                    size: Some(size),
                    header,
                    has_checksum,
                    ..
                } => {
                    total = total.saturating_add(size);
                    at = self.blocks_end(at.saturating_add(header))?;
                    at = at.saturating_add(if has_checksum { 4 } else { 0 });
                }
            }
        }
        Ok(Some(total))
    }

    /// Returns the position after the blocks of a frame, of which the first one
    /// is at `at`.
    fn blocks_end(&self, mut at: u64) -> Result<u64> {
        loop {
            let head = self.head(at, BLOCK_HEADER)?;
            let [low, middle, high] = head[..] else {
                return Err(self.header_error(at, "ends inside a Zstandard frame"));
            };
            let fields = u32::from_le_bytes([low, middle, high, 0]);
            let length = match fields >> 1 & 3 {
                0 | 2 => u64::from(fields >> 3),
                1 => 1,
                _ => return Err(self.header_error(at, "block of Zstandard of unknown type")),
            };
            at = at.saturating_add(BLOCK_HEADER + length);
            if fields & 1 != 0 {
                return Ok(at);
            }
        }
    }

    /// Returns the frame at the position `at`; `None` at the end.
    fn frame(&self, at: u64) -> Result<Option<Frame>> {
        let head = self.head(at, FRAME_HEADER)?;
        if head.is_empty() {
            return Ok(None);
        }
        let frame = Frame::read(&head);
        let frame = frame.ok_or_else(|| self.header_error(at, "is no frame of Zstandard"))?;
        Ok(Some(frame))
    }
}

/// Checks that a dictionary is supported.
///
/// # Errors
/// Returns an error if it is too large.
pub(crate) fn check_dictionary(dictionary: u64) -> Result<()> {
    if dictionary > MAX_DICTIONARY.into() {
        return Err(Error::Unsupported(format!(
            "needs a dictionary of {dictionary} bytes, more than {MAX_DICTIONARY}"
        )));
    }
    Ok(())
}

/// Returns the largest dictionary that the header of an xz block declares;
/// `None` if the header is damaged or has an unknown filter.
fn xz_dictionary(head: &[u8]) -> Option<u32> {
    const LZMA2: u64 = 0x21;
    let length = (usize::from(*head.first()?) + 1) * 4;
    let mut fields = head.get(1..length)?;
    let flags = byte(&mut fields)?;
    for has_size in [flags & 0x40, flags & 0x80] {
        if has_size != 0 {
            long(&mut fields)?;
        }
    }
    let mut dictionary = 0;
    for _ in 0..(flags & 3) + 1 {
        let (id, length) = (long(&mut fields)?, long(&mut fields)?);
        let properties = fields.split_off(..usize::try_from(length).ok()?)?;
        if id == LZMA2 {
            dictionary = lzma2_dictionary(*properties.first()?)?;
        }
    }
    Some(dictionary)
}

fn byte(fields: &mut &[u8]) -> Option<u8> {
    fields.split_off_first().copied()
}

/// Reads a number of up to nine bytes with seven bits each.
fn long(fields: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = byte(fields)?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A Zstandard frame (RFC 8878, 3.1).
#[derive(Debug, PartialEq, Eq)]
enum Frame {
    /// One that decoders skip, with its length in bytes.
    Skipped { length: u64 },
    /// One with data.
    Data {
        /// Length of its header in bytes.
        header: u64,
        /// Size of the window in bytes.
        window: u64,
        /// Decoded size in bytes, if it is declared.
        size: Option<u64>,
        has_checksum: bool,
    },
}

impl Frame {
    /// Reads the header of a frame; `None` if it is damaged.
    fn read(head: &[u8]) -> Option<Self> {
        let mut fields = head;
        let magic = fields.split_off(..4)?;
        if matches!(magic, [0x50..=0x5F, 0x2A, 0x4D, 0x18]) {
            let length = little_endian(&mut fields, 4)?;
            return Some(Self::Skipped {
                length: SKIPPED_HEADER + length,
            });
        }
        if magic != ZSTANDARD {
            return None;
        }
        let flags = byte(&mut fields)?;
        let is_single = flags & 0x20 != 0;
        let window = match is_single {
            true => None,
            false => {
                let window = byte(&mut fields)?;
                let base = 1_u64 << (10 + (window >> 3));
                Some(base + base / 8 * u64::from(window & 7))
            }
        };
        little_endian(&mut fields, [0, 1, 2, 4][usize::from(flags & 3)])?;
        let size = match (flags >> 6, is_single) {
            (0, false) => None,
            (0, true) => Some(little_endian(&mut fields, 1)?),
            (1, _) => Some(little_endian(&mut fields, 2)? + 256),
            (2, _) => Some(little_endian(&mut fields, 4)?),
            _ => Some(little_endian(&mut fields, 8)?),
        };
        Some(Self::Data {
            header: (head.len() - fields.len()) as u64,
            window: window.or(size)?,
            size,
            has_checksum: flags & 4 != 0,
        })
    }
}

/// Reads a number of up to eight bytes.
fn little_endian(fields: &mut &[u8], length: usize) -> Option<u64> {
    let mut number = [0; 8];
    number[..length].copy_from_slice(fields.split_off(..length)?);
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn file(packed: &[u8]) -> PackedFile {
        PackedFile {
            stored: packed.len() as u64,
            source: Arc::new(packed.to_vec()),
            offset: 0,
            size: 0,
            crc: None,
            force: false,
        }
    }

    #[test]
    fn the_dictionary_of_xz_is_that_of_the_first_block() {
        // 8 KiB, after the size of the packed data.
        let block = [2, 0x40, 0x80, 1, 0x21, 1, 2, 0, 0, 0, 0, 0];
        let stream = [&XZ[..], &[0, 4, 0, 0, 0, 0], &block].concat();
        assert_eq!(file(&stream).xz().unwrap(), Method::Xz { dictionary: 8192 });
        let mut large = stream.clone();
        large[18] = 40;
        assert!(
            file(&large)
                .xz()
                .unwrap_err()
                .to_string()
                .contains("4294967295")
        );
        assert!(file(&stream[..20]).xz().is_err());
    }

    #[test]
    fn the_sizes_of_all_frames_are_added() {
        // A frame of 5 repeated bytes and one of 3 bytes, around a skipped one.
        let repeated = [&ZSTANDARD[..], &[0x20, 5], &[5 << 3 | 3, 0, 0, b'a']].concat();
        let skipped = [0x53, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9];
        let stored = [
            &ZSTANDARD[..],
            &[0x24, 3],
            &[3 << 3 | 1, 0, 0],
            b"abc",
            &[0; 4],
        ]
        .concat();
        let all = [&repeated[..], &skipped, &stored].concat();
        assert_eq!(file(&all).zstandard_size().unwrap(), Some(8));
        // The frame that is not the last one is cut off.
        let cut = [&repeated[..8], &skipped, &stored].concat();
        assert!(file(&cut).zstandard_size().is_err());
        let unknown = [&ZSTANDARD[..], &[0, 0x80], &[1, 0, 0]].concat();
        assert_eq!(file(&unknown).zstandard_size().unwrap(), None);
        assert_eq!(
            file(&unknown).zstandard().unwrap(),
            Method::Zstandard { window: 64 << 20 }
        );
    }
}
