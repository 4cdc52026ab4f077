//! Settings of the GNU C library's allocator, see mallopt(3).

/// Changes the allocator of this process, so that threads share heaps, and freed
/// memory returns to the system. What the user has set in the environment stays.
///
/// It must be called before threads are started. Other allocators have no such
/// settings.
pub fn settle_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    gnu::settle();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu {
    use std::ffi::c_int;

    use crate::app::cores;
    use hpimount_containers::io::LARGE_BLOCK;

    /// A setting: its environment variable, its number, and the value.
    type Setting = (&'static str, c_int, usize);

    fn settings() -> [Setting; 3] {
        [
            // The default is eight heaps per core with 64 MiB of reserved address
            // space each, which uses up much of an address space limit. Each heap
            // has gaps of several MiB between blocks of data. Threads rarely wait
            // for each other, since they mostly allocate whole blocks: on two cores
            // one heap is as fast as two.
            ("MALLOC_ARENA_MAX", libc::M_ARENA_MAX, cores().div_ceil(4)),
            // By default the limit grows to the largest freed block. The first one
            // is a buffer of 16 MiB for the kernel's requests, but only one page of
            // it is used; later ones would be allocated from a heap and cleared,
            // and heaps would retain twice as much free memory.
            (
                "MALLOC_MMAP_THRESHOLD_",
                libc::M_MMAP_THRESHOLD,
                LARGE_BLOCK,
            ),
            // Maximum free memory that a heap keeps at its end.
            (
                "MALLOC_TRIM_THRESHOLD_",
                libc::M_TRIM_THRESHOLD,
                LARGE_BLOCK,
            ),
        ]
    }

    pub(super) fn settle() {
        for (variable, number, value) in settings() {
            if std::env::var_os(variable).is_none()
                && let Ok(value) = c_int::try_from(value)
            {
                set(number, value);
            }
        }
    }

    #[expect(unsafe_code, reason = "no crate has a safe interface")]
    fn set(number: c_int, value: c_int) {
        // SAFETY: mallopt takes two numbers, and ignores those that it does not
        // know. It locks the allocator.
        unsafe { libc::mallopt(number, value) };
    }
}
