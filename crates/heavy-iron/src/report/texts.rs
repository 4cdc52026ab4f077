//! `texts.tsv`: all texts, one row each.

use std::io::{self, Write};

use crate::archive::Archive;
use crate::text;
use hpimount_assets::view::{AssetContext, Table};

/// Returns whether a type is a text.
pub(super) fn is_text(code: [u8; 4]) -> bool {
    code == *b"TEXT"
}

/// Writes the table, in the order of the archive.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let archive = Archive::new(context);
    let mut table = Table::new(out, &["id", "name", "text"])?;
    for member in archive.of_type(is_text) {
        let Some(bytes) = archive.read(&member)? else {
            continue;
        };
        let facts = member.origin().facts;
        let text = text::parse(&bytes, &facts).unwrap_or_default();
        table.cell(format_args!("{:08X}", member.asset.id));
        table.text(&archive.name(&member)).text(&text.text);
        table.end_row()?;
    }
    Ok(())
}
