//! Edited tables of lines as credits.

use std::collections::BTreeSet;

use bytes::Bytes;
use hpimount_record::{self as record, FixedSize, Record, Writer};

use super::{Credits, CreditsHeader, CreditsLine, CreditsSection, Line, Section};
use super::{MAGIC_SIZE, MAX_TEXT};
use crate::origin::Origin;
use hpimount_assets::view::ViewFormat;
use hpimount_assets::view::edited_table::{
    self, Added, Adding, Change, Rules, edited_text, of_view,
};
use hpimount_assets::view::import::{Edit, Imported, NOT_THIS_FILE, Problems};
use hpimount_containers::text::{windows_1252, windows_1252_byte};

/// The table of the lines.
pub(super) const LINES: &str = "lines.tsv";

/// Rules for editing the table. New lines follow the others of their section.
const RULES: Rules<'_> = Rules {
    keys: &[&["section", "line"]],
    name: None,
    is_editable: &|column| !["section", "line"].contains(&column),
    adding: Adding::WithoutIndex,
    can_delete: true,
};

/// Memory for a shown row besides its texts, in bytes.
const ROW: usize = 1024;

/// Memory for each letter of its texts, in bytes: escaped, and as cells.
const LETTER: usize = 32;

/// Encodes an edited `lines.tsv`, which `format` shows.
pub(super) fn import(edit: &Edit<'_>, format: &ViewFormat) -> Result<Imported, String> {
    if edit.part.name != LINES {
        return Err(NOT_THIS_FILE.to_owned());
    }
    let facts = Origin::of(edit.context).facts;
    let old = super::parse(edit.asset, &facts);
    let old = old.map_err(|incomplete| incomplete.error.to_string())?;
    let shown: usize = old.lines().map(|line| ROW + LETTER * line.letters()).sum();
    // The new asset is shorter than what shows it.
    let memory = shown + edited_table::memory(b"", edit.file) + 2 * edit.asset.len();
    let memory = edit.context.reserve(memory);
    let _memory = memory.map_err(|error| error.to_string())?;
    let found = of_view(format, edit, &RULES)?;

    let mut new = EditedLines::new(&old);
    let mut problems = Problems::default();
    for change in &found.changes {
        if let Err(reason) = new.change(change) {
            problems.add(change.problem(reason));
        }
    }
    for row in &found.added {
        if let Err((column, reason)) = new.add(row) {
            problems.add(row.problem(column, reason));
        }
    }
    problems.check()?;
    new.delete(found.deleted.iter().map(|deleted| deleted.row).collect());
    let asset = match new.is_moved {
        true => encode(edit.asset, &old, &new.sections)?,
        false => with_headers(edit.asset, &old, &new.sections),
    };
    Ok(found.imported(edit, asset))
}

/// The lines of each section after edits.
struct EditedLines<'a> {
    credits: &'a Credits,
    sections: Vec<Vec<Line>>,
    /// Section and line of each row of the table.
    rows: Vec<(usize, usize)>,
    /// True if lines have another place or size.
    is_moved: bool,
}

impl<'a> EditedLines<'a> {
    fn new(credits: &'a Credits) -> Self {
        let sections = credits.sections.iter();
        let lengths = sections.clone().map(|section| section.lines.len());
        let rows = lengths.enumerate();
        let rows = rows.flat_map(|(section, length)| (0..length).map(move |line| (section, line)));
        Self {
            credits,
            rows: rows.collect(),
            sections: sections.map(|section| section.lines.clone()).collect(),
            is_moved: false,
        }
    }

    fn change(&mut self, change: &Change) -> Result<(), String> {
        let (section, line) = self.rows[change.row];
        let presets = self.credits.sections[section].header.presets;
        let line = &mut self.sections[section][line];
        let texts = line.texts.clone();
        line.set(&change.column, &change.text)?;
        self.is_moved |= line.texts != texts;
        match &*change.column {
            "preset" => line.check_preset(presets),
            _ => Ok(()),
        }
    }

    /// Adds a line to the end of its section. Fails with the column of a problem.
    fn add(&mut self, row: &Added) -> Result<(), (&'static str, String)> {
        let number: Option<usize> = row.get("section").parse().ok();
        let section = number.and_then(|number| {
            let lines = self.sections.get_mut(number)?;
            Some((lines, self.credits.sections.get(number)?))
        });
        let Some((lines, section)) = section else {
            let count = self.credits.sections.len();
            return Err(("section", format!("is none of the {count} sections")));
        };
        let mut line = Line::default();
        for column in ["start", "end", "preset", "left", "right"] {
            let text = row.get(column);
            let is_needed = column == "start" || column == "end";
            if is_needed || !text.is_empty() {
                line.set(column, text).map_err(|reason| (column, reason))?;
            }
        }
        let checked = line.check_preset(section.header.presets);
        checked.map_err(|reason| ("preset", reason))?;
        lines.push(line);
        self.is_moved = true;
        Ok(())
    }

    /// Deletes the lines of these rows.
    fn delete(&mut self, rows: BTreeSet<usize>) {
        self.is_moved |= !rows.is_empty();
        let mut row = 0;
        for (lines, old) in self.sections.iter_mut().zip(&self.credits.sections) {
            let end = row + old.lines.len();
            // New lines are behind the rows of their section.
            lines.retain(|_| {
                let is_kept = row >= end || !rows.contains(&row);
                row += 1;
                is_kept
            });
            row = end;
        }
    }
}

impl Credits {
    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.sections.iter().flat_map(|section| &section.lines)
    }
}

impl Line {
    fn letters(&self) -> usize {
        self.texts.iter().flatten().map(Bytes::len).sum()
    }

    /// Sets the value of a column.
    fn set(&mut self, column: &str, text: &str) -> Result<(), String> {
        match column {
            "left" => set_text(&mut self.texts[0], text),
            "right" => set_text(&mut self.texts[1], text),
            _ => {
                let set = record::set_cell(&mut self.header, column, text);
                set.map_err(|problem| problem.reason().to_owned())
            }
        }
    }

    fn check_preset(&self, presets: u32) -> Result<(), String> {
        let preset = self.header.preset;
        match preset < presets {
            true => Ok(()),
            false => Err(format!("{preset} is no preset: the section has {presets}")),
        }
    }

    /// Returns true if a text of it is not shown.
    fn has_hidden_text(&self) -> bool {
        let offsets = [self.header.left_offset, self.header.right_offset];
        let mut both = offsets.iter().zip(&self.texts);
        both.any(|(offset, text)| *offset != 0 && text.is_none())
    }
}

/// Sets a text from its cell; none if that is empty.
fn set_text(text: &mut Option<Bytes>, cell: &str) -> Result<(), String> {
    let old = text.as_ref().map(|text| windows_1252(text));
    let new = edited_text(&old.unwrap_or_default(), cell)?;
    let stored = new
        .chars()
        .map(|character| match windows_1252_byte(character) {
            Some(byte) if byte != 0 => Ok(byte),
            _ => Err(format!(
                "has the character '{}', which cannot be stored",
                character.escape_debug()
            )),
        });
    let stored: Vec<u8> = stored.collect::<Result<_, _>>()?;
    if stored.len() >= MAX_TEXT {
        let (length, most) = (stored.len(), MAX_TEXT - 1);
        return Err(format!("has {length} letters, at most {most} fit"));
    }
    *text = (!stored.is_empty()).then(|| stored.into());
    Ok(())
}

/// Returns the asset with the headers of lines in their places.
fn with_headers(asset: &Bytes, credits: &Credits, sections: &[Vec<Line>]) -> Vec<u8> {
    let mut out = Writer::new(credits.endian);
    out.put(asset);
    for line in sections.iter().flatten() {
        overwrite(&line.header, line.offset, &mut out);
    }
    out.bytes
}

/// Encodes the credits with other lines. Everything else is copied.
fn encode(asset: &Bytes, credits: &Credits, sections: &[Vec<Line>]) -> Result<Vec<u8>, String> {
    let mut rest = credits.sections.iter().flat_map(|section| &section.rest);
    if credits.lines().any(Line::has_hidden_text) || rest.any(|&byte| byte != 0) {
        return Err("has texts or lines that are not shown, around which no line can move".into());
    }
    let mut out = Writer::new(credits.endian);
    let first = credits.sections.first();
    out.put(&asset[..first.map_or(asset.len(), |section| section.offset)]);
    for (section, lines) in credits.sections.iter().zip(sections) {
        encode_section(section, lines, &mut out);
    }
    out.put(&credits.rest);
    // The sizes and offsets in it fit if this one does.
    let size = u32::try_from(out.bytes.len()).map_err(|_| "has 4 GiB or more")?;
    let header = CreditsHeader {
        size,
        ..credits.header.clone()
    };
    overwrite(&header, MAGIC_SIZE, &mut out);
    Ok(out.bytes)
}

fn encode_section(section: &Section, lines: &[Line], out: &mut Writer) {
    let start = out.bytes.len();
    record::write(&section.header, out);
    out.put(&section.presets);
    lines.iter().for_each(|line| encode_line(line, out));
    out.put(&section.rest);
    let size = (out.bytes.len() - start) as u32;
    let header = CreditsSection {
        size,
        ..section.header.clone()
    };
    overwrite(&header, start, out);
}

fn encode_line(line: &Line, out: &mut Writer) {
    let start = out.bytes.len() + CreditsLine::SIZE;
    let mut stored = Vec::new();
    let [left_offset, right_offset] = line.texts.each_ref().map(|text| {
        let Some(text) = text else { return 0 };
        let offset = start + stored.len();
        stored.extend_from_slice(text);
        stored.resize((stored.len() + 1).next_multiple_of(4), 0);
        offset as u32
    });
    let header = CreditsLine {
        size: (CreditsLine::SIZE + stored.len()) as u32,
        left_offset,
        right_offset,
        ..line.header.clone()
    };
    record::write(&header, out);
    out.put(&stored);
}

/// Writes a record over the bytes at an offset.
fn overwrite(record: &dyn Record, at: usize, out: &mut Writer) {
    let mut written = Writer::new(out.endian);
    record::write(record, &mut written);
    out.bytes[at..at + written.bytes.len()].copy_from_slice(&written.bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::credits::FORMAT;
    use fixtures::edited_value;
    use fixtures::heavy_iron::{CreditsLine as Built, credits_of};
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered_text;
    use proptest::prelude::*;

    const FIRST: [Built; 3] = [
        (0.0, 2.0, [Some("A Film"), None]),
        (2.5, 4.0, [Some("Made by"), Some("Nobody")]),
        (4.0, 8.0, [None, Some("right")]),
    ];
    const SECOND: [Built; 1] = [(0.0, 1.5, [Some("The End"), None])];

    fn built(is_big: bool) -> Vec<u8> {
        credits_of(is_big, &[&FIRST, &SECOND])
    }

    fn with(asset: &[u8], table: &str) -> Result<Vec<u8>, String> {
        match edited(&FORMAT, asset, LINES, table.as_bytes())? {
            Imported::Changed(changed) => Ok(changed.asset),
            Imported::Unchanged => Ok(asset.to_vec()),
        }
    }

    /// Edits the table of credits by replacing a text.
    fn edit(asset: &[u8], [shown, new]: [&str; 2]) -> Result<Vec<u8>, String> {
        let before = rendered_text(&FORMAT, asset, LINES).unwrap();
        assert!(before.contains(shown), "{shown:?} in {before}");
        with(asset, &before.replace(shown, new))
    }

    #[test]
    fn a_text_of_another_length_moves_what_follows() {
        for is_big in [true, false] {
            let mut first = FIRST;
            first[1].2 = [Some("Made by"), Some("Somebody else")];
            first[0].2 = [Some("Caf"), Some("two")];
            let asset = edit(&built(is_big), ["Nobody", "Somebody else"]).unwrap();
            let asset = edit(&asset, ["A Film\t", "Caf\ttwo"]).unwrap();
            assert_eq!(asset, credits_of(is_big, &[&first, &SECOND]));
            assert_eq!(edit(&asset, ["\n", "\r\n"]), Ok(asset.clone()));
        }
    }

    #[test]
    fn times_change_in_their_places() {
        let mut first = FIRST;
        (first[0].0, first[0].1) = (0.25, 1.75);
        let asset = edit(&built(true), ["0\t0\t0\t2\t", "0\t0\t0.25\t1.75\t"]);
        assert_eq!(asset, Ok(credits_of(true, &[&first, &SECOND])));
    }

    #[test]
    fn a_line_is_replaced_by_one_with_the_same_text() {
        let table = rendered_text(&FORMAT, &built(true), LINES).unwrap();
        let rows = table.lines().map(|row| match row.ends_with("The End\t") {
            true => format!("-\t{row}\n"),
            false => format!("\t{row}\n"),
        });
        let table = format!("{}\t1\t\t5\t6\t0\tThe End\t\n", rows.collect::<String>());
        let second = [(5.0, 6.0, SECOND[0].2)];
        let expected = credits_of(true, &[&FIRST, &second]);
        assert_eq!(
            with(&built(true), &table.replacen('\t', "#\t", 1)),
            Ok(expected)
        );
    }

    #[test]
    fn line_breaks_in_texts_are_shown_and_stored() {
        let line = |text| [(0.0, 1.0, [Some(text), None])];
        let asset = credits_of(true, &[&line("one\ntwo")]);
        let edited = edit(&asset, ["one\\ntwo", "one\\n2"]);
        assert_eq!(edited, Ok(credits_of(true, &[&line("one\n2")])));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let refused = |texts: [&str; 2]| edit(&built(true), texts).unwrap_err();
        let long = "x".repeat(256);
        assert_eq!(
            refused(["A Film", &long]),
            "line 2, column left (0 0): has 256 letters, at most 255 fit"
        );
        assert_eq!(
            refused(["A Film", "\u{2192}"]),
            "line 2, column left (0 0): has the character '\u{2192}', which cannot be stored"
        );
        assert_eq!(
            refused(["\t2\t0\tA Film", "\t2\t1\tA Film"]),
            "line 2, column preset (0 0): 1 is no preset: the section has 1"
        );
        assert_eq!(
            refused(["The End\t\n", "The End\t\n2\t\t0\t1\t0\tx\t\n"]),
            "line 6, column section: is none of the 2 sections"
        );
        let edit = |path, value| edited_value(&FORMAT, &built(true), path, value);
        edit("sections[1].presets", "3").unwrap_err();
        edit("version", "3").unwrap_err();
    }

    #[test]
    fn lines_do_not_move_around_texts_that_are_not_shown() {
        let mut enciphered = built(true);
        enciphered[15] = 3;
        let long = "x".repeat(300).leak();
        let long = credits_of(true, &[&[(0.0, 1.0, [Some(long), None])], &FIRST]);
        for asset in [enciphered, long] {
            let refused = edit(&asset, ["\t2.5\t4\t0\t", "\t2.5\t4\t0\tx"]);
            assert_eq!(
                refused.unwrap_err(),
                "has texts or lines that are not shown, around which no line can move"
            );
            let timed = edit(&asset, ["\t2.5\t4\t", "\t2.75\t4\t"]).unwrap();
            assert_eq!(timed.len(), asset.len());
            assert_ne!(timed, asset);
        }
    }

    #[test]
    fn durations_and_flags_are_values_of_info_json() {
        for is_big in [true, false] {
            let edit = |path, value| edited_value(&FORMAT, &built(is_big), path, value);
            let mut expected = built(is_big);
            expected[24 + 8 + if is_big { 3 } else { 0 }] = 0x40;
            assert_eq!(edit("sections[0].flags", "64"), Ok(Some(expected)));
            assert!(edit("sections[1].duration", "3.5").unwrap().is_some());
        }
    }

    /// An edit of a line: kept, with another text, or deleted.
    #[derive(Debug, Clone, Copy)]
    enum Change {
        Keep,
        Text(&'static str),
        Delete,
    }

    fn line() -> impl Strategy<Value = Built> {
        let text = prop::option::of(prop::sample::select(vec!["a", "bb b", "longer text"]));
        (0_u8..9, 0_u8..9, [text.clone(), text])
            .prop_map(|(start, end, texts)| (start.into(), end.into(), texts))
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            Just(Change::Keep),
            prop::sample::select(vec!["", "c", "dd d d d"]).prop_map(Change::Text),
            Just(Change::Delete),
        ]
    }

    proptest! {
        #[test]
        fn any_edits_of_lines_are_stored(
            sections in prop::collection::vec(
                (
                    prop::collection::vec((line(), change()), 0..4),
                    prop::collection::vec(line(), 0..3),
                ),
                1..4,
            ),
            is_big: bool,
        ) {
            let row = |deleted: &str, section: usize, index: String, line: &Built| {
                let (start, end, texts) = line;
                let [left, right] = texts.map(Option::unwrap_or_default);
                format!("{deleted}\t{section}\t{index}\t{start}\t{end}\t0\t{left}\t{right}\n")
            };
            let mut table = "#\tsection\tline\tstart\tend\tpreset\tleft\tright\n".to_owned();
            let mut expected = Vec::new();
            for (number, (lines, added)) in sections.iter().enumerate() {
                let mut kept = Vec::new();
                for (index, (line, change)) in lines.iter().enumerate() {
                    let mut line = *line;
                    if let Change::Text(text) = change {
                        line.2[0] = Some(*text).filter(|text| !text.is_empty());
                    }
                    let is_deleted = matches!(change, Change::Delete);
                    let deleted = if is_deleted { "-" } else { "" };
                    table += &row(deleted, number, index.to_string(), &line);
                    kept.extend((!is_deleted).then_some(line));
                }
                for line in added {
                    table += &row("", number, String::new(), line);
                }
                kept.extend(added);
                expected.push(kept);
            }
            let old: Vec<Vec<Built>> = sections
                .iter()
                .map(|(lines, _)| lines.iter().map(|(line, _)| *line).collect())
                .collect();
            let of = |sections: &[Vec<Built>]| {
                let sections: Vec<&[Built]> = sections.iter().map(Vec::as_slice).collect();
                credits_of(is_big, &sections)
            };
            prop_assert_eq!(with(&of(&old), &table), Ok(of(&expected)));
        }
    }
}
