//! Table dialects of spreadsheets and editors: encoding, separators, quotes.

use std::borrow::Cow;

use csv::{ReaderBuilder, StringRecord};

/// Maximum numbers of bytes, rows and columns of an edited table.
const MAX_BYTES: usize = 256 << 20;
const MAX_ROWS: usize = 1 << 20;
const MAX_COLUMNS: usize = 16_384;

/// The separators of cells, the most likely first.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// A table as texts.
pub(super) struct Text {
    /// The names of the columns.
    pub(super) header: StringRecord,
    /// The rows, at positions that equal their line numbers.
    pub(super) rows: Vec<StringRecord>,
    /// True if quotes may be part of the cells.
    has_quotes: bool,
}

impl Text {
    /// Reads a shown table.
    pub(super) fn shown(table: &[u8]) -> Result<Self, String> {
        Self::read(&text(table)?, b'\t', false)
    }

    /// Reads an edited table. At least one column must have a name that `is_known`
    /// accepts; `shown` is the original table.
    pub(super) fn edited(
        table: &[u8],
        shown: &[u8],
        is_known: &dyn Fn(&str) -> bool,
    ) -> Result<Self, String> {
        if table.len() > MAX_BYTES {
            return Err(format!("has more than {MAX_BYTES} bytes"));
        }
        let text = text(table)?;
        let first = text.lines().next().unwrap_or_default();
        let known = |separator: u8| {
            let names = first.split(char::from(separator));
            names
                .filter(|name| is_known(unquoted(name.trim()).as_ref()))
                .count()
        };
        // The first of equal counts wins.
        let best = SEPARATORS
            .into_iter()
            .rev()
            .max_by_key(|&separator| known(separator));
        let Some(separator) = best.filter(|&separator| known(separator) > 0) else {
            return Err("line 1: must be the header, the names of the columns".to_owned());
        };
        // Only spreadsheets use other separators, and they quote where needed.
        let is_quoted = separator != b'\t' || !shown.contains(&b'"');
        Self::read(&text, separator, is_quoted)
    }

    fn read(text: &str, separator: u8, is_quoted: bool) -> Result<Self, String> {
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .quoting(is_quoted)
            .flexible(true)
            .has_headers(false)
            .from_reader(text.as_bytes());
        let mut rows = reader.records().map(|row| match row {
            Ok(row) if row.len() > MAX_COLUMNS => {
                Err(format!("{}: has more than {MAX_COLUMNS} cells", line(&row)))
            }
            Ok(row) if separator == b'\t' && row.iter().any(|cell| cell.contains('\t')) => {
                Err(format!("{}: a quote is not closed", line(&row)))
            }
            row => row.map_err(|error| error.to_string()),
        });
        let header = rows.next().transpose()?.unwrap_or_default();
        let rows = rows.take(MAX_ROWS + 1).collect::<Result<Vec<_>, _>>()?;
        match rows.len() > MAX_ROWS {
            true => Err(format!("has more than {MAX_ROWS} rows")),
            false => Ok(Self {
                header,
                rows,
                has_quotes: !is_quoted,
            }),
        }
    }

    /// Returns the text of an edited cell that replaces `shown`.
    pub(super) fn cell<'a>(&self, cell: &'a str, shown: &str) -> Cow<'a, str> {
        match self.has_quotes && cell != shown && !is_quoted(shown) {
            true => unquoted(cell),
            false => Cow::Borrowed(cell),
        }
    }
}

/// Returns the place of a row in messages.
pub(super) fn line(row: &StringRecord) -> String {
    format!("line {}", line_number(row))
}

/// Returns the number of the line where a row begins.
pub(super) fn line_number(row: &StringRecord) -> u64 {
    row.position().map_or(1, csv::Position::line)
}

/// Returns the text of a file in UTF-8 or UTF-16.
fn text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let utf16 = |bytes: &[u8], word: fn([u8; 2]) -> u16| {
        let (words, rest) = bytes.as_chunks();
        let words = words.iter().map(|&bytes| word(bytes));
        let text: Option<String> = char::decode_utf16(words).map(Result::ok).collect();
        let text = text.filter(|_| rest.is_empty());
        text.map(Cow::Owned)
            .ok_or_else(|| "is not UTF-16: save it as UTF-8".to_owned())
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    std::str::from_utf8(bytes)
        .map(Cow::Borrowed)
        .map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            format!("is not UTF-8 in line {line}: save it as UTF-8")
        })
}

/// Returns whether a cell is in quotes.
fn is_quoted(cell: &str) -> bool {
    inside_quotes(cell).is_some()
}

fn inside_quotes(cell: &str) -> Option<&str> {
    let inside = cell.strip_prefix('"')?.strip_suffix('"')?;
    let is_doubled = !inside.replace("\"\"", "").contains('"');
    is_doubled.then_some(inside)
}

/// Returns a cell without quotes around it.
fn unquoted(cell: &str) -> Cow<'_, str> {
    match inside_quotes(cell) {
        Some(inside) if inside.contains('"') => inside.replace("\"\"", "\"").into(),
        Some(inside) => inside.into(),
        None => cell.into(),
    }
}
