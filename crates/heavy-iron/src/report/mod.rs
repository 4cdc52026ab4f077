//! Reports about an archive: links, placements, references, checks, tables by type, and
//! the level.

mod checks;
mod edited_paths;
mod edits;
mod errors;
mod level;
mod level_edit;
mod links;
mod objects;
mod placements;
mod references;
mod screen;
mod shapes;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
mod types;

use crate::object::is_object;
use crate::table_view::is_table;
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::report::{Content, References, Report, write_readme};

/// Returns whether the archive has an asset whose type matches `wants`.
fn has(context: &dyn AssetContext, wants: fn([u8; 4]) -> bool) -> bool {
    let mut files = context.assets().into_iter();
    files.any(|file| {
        context
            .asset_of(file)
            .is_some_and(|asset| wants(asset.code))
    })
}

/// Returns whether the archive has an asset of this type.
fn has_type(context: &dyn AssetContext, code: [u8; 4]) -> bool {
    !context.find_type(code).is_empty()
}

/// The table of all assets of a type.
macro_rules! table {
    ($module:ident::$write:ident $name:literal, $code:literal) => {
        table!($module::$write $name, $code, Some(edits::TYPES))
    };
    ($module:ident::$write:ident $name:literal, $code:literal, $edit:expr) => {
        Report {
            path: concat!("tables/", $name, ".tsv"),
            applies: |context| has_type(context, *$code),
            content: Content::Table(|context, out| $module::$write(context, *$code, out)),
            edit: $edit,
        }
    };
}

/// The table of the list records of all assets of a type.
macro_rules! records {
    ($name:literal, $code:literal, $list:literal) => {
        Report {
            path: concat!("tables/", $name, "_", $list, ".tsv"),
            applies: |context| has_type(context, *$code),
            content: Content::Table(|context, out| objects::records(context, (*$code, $list), out)),
            edit: Some(edits::records_table(|context, shown, edited| {
                edits::records(context, $list, (shown, edited))
            })),
        }
    };
}

/// The reports of an archive.
pub const REPORTS: &[Report] = &[
    Report {
        path: "level.glb",
        applies: |context| has(context, level::is_shown),
        content: Content::Other(level::write),
        edit: Some(level_edit::LEVEL),
    },
    Report {
        path: "checks.txt",
        applies: |context| has(context, errors::is_shown),
        content: Content::Other(checks::write),
        edit: None,
    },
    Report {
        path: "errors.tsv",
        applies: |context| has(context, errors::is_shown),
        content: Content::Table(errors::write),
        edit: None,
    },
    Report {
        path: "texts.tsv",
        applies: |context| has(context, texts::is_text),
        content: Content::Table(texts::write),
        edit: Some(edits::TEXTS),
    },
    Report {
        path: "tables/README.txt",
        applies: |context| has(context, is_object) || has(context, is_table),
        content: Content::Other(|context, out| write_readme(REPORTS, context, out)),
        edit: None,
    },
    Report {
        path: "tables/links.tsv",
        applies: |context| has(context, is_object),
        content: Content::Table(links::outgoing),
        edit: Some(edits::LINKS_TABLE),
    },
    Report {
        path: "tables/links_in.tsv",
        applies: |context| has(context, is_object),
        content: Content::Table(links::incoming),
        edit: None,
    },
    Report {
        path: "tables/placements.tsv",
        applies: |context| has(context, placements::is_placed),
        content: Content::Table(placements::write),
        edit: Some(edits::PLACEMENTS),
    },
    Report {
        path: "tables/placements.png",
        applies: |context| has(context, placements::is_placed),
        content: Content::Other(placements::map),
        edit: None,
    },
    Report {
        path: "tables/screen.tsv",
        applies: screen::applies,
        content: Content::Table(screen::write),
        edit: None,
    },
    Report {
        path: "tables/screen.png",
        applies: screen::applies,
        content: Content::Other(screen::draw),
        edit: None,
    },
    Report {
        path: "tables/refs.tsv",
        applies: |context| has(context, references::refers),
        content: Content::Table(references::write),
        edit: None,
    },
    Report {
        path: "tables/SNDI.tsv",
        applies: |context| has_type(context, *b"SNDI"),
        content: Content::Table(types::sounds),
        edit: None,
    },
    table!(types::tables "ALST", b"ALST"),
    table!(types::tables "ANIM", b"ANIM", None),
    table!(types::tables "ATBL", b"ATBL", Some(edits::VALUES)),
    table!(types::tables "COLL", b"COLL"),
    table!(types::tables "FLY", b"FLY ", Some(edits::VALUES)),
    table!(types::tables "JAW", b"JAW ", Some(edits::VALUES)),
    table!(types::tables "LKIT", b"LKIT"),
    table!(types::tables "LODT", b"LODT"),
    table!(types::tables "MAPR", b"MAPR"),
    table!(types::tables "MINF", b"MINF"),
    Report {
        path: "tables/MINF_parameters.tsv",
        applies: |context| has_type(context, *b"MINF"),
        content: Content::Table(types::parameters),
        edit: Some(edits::PARAMETERS),
    },
    table!(types::tables "MRKR", b"MRKR"),
    table!(types::tables "PICK", b"PICK"),
    table!(types::tables "PIPT", b"PIPT"),
    table!(types::tables "SHDW", b"SHDW"),
    table!(types::tables "SHRP", b"SHRP", Some(edits::VALUES)),
    table!(objects::write "ATKT", b"ATKT"),
    records!("ATKT", b"ATKT", "sections"),
    records!("ATKT", b"ATKT", "entries"),
    records!("ATKT", b"ATKT", "transitions"),
    records!("ATKT", b"ATKT", "states"),
    table!(objects::write "BOUL", b"BOUL"),
    table!(objects::write "BUTN", b"BUTN"),
    table!(objects::write "CAM", b"CAM "),
    table!(objects::write "CCRV", b"CCRV"),
    records!("CCRV", b"CCRV", "beads"),
    table!(objects::write "CNTR", b"CNTR"),
    table!(objects::write "COND", b"COND"),
    table!(objects::write "CSNM", b"CSNM"),
    table!(objects::write "DEST", b"DEST"),
    table!(objects::write "DSTR", b"DSTR"),
    table!(objects::write "DTRK", b"DTRK"),
    table!(objects::write "DUPC", b"DUPC"),
    table!(objects::write "EGEN", b"EGEN"),
    table!(objects::write "ENV", b"ENV "),
    table!(objects::write "FOG", b"FOG "),
    table!(objects::write "GRSM", b"GRSM"),
    table!(objects::write "GRUP", b"GRUP"),
    table!(objects::write "GUST", b"GUST"),
    table!(objects::write "HANG", b"HANG"),
    table!(objects::write "LITE", b"LITE"),
    table!(objects::write "LOBM", b"LOBM"),
    table!(objects::write "MVPT", b"MVPT"),
    table!(objects::write "NPC", b"NPC "),
    table!(objects::write "ONEL", b"ONEL"),
    records!("ONEL", b"ONEL", "one_liners"),
    table!(objects::write "PARE", b"PARE"),
    table!(objects::write "PARP", b"PARP"),
    table!(objects::write "PEND", b"PEND"),
    table!(objects::write "PGRS", b"PGRS"),
    records!("PGRS", b"PGRS", "events"),
    table!(objects::write "PKUP", b"PKUP"),
    table!(objects::write "PLAT", b"PLAT"),
    table!(objects::write "PORT", b"PORT"),
    table!(objects::write "PRJT", b"PRJT"),
    table!(objects::write "RANM", b"RANM"),
    records!("RANM", b"RANM", "animations"),
    table!(objects::write "SCRP", b"SCRP"),
    records!("SCRP", b"SCRP", "events"),
    table!(objects::write "SDFX", b"SDFX"),
    table!(objects::write "SFX", b"SFX "),
    table!(objects::write "SGRP", b"SGRP"),
    records!("SGRP", b"SGRP", "sounds"),
    table!(objects::write "SIMP", b"SIMP"),
    table!(objects::write "SPLN", b"SPLN"),
    table!(objects::write "SPLP", b"SPLP"),
    table!(objects::write "SURF", b"SURF"),
    table!(objects::write "TIMR", b"TIMR"),
    table!(objects::write "TPIK", b"TPIK"),
    records!("TPIK", b"TPIK", "pickups"),
    table!(objects::write "TRIG", b"TRIG"),
    table!(objects::write "TRWT", b"TRWT"),
    records!("TRWT", b"TRWT", "throwables"),
    table!(objects::write "UI", b"UI  "),
    table!(objects::write "UIFT", b"UIFT"),
    table!(objects::items "UIM", b"UIM "),
    table!(objects::write "VIL", b"VIL "),
    table!(objects::write "VOLU", b"VOLU"),
    table!(objects::write "WIRE", b"WIRE"),
    table!(objects::write "ZLIN", b"ZLIN"),
    table!(objects::fields "DYNA", b"DYNA", Some(edits::FIELDS)),
    table!(objects::items "PARS", b"PARS"),
];

/// The references between assets, and the links between objects.
pub const REFERENCES: &[References] = &[
    References {
        applies: |context| has(context, references::refers),
        each: references::of_archive,
    },
    References {
        applies: |context| has(context, is_object),
        each: links::each,
    },
];
