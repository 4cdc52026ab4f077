//! Tables that compare the contents of a whole game: a row for each unit,
//! weapon, feature, sound, movement class and map (FORMATS, TA 15).

mod columns;
mod lines;
mod maps;
mod rows;
#[cfg(test)]
mod tests;

use self::rows::{Source, flat, movement, units, weapons_of_units};
use crate::view::AssetContext;
use crate::view::report::Report;

/// The table of the rows in some sources.
macro_rules! table {
    ($name:literal, $sources:expr) => {
        Report {
            path: concat!("tables/", $name, ".tsv"),
            applies: |context| has_files($sources, context),
            render: |context, out| rows::write($sources, context, out),
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
        path: "tables/maps.tsv",
        applies: |context| !maps::files(context).is_empty(),
        render: maps::write,
    },
];

const UNITS: &[Source] = &[Source {
    folder: "units",
    extension: "fbi",
    name_has: "",
    rows: units,
}];

/// In Kingdoms the weapons are in the files of their units.
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
