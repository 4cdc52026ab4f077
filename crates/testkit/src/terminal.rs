//! Programs on pseudo-terminals, which `script` of util-linux creates.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::mount::has_programs;

/// The output and exit of a program on a terminal.
#[derive(Debug)]
pub struct Screen {
    pub code: Option<i32>,
    /// Everything that was written to the terminal, with control sequences.
    pub text: String,
}

/// Runs a program on a terminal. Types each answer when its question has appeared.
/// `None` if the test must be skipped.
///
/// # Panics
/// Panics if the program ends before it asks.
pub fn on_terminal(command: &Command, answers: &[(&str, &str)]) -> Option<Screen> {
    if !has_programs(&["script", "timeout"]) {
        return None;
    }
    let words = [command.get_program()].into_iter();
    let words = words.chain(command.get_args());
    let words: Vec<String> = words
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let variables = command.get_envs();
    let mut script = Command::new("timeout")
        .args(["60", "script", "--quiet", "--return", "--command"])
        .args([&words.join(" "), "/dev/null"])
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Open until the program has ended: closing it would type an end of file.
    let mut typed = script.stdin.take().unwrap();
    let mut terminal = script.stdout.take().unwrap();
    let mut shown = Vec::new();
    for (question, answer) in answers {
        let mut byte = [0];
        while !shown.ends_with(question.as_bytes()) {
            terminal.read_exact(&mut byte).unwrap();
            shown.extend(byte);
        }
        typed.write_all(answer.as_bytes()).unwrap();
    }
    terminal.read_to_end(&mut shown).unwrap();
    Some(Screen {
        code: script.wait().unwrap().code(),
        text: String::from_utf8(shown).unwrap(),
    })
}
