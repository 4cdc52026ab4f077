//! Conversion of edited files of a view back to the asset.
//!
//! A writable format has an [`Import`] in its [`ViewFormat`]. The inverse of a view is
//! in the folder of the format, in its `import` or `encode`. An asset keeps its form:
//! size, palette, number of levels, rate. Anything else is refused with a reason and a
//! remedy, which follow the path of the edited file in messages: "has 640x480 pixels,
//! must have 320x240".

use std::ops::Range;

use bytes::Bytes;

use super::{Alone, AssetContext, AssetRef, ViewFile, ViewFormat};
use crate::model::{Reservation, png, quality, wav};
use crate::parse::pixels::encode::OPAQUE;

/// Encodes an edited file in the form of its asset.
///
/// # Errors
/// Returns the reason why the file does not fit.
pub type Import = fn(&Edit<'_>) -> Result<Imported, String>;

/// An asset, and an edited file of its view.
pub struct Edit<'a> {
    /// The asset, with earlier edits.
    pub asset: &'a Bytes,
    /// The unedited asset, which the files of its view show.
    pub original: &'a Bytes,
    /// Environment.
    pub context: &'a dyn AssetContext,
    /// The edited file of the view.
    pub part: &'a ViewFile,
    /// The edited file. It is untrusted.
    pub file: &'a [u8],
}

/// Encodes all edited files of an asset together, including files that its view does
/// not have.
#[derive(Debug, Clone, Copy)]
pub struct ImportAll {
    /// Suffixes of files that may be added.
    pub adds: &'static str,
    /// Encodes the files.
    pub import: fn(&AllEdits<'_>) -> Result<Imported, Vec<Refused>>,
}

/// An asset, and all edited files of its view.
pub struct AllEdits<'a> {
    /// The asset, with earlier edits.
    pub asset: &'a Bytes,
    /// Environment.
    pub context: &'a dyn AssetContext,
    /// The edited files; at least one.
    pub files: &'a [EditedFile],
}

/// An edited file of a view.
#[derive(Debug, Clone)]
pub struct EditedFile {
    /// Path below `X.meta`, such as `000 walk/01.png`.
    pub path: String,
    /// Content, which is untrusted; `None` if it was deleted.
    pub content: Option<Bytes>,
}

/// An edited file that does not fit, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The number of the file in [`AllEdits::files`].
    pub file: usize,
    /// The reason, which follows the path of the file.
    pub reason: String,
}

/// The result of an edit.
#[derive(Debug, PartialEq, Eq)]
pub enum Imported {
    /// The edited file has the same pixels, samples or text as the asset.
    Unchanged,
    /// The asset is new.
    Changed(Changed),
}

/// A changed asset.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Bytes.
    pub asset: Vec<u8>,
    /// Other assets that changed too, such as a table with the asset's length.
    pub others: Vec<(AssetRef, Vec<u8>)>,
    /// Doubtful edits, one sentence each.
    pub warnings: Vec<String>,
    /// Quality of the encoded file, for lossy forms.
    pub quality: Option<String>,
}

impl Imported {
    /// Creates the result of an edit that changes no bytes, with warnings about edits
    /// that cannot be stored.
    pub fn same(asset: &Bytes, warnings: Vec<String>) -> Self {
        match warnings.is_empty() {
            true => Self::Unchanged,
            false => Self::Changed(Changed {
                asset: asset.to_vec(),
                warnings,
                ..Changed::default()
            }),
        }
    }
}

impl From<Vec<u8>> for Imported {
    fn from(asset: Vec<u8>) -> Self {
        Self::Changed(Changed {
            asset,
            ..Changed::default()
        })
    }
}

/// Problems of an edited file, for one report.
#[derive(Debug, Default)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Maximum number of listed problems of a file.
    pub const MAX: usize = 50;

    /// Adds a problem, which begins with its place in the file.
    pub fn add(&mut self, problem: String) {
        if self.0.len() < Self::MAX && !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    /// Returns whether the file has no problem.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Succeeds if the file has no problem.
    ///
    /// # Errors
    /// Returns all problems as one text.
    pub fn check(self) -> Result<(), String> {
        match self.is_empty() {
            true => Ok(()),
            false => Err(self.0.join("; ")),
        }
    }
}

/// Files of a view that can be edited.
#[derive(Debug, Clone, Copy)]
pub struct Editable {
    /// Path in the view, where `*` stands for any text.
    pub file: &'static str,
    /// The editable parts. For a file that cannot be edited, the reason.
    pub what: &'static str,
}

impl Editable {
    /// A picture.
    pub const PNG: Self = Self::new("*.png", "pixels");
    /// A picture in the folder of textures.
    pub const TEXTURES: Self = Self::new("textures/*.png", "pixels");
    /// A sound.
    pub const WAV: Self = Self::new("*.wav", "samples and loop");

    /// Creates a file at a path.
    pub const fn new(file: &'static str, what: &'static str) -> Self {
        Self { file, what }
    }

    pub(super) fn is_file(&self, path: &str) -> bool {
        match self.file.split_once('*') {
            Some((start, end)) => {
                let rest = path.strip_prefix(start);
                rest.is_some_and(|rest| rest.ends_with(end))
            }
            None => path == self.file,
        }
    }
}

/// The refusal for a file that is not the one to edit among several that show the
/// asset.
pub const NOT_THIS_FILE: &str = "is generated, and no asset can be made from it";

/// The pixels of an edited picture, with the memory for their import.
pub type EditedPixels = (Vec<[u8; 4]>, Option<Reservation>);

/// Memory that the import of a picture takes for each pixel, in bytes: the picture, and
/// either the shown pixels, palette indices with their lookup table, or smaller levels.
/// At most two pixels of four bytes exist at a time; the third four bytes are reserve.
/// Does not include the asset, and the colors of
/// [`Fitted`](crate::model::palette::Fitted), which reserves its own memory.
const MEMORY_OF_PIXEL: u64 = 12;

/// Approximate maximum size of a model, as a multiple of the size of its asset.
const MEMORY_OF_MODEL: usize = 3;

/// Reserves memory for the models of an asset before and after an edit, for pictures of
/// assets that contain more than pixels.
///
/// # Errors
/// Returns an error if memory is short.
pub fn reserve_models(edit: &Edit<'_>) -> Result<Option<Reservation>, String> {
    let memory = (2 * MEMORY_OF_MODEL).saturating_mul(edit.asset.len());
    let memory = edit.context.reserve(memory);
    memory.map_err(|error| error.to_string())
}

/// Reads an edited PNG file, which must have `width` by `height` pixels. Returns its
/// pixels, and the memory for their import.
///
/// # Errors
/// Returns the reason why the picture does not fit.
pub fn picture(edit: &Edit<'_>, (width, height): (u32, u32)) -> Result<EditedPixels, String> {
    let file = edit.file;
    let size = u64::from(width) * u64::from(height);
    let found = png::size(file).map_err(|problem| format!("is not a PNG picture: {problem}"))?;
    if found != (width, height) {
        let (x, y) = found;
        return Err(format!(
            "has {x}x{y} pixels, must have {width}x{height}: scale it"
        ));
    }
    let memory = size.saturating_mul(MEMORY_OF_PIXEL);
    let memory = usize::try_from(memory).unwrap_or(usize::MAX);
    let memory = edit
        .context
        .reserve(memory)
        .map_err(|error| error.to_string())?;
    let picture = png::read(file, size);
    let picture =
        picture.map_err(|problem| format!("cannot be read as a PNG picture: {problem}"))?;
    Ok((picture.into_rgba(), memory))
}

/// Reads an edited WAV file. It must have this number of channels, this sample rate,
/// and at least one sample.
pub fn sound(file: &[u8], channels: u16, rate: u32) -> Result<wav::Edited, String> {
    let edited = wav::read(file)?;
    let found = edited.wav;
    if found.channels != channels {
        let has = found.channels;
        return Err(format!(
            "has {has} channels, must have {channels}: convert it with `ffmpeg -i IN.wav -ac \
             {channels} OUT.wav`"
        ));
    }
    if found.rate != rate {
        let has = found.rate;
        return Err(format!(
            "has {has} samples per second, must have {rate}: convert it with `ffmpeg -i IN.wav \
             -ar {rate} OUT.wav`"
        ));
    }
    if edited.samples.is_empty() {
        return Err("has no samples".to_owned());
    }
    Ok(edited)
}

/// Returns the loop of an edited sound, if it differs from the loop `shown` in a sound
/// of `samples` samples.
///
/// # Errors
/// Returns an error if the file lost a loop that does not span the whole sound.
pub fn new_loop(
    edited: &wav::Wav,
    shown: Option<(u32, u32)>,
    samples: u32,
) -> Result<Option<(u32, u32)>, String> {
    let is_other_length = edited.samples != samples;
    let whole = (0, samples.saturating_sub(1));
    if edited.loops.is_none() && is_other_length && shown.is_some_and(|part| part != whole) {
        return Err("has no loop (chunk `smpl`) and another length: give it its loop".to_owned());
    }
    let is_new = |part: &(u32, u32)| is_other_length || shown != Some(*part);
    Ok(edited.loops.filter(is_new))
}

/// Returns a warning if transparent pixels of a picture become opaque.
pub fn opacity_warning(pixels: &[[u8; 4]]) -> Option<String> {
    let count = pixels.iter().filter(|pixel| pixel[3] != 255).count();
    (count > 0).then(|| format!("{count} transparent pixels become opaque"))
}

/// Returns an asset with the pixels of an edited picture, which it shows as `shown`.
/// `form` is the name of the pixel format.
pub fn with_pixels(asset: Vec<u8>, edited: &[[u8; 4]], shown: &[[u8; 4]], form: &str) -> Changed {
    let opaque = edited.iter().zip(shown);
    let opaque = opaque.filter(|(edited, shown)| edited[3] < OPAQUE && shown[3] == 255);
    let opaque = opaque.count();
    let warning = || {
        format!("{opaque} transparent pixels become opaque: a texture of form {form} has no alpha")
    };
    Changed {
        asset,
        warnings: (opaque > 0).then(warning).into_iter().collect(),
        quality: quality::of_pixels(edited, shown),
        ..Changed::default()
    }
}

/// Returns the place of a slice of `file`.
///
/// # Errors
/// Returns a reason if `slice` belongs to another buffer.
pub fn place_of(file: &Bytes, slice: &Bytes) -> Result<Range<usize>, String> {
    if slice.is_empty() {
        return Ok(0..0);
    }
    let start = (slice.as_ptr() as usize).checked_sub(file.as_ptr() as usize);
    let place = start.map(|start| start..start + slice.len());
    let place = place.filter(|place| place.end <= file.len());
    place.ok_or_else(|| "shows pixels that are not in the file".to_owned())
}

/// Overwrites `old`, a slice of `file`, with `new` in a copy of the file. If the file
/// ends early, the rest is left out.
///
/// # Errors
/// Returns a reason if `old` belongs to another buffer.
pub fn overwrite(file: &Bytes, old: &Bytes, new: &[u8], copy: &mut [u8]) -> Result<(), String> {
    let place = &mut copy[place_of(file, old)?];
    let length = place.len().min(new.len());
    place[..length].copy_from_slice(&new[..length]);
    Ok(())
}

/// Edits the file with this path of an asset's view, such as `textures/0.png`, without
/// access to other files of the mount.
///
/// # Errors
/// Returns the reason why the file cannot be edited this way.
pub fn edited(
    format: &ViewFormat,
    asset: &[u8],
    path: &str,
    file: &[u8],
) -> Result<Imported, String> {
    let import = format.import.ok_or(NOT_THIS_FILE)?;
    let asset = Bytes::copy_from_slice(asset);
    import(&Edit {
        asset: &asset,
        original: &asset,
        context: &Alone,
        part: &ViewFile::at(path),
        file,
    })
}
