//! Writing an archive or a disc with the changes of a folder.

use std::io::Write;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::target::Target;
use super::{Error, Result, identity};
use crate::content::{Reader, Spool, unwrap};
use crate::memory::budget::Budget;
use crate::mount::{self, Converter};
use crate::source::{FilePool, FileSource, files_beside, has_name, read_changes};
use hpimount_containers::changes::{self, Folder, Original, Report, Spliced, Tools, Written};
use hpimount_containers::format::Options;
use hpimount_containers::io::ReadAt;
use hpimount_containers::write;

/// Memory for decoded blocks of compressed discs, and for edited assets, in bytes.
pub(super) const MEMORY: usize = 64 << 20;

/// Number of bytes that are copied at a time.
const PIECE: usize = 1 << 20;

/// An archive or a disc, and the changes to apply to it: opened, and not parsed.
pub struct Edit {
    path: PathBuf,
    source: Arc<FileSource>,
    /// The files beside it that it may consist of.
    beside: Vec<PathBuf>,
    pool: Arc<FilePool>,
    /// The folders of changes on disk.
    folders: Vec<PathBuf>,
    /// Their contents, the last one on top.
    folder: Folder,
}

impl Edit {
    /// Opens the archive or disc at `path`, and lists folders of changes, the last
    /// one on top.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if the archive or a folder cannot be read.
    pub fn open(path: &Path, folders: &[PathBuf]) -> Result<Self> {
        let pool = Arc::new(FilePool::default());
        let mut folder = Folder::default();
        for path in folders {
            folder.overlay(read(path, &pool)?);
        }
        let source = FileSource::open(path, &pool);
        let source = source.map_err(|cause| Error::source(path, cause))?;
        Ok(Self {
            path: path.to_owned(),
            source: Arc::new(source),
            beside: files_beside(path),
            pool,
            folders: folders.to_vec(),
            folder,
        })
    }

    /// Returns everything that will be read: files, and directories including
    /// their contents.
    pub fn paths(&self) -> Vec<PathBuf> {
        let beside = self.beside.iter().chain(&self.folders);
        beside.chain([&self.path]).cloned().collect()
    }

    /// Opens the file with this name, ignoring ASCII case, that belongs to the
    /// archive.
    fn partner(&self, wanted: &str) -> Option<Arc<dyn ReadAt>> {
        let path = self.beside.iter().find(|path| has_name(path, wanted))?;
        let source = FileSource::open(path, &self.pool).ok()?;
        Some(Arc::new(source))
    }
}

/// An archive with the changes of folders, ready to be written.
pub(super) struct Plan {
    written: Written,
    /// The path of the original.
    source: PathBuf,
    /// What became of the changes.
    report: Report,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("apply::Plan")
    }
}

impl Plan {
    /// Plans to apply changes. With `strict`, risks are refused too.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied.
    pub(super) fn new(mut edit: Edit, strict: bool) -> Result<Self> {
        let folder = mem::take(&mut edit.folder);
        let name = edit.path.file_name().unwrap_or_default().to_string_lossy();
        let original = Original {
            source: edit.source.clone(),
            name: &name,
            partner: &|wanted| edit.partner(wanted),
        };
        Self::of(&original, &edit.path, folder, strict)
    }

    /// Plans to add everything in a directory to an empty archive.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if the directory cannot be read, or
    /// [`Error::Refused`] with everything that the format has no place for.
    pub(super) fn of_directory(directory: &Path, empty: Empty) -> Result<Self> {
        let pool = Arc::new(FilePool::default());
        let folder = read(directory, &pool)?;
        let (bytes, partner) = empty.bytes();
        let partner: Option<Arc<dyn ReadAt>> = partner.map(|bytes| Arc::new(bytes) as _);
        let original = Original {
            source: Arc::new(bytes),
            name: empty.name(),
            partner: &|_| partner.clone(),
        };
        Self::of(&original, directory, folder, false)
    }

    /// Plans to apply a folder to an original, which errors call `path`.
    fn of(original: &Original<'_>, path: &Path, folder: Folder, strict: bool) -> Result<Self> {
        let budget = Budget::new(MEMORY);
        let reader = Reader::new(&budget, Spool::new(None, 0));
        let mut report = Report::default();
        let unwrap = |source| {
            let (source, images) = unwrap(&reader, source, &Options::default())?;
            Ok((source, images.tracks))
        };
        let tools = Tools {
            unwrap: &unwrap,
            convert: &Converter {
                options: &mount::Options::default(),
                budget: &budget,
            },
        };
        let written = changes::apply(original, folder, tools, &mut report);
        if strict {
            report.refuse_risks();
        }
        match written {
            Some(written) if report.refusals.is_empty() => {
                let source = path.to_owned();
                Ok(Self {
                    written,
                    source,
                    report,
                })
            }
            _ => Err(Error::Refused(report.refusals)),
        }
    }

    /// Returns the number of bytes of the result.
    pub(super) fn bytes(&self) -> u64 {
        let directory = self.written.directory.as_ref();
        self.written.data.len() + directory.map_or(0, ReadAt::len)
    }

    /// Returns the path of the second file of a pair that is written to `out`.
    pub(super) fn directory(&self, out: &Path) -> Option<PathBuf> {
        self.written.directory.as_ref()?;
        let name = out.file_name()?.to_str()?;
        let pairs = hpimount_containers::formats::changed_pairs();
        let mut names = pairs.filter_map(|pair| pair.directory_of(name));
        let name = names.next()?;
        // In the case of the given extension.
        let is_upper = out
            .extension()?
            .to_str()?
            .chars()
            .all(|c| !c.is_lowercase());
        let (stem, extension) = name.rsplit_once('.')?;
        let extension = match is_upper {
            true => extension.to_uppercase(),
            false => extension.to_owned(),
        };
        Some(out.with_file_name(format!("{stem}.{extension}")))
    }

    /// Writes the result to `out`, and the directory of a pair to its own target.
    ///
    /// # Errors
    /// Returns an error if the original or a changed file cannot be read, or if
    /// writing fails.
    pub(super) fn write(
        &self,
        mut out: impl Write,
        directory: Option<&Target>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let source = &self.source;
        copy(&self.written.data, source, &mut out, progress)?;
        if let (Some(spliced), Some(target)) = (&self.written.directory, directory) {
            copy(spliced, source, &mut target.file(), progress)?;
        }
        Ok(())
    }

    /// Returns what became of the changes.
    pub(super) fn report(&self) -> &Report {
        &self.report
    }
}

/// An archive without files, of a format that stores files as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// Grand Theft Auto: San Andreas.
    Img,
    /// Neversoft, form 3.
    Pre,
    /// Neversoft, with names; the directory is a file of its own.
    Wad,
    /// zip.
    Zip,
}

impl Empty {
    /// Returns its bytes, and those of the directory of a pair.
    fn bytes(self) -> (Vec<u8>, Option<Vec<u8>>) {
        match self {
            Self::Img => (b"VER2\0\0\0\0".to_vec(), None),
            // The length, the magic with the form, and no files.
            Self::Pre => ([12, 0xABCD_0003, 0].map(u32::to_le_bytes).concat(), None),
            Self::Wad => (Vec::new(), Some(vec![0xFF])),
            Self::Zip => {
                let mut end = b"PK\x05\x06".to_vec();
                end.resize(22, 0);
                (end, None)
            }
        }
    }

    /// Returns a name by which the archive is recognized.
    fn name(self) -> &'static str {
        match self {
            Self::Img => "empty.img",
            Self::Pre => "empty.prx",
            Self::Wad => "empty.wad",
            Self::Zip => "empty.zip",
        }
    }
}

/// Checks that the target `out` is neither the original nor in a folder of
/// changes.
///
/// # Errors
/// Returns [`Error::Target`] if it is.
pub fn check_target(out: &Path, source: &Path, folders: &[PathBuf], force: bool) -> Result<()> {
    let known = |path: &Path| path.metadata().ok().map(|found| identity(&found));
    if !force && known(out).is_some() && known(out) == known(source) {
        return Err(Error::target(out, "is the original; --force replaces it"));
    }
    let directory = match out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let above: Vec<_> = match directory.canonicalize() {
        Ok(directory) => directory.ancestors().filter_map(known).collect(),
        Err(_) => Vec::new(),
    };
    let is_inside = |folder: &&PathBuf| known(folder).is_some_and(|id| above.contains(&id));
    match folders.iter().find(is_inside) {
        Some(folder) => {
            let problem = format!("is in {}, the folder of changes", folder.display());
            Err(Error::target(out, problem))
        }
        None => Ok(()),
    }
}

/// Reads a folder of changes.
fn read(path: &Path, pool: &Arc<FilePool>) -> Result<Folder> {
    read_changes(path, pool).map_err(|cause| Error::source(path, cause))
}

/// Writes the bytes of a source, which is made of the archive at `path`.
pub(super) fn copy(
    spliced: &Spliced,
    path: &Path,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut piece = vec![0; PIECE];
    let mut offset = 0;
    while offset < spliced.len() {
        let length = (spliced.len() - offset).min(PIECE as u64) as usize;
        let piece = &mut piece[..length];
        let read = spliced.read_exact_at(piece, offset);
        read.map_err(|cause| Error::source(path, cause))?;
        out.write_all(piece).map_err(write::Error::Output)?;
        progress(length as u64);
        offset += length as u64;
    }
    out.flush().map_err(write::Error::Output)?;
    Ok(())
}
