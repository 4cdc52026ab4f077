//! `/api/search`: entries by parts of their names, and by words of their texts.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::answer::{Answer, Policy, Refusal};
use super::kind;
use super::live::Snapshot;
use super::names::Collected;
use super::route::{Progress, Query};
use super::site::{Place, Share, Site};
use super::texts::Words;
use crate::inspect::bounds::{Bounds, EXPANSION};
use crate::inspect::walk::{Missed, Walk};
use crate::inspect::{Contents, Role};
use crate::mount::{FileKind, HeldIno, Ino};
use crate::platform::lower_priority;

/// Interval between checks of a tree that follows edits for changed texts.
const SETTLED: Duration = Duration::from_secs(2);

/// Number of entries of an answer.
const ENTRIES: usize = 100;

/// Collects all names, and then the texts, which are read again when they have changed.
pub(super) fn collect(share: &Share) {
    lower_priority();
    let mut site = share.now();
    collect_names(&site);
    loop {
        let begun = Instant::now();
        let collected = site.common.texts.collect(site.vfs());
        let version = site.snapshot().map(Snapshot::folder_version);
        let Some(version) = version.filter(|_| collected != Collected::Off) else {
            return;
        };
        // Most of the time is for other work.
        let mut pause = SETTLED.max(begun.elapsed() * 8);
        // A held version stays in memory.
        drop(site);
        site = loop {
            thread::sleep(pause);
            let site = share.now();
            let is_newer = |snapshot: &dyn Snapshot| snapshot.folder_version() != version;
            if site.snapshot().is_some_and(is_newer) {
                break site;
            }
            pause = SETTLED;
        };
    }
}

/// Collects the paths of all listed entries, and of those in archives.
fn collect_names(site: &Arc<Site>) {
    let vfs = site.vfs();
    let root = HeldIno::kept(Ino::ROOT);
    let bounds = Bounds::of(vfs, Ino::ROOT, EXPANSION);
    let mut walk = Walk::within(bounds, root, String::new());
    walk.counts_sizes = false;
    let mut progress = Collected::Done;
    while let Some(step) = walk.next(vfs) {
        let is_collected = match step {
            Err(Missed::LeftOut(_)) => false,
            // Companions of assets have names of their own only inside.
            Ok(step) if step.entry.role == Role::AssetDirectory => true,
            Ok(step) => {
                let is_archive = step.entry.role == Role::Inside;
                let is_added = is_archive || site.common.names.add(&step.path);
                if is_archive || step.entry.role == Role::Directory {
                    walk.enter(vfs, step);
                }
                is_added
            }
            Err(Missed::Unlisted(..)) => true,
        };
        if !is_collected {
            progress = Collected::Partial;
            break;
        }
    }
    site.common.names.end(progress);
}

/// Returns how far the collections are.
pub(super) fn state(site: &Site) -> Value {
    let (names, of) = site.common.names.progress();
    let (texts, done) = site.common.texts.progress();
    json!({ "names": names.name(), "texts": texts.name(), "done": done, "of": of })
}

/// Answers a search: names first, and then texts.
///
/// # Errors
/// Returns an error if nothing is searched for.
pub(super) fn answer(site: &Arc<Site>, query: &Query) -> Result<Answer, Refusal> {
    let text = query.text.to_lowercase();
    if text.is_empty() && query.type_of.is_none() {
        return Err(Refusal::BadRequest("`q` has what is searched for"));
    }
    let folder = match &*query.path {
        "" => String::new(),
        path => format!("{}/", Place::find(site, path)?.found.path),
    };
    let mut entries: Vec<Value> = Vec::new();
    let mut next = None;
    let mut after_text = 0;
    match query.after {
        Progress::Texts(after) => after_text = after,
        Progress::Names(after) if query.names => {
            let is_wanted = |path: &str| {
                let Some(below) = path.strip_prefix(&folder) else {
                    return false;
                };
                let name = below.rsplit('/').next().unwrap_or_default();
                name.to_lowercase().contains(&text) && has_type(name, query.type_of.as_deref())
            };
            let (paths, more) = named(site, after, is_wanted);
            entries.extend(paths.iter().filter_map(|path| found(site, path)));
            next = more.map(Progress::Names);
        }
        Progress::Names(_) => {}
    }
    if next.is_none() && query.texts && !text.is_empty() {
        let most = ENTRIES - entries.len();
        let words = Words {
            text,
            folder,
            type_of: query.type_of.clone(),
        };
        let found = site.common.texts.find(words, after_text, most + 1)?;
        let is_more = found.len() > most;
        let shown = found.iter().take(most);
        let last = shown
            .clone()
            .next_back()
            .map_or(after_text, |last| last.number);
        next = is_more.then_some(Progress::Texts(last));
        entries.extend(shown.map(|file| {
            json!({
                "path": file.path,
                "kind": "file",
                "size": file.size,
                "view": Place::find(site, &file.path).ok().and_then(|place| view(&place)),
                "in": "text",
                "snippet": file.snippet,
            })
        }));
    }
    let body = json!({
        "entries": entries,
        "next": next.map(|next| next.to_string()),
        "state": state(site),
    });
    Ok(Answer::text(
        Policy::Data,
        "application/json",
        body.to_string(),
    ))
}

/// Returns some of the wanted paths, from number `after` on, and the number of the next one.
/// Paths in a folder of edits come first: they may be new.
fn named(
    site: &Arc<Site>,
    after: u64,
    is_wanted: impl Fn(&str) -> bool,
) -> (Vec<String>, Option<u64>) {
    let edited = site
        .snapshot()
        .map(|snapshot| snapshot.paths())
        .unwrap_or_default();
    let count = edited.len() as u64;
    let new = edited.iter().filter(|path| is_wanted(path));
    let found = |path: &String| Some(Place::find(site, path).ok()?.found.path.clone());
    let mut paths: Vec<String> = match after {
        0 => new.filter_map(found).collect(),
        _ => Vec::new(),
    };
    let is_old = |path: &str| is_wanted(path) && !edited.contains(path);
    let most = ENTRIES.saturating_sub(paths.len());
    let names = &site.common.names;
    let (old, next) = names.find(after.saturating_sub(count), most, is_old);
    paths.extend(old);
    (paths, next.map(|next| next + count))
}

fn has_type(name: &str, wanted: Option<&str>) -> bool {
    let extension = || {
        name.rsplit_once('.')
            .map(|(_, extension)| extension.to_lowercase())
    };
    wanted.is_none_or(|wanted| extension().as_deref() == Some(wanted))
}

/// Returns an entry of an answer; `None` if it is not there any more.
fn found(site: &Arc<Site>, path: &str) -> Option<Value> {
    let place = match Place::find(site, path) {
        Ok(place) => Some(place),
        // It was deleted since its name was collected.
        Err(_) if site.is_live() => return None,
        // A link that leads nowhere.
        Err(_) => None,
    };
    let attr = place.as_ref().map(|place| place.found.attr);
    let kind = attr.map_or("file", |attr| match attr.kind {
        FileKind::Directory => "directory",
        FileKind::File | FileKind::Symlink => "file",
    });
    let size = attr.filter(|attr| attr.kind == FileKind::File);
    Some(json!({
        "path": path,
        "kind": kind,
        "size": size.map(|attr| attr.size),
        "view": place.as_ref().and_then(view),
        "in": "name",
        "snippet": null,
    }))
}

/// Returns how a file is shown.
fn view(place: &Place) -> Option<&'static str> {
    let (contents, ino) = (Contents(place.vfs()), place.found.attr.ino);
    let asset = contents.view_format(ino);
    let asset = asset.map(|format| (format, contents.asset_of(ino)));
    let is_file = place.found.attr.kind == FileKind::File;
    is_file.then(|| kind::view(&place.found.path, asset).name())
}
