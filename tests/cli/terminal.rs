//! Output and questions of commands on a terminal.

use std::fs;
use std::process::Command;

use tempfile::tempdir;

use fixtures::noise;
use testkit::mount::{Fixture, has_programs, hpi, run};
use testkit::terminal::on_terminal;

/// Escape sequence that erases the line of the cursor.
const ERASE: &str = "\r\u{1b}[2K";

#[test]
fn long_commands_show_progress_on_a_terminal_and_erase_it() {
    let work = tempdir().unwrap();
    let (files, out) = (work.path().join("files"), work.path().join("out.hpi"));
    fs::create_dir(&files).unwrap();
    fs::write(files.join("a.bin"), noise(1, 3 << 20)).unwrap();
    let mut pack = Command::new(env!("CARGO_BIN_EXE_hpipack"));
    pack.arg("--force").args([&files, &out]);
    let mut check = hpi("check");
    check.arg(&out);
    let mut extract = hpi("extract");
    extract
        .arg("--force")
        .arg(&out)
        .arg("-C")
        .arg(work.path().join("extracted"));
    let mut commands = vec![
        (pack, "\u{2591}"),
        (check, "\u{2591}"),
        (extract, "\u{2591}"),
    ];
    if cfg!(feature = "index") {
        let mut index = hpi("index");
        index.arg(work.path().join("index.db"));
        index.arg(&out);
        commands.push((index, " entries, "));
    }
    for (mut command, bar) in commands {
        let Some(shown) = on_terminal(&command, &[]) else {
            return;
        };
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.text.contains(bar), "{command:?}: {shown:?}");
        let left = shown.text.rsplit(ERASE).next().unwrap();
        assert!(!left.contains(bar), "{command:?}: {left}");
        let ran = run(&mut command);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{command:?}");
        assert!(!ran.stdout.contains(bar), "{command:?}: {ran:?}");
    }
}

#[test]
fn a_password_is_asked_for_on_the_terminal_which_does_not_show_it() {
    if !has_programs(&["setsid", "zip"]) {
        return;
    }
    let work = tempdir().unwrap();
    let archive = work.path().join("a.zip");
    fs::write(work.path().join("a.txt"), "the text").unwrap();
    let zip = Command::new("zip")
        .args(["--quiet", "--password", "secret", "a.zip", "a.txt"])
        .current_dir(work.path())
        .status();
    assert!(zip.unwrap().success());
    let mut cat = hpi("cat");
    cat.args(["-o", "password=ask"]).arg(&archive);
    cat.arg("a.txt");
    let Some(shown) = on_terminal(&cat, &[("Password: ", "secret\n")]) else {
        return;
    };
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert_eq!(shown.text, "Password: \r\nthe text");
    let shown = on_terminal(&cat, &[("Password: ", "another\n")]).unwrap();
    assert_ne!(shown.code, Some(0), "{shown:?}");
    assert!(!shown.text.contains("another\r"), "{shown:?}");
    // In a separate session, it has no terminal.
    let mut without = Command::new("setsid");
    without.arg("--wait").arg(cat.get_program());
    let ran = run(without.args(cat.get_args()));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let problem = "hpi: -o password=ask: ";
    assert!(ran.stderr.starts_with(problem), "{ran:?}");
}

#[test]
fn a_terminal_that_asks_for_a_password_shows_what_is_typed_after_ctrl_c() {
    if !has_programs(&["sh", "stty"]) {
        return;
    }
    let program = env!("CARGO_BIN_EXE_hpi");
    let fixture = Fixture::new();
    let archive = fixture.archive.display();
    let asks =
        format!("trap : INT; {program} list -o password=ask {archive}; echo code $?; stty -a");
    let mut shell = Command::new("sh");
    shell.args(["-c", &asks]);
    let Some(shown) = on_terminal(&shell, &[("Password: ", "\u{3}")]) else {
        return;
    };
    assert!(shown.text.contains("code 130"), "{shown:?}");
    assert!(shown.text.contains(" echo "), "{shown:?}");
}
