//! `/api/list`: the entries of a directory, page by page.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::answer::{Answer, Broken, Pieces, Policy, Refusal};
use super::kind;
use super::range::Tag;
use super::site::{Place, Site, attr_of_overlay, quoted, streamed};
use crate::content::OverlayFile;
use crate::inspect::Contents;
use crate::mount::{self, Attr, Error, FileKind, Vfs};
use crate::namespace::companion::CONVERTED;
use crate::namespace::joined;

/// Number of entries that are listed at a time.
const BATCH: usize = 256;

/// Answers with a page of a directory: entries from number `after` on, at most `limit`.
///
/// # Errors
/// Returns an error if it cannot be listed.
pub(super) fn answer(
    site: &Arc<Site>,
    path: &str,
    after: u64,
    limit: usize,
    all: bool,
) -> Result<Answer, Refusal> {
    let place = Place::find(site, path)?;
    if place.found.attr.kind != FileKind::Directory {
        return Err(Refusal::at(path, Error::NotADirectory));
    }
    let mut page = Page {
        site: site.clone(),
        entries: Entries::new(place, after),
        left: limit,
        all,
        is_first: after == 0,
        state: State::Begins,
        batch: Vec::new(),
    };
    // An error here is the answer.
    page.fill().map_err(|error| Refusal::at(path, error))?;
    let answer = Answer::text(Policy::Data, "application/json", Bytes::new());
    streamed(answer, None, Box::new(page)).map_err(|Broken| Refusal::Internal)
}

/// An entry of a directory.
pub(super) struct DirectoryEntry {
    pub(super) name: String,
    pub(super) attr: Attr,
    /// The file of the overlay, if it is one.
    pub(super) overlay: Option<OverlayFile>,
    /// Number of the entry after it.
    pub(super) next: u64,
}

impl DirectoryEntry {
    /// Returns the tag of its bytes; `path` is its path.
    pub(super) fn tag(&self, site: &Site, path: &str) -> Option<Tag> {
        site.tag(path, self.attr.ino, self.overlay.as_ref())
    }
}

/// Number of the first file of the overlay.
const FIRST_OF_OVERLAY: u64 = 1 << 32;

/// The entries of a directory in the order of the mount, and then the files of the overlay.
pub(super) struct Entries {
    /// The directory.
    pub(super) place: Place,
    /// Number of the next entry.
    pub(super) next: u64,
    /// The names of the files of the overlay.
    overlay: Vec<String>,
}

impl Entries {
    /// Creates those of a directory from number `next` on.
    pub(super) fn new(place: Place, next: u64) -> Self {
        let snapshot = place.site().snapshot();
        let overlay = snapshot.map(|snapshot| snapshot.overlay_names(&place.found.path));
        Self {
            overlay: overlay.into_iter().flatten().collect(),
            place,
            next,
        }
    }

    /// Returns the next entries, at most `most`; none at the end. Their lookups must be
    /// forgotten ([`forget`]).
    ///
    /// # Errors
    /// Returns an error if the directory cannot be listed.
    pub(super) fn batch(&mut self, most: usize) -> mount::Result<Vec<DirectoryEntry>> {
        let mut batch: Vec<DirectoryEntry> = Vec::new();
        if self.next < FIRST_OF_OVERLAY {
            self.list_tree(most, &mut batch)?;
        }
        if batch.len() < most {
            self.list_overlay(most, &mut batch);
        }
        if let Some(last) = batch.last() {
            self.next = last.next;
        }
        Ok(batch)
    }

    /// Adds entries of the tree.
    fn list_tree(&self, most: usize, batch: &mut Vec<DirectoryEntry>) -> mount::Result<()> {
        let (vfs, ino) = (self.place.vfs(), self.place.found.attr.ino);
        let listed = vfs.readdir_plus(ino, self.next, &mut |name, attr, next| {
            if batch.len() == most {
                return true;
            }
            if self.is_hidden(name) {
                vfs.forget(attr.ino, 1);
                return false;
            }
            batch.push(DirectoryEntry {
                name: name.to_owned(),
                attr,
                overlay: None,
                next,
            });
            false
        });
        listed.inspect_err(|_| forget(vfs, batch))
    }

    /// Adds files of the overlay.
    fn list_overlay(&self, most: usize, batch: &mut Vec<DirectoryEntry>) {
        let Some(snapshot) = self.place.site().snapshot() else {
            return;
        };
        let start = self.next.saturating_sub(FIRST_OF_OVERLAY);
        let names = (FIRST_OF_OVERLAY + 1..).zip(&self.overlay);
        for (next, name) in names.skip(start as usize) {
            if batch.len() == most {
                return;
            }
            let path = joined(&self.place.found.path, name);
            if let Some(overlay) = snapshot.overlay(&path) {
                batch.push(DirectoryEntry {
                    name: name.clone(),
                    attr: attr_of_overlay(&overlay),
                    overlay: Some(overlay),
                    next,
                });
            }
        }
    }

    /// Returns whether the tree lists an entry with this name.
    fn have(&self, name: &str) -> bool {
        let found = Contents(self.place.vfs()).find(self.place.found.attr.ino, name);
        found.is_ok_and(|entry| entry.is_some_and(|entry| entry.name == name))
    }

    /// Returns whether a file of the overlay hides an entry of the tree.
    fn is_hidden(&self, name: &str) -> bool {
        self.overlay
            .binary_search_by(|one| (**one).cmp(name))
            .is_ok()
    }

    /// Returns how many entries there are, and how many of them are after those that were
    /// returned.
    fn count(&self) -> (u64, u64) {
        let (vfs, ino) = (self.place.vfs(), self.place.found.attr.ino);
        if self.overlay.is_empty() {
            // It was listed before.
            let from = |start| vfs.count_entries(ino, start).unwrap_or_default();
            return (from(0), from(self.next));
        }
        let overlay = self.overlay.len() as u64;
        let seen = self.next.saturating_sub(FIRST_OF_OVERLAY);
        let (mut all, mut left) = (overlay, overlay.saturating_sub(seen));
        let counted = vfs.readdir(ino, 0, &mut |name, _, _, next| {
            if !self.is_hidden(name) {
                all += 1;
                left += u64::from(next > self.next);
            }
            false
        });
        counted.map_or((all, 0), |()| (all, left))
    }
}

/// Forgets the lookups of entries.
pub(super) fn forget(vfs: &Vfs, listed: &[DirectoryEntry]) {
    for entry in listed {
        vfs.forget(entry.attr.ino, 1);
    }
}

/// A page that is being written.
struct Page {
    site: Arc<Site>,
    entries: Entries,
    /// Maximum number of entries that follow.
    left: usize,
    /// True if hidden companions are added.
    all: bool,
    /// True if it begins with the first entry.
    is_first: bool,
    state: State,
    /// Entries that were listed and not written.
    batch: Vec<DirectoryEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Begins,
    HasEntries,
    Ended,
}

impl Page {
    /// Lists the next entries.
    fn fill(&mut self) -> mount::Result<()> {
        self.batch = self.entries.batch(BATCH.min(self.left))?;
        self.left -= self.batch.len();
        Ok(())
    }

    /// Writes the converted files of an archive where they are hidden, on its first page.
    fn write_converted(&mut self, text: &mut String) {
        if self.is_first
            && self.all
            && !self.entries.have(CONVERTED)
            && let Some(companion) =
                companion(&self.site, &self.entries.place.found.path, CONVERTED)
        {
            text.push_str(&companion.to_string());
            self.state = State::HasEntries;
        }
    }

    fn write_batch(&mut self, text: &mut String) {
        let vfs = self.site.vfs();
        let directory = &self.entries.place.found.path;
        let converted = converted_names(vfs, &self.entries.place, &self.batch);
        for listed in &self.batch {
            if self.state == State::HasEntries {
                text.push(',');
            }
            self.state = State::HasEntries;
            let mut entry = entry(&self.site, directory, listed);
            let names = converted.get(&listed.attr.ino.0);
            entry.insert(
                "converted".to_owned(),
                json!(names.map_or(&[][..], |names| names)),
            );
            let enter = entry["enter"].as_str().map(str::to_owned);
            text.push_str(&Value::Object(entry).to_string());
            if let Some(name) = enter.filter(|_| self.all)
                && let Some(companion) = companion(&self.site, directory, &name)
            {
                text.push(',');
                text.push_str(&companion.to_string());
            }
        }
        forget(vfs, &self.batch);
        self.batch.clear();
    }

    /// Writes the end, with the number of the next page.
    fn write_end(&self, text: &mut String) {
        let (total, left) = self.entries.count();
        let next = match left {
            0 => Value::Null,
            _ => self.entries.next.to_string().into(),
        };
        text.push_str(&format!("],\"next\":{next},\"total\":{total}}}\n"));
    }
}

impl Pieces for Page {
    fn read(&mut self, wanted: usize) -> Result<Bytes, Broken> {
        let mut text = String::new();
        if self.state == State::Ended {
            return Ok(Bytes::new());
        }
        if self.state == State::Begins {
            let path = quoted(&self.entries.place.found.path);
            text.push_str(&format!("{{\"path\":{path},\"entries\":["));
            self.write_converted(&mut text);
        }
        while text.len() < wanted {
            if self.batch.is_empty() {
                let filled = self.fill();
                let path = &self.entries.place.found.path;
                filled.map_err(|error| Broken::because(path, error))?;
            }
            if self.batch.is_empty() {
                self.write_end(&mut text);
                self.state = State::Ended;
                break;
            }
            self.write_batch(&mut text);
        }
        Ok(text.into())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        forget(self.entries.place.vfs(), &self.batch);
    }
}

/// Returns the name of a kind of entry.
fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Directory => "directory",
        FileKind::File => "file",
        FileKind::Symlink => "link",
    }
}

/// Returns what a listing says of an entry.
pub(super) fn entry(
    site: &Arc<Site>,
    directory: &str,
    listed: &DirectoryEntry,
) -> Map<String, Value> {
    let DirectoryEntry { name, attr, .. } = listed;
    let vfs = site.vfs();
    // A link is shown as its target.
    let target = (attr.kind == FileKind::Symlink)
        .then(|| Place::find(site, &joined(directory, name)).ok())
        .flatten();
    let shown = target.as_ref().map_or(*attr, |place| place.found.attr);
    let contents = Contents(vfs);
    let asset = contents.view_format(shown.ino);
    let asset = asset.map(|format| (format, contents.asset_of(shown.ino)));
    let is_file = shown.kind == FileKind::File;
    let is_measured = attr.lasting || attr.kind != FileKind::File;
    let enter = is_file
        .then(|| enter(vfs, shown, name, asset.is_some()))
        .flatten();
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| drop(entry.insert(key.to_owned(), value));
    put("name", name.as_str().into());
    put("kind", kind_name(attr.kind).into());
    put(
        "type",
        json!(is_file.then(|| contents.type_of(shown.ino)).flatten()),
    );
    put("size", json!(is_measured.then_some(attr.size)));
    put("modified", attr.modified.into());
    let tag = match (&target, is_file) {
        (_, false) => None,
        (Some(target), true) => target.tag(),
        (None, true) => listed.tag(site, &joined(directory, name)),
    };
    put("etag", json!(tag.map(|tag| tag.quoted())));
    put(
        "view",
        json!(is_file.then(|| kind::view(name, asset).name())),
    );
    put(
        "thumb",
        (is_file && kind::has_thumbnail(name, asset)).into(),
    );
    put("enter", json!(enter));
    if attr.kind == FileKind::Symlink {
        put(
            "target",
            json!(target.map(|place| place.found.path.clone())),
        );
    }
    entry
}

/// Returns the name of the directory with what is in a file.
fn enter(vfs: &Vfs, file: Attr, name: &str, is_asset: bool) -> Option<String> {
    let shows_assets = vfs.options().meta != mount::Meta::Off;
    match Contents(vfs).inside(file.ino) {
        Some(_) => Some(format!("{name}.d")),
        None if is_asset && shows_assets => Some(format!("{name}.meta")),
        None => None,
    }
}

/// Returns the entry of a companion that is not listed.
fn companion(site: &Arc<Site>, directory: &str, name: &str) -> Option<Value> {
    let place = Place::find(site, &joined(directory, name)).ok()?;
    let listed = DirectoryEntry {
        name: name.to_owned(),
        attr: place.found.attr,
        overlay: None,
        next: 0,
    };
    let mut entry = entry(site, directory, &listed);
    entry.insert("hidden".to_owned(), true.into());
    entry.insert("converted".to_owned(), json!([]));
    Some(Value::Object(entry))
}

/// Returns the paths of what the assets among some entries are converted to, by their inodes.
fn converted_names(
    vfs: &Vfs,
    directory: &Place,
    listed: &[DirectoryEntry],
) -> HashMap<u64, Vec<String>> {
    let assets: Vec<_> = listed.iter().map(|entry| entry.attr.ino).collect();
    let found = vfs
        .assets()
        .converted_files(directory.found.attr.ino, &assets);
    let mut names: HashMap<u64, Vec<String>> = HashMap::new();
    for (asset, path) in found.unwrap_or_default() {
        names.entry(asset.0).or_default().push(path);
    }
    names
}
