//! Sources with the changes of folders (`--apply`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Converter, OpenCause, OpenError};
use crate::content::{Reader, unwrap};
use crate::source::{FilePool, read_changes};
use hpimount_containers::changes::{self, Folder, Notice, Original, Report, Tools};
use hpimount_containers::format::Options;
use hpimount_containers::formats;
use hpimount_containers::io::ReadAt;

/// Folders of changes that have been read, the last one on top.
#[derive(Clone)]
pub(super) struct Changes {
    folder: Folder,
    /// The folders.
    pub(super) paths: Vec<PathBuf>,
    /// Whether risks are refused.
    is_strict: bool,
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Changes").field(&self.paths).finish()
    }
}

/// A source with changes.
pub(super) struct Changed {
    /// Its bytes.
    pub(super) source: Arc<dyn ReadAt>,
    /// The name and the bytes of the other file of a pair.
    pub(super) partner: Option<(String, Arc<dyn ReadAt>)>,
    /// Memory of its tables, in bytes.
    pub(super) memory: usize,
}

impl Changes {
    /// Reads the folders.
    ///
    /// # Errors
    /// Returns an error with the folder that cannot be read.
    pub(super) fn read(folders: &[PathBuf], is_strict: bool) -> Result<Self, OpenError> {
        let pool = Arc::new(FilePool::default());
        let mut folder = Folder::default();
        let mut paths = Vec::with_capacity(folders.len());
        for path in folders {
            let failed =
                |error| OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error));
            folder.overlay(read_changes(path, &pool).map_err(failed)?);
            paths.push(path.canonicalize().map_err(failed)?);
        }
        Ok(Self {
            folder,
            paths,
            is_strict,
        })
    }

    /// Returns a source with the changes. Notes about them go to the log.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that cannot be applied.
    pub(super) fn apply(
        &self,
        original: &Original<'_>,
        reader: &Arc<Reader>,
        options: &super::Options,
    ) -> Result<Changed, OpenCause> {
        let mut report = Report::default();
        let unwrap = |source| {
            let (source, images) = unwrap(reader, source, &Options::default())?;
            Ok((source, images.tracks))
        };
        let tools = Tools {
            unwrap: &unwrap,
            convert: &Converter {
                options,
                budget: reader.budget(),
            },
        };
        let written = changes::apply(original, self.folder.clone(), tools, &mut report);
        if self.is_strict {
            report.refuse_risks();
        }
        let Some(written) = written.filter(|_| report.refusals.is_empty()) else {
            return Err(OpenCause::Refused(report.refusals));
        };
        report.information().for_each(|note| log::info!("{note}"));
        report.warnings().for_each(|note| log::warn!("{note}"));
        let memory = written.data.memory();
        let data: Arc<dyn ReadAt> = Arc::new(written.data);
        let Some(directory) = written.directory else {
            return Ok(Changed {
                source: data,
                partner: None,
                memory,
            });
        };
        let memory = memory + directory.memory();
        let directory: Arc<dyn ReadAt> = Arc::new(directory);
        let pairs = formats::changed_pairs;
        let named = pairs().find_map(|pair| pair.directory_of(original.name));
        Ok(match named {
            Some(name) => Changed {
                source: data,
                partner: Some((name, directory)),
                memory,
            },
            // The source is the file with the directory.
            None => Changed {
                source: directory,
                partner: pairs()
                    .find_map(|pair| pair.other(original.name))
                    .map(|name| (name, data)),
                memory,
            },
        })
    }
}

impl Changed {
    /// Returns the other file of a pair, if it has this name.
    pub(super) fn partner(&self, name: &str) -> Option<Arc<dyn ReadAt>> {
        let (own, source) = self.partner.as_ref()?;
        own.eq_ignore_ascii_case(name).then(|| source.clone())
    }
}

/// Returns why changes cannot be applied to these sources.
pub(super) fn not_one_source() -> OpenCause {
    OpenCause::Refused(vec![Notice {
        path: String::new(),
        text: "--apply changes one archive or disc: give one SOURCE that is a file".to_owned(),
    }])
}

/// Returns the stem of a file name.
pub(super) fn stem(name: &str) -> &str {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(name)
}
