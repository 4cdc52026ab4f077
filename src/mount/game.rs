//! Which archives of a folder a game mounts, and which of them win
//! (SEMANTICS, Merging).

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::enter::file_name;

/// Archives with the extension `.hpi` that TotalA.exe mounts at most.
const MAX_HPI: usize = 10;

/// The patch archive that TotalA.exe 3.1c looks for by its name.
const PATCH: &str = "rev31.gp3";

/// How archives are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As TotalA.exe 3.1c does.
    Ta,
    /// As KINGDOMS.icd does.
    Kingdoms,
    /// As RWE does.
    Rwe,
    /// As they are given, the last one on top.
    Cli,
}

impl Order {
    /// All of them, with their names.
    pub const NAMES: [(&str, Self); 4] = [
        ("ta", Self::Ta),
        ("kingdoms", Self::Kingdoms),
        ("rwe", Self::Rwe),
        ("cli", Self::Cli),
    ];

    /// Extensions that are mounted, from the lowest group to the highest.
    fn groups(self) -> &'static [&'static str] {
        match self {
            Self::Ta => &["hpi", "ufo", "ccx", "gp3"],
            // A `.kmp` holds one map; against which others it would win is
            // not known.
            Self::Kingdoms => &["kmp", "ufo", "hpi"],
            Self::Rwe => &["hpi", "ufo", "ccx", "gpf", "gp3"],
            Self::Cli => &[],
        }
    }

    /// The group of an archive, higher ones winning; `None` for one that is
    /// not mounted.
    fn group(self, path: &Path) -> Option<usize> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        self.groups()
            .iter()
            .position(|group| extension.eq_ignore_ascii_case(group))
    }

    /// Brings archives into order, the winner last. Those that are not
    /// mounted come first, where the command line names them all the same.
    pub(super) fn sort<T>(self, archives: &mut [T], path: impl Fn(&T) -> &Path) {
        if self == Self::Cli {
            return;
        }
        archives.sort_by_cached_key(|archive| {
            let path = path(archive);
            // Inside a group the name that sorts first wins.
            (self.group(path), Reverse(sort_key(path)))
        });
    }
}

/// What file names are compared by: upper case, as the games' file systems
/// do, then the spelling.
fn sort_key(path: &Path) -> (String, OsString) {
    let name = path.file_name().unwrap_or_default();
    (name.to_string_lossy().to_uppercase(), name.to_owned())
}

/// The archives of a game's folder.
#[derive(Debug)]
pub(super) struct GameFolder {
    /// Every archive that the order mounts, in no order.
    pub(super) archives: Vec<PathBuf>,
}

impl GameFolder {
    /// Looks for archives in the folder itself, not below it.
    ///
    /// # Errors
    /// Whatever the operating system reports of the folder.
    pub(super) fn look(folder: &Path) -> std::io::Result<Self> {
        let mut archives = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let known = [Order::Ta, Order::Kingdoms, Order::Rwe]
                .iter()
                .any(|order| order.group(&path).is_some());
            if known && path.is_file() {
                archives.push(path);
            }
        }
        Ok(Self { archives })
    }

    /// Leaves only what the game of this order mounts: TotalA.exe takes its
    /// own patch by name, and any other `.gp3` only where that is absent.
    /// Gives a warning for each that is not mounted.
    pub(super) fn restrict(&mut self, order: Order) -> Vec<String> {
        let has_patch = order == Order::Ta && self.archives.iter().any(|path| is_patch(path));
        let mut warnings = Vec::new();
        self.archives.retain(|path| {
            let name = file_name(path);
            if order.group(path).is_none() {
                let extension = path.extension().unwrap_or_default().to_string_lossy();
                warnings.push(format!(
                    "{name} is not merged: the game mounts no .{extension}"
                ));
                return false;
            }
            let superseded = has_patch && has_extension(path, "gp3") && !is_patch(path);
            if superseded {
                warnings.push(format!(
                    "{name} is not merged: the game mounts no .gp3 but {PATCH}"
                ));
            }
            !superseded
        });
        warnings.sort();
        warnings
    }
}

fn is_patch(path: &Path) -> bool {
    let name = path.file_name();
    name.is_some_and(|name| name.eq_ignore_ascii_case(PATCH))
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// A warning where the game would leave archives out that are merged here,
/// the highest ones last.
pub(super) fn beyond_the_limit<'a>(
    order: Order,
    archives: impl DoubleEndedIterator<Item = &'a Path>,
) -> Option<String> {
    if order != Order::Ta {
        return None;
    }
    let mut mounted = archives.rev().filter(|path| has_extension(path, "hpi"));
    let last = mounted.nth(MAX_HPI - 1)?;
    let beyond = mounted.count();
    (beyond > 0).then(|| {
        format!(
            "{} .hpi archives are merged; the game mounts the first {MAX_HPI} only, up to {}",
            MAX_HPI + beyond,
            file_name(last),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(order: Order, names: &[&str]) -> Vec<String> {
        let mut paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        order.sort(&mut paths, |path| path);
        let names = paths.iter().map(|path| path.to_string_lossy().into_owned());
        names.collect()
    }

    #[test]
    fn total_annihilation_goes_by_extension_then_by_the_first_name() {
        assert_eq!(
            sorted(
                Order::Ta,
                &[
                    "b.ufo",
                    "totala1.hpi",
                    "A.UFO",
                    "rev31.gp3",
                    "cc.ccx",
                    "TOTALA2.HPI"
                ]
            ),
            [
                "TOTALA2.HPI",
                "totala1.hpi",
                "b.ufo",
                "A.UFO",
                "cc.ccx",
                "rev31.gp3"
            ]
        );
    }

    #[test]
    fn rwe_knows_gpf_and_the_command_line_stays_as_it_is() {
        assert_eq!(
            sorted(Order::Rwe, &["a.gp3", "a.hpi", "a.gpf", "a.ccx"]),
            ["a.hpi", "a.ccx", "a.gpf", "a.gp3"]
        );
        assert_eq!(sorted(Order::Cli, &["b.gp3", "a.hpi"]), ["b.gp3", "a.hpi"]);
    }

    #[test]
    fn other_patches_count_only_without_the_games_own() {
        let restricted = |names: &[&str]| {
            let mut folder = GameFolder {
                archives: names.iter().map(PathBuf::from).collect(),
            };
            let warnings = folder.restrict(Order::Ta);
            (folder.archives.len(), warnings)
        };
        assert_eq!(
            restricted(&["REV31.GP3", "taesc.gp3", "a.hpi"]),
            (
                2,
                vec!["taesc.gp3 is not merged: the game mounts no .gp3 but rev31.gp3".to_owned()]
            )
        );
        assert_eq!(
            restricted(&["taesc.gp3", "other.gp3", "a.hpi"]),
            (3, vec![])
        );
        assert_eq!(
            restricted(&["a.gpf", "a.hpi"]),
            (
                1,
                vec!["a.gpf is not merged: the game mounts no .gpf".to_owned()]
            )
        );
    }

    #[test]
    fn names_that_differ_in_case_only_have_an_order_too() {
        for names in [["A.ufo", "a.ufo"], ["a.ufo", "A.ufo"]] {
            assert_eq!(sorted(Order::Ta, &names), ["a.ufo", "A.ufo"]);
        }
    }

    #[test]
    fn the_limit_of_ten_is_reported_for_total_annihilation_only() {
        let mut paths: Vec<PathBuf> = (10..22).map(|n| format!("{n}.hpi").into()).collect();
        paths.push("a.ufo".into());
        Order::Ta.sort(&mut paths, |path| path);
        let warning = |order, from| {
            let paths = &paths[from..];
            beyond_the_limit(order, paths.iter().map(PathBuf::as_path))
        };
        assert_eq!(
            warning(Order::Ta, 0).unwrap(),
            "12 .hpi archives are merged; the game mounts the first 10 only, up to 19.hpi"
        );
        assert_eq!(warning(Order::Ta, 2), None);
        assert_eq!(warning(Order::Kingdoms, 0), None);
    }
}
