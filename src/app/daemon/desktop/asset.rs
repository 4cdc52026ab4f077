//! The file or directory that a double click on an asset of a mount opens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::formats::VIEW_FORMATS;

/// The file of a view with its model.
const MODEL: &str = "model.glb";

/// The type of that file.
const MODEL_TYPE: &str = "model/gltf-binary";

/// Maximum number of entries of an `X.meta` that are examined.
const MAX_ENTRIES: usize = 10_000;

/// Returns what shows the asset at `path`, if a mount shows it: its model if the
/// desktop has a viewer for models, or else its preview, or else the directory
/// with its parts.
pub(super) fn representation(path: &Path) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    let previews = previews(&name.to_string_lossy());
    name.push(".meta");
    let meta = path.with_file_name(name);
    let entries = fs::read_dir(&meta).ok()?.flatten().take(MAX_ENTRIES);
    let mut files: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    files.sort();
    let has = |wanted: &str| files.iter().any(|name| name == wanted);
    let picture = || {
        let known = previews.iter().copied().find(|name| has(name));
        let first = || files.iter().find(|name| name.ends_with(".png"));
        known.or_else(|| first().map(String::as_str))
    };
    let shown = match has(MODEL) && has_viewer(MODEL_TYPE) {
        true => Some(MODEL),
        false => picture(),
    };
    Some(shown.map_or_else(|| meta.clone(), |name| meta.join(name)))
}

/// Returns the names of previews of an asset with this name, the best first.
fn previews(name: &str) -> Vec<&'static str> {
    let formats = || VIEW_FORMATS.iter();
    let shows = |name: &str| formats().find(|format| format.shows(name.as_bytes()));
    let by_name = shows(name).into_iter();
    let previews = by_name.chain(formats()).filter_map(|format| format.preview);
    previews
        .flat_map(|preview| preview.files)
        .copied()
        .collect()
}

/// Returns whether the desktop has a program that opens files of a type.
fn has_viewer(mime_type: &str) -> bool {
    let mut query = Command::new("xdg-mime");
    let answer = query.args(["query", "default", mime_type]).output();
    answer.is_ok_and(|answer| !answer.stdout.trim_ascii().is_empty())
}
