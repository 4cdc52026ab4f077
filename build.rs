//! Tells the code what this build can do, by the system and the features: `fuse` if it can
//! mount, `edit` if such mounts can be edited, `serve` if it has a server, and `explorer` if
//! Windows' Explorer can offer it.
//!
//! Embeds the explorer of `hpi serve` where `scripts/web` has made it. It runs nothing, and
//! without `web/dist` the program has its page without JavaScript.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The sources of the explorer, and where `scripts/web` leaves it.
const WEB: &str = "web";
const DIST: &str = "web/dist";

/// Compressed forms of a file, which are beside it: their suffixes and encodings, the best
/// first.
const ENCODINGS: [(&str, &str); 2] = [(".br", "br"), (".gz", "gzip")];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    set_abilities();
    embed_explorer();
    list_crates();
}

/// Sets what code can ask for with `cfg`.
fn set_abilities() {
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let has_feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let fuse = has_feature("FUSE") && !["macos", "windows"].contains(&&*system);
    let serve = has_feature("SERVE");
    let abilities = [
        ("fuse", fuse),
        ("edit", fuse && system == "linux"),
        ("serve", serve),
        ("explorer", serve && system == "windows"),
    ];
    for (name, is_set) in abilities {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if is_set {
            println!("cargo::rustc-cfg={name}");
        }
    }
}

fn embed_explorer() {
    println!("cargo::rerun-if-env-changed=HPIMOUNT_WEB");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = root.join(DIST);
    // A missing path would be a change in every build.
    if let Some(watched) = [DIST, WEB].iter().find(|path| root.join(path).exists()) {
        println!("cargo::rerun-if-changed={watched}");
    }
    let mut names = Vec::new();
    list(&dist, "", &mut names);
    let plain = |name: String| {
        let mut forms = ENCODINGS.iter();
        let name = forms
            .find_map(|(suffix, _)| name.strip_suffix(suffix))
            .unwrap_or(&name);
        name.to_owned()
    };
    let names: BTreeSet<String> = names.into_iter().map(plain).collect();
    let is_required = env::var_os("HPIMOUNT_WEB").is_some_and(|value| value == "require");
    assert!(
        !is_required || names.contains("index.html"),
        "{DIST} is missing; scripts/web makes it"
    );
    let mut code = String::from("static FILES: &[Embedded] = &[\n");
    let mut embed = |name: &str, suffix: &str, encoding: &str| {
        let kind = media_type(name)?;
        let path = dist.join(format!("{name}{suffix}"));
        let tag = format!("{:016x}", fnv(&fs::read(&path).ok()?));
        writeln!(
            code,
            "    Embedded {{ name: {name:?}, media_type: {kind:?}, tag: {tag:?}, \
             encoding: {encoding:?}, bytes: include_bytes!({path:?}) }},"
        )
        .ok()
    };
    for name in &names {
        let [_, gzip] = ENCODINGS.map(|(suffix, encoding)| embed(name, suffix, encoding));
        // Clients that know no compression get what the gzip form contains.
        if gzip.is_none() {
            embed(name, "", "");
        }
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("web.rs"), code).expect("the output folder can be written");
}

/// Writes the names and versions of the crates that the program is built of, for builds without
/// the texts of their licences.
fn list_crates() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    let packages = lock.split("[[package]]").skip(1);
    let crates = packages.filter(|package| package.contains("\nsource = "));
    let value = |package: &str, key: &str| {
        let mut lines = package.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        value.unwrap_or_default().trim_matches('"').to_owned()
    };
    let lines = crates.map(|package| {
        let [name, version] = ["name", "version"].map(|key| value(package, key));
        format!("{name} {version}\n")
    });
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("crates.txt"), lines.collect::<String>())
        .expect("the output folder can be written");
}

/// Adds the paths of all files in a folder.
fn list(folder: &Path, path: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        match entry.path().is_dir() {
            true => list(&entry.path(), &format!("{path}{name}/"), names),
            false => names.push(format!("{path}{name}")),
        }
    }
}

/// Returns the type of a file of the explorer; `None` for other files.
fn media_type(name: &str) -> Option<&'static str> {
    Some(match name.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

/// Returns a hash that is the same with every compiler (FNV-1a).
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
