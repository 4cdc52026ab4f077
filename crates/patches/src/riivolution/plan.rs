//! The files of a disc that a mod changes.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::sync::Arc;

use hpimount_containers::io::{self, Warnings};

use super::disc::{Card, Disc};
use super::model::{FileElement, Mod, PatchElement, Selection};
use super::paths::{Parameters, resolve, substitute};
use crate::error::{Error, Result};

/// Maximum work of a plan, which also bounds its memory: the lengths of all paths, and
/// [`STEP`] for each element, folder and file, and for each part of a changed file.
const MAX_WORK: usize = 16 << 20;

/// Work of a step.
const STEP: usize = 32;

/// Maximum depth of folders of the card.
const MAX_DEPTH: usize = 64;

/// Maximum length of a changed file, in bytes.
const MAX_LENGTH: u64 = u32::MAX as u64;

/// The folder of the files of a disc, and its executable.
const FILES: &str = "files/";
const EXECUTABLE: &str = "sys/main.dol";

/// A part of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A range of the file of the disc.
    Original {
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        length: u64,
    },
    /// A range of a file of the card.
    External {
        /// Path on the card.
        path: Arc<str>,
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        length: u64,
    },
    /// Zeros.
    Zeros {
        /// Length in bytes.
        length: u64,
    },
}

/// A changed or new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path on the disc: `files/…` or `sys/main.dol`.
    pub path: String,
    /// Content.
    pub parts: Vec<Part>,
}

/// The changes to a disc.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changed files, in the order of their first change.
    pub files: Vec<File>,
    /// Messages about ignored elements. Mods for several regions rely on ignored
    /// elements.
    pub notes: Warnings,
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Self::Original { length, .. }
            | Self::External { length, .. }
            | Self::Zeros { length } => *length,
        }
    }

    /// Returns a subrange of the part.
    fn cut(&self, start: u64, end: u64) -> Self {
        let mut part = self.clone();
        match &mut part {
            Self::Original { offset, length } | Self::External { offset, length, .. } => {
                (*offset, *length) = (*offset + start, end - start);
            }
            Self::Zeros { length } => *length = end - start,
        }
        part
    }
}

impl Mod {
    /// Returns the changes of a disc. `folder` is the folder of the XML on the card,
    /// the base of relative paths.
    ///
    /// # Errors
    /// Returns [`Error::OtherGame`] if the mod is not for this disc. Returns an error
    /// if a path leads out of its folder, if there are too many files, or if a file would
    /// be longer than 4 GiB.
    pub fn plan(
        &self,
        disc: &Disc<'_>,
        card: &dyn Card,
        folder: &str,
        selections: &[Selection],
    ) -> Result<Plan> {
        if !self.fits(disc) {
            return Err(Error::OtherGame(disc.id.to_owned()));
        }
        let mut planner = Planner::new(disc, card);
        let (patches, unknown) = self.chosen(selections);
        for selection in unknown {
            let Selection { option, choice, .. } = selection;
            planner.note(format!("{option}={choice}: there is no such choice"));
        }
        for (id, parameters) in patches {
            match self.patches.get(id) {
                Some(patch) => planner.apply(patch, parameters, folder)?,
                None => planner.note(format!("patch {id}: is not defined")),
            }
        }
        Ok(planner.plan)
    }
}

/// The state while a plan is made.
struct Planner<'a> {
    disc: &'a Disc<'a>,
    card: &'a dyn Card,
    plan: Plan,
    /// Sizes of the files of the disc.
    sizes: HashMap<&'a str, u64>,
    /// Original paths, by lower-case path without `files/`.
    paths: HashMap<String, String>,
    /// Paths of the first file with each name, by lower-case name.
    names: HashMap<String, String>,
    /// Number of each file in the plan.
    numbers: HashMap<String, usize>,
    /// Work so far.
    work: usize,
}

impl<'a> Planner<'a> {
    fn new(disc: &'a Disc<'a>, card: &'a dyn Card) -> Self {
        let mut planner = Self {
            disc,
            card,
            plan: Plan::default(),
            sizes: HashMap::new(),
            paths: HashMap::new(),
            names: HashMap::new(),
            numbers: HashMap::new(),
            work: 0,
        };
        for (path, size) in disc.files {
            planner.sizes.insert(path, *size);
            if path.starts_with(FILES) {
                planner.add(path);
            }
        }
        planner
    }

    /// Counts steps with these texts.
    fn work(&mut self, steps: usize, texts: &[&str]) -> Result<()> {
        let lengths = texts.iter().map(|text| text.len()).sum::<usize>();
        self.work = self
            .work
            .saturating_add(steps.saturating_mul(STEP) + lengths);
        match self.work <= MAX_WORK {
            true => Ok(()),
            false => Err(limit("has too many files".to_owned())),
        }
    }

    fn note(&mut self, note: String) {
        self.plan.notes.push(note);
    }

    /// Adds a file; its path must begin with `files/`.
    fn add(&mut self, path: &str) {
        let key = path[FILES.len()..].to_ascii_lowercase();
        let name = key.rsplit('/').next().unwrap_or_default().to_owned();
        self.names.entry(name).or_insert_with(|| path.to_owned());
        self.paths.entry(key).or_insert_with(|| path.to_owned());
    }

    fn apply(&mut self, patch: &PatchElement, parameters: &Parameters, folder: &str) -> Result<()> {
        let disc = self.disc;
        let substitute = |text: &str| substitute(text, disc, parameters);
        let root = match &patch.root {
            Some(root) if !root.is_empty() => resolve(folder, &substitute(root)?)?,
            _ => folder.to_owned(),
        };
        self.work(1, &[])?;
        for file in &patch.files {
            let external = resolve(&root, &substitute(&file.external)?)?;
            let path = substitute(&file.disc)?;
            self.work(1, &[&path, &external])?;
            match path.is_empty() {
                true => self.note(format!("{external}: has no path on the disc")),
                false => self.file(&path, &external, file)?,
            }
        }
        for element in &patch.folders {
            let external = resolve(&root, &substitute(&element.external)?)?;
            let path = substitute(&element.disc)?;
            self.folder(&path, &external, element, 0)?;
        }
        Ok(())
    }

    /// Applies each file in a folder of the card.
    fn folder(
        &mut self,
        path: &str,
        external: &str,
        element: &FileElement,
        depth: usize,
    ) -> Result<()> {
        self.work(1, &[path, external])?;
        let Some(mut entries) = self.card.entries(external) else {
            self.note(format!("{external}: there is no such folder"));
            return Ok(());
        };
        if depth > MAX_DEPTH {
            return Err(limit(format!(
                "{external} is more than {MAX_DEPTH} folders deep"
            )));
        }
        entries.sort();
        for entry in entries {
            if entry.name.starts_with('.') {
                continue;
            }
            let inner = joined(external, &entry.name);
            // Without a path, files are found by name.
            let path = match path.is_empty() && depth == 0 {
                true => entry.name.clone(),
                false => format!("{}/{}", path.trim_end_matches('/'), entry.name),
            };
            self.work(1, &[&path, &inner])?;
            match entry.is_folder {
                false => self.file(&path, &inner, element)?,
                true if element.recursive => self.folder(&path, &inner, element, depth + 1)?,
                true => {}
            }
        }
        Ok(())
    }

    /// Applies a file of the card to a file of the disc.
    fn file(&mut self, disc: &str, external: &str, element: &FileElement) -> Result<()> {
        let Some(size) = self.card.size(external) else {
            self.note(format!("{external}: there is no such file"));
            return Ok(());
        };
        let path = match disc.strip_prefix('/') {
            Some(path) => self.by_path(path, element.create),
            None if disc.eq_ignore_ascii_case("main.dol") => {
                let exists = self.sizes.contains_key(EXECUTABLE);
                exists.then(|| EXECUTABLE.to_owned())
            }
            None => self.names.get(&disc.to_ascii_lowercase()).cloned(),
        };
        match path {
            Some(path) => self.put(path, external, size, element),
            None => {
                self.note(format!("{disc}: is not on the disc"));
                Ok(())
            }
        }
    }

    /// Returns the file with this path. Creates a missing file if `can_create` is set
    /// and nothing is in the way.
    fn by_path(&mut self, path: &str, can_create: bool) -> Option<String> {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        let path = names.join("/");
        let key = path.to_ascii_lowercase();
        if let Some(found) = self.paths.get(&key) {
            return Some(found.clone());
        }
        let mut folders = key.match_indices('/').map(|(end, _)| &key[..end]);
        let is_odd = names.iter().any(|name| matches!(*name, "." | ".."));
        if !can_create
            || path.is_empty()
            || is_odd
            || folders.any(|file| self.paths.contains_key(file))
        {
            return None;
        }
        let path = format!("{FILES}{path}");
        self.add(&path);
        Some(path)
    }

    /// Overwrites a part of a file of the disc with a file of the card.
    fn put(
        &mut self,
        path: String,
        external: &str,
        size: u64,
        element: &FileElement,
    ) -> Result<()> {
        let number = match self.numbers.entry(path) {
            Place::Occupied(place) => *place.get(),
            Place::Vacant(place) => {
                let path = place.key().clone();
                let length = self.sizes.get(&*path).copied().unwrap_or_default();
                let parts = vec![Part::Original { offset: 0, length }];
                self.plan.files.push(File { path, parts });
                *place.insert(self.plan.files.len() - 1)
            }
        };
        self.work(self.plan.files[number].parts.len(), &[])?;
        let file = &mut self.plan.files[number];
        let old_length = file.parts.iter().map(Part::len).sum::<u64>();
        // File offsets on discs are multiples of four.
        let start = u64::from(element.offset & !3);
        let offset = u64::from(element.file_offset).min(size);
        let there = size - offset;
        let length = match element.length {
            0 => there,
            length => u64::from(length),
        };
        let mut parts = cut(&file.parts, 0, start);
        parts.push(Part::Zeros {
            length: start.saturating_sub(old_length),
        });
        parts.push(Part::External {
            path: external.into(),
            offset,
            length: there.min(length),
        });
        parts.push(Part::Zeros {
            length: length.saturating_sub(there),
        });
        if !element.resize {
            parts.extend(cut(&file.parts, start + length, old_length));
        }
        parts.retain(|part| part.len() > 0);
        if parts.iter().map(Part::len).sum::<u64>() > MAX_LENGTH {
            return Err(limit(format!("{} would be longer than 4 GiB", file.path)));
        }
        file.parts = parts;
        Ok(())
    }
}

/// Returns the parts between two offsets.
fn cut(parts: &[Part], start: u64, end: u64) -> Vec<Part> {
    let (mut found, mut position) = (Vec::new(), 0);
    for part in parts {
        let part_end = position + part.len();
        let (from, to) = (start.max(position), end.min(part_end));
        if from < to {
            found.push(part.cut(from - position, to - position));
        }
        position = part_end;
    }
    found
}

fn joined(folder: &str, name: &str) -> String {
    match folder.is_empty() {
        true => name.to_owned(),
        false => format!("{folder}/{name}"),
    }
}

fn limit(problem: String) -> Error {
    io::Error::damaged(0, "patch", problem).into()
}
