//! View of a text of units, weapons, maps or menus.

use std::cmp::Ordering;
use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use super::menu;
use crate::tdf::edit::{KeyEdit, Target, edit as edit_keys};
use crate::tdf::{self, Section, Tdf};
use hpimount_assets::parse::so_far;
use hpimount_assets::view::edit::{self, Disagreement, Edit, What};
use hpimount_assets::view::node::{self, Entry, Node, Nodes};
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{AssetContext, Opened, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_record::Value;

/// Texts of sections and keys.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: tdf::EXTENSIONS,
    types: &[FileType {
        is_text: true,
        patterns: &["*.fbi", "*.ota", "*.tdf"],
        ..FileType::new("text/x-ta-tdf", Some("Total Annihilation definitions"))
    }],
    edit: Some(edit),
    ..ViewFormat::new("TDF", open)
};

/// Maximum nesting of visible sections in a damaged text, because readers of JSON have
/// a limit.
const MAX_SHOWN_DEPTH: usize = 32;

/// Writes edited values.
fn edit(text: &[u8], edits: &[Edit]) -> Result<Option<Vec<u8>>, Vec<edit::Problem>> {
    let (numbers, keys): (Vec<_>, Vec<_>) = one_for_each_key(edits)?.into_iter().unzip();
    let problem = |(edit, text)| edit::Problem::new(numbers[edit], text);
    let edited = edit_keys(text, &keys).map_err(|problems| {
        let problems = problems.into_iter();
        problems.map(problem).collect::<Vec<_>>()
    })?;
    Ok((edited != text).then_some(edited))
}

/// Returns edits with their numbers: for each key, the edit with the highest rank.
fn one_for_each_key(edits: &[Edit]) -> Result<Vec<(usize, KeyEdit<'_>)>, Vec<edit::Problem>> {
    let mut chosen = BTreeMap::new();
    let mut problems = Vec::new();
    for (number, edit) in edits.iter().enumerate() {
        let What::Text(position, name, value) = &edit.what else {
            let problem = "has no such values".to_owned();
            return Err(vec![edit::Problem::new(number, problem)]);
        };
        let target = match name.as_str() {
            "" => Target::At(*position),
            name => Target::Named(*position, name),
        };
        let new = (number, KeyEdit { target, value });
        match chosen.entry((*position, name.to_ascii_lowercase())) {
            Slot::Vacant(slot) => {
                slot.insert(new);
            }
            Slot::Occupied(mut slot) => {
                let (other, known) = slot.get();
                match edit.rank.cmp(&edits[*other].rank) {
                    Ordering::Greater => _ = slot.insert(new),
                    Ordering::Equal if known.value != value => {
                        problems.push(two_values(number, *other, name));
                    }
                    Ordering::Equal | Ordering::Less => {}
                }
            }
        }
    }
    let mut chosen: Vec<_> = chosen.into_values().collect();
    chosen.sort_by_key(|(number, _)| *number);
    match problems.is_empty() {
        true => Ok(chosen),
        false => Err(problems),
    }
}

/// Reports that an edit and an earlier one concern the same key.
fn two_values(edit: usize, with: usize, key: &str) -> edit::Problem {
    let path = key.to_owned();
    edit::Problem {
        disagreement: Some(Disagreement { with, path }),
        ..edit::Problem::new(edit, "has two new values".to_owned())
    }
}

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Opened {
    // Menus of both games have the same extension.
    if menu::is_menu(bytes) {
        return Ok(menu::view(bytes));
    }
    let (mut tdf, error) = so_far(tdf::parse(bytes));
    let warnings = std::mem::take(&mut tdf.warnings);
    let mut page = Page::new(FORMAT.name, "TDF text", warnings);
    page.fact("has_block_comments", tdf.has_block_comments)
        .fact("non_ascii", tdf.non_ascii)
        .fact("depth", tdf.depth)
        .fact("entries", tdf.len());
    if error.is_none() || tdf.depth <= MAX_SHOWN_DEPTH {
        page.computed(|tdf: &Tdf| contents(tdf.root()));
    }
    Ok(page.show(tdf, error))
}

/// Returns the contents of a section: the effective keys, where the last key with a
/// name wins; the other keys; and the sections. The parser limits the nesting.
fn contents(section: Section<'_>) -> Vec<Entry<'_>> {
    let mut last = HashMap::new();
    for (number, key) in section.keys().enumerate() {
        last.insert(key.name().to_ascii_lowercase(), number);
    }
    let (keys, overridden): (Vec<_>, Vec<_>) = section
        .keys()
        .enumerate()
        .partition(|(number, key)| last.get(&key.name().to_ascii_lowercase()) == Some(number));
    let texts = |(_, key): (usize, tdf::Key<'_>)| [key.name(), key.value()].map(String::from);
    let keys = keys.into_iter().map(texts);
    let keys = keys.map(|[name, value]| (name.into(), value.into()));
    let mut contents = vec![("keys", Node::Map(keys.collect()))];
    if !overridden.is_empty() {
        let overridden = overridden.into_iter().map(texts);
        contents.push(("overridden", overridden.collect::<Value>().into()));
    }
    let sections = move || -> Nodes<'_> { Box::new(section.sections().map(named)) };
    contents.push(("sections", Node::Each(Box::new(sections))));
    contents
}

fn named(section: Section<'_>) -> Node<'_> {
    let name = [("name", section.name().into_owned().into())];
    node::map(name.into_iter().chain(contents(section)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::Alone;
    use serde_json::{Value, json};

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
    }

    #[test]
    fn of_two_values_of_a_key_the_one_with_the_higher_rank_counts() {
        let edit_of = |name: &str, value: &str, rank| Edit {
            rank,
            ..Edit::new(
                String::new(),
                What::Text(1, name.to_owned(), value.to_owned()),
            )
        };
        let edited = |edits: &[Edit]| {
            let new = edit(b"[A]\r\n{\r\nName=Tank;\r\n}\r\n", edits)?;
            Ok::<_, Vec<edit::Problem>>(String::from_utf8(new.unwrap()).unwrap())
        };
        let one = edit_of("NewKey", "one", 1);
        let other = edit_of("newkey", "other", 0);
        let new = edited(&[other.clone(), one.clone()]).unwrap();
        assert!(
            new.contains("NewKey=one;") && !new.contains("other"),
            "{new}"
        );
        let equal = Edit { rank: 1, ..other };
        let problems = edited(&[one, equal]).unwrap_err();
        assert_eq!(problems[0].disagreement.as_ref().unwrap().with, 0);
    }

    #[test]
    fn a_menu_of_kingdoms_is_healthy_and_shows_its_strings() {
        let menu = b"2 1 \r\n2 0 0 640 480 1 1 0 0 \r\n10 BattleMenu 1 2 \r\n";
        let info = rendered(menu, "info.json");
        let info: Value = serde_json::from_str(&info).unwrap();
        let expected = json!({
            "format": "TA: Kingdoms menu",
            "strings": ["BattleMenu"],
            "warnings": [],
        });
        assert_eq!(info, expected);
        let page = rendered(menu, "info.txt");
        assert!(page.contains("1: BattleMenu\n"), "{page}");
        assert!(
            open(&Bytes::from_static(menu), &Alone)
                .unwrap()
                .failure()
                .is_none()
        );
    }

    #[test]
    fn the_memory_of_a_text_includes_its_entries_and_the_copy_without_comments() {
        let text = "// comment\n".to_owned() + &"a=1;".repeat(1000);
        let view = open(&Bytes::from(text.clone().into_bytes()), &Alone).unwrap();
        // Each entry has two spans of the text.
        assert!(view.memory() >= text.len() + 1000 * 16, "{}", view.memory());
    }

    #[test]
    fn a_text_that_is_too_deep_is_reported() {
        for depth in [10, 64, 65, 1000] {
            let text = "[a]{".repeat(depth) + &"}".repeat(depth);
            let view = open(&Bytes::from(text.into_bytes()), &Alone).unwrap();
            assert_eq!(view.failure().is_some(), depth > 64);
            assert_eq!(view.info().get("depth"), Some(&depth.min(64).into()));
        }
    }
}
