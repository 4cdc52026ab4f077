//! Map files of Grand Theft Auto, compared with the results of an independent
//! reader.

use super::{Sample, list, same, samples};
use crate::shared;
use hpimount_gta::document::schema::{IDE, IPL, Schema};
use hpimount_gta::document::{self, Document};
use hpimount_gta::map::binary::{self, Binary};
use hpimount_gta::map::instance;
use serde_json::Value;

#[test]
fn definitions_and_placements_equal_those_of_the_independent_reader() {
    let mut compared = 0;
    for (extension, schema) in [("ide", &IDE), ("ipl", &IPL), ("zon", &IPL)] {
        for sample in samples("map", extension) {
            let Sample {
                name,
                bytes,
                golden,
            } = &sample;
            let is_bad = golden["error"].is_string();
            if bytes.starts_with(binary::MAGIC) {
                let found = binary::parse(bytes);
                assert_eq!(found.is_err(), is_bad, "{name}: {found:?}");
                if let Ok(found) = found {
                    compare_binary(name, &found, golden);
                }
            } else {
                let found = document::parse(bytes, schema).map(instance::checked);
                assert_eq!(found.is_err(), is_bad, "{name}");
                if let Ok(found) = found {
                    compare_document(name, &found, schema, golden);
                }
            }
            compared += 1;
        }
    }
    assert!(
        compared > 15 || shared("samples/gta/map").is_none(),
        "{compared}"
    );
}

fn compare_document(name: &str, found: &Document, schema: &Schema, golden: &Value) {
    let warnings = list(golden, "warnings");
    let texts = found.warnings.texts();
    assert_eq!(
        warnings.len(),
        texts.len(),
        "{name}: {texts:?} {warnings:?}"
    );
    assert_eq!(golden["rows"], found.row_count(), "{name}");
    let sections = golden["sections"].as_object().unwrap();
    assert_eq!(sections.len(), found.sections.len(), "{name}");
    for section in &found.sections {
        let rows = sections[&section.name].as_array().unwrap();
        assert_eq!(rows.len(), section.rows.len(), "{name}");
        for (row, golden) in section.rows.iter().zip(rows) {
            assert_eq!(golden["line"], row.line, "{name}");
            let fields: Vec<&str> = found.fields(row).collect();
            let shown = format!("{name}: line {}", row.line);
            match schema.columns(&section.name, fields.len()) {
                None => assert_eq!(golden["fields"], Value::from(fields), "{shown}"),
                Some(columns) => {
                    for (column, field) in columns.zip(&fields) {
                        let theirs = column.replace("color", "colour");
                        compare_field(&shown, field, &golden[theirs]);
                    }
                }
            }
        }
    }
}

/// Compares a field, which may be a number in the golden.
fn compare_field(shown: &str, field: &str, golden: &Value) {
    match golden {
        Value::String(text) => assert_eq!(text, field, "{shown}"),
        number => same(
            shown,
            &[field.parse().unwrap()],
            &Value::from(vec![number.clone()]),
        ),
    }
}

fn compare_binary(name: &str, found: &Binary, golden: &Value) {
    assert_eq!(
        list(golden, "warnings").len(),
        found.warnings.len(),
        "{name}"
    );
    let instances = list(&golden["sections"], "inst");
    assert_eq!(instances.len(), found.instances.len(), "{name}");
    let values = |golden: &Value, keys: &[&str]| -> Value {
        keys.iter().map(|key| golden[*key].clone()).collect()
    };
    for (one, golden) in found.instances.iter().zip(instances) {
        same(name, &one.position(), &values(golden, &["x", "y", "z"]));
        same(
            name,
            &one.rotation(),
            &values(golden, &["rx", "ry", "rz", "rw"]),
        );
        assert_eq!(golden["id"], one.id, "{name}");
        assert_eq!(golden["interior"], one.interior, "{name}");
        assert_eq!(golden["lod"], one.lod, "{name}");
    }
    let cars = list(&golden["sections"], "cars");
    assert_eq!(cars.len(), found.cars.len(), "{name}");
    for (car, golden) in found.cars.iter().zip(cars) {
        same(
            name,
            &[car.x, car.y, car.z],
            &values(golden, &["x", "y", "z"]),
        );
        same(name, &[car.angle], &values(golden, &["angle"]));
        let keys = [
            "model",
            "colour1",
            "colour2",
            "force",
            "alarm",
            "locked",
            "min_delay",
            "max_delay",
        ];
        let found = [
            car.model,
            car.color1,
            car.color2,
            car.force,
            car.alarm,
            car.locked,
            car.min_delay,
            car.max_delay,
        ];
        assert_eq!(values(golden, &keys), Value::from(&found[..]), "{name}");
    }
}
