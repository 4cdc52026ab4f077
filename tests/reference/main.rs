//! Comparisons with the samples and independent readers in the folder `../shared`
//! beside the repository. Nothing else reads that folder; without it, all tests here
//! are skipped.

mod assets;
mod check;
mod containers;
mod desktop;
mod diff;
mod discs;
mod editing;
#[cfg(feature = "remote")]
#[path = "../remote/fixtures/mod.rs"]
mod fixtures;
mod gta;
mod heavy_iron;
mod hip;
mod hpi;
mod list;
mod neversoft;
mod odd_reads;
mod pack;
mod patches;
mod player;
mod resources;
#[cfg(feature = "remote")]
mod servers;
mod total_annihilation;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Once;

/// Returns a file or folder of `../shared`; `None` if there is no such folder,
/// which is reported once.
///
/// # Panics
/// Panics if only the file is missing.
fn shared(path: &str) -> Option<PathBuf> {
    static REPORT: Once = Once::new();
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared"));
    if !folder.exists() {
        let why = format!("all comparisons, because {} is missing", folder.display());
        REPORT.call_once(|| testkit::skip::report("reference", &why));
        return None;
    }
    let found = folder.join(path);
    assert!(found.exists(), "{} is missing", found.display());
    Some(found)
}
