//! Paths are completed wherever an option has one.

use std::fs;
use std::process::Command;

use testkit::mount::{has_programs, run};

/// Returns what bash completes the last word of a line to, as readline calls
/// the completion: with the words that it breaks the line into.
fn completed(program: &str, line: &str, words: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("palette.gpl"), "").unwrap();
    fs::create_dir(dir.path().join("pages")).unwrap();
    let name = words[0];
    let script = format!(
        "source <({program} --generate complete-bash)
         COMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}}
         COMP_WORDS=({words}) COMP_CWORD={last}
         _{name}_complete {name} '{current}' '{before}' 2>/dev/null
         printf '%s\\n' \"${{COMPREPLY[@]}}\" | sort",
        words = words.join(" "),
        last = words.len() - 1,
        current = words[words.len() - 1],
        before = words[words.len() - 2],
    );
    let mut command = Command::new("bash");
    let ran = run(command.arg("-c").arg(script).current_dir(dir.path()));
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_files_in_the_values_of_options() {
    if !has_programs(&["bash"]) {
        return;
    }
    let hpimount = env!("CARGO_BIN_EXE_hpimount");
    for (line, words) in [
        (
            "hpimount -o ro,palette=pa",
            &["hpimount", "-o", "ro,palette", "=", "pa"][..],
        ),
        (
            "hpimount -o header=@pa",
            &["hpimount", "-o", "header", "=@", "pa"],
        ),
        (
            "hpimount --check --dat pa",
            &["hpimount", "--check", "--dat", "pa"],
        ),
    ] {
        let found = completed(hpimount, line, words);
        assert!(
            found.contains(&"palette.gpl".to_owned()),
            "{line}: {found:?}"
        );
    }
    let line = "hpipack --replace a.txt=pal";
    let words = ["hpipack", "--replace", "a.txt", "=", "pal"];
    assert_eq!(
        completed(env!("CARGO_BIN_EXE_hpipack"), line, &words),
        ["palette.gpl"]
    );
    let line = "hpimount -o blockcache=pa";
    let words = ["hpimount", "-o", "blockcache", "=", "pa"];
    assert_eq!(completed(hpimount, line, &words), ["pages/"]);
}

#[test]
fn fish_completes_files_in_the_values_of_options() {
    if !has_programs(&["fish"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("palette.gpl"), "").unwrap();
    let hpimount = env!("CARGO_BIN_EXE_hpimount");
    for (program, line, completed) in [
        (hpimount, "hpimount --check --dat pal", "palette.gpl"),
        (
            hpimount,
            "hpimount -o ro,palette=pal",
            "ro,palette=palette.gpl",
        ),
        (hpimount, "hpimount -o header=@pal", "header=@palette.gpl"),
        (
            env!("CARGO_BIN_EXE_hpipack"),
            "hpipack --replace a.txt=pal",
            "a.txt=palette.gpl",
        ),
    ] {
        let script = format!("{program} --generate complete-fish | source; complete -C '{line}'");
        let mut command = Command::new("fish");
        let ran = run(command.arg("-c").arg(script).current_dir(dir.path()));
        let found = ran.stdout.lines().any(|word| word == completed);
        assert!(found, "{line}: {ran:?}");
    }
}
