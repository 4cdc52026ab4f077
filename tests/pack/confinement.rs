//! hpipack reads archives of others in threads that can do nothing else.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::{TempDir, tempdir};
use testkit::fuse_test;

use hpimount::mount::Options;
use testkit::applied::read_at;
use testkit::confined::confined_threads;
use testkit::each_method::{SMALL, archive};
use testkit::faulty_fs::{FaultyFs, Mode};
use testkit::mount::namespace::USER;
use testkit::mount::{eventually, has_programs};
use testkit::walked::open;

/// Changes [`SMALL`] in an archive whose reads hang until a confined thread waits for
/// them, and checks the result. `arguments`, with the command, refer to the file with
/// the new contents and its folder.
fn change(arguments: impl FnOnce(&Path, &Path) -> Vec<String>) {
    change_by(
        Command::new(env!("CARGO_BIN_EXE_hpi")),
        &tempdir().unwrap(),
        arguments,
    );
}

/// Does the same by `command`, which runs hpi, in an empty directory.
fn change_by(
    mut command: Command,
    dir: &TempDir,
    arguments: impl FnOnce(&Path, &Path) -> Vec<String>,
) {
    let path = |name: &str| dir.path().join(name);
    let new = path("changes").join(SMALL);
    fs::create_dir_all(new.parent().unwrap()).unwrap();
    fs::write(&new, "changed").unwrap();
    fs::create_dir(path("source")).unwrap();
    let source = FaultyFs::new(&path("source"), &[("a.hpi", &archive())]);
    source.set(Mode::Hangs);
    let mut child = command
        .args(arguments(&new, &path("changes")))
        .args([source.file("a.hpi"), path("out.hpi")])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("a confined thread waits for the archive", || {
        source.held() > 0 && confined_threads(child.id()) > 0
    });
    source.set(Mode::Fine);
    assert!(child.wait().unwrap().success());
    let changed = open(path("out.hpi"), Options::default()).unwrap();
    assert_eq!(read_at(&changed, SMALL), b"changed");
}

#[fuse_test]
fn an_archive_is_changed_by_a_confined_thread() {
    change(|_, folder| vec!["apply".to_owned(), folder.display().to_string()]);
}

#[fuse_test]
fn files_of_an_archive_are_replaced_by_a_confined_thread() {
    change(|file, _| {
        vec![
            "pack".to_owned(),
            "--replace".to_owned(),
            format!("{SMALL}={}", file.display()),
        ]
    });
}

#[fuse_test]
fn an_ordinary_user_changes_an_archive_by_a_confined_thread() {
    if !has_programs(&["setpriv"]) || !rustix::process::geteuid().is_root() {
        return;
    }
    let programs = tempdir().unwrap();
    let program = programs.path().join("hpi");
    fs::copy(env!("CARGO_BIN_EXE_hpi"), &program).unwrap();
    fs::set_permissions(programs.path(), Permissions::from_mode(0o755)).unwrap();
    let dir = tempdir().unwrap();
    chown(dir.path(), Some(USER), Some(USER)).unwrap();
    let mut command = Command::new("setpriv");
    command
        .args([format!("--reuid={USER}"), format!("--regid={USER}")])
        .arg("--clear-groups")
        .arg(program);
    change_by(command, &dir, |_, folder| {
        vec!["apply".to_owned(), folder.display().to_string()]
    });
}
