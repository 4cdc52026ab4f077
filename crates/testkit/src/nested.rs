//! Files of containers, optionally with the files of nested containers.

use std::collections::BTreeMap;
use std::path::Path;

use hpimount::mount::{Ino, Options};
use hpimount::namespace::companion::Meta;

use crate::walked::{self, Walked};

/// Returns the files, including files in companions of containers, but not in
/// companions of assets.
pub fn files(path: &Path) -> BTreeMap<String, Walked> {
    let options = Options {
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(path.to_owned(), options);
    let vfs = vfs.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    without_reasons(walked::files(&vfs))
}

/// Returns the files of a mount without companions.
pub fn files_alone(path: &Path) -> BTreeMap<String, Walked> {
    let options = Options {
        companions: false,
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(path.to_owned(), options);
    walked::files(&vfs.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Asserts that the plain disc of a block image is a dump with these bytes. Zeros may
/// follow, because writers fill the last block, and some do not store the length of the
/// disc.
pub fn is_plain_disc(path: &Path, dump: &[u8]) {
    let vfs = walked::open(path.to_owned(), Options::default()).unwrap();
    let disc = vfs.lookup(Ino::ROOT, "disc.iso").unwrap();
    let mut bytes = Vec::new();
    while bytes.len() < dump.len() {
        let left = (dump.len() - bytes.len()).min(100_000) as u32;
        let piece = vfs.read(disc.ino, bytes.len() as u64, left).unwrap();
        assert!(
            !piece.is_empty(),
            "{} ends at {}",
            path.display(),
            bytes.len()
        );
        bytes.extend_from_slice(&piece);
    }
    assert!(bytes == dump, "{}", path.display());
    let behind = vfs.read(disc.ino, dump.len() as u64, 100_000).unwrap();
    assert!(behind.iter().all(|&byte| byte == 0), "{}", path.display());
}

/// Returns the files without error messages, which contain offsets in the outer
/// container.
pub fn without_reasons(mut files: BTreeMap<String, Walked>) -> BTreeMap<String, Walked> {
    for file in files.values_mut() {
        file.sha256 = file.sha256.clone().map_err(|_| String::new());
    }
    files
}

/// Returns the name of a file.
pub fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}
