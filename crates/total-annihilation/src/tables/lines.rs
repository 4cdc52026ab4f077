//! Rows as lines of text, written before the last column is known.
//!
//! A line has the first cells of its row, and then each value, preceded by the number
//! of its column: `ARMTANK`, `units/tank.fbi`, `mod.ufo`, `0=ARMTANK`, `7=120`,
//! separated by tabs. A key without a column follows an equals sign: `=Name=value`.
//! Everything is escaped as in a table, so there are no other tabs or line ends, and
//! escaping again for the table changes nothing.

use std::fmt::Write as _;
use std::io;

use super::columns::{Columns, FIRST};
use crate::tdf::{Item, Key, Section};
use hpimount_assets::model::Reservation;
use hpimount_assets::view::AssetContext;
use hpimount_containers::text::push_escaped;
use hpimount_record::Value;

/// Allocation unit of memory for lines, in bytes.
const CHUNK: usize = 1 << 20;

/// Maximum number of bytes of kept lines, twice as many as a large mod needs.
const MAX_KEPT: usize = 16 << 20;

/// A row of a table.
pub(super) struct Row<'a> {
    /// The first cells.
    pub(super) first: [&'a str; FIRST.len()],
    /// The section with its keys, if any.
    pub(super) section: Option<Section<'a>>,
}

/// Fills `line` with a row.
pub(super) fn make_line(line: &mut String, row: &Row<'_>, columns: &mut Columns) {
    line.clear();
    for (number, cell) in row.first.iter().enumerate() {
        if number > 0 {
            line.push('\t');
        }
        push_escaped(line, cell);
    }
    if let Some(section) = row.section {
        each_key(section, &mut String::new(), &mut |name, key| {
            line.push('\t');
            match columns.of_key(name) {
                Some(column) => {
                    // Writing to a String cannot fail.
                    let _ = write!(line, "{column}=");
                }
                None => {
                    line.push('=');
                    push_escaped(line, name);
                    line.push('=');
                }
            }
            push_escaped(line, &key.value());
        });
    }
    line.push('\n');
}

/// Returns the cells of a line. The last of several values in one column wins. Values
/// without a column go into the last cell.
pub(super) fn cells(line: &str, columns: &Columns) -> Vec<Value> {
    let text = |text: &str| Value::text(text.to_owned());
    let mut parts = line.trim_end_matches('\n').split('\t');
    let first: Vec<_> = parts.by_ref().take(FIRST.len()).map(text).collect();
    let mut cells = vec![Value::Null; columns.len()];
    let mut more = String::new();
    for part in parts {
        let (column, value) = part.split_once('=').unwrap_or_default();
        let column: Option<usize> = column.parse().ok();
        match column.and_then(|column| cells.get_mut(column)) {
            Some(cell) => *cell = text(value),
            None => more.extend([value, ";"]),
        }
    }
    cells.extend(columns.has_more().then(|| more.into()));
    first.into_iter().chain(cells).collect()
}

/// Lines that are kept in memory.
pub(super) struct Kept<'c> {
    context: &'c dyn AssetContext,
    chunks: Vec<Chunk>,
}

struct Chunk {
    lines: String,
    /// Accounts for the memory of the lines.
    _memory: Option<Reservation>,
}

impl<'c> Kept<'c> {
    /// Creates an empty list of lines.
    pub(super) fn new(context: &'c dyn AssetContext) -> Self {
        let chunks = Vec::new();
        Self { context, chunks }
    }

    /// Keeps a line.
    pub(super) fn push(&mut self, line: &str) -> io::Result<()> {
        let has_room =
            |chunk: &&mut Chunk| chunk.lines.capacity() - chunk.lines.len() >= line.len();
        if let Some(chunk) = self.chunks.last_mut().filter(has_room) {
            chunk.lines.push_str(line);
            return Ok(());
        }
        let kept: usize = self.chunks.iter().map(|chunk| chunk.lines.capacity()).sum();
        let length = line.len().max(CHUNK);
        if kept + length > MAX_KEPT {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let memory = self.context.reserve(length)?;
        let mut lines = String::with_capacity(length);
        lines.push_str(line);
        self.chunks.push(Chunk {
            lines,
            _memory: memory,
        });
        Ok(())
    }

    /// Returns the lines in their order.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let chunks = self.chunks.iter();
        chunks.flat_map(|chunk| chunk.lines.split_terminator('\n'))
    }
}

/// Visits the keys of a section and of nested sections, whose names are prepended:
/// `DAMAGE.default`. The parser limits the nesting.
pub(super) fn each_key<'a>(
    section: Section<'a>,
    path: &mut String,
    visit: &mut dyn FnMut(&str, Key<'a>),
) {
    let length = path.len();
    for item in section.items() {
        match item {
            Item::Key(key) => {
                path.push_str(&key.name());
                visit(path, key);
            }
            Item::Section(inner) => {
                path.push_str(&inner.name());
                path.push('.');
                each_key(inner, path, visit);
            }
        }
        path.truncate(length);
    }
}
