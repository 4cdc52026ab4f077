//! Limits on time and memory of a view.

use std::fs;
use std::time::{Duration, Instant};

use hpimount_assets::view::{Alone, Bytes, ViewFormat};

use crate::views::rendering;

/// Opens arbitrary bytes, and renders all files of their view.
pub fn look(format: &ViewFormat, bytes: &[u8]) {
    match (format.open)(&Bytes::copy_from_slice(bytes), &Alone) {
        Ok(view) => {
            for (index, file) in view.files().iter().enumerate() {
                let text = rendering(&*view, index);
                // Tables and JSON are never empty; a list of names may be.
                assert!(!text.is_empty() || file.name == "names.txt", "{file:?}");
            }
        }
        Err(failure) => assert!(failure.to_string().contains("0x")),
    }
}

/// Scales the time limit for work that takes a second with optimization, which programs
/// under test do not have.
pub fn second() -> Duration {
    Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 })
}

/// Runs `work` and returns its duration.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Returns the peak memory of the process `pid`, in bytes.
pub fn peak_memory_of(pid: &str) -> usize {
    memory_of(pid, "VmHWM:")
}

/// Returns the peak memory of the process `pid`, without the program's own code and data,
/// in bytes.
pub fn peak_beside_program(pid: &str) -> usize {
    peak_memory_of(pid) - program_memory_of(pid)
}

/// Returns the resident memory of the program's own code and data in the process `pid`,
/// in bytes. It is larger without optimization.
pub fn program_memory_of(pid: &str) -> usize {
    memory_of(pid, "RssFile:")
}

fn memory_of(pid: &str, field: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<usize>().unwrap() * 1024
}
