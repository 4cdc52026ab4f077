//! Processes of tests: run to their end, or observed.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, Once};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::{PATIENCE, TAG, eventually};
use crate::programs::built;

/// Environment variable that makes the program accept any cache size.
pub const TINY_CACHE: &str = "HPIMOUNT_TEST_TINY_CACHE";

/// Returns a command that runs the program, which accepts any size of the cache.
pub fn hpimount() -> Command {
    let mut command = Command::new(built("hpimount"));
    command.env(TINY_CACHE, "1");
    command
}

/// Returns a command that runs a command of `hpi`, which accepts any size of the cache.
pub fn hpi(command: &str) -> Command {
    let mut hpi = Command::new(built("hpi"));
    hpi.arg(command).env(TINY_CACHE, "1");
    hpi
}

/// Name in `/proc` of the guard process, which unmounts when another process is killed.
const GUARD: &str = "hpimount-guard\n";

/// The result of running a program.
#[derive(Debug)]
pub struct Run {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end.
///
/// # Panics
/// Panics if it does not end for a long time, after killing it.
pub fn run(command: &mut Command) -> Run {
    adopt_orphans();
    // Files, because a background process would keep a pipe open.
    let [mut stdout, mut stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().unwrap())
        .stderr(stderr.try_clone().unwrap())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let start = std::time::Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} does not end: {}", text(&mut stderr));
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    Run {
        code,
        stdout: text(&mut stdout),
        stderr: text(&mut stderr),
    }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Makes this process the reaper of daemons whose parents have exited, to get
/// their exit codes.
pub fn adopt_orphans() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    });
}

/// A process that serves a mount.
#[derive(Debug)]
pub struct Daemon {
    pid: Pid,
    ended: Mutex<Option<WaitStatus>>,
}

impl Daemon {
    /// Returns the process that was started with this tag in its environment.
    pub fn find(tag: &str) -> Option<Self> {
        Self::find_but(tag, None)
    }

    /// Returns the same, but never the process `other`.
    pub fn find_but(tag: &str, other: Option<Pid>) -> Option<Self> {
        let wanted = format!("{TAG}={tag}");
        let tagged = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            name != GUARD && variables.any(|variable| variable == wanted.as_bytes())
        };
        let numbers = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|pid| Pid::from_raw(*pid) != other);
        let pid = Pid::from_raw(numbers.into_iter().find(tagged)?)?;
        Some(Self::new(pid))
    }

    pub fn of(child: &Child) -> Self {
        Self::new(Pid::from_child(child))
    }

    fn new(pid: Pid) -> Self {
        Self {
            pid,
            ended: Mutex::new(None),
        }
    }

    /// Returns its id.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        // Its id is not reused before `has_ended` reaps it.
        rustix::process::kill_process(self.pid, signal).unwrap();
    }

    /// Returns the process that unmounts when this one is killed.
    pub fn guard(&self) -> Option<Pid> {
        let children = format!("/proc/{0}/task/{0}/children", self.pid());
        let children = fs::read_to_string(children).unwrap();
        let mut children = children.split_whitespace();
        let is_guard = |pid: &&str| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == GUARD)
        };
        Pid::from_raw(children.find(is_guard)?.parse().unwrap())
    }

    /// Kills it and its guard, so that the mount stays.
    pub fn kill_with_guard(&self) {
        rustix::process::kill_process(self.guard().unwrap(), Signal::KILL).unwrap();
        self.signal(Signal::KILL);
    }

    /// Returns whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.status().is_some()
    }

    fn status(&self) -> Option<WaitStatus> {
        let mut ended = self.ended.lock().unwrap();
        if ended.is_none() {
            let waited = rustix::process::waitpid(Some(self.pid), WaitOptions::NOHANG).unwrap();
            *ended = waited.map(|(_, status)| status);
        }
        *ended
    }

    /// Waits for its end, and returns the exit code; `None` after a signal.
    pub fn wait(&self) -> Option<i32> {
        eventually("the daemon ends", || self.has_ended());
        self.status().and_then(|status| status.exit_status())
    }

    /// # Panics
    /// Panics if it has ended.
    pub fn assert_running(&self) {
        assert!(!self.has_ended(), "the daemon has ended: {self:?}");
    }

    /// Waits for its end, and kills it after a long time.
    ///
    /// # Panics
    /// Panics if it had to be killed, unless the test has already failed.
    pub fn end(&self) {
        let start = std::time::Instant::now();
        let patience = if std::thread::panicking() {
            PATIENCE / 10
        } else {
            PATIENCE
        };
        while !self.has_ended() {
            if start.elapsed() > patience {
                self.signal(Signal::KILL);
                self.wait();
                assert!(std::thread::panicking(), "the daemon did not end by itself");
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}
