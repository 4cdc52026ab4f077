//! The explorer as a part of the crate and of the packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::skip::possible;

/// Returns the folder of the explorer, if it was built.
fn explorer() -> Option<PathBuf> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let is_built = web.join("dist/index.html").exists() && web.join("node_modules").exists();
    possible(is_built, "needs the explorer, which scripts/web builds").then_some(web)
}

/// Runs a command in a folder, and returns its output.
fn printed(command: &mut Command, folder: &Path) -> String {
    let done = command.current_dir(folder).output().unwrap();
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {message}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn the_crate_and_the_notices_have_the_explorer() {
    if explorer().is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cargo = Command::new(env!("CARGO"));
    let listed = printed(
        cargo.args(["package", "--list", "--allow-dirty", "--offline"]),
        root,
    );
    assert!(listed.lines().any(|path| path == "web/dist/index.html"));
    assert!(!listed.contains("node_modules"));
    let notices = printed(&mut Command::new(root.join("scripts/notices")), root);
    for package in ["\npreact 11", "\nthree 0"] {
        assert!(notices.contains(package), "{package:?}");
    }
}

/// In another folder, so that its path is in no file either.
#[test]
fn the_explorer_is_built_to_the_same_bytes_each_time() {
    let Some(web) = explorer() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let copy = folder.path().join("web");
    fs::create_dir(&copy).unwrap();
    let mut links = Command::new("cp");
    links.args(["-al", "src", "build.mjs", "package.json", "node_modules"]);
    printed(links.arg(&copy), &web);
    fs::copy(web.join("../deny.toml"), folder.path().join("deny.toml")).unwrap();
    printed(Command::new("node").arg("build.mjs"), &copy);
    let mut compared = Command::new("diff");
    // The notices of the crates are not made by the build of the explorer.
    compared.args(["-r", "--exclude=notices.txt.gz"]);
    compared.arg(web.join("dist")).arg("dist");
    assert_eq!(printed(&mut compared, &copy), "");
}
