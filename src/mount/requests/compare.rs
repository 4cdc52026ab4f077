//! Comparing what a mount shows of a folder of changes with the folder.

use crate::mount::{FileKind, Ino, Result, Vfs};
use crate::namespace::companion::CONVERTED;
use hpimount_containers::changes::{Action, NewFile};
use hpimount_containers::io::read_vec;
use hpimount_containers::iso::SECTOR_SUFFIXES;

/// Number of bytes that are compared at a time.
const PIECE: u64 = 256 << 10;

impl Vfs {
    /// Returns whether the source has changes of a folder or a patch.
    pub fn is_changed(&self) -> bool {
        !self.applied.is_empty()
    }

    /// Returns what a folder of changes has done to the file at a path in the mount.
    pub(crate) fn applied_action(&self, path: &str) -> Option<Action> {
        self.applied.action(path)
    }

    /// Returns the number of files that are shown from a folder of changes.
    pub fn changed_files(&self) -> usize {
        self.applied.iter().count()
    }

    /// Returns the paths in the mount of applied files that do not have the bytes in
    /// the folder of changes, sorted.
    pub fn wrongly_applied(&self) -> Vec<String> {
        let wrong = self.applied.iter().filter(|(path, file)| {
            // The mount shows assets, not these bytes.
            let is_converted = file.path().split('/').any(|part| part == CONVERTED);
            let is_in_sectors = SECTOR_SUFFIXES.iter().any(|suffix| path.ends_with(suffix));
            let is_changed_inside = self.applied.begins(&format!("{path}.d/"));
            let is_shown_otherwise = is_converted || is_in_sectors || is_changed_inside;
            !is_shown_otherwise && !self.has_bytes(path, file).unwrap_or(false)
        });
        wrong.map(|(path, _)| path.to_owned()).collect()
    }

    /// Returns whether the file at a path has the bytes of another; it may be padded
    /// with zeros to a whole sector.
    fn has_bytes(&self, path: &str, file: &NewFile) -> Result<bool> {
        let (mut ino, mut size) = (Ino::ROOT, 0);
        let mut left: Vec<String> = path.rsplit('/').map(str::to_owned).collect();
        let mut above = Vec::new();
        while let Some(name) = left.pop() {
            if name == ".." {
                ino = above.pop().unwrap_or(Ino::ROOT);
                continue;
            }
            let attr = self.lookup(ino, &name)?;
            if attr.kind == FileKind::Symlink {
                // Links of archives lead to files in them.
                let target = String::from_utf8_lossy(&self.readlink(attr.ino)?).into_owned();
                left.extend(target.rsplit('/').map(str::to_owned));
                continue;
            }
            above.push(ino);
            (ino, size) = (attr.ino, attr.size);
        }
        let mut offset = 0;
        while offset < size {
            let shown = self.read(ino, offset, PIECE.min(size - offset) as u32)?;
            let length = (shown.len() as u64).min(file.len().saturating_sub(offset));
            let Ok(expected) = read_vec(file, offset, length, "new file") else {
                return Ok(false);
            };
            let (same, padding) = shown.split_at(length as usize);
            if shown.is_empty() || same != expected || padding.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            offset += shown.len() as u64;
        }
        Ok(size >= file.len())
    }
}
