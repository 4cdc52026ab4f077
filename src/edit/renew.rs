//! Files of DIR with values that later ones have changed are written anew: at rest all files
//! of DIR agree.

use std::collections::BTreeMap;

use rustix::io::Errno;

use super::commit::remember;
use super::files::{PIECE, copy};
use super::later::show_anew;
use super::version::Version;
use super::{EditedMount, Result, at, errno, errno_of};
use crate::sync::lock;

/// A file that is written anew.
pub(super) struct Renewed {
    path: String,
    /// The values that a later file has changed.
    values: String,
    /// The new bytes.
    unfinished: String,
}

impl Renewed {
    /// Returns its path in DIR.
    pub(super) fn path(&self) -> &String {
        &self.path
    }
}

impl EditedMount {
    /// Writes what a version shows at the paths of files with these values to unfinished
    /// ones. So that DIR can be applied at any time, the files before are thrown away, in
    /// between a change gets its place, and then these [get theirs](Self::renew).
    ///
    /// # Errors
    /// Returns the error of reading the version or of writing to DIR.
    pub(super) fn copy_anew(
        &self,
        version: &Version,
        outdated: BTreeMap<String, String>,
    ) -> Result<Vec<Renewed>> {
        let mut renewed = Vec::with_capacity(outdated.len());
        for (path, values) in outdated {
            match self.copy_of(version, &path) {
                Ok(unfinished) => renewed.push(Renewed {
                    path,
                    values,
                    unfinished,
                }),
                Err(error) => {
                    self.discard_all(renewed);
                    return Err(error);
                }
            }
        }
        Ok(renewed)
    }

    /// Writes what a version shows at a path to an unfinished file, and returns its name.
    fn copy_of(&self, version: &Version, path: &str) -> Result<String> {
        let (file, unfinished) = self.writer.create().map_err(|error| errno(&error))?;
        let vfs = &version.vfs;
        let copied = at(vfs, path, |ino| {
            copy(&file, |offset| {
                vfs.read(ino, offset, PIECE).map_err(errno_of)
            })
        });
        match copied.and_then(|copied| copied.ok_or(Errno::NOENT)?) {
            Ok(_) => Ok(unfinished),
            Err(error) => {
                self.discard(unfinished);
                Err(error)
            }
        }
    }

    /// Removes files that are not needed, since a change could not be made.
    pub(super) fn discard_all(&self, renewed: Vec<Renewed>) {
        let unfinished = renewed.into_iter().map(|one| one.unfinished);
        unfinished.for_each(|unfinished| self.discard(unfinished));
    }

    fn discard(&self, unfinished: String) {
        if let Err(error) = self.writer.discard(unfinished) {
            log::error!("an unfinished file stays in DIR: {error}");
        }
    }

    /// Gives files that were begun their places.
    ///
    /// # Errors
    /// Returns the error of writing to DIR.
    pub(super) fn renew(&self, renewed: Vec<Renewed>) -> Result<()> {
        for Renewed {
            path,
            values,
            unfinished,
        } in renewed
        {
            let placed = self.writer.rename(unfinished, path.clone(), false);
            placed.map_err(|error| errno(&error))?;
            log::warn!("{path}: {values}: superseded; the file before is in the trash of DIR");
            remember(&self.superseded, &path, values);
            self.publish(&[&path], |inodes, _| {
                show_anew(inodes, std::slice::from_ref(&path));
            });
        }
        Ok(())
    }

    /// Writes the files anew that the version of a number says so of, unless there is a later
    /// one, which says the same.
    pub(super) fn renew_all(&self, number: u64) {
        let _turn = lock(&self.turn);
        let version = self.current();
        if version.number != number || !self.planner.is_newest(&version) {
            return;
        }
        let copied = self.copy_anew(&version, version.outdated.clone());
        let renewed = copied.and_then(|renewed| {
            match self.throw_all_away(renewed.iter().map(Renewed::path)) {
                Ok(_) => self.renew(renewed),
                Err(error) => {
                    self.discard_all(renewed);
                    Err(error)
                }
            }
        });
        if let Err(error) = renewed {
            log::error!("files that disagree cannot be written anew: {error}");
        }
    }
}
