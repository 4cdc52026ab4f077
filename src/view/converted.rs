//! What stands for an asset in a converted tree.
//!
//! The names in such a tree follow from the names and types of the files
//! alone: nothing is decoded for them.

use super::{View, ViewFile};
use crate::text::has_extension;
use crate::volume::AssetType;

/// What a converted tree has of an asset.
#[derive(Debug, Clone, Copy)]
pub struct Converted {
    /// Where it is, in the tree of an archive that has no directories of its
    /// own.
    pub folder: Folder,
    /// The files that are called as the asset, with another extension: what
    /// shows it whole, or at a glance. At most 255.
    pub files: &'static [ConvertedFile],
    /// Whether a directory of the asset's name has all files of its view.
    pub has_directory: bool,
}

/// A directory for assets of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// One with this name.
    Named(&'static str),
    /// One in the directory with this name, called as the asset's type.
    OfType(&'static str),
}

/// A file that is made of an asset as a whole.
#[derive(Debug, Clone, Copy)]
pub struct ConvertedFile {
    /// Directory that it is in, where it is not beside the other files.
    pub folder: Option<&'static str>,
    /// Its extension, without the dot.
    pub extension: &'static str,
    /// Name of the file of the asset's view that it is; without one, or where
    /// the view has no such file, the first one with the extension.
    pub part: Option<&'static str>,
}

/// How a format declares what a converted tree has of an asset.
pub enum Conversion {
    /// The same of every asset.
    Always(Converted),
    /// By what the volume knows about the asset.
    By(fn(Option<AssetType>) -> Converted),
}

impl Conversion {
    /// Of assets that are in no converted tree.
    pub const NOTHING: Self = Self::Always(Converted::NONE);

    /// Returns what a converted tree has of an asset, about which the volume
    /// knows this.
    pub fn of(&self, asset: Option<AssetType>) -> Converted {
        match self {
            Self::Always(converted) => *converted,
            Self::By(converted) => converted(asset),
        }
    }
}

impl Converted {
    /// Nothing.
    pub const NONE: Self = Self {
        folder: Folder::Named("other"),
        files: &[],
        has_directory: false,
    };

    /// These files alone, which show the asset whole.
    pub const fn whole(files: &'static [ConvertedFile]) -> Self {
        Self {
            files,
            ..Self::NONE
        }
    }

    /// Creates a directory with the parts, and these files beside it.
    pub const fn parts(files: &'static [ConvertedFile]) -> Self {
        Self {
            files,
            has_directory: true,
            ..Self::NONE
        }
    }

    /// Returns the same in a directory for assets of its kind.
    pub const fn within(self, folder: Folder) -> Self {
        Self { folder, ..self }
    }

    /// Returns whether there is anything.
    pub const fn is_something(&self) -> bool {
        self.has_directory || !self.files.is_empty()
    }
}

impl ConvertedFile {
    /// Returns the first file of the view with this extension.
    pub const fn first(extension: &'static str) -> Self {
        Self {
            folder: None,
            extension,
            part: None,
        }
    }

    /// Returns the file of the view with this name.
    pub const fn named(extension: &'static str, part: &'static str) -> Self {
        Self {
            part: Some(part),
            ..Self::first(extension)
        }
    }

    /// Returns the number of the view's file that it is; `None` if the asset
    /// turns out not to have one.
    pub fn find(&self, view: &dyn View) -> Option<usize> {
        let has = |file: &ViewFile| has_extension(file.name.as_bytes(), self.extension);
        let is_part = |file: &ViewFile| {
            let is_it = Some(file.name.as_str()) == self.part;
            is_it && file.folder.is_none()
        };
        let found = view.position(&is_part);
        let found = found.or_else(|| view.position(&|file| has(file) && file.folder.is_none()));
        found.or_else(|| view.position(&has))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Error;
    use crate::view::{VIEW_FORMATS, refused};

    #[test]
    fn every_format_says_what_it_converts_to_without_a_file() {
        for format in VIEW_FORMATS {
            let converted = format.converted.of(None);
            let mut names: Vec<_> = converted
                .files
                .iter()
                .map(|file| (file.folder, file.extension))
                .collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), converted.files.len(), "{}", format.name);
        }
    }

    #[test]
    fn a_file_is_found_by_name_and_else_by_extension() {
        let broken = refused(Error::UnknownFormat);
        let find = |file: ConvertedFile| file.find(&*broken);
        assert_eq!(find(ConvertedFile::named("json", "info.json")), Some(1));
        assert_eq!(find(ConvertedFile::named("txt", "text.txt")), Some(0));
        assert_eq!(find(ConvertedFile::first("JSON")), Some(1));
        assert_eq!(find(ConvertedFile::first("png")), None);
    }
}
