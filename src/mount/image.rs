//! Block images around a volume.

use std::sync::Arc;

use crate::content::{Image, Reader};
use hpimount_containers::image::{self, CdTrack};
use hpimount_containers::io::{Error, ReadAt, Result};

/// Maximum number of nested block images around a volume.
const MAX_IMAGES: usize = 4;

/// Facts about the block images around a volume.
#[derive(Default)]
pub(super) struct Images {
    /// Names of their formats, the outermost first.
    pub(super) formats: Vec<&'static str>,
    /// Memory that they take without their blocks, in bytes.
    pub(super) memory: usize,
    /// The tracks of a CD, from the innermost image.
    pub(super) tracks: Vec<CdTrack>,
    /// Warnings about them.
    pub(super) warnings: Vec<String>,
}

/// Returns the source inside the block images around it; without images,
/// `source` itself.
///
/// # Errors
/// Returns an error if the tables of an image are damaged, or if images are
/// nested too deep.
pub(super) fn unwrap(
    reader: &Arc<Reader>,
    mut source: Arc<dyn ReadAt>,
) -> Result<(Arc<dyn ReadAt>, Images)> {
    let mut images = Images::default();
    while let Some(format) = image::detect(&*source)? {
        if images.formats.len() == MAX_IMAGES {
            let text = format!("is a block image in more than {MAX_IMAGES} others");
            return Err(Error::Unsupported(text));
        }
        let image = (format.open)(source)?;
        images.formats.push(format.name);
        images.warnings.extend_from_slice(image.warnings());
        images.tracks = image.tracks().to_vec();
        let image = Image::new(reader, image);
        images.memory += image.memory();
        source = Arc::new(image);
    }
    Ok((source, images))
}
