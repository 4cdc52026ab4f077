//! Build menus: the units that each unit builds, with their pages and slots.

use std::collections::HashMap;
use std::io::{self, Write};

use get_size2::GetSize;

use super::file_name;
use super::library::{Library, Place};
use crate::total_annihilation::tdf::{Section, Tdf};
use crate::view::{AssetContext, AssetRef, Table};

/// Number of slots of a page (FORMATS, TA 15).
const SLOTS: u32 = 6;

/// An entry of a build menu.
#[derive(Debug, GetSize)]
pub(super) struct MenuEntry {
    /// The unit that builds.
    pub(super) builder: String,
    /// The unit that is built.
    pub(super) unit: String,
    /// Page, from 1 on, as the file has it.
    pub(super) page: Option<u32>,
    /// Slot on the page, from 0 on.
    pub(super) slot: Option<u32>,
    /// The section with the entry.
    pub(super) place: Place,
}

/// Files with entries of build menus.
pub(super) struct MenuSource {
    folder: &'static str,
    name_has: &'static str,
    /// Returns the entries in a text with a path, each with the position of its
    /// section.
    pub(super) entries: fn(&Tdf, &str) -> Vec<(MenuEntry, u32)>,
}

/// The game's own menus are in `sidedata.tdf`. Other units have a file with
/// their entries, and in Kingdoms each entry is a file.
pub(super) const SOURCES: &[MenuSource] = &[
    MenuSource {
        folder: "gamedata",
        name_has: "sidedata",
        entries: of_sides,
    },
    MenuSource {
        folder: "download",
        name_has: "",
        entries: of_downloads,
    },
    MenuSource {
        folder: "canbuild",
        name_has: "",
        entries: of_path,
    },
];

impl MenuSource {
    /// Returns the files, in the order of their paths.
    pub(super) fn files(&self, context: &dyn AssetContext) -> Vec<AssetRef> {
        let mut files = context.find_extensions(self.folder, &["tdf"]);
        files.retain(|&file| {
            let path = context.path_of(file).to_ascii_lowercase();
            file_name(&path).contains(self.name_has)
        });
        files
    }
}

/// Returns whether there are files for the table.
pub(super) fn applies(context: &dyn AssetContext) -> bool {
    let mut sources = SOURCES.iter();
    sources.any(|source| !source.files(context).is_empty())
}

fn entry(builder: &str, unit: &str, page: Option<u32>, slot: Option<u32>) -> MenuEntry {
    MenuEntry {
        builder: builder.to_owned(),
        unit: unit.to_owned(),
        page,
        slot,
        place: Place::default(),
    }
}

/// Returns the entries of `CANBUILD`: a section for each builder, with keys
/// `canbuild1` and so on.
fn of_sides(tdf: &Tdf, _path: &str) -> Vec<(MenuEntry, u32)> {
    let root = tdf.root();
    let lists = root.sections().filter(|list| list.is_named("CANBUILD"));
    let builders = lists.flat_map(|list| list.sections().collect::<Vec<_>>());
    let entries = builders.flat_map(|builder| {
        let units = builder.keys().filter_map(move |key| {
            let number = key.name().to_ascii_lowercase();
            let number: u32 = number.strip_prefix("canbuild")?.parse().ok()?;
            let at = number.checked_sub(1)?;
            let (page, slot) = (at / SLOTS + 1, at % SLOTS);
            let entry = entry(&builder.name(), &key.value(), Some(page), Some(slot));
            Some((entry, builder.position() as u32))
        });
        units.collect::<Vec<_>>()
    });
    entries.collect()
}

/// Returns the entries of a unit: sections `MENUENTRY1` and so on.
fn of_downloads(tdf: &Tdf, _path: &str) -> Vec<(MenuEntry, u32)> {
    let root = tdf.root();
    let sections = root.sections().filter(|section| {
        let name = section.name().to_ascii_uppercase();
        name.starts_with("MENUENTRY")
    });
    let number = |section: Section<'_>, key| section.get(key)?.parse().ok();
    let entries = sections.filter_map(|section| {
        let entry = entry(
            &section.get("UNITMENU")?,
            &section.get("UNITNAME")?,
            number(section, "MENU"),
            number(section, "BUTTON"),
        );
        Some((entry, section.position() as u32))
    });
    entries.collect()
}

/// Returns the entry of a file `canbuild/BUILDER/UNIT.tdf`.
fn of_path(_tdf: &Tdf, path: &str) -> Vec<(MenuEntry, u32)> {
    let mut parts = path.rsplit('/');
    let unit = parts.next().and_then(|name| name.rsplit_once('.'));
    let entry = unit
        .zip(parts.next())
        .map(|((unit, _), builder)| (entry(builder, unit, None, None), 0));
    Vec::from_iter(entry)
}

const COLUMNS: [&str; 8] = [
    "builder", "unit", "page", "slot", "clash", "known", "file", "archive",
];

/// Writes the table. `clash` are the other units in the same slot, `known` is
/// whether the files of the mount define the builder and the unit.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let library = Library::of(context);
    let slots = Slots::new(&library);
    let mut table = Table::new(out, &COLUMNS)?;
    for entry in &library.menu {
        table.text(&entry.builder).text(&entry.unit);
        table.optional(entry.page).optional(entry.slot);
        table.text(&slots.others(entry).join(" "));
        let units = [&entry.builder, &entry.unit];
        let known = units.map(|unit| library.units.find(unit).is_some());
        table.text(match known {
            [true, true] => "yes",
            [true, false] => "builder",
            [false, true] => "unit",
            [false, false] => "no",
        });
        let file = library.file(entry.place);
        table.text(&context.path_of(file));
        table.text(&context.archive_of(file)).end_row()?;
    }
    Ok(())
}

/// The slots of all menus, with the units in them.
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

    /// Returns the first units in the slot of an entry, except for its own.
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
