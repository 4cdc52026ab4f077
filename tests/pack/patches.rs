//! Patches of whole files: applied while a disc is read, and written from changes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use tempfile::{TempDir, tempdir};
use testkit::fuse_test;

use fixtures::container_seeds::{cso, zip_with};
use fixtures::disc::Disc;
use hpimount::mount::Ino;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::hpipack::stderr;
use testkit::mount::{hpi, is_installed, run};
use testkit::mounted::few_cases;
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
        let (last, rest) = changes.split_last().unwrap();
        let rest: Vec<_> = rest.iter().map(|name| self.path(name)).collect();
        let mut options = vec!["--force"];
        for path in &rest {
            options.push(path.to_str().unwrap());
        }
        let run = hpi_apply(
            &options,
            &self.path(last),
            &self.path(source),
            &self.path(out),
        );
        assert!(run.status.success(), "{}", stderr(&run));
        self.path(out)
    }

    /// Returns the message about changes that cannot be applied.
    fn refusal(&self, changes: &str, source: &str) -> String {
        let out = self.path("never.iso");
        let run = hpi_apply(&[], &self.path(changes), &self.path(source), &out);
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
fn a_list_of_dumps_names_the_one_that_a_patch_is_for() {
    let work = Work::new();
    work.apply(&["edit"], "disc.iso", "mod.bps");
    let disc = fs::read(work.path("disc.iso")).unwrap();
    let list = format!(
        "<datafile><game name=\"A Game (Europe)\"><rom name=\"game.iso\" size=\"{}\" \
         crc=\"{:08x}\"/></game></datafile>",
        disc.len(),
        crc32fast::hash(&disc)
    );
    fs::write(work.path("list.dat"), list).unwrap();
    fs::write(work.path("other.iso"), [&disc[..], &[0; 2048]].concat()).unwrap();
    let mut program = hpi("check");
    program.arg("--dat").arg(work.path("list.dat"));
    program.arg("--apply").arg(work.path("mod.bps"));
    let ran = program.arg(work.path("other.iso")).output().unwrap();
    let told = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
    assert!(!ran.status.success());
    let expected = "; it is for \"game.iso\" of \"A Game (Europe)\"";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn hpipack_compares_all_of_the_original() {
    let work = Work::new();
    let mut bytes = fs::read(work.path("disc.iso")).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(work.path("other.iso"), bytes).unwrap();
    for patch in ["mod.bps", "mod.xdelta"] {
        work.apply(&["edit"], "disc.iso", patch);
        let text = work.refusal(patch, "other.iso");
        assert!(text.contains("other.iso"), "{text}");
    }
}

#[test]
fn a_change_inside_an_archive_makes_a_small_patch() {
    let work = Work::new();
    let mut outer = Disc::default();
    outer.file("INNER.ISO", &fs::read(work.path("disc.iso")).unwrap());
    fs::write(work.path("outer.iso"), outer.iso()).unwrap();
    write(&work.path("inside"), "INNER.ISO.d/README.TXT", b"changed");
    let result = work.apply(&["inside"], "outer.iso", "result.iso");
    let patch = work.apply(&["inside"], "outer.iso", "mod.xdelta");
    let length = fs::metadata(patch).unwrap().len();
    assert!(length < 10_000, "{length} bytes");
    assert!(is_same(
        &work.apply(&["mod.xdelta"], "outer.iso", "again.iso"),
        &result
    ));
}

#[test]
fn a_patch_of_one_track_leaves_the_other_tracks_as_they_are() {
    let work = Work::new();
    let mut disc = Disc::default();
    disc.file("README.TXT", &[b'a'; 1000]);
    let data = disc.raw();
    let audio = fixtures::noise(5, 2352 * 20);
    let sheet = "FILE \"one.bin\" BINARY\n  TRACK 01 MODE2/2352\n    INDEX 01 00:00:00\n\
                 FILE \"two.bin\" BINARY\n  TRACK 02 AUDIO\n    INDEX 01 00:00:00\n";
    fs::write(work.path("disc.cue"), sheet).unwrap();
    fs::write(work.path("one.bin"), &data).unwrap();
    fs::write(work.path("two.bin"), &audio).unwrap();
    // The same disc with another text, as raw sectors.
    write(&work.path("text"), "README.TXT", &[b'b'; 1000]);
    work.apply(&["text"], "one.bin", "new.bin");
    for patch in ["mod.xdelta", "mod.bps"] {
        work.apply(&["text"], "one.bin", patch);
        let mounted = open_changed(&work.path("disc.cue"), &work.path(patch)).unwrap();
        assert_eq!(read_at(&mounted, "README.TXT"), [b'b'; 1000], "{patch}");
        let image = read_at(&mounted, "disc.bin");
        assert!(image.ends_with(&audio), "{patch}");
        assert!(
            image.starts_with(&fs::read(work.path("new.bin")).unwrap()),
            "{patch}"
        );
    }
    fs::remove_file(work.path("one.bin")).unwrap();
    let text = open_changed(&work.path("disc.cue"), &work.path("mod.xdelta"))
        .err()
        .unwrap();
    assert!(text.contains("one.bin"), "{text}");
}

#[test]
fn a_patch_that_is_changed_while_it_is_mounted_is_not_read_any_more() {
    let work = Work::new();
    let patch = work.apply(&["edit"], "disc.iso", "mod.xdelta");
    let mounted = open_changed(&work.path("disc.iso"), &patch).unwrap();
    let mut bytes = fs::read(&patch).unwrap();
    let end = bytes.len() - 1;
    bytes[end / 2] ^= 1;
    fs::write(&patch, bytes).unwrap();
    let attr = mounted.lookup(Ino::ROOT, "NEW.BIN").unwrap();
    assert!(mounted.read(attr.ino, 0, 4096).is_err());
}

#[test]
fn several_patches_share_the_memory_of_a_small_cache() {
    let work = Work::new();
    write(&work.path("later"), "README.TXT", b"changed again");
    work.apply(&["edit"], "disc.iso", "one.xdelta");
    work.apply(&["edit"], "disc.iso", "one.iso");
    work.apply(&["later"], "one.iso", "two.xdelta");
    let mut program = hpi("check");
    program.args(["-o", "cachesize=16M"]);
    for patch in ["one.xdelta", "two.xdelta"] {
        program.arg("--apply").arg(work.path(patch));
    }
    let run = program.arg(work.path("disc.iso")).output().unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
}

#[test]
fn several_patches_share_the_space_for_decoded_sections() {
    if !is_installed("xdelta3") {
        return skip::skip("xdelta3 is not installed");
    }
    let work = Work::new();
    fs::copy(work.path("disc.iso"), work.path("0.iso")).unwrap();
    for number in 1..=2 {
        let (old, new) = (format!("{}.iso", number - 1), format!("{number}.iso"));
        let edit = format!("edit{number}");
        let letters = fixtures::noise(number, 100_000).into_iter();
        let letters: Vec<u8> = letters.map(|byte| b'0' + byte % 64).collect();
        write(&work.path(&edit), &format!("NEW{number}.TXT"), &letters);
        work.apply(&[&edit], &old, &new);
        let mut program = Command::new("xdelta3");
        program.args(["-e", "-S", "lzma", "-s"]);
        let paths = [old, new, format!("{number}.xdelta")].map(|name| work.path(&name));
        assert!(program.args(paths).status().unwrap().success());
    }
    let check = |space: &str, patches: &[&str]| {
        let mut program = hpi("check");
        program.args(["-o", &format!("spoolsize={space}")]);
        for patch in patches {
            program.arg("--apply").arg(work.path(patch));
        }
        run(program.arg(work.path("disc.iso")))
    };
    assert_eq!(check("150K", &["1.xdelta"]).code, Some(0));
    assert_eq!(check("300K", &["1.xdelta", "2.xdelta"]).code, Some(0));
    let refused = check("150K", &["1.xdelta", "2.xdelta"]);
    assert!(refused.stdout.contains("(spoolsize)"), "{refused:?}");
}

/// Returns a VCDIFF patch. Its only window has some bytes, and then the stated number
/// of pairs, too many to be kept as ranges. `adler` is the checksum of the window, if
/// any.
fn with_pairs(bytes: &[u8], pairs: usize, adler: Option<u32>) -> Vec<u8> {
    let number = |value: usize| -> Vec<u8> {
        let groups = (0..5)
            .rev()
            .map(|group| (value >> (7 * group)) as u8 & 0x7F);
        let (last, rest) = (value as u8 & 0x7F, groups.take(4));
        rest.map(|group| group | 0x80)
            .skip_while(|&group| group == 0x80)
            .chain([last])
            .collect()
    };
    // Each pair repeats a different byte.
    let data = [bytes, &fixtures::noise(5, pairs)].concat();
    let instructions = [vec![1], number(bytes.len()), [0, 2].repeat(pairs)].concat();
    let window = [
        number(bytes.len() + 2 * pairs),
        vec![0],
        number(data.len()),
        number(instructions.len()),
        number(0),
        adler.map_or(Vec::new(), |adler| adler.to_be_bytes().to_vec()),
        data,
        instructions,
    ]
    .concat();
    let flags = if adler.is_some() { 4 } else { 0 };
    [
        b"\xD6\xC3\xC4\0\0".to_vec(),
        vec![flags],
        number(window.len()),
        window,
    ]
    .concat()
}

#[test]
fn a_cache_without_room_for_a_window_of_a_patch_is_refused() {
    let work = Work::new();
    let disc = fs::read(work.path("disc.iso")).unwrap();
    let patch = work.path("dense.xdelta");
    fs::write(&patch, with_pairs(&disc, 1 << 20, None)).unwrap();
    let enough = open_changed(&work.path("disc.iso"), &patch).unwrap();
    assert_eq!(read_at(&enough, "README.TXT"), b"original");
    let refused = |size: &str, reason: &str| {
        let mut program = hpi("check");
        program.args(["-o", size, "--apply"]);
        let refused = run(program.arg(&patch).arg(work.path("disc.iso")));
        assert_ne!(refused.code, Some(0));
        assert!(refused.stdout.contains(reason), "{refused:?}");
    };
    let no_room = "not checked: the plan of the changes needs ";
    refused("cachesize=3M", no_room);

    // Before a window is decoded, which would detect the wrong checksum.
    fs::write(&patch, with_pairs(&disc, 1 << 20, Some(1))).unwrap();
    refused("cachesize=16M", "Adler-32");
    refused("cachesize=3M", no_room);
}

#[test]
fn a_patch_without_a_checksum_is_applied_with_a_warning() {
    let work = Work::new();
    work.apply(&["edit"], "disc.iso", "mod.ips");
    let out = work.path("out.iso");
    let run = hpi_apply(&[], &work.path("mod.ips"), &work.path("disc.iso"), &out);
    let expected = "mod.ips: has no checksum; nothing says that disc.iso is its original";
    assert!(stderr(&run).contains(expected), "{}", stderr(&run));
}

#[test]
fn changes_that_a_format_of_patches_cannot_express_are_refused() {
    let work = Work::new();
    let text = |out: &str, changes: &str| {
        let run = hpi_apply(
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
    write(&work.path("large"), "LARGE.BIN", &vec![1; 17 << 20]);
    let problem = text("mod.ips", "large");
    assert!(problem.contains("mod.ips: IPS "), "{problem}");
    let out = work.path("mod.ups");
    let run = hpi_apply(&[], &work.path("edit"), &work.path("disc.iso"), &out);
    assert!(
        stderr(&run).contains("UPS patches are not written"),
        "{}",
        stderr(&run)
    );
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
        let mut program = hpi("check");
        program.arg("--apply").arg(&patch);
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

/// Files by their paths on a disc.
type Files = Vec<(&'static str, Vec<u8>)>;

/// Returns a strategy for some files of a disc: noise, zeros, and the same again.
fn files() -> impl Strategy<Value = Files> {
    let names = select(vec!["A.BIN", "B.BIN", "D/C.BIN", "D/D.BIN", "D/E/F.BIN"]);
    let lengths = prop_oneof![0_usize..5000, Just(70_001)];
    let file = (names, 0_u64..3, lengths).prop_map(|(name, seed, length)| {
        let bytes = match seed {
            0 => vec![0; length],
            seed => fixtures::noise(seed, length),
        };
        (name, bytes)
    });
    vec(file, 1..5)
}

/// A program that others wrote, which applies patches.
struct Other {
    program: OsString,
    arguments: &'static [&'static str],
    /// True if the patch comes before the original.
    is_patch_first: bool,
}

impl Other {
    /// Returns the installed programs for each format.
    fn installed() -> Vec<(&'static str, Self)> {
        let mut found = Vec::new();
        if skip::possible(is_installed("xdelta3"), "needs xdelta3") {
            let xdelta3 = Self {
                program: "xdelta3".into(),
                arguments: &["-d", "-f", "-s"],
                is_patch_first: false,
            };
            found.push(("xdelta", xdelta3));
        }
        match std::env::var_os("FLIPS") {
            Some(flips) => found.extend(["bps", "ips"].map(|format| {
                let flips = Self {
                    program: flips.clone(),
                    arguments: &[],
                    is_patch_first: true,
                };
                (format, flips)
            })),
            None => skip::skip("needs Flips, which scripts/test --foreign builds"),
        }
        found
    }

    fn apply(&self, patch: &Path, original: &Path, out: &Path) {
        let mut files = [original, patch];
        if self.is_patch_first {
            files.reverse();
        }
        let mut program = Command::new(&self.program);
        program.args(self.arguments).args(files).arg(out);
        assert!(program.status().unwrap().success(), "{program:?}");
    }
}

#[test]
fn patches_of_random_discs_give_the_result_also_by_other_programs() {
    let others = Other::installed();
    let mut runner = TestRunner::new(few_cases());
    let ran = runner.run(&(files(), files()), |(old, new)| {
        let work = Work(tempdir().unwrap());
        let mut disc = Disc::default();
        disc.file("KEPT.BIN", b"kept");
        for (path, bytes) in &old {
            disc.file(path, bytes);
        }
        fs::write(work.path("disc.iso"), disc.iso()).unwrap();
        write(&work.path("edit"), "KEPT.BIN", b"changed");
        for (path, bytes) in &new {
            write(&work.path("edit"), path, bytes);
        }
        let result = fs::read(work.apply(&["edit"], "disc.iso", "result.iso")).unwrap();
        for extension in ["xdelta", "bps", "ppf", "ips"] {
            let patch = work.apply(&["edit"], "disc.iso", &format!("mod.{extension}"));
            let vfs = open_changed(&work.path("disc.iso"), &patch).unwrap();
            prop_assert!(read_at(&vfs, "disc.iso") == result, "{extension}");
            for (_, other) in others.iter().filter(|(format, _)| *format == extension) {
                let decoded = work.path("decoded.iso");
                other.apply(&patch, &work.path("disc.iso"), &decoded);
                prop_assert!(fs::read(&decoded).unwrap() == result, "{extension}");
            }
        }
        Ok(())
    });
    ran.unwrap();
}
