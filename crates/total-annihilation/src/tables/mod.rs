//! Tables about a whole game (FORMATS, TA 15): a row for each unit, weapon, feature,
//! sound, movement class and map, and their references.

mod checks;
mod columns;
mod conflicts;
mod edits;
mod library;
mod lines;
mod maps;
mod menu_entries;
mod menus;
mod place;
mod references;
mod rows;
mod sequences;
#[cfg(test)]
mod tests;
mod texts;

use self::rows::{Source, flat, movement, units, weapons_of_units};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::report::{Check, Content, Editing, References, Report, write_readme};

/// The table of the rows in some sources.
macro_rules! table {
    ($name:literal, $sources:expr) => {
        Report {
            path: concat!("tables/", $name, ".tsv"),
            applies: |context| has_files($sources, context),
            content: Content::Table(|context, out| rows::write($sources, context, out)),
            edit: Some(Editing {
                key: "file and name, else name",
                cells: "every key of the section; DAMAGE.default is a key of a section in it. An \
                        emptied cell deletes its key",
                rows: Editing::FIXED_ROWS,
                edit: |context, shown, edited| edits::rows($sources, context, shown, edited),
            }),
        }
    };
}

/// The tables.
pub const REPORTS: &[Report] = &[
    table!("units", UNITS),
    table!("weapons", WEAPONS),
    table!("features", FEATURES),
    table!("sounds", SOUNDS),
    table!("moveinfo", MOVEMENT),
    Report {
        path: "tables/README.txt",
        applies: |context| has_files(UNITS, context) || !texts::files(context).is_empty(),
        content: Content::Other(|context, out| write_readme(REPORTS, context, out)),
        edit: None,
    },
    Report {
        path: "tables/maps.tsv",
        applies: |context| !maps::files(context).is_empty(),
        content: Content::Table(maps::write),
        edit: None,
    },
    Report {
        path: "checks.txt",
        applies: CHECK.applies,
        content: Content::Other(checks::write),
        edit: None,
    },
    Report {
        path: "tables/references.tsv",
        applies: |context| has_files(UNITS, context),
        content: Content::Table(references::write_all),
        edit: None,
    },
    Report {
        path: "tables/missing.tsv",
        applies: |context| has_files(UNITS, context),
        content: Content::Table(references::write_missing),
        edit: None,
    },
    Report {
        path: "tables/conflicts.tsv",
        applies: |context| has_files(UNITS, context) || has_files(WEAPONS, context),
        content: Content::Table(conflicts::write),
        edit: None,
    },
    Report {
        path: "tables/menus.tsv",
        applies: menus::applies,
        content: Content::Table(menus::write),
        edit: None,
    },
    Report {
        path: "tables/sequences.tsv",
        applies: |context| !sequences::files(context).is_empty(),
        content: Content::Table(sequences::write),
        edit: None,
    },
    Report {
        path: "tables/texts.tsv",
        applies: |context| !texts::files(context).is_empty(),
        content: Content::Table(texts::write),
        edit: Some(Editing {
            key: "file, section and key, and the order of equal ones",
            cells: "value",
            rows: Editing::FIXED_ROWS,
            edit: edits::texts,
        }),
    },
];

/// The check of a whole game.
pub const CHECK: Check = Check {
    applies: |context| has_files(UNITS, context),
    find: checks::find,
};

/// The references of units.
pub const REFERENCES: References = References {
    applies: |context| has_files(UNITS, context),
    each: references::each,
};

const UNITS: &[Source] = &[Source {
    folder: "units",
    extension: "fbi",
    name_has: "",
    rows: units,
}];

/// In Kingdoms, the weapons are in the files of their units.
const WEAPONS: &[Source] = &[
    Source {
        folder: "weapons",
        extension: "tdf",
        name_has: "",
        rows: flat,
    },
    Source {
        folder: "units",
        extension: "fbi",
        name_has: "",
        rows: weapons_of_units,
    },
];

const FEATURES: &[Source] = &[Source {
    folder: "features",
    extension: "tdf",
    name_has: "",
    rows: flat,
}];

const SOUNDS: &[Source] = &[Source {
    folder: "gamedata",
    extension: "tdf",
    name_has: "sound",
    rows: flat,
}];

const MOVEMENT: &[Source] = &[Source {
    folder: "gamedata",
    extension: "tdf",
    name_has: "moveinfo",
    rows: movement,
}];

fn has_files(sources: &[Source], context: &dyn AssetContext) -> bool {
    let mut sources = sources.iter();
    sources.any(|source| !source.files(context).is_empty())
}

/// Returns the last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
