//! Tab-separated tables with a header line.

use std::fmt::Write as _;
use std::io::{self, Write};

/// A table that is written row by row.
///
/// In text cells, tab, newline and carriage return are escaped as `\t`, `\n`
/// and `\r`, so that a line is a row and a tab ends a cell, and other control
/// characters as `\u{1b}`, since tables are shown on terminals. Backslashes are
/// not escaped, so that Windows paths can be searched for. Missing cells at the
/// end of a row are empty.
pub struct Table<'w> {
    out: &'w mut dyn Write,
    /// The current row.
    row: String,
    columns: usize,
    /// Number of cells of the row so far.
    cells: usize,
}

impl<'w> Table<'w> {
    /// Creates a table without columns, which come first.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            row: String::new(),
            columns: 0,
            cells: 0,
        }
    }

    /// Writes the line with the column names.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn columns(&mut self, columns: &[&str]) -> io::Result<()> {
        self.columns = columns.len();
        self.out.write_all((columns.join("\t") + "\n").as_bytes())
    }

    /// Adds a cell that shows a number or another value without text in it.
    pub fn cell(&mut self, value: impl std::fmt::Display) -> &mut Self {
        self.separate();
        write!(self.row, "{value}").expect("writing to a String cannot fail");
        self
    }

    /// Adds a cell that is empty if there is no value.
    pub fn optional(&mut self, value: Option<impl std::fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.cell(value),
            None => self.cell(""),
        }
    }

    /// Adds a cell with a name or another text.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.separate();
        push_escaped(&mut self.row, value);
        self
    }

    /// Ends the row and writes it.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn end_row(&mut self) -> io::Result<()> {
        while self.cells < self.columns {
            self.separate();
        }
        self.row.push('\n');
        self.out.write_all(self.row.as_bytes())?;
        self.row.clear();
        self.cells = 0;
        Ok(())
    }

    fn separate(&mut self) {
        if self.cells > 0 {
            self.row.push('\t');
        }
        self.cells += 1;
    }
}

/// Appends a text in escaped form.
pub fn push_escaped(text: &mut String, value: &str) {
    if !value.contains(char::is_control) {
        return text.push_str(value);
    }
    for character in value.chars() {
        match character {
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            control if control.is_control() => text.extend(control.escape_unicode()),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stays_one_line_for_any_names() {
        let mut bytes = Vec::new();
        let mut table = Table::new(&mut bytes);
        table.columns(&["index", "name", "size", "note"]).unwrap();
        table.cell(1).text("a\tb\nc\\d").cell(0.5);
        table.optional(None::<u8>).end_row().unwrap();
        table.cell(2).text("plain").cell(0.1).optional(Some(7));
        table.end_row().unwrap();
        table.cell(3).text("short").end_row().unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "index\tname\tsize\tnote\n1\ta\\tb\\nc\\d\t0.5\t\n2\tplain\t0.1\t7\n3\tshort\t\t\n"
        );
    }

    #[test]
    fn a_cell_has_no_control_characters() {
        let mut shown = String::new();
        push_escaped(&mut shown, "a\x1b[31m\0\u{9b}\u{e9}");
        assert_eq!(shown, "a\\u{1b}[31m\\u{0}\\u{9b}\u{e9}");
        let mut again = String::new();
        push_escaped(&mut again, &shown);
        assert_eq!(again, shown);
    }
}
