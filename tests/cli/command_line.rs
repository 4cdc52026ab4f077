//! Help, man pages, completions and docs/OPTIONS.md describe the options and
//! exit codes of the programs' tables.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use hpimount::app::ExitReason;
use hpimount::cli::hpimount::PROGRAM as HPIMOUNT;
use hpimount::cli::hpipack::PROGRAM as HPIPACK;
use hpimount::cli::open::PROGRAM as OPEN;
use hpimount::cli::thumbnailer::PROGRAM as THUMBNAILER;
use hpimount::cli::{Generated, OptionSpec, Program};
use hpimount::pack;
use tempfile::tempdir;
use testkit::mount::{has_programs, run};

/// Returns the text of a program's `-h` or `--help`.
fn help<S>(program: &Program<S>, flag: &str) -> String {
    let error = program
        .command()
        .try_get_matches_from([program.name, flag])
        .unwrap_err();
    error.to_string()
}

/// Returns the man page, with the dashes and apostrophes that readers see.
fn man<S>(program: &Program<S>) -> String {
    let page = Generated::Man.text(program);
    page.replace(r"\-", "-").replace(r"\*(Aq", "'")
}

/// Returns the text as one line, so that line breaks do not matter.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_mentions(text: &str, what: &str, place: &str) {
    assert!(
        joined(text).contains(&joined(what)),
        "{place} does not mention {what}:\n{text}"
    );
}

fn check_help<S>(program: &Program<S>) {
    let (short, long) = (help(program, "-h"), help(program, "--help"));
    for option in program.options() {
        let place = format!("{} --help", program.name);
        for spelling in option.spellings() {
            assert_mentions(&long, &spelling, &place);
            assert_eq!(short.contains(&spelling), !option.hidden, "{spelling}");
        }
        assert_mentions(&long, option.long_help, &place);
        assert_mentions(&long, &format!("[default: {}]", option.default), &place);
        if !option.hidden {
            assert_mentions(&short, option.help, &format!("{} -h", program.name));
        }
    }
    for ExitReason { code, meaning } in program.exit_reasons {
        for text in [&short, &long] {
            assert_mentions(text, &format!(" {code} {meaning}"), "the help");
        }
    }
}

#[test]
fn the_help_mentions_every_option_and_exit_code() {
    check_help(&HPIMOUNT);
    check_help(&HPIPACK);
    check_help(&OPEN);
    check_help(&THUMBNAILER);
}

fn check_man<S>(program: &Program<S>) {
    let page = man(program);
    let plain = page.replace(r"\fB", "").replace(r"\fI", "");
    let plain = plain.replace(r"\fR", "").replace(r"\&", "");
    for option in program.options() {
        let usage = format!(".TP\n{}\n", option.usage());
        assert!(plain.contains(&usage), "no entry {usage} in\n{plain}");
        let text = format!("{} Default: {}.", option.long_help, option.default);
        assert_mentions(&plain, &text.replace('`', ""), program.name);
        for choice in option.choices() {
            let text = format!(".TP {} {}.", choice.name, choice.help);
            assert_mentions(&plain, &text, program.name);
        }
    }
    for ignored in program.ignored_mount_options {
        assert_mentions(&plain, ignored, program.name);
    }
    let status = plain.split(".SH \"EXIT STATUS\"").nth(1).unwrap();
    for ExitReason { code, meaning } in program.exit_reasons {
        assert_mentions(status, &format!(".TP {code} {meaning}."), program.name);
    }
}

#[test]
fn the_man_pages_mention_every_option_and_exit_code() {
    check_man(&HPIMOUNT);
    check_man(&HPIPACK);
    check_man(&OPEN);
    check_man(&THUMBNAILER);
}

#[test]
fn the_man_pages_have_the_usual_sections() {
    let headings = |page: String| -> Vec<String> {
        let lines = page.lines();
        lines
            .filter_map(|line| line.strip_prefix(".SH "))
            .map(|heading| heading.trim_matches('"').to_owned())
            .collect()
    };
    let first = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"];
    let page = headings(man(&HPIMOUNT));
    assert_eq!(page[..4], first);
    assert_eq!(
        page[4..],
        [
            "MOUNT OPTIONS",
            "CONTROL DIRECTORY",
            "EXIT STATUS",
            "SIGNALS",
            "ENVIRONMENT",
            "FILES",
            "EXAMPLES",
            "SEE ALSO"
        ]
    );
    let page = headings(man(&HPIPACK));
    assert_eq!(page[..4], first);
    assert_eq!(
        page[4..],
        ["EXIT STATUS", "SIGNALS", "EXAMPLES", "SEE ALSO"]
    );
}

#[test]
fn mandoc_finds_no_errors_in_the_man_pages() {
    if !has_programs(&["mandoc"]) {
        return;
    }
    let dir = tempdir().unwrap();
    for (name, page) in [
        ("hpimount.8", Generated::Man.text(&HPIMOUNT)),
        ("hpipack.1", Generated::Man.text(&HPIPACK)),
        ("hpimount-open.1", Generated::Man.text(&OPEN)),
        ("hpimount-thumbnailer.1", Generated::Man.text(&THUMBNAILER)),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, page).unwrap();
        let ran = run(Command::new("mandoc").args(["-T", "lint"]).arg(&path));
        assert_eq!(
            (ran.code, ran.stdout, ran.stderr),
            (Some(0), "".into(), "".into())
        );
    }
}

/// Returns how the completions for a shell write an option.
fn in_completions<S>(shell: Generated, option: &OptionSpec<S>) -> Vec<String> {
    let written = match option.value_name() {
        Some(_) => format!("{}=", option.id()),
        None => option.id().to_owned(),
    };
    match (option.is_mount_option(), shell) {
        (true, Generated::Zsh) => vec![format!("\n        '{}[", option.id())],
        (true, Generated::Fish) => vec![format!("\n    printf '%s\\t%s\\n' '{}", written)],
        (true, _) => vec![written],
        (false, Generated::Fish) => option
            .spellings()
            .iter()
            .map(|spelling| match spelling.strip_prefix("--") {
                Some(long) => format!(" -l {long} "),
                None => format!(" -s {} ", &spelling[1..]),
            })
            .collect(),
        (false, _) => option.spellings(),
    }
}

#[test]
fn the_completions_mention_every_option() {
    fn check<S>(program: &Program<S>) {
        for shell in [Generated::Bash, Generated::Zsh, Generated::Fish] {
            let script = shell.text(program);
            for option in program.options() {
                for text in in_completions(shell, option) {
                    assert!(script.contains(&text), "{shell:?}: {text}:\n{script}");
                }
                for choice in option.choices() {
                    assert!(script.contains(choice.name), "{shell:?}: {}", choice.name);
                }
            }
        }
    }
    check(&HPIMOUNT);
    check(&HPIPACK);
    check(&OPEN);
    check(&THUMBNAILER);
}

/// Types lines into an interactive bash, where a tab completes, and returns the
/// arguments of each command that bash runs, separated by blanks.
fn typed_in_bash(lines: &[&str]) -> Vec<String> {
    let dir = tempdir().unwrap();
    let mut setup = Generated::Bash.text(&HPIMOUNT);
    setup += &Generated::Bash.text(&HPIPACK);
    setup += "hpimount() { echo \"ran: $*\"; }\nhpipack() { echo \"ran: $*\"; }\nPS1=\n";
    let rc = dir.path().join("rc");
    fs::write(&rc, setup).unwrap();
    let place = dir.path().join("place");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("totala1.hpi"), "").unwrap();
    // In its own session, it does not use the terminal of the tests.
    let mut bash = Command::new("setsid")
        .args(["--wait", "bash", "--noprofile", "--rcfile"])
        .arg(&rc)
        .arg("-i")
        .current_dir(&place)
        .env("TERM", "dumb")
        .env("INPUTRC", "/dev/null")
        .env("HISTFILE", "/dev/null")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = bash.stdin.take().unwrap();
    stdin
        .write_all((lines.join("\n") + "\n").as_bytes())
        .unwrap();
    drop(stdin);
    let output = bash.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ran = text.lines().filter_map(|line| line.split("ran: ").nth(1));
    ran.map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn bash_completes_options_their_values_and_paths() {
    if !has_programs(&["bash", "setsid"]) {
        return;
    }
    let cases = [
        ("hpimount --sep\t", "--separate"),
        ("hpimount --order ki\t", "--order kingdoms"),
        ("hpimount --order=ki\t", "--order=kingdoms"),
        ("hpimount -o thr\t2", "-o threads=2"),
        ("hpimount -o umask=022,thr\t2", "-o umask=022,threads=2"),
        (
            "hpimount -o ro,meta=hi\t,forc\t mnt",
            "-o ro,meta=hidden,force mnt",
        ),
        ("hpimount -oro,meta=o\t mnt", "-oro,meta=off mnt"),
        ("hpimount tot\t mnt", "totala1.hpi mnt"),
        ("hpimount -f tot\t mnt", "-f totala1.hpi mnt"),
        ("hpipack --met\tlz\t", "--method lz77"),
    ];
    let ran = typed_in_bash(&cases.map(|(typed, _)| typed));
    assert_eq!(ran, cases.map(|(_, expected)| expected));
}

#[test]
fn fish_completes_mount_options() {
    if !has_programs(&["fish"]) {
        return;
    }
    let complete = |typed: &str| {
        let script = Generated::Fish.text(&HPIMOUNT);
        let script = format!("{script}\ncomplete -C '{typed}'\n");
        run(Command::new("fish").args(["--no-config", "-c", &script])).stdout
    };
    assert!(complete("hpimount -o th").starts_with("threads=\t"));
    assert!(complete("hpimount -o ro,meta=h").starts_with("ro,meta=hidden\t"));
    assert!(complete("hpimount --ord").starts_with("--order\t"));
}

#[test]
fn zsh_parses_the_completions() {
    if !has_programs(&["zsh"]) {
        return;
    }
    let script = Generated::Zsh.text(&HPIMOUNT);
    assert!(script.contains(":OPTION,...:_hpimount_mount_options"));
    for script in [script, Generated::Zsh.text(&HPIPACK)] {
        let ran = run(Command::new("zsh").args(["-f", "-n", "-c", &script]));
        assert_eq!((ran.code, ran.stderr), (Some(0), String::new()));
    }
}

#[test]
fn the_programs_print_what_is_generated() {
    let hpimount_path = env!("CARGO_BIN_EXE_hpimount");
    let hpipack_path = env!("CARGO_BIN_EXE_hpipack");
    for (name, kind) in Generated::NAMES {
        let ran = run(Command::new(hpimount_path).args(["--generate", name]));
        assert_eq!((ran.code, ran.stdout), (Some(0), kind.text(&HPIMOUNT)));
        let ran = run(Command::new(hpipack_path).args(["--generate", name]));
        assert_eq!((ran.code, ran.stdout), (Some(0), kind.text(&HPIPACK)));
    }
    let open_path = env!("CARGO_BIN_EXE_hpimount-open");
    let thumbnailer_path = env!("CARGO_BIN_EXE_hpimount-thumbnailer");
    for (path, page) in [
        (open_path, Generated::Man.text(&OPEN)),
        (thumbnailer_path, Generated::Man.text(&THUMBNAILER)),
    ] {
        let ran = run(Command::new(path).args(["--generate", "man"]));
        assert_eq!((ran.code, ran.stdout), (Some(0), page));
    }
    for program in [hpimount_path, hpipack_path, open_path, thumbnailer_path] {
        let ran = run(Command::new(program).args(["--generate", "man", "a", "b"]));
        assert_eq!(ran.code, Some(2));
    }
}

/// Returns a row of a table in Markdown.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', r"\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn option_row<S>(option: &OptionSpec<S>) -> String {
    let mut name: Vec<String> = option.spellings();
    if let (Some(last), Some(usage)) = (name.last_mut(), option.usage().split(", ").last()) {
        usage.clone_into(last);
    }
    let name: Vec<String> = name.iter().map(|name| format!("`{name}`")).collect();
    let mut help = option.help.to_owned();
    if !option.is_mount_option() && !option.choices().is_empty() {
        let choices = option.choices().iter();
        let choices: Vec<String> = choices.map(|choice| format!("`{}`", choice.name)).collect();
        help += &format!(": {}", choices.join(", "));
    }
    row(&[&name.join(", "), &help, option.default])
}

/// Asserts that docs/OPTIONS.md has a table, and otherwise prints the table.
fn assert_documented(table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/OPTIONS.md");
    let text = fs::read_to_string(path).unwrap();
    let table = format!("\n\n{table}\n");
    assert!(text.contains(&table), "docs/OPTIONS.md should have{table}");
}

#[test]
fn the_documented_options_match_the_table() {
    let flags = HPIMOUNT.flags().filter(|option| !option.hidden);
    let rows: String = flags.map(option_row).collect();
    assert_documented(&format!("| option | | default |\n|---|---|---|\n{rows}"));
    let rows: String = HPIMOUNT.mount_options().map(option_row).collect();
    assert_documented(&format!("| `-o` | | default |\n|---|---|---|\n{rows}"));
}

#[test]
fn the_documented_exit_codes_match_the_table() {
    let reasons = HPIMOUNT.exit_reasons.iter();
    let rows: String = reasons
        .map(|reason| row(&[&reason.code.to_string(), reason.meaning]))
        .collect();
    assert_documented(&format!("| code | |\n|--:|---|\n{rows}"));
}

#[test]
fn every_exit_code_is_in_the_table_once() {
    fn codes(reasons: &[ExitReason]) -> Vec<u8> {
        reasons.iter().map(|reason| reason.code).collect()
    }
    for reasons in [HPIMOUNT.exit_reasons, HPIPACK.exit_reasons] {
        let codes = codes(reasons);
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    }
    let of_hpipack = codes(HPIPACK.exit_reasons);
    for error in [
        pack::Error::Source {
            path: "dir".into(),
            problem: String::new(),
        },
        pack::Error::Target {
            path: "out".into(),
            problem: String::new(),
        },
    ] {
        assert!(of_hpipack.contains(&error.exit_code()));
    }
}
