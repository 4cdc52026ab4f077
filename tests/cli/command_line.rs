//! Help, man pages, completions and docs/OPTIONS.md describe the commands, and the program
//! has the names that it had.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Arg;
use hpimount::app::EXIT_REASONS;
use hpimount::cli;
use hpimount::cli::mount_options::MOUNT_OPTIONS;
use tempfile::tempdir;
use testkit::mount::{has_programs, run};

const HPI: &str = env!("CARGO_BIN_EXE_hpi");

/// The other names of the program.
const NAMES: [&str; 4] = [
    env!("CARGO_BIN_EXE_hpimount"),
    env!("CARGO_BIN_EXE_hpipack"),
    env!("CARGO_BIN_EXE_hpimount-open"),
    env!("CARGO_BIN_EXE_hpimount-thumbnailer"),
];

/// Returns the output of the program, which must succeed.
fn printed(words: &[&str]) -> String {
    let ran = run(Command::new(HPI).args(words));
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{words:?}");
    ran.stdout
}

/// Programs that cannot have another name start the command.
#[test]
fn each_other_name_stands_for_its_command() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    for (name, command) in cli::NAMES {
        let source = fs::read_to_string(programs.join(format!("{name}.rs"))).unwrap();
        let call = format!("alias::run(\"{name}\", \"{command}\")");
        assert!(source.contains(&call), "{name}");
    }
}

/// Returns the names of all commands.
fn commands() -> Vec<String> {
    let hpi = cli::command("hpi");
    let names = hpi.get_subcommands().map(|command| command.get_name());
    names.map(str::to_owned).collect()
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

#[test]
fn the_command_lines_are_valid() {
    for name in [
        "hpi",
        "hpimount",
        "hpipack",
        "hpimount-open",
        "hpimount-thumbnailer",
    ] {
        cli::command(name).debug_assert();
    }
}

#[test]
fn without_a_command_the_help_is_printed() {
    let ran = run(&mut Command::new(env!("CARGO_BIN_EXE_hpi")));
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert_eq!(ran.stderr, printed(&["-h"]));
}

#[test]
fn the_help_fits_on_a_screen() {
    for flag in ["-h", "--help"] {
        let help = printed(&[flag]);
        assert!(help.lines().count() < 24, "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 80),
            "{help}"
        );
        for command in commands() {
            assert!(help.contains(&format!("\n  {command} ")), "{help}");
        }
    }
}

#[test]
fn the_help_of_a_command_mentions_its_options() {
    for command in commands() {
        let long = printed(&[&command, "--help"]);
        assert!(printed(&[&command, "-h"]).len() <= long.len());
        let hpi = cli::command("hpi");
        let found = hpi.find_subcommand(&command).unwrap();
        for arg in found.get_arguments().filter(|arg| !arg.is_positional()) {
            assert_mentions(&long, &usage(arg).join(", "), &command);
        }
        for reason in EXIT_REASONS {
            let line = format!(" {} {}", reason.code, reason.meaning);
            assert_mentions(&long, &line, &command);
        }
    }
    for name in ["-h", "--help"] {
        let help = printed(&["mount", name]);
        for option in MOUNT_OPTIONS {
            assert_mentions(&help, &option.usage(), name);
        }
    }
}

/// Returns a man page, with the dashes and apostrophes that readers see, and without
/// fonts.
fn man(command: &str) -> String {
    let words = [&["man"][..], &[command]].concat();
    let page = printed(&words[..2 - usize::from(command.is_empty())]);
    let page = page.replace(r"\-", "-").replace(r"\*(Aq", "'");
    page.replace(r"\fB", "")
        .replace(r"\fI", "")
        .replace(r"\fR", "")
        .replace(r"\&", "")
}

/// Returns the headings of a man page.
fn headings(page: &str) -> Vec<&str> {
    let headings = page.lines().filter_map(|line| line.strip_prefix(".SH "));
    headings.map(|heading| heading.trim_matches('"')).collect()
}

#[test]
fn the_man_pages_have_the_usual_sections_and_all_exit_codes() {
    for command in commands() {
        let page = man(&command);
        let found = headings(&page);
        assert_eq!(found[..3], ["NAME", "SYNOPSIS", "DESCRIPTION"], "{command}");
        assert_eq!(found.last(), Some(&"SEE ALSO"), "{command}");
        let status = page.split(".SH \"EXIT STATUS\"").nth(1).unwrap();
        for reason in EXIT_REASONS {
            let entry = format!(".TP {} {}.", reason.code, reason.meaning.replace('`', ""));
            assert_mentions(status, &entry, &command);
        }
    }
    assert_eq!(
        headings(&man("mount"))[3..],
        [
            "OPTIONS",
            "OPTIONS FOR SOURCES",
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
    let page = man("");
    for command in commands() {
        assert_mentions(&page, &format!("hpi-{command}(1)"), "hpi(1)");
    }
    assert_eq!(
        run(Command::new(HPI).args(["man", "nothing"])).code,
        Some(2)
    );
}

#[test]
fn the_man_page_of_mounts_describes_all_mount_options() {
    let page = man("mount");
    for option in MOUNT_OPTIONS {
        let entry = format!(".TP\n{}\n", option.usage());
        assert!(page.contains(&entry), "no entry {entry} in\n{page}");
        let text = format!("{} Default: {}.", option.details, option.default);
        assert_mentions(&page, &text.replace('`', ""), "hpimount(8)");
    }
    for ignored in ["nofail", "noatime", "_netdev"] {
        assert_mentions(&page, ignored, "hpimount(8)");
    }
}

/// Writes all man pages to a folder, and returns their paths.
fn written_pages(folder: &Path) -> Vec<PathBuf> {
    printed(&["man", "--to", folder.to_str().unwrap()]);
    let mut pages = Vec::new();
    for section in ["man1", "man8"] {
        let entries = fs::read_dir(folder.join(section)).unwrap();
        pages.extend(entries.map(|entry| entry.unwrap().path()));
    }
    pages
}

#[test]
fn the_pages_of_all_commands_are_written_to_a_folder() {
    let dir = tempdir().unwrap();
    let mut expected: BTreeMap<_, _> = commands()
        .iter()
        .map(|command| (format!("man1/hpi-{command}.1"), printed(&["man", command])))
        .collect();
    expected.remove("man1/hpi-mount.1");
    expected.insert("man1/hpi.1".to_owned(), printed(&["man"]));
    expected.insert("man8/hpimount.8".to_owned(), printed(&["man", "mount"]));
    let written = written_pages(dir.path()).into_iter().map(|path| {
        let name = path.strip_prefix(dir.path()).unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(&path).unwrap())
    });
    assert_eq!(written.collect::<BTreeMap<_, _>>(), expected);

    let file = dir.path().join("man1/hpi.1");
    let ran = run(Command::new(HPI).args(["man", "--to"]).arg(&file));
    assert_eq!(ran.code, Some(20), "{ran:?}");
    assert!(ran.stderr.contains("hpi.1/man1/hpi.1: Not a directory"));
}

#[test]
fn mandoc_finds_no_errors_in_the_man_pages() {
    if !has_programs(&["mandoc"]) {
        return;
    }
    let dir = tempdir().unwrap();
    for path in written_pages(dir.path()) {
        let ran = run(Command::new("mandoc").args(["-T", "lint"]).arg(&path));
        assert_eq!(
            (ran.code, ran.stdout, ran.stderr),
            (Some(0), "".into(), "".into())
        );
    }
}

/// Types lines into an interactive bash, where a tab completes. Returns the arguments
/// of each command that bash runs, separated by spaces.
fn typed_in_bash(lines: &[&str]) -> Vec<String> {
    let dir = tempdir().unwrap();
    let mut setup = String::new();
    for name in ["hpi", "hpimount", "hpipack"] {
        setup += &printed(&["completions", "bash", name]);
        setup += &format!("{name}() {{ echo \"ran: $*\"; }}\n");
    }
    setup += "PS1=\n";
    let rc = dir.path().join("rc");
    fs::write(&rc, setup).unwrap();
    let place = dir.path().join("place");
    fs::create_dir_all(place.join("pages")).unwrap();
    fs::write(place.join("totala1.hpi"), "").unwrap();
    fs::write(place.join("colors.gpl"), "").unwrap();
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
fn bash_completes_commands_options_their_values_and_paths() {
    if !has_programs(&["bash", "setsid"]) {
        return;
    }
    let cases = [
        ("hpi ext\ttot\t -C pa\t", "extract totala1.hpi -C pages/"),
        ("hpi check --da\tcol\t", "check --dat colors.gpl"),
        (
            "hpi list -o ro,meta=hi\t tot\t",
            "list -o ro,meta=hidden totala1.hpi",
        ),
        ("hpimount --sep\t", "--separate"),
        ("hpimount --order ki\t", "--order kingdoms"),
        ("hpimount -o thr\t2", "-o threads=2"),
        ("hpimount -o umask=022,thr\t2", "-o umask=022,threads=2"),
        (
            "hpimount -o ro,meta=hi\t,forc\t mnt",
            "-o ro,meta=hidden,force mnt",
        ),
        ("hpimount -oro,meta=o\t mnt", "-oro,meta=off mnt"),
        ("hpimount -o ro,palette=co\t", "-o ro,palette=colors.gpl"),
        ("hpimount -o header=@co\t", "-o header=@colors.gpl"),
        ("hpimount -o blockcache=pa\t", "-o blockcache=pages/"),
        ("hpimount tot\t mnt", "totala1.hpi mnt"),
        ("hpimount -f tot\t mnt", "-f totala1.hpi mnt"),
        ("hpipack --met\tlz\t", "--method lz77"),
    ];
    let ran = typed_in_bash(&cases.map(|(typed, _)| typed));
    assert_eq!(ran, cases.map(|(_, expected)| expected));
}

#[test]
fn fish_completes_options_and_files_in_their_values() {
    if !has_programs(&["fish"]) {
        return;
    }
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("palette.gpl"), "").unwrap();
    for (line, completed) in [
        ("hpi ext", "extract"),
        ("hpi check --dat pal", "palette.gpl"),
        ("hpi list -o th", "threads="),
        ("hpimount -o th", "threads="),
        ("hpimount -o ro,meta=h", "ro,meta=hidden"),
        ("hpimount -o ro,palette=pal", "ro,palette=palette.gpl"),
        ("hpimount -o header=@pal", "header=@palette.gpl"),
        ("hpimount --ord", "--order"),
    ] {
        let name = line.split(' ').next().unwrap();
        let script = printed(&["completions", "fish", name]);
        let script = format!("{script}\ncomplete -C '{line}'\n");
        let mut fish = Command::new("fish");
        let ran = run(fish
            .args(["--no-config", "-c", &script])
            .current_dir(dir.path()));
        let mut words = ran.stdout.lines().map(|line| line.split('\t').next());
        assert!(words.any(|word| word == Some(completed)), "{line}: {ran:?}");
    }
}

#[test]
fn zsh_parses_the_completions() {
    let script = printed(&["completions", "zsh"]);
    assert!(script.contains(":OPTION,...:_hpi_mount_options'"));
    if !has_programs(&["zsh"]) {
        return;
    }
    for name in ["hpi", "hpimount", "hpipack"] {
        let script = printed(&["completions", "zsh", name]);
        let ran = run(Command::new("zsh").args(["-f", "-n", "-c", &script]));
        assert_eq!((ran.code, ran.stderr), (Some(0), String::new()));
    }
}

#[test]
fn each_other_name_is_that_of_a_command() {
    for path in NAMES {
        let name = path.rsplit('/').next().unwrap();
        let ran = run(Command::new(path).arg("--version"));
        let version = format!("{name} {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!((ran.code, ran.stdout), (Some(0), version));
        let ran = run(Command::new(path).arg("--no-such-option"));
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.starts_with(&format!("{name}: ")), "{ran:?}");
        // As packages install it.
        let ran = run(Command::new(HPI)
            .arg0(format!("/usr/bin/{name}"))
            .arg("--version"));
        assert!(ran.stdout.starts_with(name), "{ran:?}");
        // Regardless of the name that it is called by.
        let ran = run(Command::new(path).arg0("another name").arg("--version"));
        assert!(ran.stdout.starts_with(name), "{ran:?}");
    }
}

#[test]
fn another_name_without_the_program_beside_it_says_what_is_missing() {
    let dir = tempdir().unwrap();
    let alone = dir.path().join("hpimount");
    fs::copy(NAMES[0], &alone).unwrap();
    let ran = run(&mut Command::new(&alone));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("hpimount: "), "{ran:?}");
    assert!(
        ran.stderr
            .contains("hpi, the program to start: No such file"),
        "{ran:?}"
    );
}

#[test]
fn an_old_option_names_the_command_that_it_became() {
    for (path, option, command) in [
        (NAMES[0], "--list", "hpi list SOURCE [PATH...]"),
        (NAMES[0], "--unmount", "hpi unmount MOUNTPOINT..."),
        (NAMES[0], "--generate", "hpi completions SHELL"),
        (NAMES[1], "--apply", "hpi apply CHANGES... SOURCE OUT"),
    ] {
        let ran = run(Command::new(path).args([option, "a.hpi", "b"]));
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1));
        assert!(
            ran.stderr.contains(&format!(" {option}` is now `")),
            "{ran:?}"
        );
        assert!(ran.stderr.contains(&format!("`{command}`")), "{ran:?}");
    }
}

/// Returns the ways to write an option, the last one with its value.
fn usage(arg: &Arg) -> Vec<String> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let mut usage: Vec<String> = short.into_iter().chain(long).collect();
    let values = arg
        .get_value_names()
        .filter(|_| arg.get_action().takes_values());
    if let (Some(last), Some([value])) = (usage.last_mut(), values) {
        *last += &format!(" <{value}>");
    }
    usage
}

/// Returns a row of a table in Markdown.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', r"\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn option_row(arg: &Arg) -> String {
    let usage: Vec<String> = usage(arg)
        .iter()
        .map(|usage| format!("`{usage}`"))
        .collect();
    let mut help = arg.get_help().unwrap().to_string();
    let values = arg.get_possible_values();
    if arg.get_action().takes_values() && !values.is_empty() {
        let values: Vec<_> = values
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        help += &format!(": {}", values.join(", "));
    }
    for value in arg.get_default_values() {
        help += &format!(" [default: {}]", value.display());
    }
    row(&[&usage.join(", ").replace(['<', '>'], ""), &help])
}

/// Asserts that docs/OPTIONS.md has a table, and otherwise prints the table.
fn assert_documented(table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/OPTIONS.md");
    let text = fs::read_to_string(path).unwrap();
    let table = format!("\n\n{table}\n");
    assert!(text.contains(&table), "docs/OPTIONS.md should have{table}");
}

#[test]
fn the_documented_options_match_those_of_the_commands() {
    let hpi = cli::command("hpi");
    let mut of_sources = String::new();
    for command in hpi.get_subcommands() {
        let (shared, own): (Vec<&Arg>, Vec<&Arg>) = command
            .get_opts()
            .partition(|arg| arg.get_help_heading().is_some());
        let rows: String = own.into_iter().map(option_row).collect();
        if !rows.is_empty() {
            let name = command.get_name();
            assert_documented(&format!(
                "### `hpi {name}`\n\n| option | |\n|---|---|\n{rows}"
            ));
        }
        if !shared.is_empty() {
            of_sources = shared.into_iter().map(option_row).collect();
        }
    }
    assert_documented(&format!("| option | |\n|---|---|\n{of_sources}"));
    let rows = MOUNT_OPTIONS.iter().map(|option| {
        let usage = format!("`{}`", option.usage());
        row(&[&usage, option.help, option.default])
    });
    let rows: String = rows.collect();
    assert_documented(&format!("| `-o` | | default |\n|---|---|---|\n{rows}"));
}

#[test]
fn the_documented_exit_codes_match_the_table() {
    let rows = EXIT_REASONS.iter();
    let rows: String = rows
        .map(|reason| row(&[&reason.code.to_string(), reason.meaning]))
        .collect();
    assert_documented(&format!("| code | |\n|--:|---|\n{rows}"));
    let codes: Vec<u8> = EXIT_REASONS.iter().map(|reason| reason.code).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
}
