//! Comparison of two sources by `hpi diff` and diff(1).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mount::{Fixture, hpi, hpimount, run};
use serde_json::Value;

/// Differences in the form of both programs: `changed`, `removed` or `added`, and the
/// path in lower case.
pub type Differences = BTreeSet<(&'static str, String)>;

/// Returns the differences between two sources with different names according to `hpi
/// diff`, and according to diff(1) in a mount of both; `None` if one of them cannot be
/// compared completely. Omits the links of HIP archives.
pub fn by_both_programs(sources: &[PathBuf; 2]) -> Option<[Differences; 2]> {
    let found = ours(sources)?;
    let fixture = Fixture::new();
    let mut mount = hpimount();
    mount.args(["--separate", "-o", "meta=hidden"]);
    mount.args(sources).arg(&fixture.point);
    let mount = fixture.mount_by(mount);
    let names = sources.each_ref().map(|source| source.file_name().unwrap());
    let names = names.map(|name| name.to_str().unwrap());
    Some([found, of_diff(mount.path(), names)])
}

/// Removes differences below another difference of the same kind: files of a directory
/// that only one side has, and the contents of an archive.
fn outermost(found: &Differences) -> Differences {
    let is_below = |(kind, path): &(&'static str, String)| {
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let alone = above.any(|above| found.contains(&(*kind, above.to_owned())));
        let archive = path.strip_suffix(".d").is_some_and(|archive| {
            found.contains(&(*kind, archive.to_owned()))
                || found.contains(&("changed", archive.to_owned()))
        });
        alone || archive
    };
    let kept = found.iter().filter(|found| !is_below(found));
    kept.cloned().collect()
}

/// Returns whether a path is in a directory of links of a HIP archive, which `hpi diff`
/// skips.
fn is_of_links(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|name| ["ids", "types"].contains(&name))
}

fn ours(sources: &[PathBuf; 2]) -> Option<Differences> {
    let ran = run(hpi("diff").arg("--json").args(sources));
    if ran.code == Some(2) {
        return None;
    }
    assert_eq!(ran.stderr, "", "{ran:?}");
    let mut differences = Differences::new();
    for line in ran.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let path = |key: &str| line[key].as_str().unwrap().to_lowercase();
        let mut add = |kind, key: &str| {
            let path = path(key);
            if !is_of_links(&path) {
                differences.insert((kind, path));
            }
        };
        match line["type"].as_str().unwrap() {
            "changed" if line["new_path"].is_string() => {
                add("removed", "path");
                add("added", "new_path");
            }
            "changed" => add("changed", "path"),
            "removed" => add("removed", "path"),
            "added" => add("added", "path"),
            "moved" => {
                add("removed", "path");
                add("added", "new_path");
            }
            "summary" => {}
            other => panic!("{other}: {line}"),
        }
    }
    assert_eq!(ran.code, Some(i32::from(!differences.is_empty())));
    Some(outermost(&differences))
}

/// Returns the output of `diff -rq` for two directories of a mount.
fn of_diff(mount: &Path, names: [&str; 2]) -> Differences {
    let mut command = Command::new("diff");
    command.args(["-rq", "--no-dereference", "--ignore-file-name-case"]);
    command.args(names).current_dir(mount).env("LC_ALL", "C");
    let output = command.output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let below = |path: &str| {
        let mut roots = names.iter();
        let path = roots.find_map(|root| path.strip_prefix(root)).unwrap();
        path.trim_start_matches('/').to_lowercase()
    };
    let mut differences = Differences::new();
    for line in text.lines() {
        let (kind, path) = if let Some(rest) = line.strip_prefix("Only in ") {
            let (directory, name) = rest.split_once(": ").unwrap();
            let is_old = directory.starts_with(names[0]);
            let kind = if is_old { "removed" } else { "added" };
            (kind, below(&format!("{directory}/{name}")))
        } else {
            let path = ["Files ", "File ", "Symbolic links "];
            let path = path.iter().find_map(|start| line.strip_prefix(start));
            let path = path.unwrap_or_else(|| panic!("{line}"));
            let other = format!(" and {}/", names[1]);
            let end = path.find(&other).or(path.find(" is a "));
            ("changed", below(&path[..end.unwrap()]))
        };
        if !is_of_links(&path) {
            differences.insert((kind, path));
        }
    }
    outermost(&differences)
}
