//! The dependencies comply with `deny.toml`, including those for other
//! platforms.

use std::process::Command;

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

/// The parts of `deny.toml` that are checked here.
#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

/// Output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    /// SPDX expression, sometimes in the old form with `/`.
    license: Option<String>,
    /// Source; `None` for this package itself.
    source: Option<String>,
}

fn rules() -> Rules {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/deny.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {message}");
    let metadata: Metadata = serde_json::from_slice(&output.stdout).unwrap();
    assert!(metadata.packages.len() > 1, "there are no dependencies");
    metadata.packages
}

/// Returns descriptions of the packages that `is_wrong` returns true for.
fn wrong(is_wrong: impl Fn(&Package) -> bool) -> Vec<String> {
    let describe = |package: Package| {
        let license = package.license.as_deref().unwrap_or("no license");
        let source = package.source.as_deref().unwrap_or("this folder");
        format!("{} {}: {license}, {source}", package.name, package.version)
    };
    let packages = packages().into_iter();
    packages.filter(is_wrong).map(describe).collect()
}

#[test]
fn every_dependency_has_a_license_that_is_allowed() {
    let rules = rules();
    let allowed: Vec<Licensee> = rules
        .licenses
        .allow
        .iter()
        .map(|name| Licensee::parse(name).unwrap())
        .collect();
    let is_allowed = |license: &str| {
        Expression::parse_mode(license, ParseMode::LAX).is_ok_and(|expression| {
            expression.evaluate(|wanted| allowed.iter().any(|license| license.satisfies(wanted)))
        })
    };
    let wrong = wrong(|package| !package.license.as_deref().is_some_and(is_allowed));
    assert!(wrong.is_empty(), "not allowed by deny.toml: {wrong:#?}");
}

#[test]
fn every_dependency_comes_from_a_registry_that_is_allowed() {
    let rules = rules();
    let is_allowed = |source: &str| {
        let registry = source.strip_prefix("registry+");
        registry.is_some_and(|url| rules.sources.allow_registry.iter().any(|it| it == url))
    };
    let wrong = wrong(|package| package.source.as_deref().is_some_and(|it| !is_allowed(it)));
    assert!(wrong.is_empty(), "not allowed by deny.toml: {wrong:#?}");
}
