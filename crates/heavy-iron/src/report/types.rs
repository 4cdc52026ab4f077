//! A table for each type: the rows of all its assets.

use std::io;

use crate::archive::{Archive, Member};
use crate::names::Names;
use crate::sound::view::headers;
use crate::table_view;
use crate::table_view::sheet::{self, has_fixed_columns, of_all};
use crate::tables::parse_model_info;
use hpimount_assets::view::page::Columns;
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_record::Value;

/// The columns before the type's own.
const ASSET: [&str; 2] = ["asset", "asset_name"];

/// Sends the rows of all tables of a type.
pub(super) fn tables(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn TableSink,
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
    let mut columns: Columns = [].into();
    for member in members() {
        let Some(sheets) = parsed(&member)? else {
            continue;
        };
        let found = of_all(&sheets, member.asset.id, archive.names()).columns;
        if found.len() > columns.len() {
            columns = found;
        }
        if has_fixed_columns(&sheets) {
            break;
        }
    }
    let own = columns.iter().map(AsRef::as_ref);
    out.columns(&ASSET.into_iter().chain(own).collect::<Vec<_>>())?;
    for member in members() {
        let Some(sheets) = parsed(&member)? else {
            continue;
        };
        let key = archive.key(&member);
        let own = of_all(&sheets, member.asset.id, archive.names());
        let place = |column| own.columns.iter().position(|known| known == column);
        let places: Vec<_> = columns.iter().map(place).collect();
        for row in own.rows {
            let cell = |place: &Option<usize>| row.get((*place)?).cloned();
            let cells = places.iter().map(|place| Value::from(cell(place)));
            out.row(key.iter().cloned().chain(cells).collect())?;
        }
    }
    Ok(())
}

/// Sends the parameters of all characters (MINF).
pub(super) fn parameters(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    out.columns(&[&ASSET[..], &["index", "name", "name_name", "value"]].concat())?;
    for member in archive.of_type(|code| code == *b"MINF") {
        let bytes = archive.read(&member)?;
        let facts = member.origin().facts;
        let info = bytes.and_then(|bytes| parse_model_info(&bytes, &facts).ok());
        let key = archive.key(&member);
        for row in info
            .iter()
            .flat_map(|info| sheet::parameters(info, archive.names()).rows)
        {
            out.row([&key[..], &row].concat())?;
        }
    }
    Ok(())
}

/// Sends the headers of all sounds.
pub(super) fn sounds(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&["list", "sound", "sound_name", "rate", "offset"])?;
    let Some(headers) = headers(context) else {
        return Err(io::Error::from(io::ErrorKind::OutOfMemory));
    };
    for entry in headers.entries() {
        let [sound, name] = Names(context).pair(entry.asset);
        let (rate, offset) = (entry.header.rate().into(), entry.offset.into());
        out.row(vec![entry.kind.name().into(), sound, name, rate, offset])?;
    }
    Ok(())
}
