//! The jobs of a check: a file, a part of one, or the images of an archive.

use std::ops::Range;

use super::CheckPlan;
use super::output::{Cause, CheckOutput, Severity};
use crate::content::{BLOCK_SIZE, Key, MAX_ASSET};
use crate::inspect::{Contents, Trouble};
use crate::mount::{Ino, Vfs};
use hpimount_containers::io;

/// Number of bytes read at a time after a larger read failed: a sector of a
/// disc.
const SECTOR: u32 = 2048;

/// Maximum number of findings of one job.
const MAX_FINDINGS: usize = 100;

/// A job.
pub(super) enum Job {
    /// Read a file, or a part of one.
    File {
        ino: Ino,
        path: String,
        range: Range<u64>,
        /// Whether to parse it as well.
        is_asset: bool,
        /// Whether the range is the whole file.
        is_whole: bool,
        /// The solid block that the file is in.
        lane: Option<Key>,
    },
    /// Check the assets of a directory together.
    Together { directory: Ino, path: String },
    /// Hash those images of the archive in a directory that belong together.
    Images {
        directory: Ino,
        numbers: Range<usize>,
        path: String,
    },
}

impl Job {
    /// Returns the solid block of the file.
    pub(super) fn lane(&self) -> Option<Key> {
        match self {
            Self::File { lane, .. } => *lane,
            Self::Together { .. } | Self::Images { .. } => None,
        }
    }
}

/// A worker that runs jobs.
pub(super) struct Worker<'a, 'r> {
    pub(super) source: &'a str,
    pub(super) vfs: &'a Vfs,
    pub(super) output: &'a CheckOutput<'r>,
    pub(super) plan: &'a CheckPlan,
}

impl<'a, 'r> Worker<'a, 'r> {
    pub(super) fn new(
        source: &'a str,
        vfs: &'a Vfs,
        output: &'a CheckOutput<'r>,
        plan: &'a CheckPlan,
    ) -> Self {
        Self {
            source,
            vfs,
            output,
            plan,
        }
    }

    pub(super) fn run(&self, job: &Job) {
        match job {
            Job::Together { directory, path } => self.together(*directory, path),
            Job::Images {
                directory,
                numbers,
                path,
            } => self.images(*directory, numbers.clone(), path),
            Job::File {
                ino,
                path,
                range,
                is_asset,
                is_whole,
                lane: _,
            } => self.file(*ino, path, range, *is_asset, *is_whole),
        }
    }

    /// Returns a collector of findings about a file or archive.
    pub(super) fn findings<'b>(&'b self, path: &'b str) -> Findings<'b, 'r> {
        Findings {
            output: self.output,
            source: self.source,
            path,
            last: String::new(),
            count: 0,
        }
    }

    /// Checks the assets of a directory together.
    fn together(&self, directory: Ino, path: &str) {
        match self.vfs.findings(directory) {
            Ok(found) => {
                for one in found {
                    let cause = Cause::at_line(one.line, one.text);
                    let severity = match one.is_style {
                        true => Severity::Style,
                        false => Severity::Warning,
                    };
                    self.output.finding(severity, self.source, &one.path, cause);
                }
            }
            Err(error) => self
                .findings(path)
                .add(Severity::NotChecked, Cause::text(&error)),
        }
    }

    fn file(&self, ino: Ino, path: &str, range: &Range<u64>, is_asset: bool, is_whole: bool) {
        let mut findings = self.findings(path);
        // Parsing reads the file to its end.
        let unparsed = match is_asset {
            true => self.parse(ino, range.end, &mut findings).err(),
            false => None,
        };
        let is_read = match is_asset && unparsed.is_none() {
            true => {
                self.output.read(range.end);
                true
            }
            false => self.read(ino, range, &mut findings),
        };
        if let Some((severity, cause)) = unparsed.filter(|_| is_read) {
            findings.add(severity, cause);
        }
        if is_whole && is_read {
            match Contents(self.vfs).mismatch(ino) {
                Ok(None) => {}
                Ok(Some(text)) => findings.add(Severity::Warning, Cause::text(&text)),
                Err(trouble) => findings.trouble(&trouble),
            }
        }
    }

    /// Parses an asset. If it was not parsed, returns the finding to report if
    /// its data can be read.
    fn parse(
        &self,
        ino: Ino,
        size: u64,
        findings: &mut Findings<'_, '_>,
    ) -> Result<(), (Severity, Cause)> {
        if size > MAX_ASSET {
            let text = format!("is not parsed: assets are up to {MAX_ASSET} bytes");
            return Err((Severity::Warning, Cause::text(&text)));
        }
        let trouble = |error: &io::Error| (Severity::of(error), Cause::of(error));
        let parsed = match Contents(self.vfs).parse(ino) {
            Ok(parsed) => parsed,
            Err(Trouble::Bytes(error)) => return Err(trouble(&error)),
            Err(Trouble::Entry(error)) => {
                return Err((Severity::NotChecked, Cause::text(&error)));
            }
        };
        if let Some(error) = &parsed.failure {
            if error.is_fault() {
                return Err(trouble(error));
            }
            findings.add(Severity::of(error), Cause::of(error));
        }
        self.output.summary.assets.add(1);
        for warning in &parsed.warnings {
            findings.add(Severity::Warning, Cause::text(warning));
        }
        Ok(())
    }

    /// Reads a range of a file. Returns false if some of it cannot be read.
    fn read(&self, ino: Ino, range: &Range<u64>, findings: &mut Findings<'_, '_>) -> bool {
        let mut offset = range.start;
        // Up to this offset, data is read in sectors.
        let mut narrow = offset;
        let mut is_sound = true;
        while offset < range.end {
            let most = if offset < narrow { SECTOR } else { BLOCK_SIZE };
            let length = (range.end - offset).min(most.into()) as u32;
            let error = match Contents(self.vfs).read_explained(ino, offset, length) {
                Ok(bytes) if !bytes.is_empty() => {
                    offset += bytes.len() as u64;
                    self.output.read(bytes.len() as u64);
                    continue;
                }
                Ok(_) => io::Error::damaged(offset, "file", "ends here, before its size"),
                Err(Trouble::Bytes(error)) => error,
                Err(trouble @ Trouble::Entry(_)) => {
                    findings.trouble(&trouble);
                    return false;
                }
            };
            is_sound = false;
            if is_below(&error) && length > SECTOR {
                narrow = offset + u64::from(length);
                continue;
            }
            findings.error(&error);
            let can_continue = Severity::of(&error) == Severity::Damage && !is_end(&error);
            if !can_continue || Contents(self.vfs).is_divisible(ino) != Ok(true) {
                return false;
            }
            offset += u64::from(length);
        }
        is_sound
    }
}

/// Returns whether an error is about a position inside the read data: any of
/// several sectors may be at fault.
fn is_below(error: &io::Error) -> bool {
    matches!(error, io::Error::Read { .. }) && !error.is_fault()
}

/// Returns whether an error is the end of the source.
pub(super) fn is_end(error: &io::Error) -> bool {
    let end = std::io::ErrorKind::UnexpectedEof;
    matches!(error, io::Error::Read { cause, .. } if cause.kind() == end)
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

    pub(super) fn error(&mut self, error: &io::Error) {
        self.add(Severity::of(error), Cause::of(error));
    }

    fn trouble(&mut self, trouble: &Trouble) {
        match trouble {
            Trouble::Bytes(error) => self.error(error),
            Trouble::Entry(error) => self.add(Severity::NotChecked, Cause::text(error)),
        }
    }
}
