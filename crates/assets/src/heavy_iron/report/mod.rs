//! Reports about an archive: links, placements, references, checks, tables of
//! all assets of a type, and the level.

mod checks;
mod errors;
mod level;
mod links;
mod placements;
mod references;
#[cfg(test)]
mod tests;
mod texts;
mod types;

use crate::heavy_iron::object::is_object;
use crate::view::AssetContext;
use crate::view::report::Report;

/// Returns whether the archive has an asset whose type matches `wants`.
fn has(context: &dyn AssetContext, wants: fn([u8; 4]) -> bool) -> bool {
    let mut files = context.archive().assets().into_iter();
    files.any(|file| {
        context
            .archive()
            .asset_of(file)
            .is_some_and(|asset| wants(asset.code))
    })
}

/// Returns whether the archive has an asset of this type.
fn has_type(context: &dyn AssetContext, code: [u8; 4]) -> bool {
    !context.archive().find_type(code).is_empty()
}

/// The table of all assets of a type.
macro_rules! table {
    ($write:ident $name:literal, $code:literal) => {
        Report {
            path: concat!("tables/", $name, ".tsv"),
            applies: |context| has_type(context, *$code),
            render: |context, out| types::$write(context, *$code, out),
        }
    };
}

/// The reports of an archive.
pub const REPORTS: &[Report] = &[
    Report {
        path: "level.glb",
        applies: |context| has(context, level::is_shown),
        render: level::write,
    },
    Report {
        path: "checks.txt",
        applies: |context| has(context, errors::is_shown),
        render: checks::write,
    },
    Report {
        path: "errors.tsv",
        applies: |context| has(context, errors::is_shown),
        render: errors::write,
    },
    Report {
        path: "texts.tsv",
        applies: |context| has(context, texts::is_text),
        render: texts::write,
    },
    Report {
        path: "tables/links.tsv",
        applies: |context| has(context, is_object),
        render: links::outgoing,
    },
    Report {
        path: "tables/links_in.tsv",
        applies: |context| has(context, is_object),
        render: links::incoming,
    },
    Report {
        path: "tables/placements.tsv",
        applies: |context| has(context, placements::is_placed),
        render: placements::write,
    },
    Report {
        path: "tables/refs.tsv",
        applies: |context| has(context, references::refers),
        render: references::write,
    },
    Report {
        path: "tables/SNDI.tsv",
        applies: |context| has_type(context, *b"SNDI"),
        render: types::sounds,
    },
    table!(tables "ALST", b"ALST"),
    table!(tables "ANIM", b"ANIM"),
    table!(tables "ATBL", b"ATBL"),
    table!(tables "COLL", b"COLL"),
    table!(tables "FLY", b"FLY "),
    table!(tables "JAW", b"JAW "),
    table!(tables "LKIT", b"LKIT"),
    table!(tables "LODT", b"LODT"),
    table!(tables "MAPR", b"MAPR"),
    table!(tables "MINF", b"MINF"),
    table!(tables "MRKR", b"MRKR"),
    table!(tables "PICK", b"PICK"),
    table!(tables "PIPT", b"PIPT"),
    table!(tables "SHDW", b"SHDW"),
    table!(tables "SHRP", b"SHRP"),
    table!(objects "CNTR", b"CNTR"),
    table!(objects "COND", b"COND"),
    table!(objects "GRUP", b"GRUP"),
    table!(objects "PORT", b"PORT"),
    table!(objects "TIMR", b"TIMR"),
];
