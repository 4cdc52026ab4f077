//! Files of containers, with and without the files of the containers in them.

use std::collections::BTreeMap;
use std::path::Path;

use hpimount::mount::Options;
use hpimount::namespace::companion::Meta;

use super::walked::{self, Walked};

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

/// Returns the files without the errors of reading them, which contain offsets
/// in the outer container.
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
