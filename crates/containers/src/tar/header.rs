//! The headers of tar: a block for each entry (POSIX ustar, and its variants by
//! GNU and of Unix version 7).

use std::borrow::Cow;

use crate::io::{Error, Result};
use crate::paths::until_nul;

/// Bytes of a block: a header has one, and data is padded to whole ones.
pub(crate) const BLOCK: usize = 512;

/// The position of the checksum in a header.
const SUM: std::ops::Range<usize> = 148..156;

/// A header.
#[derive(Clone, Copy)]
pub(super) struct Header<'a> {
    block: &'a [u8; BLOCK],
    /// Its offset in the source, for errors.
    offset: u64,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    /// A further name of another entry.
    HardLink,
    SymbolicLink,
    /// A file with holes, in the old form of GNU.
    Sparse,
    /// A device or a FIFO.
    Special,
    /// The name of the next entry, or the text of its link, by GNU.
    LongName,
    LongLink,
    /// Fields of the next entry, or of all of them, by POSIX (pax).
    Fields,
    GlobalFields,
    /// Something that has no file: a label of the volume, or a list.
    Skipped,
}

impl<'a> Header<'a> {
    /// Returns the header in a block; `None` if its checksum is wrong.
    pub(super) fn new(block: &'a [u8; BLOCK], offset: u64) -> Option<Self> {
        let header = Self { block, offset };
        let stored = header.number(SUM, "checksum").ok()?;
        // Some old programs added signed bytes.
        let (mut unsigned, mut signed) = (0_i64, 0_i64);
        for (position, &byte) in block.iter().enumerate() {
            let byte = if SUM.contains(&position) { b' ' } else { byte };
            unsigned += i64::from(byte);
            signed += i64::from(byte.cast_signed());
        }
        let is_right = [unsigned, signed].contains(&stored);
        // Otherwise a block with few bytes could pass for a header.
        let is_named = block[0] != 0 || header.is_posix() || header.is_gnu();
        (is_right && is_named).then_some(header)
    }

    fn is_posix(self) -> bool {
        self.block[257..263] == *b"ustar\0"
    }

    fn is_gnu(self) -> bool {
        self.block[257..265] == *b"ustar  \0"
    }

    /// Returns the bytes of a field up to the first NUL.
    fn text(self, range: std::ops::Range<usize>) -> &'a [u8] {
        until_nul(&self.block[range])
    }

    /// Returns a number: octal digits between spaces and NULs, or if the first
    /// bit is set, big-endian bytes.
    fn number(self, range: std::ops::Range<usize>, field: &'static str) -> Result<i64> {
        let offset = self.offset + range.start as u64;
        let bytes = &self.block[range];
        let number = match bytes[0] & 0x80 {
            0 => {
                let text = until_nul(bytes).trim_ascii();
                match (text, str::from_utf8(text)) {
                    (b"", _) => Some(0),
                    (_, Ok(text)) if !text.starts_with('+') => i64::from_str_radix(text, 8).ok(),
                    _ => None,
                }
            }
            _ => {
                let first = i64::from(bytes[0] & 0x7F);
                // The next bit is the sign.
                let first = if first & 0x40 != 0 {
                    first - 0x80
                } else {
                    first
                };
                bytes[1..].iter().try_fold(first, |number, &byte| {
                    Some(number.checked_mul(256)? | i64::from(byte))
                })
            }
        };
        number.ok_or_else(|| {
            let shown = bytes.escape_ascii();
            Error::damaged(offset, field, format!("is not a number: {shown}"))
        })
    }

    /// Returns the kind of the entry.
    pub(super) fn kind(self) -> Kind {
        match self.block[156] {
            b'1' => Kind::HardLink,
            b'2' => Kind::SymbolicLink,
            b'3' | b'4' | b'6' => Kind::Special,
            // With a list of its files by GNU.
            b'5' | b'D' => Kind::Directory,
            b'L' => Kind::LongName,
            b'K' => Kind::LongLink,
            b'x' | b'X' => Kind::Fields,
            b'g' => Kind::GlobalFields,
            b'S' => Kind::Sparse,
            // The rest of a file of another tape, a label, an access list.
            b'M' | b'N' | b'V' | b'A' => Kind::Skipped,
            _ if self.text(0..100).ends_with(b"/") => Kind::Directory,
            // Unknown kinds are files, says POSIX.
            _ => Kind::File,
        }
    }

    /// Returns whether a directory is followed by a list of its files (GNU).
    pub(super) fn has_list(self) -> bool {
        self.block[156] == b'D'
    }

    /// Returns the path of the entry.
    pub(super) fn path(self) -> Cow<'a, [u8]> {
        let name = self.text(0..100);
        let prefix = match self.is_posix() {
            true => self.text(345..500),
            false => &[],
        };
        match prefix {
            b"" => Cow::Borrowed(name),
            _ => Cow::Owned([prefix, b"/", name].concat()),
        }
    }

    /// Returns the text of a symbolic link, or the path of the other name.
    pub(super) fn link(self) -> &'a [u8] {
        self.text(157..257)
    }

    /// Returns the length of the data in bytes.
    ///
    /// # Errors
    /// Returns an error if it is not a number, or negative.
    pub(super) fn size(self) -> Result<u64> {
        let size = self.number(124..136, "size")?;
        u64::try_from(size)
            .map_err(|_| Error::damaged(self.offset + 124, "size", format!("is {size}")))
    }

    /// Returns the size of a file with holes, in bytes.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Self::size`].
    pub(super) fn sparse_size(self) -> Result<u64> {
        let size = self.number(483..495, "real size")?;
        u64::try_from(size)
            .map_err(|_| Error::damaged(self.offset + 483, "real size", format!("is {size}")))
    }

    /// Returns whether more blocks with a map of holes follow.
    pub(super) fn has_more_holes(self) -> bool {
        self.block[482] != 0
    }

    /// Returns the permission bits, if they are a number.
    pub(super) fn mode(self) -> Option<u16> {
        let mode = self.number(100..108, "mode").ok()?;
        Some((mode & 0o7777) as u16)
    }

    /// Returns the modification time in seconds since 1970 UTC, if it is a
    /// number.
    pub(super) fn modified(self) -> Option<i64> {
        self.number(136..148, "time").ok()
    }
}

/// Returns whether a tar archive begins with these bytes: a header with a right
/// checksum.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    let block = bytes.first_chunk();
    block.is_some_and(|block| Header::new(block, 0).is_some_and(|header| header.size().is_ok()))
}
