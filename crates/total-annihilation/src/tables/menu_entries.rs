//! The entries of build menus, in the texts of a game.

use get_size2::GetSize;

use super::file_name;
use super::place::Place;
use crate::tdf::{Section, Tdf};
use hpimount_assets::view::{AssetContext, AssetRef};

/// Number of slots on a page (FORMATS, TA 15).
pub(super) const SLOTS: u32 = 6;

/// An entry of a build menu.
#[derive(Debug, GetSize)]
pub(super) struct MenuEntry {
    /// The unit that builds.
    pub(super) builder: String,
    /// The unit that is built.
    pub(super) unit: String,
    /// Page, counted from 1, as stored.
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
    /// Returns the entries in the text with a path, each with the position of its
    /// section.
    pub(super) entries: fn(&Tdf, &str) -> Vec<(MenuEntry, u32)>,
}

/// The game's own menus are in `sidedata.tdf`. Other units have a file with their
/// entries; in Kingdoms, each entry is a file.
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
    /// Returns the files, sorted by path.
    pub(super) fn files(&self, context: &dyn AssetContext) -> Vec<AssetRef> {
        let mut files = context.find_extensions(self.folder, &["tdf"]);
        files.retain(|&file| {
            let path = context.path_of(file).to_ascii_lowercase();
            file_name(&path).contains(self.name_has)
        });
        files
    }
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

/// Returns the entries of `CANBUILD`: a section for each builder, with keys `canbuild1`
/// and so on.
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
