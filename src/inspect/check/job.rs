//! The jobs of a check: a file, a part of one, the assets of a directory, or the
//! images of an archive.

use std::ops::Range;
use std::sync::Arc;

use super::covered::{HashedImages, Unsound};
use super::file::{FileCheck, FileJob};
use super::finding::{Cause, Severity};
use super::image::{Hashing, ImageCheck};
use super::subject::Subject;
use crate::content::Key;
use crate::mount::{HeldIno, Ino};

/// A job.
pub(super) enum Job {
    /// Read a file, or a part of one.
    File(FileJob),
    /// Check the assets of a directory together.
    Together { directory: HeldIno, path: String },
    /// Hash those images of an archive that belong together.
    Images {
        hashed: Arc<HashedImages>,
        numbers: Range<usize>,
        /// The path of the archive.
        path: String,
    },
}

/// Adds a job to the queue.
pub(super) type Push<'a> = &'a mut dyn FnMut(Job);

impl Job {
    /// Returns the solid block of the file.
    pub(super) fn lane(&self) -> Option<Key> {
        match self {
            Self::File(file) => file.lane,
            Self::Together { .. } | Self::Images { .. } => None,
        }
    }
}

/// Data shared by the workers of a check.
pub(super) struct Workplace<'a, 'r> {
    pub(super) subject: Subject<'a, 'r>,
    pub(super) hashing: Hashing,
    pub(super) unsound: Unsound,
}

impl Workplace<'_, '_> {
    /// Runs a job.
    pub(super) fn run(&self, job: Job) {
        let subject = &self.subject;
        match job {
            Job::Together { directory, path } => self.together(*directory, &path),
            Job::Images {
                hashed,
                numbers,
                path,
            } => {
                let check = ImageCheck {
                    subject,
                    hashing: &self.hashing,
                    hashed: &hashed,
                    path: &path,
                };
                check.run(numbers);
                self.unsound.settle(hashed, subject.output);
            }
            Job::File(file) => FileCheck { subject, file }.run(),
        }
    }

    /// Checks the assets of a directory together.
    fn together(&self, directory: Ino, path: &str) {
        let subject = &self.subject;
        match subject.vfs.assets().findings(directory) {
            Ok(found) => {
                for one in found {
                    let severity = match one.is_style {
                        true => Severity::Style,
                        false => Severity::Warning,
                    };
                    let cause = Cause::at_line(one.line, one.text);
                    subject.finding(severity, &one.path, cause);
                }
            }
            Err(error) => subject.finding(Severity::NotChecked, path, Cause::text(&error)),
        }
    }
}
