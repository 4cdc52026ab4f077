//! Writing VCDIFF patches.

use std::io::Write;
use std::ops::Range;

use hpimount_containers::io::ReadAt;
use simd_adler32::Adler32;

use super::addresses::Addresses;
use super::header::MAGIC;
use crate::Extents;
use crate::error::Result;
use crate::extents::{From, Piece, output, read_at};
use crate::number::write_vcdiff;

/// Maximum length of a window in the result, which every xdelta3 since 2006 supports.
const MAX_WINDOW: u64 = 8 << 20;

/// Maximum length of a window's source segment: the source buffer of xdelta3.
const MAX_SEGMENT: u64 = 64 << 20;

/// Read size for checksums of copied bytes.
const PIECE: u64 = 64 << 10;

/// Indexes of the code table.
const RUN: u8 = 0;
const ADD: u8 = 1;
const MAX_ADD: u64 = 17;
const COPY: u8 = 19;
const COPY_SIZES: Range<u64> = 4..19;

/// Flags of the header and of a window.
const HAS_APPLICATION: u8 = 4;
const HAS_SOURCE: u8 = 1;
const HAS_ADLER: u8 = 4;

/// Contents of a VCDIFF patch in addition to the changes.
#[derive(Debug, Clone, Copy)]
pub struct VcdiffOptions<'a> {
    /// The names of the result and of the original for the application header, which
    /// other programs show. Directories, `/` and `#` are removed.
    pub names: Option<(&'a str, &'a str)>,
    /// True if windows have checksums. Without them, a wrong original is not detected;
    /// writing them reads the whole result.
    pub has_checksums: bool,
}

impl Default for VcdiffOptions<'_> {
    fn default() -> Self {
        Self {
            names: None,
            has_checksums: true,
        }
    }
}

/// Writes a patch, see [`write::xdelta`](crate::write::xdelta).
pub(crate) fn write(
    extents: &Extents,
    original: &dyn ReadAt,
    options: VcdiffOptions<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    out.write_all(&header(options.names)).map_err(output)?;
    let mut window = Window::new(original, options.has_checksums, out);
    extents.visit(original, |piece| window.add(&piece))?;
    match window.length > 0 || extents.is_empty() {
        true => window.finish(),
        false => Ok(()),
    }
}

/// Returns the header of a patch, with the names of both files.
fn header(names: Option<(&str, &str)>) -> Vec<u8> {
    let mut header = [MAGIC, &[0]].concat();
    let Some((new, old)) = names else {
        header.push(0);
        return header;
    };
    let plain = |name: &str| {
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        name.replace('#', "")
    };
    // Neither file is compressed, so the names of compressors are empty.
    let application = format!("{}//{}/", plain(new), plain(old));
    header.push(HAS_APPLICATION);
    write_vcdiff(application.len() as u64, &mut header);
    header.extend(application.bytes());
    header
}

/// An instruction, with its length.
enum Instruction {
    Copy(u64, u64),
    Add(u64),
    Run(u64),
}

/// The window that is being made.
struct Window<'a> {
    original: &'a dyn ReadAt,
    out: &'a mut dyn Write,
    length: u64,
    /// The source range of the original.
    segment: Option<Range<u64>>,
    instructions: Vec<Instruction>,
    data: Vec<u8>,
    adler: Option<Adler32>,
}

impl<'a> Window<'a> {
    fn new(original: &'a dyn ReadAt, has_checksum: bool, out: &'a mut dyn Write) -> Self {
        Self {
            original,
            out,
            length: 0,
            segment: None,
            instructions: Vec::new(),
            data: Vec::new(),
            adler: has_checksum.then(Adler32::new),
        }
    }

    /// Adds a piece of the result, and writes completed windows.
    fn add(&mut self, piece: &Piece<'_>) -> Result<()> {
        let (mut start, mut left) = (0, piece.length);
        while left > 0 {
            let now = left.min(MAX_WINDOW - self.length);
            if let From::Original(from) = piece.from
                && !self.lengthen_segment(from + start..from + start + now)
            {
                self.finish()?;
                continue;
            }
            let bytes = piece
                .bytes
                .map(|bytes| &bytes[start as usize..][..now as usize]);
            self.sum(piece.from, bytes, start, now)?;
            self.instruct(piece.from, bytes, start, now);
            self.length += now;
            (start, left) = (start + now, left - now);
            if self.length == MAX_WINDOW {
                self.finish()?;
            }
        }
        Ok(())
    }

    /// Extends the segment to include a range of the original. Returns false if it
    /// would be too long.
    fn lengthen_segment(&mut self, range: Range<u64>) -> bool {
        let longer = match &self.segment {
            None => range,
            Some(segment) => segment.start.min(range.start)..segment.end.max(range.end),
        };
        let fits = longer.end - longer.start <= MAX_SEGMENT;
        if fits {
            self.segment = Some(longer);
        }
        fits
    }

    /// Adds `length` bytes of a piece from `start` on to the checksum.
    fn sum(&mut self, from: From, bytes: Option<&[u8]>, start: u64, length: u64) -> Result<()> {
        let Some(adler) = &mut self.adler else {
            return Ok(());
        };
        if let Some(bytes) = bytes {
            adler.write(bytes);
            return Ok(());
        }
        let mut buffer = vec![0; PIECE.min(length) as usize];
        if let From::Run(byte) = from {
            buffer.fill(byte);
        }
        let mut done = 0;
        while done < length {
            let now = (length - done).min(PIECE);
            let piece = &mut buffer[..now as usize];
            if let From::Original(from) = from {
                read_at(self.original, piece, from + start + done)?;
            }
            adler.write(piece);
            done += now;
        }
        Ok(())
    }

    fn instruct(&mut self, from: From, bytes: Option<&[u8]>, start: u64, length: u64) {
        match (from, self.instructions.last_mut()) {
            (From::Original(from), Some(Instruction::Copy(last, before)))
                if *last + *before == from + start =>
            {
                *before += length;
            }
            (From::Original(from), _) => {
                self.instructions
                    .push(Instruction::Copy(from + start, length));
            }
            (From::Run(byte), _) => {
                self.instructions.push(Instruction::Run(length));
                self.data.push(byte);
            }
            (From::New, last) => {
                match last {
                    Some(Instruction::Add(before)) => *before += length,
                    _ => self.instructions.push(Instruction::Add(length)),
                }
                self.data.extend(bytes.unwrap_or_default());
            }
        }
    }

    /// Writes the window, and begins the next one.
    fn finish(&mut self) -> Result<()> {
        let segment = self.segment.take().unwrap_or(0..0);
        let (instructions, addresses) = encode(&self.instructions, &segment);
        let sections = [&self.data, &instructions, &addresses];
        let mut fields = Vec::new();
        write_vcdiff(self.length, &mut fields);
        // No section is compressed.
        fields.push(0);
        for section in sections {
            write_vcdiff(section.len() as u64, &mut fields);
        }
        let mut header = vec![0];
        if segment.end > 0 {
            header[0] |= HAS_SOURCE;
            write_vcdiff(segment.end - segment.start, &mut header);
            write_vcdiff(segment.start, &mut header);
        }
        if let Some(adler) = &mut self.adler {
            header[0] |= HAS_ADLER;
            fields.extend(adler.finish().to_be_bytes());
            adler.reset();
        }
        let lengths = sections.iter().map(|section| section.len()).sum::<usize>();
        write_vcdiff((fields.len() + lengths) as u64, &mut header);
        for bytes in [&header, &fields].into_iter().chain(sections) {
            self.out.write_all(bytes).map_err(output)?;
        }
        self.length = 0;
        self.instructions.clear();
        self.data.clear();
        Ok(())
    }
}

/// Returns the sections of instructions and of addresses.
fn encode(list: &[Instruction], segment: &Range<u64>) -> (Vec<u8>, Vec<u8>) {
    let (mut instructions, mut addresses) = (Vec::new(), Vec::new());
    let (mut cache, mut here) = (Addresses::new(), segment.end - segment.start);
    for instruction in list {
        let (index, length, has_size) = match *instruction {
            Instruction::Run(length) => (RUN, length, true),
            Instruction::Add(length) if length <= MAX_ADD => (ADD + length as u8, length, false),
            Instruction::Add(length) => (ADD, length, true),
            Instruction::Copy(from, length) => {
                let mode = cache.write(from - segment.start, here, &mut addresses);
                let index = COPY + 16 * mode;
                match COPY_SIZES.contains(&length) {
                    true => (index + (length - 3) as u8, length, false),
                    false => (index, length, true),
                }
            }
        };
        instructions.push(index);
        if has_size {
            write_vcdiff(length, &mut instructions);
        }
        here += length;
    }
    (instructions, addresses)
}
