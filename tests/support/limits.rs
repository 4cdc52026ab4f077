//! Limits on time and memory of a view.

use std::fs;
use std::time::{Duration, Instant};

use hpimount::view::{Alone, Bytes, ViewFormat};

use super::views::rendering;

/// Opens bytes of any kind and makes everything that there is to see of them.
pub fn look(format: &ViewFormat, bytes: &[u8]) {
    match (format.open)(&Bytes::copy_from_slice(bytes), &Alone) {
        Ok(view) => {
            for (index, file) in view.files().iter().enumerate() {
                let text = rendering(&*view, index);
                // Tables and JSON have a frame at least; a list of names may
                // be empty.
                assert!(!text.is_empty() || file.name == "names.txt", "{file:?}");
            }
        }
        Err(failure) => assert!(failure.error.to_string().contains("0x")),
    }
}

/// Returns the time that a second of the finished program may take here:
/// programs under test are not optimised.
pub fn second() -> Duration {
    Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 })
}

/// Runs `work` and says how long it took.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Returns the most memory that this process has had at any time, in bytes.
pub fn peak_memory() -> usize {
    peak_memory_of("self")
}

/// Returns the most memory that the process `pid` has had at any time, in
/// bytes.
pub fn peak_memory_of(pid: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<usize>().unwrap() * 1024
}
