//! Settings of the GNU C library's allocator (malloc tuning). It reads them from
//! the environment before the program begins, so they take a restart.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::cores;

/// Bytes from which on a block of memory is mapped by itself and given back
/// when it is freed, and which a heap may keep free at its end.
const LARGE_BLOCK: usize = 1 << 20;

fn settings() -> [(&'static str, usize); 3] {
    [
        // By default it has eight heaps for each core and reserves 64 MiB for
        // each, which is a large part of what an address space limit leaves,
        // and scatters blocks.
        ("MALLOC_ARENA_MAX", cores().max(2)),
        // By default the limit grows to the largest block that was freed. The
        // first is a buffer of 16 MiB for the kernel's requests, of which a
        // page is used; the next of them would lie in a heap and be cleared,
        // and heaps would keep twice as much free.
        ("MALLOC_MMAP_THRESHOLD_", LARGE_BLOCK),
        ("MALLOC_TRIM_THRESHOLD_", LARGE_BLOCK),
    ]
}

/// Sets them for a program that is about to be started, except for those that
/// the user has set.
pub(super) fn tune(program: &mut Command) {
    for (variable, value) in settings() {
        if env::var_os(variable).is_none() {
            program.env(variable, value.to_string());
        }
    }
}

/// Starts this program again in its own place, as the same process, where its
/// allocator has no settings yet. It returns where it was, and where that
/// cannot be done, which costs only memory.
pub fn settle_allocator() {
    let is_set = |(variable, _)| env::var_os(variable).is_some();
    if !cfg!(target_env = "gnu") || settings().into_iter().all(is_set) {
        return;
    }
    let Ok(program) = env::current_exe() else {
        return;
    };
    let mut args = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    command.args(args);
    tune(&mut command);
    let _ = command.exec();
}
