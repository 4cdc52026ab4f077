//! Sources on servers without a mount: `--list`, `--cat` and `--check`.

use std::fs;
use std::process::Command;

use crate::fixtures::big::{LENGTH, archive};
use crate::fixtures::origin::{Faults, Object, Origin};
use crate::fixtures::servers::{Moto, Nginx};
use crate::support::mount::{BIG, Run, big, hpimount, run, sample};
use crate::support::noise;
use crate::support::skip::possible;

/// Returns a command with these variables in its environment.
fn with(variables: &[(&'static str, String)], arguments: &[&str]) -> Command {
    let mut command = hpimount();
    command.args(arguments);
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
    let there = run(&mut with(variables, &["--list", source]));
    assert_eq!(
        listed(&there),
        listed(&run(&mut with(&[], &["--list", here])))
    );
    let cat = with(variables, &["--cat", source, BIG]).output().unwrap();
    assert!(
        cat.status.success() && cat.stdout == big(),
        "{:?}",
        cat.stderr
    );
    let checked = run(&mut with(variables, &["--check", source]));
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
    let ran = run(&mut with(&variables, &["--list", "s3://mods/all/"]));
    let lines = listed(&ran);
    let names = lines.iter().map(|line| line.rsplit(' ').next().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["a.hpi", "old/", "old/notes.txt"]
    );
    let ran = run(&mut with(
        &variables,
        &[
            "--cat",
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
    let ran = run(&mut with(&variables, &["--check", "s3://mods/all/"]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let counts = "checked 1 source, 1 archive, 4 files, ";
    assert!(ran.stdout.starts_with(counts), "{ran:?}");
}

#[test]
fn objects_that_a_server_refuses_are_named_and_not_reported_as_damage() {
    let origin = Origin::with("big.hpi", Object::new(archive(), "one"));
    let url = origin.url("big.hpi");
    for option in ["--list", "--cat", "--check"] {
        let gone = origin.url("gone.hpi?secret");
        let ran = run(&mut with(
            &[],
            &[option, &gone, "x"][..if option == "--cat" { 3 } else { 2 }],
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
    // The directory of the archive can be read, and the bytes of its file not.
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
        &["--check", "-o", "timeout=1,readahead=0", &url],
    ));
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert!(ran.stdout.contains("data/big.bin"), "{ran:?}");
    assert!(ran.stdout.contains("503"), "{ran:?}");
    let output = with(
        &[],
        &["--cat", "-o", "timeout=1,readahead=0", &url, "data/big.bin"],
    )
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(10), "{:?}", output.stderr);
    assert!(noise(1, LENGTH).starts_with(&output.stdout));
    assert!(!output.stdout.is_empty());
}
