//! `docs/FORMATS.md` lists the files of converted trees that can be edited.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use hpimount::formats::{REPORTS, VIEW_FORMATS};

const PAGE: &str = "docs/FORMATS.md";
const HEADING: &str = "## Files that can be edited\n";

/// Returns the rows of the table: the files of formats, and those that combine assets.
fn rows() -> String {
    let mut rows = String::new();
    let mut formats: Vec<_> = VIEW_FORMATS.iter().collect();
    formats.sort_by_key(|format| format.name);
    for format in formats {
        for editable in format.edits {
            let (file, what) = (editable.file, editable.what);
            writeln!(rows, "| {} | `{file}` | {what} |", format.name).unwrap();
        }
    }
    let families = [
        "HIP archive",
        "game of Grand Theft Auto",
        "game of Total Annihilation",
    ];
    assert_eq!(families.len(), REPORTS.len());
    for (family, reports) in families.into_iter().zip(REPORTS) {
        // Many tables have the same rules.
        let mut tables: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for report in *reports {
            if let Some(editing) = &report.edit {
                let paths = tables.entry(editing.cells).or_default();
                paths.push(format!("`{}`", report.path));
            }
        }
        for (cells, paths) in tables {
            writeln!(rows, "| {family} | {} | {cells} |", paths.join(", ")).unwrap();
        }
    }
    rows
}

#[test]
fn the_page_of_formats_lists_all_files_that_can_be_edited() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, section) = page.split_once(HEADING).unwrap();
    let (text, table) = section.split_once("|---|---|---|\n").unwrap();
    let rest: String = table
        .split_inclusive('\n')
        .skip_while(|line| line.starts_with('|'))
        .collect();
    let expected = format!("{before}{HEADING}{text}|---|---|---|\n{}{rest}", rows());
    if std::env::var_os("HPIMOUNT_WRITE_DUMPS").is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    assert!(page == expected, "{}", rows());
}

#[test]
fn formats_that_take_edited_files_say_which() {
    for format in VIEW_FORMATS.iter() {
        let takes_files = format.import.is_some() || format.import_all.is_some();
        let mut files = format.edits.iter().map(|editable| editable.file);
        let has_values =
            files.any(|file| ["object.json", "info.json", "nodes.json"].contains(&file));
        let says_which = !format.edits.is_empty();
        assert_eq!(takes_files || has_values, says_which, "{}", format.name);
    }
}
