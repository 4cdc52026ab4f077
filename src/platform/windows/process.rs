//! The console, and how a program ends.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use console::Term;
use windows_sys::Win32::System::Console::{GetConsoleProcessList, GetConsoleWindow};
use zeroize::Zeroizing;

/// The exit code of programs that Ctrl-C ends.
const CONTROL_C_EXIT: i32 = 0xC000_013A_u32 as i32;

/// Asks on the console, without echo; `read` reads the answer.
///
/// # Errors
/// Returns the error of `read` or of the operating system.
pub fn ask_secretly<T>(
    question: &str,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<T> {
    let console = Term::stderr();
    console.write_str(question)?;
    let answer = Zeroizing::new(console.read_secure_line()?);
    read(&mut answer.as_bytes())
}

/// Calls `clean_up` when Ctrl-C, or closing the console, ends the program.
///
/// # Errors
/// Returns an error if that cannot be noticed.
pub fn clean_up_on_signals(clean_up: impl Fn() + Send + 'static) -> io::Result<()> {
    let handled = ctrlc::set_handler(move || {
        clean_up();
        std::process::exit(CONTROL_C_EXIT);
    });
    handled.map_err(io::Error::other)
}

/// Ends the program as others in a pipeline whose reader is gone: in silence.
pub fn end_without_reader() {
    std::process::exit(1);
}

/// Has no effect: only programs of the same user can read the memory of this one.
pub fn keep_from_others() {}

/// Has no effect: there is no limit of open files.
pub fn raise_file_limit() {}

/// Does nothing: threads keep their priority.
pub fn lower_priority() {}

/// Returns the size of a page of memory on all processors that the program is built for.
pub fn page_size() -> u64 {
    4096
}

/// Returns false: no thread is confined, and files are the same for all users.
pub fn is_root() -> bool {
    false
}

/// Opens a database with a file that goes with it. `open` gets its path, by which SQLite knows
/// such files, and the name of SQLite's access to it.
///
/// # Errors
/// Never fails.
pub fn unnamed_database<T>(open: impl FnOnce(&Path, &str) -> T) -> io::Result<T> {
    Ok(open(Path::new(""), "win32"))
}

/// Returns zeros: users and groups have no numbers.
pub fn user_and_group() -> (u32, u32) {
    (0, 0)
}

/// Returns true: whether a socket takes more is known when it is written to.
pub fn is_writable<Socket>(_socket: &Socket) -> bool {
    true
}

/// Returns the files that an argument means: with `*` or `?` in its last name those that
/// match it, sorted, or itself if none does.
pub fn matching(argument: &OsStr) -> Vec<OsString> {
    let path = Path::new(argument);
    let pattern = path.file_name().unwrap_or_default().to_string_lossy();
    if !pattern.contains(['*', '?']) {
        return vec![argument.to_owned()];
    }
    let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
    let around = path.parent().unwrap_or(Path::new(""));
    let folder = match around.as_os_str().is_empty() {
        true => Path::new("."),
        false => around,
    };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name());
    let is_match = |name: &OsString| {
        let name: Vec<char> = name.to_string_lossy().to_lowercase().chars().collect();
        matches(&pattern, &name)
    };
    let mut found: Vec<OsString> = names
        .filter(is_match)
        .map(|name| around.join(name).into())
        .collect();
    found.sort();
    match found.is_empty() {
        true => vec![argument.to_owned()],
        false => found,
    }
}

/// Returns whether a pattern with `*` and `?` matches a name. The time is bounded by the
/// product of their lengths.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut end) = (0, 0);
    // Positions to go on from if the last star stands for one more character.
    let mut star = None;
    while end < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, end));
                at += 1;
            }
            Some(&c) if c == '?' || c == name[end] => (at, end) = (at + 1, end + 1),
            _ => match star {
                Some((after, begin)) => {
                    star = Some((after, begin + 1));
                    (at, end) = (after, begin + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}

/// Says `why` and waits for Enter if the window of the console is closed with the program,
/// because Explorer has started it.
pub fn keep_window_open(why: &str) {
    if io::stdin().is_terminal() && is_alone_in_window() {
        eprint!("\n{why} Press Enter to close this window.");
        let _ = io::stdin().read_line(&mut String::new());
    }
}

/// Returns whether the console has a window, which services have not, and no other program.
#[expect(unsafe_code, reason = "no crate has a safe interface")]
fn is_alone_in_window() -> bool {
    let mut processes = [0; 2];
    // SAFETY: the call writes at most as many numbers as the array has.
    let found = unsafe { GetConsoleProcessList(processes.as_mut_ptr(), processes.len() as u32) };
    // SAFETY: the call has no conditions.
    found == 1 && !unsafe { GetConsoleWindow() }.is_null()
}

/// Returns the program that opens a URL: the system's, and not one of that name beside this
/// program.
pub fn url_opener() -> Command {
    let system = env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
    let mut command = Command::new(Path::new(&system).join(r"System32\rundll32.exe"));
    command.arg("url.dll,FileProtocolHandler");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_any_characters() {
        let is_match = |pattern: &str, name: &str| {
            let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<_>>());
            matches(&pattern, &name)
        };
        for (pattern, name, expected) in [
            ("*.hpi", "a.hpi", true),
            ("*.hpi", ".hpi", true),
            ("*.hpi", "a.hpi.bak", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*aab", "aaaab", true),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(is_match(pattern, name), expected, "{pattern} {name}");
        }
    }
}
