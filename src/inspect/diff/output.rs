//! The output of a comparison: one line for each entry that differs, and one
//! for each difference of an asset.

use std::io::{self, Write};

use indicatif::ProgressBar;
use serde_json::json;

use super::edits::Edits;
use super::record::Record;
use crate::inspect::Error;
use crate::printable::printable;

/// The output style.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// JSON, one object per line.
    pub json: bool,
    /// True if changes within assets are omitted.
    pub brief: bool,
    /// True if the output is a terminal: control characters are escaped.
    pub is_terminal: bool,
}

/// Counts of the results of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiffCounts {
    /// Files and links that are equal.
    pub same: u64,
    /// Entries of both sides that differ.
    pub changed: u64,
    /// Entries of the second side alone.
    pub added: u64,
    /// Entries of the first side alone.
    pub removed: u64,
    /// Files with the same bytes under another name.
    pub moved: u64,
    /// Entries that could not be compared.
    pub troubles: u64,
}

impl DiffCounts {
    /// Returns whether the sides differ, as far as they could be compared.
    pub fn has_differences(&self) -> bool {
        self.changed + self.added + self.removed + self.moved > 0
    }
}

/// A collector of records.
pub(super) struct DiffOutput<'a> {
    out: &'a mut (dyn Write + Send),
    trouble: &'a mut (dyn FnMut(&str) + Send),
    /// Names of the sides.
    names: [&'a str; 2],
    style: Style,
    bar: &'a ProgressBar,
    /// Entries of the folder of changes, if one is written.
    edits: Option<&'a mut Edits>,
    found: DiffCounts,
    error: Option<io::Error>,
}

impl<'a> DiffOutput<'a> {
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        trouble: &'a mut (dyn FnMut(&str) + Send),
        names: [&'a str; 2],
        style: Style,
        bar: &'a ProgressBar,
        edits: Option<&'a mut Edits>,
    ) -> Self {
        Self {
            out,
            trouble,
            names,
            style,
            bar,
            edits,
            found: DiffCounts::default(),
            error: None,
        }
    }

    /// Returns whether the differences are kept for a folder of changes.
    pub(super) fn is_exported(&self) -> bool {
        self.edits.is_some()
    }

    /// Returns whether the output is closed.
    pub(super) fn is_broken(&self) -> bool {
        self.error.is_some()
    }

    /// Counts an entry that is equal on both sides.
    pub(super) fn same(&mut self, size: u64) {
        self.found.same += 1;
        self.bar.inc(size);
    }

    /// Prints a record.
    pub(super) fn record(&mut self, record: &Record) {
        if let Some(edits) = &mut self.edits {
            edits.add(record);
        }
        let found = &mut self.found;
        *match record {
            Record::Changed { sizes, .. } => {
                self.bar.inc(sizes[0]);
                &mut found.changed
            }
            Record::Kinds { .. } | Record::Target { .. } => &mut found.changed,
            Record::Moved { .. } => &mut found.moved,
            Record::Lone { side: 0, .. } => &mut found.removed,
            Record::Lone { .. } => &mut found.added,
            Record::Trouble { .. } => &mut found.troubles,
        } += 1;
        if let Record::Trouble { side, path, cause } = record {
            let name = self.names[*side];
            let place = match path.as_str() {
                "" => name.to_owned(),
                path => format!("{name}: {path}"),
            };
            self.bar
                .suspend(|| (self.trouble)(&format!("{place}: {cause}")));
        }
        match self.style.json {
            true => self.line(&record.json(self.names).to_string()),
            false => record.lines().iter().for_each(|line| self.line(line)),
        }
    }

    fn line(&mut self, line: &str) {
        let line = match self.style.is_terminal && !self.style.json {
            true => printable(line),
            false => line.into(),
        };
        let written = self.bar.suspend(|| writeln!(self.out, "{line}"));
        if let Err(error) = written {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the output, in JSON with a summary.
    pub(super) fn finish(mut self) -> Result<DiffCounts, Error> {
        self.bar.finish_and_clear();
        let found = self.found;
        if self.style.json {
            let summary = json!({
                "type": "summary",
                "same": found.same,
                "changed": found.changed,
                "added": found.added,
                "removed": found.removed,
                "moved": found.moved,
                "troubles": found.troubles,
            });
            self.line(&summary.to_string());
        }
        let flushed = self.out.flush();
        match self.error.map_or(flushed, Err) {
            Ok(()) => Ok(found),
            Err(error) => Err(Error::Output(error)),
        }
    }
}
