//! Damaged HPI archives: they are refused, or reads return errors only where they
//! are damaged.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::files::{forget_pages, open_direct, read_at};
use crate::mount::{Fixture, Mount, hpimount, mounts_at, run};
use crate::mounted::mounted_by;

const PAGE: usize = 4096;

/// Time limit for any operation on a broken archive.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Address space for the program: 256 MiB in addition to its cache of 1 MiB.
const LIMIT: &str = "--as=269484032";

const OPTIONS: &str = "cachesize=1M";

/// Returns the program with a limit on its address space.
fn limited() -> Command {
    let mut command = Command::new("prlimit");
    command.arg(LIMIT).arg(hpimount().get_program());
    command
}

pub fn mounted_limited(archive: &[u8]) -> Mount {
    mounted_by(limited(), archive, OPTIONS)
}

/// Returns the exit code and the start of the message for a broken archive.
fn refusal(name: &str) -> (i32, &'static str) {
    match name {
        // not_hapi.hpi begins like a damaged zip archive.
        "empty" | "another format" | "empty.hpi" => (11, "is not an archive of a known format"),
        "saved game" | "bank_savegame.hpi" => (
            13,
            "is a saved game of Total Annihilation (HAPI BANK), which holds no files",
        ),
        "version 3" | "version_3.hpi" => (13, "is an HPI archive of version 0x00030000; "),
        _ => (12, ""),
    }
}

/// Checks that an archive is refused with one line that describes the cause,
/// and that nothing remains mounted.
pub fn check_refused(name: &str, archive: &Path) {
    let fixture = Fixture::new();
    let start = Instant::now();
    let mut command = limited();
    let ran = run(command
        .arg(archive)
        .arg(&fixture.point)
        .args(["-o", OPTIONS]));
    assert!(start.elapsed() < MAX_TIME, "{name}: {:?}", start.elapsed());
    let (code, problem) = refusal(name);
    assert_eq!(ran.code, Some(code), "{name}: {ran:?}");
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1));
    let begin = format!("hpimount: {}: {problem}", archive.display());
    assert!(ran.stderr.starts_with(&begin), "{name}: {}", ran.stderr);
    if code == 12 {
        let field = ran.stderr[begin.len()..].split(": ").next().unwrap();
        let (field, offset) = field.rsplit_once(" at 0x").unwrap_or_default();
        assert!(!field.is_empty(), "{name}: {}", ran.stderr);
        assert!(u64::from_str_radix(offset, 16).is_ok(), "{}", ran.stderr);
    }
    assert!(
        mounts_at(&fixture.point).is_empty(),
        "{name}: stays mounted"
    );
}

/// The unreadable part of a file.
pub struct Damage<'a> {
    pub path: &'a Path,
    /// The expected contents without damage.
    pub whole: &'a [u8],
    pub damaged: Range<usize>,
}

impl Damage<'_> {
    pub fn check(&self) {
        let start = Instant::now();
        let metadata = self.path.metadata().unwrap();
        assert_eq!(metadata.len(), self.whole.len() as u64);
        self.check_pages();
        self.check_bytes();
        self.check_from_the_start();
        assert!(start.elapsed() < MAX_TIME, "{}", self.path.display());
    }

    /// Checks that a read returns the right bytes, or an error if it overlaps the
    /// damage.
    pub fn check_read(&self, file: &File, range: Range<usize>, touches: bool) {
        let shown = format!("{} {range:?}", self.path.display());
        match read_at(file, range.start as u64, range.len()) {
            Ok(bytes) => {
                assert!(!touches, "{shown}: {} bytes", bytes.len());
                let end = range.end.min(self.whole.len());
                assert!(bytes == self.whole[range.start..end], "{shown}");
            }
            Err(error) => {
                assert!(touches, "{shown}: {error}");
                assert_eq!(error.raw_os_error(), Some(libc::EIO), "{shown}");
            }
        }
    }

    pub fn touches(&self, range: &Range<usize>) -> bool {
        range.start < self.damaged.end && self.damaged.start < range.end
    }

    /// Reads through the kernel's cache, in pages.
    pub fn check_pages(&self) {
        let file = File::open(self.path).unwrap();
        forget_pages(&file);
        for start in (0..self.whole.len()).step_by(PAGE) {
            let page = start..start + PAGE;
            self.check_read(&file, page.clone(), self.touches(&page));
        }
    }

    /// Reads around the bounds of the damage, bypassing the kernel's cache.
    pub fn check_bytes(&self) {
        let file = open_direct(self.path);
        for bound in [self.damaged.start, self.damaged.end] {
            for (before, behind) in [(10, 0), (10, 1), (1, 10), (0, 10), (70_000, 70_000)] {
                let end = self.whole.len().min(bound + behind);
                let range = bound.saturating_sub(before)..end;
                if !range.is_empty() {
                    self.check_read(&file, range.clone(), self.touches(&range));
                }
            }
        }
    }

    /// Reads like `cat`: the bytes before the damage, and then an error.
    pub fn check_from_the_start(&self) {
        let file = File::open(self.path).unwrap();
        forget_pages(&file);
        let mut position = 0_usize;
        let error = loop {
            match read_at(&file, position as u64, 128 << 10) {
                Ok(bytes) if bytes.is_empty() => break None,
                Ok(bytes) => {
                    assert!(bytes == self.whole[position..position + bytes.len()]);
                    position += bytes.len();
                }
                Err(error) => break error.raw_os_error(),
            }
        };
        if self.damaged.is_empty() {
            assert_eq!((position, error), (self.whole.len(), None));
        } else {
            let expected: usize = self.damaged.start / PAGE * PAGE;
            assert_eq!((position, error), (expected, Some(libc::EIO)));
        }
    }
}

/// Checks a file of 4 GiB without any bytes, which is too long to read as a whole.
pub fn check_huge(path: &Path) {
    assert_eq!(path.metadata().unwrap().len(), u64::from(u32::MAX));
    let file = File::open(path).unwrap();
    for offset in [0, 1 << 20, 0xFFFF_FFFE_u64] {
        let error = read_at(&file, offset, 1).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
    }
}
