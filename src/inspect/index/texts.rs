//! The texts that can be searched for words.

use super::EntryRow;
use crate::inspect::shown::{SUMMARY, Shown};
use crate::inspect::{Contents, Trouble};
use crate::mount::{Ino, Vfs, format_of};
use hpimount_assets::view::ERROR_FILE;
use hpimount_containers::text::windows_1252;

/// Maximum length of a text in bytes; of longer ones, nothing is searched.
const MAX_TEXT: usize = 1 << 20;

/// Extensions of texts that no format shows.
const EXTENSIONS: [&str; 8] = ["bos", "cfg", "gui", "h", "htm", "html", "ini", "txt"];

/// Returns the texts of the view of an asset; `None` if it has none.
///
/// # Errors
/// Returns an error if something that they depend on cannot be read.
pub(super) fn of_view(shown: &Shown<'_>) -> Result<Option<String>, Trouble> {
    let is_text = |name: &&str| name.ends_with(".txt") && ![SUMMARY, ERROR_FILE].contains(name);
    let names: Vec<String> = shown.names().filter(is_text).map(str::to_owned).collect();
    let mut all = String::new();
    for name in names {
        let most = MAX_TEXT - all.len();
        if let Some(text) = shown.text(&name, most)? {
            all += &text;
        }
    }
    Ok((!all.is_empty()).then_some(all))
}

/// Returns the text of a file that is one, as UTF-8 or else as Windows-1252;
/// `None` for others, and if it cannot be read.
pub(super) fn of_file(vfs: &Vfs, ino: Ino, row: &EntryRow) -> Option<String> {
    let node = vfs.node(ino).ok()?;
    let is_text = match format_of(&node) {
        Some(format) => format.types.iter().any(|known| known.is_text),
        None => {
            let extension = row.type_of.as_deref()?;
            EXTENSIONS.contains(&extension)
        }
    };
    if !is_text || row.size > MAX_TEXT as u64 {
        return None;
    }
    let mut bytes = Vec::new();
    for piece in Contents(vfs).pieces(ino) {
        bytes.extend_from_slice(&piece.ok()?);
    }
    let text = String::from_utf8(bytes);
    Some(text.unwrap_or_else(|error| windows_1252(error.as_bytes()).into_owned()))
}
