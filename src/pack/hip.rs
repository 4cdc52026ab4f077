//! Packing a directory as a HIP archive.
//!
//! The input is a directory as extracted by HipHopTool, or `types/` of a mount:
//! `Settings.ini`, and folders with the assets, each in a file whose name
//! begins with its id in brackets.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::{Error, Result};
use crate::platform::{FileKind, read_exact_at};
use hpimount_containers::hip::write::{self, Asset, AssetData, MAX_ARCHIVE_LENGTH, Settings};
use hpimount_containers::write::{Directory, Node, Source};

/// The file that describes the archive.
pub const SETTINGS: &str = "Settings.ini";

/// Maximum length of [`SETTINGS`], in bytes.
const MAX_SETTINGS_LENGTH: u64 = 256 << 20;

/// An archive that is ready to be written.
#[derive(Debug)]
pub struct Plan {
    archive: write::Plan,
    /// Files in the directory that are not packed.
    pub skipped: Vec<PathBuf>,
}

impl Plan {
    /// Reads [`SETTINGS`] in `directory`, whose tree is `root`, and finds the
    /// file of each asset.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if [`SETTINGS`] is missing or invalid, or if
    /// an asset has no file or several.
    pub fn new(directory: &Path, root: &Directory) -> Result<Self> {
        let path = directory.join(SETTINGS);
        let settings = read_settings(&path)?;
        let mut found = AssetFiles::default();
        found.collect(root, 0)?;
        let files = found.take(&settings, directory)?;
        let mut skipped: Vec<PathBuf> = found.by_id.into_values().collect();
        skipped.append(&mut found.others);
        skipped.sort();
        let data = data(&settings, files)?;
        Ok(Self {
            archive: write::Plan::new(settings, data)?,
            skipped,
        })
    }

    /// Returns the number of bytes that will be read.
    pub fn bytes(&self) -> u64 {
        self.archive.bytes()
    }

    /// Writes the archive to `out`, from the current position on.
    ///
    /// `progress` is called with the number of bytes of assets that have been
    /// read since it was last called.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or has changed its length, or
    /// if writing fails. The contents of `out` are then incomplete.
    pub fn write(&self, out: impl Write + Seek, progress: &mut dyn FnMut(u64)) -> Result<()> {
        Ok(self.archive.write(out, progress)?)
    }
}

fn read_settings(path: &Path) -> Result<Settings> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => Error::source(
            path,
            "is missing; it describes how to make a HIP archive of the directory",
        ),
        _ => Error::source(path, cause),
    })?;
    let read = file.take(MAX_SETTINGS_LENGTH + 1).read_to_end(&mut bytes);
    let length = read.map_err(|cause| Error::source(path, cause))?;
    if length as u64 > MAX_SETTINGS_LENGTH {
        let problem = format!("is longer than {MAX_SETTINGS_LENGTH} bytes");
        return Err(Error::source(path, problem));
    }
    write::parse(&bytes).map_err(|problem| Error::source(path, problem))
}

/// The files of a directory.
#[derive(Default)]
struct AssetFiles {
    /// Files whose names begin with an id, in a folder of the directory.
    by_id: HashMap<u32, PathBuf>,
    /// The others, except for [`SETTINGS`].
    others: Vec<PathBuf>,
}

impl AssetFiles {
    /// Collects the files of a directory at this depth below the packed one.
    fn collect(&mut self, directory: &Directory, depth: usize) -> Result<()> {
        for (name, node) in &directory.entries {
            let file = match node {
                Node::Directory(inner) => {
                    self.collect(inner, depth + 1)?;
                    continue;
                }
                Node::File(file) => file,
            };
            let Source::Path(path) = &file.source else {
                continue;
            };
            match id_of(name).filter(|_| depth == 1) {
                Some(id) => {
                    if let Some(other) = self.by_id.insert(id, path.clone()) {
                        let problem = format!("is asset {id:08X}, as {} is", other.display());
                        return Err(Error::source(path, problem));
                    }
                }
                None if depth == 0 && name == SETTINGS => {}
                None => self.others.push(path.clone()),
            }
        }
        Ok(())
    }

    /// Removes and returns the file of each asset.
    fn take(&mut self, settings: &Settings, directory: &Path) -> Result<Vec<PathBuf>> {
        let mut files = Vec::with_capacity(settings.assets.len());
        let mut missing = Vec::new();
        for asset in &settings.assets {
            match self.by_id.remove(&asset.id) {
                Some(path) => files.push(path),
                None => missing.push(asset),
            }
        }
        let Some(first) = missing.first() else {
            return Ok(files);
        };
        let folder = directory.join(&*first.kind.folder());
        let others = match missing.len() {
            1 => String::new(),
            count => format!(" (and {} other files)", count - 1),
        };
        let problem = format!(
            "has no file [{:08X}]{others}, which {SETTINGS} lists; \
             to leave an asset out, delete its line",
            first.id
        );
        Err(Error::source(&folder, problem))
    }
}

/// Returns the id at the start of a file's name, as in `[21641EA7] TIMER_01`.
fn id_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('[')?.get(..8)?;
    let is_id = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_id)
}

/// Returns the data of each asset.
fn data(settings: &Settings, files: Vec<PathBuf>) -> Result<Vec<AssetData>> {
    let assets = settings.assets.iter().zip(files);
    assets
        .map(|(asset, path)| {
            Ok(AssetData {
                size: file_size(&path)?,
                sort_byte: sort_byte(settings, asset, &path)?,
                source: Source::Path(path),
            })
        })
        .collect()
}

/// Returns the length of a file that will be an asset.
pub(super) fn file_size(path: &Path) -> Result<u32> {
    let found = super::walk::stat(path)?;
    if found.kind != FileKind::File {
        return Err(Error::source(path, "is not a file"));
    }
    let size = found.size;
    let fits = u32::try_from(size).ok();
    let fits = fits.filter(|_| size <= MAX_ARCHIVE_LENGTH);
    fits.ok_or_else(|| {
        let problem = format!("its {size} bytes are more than an archive can hold (2 GiB)");
        Error::source(path, problem)
    })
}

fn sort_byte(settings: &Settings, asset: &Asset, path: &Path) -> Result<Option<u8>> {
    let Some(offset) = settings.sort_byte_offset(asset) else {
        return Ok(None);
    };
    let mut byte = [0];
    let read = File::open(path).and_then(|file| read_exact_at(&file, &mut byte, offset));
    match read {
        Ok(()) => Ok(Some(byte[0])),
        Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(cause) => Err(Error::source(path, cause)),
    }
}
