//! Palettes and textures (FORMATS, PSX 7 and 8).

use std::collections::HashMap;

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Record};

use super::limits::{Budget, counted_list};
use super::{Psx, Version};
use hpimount_assets::parse::count::count;
use hpimount_assets::parse::name;
use hpimount_containers::io::Warnings;
use hpimount_containers::io::{Cursor, Result};

/// Number of textures that announces two more lists before the real number.
const EXTENDED: u32 = 0xFFFF_FFFF;

/// Flag of a texture whose pixels are in a separate PVR file.
const EXTERNAL: u32 = 0x8000_0000;

/// Colors of textures.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Palette {
    /// Offset of the palette in the file.
    pub offset: u64,
    /// Id that textures refer to it by.
    pub id: u32,
    /// 16 or 256 colors: red in bits 0 to 4, green in 5 to 9, blue in 10 to 14, and bit
    /// 15 for blending.
    pub colors: Vec<u16>,
}

impl Palette {
    /// Returns whether a color is the transparent one: magenta, regardless of bit 15.
    pub fn is_transparent(color: u16) -> bool {
        color & 0x7FFF == 0x7C1F
    }
}

/// A texture record.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Texture {
    /// Offset of the record in the file.
    pub offset: u64,
    /// Bit 0: has transparent parts. Bit 31: no pixels follow.
    pub flags: u32,
    /// 16, 256 or 65536.
    pub colors: u32,
    /// Id of the palette, which may be in another file.
    pub palette: u32,
    /// Index of the palette with that id and number of colors, if it is in
    /// this file.
    pub palette_index: Option<usize>,
    /// Index into the texture ids.
    pub index: u32,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// Length of the pixels in bytes, according to the numbers above.
    pub data_size: u64,
    /// The pixels.
    pub data: TextureData,
}

/// Pixels of a texture. At the end of the file, they are truncated with a warning.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub enum TextureData {
    /// Palette indices, row by row from the top; each row has `row_size` bytes. With 4
    /// bits, the left pixel is in the low half.
    Indexed {
        /// Bits of an index: 4 or 8.
        bits: u8,
        /// Length of a row in bytes.
        row_size: usize,
        /// The rows, a slice of the file.
        #[get_size(ignore)]
        rows: Bytes,
    },
    /// 16-bit pixels in the format of the Dreamcast's PVR chip.
    Pvr {
        /// Low byte: pixel format; second byte: arrangement.
        pixel_format: u32,
        /// The pixels as stored, a slice of the file.
        #[get_size(ignore)]
        data: Bytes,
    },
    /// In a separate file, named after the texture's id.
    External,
    /// In an unknown form.
    Unknown,
}

impl TextureData {
    /// Returns the number of bits per pixel, if known.
    pub fn bits(&self) -> Option<u8> {
        match self {
            Self::Indexed { bits, .. } => Some(*bits),
            Self::Pvr { .. } => Some(16),
            Self::External | Self::Unknown => None,
        }
    }

    /// Returns the encoded pixels, if there are any.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Indexed { rows, .. } => rows,
            Self::Pvr { data, .. } => data,
            Self::External | Self::Unknown => &[],
        }
    }
}

/// The 20 bytes before a texture's pixels.
#[derive(Debug, Default, Record)]
#[record(table = "../../docs/formats/psx.md")]
struct TextureHeader {
    /// Bit 0: has transparent parts; bit 31: the pixels are in a PVR file named by the id.
    flags: u32,
    /// Number of colors.
    colors: u32,
    /// Id of the palette.
    palette: u32,
    /// Index into the texture ids.
    index: u32,
    /// Width in pixels.
    width: u16,
    /// Height in pixels.
    height: u16,
}

/// Reads a count and that many palettes of `size` colors.
pub(super) fn read_palettes(
    cursor: &mut Cursor,
    size: usize,
    palettes: &mut Vec<Palette>,
) -> Result<()> {
    for _ in 0..count(cursor, 4 + 2 * size, "palettes")? {
        palettes.push(Palette {
            offset: cursor.offset(),
            id: cursor.u32("palette id")?,
            colors: (0..size)
                .map(|_| cursor.u16("color"))
                .collect::<Result<_>>()?,
        });
    }
    Ok(())
}

/// Reads the table of texture pointers, and the records they point to.
pub(super) fn read_textures(
    psx: &mut Psx,
    cursor: &mut Cursor,
    file: &Bytes,
    budget: &mut Budget,
) -> Result<()> {
    if psx.version == Version::V6 && cursor.clone().u32("ntex")? == EXTENDED {
        cursor.u32("ntex")?;
        psx.texture_refs = Some([read_refs(cursor)?, read_refs(cursor)?]);
    }
    let pointers_at = cursor.offset() + 4;
    let pointers = counted_list(cursor, "ntex")?;
    psx.end = cursor.offset();
    let mut palettes = HashMap::new();
    for (index, palette) in psx.palettes.iter().enumerate() {
        let key = (palette.colors.len(), palette.id);
        palettes.entry(key).or_insert(index);
    }
    for (index, &pointer) in pointers.iter().enumerate() {
        let stored_at = pointers_at + 4 * index as u64;
        let (mut texture, end) = cursor
            .follow(pointer.into(), stored_at, "pointer")
            .and_then(|mut cursor| Texture::read(&mut cursor, file, &mut psx.warnings))
            .and_then(|(texture, end)| {
                let length = psx.file_size.min(end) - texture.offset;
                budget.spend(length.max(Budget::RECORD), stored_at, "pointer")?;
                Ok((texture, end))
            })
            .map_err(|error| error.within(format_args!("texture {index}")))?;
        let key = (texture.colors as usize, texture.palette);
        texture.palette_index = palettes.get(&key).copied();
        psx.end = psx.end.max(end);
        psx.textures.push(texture);
    }
    Ok(())
}

/// Reads a list of names of a version 6 file.
fn read_refs(cursor: &mut Cursor) -> Result<Vec<String>> {
    const NAME_SIZE: usize = 32;
    (0..count(cursor, NAME_SIZE + 4, "texture references")?)
        .map(|_| {
            let name = cursor.take(NAME_SIZE, "texture reference")?;
            cursor.u32("texture reference's flag")?;
            Ok(name::until_nul(name))
        })
        .collect()
}

impl Texture {
    /// Returns whether the palette is in this file, or `None` if the texture needs
    /// none.
    pub fn palette_found(&self) -> Option<bool> {
        matches!(self.data, TextureData::Indexed { .. }).then_some(self.palette_index.is_some())
    }

    /// Returns a copy of the texture with its own pixels, so that the file is not kept
    /// in memory.
    pub fn detached(mut self) -> Self {
        if let TextureData::Indexed { rows: pixels, .. } | TextureData::Pvr { data: pixels, .. } =
            &mut self.data
        {
            *pixels = Bytes::copy_from_slice(pixels);
        }
        self
    }

    /// Reads a record and its pixels. Returns the end according to the record.
    fn read(cursor: &mut Cursor, file: &Bytes, warnings: &mut Warnings) -> Result<(Self, u64)> {
        let offset = cursor.offset();
        let mut header = cursor.section(TextureHeader::SIZE, "record")?;
        let TextureHeader {
            flags,
            colors,
            palette,
            index,
            width,
            height,
        } = record::read(&mut header)?;
        let (data, data_size) = if flags & EXTERNAL != 0 {
            (TextureData::External, 0)
        } else {
            match colors {
                16 => {
                    let row_size = usize::from(width).next_multiple_of(4) / 2;
                    indexed(cursor, file, 4, row_size, height)
                }
                256 => {
                    let row_size = usize::from(width).next_multiple_of(2);
                    indexed(cursor, file, 8, row_size, height)
                }
                65536 => pvr(cursor, file)?,
                _ => {
                    warnings.push(format!(
                        "texture at {offset:#x} has {colors} colors, which is unknown"
                    ));
                    (TextureData::Unknown, 0)
                }
            }
        };
        let needed = match &data {
            TextureData::Indexed { row_size, .. } => *row_size as u64 * u64::from(height),
            _ => data_size,
        };
        let present = data.bytes().len();
        if needed > present as u64 {
            warnings.push(format!("texture at {offset:#x} overruns file"));
        }
        let end = cursor.offset() - present as u64 + data_size;
        let texture = Self {
            offset,
            flags,
            colors,
            palette,
            palette_index: None,
            index,
            width,
            height,
            data_size,
            data,
        };
        Ok((texture, end))
    }
}

/// Takes the existing rows of indices. They are padded to a multiple of 4 bytes, which
/// the last texture of a file may lack.
fn indexed(
    cursor: &mut Cursor,
    file: &Bytes,
    bits: u8,
    row_size: usize,
    height: u16,
) -> (TextureData, u64) {
    let length = row_size * usize::from(height);
    let data = TextureData::Indexed {
        bits,
        row_size,
        rows: take_present(cursor, file, length),
    };
    (data, length.next_multiple_of(4) as u64)
}

/// Takes the data of a PVR texture after its record.
fn pvr(cursor: &mut Cursor, file: &Bytes) -> Result<(TextureData, u64)> {
    let pixel_format = cursor.u32("pixel format")?;
    let size = cursor.u32("size")?;
    let data = TextureData::Pvr {
        pixel_format,
        data: take_present(cursor, file, size as usize),
    };
    Ok((data, size.into()))
}

/// Takes `length` bytes, or the existing ones.
fn take_present(cursor: &mut Cursor, file: &Bytes, length: usize) -> Bytes {
    let present = length.min(cursor.remaining());
    let taken = cursor.take(present, "pixels");
    taken.map_or_else(|_| Bytes::new(), |bytes| file.slice_ref(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use fixtures::psx::{File, texture, words};

    /// Returns a file with these textures. Its palette 0xAA has 16 colors.
    fn library(textures: &[Vec<u8>]) -> File {
        File {
            texture_ids: vec![1],
            palettes: vec![0xAA],
            textures: textures.to_vec(),
            ..File::new(4)
        }
    }

    fn read(textures: &[Vec<u8>]) -> Psx {
        parse(&library(textures).bytes().into()).unwrap()
    }

    #[test]
    fn rows_are_padded_to_whole_words_and_records_to_double_ones() {
        let four = texture([0, 16, 0xAA, 0], [5, 3], &[0x21; 12]);
        let eight = texture([0, 256, 0xAA, 0], [3, 5], &[7; 20]);
        let psx = read(&[four, eight]);
        let row_size = |index: usize| match &psx.textures[index].data {
            TextureData::Indexed { row_size, rows, .. } => (*row_size, rows.len()),
            other => panic!("{other:?}"),
        };
        assert_eq!((row_size(0), psx.textures[0].data_size), ((4, 12), 12));
        assert_eq!((row_size(1), psx.textures[1].data_size), ((4, 20), 20));
        assert_eq!(psx.textures[0].palette_index, Some(0));
        assert_eq!(
            psx.textures[1].palette_found(),
            Some(false),
            "it has 16 colors"
        );
    }

    #[test]
    fn the_last_texture_may_lack_its_padding_but_no_pixels() {
        let odd = |pixels: &[u8]| read(&[texture([0, 16, 0xAA, 0], [4, 1], pixels)]);
        assert!(odd(&[1, 2]).warnings.is_empty());
        let short = odd(&[1]);
        let offset = short.textures[0].offset;
        assert_eq!(
            short.warnings.texts(),
            [format!("texture at {offset:#x} overruns file")]
        );
        assert!(
            matches!(&short.textures[0].data, TextureData::Indexed { rows, .. } if rows[..] == [1])
        );
    }

    #[test]
    fn pvr_data_are_kept_as_stored() {
        let pixels = [words(&[0x0901, 4]), vec![1, 2, 3, 4]].concat();
        let psx = read(&[texture([0, 65536, 0, 0], [2, 1], &pixels)]);
        let expected = TextureData::Pvr {
            pixel_format: 0x0901,
            data: vec![1, 2, 3, 4].into(),
        };
        assert_eq!(psx.textures[0].data, expected);
        assert_eq!(psx.textures[0].palette_found(), None);
        assert!(psx.warnings.is_empty());
    }

    #[test]
    fn a_texture_without_known_pixels_is_listed() {
        let external = texture([EXTERNAL, 16, 0xBB, 0], [64, 64], &[]);
        let strange = texture([0, 17, 0xBB, 0], [64, 64], &[]);
        let psx = read(&[external, strange]);
        assert_eq!(psx.textures[0].data, TextureData::External);
        assert_eq!(psx.textures[1].data, TextureData::Unknown);
        let warnings = psx.warnings.texts();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("has 17 colors"), "{warnings:?}");
    }

    #[test]
    fn version_6_may_have_two_lists_of_names_before_its_textures() {
        let mut file = library(&[]);
        file.version = 6;
        let mut bytes = file.bytes();
        bytes.truncate(bytes.len() - 4);
        bytes.extend(words(&[EXTENDED]));
        for name in ["detail1", "cube_sky"] {
            let mut field = name.as_bytes().to_vec();
            field.resize(32, 0);
            bytes.extend([words(&[1]), field, words(&[1])].concat());
        }
        bytes.extend(words(&[0]));
        let refs = parse(&bytes.clone().into()).unwrap().texture_refs.unwrap();
        assert_eq!(refs, [["detail1"], ["cube_sky"]]);
        bytes[0] = 4;
        assert!(parse(&bytes.into()).is_err());
    }

    #[test]
    fn magenta_is_transparent_with_and_without_its_top_bit() {
        assert!(Palette::is_transparent(0x7C1F));
        assert!(Palette::is_transparent(0xFC1F));
        assert!(!Palette::is_transparent(0x7C1E));
    }
}
