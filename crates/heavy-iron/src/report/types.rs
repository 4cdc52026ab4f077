//! A table for each type: the rows of all its assets.

use std::io::{self, Write};

use crate::archive::{Archive, Member};
use crate::fields::Words;
use crate::names::Names;
use crate::object::object_type;
use crate::object::view::Typed;
use crate::record::Record;
use crate::sound::view::headers;
use crate::table_view as view;
use crate::table_view::sheet::{
    MAX_LISTED, Rows, add_cell, add_columns, add_ids, new_table, sheet_of_all,
};
use hpimount_assets::view::{AssetContext, Table};

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
        Ok(bytes.and_then(|bytes| view::parse(&bytes, &facts, code).ok()))
    };
    // Some types have more fields in some games, and an empty asset has no
    // record to determine the fields.
    let mut columns: Vec<String> = Vec::new();
    for member in members() {
        let Some(sheets) = parsed(&member)? else {
            continue;
        };
        let sheet = sheet_of_all(&sheets);
        let found = sheet.columns(&sheets);
        if found.len() > columns.len() {
            columns = found;
        }
        if sheet.has_fixed_columns() {
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
        let mut rows = Rows::of_asset(&mut table, member.asset.id, &name);
        sheet_of_all(&sheets).rows(&sheets, archive.names(), &mut rows)?;
    }
    Ok(())
}

/// Writes a row for each object of a type, with the fields of that type.
pub(super) fn objects(
    context: &dyn AssetContext,
    code: [u8; 4],
    out: &mut dyn Write,
) -> io::Result<()> {
    let archive = Archive::new(context);
    let mut columns = ASSET.map(str::to_owned).to_vec();
    if let Some(known) = object_type(code) {
        add_columns(known.fields, &mut columns);
    }
    let has_list = code == *b"GRUP";
    if has_list {
        columns.extend(["list", "list_name"].map(str::to_owned));
    }
    let mut table = new_table(&columns, out)?;
    for file in context.find_type(code) {
        let Some(member) = archive.member(file) else {
            continue;
        };
        let Some(object) = archive.object(&member)? else {
            continue;
        };
        let typed = Typed {
            code,
            game: member.origin().facts.game,
            object,
        };
        table.cell(format_args!("{:08X}", member.asset.id));
        table.text(&archive.name(&member));
        for part in &typed.object.parts {
            fields(&typed, &part.record, archive.names(), &mut table);
        }
        if has_list {
            let list = typed.object.list.iter().take(MAX_LISTED);
            let list: Vec<_> = list.filter_map(|record| record.number("id")).collect();
            add_ids(&list, archive.names(), &mut table);
        }
        table.end_row()?;
    }
    Ok(())
}

fn fields(typed: &Typed, record: &Record, names: Names<'_>, table: &mut Table<'_>) {
    for (field, value) in record.fields() {
        match (typed.instead(field, value), typed.besides(field, value)) {
            (Some(words), _) => {
                table.text(&words);
            }
            (None, Some((_, meaning))) => {
                table.optional(record.number(field).map(|id| format!("{id:08X}")));
                table.text(&meaning);
            }
            (None, None) => add_cell(value, names, table),
        }
    }
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
