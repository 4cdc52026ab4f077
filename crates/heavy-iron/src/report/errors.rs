//! `errors.tsv`: the unreadable assets, with reasons.

use std::io;

use crate::FORMATS;
use crate::archive::Archive;
use hpimount_assets::view::{AssetContext, TableSink};

/// Returns whether assets of a type are shown.
pub(super) fn is_shown(code: [u8; 4]) -> bool {
    let mut formats = FORMATS.iter();
    formats.any(|format| format.asset_types.contains(&code))
}

/// Sends the table, in the order of the archive.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    out.columns(&["id", "name", "type", "file", "error"])?;
    for member in archive.of_type(is_shown) {
        // Parsing counts as reading.
        archive.count(member.file)?;
        let view = context.model(member.file);
        let error = match &view {
            Some(view) => view.failure().map(ToString::to_string),
            None => Some("its bytes cannot be read".to_owned()),
        };
        let Some(error) = error else {
            continue;
        };
        let mut row = Vec::from(archive.key_and_type(&member));
        row.extend([context.path_of(member.file).into(), error.into()]);
        out.row(row)?;
    }
    Ok(())
}
