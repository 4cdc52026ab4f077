//! Credits: CRDT, sections of timed lines (FORMATS, HIP assets 3).

use bytes::Bytes;
use get_size2::GetSize;

use crate::{Facts, Parsed, after_magic, floats, read_into, slice_of, take};
use hpimount_assets::parse::count::fitting;
use hpimount_containers::io::{Cursor, Error, Result, Warnings};
use hpimount_containers::text::windows_1252;

const MAGIC: u32 = 0xBEEE_EEEF;

/// State of credits whose texts are enciphered.
const ENCIPHERED: u32 = 3;

/// Sizes of a section before its presets, of a preset, and of a line before its texts,
/// in bytes.
const SECTION: usize = 56;
const PRESET: usize = 76;
const LINE: usize = 24;

/// Maximum length of a text in bytes. Lines of credits are much shorter.
const MAX_TEXT: usize = 256;

/// Credits.
#[derive(Debug, Default, GetSize)]
pub struct Credits {
    /// Version of the format.
    pub version: u32,
    /// The asset's own id.
    pub id: u32,
    /// 1 for plain texts, 3 for encrypted ones, which are not shown.
    pub state: u32,
    /// Length of all sections in seconds.
    pub duration: f32,
    /// The sections.
    pub sections: Vec<Section>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A section of the credits.
#[derive(Debug, Default, GetSize)]
pub struct Section {
    /// Absolute offset.
    pub offset: u64,
    /// Length in seconds.
    pub duration: f32,
    /// Flags.
    pub flags: u32,
    /// Start and end positions of the texts' motion, and their fading.
    pub motion: [f32; 10],
    /// Presets for the appearance of texts, 76 bytes each.
    #[get_size(ignore)]
    pub presets: Bytes,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line: one text, or two side by side.
#[derive(Debug, Default, GetSize)]
pub struct Line {
    /// Number of its preset.
    pub preset: u32,
    /// Time of appearance, in seconds from the start of the section.
    pub start: f32,
    /// When it disappears.
    pub end: f32,
    /// The texts in Windows-1252, without the NUL; `None` if missing or encrypted.
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
    read_into(bytes, Credits::default(), |model| read(bytes, facts, model))
}

fn read(bytes: &Bytes, facts: &Facts, model: &mut Credits) -> Result<()> {
    let mut cursor = after_magic(bytes, facts, MAGIC, &mut model.warnings)?;
    model.version = cursor.u32("credits version")?;
    model.id = cursor.u32("asset id")?;
    model.state = cursor.u32("credits state")?;
    model.duration = cursor.f32("credits duration")?;
    let size = cursor.u32("credits size")?;
    if size as usize != bytes.len() {
        let length = bytes.len();
        model.warnings.push(format!(
            "credits size at 0x14: is {size}, the asset has {length} bytes"
        ));
    }
    if model.state == ENCIPHERED {
        model
            .warnings
            .push("credits state at 0xc: is 3, the texts are enciphered");
    }
    // A partial section is padding.
    while cursor.remaining() >= SECTION {
        let index = model.sections.len();
        section(&mut cursor, bytes, model)
            .map_err(|error| error.within(format!("section {index}")))?;
    }
    let left = cursor.take(cursor.remaining(), "credits")?;
    if left.iter().any(|&byte| byte != 0) {
        model
            .warnings
            .push(format!("{} bytes belong to no section", left.len()));
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
    let size = cursor.clone().u32("section size")?;
    let Some(length) = usize::try_from(size).ok().filter(|&size| size >= SECTION) else {
        let problem = format!("is {size}, less than {SECTION}");
        return Err(Error::damaged(offset, "section size", problem));
    };
    let mut fields = cursor.section(length, "section")?;
    fields.u32("section size")?;
    let mut section = Section {
        offset,
        duration: fields.f32("section duration")?,
        flags: fields.u32("section flags")?,
        motion: floats(&mut fields, "section motion")?,
        ..Section::default()
    };
    let count_at = fields.offset();
    let presets = fields.u32("preset count")?;
    let presets = fitting(&fields, count_at, presets, PRESET, "preset count")?;
    section.presets = take(&mut fields, bytes, presets * PRESET, "presets")?;
    let is_plain = model.state != ENCIPHERED;
    lines(
        &mut fields,
        bytes,
        is_plain,
        &mut section,
        &mut model.warnings,
    )?;
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
    while cursor.remaining() >= LINE {
        let offset = cursor.offset();
        let size = cursor.clone().u32("line size")?;
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        if length < LINE || length > cursor.remaining() {
            let left = cursor.remaining();
            let text =
                format!("line size at {offset:#x}: is {size}, {LINE} to {left} are possible");
            warnings.push(text);
            break;
        }
        let mut fields = cursor.section(length, "line")?;
        fields.u32("line size")?;
        let mut line = Line {
            preset: fields.u32("line preset")?,
            start: fields.f32("line start")?,
            end: fields.f32("line end")?,
            texts: [None, None],
        };
        for text in &mut line.texts {
            let stored_at = fields.offset();
            let target = fields.u32("line text")?;
            if target != 0 && is_plain {
                *text = string(bytes, target, stored_at, warnings);
            }
        }
        section.lines.push(line);
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
