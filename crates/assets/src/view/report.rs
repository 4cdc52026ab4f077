//! Reports: files that combine many assets of one archive, merged game or
//! folder, such as tables that compare them, lists of missing references, or a
//! whole level.

use std::io::{self, Write};

use super::edit::Edit;
use super::{AssetContext, AssetRef, Table, TableSink};

/// A file in a converted tree that combines many assets.
///
/// The context belongs to the root of the tree: it has no asset and no siblings, paths
/// are relative to that root, and ids and types come from the archive.
pub struct Report {
    /// Path from the root of the converted tree, such as `tables/units.tsv`.
    pub path: &'static str,
    /// Returns true if the tree has the report, by the names and types of the entries
    /// alone. Reads nothing.
    pub applies: fn(&dyn AssetContext) -> bool,
    /// A table, or another file.
    pub content: Content,
    /// Editing, if supported.
    pub edit: Option<Editing>,
}

/// What a report consists of, which is deterministic. Long reports are made piecewise. The
/// functions return the errors of the output, which end the rendering at once.
pub enum Content {
    /// A table.
    Table(fn(&dyn AssetContext, &mut dyn TableSink) -> io::Result<()>),
    /// Another file.
    Other(fn(&dyn AssetContext, &mut dyn Write) -> io::Result<()>),
}

impl Report {
    /// Returns true if it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.content, Content::Table(_))
    }

    /// Sends the table. Returns false if it is another file.
    ///
    /// # Errors
    /// Returns the errors of the receiver.
    pub fn send(&self, context: &dyn AssetContext, to: &mut dyn TableSink) -> io::Result<bool> {
        match self.content {
            Content::Table(make) => make(context, to).map(|()| true),
            Content::Other(_) => Ok(false),
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn render(&self, context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
        match self.content {
            Content::Table(make) => make(context, &mut Table::new(out)),
            Content::Other(write) => write(context, out),
        }
    }
}

/// Editing of a report.
#[derive(Debug, Clone, Copy)]
pub struct Editing {
    /// The columns that name a row.
    pub key: &'static str,
    /// The editable cells; for other files than tables, the editable parts.
    pub cells: &'static str,
    /// The rows that can be added and deleted.
    pub rows: &'static str,
    /// Computes the changes of assets for an edited report.
    pub edit: EditTable,
}

impl Editing {
    /// The rows of tables with one row for each asset.
    pub const FIXED_ROWS: &'static str = "cannot be added or deleted";
}

/// Returns the file with this name of an asset's view.
pub fn shown_file(context: &dyn AssetContext, asset: AssetRef, name: &str) -> Option<Vec<u8>> {
    let view = context.model(asset)?;
    let index = view.position(&|shown| shown.name == name)?;
    let mut bytes = Vec::new();
    view.render(index, context, &mut bytes).ok()?;
    Some(bytes)
}

/// Describes the editable tables of a converted tree, in the file `tables/README.txt`.
///
/// # Errors
/// Returns the errors of the output.
pub fn write_readme(
    reports: &[Report],
    context: &dyn AssetContext,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "An edited table in converted/ of a folder of changes edits the assets that\n\
         its rows show. Rows are found by their keys and columns by their names, so that both\n\
         may be sorted or missing. Cells that are equal, also as spreadsheets write them, change\n\
         nothing. Rows are deleted by \"-\" in a column \"#\", where that is possible."
    )?;
    let tables = reports.iter().filter(|report| report.is_table());
    for report in tables.filter(|report| (report.applies)(context)) {
        let name = report.path.strip_prefix("tables/").unwrap_or(report.path);
        match &report.edit {
            Some(Editing {
                key, cells, rows, ..
            }) => writeln!(
                out,
                "\n{name}\n  key    {key}\n  cells  {cells}\n  rows   {rows}"
            )?,
            None => writeln!(out, "\n{name}\n  only shows other files")?,
        }
    }
    Ok(())
}

/// Returns the changes of assets for an edited table. The first table is the shown one,
/// the second one is edited and untrusted.
///
/// # Errors
/// Returns all problems as one text, each with its line.
pub type EditTable = fn(&dyn AssetContext, &[u8], &[u8]) -> Result<TableEdits, String>;

/// Changes by an edited table.
#[derive(Debug, Default)]
pub struct TableEdits {
    /// The edits of assets. Their places begin with the line.
    pub edits: Vec<(AssetRef, TableEdit)>,
    /// Doubtful edits, one sentence each.
    pub warnings: Vec<String>,
}

/// A change of an asset by an edited table.
#[derive(Debug)]
pub enum TableEdit {
    /// A value.
    Value(Edit),
    /// A whole file of the asset's view: its name, its new contents, and the place of
    /// the edit.
    File(String, Vec<u8>, String),
}

/// A check that combines many assets of one archive, merged game or folder. It has the
/// same context as a [`Report`].
pub struct Check {
    /// Returns true if there is anything to check, by the names and types of the
    /// entries alone.
    pub applies: fn(&dyn AssetContext) -> bool,
    /// Returns the findings.
    pub find: fn(&dyn AssetContext) -> Vec<Finding>,
}

/// Something that a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file where it can be corrected.
    pub file: AssetRef,
    /// The line of a text, counted from 1. For a compiled script, the line of its
    /// decompiled text.
    pub line: Option<u32>,
    /// The problem, without a full stop.
    pub text: String,
    /// True if the finding concerns style: the game behaves as intended.
    pub is_style: bool,
    /// True if the warnings of the file itself contain the finding too.
    pub is_known: bool,
}

/// The references between the assets of one archive, merged game or folder. They have
/// the same context as a [`Report`].
pub struct References {
    /// Returns true if there are any, by the names and types of the entries alone.
    pub applies: fn(&dyn AssetContext) -> bool,
    /// Visits each.
    ///
    /// # Errors
    /// Returns the errors of the visitor, or an error if there are too many.
    pub each: fn(&dyn AssetContext, VisitReference<'_>) -> io::Result<()>,
}

/// A function that is called with each reference until it returns an error.
pub type VisitReference<'v> = &'v mut dyn FnMut(Reference) -> io::Result<()>;

/// A reference from one definition or asset to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reference {
    /// The name of the referring object, and its path or id.
    pub from: [String; 2],
    /// The field, the kind of the reference, or the event of a link.
    pub field: String,
    /// The name of the target, and its path or id.
    pub to: [String; 2],
    /// The archive of the target, if the game has several archives.
    pub resolved_in: Option<String>,
    /// True if it was not found.
    pub is_missing: bool,
}
