//! Packing files into new archives of formats that store them as they are.

use std::sync::Arc;

use crate::apply::{Tools, apply};
use crate::changes::{Folder, Original, Report, Written, listed};
use crate::io::{Error, Result};

/// An archive without files, of a format that stores files as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// Grand Theft Auto: San Andreas.
    Img,
    /// Neversoft, form 3.
    Pre,
    /// Neversoft, with names; the directory is a file of its own.
    Wad,
    /// zip.
    Zip,
}

impl Empty {
    /// Returns it as the original of changes that add files.
    pub fn original(self) -> Original<'static> {
        let (name, bytes) = match self {
            Self::Img => ("empty.img", b"VER2\0\0\0\0".to_vec()),
            // The length, the magic with the form, and no files.
            Self::Pre => {
                let header = [12, 0xABCD_0003, 0].map(u32::to_le_bytes);
                ("empty.prx", header.concat())
            }
            Self::Wad => ("empty.wad", Vec::new()),
            Self::Zip => {
                let mut end = b"PK\x05\x06".to_vec();
                end.resize(22, 0);
                ("empty.zip", end)
            }
        };
        let original = Original::alone(Arc::new(bytes), name);
        match self {
            Self::Wad => Original {
                partner: &|_| Some(Arc::new(&[0xFF][..])),
                ..original
            },
            _ => original,
        }
    }
}

/// Packs files by adding them to an empty archive.
///
/// # Errors
/// Returns an error with everything that the format has no place for.
pub fn pack(files: Folder, into: Empty) -> Result<Written> {
    let mut report = Report::default();
    let written = apply(&into.original(), files, "", Tools::PLAIN, &mut report);
    written.ok_or_else(|| Error::Unsupported(listed(&report.refusals)))
}
