//! Entry points for fuzzers: each takes any bytes at all, makes of them
//! whatever the code under test takes, and asserts what must hold whatever
//! the bytes are.
//!
//! The crate in `fuzz/` has libFuzzer call them; `tests/fuzzing.rs` calls
//! them on seeds, on finds and on damaged seeds.

// As in `support`: in a test program nothing is public.
#![allow(unreachable_pub)]

mod archive;
mod asset;
mod build;
mod chunk;
mod container;
mod mount;
mod ops;
pub mod seeds;

pub use archive::{hip, hpi_v1, hpi_v2};
pub use asset::{hgo, ifp, psx};
pub use chunk::{chunk, lz77};
pub use container::{img, pkr, pre, wad, xdvdfs, zip};
pub use mount::vfs;
pub use ops::ops;

/// An entry point, and inputs to begin with.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 16] = [
    target("hpi_v1", hpi_v1, seeds::hpi_v1),
    target("hpi_v2", hpi_v2, seeds::hpi_v2),
    target("chunk", chunk, seeds::chunk),
    target("lz77", lz77, seeds::lz77),
    target("hip", hip, seeds::hip),
    target("psx", psx, seeds::psx),
    target("hgo", hgo, seeds::hgo),
    target("ifp", ifp, seeds::ifp),
    target("img", container::img, container::img_seeds),
    target("wad", container::wad, container::wad_seeds),
    target("pkr", container::pkr, container::pkr_seeds),
    target("pre", container::pre, container::pre_seeds),
    target("zip", container::zip, container::zip_seeds),
    target("xdvdfs", container::xdvdfs, container::xdvdfs_seeds),
    target("vfs", vfs, seeds::vfs),
    target("ops", ops, seeds::ops),
];

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Target {
    Target { name, run, seeds }
}
