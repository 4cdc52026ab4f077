//! Archives by the paths of their entries, for programs that want to list, read and
//! change them.
//!
//! A mount uses [`Volume`] and [`Sink`](crate::volume::Sink) instead, which keep no path
//! of an entry and leave decoded bytes to a cache.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use crate::apply::{self, Tools};
use crate::changes::member::member;
use crate::changes::{Folder, Original, Report, Written, listed};
use crate::extract::{self, Listing, ListingEntry};
use crate::format::{Format, Input, Options};
use crate::io::{BlockBuffer, Error, ReadAt, Result};
use crate::volume::{Entry, Volume};
use crate::{formats, image, parts};

/// An opened archive, disc or installer.
pub struct Archive {
    /// The source as it was given.
    source: Arc<dyn ReadAt>,
    /// The other files that it consists of, by name.
    partners: Vec<(String, Arc<dyn ReadAt>)>,
    options: Options,
    format: &'static Format,
    volume: Arc<dyn Volume>,
    entries: Vec<ListingEntry>,
}

impl Archive {
    /// Opens the archive at `path`, which may consist of several files in its directory.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, has no known format or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Options::default())
    }

    /// Opens the archive at `path` with options, in which the name is not used.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Archive::open`].
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Self::of(Input {
            source: open_file(path)?,
            partner: &|name| beside(path, name),
            tracks: &[],
            options: Options { name, ..options },
        })
    }

    /// Opens the archive in a source: bytes, a file, or anything else that can be read
    /// at any position.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, has no known format or is damaged.
    pub fn new(source: impl ReadAt + 'static) -> Result<Self> {
        Self::of(Input::alone(Arc::new(source), Options::default()))
    }

    /// Opens the archive of one format in a source: the format is not detected, and the
    /// source is no block image.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, has another format or is damaged.
    pub fn in_format(format: &'static Format, source: impl ReadAt + 'static) -> Result<Self> {
        let source: Arc<dyn ReadAt> = Arc::new(source);
        let input = Input::alone(source.clone(), Options::default());
        if !(format.matches)(&input)? {
            return Err(Error::UnknownFormat);
        }
        Self::opened(format, input, source)
    }

    /// Opens an archive with its name and the files beside it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Archive::new`].
    pub fn of(input: Input<'_>) -> Result<Self> {
        let partners = RefCell::new(Vec::new());
        let partner = |name: &str| {
            let found = (input.partner)(name)?;
            partners.borrow_mut().push((name.to_owned(), found.clone()));
            Some(found)
        };
        let split = parts::join(&input.options.name, &input.source, &partner);
        let whole = split.map_or_else(|| input.source.clone(), |split| split.whole);
        let (source, tracks) = image::unwrap(whole)?;
        let inside = Input {
            source,
            partner: &partner,
            tracks: match tracks.is_empty() {
                true => input.tracks,
                false => &tracks,
            },
            options: input.options.clone(),
        };
        let format = formats::detect(&inside)?;
        let opened = Self::opened(format, inside, input.source)?;
        Ok(Self {
            partners: partners.into_inner(),
            ..opened
        })
    }

    /// Opens the content of a source.
    fn opened(format: &'static Format, inside: Input<'_>, source: Arc<dyn ReadAt>) -> Result<Self> {
        let options = inside.options.clone();
        let mut listing = Listing::default();
        let volume = (format.open)(inside, &mut listing)?.into();
        Ok(Self {
            source,
            partners: Vec::new(),
            options,
            format,
            volume,
            entries: listing.into_entries(),
        })
    }

    /// Opens an archive that is an entry of this one, with the entries beside it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Archive::new`] and
    /// [`Archive::source`].
    pub fn inside(&self, entry: &ListingEntry) -> Result<Self> {
        let start = entry.path().rfind('/').map_or(0, |slash| slash + 1);
        let (directory, name) = entry.path().split_at(start);
        let partner = |name: &str| {
            let path = format!("{directory}{name}");
            let mut entries = self.entries.iter();
            let entry = entries.find(|entry| entry.path().eq_ignore_ascii_case(&path))?;
            self.source(entry).ok()
        };
        Self::of(Input {
            source: self.source(entry)?,
            partner: &partner,
            tracks: &[],
            options: Options {
                name: name.to_owned(),
                ..self.options.clone()
            },
        })
    }

    /// Returns its format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Returns it as the mount uses it: metadata, warnings, and how files are stored.
    pub fn volume(&self) -> &Arc<dyn Volume> {
        &self.volume
    }

    /// Returns all entries in the order of the archive, each directory before what is in
    /// it. Several may have the same path.
    pub fn entries(&self) -> impl Iterator<Item = &ListingEntry> {
        self.entries.iter()
    }

    /// Returns the files with their paths. A file with several names occurs several
    /// times.
    pub fn files(&self) -> impl Iterator<Item = (&str, Entry)> {
        extract::files(&self.entries)
    }

    /// Finds an entry by its path.
    pub fn find(&self, path: &str) -> Option<&ListingEntry> {
        self.entries().find(|entry| entry.path() == path)
    }

    /// Returns all bytes of a file, which may be many more than the archive has.
    ///
    /// # Errors
    /// Returns an error if the entry is no file, or cannot be read or decoded.
    pub fn read(&self, entry: &ListingEntry) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.copy(entry, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes all bytes of a file to `out`, without holding them in memory.
    ///
    /// # Errors
    /// Returns an error if the entry is no file, cannot be read or decoded, or if `out`
    /// fails. The bytes before the error have been written.
    pub fn copy(&self, entry: &ListingEntry, out: &mut dyn Write) -> Result<()> {
        extract::copy(&*self.volume, entry.file()?, out)
    }

    /// Decodes a file, and compares it with all checksums that the archive has of it.
    ///
    /// # Errors
    /// Returns an error if the entry is no file, or if it is damaged.
    pub fn check(&self, entry: &ListingEntry) -> Result<()> {
        extract::check(&*self.volume, entry.file()?)
    }

    /// Returns a file as a source. A stored one is read where it is; a packed one is
    /// decoded into memory.
    ///
    /// # Errors
    /// Returns an error if the entry is no file, cannot be read or decoded, or is packed
    /// and larger than 64 MiB.
    pub fn source(&self, entry: &ListingEntry) -> Result<Arc<dyn ReadAt>> {
        member(&self.volume, entry.file()?)
    }

    /// Returns the archive with changes, as it would be written: nothing is copied yet.
    ///
    /// # Errors
    /// Returns an error with everything that cannot be applied.
    pub fn with_changes(&self, changes: Folder) -> Result<Written> {
        let partner = |wanted: &str| {
            let mut partners = self.partners.iter();
            let found = partners.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, source)| source.clone())
        };
        let original = Original {
            partner: &partner,
            ..Original::alone(self.source.clone(), &self.options.name)
        };
        let mut report = Report::default();
        let written = apply::apply(&original, changes, "", Tools::PLAIN, &mut report);
        written.ok_or_else(|| Error::Unsupported(listed(&report.refusals)))
    }
}

/// Opens a file on disk for the short reads of parsers.
fn open_file(path: &Path) -> Result<Arc<dyn ReadAt>> {
    let file = File::open(path).map_err(|cause| Error::Open(Arc::new(cause)))?;
    Ok(Arc::new(BlockBuffer::new(Arc::new(file))))
}

/// Opens the file called `name`, ignoring ASCII case, in the directory of `path`. The
/// name is that of a source, which may be hostile: it is only compared.
fn beside(path: &Path, name: &str) -> Option<Arc<dyn ReadAt>> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?;
    let mut found = entries.flatten().filter(|entry| {
        let own = entry.file_name();
        own.to_str()
            .is_some_and(|own| own.eq_ignore_ascii_case(name))
    });
    let path = found.next()?.path();
    // Opening a pipe would wait for a writer.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| open_file(&path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::{Change, NewFile};
    use crate::pack::{Empty, pack};

    fn files(paths: &[&str]) -> Folder {
        let mut files = Folder::default();
        for path in paths {
            let bytes: Arc<dyn ReadAt> = Arc::new(path.as_bytes().to_vec());
            files.insert(path, Change::File(NewFile::new("", bytes)));
        }
        files
    }

    fn save(path: &Path, source: &dyn ReadAt) {
        let mut bytes = vec![0; source.len() as usize];
        source.read_exact_at(&mut bytes, 0).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn the_files_of_a_pair_are_found_for_reading_and_for_changes() {
        let directory = tempfile::tempdir().unwrap();
        let wad = pack(files(&["a.txt"]), Empty::Wad).unwrap();
        let path = directory.path().join("CD.WAD");
        save(&path, &wad.data);
        save(&directory.path().join("cd.hed"), &wad.directory.unwrap());
        let archive = Archive::open(&path).unwrap();
        let changed = archive.with_changes(files(&["b.txt"])).unwrap();
        save(&path, &changed.data);
        save(
            &directory.path().join("cd.hed"),
            &changed.directory.unwrap(),
        );
        let archive = Archive::open(&path).unwrap();
        for path in ["a.txt", "b.txt"] {
            let entry = archive.find(path).unwrap();
            assert_eq!(archive.read(entry).unwrap(), path.as_bytes());
        }
    }

    #[test]
    fn everything_that_cannot_be_applied_is_in_the_error() {
        let archive = Archive::new(pack(files(&["a/b"]), Empty::Zip).unwrap().data).unwrap();
        let error = archive.with_changes(files(&["a/b/c"])).err().unwrap();
        assert!(error.to_string().contains("a/b"), "{error}");
        let error = archive.read(archive.find("a").unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "a is no file");
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_of_the_system() {
        let error = Archive::open("/nonexistent").err().unwrap();
        assert!(error.is_fault());
        assert!(
            error
                .to_string()
                .starts_with("cannot be opened: No such file")
        );
    }
}
