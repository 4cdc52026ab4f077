//! TIM: pictures of the PlayStation.

use bytes::Bytes;

use super::{Block, Details, MAX_PICTURES, Stored, Tim, check_size, too_short};
use hpimount_assets::parse::color::{self, opaque};
use hpimount_assets::parse::pixels::encode::OPAQUE;
use hpimount_containers::io::{Cursor, Error, Result, Warnings};

/// First word of a picture.
const MAGIC: u32 = 0x10;

/// Known bits of the flags: the mode, and the presence of palettes.
const KNOWN_FLAGS: u32 = 0xF;

/// The flag of a picture with palettes.
const HAS_PALETTE: u32 = 8;

/// Bits of a pixel in each mode.
const BITS: [u8; 4] = [4, 8, 16, 24];

/// The bit of a color for semi-transparency.
const SEMI_TRANSPARENT: u16 = 0x8000;

/// Bytes of a block before its data.
const BLOCK_HEAD: usize = 12;

/// Size of the smallest picture: its header and an empty block.
const SMALLEST: usize = 20;

/// Reads the consecutive pictures at multiples of 4 bytes.
pub(super) fn read(cursor: &mut Cursor<'_>, file: &Bytes, tim: &mut Tim) -> Result<()> {
    let first = picture(cursor, file, &mut tim.warnings)?;
    tim.pictures.push(first);
    while cursor.remaining() >= SMALLEST && tim.pictures.len() < MAX_PICTURES {
        let mut next = cursor.clone();
        let padding = next.offset().next_multiple_of(4) - next.offset();
        next.take(padding as usize, "padding")?;
        let mut warnings = Warnings::default();
        let Ok(picture) = picture(&mut next, file, &mut warnings) else {
            break;
        };
        tim.pictures.push(picture);
        tim.warnings.append(warnings);
        *cursor = next;
    }
    Ok(())
}

fn picture(cursor: &mut Cursor<'_>, file: &Bytes, warnings: &mut Warnings) -> Result<Stored> {
    let offset = cursor.offset();
    let magic = cursor.u32("magic")?;
    let flags = cursor.u32("flags")?;
    if magic != MAGIC || flags & 0xF0 != 0 {
        let problem = format!("is {magic:#x} with flags {flags:#x}, not those of a TIM");
        return Err(Error::damaged(offset, "magic", problem));
    }
    let Some(&bits) = BITS.get((flags & 7) as usize) else {
        let problem = format!("mode {} is unknown", flags & 7);
        return Err(Error::damaged(offset + 4, "flags", problem));
    };
    if flags > KNOWN_FLAGS {
        warnings.push(format!("flags {flags:#010x}: only the lowest 4 bits count"));
    }
    let mut palette = None;
    let mut stored = Bytes::new();
    if flags & HAS_PALETTE != 0 {
        let (block, data) = block(cursor, "palette", warnings)?;
        if data.len() < block.needed() {
            let (have, needed) = (data.len(), block.needed());
            warnings.push(format!("palette: {have} of {needed} bytes"));
        }
        palette = Some(block);
        stored = file.slice_ref(data);
    }
    let at = cursor.offset();
    let (block, data) = block(cursor, "picture", warnings)?;
    if data.len() < block.needed() {
        return Err(too_short(at, data.len(), block.needed()));
    }
    let width = u32::from(block.words) * 16 / u32::from(bits);
    check_size(width, block.height.into(), at)?;
    if bits <= 8 && palette.is_none() {
        warnings.push("there is no palette: the indices are shown as gray");
    }
    let has_stp = |color: &&[u8; 2]| color[1] & 0x80 != 0;
    let used = if bits <= 8 { &stored[..] } else { &[] };
    let stp_colors = used.as_chunks().0.iter().filter(has_stp).count();
    Ok(Stored {
        offset,
        bits,
        width,
        height: block.height.into(),
        details: Details::PlayStation {
            palette,
            picture: block,
            stp_colors,
        },
        data: file.slice_ref(data),
        row_size: 2 * usize::from(block.words),
        colors: stored,
    })
}

/// Reads a block. Its length is wrong in some files: the maximum of the length and the
/// size of the rectangle is used, as far as there are bytes. Returns the bytes of the
/// rectangle.
fn block<'a>(
    cursor: &mut Cursor<'a>,
    what: &'static str,
    warnings: &mut Warnings,
) -> Result<(Block, &'a [u8])> {
    let at = cursor.offset();
    let size = cursor.u32(what)?;
    let mut word = || cursor.u16(what);
    let block = Block {
        size,
        x: word()?,
        y: word()?,
        words: word()?,
        height: word()?,
    };
    let Some(length) = (size as usize).checked_sub(BLOCK_HEAD) else {
        let problem = format!("has {size} bytes, less than its own header");
        return Err(Error::damaged(at, what, problem));
    };
    let needed = block.needed();
    if length < needed {
        let least = needed + BLOCK_HEAD;
        warnings.push(format!("{what}: size is {size}, needs {least}"));
    }
    let data = cursor.take(length.max(needed).min(cursor.remaining()), what)?;
    Ok((block, &data[..needed.min(data.len())]))
}

impl Block {
    /// Returns the bytes of the rectangle.
    fn needed(&self) -> usize {
        2 * usize::from(self.words) * usize::from(self.height)
    }
}

/// Converts a color. Black without the semi-transparency bit is transparent.
pub(super) fn color(stored: u16) -> [u8; 4] {
    match stored {
        0 => [0; 4],
        stored => opaque(stored),
    }
}

/// Returns the nearest color with the semi-transparency bit of `old`. Opaque black
/// always has this bit.
pub(super) fn nearest(color: [u8; 4], old: u16) -> u16 {
    if color[3] < OPAQUE {
        return 0;
    }
    match color::nearest(color) | old & SEMI_TRANSPARENT {
        0 => SEMI_TRANSPARENT,
        word => word,
    }
}
