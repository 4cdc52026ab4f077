//! The tables of fields in docs/formats have the fields of the records: each record of
//! the families names its chapter, and its derive compares the table there.

use std::collections::BTreeSet;
use std::fs;

use super::architecture::{CRATES, add_files, root};

/// Returns the name of each derived record in a source, and the file of its table.
fn records(source: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_derived = |item: &&str| {
        let traits = item.split_once(")]").map_or("", |(traits, _)| traits);
        traits.split(", ").any(|name| name.trim() == "Record")
    };
    source
        .split("#[derive(")
        .skip(1)
        .filter(is_derived)
        .map(|item| {
            let (attributes, rest) = item.split_once("struct ").expect("a record is a structure");
            let name = rest.split([' ', '<', '{']).next().unwrap_or_default();
            let table = attributes.split_once("table = \"../../");
            let table = table.and_then(|(_, path)| path.split_once('"'));
            (name, table.map_or("no table", |(path, _)| path))
        })
}

/// Returns the names before tables of fields in a chapter.
fn tables(chapter: &str) -> impl Iterator<Item = &str> {
    let tables = chapter.split("<!-- ").skip(1);
    tables.filter_map(|table| Some(table.split_once(" -->\n| offset | field |")?.0))
}

#[test]
fn every_record_of_a_family_has_a_table_of_its_fields() {
    let mut files = Vec::new();
    // The tests of `crates/record` have records without a format.
    for folder in CRATES
        .iter()
        .filter(|folder| **folder != "crates/record/src")
    {
        add_files(&root().join(folder), &mut files);
    }
    let mut declared = BTreeSet::new();
    // The format that only tests have is in no chapter.
    files.retain(|file| !file.ends_with("made_up_asset.rs"));
    for file in files {
        let source = fs::read_to_string(file).unwrap();
        declared.extend(records(&source).map(|(name, table)| format!("{table}: {name}")));
    }
    let mut documented = BTreeSet::new();
    for chapter in fs::read_dir(root().join("docs/formats")).unwrap() {
        let chapter = chapter.unwrap();
        let (text, file) = (fs::read_to_string(chapter.path()), chapter.file_name());
        let path = format!("docs/formats/{}", file.display());
        documented.extend(tables(&text.unwrap()).map(|name| format!("{path}: {name}")));
    }
    assert!(declared.len() > 20, "{declared:?}");
    assert_eq!(declared, documented);
}
