//! GXT: texts of the games (FORMATS, GTA 4).

use bytes::Bytes;
use get_size2::GetSize;

use super::characters;
use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Extensions of files with texts.
pub const EXTENSIONS: &[&str] = &["gxt"];

/// Maximum number of tables of a file, ten times as many as the games' files have.
const MAX_TABLES: usize = 4096;

/// Maximum length of all shown texts, as a multiple of the file. Keys of a damaged file
/// may share a text.
const MAX_SHOWN: usize = 4;

/// The texts of a file.
#[derive(Debug, Default, GetSize)]
pub struct Gxt {
    /// The game that the layout is of.
    pub layout: Layout,
    /// The tables.
    pub tables: Vec<Texts>,
    /// Warnings.
    pub warnings: Warnings,
    #[get_size(ignore)]
    bytes: Bytes,
}

/// The layout of a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Layout {
    /// GTA III: one table.
    #[default]
    Three,
    /// Vice City: several tables.
    ViceCity,
    /// San Andreas: several tables, and hashes instead of names.
    SanAndreas {
        /// Version of the format; 4.
        version: u16,
        /// True if characters have 8 bits instead of 16.
        is_narrow: bool,
    },
}

impl Layout {
    /// Returns the name of the game.
    pub fn name(self) -> &'static str {
        match self {
            Self::Three => "GTA III",
            Self::ViceCity => "Vice City",
            Self::SanAndreas { .. } => "San Andreas",
        }
    }

    pub(super) fn is_narrow(self) -> bool {
        matches!(
            self,
            Self::SanAndreas {
                is_narrow: true,
                ..
            }
        )
    }

    /// Returns the sizes of a key and of its text's offset together.
    pub(super) fn key_size(self) -> usize {
        match self {
            Self::SanAndreas { .. } => 8,
            Self::Three | Self::ViceCity => 12,
        }
    }
}

/// A table of texts. A broken table does not hide the others.
#[derive(Debug, GetSize)]
pub struct Texts {
    /// Name.
    pub name: String,
    /// Absolute offset of the table.
    pub offset: u64,
    /// Texts, in the order of the file.
    pub entries: Vec<Entry>,
    /// The error that ended the reading of the table.
    #[get_size(ignore)]
    pub error: Option<Error>,
}

/// A text.
#[derive(Debug, Clone, Copy, GetSize)]
pub struct Entry {
    /// Key.
    pub key: Key,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The key of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum Key {
    /// A name, padded with NUL.
    Name([u8; 8]),
    /// The CRC-32 of the name in upper case, without the final inversion.
    Hash(u32),
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&until_nul(name)),
            Self::Hash(hash) => write!(f, "{hash:#010x}"),
        }
    }
}

impl Gxt {
    /// Returns the location of a table's offset, or `None` if the file has a single
    /// table without a list.
    pub(super) fn offset_of_table(&self, number: usize) -> Option<usize> {
        // The list follows its magic and length. An entry begins with the name of the
        // table.
        let list = match self.layout {
            Layout::Three => return None,
            Layout::ViceCity => 8,
            Layout::SanAndreas { .. } => 12,
        };
        Some(list + 12 * number + 8)
    }

    /// Returns whether an entry has a text, which is given in encoded form.
    pub(super) fn has_text(&self, entry: &Entry, stored: &[u8]) -> bool {
        let end = if self.layout.is_narrow() { 1 } else { 2 };
        let text = stored.get(..stored.len().saturating_sub(end));
        self.bytes.get(entry.start..entry.end) == text
    }

    /// Returns a text. Tags such as `~r~` are preserved.
    pub fn text(&self, entry: &Entry) -> String {
        let stored = self.bytes.get(entry.start..entry.end).unwrap_or_default();
        let mut text = String::with_capacity(stored.len());
        if self.layout.is_narrow() {
            for &byte in stored {
                characters::push(&mut text, byte.into());
            }
        } else {
            for word in stored.as_chunks().0 {
                characters::push(&mut text, u16::from_le_bytes(*word));
            }
        }
        text
    }
}

/// Returns whether a file begins like a GXT file.
pub fn is_gxt(bytes: &Bytes) -> bool {
    let is_later = matches!(bytes.get(..4), Some([4, 0, 8 | 16, 0]));
    bytes.starts_with(b"TKEY")
        || bytes.starts_with(b"TABL")
        || is_later && bytes[4..].starts_with(b"TABL")
}

/// Parses the texts of a file.
///
/// # Errors
/// Returns an error if the list of tables is broken. A table with an error
/// is in the result.
pub fn parse(bytes: &Bytes) -> Result<Gxt> {
    let mut gxt = Gxt {
        bytes: bytes.clone(),
        ..Gxt::default()
    };
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    if !bytes.starts_with(b"TKEY") {
        gxt.layout = layout(&mut cursor, bytes)?;
        tables(&mut cursor, &mut gxt)?;
    } else {
        gxt.tables.push(Texts::new("MAIN".to_owned(), 0));
    }
    // In an intact file, tables do not overlap.
    let mut left = Allowance {
        keys: bytes.len() / gxt.layout.key_size(),
        shown: bytes.len().saturating_mul(MAX_SHOWN),
    };
    let layout = gxt.layout;
    for (index, table) in gxt.tables.iter_mut().enumerate() {
        let result = table.read(bytes, layout, index > 0, &mut left, &mut gxt.warnings);
        table.error = result.err();
    }
    Ok(gxt)
}

fn layout(cursor: &mut Cursor<'_>, bytes: &Bytes) -> Result<Layout> {
    if bytes.starts_with(b"TABL") {
        return Ok(Layout::ViceCity);
    }
    let version = cursor.u16("version")?;
    let at = cursor.offset();
    let bits = cursor.u16("bits of a character")?;
    if !bytes[4..].starts_with(b"TABL") {
        return Err(Error::damaged(0, "magic", "is neither TKEY nor TABL"));
    }
    match bits {
        8 | 16 => Ok(Layout::SanAndreas {
            version,
            is_narrow: bits == 8,
        }),
        _ => Err(Error::damaged(
            at,
            "bits of a character",
            format!("are {bits}, should be 8 or 16"),
        )),
    }
}

/// Reads the list of tables.
fn tables(cursor: &mut Cursor<'_>, gxt: &mut Gxt) -> Result<()> {
    const ROW: usize = 12;
    cursor.take(4, "magic")?;
    let at = cursor.offset();
    let size = cursor.u32("size of the tables")? as usize;
    if !size.is_multiple_of(ROW) || size > cursor.remaining() {
        let left = cursor.remaining();
        let problem =
            format!("is {size}, not a multiple of {ROW} in the {left} bytes that are left");
        return Err(Error::damaged(at, "size of the tables", problem));
    }
    for _ in 0..(size / ROW).min(MAX_TABLES) {
        let name = until_nul(cursor.take(8, "table name")?);
        gxt.tables
            .push(Texts::new(name, cursor.u32("table offset")?.into()));
    }
    if size / ROW > MAX_TABLES {
        let more = size / ROW - MAX_TABLES;
        gxt.warnings.push(format!(
            "{more} tables are not shown: a file has at most {MAX_TABLES}"
        ));
    }
    Ok(())
}

/// The remaining reading limits.
struct Allowance {
    keys: usize,
    shown: usize,
}

impl Texts {
    fn new(name: String, offset: u64) -> Self {
        Self {
            name,
            offset,
            entries: Vec::new(),
            error: None,
        }
    }

    fn read(
        &mut self,
        bytes: &Bytes,
        layout: Layout,
        has_name: bool,
        left: &mut Allowance,
        warnings: &mut Warnings,
    ) -> Result<()> {
        let mut cursor = Cursor::new(bytes, 0, Endian::Little);
        cursor.seek(self.offset, "table")?;
        if has_name {
            let at = cursor.offset();
            let own = until_nul(cursor.take(8, "table name")?);
            if own != self.name {
                let name = &self.name;
                warnings.push(format!(
                    "table name at {at:#x}: is {own:?}, should be {name:?}"
                ));
            }
        }
        let keys_size = magic(&mut cursor, *b"TKEY", "keys")?;
        let keys_at = cursor.offset();
        let keys = cursor.take(keys_size as usize, "keys")?;
        let count = keys.len() / layout.key_size();
        if count * layout.key_size() != keys.len() {
            warnings.push(format!(
                "keys at {keys_at:#x}: have {} bytes, which is not a multiple of {}",
                keys.len(),
                layout.key_size()
            ));
        }
        let problem = "belong to several tables";
        left.keys = left
            .keys
            .checked_sub(count)
            .ok_or_else(|| Error::damaged(keys_at, "keys", problem))?;
        let size = magic(&mut cursor, *b"TDAT", "texts")? as usize;
        let base = bytes.len() - cursor.remaining();
        if size > cursor.remaining() {
            let (at, left) = (cursor.offset(), cursor.remaining());
            warnings.push(format!(
                "texts at {at:#x}: need {size} bytes, {left} are left"
            ));
        }
        let end = base + size.min(cursor.remaining());
        for stored in keys.chunks_exact(layout.key_size()) {
            let (offset, key) = key(stored);
            let start = base.saturating_add(offset as usize);
            // An empty last text may begin at the end of the texts.
            if start == end {
                self.entries.push(Entry { key, start, end });
                continue;
            }
            if start > end {
                let name = &self.name;
                warnings.push(format!("text {key} of {name} at {start:#x}: is outside"));
                continue;
            }
            let length = length(&bytes[start..end], layout.is_narrow());
            left.shown = left.shown.checked_sub(length).ok_or_else(|| {
                Error::damaged(start as u64, "texts", "overlap; the rest is not shown")
            })?;
            self.entries.push(Entry {
                key,
                start,
                end: start + length,
            });
        }
        Ok(())
    }
}

/// Reads a magic and its length.
fn magic(cursor: &mut Cursor<'_>, magic: [u8; 4], field: &'static str) -> Result<u32> {
    let at = cursor.offset();
    if cursor.take(4, field)? != magic {
        let problem = format!("do not begin with {}", magic.escape_ascii());
        return Err(Error::damaged(at, field, problem));
    }
    cursor.u32(field)
}

/// Returns the offset of a text and its key.
fn key(stored: &[u8]) -> (u32, Key) {
    let word = |at: usize| {
        let bytes = stored.get(at..).and_then(|rest| rest.first_chunk());
        u32::from_le_bytes(bytes.copied().unwrap_or_default())
    };
    let name = stored.get(4..).and_then(|rest| rest.first_chunk::<8>());
    let key = name.map_or_else(|| Key::Hash(word(4)), |name| Key::Name(*name));
    (word(0), key)
}

/// Returns the length of a text in bytes, up to its NUL.
fn length(stored: &[u8], is_narrow: bool) -> usize {
    if is_narrow {
        let end = stored.iter().position(|&byte| byte == 0);
        return end.unwrap_or(stored.len());
    }
    let words = stored.as_chunks::<2>().0;
    let end = words.iter().position(|word| *word == [0; 2]);
    2 * end.unwrap_or(words.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::gxt as build;

    fn shown(gxt: &Gxt) -> Vec<(String, String, String)> {
        let tables = gxt.tables.iter();
        tables
            .flat_map(|table| {
                let rows = table.entries.iter();
                rows.map(|entry| (table.name.clone(), entry.key.to_string(), gxt.text(entry)))
            })
            .collect()
    }

    #[test]
    fn all_layouts_hold_the_same_texts() {
        let third = parse(&build::third().into()).unwrap();
        let row = |table: &str, key: &str, text: &str| (table.into(), key.into(), text.into());
        let main = [row("MAIN", "OK", "Gr\u{fc}n"), row("MAIN", "NO", "")];
        // The font has its own codes for letters.
        assert_eq!(shown(&third), main);
        let later = parse(&build::later().into()).unwrap();
        assert_eq!(
            shown(&later),
            [
                row("MAIN", "0x00000001", "Gr\u{fc}n"),
                row("MAIN", "0x00000002", ""),
                row("DEMO", "0x00000001", "Gr\u{fc}n"),
                row("DEMO", "0x00000002", ""),
            ]
        );
        assert!(third.warnings.is_empty() && later.warnings.is_empty());
    }

    #[test]
    fn a_broken_table_does_not_hide_the_others() {
        let mut bytes = build::later();
        bytes[20..24].copy_from_slice(&[0, 0, 0, 1]);
        let gxt = parse(&bytes.into()).unwrap();
        let error = gxt.tables[0].error.as_ref().unwrap().to_string();
        assert!(error.contains("0x"), "{error}");
        assert_eq!(gxt.tables[1].entries.len(), 2);
    }

    #[test]
    fn texts_outside_of_their_table_are_a_warning() {
        let mut bytes = build::third();
        bytes[8] = 200;
        let gxt = parse(&bytes.into()).unwrap();
        assert_eq!((gxt.tables[0].entries.len(), gxt.warnings.len()), (1, 1));
    }

    #[test]
    fn tables_that_share_their_keys_are_not_all_read() {
        const COPIES: u32 = 200;
        let mut bytes = build::later();
        let second = u32::from_le_bytes(bytes[32..36].try_into().unwrap());
        let row = [&b"DEMO\0\0\0\0"[..], &(second + 12 * COPIES).to_le_bytes()];
        bytes[8..12].copy_from_slice(&(24 + 12 * COPIES).to_le_bytes());
        bytes.splice(36..36, row.concat().repeat(COPIES as usize));
        let gxt = parse(&bytes.clone().into()).unwrap();
        let entries: usize = gxt.tables.iter().map(|table| table.entries.len()).sum();
        assert!((10..=bytes.len() / 8).contains(&entries), "{entries}");
        let problem = gxt.tables[201].error.as_ref().unwrap().to_string();
        assert!(problem.contains("several tables"), "{problem}");
    }

    #[test]
    fn another_file_is_an_error() {
        for bytes in [
            &b""[..],
            b"XXXX",
            b"\x04\0\x08\0TKEYTKEY",
            b"TABL\xFF\0\0\0",
        ] {
            let error = parse(&Bytes::from_static(bytes)).unwrap_err();
            assert!(error.to_string().contains("0x"), "{error}");
        }
    }
}
