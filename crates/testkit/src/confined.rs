//! Confined threads of other processes, according to `/proc`.

use std::fs;

/// Returns the number of threads called `confined`, in the process `pid`, that
/// can gain no privileges and whose system calls are filtered.
pub fn confined_threads(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let statuses = tasks.map(|task| fs::read_to_string(task.path().join("status")));
    let is_confined = |status: &String| {
        let has = |line| status.lines().any(|other| other == line);
        has("Name:\tconfined") && has("NoNewPrivs:\t1") && has("Seccomp:\t2")
    };
    statuses.flatten().filter(is_confined).count()
}
