//! A mount of the samples of Total Annihilation's formats.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::mount::{Mount, can_mount};
use crate::support::shared;
use crate::support::sources::{folder, names};

/// Returns a mount of the samples, if they exist, with the grey palette that
/// the independent readers use for pictures.
pub fn samples() -> Option<Mount> {
    let samples = shared("samples/ta")?;
    can_mount().then(|| {
        folder(|source| {
            let grey = (0..=255).flat_map(|shade| [shade, shade, shade, 0]);
            fs::create_dir(source.join("palettes")).unwrap();
            fs::write(
                source.join("palettes/palette.pal"),
                grey.collect::<Vec<u8>>(),
            )
            .unwrap();
            for kind in names(&samples) {
                let from = samples.join(&kind);
                if from.is_dir() {
                    fs::create_dir(source.join(&kind)).unwrap();
                    for name in names(&from) {
                        if from.join(&name).is_file() {
                            fs::copy(from.join(&name), source.join(&kind).join(&name)).unwrap();
                        }
                    }
                }
            }
        })
        .mount(&[])
    })
}

/// Returns the bytes of a file.
pub fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the JSON in a file.
pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&read(path)).unwrap()
}
