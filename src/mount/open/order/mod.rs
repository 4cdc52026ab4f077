//! The archives of a folder that a game mounts, and their precedence (SEMANTICS, Merging). Each
//! game is a module with its [`Rules`].

pub(super) mod gta;
mod kingdoms;
mod rwe;
mod ta;

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::mount::tree::merge::Rule;
use hpimount_containers::format::Input;
use hpimount_containers::io;

/// Order of archives.
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
    /// As the lists of Grand Theft Auto name them. It follows from the folder of
    /// a game, and is no choice.
    Gta,
}

/// A test of whether an archive is made for a game.
type MadeFor = fn(&Input<'_>) -> io::Result<bool>;

/// Rules of a game for the order of its archives.
struct Rules {
    /// Extensions that are mounted, from the lowest group to the highest.
    groups: &'static [&'static str],
    /// True if the newest of several files with the same path wins, instead of the file in the
    /// highest archive.
    newest_wins: bool,
    /// Maximum number of archives with an extension that the game mounts.
    limit: Option<(&'static str, usize)>,
    /// Returns why the game does not mount an archive of its groups; the second
    /// argument is the list of archives in the folder.
    leaves_out: fn(&Path, &[PathBuf]) -> Option<String>,
    /// The test of whether an archive is made for the game, and the reason
    /// shown if most archives of a folder are.
    made_for: Option<(MadeFor, &'static str)>,
}

/// The orders of games, with their rules.
const GAMES: [(Order, &Rules); 3] = [
    (Order::Ta, &ta::RULES),
    (Order::Kingdoms, &kingdoms::RULES),
    (Order::Rwe, &rwe::RULES),
];

/// The rules for archives in the order of the command line.
const GIVEN: Rules = Rules {
    groups: &[],
    newest_wins: false,
    limit: None,
    leaves_out: |_, _| None,
    made_for: None,
};

impl Order {
    /// The orders that can be chosen, with their names.
    pub const NAMES: [(&str, Self); 4] = [
        ("ta", Self::Ta),
        ("kingdoms", Self::Kingdoms),
        ("rwe", Self::Rwe),
        ("cli", Self::Cli),
    ];

    fn rules(self) -> &'static Rules {
        let found = GAMES.iter().find(|(order, _)| *order == self);
        found.map_or(&GIVEN, |(_, rules)| rules)
    }

    /// Returns the group of an archive; a higher group wins; `None` if it is
    /// not mounted.
    fn group(self, path: &Path) -> Option<usize> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        self.rules()
            .groups
            .iter()
            .position(|group| extension.eq_ignore_ascii_case(group))
    }

    /// Sorts archives, the winner last. Those that are not mounted come first,
    /// if the command line names them.
    pub(super) fn sort<P: AsRef<Path>>(self, archives: &mut [P]) {
        if matches!(self, Self::Cli | Self::Gta) {
            return;
        }
        // Inside a group, the name that sorts first wins.
        archives.sort_by_cached_key(|archive| {
            let path = archive.as_ref();
            (self.group(path), Reverse(sort_key(path)))
        });
    }

    /// Returns which of several files with the same path wins, for this number
    /// of merged archives.
    pub(crate) fn rule(self, archives: usize) -> Rule {
        if self.rules().newest_wins {
            Rule::NewestBelow(archives)
        } else {
            Rule::Highest
        }
    }

    /// Retains only the archives that the game of this order mounts. Returns a
    /// warning for each of the others.
    pub(super) fn restrict(self, archives: &mut Vec<PathBuf>) -> Vec<String> {
        let all = archives.clone();
        let mut warnings = Vec::new();
        archives.retain(|path| {
            let problem = if self.group(path).is_none() {
                let extension = path.extension().unwrap_or_default().to_string_lossy();
                Some(format!("the game mounts no .{extension}"))
            } else {
                (self.rules().leaves_out)(path, &all)
            };
            if let Some(problem) = &problem {
                warnings.push(format!("{} is not merged: {problem}", file_name(path)));
            }
            problem.is_none()
        });
        warnings.sort();
        warnings
    }

    /// Returns a warning if the game would skip archives that are merged here.
    pub(crate) fn beyond_the_limit(self, archives: &[PathBuf]) -> Option<String> {
        let (extension, limit) = self.rules().limit?;
        let archives = archives.iter().rev();
        let mut mounted = archives.filter(|path| has_extension(path, extension));
        let last = mounted.nth(limit - 1)?;
        let beyond = mounted.count();
        (beyond > 0).then(|| {
            format!(
                "{} .{extension} archives are merged; the game mounts the first {limit} only, \
                 up to {}",
                limit + beyond,
                file_name(last),
            )
        })
    }

    /// Returns the order of the game that most of the archives are made for,
    /// and the reason. In a tie, the first game wins.
    pub(super) fn of(archives: &[Input<'_>]) -> (Self, &'static str) {
        let mut best = (0, GAMES[0].0, "");
        for (order, rules) in GAMES {
            let Some((made_for, why)) = rules.made_for else {
                continue;
            };
            let count = archives
                .iter()
                .filter(|input| made_for(input).unwrap_or(false));
            let count = count.count();
            if best.2.is_empty() || count > best.0 {
                best = (count, order, why);
            }
        }
        (best.1, best.2)
    }
}

/// Returns whether some game uses the extension of a file for archives.
pub(super) fn is_archive_of_any(path: &Path) -> bool {
    GAMES.iter().any(|(order, _)| order.group(path).is_some())
}

/// Returns the sort key of file names: upper case, as in the games' file
/// systems, then the spelling.
fn sort_key(path: &Path) -> (String, OsString) {
    let name = path.file_name().unwrap_or_default();
    (name.to_string_lossy().to_uppercase(), name.to_owned())
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

/// Returns the last component of a path, as text.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(order: Order, names: &[&str]) -> Vec<String> {
        let mut paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        order.sort(&mut paths);
        let names = paths.iter().map(|path| path.to_string_lossy().into_owned());
        names.collect()
    }

    #[test]
    fn total_annihilation_orders_by_extension_then_by_name_in_reverse() {
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
    fn rwe_mounts_gpf_and_the_command_line_keeps_its_order() {
        assert_eq!(
            sorted(Order::Rwe, &["a.gp3", "a.hpi", "a.gpf", "a.ccx"]),
            ["a.hpi", "a.ccx", "a.gpf", "a.gp3"]
        );
        assert_eq!(sorted(Order::Cli, &["b.gp3", "a.hpi"]), ["b.gp3", "a.hpi"]);
    }

    #[test]
    fn other_patches_are_mounted_only_without_the_games_own() {
        let restricted = |names: &[&str]| {
            let mut archives: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            let warnings = Order::Ta.restrict(&mut archives);
            (archives.len(), warnings)
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
    fn names_that_differ_only_in_case_have_a_fixed_order() {
        for names in [["A.ufo", "a.ufo"], ["a.ufo", "A.ufo"]] {
            assert_eq!(sorted(Order::Ta, &names), ["a.ufo", "A.ufo"]);
        }
    }

    #[test]
    fn the_limit_of_ten_is_reported_for_total_annihilation_only() {
        let mut paths: Vec<PathBuf> = (10..22).map(|n| format!("{n}.hpi").into()).collect();
        paths.push("a.ufo".into());
        Order::Ta.sort(&mut paths);
        let warning = |order: Order, from: usize| order.beyond_the_limit(&paths[from..]);
        assert_eq!(
            warning(Order::Ta, 0).unwrap(),
            "12 .hpi archives are merged; the game mounts the first 10 only, up to 19.hpi"
        );
        assert_eq!(warning(Order::Ta, 2), None);
        assert_eq!(warning(Order::Kingdoms, 0), None);
    }
}
