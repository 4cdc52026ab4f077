//! Which archives of a folder a game mounts, and which of them win
//! (SEMANTICS, Merging).

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

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
            // `.kmp` holds one map each; the game treats it as `.ufo`.
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
        archives.sort_by(|a, b| {
            let (a, b) = (path(a), path(b));
            let group = self.group(a).cmp(&self.group(b));
            // Inside a group the name that sorts first wins.
            group.then_with(|| compare_names(b, a))
        });
    }
}

/// Compares file names as the games' file systems do: in upper case.
fn compare_names(a: &Path, b: &Path) -> Ordering {
    let upper = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().to_uppercase()
    };
    upper(a).cmp(&upper(b))
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
    pub(super) fn restrict(&mut self, order: Order) {
        self.archives.retain(|path| order.group(path).is_some());
        let is_patch = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| name.eq_ignore_ascii_case(PATCH))
        };
        if order == Order::Ta && self.archives.iter().any(is_patch) {
            let is_gp3 = |path: &Path| {
                path.extension()
                    .is_some_and(|extension| extension.eq_ignore_ascii_case("gp3"))
            };
            self.archives.retain(|path| is_patch(path) || !is_gp3(path));
        }
    }
}

/// A warning where the game would leave archives out that are merged here.
pub(super) fn beyond_the_limit<'a>(
    order: Order,
    archives: impl Iterator<Item = &'a Path>,
) -> Option<String> {
    let is_hpi = |path: &&Path| {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("hpi"))
    };
    let count = archives.filter(is_hpi).count();
    (order == Order::Ta && count > MAX_HPI).then(|| {
        format!("{count} .hpi archives are merged; the game mounts the first {MAX_HPI} only")
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
            folder.restrict(Order::Ta);
            folder.archives.len()
        };
        assert_eq!(restricted(&["REV31.GP3", "taesc.gp3", "a.hpi"]), 2);
        assert_eq!(restricted(&["taesc.gp3", "other.gp3", "a.hpi"]), 3);
        assert_eq!(restricted(&["a.gpf", "a.hpi"]), 1);
    }

    #[test]
    fn the_limit_of_ten_is_reported_for_total_annihilation_only() {
        let paths: Vec<PathBuf> = (0..11).map(|n| format!("{n}.hpi").into()).collect();
        let warning = |order| beyond_the_limit(order, paths.iter().map(PathBuf::as_path));
        assert!(warning(Order::Ta).is_some_and(|text| text.starts_with("11 .hpi")));
        assert_eq!(warning(Order::Kingdoms), None);
    }
}
