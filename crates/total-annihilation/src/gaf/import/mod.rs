//! Edited, added and deleted frames as GAF.
//!
//! New pixels, frames and lists of frames are appended to the file, since several
//! frames may share bytes. References to them are changed in place, and everything else
//! stays at its offset. A frame keeps its format.

mod encode;
mod names;
mod table;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;

use self::names::{FileKind, kind_of, missing};
use self::table::{EditedRows, Place, edited_rows};
use self::write::{Added, Writer, stored_name};
use super::frames::TABLE;
use crate::gaf::{self, Gaf};
use hpimount_assets::view::import::{
    AllEdits, Edit, EditedFile, ImportAll, Imported, NOT_THIS_FILE, Refused,
};

/// Encodes all edited and added frames of a file.
pub(super) const IMPORT_ALL: ImportAll = ImportAll {
    adds: ".png",
    import: import_all,
};

/// Encodes an edited frame or table.
pub(super) fn import(edit: &Edit<'_>) -> Result<Imported, String> {
    let file = EditedFile {
        path: edit.part.path().into_owned(),
        content: Some(edit.file.to_vec().into()),
    };
    let edits = AllEdits {
        asset: edit.asset,
        context: edit.context,
        files: &[file],
    };
    import_all(&edits).map_err(|refused| {
        let reasons = refused.into_iter().map(|refused| refused.reason);
        reasons.collect::<Vec<_>>().join("; ")
    })
}

/// The edits of a file, grouped by frame.
#[derive(Default)]
struct Plan {
    /// The numbers of the picture files of old and new frames.
    pictures: BTreeMap<Place, usize>,
    added: BTreeMap<Place, usize>,
    deleted: BTreeMap<Place, usize>,
    /// The number of the edited table.
    table: Option<usize>,
    /// The names of new sequences, by number, with the file that named each first.
    sequences: BTreeMap<usize, (usize, String)>,
}

fn import_all(edits: &AllEdits<'_>) -> Result<Imported, Vec<Refused>> {
    let refused = |file: usize, reason: String| vec![Refused { file, reason }];
    let gaf = gaf::parse(edits.asset).map_err(|lost| refused(0, lost.error.to_string()))?;
    let plan = Plan::new(&gaf, edits.files)?;
    let added: Vec<Place> = plan.added.keys().copied().collect();
    let rows = match plan
        .table
        .and_then(|file| Some((file, edits.files[file].content.as_ref()?)))
    {
        Some((file, table)) => {
            edited_rows(&gaf, table, &added).map_err(|reason| refused(file, reason))?
        }
        None => EditedRows::default(),
    };
    let EditedRows { rows, warnings } = rows;
    let mut writer = Writer::new(&gaf, edits, plan.sequences.len());
    let mut problems = Vec::new();
    let table = plan.table.unwrap_or_default();
    for (&place, row) in rows
        .iter()
        .filter(|(place, _)| !plan.added.contains_key(place))
    {
        let (sequence, frame) = place;
        if let Err(reason) = writer.set(place, row) {
            let reason = format!("frame {frame} of sequence {sequence}: {reason}");
            problems.extend(refused(table, reason));
        }
    }
    for (&place, &file) in &plan.pictures {
        if let Err(reason) = writer.replace(place, file) {
            problems.extend(refused(file, reason));
        }
    }
    for (&place, &file) in &plan.added {
        let row = rows.get(&place).copied().unwrap_or_default();
        if let Err(reason) = writer.add(&Added { place, file, row }) {
            problems.extend(refused(file, reason));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let result = writer.finish(&plan.deleted.keys().copied().collect(), &plan.sequences);
    let mut changed = result.map_err(|reason| refused(0, reason))?;
    changed.warnings.extend(warnings);
    match changed.asset == **edits.asset {
        true => Ok(Imported::Unchanged),
        false => Ok(Imported::Changed(changed)),
    }
}

impl Plan {
    /// Assigns the edited files to frames. Fails with the files that are not editable.
    fn new(gaf: &Gaf, files: &[EditedFile]) -> Result<Self, Vec<Refused>> {
        let mut plan = Self::default();
        let mut refused = Vec::new();
        let mut seen = BTreeMap::new();
        for (file, EditedFile { path, content }) in files.iter().enumerate() {
            let mut refuse = |reason: String| refused.push(Refused { file, reason });
            let (frames, place) = match (kind_of(gaf, path), content.is_some()) {
                (FileKind::Table, true) => {
                    plan.table = Some(file);
                    continue;
                }
                (FileKind::Frame(place), true) => (&mut plan.pictures, place),
                (FileKind::Frame(place), false) => (&mut plan.deleted, place),
                (FileKind::Added(place, new), true) => {
                    if let Some(new) = new {
                        let (first, known) =
                            plan.sequences.entry(place.0).or_insert((file, new.clone()));
                        if *known != new {
                            let first = &files[*first].path;
                            refuse(format!("gives a new sequence another name than {first}"));
                        }
                    }
                    (&mut plan.added, place)
                }
                (_, is_there) => {
                    refuse(match is_there {
                        true => format!(
                            "{NOT_THIS_FILE}: edit the frames, which are pictures of their own in \
                             the directory, or {TABLE}"
                        ),
                        false => "cannot be deleted".to_owned(),
                    });
                    continue;
                }
            };
            if let Some(other) = seen.insert(place, file) {
                refuse(format!("is the same frame as {}", files[other].path));
            }
            frames.insert(place, file);
        }
        plan.check(gaf, &mut refused);
        match refused.is_empty() {
            true => Ok(plan),
            false => Err(refused),
        }
    }

    /// Refuses gaps in the numbers of frames and sequences.
    fn check(&self, gaf: &Gaf, refused: &mut Vec<Refused>) {
        let mut refuse = |file: usize, reason: String| refused.push(Refused { file, reason });
        let old = |sequence: usize| gaf.sequences.get(sequence).map_or(0, gaf::Sequence::len);
        let gone = |sequence: usize| {
            let gone = self.deleted.range((sequence, 0)..(sequence + 1, 0));
            gone.count()
        };
        for (&(sequence, frame), &file) in &self.deleted {
            let left = old(sequence) - gone(sequence);
            if left == 0 {
                refuse(
                    file,
                    "is the only frame left: a sequence needs one".to_owned(),
                );
            } else if frame < left {
                let reason =
                    "cannot be deleted, only the last frame can: give that one's picture to this";
                refuse(file, reason.to_owned());
            }
        }
        for (&(sequence, frame), &file) in &self.added {
            let first = old(sequence) - gone(sequence);
            let is_there = |number: &usize| self.added.contains_key(&(sequence, *number));
            if let Some(reason) = missing("frame", first..frame, is_there, 2) {
                refuse(file, reason);
            }
            if frame >= usize::from(u16::MAX) {
                refuse(file, "is one of more than 65535 frames".to_owned());
            }
        }
        for (&sequence, (file, name)) in &self.sequences {
            if let Err(reason) = stored_name(name) {
                refuse(*file, reason);
            }
            let is_there = |number: &usize| self.sequences.contains_key(number);
            let before = gaf.sequences.len()..sequence;
            if let Some(reason) = missing("sequence", before, is_there, 3) {
                refuse(*file, reason);
            }
        }
    }
}
