//! The tables of fields in docs/formats have the fields of the records.

use std::fs;

use hpimount_crash::hgo;
use hpimount_neversoft::{ddm, vab};
use hpimount_record::{Record, field_table};

/// The records with a table: the chapter, the name in the comment before the table,
/// and the record.
fn records() -> Vec<(&'static str, Box<dyn Record>)> {
    vec![
        ("hgo", Box::<hgo::Material>::default()),
        ("hgo", Box::<hgo::TextureAnimation>::default()),
        ("hgo", Box::<hgo::Joint>::default()),
        ("hgo", Box::<hgo::Point>::default()),
        ("hgo", Box::<hgo::Bounds>::default()),
        ("neversoft", Box::<ddm::ObjectHeader>::default()),
        ("neversoft", Box::<ddm::Material>::default()),
        ("neversoft", Box::<ddm::Split>::default()),
        ("neversoft", Box::<vab::VabHeader>::default()),
        ("neversoft", Box::<vab::ProgramHeader>::default()),
        ("neversoft", Box::<vab::Tone>::default()),
    ]
}

#[test]
fn the_tables_of_fields_are_those_of_the_records() {
    let mut wrong = String::new();
    for (chapter, record) in records() {
        let path = format!("docs/formats/{chapter}.md");
        let text = fs::read_to_string(&path).unwrap();
        let marker = format!("<!-- {} -->\n", record.description().name);
        let table = format!("{marker}{}", field_table(&*record, 0));
        if !text.contains(&format!("{table}\n")) {
            wrong += &format!("{path} should have:\n{table}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
