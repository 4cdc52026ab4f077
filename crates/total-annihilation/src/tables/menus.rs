//! Build menus: the units that each unit builds, with their pages and slots.

use std::collections::HashMap;
use std::io;

use super::library::Library;
use super::menu_entries::{MenuEntry, SLOTS, SOURCES};
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_record::Value;

/// Returns whether there are files for the table.
pub(super) fn applies(context: &dyn AssetContext) -> bool {
    let mut sources = SOURCES.iter();
    sources.any(|source| !source.files(context).is_empty())
}

const COLUMNS: [&str; 8] = [
    "builder", "unit", "page", "slot", "clash", "known", "file", "archive",
];

/// Sends the table. `clash` has the other units in the same slot; `known` tells
/// whether the files of the mount define the builder and the unit.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let library = Library::of(context);
    let slots = Slots::new(&library);
    out.columns(&COLUMNS)?;
    for entry in &library.menu {
        let units = [&entry.builder, &entry.unit];
        let known = match units.map(|unit| library.units.find(unit).is_some()) {
            [true, true] => "yes",
            [true, false] => "builder",
            [false, true] => "unit",
            [false, false] => "no",
        };
        let file = library.file(entry.place);
        let mut row = units.map(|unit| unit.clone().into()).to_vec();
        row.extend([entry.page, entry.slot].map(Value::from));
        row.extend([slots.others(entry).join(" ").into(), known.into()]);
        row.extend([context.path_of(file), context.archive_of(file)].map(Value::from));
        out.row(row)?;
    }
    Ok(())
}

/// The slots of all menus, with their units.
pub(super) struct Slots<'a> {
    units: HashMap<Slot, Vec<&'a MenuEntry>>,
}

/// Builder in lower case, page, slot.
type Slot = (String, u32, u32);

impl<'a> Slots<'a> {
    pub(super) fn new(library: &'a Library) -> Self {
        let mut units: HashMap<Slot, Vec<&MenuEntry>> = HashMap::new();
        for entry in &library.menu {
            if let Some(slot) = slot(entry) {
                units.entry(slot).or_default().push(entry);
            }
        }
        Self { units }
    }

    /// Returns the first other units in the slot of an entry.
    pub(super) fn others(&self, entry: &MenuEntry) -> Vec<&'a str> {
        let others = slot(entry).and_then(|slot| self.units.get(&slot));
        let others = others.into_iter().flatten();
        let others = others.map(|other| other.unit.as_str());
        let others = others.filter(|other| !other.eq_ignore_ascii_case(&entry.unit));
        others.take(SLOTS as usize).collect()
    }
}

fn slot(entry: &MenuEntry) -> Option<Slot> {
    Some((entry.builder.to_ascii_lowercase(), entry.page?, entry.slot?))
}
