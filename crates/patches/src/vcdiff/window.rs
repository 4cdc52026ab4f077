//! A window of the result: as parts, or as bytes if there are too many parts.

use std::io;
use std::sync::Arc;

use hpimount_containers::io::{BlockBuffer, Error, ReadAt, Result, read_error};

use super::header::Vcdiff;
use super::instructions::{Instruction, Instructions};
use super::layout::{DATA, Section, Window};
use crate::error::{self, Mismatch};
use crate::parts::{Data, Inputs, Parts};

/// Maximum memory of the parts, as a fraction of the length of their window.
const MAX_PARTS: usize = 16;

/// Minimum memory limit for the parts of a short window, in bytes.
const MIN_PARTS: usize = 4 << 10;

/// A window that was touched.
pub(super) enum Content {
    /// Parts; offsets are relative to the window.
    Parts(Parts),
    /// All bytes.
    Bytes(Vec<u8>),
}

impl Content {
    /// Returns the memory in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Parts(parts) => parts.memory(),
            Self::Bytes(bytes) => bytes.capacity(),
        }
    }

    /// Fills `buf` with the bytes at `offset`, which must be inside of the window.
    pub(super) fn read(&self, inputs: Inputs<'_>, buf: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::Parts(parts) => parts.read(inputs, buf, offset),
            Self::Bytes(bytes) => bytes.read_exact_at(buf, offset),
        }
    }
}

impl Vcdiff {
    /// Returns the source of a section.
    fn section(&self, section: &Section) -> Arc<dyn ReadAt> {
        match section.is_spooled {
            true => self.spool.clone(),
            false => self.source.clone(),
        }
    }

    /// Returns the sources of the parts of a window.
    pub(super) fn inputs<'a>(&'a self, window: &Window, original: &'a dyn ReadAt) -> Inputs<'a> {
        let patch: &dyn ReadAt = match window.sections[DATA].is_spooled {
            true => &*self.spool,
            false => &*self.source,
        };
        Inputs { original, patch }
    }

    /// Resolves the instructions of a window, which may take `limit` bytes of memory.
    /// Verifies the checksum of a window that is decoded to bytes.
    pub(super) fn resolve(
        &self,
        window: &Window,
        original: &Arc<dyn ReadAt>,
        limit: usize,
    ) -> error::Result<Content> {
        let most = (window.length as usize / MAX_PARTS)
            .max(MIN_PARTS)
            .min(limit);
        match self.parts(window, original, most) {
            Err(error::Error::Source(Error::NoMemory { .. })) => {}
            parts => return parts.map(Content::Parts),
        }
        let length = window.length as usize;
        if length > limit {
            return Err(Error::no_memory("a window of the patch", length, limit).into());
        }
        let bytes = self.bytes(window, original)?;
        let found = simd_adler32::adler32(&bytes.as_slice());
        check_adler(window, found)?;
        Ok(Content::Bytes(bytes))
    }

    fn parts(
        &self,
        window: &Window,
        original: &Arc<dyn ReadAt>,
        limit: usize,
    ) -> error::Result<Parts> {
        let inputs = self.inputs(window, &**original);
        let mut instructions = Instructions::new(window, |section| self.section(section));
        let mut parts = Parts::new(limit);
        while let Some((length, instruction)) = instructions.next()? {
            match instruction {
                Instruction::Add(offset) => parts.push(length, Data::Patch(offset))?,
                Instruction::Run(byte) => parts.push(length, Data::Fill(byte))?,
                Instruction::Window(from) => parts.copy(from, length, inputs)?,
                Instruction::Original(from) => {
                    check_end(from + length, &**original)?;
                    parts.push(length, Data::Original(from))?;
                }
            }
        }
        parts.shrink();
        Ok(parts)
    }

    fn bytes(&self, window: &Window, original: &Arc<dyn ReadAt>) -> error::Result<Vec<u8>> {
        // Both are read almost sequentially, in short pieces.
        let original = BlockBuffer::new(original.clone());
        let data = BlockBuffer::new(self.section(&window.sections[DATA]));
        let mut instructions = Instructions::new(window, |section| self.section(section));
        let mut bytes = Vec::with_capacity(window.length as usize);
        while let Some((length, instruction)) = instructions.next()? {
            let start = bytes.len();
            let end = start + length as usize;
            match instruction {
                Instruction::Run(byte) => bytes.resize(end, byte),
                Instruction::Window(from) => copy_within(&mut bytes, from as usize, end),
                Instruction::Add(offset) => {
                    bytes.resize(end, 0);
                    read(&data, &mut bytes[start..], offset)?;
                }
                Instruction::Original(from) => {
                    check_end(from + length, &original)?;
                    bytes.resize(end, 0);
                    read(&original, &mut bytes[start..], from)?;
                }
            }
        }
        Ok(bytes)
    }
}

/// Appends a copy of the bytes at `from` up to the length `end`. It may overlap itself.
fn copy_within(bytes: &mut Vec<u8>, from: usize, end: usize) {
    while bytes.len() < end {
        let now = (bytes.len() - from).min(end - bytes.len());
        bytes.extend_from_within(from..from + now);
    }
}

/// Fills `buf` with the bytes of a source.
fn read(source: &dyn ReadAt, buf: &mut [u8], offset: u64) -> Result<()> {
    let length = buf.len() as u64;
    source
        .read_exact_at(buf, offset)
        .map_err(|cause| read_error(offset, length, cause))
}

/// Returns an error if a copy from the original ends after the original.
fn check_end(needed: u64, original: &dyn ReadAt) -> error::Result<()> {
    let found = original.len();
    match needed <= found {
        true => Ok(()),
        false => Err(Mismatch::TooShort { needed, found }.into()),
    }
}

/// Compares the Adler-32 of a window with the recorded one, if any.
pub(super) fn check_adler(window: &Window, found: u32) -> error::Result<()> {
    match window.adler {
        Some(expected) if expected != found => Err(Mismatch::Window {
            offset: window.start,
            expected,
            found,
        }
        .into()),
        _ => Ok(()),
    }
}
