//! Each format has tests with files of other programs, which docs/FORMATS.md lists.

use std::fs;
use std::path::Path;

use hpimount::formats::VIEW_FORMATS;
use hpimount_containers::{formats, image};

/// A row of the table: names of formats, who wrote files, and the test with them.
struct Row {
    formats: Vec<String>,
    writers: String,
    test: Option<String>,
}

/// Returns the rows of the table in `docs/FORMATS.md`.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string("docs/FORMATS.md").unwrap();
    let (_, section) = page.split_once("## Files of other programs\n").unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|'));
    // Without the heading.
    let rows = lines.skip(2).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [formats, writers, test] = cells[..] else {
            panic!("{line}");
        };
        Row {
            formats: formats.split(", ").map(str::to_owned).collect(),
            writers: writers.to_owned(),
            test: (!test.is_empty()).then(|| test.trim_matches('`').to_owned()),
        }
    });
    rows.collect()
}

#[test]
fn every_format_says_which_files_of_other_programs_it_is_tested_with() {
    let mut listed: Vec<String> = rows().into_iter().flat_map(|row| row.formats).collect();
    let containers = formats::all().map(|format| format.name);
    let images = image::IMAGES.iter().map(|format| format.name);
    let assets = VIEW_FORMATS.iter().map(|format| format.name);
    let mut known: Vec<&str> = containers.chain(images).chain(assets).collect();
    listed.sort();
    known.sort();
    // Formats that are detected in several ways have several lines.
    known.dedup();
    assert_eq!(listed, known);
}

#[test]
fn the_tests_with_files_of_other_programs_exist() {
    for Row {
        formats,
        writers,
        test,
    } in rows()
    {
        assert_eq!(test.is_none(), writers == "none", "{formats:?}");
        if let Some(test) = test {
            assert!(Path::new(&test).is_file(), "{formats:?}: {test}");
        }
    }
}
