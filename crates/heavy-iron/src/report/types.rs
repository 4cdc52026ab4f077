//! A table for each type: the rows of all its assets.

use std::io::{self, Write};

use crate::archive::{Archive, Member};
use crate::names::{IdCell, Names};
use crate::sound::view::headers;
use crate::table_view;
use crate::table_view::sheet::{self, has_fixed_columns, of_all};
use crate::tables::parse_model_info;
use crate::view::{add_all, new_table};
use hpimount_assets::view::{AssetContext, Table};
use hpimount_record::Value;

/// The columns before the type's own.
const ASSET: [&str; 2] = ["asset", "asset_name"];

/// Writes the rows of all tables of a type.
pub(super) fn tables(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn Write,
) -> io::Result<()> {
    let archive = Archive::new(context);
    let members = || {
        let files = context.find_type(code).into_iter();
        files.filter_map(|file| archive.member(file))
    };
    let parsed = |member: &Member| -> io::Result<_> {
        let bytes = archive.read(member)?;
        let facts = member.origin().facts;
        Ok(bytes.and_then(|bytes| table_view::parse(&bytes, &facts, code).ok()))
    };
    // Some types have more fields in some games, and an empty asset has no record to
    // determine them.
    let mut columns: Vec<String> = Vec::new();
    for member in members() {
        let Some(sheets) = parsed(&member)? else {
            continue;
        };
        let found = of_all(&sheets, member.asset.id, archive.names()).columns;
        if found.len() > columns.len() {
            columns = found.iter().map(ToString::to_string).collect();
        }
        if has_fixed_columns(&sheets) {
            break;
        }
    }
    columns.splice(0..0, ASSET.map(str::to_owned));
    let mut table = new_table(&columns, out)?;
    for member in members() {
        let Some(sheets) = parsed(&member)? else {
            continue;
        };
        let name = archive.name(&member);
        let own = of_all(&sheets, member.asset.id, archive.names());
        let place = |column: &String| own.columns.iter().position(|known| *known == **column);
        let places: Vec<_> = columns[ASSET.len()..].iter().map(place).collect();
        for row in own.rows {
            table.cell(IdCell(member.asset.id));
            table.text(&name);
            let cell = |place: &Option<usize>| place.and_then(|place| row.get(place).cloned());
            add_all(
                places
                    .iter()
                    .map(|place| cell(place).unwrap_or(Value::Null)),
                &mut table,
            );
            table.end_row()?;
        }
    }
    Ok(())
}

/// Writes the parameters of all characters (MINF).
pub(super) fn parameters(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let archive = Archive::new(context);
    let columns = [&ASSET[..], &["index", "name", "name_name", "value"]].concat();
    let mut table = Table::new(out, &columns)?;
    for member in archive.of_type(|code| code == *b"MINF") {
        let bytes = archive.read(&member)?;
        let facts = member.origin().facts;
        let info = bytes.and_then(|bytes| parse_model_info(&bytes, &facts).ok());
        let name = archive.name(&member);
        for row in info
            .iter()
            .flat_map(|info| sheet::parameters(info, archive.names()).rows)
        {
            table.cell(IdCell(member.asset.id));
            table.text(&name);
            add_all(row, &mut table);
            table.end_row()?;
        }
    }
    Ok(())
}

/// Writes the headers of all sounds.
pub(super) fn sounds(context: &dyn AssetContext, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["list", "sound", "sound_name", "rate", "offset"];
    let mut table = Table::new(out, &columns)?;
    let names = Names(context);
    let Some(headers) = headers(context) else {
        return Err(io::Error::from(io::ErrorKind::OutOfMemory));
    };
    for entry in headers.entries() {
        table.cell(entry.kind.name());
        names.cells(entry.asset, &mut table);
        table.cell(entry.header.rate()).cell(entry.offset);
        table.end_row()?;
    }
    Ok(())
}
