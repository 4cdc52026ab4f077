//! Helpers of the formats' unit tests: opening a file, and reading all bytes of an entry.

use std::sync::Arc;

use crate::extract::{self, Listing};
use crate::format::{Format, Input, Options};
use crate::io::{Error, ReadAt, Result};
use crate::volume::{Entry, Volume};

/// Another file beside a source, by its name.
pub(super) type Beside = Option<(&'static str, Vec<u8>)>;

/// Opens the file `name` with `format`, if the format detects it.
pub(super) fn open(
    format: &Format,
    name: &str,
    bytes: Vec<u8>,
    beside: Beside,
) -> Result<(Listing, Box<dyn Volume>)> {
    let beside = beside.map(|(name, bytes)| (name, Arc::new(bytes) as Arc<dyn ReadAt>));
    let partner = |wanted: &str| {
        let (name, source) = beside.as_ref()?;
        name.eq_ignore_ascii_case(wanted).then(|| source.clone())
    };
    let input = Input {
        source: Arc::new(bytes),
        partner: &partner,
        tracks: &[],
        options: Options {
            name: name.to_owned(),
            ..Options::default()
        },
    };
    if !(format.matches)(&input)? {
        return Err(Error::UnknownFormat);
    }
    let mut listing = Listing::default();
    let volume = (format.open)(input, &mut listing)?;
    Ok((listing, volume))
}

/// Returns all bytes of a file.
pub(super) fn read(volume: &dyn Volume, entry: Entry) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    extract::copy(volume, entry, &mut bytes)?;
    Ok(bytes)
}
