//! Listing and printing the samples matches their mounts.

use std::fs;

use crate::shared;
use testkit::fuse_test;
use testkit::listed::matches_its_mount;

#[fuse_test]
fn listing_and_printing_the_samples_match_their_mounts() {
    let mut sources = Vec::new();
    for folder in ["hpi/quirk", "hip/synthetic", "containers"] {
        let Some(folder) = shared(&format!("samples/{folder}")) else {
            return;
        };
        let entries = fs::read_dir(folder).unwrap();
        sources.extend(entries.map(|entry| entry.unwrap().path()));
    }
    sources.sort();
    // Every tenth is enough.
    let compared = sources.iter().step_by(10);
    let compared = compared.filter(|source| matches_its_mount(source));
    assert!(compared.count() > 0);
}
