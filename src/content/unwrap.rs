//! Block images around a source.

use std::sync::Arc;

use super::{Image, Reader};
use hpimount_containers::image::{self, CdTrack};
use hpimount_containers::io::{Error, ReadAt, Result};

/// Maximum number of nested block images around a source.
const MAX_IMAGES: usize = 4;

/// Facts about the block images around a source.
#[derive(Default)]
pub struct Images {
    /// Names of their formats, the outermost first.
    pub formats: Vec<&'static str>,
    /// Memory that they take without their blocks, in bytes.
    pub memory: usize,
    /// The tracks of a CD, from the innermost image.
    pub tracks: Vec<CdTrack>,
    /// Warnings about them.
    pub warnings: Vec<String>,
}

/// Returns the source inside the block images around it; without images,
/// `source` itself.
///
/// # Errors
/// Returns an error if the tables of an image are damaged, or if images are
/// nested too deep.
pub fn unwrap(
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
