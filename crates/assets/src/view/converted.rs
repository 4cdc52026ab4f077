//! The conversions of an asset in a converted tree.
//!
//! The names in such a tree depend only on the names and types of files. Nothing is
//! decoded for them.

use super::{View, ViewFile};
use hpimount_containers::text::has_extension;
use hpimount_containers::volume::AssetType;

/// The files of an asset in a converted tree.
#[derive(Debug, Clone, Copy)]
pub struct Converted {
    /// Folder in the tree of an archive without meaningful directories.
    pub folder: Folder,
    /// The files named after the asset, with another extension: complete conversions or
    /// previews. At most 255.
    pub files: &'static [ConvertedFile],
    /// True if a directory with the asset's name contains all files of its view.
    pub has_directory: bool,
}

/// A directory for assets of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// One with this name.
    Named(&'static str),
    /// A file in this directory, named after the asset's type.
    OfType(&'static str),
}

/// A file that is converted from an asset.
#[derive(Debug, Clone, Copy)]
pub struct ConvertedFile {
    /// Directory, if the file is not beside the others.
    pub folder: Option<&'static str>,
    /// Extension, without the dot.
    pub extension: &'static str,
    /// Name of the file in the asset's view. Without a name, or if the view has no such
    /// file, the first file with the extension is used.
    pub part: Option<&'static str>,
}

/// The conversions that a format declares.
#[derive(Clone, Copy)]
pub enum Conversion {
    /// The same for every asset.
    Always(Converted),
    /// Depending on the type of the asset.
    By(fn(Option<AssetType>) -> Converted),
}

impl Conversion {
    /// No conversion.
    pub const NOTHING: Self = Self::Always(Converted::NONE);

    /// Returns the conversions of an asset of this type.
    pub fn of(&self, asset: Option<AssetType>) -> Converted {
        match self {
            Self::Always(converted) => *converted,
            Self::By(converted) => converted(asset),
        }
    }
}

impl Converted {
    /// No files.
    pub const NONE: Self = Self {
        folder: Folder::Named("other"),
        files: &[],
        has_directory: false,
    };

    /// Creates complete conversions: these files without a directory.
    pub const fn whole(files: &'static [ConvertedFile]) -> Self {
        Self {
            files,
            ..Self::NONE
        }
    }

    /// Creates a directory for the parts, with these files beside it.
    pub const fn parts(files: &'static [ConvertedFile]) -> Self {
        Self {
            files,
            has_directory: true,
            ..Self::NONE
        }
    }

    /// Returns the same files in another folder.
    pub const fn within(self, folder: Folder) -> Self {
        Self { folder, ..self }
    }

    /// Returns whether there are any files.
    pub const fn is_something(&self) -> bool {
        self.has_directory || !self.files.is_empty()
    }
}

impl ConvertedFile {
    /// Creates a conversion to the first file of the view with this extension.
    pub const fn first(extension: &'static str) -> Self {
        Self {
            folder: None,
            extension,
            part: None,
        }
    }

    /// Creates a conversion to the file of the view with this name.
    pub const fn named(extension: &'static str, part: &'static str) -> Self {
        Self {
            part: Some(part),
            ..Self::first(extension)
        }
    }

    /// Returns the number of the file in the view, or `None` if the view lacks it. A
    /// damaged asset's error and partial properties are not conversions.
    pub fn find(&self, view: &dyn View) -> Option<usize> {
        let has = |file: &ViewFile| has_extension(file.name.as_bytes(), self.extension);
        let is_part = |file: &ViewFile| {
            let is_it = Some(file.name.as_str()) == self.part;
            is_it && file.folder.is_none()
        };
        let found = view.position(&is_part);
        if view.failure().is_some() {
            return found;
        }
        let found = found.or_else(|| view.position(&|file| has(file) && file.folder.is_none()));
        found.or_else(|| view.position(&has))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Write};

    use crate::view::node::Node;
    use crate::view::page::Rows;
    use crate::view::{AssetContext, ViewFormat, refused};
    use hpimount_containers::io::Error;

    /// A view with files of these names.
    struct Files(&'static [&'static str]);

    impl View for Files {
        fn files(&self) -> Vec<ViewFile> {
            self.0.iter().map(|name| ViewFile::from(*name)).collect()
        }

        fn render(
            &self,
            _index: usize,
            _context: &dyn AssetContext,
            _out: &mut dyn Write,
        ) -> io::Result<()> {
            Ok(())
        }

        fn info(&self) -> Node<'_> {
            Node::List(Vec::new())
        }

        fn warnings(&self) -> Vec<String> {
            Vec::new()
        }

        fn table<'a>(&'a self, _: usize, _: &'a dyn AssetContext) -> Option<Rows<'a>> {
            None
        }

        fn memory(&self) -> usize {
            0
        }
    }

    #[test]
    fn a_file_is_found_by_name_or_else_by_extension() {
        let view = Files(&["notes.txt", "other.json", "info.json"]);
        let find = |file: ConvertedFile| file.find(&view);
        assert_eq!(find(ConvertedFile::named("json", "info.json")), Some(2));
        assert_eq!(find(ConvertedFile::named("txt", "text.txt")), Some(0));
        assert_eq!(find(ConvertedFile::first("JSON")), Some(1));
        assert_eq!(find(ConvertedFile::first("png")), None);
    }

    #[test]
    fn a_damaged_asset_has_no_conversion() {
        let format = ViewFormat::new("ABC", |_, _| Err(Error::UnknownFormat));
        let damaged = refused(&format, 0, Error::UnknownFormat);
        for file in [
            ConvertedFile::named("json", "object.json"),
            ConvertedFile::named("txt", "text.txt"),
            ConvertedFile::first("json"),
        ] {
            assert_eq!(file.find(&*damaged), None);
        }
    }
}
