//! Sources according to `hpi list` and `hpi cat`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::files::walk;
use crate::mount::{Fixture, Run, hpi, hpimount, run};
use serde_json::Value;

/// Returns the bytes of files, which must exist.
pub fn cat(source: &Path, paths: &[&str]) -> Vec<u8> {
    let mut command = hpi("cat");
    let output = command.arg(source).args(paths).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

/// The kind, mode, size and link target of each listed entry, by path.
type Listing = BTreeMap<String, (String, u32, u64, Option<String>)>;

pub fn listed(source: &Path) -> Listing {
    let ran = on(source, "list", &["/", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let entries = ran.stdout.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().map(str::to_owned);
        let mode = u32::from_str_radix(line["mode"].as_str().unwrap(), 8).unwrap();
        let size = line["size"].as_u64().unwrap();
        let entry = (text("kind").unwrap(), mode, size, text("target"));
        (text("path").unwrap(), entry)
    });
    entries.collect()
}

fn mounted(root: &Path) -> Listing {
    let entries = walk(root).into_iter().map(|path| {
        let found = path.symlink_metadata().unwrap();
        let target = fs::read_link(&path).ok();
        let kind = match found.file_type() {
            kind if kind.is_dir() => "directory",
            kind if kind.is_symlink() => "link",
            _ => "file",
        };
        let below = path
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let target = target.map(|target| target.to_str().unwrap().to_owned());
        let mode = found.mode() & 0o777;
        (below, (kind.to_owned(), mode, found.size(), target))
    });
    entries.collect()
}

/// Asserts that the listing of a source, and its printed files, match a mount. Returns
/// false if it cannot be mounted.
pub fn matches_its_mount(source: &Path) -> bool {
    let fixture = Fixture::new();
    let mut command = hpimount();
    command.arg("--no-meta").arg(source).arg(&fixture.point);
    if run(&mut command).code != Some(0) {
        return false;
    }
    let here = fixture.point.clone();
    let shown = mounted(&here);
    assert_eq!(listed(source), shown, "{}", source.display());
    for (path, (kind, ..)) in &shown {
        let bytes = fs::read(here.join(path)).ok();
        if let Some(bytes) = bytes.filter(|_| kind != "directory") {
            let printed = cat(source, &[path]);
            assert!(printed == bytes, "{}: {path}", source.display());
        }
    }
    true
}

/// Runs a command of hpi with a source and paths in it.
pub fn on(source: &Path, command: &str, paths: &[&str]) -> Run {
    run(hpi(command).arg(source).args(paths))
}
