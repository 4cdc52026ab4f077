//! Every dependency of a crate is used in its code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use toml::Table;

/// Packages whose library has another name.
const NAMES: [(&str, &str); 1] = [("md-5", "md5")];

/// Removes the words of all code in a file or folder from `missing`.
fn remove_used(path: &Path, missing: &mut BTreeMap<String, &str>) {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        entries.for_each(|entry| remove_used(&entry.unwrap().path(), missing));
    } else if !missing.is_empty()
        && let Ok(text) = fs::read_to_string(path)
    {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words {
            missing.remove(word);
        }
    }
}

#[test]
fn every_dependency_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace: Table = fs::read_to_string(root.join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let members = workspace["workspace"]["members"].as_array().unwrap();
    let members = members
        .iter()
        .map(|member| root.join(member.as_str().unwrap()));
    let mut unused = Vec::new();
    for member in members.chain([root.to_owned()]) {
        let manifest = fs::read_to_string(member.join("Cargo.toml")).unwrap();
        let manifest: Table = manifest.parse().unwrap();
        let targets = manifest
            .get("target")
            .and_then(|targets| targets.as_table());
        let targets = targets.into_iter().flat_map(|targets| targets.values());
        let tables: Vec<&Table> = targets
            .filter_map(|target| target.as_table())
            .chain([&manifest])
            .collect();
        for (kind, folders) in [
            ("dependencies", &["src"][..]),
            ("dev-dependencies", &["src", "tests", "benches", "examples"]),
        ] {
            let names = tables
                .iter()
                .filter_map(|table| table.get(kind)?.as_table());
            let libraries = names.flat_map(Table::keys).map(|name| {
                let other = NAMES.iter().find(|(package, _)| package == name);
                let library = other.map_or_else(|| name.replace('-', "_"), |(_, it)| (*it).into());
                (library, name.as_str())
            });
            let mut missing = libraries.collect();
            folders
                .iter()
                .for_each(|folder| remove_used(&member.join(folder), &mut missing));
            let missing = missing.into_values();
            unused.extend(missing.map(|name| format!("{}: {name}", member.display())));
        }
    }
    assert_eq!(unused, [""; 0]);
}
