//! Reports about the sample archives, read through the kernel.

use std::collections::BTreeMap;
use std::fs;

use crate::heavy_iron::samples::{archives, records};
use crate::shared;
use testkit::fuse_test;
use testkit::gltf::{accept, list, scene};
use testkit::mounted::mounted_files;
use testkit::shown::{bytes_of, rows};

#[fuse_test]
fn every_report_of_the_samples_is_complete() {
    let mut seen = BTreeMap::new();
    for archive in archives(false).iter().chain(&archives(true)) {
        let file = shared(&format!("samples/hip_assets/{}.HIP", archive.name)).unwrap();
        let mount = mounted_files(&[file], "");
        let converted = mount.file("converted");
        let mut files: Vec<_> = fs::read_dir(&converted).unwrap().collect();
        files.extend(fs::read_dir(converted.join("tables")).into_iter().flatten());
        for file in files {
            let path = file.unwrap().path();
            if !path.is_file() {
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let bytes = bytes_of(&path);
            let name = match name.as_str() {
                table if table.ends_with(".tsv") => {
                    let text = String::from_utf8(bytes).unwrap();
                    let cells = |line: &str| line.split('\t').count();
                    let columns = cells(text.lines().next().unwrap());
                    assert!(text.lines().all(|line| cells(line) == columns), "{text}");
                    name
                }
                // Without a model there is nothing for assimp to load.
                "level.glb" if !list(&scene(&path), "meshes").is_empty() => {
                    accept(&[&path]);
                    name
                }
                _ => name,
            };
            *seen.entry(name).or_insert(0) += 1;
        }
    }
    if !seen.is_empty() {
        for name in [
            "level.glb",
            "checks.txt",
            "errors.tsv",
            "links.tsv",
            "ATBL.tsv",
        ] {
            assert!(seen.contains_key(name), "{name}: {seen:?}");
        }
    }
}

#[fuse_test]
fn tables_of_all_links_agree_with_the_independent_reader() {
    for archive in archives(false) {
        let known = records(&archive);
        let links = known.values().filter_map(|record| {
            let links = record["links"].as_array()?;
            Some((record["asset"].as_str()?, links))
        });
        let mut expected: Vec<String> = Vec::new();
        for (name, links) in links {
            let targets = links.iter().map(|link| link["target"]["id"].as_str());
            expected.extend(targets.map(|id| format!("{name} {}", id.unwrap_or_default())));
        }
        if expected.is_empty() {
            continue;
        }
        let file = shared(&format!("samples/hip_assets/{}.HIP", archive.name)).unwrap();
        let mount = mounted_files(&[file], "");
        let tables = mount.file("converted/tables");
        let pairs = |file: &str| {
            let rows = rows(&tables.join(file));
            let mut pairs: Vec<_> = rows
                .iter()
                .map(|row| {
                    let target = row["target"].trim_start_matches("0x");
                    format!("{} {target}", row["source_name"])
                })
                .collect();
            pairs.sort();
            pairs
        };
        expected.sort();
        assert_eq!(pairs("links.tsv"), expected, "{}", archive.name);
        expected.retain(|pair| !pair.ends_with(' '));
        assert_eq!(pairs("links_in.tsv"), expected, "{}", archive.name);
    }
}
