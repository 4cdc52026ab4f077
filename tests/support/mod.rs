//! Code shared by the integration tests.

// Every integration test is a separate program, in which nothing is public, and
// uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod bombs;
pub mod container_seeds;
pub mod containers;
pub mod disc;
pub mod each_method;
pub mod extracted;
pub mod facts;
pub mod faulty;
pub mod faulty_fs;
pub mod faulty_mount;
pub mod files;
pub mod full;
pub mod gltf;
pub mod goldens;
pub mod hip;
pub mod hip_golden;
pub mod hip_random;
pub mod hpi;
pub mod hpipack;
pub mod limits;
pub mod load;
pub mod matrix;
pub mod merge_model;
pub mod merging;
pub mod mount;
pub mod mounted;
pub mod odd_reads;
mod patterns;
pub mod pictures;
pub mod plain;
pub mod programs;
pub mod record;
pub mod reference;
pub mod remote;
pub mod skip;
pub mod sources;
pub mod ta;
pub mod ta_samples;
pub mod trial;
pub mod views;
pub mod walked;

use std::path::PathBuf;

pub use patterns::{noise, text};

/// Returns a file or folder of the samples beside the repository. If it is
/// absent, returns `None` and reports that the test is skipped.
///
/// # Panics
/// Panics if it is absent and `CI=true`.
pub fn shared(path: &str) -> Option<PathBuf> {
    let found = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).join(path);
    let missing = format!("{} is missing", found.display());
    skip::possible(found.exists(), &missing).then_some(found)
}
