//! Undoing edits of a mount: what its folder of edits has for a path is moved to the trash
//! there, and the mount follows.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, unlinkat};

use crate::app::Failure;
use crate::edit::{EDIT, move_to_trash};
use crate::platform::unix::{DIRECTORY_HANDLE, open_beneath};
use crate::source::WHITEOUT;

/// Maximum length of a path in an attribute.
const MAX_PATH: usize = 4096;

/// The table of edits in the mount.
const CHANGES: &str = ".hpimount/changes.tsv";

/// Timeout for the mount, which looks at its folder at least every two seconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// Undoes the edits of a path in a mount that is edited, and of everything below it.
///
/// # Errors
/// Returns an error with the path if it is in no such mount, if it is not edited, or if its
/// entry cannot be moved.
pub fn revert(path: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::not_written(path, error);
    let Edits {
        mount,
        folder,
        inside,
    } = Edits::of(path).map_err(failed)?;
    let root = openat(
        CWD,
        &folder,
        OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let root = root.map_err(|error| failed(error.into()))?;
    match undo(&root, &inside).map_err(failed)? {
        true => wait(&mount, &inside),
        false => return Err(failed(io::Error::other("is not edited"))),
    }
    Ok(())
}

/// The edits of a path.
struct Edits {
    /// The mount that has it.
    mount: PathBuf,
    /// The folder of edits of the mount.
    folder: PathBuf,
    /// The path in the mount, of one name at least.
    inside: PathBuf,
}

impl Edits {
    /// Finds the edits of a path. The entry, and directories around it, may be deleted.
    fn of(path: &Path) -> io::Result<Self> {
        let path = resolved(path)?;
        for around in path.ancestors() {
            let mut value = [0; MAX_PATH];
            let Ok(length) = rustix::fs::getxattr(around, EDIT, &mut value[..]) else {
                continue;
            };
            let inside = path.strip_prefix(around).unwrap_or(Path::new(""));
            let mut names = inside.components().peekable();
            let is_entry = names.peek().is_some();
            if !is_entry || !names.all(|name| matches!(name, Component::Normal(_))) {
                return Err(io::Error::other("is no entry of the mount"));
            }
            let folder = OsString::from_vec(value[..length].to_vec());
            return Ok(Self {
                mount: around.to_owned(),
                folder: folder.into(),
                inside: inside.to_owned(),
            });
        }
        Err(io::Error::other("is in no mount that is edited"))
    }
}

/// Returns an absolute path without symbolic links, of which the last names may not exist:
/// another name of an asset leads to its file.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut found = path.ancestors().filter_map(|around| {
        let rest = path.strip_prefix(around).ok()?;
        Some(around.canonicalize().ok()?.join(rest))
    });
    found.next().ok_or(ErrorKind::NotFound.into())
}

/// Waits until the mount has noticed that a path is not edited any more, but not for long.
fn wait(mount: &Path, inside: &Path) {
    let inside = inside.to_string_lossy().to_lowercase();
    let is_reverted = |path: &str| Path::new(&path.to_lowercase()).starts_with(&inside);
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        // It may change while it is read.
        let table = fs::read_to_string(mount.join(CHANGES));
        let is_listed = table.map(|table| {
            let mut paths = table.lines().filter_map(|line| line.split('\t').next());
            paths.any(is_reverted)
        });
        if matches!(is_listed, Ok(false)) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Moves what a folder of edits has for a path to its trash, and removes the mark that the
/// path is deleted. Returns whether there was any.
fn undo(root: &OwnedFd, path: &Path) -> io::Result<bool> {
    let mut directory = root.try_clone()?;
    let around = path.parent().unwrap_or(Path::new(""));
    for name in around {
        let Some(name) = spelling(&directory, &name.to_string_lossy())? else {
            return Ok(false);
        };
        directory = open_beneath(&directory, Path::new(&name), DIRECTORY_HANDLE)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mark = spelling(&directory, &format!("{WHITEOUT}{name}"))?;
    if let Some(mark) = &mark {
        unlinkat(&directory, &**mark, AtFlags::empty())?;
    }
    let entry = spelling(&directory, &name)?;
    if let Some(entry) = &entry {
        move_to_trash(root, &directory, entry)?;
    }
    Ok(mark.is_some() || entry.is_some())
}

/// Returns the name of an entry of a directory, in any spelling of upper and lower case as
/// in the mount; the same one if there is one.
fn spelling(directory: &OwnedFd, name: &str) -> io::Result<Option<String>> {
    let readable = open_beneath(directory, Path::new(""), OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut found = None;
    for entry in Dir::read_from(readable)? {
        let entry = entry?.file_name().to_string_lossy().into_owned();
        if entry == name {
            return Ok(Some(entry));
        }
        if entry.to_lowercase() == name.to_lowercase() {
            found = Some(entry);
        }
    }
    Ok(found)
}
