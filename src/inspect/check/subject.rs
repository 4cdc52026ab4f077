//! The source that is checked, and the findings about one of its files.

use super::dat::Dat;
use super::finding::{Cause, Severity};
use super::output::CheckOutput;
use crate::inspect::Trouble;
use crate::mount::Vfs;
use hpimount_containers::io;

/// Maximum number of findings of one job.
const MAX_FINDINGS: usize = 100;

/// The source that is checked.
pub(super) struct Subject<'a, 'r> {
    /// Its name.
    pub(super) source: &'a str,
    pub(super) vfs: &'a Vfs,
    pub(super) output: &'a CheckOutput<'r>,
    /// The list to compare disc images with.
    pub(super) list: Option<&'a Dat>,
    /// Number of threads that read.
    pub(super) threads: usize,
}

impl<'r> Subject<'_, 'r> {
    /// Reports a finding about the entry at a path; empty for the source itself.
    pub(super) fn finding(&self, severity: Severity, path: &str, cause: Cause) {
        self.output.finding(severity, self.source, path, cause);
    }

    /// Returns a collector of findings about a file or an archive.
    pub(super) fn findings<'b>(&'b self, path: &'b str) -> Findings<'b, 'r> {
        Findings {
            output: self.output,
            source: self.source,
            path,
            last: String::new(),
            count: 0,
        }
    }
}

/// The findings about one file or archive, without duplicates.
pub(super) struct Findings<'a, 'r> {
    output: &'a CheckOutput<'r>,
    source: &'a str,
    path: &'a str,
    last: String,
    count: usize,
}

impl Findings<'_, '_> {
    /// Reports a finding, unless it is the last one again.
    pub(super) fn add(&mut self, severity: Severity, cause: Cause) {
        if cause.text == self.last {
            return;
        }
        self.last.clone_from(&cause.text);
        self.count += 1;
        if self.count < MAX_FINDINGS {
            self.output.finding(severity, self.source, self.path, cause);
        } else if self.count == MAX_FINDINGS {
            let shown = MAX_FINDINGS - 1;
            let text = format!("there are more findings; only the first {shown} are shown");
            self.output
                .finding(severity, self.source, self.path, Cause::text(&text));
        }
    }

    /// Reports an error about data.
    pub(super) fn error(&mut self, error: &io::Error) {
        self.add(Severity::of(error), Cause::of(error));
    }

    /// Reports why a file cannot be read.
    pub(super) fn trouble(&mut self, trouble: &Trouble) {
        match trouble {
            Trouble::Bytes(error) => self.error(error),
            Trouble::Entry(error) => self.add(Severity::NotChecked, Cause::text(error)),
        }
    }
}
