//! Everyday tools have the same output for a mount and for the same tree on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::fuse_test;

use fixtures::hpi::{Entry, File, V1, dir, file, usual_tree};
use fixtures::{noise, text};
use hpimount_containers::hpi::chunk::Method;
use tempfile::TempDir;
use testkit::files::{contents, expected, unpack};
use testkit::mount::{Mount, has_programs};
use testkit::mounted::{mounted, mounted_files, output};
use testkit::sources::pack_as;

/// Returns a tree with something for `grep` to find, and many small files.
fn tree() -> Vec<Entry> {
    let small = |number: usize| {
        let data = format!("[UNIT{number}]\nCorpse=arm{number}_dead;\n");
        let method = if number.is_multiple_of(2) {
            Method::Lz77
        } else {
            Method::Zlib
        };
        file(
            format!("unit{number:03}.fbi").as_bytes(),
            File::new(data, method),
        )
    };
    let mut entries = usual_tree(Method::Lz77);
    entries.push(dir(b"many", (0..300).map(small).collect()));
    entries.push(file(
        b"caf\xE9 \x80.txt",
        File::new(text(70_000), Method::Stored),
    ));
    entries.push(file(
        b"with space & $.bin",
        File::new(noise(9, 300_000), Method::Zlib),
    ));
    entries
}

/// The tree as a mount and on disk.
struct Both {
    mount: Mount,
    disk: TempDir,
}

impl Both {
    /// Returns `None` if a program is missing.
    fn new(programs: &[&str]) -> Option<Self> {
        if !has_programs(programs) {
            return None;
        }
        let mount = mounted(&V1::new(tree()).keyed(0xBF).build().bytes, "");
        let disk = tempfile::tempdir().unwrap();
        unpack(&expected(&tree()), disk.path());
        Some(Self { mount, disk })
    }

    /// Asserts that a command prints the same lines in both, and returns them
    /// sorted.
    fn check(&self, program: &str, arguments: &[&str]) -> String {
        let printed = |directory: &Path| {
            let mut lines: Vec<String> = output(program, arguments, directory)
                .lines()
                .map(str::to_owned)
                .collect();
            lines.sort();
            lines.join("\n")
        };
        let (mount, disk) = (printed(self.mount.path()), printed(self.disk.path()));
        assert!(
            mount == disk,
            "{program} {arguments:?}:\n{mount}\n---\n{disk}"
        );
        mount
    }

    fn path(&self) -> &str {
        self.mount.path().to_str().unwrap()
    }
}

#[fuse_test]
fn grep_finds_the_same() {
    let Some(both) = Both::new(&["grep"]) else {
        return;
    };
    let found = both.check("grep", &["-rn", "arm1.*_dead"]);
    assert_eq!(found.lines().count(), 1 + 10 + 100);
    both.check("grep", &["-rc", "MaxDamage=7"]);
    both.check("grep", &["-rlaF", "UNIT96"]);
}

#[fuse_test]
fn find_lists_the_same() {
    let Some(both) = Both::new(&["find"]) else {
        return;
    };
    let found = both.check("find", &[".", "-printf", "%p %y %d\n"]);
    assert_eq!(found.lines().count(), contents(both.disk.path()).len() + 1);
    both.check("find", &[".", "-type", "f", "-printf", "%p %s\n"]);
    both.check("find", &[".", "-empty"]);
    both.check("find", &[".", "-iname", "*.FBI", "-size", "-2"]);
}

#[fuse_test]
fn checksums_are_the_same() {
    let Some(both) = Both::new(&["find", "sha256sum", "xargs"]) else {
        return;
    };
    both.check(
        "sh",
        &["-c", "find . -type f -print0 | xargs -0 -P 4 sha256sum"],
    );
}

#[fuse_test]
fn copies_are_the_same() {
    let Some(both) = Both::new(&["cp", "diff", "rsync", "tar"]) else {
        return;
    };
    let work_dir = tempfile::tempdir().unwrap();
    let target = |name: &str| work_dir.path().join(name).to_str().unwrap().to_owned();
    let source = format!("{}/", both.path());
    let original = contents(both.disk.path());

    output("cp", &["-r", both.path(), &target("cp")], work_dir.path());
    output("cp", &["-a", both.path(), &target("cp-a")], work_dir.path());
    output("rsync", &["-a", &source, &target("rsync")], work_dir.path());
    output(
        "rsync",
        &["-aX", &source, &target("rsync-X")],
        work_dir.path(),
    );
    fs::create_dir(target("tar")).unwrap();
    let archive = target("archive.tar");
    output("tar", &["cf", &archive, "."], both.mount.path());
    output(
        "tar",
        &["xf", &archive, "-C", &target("tar")],
        work_dir.path(),
    );

    for copy in ["cp", "cp-a", "rsync", "rsync-X", "tar"] {
        let copy = PathBuf::from(target(copy));
        assert!(contents(&copy) == original, "{}", copy.display());
        let time = |root: &Path| root.join("big.tdf").metadata().unwrap().modified().unwrap();
        if !copy.ends_with("cp") {
            assert_eq!(time(&copy), time(both.mount.path()), "{}", copy.display());
        }
    }
    // `rsync` has nothing left to copy.
    let again = output(
        "rsync",
        &["-ai", &source, &target("rsync")],
        work_dir.path(),
    );
    assert_eq!(again, "");
    let compared = output("diff", &["-r", both.path(), &target("cp")], work_dir.path());
    assert_eq!(compared, "");
}

#[fuse_test]
fn diff_finds_the_differences_and_nothing_else() {
    let Some(both) = Both::new(&["diff"]) else {
        return;
    };
    fs::write(both.disk.path().join("units/empty.txt"), "changed\n").unwrap();
    let mut command = Command::new("diff");
    command
        .arg("-rq")
        .arg(both.mount.path())
        .arg(both.disk.path());
    let found = command.output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.contains("empty.txt differ"), "{found}");
}

#[fuse_test]
fn archives_of_hpipack_are_mounted_unchanged() {
    let Some(both) = Both::new(&[]) else { return };
    for options in [
        &["--format", "ta", "--method", "lz77", "--key", "0x7D"][..],
        &["--format", "ta", "--method", "zlib"],
        &["--format", "kingdoms", "--method", "zlib"],
        &["--format", "kingdoms", "--method", "stored"],
    ] {
        let work_dir = tempfile::tempdir().unwrap();
        let packed = work_dir.path().join("packed.ufo");
        pack_as(both.disk.path(), &packed, options);
        let again = mounted_files(&[packed], "");
        assert!(
            contents(again.path()) == contents(both.disk.path()),
            "{options:?}"
        );
    }
}

#[fuse_test]
fn an_archive_inside_a_mount_is_mounted_as_well() {
    let inner = V1::new(usual_tree(Method::Zlib)).build().bytes;
    let outer = vec![file(b"totala1.hpi", File::new(inner, Method::Lz77))];
    let outer = mounted(&V1::new(outer).build().bytes, "");
    let inner = mounted_files(&[outer.path().join("TOTALA1.HPI")], "");
    assert!(contents(inner.path()) == expected(&usual_tree(Method::Zlib)));
    drop(inner);
}
