//! Textures in the formats of the platforms (FORMATS, HIP assets 4, GTA 2).
//!
//! The texture itself determines the platform, not the archive: there are GameCube
//! textures in Xbox archives.

mod d3d;
pub mod encode;
pub mod export;
mod gamecube;
mod ps2;
pub mod table;
mod xbox;

pub use d3d::{D3dColors, D3dFormat, D3dPixels, D3dVersion};
pub use gamecube::GxPalette;
pub use ps2::{Ps2Format, Ps2Pixels};

use bytes::Bytes;

use super::{Chunk, Version, kind};
use hpimount_assets::parse::name::until_nul;
use hpimount_assets::parse::pixels;
pub use hpimount_assets::parse::pixels::{Blocks, GxFormat, Level, XboxColors, XboxFormat};
use hpimount_containers::io::{Endian, Error, Result, Warnings};

/// Maximum length of the side of a texture, in pixels.
pub const MAX_SIDE: u32 = 4096;

/// A texture with encoded pixels.
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
    /// Filtering and addressing.
    pub sampling: Sampling,
    /// Alpha flag of the header; `None` on PS2.
    pub has_alpha: Option<bool>,
    /// Number of levels according to the header.
    pub declared_levels: u32,
    /// Total length of all levels in bytes, according to the header.
    pub declared_size: Option<u32>,
    /// The existing levels, the largest first.
    pub levels: Vec<Level>,
    /// Pixel format.
    pub format: Format,
    /// True if decoded pixels are opaque, regardless of the stored alpha.
    pub is_opaque: bool,
    /// Stored colors of the palette; may be empty.
    pub palette: Bytes,
    /// Version of the library that wrote it.
    pub version: Version,
    /// Absolute offset of its fields.
    pub offset: u64,
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
    /// Windows: rows of pixels, or blocks.
    Direct3d(D3dFormat),
}

impl Format {
    /// Returns the name of the platform.
    pub fn platform(self) -> &'static str {
        match self {
            Self::Direct3d(format) => format.version.name(),
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
            Self::Direct3d(format) => format.name(),
        }
    }

    /// Returns the name of the format of the palette, if there is one.
    pub fn palette_name(self) -> Option<&'static str> {
        match self {
            Self::GameCube { palette, .. } => palette.map(GxPalette::name),
            Self::Xbox(format) => format.palette_name(),
            Self::PlayStation2(format) => format.palette_name(),
            Self::Direct3d(format) => format.palette_name(),
        }
    }
}

/// Filtering and addressing of a texture.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Filter: 1 nearest, 2 linear, 3 to 6 with mipmaps.
    pub filter: u8,
    /// Addressing along u: 1 wrap, 2 mirror, 3 clamp, 4 border.
    pub address_u: u8,
    /// Addressing along v.
    pub address_v: u8,
}

impl Sampling {
    pub(super) fn from_word(word: u32) -> Self {
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
    /// Creates a texture without pixels from the start of its header.
    fn new(fields: &Chunk, [name, mask]: [String; 2], sampling: Sampling, format: Format) -> Self {
        Self {
            name,
            mask,
            width: 0,
            height: 0,
            depth: 0,
            raster: 0,
            sampling,
            has_alpha: None,
            declared_levels: 0,
            declared_size: None,
            levels: Vec::new(),
            format,
            is_opaque: false,
            palette: Bytes::new(),
            version: fields.version,
            offset: fields.offset,
        }
    }

    /// Returns the RGBA pixels of a level from the top left to the bottom right, or
    /// `None` if there is no such level.
    ///
    /// They take at most 16 times the memory of their source; for the largest level, at
    /// most 64 MiB.
    pub fn rgba(&self, level: usize) -> Option<Vec<[u8; 4]>> {
        let mut pixels = vec![[0; 4]; self.levels.get(level)?.pixels()];
        self.decode(level, &mut pixels);
        Some(pixels)
    }

    /// Decodes a level into `out`, like [`Texture::rgba`]. If there is no such level or
    /// `out` has the wrong length, writes nothing and returns `false`.
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
                pixels::gx::decode(level, format, &colors, out);
            }
            Format::Xbox(format) => pixels::xbox::decode(level, format, &self.palette, out),
            Format::PlayStation2(format) => ps2::decode(level, format, &self.palette, out),
            Format::Direct3d(format) => d3d::decode(level, format, &self.palette, out),
        }
        if self.is_opaque {
            out.iter_mut().for_each(|pixel| pixel[3] = 255);
        }
        true
    }
}

/// Requirements of a family of games for its textures.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// True if level 0 may lack up to half of its bytes, and wrong numbers of levels,
    /// depths and versions are only warnings.
    pub may_be_cut: bool,
    /// Meaning of a cleared alpha flag on Xbox and Windows.
    pub alpha: AlphaFlag,
}

/// Textures that a cleared alpha flag makes opaque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlphaFlag {
    /// All compressed textures.
    Blocks,
    /// All but those in blocks with separate alpha.
    NotSeparate,
}

impl AlphaFlag {
    fn is_opaque(self, has_alpha: bool, blocks: Option<Blocks>) -> bool {
        !has_alpha
            && match self {
                Self::Blocks => blocks.is_some(),
                Self::NotSeparate => blocks.is_none_or(|blocks| blocks == Blocks::Dxt1),
            }
    }
}

/// Maximum number of levels, which a texture of the maximum size has.
const MAX_LEVELS: u32 = MAX_SIDE.ilog2() + 1;

/// Reads a native texture.
///
/// # Errors
/// Returns [`Error::Damaged`] if the platform or the format is unknown, the
/// size is out of range, the header is truncated, or pixels of level 0 are
/// missing (see [`Rules::may_be_cut`]).
pub fn read(native: &Chunk, rules: Rules, warnings: &mut Warnings) -> Result<Texture> {
    let fields = native.child(kind::STRUCT, "texture")?;
    let platform = fields.cursor(Endian::Little).u32("texture platform")?;
    match platform {
        gamecube::PLATFORM => gamecube::read(&fields, rules, warnings),
        xbox::PLATFORM => xbox::read(&fields, rules, warnings),
        ps2::PLATFORM => ps2::read(native, &fields, rules, warnings),
        d3d::PLATFORM_8 => d3d::read(&fields, D3dVersion::Eight, rules, warnings),
        d3d::PLATFORM_9 => d3d::read(&fields, D3dVersion::Nine, rules, warnings),
        other => {
            let problem = match platform_name(other) {
                Some(name) => format!("is {other:#x} ({name}), which is not decoded"),
                None => format!("is {other:#x}, which is unknown"),
            };
            Err(Error::damaged(fields.offset, "texture platform", problem))
        }
    }
}

/// Returns the name of an unsupported platform.
fn platform_name(platform: u32) -> Option<&'static str> {
    match platform {
        2 => Some("OpenGL"),
        6 => Some("GameCube, in this byte order"),
        10 => Some("PSP"),
        _ => None,
    }
}

/// Returns the name of a native texture, even if it cannot be read.
pub fn name(native: &Chunk) -> Option<String> {
    let mut children = native.children();
    let fields = children.find(|chunk| chunk.kind == kind::STRUCT)?;
    let mut cursor = fields.cursor(Endian::Little);
    let at = match cursor.u32("texture platform").ok()? {
        gamecube::PLATFORM => 24,
        ps2::PLATFORM => return Some(children.find(|chunk| chunk.kind == kind::STRING)?.string()),
        _ => 8,
    };
    Some(until_nul(fields.body.get(at..at + 32)?))
}

/// Checks the number of levels, stored at `offset`.
fn check_levels(offset: u64, levels: u32) -> Result<()> {
    if (1..=MAX_LEVELS).contains(&levels) {
        return Ok(());
    }
    let problem = format!("are {levels}, 1 to {MAX_LEVELS} are possible");
    Err(Error::damaged(offset, "texture levels", problem))
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

/// Takes the contiguous levels. `size` is the length of a level in bytes.
///
/// At least half of level 0 must exist, or all of it (see [`Rules::may_be_cut`]), so
/// that a picture is not much larger than its source. Other levels must be complete.
fn take_levels(
    texture: &mut Texture,
    (data, offset): (&Bytes, u64),
    size: impl Fn(u32, u32) -> usize,
    rules: Rules,
    warnings: &mut Warnings,
) -> Result<()> {
    let side = texture.width.max(texture.height);
    let most = u32::BITS - side.leading_zeros();
    let declared = texture.declared_levels;
    if !rules.may_be_cut {
        check_levels(texture.offset, declared)?;
    }
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
            let least = if rules.may_be_cut { needed / 2 } else { needed };
            if number == 0 && available < least {
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
            pitch: 0,
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
    fn sampling_words_are_decoded() {
        let sampling = Sampling::from_word(0x3306);
        assert_eq!(sampling.filter_name(), Some("linear mip linear"));
        assert_eq!((sampling.address_u, sampling.address_v), (3, 3));
        assert_eq!(Sampling::address_name(4), Some("border"));
        assert_eq!(Sampling::address_name(5), None);
    }
}
