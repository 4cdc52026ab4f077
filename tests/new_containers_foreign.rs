//! Containers by other programs, in the forms that have needed care.

#[path = "support"]
#[allow(dead_code, unreachable_pub)]
mod support {
    pub mod container_seeds;
    pub mod programs;
    pub mod skip;
    pub mod walked;
}

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hpimount::mount::Options;
use hpimount::namespace::companion::Meta;
use support::container_seeds;
use support::programs::run_in;
use support::walked::{self, Walked};

/// Returns the files of a mount without companions.
fn mounted(path: &Path) -> BTreeMap<String, Walked> {
    let options = Options {
        companions: false,
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(path.to_owned(), options);
    walked::files(&vfs.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Returns what a mount must show of a file.
fn file(bytes: &[u8]) -> Walked {
    Walked {
        size: bytes.len() as u64,
        sha256: Ok(walked::sha256_of(bytes)),
    }
}

#[test]
fn a_ciso_of_a_disc_that_ends_in_zeros_has_them() {
    const ZEROS: usize = 12 << 20;
    let mut disc = container_seeds::gcm();
    let size = disc.len() as u32;
    // The last file: its position and size are the last two numbers of the FST.
    let entry = 0x2600 + 3 * 12;
    disc[entry + 4..entry + 8].copy_from_slice(&size.to_be_bytes());
    disc[entry + 8..entry + 12].copy_from_slice(&(ZEROS as u32).to_be_bytes());
    disc.resize(disc.len() + ZEROS, 0);
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("disc.iso"), disc).unwrap();
    let arguments = ["copy", "disc.iso", "disc.ciso", "--ciso"];
    if !run_in(directory.path(), "wit", &arguments) {
        return;
    }
    let found = mounted(&directory.path().join("disc.ciso"));
    assert_eq!(found["files/bb/c.HIP"], file(&vec![0; ZEROS]));
}
