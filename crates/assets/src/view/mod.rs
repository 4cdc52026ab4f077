//! Generated files that show a parsed asset as JSON, tables, text, pictures and
//! models.
//!
//! An asset `X` has a directory `X.meta` beside it. Its files are the [`ViewFile`]s of
//! the asset's [`View`]. A new asset format is a folder in its family and one line in
//! the family's list of formats.

mod asset_key;
pub mod cells;
pub mod context;
pub mod converted;
pub mod edit;
pub mod edited_table;
pub mod exported;
mod field;
pub mod import;
pub mod json;
mod measures;
pub mod node;
pub mod page;
pub mod patches;
mod place;
pub mod report;
mod rows;
mod summary;

pub use self::asset_key::{AssetKey, AssetRef};
use self::cells::CellEdits;
pub use self::context::{Alone, AssetContext, ChosenPalette, MakeShared, NamedAsset, Shared};
use self::converted::Conversion;
use self::edit::EditText;
use self::import::{Editable, Import, ImportAll};
pub use self::measures::Measures;
use self::node::Node;
pub use self::page::ERROR_FILE;
use self::page::Page;
use self::rows::Rows;
pub use self::rows::{TableSink, or_null};
pub use self::summary::Summary;
pub use bytes::Bytes;
pub use hpimount_containers::text::Table;

use std::borrow::Cow;
use std::io::{self, Write};

use hpimount_containers::file_type::FileType;
use hpimount_containers::io::{Error, Warnings};
use hpimount_containers::text::has_extension;

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewFile {
    /// Folder below `X.meta`, if any.
    pub folder: Option<Cow<'static, str>>,
    /// File name, not escaped for a file system.
    pub name: String,
}

impl ViewFile {
    /// Returns the file with this path below `X.meta`.
    fn at(path: &str) -> Self {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (Some(folder.to_owned().into()), name),
            None => (None, path),
        };
        Self {
            folder,
            name: name.to_owned(),
        }
    }
}

/// A file in `X.meta` itself.
impl<N: Into<String>> From<N> for ViewFile {
    fn from(name: N) -> Self {
        Self {
            folder: None,
            name: name.into(),
        }
    }
}

impl ViewFile {
    /// Creates a file in a folder.
    pub fn inside(folder: impl Into<Cow<'static, str>>, name: impl Into<String>) -> Self {
        Self {
            folder: Some(folder.into()),
            name: name.into(),
        }
    }

    /// Returns its path below `X.meta`.
    pub fn path(&self) -> Cow<'_, str> {
        match &self.folder {
            Some(folder) => format!("{folder}/{}", self.name).into(),
            None => self.name.as_str().into(),
        }
    }

    /// Returns the heap memory of the names, in bytes.
    fn heap_size(&self) -> usize {
        let folder = match &self.folder {
            Some(Cow::Owned(folder)) => folder.capacity(),
            _ => 0,
        };
        self.name.capacity() + folder
    }
}

/// A parsed asset that can be shown.
pub trait View: Send + Sync {
    /// Returns the generated files. The order is fixed: a file's number is its
    /// index.
    fn files(&self) -> Vec<ViewFile>;

    /// Writes the bytes of the file with number `index`, which are always the same.
    /// Long files are written piecewise and never held in memory as a whole. `context`
    /// is the context that the asset was parsed with.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::NotFound`] if there is no such file, or the first error
    /// of `out`.
    fn render(
        &self,
        index: usize,
        context: &dyn AssetContext,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Returns the size of the file with number `index` in bytes, if it is known
    /// without rendering.
    fn size(&self, index: usize) -> Option<u64> {
        let _ = index;
        None
    }

    /// Returns the reason why the asset was not parsed completely.
    fn failure(&self) -> Option<&Error> {
        None
    }

    /// Returns the facts of `info.json`.
    fn info(&self) -> Node<'_>;

    /// Returns the warnings.
    fn warnings(&self) -> Vec<String>;

    /// Returns the numbers that compare it with other assets.
    fn measures(&self) -> Measures {
        Measures::default()
    }

    /// Returns the rows of the file with number `index`, if it is a table. `context` is
    /// the environment of the asset.
    fn table<'a>(&'a self, index: usize, context: &'a dyn AssetContext) -> Option<Rows<'a>>;

    /// Returns the values of the file with number `index`, if these are written as JSON.
    /// `context` is the environment of the asset.
    fn json<'a>(&'a self, index: usize, context: &'a dyn AssetContext) -> Option<Node<'a>> {
        let _ = (index, context);
        None
    }

    /// Returns the individually editable values, and the number of their file.
    fn values<'a>(&'a self, context: &'a dyn AssetContext) -> Option<(Option<usize>, Node<'a>)> {
        let _ = context;
        None
    }

    /// Returns true if the file with number `index` is a table of such values.
    fn has_cells(&self, index: usize) -> bool {
        let _ = index;
        false
    }

    /// Returns the value changes of an edited table. `edited` is the file with number
    /// `index`, and untrusted.
    ///
    /// # Errors
    /// Returns the reason why the table does not fit.
    fn cell_edits(
        &self,
        index: usize,
        context: &dyn AssetContext,
        edited: &[u8],
    ) -> Result<CellEdits, String> {
        let _ = (index, context, edited);
        Err(import::NOT_THIS_FILE.to_owned())
    }

    /// Returns true if the file with number `index` is edited value by value.
    fn has_values(&self, index: usize, context: &dyn AssetContext) -> bool {
        let values = self.values(context);
        self.has_cells(index) || values.is_some_and(|(file, _)| file == Some(index))
    }

    /// Returns the number of the first file that matches `wanted`.
    fn position(&self, wanted: &dyn Fn(&ViewFile) -> bool) -> Option<usize> {
        self.files().iter().position(wanted)
    }

    /// Returns the memory of the view in bytes, including the heap. Does not count the
    /// parsed bytes, which are shared.
    fn memory(&self) -> usize;
}

/// Parses the bytes of a whole file, using other files of the mount. The view keeps
/// slices of the bytes. The view of an incompletely parsed asset has a
/// [`View::failure`] and shows its known parts. Without known parts, the error is
/// returned instead.
pub type Open = fn(&Bytes, &dyn AssetContext) -> Opened;

/// The result of [`Open`].
pub type Opened = Result<Box<dyn View>, Error>;

/// An asset format with a view.
///
/// It is created with [`ViewFormat::new`] and the properties that differ:
///
/// ```
/// # use hpimount_assets::view::{AssetContext, Bytes, Opened, ViewFormat};
/// # use hpimount_containers::io::{Error, Warnings};
/// fn open(_: &Bytes, _: &dyn AssetContext) -> Opened {
///     Err(Error::UnknownFormat)
/// }
///
/// const FORMAT: ViewFormat = ViewFormat {
///     extensions: &["abc"],
///     ..ViewFormat::new("ABC", open)
/// };
/// assert!(FORMAT.shows(b"x.ABC"));
/// ```
#[derive(Clone, Copy)]
pub struct ViewFormat {
    /// Short name, as shown in `info.json`.
    pub name: &'static str,
    /// File name extensions, in lower case, without the first dot (`hgo.blk`).
    pub extensions: &'static [&'static str],
    /// Complete file names in lower case, for extensions that other files share; at
    /// most 15 bytes each.
    pub names: &'static [&'static str],
    /// Types in archives, four letters each.
    pub asset_types: &'static [[u8; 4]],
    /// MIME types. With a [`ViewFormat::preview`], file managers request thumbnails of
    /// them.
    pub types: &'static [FileType],
    /// The conversions of an asset in converted trees.
    pub converted: Conversion,
    /// The editable files of the view, for assets whose form allows it.
    pub edits: &'static [Editable],
    /// Turns edited files of the view back into the asset, if supported.
    pub import: Option<Import>,
    /// Returns the reason why no edited file can become the asset. Mounts show it
    /// before an edit.
    pub refuses: Option<fn(&import::Edit<'_>) -> Option<String>>,
    /// Files of the view that cannot be edited although similar files can, each with
    /// the reason, after its path.
    pub left_out: &'static [Editable],
    /// Writes edited values of a text.
    pub edit: Option<EditText>,
    /// The same for all edited files of an asset together. If set, it is used instead,
    /// and files can be added and deleted.
    pub import_all: Option<ImportAll>,
    /// The pictures that represent an asset as a thumbnail.
    pub preview: Option<Preview>,
    /// Parses a file.
    pub open: Open,
    /// Detects the format of a file without such an extension by its content. Returns
    /// `None` if the content does not tell.
    pub matches: Option<fn(&Bytes) -> bool>,
}

/// The [`Preview::rank`] of assets that represent their archive exclusively, such as
/// the banner of a disc.
pub const ALONE: u8 = 0;

/// The pictures that represent an asset.
///
/// If the view has no file of [`Preview::files`], the pictures of its first folder with
/// pictures represent it.
#[derive(Debug, Clone, Copy)]
pub struct Preview {
    /// Names of files of the view, best first. If empty, the first picture of the view
    /// is used.
    pub files: &'static [&'static str],
    /// Rank among formats whose assets represent an archive; the lowest rank wins.
    pub rank: u8,
}

impl Preview {
    /// Creates a preview of this rank with these files.
    pub const fn new(rank: u8, files: &'static [&'static str]) -> Self {
        Self { files, rank }
    }
}

impl ViewFormat {
    /// Creates a format without extensions and types, whose assets have only a view.
    pub const fn new(name: &'static str, open: Open) -> Self {
        Self {
            name,
            extensions: &[],
            names: &[],
            asset_types: &[],
            types: &[],
            converted: Conversion::NOTHING,
            edits: &[],
            import: None,
            refuses: None,
            left_out: &[],
            edit: None,
            import_all: None,
            preview: None,
            open,
            matches: None,
        }
    }

    /// Returns true if a file has the format by its name alone.
    pub fn shows(&self, name: &[u8]) -> bool {
        let mut names = self.names.iter();
        // A file called `.hgo` has no extension.
        let mut extensions = self.extensions.iter();
        names.any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
            || extensions.any(|known| has_extension(name, known) && name.len() > known.len() + 1)
    }

    /// Returns the editing rule of the file at a path in the view.
    pub fn editable(&self, path: &str) -> Option<&'static Editable> {
        self.edits.iter().find(|editable| editable.is_file(path))
    }

    /// Returns the reason why the file at a path in the view is excluded from editing.
    pub fn left_out(&self, path: &str) -> Option<&'static str> {
        let mut left_out = self.left_out.iter();
        Some(left_out.find(|file| file.is_file(path))?.what)
    }

    /// Returns true if a file has the format by its content.
    pub fn matches(&self, bytes: &Bytes) -> bool {
        self.matches.is_some_and(|matches| matches(bytes))
    }
}

/// Parses the bytes of an asset. If it cannot be parsed completely, the view has the
/// error in `error.txt`, and at least the known facts in `info.json`.
pub fn open(format: &ViewFormat, bytes: &Bytes, context: &dyn AssetContext) -> Box<dyn View> {
    (format.open)(bytes, context).unwrap_or_else(|error| refused(format, bytes.len() as u64, error))
}

/// Returns the view of an unparsed asset of this size, with the reason.
pub fn refused(format: &ViewFormat, file_size: u64, error: Error) -> Box<dyn View> {
    let heading = format!("{} that cannot be read", format.name);
    let mut page = Page::new(format.name, heading, Warnings::default());
    page.fact("file_size", file_size);
    page.show((), Some(error))
}

/// Returns the bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Renders the file with this path of an asset's view, such as `textures/0.png`,
/// without access to other files of the mount.
///
/// # Errors
/// Returns an error if there is no such file, or if it cannot be written.
pub fn rendered(format: &ViewFormat, asset: &[u8], path: &str) -> io::Result<Vec<u8>> {
    let view = open(format, &Bytes::copy_from_slice(asset), &Alone);
    let part = ViewFile::at(path);
    let number = view.position(&|file| *file == part);
    let number = number.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, path))?;
    let mut bytes = Vec::new();
    view.render(number, &Alone, &mut bytes)?;
    Ok(bytes)
}

/// Returns the same file as text.
///
/// # Errors
/// Returns the errors of [`rendered`], and an error if it is not UTF-8.
pub fn rendered_text(format: &ViewFormat, asset: &[u8], path: &str) -> io::Result<String> {
    String::from_utf8(rendered(format, asset, path)?).map_err(io::Error::other)
}
