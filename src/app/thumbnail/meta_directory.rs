//! The picture of an asset from its directory `X.meta`: on a mount, or in a
//! tree that was opened in this process.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::MAX_PICTURES;
use crate::inspect::{Contents, Role};
use crate::mount::{Ino, Vfs};
use hpimount_assets::formats::VIEW_FORMATS;
use hpimount_assets::model::{MAX_PIXELS, Picture, Scale, png, reduced, sheet};
use hpimount_assets::view::ViewFormat;

/// Maximum size of a picture's file, in bytes.
const MAX_FILE: u32 = 32 << 20;

/// Maximum number of entries of a directory that are examined.
const MAX_ENTRIES: usize = 10_000;

/// Maximum side of a picture that is kept for a contact sheet.
const CELL: u32 = 128;

/// A directory `X.meta`, or one in it.
pub(super) trait MetaDirectory: Sized {
    /// Returns the names of its files and of its directories.
    fn list(&self) -> Names;

    /// Returns the directory in it with this name.
    fn enter(&self, name: &str) -> Option<Self>;

    /// Returns the first [`MAX_FILE`] bytes of the file in it with this name.
    fn read(&self, name: &str) -> Option<Vec<u8>>;

    /// Returns the preview of the asset, or else a contact sheet of the
    /// pictures in the first directory that has any. `format` is that of the
    /// asset, if known.
    fn picture(&self, format: Option<&ViewFormat>) -> Option<Picture> {
        let names = self.list();
        if let Some(name) = best(names.files, format) {
            return png::read(&self.read(&name)?, MAX_PIXELS).ok();
        }
        let mut directories = names.directories.into_iter();
        directories.find_map(|name| self.enter(&name)?.contact_sheet())
    }

    /// Returns a contact sheet of the pictures.
    fn contact_sheet(&self) -> Option<Picture> {
        let names = self.list().files.into_iter();
        let names = names.filter(|name| name.ends_with(".png"));
        let pictures = names.filter_map(|name| png::read(&self.read(&name)?, MAX_PIXELS).ok());
        arranged(pictures.take(MAX_PICTURES).collect())
    }
}

/// Names in a directory, sorted.
#[derive(Debug, Default)]
pub(super) struct Names {
    files: Vec<String>,
    directories: Vec<String>,
}

impl Names {
    fn of(entries: impl Iterator<Item = (String, bool)>) -> Self {
        let mut names = Self::default();
        for (name, is_directory) in entries.take(MAX_ENTRIES) {
            match is_directory {
                true => names.directories.push(name),
                false => names.files.push(name),
            }
        }
        names.files.sort();
        names.directories.sort();
        names
    }
}

/// Returns the file that shows the asset among sorted ones: the best preview of
/// its format, or for an unknown format, of any. Without such names, it is the
/// first picture.
fn best(mut files: Vec<String>, format: Option<&ViewFormat>) -> Option<String> {
    files.retain(|name| name.ends_with(".png"));
    let previews = |format: &ViewFormat| format.preview.map_or(&[][..], |preview| preview.files);
    let mut found = None;
    let mut take = |known: &&str| {
        found = files.iter().position(|name| name == known);
        found.is_some()
    };
    match format.map(previews) {
        Some([]) => {}
        Some(known) => {
            known.iter().any(&mut take);
            return Some(files.swap_remove(found?));
        }
        None => {
            VIEW_FORMATS.iter().flat_map(previews).any(&mut take);
        }
    }
    (!files.is_empty()).then(|| files.swap_remove(found.unwrap_or(0)))
}

/// Returns a contact sheet of pictures; a single one is returned unchanged.
pub(super) fn arranged(mut pictures: Vec<Picture>) -> Option<Picture> {
    if pictures.len() <= 1 {
        return pictures.pop();
    }
    let count = pictures.len();
    let cells = pictures.into_iter();
    Some(sheet(
        count,
        Scale::Own,
        cells.map(|picture| Some(reduced(picture, CELL))),
    ))
}

/// A directory of the file system.
pub(super) struct OnDisk(PathBuf);

/// Returns the format of an asset by its name alone.
fn format_of(name: &str) -> Option<&'static ViewFormat> {
    VIEW_FORMATS
        .iter()
        .find(|format| format.shows(name.as_bytes()))
}

impl OnDisk {
    /// Returns the companion of the file at `path`, if a mount shows one.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let mut name = path.file_name()?.to_owned();
        name.push(".meta");
        let companion = path.with_file_name(name);
        companion.is_dir().then_some(Self(companion))
    }

    /// Returns the picture of the asset that it is the companion of.
    pub(super) fn picture_of_asset(&self) -> Option<Picture> {
        let name = self.0.file_stem().and_then(OsStr::to_str);
        self.picture(name.and_then(format_of))
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl MetaDirectory for OnDisk {
    fn list(&self) -> Names {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        Names::of(entries.filter_map(|entry| {
            let is_directory = entry.file_type().ok()?.is_dir();
            Some((entry.file_name().into_string().ok()?, is_directory))
        }))
    }

    fn enter(&self, name: &str) -> Option<Self> {
        Some(Self(self.0.join(name)))
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = File::open(self.0.join(name)).ok()?;
        file.take(MAX_FILE.into()).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// A directory of a tree that was opened in this process.
pub(super) struct InTree<'a> {
    vfs: &'a Vfs,
    directory: Ino,
}

impl<'a> InTree<'a> {
    /// Returns the `X.meta` of the file `name` in a directory; `None` if the
    /// file is not an asset.
    pub(super) fn of(vfs: &'a Vfs, directory: Ino, name: &str) -> Option<Self> {
        Self { vfs, directory }.enter(&format!("{name}.meta"))
    }
}

impl MetaDirectory for InTree<'_> {
    fn list(&self) -> Names {
        let entries = Contents(self.vfs).entries(self.directory, 0, MAX_ENTRIES);
        let entries = entries.unwrap_or_default().into_iter();
        Names::of(entries.map(|entry| (entry.name, entry.role == Role::Directory)))
    }

    fn enter(&self, name: &str) -> Option<Self> {
        Some(Self {
            vfs: self.vfs,
            directory: self.vfs.lookup(self.directory, name).ok()?.ino,
        })
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let file = self.vfs.lookup(self.directory, name).ok()?;
        let bytes = self.vfs.read(file.ino, 0, MAX_FILE).ok()?;
        Some(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::model::Pixels;

    #[test]
    fn the_preview_is_chosen_by_its_name() {
        let best = |format: &str, names: &[&str]| {
            let format = VIEW_FORMATS.iter().find(|known| known.name == format);
            best(
                names.iter().map(|name| (*name).to_owned()).collect(),
                format,
            )
        };
        let map = ["height.png", "map.png", "minimap.png", "info.txt"];
        for format in ["TNT", "unknown"] {
            assert_eq!(best(format, &map).as_deref(), Some("minimap.png"));
        }
        let texture = ["grass 00.png", "grass 01.png", "textures.tsv"];
        for format in ["HIP texture", "BMP", "unknown"] {
            let chosen = best(format, &texture);
            assert_eq!(chosen.as_deref(), Some("grass 00.png"));
        }
        assert_eq!(best("TNT", &["height.png", "error.txt"]), None);
        assert_eq!(best("BMP", &["error.txt"]), None);
    }

    #[test]
    fn pictures_in_the_first_directory_that_has_any_represent_the_asset() {
        let root = tempfile::tempdir().unwrap();
        let asset = root.path().join("lib.psx");
        assert!(OnDisk::of(&asset).is_none());
        let companion = root.path().join("lib.psx.meta");
        fs::create_dir_all(companion.join("empty")).unwrap();
        fs::create_dir_all(companion.join("textures")).unwrap();
        let companion = OnDisk::of(&asset).unwrap();
        assert_eq!(companion.picture(None), None);
        let plain = |edge: u32| Picture {
            width: edge,
            height: edge,
            pixels: Pixels::Rgba(vec![[9; 4]; (edge * edge) as usize]),
        };
        let write = |name: &str, edge| {
            let mut bytes = Vec::new();
            png::write(&plain(edge), &mut bytes).unwrap();
            fs::write(companion.path().join(name), bytes).unwrap();
        };
        write("textures/0.png", 3);
        assert_eq!(companion.picture(None), Some(plain(3)));
        write("textures/1.png", 4);
        assert_eq!(companion.picture(None).unwrap().width, 256);
        write("preview.png", 5);
        assert_eq!(companion.picture(None), Some(plain(5)));
    }
}
