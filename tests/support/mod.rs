//! What the integration tests share.

#![allow(dead_code)] // each test program uses its own part of it

pub mod facts;

use std::path::PathBuf;

/// A file or folder of the test material that lies beside the project, or
/// `None`, said on stderr, where the material is absent.
///
/// # Panics
/// Where it is absent and the environment says `CI=true`.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared")).join(path);
    if full.exists() {
        return Some(full);
    }
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{} is absent",
        full.display()
    );
    eprintln!("skipped: {} is absent", full.display());
    None
}
