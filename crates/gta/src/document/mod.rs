//! The text files of maps, and other lists of the games: sections of rows with fields,
//! separated by commas and spaces (FORMATS, GTA 6.1).

pub(crate) mod edit;
pub mod schema;

use std::collections::HashMap;

use get_size2::GetSize;

use self::schema::{Columns, Schema};
use hpimount_assets::view::node;
use hpimount_assets::view::page::Page;
use hpimount_containers::io::{Error, Result, Warnings};
use hpimount_containers::text::windows_1252;

/// Maximum number of rows of a file, a hundred times as many as the games' largest file
/// has.
const MAX_ROWS: usize = 1_000_000;

/// A text file of a map.
#[derive(Debug, Default, GetSize)]
pub struct Document {
    text: String,
    /// The sections, without duplicate names, in order of first appearance.
    pub sections: Vec<Section>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A section.
#[derive(Debug, Default, GetSize)]
pub struct Section {
    /// Name in lower case.
    pub name: String,
    /// Rows.
    pub rows: Vec<Row>,
}

impl Row {
    /// Returns the row of a line, skipping the first `skipped` bytes.
    pub(crate) fn of(line: Line<'_>, skipped: usize) -> Self {
        Self {
            line: line.number,
            start: (line.start + skipped) as u32,
            end: (line.start + line.text.len()) as u32,
        }
    }
}

/// A row of a section.
#[derive(Debug, Clone, Copy, GetSize)]
pub struct Row {
    /// Number of its line, from 1.
    pub line: u32,
    start: u32,
    end: u32,
}

impl Document {
    /// Creates a document from this text with these sections.
    pub(crate) fn new(text: String, sections: Vec<Section>) -> Self {
        Self {
            text,
            sections,
            warnings: Warnings::default(),
        }
    }

    /// Returns the page of the document, with its sections.
    pub(crate) fn page(&mut self, format: &'static str) -> Page<Self> {
        let mut page = crate::page(format, format, &mut self.warnings);
        page.list("sections", |document: &Self| {
            let sections = document.sections.iter().map(|section| {
                let rows = section.rows.len();
                node::map([("name", section.name.clone().into()), ("rows", rows.into())])
            });
            Box::new(sections)
        });
        page
    }

    /// Returns the fields of a row.
    pub fn fields(&self, row: &Row) -> impl Iterator<Item = &str> {
        let line = self.text.get(row.start as usize..row.end as usize);
        fields(line.unwrap_or_default())
    }

    /// Returns the fields of a row of a section with their names.
    pub(crate) fn named(&self, schema: &Schema, section: &str, row: &Row) -> Named<'_> {
        let fields: Vec<_> = self.fields(row).collect();
        Named {
            columns: schema.columns(section, fields.len()),
            fields,
        }
    }

    /// Returns the rows of the section `name`.
    pub fn rows(&self, name: &str) -> &[Row] {
        let mut sections = self.sections.iter();
        let section = sections.find(|section| section.name == name);
        section.map_or(&[], |section| &section.rows)
    }

    /// Returns the number of rows of all sections.
    pub fn row_count(&self) -> usize {
        self.sections.iter().map(|section| section.rows.len()).sum()
    }
}

/// The fields of a row, with names if its form is known.
pub(crate) struct Named<'a> {
    columns: Option<Columns>,
    /// The fields.
    pub(crate) fields: Vec<&'a str>,
}

impl<'a> Named<'a> {
    /// Returns whether the fields have names.
    pub(crate) fn has_form(&self) -> bool {
        self.columns.is_some()
    }

    /// Returns the field with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let place = self.columns.clone()?.position(|column| column == name)?;
        self.fields.get(place).copied()
    }
}

/// Returns the fields of a line.
pub(crate) fn fields(line: &str) -> impl Iterator<Item = &str> {
    let separated = line.split(|c: char| c == ',' || c <= ' ');
    separated.filter(|field| !field.is_empty())
}

/// Returns the text of a file.
pub(crate) fn text(bytes: &[u8]) -> Result<String> {
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        let problem = "is a NUL: the file is encrypted or not a text";
        return Err(Error::damaged(at as u64, "text", problem));
    }
    let text = windows_1252(bytes).into_owned();
    match u32::try_from(text.len()) {
        Ok(_) => Ok(text),
        Err(_) => Err(Error::damaged(0, "text", "has more than 4 GiB")),
    }
}

/// A line without its comment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Number, from 1.
    pub(crate) number: u32,
    /// Offset in the text.
    pub(crate) start: usize,
    /// Text, which has a field.
    pub(crate) text: &'a str,
}

/// Returns the lines of a text with fields. Comments begin with one of these
/// characters.
pub(crate) fn lines<'a>(text: &'a str, comments: &'a [char]) -> impl Iterator<Item = Line<'a>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').zip(1..);
    let lines = lines.map(move |(line, number)| {
        let text = line.split(comments).next().unwrap_or_default();
        let found = Line {
            number,
            start,
            text,
        };
        start += line.len();
        found
    });
    lines.filter(|line| fields(line.text).next().is_some())
}

/// Like [`lines`], with an error after `limit` lines.
pub(crate) fn bounded_lines<'a>(
    text: &'a str,
    comments: &'a [char],
    limit: usize,
) -> impl Iterator<Item = Result<Line<'a>>> {
    let lines = lines(text, comments).enumerate();
    lines.map(move |(row, line)| match row < limit {
        true => Ok(line),
        false => {
            let problem = format!("has more than {limit} rows");
            Err(Error::damaged(line.start as u64, "text", problem))
        }
    })
}

/// Reads a text file with sections of this schema.
///
/// # Errors
/// Returns [`Error::Damaged`] for a file that is not a text or has more than a
/// million rows.
pub fn parse(bytes: &[u8], schema: &Schema) -> Result<Document> {
    let text = text(bytes)?;
    let mut warnings = Warnings::default();
    let mut sections: Vec<Section> = Vec::new();
    let mut known = HashMap::new();
    let mut current = None;
    let mut rows = 0;
    for line in lines(&text, &['#']) {
        let mut words = fields(line.text);
        let first = words.next().unwrap_or_default();
        let is_end = first.eq_ignore_ascii_case("end");
        match current {
            None if is_end => {
                warnings.push(format!("line {}: end without a section", line.number));
            }
            None => {
                let name = line.text.trim().to_ascii_lowercase();
                if !schema.knows(&name) {
                    let shown: String = name.chars().take(24).collect();
                    let number = line.number;
                    warnings.push(format!("line {number}: {shown:?} is an unknown section"));
                }
                let next = sections.len();
                let index = *known.entry(name.clone()).or_insert(next);
                if index == next {
                    let rows = Vec::new();
                    sections.push(Section { name, rows });
                }
                current = Some(index);
            }
            Some(_) if is_end => current = None,
            Some(index) => {
                rows += 1;
                if rows > MAX_ROWS {
                    let problem = format!("has more than {MAX_ROWS} rows");
                    return Err(Error::damaged(line.start as u64, "text", problem));
                }
                sections[index].rows.push(Row::of(line, 0));
            }
        }
    }
    if let Some(index) = current {
        let shown: String = sections[index].name.chars().take(24).collect();
        warnings.push(format!("section {shown:?} has no end"));
    }
    let mut document = Document::new(text, sections);
    document.warnings = warnings;
    document.check(schema);
    Ok(document)
}

impl Document {
    /// Warns about rows with an unknown number of fields, once for each section and
    /// number.
    fn check(&mut self, schema: &Schema) {
        let mut odd: Vec<(usize, usize, usize, u32)> = Vec::new();
        let mut places = HashMap::new();
        for (index, section) in self.sections.iter().enumerate() {
            if !schema.has(&section.name) {
                continue;
            }
            for row in &section.rows {
                let count = self.fields(row).count();
                if schema.columns(&section.name, count).is_some() {
                    continue;
                }
                let next = odd.len();
                let place = *places.entry((index, count)).or_insert(next);
                if place == next {
                    odd.push((index, count, 0, row.line));
                }
                odd[place].2 += 1;
            }
        }
        for (index, fields, rows, line) in odd {
            let name = &self.sections[index].name;
            self.warnings.push(format!(
                "section {name}: {rows} rows have {fields} fields, the first in line {line}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::schema::IDE;

    #[test]
    fn fields_are_separated_by_commas_and_blanks() {
        let text =
            b"# a comment\r\nOBJS\r\n 1, crate\tbox 100,0 # x\r\n\x01\r\nEnd\ntxdp\nbox wood\n";
        let document = parse(text, &IDE).unwrap();
        let [row] = document.rows("objs") else {
            panic!("{document:?}");
        };
        let fields: Vec<_> = document.fields(row).collect();
        assert_eq!(
            (row.line, &fields[..]),
            (3, &["1", "crate", "box", "100", "0"][..])
        );
        assert_eq!(document.rows("txdp").len(), 1);
        assert_eq!(document.warnings.texts(), ["section \"txdp\" has no end"]);
    }

    #[test]
    fn odd_sections_and_rows_are_warnings() {
        let document = parse(b"end\nnews\n1\nend\nobjs\n1 2\n3 4\nend\n", &IDE).unwrap();
        assert_eq!(
            document.warnings.texts(),
            [
                "line 1: end without a section",
                "line 2: \"news\" is an unknown section",
                "section objs: 2 rows have 2 fields, the first in line 6",
            ]
        );
        assert_eq!(document.row_count(), 3);
    }

    #[test]
    fn an_encrypted_file_is_an_error() {
        let error = parse(b"obj\0s", &IDE).unwrap_err();
        assert_eq!(
            error.to_string(),
            "text at 0x3: is a NUL: the file is encrypted or not a text"
        );
    }
}
