//! Resizing of textures of Windows games, of the Xbox and of the GameCube.

use bytes::Bytes;

use super::super::{Format, Texture};
use crate::Chunks;
use hpimount_assets::model::Reservation;
use hpimount_assets::view::import::{Edit, place_of};
use hpimount_assets::view::patches::Patches;

/// The allowed sides of a game's textures, in pixels.
#[derive(Debug, Clone, Copy)]
pub struct Sides {
    /// The longest one.
    pub most: u32,
    /// The maximum in the game's own textures. Larger sides are a warning.
    pub usual: u32,
    /// True if textures of Windows games may have sides that are not powers of two,
    /// with a warning.
    pub any: bool,
}

/// Offsets of the size and of the total length of all levels in the fields of a
/// texture.
const SIZE: usize = 80;
const TOTAL: usize = 88;

/// The same on GameCube, where a palette precedes the length.
const GAMECUBE_SIZE: usize = 92;
const GAMECUBE_TOTAL: usize = 104;

/// A file with a resized texture.
pub(super) struct Resized {
    /// The file.
    pub(super) file: Vec<u8>,
    /// Deviations from the games' own textures.
    pub(super) warnings: Vec<String>,
    /// Memory of the new pixels until they are encoded.
    pub(super) _memory: Option<Reservation>,
}

/// Copies of a level's pixels in memory during encoding: the file with black pixels,
/// the new file, the copy that is parsed again, and the pixels themselves.
const COPIES: usize = 4;

/// Returns whether textures of this form can be resized.
pub(super) fn has_any_size(texture: &Texture) -> bool {
    let is_whole = texture.levels.len() as u32 == texture.declared_levels;
    is_whole && !matches!(texture.format, Format::PlayStation2(_))
}

/// Returns warnings about an unusual size of a texture, or the reason why the size is
/// not possible.
fn check(
    texture: &Texture,
    (width, height): (u32, u32),
    sides: Sides,
) -> Result<Vec<String>, String> {
    let Sides { most, usual, any } = sides;
    let is_side = |side: u32| (1..=most).contains(&side);
    if !is_side(width) || !is_side(height) {
        return Err(format!(
            "has {width}x{height} pixels, sides are 1 to {most}: scale it"
        ));
    }
    let is_power = width.is_power_of_two() && height.is_power_of_two();
    let may_be_odd = any && matches!(texture.format, Format::Direct3d(_));
    if !is_power && !may_be_odd {
        return Err(format!(
            "has {width}x{height} pixels, sides must be powers of two: scale it"
        ));
    }
    let levels = texture.declared_levels;
    if levels > u32::BITS - width.max(height).leading_zeros() {
        return Err(format!(
            "has {width}x{height} pixels, too few for {levels} levels: scale it"
        ));
    }
    let mut warnings = Vec::new();
    if !is_power {
        warnings.push(format!(
            "{width}x{height} pixels: sides are usually powers of two"
        ));
    }
    if width.max(height) > usual {
        warnings.push(format!(
            "{width}x{height} pixels: the game's own textures have at most {usual} on a side"
        ));
    }
    Ok(warnings)
}

/// Resizes `texture` in the file of an edit. The new pixels are black, and the number
/// of levels stays. Updates the sizes of the chunks around the texture.
pub(super) fn resized(
    edit: &Edit<'_>,
    texture: &Texture,
    (width, height): (u32, u32),
    sides: Sides,
) -> Result<Resized, String> {
    let file = edit.asset;
    let warnings = check(texture, (width, height), sides)?;
    let start = texture.offset as usize;
    let mut patches = Patches::default();
    let is_gamecube = matches!(texture.format, Format::GameCube { .. });
    let at = start + if is_gamecube { GAMECUBE_SIZE } else { SIZE };
    for (at, side) in [(at, width as u16), (at + 2, height as u16)] {
        let bytes = match is_gamecube {
            true => side.to_be_bytes(),
            false => side.to_le_bytes(),
        };
        put(&mut patches, at, bytes);
    }
    let (mut old_total, mut total, mut end) = (0, 0, 0);
    let mut levels = Vec::new();
    for (number, level) in texture.levels.iter().enumerate() {
        let place = place_of(file, &level.data)?;
        let (width, height) = ((width >> number).max(1), (height >> number).max(1));
        let length = match texture.format {
            Format::Direct3d(format) => {
                let is_padded = level.pitch != format.lengths(level.width, level.height).0;
                let (row, length) = format.lengths(width, height);
                let length = match is_padded {
                    true => row.next_multiple_of(4) * height as usize,
                    false => length,
                };
                // A level is preceded by its length.
                put(&mut patches, place.start - 4, (length as u32).to_le_bytes());
                length
            }
            Format::Xbox(format) => format.size(width, height),
            Format::GameCube { format, .. } => format.size(width, height),
            Format::PlayStation2(_) => {
                return Err("shows a texture whose size is fixed".to_owned());
            }
        };
        end = place.end;
        old_total += place.len() as i64;
        total += length as i64;
        levels.push((place, length));
    }
    match texture.format {
        Format::Xbox(_) => put(&mut patches, start + TOTAL, (total as u32).to_le_bytes()),
        Format::GameCube { .. } => {
            let at = start + GAMECUBE_TOTAL + texture.palette.len();
            put(&mut patches, at, (total as u32).to_be_bytes());
        }
        Format::Direct3d(_) | Format::PlayStation2(_) => {}
    }
    let sizes = sizes_around(file, texture.offset)?;
    let whole = sizes.last().map_or(0, |&(_, size)| start + size as usize);
    if end != whole {
        let (old_width, old_height) = (texture.width, texture.height);
        return Err(format!(
            "has {width}x{height} pixels, must have {old_width}x{old_height}: its texture has more \
             pixels after these, as cube maps have"
        ));
    }
    for (place, size) in sizes {
        let size = u32::try_from(i64::from(size) + total - old_total);
        let size = size.map_err(|_| "makes the file larger than 4 GiB".to_owned())?;
        put(&mut patches, place, size.to_le_bytes());
    }
    let memory = edit.context.reserve(COPIES * total as usize);
    let memory = memory.map_err(|error| error.to_string())?;
    for (place, length) in levels {
        patches.replace(place, vec![0; length]);
    }
    let file = patches
        .apply(file)
        .ok_or("shows pixels that are not in the file")?;
    Ok(Resized {
        file,
        warnings,
        _memory: memory,
    })
}

fn put<const N: usize>(patches: &mut Patches, place: usize, bytes: [u8; N]) {
    patches.replace(place..place + N, bytes);
}

/// Returns the sizes and offsets of the chunks around the fields of a texture, ending
/// with the chunk of the fields.
fn sizes_around(file: &Bytes, fields: u64) -> Result<Vec<(usize, u32)>, String> {
    let mut sizes = Vec::new();
    let mut chunks = Chunks::new(file.clone(), 0);
    loop {
        let around = chunks
            .find(|chunk| (chunk.offset..chunk.offset + chunk.body.len() as u64).contains(&fields));
        let around = around.filter(|chunk| !chunk.is_cut() && !chunk.is_mended);
        let chunk = around.ok_or("shows a texture in a chunk with a wrong size")?;
        sizes.push((chunk.offset as usize - 8, chunk.declared_size));
        if chunk.offset == fields {
            return Ok(sizes);
        }
        chunks = chunk.children();
    }
}
