//! Edited texts and tables of lines as credits.

use bytes::Bytes;
use hpimount_record::{self as record, FixedSize, Record, Writer};

use super::view::{FORMAT, LINES, TEXT};
use super::{Credits, CreditsHeader, CreditsLine, CreditsSection, Line, Section};
use super::{ENCIPHERED, MAGIC_SIZE, MAX_TEXT};
use crate::origin::Origin;
use crate::text::import::windows_1252;
use hpimount_assets::view::edited_table::{Adding, Rules, of_view};
use hpimount_assets::view::import::{self, Changed, Edit, Imported, NOT_THIS_FILE, Problems};

/// Rules for editing the table of lines. New lines follow the others of their section.
const RULES: Rules<'_> = Rules {
    keys: &[&["section", "line"]],
    name: None,
    is_editable: &|column| !["section", "line"].contains(&column),
    adding: Adding::WithoutIndex,
    can_delete: true,
};

/// Largest number of bytes that a text adds to a line besides its letters.
const LARGEST_ROOM: usize = CreditsLine::SIZE + 4;

/// Encodes an edited `lines.tsv` or `text.txt`.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let _models = import::reserve_models(edit)?;
    let facts = Origin::of(edit.context).facts;
    let old = super::parse(edit.asset, &facts);
    let old = old.map_err(|incomplete| incomplete.error.to_string())?;
    let (new, warnings) = match edit.part.name.as_ref() {
        LINES => with_table(&old, edit)?,
        TEXT => (with_texts(&old, edit.file)?, Vec::new()),
        _ => return Err(NOT_THIS_FILE.to_owned()),
    };
    let asset = match has_texts_of(&old, &new) {
        true => with_headers(edit.asset, &old, &new),
        false if old.header.state == ENCIPHERED => {
            return Err("has enciphered texts, around which lines cannot move".to_owned());
        }
        false => {
            let texts = new
                .iter()
                .flatten()
                .flat_map(|line| line.texts.iter().flatten());
            let size =
                edit.asset.len() + texts.map(|text| text.len() + LARGEST_ROOM).sum::<usize>();
            let memory = edit.context.reserve(size);
            let _memory = memory.map_err(|error| error.to_string())?;
            encode(edit.asset, &old, &new)?
        }
    };
    Ok(match *asset == **edit.asset {
        true => Imported::Unchanged,
        false => Imported::Changed(Changed {
            asset,
            warnings,
            ..Changed::default()
        }),
    })
}

/// The lines of each section.
type Lines = Vec<Vec<Line>>;

fn lines_of(credits: &Credits) -> Lines {
    let sections = credits.sections.iter();
    sections.map(|section| section.lines.clone()).collect()
}

/// Returns the lines of an edited table, and warnings.
fn with_table(credits: &Credits, edit: &Edit<'_>) -> Result<(Lines, Vec<String>), String> {
    let found = of_view(&FORMAT, edit, &RULES)?;
    let mut lines = lines_of(credits);
    let places: Vec<(usize, usize)> = (0..)
        .zip(&lines)
        .flat_map(|(section, lines)| (0..lines.len()).map(move |line| (section, line)))
        .collect();
    let mut problems = Problems::default();
    for change in &found.changes {
        let (section, line) = places[change.row];
        let presets = credits.sections[section].header.presets;
        let set = set_cell(
            &mut lines[section][line],
            &change.column,
            &change.text,
            presets,
        );
        if let Err(reason) = set {
            problems.add(change.problem(reason));
        }
    }
    let mut added = Vec::new();
    for row in &found.added {
        let number = row.get("section").parse().ok();
        let Some(section) = number.filter(|&number: &usize| number < lines.len()) else {
            let count = lines.len();
            problems.add(row.problem("section", format_args!("is none of the {count} sections")));
            continue;
        };
        let presets = credits.sections[section].header.presets;
        let mut line = Line::default();
        for column in ["start", "end", "preset", "left", "right"] {
            let text = row.get(column);
            let is_needed = column == "start" || column == "end";
            if let Err(reason) = match text {
                "" if !is_needed => Ok(()),
                _ => set_cell(&mut line, column, text, presets),
            } {
                problems.add(row.problem(column, reason));
            }
        }
        added.push((section, line));
    }
    problems.check()?;
    let mut deleted: Vec<_> = found.deleted.iter().map(|row| places[row.row]).collect();
    deleted.sort_unstable();
    for (section, line) in deleted.into_iter().rev() {
        lines[section].remove(line);
    }
    for (section, line) in added {
        lines[section].push(line);
    }
    Ok((lines, found.warnings))
}

/// Sets the value of a column of a line in a section with this number of presets.
fn set_cell(line: &mut Line, column: &str, text: &str, presets: u32) -> Result<(), String> {
    match column {
        "left" => line.texts[0] = stored_text(text)?,
        "right" => line.texts[1] = stored_text(text)?,
        _ => {
            let set = record::set_cell(&mut line.header, column, text);
            set.map_err(|problem| problem.reason().to_owned())?;
            let preset = line.header.preset;
            if column == "preset" && preset >= presets {
                return Err(format!("{preset} is no preset: the section has {presets}"));
            }
        }
    }
    Ok(())
}

/// Returns the stored form of an edited text; `None` if it is empty.
fn stored_text(text: &str) -> Result<Option<Bytes>, String> {
    let stored = windows_1252(text.as_bytes())?;
    bounded(&stored)
}

fn bounded(text: &[u8]) -> Result<Option<Bytes>, String> {
    if text.len() >= MAX_TEXT {
        let (length, most) = (text.len(), MAX_TEXT - 1);
        return Err(format!("has {length} letters, at most {most} fit"));
    }
    Ok((!text.is_empty()).then(|| Bytes::copy_from_slice(text)))
}

/// Returns the lines with the texts of an edited file, which has a row for each line,
/// and an empty one between sections.
fn with_texts(credits: &Credits, file: &[u8]) -> Result<Lines, String> {
    let mut lines = lines_of(credits);
    let texts = lines
        .iter()
        .flatten()
        .flat_map(|line| line.texts.iter().flatten());
    let is_split = |text: &Bytes| text.iter().any(|byte| b"\t\r\n".contains(byte));
    if texts.into_iter().any(is_split) {
        return Err("has texts of several rows: edit lines.tsv".to_owned());
    }
    let file = windows_1252(file)?;
    let file = file.strip_suffix(b"\n").unwrap_or(&file);
    let mut rows: Vec<&[u8]> = file.split(|&byte| byte == b'\n').collect();
    rows.iter_mut()
        .for_each(|row| *row = row.strip_suffix(b"\r").unwrap_or(row));
    let expected: usize = lines.iter().map(|lines| lines.len() + 1).sum();
    // Without lines, the file has one empty row.
    let (expected, found) = (expected.saturating_sub(1).max(1), rows.len());
    if found != expected {
        return Err(format!(
            "has {found} rows, must have {expected}: lines are added and deleted in lines.tsv"
        ));
    }
    let mut rows = (1..).zip(rows);
    let mut problems = Problems::default();
    for (section, lines) in lines.iter_mut().enumerate() {
        if section > 0
            && let Some((row, text)) = rows.next()
            && !text.is_empty()
        {
            problems.add(format!("row {row}: must be empty, between sections"));
        }
        for (line, (row, text)) in lines.iter_mut().zip(rows.by_ref()) {
            if let Err(reason) = set_texts(line, text) {
                problems.add(format!("row {row}: {reason}"));
            }
        }
    }
    if let Some((row, _)) = rows.find(|(_, text)| !text.is_empty()) {
        problems.add(format!("row {row}: belongs to no line"));
    }
    problems.check()?;
    Ok(lines)
}

/// Sets the texts of a line from its row.
fn set_texts(line: &mut Line, row: &[u8]) -> Result<(), String> {
    if row == line.row() {
        return Ok(());
    }
    let parts: Vec<&[u8]> = row.split(|&byte| byte == b'\t').collect();
    line.texts = match (&parts[..], &line.texts) {
        ([one], [None, Some(_)]) => [None, bounded(one)?],
        ([one], _) => [bounded(one)?, None],
        ([left, right], _) => [bounded(left)?, bounded(right)?],
        _ => return Err("has more than two texts".to_owned()),
    };
    Ok(())
}

impl Line {
    /// Returns its row of `text.txt`, in Windows-1252.
    fn row(&self) -> Vec<u8> {
        let texts: Vec<&[u8]> = self.texts.iter().flatten().map(|text| &text[..]).collect();
        texts.join(&b'\t')
    }
}

/// Returns true if the lines have the texts of the credits, so that nothing moves.
fn has_texts_of(credits: &Credits, lines: &Lines) -> bool {
    let old = credits.sections.iter().map(|section| &section.lines);
    old.zip(lines).all(|(old, new)| {
        let mut both = old.iter().zip(new);
        old.len() == new.len() && both.all(|(old, new)| old.texts == new.texts)
    })
}

/// Returns the asset with the headers of lines in their places.
fn with_headers(asset: &Bytes, credits: &Credits, lines: &Lines) -> Vec<u8> {
    let mut out = Writer::new(credits.endian);
    out.put(asset);
    for line in lines.iter().flatten() {
        overwrite(&line.header, line.offset, &mut out);
    }
    out.bytes
}

/// Encodes the credits with other lines. Everything that is not a line is copied.
fn encode(asset: &Bytes, credits: &Credits, lines: &Lines) -> Result<Vec<u8>, String> {
    let mut out = Writer::new(credits.endian);
    let first = credits.sections.first();
    out.put(&asset[..first.map_or(asset.len(), |section| section.offset)]);
    for (section, lines) in credits.sections.iter().zip(lines) {
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
    use fixtures::edited_value;
    use fixtures::heavy_iron::{CreditsLine as Built, credits_of};
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered_text;

    const FIRST: [Built; 3] = [
        (0.0, 2.0, [Some("A Film"), None]),
        (2.5, 4.0, [Some("Made by"), Some("Nobody")]),
        (4.0, 8.0, [None, Some("right")]),
    ];
    const SECOND: [Built; 1] = [(0.0, 1.5, [Some("The End"), None])];

    fn built(is_big: bool) -> Vec<u8> {
        credits_of(is_big, &[&FIRST, &SECOND])
    }

    /// Edits a file of credits by replacing a text, or all of it.
    fn edit(asset: &[u8], file: &str, [shown, new]: [&str; 2]) -> Result<Vec<u8>, String> {
        let before = rendered_text(&FORMAT, asset, file).unwrap();
        assert!(before.contains(shown), "{shown:?} in {before}");
        match edited(&FORMAT, asset, file, before.replace(shown, new).as_bytes())? {
            Imported::Changed(changed) => Ok(changed.asset),
            Imported::Unchanged => Ok(asset.to_vec()),
        }
    }

    #[test]
    fn a_text_of_another_length_moves_what_follows() {
        for is_big in [true, false] {
            let mut first = FIRST;
            first[1].2 = [Some("Made by"), Some("Somebody else")];
            first[0].2 = [Some("Caf"), Some("two")];
            let expected = credits_of(is_big, &[&first, &SECOND]);
            let asset = edit(&built(is_big), TEXT, ["Nobody", "Somebody else"]).unwrap();
            let asset = edit(&asset, TEXT, ["A Film", "Caf\ttwo"]).unwrap();
            assert_eq!(asset, expected);
            let asset = edit(&built(is_big), LINES, ["Nobody", "Somebody else"]).unwrap();
            let asset = edit(&asset, LINES, ["A Film\t", "Caf\ttwo"]).unwrap();
            assert_eq!(asset, expected);
        }
    }

    #[test]
    fn unchanged_files_of_any_editor_change_nothing() {
        for file in [TEXT, LINES] {
            assert_eq!(edit(&built(true), file, ["\n", "\r\n"]), Ok(built(true)));
        }
    }

    #[test]
    fn times_change_in_their_places_and_lines_are_added_and_deleted() {
        let mut first = FIRST;
        (first[0].0, first[0].1) = (0.25, 1.75);
        let asset = edit(&built(true), LINES, ["0\t0\t0\t2\t", "0\t0\t0.25\t1.75\t"]);
        assert_eq!(asset, Ok(credits_of(true, &[&first, &SECOND])));
        let added = "1\t\t2\t3\t\t\tMods\n0\t\t8\t9\t0\tMore\t\n";
        let end = "\tThe End\t\n";
        let asset = edit(&built(false), LINES, [end, &format!("{end}{added}")]);
        let all = [FIRST.as_slice(), &[(8.0, 9.0, [Some("More"), None])]].concat();
        let second = [SECOND[0], (2.0, 3.0, [None, Some("Mods")])];
        assert_eq!(asset, Ok(credits_of(false, &[&all, &second])));
        let table = rendered_text(&FORMAT, &built(true), LINES).unwrap();
        let rows = table.lines().enumerate().map(|(row, text)| match row {
            0 => format!("#\t{text}\n"),
            2 | 4 => format!("-\t{text}\n"),
            _ => format!("\t{text}\n"),
        });
        let fewer = edited(
            &FORMAT,
            &built(true),
            LINES,
            rows.collect::<String>().as_bytes(),
        );
        let expected = credits_of(true, &[&[FIRST[0], FIRST[2]], &[]]);
        assert_eq!(fewer, Ok(expected.into()));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        let refused = |file, texts: [&str; 2]| edit(&built(true), file, texts).unwrap_err();
        let long = "x".repeat(256);
        assert_eq!(
            refused(TEXT, ["A Film\n", ""]),
            "has 4 rows, must have 5: lines are added and deleted in lines.tsv"
        );
        assert_eq!(
            refused(TEXT, ["A Film", "A\tFilm\tmore"]),
            "row 1: has more than two texts"
        );
        assert_eq!(
            refused(TEXT, ["right\n\n", "right\nx\n"]),
            "row 4: must be empty, between sections"
        );
        assert_eq!(
            refused(LINES, ["A Film", &long]),
            "line 2, column left (0 0): has 256 letters, at most 255 fit"
        );
        assert_eq!(
            refused(LINES, ["\t2\t0\tA Film", "\t2\t1\tA Film"]),
            "line 2, column preset (0 0): 1 is no preset: the section has 1"
        );
        assert_eq!(
            refused(LINES, ["The End\t\n", "The End\t\n2\t\t0\t1\t0\tx\t\n"]),
            "line 6, column section: is none of the 2 sections"
        );
        let empty = credits_of(true, &[&[]]);
        assert_eq!(
            edited(&FORMAT, &empty, TEXT, b"\n"),
            Ok(Imported::Unchanged)
        );
        assert_eq!(
            edited(&FORMAT, &empty, TEXT, b"more\n").unwrap_err(),
            "row 1: belongs to no line"
        );
        assert_eq!(edited(&FORMAT, b"", TEXT, b""), Ok(Imported::Unchanged));
        let enciphered = |[shown, new]: [&str; 2]| {
            let mut asset = built(true);
            asset[15] = ENCIPHERED as u8;
            edit(&asset, LINES, [shown, new])
        };
        assert_eq!(
            enciphered(["\t2.5\t4\t0\t", "\t2.5\t4\t0\tx"]).unwrap_err(),
            "has enciphered texts, around which lines cannot move"
        );
        assert!(enciphered(["\t2.5\t4\t", "\t2.75\t4\t"]).is_ok());
    }

    #[test]
    fn durations_and_flags_are_values_of_info_json() {
        let edit = |path, value| edited_value(&FORMAT, &built(true), path, value);
        let mut expected = built(true);
        expected[24 + 8 + 3] = 0x40;
        assert_eq!(edit("sections[0].flags", "64"), Ok(Some(expected)));
        assert!(edit("sections[1].duration", "3.5").unwrap().is_some());
        edit("sections[1].lines", "3").unwrap_err();
        edit("sections[1].size", "3").unwrap_err();
    }
}
