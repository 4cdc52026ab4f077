//! A mount of the samples of Total Annihilation's formats.

use std::fs;

use crate::shared;
use testkit::mount::Mount;
use testkit::sources::{folder, names};

/// Returns a mount of the samples, if they exist, with the gray palette that
/// the independent readers use for pictures.
pub(super) fn samples() -> Option<Mount> {
    let samples = shared("samples/ta")?;
    let fixture = folder(|source| {
        let gray = (0..=255).flat_map(|shade| [shade, shade, shade, 0]);
        fs::create_dir(source.join("palettes")).unwrap();
        fs::write(
            source.join("palettes/palette.pal"),
            gray.collect::<Vec<u8>>(),
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
    });
    Some(fixture.mount(&[]))
}
