//! Sources that are a single asset: a folder that shows nothing else.

use std::sync::Arc;

use crate::content::MAX_ASSET;
use crate::formats::VIEW_FORMATS;
use crate::mount::Options;
use crate::namespace::companion::{self, Meta, Shows};
use crate::namespace::tree::TreeBuilder;
use hpimount_assets::view::ViewFormat;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{Entry, FileId, Name, Sink, Sources};

/// Returns how a file that is not an archive is shown: by its extension (`None`), or
/// else by its content.
///
/// # Errors
/// Returns [`io::Error::UnknownFormat`] if it is not an asset, or an error if it
/// cannot be read.
pub(crate) fn shows(name: &str, source: &dyn ReadAt) -> io::Result<Option<Shows>> {
    if companion::view_format(name, None).is_some() {
        return Ok(None);
    }
    if source.is_empty() || source.len() > MAX_ASSET {
        return Err(io::Error::UnknownFormat);
    }
    let bytes = io::read_vec(source, 0, source.len(), "file")?.into();
    let matches = |format: &ViewFormat| format.matches(&bytes);
    let format = VIEW_FORMATS.iter().position(matches);
    let format = format.ok_or(io::Error::UnknownFormat)?;
    Ok(Some(Shows::Meta(format as u8)))
}

/// Prepares a builder for an asset, which has the companions that [`shows`] says.
///
/// # Errors
/// Returns the errors of [`shows`].
pub(crate) fn prepare(
    builder: &mut TreeBuilder,
    name: &str,
    source: &dyn ReadAt,
    options: &Options,
) -> io::Result<()> {
    let shows = shows(name, source)?;
    builder.show_others(shows.filter(|_| options.meta != Meta::Off));
    Ok(())
}

/// Declares a source as the file `name`, and returns a volume of it.
///
/// # Errors
/// Returns the errors of the builder.
pub(crate) fn declare(
    builder: &mut TreeBuilder,
    name: &str,
    source: Arc<dyn ReadAt>,
) -> io::Result<Sources> {
    let root = builder.root();
    let entry = Entry {
        file: FileId(0),
        size: Some(source.len()),
        modified: None,
        asset: None,
    };
    builder.file(root, Name::utf_8(name), entry)?;
    Ok(Sources(vec![source]))
}
