//! No IFP or HGO file of a megabyte takes more than a second or 64 MiB.

use crate::look_at;
use fixtures::full::{TAIL, full_hgo_files, full_ifp_files};
use hpimount_crash::hgo;
use hpimount_gta::ifp;
use testkit::limits::second;

#[test]
fn a_megabyte_of_the_smallest_parts_stays_within_the_limits() {
    let files = [
        (ifp::FORMAT, full_ifp_files as fn() -> Vec<_>),
        (hgo::FORMAT, full_hgo_files),
    ];
    for (format, files) in files {
        for (name, mut bytes) in files() {
            let (whole, memory) = look_at(&format, &bytes);
            assert!(whole < second(), "{name}: {whole:?}");
            // Objects end with an unknown type, and geometry is truncated.
            let last_type = bytes.len() - 12;
            bytes[last_type] = 9;
            if format.name == hgo::FORMAT.name {
                bytes.truncate(bytes.len() - TAIL);
            }
            let (spoilt, memory_spoilt) = look_at(&format, &bytes);
            assert!(spoilt < second(), "{name}, spoilt: {spoilt:?}");
            let memory = memory.max(memory_spoilt);
            eprintln!(
                "{name}: {whole:?}, spoilt {spoilt:?}, peak {} KiB",
                memory >> 10
            );
            assert!(memory < 64 << 20, "{name}: {memory} bytes");
        }
    }
}
