//! The texts that can be searched for words and compared by lines.

use super::shown::{SUMMARY, Shown};
use super::{Contents, Trouble};
use crate::mount::{Ino, Vfs, format_of};
use hpimount_assets::view::ERROR_FILE;
use hpimount_containers::text::windows_1252;

/// Maximum length of a text in bytes; longer ones are neither searched nor compared.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// Extensions of files that are texts, if nothing in them says otherwise.
const EXTENSIONS: [&str; 15] = [
    "bos", "cfg", "dat", "fxt", "grp", "gui", "h", "htm", "html", "ide", "ini", "ipl", "txt",
    "xml", "zon",
];

/// Extensions of the texts of views.
const VIEW_EXTENSIONS: [&str; 3] = ["bos", "q", "txt"];

/// Returns the texts of the view of an asset; `None` if it has none.
///
/// # Errors
/// Returns an error if something that they depend on cannot be read.
pub(super) fn of_view(shown: &Shown<'_>) -> Result<Option<String>, Trouble> {
    let is_text = |name: &&str| {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|one| VIEW_EXTENSIONS.contains(&one))
            && ![SUMMARY, ERROR_FILE].contains(name)
    };
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

/// Returns the text of a file as UTF-8 or else as Windows-1252; `None` if the file is not
/// a text, has more than `most` bytes, or cannot be read.
pub(super) fn of_file(vfs: &Vfs, ino: Ino, most: usize) -> Option<String> {
    let node = vfs.node(ino).ok()?;
    let mut known = format_of(&node).into_iter().flat_map(|format| format.types);
    let has_extension = |known: String| EXTENSIONS.contains(&&*known);
    let is_text =
        known.any(|one| one.is_text) || Contents(vfs).type_of(ino).is_some_and(has_extension);
    if !is_text || vfs.getattr(ino).ok()?.size > most as u64 {
        return None;
    }
    let mut bytes = Vec::new();
    for piece in Contents(vfs).pieces(ino) {
        bytes.extend_from_slice(&piece.ok()?);
    }
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8(bytes);
    Some(text.unwrap_or_else(|error| windows_1252(error.as_bytes()).into_owned()))
}
