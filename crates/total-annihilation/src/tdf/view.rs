//! View of a text of units, weapons, maps or menus.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{menu, menu_view};
use crate::tdf::{self, Item, Section, Tdf};
use crate::view::failure;
use hpimount_assets::view::json::Seq;
use hpimount_assets::view::listed::{ListedView, whole_files};
use hpimount_assets::view::{AssetContext, Failure, Summary, View, ViewFormat, json};
use hpimount_containers::file_type::FileType;

/// Texts of sections and keys.
pub const FORMAT: ViewFormat = ViewFormat {
    extensions: tdf::EXTENSIONS,
    types: &[FileType {
        is_text: true,
        patterns: &["*.fbi", "*.ota", "*.tdf"],
        ..FileType::new("text/x-ta-tdf", Some("Total Annihilation definitions"))
    }],
    ..ViewFormat::new("TDF", open)
};

/// Maximum nesting of sections in a [`Value`], since the depth of a parsed one
/// is limited.
const MAX_VALUE_DEPTH: usize = 32;

fn open(bytes: &Bytes, _context: &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>> {
    // Menus of both games have the same extension.
    if menu::is_menu(bytes) {
        return Ok(menu_view::view(bytes));
    }
    let tdf = tdf::parse(bytes).map_err(|incomplete| failure(*incomplete, partial))?;
    let files = whole_files(&[("info.json", info as _), ("info.txt", page)]);
    Ok(Box::new(ListedView { model: tdf, files }))
}

/// Returns the known facts of an incomplete text, without the contents of
/// sections that are too deep for a value.
fn partial(tdf: &Tdf) -> Value {
    let brief = json!({"format": FORMAT.name, "depth": tdf.depth, "entries": tdf.len()});
    if tdf.depth > MAX_VALUE_DEPTH {
        return brief;
    }
    json::bounded_value(&Facts::new(tdf), &brief)
}

#[derive(Serialize)]
struct Facts<'a> {
    format: &'static str,
    has_block_comments: bool,
    non_ascii: usize,
    depth: usize,
    #[serde(flatten)]
    root: Content<'a>,
    warnings: Vec<String>,
}

impl<'a> Facts<'a> {
    fn new(tdf: &'a Tdf) -> Self {
        Self {
            format: FORMAT.name,
            has_block_comments: tdf.has_block_comments,
            non_ascii: tdf.non_ascii,
            depth: tdf.depth,
            root: Content::new(tdf.root()),
            warnings: tdf.warnings.texts(),
        }
    }
}

/// The contents of a section.
#[derive(Serialize)]
struct Content<'a> {
    /// The keys as read by the game: the last one of several with the same
    /// name.
    keys: Keys<'a>,
    /// Keys that are ignored because one with the same name follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overridden: Vec<[String; 2]>,
    sections: Seq<'a, Named<'a>>,
}

/// A section with its name. The nesting is limited by the parser.
#[derive(Serialize)]
struct Named<'a> {
    name: String,
    #[serde(flatten)]
    content: Content<'a>,
}

/// The effective keys of a section.
struct Keys<'a> {
    section: Section<'a>,
    overridden: HashSet<usize>,
}

impl<'a> Content<'a> {
    fn new(section: Section<'a>) -> Self {
        let mut last = HashMap::new();
        for (number, key) in section.keys().enumerate() {
            last.insert(key.name().to_ascii_lowercase(), number);
        }
        let overridden = section
            .keys()
            .enumerate()
            .filter(|(number, key)| last.get(&key.name().to_ascii_lowercase()) != Some(number));
        let (numbers, overridden) = overridden
            .map(|(number, key)| (number, [key.name(), key.value()].map(String::from)))
            .unzip();
        Self {
            keys: Keys {
                section,
                overridden: numbers,
            },
            overridden,
            sections: Seq::new(move || {
                section.items().filter_map(|item| match item {
                    Item::Section(section) => Some(Named {
                        name: section.name().into_owned(),
                        content: Content::new(section),
                    }),
                    Item::Key(_) => None,
                })
            }),
        }
    }
}

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (number, key) in self.section.keys().enumerate() {
            if !self.overridden.contains(&number) {
                map.serialize_entry(&key.name(), &key.value())?;
            }
        }
        map.end()
    }
}

fn info(tdf: &Tdf, out: &mut dyn Write) -> io::Result<()> {
    json::write_pretty(&Facts::new(tdf), out)
}

fn page(tdf: &Tdf, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Summary::new("TDF text");
    let sections: Vec<_> = tdf
        .root()
        .sections()
        .map(|section| section.name())
        .collect();
    page.list("sections", sections.iter());
    page.line("entries", tdf.len());
    page.write(&tdf.warnings, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::view::Alone;

    fn rendered(bytes: &[u8], name: &str) -> String {
        hpimount_assets::view::rendered_text(&FORMAT, bytes, name).unwrap()
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
            match open(&Bytes::from(text.into_bytes()), &Alone) {
                Ok(_) => assert!(depth <= 64),
                Err(failure) => assert!(depth > 64 && failure.partial["format"] == "TDF"),
            }
        }
    }
}
