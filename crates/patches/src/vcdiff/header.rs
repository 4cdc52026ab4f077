//! The headers of a patch and of its windows.

use std::sync::Arc;

use hpimount_containers::io::{Error, ReadAt, Result};

use super::layout::{Section, Window};
use super::secondary::{Compressor, Decoders};
use crate::limits::{check_count, check_result};
use crate::number::{read_vcdiff, vcdiff_length};
use crate::parts::reserve;
use crate::spool::Spool;
use crate::stream::Stream;

/// The start of a VCDIFF patch.
pub(crate) const MAGIC: &[u8] = &[0xD6, 0xC3, 0xC4];

/// The version byte of open-vcdiff's own format.
const OPEN_VCDIFF: u8 = b'S';

/// Flags of the header.
const HAS_COMPRESSOR: u8 = 1;
const HAS_TABLE: u8 = 2;
const HAS_APPLICATION: u8 = 4;

/// Flags of a window.
const HAS_SOURCE: u8 = 1;
const HAS_TARGET: u8 = 2;
const HAS_ADLER: u8 = 4;

/// Maximum length of the result of a window, as in xdelta3 since 3.1.
const MAX_WINDOW: u64 = 64 << 20;

/// Maximum number of kept bytes of the application header.
const MAX_APPLICATION: u64 = 256;

/// Buffer size for headers, which are short and far apart.
const HEADER: usize = 128;

/// A VCDIFF patch.
pub(crate) struct Vcdiff {
    pub(super) source: Arc<dyn ReadAt>,
    /// The decoded sections.
    pub(super) spool: Arc<dyn Spool>,
    pub(super) windows: Vec<Window>,
    /// Length of the result in bytes.
    pub(super) size: u64,
    /// The start of the application header.
    pub(crate) application: Vec<u8>,
}

impl Vcdiff {
    /// Reads the headers, and decodes compressed sections into the spool. May take
    /// `limit` bytes of memory.
    pub(crate) fn read(
        source: &Arc<dyn ReadAt>,
        spool: &Arc<dyn Spool>,
        limit: usize,
    ) -> Result<Self> {
        let mut stream = Stream::new(source, MAGIC.len() as u64..source.len(), HEADER);
        let (compressor, application) = read_header(&mut stream)?;
        let mut patch = Self {
            source: source.clone(),
            spool: spool.clone(),
            windows: Vec::new(),
            size: 0,
            application,
        };
        while stream.left() > 0 {
            check_count(stream.offset(), patch.windows.len() + 1, "window")?;
            let window = read_window(&mut stream, patch.size, compressor.is_some())?;
            patch.size += window.length;
            let used = patch.memory();
            reserve(&mut patch.windows, 1, used, limit)?;
            patch.windows.push(window);
        }
        if patch.windows.is_empty() {
            return Err(Error::damaged(stream.offset(), "window", "there is none"));
        }
        patch.windows.shrink_to_fit();
        if let Some(compressor) = compressor {
            let left = limit.saturating_sub(patch.memory());
            let mut decoders = Decoders::new(source, compressor, &patch.windows, left)?;
            for window in &mut patch.windows {
                decoders.decode(window, &*patch.spool)?;
            }
        }
        Ok(patch)
    }

    /// Returns the memory of the list of windows, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.windows.capacity() * size_of::<Window>()
    }

    /// Returns whether each window has a checksum.
    pub(crate) fn has_checksums(&self) -> bool {
        self.windows.iter().all(|window| window.adler.is_some())
    }
}

/// Reads the rest of the header after the magic bytes: the compressor of sections, and
/// the start of the application header.
fn read_header(stream: &mut Stream) -> Result<(Option<Compressor>, Vec<u8>)> {
    match stream.byte("version")? {
        0 => {}
        OPEN_VCDIFF => return Err(refused("the format of open-vcdiff")),
        version => {
            let problem = format!("is {version}, which is unknown");
            return Err(Error::damaged(3, "version", problem));
        }
    }
    let flags = stream.byte("flags")?;
    if flags & !(HAS_COMPRESSOR | HAS_TABLE | HAS_APPLICATION) != 0 {
        let problem = format!("are {flags:#04x}, which is unknown");
        return Err(Error::damaged(4, "flags", problem));
    }
    let compressor = match flags & HAS_COMPRESSOR != 0 {
        true => Some(match stream.byte("secondary compressor")? {
            1 => Compressor::Djw,
            2 => Compressor::Lzma,
            16 => return Err(refused("the secondary compressor FGK")),
            other => {
                let problem = format!("is {other}, which is unknown");
                return Err(Error::damaged(5, "secondary compressor", problem));
            }
        }),
        false => None,
    };
    if flags & HAS_TABLE != 0 {
        return Err(refused("a code table of its own"));
    }
    let mut application = Vec::new();
    if flags & HAS_APPLICATION != 0 {
        let length = read_vcdiff(stream, "length of the application header")?;
        stream.check(length, "application header")?;
        application.resize(length.min(MAX_APPLICATION) as usize, 0);
        stream.fill(&mut application, "application header")?;
        stream.skip(length - application.len() as u64, "application header")?;
    }
    Ok((compressor, application))
}

fn refused(what: &str) -> Error {
    Error::Unsupported(format!("uses {what}, which is not supported"))
}

/// Reads the header of a window and skips its sections. `start` is its position in the
/// result.
fn read_window(stream: &mut Stream, start: u64, can_compress: bool) -> Result<Window> {
    let offset = stream.offset();
    let damaged = |field, problem: String| Err(Error::damaged(offset, field, problem));
    let flags = stream.byte("flags of a window")?;
    if flags & !(HAS_SOURCE | HAS_TARGET | HAS_ADLER) != 0 {
        return damaged(
            "flags of a window",
            format!("are {flags:#04x}, which is unknown"),
        );
    }
    if flags & HAS_TARGET != 0 {
        return Err(refused("a window that copies from the target (VCD_TARGET)"));
    }
    let mut segment = (0, 0);
    if flags & HAS_SOURCE != 0 {
        segment.1 = read_vcdiff(stream, "length of the segment")?;
        segment.0 = read_vcdiff(stream, "position of the segment")?;
    }
    let encoding = read_vcdiff(stream, "length of the encoding")?;
    stream.check(encoding, "encoding")?;
    let encoding_end = stream.offset() + encoding;
    let length = read_vcdiff(stream, "length of a window")?;
    if length > MAX_WINDOW {
        let problem = format!("is {length} bytes, more than {MAX_WINDOW}");
        return damaged("length of a window", problem);
    }
    check_result(offset, start + length)?;
    let segment_end = segment.0.checked_add(segment.1);
    if segment_end.is_none_or(|end| end.saturating_add(length) >> 63 != 0) {
        return damaged("segment", "extends past 2^63".to_owned());
    }
    let compressed = stream.byte("compressed sections")?;
    if compressed & !7 != 0 || (compressed != 0 && !can_compress) {
        let problem = format!("are {compressed:#04x}, which is unknown");
        return damaged("compressed sections", problem);
    }
    let mut sections = [Section::default(); 3];
    let mut lengths = vcdiff_length(length) as u64 + 1;
    for (number, section) in sections.iter_mut().enumerate() {
        section.length = read_vcdiff(stream, "length of a section")?;
        section.is_spooled = compressed >> number & 1 != 0;
        let own = vcdiff_length(section.length) as u64;
        lengths = lengths.saturating_add(section.length).saturating_add(own);
    }
    let mut adler = None;
    if flags & HAS_ADLER != 0 {
        adler = Some(u32::from_be_bytes(stream.array("Adler-32")?));
        lengths = lengths.saturating_add(4);
    }
    // xdelta3 requires the shortest encoding of these numbers.
    if lengths != encoding {
        let problem = format!("is {encoding}; the fields have {lengths} bytes");
        return damaged("length of the encoding", problem);
    }
    for section in &mut sections {
        section.start = stream.skip(section.length, "section")?;
    }
    if stream.offset() != encoding_end {
        let problem = "is of numbers that have not their shortest form".to_owned();
        return damaged("length of the encoding", problem);
    }
    Ok(Window {
        offset,
        start,
        length,
        segment,
        adler,
        sections,
    })
}
