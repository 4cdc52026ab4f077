//! Random changes have the same effect as on a plain folder, and the archive equals the
//! output of `hpi apply` for the folder of edits.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use rustix::io::Errno;
use rustix::process::Signal;
use testkit::fuse_test;
use testkit::mount::eventually;
use testkit::trial;

use crate::kit::{Editing, save};

/// Names of files and directories, in the archive and new ones.
const PATHS: [&str; 14] = [
    "readme.txt",
    "units/ARMTANK.FBI",
    "units/ARMJEEP.FBI",
    "maps/big.bin",
    "units",
    "maps",
    "new.txt",
    "units/new.fbi",
    "docs",
    "docs/a.txt",
    "docs/deep",
    "docs/deep/b.txt",
    "other",
    "other/a.txt",
];

/// A change.
#[derive(Debug, Clone)]
enum Step {
    Save(&'static str, usize),
    Append(&'static str, usize),
    Resize(&'static str, u64),
    Overwrite(&'static str, u64),
    Replace(&'static str, usize),
    Rename(&'static str, &'static str),
    Remove(&'static str),
    RemoveAll(&'static str),
    Make(&'static str),
    RemoveDirectory(&'static str),
    Mount,
    Kill,
}

fn steps() -> impl Strategy<Value = Step> {
    let path = || select(PATHS.as_slice());
    prop_oneof![
        4 => (path(), 0_usize..5_000).prop_map(|(path, size)| Step::Save(path, size)),
        2 => (path(), 1_usize..90).prop_map(|(path, size)| Step::Append(path, size)),
        2 => (path(), 0_u64..3_000).prop_map(|(path, size)| Step::Resize(path, size)),
        2 => (path(), 0_u64..3_000).prop_map(|(path, at)| Step::Overwrite(path, at)),
        2 => (path(), 0_usize..500).prop_map(|(path, size)| Step::Replace(path, size)),
        4 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        3 => path().prop_map(Step::Remove),
        1 => path().prop_map(Step::RemoveAll),
        2 => path().prop_map(Step::Make),
        1 => path().prop_map(Step::RemoveDirectory),
        1 => Just(Step::Mount),
        1 => Just(Step::Kill),
    ]
}

/// Makes a change below a directory.
fn run(root: &Path, step: &Step) -> io::Result<()> {
    let at = |path: &str| root.join(path);
    match *step {
        Step::Save(path, size) => save(&at(path), fixtures::noise(size as u64, size)),
        Step::Append(path, size) => {
            let mut file = OpenOptions::new().append(true).open(at(path))?;
            file.write_all(&vec![b'a'; size])?;
            Ok(nix::unistd::close(file)?)
        }
        Step::Resize(path, size) => {
            let file = OpenOptions::new().write(true).open(at(path))?;
            file.set_len(size)?;
            Ok(nix::unistd::close(file)?)
        }
        Step::Overwrite(path, offset) => {
            use std::os::unix::fs::FileExt;
            let file = OpenOptions::new().write(true).open(at(path))?;
            file.write_all_at(b"overwritten", offset)?;
            Ok(nix::unistd::close(file)?)
        }
        Step::Replace(path, size) => {
            let temporary = at(path).with_file_name(".goutputstream-AAAAAA");
            save(&temporary, vec![b'r'; size])?;
            let renamed = fs::rename(&temporary, at(path));
            if renamed.is_err() {
                fs::remove_file(temporary)?;
            }
            renamed
        }
        Step::Rename(from, to) => fs::rename(at(from), at(to)),
        Step::Remove(path) => fs::remove_file(at(path)),
        Step::RemoveAll(path) => match at(path).is_dir() {
            true => fs::remove_dir_all(at(path)),
            false => Ok(()),
        },
        Step::Make(path) => fs::create_dir(at(path)),
        Step::RemoveDirectory(path) => fs::remove_dir(at(path)),
        Step::Mount | Step::Kill => Ok(()),
    }
}

/// Returns everything below a directory, with the bytes of files.
fn tree(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    testkit::hpipack::contents(root)
}

/// Returns whether the mount may differ from a plain folder: programs copy directories
/// of the archive to rename them.
fn is_excused(step: &Step, ours: &io::Result<()>) -> bool {
    let error = ours.as_ref().err().and_then(io::Error::raw_os_error);
    matches!(step, Step::Rename(..)) && error == Some(Errno::XDEV.raw_os_error())
}

fn check(steps: &[Step]) {
    let mut editing = Editing::of_units();
    let plain = tempfile::tempdir().unwrap();
    for (path, bytes) in tree(editing.mount().path()) {
        match bytes {
            None => fs::create_dir_all(plain.path().join(path)).unwrap(),
            Some(bytes) => {
                let path = plain.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }
    for step in steps {
        match step {
            Step::Mount => editing.remount(),
            Step::Kill => {
                editing.mount().signal(Signal::KILL);
                let mount = editing.mount();
                eventually("the daemon ends", || mount.daemon().has_ended());
                editing.mount_again();
            }
            _ => {
                let ours = run(editing.mount().path(), step);
                if is_excused(step, &ours) {
                    continue;
                }
                let theirs = run(plain.path(), step);
                let number = |result: &io::Result<()>| {
                    result.as_ref().err().and_then(io::Error::raw_os_error)
                };
                assert_eq!(number(&ours), number(&theirs), "{step:?}");
            }
        }
        assert!(
            tree(editing.mount().path()) == tree(plain.path()),
            "after {step:?}"
        );
    }
    if !editing.edits().is_empty() {
        editing.assert_applied();
    }
    assert!(
        editing.rows().iter().all(|row| !row.contains("refused")),
        "{:?}",
        editing.rows()
    );
}

#[fuse_test]
fn random_changes_are_those_of_a_plain_folder() {
    let config = Config {
        cases: trial::length(6, 400),
        failure_persistence: None,
        ..Config::default()
    };
    let runs = proptest::collection::vec(steps(), 25);
    let outcome = TestRunner::new(config).run(&runs, |steps| {
        check(&steps);
        Ok(())
    });
    outcome.unwrap();
    trial::record(
        "random changes of an edited mount against a plain folder",
        format!("{} runs of 25", trial::length(6, 400)),
        "the same trees, and the archive is what `hpi apply` writes",
    );
}
