//! Settings of the GNU C library's allocator (malloc tuning). It reads them
//! from the environment at program start, so setting them requires a restart.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::cores;
use hpimount_containers::io::LARGE_BLOCK;

fn settings() -> [(&'static str, usize); 3] {
    [
        // The default is eight heaps per core with 64 MiB of reserved address
        // space each, which uses up much of an address space limit. Each heap
        // has gaps of several MiB between blocks of data. Threads rarely wait
        // for each other, since they mostly allocate whole blocks: on two cores
        // one heap is as fast as two.
        ("MALLOC_ARENA_MAX", cores().div_ceil(4)),
        // By default the limit grows to the largest freed block. The first one
        // is a buffer of 16 MiB for the kernel's requests, but only one page of
        // it is used; later ones would be allocated from a heap and cleared,
        // and heaps would retain twice as much free memory.
        ("MALLOC_MMAP_THRESHOLD_", LARGE_BLOCK),
        // What a heap may keep free at its end.
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

/// Restarts this program in the same process if its allocator has no settings
/// yet. Returns if it has, and if a restart is not possible, which only
/// increases memory use.
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
