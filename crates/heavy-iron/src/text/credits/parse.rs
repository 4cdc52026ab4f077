//! The sections and lines of credits.

use bytes::Bytes;
use get_size2::GetSize;
use hpimount_record::{self as record, FixedSize, Hex, Record};

use crate::{Facts, Parsed, after_magic, read_into, slice_of, take};
use hpimount_assets::parse::count::fitting;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};
use hpimount_containers::text::windows_1252;

const MAGIC: u32 = 0xBEEE_EEEF;

/// Bytes before the header.
pub const MAGIC_SIZE: usize = 4;

/// State of credits whose texts are enciphered.
const ENCIPHERED: u32 = 3;

/// Size of a preset in bytes.
const PRESET: usize = 76;

/// Offset of the offsets of texts in a line.
const TEXTS_AT: u64 = 16;

/// Maximum length of a text with its NUL in bytes. Lines of credits are much shorter.
pub const MAX_TEXT: usize = 256;

/// The header of credits, after the magic.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct CreditsHeader {
    /// Version of the format.
    #[record(derived)]
    pub version: u32,
    /// The asset's own id.
    pub own_id: Hex<u32>,
    /// 1 for plain texts, 3 for enciphered ones, which are not shown.
    #[record(derived)]
    pub state: u32,
    /// Length of all sections in seconds.
    pub duration: f32,
    /// Size of the asset in bytes.
    #[record(derived)]
    pub size: u32,
}

/// The header of a section of the credits.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct CreditsSection {
    /// Size of the section in bytes.
    #[record(derived)]
    pub size: u32,
    /// Length in seconds.
    pub duration: f32,
    /// Flags.
    pub flags: u32,
    /// Start and end positions of the texts' motion, and their fading.
    pub motion: [f32; 10],
    /// Number of presets, which follow.
    #[record(derived)]
    pub presets: u32,
}

/// The header of a line: one text, or two side by side, which follow.
#[derive(Debug, Clone, Default, PartialEq, GetSize, Record)]
#[record(table = "../../docs/formats/hip-assets.md")]
pub struct CreditsLine {
    /// Size of the line in bytes, with its texts.
    #[record(derived)]
    pub size: u32,
    /// Number of its preset.
    pub preset: u32,
    /// Time of appearance, in seconds from the start of the section.
    pub start: f32,
    /// When it disappears.
    pub end: f32,
    /// Offset of the left text in the asset, or 0.
    #[record(derived)]
    pub left_offset: u32,
    /// The same of the right text.
    #[record(derived)]
    pub right_offset: u32,
}

/// Credits.
#[derive(Debug, GetSize)]
pub struct Credits {
    /// The byte order.
    #[get_size(ignore)]
    pub endian: Endian,
    /// The header.
    pub header: CreditsHeader,
    /// The sections.
    pub sections: Vec<Section>,
    /// Bytes after the last section.
    #[get_size(ignore)]
    pub rest: Bytes,
    /// Warnings.
    pub warnings: Warnings,
}

/// A section of the credits.
#[derive(Debug, Default, GetSize)]
pub struct Section {
    /// Absolute offset.
    pub offset: usize,
    /// The header.
    pub header: CreditsSection,
    /// Presets for the appearance of texts, 76 bytes each.
    #[get_size(ignore)]
    pub presets: Bytes,
    /// The lines.
    pub lines: Vec<Line>,
    /// Bytes after the last line.
    #[get_size(ignore)]
    pub rest: Bytes,
}

/// A line.
#[derive(Debug, Default, Clone, PartialEq, GetSize)]
pub struct Line {
    /// Absolute offset.
    pub offset: usize,
    /// The header.
    pub header: CreditsLine,
    /// The texts in Windows-1252, without the NUL; `None` if missing or enciphered.
    #[get_size(ignore)]
    pub texts: [Option<Bytes>; 2],
}

impl Line {
    /// Returns the texts.
    pub fn shown(&self) -> impl Iterator<Item = String> {
        let texts = self.texts.iter().flatten();
        texts.map(|text| windows_1252(text).into_owned())
    }
}

/// Parses a CRDT asset.
///
/// # Errors
/// Returns [`Incomplete`](hpimount_assets::parse::Incomplete) with the sections so far if
/// the magic is wrong or the size of a section does not fit.
pub fn parse(bytes: &Bytes, facts: &Facts) -> Parsed<Credits> {
    let empty = Credits {
        endian: facts.endian,
        header: CreditsHeader::default(),
        sections: Vec::new(),
        rest: Bytes::new(),
        warnings: Warnings::default(),
    };
    read_into(bytes, empty, |model| read(bytes, facts, model))
}

fn read(bytes: &Bytes, facts: &Facts, model: &mut Credits) -> Result<()> {
    let mut cursor = after_magic(bytes, facts, MAGIC, &mut model.warnings)?;
    model.endian = cursor.endian();
    model.header = record::read(&mut cursor)?;
    let (size, length) = (model.header.size, bytes.len());
    if size as usize != length {
        model.warnings.push(format!(
            "credits size at 0x14: is {size}, the asset has {length} bytes"
        ));
    }
    if model.header.state == ENCIPHERED {
        model
            .warnings
            .push("credits state at 0xc: is 3, the texts are enciphered");
    }
    // A partial section is padding.
    while cursor.remaining() >= CreditsSection::SIZE {
        let index = model.sections.len();
        section(&mut cursor, bytes, model)
            .map_err(|error| error.within(format!("section {index}")))?;
    }
    let left = cursor.remaining();
    model.rest = take(&mut cursor, bytes, left, "credits")?;
    if model.rest.iter().any(|&byte| byte != 0) {
        model
            .warnings
            .push(format!("{} bytes belong to no section", model.rest.len()));
    }
    if model.sections.is_empty() {
        return Err(Error::damaged(
            cursor.offset(),
            "section 0",
            "is cut or missing",
        ));
    }
    Ok(())
}

fn section(cursor: &mut Cursor<'_>, bytes: &Bytes, model: &mut Credits) -> Result<()> {
    let offset = cursor.offset();
    let header: CreditsSection = record::read(&mut cursor.clone())?;
    let (size, least) = (header.size, CreditsSection::SIZE);
    let Some(length) = usize::try_from(size).ok().filter(|&size| size >= least) else {
        let problem = format!("is {size}, less than {least}");
        return Err(Error::damaged(offset, "section size", problem));
    };
    let mut fields = cursor.section(length, "section")?;
    fields.take(least, "section")?;
    let count_at = fields.offset() - 4;
    let presets = fitting(&fields, count_at, header.presets, PRESET, "preset count")?;
    let mut section = Section {
        offset: offset as usize,
        header,
        presets: take(&mut fields, bytes, presets * PRESET, "presets")?,
        ..Section::default()
    };
    let is_plain = model.header.state != ENCIPHERED;
    lines(
        &mut fields,
        bytes,
        is_plain,
        &mut section,
        &mut model.warnings,
    )?;
    let left = fields.remaining();
    section.rest = take(&mut fields, bytes, left, "section")?;
    model.sections.push(section);
    Ok(())
}

fn lines(
    cursor: &mut Cursor<'_>,
    bytes: &Bytes,
    is_plain: bool,
    section: &mut Section,
    warnings: &mut Warnings,
) -> Result<()> {
    while cursor.remaining() >= CreditsLine::SIZE {
        let offset = cursor.offset();
        let header: CreditsLine = record::read(&mut cursor.clone())?;
        let length = usize::try_from(header.size).unwrap_or(usize::MAX);
        let (least, left) = (CreditsLine::SIZE, cursor.remaining());
        if length < least || length > left {
            let size = header.size;
            let text =
                format!("line size at {offset:#x}: is {size}, {least} to {left} are possible");
            warnings.push(text);
            break;
        }
        cursor.section(length, "line")?;
        let mut texts = [None, None];
        let offsets = [header.left_offset, header.right_offset];
        let places = (offset + TEXTS_AT..).step_by(4);
        for ((text, target), stored_at) in texts.iter_mut().zip(offsets).zip(places) {
            if target != 0 && is_plain {
                *text = string(bytes, target, stored_at, warnings);
            }
        }
        section.lines.push(Line {
            offset: offset as usize,
            header,
            texts,
        });
    }
    Ok(())
}

/// Returns the text at `target`, up to its NUL.
fn string(bytes: &Bytes, target: u32, stored_at: u64, warnings: &mut Warnings) -> Option<Bytes> {
    let rest = bytes.get(target as usize..).unwrap_or_default();
    let window = &rest[..rest.len().min(MAX_TEXT)];
    let end = window.iter().position(|&byte| byte == 0);
    if end.is_none() {
        warnings.push(format!(
            "line text at {stored_at:#x}: points to {target:#x}, where no text of up to {MAX_TEXT} bytes is"
        ));
    }
    end.map(|end| slice_of(bytes, &window[..end]))
}
