//! Edited files of converted trees: each case of the samples gives the same bytes as
//! other writers, or is refused with a message that names the problem.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tempfile::tempdir;

use crate::shared;
use hpimount::mount::{Ino, Options, Vfs};
use testkit::applied::{hpi_apply, open_changed, read_at};
use testkit::hpipack::stderr;
use testkit::skip::possible;
use testkit::trial;
use testkit::walked::{files, open};

/// Exit code of refused changes.
const REFUSED: i32 = 14;

/// Cases that are not possible yet.
#[rustfmt::skip]
const LEFT: &[&str] = &[];

/// Returns the file of the samples that a field of a case names.
fn file(case: &Value, field: &str) -> PathBuf {
    shared(case[field].as_str().unwrap()).unwrap()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
}

/// Returns the path of a file. For an asset, given by its id, it is the path in its
/// layer.
fn target(vfs: &Vfs, path: &str) -> String {
    let Some(id) = path.strip_prefix("ids/") else {
        return path.to_owned();
    };
    let ids = vfs.lookup(Ino::ROOT, "ids").unwrap();
    let link = vfs.readlink(vfs.lookup(ids.ino, id).unwrap().ino).unwrap();
    let link = String::from_utf8(link.to_vec()).unwrap();
    link.trim_start_matches("../").to_owned()
}

/// Applies the changes of a case, and returns the problem, if any.
fn try_case(case: &Value, work: &Path) -> Result<(), String> {
    let (original, changes) = (file(case, "original"), file(case, "changes"));
    let extension = original.extension().unwrap().to_str().unwrap();
    let out = work.join(format!("{}.{extension}", case["name"].as_str().unwrap()));
    let ran = hpi_apply(&[], &changes, &original, &out);
    let told = stderr(&ran);
    if case["refused"].is_array() {
        let is_named = texts(&case["refused"]).all(|word| told.contains(word));
        let is_refused = ran.status.code() == Some(REFUSED) && !out.exists();
        return match is_named && is_refused {
            true => Ok(()),
            false => Err(format!("must be refused with {}: {told}", case["refused"])),
        };
    }
    if !ran.status.success() {
        return Err(told);
    }
    let result = open(out.clone(), Options::default()).unwrap();
    if case["hip"] == true {
        same_but(case, &original, &result)?;
    }
    for expected in case["expect"].as_array().unwrap() {
        let got = read_at(
            &result,
            &target(&result, expected["path"].as_str().unwrap()),
        );
        compare(expected, &got, work)?;
    }
    if case["expect"].as_array().unwrap().is_empty()
        && fs::read(&original).unwrap() != fs::read(&out).unwrap()
    {
        return Err("has changed".to_owned());
    }
    if let Some(shown) = case["shows"].as_object() {
        let mounted = open_changed(&original, &changes)?;
        for (path, words) in shown {
            let text = String::from_utf8(read_at(&mounted, path)).unwrap();
            if let Some(word) = texts(words).find(|word| !text.contains(word)) {
                return Err(format!("{path} does not show {word}:\n{text}"));
            }
        }
    }
    Ok(())
}

/// Checks that no other asset of a HIP archive has changed.
fn same_but(case: &Value, original: &Path, result: &Arc<Vfs>) -> Result<(), String> {
    let assets = |vfs: &Arc<Vfs>| -> BTreeMap<String, Result<String, String>> {
        let all = files(vfs).into_iter();
        let all = all.filter(|(path, _)| path.starts_with("layers/") && !path.contains(".meta/"));
        all.map(|(path, file)| (path, file.sha256)).collect()
    };
    let mut expected = assets(&open(original.to_owned(), Options::default()).unwrap());
    let mut found = assets(result);
    for changed in case["expect"].as_array().unwrap() {
        let path = target(result, changed["path"].as_str().unwrap());
        expected.remove(&path);
        found.remove(&path);
    }
    match found == expected {
        true => Ok(()),
        false => Err("other assets have changed".to_owned()),
    }
}

/// Compares an asset with the expected one: by an independent reader where several
/// layouts are valid, else by its bytes.
fn compare(expected: &Value, got: &[u8], work: &Path) -> Result<(), String> {
    let wanted = file(expected, "file");
    let path = expected["path"].as_str().unwrap();
    if expected["read"].is_null() {
        let wanted = fs::read(wanted).unwrap();
        let at = got
            .iter()
            .zip(&wanted)
            .position(|(got, wanted)| got != wanted);
        return match got == wanted {
            true => Ok(()),
            false => Err(format!(
                "{path} has {} bytes, should have {}, and differs at {at:?}",
                got.len(),
                wanted.len()
            )),
        };
    }
    let file = work.join("got");
    fs::write(&file, got).unwrap();
    let script = "import sys, json; sys.path.insert(0, sys.argv[1]); import reread\n\
        got, want = (open(path, 'rb').read() for path in sys.argv[2:4])\n\
        options = json.loads(sys.argv[4])\n\
        print(reread.compare(options['read'], got, want, options) or '')";
    let oracle = shared("oracle/editing").unwrap();
    let mut python = Command::new("python3");
    python
        .args(["-c", script])
        .arg(oracle)
        .arg(&file)
        .arg(wanted);
    let ran = python.arg(expected.to_string()).output();
    if !possible(ran.is_ok(), "python3 is missing") {
        return Ok(());
    }
    let ran = ran.unwrap();
    let differs = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
    match ran.status.success() && differs.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{path}: {differs}{}",
            String::from_utf8_lossy(&ran.stderr)
        )),
    }
}

/// Tests the `editable` attribute of each generated file of a case, and finds its
/// tables in `README.txt`.
fn try_beforehand(case: &Value) -> Result<(), String> {
    let vfs = open(file(case, "original"), Options::default()).unwrap();
    for (path, wanted) in case["editable"].as_object().unwrap() {
        let node = path
            .split('/')
            .fold(Ino::ROOT, |ino, name| vfs.lookup(ino, name).unwrap().ino);
        let value = vfs.xattr(node, "user.hpimount.editable").unwrap();
        let value = String::from_utf8(value).unwrap();
        if !value.starts_with(wanted.as_str().unwrap()) {
            return Err(format!("{path} is {value:?}, should be {wanted}"));
        }
    }
    let tables: Vec<_> = texts(&case["readme"]).collect();
    let readme = (!tables.is_empty()).then(|| read_at(&vfs, "converted/tables/README.txt"));
    let readme = String::from_utf8(readme.unwrap_or_default()).unwrap();
    match tables.iter().find(|table| !readme.contains(**table)) {
        Some(table) => Err(format!("{table} is not in README.txt:\n{readme}")),
        None => Ok(()),
    }
}

#[test]
fn it_is_said_beforehand_what_can_be_edited() {
    let Some(list) = shared("samples/editing/cases.json") else {
        return;
    };
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
    let beforehand = cases.iter().filter(|case| case["editable"].is_object());
    let mut count = 0;
    for case in beforehand {
        if let Err(problem) = try_beforehand(case) {
            panic!("{}: {problem}", case["name"]);
        }
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn every_edit_comes_out_as_others_wrote_it_or_is_refused() {
    let Some(list) = shared("samples/editing/cases.json") else {
        return;
    };
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
    let work = tempdir().unwrap();
    let mut wrong = Vec::new();
    let cases = cases.iter().filter(|case| case["changes"].is_string());
    for case in trial::some(cases, 3) {
        let name = case["name"].as_str().unwrap();
        match (try_case(case, work.path()), LEFT.contains(&name)) {
            (Ok(()), false) | (Err(_), true) => {}
            (Ok(()), true) => wrong.push(format!("{name}: is possible now")),
            (Err(problem), false) => wrong.push(format!("{name}: {problem}")),
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
