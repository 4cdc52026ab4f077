//! Other programs read the output of `hpi apply`: they find the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::tempdir;

use fixtures::container_seeds as seeds;
use fixtures::noise;
use testkit::applied::{hpi_apply, write};
use testkit::hpipack::stderr;
use testkit::nested::files_alone;
use testkit::programs::run_in;
use testkit::walked::{Walked, files_below};
use testkit::wit;

/// Applies changes to an archive, and returns the result.
fn changed(work: &Path, name: &str, archive: &[u8], changes: &[(&str, &[u8])]) -> PathBuf {
    let original = work.join(name);
    fs::write(&original, archive).unwrap();
    let folder = work.join("changes");
    for (path, bytes) in changes {
        write(&folder, path, bytes);
    }
    let out = work.join(format!("new-{name}"));
    let ran = hpi_apply(&["--quiet"], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    out
}

/// Asserts that programs extract the files that a mount shows. `{}` in an argument is
/// the archive; each extracts to the current directory.
fn are_extracted_alike(archive: &Path, programs: &[&[&str]]) {
    let expected = files_alone(archive);
    assert!(!expected.is_empty());
    for command in programs {
        let out = tempdir().unwrap();
        let archive = archive.to_str().unwrap();
        let arguments: Vec<String> = command[1..]
            .iter()
            .map(|argument| argument.replace("{}", archive))
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if !run_in(out.path(), command[0], &arguments) {
            continue;
        }
        let found: BTreeMap<String, Walked> = files_below(out.path());
        assert_eq!(found, expected, "{command:?}");
    }
}

#[test]
fn the_disc_is_the_same_to_xorriso_7_zip_and_bsdtar() {
    let work = tempdir().unwrap();
    let tree = work.path().join("tree");
    write(&tree, "README.TXT", b"read me");
    write(&tree, "DATA/A.DAT", &noise(1, 5000));
    write(&tree, "DATA/GONE.DAT", &noise(2, 50));
    if !run_in(
        work.path(),
        "genisoimage",
        &["-quiet", "-o", "disc.iso", "tree"],
    ) {
        return;
    }
    let disc = fs::read(work.path().join("disc.iso")).unwrap();
    let changes: [(&str, &[u8]); 4] = [
        ("README.TXT", &noise(3, 9000)),
        ("DATA/NEW.DAT", b"new"),
        ("DATA/.wh.GONE.DAT", b""),
        ("MORE/DEEP/X.DAT", &noise(4, 3000)),
    ];
    let result = changed(work.path(), "a.iso", &disc, &changes);
    are_extracted_alike(
        &result,
        &[
            &["7z", "x", "-y", "{}"],
            &["bsdtar", "-xf", "{}"],
            &[
                "xorriso", "-indev", "{}", "-osirrox", "on", "-extract", "/", ".",
            ],
        ],
    );
}

#[test]
fn xorriso_reads_a_disc_whose_last_sectors_are_a_directory() {
    let work = tempdir().unwrap();
    write(&work.path().join("tree"), "A.TXT", b"a");
    let arguments = ["-quiet", "-o", "disc.iso", "tree"];
    if !run_in(work.path(), "genisoimage", &arguments) {
        return;
    }
    let disc = fs::read(work.path().join("disc.iso")).unwrap();
    let with_sectors = |count: u64| {
        let work = tempdir().unwrap();
        let new = vec![1; count as usize * 2048];
        let result = changed(work.path(), "a.iso", &disc, &[("MORE/NEW.DAT", &new)]);
        (fs::metadata(&result).unwrap().len() / 2048, result, work)
    };
    let (sectors, ..) = with_sectors(1);
    let (_, result, _work) = with_sectors(1 + (32 - sectors % 32));
    let program = [
        "xorriso", "-indev", "{}", "-osirrox", "on", "-extract", "/", ".",
    ];
    are_extracted_alike(&result, &[&program]);
}

#[test]
fn very_many_new_files_have_names_of_their_own_in_both_trees_of_a_disc() {
    const COUNT: usize = 5000;
    let work = tempdir().unwrap();
    write(&work.path().join("tree"), "A.TXT", b"a");
    let arguments = ["-quiet", "-J", "-o", "disc.iso", "tree"];
    if !run_in(work.path(), "genisoimage", &arguments) {
        return;
    }
    let disc = fs::read(work.path().join("disc.iso")).unwrap();
    // The last one has the name of another one in the primary tree.
    let names = (0..COUNT).map(|number| format!("texture number {number:05}.png"));
    let names: Vec<String> = names.chain(["TEXTUR42.PNG".to_owned()]).collect();
    let changes = names.iter().map(|name| (name.as_str(), &b"new"[..]));
    let result = changed(work.path(), "a.iso", &disc, &Vec::from_iter(changes));
    for tree in ["-f", "-J -f"] {
        let script = format!("isoinfo -i \"$1\" {tree} | sed 's/;1$//' > found");
        let arguments = ["-c", &script, "sh", result.to_str().unwrap()];
        assert!(run_in(work.path(), "sh", &arguments));
        let found = fs::read_to_string(work.path().join("found")).unwrap();
        let unique: BTreeSet<&str> = found.lines().collect();
        assert_eq!(found.lines().count(), COUNT + 2, "{tree}");
        assert_eq!(unique.len(), COUNT + 2, "{tree}");
        let is_found = |name: &String| unique.contains(format!("/{name}").as_str());
        assert!(tree == "-f" || names.iter().all(is_found));
    }
}

#[test]
fn the_zip_is_the_same_to_unzip_7_zip_and_bsdtar() {
    let work = tempdir().unwrap();
    let archive = seeds::zip_with("d/f.txt", &noise(1, 900));
    let changes: [(&str, &[u8]); 2] = [("d/f.txt", b"replaced"), ("d/näw.txt", &noise(2, 70_000))];
    let result = changed(work.path(), "a.zip", &archive, &changes);
    are_extracted_alike(
        &result,
        &[
            &["unzip", "-q", "{}"],
            &["7z", "x", "-y", "{}"],
            &["bsdtar", "-xf", "{}"],
        ],
    );
    run_in(work.path(), "unzip", &["-tq", result.to_str().unwrap()]);
}

#[test]
fn members_that_were_deleted_or_replaced_stay_unknown_to_programs_that_scan_a_zip() {
    let work = tempdir().unwrap();
    for name in ["first", "kept", "old", "last"] {
        fs::write(work.path().join(name), name).unwrap();
    }
    let arguments = ["-q", "a.zip", "first", "kept", "old", "last"];
    if !run_in(work.path(), "zip", &arguments) {
        return;
    }
    let archive = fs::read(work.path().join("a.zip")).unwrap();
    let programs: [&[&str]; 3] = [
        &["7z", "x", "-y", "{}"],
        &["unzip", "-q", "{}"],
        &["bsdtar", "-xf", "{}"],
    ];
    let replaced: &[u8] = b"replaced";
    for changes in [
        &[(".wh.first", &b""[..]), ("old", replaced)][..],
        &[("first", replaced), ("kept", replaced)],
        &[
            (".wh.first", b""),
            (".wh.kept", b""),
            ("old", replaced),
            ("last", replaced),
        ],
    ] {
        let work = tempdir().unwrap();
        let result = changed(work.path(), "a.zip", &archive, changes);
        are_extracted_alike(&result, &programs);
        assert!(fs::read(&result).unwrap().starts_with(b"PK\x03\x04"));
    }
}

#[test]
fn a_large_zip_behind_a_program_that_its_offsets_do_not_count_is_read_as_by_unzip() {
    let work = tempdir().unwrap();
    fs::write(work.path().join("first"), noise(1, 3000)).unwrap();
    fs::write(work.path().join("last"), b"last").unwrap();
    // With the records of archives over 4 GiB.
    let script = "zip -qfz a.zip first last && (echo '#!/bin/sh'; cat a.zip) > b.zip";
    if !run_in(work.path(), "sh", &["-c", script]) {
        return;
    }
    let archive = fs::read(work.path().join("b.zip")).unwrap();
    let plain = files_alone(&work.path().join("a.zip"));
    assert_eq!(files_alone(&work.path().join("b.zip")), plain);
    let result = changed(work.path(), "c.zip", &archive, &[("first", b"new")]);
    assert!(fs::read(&result).unwrap().starts_with(b"#!/bin/sh\n"));
    // It warns of the program.
    let unzip = "unzip -q {} || [ $? = 1 ]";
    are_extracted_alike(&result, &[&["sh", "-c", unzip]]);
}

#[test]
fn the_gamecube_disc_is_the_same_to_wit() {
    let work = tempdir().unwrap();
    let changes: [(&str, &[u8]); 2] = [
        ("files/a.txt", &noise(1, 100_000)),
        ("files/bb/new.txt", b"a new file"),
    ];
    let result = changed(work.path(), "a.gcm", &seeds::gcm(), &changes);
    wit::keeps_the_files(&result, &[("ciso", "--ciso"), ("gcz", "--gcz")]);
}
