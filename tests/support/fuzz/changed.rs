//! Containers with changes: whatever their bytes are, changes are applied or
//! refused, and the result can be read up to where the original can.

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
    fn convert(
        &self,
        _original: &Original<'_>,
        _edited: Edited,
        _report: &mut Report,
    ) -> Result<Vec<(FileId, NewFile)>> {
        Ok(Vec::new())
    }
}

/// Replaces, deletes and adds files of a container, and reads the result.
pub fn changed(name: &str, bytes: &[u8], beside: Option<&[u8]>) {
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
        return;
    }
    let mut folder = Folder::default();
    let new = |size: usize| {
        Change::File(NewFile {
            bytes: source(&vec![0; size]),
            path: "new".into(),
            modified: Some(0),
        })
    };
    for (number, (path, _)) in listing.files().take(CHANGED).enumerate() {
        let change = match number % 2 {
            0 => new(3000 * number + 10),
            _ => Change::Deleted,
        };
        insert(&mut folder, path, change);
    }
    if let Some((path, _)) = listing.files().last() {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        insert(&mut folder, &format!("{directory}/ADDED.DAT"), new(2049));
    }
    let original = Original {
        source: source(bytes),
        name,
        partner: &partner,
    };
    let mut report = Report::default();
    let unwrap = |source| Ok((source, Vec::new()));
    let tools = Tools {
        unwrap: &unwrap,
        convert: &NotConverted,
    };
    match apply(&original, folder, tools, &mut report) {
        Some(written) => {
            assert!(report.refusals.is_empty());
            let length = written.data.len().min(READ);
            // The original may say that it is longer than it is.
            let _ = written.data.read_exact_at(&mut vec![0; length as usize], 0);
        }
        None => assert!(!report.refusals.is_empty()),
    }
}

/// Adds a change at a path.
fn insert(folder: &mut Folder, path: &str, change: Change) {
    match path.split_once('/') {
        Some(("", rest)) => insert(folder, rest, change),
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
