//! A table for each type: the rows of all its assets.

use std::io::{self, Write};

use crate::archive::{Archive, Member};
use crate::fields::{self, Meaning, Words};
use crate::names::Names;
use crate::object::object_type;
use crate::object::view::Typed;
use crate::record::Record;
use crate::sound::view::headers;
use crate::table_view;
use crate::table_view::sheet::{MAX_LISTED, has_fixed_columns, of_all};
use crate::view::{add_all, new_table};
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
        Ok(bytes.and_then(|bytes| table_view::parse(&bytes, &facts, code).ok()))
    };
    // Some types have more fields in some games, and an empty asset has no
    // record to determine the fields.
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
        for row in of_all(&sheets, member.asset.id, archive.names()).rows {
            table.cell(format_args!("{:08X}", member.asset.id));
            table.text(&name);
            add_all(row, &mut table);
            table.end_row()?;
        }
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
        columns.extend(fields::columns(known.fields));
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
            endian: member.origin().facts.endian,
            object,
        };
        table.cell(format_args!("{:08X}", member.asset.id));
        table.text(&archive.name(&member));
        for part in &typed.object.parts {
            add_fields(&typed, &part.record, archive.names(), &mut table);
        }
        if has_list {
            let list = typed.object.list.iter().take(MAX_LISTED);
            let list: Vec<_> = list.filter_map(|record| record.number("id")).collect();
            add_all(archive.names().pair_of_all(&list), &mut table);
        }
        table.end_row()?;
    }
    Ok(())
}

fn add_fields(typed: &Typed, record: &Record, names: Names<'_>, table: &mut Table<'_>) {
    for (field, value) in record.fields() {
        match typed.meaning(field, value) {
            Some(Meaning { beside, text, .. }) => {
                if beside.is_some() {
                    table.optional(record.number(field).map(|id| format!("{id:08X}")));
                }
                table.text(&text);
            }
            None => add_all(fields::cells(value, names), table),
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
