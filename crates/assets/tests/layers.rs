//! This crate and the family crates parse bytes and write bytes: nothing in them
//! mounts, waits, or uses the network, and the bytes are the same on all systems.

use std::fs;
use std::path::{Path, PathBuf};

/// Names that only the mount may use.
const FORBIDDEN: [&str; 4] = ["fuser", "tokio", "std::thread", "std::net"];

/// Methods of numbers whose last bits differ between systems.
const INEXACT: [&str; 24] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp",
    "exp2", "exp_m1", "hypot", "ln", "ln_1p", "log", "log10", "log2", "powf", "sin", "sin_cos",
    "sinh", "tan",
];

/// Returns the folders of the crates.
fn crates() -> impl Iterator<Item = PathBuf> {
    let names = [
        "assets",
        "crash",
        "gta",
        "heavy-iron",
        "neversoft",
        "renderware",
        "total-annihilation",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    names.into_iter().map(|name| root.join(name))
}

/// Calls `check` for each Rust file below a directory, and returns their number.
fn each_file(directory: &Path, check: &dyn Fn(&Path, &str)) -> usize {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| {
            if path.is_dir() {
                return each_file(&path, check);
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                return 0;
            }
            check(&path, &fs::read_to_string(&path).unwrap());
            1
        })
        .sum()
}

#[test]
fn no_code_of_the_formats_names_fuse_threads_or_the_network() {
    let mut files = 0;
    for root in crates() {
        files += each_file(&root.join("src"), &|path, text| {
            for name in FORBIDDEN {
                assert!(!text.contains(name), "{} names {name}", path.display());
            }
        });
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        for name in ["fuser", "tokio", "reqwest", "rustls"] {
            assert!(!manifest.contains(name), "{root:?} names {name}");
        }
    }
    assert!(files > 400, "only {files} files were found");
}

#[test]
fn no_code_calls_functions_whose_results_differ_between_systems() {
    for root in crates() {
        each_file(&root.join("src"), &|path, text| {
            for name in INEXACT {
                let call = format!(".{name}(");
                let path = path.display();
                assert!(!text.contains(&call), "{path} has {call}; use model::math");
            }
        });
    }
}
