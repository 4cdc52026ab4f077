//! Containers without a mount: their entries and the bytes of their files.

use std::path::Path;
use std::sync::Arc;

use hpimount_containers::Archive;
use hpimount_containers::extract::{self, Kind};
use hpimount_containers::format::{Input, Options};
use hpimount_containers::io::{ReadAt, Result};
use hpimount_containers::volume::Entry;

use crate::walked::sha256_of;

/// Opens the bytes of a file called `name`; `beside` returns the files beside
/// it.
pub fn open(
    name: &str,
    bytes: Vec<u8>,
    beside: &dyn Fn(&str) -> Option<Vec<u8>>,
    verify: bool,
) -> Result<Archive> {
    Archive::of(Input {
        source: Arc::new(bytes),
        partner: &|name| Some(Arc::new(beside(name)?) as Arc<dyn ReadAt>),
        tracks: &[],
        options: Options {
            name: name.to_owned(),
            verify,
            ..Options::default()
        },
    })
}

/// Opens a file on disk, and verifies all checksums.
pub fn open_path(path: &Path) -> Result<Archive> {
    let options = Options {
        verify: true,
        ..Options::default()
    };
    Archive::open_with(path, options)
}

/// Shorter ways to the contents of an archive.
pub trait Contents {
    /// Returns the paths of the directories.
    fn directories(&self) -> Vec<&str>;

    /// Returns the paths and the targets of the symbolic links.
    fn links(&self) -> Vec<(&str, &str)>;

    /// Returns all bytes of a file.
    fn bytes(&self, entry: Entry) -> Result<Vec<u8>>;

    /// Returns the SHA-256 of a file in lower-case hexadecimal digits.
    fn sha256(&self, entry: Entry) -> Result<String> {
        Ok(sha256_of(&self.bytes(entry)?))
    }
}

impl Contents for Archive {
    fn directories(&self) -> Vec<&str> {
        let entries = self.entries().filter(|entry| entry.is_directory());
        entries.map(|entry| entry.path()).collect()
    }

    fn links(&self) -> Vec<(&str, &str)> {
        let links = self.entries().filter_map(|entry| match entry.kind() {
            Kind::Link(target) => Some((entry.path(), &**target)),
            _ => None,
        });
        links.collect()
    }

    fn bytes(&self, entry: Entry) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        extract::copy(&**self.volume(), entry, &mut bytes)?;
        Ok(bytes)
    }
}
