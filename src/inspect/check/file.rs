//! The check of a file, or of a part of one: it is read, compared with its checksum,
//! and parsed if it is an asset.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::finding::{Cause, Severity, is_end};
use super::subject::{Findings, Subject};
use crate::content::{Access, BLOCK_SIZE, Key, MAX_ASSET};
use crate::inspect::{Contents, Trouble};
use crate::mount::HeldIno;
use hpimount_containers::io::Error;
use hpimount_containers::volume::RecordedSum;

/// Number of bytes read at a time after a larger read failed: a sector of a
/// disc.
const SECTOR: u32 = 2048;

/// A file, or a part of one, to be checked.
pub(super) struct FileJob {
    pub(super) ino: HeldIno,
    pub(super) path: String,
    /// The bytes to read.
    pub(super) range: Range<u64>,
    /// True if it is parsed as well.
    pub(super) is_asset: bool,
    /// True if the range is the whole file.
    pub(super) is_whole: bool,
    /// The solid block that the file is in.
    pub(super) lane: Option<Key>,
}

/// The check of a file.
pub(super) struct FileCheck<'a, 'r> {
    pub(super) subject: &'a Subject<'a, 'r>,
    pub(super) file: FileJob,
}

impl FileCheck<'_, '_> {
    pub(super) fn run(&self) {
        let mut findings = self.subject.findings(&self.file.path);
        let parsed = self.file.is_asset.then(|| self.parse(&mut findings));
        let sum = match parsed {
            // Parsing has read the file to its end.
            Some(Ok(sum)) => {
                self.subject.output.read(self.file.range.end);
                sum
            }
            unparsed => {
                let mut sum = self.recorded_sum();
                if !self.read(sum.as_mut(), &mut findings) {
                    return;
                }
                if let Some(Err((severity, cause))) = unparsed {
                    findings.add(severity, cause);
                }
                sum
            }
        };
        if let Some(text) = sum.and_then(RecordedSum::mismatch) {
            findings.add(Severity::Warning, Cause::text(&text));
        }
    }

    /// Returns the checksum that the file's archive has of all of it.
    fn recorded_sum(&self) -> Option<RecordedSum> {
        let sum = || Contents(self.subject.vfs).recorded_sum(*self.file.ino);
        self.file.is_whole.then(sum).flatten()
    }

    /// Parses an asset. Returns its checksum; if it was not parsed, the finding to
    /// report if its data can be read.
    fn parse(
        &self,
        findings: &mut Findings<'_, '_>,
    ) -> Result<Option<RecordedSum>, (Severity, Cause)> {
        if self.file.range.end > MAX_ASSET {
            let text = format!("is not parsed: assets are up to {MAX_ASSET} bytes");
            return Err((Severity::Warning, Cause::text(&text)));
        }
        let trouble = |error: &Error| (Severity::of(error), Cause::of(error));
        let sum = RefCell::new(self.recorded_sum());
        let is_seen = Cell::new(false);
        let parsed = Contents(self.subject.vfs).parse(*self.file.ino, &|bytes| {
            is_seen.set(true);
            if let Some(sum) = &mut *sum.borrow_mut() {
                sum.update(bytes);
            }
        });
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(Trouble::Bytes(error)) => return Err(trouble(&error)),
            Err(Trouble::Entry(error)) => return Err((Severity::NotChecked, Cause::text(&error))),
        };
        if let Some(error) = &parsed.failure {
            if error.is_fault() {
                return Err(trouble(error));
            }
            findings.add(Severity::of(error), Cause::of(error));
        }
        self.subject.output.summary.assets.add(1);
        for warning in &parsed.warnings {
            findings.add(Severity::Warning, Cause::text(warning));
        }
        match sum.into_inner() {
            // It was parsed before, for another asset.
            Some(sum) if !is_seen.get() => Ok(self.sum_of_pieces(sum, findings)),
            sum => Ok(sum),
        }
    }

    /// Adds all bytes of the file to its checksum; `None` if they cannot be read.
    fn sum_of_pieces(
        &self,
        mut sum: RecordedSum,
        findings: &mut Findings<'_, '_>,
    ) -> Option<RecordedSum> {
        for piece in Contents(self.subject.vfs).pieces_once(*self.file.ino) {
            match piece {
                Ok(piece) => sum.update(&piece),
                Err(trouble) => {
                    findings.trouble(&trouble);
                    return None;
                }
            }
        }
        Some(sum)
    }

    /// Reads the range. Returns false if some of it cannot be read.
    fn read(&self, mut sum: Option<&mut RecordedSum>, findings: &mut Findings<'_, '_>) -> bool {
        let contents = Contents(self.subject.vfs);
        let Range { start, end } = self.file.range;
        let mut offset = start;
        // Up to this offset, data is read in sectors.
        let mut narrow = offset;
        let mut is_sound = true;
        while offset < end {
            let most = if offset < narrow { SECTOR } else { BLOCK_SIZE };
            let length = (end - offset).min(most.into()) as u32;
            let error = match contents.read_explained(*self.file.ino, offset, length, Access::Once)
            {
                Ok(bytes) if !bytes.is_empty() => {
                    offset += bytes.len() as u64;
                    self.subject.output.read(bytes.len() as u64);
                    if let Some(sum) = &mut sum {
                        sum.update(&bytes);
                    }
                    continue;
                }
                Ok(_) => Error::damaged(offset, "file", "ends here, before its size"),
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
            if !can_continue || contents.is_divisible(*self.file.ino) != Ok(true) {
                return false;
            }
            offset += u64::from(length);
        }
        is_sound
    }
}

/// Returns whether an error is about a position inside the read data: any of
/// several sectors may be at fault.
fn is_below(error: &Error) -> bool {
    matches!(error, Error::Read { .. }) && !error.is_fault()
}
