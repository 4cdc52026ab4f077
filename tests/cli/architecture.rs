//! The maps in CONTRIBUTING.md have every module of the crates, from the highest
//! layer to the lowest, and a module uses only lower ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the crates, each with a map.
const CRATES: [&str; 3] = ["src", "crates/assets/src", "crates/containers/src"];

/// Files that use a module above their own, as CONTRIBUTING.md says.
const EXCEPTIONS: [(&str, &str); 4] = [
    ("crates/assets/src/heavy_iron/report/errors.rs", "formats"),
    ("crates/assets/src/view/context.rs", "gta"),
    ("crates/assets/src/view/context.rs", "heavy_iron"),
    ("crates/assets/src/view/context.rs", "total_annihilation"),
];

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the row of each module in the map of a folder.
fn rows(folder: &str) -> BTreeMap<String, usize> {
    let page = include_str!("../../CONTRIBUTING.md");
    let heading = format!("| `{folder}/`");
    let lines = page.lines().skip_while(|line| !line.starts_with(&heading));
    let table = lines.skip(2).take_while(|line| line.starts_with('|'));
    let mut rows = BTreeMap::new();
    for (row, line) in table.enumerate() {
        let cell = line.split('|').nth(1).unwrap();
        for name in cell.split('`').skip(1).step_by(2) {
            rows.insert(module_name(name), row);
        }
    }
    rows
}

/// Returns the name of the module in a file or folder.
fn module_name(file: &str) -> String {
    let name = file.trim_end_matches('/');
    name.trim_end_matches(".rs").to_owned()
}

/// Returns the names in a folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Returns the source files in and below a path, without tests.
fn sources(path: &Path) -> Vec<PathBuf> {
    let name = path.file_stem().unwrap();
    if name == "tests" {
        return Vec::new();
    }
    match path.is_dir() {
        true => entries(path)
            .iter()
            .flat_map(|path| sources(path))
            .collect(),
        false => vec![path.to_owned()],
    }
}

/// Returns the names after `crate::` in the code of a file, without comments and
/// tests.
fn used(text: &str) -> BTreeSet<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let code = code.split("\n#[cfg(test)]\nmod tests").next().unwrap();
    let name = |path: &str| {
        let path = path.trim_start();
        let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        path[..end.unwrap_or(path.len())].to_owned()
    };
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        let list = path
            .strip_prefix('{')
            .and_then(|list| list.split('}').next());
        match list {
            Some(list) => names.extend(list.split(',').map(name)),
            None => names.extend([name(path)]),
        }
    }
    names
}

#[test]
fn the_maps_name_every_module() {
    for folder in CRATES {
        let found = entries(&root().join(folder));
        let found = found.iter().map(|path| path.file_name().unwrap());
        let found = found.map(|name| module_name(name.to_str().unwrap()));
        let found: BTreeSet<String> = found.filter(|name| name != "lib").collect();
        let named: BTreeSet<String> = rows(folder).into_keys().collect();
        assert_eq!(found, named, "{folder}");
    }
}

#[test]
fn a_module_uses_only_modules_of_lower_rows() {
    let mut compared = 0;
    let mut wrong = BTreeSet::new();
    for folder in CRATES {
        let rows = rows(folder);
        for (module, row) in &rows {
            let places = [format!("{module}.rs"), module.clone()];
            let places = places.map(|name| root().join(folder).join(name));
            let places = places.iter().filter(|path| path.exists());
            for file in places.flat_map(|path| sources(path)) {
                let text = fs::read_to_string(&file).unwrap();
                let file = file.strip_prefix(root()).unwrap().to_str().unwrap();
                for name in used(&text) {
                    let is_above = rows.get(&name).is_some_and(|other| other < row);
                    if is_above {
                        wrong.insert((file.to_owned(), name));
                    }
                    compared += 1;
                }
            }
        }
    }
    let known = EXCEPTIONS.map(|(file, name)| (file.to_owned(), name.to_owned()));
    assert_eq!(wrong, BTreeSet::from(known));
    assert!(compared > 1000, "{compared}");
}
