//! Patches of whole files: applied while a disc is read, and written from changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{TempDir, tempdir};
use testkit::fuse_test;

use fixtures::container_seeds::{cso, zip_with};
use fixtures::disc::Disc;
use testkit::applied::{hpipack_apply, open_changed, read_at, write};
use testkit::hpipack::stderr;
use testkit::mount::{hpimount, is_installed};
use testkit::skip;
use testkit::sources::file;

/// The exit code of changes that cannot be applied.
const REFUSED: i32 = 14;

/// A disc, and a folder with changes of it.
struct Work(TempDir);

impl Work {
    fn new() -> Self {
        let work = Self(tempdir().unwrap());
        let mut disc = Disc::default();
        disc.file("README.TXT", b"original");
        disc.file("DATA/BIG.BIN", &fixtures::noise(3, 200_000));
        fs::write(work.path("disc.iso"), disc.iso()).unwrap();
        write(&work.path("edit"), "README.TXT", b"changed");
        write(&work.path("edit"), "NEW.BIN", &fixtures::noise(7, 70_000));
        work
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the result of changes of a source, and returns its path.
    fn apply(&self, changes: &[&str], source: &str, out: &str) -> PathBuf {
        let (first, rest) = changes.split_first().unwrap();
        let rest: Vec<_> = rest.iter().map(|name| self.path(name)).collect();
        let mut options = vec!["--force"];
        for path in &rest {
            options.extend(["--apply", path.to_str().unwrap()]);
        }
        let run = hpipack_apply(
            &options,
            &self.path(first),
            &self.path(source),
            &self.path(out),
        );
        assert!(run.status.success(), "{}", stderr(&run));
        self.path(out)
    }

    /// Returns the message about changes that cannot be applied.
    fn refusal(&self, changes: &str, source: &str) -> String {
        let out = self.path("never.iso");
        let run = hpipack_apply(&[], &self.path(changes), &self.path(source), &out);
        assert_eq!(run.status.code(), Some(REFUSED), "{}", stderr(&run));
        assert!(!out.exists());
        stderr(&run)
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    fs::read(one).unwrap() == fs::read(other).unwrap()
}

#[test]
fn changes_that_are_written_as_a_patch_give_the_same_result() {
    let work = Work::new();
    let result = work.apply(&["edit"], "disc.iso", "result.iso");
    for extension in ["xdelta", "bps", "ppf", "ips"] {
        let patch = format!("mod.{extension}");
        let length = fs::metadata(work.apply(&["edit"], "disc.iso", &patch))
            .unwrap()
            .len();
        assert!(length < 80_000, "{patch} has {length} bytes");
        let again = work.apply(&[&patch], "disc.iso", "again.iso");
        assert!(is_same(&again, &result), "{patch}");
    }
}

#[test]
fn programs_for_patches_apply_what_is_written() {
    if !is_installed("xdelta3") {
        return skip::skip("xdelta3 is not installed");
    }
    let work = Work::new();
    let result = work.apply(&["edit"], "disc.iso", "result.iso");
    let patch = work.apply(&["edit"], "disc.iso", "mod.xdelta");
    let decoded = work.path("decoded.iso");
    let mut program = Command::new("xdelta3");
    program.args(["-d", "-s"]).arg(work.path("disc.iso"));
    assert!(program.arg(patch).arg(&decoded).status().unwrap().success());
    assert!(is_same(&decoded, &result));
    // And theirs are applied by us.
    let theirs = work.path("theirs.xdelta");
    let mut program = Command::new("xdelta3");
    program.args(["-e", "-s"]).arg(work.path("disc.iso"));
    assert!(program.arg(&result).arg(theirs).status().unwrap().success());
    assert!(is_same(
        &work.apply(&["theirs.xdelta"], "disc.iso", "again.iso"),
        &result
    ));
}

#[test]
fn folders_and_patches_are_applied_one_after_the_other_and_become_one_patch() {
    let work = Work::new();
    write(
        &work.path("later"),
        "README.TXT",
        b"changed again, and longer",
    );
    work.apply(&["edit"], "disc.iso", "mod.bps");
    for changes in [&["mod.bps", "later"][..], &["edit", "later"]] {
        let result = work.apply(changes, "disc.iso", "result.iso");
        work.apply(changes, "disc.iso", "both.xdelta");
        let again = work.apply(&["both.xdelta"], "disc.iso", "again.iso");
        assert!(is_same(&again, &result), "{changes:?}");
        let mounted = open_changed(&again, &work.path("later")).unwrap();
        assert_eq!(
            read_at(&mounted, "README.TXT"),
            b"changed again, and longer"
        );
    }
}

#[test]
fn a_patch_is_made_for_the_plain_image_of_a_compressed_disc() {
    let work = Work::new();
    let plain = fs::read(work.path("disc.iso")).unwrap();
    fs::write(work.path("disc.cso"), cso(&plain)).unwrap();
    let result = work.apply(&["edit"], "disc.iso", "result.iso");
    work.apply(&["edit"], "disc.iso", "of_iso.xdelta");
    let of_cso = work.apply(&["edit"], "disc.cso", "of_cso.xdelta");
    assert!(is_same(
        &work.apply(&["of_iso.xdelta"], "disc.cso", "one.iso"),
        &result
    ));
    assert!(is_same(
        &work.apply(&["of_cso.xdelta"], "disc.iso", "two.iso"),
        &result
    ));
    let mounted = open_changed(&work.path("disc.cso"), &of_cso).unwrap();
    assert_eq!(read_at(&mounted, "README.TXT"), b"changed");
    assert_eq!(
        read_at(&mounted, ".hpimount/image/disc.iso"),
        fs::read(result).unwrap()
    );
    let info: serde_json::Value =
        serde_json::from_slice(&read_at(&mounted, ".hpimount/info.json")).unwrap();
    assert_eq!(info["applied"]["patches"][0]["name"], "of_cso.xdelta");
    assert_eq!(info["applied"]["patches"][0]["checked"], "one window");
}

#[test]
fn a_file_that_is_not_the_original_is_named_with_what_the_patch_is_for() {
    let work = Work::new();
    let result = work.apply(&["edit"], "disc.iso", "result.iso");
    work.apply(&["edit"], "disc.iso", "mod.bps");
    let original = fs::metadata(work.path("disc.iso")).unwrap().len();
    fs::write(work.path("other.iso"), vec![0; 4096]).unwrap();
    let text = work.refusal("mod.bps", "other.iso");
    let expected = format!("mod.bps: made for a file of {original} bytes with CRC-32 ");
    assert!(
        text.contains(&expected) && text.contains("; other.iso has 4096 bytes"),
        "{text}"
    );
    let text = work.refusal("mod.bps", "result.iso");
    assert!(
        text.contains("result.iso is the result of this patch already"),
        "{text}"
    );
    assert!(result.exists());
    fs::write(work.path("none.bps"), b"BPS1").unwrap();
    assert!(work.refusal("none.bps", "disc.iso").contains("none.bps: "));
    fs::write(work.path("text.txt"), b"not a patch").unwrap();
    let text = work.refusal("text.txt", "disc.iso");
    assert!(
        text.contains("text.txt: start at 0x0: is not that of a patch"),
        "{text}"
    );
}

#[test]
fn a_patch_without_a_checksum_is_applied_with_a_warning() {
    let work = Work::new();
    work.apply(&["edit"], "disc.iso", "mod.ips");
    let out = work.path("out.iso");
    let run = hpipack_apply(&[], &work.path("mod.ips"), &work.path("disc.iso"), &out);
    let expected = "mod.ips: has no checksum; nothing says that disc.iso is its original";
    assert!(stderr(&run).contains(expected), "{}", stderr(&run));
}

#[test]
fn changes_that_a_format_of_patches_cannot_express_are_refused() {
    let work = Work::new();
    let text = |out: &str, changes: &str| {
        let run = hpipack_apply(
            &[],
            &work.path(changes),
            &work.path("disc.iso"),
            &work.path(out),
        );
        assert_eq!(run.status.code(), Some(REFUSED));
        assert!(!work.path(out).exists());
        stderr(&run)
    };
    fs::create_dir(work.path("none")).unwrap();
    assert!(text("mod.xdelta", "none").contains("nothing has changed"));
}

#[fuse_test]
fn a_patched_disc_is_mounted_and_a_patch_of_several_sources_is_refused() {
    let work = Work::new();
    work.apply(&["edit"], "disc.iso", "mod.xdelta");
    let patch = work.path("mod.xdelta");
    let mount = file("disc.iso", &fs::read(work.path("disc.iso")).unwrap());
    let mount = mount.mount(&["-o", "verify", "--apply", patch.to_str().unwrap()]);
    assert_eq!(fs::read(mount.file("README.TXT")).unwrap(), b"changed");
    drop(mount);
    fs::write(work.path("a.zip"), zip_with("a.txt", b"a")).unwrap();
    for sources in [&["disc.iso", "a.zip"][..], &["edit"]] {
        let mut program = hpimount();
        program.arg("--check").arg("--apply").arg(&patch);
        let run = program
            .args(sources.iter().map(|name| work.path(name)))
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(REFUSED));
        let expected = "mod.xdelta: is a patch of one file";
        let told = String::from_utf8(run.stdout).unwrap();
        assert!(told.contains(expected), "{told}");
    }
}
