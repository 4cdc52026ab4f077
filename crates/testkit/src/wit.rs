//! GameCube discs in the formats that `wit` writes.

use std::fs;
use std::path::Path;

use crate::nested::{files_alone, is_plain_disc};
use crate::programs::run_in;

/// Asserts that a disc has the same files in other formats, and that they contain the
/// same plain disc: an extension and the option of `wit` for each.
pub fn keeps_the_files(disc: &Path, forms: &[(&str, &str)]) {
    let files = |path: &Path| {
        let mut files = files_alone(path);
        files.retain(|path, _| path.starts_with("files/"));
        files
    };
    let expected = files(disc);
    assert!(!expected.is_empty());
    for (extension, form) in forms {
        let directory = tempfile::tempdir().unwrap();
        let out = format!("disc.{extension}");
        let arguments = ["copy", disc.to_str().unwrap(), &out, form];
        if !run_in(directory.path(), "wit", &arguments) {
            return;
        }
        let out = directory.path().join(&out);
        assert_eq!(files(&out), expected, "{form}");
        is_plain_disc(&out, &fs::read(disc).unwrap());
    }
}
