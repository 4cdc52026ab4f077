//! Tables whose rows are sections of texts.

use std::borrow::Cow;
use std::io::{self, Write};

use super::columns::Columns;
use super::file_name;
use crate::asset::ta::tdf::{self, Section, Tdf};
use crate::view::ta::stem;
use crate::view::{AssetContext, AssetRef, Table};

/// Most bytes of text that a table is made of. A large mod has a tenth of them.
const MAX_BYTES: usize = 256 << 20;

/// Texts of which sections are rows.
pub(super) struct Source {
    /// What the names of their directories in the root begin with: Kingdoms
    /// has `unitscb` beside `units`.
    pub(super) folder: &'static str,
    /// Their extension.
    pub(super) extension: &'static str,
    /// What their names have in them, in lower case.
    pub(super) name_has: &'static str,
    /// Their rows.
    pub(super) rows: fn(&Tdf, &str, VisitRow<'_>) -> io::Result<()>,
}

/// What is done with the name of a row, and its section.
type VisitRow<'v> = &'v mut dyn FnMut(&str, Section<'_>) -> io::Result<()>;

impl Source {
    /// The files, in the order of their paths.
    pub(super) fn files(&self, context: &dyn AssetContext) -> Vec<AssetRef> {
        let mut files = context.find_extensions(self.folder, &[self.extension]);
        if !self.name_has.is_empty() {
            files.retain(|&file| {
                let path = context.path_of(file).to_ascii_lowercase();
                file_name(&path).contains(self.name_has)
            });
        }
        files
    }
}

/// A unit is the section `UNITINFO`, and has the name that others know it by.
pub(super) fn units(tdf: &Tdf, stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    let root = tdf.root();
    for unit in root
        .sections()
        .filter(|section| section.is_named("UNITINFO"))
    {
        let name = unit.get("UnitName").filter(|name| !name.is_empty());
        visit(&name.unwrap_or(Cow::Borrowed(stem)), unit)?;
    }
    Ok(())
}

/// The weapons of a unit are sections beside its own: `ARAPRIES.WEAPON1`.
pub(super) fn weapons_of_units(tdf: &Tdf, stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    for section in tdf.root().sections() {
        let name = section.name().to_ascii_uppercase();
        if name.starts_with("WEAPON") {
            visit(&format!("{stem}.{name}"), section)?;
        }
    }
    Ok(())
}

/// All sections of a text, by their names.
pub(super) fn flat(tdf: &Tdf, _stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    let root = tdf.root();
    root.sections()
        .try_for_each(|section| visit(&section.name(), section))
}

/// Ways to move are sections with numbers; units know them by a key.
pub(super) fn movement(tdf: &Tdf, _stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    let root = tdf.root();
    root.sections().try_for_each(|section| {
        let name = section.get("Name").filter(|name| !name.is_empty());
        visit(&name.unwrap_or_else(|| section.name()), section)
    })
}

/// Writes the table of all rows. The texts are read twice, first for the
/// columns, so that no more than one of them is in memory at a time.
pub(super) fn write(
    sources: &[Source],
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut columns = Columns::default();
    each_text(sources, context, &mut |source, text| {
        (source.rows)(&text.tdf, stem(file_name(&text.path)), &mut |_, section| {
            columns.add(section);
            Ok(())
        })
    })?;
    columns.limit();
    let mut table = Table::new(out, &columns.names())?;
    each_text(sources, context, &mut |source, text| {
        let archive = context.archive_of(text.file);
        let mut add = |name: &str, cells: Vec<Cow<'_, str>>| {
            table.text(name).text(&text.path).text(&archive);
            for cell in &cells {
                table.text(cell);
            }
            table.end_row()
        };
        let name = stem(file_name(&text.path));
        if text.is_lost {
            add(name, columns.no_cells())?;
        }
        (source.rows)(&text.tdf, name, &mut |name, section| {
            add(name, columns.cells(section))
        })
    })
}

/// A text with what is around it.
struct Text {
    file: AssetRef,
    path: String,
    tdf: Tdf,
    /// Whether nothing of it could be read. It has a row with its name.
    is_lost: bool,
}

/// Visits the texts of all sources, one after the other.
fn each_text(
    sources: &[Source],
    context: &dyn AssetContext,
    visit: &mut dyn FnMut(&Source, &Text) -> io::Result<()>,
) -> io::Result<()> {
    let mut left = MAX_BYTES;
    for source in sources {
        for file in source.files(context) {
            let bytes = context.read(file);
            let length = bytes.as_ref().map_or(0, |bytes| bytes.len());
            let Some(rest) = left.checked_sub(length) else {
                return Ok(());
            };
            left = rest;
            let is_lost = bytes.is_none();
            let tdf = bytes.map(|bytes| tdf::parse(&bytes));
            // Of a text that breaks off, what is in front of that counts.
            let tdf = tdf.map(|parsed| parsed.unwrap_or_else(|lost| lost.model));
            let path = context.path_of(file);
            let tdf = tdf.unwrap_or_default();
            let text = Text {
                file,
                path,
                tdf,
                is_lost,
            };
            visit(source, &text)?;
        }
    }
    Ok(())
}
