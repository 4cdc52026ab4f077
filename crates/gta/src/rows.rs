//! The frame of the views of files that consist of rows: summaries, and a table
//! for each kind of row.

use std::io::{self, Write};

use get_size2::GetSize;
use serde_json::{Map, Value, json};

use super::document::Document;
use hpimount_assets::view::listed::{ListedView, Whole, whole_files};
use hpimount_assets::view::{Failure, Summary, View, json};
use hpimount_containers::io::{Result, Warnings};

/// Maximum number of kinds of rows in summaries. Files of the games have ten.
const MAX_LISTED: usize = 256;

/// The result of opening a file.
pub(crate) type Opened = std::result::Result<Box<dyn View>, Box<Failure>>;

/// What the summaries need of a file.
pub(crate) trait Rows: GetSize + Send + Sync + 'static {
    /// Returns the kinds of rows and how many there are of each.
    fn counts(&self) -> Vec<(&str, usize)>;

    fn warnings(&self) -> &Warnings;
}

impl Rows for Document {
    fn counts(&self) -> Vec<(&str, usize)> {
        let sections = self.sections.iter().take(MAX_LISTED);
        sections
            .map(|section| (section.name.as_str(), section.rows.len()))
            .collect()
    }

    fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

/// A parsed file, with the name of its format.
#[derive(GetSize)]
pub(crate) struct Shown<M> {
    /// Name of the format.
    pub(crate) format: &'static str,
    /// The contents.
    pub(crate) model: M,
}

/// Returns the view of a parsed file, with its summaries and these files.
pub(crate) fn view<M: Rows>(
    format: &'static str,
    parsed: Result<M>,
    tables: &[(&'static str, Whole<Shown<M>>)],
) -> std::result::Result<ListedView<Shown<M>>, Box<Failure>> {
    let model = parsed.map_err(|error| {
        Box::new(Failure {
            error,
            partial: json!({ "format": format }),
        })
    })?;
    let mut files = whole_files(&[("info.json", info as Whole<Shown<M>>), ("info.txt", page)]);
    files.extend(whole_files(tables));
    Ok(ListedView {
        model: Shown { format, model },
        files,
    })
}

fn info<M: Rows>(shown: &Shown<M>, out: &mut dyn Write) -> io::Result<()> {
    let counts = shown.model.counts().into_iter();
    let rows: Map<String, Value> = counts
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect();
    let facts = json!({
        "format": shown.format,
        "rows": rows,
        "warnings": shown.model.warnings().texts(),
    });
    json::write_pretty(&facts, out)
}

fn page<M: Rows>(shown: &Shown<M>, out: &mut dyn Write) -> io::Result<()> {
    let title = format_args!("{} (Grand Theft Auto)", shown.format);
    let mut summary = Summary::new(title);
    for (name, count) in shown.model.counts() {
        summary.line(name, count);
    }
    summary.write(shown.model.warnings(), out)
}
