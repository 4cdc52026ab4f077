//! Writing the changes of a GameCube disc as a mod for Riivolution and Dolphin.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use super::apply::Edit;
use super::patch::Changed;
use super::{Error, Result};
use crate::platform::canonical;
use crate::source::FolderTask;
use hpimount_containers::changes::{Composed, Notice, Report, are_equal};
use hpimount_containers::gcm::{self, Place};
use hpimount_containers::io::{self, ReadAt, read_vec};
use hpimount_patches::Extents;
use hpimount_patches::riivolution::{ONLY_GAMECUBE, Output, check_path};

/// Number of bytes that are read at a time.
const PIECE: u64 = 256 << 10;

/// Returns whether a path is that of a mod, by its extension.
pub(super) fn is_mod(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("riivolution"))
}

/// A mod that is ready to be written.
pub struct Plan {
    changed: Changed,
    /// The source.
    path: PathBuf,
    name: String,
    /// The ranges in the result of the files that changed, by their paths.
    files: Vec<(String, Range<u64>)>,
    xml: String,
    descriptor: String,
}

impl Plan {
    /// Plans to write the changes of a GameCube disc as a mod to the folder `out`.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied, or that a mod
    /// cannot express.
    pub(super) fn new(mut edit: Edit, out: &Path) -> Result<Self> {
        let changed = Changed::new(&mut edit)?;
        let path = edit.path().to_owned();
        let failed = |error: io::Error| match error {
            io::Error::UnknownFormat => Error::refused(&path, ONLY_GAMECUBE),
            error => Error::source(&path, error),
        };
        let old = Disc::open(&changed.original).map_err(failed)?;
        let result: Arc<dyn ReadAt> = changed.result.clone();
        let new = Disc::open(&result).map_err(failed)?;
        let files = new.changed_from(&old, &changed.extents).map_err(failed)?;
        let mut refused = old.missing_in(&new);
        refused.extend(new.empty_beside(&old));
        refused.extend(files.iter().filter_map(|(path, _)| {
            let text = check_path(path).err()?.to_string();
            let path = path.clone();
            Some(Notice::new(path, text))
        }));
        if !refused.is_empty() {
            return Err(Error::Refused(refused));
        }
        let name = out.file_stem().unwrap_or_default().to_string_lossy();
        let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
        let base_file = relative(&path, out);
        let output = Output {
            name: &name,
            id: &old.contents.id,
            disc: Some((old.contents.number, old.contents.version)),
            files: &paths,
            base_file: base_file.as_deref(),
        };
        let refused = |error: io::Error| Error::refused(out, error.to_string());
        Ok(Self {
            xml: output.xml().map_err(refused)?,
            descriptor: output.descriptor().map_err(refused)?,
            name: name.into_owned(),
            changed,
            path,
            files,
        })
    }

    /// Returns the number of bytes of the changed files.
    pub fn bytes(&self) -> u64 {
        let files = self.files.iter();
        files.map(|(_, range)| range.end - range.start).sum()
    }

    pub(super) fn report(&self) -> &Report {
        &self.changed.report
    }

    /// Returns the error of whoever writes it as a file.
    pub(super) fn not_a_file(&self) -> Error {
        Error::target(Path::new(&self.name), "is a folder")
    }

    /// Writes the mod to a folder by another thread, which does the tasks that are sent to
    /// `folder`.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or the other thread does no tasks any
    /// more.
    pub fn write(
        &self,
        folder: &SyncSender<FolderTask<Vec<u8>>>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let send = |task| {
            // Whoever writes the folder knows why it ends early.
            let sent = folder.send(task);
            sent.map_err(|_| Error::target(Path::new(&self.name), "is not written any more"))
        };
        for (path, range) in &self.files {
            send(FolderTask::File(format!("{}/{path}", self.name)))?;
            let starts = iter::successors(Some(range.start), |start| Some(start + PIECE));
            for start in starts.take_while(|&start| start < range.end) {
                let length = (range.end - start).min(PIECE);
                let bytes = read_vec(&*self.changed.result, start, length, "file");
                send(FolderTask::Append(
                    bytes.map_err(|error| Error::source(&self.path, error))?,
                ))?;
                progress(length);
            }
        }
        for (path, text) in [
            (format!("riivolution/{}.xml", self.name), &self.xml),
            (format!("{}.json", self.name), &self.descriptor),
        ] {
            send(FolderTask::File(path))?;
            send(FolderTask::Append(text.clone().into_bytes()))?;
        }
        Ok(())
    }
}

/// A GameCube disc.
struct Disc {
    image: Arc<dyn ReadAt>,
    contents: gcm::Contents,
}

impl Disc {
    fn open(image: &Arc<dyn ReadAt>) -> io::Result<Self> {
        Ok(Self {
            image: image.clone(),
            contents: gcm::Contents::read(image)?,
        })
    }

    fn directories(&self) -> impl Iterator<Item = &str> {
        self.contents.directories.iter().map(String::as_str)
    }

    fn places(&self) -> HashMap<&str, &Place> {
        let files = self.contents.files.iter();
        files.map(|(path, place)| (&**path, place)).collect()
    }

    /// Returns what a file says apart from where files are.
    fn content(&self, Place { range, layout }: &Place) -> Composed {
        let within = |offset: u64| range.end.min(range.start.saturating_add(offset));
        let mut content = Composed::default();
        content.append(&self.image, range.start..within(layout.start));
        content.append(&self.image, within(layout.end)..range.end);
        content
    }

    /// Returns the files that are new or have other bytes, with their ranges.
    fn changed_from(&self, old: &Self, extents: &Extents) -> io::Result<Vec<(String, Range<u64>)>> {
        let places = old.places();
        let mut found = Vec::new();
        for (path, place) in &self.contents.files {
            let range = &place.range;
            let is_same = |before: &Place| {
                let is_kept = range.end - range.start == before.range.end - before.range.start
                    && extents.is_original(range.clone(), before.range.start);
                match is_kept {
                    true => Ok(true),
                    false => are_equal(&old.content(before), &self.content(place)),
                }
            };
            match places.get(&**path) {
                Some(before) if is_same(before)? => {}
                _ => found.push((path.clone(), range.clone())),
            }
        }
        Ok(found)
    }

    /// Returns a notice about each file and each empty directory that another disc does not
    /// have. Other directories come and go with what is in them.
    fn missing_in(&self, other: &Self) -> Vec<Notice> {
        let places = other.places();
        let files = self.contents.files.iter().map(|(path, _)| &**path);
        let missing = files.filter(|path| !places.contains_key(path));
        let directories = self.empty_directories_without(other);
        let reason = "is deleted, which Riivolution cannot express";
        let notices = missing
            .chain(directories)
            .map(|path| Notice::new(path.to_owned(), reason));
        notices.collect()
    }

    /// Returns a notice about each empty directory that another disc does not have.
    fn empty_beside(&self, other: &Self) -> Vec<Notice> {
        let directories = self.empty_directories_without(other);
        let reason = "is a new empty directory, which Riivolution cannot express";
        let notices = directories.map(|path| Notice::new(path.to_owned(), reason));
        notices.collect()
    }

    /// Returns the empty directories that another disc does not have.
    fn empty_directories_without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        let others: HashSet<&str> = other.directories().collect();
        let files = self.contents.files.iter().map(|(path, _)| path);
        let paths = files.chain(&self.contents.directories);
        let parents = paths.filter_map(|path| Some(path.rsplit_once('/')?.0));
        let parents: HashSet<&str> = parents.collect();
        self.directories()
            .filter(move |&path| !parents.contains(path) && !others.contains(path))
    }
}

/// Returns the path of a file relative to a new folder, whatever links are on the way;
/// `None` if it has no such path in UTF-8.
fn relative(file: &Path, folder: &Path) -> Option<String> {
    let file = canonical(file).ok()?;
    let above = match folder.parent()? {
        above if above.as_os_str().is_empty() => Path::new("."),
        above => above,
    };
    let folder = canonical(above).ok()?.join(folder.file_name()?);
    let shared = iter::zip(file.components(), folder.components());
    let shared = shared.take_while(|(one, other)| one == other).count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(file.components().skip(shared)).collect();
    path.into_os_string().into_string().ok()
}
