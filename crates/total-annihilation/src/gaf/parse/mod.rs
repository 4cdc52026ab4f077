//! GAF and TAF: sprites and textures, as sequences of frames
//! (FORMATS, TA 3).
//!
//! [`parse`] reads sequences and checks the headers of frames. [`Gaf::frame`] reads one
//! header and [`Gaf::decode`] its pixels. Many references may share a frame, so callers
//! that decode all frames should use [`Reference::frame`] to decode each offset once.

mod indexed;
mod picture;
mod rle;

use std::collections::HashSet;

use bytes::Bytes;
use get_size2::GetSize;

pub use indexed::Indexed;
pub use picture::{Picture, Pixels};

use crate::MAX_PIXELS;
use crate::pointer::{Pointer, little, u32_at};
use hpimount_assets::parse::{Incomplete, finish, name};
use hpimount_containers::io::{Cursor, Error, Result, Warnings};

/// Extensions of GAF files. A TAF file may have palette indices too.
pub const EXTENSIONS: &[&str] = &["gaf", "taf"];

/// The version of all known files except for two, which have 0.
const VERSION: u32 = 0x0001_0100;

/// The version of files whose frames are packed colors, made for TA3D.
const VERSION_TA3D: u32 = 0x0001_0101;

/// Bytes of a sequence, without its frames.
pub(in crate::gaf) const SEQUENCE_SIZE: usize = 40;

/// Bytes of a reference to a frame.
pub(in crate::gaf) const REFERENCE_SIZE: usize = 8;

/// Maximum number of sequences of a file.
const MAX_SEQUENCES: u32 = 65536;

/// Maximum number of references to frames in a file. Sequences may share the bytes of
/// their references.
const MAX_REFERENCES: u64 = 1 << 20;

/// Maximum total number of pixels of the distinct frames of a file.
const MAX_PIXELS_IN_ALL: u64 = 256 << 20;

/// Maximum number of layers of a frame.
const MAX_LAYERS: u16 = 1024;

/// Ticks per second.
pub const TICKS_PER_SECOND: u32 = 30;

/// The parsed contents of a GAF file.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Gaf {
    #[get_size(ignore)]
    bytes: Bytes,
    /// Version word: `0x00010100`, 0, or `0x00010101` with packed colors.
    pub version: u32,
    /// Third word of the header, usually 0.
    pub unknown_8: u32,
    /// The sequences, in the order of the file.
    pub sequences: Vec<Sequence>,
    /// Warnings, except for those about pixels, which are in
    /// [`Picture::warnings`].
    pub warnings: Warnings,
}

/// A sequence of frames: an animation, or several views of one thing.
#[derive(Debug, Clone, Default, GetSize)]
pub struct Sequence {
    /// Absolute offset of its first byte.
    pub offset: u32,
    /// Name. Games compare names ignoring case; it need not be unique.
    pub name: String,
    /// Number of nonzero bytes after the NUL of the name.
    pub junk_after_nul: usize,
    /// Loop word: the sequence loops if the low byte is not 0.
    pub loop_word: u16,
    /// Second word, usually 0.
    pub unknown_4: u32,
    /// [`REFERENCE_SIZE`] bytes for each frame.
    #[get_size(ignore)]
    references: Bytes,
}

impl Sequence {
    /// Returns whether the animation loops.
    pub fn loops(&self) -> bool {
        self.loop_word & 0xFF != 0
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.references.len() / REFERENCE_SIZE
    }

    /// Returns whether it has no frames.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// Returns the frame with this number.
    pub fn get(&self, index: usize) -> Option<Reference> {
        let word = |number| u32_at(&self.references, 2 * index + number);
        let list = u64::from(self.offset) + SEQUENCE_SIZE as u64;
        (index < self.len()).then_some(Reference {
            stored_at: list + (REFERENCE_SIZE * index) as u64,
            frame: word(0)?,
            ticks: word(1)?,
        })
    }

    /// Returns the frames, in their order.
    pub fn frames(&self) -> impl Iterator<Item = Reference> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// A frame of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Absolute offset of the reference itself.
    pub stored_at: u64,
    /// Absolute offset of the frame's header.
    pub frame: u32,
    /// Duration in ticks ([`TICKS_PER_SECOND`]). 0 is one tick, or until an event.
    pub ticks: u32,
}

/// The format of the pixels of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PixelFormat {
    /// Palette indices. Pixels equal to the key are transparent.
    Raw,
    /// Rows of runs of palette indices. Skipped pixels are transparent.
    Rle,
    /// 16-bit pixels: 4 bits each of alpha, red, green, blue, from the highest bits.
    Argb4444,
    /// 16-bit pixels: 1 bit of alpha, 5 bits each of red, green, blue.
    Argb1555,
    /// Packed red, green, blue, and alpha if the key is not 0.
    Packed,
}

impl PixelFormat {
    /// Returns the format with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Raw,
            1 => Self::Rle,
            4 => Self::Argb4444,
            5 => Self::Argb1555,
            _ => return None,
        })
    }

    /// Returns its number in the header of a frame. Packed frames may have any number.
    pub(in crate::gaf) fn number(self) -> u8 {
        match self {
            Self::Raw | Self::Packed => 0,
            Self::Rle => 1,
            Self::Argb4444 => 4,
            Self::Argb1555 => 5,
        }
    }

    /// Returns whether pixels are colors instead of palette indices.
    pub fn is_true_color(self) -> bool {
        matches!(self, Self::Argb4444 | Self::Argb1555 | Self::Packed)
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Absolute offset of its first byte.
    pub offset: u32,
    /// Width in pixels; may be 0.
    pub width: u16,
    /// Height in pixels; may be 0.
    pub height: u16,
    /// Pixels from the left edge to the origin, the fixed point of an animation. It may
    /// be outside of the frame.
    pub x: i16,
    /// Pixels from the top edge to the origin.
    pub y: i16,
    /// Palette index for transparency.
    pub key: u8,
    /// Number of the pixel format. It is meaningless if the frame has layers.
    pub format: u8,
    /// Number of layers of the frame; 0 if it has pixels itself.
    pub layers: u16,
    /// True if its pixels are packed colors, regardless of its format and layers.
    pub is_packed: bool,
    /// Unknown word at offset 12 of the header.
    pub unknown_12: u32,
    /// Absolute offset of the pixels, or of the list of layers.
    pub data: u32,
    /// Unknown word at offset 20 of the header.
    pub unknown_20: u32,
}

impl Frame {
    /// Returns the number of pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Returns the pixel format; `None` if it is unknown or the frame has layers.
    pub fn pixel_format(&self) -> Option<PixelFormat> {
        if self.is_packed {
            return Some(PixelFormat::Packed);
        }
        let format = PixelFormat::from_number(self.format);
        format.filter(|_| self.layers == 0)
    }

    fn data(&self, field: &'static str) -> Pointer {
        Pointer::new(self.data, u64::from(self.offset) + 16, field)
    }

    fn read(cursor: &mut Cursor<'_>, is_packed: bool) -> Result<Self> {
        let mut frame = Self {
            // Positions are inside the file, and the pointers to them have 32 bits.
            offset: cursor.offset() as u32,
            width: cursor.u16("width")?,
            height: cursor.u16("height")?,
            x: cursor.i16("origin x")?,
            y: cursor.i16("origin y")?,
            key: cursor.u8("key")?,
            format: cursor.u8("format")?,
            layers: cursor.u16("layers")?,
            is_packed,
            unknown_12: cursor.u32("unknown word 12")?,
            data: cursor.u32("data pointer")?,
            unknown_20: cursor.u32("unknown word 20")?,
        };
        if PixelFormat::from_number(frame.format).is_some_and(PixelFormat::is_true_color) {
            // Then the upper byte is 0 or 0xFF and has no meaning.
            frame.layers &= 0xFF;
        }
        if is_packed {
            frame.layers = 0;
        }
        Ok(frame)
    }

    fn check(&self) -> Result<()> {
        let damaged = |at: u64, field, problem| {
            Err(Error::damaged(u64::from(self.offset) + at, field, problem))
        };
        if self.pixels() > MAX_PIXELS {
            let size = format!("{}x{}", self.width, self.height);
            let problem = format!("is {size}, more than {MAX_PIXELS} pixels");
            return damaged(0, "frame size", problem);
        }
        if self.layers == 0 && self.pixel_format().is_none() {
            let problem = format!("is {}, should be 0, 1, 4 or 5", self.format);
            return damaged(9, "format", problem);
        }
        if self.layers > MAX_LAYERS {
            let problem = format!("is {}, more than {MAX_LAYERS}", self.layers);
            return damaged(10, "layers", problem);
        }
        Ok(())
    }
}

/// Parses a GAF file.
///
/// An unreadable frame is a warning here; [`Gaf::frame`] or [`Gaf::decode`] returns the
/// error.
///
/// # Errors
/// Returns [`Incomplete`] with the sequences so far if the header or a sequence
/// is invalid, or if there are more or larger frames than in any real file.
pub fn parse(bytes: &Bytes) -> std::result::Result<Gaf, Box<Incomplete<Gaf>>> {
    let mut gaf = Gaf {
        bytes: bytes.clone(),
        ..Gaf::default()
    };
    let result = gaf.read();
    finish(gaf, result)
}

impl Gaf {
    fn read(&mut self) -> Result<()> {
        let file = self.bytes.clone();
        let mut cursor = little(&file);
        self.version = cursor.u32("version")?;
        match self.version {
            VERSION | VERSION_TA3D => {}
            0 => self.warnings.push("version is 0, should be 0x10100"),
            other => {
                let problem = format!("is {other:#x}, should be {VERSION:#x}");
                return Err(Error::damaged(0, "version", problem));
            }
        }
        let count = cursor.u32("sequence count")?;
        self.unknown_8 = cursor.u32("unknown word 8")?;
        if self.unknown_8 != 0 {
            let word = self.unknown_8;
            self.warnings.push(format!("word 8 is {word:#x}, not 0"));
        }
        if count > MAX_SEQUENCES {
            let problem = format!("is {count}, more than {MAX_SEQUENCES}");
            return Err(Error::damaged(4, "sequence count", problem));
        }
        let count = cursor.check_count(count.into(), 4, "sequence count")?;
        let mut totals = Totals::default();
        for index in 0..count {
            let within = |error: Error| error.within(format_args!("sequence {index}"));
            let pointer = Pointer::read(&mut cursor, "sequence")?;
            let sequence = read_sequence(&file, pointer).map_err(within)?;
            self.check_frames(index, &sequence, &mut totals)
                .map_err(within)?;
            self.sequences.push(sequence);
        }
        Ok(())
    }

    /// Checks the frames of a sequence that are not in an earlier one.
    fn check_frames(
        &mut self,
        index: usize,
        sequence: &Sequence,
        totals: &mut Totals,
    ) -> Result<()> {
        let damaged = |problem| Err(Error::damaged(sequence.offset.into(), "frames", problem));
        totals.references += sequence.len() as u64;
        if totals.references > MAX_REFERENCES {
            return damaged(format!("are more than {MAX_REFERENCES} with those before"));
        }
        for (number, reference) in sequence.frames().enumerate() {
            if !totals.seen.insert(reference.frame) {
                continue;
            }
            match self.frame(reference) {
                Ok(frame) => totals.pixels += frame.pixels(),
                Err(error) => self.warnings.push(format!(
                    "frame {number} of sequence {index} cannot be read: {error}"
                )),
            }
            if totals.pixels > MAX_PIXELS_IN_ALL {
                let most = MAX_PIXELS_IN_ALL;
                return damaged(format!("have more than {most} pixels with those before"));
            }
        }
        Ok(())
    }

    /// Returns whether the pixels of all frames are packed colors.
    pub(in crate::gaf) fn is_packed(&self) -> bool {
        self.version == VERSION_TA3D
    }

    /// Returns the header of a frame.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if it is outside the file, or is not a valid
    /// frame.
    pub fn frame(&self, reference: Reference) -> Result<Frame> {
        self.frame_at(Pointer::new(reference.frame, reference.stored_at, "frame"))
    }

    fn frame_at(&self, pointer: Pointer) -> Result<Frame> {
        let frame = Frame::read(&mut pointer.follow(&self.bytes)?, self.is_packed())?;
        frame.check()?;
        Ok(frame)
    }
}

/// Totals of the frames of a file.
#[derive(Default)]
struct Totals {
    references: u64,
    pixels: u64,
    /// Offsets of the frames that were checked.
    seen: HashSet<u32>,
}

fn read_sequence(file: &Bytes, pointer: Pointer) -> Result<Sequence> {
    let mut cursor = pointer.follow(file)?;
    let frames = cursor.u16("frame count")?;
    let loop_word = cursor.u16("loop word")?;
    let unknown_4 = cursor.u32("unknown word 4")?;
    let name = cursor.take(32, "name")?;
    let frames = cursor.check_count(frames.into(), REFERENCE_SIZE, "frame count")?;
    Ok(Sequence {
        offset: pointer.target,
        name: name::until_nul(name),
        junk_after_nul: name::junk_after_nul(name),
        loop_word,
        unknown_4,
        references: file.slice_ref(cursor.take(frames * REFERENCE_SIZE, "frames")?),
    })
}

#[cfg(test)]
mod tests;
