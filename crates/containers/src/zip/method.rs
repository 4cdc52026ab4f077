//! The compression methods other than deflate.

use super::Member;
use crate::codec::{Method, PackedFile, check_dictionary};
use crate::io::{Cursor, Endian, Error, Result, read_vec};

/// Numbers of methods.
const DEFLATE64: u16 = 9;
const BZIP2: u16 = 12;
const LZMA: u16 = 14;
const ZSTANDARD: [u16; 2] = [20, 93];
const XZ: u16 = 95;
const PPMD: u16 = 98;

/// Smallest dictionary that LZMA has, in bytes.
const MIN_DICTIONARY: u32 = 4096;

/// Returns whether [`of`] knows a method.
pub(super) fn is_supported(method: u16) -> bool {
    matches!(method, DEFLATE64 | BZIP2 | LZMA | XZ | PPMD) || ZSTANDARD.contains(&method)
}

/// Returns the method of a file with its parameters, and the number of bytes
/// that these have at the start of the packed data.
///
/// # Errors
/// Returns an error if the parameters are not valid, or cannot be read.
pub(super) fn of(member: &Member, packed: &PackedFile) -> Result<(Method, u64)> {
    let unsupported = |what: String| Err(Error::Unsupported(what));
    let parameters = |length| read_vec(&*packed.source, packed.offset, length, "parameters");
    match member.method {
        DEFLATE64 => Ok((Method::Deflate64, 0)),
        BZIP2 => Ok((Method::Bzip2, 0)),
        XZ => Ok((packed.xz()?, 0)),
        LZMA => {
            let bytes = parameters(9)?;
            let mut fields = Cursor::new(&bytes, packed.offset, Endian::Little);
            fields.u16("version")?;
            let length = fields.u16("length of the properties")?;
            let (properties, announced) = (fields.u8("properties")?, fields.u32("dictionary")?);
            if length != 5 || properties >= 225 {
                return unsupported("is packed by LZMA with unknown properties".into());
            }
            let size = u32::try_from(member.size).unwrap_or(u32::MAX);
            let dictionary = announced.min(size).max(MIN_DICTIONARY);
            check_dictionary(dictionary.into())?;
            let method = Method::Lzma {
                properties,
                dictionary,
            };
            Ok((method, 9))
        }
        PPMD => {
            let bytes = parameters(2)?;
            let mut fields = Cursor::new(&bytes, packed.offset, Endian::Little);
            let fields = u32::from(fields.u16("parameters")?);
            let cuts_off = match fields >> 12 {
                0 => false,
                1 => true,
                other => return unsupported(format!("is packed by PPMd of kind {other}")),
            };
            let method = Method::PpmdI {
                order: (fields & 15) + 1,
                memory: ((fields >> 4 & 255) + 1) << 20,
                cuts_off,
            };
            Ok((method, 2))
        }
        method if ZSTANDARD.contains(&method) => Ok((packed.zstandard()?, 0)),
        method => unsupported(format!("is packed by method {method}")),
    }
}

/// Returns the name of a method that is not supported, in parentheses after a
/// space.
pub(super) fn name(method: u16) -> &'static str {
    match method {
        1 => " (shrunk)",
        2..=5 => " (reduced)",
        6 => " (imploded)",
        10 => " (imploded, of PKWARE's library)",
        _ => "",
    }
}
