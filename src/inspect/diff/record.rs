//! The records of a comparison, as text and as JSON.

use serde_json::{Value, json};

use super::Side;
use super::difference::Difference;
use crate::mount::FileKind;
use hpimount_containers::volume::AssetType;

/// Maximum number of characters of a value in a line of text.
const MAX_SHOWN: usize = 120;

/// An entry that differs.
pub(super) enum Record {
    /// The bytes of a file.
    Changed {
        path: String,
        /// The path on the second side, if it is another one.
        new_path: Option<String>,
        sizes: [u64; 2],
        /// Its asset type as recorded in its archive, if it is an asset with an id.
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

/// Kind of a file that differs.
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

impl Record {
    /// Returns the lines of text about it.
    pub(super) fn lines(&self) -> Vec<String> {
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

    /// Returns the object about it; the sides have these names.
    pub(super) fn json(&self, names: [&str; 2]) -> Value {
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
