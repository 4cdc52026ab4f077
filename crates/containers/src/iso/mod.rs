//! ISO 9660 discs, plain and as raw CD images, with names of Rock Ridge or Joliet
//! and files packed by zisofs. The format is described in `docs/formats/iso.md`.

mod apply;
mod descriptors;
mod directory;
mod open;
mod record;
mod rock_ridge;
mod susp;
mod zisofs;

pub(crate) use self::apply::{Space, splice};
pub(crate) use self::open::read;
use crate::changes::Changeable;
use crate::disc::sector::{begins_descriptor, begins_frame, has_frames, has_sectors};
use crate::disc::{self, DESCRIPTORS, SECTOR, Sectors};
use crate::file_type::FileType;
use crate::format::{Ambiguous, Format, Input};
use crate::io::{Result, read_vec, undamaged};
use crate::volume::{Sink, Volume};

/// The format of ISO 9660 images.
pub const FORMAT: Format = Format {
    name: "ISO 9660",
    extensions: &["iso"],
    ambiguous: &[
        raw_sectors("bin", Some(has_frames), Some("cue")),
        raw_sectors("img", None, None),
        raw_sectors("mdf", None, None),
        user_data("bin", Some("cue")),
        user_data("img", None),
        user_data("mdf", None),
    ],
    types: &[
        FileType::new("application/x-cd-image", None),
        FileType::new("application/vnd.efi.iso", None),
    ],
    matches,
    open,
    change: Some(|input, sink| {
        let disc = disc::open(&input, sink, read)?;
        Ok(Changeable::of_input(disc, input, apply::apply))
    }),
    ..Format::PLAIN
};

/// An extension of images of raw sectors.
const fn raw_sectors(
    extension: &'static str,
    may_have: Option<fn(u64) -> bool>,
    sheet: Option<&'static str>,
) -> Ambiguous {
    Ambiguous {
        extension,
        at: 0,
        begins: begins_frame,
        confirms: None,
        may_have,
        sheet,
    }
}

/// An extension of images of user data alone, which have a volume descriptor.
const fn user_data(extension: &'static str, sheet: Option<&'static str>) -> Ambiguous {
    Ambiguous {
        extension,
        at: DESCRIPTORS * SECTOR,
        begins: begins_descriptor,
        confirms: None,
        may_have: Some(has_sectors),
        sheet,
    }
}

/// Suffixes of the files with the whole contents of a file's sectors: bare, and as
/// players open sounds, movies, and those of Video CDs.
const RAW_SUFFIX: &str = ".raw2336";
const SOUND_SUFFIX: &str = ".cdxa.xa";
const MOVIE_SUFFIX: &str = ".cdxa.str";
const VIDEO_CD_SUFFIX: &str = ".cdxa.dat";

/// All of these suffixes.
pub const SECTOR_SUFFIXES: [&str; 4] = [RAW_SUFFIX, SOUND_SUFFIX, MOVIE_SUFFIX, VIDEO_CD_SUFFIX];

fn matches(input: &Input<'_>) -> Result<bool> {
    Ok(disc::data_range(input).is_none() || disc::data_sectors(input)?.is_some())
}

fn open(input: Input<'_>, sink: &mut dyn Sink) -> Result<Box<dyn Volume>> {
    disc::open(&input, sink, read)
}

/// Returns whether there is a volume descriptor of ISO 9660.
///
/// # Errors
/// Returns [`crate::io::Error::Read`] if the source cannot be read.
pub(crate) fn is_in(sectors: &Sectors) -> Result<bool> {
    let id = undamaged(read_vec(sectors, DESCRIPTORS * SECTOR + 1, 5, "identifier"))?;
    Ok(id.is_some_and(|id| id == b"CD001"))
}
