//! No IFP or HGO file of a megabyte takes more than a second and 64 MiB. A
//! separate program, because the memory is that of the whole process.

mod support;

use hpimount::view::{hgo, ifp};
use support::full::{TAIL, full_hgo_files, full_ifp_files};
use support::limits::{look, peak_memory, second, timed};

#[test]
fn a_megabyte_of_the_smallest_parts_takes_no_more_than_its_due() {
    let before = peak_memory();
    let files = [
        (ifp::FORMAT, full_ifp_files as fn() -> Vec<_>),
        (hgo::FORMAT, full_hgo_files),
    ];
    for (format, files) in files {
        for (name, mut bytes) in files() {
            let whole = timed(|| look(&format, &bytes));
            assert!(whole < second(), "{name}: {whole:?}");
            // Objects with an unknown type at the end, geometry without one.
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
            // The files of a format, all there at once, take some as well.
            assert!(memory < (64 + 8) << 20, "{name}: {memory} bytes");
        }
    }
}
