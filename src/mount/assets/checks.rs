//! Checks and reports that combine many assets of a directory.

use super::Assets;
use super::context::Context;
use super::converted;
use crate::formats::{CHECKS, REFERENCES};
use crate::mount::{Ino, Result};
use hpimount_assets::view::AssetContext;
use hpimount_assets::view::report::VisitReference;
use hpimount_containers::io;

/// Something that a check has found.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The path of the file in the mount.
    pub(crate) path: String,
    /// The line of a text, from 1 on.
    pub(crate) line: Option<u32>,
    /// The problem.
    pub(crate) text: String,
    /// True if it is a matter of style.
    pub(crate) is_style: bool,
}

impl Assets<'_> {
    /// Returns whether the assets of a directory are checked together.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be entered.
    pub(crate) fn is_checked_as_a_whole(self, directory: Ino) -> Result<bool> {
        let (node, _) = self.mount.directory(directory)?;
        let context = Context::new(self, &node);
        let mut checks = CHECKS.iter();
        Ok(converted::has_reports(self.mount, &node)
            && checks.any(|check| (check.applies)(&context)))
    }

    /// Returns whether the assets of a directory may refer to each other.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be entered.
    pub(crate) fn has_references(self, directory: Ino) -> Result<bool> {
        let (node, _) = self.mount.directory(directory)?;
        let context = Context::new(self, &node);
        let mut references = REFERENCES.iter().copied().flatten();
        Ok(converted::has_reports(self.mount, &node)
            && references.any(|one| (one.applies)(&context)))
    }

    /// Visits the references between the assets of a directory.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be entered, if something cannot be
    /// read, or the errors of `visit`.
    pub(crate) fn references(
        self,
        directory: Ino,
        visit: VisitReference<'_>,
    ) -> Result<io::Result<()>> {
        let (node, _) = self.mount.directory(directory)?;
        let context = Context::new(self, &node);
        let references = REFERENCES.iter().copied().flatten();
        let visited = references
            .filter(|references| (references.applies)(&context))
            .try_for_each(|references| (references.each)(&context, visit));
        Ok(match visited {
            Err(error) => Err(io::Error::of_output(&error)),
            Ok(()) => context.fault().map_or(Ok(()), Err),
        })
    }

    /// Returns what is wrong with the assets of a directory together, except for
    /// what the warnings of each of them have.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be entered.
    pub(crate) fn findings(self, directory: Ino) -> Result<Vec<Finding>> {
        let (node, _) = self.mount.directory(directory)?;
        let context = Context::new(self, &node);
        let checks = CHECKS.iter().filter(|check| (check.applies)(&context));
        let findings = checks.flat_map(|check| (check.find)(&context));
        let new = findings.filter(|finding| !finding.is_known);
        let found = new.map(|finding| Finding {
            path: context.path_of(finding.file),
            line: finding.line,
            text: finding.text,
            is_style: finding.is_style,
        });
        Ok(found.collect())
    }
}
