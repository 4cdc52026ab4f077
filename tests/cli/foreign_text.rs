//! Foreign text, such as file names, reaches the user as text only.

use std::fs;
use std::os::unix::fs::symlink;
use testkit::fuse_test;

use testkit::hpipack::{hpipack, stderr};
use testkit::mount::{Fixture, hpi, hpimount, run};

/// A name that turns a terminal red and forges a line of a log.
const NAME: &str = "a\x1b[31mb\nhpimount: forged\u{202e}gpj.hpi";

#[test]
fn names_of_sources_cannot_control_a_terminal_or_forge_a_line() {
    let fixture = Fixture::new();
    let archive = fixture.dir().join(NAME);
    fs::write(&archive, "nothing that is known").unwrap();
    for flags in [&[][..], &["-f"], &["-vv"]] {
        let mut command = hpimount();
        command.args(flags).arg(&archive).arg(&fixture.point);
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(11), "{ran:?}");
        assert!(!ran.stderr.contains(['\x1b', '\u{202e}']), "{ran:?}");
        assert!(ran.stderr.contains("a\\u{1b}[31mb\\u{a}hpimount: forged"));
        let forged = |line: &str| line.starts_with("hpimount: forged");
        assert!(!ran.stderr.lines().any(forged), "{ran:?}");
    }
    let out = fixture.dir().join("out\x1b[31m.hpi");
    fs::write(&out, "").unwrap();
    let refused = hpipack(&[], fixture.dir(), &out);
    assert!(!stderr(&refused).contains('\x1b'), "{refused:?}");
    let ran = run(hpimount().arg("--\x1b[31m"));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(!ran.stderr.contains('\x1b'), "{ran:?}");
}

#[fuse_test]
fn names_in_warnings_cannot_control_a_terminal() {
    let fixture = Fixture::new();
    let odd = fixture.dir().join(NAME);
    fs::write(&odd, "nothing that is known").unwrap();
    let mut command = hpimount();
    command.args([&fixture.archive, &odd, &fixture.point]);
    let mount = fixture.mount_in_foreground_by(command);
    let log = mount.fixture.log();
    assert!(log.contains("hpimount: error: skipped: "), "{log}");
    assert!(!log.contains(['\x1b', '\u{202e}']), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("hpimount: forged")));
}

#[test]
fn a_message_has_the_name_of_the_program_and_one_line() {
    let fixture = Fixture::new();
    for (args, says) in [
        (
            &["--unmonut", "mnt"][..],
            "unexpected argument '--unmonut' found",
        ),
        (&[][..], "required arguments were not provided"),
        (&["--order", "x", "a", "b"][..], "invalid value 'x'"),
    ] {
        let ran = run(hpimount().args(args));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        assert!(ran.stderr.starts_with("hpimount: "), "{ran:?}");
        assert!(ran.stderr.contains(says), "{ran:?}");
    }
    let missing = fixture.dir().join("missing.hpi");
    let ran = run(hpi("list").arg(&missing));
    assert!(ran.stderr.contains("No such file or directory"), "{ran:?}");
    assert!(!ran.stderr.contains("os error"), "{ran:?}");
    let out = fixture.dir().join("missing/out.hpi");
    let refused = stderr(&hpipack(&[], fixture.dir(), &out));
    assert!(refused.contains("missing: No such file"), "{refused}");
    assert!(!refused.contains(".hpipack-"), "{refused}");
}

#[test]
fn a_pipe_a_device_and_a_link_are_never_replaced_by_an_archive() {
    let fixture = Fixture::new();
    let (pipe, link) = (fixture.dir().join("pipe"), fixture.dir().join("link"));
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    symlink("/dev/null", &link).unwrap();
    let packed = fixture.dir().join("packed");
    fs::create_dir(&packed).unwrap();
    for out in [&pipe, &link] {
        let refused = hpipack(&["--force"], &packed, out);
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains("is not a regular file"));
        assert!(!out.symlink_metadata().unwrap().is_file());
    }
}

#[test]
fn a_file_that_is_no_list_of_images_is_a_usage_error() {
    let fixture = Fixture::new();
    let list = fixture.dir().join("garbage.txt");
    fs::write(&list, "just words\n").unwrap();
    let mut command = hpi("check");
    command.args(["--dat"]).arg(&list);
    let ran = run(command.arg(&fixture.archive));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("garbage.txt: "), "{ran:?}");
}

#[test]
fn a_folder_without_archives_is_not_called_an_archive() {
    let fixture = Fixture::new();
    let folder = fixture.dir().join("empty");
    fs::create_dir(&folder).unwrap();
    let ran = run(hpi("list").arg("--game").arg(&folder));
    assert_eq!(ran.code, Some(11), "{ran:?}");
    let says = "empty: contains no archives of a game";
    assert!(ran.stderr.contains(says), "{ran:?}");
}

#[test]
fn paths_are_listed_in_the_spelling_of_the_archive() {
    let fixture = Fixture::new();
    let whole = run(hpi("list").arg(&fixture.archive)).stdout;
    let path = |line: &str| line.split(' ').next_back().unwrap_or_default().to_owned();
    let listed: Vec<String> = whole.lines().map(path).collect();
    let named = listed.iter().find(|path| path.to_uppercase() != **path);
    let named = named.unwrap();
    let mut command = hpi("list");
    command.arg(&fixture.archive);
    let ran = run(command.arg(named.to_uppercase()));
    assert_eq!(ran.stdout.lines().map(path).next().as_ref(), Some(named));
}
