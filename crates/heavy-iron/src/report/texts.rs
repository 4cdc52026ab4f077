//! `texts.tsv`: all texts and subtitles, one row each.

use std::collections::HashMap;
use std::io;

use crate::archive::{Archive, Member};
use crate::object::cutscene::subtitles;
use crate::object::{is_bare, is_object};
use crate::table_view::sheet::MAX_LISTED;
use crate::text;
use hpimount_assets::view::{AssetContext, TableSink};
use hpimount_record::Value;

use super::has;

/// Returns whether a type is a text, or the subtitles of a cutscene.
pub(super) fn is_text(code: [u8; 4]) -> bool {
    code == *b"TEXT" || is_subtitles(code)
}

/// Returns whether a type is the subtitles of a cutscene.
pub(super) fn is_subtitles(code: [u8; 4]) -> bool {
    code == *b"SUBT"
}

/// Sends the table in archive order.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    let archive = Archive::new(context);
    let shown_by = shown_by(&archive)?;
    let mut columns = vec!["id", "name", "text", "shown_by", "shown_by_name"];
    if has(context, is_subtitles) {
        // In seconds.
        columns.extend(["start", "stop"]);
    }
    out.columns(&columns)?;
    let mut row = |member: &Member, text: Value, times: &[Value]| {
        let objects = shown_by.get(&member.asset.id);
        let objects = objects.map(Vec::as_slice).unwrap_or_default();
        let [id, name] = archive.key(member);
        let [objects, names] = archive.names().pair_of_all(objects);
        out.row([&[id, name, text, objects, names], times].concat())
    };
    for member in archive.of_type(is_text) {
        if is_subtitles(member.asset.code) {
            let object = archive.object(&member)?.unwrap_or_default();
            for line in subtitles(&object).rows {
                if let Ok([start, stop, text]) = <[Value; 3]>::try_from(line) {
                    row(&member, text, &[start, stop])?;
                }
            }
            continue;
        }
        let Some(bytes) = archive.read(&member)? else {
            continue;
        };
        let facts = member.origin().facts;
        let text = text::parse(&bytes, &facts).unwrap_or_default();
        row(&member, text.text.into(), &[])?;
    }
    Ok(())
}

/// Returns the ids of the first objects that refer to each text in a field, or in link
/// parameters, which assign the text to another object.
fn shown_by(archive: &Archive<'_>) -> io::Result<HashMap<u32, Vec<u32>>> {
    let texts = archive.of_type(is_text);
    let mut objects: HashMap<_, _> = texts.map(|text| (text.asset.id, Vec::new())).collect();
    for member in archive.of_type(|code| is_object(code) && !is_bare(code)) {
        let Some(object) = archive.object(&member)? else {
            continue;
        };
        let fields = object.references().map(|(_, id)| id);
        let links = object.links.iter();
        let given =
            links.flat_map(|link| link.parameters.into_iter().chain([link.parameter_asset]));
        for id in fields.chain(given) {
            if let Some(objects) = objects.get_mut(&id)
                && objects.len() < MAX_LISTED
                && objects.last() != Some(&member.asset.id)
            {
                objects.push(member.asset.id);
            }
        }
    }
    Ok(objects)
}
