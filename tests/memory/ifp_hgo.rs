//! No IFP or HGO file of a megabyte takes more than a second or 64 MiB.

use crate::look_at;
use fixtures::full::{TAIL, full_hgo_files, full_ifp_files};
use hpimount_assets::view::ViewFormat;
use hpimount_crash::hgo;
use hpimount_gta::ifp;
use testkit::limits::second;

#[test]
fn a_megabyte_of_the_smallest_parts_of_an_ifp_stays_within_the_limits() {
    assert_bounded(&ifp::FORMAT, full_ifp_files(), 0);
}

#[test]
fn a_megabyte_of_the_smallest_parts_of_an_hgo_stays_within_the_limits() {
    assert_bounded(&hgo::FORMAT, full_hgo_files(), TAIL);
}

/// Looks at each file as it is, and then with an unknown type of its last object and
/// without its last `cut` bytes.
fn assert_bounded(format: &ViewFormat, files: Vec<(&'static str, Vec<u8>)>, cut: usize) {
    for (name, mut bytes) in files {
        let (whole, memory) = look_at(format, &bytes);
        assert!(whole < second(), "{name}: {whole:?}");
        let last_type = bytes.len() - 12;
        bytes[last_type] = 9;
        bytes.truncate(bytes.len() - cut);
        let (spoilt, memory_spoilt) = look_at(format, &bytes);
        assert!(spoilt < second(), "{name}, spoilt: {spoilt:?}");
        let memory = memory.max(memory_spoilt);
        eprintln!(
            "{name}: {whole:?}, spoilt {spoilt:?}, peak {} KiB",
            memory >> 10
        );
        assert!(memory < 64 << 20, "{name}: {memory} bytes");
    }
}
