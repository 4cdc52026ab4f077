//! A mount of an archive on a file system with faults.

use std::fs;

use testkit::each_method::archive;
use testkit::faulty_fs::{FaultyFs, Mode};
use testkit::mount::{Fixture, Mount};

/// Name of the archive on the faulty file system.
pub(crate) const ARCHIVE: &str = "sample.hpi";

/// A mount of an archive on a faulty file system.
pub(crate) struct Faulty {
    /// Dropped before the file system that it reads.
    pub(crate) mount: Option<Mount>,
    pub(crate) source: FaultyFs,
}

impl Faulty {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let (fixture, source) = fixture();
        Self {
            mount: Some(fixture.mount(arguments)),
            source,
        }
    }

    pub(crate) fn mount(&self) -> &Mount {
        self.mount.as_ref().unwrap()
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        // Hanging reads would keep the daemon running.
        self.source.set(Mode::Fine);
    }
}

/// Returns a fixture that mounts [`archive`] from a faulty file system.
fn fixture() -> (Fixture, FaultyFs) {
    let mut fixture = Fixture::new();
    let source = fixture.dir().join("source");
    fs::create_dir(&source).unwrap();
    fixture.archive = source.join(ARCHIVE);
    let source = FaultyFs::new(&source, &[(ARCHIVE, &archive())]);
    (fixture, source)
}
