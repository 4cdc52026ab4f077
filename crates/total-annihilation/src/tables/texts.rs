//! A long table of all texts: a row for each key. `diff` compares two versions of a
//! mod, and `grep` finds a value.

use std::io;

use super::lines::each_key;
use super::rows::MAX_BYTES;
use crate::tdf::{self, Key, Tdf};
use hpimount_assets::view::{AssetContext, AssetRef, TableSink};

/// Prefixes of directories with texts.
const FOLDERS: [&str; 9] = [
    "camps", "canbuild", "download", "features", "gamedata", "maps", "sections", "units", "weapons",
];

/// Returns the texts, sorted by path.
pub(super) fn files(context: &dyn AssetContext) -> Vec<AssetRef> {
    let folders = FOLDERS.into_iter();
    let find = |folder| context.find_extensions(folder, &["tdf", "fbi", "ota"]);
    folders.flat_map(find).collect()
}

/// Sends the table.
pub(super) fn write(context: &dyn AssetContext, out: &mut dyn TableSink) -> io::Result<()> {
    out.columns(&["file", "section", "key", "value"])?;
    each_text(context, &mut |_, path, tdf| {
        keys(tdf, &mut |section, key| {
            out.texts(&[path, section, &key.name(), &key.value()])
        })
    })
}

/// A function that is called with a text, its path and its contents.
type VisitText<'v> = &'v mut dyn FnMut(AssetRef, &str, &Tdf) -> io::Result<()>;

/// Visits all texts, in order.
pub(super) fn each_text(context: &dyn AssetContext, visit: VisitText<'_>) -> io::Result<()> {
    let mut left = MAX_BYTES;
    for file in files(context) {
        let Some(bytes) = context.read(file) else {
            continue;
        };
        let Some(rest) = left.checked_sub(bytes.len()) else {
            return Ok(());
        };
        left = rest;
        // Uses the part of an incomplete text before the error.
        let tdf = tdf::parse(&bytes).unwrap_or_else(|lost| lost.model);
        visit(file, &context.path_of(file), &tdf)?;
    }
    Ok(())
}

/// Visits the keys of a text with the names of their sections, in order.
pub(super) fn keys(
    tdf: &Tdf,
    visit: &mut dyn FnMut(&str, Key<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut result = Ok(());
    each_key(tdf.root(), &mut String::new(), &mut |name, key| {
        if result.is_err() {
            return;
        }
        let section = name.strip_suffix(&*key.name()).unwrap_or_default();
        let section = section.strip_suffix('.').unwrap_or(section);
        result = visit(section, key);
    });
    result
}
