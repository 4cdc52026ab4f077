//! Sources with the changes of folders (`--apply`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Converter, OpenCause, OpenError};
use crate::content::{Reader, unwrap};
use crate::source::{FilePool, read_changes};
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Folder, NewFile, Notice, Original, Report, Spliced};
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
    /// The names and the bytes of the other files that it consists of.
    pub(super) partners: Vec<(String, Arc<dyn ReadAt>)>,
    /// Memory of its tables and of `report`, in bytes.
    pub(super) memory: usize,
    /// What became of the changes.
    pub(super) report: Report,
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

    /// Returns the file at a path in the folders.
    pub(super) fn file(&self, path: &str) -> Option<&NewFile> {
        self.folder.file(path)
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
            convert: &Converter { options, reader },
        };
        let written = apply(original, self.folder.clone(), tools, &mut report);
        if self.is_strict {
            report.refuse_risks();
        }
        let Some(written) = written.filter(|_| report.refusals.is_empty()) else {
            return Err(OpenCause::Refused(report.refusals));
        };
        report.information().for_each(|note| log::info!("{note}"));
        report.warnings().for_each(|note| log::warn!("{note}"));
        let files = written.files.iter().map(|(_, file)| file);
        let all = files.chain(&written.directory).chain([&written.data]);
        let memory = all.map(Spliced::memory).sum::<usize>() + report.memory();
        let data: Arc<dyn ReadAt> = Arc::new(written.data);
        let files = written.files.into_iter();
        let files = files.map(|(name, file)| (name, Arc::new(file) as Arc<dyn ReadAt>));
        let mut changed = Changed {
            source: data.clone(),
            partners: files.collect(),
            memory,
            report,
        };
        let Some(directory) = written.directory else {
            return Ok(changed);
        };
        let directory: Arc<dyn ReadAt> = Arc::new(directory);
        let pairs = formats::changed_pairs;
        match pairs().find_map(|pair| pair.directory_of(original.name)) {
            Some(name) => changed.partners.push((name, directory)),
            // The source is the file with the directory.
            None => {
                let name = pairs().find_map(|pair| pair.other(original.name));
                changed.partners.extend(name.map(|name| (name, data)));
                changed.source = directory;
            }
        }
        Ok(changed)
    }
}

impl Changed {
    /// Returns the file with this name, if it is one of those that it consists of.
    pub(super) fn partner(&self, name: &str) -> Option<Arc<dyn ReadAt>> {
        let mut partners = self.partners.iter();
        let found = partners.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, source)| source.clone())
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
