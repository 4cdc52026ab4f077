//! Options that became commands.

use std::ffi::OsString;

use super::{HPI, Rejected};

/// Options of programs, and the commands that they became.
const OLD: &[(&str, &str, &str)] = &[
    ("hpimount", "--list", "list SOURCE [PATH...]"),
    ("hpimount", "-l", "list SOURCE [PATH...]"),
    ("hpimount", "--cat", "cat SOURCE PATH..."),
    ("hpimount", "--check", "check SOURCE..."),
    ("hpimount", "--diff", "diff A B"),
    ("hpimount", "--index", "index FILE SOURCE..."),
    ("hpimount", "--unmount", "unmount MOUNTPOINT..."),
    ("hpipack", "--apply", "apply CHANGES... SOURCE OUT"),
];

/// The replacement of `--generate KIND`, an option of all programs.
const GENERATE: (&str, &str) = ("--generate", "man [COMMAND]` or `hpi completions SHELL");

/// Looks for an option that became a command.
///
/// # Errors
/// Returns a message that names the command.
pub(super) fn check(name: &str, line: &[OsString]) -> Result<(), Rejected> {
    let of_program = OLD.iter().filter(|(program, ..)| *program == name);
    let old = of_program.map(|(_, option, new)| (*option, *new));
    let old: Vec<_> = old.chain((name != HPI).then_some(GENERATE)).collect();
    let words = line.iter().skip(1).take_while(|word| *word != "--");
    for word in words {
        let word = word.to_string_lossy();
        let flag = word.split('=').next().unwrap_or_default();
        if let Some((option, new)) = old.iter().find(|(option, _)| *option == flag) {
            return Err(Rejected::Old(format!("{name} {option}"), new));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_option_is_reported_with_the_command_that_it_became() {
        let message = |name: &str, line: &[&str]| {
            let line: Vec<_> = line.iter().map(OsString::from).collect();
            check(name, &line).map_err(|problem| problem.to_string())
        };
        assert_eq!(
            message("hpimount", &["hpimount", "-o", "ro", "--index=a", "b"]).unwrap_err(),
            "`hpimount --index` is now `hpi index FILE SOURCE...`"
        );
        assert_eq!(
            message("hpipack", &["hpipack", "--generate", "man"]).unwrap_err(),
            "`hpipack --generate` is now `hpi man [COMMAND]` or `hpi completions SHELL`"
        );
        assert!(message("hpimount", &["hpimount", "--", "--list", "mnt"]).is_ok());
        assert!(message("hpimount-open", &["hpimount-open", "--unmount", "a"]).is_ok());
    }
}
