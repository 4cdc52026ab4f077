//! TIM2: pictures of the PlayStation 2.

use bytes::Bytes;

use super::{Details, MAX_PICTURES, Stored, Tim, Tim2Header, check_size, too_short};
use hpimount_containers::io::{Cursor, Error, Result};

/// Smallest header of a picture in bytes.
const SMALLEST_HEADER: u16 = 48;

/// The flag of a linear palette, with the colors in index order.
const LINEAR: u8 = 0x80;

/// Size of the registers between the smallest header and the lengths of levels.
const REGISTERS: usize = 16;

/// Reads the header and the pictures.
pub(super) fn read(cursor: &mut Cursor<'_>, file: &Bytes, tim: &mut Tim) -> Result<()> {
    cursor.take(4, "magic")?;
    let version = cursor.u8("version")?;
    let alignment = if cursor.u8("alignment")? == 1 {
        128
    } else {
        16
    };
    let count = cursor.u16("number of pictures")?;
    tim.header = Some(Tim2Header {
        version,
        alignment,
        count,
    });
    cursor.seek(alignment.into(), "pictures")?;
    if usize::from(count) > MAX_PICTURES {
        let warning = format!("only {MAX_PICTURES} of {count} pictures are read");
        tim.warnings.push(warning);
    }
    for number in 0..usize::from(count).min(MAX_PICTURES) {
        let (picture, length) = picture(cursor, file)?;
        let next = picture.offset + length;
        tim.pictures.push(picture);
        if next > file.len() as u64 {
            let warning = format!("picture {number} ends after the file");
            tim.warnings.push(warning);
            break;
        }
        cursor.seek(next, "next picture")?;
    }
    Ok(())
}

/// Reads a picture. Returns it and its length.
fn picture(cursor: &mut Cursor<'_>, file: &Bytes) -> Result<(Stored, u64)> {
    let offset = cursor.offset();
    let total = cursor.u32("picture length")?;
    let palette_size = cursor.u32("palette length")? as usize;
    let pixels_size = cursor.u32("pixels length")? as usize;
    let header_size = cursor.u16("header length")?;
    let colors = cursor.u16("number of colors")?;
    let format = cursor.u8("format")?;
    let mipmaps = cursor.u8("mipmaps")?;
    let palette_kind = cursor.u8("palette type")?;
    let kind = cursor.u8("picture type")?;
    let width = u32::from(cursor.u16("width")?);
    let height = u32::from(cursor.u16("height")?);
    if header_size < SMALLEST_HEADER || total < header_size.into() {
        let problem = format!("is {total} with a header of {header_size} bytes");
        return Err(Error::damaged(offset, "picture length", problem));
    }
    let bits = bits_of(kind).ok_or_else(|| unknown(offset + 19, "picture type", kind))?;
    check_size(width, height, offset + 20)?;
    let level_sizes = level_sizes(cursor, offset, header_size, mipmaps)?;
    cursor.seek(offset + u64::from(header_size), "header length")?;
    let data = cursor.take(pixels_size, "pixels")?;
    let palette = cursor.take(palette_size, "palette")?;
    let row_size = (width as usize * usize::from(bits)).div_ceil(8);
    let needed = row_size * height as usize;
    if data.len() < needed {
        return Err(too_short(offset + 8, data.len(), needed));
    }
    let palette_type = palette_kind & !LINEAR & 0x3F;
    if bits <= 8 && !(1..=3).contains(&palette_type) {
        return Err(unknown(offset + 18, "palette type", palette_kind));
    }
    // Pictures with shared bytes would make a small file expensive: the next picture
    // begins after this one at the earliest.
    let length = u64::from(total).max(cursor.offset() - offset);
    let details = Details::PlayStation2 {
        mipmaps,
        colors,
        palette_type,
        is_linear: palette_kind & LINEAR != 0,
        format,
        level_sizes,
    };
    let picture = Stored {
        offset,
        bits,
        width,
        height,
        details,
        data: file.slice_ref(data),
        row_size,
        colors: file.slice_ref(palette),
    };
    Ok((picture, length))
}

/// Reads the lengths of all levels, which exist only in pictures with smaller levels.
fn level_sizes(
    cursor: &mut Cursor<'_>,
    offset: u64,
    header_size: u16,
    levels: u8,
) -> Result<Vec<u32>> {
    let lengths = SMALLEST_HEADER as usize + REGISTERS;
    if levels < 2 || usize::from(header_size) < lengths + 4 * usize::from(levels) {
        return Ok(Vec::new());
    }
    cursor.seek(offset + lengths as u64, "header length")?;
    (0..levels).map(|_| cursor.u32("level length")).collect()
}

fn unknown(offset: u64, field: &'static str, kind: u8) -> Error {
    Error::damaged(offset, field, format!("{kind} is unknown"))
}

/// Returns the bits per pixel of this type.
fn bits_of(kind: u8) -> Option<u8> {
    [16, 24, 32, 4, 8]
        .get(usize::from(kind).checked_sub(1)?)
        .copied()
}
