//! Textures: RWTX and TEXS, which are RenderWare texture dictionaries
//! (FORMATS, HIP assets 4).
//!
//! The platform comes from the stored texture and not from the archive: there
//! are GameCube textures in Xbox archives.

mod color;
mod dxt;
mod gamecube;
mod gx;
mod ps2;
mod swizzle;
mod xbox;

pub use dxt::Blocks;
pub use gamecube::GxPalette;
pub use gx::GxFormat;
pub use ps2::Ps2Format;
pub use xbox::{XboxColors, XboxFormat};

use bytes::Bytes;

use crate::heavy_iron::{Parsed, read_into};
use crate::renderware::{Chunk, Chunks, Version, kind};
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// Maximum length of the side of a texture, in pixels.
pub const MAX_SIDE: u32 = 4096;

/// A texture dictionary.
#[derive(Debug, Default)]
pub struct Textures {
    /// Number of textures according to the dictionary.
    pub declared: Option<u16>,
    /// The textures, in the order of the file; assets of the games have one.
    pub textures: Vec<Texture>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A texture. Its pixels are kept as stored.
#[derive(Debug, Clone)]
pub struct Texture {
    /// Name of the raster; often empty or different from the asset's.
    pub name: String,
    /// Name of the mask; usually empty.
    pub mask: String,
    /// Width of level 0 in pixels, 1 to [`MAX_SIDE`].
    pub width: u32,
    /// Height of level 0 in pixels, 1 to [`MAX_SIDE`].
    pub height: u32,
    /// Bits per pixel, according to the header.
    pub depth: u32,
    /// RenderWare's flags of the raster.
    pub raster: u32,
    /// How the texture is sampled.
    pub sampling: Sampling,
    /// Whether there is alpha, according to the header; `None` on PS2.
    pub has_alpha: Option<bool>,
    /// Number of levels according to the header.
    pub declared_levels: u32,
    /// Length of all levels in bytes, according to the header.
    pub declared_size: Option<u32>,
    /// The existing levels, the largest first. A PS2 texture has one.
    pub levels: Vec<Level>,
    /// How the pixels are stored.
    pub format: Format,
    /// Stored colors of the palette; empty if there is none.
    pub palette: Bytes,
    /// Version of the library that wrote it.
    pub version: Version,
    /// Absolute offset of its fields.
    pub offset: u64,
}

/// A level of a texture: the picture, or a smaller copy of it.
#[derive(Debug, Clone)]
pub struct Level {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The stored pixels. Missing ones at the end are zeros.
    pub data: Bytes,
}

impl Level {
    /// Returns the number of pixels.
    pub fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// The format of the pixels of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// GameCube: tiles.
    GameCube {
        /// The format of the pixels.
        format: GxFormat,
        /// The format of the palette, if there is one.
        palette: Option<GxPalette>,
    },
    /// Xbox: swizzled pixels, or blocks.
    Xbox(XboxFormat),
    /// PlayStation 2.
    PlayStation2(Ps2Format),
}

impl Format {
    /// Returns the name of the console.
    pub fn platform(self) -> &'static str {
        match self {
            Self::GameCube { .. } => "gc",
            Self::Xbox(_) => "xbox",
            Self::PlayStation2(_) => "ps2",
        }
    }

    /// Returns the name of the format of the pixels.
    pub fn name(self) -> &'static str {
        match self {
            Self::GameCube { format, .. } => format.name(),
            Self::Xbox(format) => format.name(),
            Self::PlayStation2(format) => format.name(),
        }
    }

    /// Returns the name of the format of the palette, if there is one.
    pub fn palette_name(self) -> Option<&'static str> {
        match self {
            Self::GameCube { palette, .. } => palette.map(GxPalette::name),
            Self::Xbox(format) => format.palette_name(),
            Self::PlayStation2(format) => format.palette_name(),
        }
    }
}

/// How a texture is sampled: filter and addressing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Filter: 1 nearest, 2 linear, 3 to 6 with levels.
    pub filter: u8,
    /// Addressing along u: 1 wrap, 2 mirror, 3 clamp, 4 border.
    pub address_u: u8,
    /// Addressing along v.
    pub address_v: u8,
}

impl Sampling {
    fn from_word(word: u32) -> Self {
        Self {
            filter: word as u8,
            address_u: (word >> 8 & 15) as u8,
            address_v: (word >> 12 & 15) as u8,
        }
    }

    /// Returns the name of the filter.
    pub fn filter_name(self) -> Option<&'static str> {
        const NAMES: [&str; 7] = [
            "none",
            "nearest",
            "linear",
            "mip nearest",
            "mip linear",
            "linear mip nearest",
            "linear mip linear",
        ];
        NAMES.get(usize::from(self.filter)).copied()
    }

    /// Returns the name of an addressing mode.
    pub fn address_name(address: u8) -> Option<&'static str> {
        const NAMES: [&str; 5] = ["none", "wrap", "mirror", "clamp", "border"];
        NAMES.get(usize::from(address)).copied()
    }
}

impl Texture {
    /// Returns the pixels of a level, red, green, blue and alpha, from the top
    /// left to the bottom right. `None` if there is no such level.
    ///
    /// They take at most 16 times the bytes of their source, and for the
    /// largest level 64 MiB.
    pub fn rgba(&self, level: usize) -> Option<Vec<[u8; 4]>> {
        let mut pixels = vec![[0; 4]; self.levels.get(level)?.pixels()];
        self.decode(level, &mut pixels);
        Some(pixels)
    }

    /// Decodes a level into `out`, like [`Texture::rgba`]. Writes nothing
    /// and returns `false` if there is no such level or `out` does not have its
    /// number of pixels.
    pub fn decode(&self, level: usize, out: &mut [[u8; 4]]) -> bool {
        let Some(level) = self.levels.get(level) else {
            return false;
        };
        if out.len() != level.pixels() {
            return false;
        }
        match self.format {
            Format::GameCube { format, palette } => {
                let colors = palette.map_or_else(Vec::new, |p| p.colors(&self.palette));
                gx::decode(level, format, &colors, out);
            }
            Format::Xbox(format) => {
                xbox::decode(level, format, &self.palette, out);
                if format.is_blocks() && self.has_alpha == Some(false) {
                    out.iter_mut().for_each(|pixel| pixel[3] = 255);
                }
            }
            Format::PlayStation2(format) => ps2::decode(level, format, &self.palette, out),
        }
        true
    }
}

/// Parses an RWTX or TEXS asset.
///
/// # Errors
/// Returns [`Incomplete`](crate::parse::Incomplete) with the textures so far if
/// the structure is broken: no texture, a truncated header, an unknown
/// format, a size out of range, or fewer than half of the pixels of level 0.
pub fn parse(bytes: &Bytes) -> Parsed<Textures> {
    read_into(bytes, Textures::default(), |model| dictionary(bytes, model))
}

fn dictionary(bytes: &Bytes, model: &mut Textures) -> Result<()> {
    let mut chunks = Chunks::new(bytes.clone(), 0);
    for chunk in chunks.by_ref() {
        match chunk.kind {
            kind::TEXTURE_DICTIONARY => entries(&chunk, model)?,
            kind::TEXTURE_NATIVE => texture(&chunk, model)?,
            other => {
                return Err(Error::damaged(
                    chunk.offset - 12,
                    "texture dictionary",
                    format!("is a chunk of type {other:#x}"),
                ));
            }
        }
    }
    if chunks.left() == bytes.len() {
        return Err(Error::damaged(
            0,
            "texture dictionary",
            format!("needs 12 bytes, {} are left", bytes.len()),
        ));
    }
    Ok(())
}

fn entries(dictionary: &Chunk, model: &mut Textures) -> Result<()> {
    if dictionary.is_cut() {
        model.warnings.push(format!(
            "texture dictionary at {:#x}: needs {} bytes, {} are left",
            dictionary.offset,
            dictionary.declared_size,
            dictionary.body.len()
        ));
    }
    for chunk in dictionary.children() {
        match chunk.kind {
            kind::STRUCT => {
                chunk.check_whole("texture dictionary")?;
                model.declared = Some(chunk.cursor(Endian::Little).u16("texture count")?);
            }
            kind::TEXTURE_NATIVE => texture(&chunk, model)?,
            _ => {}
        }
    }
    let found = model.textures.len();
    if let Some(declared) = model.declared.filter(|&count| usize::from(count) != found) {
        model.warnings.push(format!(
            "texture count at {:#x}: is {declared}, found {found}",
            dictionary.offset + 12
        ));
    }
    Ok(())
}

fn texture(native: &Chunk, model: &mut Textures) -> Result<()> {
    let number = model.textures.len();
    let fields = native.child(kind::STRUCT, "texture")?;
    let mut cursor = fields.cursor(Endian::Little);
    let warnings = &mut model.warnings;
    let texture = match cursor.u32("texture platform")? {
        gamecube::PLATFORM => gamecube::read(&fields, warnings),
        xbox::PLATFORM => xbox::read(&fields, warnings),
        ps2::PLATFORM => ps2::read(native, &fields, warnings),
        other => Err(Error::damaged(
            fields.offset,
            "texture platform",
            format!("is {other:#x}, which is unknown"),
        )),
    };
    let texture = texture.map_err(|error| error.within(format!("texture {number}")))?;
    model.textures.push(texture);
    Ok(())
}

/// Checks the size of a texture, stored at `offset`.
fn check_size(offset: u64, width: u32, height: u32) -> Result<()> {
    let is_side = |side| (1..=MAX_SIDE).contains(&side);
    if is_side(width) && is_side(height) {
        return Ok(());
    }
    Err(Error::damaged(
        offset,
        "texture size",
        format!("is {width} by {height} pixels, sides are 1 to {MAX_SIDE}"),
    ))
}

/// Takes the levels, which are stored back to back. `size` is the length of a
/// level in bytes.
///
/// At least half of level 0 must exist, so that a picture is not much larger
/// than its source; other levels must be complete.
fn take_levels(
    texture: &mut Texture,
    data: &Bytes,
    offset: u64,
    size: impl Fn(u32, u32) -> usize,
    warnings: &mut Warnings,
) -> Result<()> {
    let side = texture.width.max(texture.height);
    let most = u32::BITS - side.leading_zeros();
    let declared = texture.declared_levels;
    if !(1..=most).contains(&declared) {
        warnings.push(format!(
            "texture levels at {:#x}: are {declared}, 1 to {most} are possible",
            texture.offset
        ));
    }
    let mut start = 0;
    for number in 0..declared.clamp(1, most) {
        let width = (texture.width >> number).max(1);
        let height = (texture.height >> number).max(1);
        let needed = size(width, height);
        let available = data.len().saturating_sub(start).min(needed);
        if available < needed {
            let text = format!("needs {needed} bytes, {available} are left");
            let at = offset + start as u64;
            if number == 0 && available.saturating_mul(2) < needed {
                return Err(Error::damaged(at, "level 0", text));
            }
            warnings.push(format!("level {number} at {at:#x}: {text}"));
            if number > 0 {
                break;
            }
        }
        let data = data.slice(start..start + available);
        texture.levels.push(Level {
            width,
            height,
            data,
        });
        start += available;
    }
    let Some(total) = texture.declared_size else {
        return Ok(());
    };
    let taken: usize = texture.levels.iter().map(|level| level.data.len()).sum();
    if total as usize != taken {
        warnings.push(format!(
            "size of all levels at {:#x}: is {total}, they take {taken} bytes",
            texture.offset
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_asset_has_no_textures() {
        let model = parse(&Bytes::new()).unwrap();
        assert!(model.textures.is_empty() && model.warnings.is_empty());
    }

    #[test]
    fn other_chunks_are_an_error() {
        let error = |bytes: &'static [u8]| parse(&bytes.into()).unwrap_err().error.to_string();
        assert_eq!(
            error(b"\x16\0\0\0\0\0\0\0"),
            "texture dictionary at 0x0: needs 12 bytes, 8 are left"
        );
        assert_eq!(
            error(b"\x10\0\0\0\0\0\0\0\0\0\0\0"),
            "texture dictionary at 0x0: is a chunk of type 0x10"
        );
    }

    #[test]
    fn sampling_words_are_decoded() {
        let sampling = Sampling::from_word(0x3306);
        assert_eq!(sampling.filter_name(), Some("linear mip linear"));
        assert_eq!((sampling.address_u, sampling.address_v), (3, 3));
        assert_eq!(Sampling::address_name(4), Some("border"));
        assert_eq!(Sampling::address_name(5), None);
    }
}
