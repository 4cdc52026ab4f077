//! Tables with sections of texts as rows.

use std::borrow::Cow;
use std::io;

use super::columns::Columns;
use super::file_name;
use super::lines::{Kept, Row, cells, make_line};
use crate::tdf::{self, Section, Tdf};
use hpimount_assets::view::{AssetContext, AssetRef, TableSink};
use hpimount_containers::text::stem;

/// Maximum number of bytes of text for a table, ten times as many as a large mod has.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// Texts with sections as rows.
pub(super) struct Source {
    /// The prefix of their directories in the root: Kingdoms has `unitscb` as well as
    /// `units`.
    pub(super) folder: &'static str,
    /// Their extension.
    pub(super) extension: &'static str,
    /// A lower-case substring of their names.
    pub(super) name_has: &'static str,
    /// Visits their rows.
    pub(super) rows: fn(&Tdf, &str, VisitRow<'_>) -> io::Result<()>,
}

/// A function that is called with the name of a row, and its section.
type VisitRow<'v> = &'v mut dyn FnMut(&str, Section<'_>) -> io::Result<()>;

impl Source {
    /// Returns the files, sorted by path.
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

/// Visits the units: sections `UNITINFO`, by the names that other files use.
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

/// Visits the weapons of a unit, which are sections beside its own, with names such as
/// `ARAPRIES.WEAPON1`.
pub(super) fn weapons_of_units(tdf: &Tdf, stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    for section in tdf.root().sections() {
        let name = section.name().to_ascii_uppercase();
        if name.starts_with("WEAPON") {
            visit(&format!("{stem}.{name}"), section)?;
        }
    }
    Ok(())
}

/// Visits all sections of a text, by name.
pub(super) fn flat(tdf: &Tdf, _stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    let root = tdf.root();
    root.sections()
        .try_for_each(|section| visit(&section.name(), section))
}

/// Visits movement classes: sections with numbers, which units refer to by the key
/// `Name`.
pub(super) fn movement(tdf: &Tdf, _stem: &str, visit: VisitRow<'_>) -> io::Result<()> {
    let root = tdf.root();
    root.sections().try_for_each(|section| {
        let name = section.get("Name").filter(|name| !name.is_empty());
        visit(&name.unwrap_or_else(|| section.name()), section)
    })
}

/// Sends the table of all rows. All texts must be read to find the columns. If memory
/// does not suffice to keep the rows until then, the texts are read again, so that only
/// one of them is in memory at a time.
pub(super) fn write(
    sources: &[Source],
    context: &dyn AssetContext,
    out: &mut dyn TableSink,
) -> io::Result<()> {
    let mut columns = Columns::default();
    let mut kept = Some(Kept::new(context));
    let mut line = String::new();
    each_row(sources, context, &mut |_, row| {
        columns.add_row();
        make_line(&mut line, row, &mut columns);
        kept.take_if(|kept| kept.push(&line).is_err());
        Ok(())
    })?;
    let has_all = columns.settle();
    out.columns(&columns.names())?;
    match kept.filter(|_| has_all) {
        Some(kept) => kept
            .lines()
            .try_for_each(|line| out.row(cells(line, &columns))),
        None => each_row(sources, context, &mut |_, row| {
            make_line(&mut line, row, &mut columns);
            out.row(cells(&line, &columns))
        }),
    }
}

/// Visits the rows of all texts, in order. An unreadable text has a row without keys.
pub(super) fn each_row(
    sources: &[Source],
    context: &dyn AssetContext,
    visit: &mut dyn FnMut(AssetRef, &Row<'_>) -> io::Result<()>,
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
            let (path, archive) = (context.path_of(file), context.archive_of(file));
            let stem = stem(&path);
            let mut visit = |name: &str, section: Option<Section<'_>>| {
                let row = Row {
                    first: [name, &path, &archive],
                    section,
                };
                visit(file, &row)
            };
            match bytes {
                Some(bytes) => {
                    // Uses the part of an incomplete text before the error.
                    let tdf = tdf::parse(&bytes).unwrap_or_else(|lost| lost.model);
                    (source.rows)(&tdf, stem, &mut |name, section| visit(name, Some(section)))?;
                }
                None => visit(stem, None)?,
            }
        }
    }
    Ok(())
}
