//! Patches: each case of the samples is opened, applied and verified, and written again in
//! every format.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hpimount_containers::io::{Error as SourceError, ReadAt};
use hpimount_patches::riivolution::{Card, Descriptor, Disc, Entry, Mod, Part, Plan, Selection};
use hpimount_patches::write as patches;
use hpimount_patches::{Error, Extents, Format, Patch, Patched, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shared;
use tempfile::tempdir;
use testkit::applied::{hpi_apply, open_changed, write};
use testkit::files::sha256;
use testkit::hpipack::stderr;
use testkit::mount::{hpi, run};
use testkit::{skip, walked};

/// Results that are longer are only read in part.
const MAX_WHOLE: u64 = 1 << 28;

/// A source that is computed: zeros, with blocks of noise or of words.
struct Recipe {
    len: u64,
    blocks: Vec<(u64, Vec<u8>)>,
}

impl Recipe {
    fn new(recipe: &Value) -> Self {
        let blocks = recipe["blocks"].as_array().unwrap().iter().map(|block| {
            let number = |index: usize| block[index].as_u64().unwrap();
            let seed = match &block[2] {
                Value::String(seed) => seed.clone(),
                other => other.to_string(),
            };
            (number(0), noise(&seed, number(1) as usize))
        });
        Self {
            len: recipe["size"].as_u64().unwrap(),
            blocks: blocks.collect(),
        }
    }
}

impl ReadAt for Recipe {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.check_end(buf.len(), offset)?;
        buf.fill(0);
        for (start, bytes) in &self.blocks {
            let from = offset.max(*start);
            let to = (offset + buf.len() as u64).min(start + bytes.len() as u64);
            if from < to {
                let piece = &bytes[(from - start) as usize..(to - start) as usize];
                buf[(from - offset) as usize..][..piece.len()].copy_from_slice(piece);
            }
        }
        Ok(())
    }
}

/// Returns the noise of a seed: hashes of numbers; with a seed of `text…` words that the
/// hashes choose.
fn noise(seed: &str, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let words = (0..300).map(|number| {
        let hash = sha256(number.to_string().as_bytes());
        hash.as_bytes()[..3 + number % 7].to_vec()
    });
    let words: Vec<Vec<u8>> = words.collect();
    for number in 0.. {
        if bytes.len() >= length {
            break;
        }
        let hash = Sha256::digest(format!("{seed}/{number}"));
        match seed.starts_with("text") {
            true => hash.iter().for_each(|byte| {
                bytes.extend(&words[usize::from(*byte)]);
                bytes.push(b' ');
            }),
            false => bytes.extend(hash),
        }
    }
    bytes.truncate(length);
    bytes
}

fn cases(list: &str) -> Option<Vec<Value>> {
    let list = fs::read(shared(&format!("samples/patches/{list}"))?).unwrap();
    Some(serde_json::from_slice(&list).unwrap())
}

fn original(case: &Value) -> Arc<dyn ReadAt> {
    match case["source"]["file"].as_str() {
        Some(file) => Arc::new(fs::read(shared(file).unwrap()).unwrap()),
        None => Arc::new(Recipe::new(&case["source"]["recipe"])),
    }
}

fn patch_of(case: &Value) -> Vec<u8> {
    fs::read(shared(case["patch"].as_str().unwrap()).unwrap()).unwrap()
}

/// Opens and applies a patch, and compares all checksums unless the result is very long.
fn apply(patch: Vec<u8>, original: &Arc<dyn ReadAt>) -> Result<Arc<Patched>> {
    let patch = Patch::open(Arc::new(patch))?;
    patch.check(original)?;
    let patched = patch.apply(original.clone())?;
    if patched.len() <= MAX_WHOLE {
        patched.verify()?;
    }
    Ok(Arc::new(patched))
}

fn verdict(applied: &Result<Arc<Patched>>) -> &'static str {
    match applied {
        Ok(patched) if patched.len() > MAX_WHOLE => "bomb",
        Ok(_) => "ok",
        Err(Error::WrongOriginal(_)) => "wrong",
        Err(Error::Source(SourceError::Unsupported(_))) => "refused",
        Err(Error::Source(SourceError::Damaged { .. })) => "bad",
        Err(_) => "another error",
    }
}

fn read(source: &dyn ReadAt, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    source.read_exact_at(&mut bytes, offset).unwrap();
    bytes
}

/// Reads ranges that are independent of parts and windows.
fn assert_ranges(patched: &Patched, whole: &[u8], name: &str) {
    for length in [1_usize, 7, 4097, 70_001] {
        let starts = (0..whole.len()).step_by(whole.len().div_ceil(25).max(1));
        for start in starts {
            let length = length.min(whole.len() - start);
            let found = read(patched, start as u64, length);
            assert!(
                found == whole[start..start + length],
                "{name}: {start} {length}"
            );
        }
    }
}

/// Writes extents in each format that supports them, and returns the patches.
fn written(extents: &Extents, original: &dyn ReadAt) -> Vec<(Format, Vec<u8>)> {
    let xdelta = |checksums| {
        let mut patch = Vec::new();
        let options = patches::VcdiffOptions {
            names: Some(("new.bin", "old.bin")),
            has_checksums: checksums,
        };
        patches::xdelta(extents, original, options, &mut patch).map(|()| (Format::Vcdiff, patch))
    };
    let of = |format, write: fn(&Extents, &dyn ReadAt, &mut dyn io::Write) -> Result<()>| {
        let mut patch = Vec::new();
        write(extents, original, &mut patch).map(|()| (format, patch))
    };
    let all = [
        xdelta(true),
        xdelta(false),
        of(Format::Bps, patches::bps),
        of(Format::Ppf, patches::ppf),
        of(Format::Ips, patches::ips),
    ];
    let possible = all.into_iter().filter_map(|patch| match patch {
        Err(Error::Limit { .. } | Error::Unchanged) => None,
        other => Some(other.unwrap()),
    });
    possible.collect()
}

#[test]
fn each_patch_gives_its_result_or_its_verdict() {
    for list in ["cases.json", "hostile.json"] {
        let Some(cases) = cases(list) else { return };
        for case in cases {
            let name = case["name"].as_str().unwrap();
            let original = original(&case);
            let applied = apply(patch_of(&case), &original);
            let found = verdict(&applied);
            let error = applied.as_ref().err().map(ToString::to_string);
            assert_eq!(
                found,
                case["verdict"].as_str().unwrap(),
                "{name}: {error:?}"
            );
            let Ok(patched) = applied else { continue };
            if found == "bomb" {
                // The end is read without the bytes before it.
                read(&*patched, patched.len() - 9, 9);
                continue;
            }
            let whole = read(&*patched, 0, patched.len() as usize);
            assert_eq!(sha256(&whole), case["target"]["sha256"], "{name}");
            assert_ranges(&patched, &whole, name);
        }
    }
}

#[test]
fn each_result_is_written_in_every_format_as_small_as_the_changes() {
    let Some(cases) = cases("cases.json") else {
        return;
    };
    let mut count = 0;
    for case in cases.iter().filter(|case| case["verdict"] == "ok") {
        let name = case["name"].as_str().unwrap();
        let original = original(case);
        let patch = patch_of(case);
        let (format, length) = (Format::detect(&patch).unwrap(), patch.len());
        let patched = apply(patch, &original).unwrap();
        for (written_as, again) in written(&patched.extents().unwrap(), &*original) {
            if name.starts_with("own/") && Some(written_as) == format {
                // Some of the reference's patches have no header and no block check.
                let header = if written_as == Format::Ppf { 1084 } else { 64 };
                let most = length + length / 100 + header;
                assert!(again.len() <= most, "{name}: {} > {length}", again.len());
            }
            let result = apply(again, &original).unwrap();
            let whole = read(&*result, 0, result.len() as usize);
            assert_eq!(
                sha256(&whole),
                case["target"]["sha256"],
                "{name} as {written_as}"
            );
            count += 1;
        }
    }
    assert!(count > 800, "{count}");
}

#[test]
fn ranges_beyond_four_gibibytes_are_read_and_written() {
    let Some(cases) = cases("far.json") else {
        return;
    };
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let original = original(&case);
        let patched = Patch::open(Arc::new(patch_of(&case))).unwrap();
        let patched = Arc::new(patched.apply(original.clone()).unwrap());
        let mut xdelta = Vec::new();
        let options = patches::VcdiffOptions {
            names: None,
            has_checksums: false,
        };
        patches::xdelta(
            &patched.extents().unwrap(),
            &*original,
            options,
            &mut xdelta,
        )
        .unwrap();
        let again = Patch::open(Arc::new(xdelta))
            .unwrap()
            .apply(original)
            .unwrap();
        for source in [&*patched, &again] {
            assert_eq!(source.len(), case["target"]["size"], "{name}");
            let whole = json!([[0, source.len(), case["target"]["sha256"]]]);
            let ranges = case.get("lazily").unwrap_or(&whole);
            for range in ranges.as_array().unwrap() {
                let number = |index: usize| range[index].as_u64().unwrap();
                let found = read(source, number(0), number(1) as usize);
                assert_eq!(sha256(&found), range[2], "{name} {range}");
            }
        }
    }
}

/// The folder of an SD card.
struct Folder(PathBuf);

impl Card for Folder {
    fn size(&self, path: &str) -> Option<u64> {
        let metadata = fs::symlink_metadata(self.0.join(path)).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    fn entries(&self, folder: &str) -> Option<Vec<Entry>> {
        let entries = fs::read_dir(self.0.join(folder)).ok()?;
        let entries = entries.map(|entry| {
            let entry = entry.unwrap();
            Entry {
                name: entry.file_name().into_string().unwrap(),
                is_folder: entry.file_type().unwrap().is_dir(),
            }
        });
        Some(entries.collect())
    }
}

/// Returns the plan of a case; its XML is below the folder `sd`.
fn plan(case: &Value, folder: &Path) -> Result<Plan> {
    let files = case["listing"].as_object().unwrap().iter();
    let files: Vec<_> = files
        .map(|(path, size)| (path.clone(), size.as_u64().unwrap()))
        .collect();
    let disc = Disc::new(case["game"].as_str().unwrap(), 0, 0, &files);
    let choices = case["choices"].as_object().unwrap().iter();
    let mut selections: Vec<_> = choices
        .map(|(option, choice)| Selection::parse(&format!("{option}={choice}")).unwrap())
        .collect();
    let mut input = case["input"].as_str().unwrap().to_owned();
    if input.ends_with(".json") {
        let descriptor = Descriptor::parse(&fs::read(folder.join(&input)).unwrap())?;
        let patch = descriptor.patches.into_iter().next().unwrap();
        assert_eq!(patch.root.as_deref(), Some("sd"));
        input = patch.xml;
        selections.extend(patch.selections);
    }
    let parsed = Mod::parse(&fs::read(folder.join(&input)).unwrap())?;
    parsed.plan(
        &disc,
        &Folder(folder.join("sd")),
        "riivolution",
        &selections,
    )
}

fn as_json(part: &Part) -> Value {
    match part {
        Part::Original { offset, length } => json!(["o", offset, length]),
        Part::External {
            path,
            offset,
            length,
        } => json!(["f", &**path, offset, length]),
        Part::Zeros { length } => json!(["z", length]),
    }
}

#[test]
fn riivolution_replaces_the_files_that_the_reference_replaces() {
    let Some(cases) = cases("riivolution/cases.json") else {
        return;
    };
    let folder = shared("samples/patches/riivolution").unwrap();
    for case in cases {
        let golden = fs::read(shared(case["golden"].as_str().unwrap()).unwrap()).unwrap();
        let golden: Value = serde_json::from_slice(&golden).unwrap();
        let found = match plan(&case, &folder) {
            Err(Error::OtherGame(_)) => json!({"error": "wrong"}),
            Err(_) => json!({"error": "bad"}),
            Ok(plan) => {
                let files: BTreeMap<_, Vec<_>> = plan
                    .files
                    .iter()
                    .map(|file| (&file.path, file.parts.iter().map(as_json).collect()))
                    .collect();
                json!({"files": files})
            }
        };
        for field in ["error", "files"] {
            assert_eq!(found[field], golden[field], "{}", case["name"]);
        }
    }
}

#[test]
fn a_patch_of_the_samples_becomes_a_folder_that_gives_the_same_files() {
    let Some(cases) = cases("cases.json") else {
        return;
    };
    let mut results = BTreeSet::new();
    for case in cases {
        let Some(file) = case["source"]["file"].as_str() else {
            continue;
        };
        let is_new = results.insert((file.to_owned(), case["target"]["sha256"].to_string()));
        if case["verdict"] != "ok" || !is_new {
            continue;
        }
        let name = case["name"].as_str().unwrap();
        let (source, patch) = (
            shared(file).unwrap(),
            shared(case["patch"].as_str().unwrap()).unwrap(),
        );
        let work = tempdir().unwrap();
        let folder = work.path().join("mod");
        let diff = |changes: &Path, against: &Path| {
            let mut program = hpi("diff");
            program.arg("--apply").arg(changes);
            run(program.arg(&source).arg("--export").arg(against))
        };
        let exported = diff(&patch, &folder);
        assert_eq!(exported.code, Some(0), "{name}: {exported:?}");
        // The files come from the patched source.
        let [ours, theirs] = [&folder, &patch].map(|changes| {
            let mut files = walked::files(&open_changed(&source, changes).unwrap());
            let paths: Vec<String> = files.keys().cloned().collect();
            files.retain(|path, _| {
                let inside = format!("{path}.d/");
                let is_entered = paths.iter().any(|other| other.starts_with(&inside));
                let name = path.rsplit('/').next().unwrap();
                let tables = ["assets.tsv", "boot.bin", "fst.bin", "info.json"];
                !is_entered && !tables.contains(&name)
            });
            files
        });
        assert_eq!(ours, theirs, "{name}");
    }
    assert!(results.len() > 8, "{}", results.len());
}

/// Runs a script of the reference in a folder, and returns its output.
fn python(folder: &Path, script: &Path, arguments: &[&str]) -> String {
    let mut program = Command::new("python3");
    let output = program.current_dir(folder).arg(script).args(arguments);
    let output = output.output().unwrap();
    assert!(
        output.status.success(),
        "{script:?} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn written_patches_of_all_formats_are_applied_by_the_reference() {
    let Some(oracle) = shared("oracle/patches") else {
        return;
    };
    let work = tempdir().unwrap();
    let mut disc = fixtures::disc::Disc::default();
    disc.file("README.TXT", b"original");
    disc.file("DATA/BIG.BIN", &noise("big", 200_000));
    let [original, edit, result] =
        ["disc.iso", "edit", "result.iso"].map(|name| work.path().join(name));
    fs::write(&original, disc.iso()).unwrap();
    write(&edit, "README.TXT", b"changed");
    write(&edit, "DATA/NEW.BIN", &noise("new", 70_000));
    let apply = |out: &Path| {
        let ran = hpi_apply(&[], &edit, &original, out);
        assert!(ran.status.success(), "{}", stderr(&ran));
    };
    apply(&result);
    for extension in ["xdelta", "bps", "ppf", "ips"] {
        let patch = format!("mod.{extension}");
        apply(&work.path().join(&patch));
        let arguments = ["apply", &patch, "disc.iso", "decoded.iso"];
        python(work.path(), &oracle.join("patch.py"), &arguments);
        let decoded = fs::read(work.path().join("decoded.iso")).unwrap();
        assert!(decoded == fs::read(&result).unwrap(), "{patch}");
    }
}

#[test]
fn a_written_mod_is_read_by_the_reference_and_by_dolphin() {
    let Some(oracle) = shared("oracle/patches") else {
        return;
    };
    let work = tempdir().unwrap();
    let python =
        |script: &str, arguments: &[&str]| python(work.path(), &oracle.join(script), arguments);
    for (path, bytes) in [
        ("old/dir/a.bin", noise("1", 5000)),
        ("old/keep.bin", noise("2", 900)),
        ("edit/files/dir/a.bin", noise("3", 7000)),
        ("edit/files/new/b & c.txt", b"new".to_vec()),
    ] {
        write(work.path(), path, &bytes);
    }
    python("dolphin_boot.py", &["disc", "game.iso", "old"]);
    let [edit, disc, out] =
        ["edit", "game.iso", "mod.riivolution"].map(|name| work.path().join(name));
    let ran = hpi_apply(&[], &edit, &disc, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));

    let listing = json!({"files/dir/a.bin": 5000, "files/keep.bin": 900, "sys/main.dol": 0x120});
    fs::write(work.path().join("listing.json"), listing.to_string()).unwrap();
    let plan = python(
        "riivolution.py",
        &["plan", "mod.riivolution/mod.json", "GXXE01", "listing.json"],
    );
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(
        plan,
        json!({"files": {
            "files/dir/a.bin": [["f", "mod/files/dir/a.bin", 0, 7000]],
            "files/new/b & c.txt": [["f", "mod/files/new/b & c.txt", 0, 3]],
        }, "notes": []})
    );

    if !Path::new("/usr/games/dolphin-emu-nogui").exists() {
        return skip::skip_anywhere("needs Dolphin");
    }
    let mut read: Vec<String> = python("dolphin_boot.py", &["read", "mod.riivolution/mod.json"])
        .lines()
        .map(str::to_owned)
        .collect();
    read.sort();
    let files = [
        ("dir/a.bin", noise("3", 7000)),
        ("keep.bin", noise("2", 900)),
        ("new/b & c.txt", b"new".to_vec()),
    ];
    let files = files.map(|(path, bytes)| format!("{path}\t{}\t{}", bytes.len(), sha256(&bytes)));
    assert_eq!(read, files);
}
