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

impl EditedMount {
    /// Moves the files with these paths and values to the trash of DIR, and writes what a
    /// version shows in their place to unfinished ones. DIR can be applied in between.
    ///
    /// # Errors
    /// Returns the error of reading the version or of writing to DIR.
    pub(super) fn begin_to_renew(
        &self,
        version: &Version,
        outdated: BTreeMap<String, String>,
    ) -> Result<Vec<Renewed>> {
        let begin = |(path, values): (String, String)| {
            let (file, unfinished) = self.writer.create().map_err(|error| errno(&error))?;
            let vfs = &version.vfs;
            let copied = at(vfs, &path, |ino| {
                copy(&file, |offset| {
                    vfs.read(ino, offset, PIECE).map_err(errno_of)
                })
            });
            copied?.ok_or(Errno::NOENT)??;
            log::warn!("{path}: {values}: superseded; the file before is in the trash of DIR");
            self.keep_before(&path)?;
            let thrown_away = self.writer.throw_away(path.clone());
            thrown_away.map_err(|error| errno(&error))?;
            Ok(Renewed {
                path,
                values,
                unfinished,
            })
        };
        outdated.into_iter().map(begin).collect()
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
        let begun = self.begin_to_renew(&version, version.outdated.clone());
        if let Err(error) = begun.and_then(|renewed| self.renew(renewed)) {
            log::error!("files that disagree cannot be written anew: {error}");
        }
    }
}
