//! Containers with changes: whatever their bytes are, changes are applied or
//! refused, and the result can be read up to where the original can. Changes that are
//! refused by their paths are left out, and the others are applied.

use std::sync::Arc;

use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Change, Convert, Edited, Folder, NewFile, Original, Report};
use hpimount_containers::extract::Listing;
use hpimount_containers::format::{Input, Options};
use hpimount_containers::formats;
use hpimount_containers::io::{ReadAt, Result};
use hpimount_containers::volume::FileId;

/// Maximum number of bytes of a result that are read.
const READ: u64 = 1 << 20;

/// Files of a container that are changed.
const CHANGED: usize = 4;

/// Makes no assets of edited files.
struct NotConverted;

impl Convert for NotConverted {
    fn is_asset(&self, _original: &Original<'_>) -> Result<bool> {
        Ok(false)
    }

    fn convert(
        &self,
        _original: &Original<'_>,
        _edited: Edited,
        _report: &mut Report,
    ) -> Result<Vec<(FileId, NewFile)>> {
        Ok(Vec::new())
    }
}

/// Replaces, deletes and adds files of a container, and reads the result. Returns
/// the report of the changes if there is a result.
pub fn changed(name: &str, bytes: &[u8], beside: Option<&[u8]>) -> Option<Report> {
    let source = |bytes: &[u8]| -> Arc<dyn ReadAt> { Arc::new(bytes.to_vec()) };
    let partner = |_: &str| beside.map(source);
    let input = || Input {
        source: source(bytes),
        partner: &partner,
        tracks: &[],
        options: Options {
            name: name.to_owned(),
            ..Options::default()
        },
    };
    let mut listing = Listing::default();
    let opened = formats::detect(&input()).and_then(|format| (format.open)(input(), &mut listing));
    if opened.is_err() {
        return None;
    }
    let mut changes = wanted(&listing);
    let original = Original {
        source: source(bytes),
        name,
        shown: name,
        partner: &partner,
        is_changed: false,
    };
    let unwrap = |source| Ok((source, Vec::new()));
    let tools = Tools {
        unwrap: &unwrap,
        convert: &NotConverted,
    };
    while !changes.is_empty() {
        let mut folder = Folder::default();
        for (path, change) in &changes {
            insert(&mut folder, path, change.clone());
        }
        let mut report = Report::default();
        if let Some(written) = apply(&original, folder, "", tools, &mut report) {
            assert!(report.refusals.is_empty());
            let length = written.data.len().min(READ);
            // The original may say that it is longer than it is.
            let _ = written.data.read_exact_at(&mut vec![0; length as usize], 0);
            return Some(report);
        }
        assert!(!report.refusals.is_empty());
        let refused: Vec<&str> = report
            .refusals
            .iter()
            .map(|refusal| &*refusal.path)
            .collect();
        let before = changes.len();
        changes.retain(|(path, _)| !refused.contains(&path.as_str()));
        // The others are about the original.
        if changes.len() == before {
            return None;
        }
    }
    None
}

/// Returns changes of a container with these files: every second one is deleted, and
/// others get another length; one is added beside the first one and one beside the
/// last one, with the extensions of these.
fn wanted(listing: &Listing) -> Vec<(String, Change)> {
    let new = |path: &str, size: usize| Change::File(NewFile::new(path, Arc::new(vec![0; size])));
    let files: Vec<&str> = listing.files().map(|(path, _)| path).collect();
    // Those at the end are no tables and lists of the mount.
    let first = files.iter().take(CHANGED);
    let last = files.iter().skip(CHANGED).rev().take(CHANGED);
    let mut changes = Vec::new();
    for (number, path) in first.chain(last).enumerate() {
        let path = path.trim_start_matches('/');
        let change = match number % 2 {
            0 => new(path, 3000 * number + 10),
            _ => Change::Deleted,
        };
        changes.push((path.to_owned(), change));
    }
    for beside in files.first().into_iter().chain(files.last()) {
        let beside = beside.trim_start_matches('/');
        let directory = beside
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        let extension = beside
            .rsplit_once('.')
            .map_or("DAT", |(_, extension)| extension);
        let path = format!("{directory}/ADDED.{extension}");
        let path = path.trim_start_matches('/').to_owned();
        changes.push((path.clone(), new(&path, 2049)));
    }
    changes
}

/// Adds a change at a path.
fn insert(folder: &mut Folder, path: &str, change: Change) {
    match path.split_once('/') {
        Some((directory, rest)) => {
            let name = directory.to_owned();
            let empty = || Change::Directory(Folder::default());
            let entry = folder.entries.entry(name).or_insert_with(empty);
            if let Change::Directory(inner) = entry {
                insert(inner, rest, change);
            }
        }
        None => {
            folder.entries.insert(path.to_owned(), change);
        }
    }
}
