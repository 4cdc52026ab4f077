//! The texture set (FORMATS, HGO 2).

use bytes::Bytes;
use get_size2::GetSize;

use super::{BlockKind, Hgo, block};
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Error, Result};

/// A texture with encoded pixels.
#[derive(Debug, GetSize)]
pub struct Texture {
    /// Number of the format as stored.
    pub code: i32,
    /// Pixel format.
    pub format: TextureFormat,
    /// Width in pixels.
    pub width: i32,
    /// Height in pixels.
    pub height: i32,
    /// Number of mipmaps, for formats that store it; only the pixels of the
    /// largest level follow.
    pub mipmaps: Option<i32>,
    /// Absolute offset of the pixels.
    pub offset: u64,
    /// The pixels, a slice of the file.
    #[get_size(ignore)]
    pub data: Bytes,
    /// The palette of [`TextureFormat::Pal4`] and [`TextureFormat::Pal8`], a
    /// slice of the file.
    #[get_size(ignore)]
    pub palette: Bytes,
}

/// The format of the pixels of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum TextureFormat {
    /// 16 bits per pixel.
    Rgb16,
    /// 16 bits per pixel, with alpha.
    Rgba16,
    /// 24 bits per pixel.
    Rgb24,
    /// 32 bits per pixel.
    Rgba32,
    /// 4 bits per pixel, and a palette of 16.
    Pal4,
    /// 8 bits per pixel, and a palette of 256.
    Pal8,
    /// GameCube: blocks of 4 by 4 pixels as in DXT1, four to a tile.
    Cmpr,
    /// GameCube: 16 bits per pixel, tiles of 4 by 4.
    Rgb5a3,
    /// GameCube: 32 bits per pixel, tiles of 4 by 4.
    Rgba8,
    /// Any other number.
    Unknown,
}

/// Bit of the format's number that indicates a length field.
const HAS_LENGTH: i32 = 0x80;

impl TextureFormat {
    fn from_code(code: i32) -> Self {
        match code {
            0 => Self::Rgb16,
            1 => Self::Rgba16,
            2 => Self::Rgb24,
            3 => Self::Rgba32,
            4 => Self::Pal4,
            5 => Self::Pal8,
            0x80 => Self::Cmpr,
            0x81 => Self::Rgb5a3,
            0x82 => Self::Rgba8,
            _ => Self::Unknown,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rgb16 => "RGB16",
            Self::Rgba16 => "RGBA16",
            Self::Rgb24 => "RGB24",
            Self::Rgba32 => "RGBA32",
            Self::Pal4 => "PAL4",
            Self::Pal8 => "PAL8",
            Self::Cmpr => "CMPR",
            Self::Rgb5a3 => "RGB5A3",
            Self::Rgba8 => "RGBA8",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the length of the palette in bytes.
    fn palette_size(self) -> usize {
        match self {
            Self::Pal4 => 16 * 4,
            Self::Pal8 => 256 * 4,
            _ => 0,
        }
    }

    /// Returns the size of a picture in bytes. `None` if it is unknown or
    /// invalid.
    fn data_size(self, width: i32, height: i32) -> Option<u64> {
        let (tile, bits) = match self {
            Self::Rgb16 | Self::Rgba16 => (1, 16),
            Self::Rgb24 => (1, 24),
            Self::Rgba32 => (1, 32),
            Self::Pal4 => (1, 4),
            Self::Pal8 => (1, 8),
            Self::Cmpr => (8, 4),
            Self::Rgb5a3 => (4, 16),
            Self::Rgba8 => (4, 32),
            Self::Unknown => return None,
        };
        let tiled = |length: i32| Some(u64::try_from(length).ok()?.next_multiple_of(tile));
        let pixels = tiled(width)?.checked_mul(tiled(height)?)?;
        Some(pixels.checked_mul(bits)? / 8)
    }
}

/// Reads a `TST0` block. A second one replaces the first.
pub(super) fn read_set(cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<()> {
    hgo.textures.clear();
    hgo.texture_count = None;
    block::read_blocks(cursor, hgo, 2, read_block)?;
    let found = hgo.textures.len();
    let declared = hgo.texture_count;
    if let Some(declared) = declared.filter(|&count| usize::try_from(count) != Ok(found)) {
        hgo.warnings.push(format!(
            "block TSH0: declares {declared} textures, found {found}"
        ));
    }
    Ok(())
}

fn read_block(kind: BlockKind, cursor: &mut Cursor<'_>, hgo: &mut Hgo) -> Result<bool> {
    match kind {
        BlockKind::TextureCount => hgo.texture_count = Some(cursor.i32("texture count")?),
        BlockKind::Texture => {
            let index = hgo.textures.len();
            let texture = read_texture(cursor, index, &hgo.file, &mut hgo.warnings)?;
            hgo.textures.push(texture);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn read_texture(
    cursor: &mut Cursor<'_>,
    index: usize,
    file: &Bytes,
    warnings: &mut Warnings,
) -> Result<Texture> {
    let at = cursor.offset();
    let code = cursor.i32("texture type")?;
    let width = cursor.i32("texture width")?;
    let height = cursor.i32("texture height")?;
    let count = cursor.i32("texture length")?;
    let format = TextureFormat::from_code(code);
    let expected = format.data_size(width, height);
    let (length, mipmaps) = if code & HAS_LENGTH != 0 {
        (u64::from(count as u32), None)
    } else if format == TextureFormat::Unknown {
        (0, Some(count))
    } else {
        let length = expected.ok_or_else(|| {
            Error::damaged(
                at,
                format!("texture {index}"),
                format!("cannot be {width} by {height} pixels"),
            )
        })?;
        (length, Some(count))
    };
    if format == TextureFormat::Unknown {
        warnings.push(format!(
            "texture {index} at {at:#x}: type {code} is unknown"
        ));
    } else if let Some(expected) = expected.filter(|&expected| length < expected) {
        warnings.push(format!(
            "texture {index} at {at:#x}: has {length} bytes, {width} by {height} pixels take {expected}"
        ));
    }
    let offset = cursor.offset();
    let data = cursor.take(
        usize::try_from(length).unwrap_or(usize::MAX),
        "texture data",
    )?;
    let palette = cursor.take(format.palette_size(), "texture palette")?;
    Ok(Texture {
        code,
        format,
        width,
        height,
        mipmaps,
        offset,
        data: file.slice_ref(data),
        palette: file.slice_ref(palette),
    })
}

#[cfg(test)]
mod tests {
    use crate::hgo::parse::parse;
    use fixtures::hgo::Build;
    use hpimount_containers::io::Endian;

    fn set(textures: &[Vec<u8>], declared: i32) -> Vec<u8> {
        let build = Build::new(Endian::Big);
        let count = build.block(b"TSH0", &build.i32s(&[declared]));
        let body = [&[count], textures].concat().concat();
        build.root(&[build.block(b"TST0", &body)])
    }

    fn texture(numbers: [i32; 4], data: usize) -> Vec<u8> {
        let build = Build::new(Endian::Big);
        let mut body = build.i32s(&numbers);
        body.extend(vec![7; data]);
        build.block(b"TXM0", &body)
    }

    #[test]
    fn pixels_and_palettes_are_kept() {
        let textures = [
            texture([0x80, 8, 8, 32], 32),
            texture([5, 4, 2, 3], 8 + 1024),
            texture([4, 4, 4, 0], 8 + 64),
        ];
        let hgo = parse(&set(&textures, 3).into()).unwrap();
        assert!(hgo.warnings.is_empty(), "{:?}", hgo.warnings);
        let kept: Vec<_> = hgo
            .textures
            .iter()
            .map(|t| (t.format.name(), t.data.len(), t.palette.len(), t.mipmaps))
            .collect();
        assert_eq!(
            kept,
            [
                ("CMPR", 32, 0, None),
                ("PAL8", 8, 1024, Some(3)),
                ("PAL4", 8, 64, Some(0)),
            ]
        );
    }

    #[test]
    fn odd_textures_are_warnings() {
        let textures = [texture([0x81, 5, 4, 32], 32), texture([9, 4, 4, 0], 0)];
        let hgo = parse(&set(&textures, 5).into()).unwrap();
        assert_eq!(
            hgo.warnings.texts(),
            [
                "texture 0 at 0x24: has 32 bytes, 5 by 4 pixels take 64",
                "texture 1 at 0x5c: type 9 is unknown",
                "block TSH0: declares 5 textures, found 2",
            ]
        );
    }

    #[test]
    fn impossible_sizes_are_errors_and_allocate_nothing() {
        let error = |numbers| {
            let incomplete = parse(&set(&[texture(numbers, 8)], 1).into()).unwrap_err();
            incomplete.error.to_string()
        };
        assert_eq!(
            error([3, 0x4000, 0x8000, 0]),
            "texture data at 0x34: needs 2147483648 bytes, 8 are left"
        );
        assert_eq!(
            error([3, i32::MAX, i32::MAX, 0]),
            "texture 0 at 0x24: cannot be 2147483647 by 2147483647 pixels"
        );
        assert_eq!(
            error([3, -1, 4, 0]),
            "texture 0 at 0x24: cannot be -1 by 4 pixels"
        );
        assert_eq!(
            error([0x80, 4, 4, -1]),
            "texture data at 0x34: needs 4294967295 bytes, 8 are left"
        );
    }
}
