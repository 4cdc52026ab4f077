//! Spellings of merged directories, used by many concurrent processes (SEMANTICS, Case
//! and Merging).

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::fuse_test;

use testkit::merging::{Folder, folder, text, tree};
use testkit::mount::Mount;

/// The deep directory, in the spelling of the winner.
const DEEP: [&str; 4] = ["Anims", "Fx", "Deep", "Deeper"];

/// Rounds per thread, each with another spelling.
const ROUNDS: usize = 40;

/// Returns a mount of three archives that spell the directories of a path
/// differently, each with files in the deepest one.
fn mounted() -> Mount {
    let sources = Folder::new();
    let spell: [fn(&str) -> String; 3] = [
        str::to_ascii_uppercase,
        str::to_ascii_lowercase,
        str::to_owned,
    ];
    for (number, spell) in spell.into_iter().enumerate() {
        let all = text("all.txt", &number.to_string());
        let own = text(&format!("Own{number}.txt"), "own");
        let deepest = vec![all, own];
        let entries = DEEP
            .iter()
            .rev()
            .fold(deepest, |inside, name| vec![folder(&spell(name), inside)]);
        sources.archive(&format!("{number}.ufo"), entries);
    }
    sources.mount(&["{}/0.ufo", "{}/1.ufo", "{}/2.ufo"])
}

/// Returns a spelling of the deep directory: each bit of `number` is the case
/// of a letter.
fn spelling(mount: &Mount, number: usize) -> PathBuf {
    let mut bits = number;
    let mut respell = |letter: char| {
        bits = bits.rotate_right(1);
        match bits & 1 {
            0 => letter.to_ascii_lowercase(),
            _ => letter.to_ascii_uppercase(),
        }
    };
    let names = DEEP.map(|name| name.chars().map(&mut respell).collect::<String>());
    mount.file(&names.join("/"))
}

/// A shell with a working directory in the mount.
struct Shell {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    directory: PathBuf,
}

impl Shell {
    fn new(directory: PathBuf) -> Self {
        // The `pwd` of the shell would print the directory that it remembers.
        let script = r#"cd "$1" && while read -r line; do env pwd -P; done"#;
        let mut process = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut shell = Self {
            stdin: process.stdin.take().unwrap(),
            stdout: BufReader::new(process.stdout.take().unwrap()),
            process,
            directory,
        };
        shell.assert_stays();
        shell
    }

    /// # Panics
    /// Panics if `getcwd` or `/proc` names another working directory, or none.
    fn assert_stays(&mut self) {
        writeln!(self.stdin).unwrap();
        let mut said = String::new();
        self.stdout.read_line(&mut said).unwrap();
        assert_eq!(Path::new(said.trim_end()), self.directory);
        let link = format!("/proc/{}/cwd", self.process.id());
        assert_eq!(fs::read_link(link).unwrap(), self.directory);
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[fuse_test]
fn working_directories_keep_their_spelling_if_others_use_another() {
    let mount = mounted();
    let mut shells: Vec<Shell> = (0..8)
        .map(|number| Shell::new(spelling(&mount, number * 0x1_2345)))
        .collect();
    shells.push(Shell::new(mount.file(&DEEP.join("/"))));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let mount = &mount;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let deep = spelling(mount, round * 0x9_8765 + thread);
                        let read = |name| fs::read_to_string(deep.join(name)).unwrap();
                        assert_eq!(read("ALL.TXT"), "2");
                        assert_eq!(read("own0.txt"), "own");
                        assert_eq!(read("OWN1.txt"), "own");
                        assert_eq!(fs::read_dir(&deep).unwrap().count(), 4);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                shells.iter_mut().for_each(Shell::assert_stays);
            }
            shells.iter_mut().for_each(Shell::assert_stays);
        });
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
}

#[fuse_test]
fn every_spelling_shows_the_same_files_and_keeps_its_own_parent() {
    let mount = mounted();
    let expected = tree(&mount.file(&DEEP.join("/")));
    assert_eq!(expected.len(), 4);
    for number in 0..32 {
        let deep = spelling(&mount, number * 0x3_1415);
        assert_eq!(tree(&deep), expected);
        let up = fs::canonicalize(deep.join("..")).unwrap();
        assert_eq!(Some(up.as_path()), deep.parent());
    }
}

#[fuse_test]
fn a_process_can_go_up_and_down_again_in_other_spellings() {
    let mount = mounted();
    let walk = |number: usize| {
        let deep = spelling(&mount, number * 0x5_4321);
        let script =
            r#"cd "$1" && cd -P ../../.. && cd fx/dEEp && cat deeper/all.txt && env pwd -P"#;
        let output = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(&deep)
            .output()
            .unwrap();
        let up = deep.ancestors().nth(3).unwrap();
        let expected = format!("2{}\n", up.join("fx/dEEp").display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let walk = &walk;
            scope.spawn(move || (0..8).for_each(|round| walk(8 * round + thread)));
        }
    });
}
