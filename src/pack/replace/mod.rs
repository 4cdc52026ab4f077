//! An archive with other bytes for some of its files. What is not replaced is
//! copied as it is.

mod hip;
mod hpi;
mod names;
mod splice;

use std::collections::HashMap;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::names::Names;
use self::splice::Source;
use super::hpi::{File, Source as Bytes};
use super::{Error, Result};
use crate::io::ReadAt;
use crate::source::{FilePool, FileSource};
use crate::volume::{self, FileId, Input, Options};
use crate::volume::{hip as hip_volume, hpi as hpi_volume};

/// A file of an archive, and the file whose bytes it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// A path in the mounted archive or the end of one, or the id of an
    /// asset.
    pub name: String,
    /// The file on disk.
    pub file: PathBuf,
}

/// An archive with other bytes, ready to be written.
pub(super) enum Plan {
    Hpi(Box<hpi::Plan>),
    Hip(Box<hip::Plan>),
}

impl Plan {
    /// Plans to replace files of the archive at `path`.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if the archive cannot be read, a name stands
    /// for no file or for several, two stand for the same one, or a file on
    /// disk cannot be read.
    pub(super) fn new(path: &Path, replacements: &[Replacement]) -> Result<Self> {
        let failed = |error: crate::io::Error| Error::source(path, error);
        let opened = FileSource::open(path, &Arc::new(FilePool::default()));
        let bytes: Arc<dyn ReadAt> = Arc::new(opened.map_err(|cause| Error::source(path, cause))?);
        let source = Source {
            bytes: bytes.clone(),
            path: path.to_owned(),
        };
        let input = Input::alone(bytes.clone(), Options::default());
        let format = volume::detect(&input).map_err(failed)?;
        let mut names = Names::new();
        if format.name == hip_volume::FORMAT.name {
            (format.open)(input, &mut names).map_err(failed)?;
            let offsets = hip_volume::Offsets::read(&bytes).map_err(failed)?;
            let by_id = |name: &str| with_id(&offsets, name);
            let found = find(&source, &names, replacements, &by_id)?;
            let assets = offsets.assets.len();
            let files = found.into_iter().map(|(file, replacement)| {
                if file.0 as usize >= assets {
                    let problem = "is made by hpimount and not in the archive";
                    return Err(refused(&source, replacement, problem));
                }
                Ok((file.0, replacement.file.clone()))
            });
            let files = files.collect::<Result<_>>()?;
            return Ok(Self::Hip(Box::new(hip::Plan::new(source, offsets, files)?)));
        }
        if format.name != hpi_volume::FORMAT.name {
            let problem = format!("is {}, neither an HPI nor a HIP archive", format.name);
            return Err(source.error(problem));
        }
        let offsets = hpi_volume::Offsets::read(&bytes, &mut names).map_err(failed)?;
        let found = find(&source, &names, replacements, &|_| Vec::new())?;
        let files = found.into_iter().map(|(id, replacement)| {
            let metadata = super::walk::metadata(&replacement.file)?;
            if !metadata.is_file() {
                return Err(Error::source(&replacement.file, "is no file"));
            }
            let file = File {
                source: Bytes::Path(replacement.file.clone()),
                modified: super::walk::modified(&metadata),
            };
            Ok((id, names.path_of(id), file, metadata.len()))
        });
        let files = files.collect::<Result<_>>()?;
        Ok(Self::Hpi(Box::new(hpi::Plan::new(source, offsets, files)?)))
    }

    /// Returns the number of bytes that will be read.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Hpi(plan) => plan.bytes,
            Self::Hip(plan) => plan.bytes(),
        }
    }

    /// Writes the archive to `out`, from the start of `out` on.
    pub(super) fn write(
        &self,
        out: impl Write + Seek,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        match self {
            Self::Hpi(plan) => plan.write(out, progress),
            Self::Hip(plan) => plan.write(out, progress),
        }
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("replace::Plan")
    }
}

/// Returns the file that each name stands for.
fn find<'a>(
    source: &Source,
    names: &Names,
    replacements: &'a [Replacement],
    by_id: &dyn Fn(&str) -> Vec<FileId>,
) -> Result<Vec<(FileId, &'a Replacement)>> {
    let mut seen: HashMap<FileId, &str> = HashMap::new();
    let found = replacements.iter().map(|replacement| {
        let name = &replacement.name;
        let file = names
            .find(name, by_id(name))
            .map_err(|problem| refused(source, replacement, &problem))?;
        if let Some(other) = seen.insert(file, name) {
            let problem = format!("is the same file as {other}");
            return Err(refused(source, replacement, &problem));
        }
        Ok((file, replacement))
    });
    found.collect()
}

fn refused(source: &Source, replacement: &Replacement, problem: &str) -> Error {
    source.error(format!("{}: {problem}", replacement.name))
}

/// Returns the assets that have an id, which is written with eight hexadecimal
/// digits or with `0x`.
fn with_id(offsets: &hip_volume::Offsets, name: &str) -> Vec<FileId> {
    let digits = name
        .strip_prefix("0x")
        .or_else(|| (name.len() == 8).then_some(name));
    let id = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let assets = (0..).map(FileId).zip(&offsets.assets);
    let found = assets.filter(|(_, asset)| Some(asset.id) == id);
    found.map(|(file, _)| file).collect()
}
