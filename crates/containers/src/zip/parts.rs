//! Archives in several parts: each file is in a part and at an offset there.

use std::sync::Arc;

use super::SPANNED;
use super::directory::{self, Part};
use crate::format::Input;
use crate::io::{Composed, Error, ReadAt, Result, undamaged};
use crate::parts::{beside_zip, of_zip};

/// An archive with all its parts.
pub(super) struct Archive {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) parts: Vec<Part>,
}

/// Joins the parts of an archive of which the input is the first or the last.
///
/// # Errors
/// Returns an error that names a missing part.
pub(super) fn join(input: &Input<'_>) -> Result<Archive> {
    let own = &input.options.name;
    let is_part = input.bytes(0, SPANNED.len() as u64)? == SPANNED;
    let source = directory::counted(&input.source)?;
    let (last, end, name) = match undamaged(directory::end(&*source))? {
        Some(end) => (source, end, own.clone()),
        None if is_part => {
            // The first part; the directory is in the last one.
            let name = beside_zip(own).next().unwrap_or_default();
            let last = (input.partner)(&name).ok_or_else(|| missing(&name))?;
            let end = directory::end(&*last)?;
            (last, end, name)
        }
        None => return Ok(Archive::single(&source)),
    };
    // The largest number stands for one that is elsewhere.
    if end.disk == 0 || end.disk == u16::MAX {
        return Ok(Archive::single(&last));
    }
    let mut sources = Vec::new();
    for name in of_zip(&name, end.disk.into()) {
        sources.push((input.partner)(&name).ok_or_else(|| missing(&name))?);
    }
    sources.push(last);
    let (mut joined, mut parts) = (Composed::default(), Vec::new());
    for source in sources {
        parts.push(Part {
            start: joined.len(),
        });
        joined.append_all(&source);
    }
    Ok(Archive {
        source: Arc::new(joined),
        parts,
    })
}

fn missing(name: &str) -> Error {
    Error::Unsupported(format!(
        "is a part of a zip archive in several parts, and the part {name} is missing"
    ))
}

impl Archive {
    fn single(source: &Arc<dyn ReadAt>) -> Self {
        Self {
            source: source.clone(),
            parts: vec![Part { start: 0 }],
        }
    }
}
