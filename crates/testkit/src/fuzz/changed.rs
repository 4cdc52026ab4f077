//! Containers with changes: for any bytes, changes are applied or refused, and the
//! result can be read as far as the original can. Changes that are refused by path are
//! left out, and the others are applied.

use std::sync::Arc;

use hpimount_containers::Archive;
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Change, Folder, NewFile, Original, Report};
use hpimount_containers::io::ReadAt;

use crate::containers::open;

/// Maximum number of bytes of a result that are read.
const READ: u64 = 1 << 20;

/// Files of a container that are changed.
const CHANGED: usize = 4;

/// Replaces, deletes and adds files of a container, and reads the result. Returns the
/// report of the changes if there is a result.
pub fn changed(name: &str, bytes: &[u8], beside: Option<&[u8]>) -> Option<Report> {
    let source = |bytes: &[u8]| -> Arc<dyn ReadAt> { Arc::new(bytes.to_vec()) };
    let partner = |_: &str| beside.map(source);
    let files = |_: &str| beside.map(<[u8]>::to_vec);
    let opened = open(name, bytes.to_vec(), &files, false).ok()?;
    let mut changes = wanted(&opened);
    let original = Original {
        partner: &partner,
        ..Original::alone(source(bytes), name)
    };
    while !changes.is_empty() {
        let mut folder = Folder::default();
        for (path, change) in &changes {
            folder.insert(path, change.clone());
        }
        let mut report = Report::default();
        if let Some(written) = apply(&original, folder, "", Tools::PLAIN, &mut report) {
            assert!(report.refusals.is_empty());
            let length = written.data.len().min(READ);
            // The original may declare more bytes than it has.
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

/// Returns changes of a container with these files. Every second file is deleted, and
/// the others get another length. One file is added beside the first file and one
/// beside the last file, with their extensions.
fn wanted(archive: &Archive) -> Vec<(String, Change)> {
    let new = |path: &str, size: usize| Change::File(NewFile::new(path, Arc::new(vec![0; size])));
    let files: Vec<&str> = archive.files().map(|(path, _)| path).collect();
    // The last ones are not tables and lists of the mount.
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
