//! Archives that hpipack and its library pack.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::programs::built;
use hpimount::pack::{Archive, Format, Replacement, Target};
use hpimount::source::DiskNames;
use tempfile::tempdir;

/// Runs `hpipack --replace NAME=FILE ... ARCHIVE OUT`.
pub fn hpipack_replace(
    options: &[&str],
    changes: &[(&str, &Path)],
    archive: &Path,
    out: &Path,
) -> Output {
    let mut command = Command::new(built("hpipack"));
    command.args(options);
    for (name, file) in changes {
        let mut value = OsString::from(format!("{name}="));
        value.push(file);
        command.arg("--replace").arg(value);
    }
    command.arg(archive).arg(out).output().unwrap()
}

/// Replaces files with the library, and returns the new archive.
pub fn replaced(archive: &[u8], changes: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let work_dir = tempdir().unwrap();
    let path = work_dir.path().join("archive");
    fs::write(&path, archive).unwrap();
    let changes = changes.iter().enumerate().map(|(number, (name, bytes))| {
        let file = work_dir.path().join(number.to_string());
        fs::write(&file, bytes).unwrap();
        let name = name.clone();
        Replacement { name, file }
    });
    let changes: Vec<_> = changes.collect();
    let spool = tempfile::tempfile().ok().map(Arc::new);
    let plan = Archive::with_replacements(&path, &changes, spool);
    let plan = plan.map_err(|error| error.to_string())?;
    let out = work_dir.path().join("out");
    let read = AtomicU64::new(0);
    let target = Target::new(&out, false, &path).unwrap();
    let written = plan.write(&target, &[], &|bytes| {
        _ = read.fetch_add(bytes, Ordering::Relaxed)
    });
    written.map_err(|error| error.to_string())?;
    target.keep().unwrap();
    assert_eq!(read.into_inner(), plan.bytes);
    Ok(fs::read(out).unwrap())
}

/// Packs a directory with the library, and returns the archive.
pub fn packed(directory: &Path) -> Result<Vec<u8>, String> {
    let work_dir = tempdir().unwrap();
    let out = work_dir.path().join("out.HIP");
    let archive = Archive::of_directory(directory, DiskNames::Plain, &out, Format::Hip);
    let archive = archive.map_err(|error| error.to_string())?;
    let target = Target::new(&out, false, directory).unwrap();
    let read = AtomicU64::new(0);
    let written = archive.write(&target, &[], &|bytes| {
        _ = read.fetch_add(bytes, Ordering::Relaxed)
    });
    written.map_err(|error| error.to_string())?;
    target.keep().unwrap();
    assert_eq!(read.into_inner(), archive.bytes);
    Ok(fs::read(out).unwrap())
}
