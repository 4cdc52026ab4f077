//! Files that were split into parts: `X.7z.001`, `X.7z.002` and so on, which are
//! only to be joined; the parts of zip archives, `X.z01`, `X.z02` and at
//! last `X.zip`; and the slices of installers, `X-1.bin`, `X-2.bin` and so on.

use std::sync::Arc;

use crate::io::{Composed, ReadAt};
use crate::text::has_extension;

/// Maximum number of parts.
const MAX_PARTS: usize = 999;

/// The extension of the first part of a file that was split.
const FIRST: &str = ".001";

/// Returns the names of the parts that may follow the one called `name`, in
/// order: as many as there are files with these names.
pub fn after(name: &str) -> impl Iterator<Item = String> {
    let stem = name.strip_suffix(FIRST).filter(|stem| !stem.is_empty());
    let numbers = 2..=MAX_PARTS;
    stem.into_iter().flat_map(move |stem| {
        numbers
            .clone()
            .map(move |number| format!("{stem}.{number:03}"))
    })
}

/// Returns the names of the parts before the last one of a zip archive, in
/// order, which is called `name`.
pub(crate) fn of_zip(name: &str, count: usize) -> impl Iterator<Item = String> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    (1..=count).map(move |number| format!("{stem}.z{number:02}"))
}

/// Returns the names of files beside a zip archive, or beside a part of one,
/// that may belong to it: the last part, and then the others in order.
pub fn beside_zip(name: &str) -> impl Iterator<Item = String> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let extension = extension.to_ascii_lowercase();
    let is_part = extension == "zip" || part_number(&extension).is_some();
    let last = (is_part && extension != "zip").then(|| format!("{stem}.zip"));
    let count = if is_part { MAX_PARTS } else { 0 };
    last.into_iter().chain(of_zip(name, count))
}

/// Returns the number of a part of a zip archive that has this extension.
fn part_number(extension: &str) -> Option<u32> {
    let digits = extension.strip_prefix('z')?;
    let are_digits = digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| are_digits)
}

/// Returns whether a file is called like a slice of an installer (`X-1.bin`, `X-1a.bin`)
/// that may belong to the file beside it called `installer`: a program, or the header of
/// one (`X-0.bin`). A program that was renamed has slices with another name.
pub fn may_be_slice(installer: &str, name: &str) -> bool {
    let is_installer = has_extension(installer.as_bytes(), "exe")
        || installer.to_ascii_lowercase().ends_with("-0.bin");
    let number = || {
        let name = name.to_ascii_lowercase();
        let (_, number) = name.strip_suffix(".bin")?.rsplit_once('-')?;
        let digits = number.strip_suffix(|letter: char| letter.is_ascii_lowercase());
        digits.unwrap_or(number).parse::<u32>().ok()
    };
    is_installer && number().is_some_and(|number| number > 0)
}

/// A file that was split.
pub struct Split {
    /// All of it, as far as there are parts.
    pub whole: Arc<dyn ReadAt>,
    /// The name of the first part that was not found.
    pub next: String,
}

/// Joins the parts of a file of which `source` is the first, called `name`, if
/// that is the name of a first part. `partner` finds the others.
pub fn join(
    name: &str,
    source: &Arc<dyn ReadAt>,
    partner: &dyn Fn(&str) -> Option<Arc<dyn ReadAt>>,
) -> Option<Split> {
    let mut parts = vec![source.clone()];
    for next in after(name) {
        match partner(&next) {
            Some(part) => parts.push(part),
            None => {
                let whole: Arc<dyn ReadAt> = match parts.len() {
                    1 => source.clone(),
                    _ => Arc::new(Composed::joined(parts)),
                };
                return Some(Split { whole, next });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_by_their_numbers() {
        let names: Vec<_> = after("a.7z.001").take(2).collect();
        assert_eq!(names, ["a.7z.002", "a.7z.003"]);
        assert_eq!(after("a.7z").count() + after(".001").count(), 0);
        let names: Vec<_> = beside_zip("a.zip").take(2).collect();
        assert_eq!(names, ["a.z01", "a.z02"]);
        let names: Vec<_> = beside_zip("a.z01").take(2).collect();
        assert_eq!(names, ["a.zip", "a.z01"]);
        for other in ["a.7z", "zip", "a.zoo", "a.z1", "a"] {
            assert_eq!(beside_zip(other).count(), 0, "{other}");
        }
    }

    #[test]
    fn slices_are_numbered_and_may_be_lettered() {
        for name in ["setup-1.bin", "other-12.BIN", "a-b-2c.bin"] {
            assert!(may_be_slice("setup.exe", name), "{name}");
            assert!(may_be_slice("setup-0.bin", name), "{name}");
            assert!(!may_be_slice("setup.zip", name), "{name}");
        }
        for name in [
            "setup-0.bin",
            "setup.bin",
            "setup-.bin",
            "setup-1ab.bin",
            "setup-1.exe",
        ] {
            assert!(!may_be_slice("setup.exe", name), "{name}");
        }
    }

    #[test]
    fn parts_are_joined_up_to_the_first_that_is_missing() {
        let source = |bytes: &[u8]| Arc::new(bytes.to_vec()) as Arc<dyn ReadAt>;
        let partner = |name: &str| match name {
            "a.7z.002" => Some(source(b"cd")),
            "a.7z.004" => Some(source(b"x")),
            _ => None,
        };
        let split = join("a.7z.001", &source(b"ab"), &partner).unwrap();
        assert_eq!((split.whole.len(), &*split.next), (4, "a.7z.003"));
        assert!(join("a.7z", &source(b"ab"), &partner).is_none());
    }
}
