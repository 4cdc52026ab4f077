//! The output of a comparison: one line for each entry that differs, and one
//! for each difference of an asset.

use std::io::{self, Write};

use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::Side;
use super::difference::Difference;
use super::edits::Edits;
use crate::inspect::Error;
use crate::mount::FileKind;
use crate::printable::printable;
use hpimount_containers::volume::AssetType;

/// The output style.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// JSON, one object per line.
    pub json: bool,
    /// Whether to omit how assets have changed.
    pub brief: bool,
    /// Whether the output is a terminal: control characters are escaped.
    pub is_terminal: bool,
}

/// Maximum number of characters of a value in a line of text.
const MAX_SHOWN: usize = 120;

/// What a comparison has found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
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

impl Found {
    /// Returns whether the sides differ, as far as they could be compared.
    pub fn has_differences(&self) -> bool {
        self.changed + self.added + self.removed + self.moved > 0
    }
}

/// An entry that differs.
pub(super) enum Record {
    /// The bytes of a file.
    Changed {
        path: String,
        /// The path on the second side, if it is another one.
        new_path: Option<String>,
        sizes: [u64; 2],
        /// What its archive records of it, if it is an asset with an id.
        asset: Option<AssetType>,
        differences: Vec<Difference>,
        nature: Nature,
    },
    /// The path of a file.
    Moved { path: String, new_path: String },
    /// An entry that one side has alone.
    Lone {
        side: Side,
        path: String,
        kind: FileKind,
        size: u64,
    },
    /// The kind of an entry.
    Kinds { path: String, kinds: [FileKind; 2] },
    /// The target of a link.
    Target { path: String, targets: [String; 2] },
    /// An entry that could not be compared.
    Trouble {
        side: Side,
        path: String,
        cause: String,
    },
}

/// What kind of file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// A stored file.
    Stored,
    /// An archive that is entered on both sides.
    Archive,
    /// Generated from the tables of an archive.
    Generated,
    /// Equal but for where its archive has which files.
    Layout,
}

/// A collector of records.
pub(super) struct DiffOutput<'a> {
    out: &'a mut (dyn Write + Send),
    trouble: &'a mut (dyn FnMut(&str) + Send),
    /// Names of the sides.
    names: [&'a str; 2],
    style: Style,
    bar: &'a ProgressBar,
    /// What a folder of changes would say, if that is wanted.
    edits: Option<&'a mut Edits>,
    found: Found,
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
            found: Found::default(),
            error: None,
        }
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
    pub(super) fn finish(mut self) -> Result<Found, Error> {
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

impl Record {
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Changed {
                path,
                new_path,
                sizes: [old, new],
                asset,
                differences,
                ..
            } => {
                let mut line = format!("changed: {path}");
                if let Some(new_path) = new_path {
                    line += &format!(" -> {new_path}");
                }
                if let Some(asset) = asset {
                    line += &format!(" ({} {:08X})", code(asset), asset.id);
                }
                if old != new {
                    line += &format!(": {old} -> {new} bytes");
                }
                let details = differences.iter().map(|difference| match difference {
                    Difference::Field {
                        field,
                        old: Some(old),
                        new: Some(new),
                    } => format!("    {field}: {} -> {}", shown(old), shown(new)),
                    Difference::Field {
                        field,
                        old: Some(old),
                        new: None,
                    } => format!("  - {field}: {}", shown(old)),
                    Difference::Field {
                        field, new: value, ..
                    } => format!(
                        "  + {field}: {}",
                        value.as_ref().map_or_else(String::new, shown)
                    ),
                    Difference::Note(text) => format!("    {text}"),
                });
                [line].into_iter().chain(details).collect()
            }
            Self::Moved { path, new_path } => vec![format!("moved: {path} -> {new_path}")],
            Self::Lone {
                side, path, kind, ..
            } => {
                let end = if *kind == FileKind::Directory {
                    "/"
                } else {
                    ""
                };
                vec![format!("{}: {path}{end}", lone_word(*side))]
            }
            Self::Kinds {
                path,
                kinds: [old, new],
            } => {
                let (old, new) = (kind_name(*old), kind_name(*new));
                vec![format!("changed: {path}: {old} -> {new}")]
            }
            Self::Target {
                path,
                targets: [old, new],
            } => vec![format!("changed: {path}: link to {old} -> {new}")],
            Self::Trouble { .. } => Vec::new(),
        }
    }

    fn json(&self, names: [&str; 2]) -> Value {
        match self {
            Self::Changed {
                path,
                new_path,
                sizes,
                asset,
                differences,
                ..
            } => {
                let mut line = json!({"type": "changed", "path": path});
                if let Some(new_path) = new_path {
                    line["new_path"] = json!(new_path);
                }
                line["size"] = json!(sizes);
                if let Some(asset) = asset {
                    line["asset_type"] = json!(code(asset));
                    line["id"] = json!(format!("{:08X}", asset.id));
                }
                let differences = differences.iter().map(Difference::json);
                line["differences"] = differences.collect();
                line
            }
            Self::Moved { path, new_path } => {
                json!({"type": "moved", "path": path, "new_path": new_path})
            }
            Self::Lone {
                side,
                path,
                kind,
                size,
            } => json!({
                "type": lone_word(*side),
                "path": path,
                "kind": kind_name(*kind),
                "size": size,
            }),
            Self::Kinds { path, kinds } => json!({
                "type": "changed",
                "path": path,
                "kind": kinds.map(kind_name),
            }),
            Self::Target { path, targets } => json!({
                "type": "changed",
                "path": path,
                "target": targets,
            }),
            Self::Trouble { side, path, cause } => json!({
                "type": "trouble",
                "source": names[*side],
                "path": path,
                "cause": cause,
            }),
        }
    }
}

/// Returns a value for a line of text.
fn shown(value: &hpimount_record::Value) -> String {
    let text = match value {
        hpimount_record::Value::Null => "null".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
    .replace('\n', "\\n")
}

fn code(asset: &AssetType) -> String {
    asset.code.escape_ascii().to_string().trim_end().to_owned()
}

fn lone_word(side: Side) -> &'static str {
    match side {
        0 => "removed",
        _ => "added",
    }
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "link",
    }
}
