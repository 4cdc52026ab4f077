//! Wrappers of a source: block images, and the compression of a tar archive.

use std::sync::Arc;

use super::{Image, Images, Member, Reader};
use hpimount_containers::compressed;
use hpimount_containers::format::{Input, Options};
use hpimount_containers::image::{self, MAX_NESTED};
use hpimount_containers::io::{BlockBuffer, Error, ReadAt, Result};

/// Returns the source inside the block images around it, or the tar archive in
/// a compressed one; otherwise `source` itself.
///
/// # Errors
/// Returns an error if the tables of an image or the compressed data are
/// damaged, or if images are nested too deep.
pub fn unwrap(
    reader: &Arc<Reader>,
    mut source: Arc<dyn ReadAt>,
    options: &Options,
) -> Result<(Arc<dyn ReadAt>, Images)> {
    let mut images = Images::default();
    while let Some(format) = image::detect(&*source)? {
        if images.formats.len() == MAX_NESTED {
            let text = format!("is a block image in more than {MAX_NESTED} others");
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
    let input = Input::alone(source, options.clone());
    if let Some(tar) = compressed::packed_tar(&input)? {
        images.formats.push(tar.format);
        let archive = Member::unpacked(reader, tar.format, tar.volume)?;
        let volume = &archive.volume.volume;
        images.memory += volume.memory();
        images.warnings.extend_from_slice(volume.warnings());
        // Its headers are read one by one.
        return Ok((Arc::new(BlockBuffer::new(Arc::new(archive))), images));
    }
    Ok((input.source, images))
}
