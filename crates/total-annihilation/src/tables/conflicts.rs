//! Names and numbers that several definitions have.

use std::collections::HashMap;
use std::io;

use super::library::{Catalog, Definition, Library};
use super::references::KINGDOMS;
use hpimount_assets::view::{AssetContext, TableSink};

/// Something that must be unique among all definitions of a kind.
struct Unique {
    kind: &'static str,
    catalog: fn(&Library) -> &Catalog,
    /// The key with the number; `None` for the name.
    key: Option<&'static str>,
}

const UNIQUE: [Unique; 5] = [
    Unique::new("unit number", |library| &library.units, Some("UnitNumber")),
    Unique::new("unit name", |library| &library.units, None),
    Unique::new("weapon ID", |library| &library.weapons, Some("ID")),
    Unique::new("weapon name", |library| &library.weapons, None),
    Unique::new("feature name", |library| &library.features, None),
];

impl Unique {
    const fn new(
        kind: &'static str,
        catalog: fn(&Library) -> &Catalog,
        key: Option<&'static str>,
    ) -> Self {
        Self { kind, catalog, key }
    }
}

/// Definitions with the same name or number.
pub(super) struct Conflict<'a> {
    pub(super) kind: &'static str,
    pub(super) value: String,
    pub(super) of: Vec<&'a Definition>,
}

/// Returns the conflicts of a game, in the order of their first definitions.
pub(super) fn conflicts<'a>(context: &dyn AssetContext, library: &'a Library) -> Vec<Conflict<'a>> {
    let mut found = Vec::new();
    // The games of Kingdoms have the same units in both directories.
    let is_kingdoms = |definition: &Definition| {
        let path = context.path_of(library.file(definition.place));
        path.to_ascii_lowercase().contains(KINGDOMS)
    };
    for unique in &UNIQUE {
        let mut values: HashMap<String, usize> = HashMap::new();
        let mut groups: Vec<Conflict<'a>> = Vec::new();
        for definition in &(unique.catalog)(library).all {
            let value = match unique.key {
                Some(key) => library.section(definition.place).get(key),
                None => Some(definition.name.as_str().into()),
            };
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                continue;
            };
            let group = *values
                .entry(value.to_ascii_lowercase())
                .or_insert(groups.len());
            if group == groups.len() {
                groups.push(Conflict {
                    kind: unique.kind,
                    value: value.into_owned(),
                    of: Vec::new(),
                });
            }
            let is_again = |other: &&Definition| {
                other.name.eq_ignore_ascii_case(&definition.name)
                    && is_kingdoms(other) != is_kingdoms(definition)
            };
            if !groups[group].of.iter().any(is_again) {
                groups[group].of.push(definition);
            }
        }
        found.extend(groups.into_iter().filter(|group| group.of.len() > 1));
    }
    found
}

/// Sends the table: a row for each conflicting definition.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let library = Library::of(context);
    out.columns(&["kind", "value", "name", "file", "archive"])?;
    for conflict in conflicts(context, &library) {
        for definition in &conflict.of {
            let file = library.file(definition.place);
            let (kind, value, name) = (conflict.kind, &conflict.value, &definition.name);
            let (path, archive) = (context.path_of(file), context.archive_of(file));
            out.texts(&[kind, value, name, &path, &archive])?;
        }
    }
    Ok(())
}
