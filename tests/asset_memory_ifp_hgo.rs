//! No IFP or HGO file of a megabyte takes more than a second or 64 MiB. A
//! separate program, because the memory is that of the whole process.

mod support;

use hpimount_assets::crash::hgo;
use hpimount_assets::gta::ifp;
use support::full::{TAIL, full_hgo_files, full_ifp_files};
use support::limits::{look, peak_memory, second, timed};

#[test]
fn a_megabyte_of_the_smallest_parts_stays_within_the_limits() {
    let before = peak_memory();
    let files = [
        (ifp::FORMAT, full_ifp_files as fn() -> Vec<_>),
        (hgo::FORMAT, full_hgo_files),
    ];
    for (format, files) in files {
        for (name, mut bytes) in files() {
            let whole = timed(|| look(&format, &bytes));
            assert!(whole < second(), "{name}: {whole:?}");
            // Objects end with an unknown type, and geometry is truncated.
            let last_type = bytes.len() - 12;
            bytes[last_type] = 9;
            if format.name == hgo::FORMAT.name {
                bytes.truncate(bytes.len() - TAIL);
            }
            let spoilt = timed(|| look(&format, &bytes));
            assert!(spoilt < second(), "{name}, spoilt: {spoilt:?}");
            let memory = peak_memory() - before;
            eprintln!(
                "{name}: {whole:?}, spoilt {spoilt:?}, peak so far {} KiB",
                memory >> 10
            );
            // All files of a format are in memory at once, and count too.
            assert!(memory < (64 + 8) << 20, "{name}: {memory} bytes");
        }
    }
}
