//! Edits of text files with sections. Replaces fields in place, and leaves everything
//! around them unchanged.

use std::collections::BTreeMap;
use std::ops::Range;

use super::schema::Schema;
use super::{Document, parse};
use hpimount_assets::view::patches::Patches;
use hpimount_containers::text::windows_1252_byte;

/// A file whose rows are changed.
pub(crate) struct EditedDocument<'a> {
    bytes: &'a [u8],
    document: &'a Document,
    schema: &'static Schema,
    /// The lines, with their ends.
    lines: Vec<Range<usize>>,
    patches: Patches,
    /// The new fields of changed rows, by section and row; `None` for deleted rows.
    /// Added rows follow the stored ones.
    changed: BTreeMap<(usize, usize), Option<Vec<String>>>,
}

impl<'a> EditedDocument<'a> {
    /// Begins to edit a file. `document` is the parsed file.
    pub(crate) fn new(bytes: &'a [u8], document: &'a Document, schema: &'static Schema) -> Self {
        let mut end = 0;
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').map(|line| {
            let start = end;
            end += line.len();
            start..end
        });
        Self {
            bytes,
            document,
            schema,
            lines: lines.collect(),
            patches: Patches::default(),
            changed: BTreeMap::new(),
        }
    }

    /// Returns the new fields of a row of a section, or `None` for a deleted row.
    pub(crate) fn fields(&self, section: usize, row: usize) -> Option<Vec<&str>> {
        match self.changed.get(&(section, row)) {
            Some(changed) => Some(changed.as_ref()?.iter().map(String::as_str).collect()),
            None => {
                let row = &self.document.sections[section].rows[row];
                Some(self.document.fields(row).collect())
            }
        }
    }

    /// Replaces a field of a row.
    pub(crate) fn set(
        &mut self,
        section: usize,
        row: usize,
        field: usize,
        text: &str,
    ) -> Result<(), String> {
        let line = self.line(section, row);
        let document = self.document;
        let stored_fields = || {
            let row = &document.sections[section].rows[row];
            Some(document.fields(row).map(str::to_owned).collect())
        };
        let fields = self.changed.entry((section, row));
        let fields = fields.or_insert_with(stored_fields).as_mut();
        let fields = fields.ok_or("is in a deleted row")?;
        let old = fields.get_mut(field).ok_or("is no field of this row")?;
        let stored = stored(old, text)?;
        let place = field_ranges(&self.bytes[line.clone()]).nth(field);
        let place = place.ok_or("is no field of this row")?;
        text.clone_into(old);
        let place = line.start + place.start..line.start + place.end;
        self.patches.replace(place, stored);
        Ok(())
    }

    /// Deletes a row with its line.
    pub(crate) fn delete(&mut self, section: usize, row: usize) {
        let line = self.line(section, row);
        self.patches.replace(line, []);
        self.changed.insert((section, row), None);
    }

    /// Adds a row at the end of a section.
    pub(crate) fn add(
        &mut self,
        section: usize,
        fields: Vec<String>,
    ) -> Result<(), (usize, String)> {
        // A field must be a number if the last row with the same form has a number
        // there.
        let mut rows = self.document.sections[section].rows.iter().rev();
        let pattern = rows.find(|row| self.document.fields(row).count() == fields.len());
        let pattern = pattern
            .into_iter()
            .flat_map(|row| self.document.fields(row));
        let pattern: Vec<&str> = pattern.collect();
        let mut line = Vec::new();
        for (place, text) in fields.iter().enumerate() {
            if place > 0 {
                line.extend(b", ");
            }
            let old = pattern.get(place).copied().unwrap_or_default();
            line.extend(stored(old, text).map_err(|problem| (place, problem))?);
        }
        let last = self.document.sections[section].rows.len().checked_sub(1);
        let last = last.map(|row| self.line_number(section, row));
        let end_of_line: &[u8] = match last.map(|line| &self.bytes[self.lines[line].clone()]) {
            Some([.., b'\r', b'\n']) => b"\r\n",
            _ => b"\n",
        };
        line.extend(end_of_line);
        let after = self.lines.iter().skip(last.map_or(0, |line| line + 1));
        let mut after = after.filter(|line| is_end(&self.bytes[(*line).clone()]));
        let place = after.next().map_or(self.bytes.len(), |end| end.start);
        let new = self.patches.inserted(place);
        if new.is_empty() && !self.bytes[..place].ends_with(b"\n") {
            new.extend(end_of_line);
        }
        new.extend(line);
        self.changed
            .insert((section, self.end(section)), Some(fields));
        Ok(())
    }

    /// Returns the edited file, or `None` if nothing changes. Fails if the result does
    /// not have the edited fields.
    pub(crate) fn finish(self) -> Result<Option<Vec<u8>>, String> {
        if self.patches.is_empty() {
            return Ok(None);
        }
        let patches = &self.patches;
        let out = patches.apply(self.bytes).ok_or("has rows that overlap")?;
        let new = parse(&out, self.schema).map_err(|error| error.to_string())?;
        let mut sections = new.sections.iter().enumerate();
        let is_same = new.sections.len() == self.document.sections.len()
            && sections.all(|(number, section)| {
                let rows = section.rows.iter();
                let found = rows.map(|row| new.fields(row).collect::<Vec<&str>>());
                self.rows(number).eq(found)
            });
        match is_same {
            true => Ok(Some(out)),
            false => Err("would not be stored as written: a field ends its section".to_owned()),
        }
    }

    /// Returns the number of rows of a section, including deleted and added ones.
    fn end(&self, section: usize) -> usize {
        let stored = self.document.sections[section].rows.len();
        let mut added = self.changed.range((section, stored)..(section + 1, 0));
        added.next_back().map_or(stored, |((_, row), _)| row + 1)
    }

    /// Returns the new fields of the rows of a section.
    fn rows(&self, section: usize) -> impl Iterator<Item = Vec<&str>> {
        (0..self.end(section)).filter_map(move |row| self.fields(section, row))
    }

    fn line_number(&self, section: usize, row: usize) -> usize {
        self.document.sections[section].rows[row].line as usize - 1
    }

    fn line(&self, section: usize, row: usize) -> Range<usize> {
        self.lines[self.line_number(section, row)].clone()
    }
}

fn is_separator(byte: u8) -> bool {
    byte == b',' || byte <= b' '
}

/// Returns the ranges of the fields of a line, like [`super::fields`]. All characters
/// have one byte.
fn field_ranges(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    let parts = line.split(|&byte| is_separator(byte)).map(move |part| {
        let start = end;
        end += part.len() + 1;
        start..start + part.len()
    });
    parts.filter(|part| !part.is_empty())
}

fn is_end(line: &[u8]) -> bool {
    let first = field_ranges(line).next();
    first.is_some_and(|first| line[first].eq_ignore_ascii_case(b"end"))
}

/// Encodes the text of a field.
fn stored(old: &str, text: &str) -> Result<Vec<u8>, String> {
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    if text.is_empty() {
        return Err("cannot be empty: rows keep their number of fields".to_owned());
    }
    if is_number(old) && !is_number(text) {
        return Err(format!("{text:?} is no number"));
    }
    let byte = |letter: char| match windows_1252_byte(letter) {
        Some(byte) if is_separator(byte) || byte == b'#' => Err(format!(
            "{text:?}: {letter:?} separates fields, and cannot be in one"
        )),
        Some(byte) => Ok(byte),
        None => Err(format!(
            "{text:?}: the game does not have the letter {letter:?}"
        )),
    };
    text.chars().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::document::schema::IPL;

    const TEXT: &[u8] = b"# \xe9\r\ninst\r\n 1,\ta 0, 1 # 2, 3\r\nend\r\nzone\r\nz 1\nend";

    fn edited(
        bytes: &[u8],
        edit: impl FnOnce(&mut EditedDocument<'_>),
    ) -> Result<Option<Vec<u8>>, String> {
        let document = parse(bytes, &IPL).unwrap();
        let mut edited = EditedDocument::new(bytes, &document, &IPL);
        edit(&mut edited);
        edited.finish()
    }

    /// A row of a text: its numbers, their separator, and the rest of the line.
    type Row = ([u16; 3], &'static str, &'static str);

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let between = select(&[",", ", ", " ", "\t,  "][..]);
        let behind = select(&["", " ", " # 1, 2", "\t#"][..]);
        vec((any::<[u16; 3]>(), between, behind), 1..6)
    }

    /// An edit of a row: a new number in a field, or the deletion of the row.
    fn edit_of_row() -> impl Strategy<Value = Option<Option<(usize, u16)>>> {
        of(of((0..3_usize, any::<u16>())))
    }

    /// Returns a text of two sections.
    fn text(rows: &[Row], end: &str) -> String {
        let line = |(numbers, between, behind): &Row| {
            format!(
                "{}{behind}{end}",
                numbers.map(|one| one.to_string()).join(between)
            )
        };
        let lines: String = rows.iter().map(line).collect();
        format!("# 1{end}inst{end}{lines}end{end}zone{end}z 1{end}end")
    }

    proptest! {
        #[test]
        fn any_edited_rows_change_alone(
            mut rows in rows(),
            edits in vec(edit_of_row(), 6),
            added in vec(any::<[u16; 3]>(), 0..3),
            end in select(&["\n", "\r\n"][..]),
        ) {
            let before = text(&rows, end);
            let changed = edited(before.as_bytes(), |edited| {
                for (row, edit) in (0..rows.len()).zip(&edits) {
                    match edit {
                        Some(Some((field, new))) => {
                            edited.set(0, row, *field, &new.to_string()).unwrap();
                        }
                        Some(None) => edited.delete(0, row),
                        None => {}
                    }
                }
                for row in &added {
                    let fields = row.iter().map(u16::to_string).collect();
                    edited.add(0, fields).unwrap();
                }
            });
            for ((numbers, ..), edit) in rows.iter_mut().zip(&edits) {
                if let Some(Some((field, new))) = edit {
                    numbers[*field] = *new;
                }
            }
            let mut edits = edits.iter();
            rows.retain(|_| edits.next() != Some(&Some(None)));
            rows.extend(added.into_iter().map(|row| (row, ", ", "")));
            let changed = changed.unwrap().unwrap_or(before.into_bytes());
            prop_assert_eq!(String::from_utf8(changed).unwrap(), text(&rows, end));
        }
    }

    #[test]
    fn fields_are_replaced_and_everything_else_stays() {
        let changed = edited(TEXT, |edited| {
            edited.set(0, 0, 1, "caf\u{e9}").unwrap();
            edited.set(0, 0, 3, "2.5").unwrap();
            edited.set(1, 0, 1, "-7").unwrap();
        });
        assert_eq!(
            changed.unwrap().unwrap(),
            b"# \xe9\r\ninst\r\n 1,\tcaf\xe9 0, 2.5 # 2, 3\r\nend\r\nzone\r\nz -7\nend"
        );
        assert_eq!(edited(TEXT, |_| ()), Ok(None));
    }

    #[test]
    fn rows_are_added_before_the_end_and_deleted_with_their_line() {
        let row = |fields: &[&str]| fields.iter().map(|&text| text.to_owned()).collect();
        let changed = edited(TEXT, |edited| {
            edited.delete(0, 0);
            edited.add(0, row(&["5", "b", "0", "1"])).unwrap();
            edited.add(0, row(&["6", "c", "0", "1"])).unwrap();
            edited.add(1, row(&["y", "2"])).unwrap();
            let problem = edited.add(1, row(&["y", "far"])).unwrap_err();
            assert_eq!(problem, (1, "\"far\" is no number".to_owned()));
        });
        assert_eq!(
            changed.unwrap().unwrap(),
            b"# \xe9\r\ninst\r\n5, b, 0, 1\r\n6, c, 0, 1\r\nend\r\nzone\r\nz 1\ny, 2\nend"
        );
        let changed = edited(b"zone\nz 1", |edited| {
            edited.add(0, row(&["y", "2"])).unwrap();
        });
        assert_eq!(changed.unwrap().unwrap(), b"zone\nz 1\ny, 2\n");
    }

    #[test]
    fn what_cannot_be_a_field_is_refused() {
        let refused = |text: &str, field| {
            let mut problem = None;
            edited(TEXT, |edited| problem = edited.set(0, 0, field, text).err()).unwrap();
            problem.unwrap()
        };
        assert_eq!(
            refused("a b", 1),
            "\"a b\": ' ' separates fields, and cannot be in one"
        );
        assert_eq!(
            refused("a#", 1),
            "\"a#\": '#' separates fields, and cannot be in one"
        );
        assert_eq!(
            refused("\u{2603}", 1),
            "\"\u{2603}\": the game does not have the letter '\u{2603}'"
        );
        assert_eq!(refused("far", 3), "\"far\" is no number");
        assert_eq!(refused("1", 9), "is no field of this row");
        assert_eq!(
            refused("", 1),
            "cannot be empty: rows keep their number of fields"
        );
        let end = edited(b"zone\nz 1\nend", |edited| {
            edited.set(0, 0, 0, "END").unwrap();
        });
        assert!(end.unwrap_err().contains("ends its section"));
    }
}
