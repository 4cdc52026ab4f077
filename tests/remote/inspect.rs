//! Sources on servers without a mount: `hpi list`, `cat`, `check`, `diff` and
//! `index`.

use std::fs;
use std::process::Command;

use crate::fixtures::big::{LENGTH, archive};
use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::servers::{Moto, Nginx};
use fixtures::hpi::{File, V1, file as entry};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::{BIG, Run, big, hpi, run, sample};
use testkit::skip::possible;

/// Returns a command with these variables in its environment.
fn with(variables: &[(&'static str, String)], arguments: &[&str]) -> Command {
    let mut command = hpi(arguments[0]);
    command.args(&arguments[1..]);
    command.envs(
        variables
            .iter()
            .map(|(name, value)| (*name, value.as_str())),
    );
    command
}

/// Returns the lines of a listing without the dates, which come from the
/// server.
fn listed(ran: &Run) -> Vec<String> {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let fields = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        [&fields[..2], &fields[4..]].concat().join(" ")
    };
    ran.stdout.lines().map(fields).collect()
}

/// Asserts that a source has the same listing and contents as the sample on
/// disk.
fn assert_inspected(source: &str, variables: &[(&'static str, String)]) {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().join("here.hpi");
    fs::write(&here, sample().bytes).unwrap();
    let here = here.to_str().unwrap();
    let there = run(&mut with(variables, &["list", source]));
    assert_eq!(
        listed(&there),
        listed(&run(&mut with(&[], &["list", here])))
    );
    let cat = with(variables, &["cat", source, BIG]).output().unwrap();
    assert!(
        cat.status.success() && cat.stdout == big(),
        "{:?}",
        cat.stderr
    );
    let checked = run(&mut with(variables, &["check", source]));
    assert_eq!(
        (checked.code, checked.stderr.as_str()),
        (Some(0), ""),
        "{checked:?}"
    );
    let counts = "checked 1 source, 1 archive, 2 files, 0 assets, 292.97 KiB in ";
    assert!(checked.stdout.starts_with(counts), "{checked:?}");
    assert!(
        checked
            .stdout
            .ends_with("): 0 damaged, 0 not checked, 0 warnings\n"),
        "{checked:?}"
    );
}

#[test]
fn a_source_on_a_web_server_is_listed_printed_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.hpi"), sample().bytes).unwrap();
    let Some(nginx) = Nginx::start(dir.path(), "") else {
        return;
    };
    assert_inspected(&nginx.url("a.hpi"), &[]);
    let file = dir.path().join("url");
    fs::write(&file, format!("{}?signature\n", nginx.url("a.hpi"))).unwrap();
    assert_inspected(&format!("@{}", file.display()), &[]);
}

#[test]
fn a_source_in_a_bucket_is_listed_printed_and_checked() {
    let root = possible(
        rustix::process::geteuid().is_root(),
        "moto is installed for root",
    );
    let Some(moto) = root.then(Moto::start).flatten() else {
        return;
    };
    moto.make_bucket("mods");
    moto.put("mods", "all/a.hpi", &sample().bytes);
    moto.put("mods", "all/old/notes.txt", b"notes\n");
    let variables = moto.variables();
    assert_inspected("s3://mods/all/a.hpi", &variables);
    let ran = run(&mut with(&variables, &["list", "s3://mods/all/"]));
    let lines = listed(&ran);
    let names = lines.iter().map(|line| line.rsplit(' ').next().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["a.hpi", "old/", "old/notes.txt"]
    );
    let ran = run(&mut with(
        &variables,
        &[
            "cat",
            "s3://mods/all/",
            "a.hpi.d/hello.txt",
            "old/notes.txt",
        ],
    ));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "hello\nnotes\n"),
        "{ran:?}"
    );
    let ran = run(&mut with(&variables, &["check", "s3://mods/all/"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let counts = "checked 1 source, 1 archive, 4 files, ";
    assert!(ran.stdout.starts_with(counts), "{ran:?}");
}

#[test]
fn sources_on_a_web_server_are_compared() {
    let archive = |text: &str| {
        let entries = vec![
            entry(b"same.txt", File::new("always", Method::Zlib)),
            entry(b"a.txt", File::new(text, Method::Zlib)),
        ];
        V1::new(entries).build().bytes
    };
    let origin = Origin::with("old.hpi", Object::new(archive("old"), "one"));
    origin.put("new.hpi", Object::new(archive("newer"), "two"));
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().join("here.hpi");
    fs::write(&here, archive("newer")).unwrap();
    let here = here.to_str().unwrap();
    let diff = |old: &str, new: &str| {
        let ran = run(&mut with(&[], &["diff", old, new]));
        (ran.code, ran.stdout, ran.stderr)
    };
    let changed = "changed: a.txt: 3 -> 5 bytes\n".to_owned();
    let [old, new] = ["old.hpi", "new.hpi"].map(|name| origin.url(name));
    for (old, new, code, found) in [
        (&*old, &*new, 1, &*changed),
        (&old, here, 1, &changed),
        (here, &new, 0, ""),
    ] {
        assert_eq!(
            diff(old, new),
            (Some(code), found.to_owned(), String::new())
        );
    }
    let (code, found, said) = diff(&old, &origin.url("gone.hpi?secret"));
    assert_eq!((code, found.as_str()), (Some(2), ""), "{said}");
    assert!(said.contains("/gone.hpi: "), "{said}");
    assert!(
        !said.contains("secret") && said.lines().count() == 1,
        "{said}"
    );
}

#[cfg(feature = "index")]
#[test]
fn a_source_on_a_web_server_is_indexed_again_each_time() {
    let archive = |name: &[u8]| V1::new(vec![entry(name, File::new("x", Method::Zlib))]);
    let object = |name: &[u8], tag| Object::new(archive(name).build().bytes, tag);
    let origin = Origin::with("a.hpi", object(b"old.txt", "one"));
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("all.sqlite");
    let index = || {
        let mut command = hpi("index");
        command.arg(&database);
        let ran = run(command.arg(origin.url("a.hpi?secret")));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
        let bytes = fs::read(&database).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(has(b"/a.hpi") && !has(b"secret"));
        [has(b"old.txt"), has(b"new.txt")]
    };
    assert_eq!(index(), [true, false]);
    origin.put("a.hpi", object(b"new.txt", "two"));
    // The deleted rows may remain in free pages.
    assert!(index()[1]);
}

#[test]
fn objects_that_a_server_refuses_are_named_and_not_reported_as_damage() {
    let origin = Origin::with("big.hpi", Object::new(archive(), "one"));
    let url = origin.url("big.hpi");
    for command in ["list", "cat", "check"] {
        let gone = origin.url("gone.hpi?secret");
        let ran = run(&mut with(
            &[],
            &[command, &gone, "x"][..if command == "cat" { 3 } else { 2 }],
        ));
        assert_eq!(ran.code, Some(10), "{ran:?}");
        let all = ran.stdout + &ran.stderr;
        assert!(all.contains("/gone.hpi: "), "{all}");
        assert!(
            all.contains("cannot be opened: the server answers 404"),
            "{all}"
        );
        assert!(!all.contains("secret"), "{all}");
    }
    // The directory of the archive is readable, but not the bytes of its file.
    origin.set(Faults {
        status_where: Some((
            |request| {
                request
                    .range
                    .as_ref()
                    .is_some_and(|range| range.start > 1 << 20 && range.end < 6 << 20)
            },
            503,
        )),
        ..Faults::default()
    });
    let ran = run(&mut with(
        &[],
        &["check", "-o", "timeout=1,readahead=0", &url],
    ));
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(ran.stdout.contains("data/big.bin"), "{ran:?}");
    assert!(ran.stdout.contains("503"), "{ran:?}");
    let output = with(
        &[],
        &["cat", "-o", "timeout=1,readahead=0", &url, "data/big.bin"],
    )
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(10), "{:?}", output.stderr);
    assert!(noise(1, LENGTH).starts_with(&output.stdout));
    assert!(!output.stdout.is_empty());
}
