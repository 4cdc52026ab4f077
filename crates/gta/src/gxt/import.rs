//! All texts in one file, one per line, and the import of edited texts as GXT. Tables
//! and keys cannot be changed.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;

use crate::gxt::{self, Entry, Gxt, Texts, characters};
use hpimount_assets::view::import::{Edit, Imported};

/// Size of a magic and a length.
const HEAD: usize = 8;

/// Encodes an edited `texts.txt`.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != ALL {
        return Err(format!("is made from the texts: edit their file {ALL}"));
    }
    let model = gxt::parse(edit.asset).map_err(|error| error.to_string())?;
    if let Some(table) = model.tables.iter().find(|table| table.error.is_some()) {
        return Err(format!("shows texts whose table {} is damaged", table.name));
    }
    let text = std::str::from_utf8(edit.file).map_err(|error| {
        let before = &edit.file[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("is not UTF-8 in line {line}: save it as UTF-8")
    })?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let changed = changed_texts(&model, text)?;
    if changed.is_empty() {
        return Ok(Imported::Unchanged);
    }
    let asset = rebuilt(edit.asset, &model, &changed)?;
    let is_shown = gxt::parse(&asset.clone().into())
        .is_ok_and(|model| changed_texts(&model, text).is_ok_and(|changed| changed.is_empty()));
    match is_shown {
        true => Ok(asset.into()),
        false => Err("shows tables that share their bytes".to_owned()),
    }
}

/// Encoded new texts, by table and entry number.
type NewTexts = HashMap<(usize, usize), Vec<u8>>;

/// Returns the edited texts of a file.
fn changed_texts(model: &Gxt, text: &str) -> Result<NewTexts, String> {
    let mut changed = NewTexts::new();
    let edited = text.lines().enumerate();
    let mut edited = edited.filter(|(_, line)| !line.is_empty());
    let same = HashMap::new();
    let mut original = lines(model, &same).filter(|line| !line.is_empty());
    let mut next = |expected: &str| {
        let missing =
            || format!("ends before the line {expected:?}: keep all lines in their order");
        edited.next().ok_or_else(missing)
    };
    for (number, table) in model.tables.iter().enumerate() {
        let name = original.next().unwrap_or_default();
        let (at, found) = next(&name)?;
        if found != name {
            let line = at + 1;
            return Err(format!(
                "has another table in line {line}, which must be {name:?}"
            ));
        }
        for (index, entry) in table.entries.iter().enumerate() {
            let old = original.next().unwrap_or_default();
            let start = format!("{}=", plain(&entry.key.to_string()));
            let (at, found) = next(&start)?;
            let line = at + 1;
            let new = found.strip_prefix(&*start).ok_or_else(|| {
                format!("has another key in line {line}, which must begin with {start:?}")
            })?;
            if found != old {
                let stored = stored(model, new).map_err(|why| format!("{why} in line {line}"))?;
                if !model.has_text(entry, &stored) {
                    changed.insert((number, index), stored);
                }
            }
        }
    }
    match edited.next() {
        None => Ok(changed),
        Some((at, _)) => Err(format!(
            "has line {}, which the original does not have: texts cannot be added",
            at + 1
        )),
    }
}

/// Encodes a text with its terminator.
fn stored(model: &Gxt, text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(2 * text.len() + 2);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (code, length) = match escaped(rest) {
            Some(found) => found,
            None => (
                characters::code(character).unwrap_or(0),
                character.len_utf8(),
            ),
        };
        let is_narrow = model.layout.is_narrow();
        match code {
            1..=0xFF if is_narrow => bytes.push(code as u8),
            1.. if !is_narrow => bytes.extend(code.to_le_bytes()),
            _ => {
                let shown = character.escape_debug();
                return Err(format!(
                    "has the character '{shown}', which the game does not have,"
                ));
            }
        }
        rest = &rest[length..];
    }
    bytes.resize(
        bytes.len() + if model.layout.is_narrow() { 1 } else { 2 },
        0,
    );
    Ok(bytes)
}

/// Parses an escape at the start of a text: `\n`, `\u{1b}` or `\xb1`. Returns its
/// character and length.
fn escaped(text: &str) -> Option<(u16, usize)> {
    let rest = text.strip_prefix('\\')?;
    Some(match rest.as_bytes().first()? {
        b'n' => (10, 2),
        b'r' => (13, 2),
        b't' => (9, 2),
        b'x' => (u16::from_str_radix(rest.get(1..3)?, 16).ok()?, 4),
        b'u' => {
            let (digits, _) = rest.get(1..)?.strip_prefix('{')?.split_once('}')?;
            (u16::from_str_radix(digits, 16).ok()?, digits.len() + 4)
        }
        _ => return None,
    })
}

/// The new parts of a table.
struct NewTable {
    keys: Range<usize>,
    new_keys: Vec<u8>,
    /// The length of the texts, and these.
    texts: Range<usize>,
    new_texts: Vec<u8>,
}

/// Returns the file with new texts.
fn rebuilt(file: &Bytes, model: &Gxt, changed: &NewTexts) -> Result<Vec<u8>, String> {
    let mut tables = Vec::new();
    for (number, table) in model.tables.iter().enumerate() {
        if changed.keys().any(|&(of, _)| of == number) {
            tables.push(new_table(file, model, number, table, changed)?);
        }
    }
    tables.sort_by_key(|table| table.keys.start);
    let mut out = Vec::with_capacity(file.len());
    let mut at = 0;
    // Offsets where the file grows or shrinks, and by how much.
    let mut moves = Vec::new();
    for table in tables {
        if table.keys.start < at {
            return Err("shows tables that share their bytes".to_owned());
        }
        out.extend_from_slice(&file[at..table.keys.start]);
        out.extend_from_slice(&table.new_keys);
        out.extend_from_slice(&file[table.keys.end..table.texts.start]);
        out.extend_from_slice(&table.new_texts);
        at = table.texts.end;
        moves.push((at, table.new_texts.len() as i64 - table.texts.len() as i64));
    }
    out.extend_from_slice(&file[at..]);
    for (number, table) in model.tables.iter().enumerate() {
        let Some(field) = model.offset_of_table(number) else {
            continue;
        };
        let before = moves.iter().filter(|(end, _)| *end as u64 <= table.offset);
        let shift: i64 = before.map(|(_, shift)| shift).sum();
        let offset = u32::try_from(table.offset as i64 + shift);
        let offset = offset.map_err(|_| "makes the file larger than 4 GiB".to_owned())?;
        let field = out.get_mut(field..field + 4);
        let field = field.ok_or("shows a table whose place is not in the file")?;
        field.copy_from_slice(&offset.to_le_bytes());
    }
    Ok(out)
}

/// Returns a table with new texts in file order. Keys may share a text, which is stored
/// once.
fn new_table(
    file: &Bytes,
    model: &Gxt,
    number: usize,
    table: &Texts,
    changed: &NewTexts,
) -> Result<NewTable, String> {
    let outside = || "shows a table that is not in the file".to_owned();
    let start = table.offset as usize + if number > 0 { 8 } else { 0 };
    let length = |at: usize| {
        let word = file.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*word) as usize)
    };
    let keys = start + HEAD;
    let keys = keys..keys + length(start + 4).ok_or_else(outside)?;
    let texts = keys.end + 4;
    let old_size = length(texts).ok_or_else(outside)?;
    let texts = texts..(texts + 4 + old_size).min(file.len());
    if table.entries.len() * model.layout.key_size() != keys.len() {
        return Err(format!("shows texts whose table {} is damaged", table.name));
    }
    let mut order: Vec<(usize, &Entry)> = table.entries.iter().enumerate().collect();
    order.sort_by_key(|(_, entry)| entry.start);
    let mut data: Vec<u8> = Vec::with_capacity(texts.len());
    let mut places: HashMap<(usize, Option<&Vec<u8>>), u32> = HashMap::new();
    let mut new_keys = file.get(keys.clone()).ok_or_else(outside)?.to_vec();
    for (index, entry) in order {
        let new = changed.get(&(number, index));
        let place = *places.entry((entry.start, new)).or_insert_with(|| {
            let place = data.len() as u32;
            match new {
                Some(new) => data.extend_from_slice(new),
                None => {
                    data.extend_from_slice(&file[entry.start..entry.end]);
                    let end = if model.layout.is_narrow() { 1 } else { 2 };
                    data.resize(data.len() + end, 0);
                }
            }
            place
        });
        let at = model.layout.key_size() * index;
        new_keys[at..at + 4].copy_from_slice(&place.to_le_bytes());
    }
    if old_size % 4 == 0 {
        data.resize(data.len().next_multiple_of(4), 0);
    }
    let size = u32::try_from(data.len()).map_err(|_| "has 4 GiB or more".to_owned())?;
    Ok(NewTable {
        keys,
        new_keys,
        texts,
        new_texts: [&size.to_le_bytes(), &data[..]].concat(),
    })
}

/// The file of `X.meta` with all texts.
pub(crate) const ALL: &str = "texts.txt";

/// Returns the lines of `texts.txt`: the name of a table, its texts, and an empty line
/// before the next table. `new` has edited texts, by entry numbers in this order.
pub(crate) fn lines(gxt: &Gxt, new: &HashMap<usize, &str>) -> impl Iterator<Item = String> {
    let mut number = 0;
    let numbers = gxt.tables.iter().map(move |table| {
        number += table.entries.len();
        number - table.entries.len()
    });
    let tables = gxt.tables.iter().zip(numbers).enumerate();
    tables.flat_map(move |(index, (table, first))| {
        let between = (index > 0).then(String::new).into_iter();
        let name = format!("[{}]", plain(&table.name));
        let texts = (first..).zip(&table.entries);
        let texts = texts.map(move |(number, entry)| match new.get(&number) {
            Some(text) => line(entry, text),
            None => line(entry, &gxt.text(entry)),
        });
        between.chain([name]).chain(texts)
    })
}

/// Returns whether a part of a text looks like an escape, so that a line of `texts.txt`
/// would have another meaning.
pub(crate) fn has_escape(text: &str) -> bool {
    let mut backslashes = text.match_indices('\\');
    backslashes.any(|(at, _)| escaped(&text[at..]).is_some())
}

/// Returns the line of a text.
fn line(entry: &Entry, text: &str) -> String {
    format!("{}={}", plain(&entry.key.to_string()), plain(text))
}

/// Returns a text without control characters, which would break its line.
fn plain(text: &str) -> String {
    let characters = text.chars().flat_map(|character| {
        let escaped = character.is_control().then(|| character.escape_default());
        let same = escaped.is_none().then_some(character);
        escaped.into_iter().flatten().chain(same)
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;
    use fixtures::gxt as build;
    use hpimount_assets::view::import::edited;
    use hpimount_assets::view::rendered_text;

    /// Returns the shown texts of a file after an edit of its text.
    fn after(file: &[u8], text: &str) -> String {
        let new = edited(&gxt::FORMAT, file, ALL, text.as_bytes()).unwrap();
        let Imported::Changed(changed) = new else {
            return "unchanged".to_owned();
        };
        rendered_text(&gxt::FORMAT, &changed.asset, ALL).unwrap()
    }

    proptest! {
        #[test]
        fn any_edited_texts_are_shown_and_can_be_undone(
            new in vec(of("[A-Za-z0-9 ,.!~\u{e4}\u{bf}]{0,40}"), 8),
        ) {
            for file in [build::third(), build::later()] {
                let before = rendered_text(&gxt::FORMAT, &file, ALL).unwrap();
                let mut new = new.iter();
                let lines = before.lines().map(|line| {
                    let text = line.split_once('=').zip(new.next().and_then(Option::as_ref));
                    text.map_or(line.to_owned(), |((key, _), text)| format!("{key}={text}"))
                });
                let text: String = lines.map(|line| line + "\n").collect();
                let edit = edited(&gxt::FORMAT, &file, ALL, text.as_bytes()).unwrap();
                let Imported::Changed(changed) = edit else {
                    prop_assert_eq!(text, before);
                    continue;
                };
                let shown = rendered_text(&gxt::FORMAT, &changed.asset, ALL).unwrap();
                prop_assert_eq!(&shown, &text);
                prop_assert_eq!(after(&changed.asset, &before), before);
            }
        }
    }

    #[test]
    fn edited_texts_are_shown_and_the_others_are_kept() {
        for file in [build::third(), build::later()] {
            let before = rendered_text(&gxt::FORMAT, &file, ALL).unwrap();
            assert_eq!(after(&file, &before), "unchanged");
            for (old, new) in [
                ("Grün", "A longer text, ¿\\n\\xb1"),
                ("Grün", ""),
                ("=\n", "=now there is one\n"),
            ] {
                let text = before.replacen(old, new, 1);
                assert_eq!(after(&file, &text), text);
            }
            // Windows editors end lines with CR LF.
            assert_eq!(after(&file, &before.replace('\n', "\r\n")), "unchanged");
        }
    }

    #[test]
    fn an_empty_last_text_behind_the_others_can_be_edited() {
        let mut file = build::third();
        // The second key, whose text begins at the end of the texts.
        file[20] = 12;
        let before = rendered_text(&gxt::FORMAT, &file, ALL).unwrap();
        assert!(before.ends_with("NO=\n"), "{before}");
        for text in [
            before.replace("Grün", "Red"),
            before.replace("NO=", "NO=none"),
        ] {
            assert_eq!(after(&file, &text), text);
        }
    }

    #[test]
    fn tables_and_keys_stay() {
        let file = build::later();
        let refused = |text: &str| edited(&gxt::FORMAT, &file, ALL, text.as_bytes()).unwrap_err();
        assert_eq!(
            refused("[MAIN]\n0x00000007=x\n"),
            "has another key in line 2, which must begin with \"0x00000001=\""
        );
        assert_eq!(
            refused("[MAIN]\n0x00000001=→"),
            "has the character '→', which the game does not have, in line 2"
        );
        assert!(refused("[MAIN]\n0x00000001=x").contains("ends before the line"));
        assert!(refused("[OTHER]").contains("which must be \"[MAIN]\""));
        let more = rendered_text(&gxt::FORMAT, &file, ALL).unwrap() + "new=1\n";
        assert!(refused(&more).contains("texts cannot be added"));
    }

    #[test]
    fn texts_are_replaced_by_the_numbers_of_their_entries() {
        for file in [build::third(), build::later()] {
            let model = gxt::parse(&file.clone().into()).unwrap();
            let with = |new: &HashMap<usize, &str>| {
                let lines = lines(&model, new).map(|line| line + "\n");
                lines.collect::<String>()
            };
            assert_eq!(after(&file, &with(&HashMap::new())), "unchanged");
            let last = model.tables.iter().map(|table| table.entries.len());
            let last = last.sum::<usize>() - 1;
            // It looks like the name of a table.
            let new = with(&HashMap::from([(last, "[x]")]));
            let shown = after(&file, &new);
            assert!(shown.ends_with("=[x]\n"), "{shown}");
            assert_eq!(shown.matches("[x]").count(), 1);
        }
    }

    #[test]
    fn a_text_with_the_characters_of_an_escape_is_known() {
        for text in ["C:\\new", "\\xb1", "\\u{1b}", "a\\\\n"] {
            assert!(has_escape(text), "{text}");
        }
        for text in ["", "C:\\games", "\\", "\\x", "~n~", "a\nb"] {
            assert!(!has_escape(text), "{text}");
        }
    }

    #[test]
    fn a_text_stays_on_its_line() {
        assert_eq!(plain("a\nb~r~\u{1b}"), "a\\nb~r~\\u{1b}");
    }
}
