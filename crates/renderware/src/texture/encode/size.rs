//! Other sizes of textures of Windows games and of the Xbox.

use bytes::Bytes;

use super::super::{Format, Texture};
use crate::Chunks;
use hpimount_assets::view::import::place_of;
use hpimount_assets::view::patches::Patches;

/// The longest side of a texture, in pixels, as games have them.
const MAX_SIDE: u32 = 2048;

/// The places of the size in the fields of a texture, and of the length of all levels on
/// Xbox.
const SIZE: usize = 80;
const TOTAL: usize = 88;

/// A file with a texture of another size.
pub struct Resized {
    /// The file.
    pub file: Vec<u8>,
    /// What may not be as expected.
    pub warnings: Vec<String>,
}

/// Returns whether textures of this form can have other sizes.
pub fn has_any_size(texture: &Texture) -> bool {
    let is_whole = texture.levels.len() as u32 == texture.declared_levels;
    is_whole && matches!(texture.format, Format::Direct3d(_) | Format::Xbox(_))
}

/// Returns `file`, which `texture` was read from, with black pixels of another size in as
/// many levels. Sizes of the chunks around the texture follow.
///
/// # Errors
/// Returns why the texture cannot have that size.
pub fn resized(
    file: &Bytes,
    texture: &Texture,
    (width, height): (u32, u32),
) -> Result<Resized, String> {
    let is_side = |side: u32| (1..=MAX_SIDE).contains(&side);
    if !is_side(width) || !is_side(height) {
        return Err(format!(
            "has {width}x{height} pixels, sides are 1 to {MAX_SIDE}: scale it"
        ));
    }
    let is_usual = width.is_power_of_two() && height.is_power_of_two();
    if !is_usual && matches!(texture.format, Format::Xbox(_)) {
        return Err(format!(
            "has {width}x{height} pixels, sides must be powers of two: scale it"
        ));
    }
    let start = texture.offset as usize;
    let mut patches = Patches::default();
    put(&mut patches, start + SIZE, (width as u16).to_le_bytes());
    put(
        &mut patches,
        start + SIZE + 2,
        (height as u16).to_le_bytes(),
    );
    let (mut old_total, mut total) = (0, 0);
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
                // The length of a level is before it.
                put(&mut patches, place.start - 4, (length as u32).to_le_bytes());
                length
            }
            Format::Xbox(format) => format.size(width, height),
            _ => return Err("shows a texture whose size is fixed".to_owned()),
        };
        old_total += place.len() as i64;
        total += length as i64;
        patches.replace(place, vec![0; length]);
    }
    if matches!(texture.format, Format::Xbox(_)) {
        put(&mut patches, start + TOTAL, (total as u32).to_le_bytes());
    }
    for (place, size) in sizes_around(file, texture.offset)? {
        let size = u32::try_from(i64::from(size) + total - old_total);
        let size = size.map_err(|_| "makes the file larger than 4 GiB".to_owned())?;
        put(&mut patches, place, size.to_le_bytes());
    }
    let file = patches
        .apply(file)
        .ok_or("shows pixels that are not in the file")?;
    let warning = || format!("{width}x{height} pixels: sides are usually powers of two");
    Ok(Resized {
        file,
        warnings: (!is_usual).then(warning).into_iter().collect(),
    })
}

fn put<const N: usize>(patches: &mut Patches, place: usize, bytes: [u8; N]) {
    patches.replace(place..place + N, bytes);
}

/// Returns the sizes of the chunks around the fields of a texture, and their places.
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
