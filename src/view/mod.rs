//! Synthetic files: what a parsed asset looks like as JSON, tables, text,
//! pictures and models.
//!
//! Beside an asset `X` stands a directory `X.meta`; its files are the
//! [`ViewFile`]s of the asset's [`View`]. A new asset format is one folder in
//! `asset/`, one here, and one line in [`VIEW_FORMATS`].

mod context;
pub mod converted;
pub mod heavy_iron;
pub mod hgo;
pub mod ifp;
pub mod json;
mod listed;
pub mod psx;
pub mod report;
mod summary;
pub mod ta;

pub use self::context::{
    Alone, AssetContext, AssetRef, ChosenPalette, MakeShared, NamedAsset, Shared, Wanted,
};
use self::converted::Conversion;
pub use self::summary::Summary;
pub use crate::text::Table;
pub use bytes::Bytes;

use std::borrow::Cow;
use std::io::{self, Write};

use crate::io::Error;
use crate::text::has_extension;

/// One synthetic file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFile {
    /// Folder below `X.meta`, where it is not in `X.meta` itself.
    pub folder: Option<Cow<'static, str>>,
    /// Name of the file, as the asset spells it; it is made safe where it is
    /// shown.
    pub name: String,
}

/// A parsed asset that can be looked at.
pub trait View: Send + Sync {
    /// Returns the synthetic files. The order is fixed: a file's number is its
    /// place.
    fn files(&self) -> Vec<ViewFile>;

    /// Writes the bytes of the file with number `index`, the same bytes
    /// whenever it is asked; nothing for a number that does not exist. What
    /// can be long is written piece by piece and never held in memory as a
    /// whole. `context` is that of the asset, as when it was parsed.
    ///
    /// # Errors
    /// Those of `out`, which end the rendering at once.
    fn render(
        &self,
        index: usize,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Returns the size of the file with number `index` in bytes, if known
    /// without rendering the file.
    fn size(&self, index: usize) -> Option<u64> {
        let _ = index;
        None
    }

    /// Returns why the asset could not be parsed to its end, where it could
    /// not.
    fn failure(&self) -> Option<&Error> {
        None
    }

    /// Returns the number of the first file that is `wanted`.
    fn position(&self, wanted: &dyn Fn(&ViewFile) -> bool) -> Option<usize> {
        self.files().iter().position(wanted)
    }

    /// Returns the memory that the model takes on the heap and itself, in
    /// bytes. The bytes that it was parsed from are not counted: the model
    /// shares them.
    fn memory(&self) -> usize;
}

/// An asset that could not be parsed to its end.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong, and where.
    pub error: Error,
    /// What was read until then, for `info.json`.
    pub partial: serde_json::Value,
}

/// Parses the bytes of a whole file, and what it needs of the files around it.
/// The view keeps slices of the bytes.
pub type Open = fn(&Bytes, &dyn AssetContext) -> Result<Box<dyn View>, Box<Failure>>;

/// An asset format with a view.
pub struct ViewFormat {
    /// Short name, as `info.json` shows it.
    pub name: &'static str,
    /// Extensions of its files, in lower case, without the first dot
    /// (`hgo.blk`).
    pub extensions: &'static [&'static str],
    /// Types that archives give to its files, four letters each.
    pub asset_types: &'static [[u8; 4]],
    /// What converted trees have of an asset.
    pub converted: Conversion,
    /// Parses a file.
    pub open: Open,
    /// Whether a file without such an extension is one, by its content.
    pub matches: fn(&Bytes) -> bool,
}

impl ViewFormat {
    /// Returns whether a file with this name is shown, by its extension alone.
    pub fn shows(&self, name: &[u8]) -> bool {
        // A file that is called `.hgo` has no extension.
        let mut extensions = self.extensions.iter();
        extensions.any(|known| has_extension(name, known) && name.len() > known.len() + 1)
    }
}

/// Parses the bytes of an asset; one that cannot be parsed to its end shows
/// in `error.txt` why, and in `info.json` what was read until then.
pub fn open(format: &ViewFormat, bytes: &Bytes, context: &dyn AssetContext) -> Box<dyn View> {
    (format.open)(bytes, context).unwrap_or_else(|failure| Box::new(Broken::new(&failure)))
}

/// Returns the view of an asset that is not parsed, with the reason.
pub fn refused(error: Error) -> Box<dyn View> {
    let partial = serde_json::json!({});
    Box::new(Broken::new(&Failure { error, partial }))
}

/// The view of an asset that could not be parsed: its files, which are small.
struct Broken {
    failure: Error,
    error: Vec<u8>,
    info: Vec<u8>,
}

impl Broken {
    fn new(failure: &Failure) -> Self {
        Self {
            failure: failure.error.clone(),
            error: format!("{}\n", failure.error).into_bytes(),
            info: json::pretty(&failure.partial),
        }
    }
}

impl View for Broken {
    fn files(&self) -> Vec<ViewFile> {
        let file = |name: &str| ViewFile {
            folder: None,
            name: name.to_owned(),
        };
        vec![file("error.txt"), file("info.json")]
    }

    fn render(
        &self,
        index: usize,
        _context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match index {
            0 => out.write_all(&self.error),
            1 => out.write_all(&self.info),
            _ => Ok(()),
        }
    }

    fn failure(&self) -> Option<&Error> {
        Some(&self.failure)
    }

    fn memory(&self) -> usize {
        size_of_val(self) + self.error.capacity() + self.info.capacity()
    }
}

/// The asset formats that have views.
pub const VIEW_FORMATS: &[ViewFormat] = &[
    hgo::FORMAT,
    hgo::blk::FORMAT,
    ifp::FORMAT,
    psx::FORMAT,
    heavy_iron::TEXTURE,
    heavy_iron::SOUND,
    heavy_iron::SOUND_TABLE,
    heavy_iron::TEXT,
    heavy_iron::CREDITS,
    heavy_iron::MODEL,
    heavy_iron::OBJECT,
    heavy_iron::TABLE,
    ta::pcx::FORMAT,
    ta::bmp::FORMAT,
    ta::pal::FORMAT,
    ta::blend::FORMAT,
    ta::fnt::FORMAT,
    ta::gaf::FORMAT,
    ta::tdo::FORMAT,
    ta::cob::FORMAT,
    ta::tnt::FORMAT,
    ta::sct::FORMAT,
    ta::tdf::FORMAT,
    ta::wav::FORMAT,
    ta::other::FORMAT,
];

/// Returns the bytes in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the text of the file of an asset's view with this name.
#[cfg(test)]
fn rendered(open: Open, bytes: &[u8], name: &str) -> String {
    let view = open(&Bytes::copy_from_slice(bytes), &Alone).unwrap();
    let files = view.files();
    let index = files.iter().position(|file| file.name == name);
    let index = index.unwrap_or_else(|| panic!("no {name} in {files:?}"));
    let mut text = Vec::new();
    view.render(index, &Alone, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_shown_by_the_extension_in_any_case() {
        let format = |name: &str| {
            let mut formats = VIEW_FORMATS.iter();
            let format = formats.find(|format| format.shows(name.as_bytes()));
            format.map(|format| format.name)
        };
        assert_eq!(format("crash.hgo"), Some("HGO"));
        assert_eq!(format("CRASH.HGO.BLK"), Some("HGO block table"));
        assert_eq!(format("ped.Ifp"), Some("IFP"));
        assert_eq!(format("skhan.PSX"), Some("PSX"));
        for name in ["ped.blk", "hgo.blk", ".hgo", "hgo", "crash.hgo.txt", ""] {
            assert_eq!(format(name), None, "{name}");
        }
    }
}
