//! Riivolution's mods and Dolphin's game mod descriptors as changes of a GameCube disc.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::{TempDir, tempdir};

use fixtures::container_seeds::{gcm, gcz};
use fixtures::disc::Disc;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::hpipack::{hpipack, stderr};
use testkit::packed::hpipack_replace;
use testkit::sources::{self, json};
use testkit::walked::{self, Walked};

/// The exit code of changes that cannot be applied.
const REFUSED: i32 = 14;

const XML: &str = r#"<wiidisc version="1"><id game="GTS"/>
  <options><section name="Main"><option id="mod" name="Mod" default="1">
    <choice name="Whole"><patch id="whole"/></choice>
    <choice name="Part"><patch id="part"/></choice>
  </option></section></options>
  <patch id="whole">
    <file disc="/a.txt" external="/mod/a.txt"/>
    <folder disc="/new" external="/mod/new" create="true"/>
    <memory value="00"/>
  </patch>
  <patch id="part"><file disc="/a.txt" external="/mod/a.txt" offset="4" resize="false"/></patch>
</wiidisc>"#;

/// A disc, and an SD card with a mod.
struct Work(TempDir);

impl Work {
    fn new() -> Self {
        let work = Self(tempdir().unwrap());
        fs::write(work.path("disc.gcm"), gcm()).unwrap();
        for (path, text) in [
            ("sd/riivolution/mod.xml", XML),
            ("sd/mod/a.txt", "REPLACED"),
            ("sd/mod/new/b.txt", "new"),
        ] {
            write(work.0.path(), path, text.as_bytes());
        }
        work
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns a file of the disc with these changes.
    fn file(&self, changes: &str, path: &str) -> String {
        let vfs = open_changed(&self.path("disc.gcm"), &self.path(changes)).unwrap();
        String::from_utf8(read_at(&vfs, path)).unwrap()
    }

    /// Returns the message about changes that cannot be applied.
    fn refusal(&self, changes: &str) -> String {
        let out = self.path("never.gcm");
        let run = hpi_apply(&[], &self.path(changes), &self.path("disc.gcm"), &out);
        assert_eq!(run.status.code(), Some(REFUSED), "{}", stderr(&run));
        stderr(&run)
    }
}

#[test]
fn the_files_of_the_chosen_option_are_on_the_disc() {
    let work = Work::new();
    let original = open_changed(&work.path("disc.gcm"), &work.path("sd/none"));
    assert!(original.is_err());
    assert_eq!(
        work.file("sd/riivolution/mod.xml", "files/a.txt"),
        "REPLACED"
    );
    assert_eq!(
        work.file("sd/riivolution/mod.xml", "files/new/b.txt"),
        "new"
    );
    let part = work.file("sd/riivolution/mod.xml#Main/Mod=2", "files/a.txt");
    assert_eq!(part, "GCM REPLACED");
    assert_eq!(
        work.file("sd/riivolution/mod.xml#mod=2", "files/a.txt"),
        part
    );
}

#[test]
fn a_descriptor_of_dolphin_chooses_for_its_mods() {
    let work = Work::new();
    let descriptor = r#"{"type": "dolphin-game-mod-descriptor", "version": 1, "riivolution":
        {"patches": [{"xml": "sd/riivolution/mod.xml", "root": "sd",
        "options": [{"section-name": "Main", "option-name": "Mod", "choice": 2}]}]}}"#;
    fs::write(work.path("mod.json"), descriptor).unwrap();
    assert_eq!(work.file("mod.json", "files/a.txt"), "GCM REPLACED");
    assert_eq!(work.file("mod.json#mod=1", "files/a.txt"), "REPLACED");
}

#[test]
fn a_disc_with_a_mod_is_written_as_an_image_and_as_a_patch() {
    let work = Work::new();
    let (disc, xml) = (work.path("disc.gcm"), work.path("sd/riivolution/mod.xml"));
    let apply = |changes: &str, out: &str| {
        let run = hpi_apply(&[], &work.path(changes), &disc, &work.path(out));
        assert!(run.status.success(), "{}", stderr(&run));
        stderr(&run)
    };
    assert!(xml.exists());
    let told = apply("sd/riivolution/mod.xml", "result.gcm");
    assert!(told.contains("mod.xml: <memory> is ignored (1)"), "{told}");
    apply("sd/riivolution/mod.xml", "mod.bps");
    apply("mod.bps", "again.gcm");
    let [result, again] =
        ["result.gcm", "again.gcm"].map(|name| fs::read(work.path(name)).unwrap());
    assert!(result == again);
}

#[test]
fn a_mod_that_does_nothing_or_is_for_another_disc_says_so() {
    let work = Work::new();
    let text = work.refusal("sd/riivolution/mod.xml#Main/Mod=0");
    assert!(
        text.contains("choose an option with `#`, such as Main/Mod=1"),
        "{text}"
    );
    let other = XML.replace("GTS", "GXX");
    fs::write(work.path("sd/riivolution/other.xml"), other).unwrap();
    let text = work.refusal("sd/riivolution/other.xml");
    assert!(
        text.contains("other.xml: is for another game, not GTSTXX"),
        "{text}"
    );
    fs::write(work.path("sd/riivolution/bad.xml"), "<wiidisc>").unwrap();
    assert!(work.refusal("sd/riivolution/bad.xml").contains("bad.xml: "));
    let mut disc = Disc::default();
    fs::write(work.path("disc.gcm"), disc.file("A.TXT", b"a").iso()).unwrap();
    let text = work.refusal("sd/riivolution/mod.xml");
    assert!(text.contains("mods are for GameCube discs"), "{text}");
}

/// Changes of the disc that a mod can express.
fn edit(work: &Work) {
    for (path, text) in [
        ("files/a.txt", "changed, and longer"),
        ("files/new/deep/b.txt", "new"),
        ("files/R&D \"x\".txt", "a name with marks of XML"),
    ] {
        write(&work.path("edit"), path, text.as_bytes());
    }
}

#[test]
fn changes_become_a_mod_that_gives_the_same_files() {
    let work = Work::new();
    edit(&work);
    let images = [("disc.gcm", gcm()), ("disc.gcz", gcz(&gcm(), 4096))];
    for (source, bytes) in images {
        fs::write(work.path(source), bytes).unwrap();
        let out = work.path("out.riivolution");
        let run = hpi_apply(&[], &work.path("edit"), &work.path(source), &out);
        assert!(run.status.success(), "{}", stderr(&run));
        let descriptor = json(&out.join("out.json"));
        let base = out.join(descriptor["base-file"].as_str().unwrap());
        assert_eq!(
            base.canonicalize().unwrap(),
            work.path(source).canonicalize().unwrap()
        );
        assert!(!out.join("out/files/bb").exists(), "holds what is the same");
        let files = |changes: &str| {
            let disc = work.path("disc.gcm");
            walked::files(&open_changed(&disc, &work.path(changes)).unwrap())
        };
        let expected = files("edit");
        for written in ["out.json", "riivolution/out.xml"] {
            let found = files(&format!("out.riivolution/{written}"));
            let names =
                |files: &BTreeMap<String, Walked>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&found), names(&expected));
            for (path, file) in &expected {
                let is_table = ["sys/boot.bin", "sys/fst.bin"].contains(&&**path);
                assert!(is_table || found[path] == *file, "{path}");
            }
        }
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn a_patch_becomes_a_mod() {
    let work = Work::new();
    edit(&work);
    let apply = |changes: &str, out: &str| {
        let disc = work.path("disc.gcm");
        let run = hpi_apply(&[], &work.path(changes), &disc, &work.path(out));
        assert!(run.status.success(), "{}", stderr(&run));
    };
    apply("edit", "mod.bps");
    apply("edit", "one.riivolution");
    apply("mod.bps", "two.riivolution");
    let [one, two] = ["one", "two"].map(|name| {
        let folder = work.path(&format!("{name}.riivolution/{name}/files"));
        walked::files_below(&folder)
    });
    assert_eq!(one, two);
    assert_eq!(one.len(), 3);
}

#[test]
fn what_a_mod_cannot_express_is_refused_by_name_and_nothing_is_left() {
    let work = Work::new();
    let refusal = |source: &str| {
        let out = work.path("out.riivolution");
        let run = hpi_apply(&[], &work.path("edit"), &work.path(source), &out);
        assert_eq!(run.status.code(), Some(REFUSED), "{}", stderr(&run));
        assert!(!out.exists());
        stderr(&run)
    };
    write(&work.path("edit"), "files/.wh.a.txt", b"");
    write(&work.path("edit"), "files/bb/c.HIP", b"changed");
    write(&work.path("edit"), "sys/bi2.bin", &[1; 0x2000]);
    let text = refusal("disc.gcm");
    assert!(text.contains("files/a.txt: is deleted"), "{text}");
    assert!(text.contains("sys/bi2.bin: is neither in files/"), "{text}");
    assert!(!text.contains("c.HIP"), "{text}");

    let mut disc = Disc::default();
    fs::write(work.path("disc.iso"), disc.file("A.TXT", b"a").iso()).unwrap();
    fs::remove_dir_all(work.path("edit")).unwrap();
    write(&work.path("edit"), "A.TXT", b"b");
    let text = refusal("disc.iso");
    assert!(text.contains("are for GameCube discs"), "{text}");

    fs::remove_dir_all(work.path("edit")).unwrap();
    write(&work.path("edit"), "files/a.txt", b"GCM txt");
    assert!(refusal("disc.gcm").contains("nothing has changed"));
    write(&work.path("edit"), "files/a.txt", b"b");
    write(&work.path("out.riivolution"), "mine", b"mine");
    let out = work.path("out.riivolution");
    let run = hpi_apply(&[], &work.path("edit"), &work.path("disc.gcm"), &out);
    assert_eq!(run.status.code(), Some(20), "{}", stderr(&run));
    assert!(stderr(&run).contains("is not empty"), "{}", stderr(&run));
    assert!(out.join("mine").exists());
}

#[test]
fn empty_directories_that_a_mod_cannot_express_are_refused() {
    let work = Work::new();
    let apply = |edit: &str, disc: &str, out: &str| {
        hpi_apply(&[], &work.path(edit), &work.path(disc), &work.path(out))
    };
    write(&work.path("edit"), "files/a.txt", b"changed");
    fs::create_dir(work.path("edit/files/empty")).unwrap();
    let run = apply("edit", "disc.gcm", "with.gcm");
    assert!(run.status.success(), "{}", stderr(&run));
    write(&work.path("delete"), "files/a.txt", b"changed again");
    write(&work.path("delete"), "files/.wh.empty", b"");
    for (edit, disc, problem) in [
        ("edit", "disc.gcm", "files/empty: is a new empty directory"),
        ("delete", "with.gcm", "files/empty: is deleted"),
    ] {
        let run = apply(edit, disc, "out.riivolution");
        assert_eq!(run.status.code(), Some(REFUSED), "{}", stderr(&run));
        assert!(stderr(&run).contains(problem), "{}", stderr(&run));
    }
    // A directory with a file is made with it.
    write(&work.path("edit"), "files/empty/b.txt", b"new");
    let run = apply("edit", "disc.gcm", "out.riivolution");
    assert!(run.status.success(), "{}", stderr(&run));
}

#[test]
fn a_mod_that_exceeds_the_limit_of_file_sizes_is_an_error_and_nothing_is_left() {
    let work = Work::new();
    write(&work.path("edit"), "files/a.txt", &[1; 100_000]);
    let out = work.path("out.riivolution");
    let run = Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$@\"", "sh"])
        .args([env!("CARGO_BIN_EXE_hpi"), "apply"])
        .args([&work.path("edit"), &work.path("disc.gcm"), &out])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(20), "{}", stderr(&run));
    assert!(stderr(&run).contains("File too large"), "{}", stderr(&run));
    let names = fs::read_dir(work.path("")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["disc.gcm", "edit", "sd"]);
}

#[test]
fn patches_and_mods_are_written_with_apply_only() {
    let work = tempdir().unwrap();
    let path = |name: &str| work.path().join(name);
    write(work.path(), "files/a.txt", b"old");
    fs::write(path("new.txt"), b"new").unwrap();
    sources::pack(&path("files"), &path("in.hpi"));
    for name in ["out.riivolution", "out.bps"] {
        let out = path(name);
        for run in [
            hpipack_replace(&[], &[("a.txt", &path("new.txt"))], &path("in.hpi"), &out),
            hpipack(&[], &path("files"), &out),
        ] {
            assert_eq!(run.status.code(), Some(20), "{}", stderr(&run));
            let text = stderr(&run);
            assert!(text.contains("are written by `hpi apply` only"), "{text}");
            assert!(!out.exists());
        }
    }
}
