//! `/api/where`: where a file comes from, and what it hides; `/api/diff`: how two entries
//! differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::answer::{Answer, Policy, Refusal};
use super::site::{Place, Site};
use crate::inspect::diff::diff_entries;
use crate::inspect::{self, Contents};
use crate::mount::{FileKind, HeldIno};
use hpimount_containers::io::Bounded;

/// Attribute with the original bytes of a name, and with the archives of hidden files.
const RAW_NAME: &str = "user.hpimount.raw_name";
const SHADOWS: &str = "user.hpimount.shadows";

/// Most bytes of the differences.
const MAX_DIFFERENCES: usize = 4 << 20;

/// Threads that compare.
const THREADS: usize = 2;

/// Answers where the entry at a path comes from.
///
/// # Errors
/// Returns an error if there is none.
pub(super) fn place(site: &Arc<Site>, path: &str) -> Result<Answer, Refusal> {
    let vfs = site.vfs();
    let place = Place::find(site, path)?;
    let (ino, path) = (place.found.attr.ino, &place.found.path);
    // A file without a node is in no source.
    let chain = vfs.containers(ino).unwrap_or_default();
    let chain = chain.into_iter().map(|container| match container.path {
        Some(path) => json!({ "path": path, "format": container.format }),
        None => json!({ "source": container.name, "format": container.format }),
    });
    let text = |name: &str| {
        let value = vfs.xattr(ino, name).ok()?;
        Some(String::from_utf8_lossy(&value).into_owned())
    };
    let shadows = text(SHADOWS).unwrap_or_default();
    let shadows = shadows.lines().map(|source| {
        let hidden = format!(".hpimount/shadowed/{source}/{path}");
        let is_there = Place::find(site, &hidden).is_ok();
        json!({ "source": source, "path": is_there.then_some(hidden) })
    });
    let names = vfs.xattr_names(ino).into_iter();
    let attributes = names.filter(|name| *name != RAW_NAME && *name != SHADOWS);
    let attributes: BTreeMap<&str, String> = attributes
        .filter_map(|name| Some((name, text(name)?)))
        .collect();
    let is_asset = Contents(vfs).view_format(ino).is_some();
    let meta = is_asset.then(|| format!("{path}.meta"));
    let meta = meta.filter(|meta| Place::find(site, meta).is_ok());
    let body = json!({
        "path": path,
        "chain": chain.collect::<Value>(),
        "shadows": shadows.collect::<Value>(),
        "attributes": attributes,
        "meta": meta,
        "raw_name": text(RAW_NAME),
    });
    Ok(Answer::text(
        Policy::Data,
        "application/json",
        body.to_string(),
    ))
}

/// Answers how two files, or two directories, differ.
///
/// # Errors
/// Returns an error if one is missing, they are of different kinds, or there are too many
/// differences.
pub(super) fn diff(site: &Arc<Site>, paths: &[String; 2]) -> Result<Answer, Refusal> {
    let vfs = site.vfs();
    let old = Place::find(site, &paths[0])?;
    let new = Place::find(site, &paths[1])?;
    let is_directory = |place: &Place| place.found.attr.kind == FileKind::Directory;
    if is_directory(&old) != is_directory(&new) {
        return Err(Refusal::BadRequest(
            "a file and a directory are not compared",
        ));
    }
    let sides = [&old, &new].map(|place| {
        let ino = HeldIno::kept(place.found.attr.ino);
        (place.found.path.as_str(), ino)
    });
    let mut out = Bounded::new(MAX_DIFFERENCES);
    match diff_entries(vfs, sides, THREADS, &mut out) {
        Ok(_) => {}
        Err(inspect::Error::Output(_)) => {
            return Err(Refusal::BadRequest("there are too many differences"));
        }
        Err(error) => return Err(error.into()),
    }
    let lines = out.into_bytes();
    Ok(Answer::text(Policy::Data, "application/x-ndjson", lines))
}
