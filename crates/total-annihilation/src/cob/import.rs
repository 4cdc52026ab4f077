//! Edited texts of scripts as scripts.

use super::compile::recompile;
use hpimount_assets::view::AssetKey;
use hpimount_assets::view::import::{Changed, Edit, Imported, NOT_THIS_FILE};
use hpimount_containers::text::windows_1252;

/// The text of a script.
pub(crate) const TEXT: &str = "script.bos";

/// Maximum size of a text or an included file in bytes.
const MAX_TEXT: usize = 4 << 20;

/// Compiles an edited `script.bos`.
pub(crate) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    if edit.part.name != TEXT {
        return Err(format!("{NOT_THIS_FILE}: edit {TEXT}"));
    }
    if edit.file.len() > MAX_TEXT {
        return Err(format!("has more than {MAX_TEXT} bytes"));
    }
    let cob = super::parse(edit.asset).map_err(|lost| lost.error.to_string())?;
    let include = |name: &str| {
        let path = format!("scripts/{name}");
        let places = [AssetKey::Sibling(name), AssetKey::Path(&path)];
        let found = places
            .into_iter()
            .find_map(|place| edit.context.find(place))?;
        let size = edit.context.size_of(found);
        if size.is_some_and(|size| size > MAX_TEXT as u64) {
            return None;
        }
        Some(text(&edit.context.read(found)?))
    };
    let again = recompile(&cob, edit.asset, &text(edit.file), &include)?;
    if again.file == **edit.asset {
        return Ok(Imported::Unchanged);
    }
    Ok(Imported::Changed(Changed {
        asset: again.file,
        warnings: again.warnings,
        ..Changed::default()
    }))
}

/// Decodes a text as UTF-8, or else as Windows-1252.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{FEFF}').to_owned(),
        Err(_) => windows_1252(bytes).into_owned(),
    }
}
