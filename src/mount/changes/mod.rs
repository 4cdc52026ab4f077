//! Sources with the changes of folders (`--apply`).
//!
//! An archive, a disc or an asset becomes another source ([`Changes::apply`]). Files
//! that are not in one archive, those of a folder and of merged archives, get a
//! [`Layer`] of changes on top ([`Changes::layer_over`]): merging adds it as the
//! highest layer, and folders are listed with it ([`ChangedFolder`]).

mod files;
mod folder;
mod layer;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::CWD;

pub(super) use self::folder::{ChangedFolder, List};
pub(super) use self::layer::Layer;
use super::{Converter, OpenCause, OpenError, Vfs};
use crate::content::{Reader, unwrap};
use crate::source::{FilePool, FileStat, read_changes};
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{Change, Folder, Notice, Original, Report, Spliced, is_litter};
use hpimount_containers::format::Options;
use hpimount_containers::formats;
use hpimount_containers::io::ReadAt;

/// Folders of changes that have been read, the last one on top.
#[derive(Clone)]
pub(super) struct Changes {
    folder: Folder,
    /// Path in the mount of the source that they belong to: empty, or with a slash
    /// at the end.
    prefix: String,
    /// The folders.
    pub(super) paths: Vec<PathBuf>,
    /// The modification time of the last one that was changed, in seconds since 1970
    /// UTC.
    pub(super) modified: i64,
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
        let mut modified = i64::MIN;
        for path in folders {
            let failed =
                |error| OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error));
            folder.overlay(read_changes(path, &pool).map_err(failed)?);
            let stat = FileStat::through_links(CWD, path);
            let stat = stat.map_err(|error| failed(error.into()))?;
            modified = modified.max(stat.modified);
            paths.push(path.canonicalize().map_err(failed)?);
        }
        Ok(Self {
            folder,
            prefix: String::new(),
            paths,
            modified,
            is_strict,
        })
    }

    /// Divides the changes among sources that the mount shows as directories called
    /// `names`.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that is in none of them.
    pub(super) fn divide(self, names: &[String]) -> Result<HashMap<String, Self>, OpenCause> {
        let mut report = Report::default();
        if self.folder.is_opaque {
            report.refuse(
                "",
                "sources cannot be deleted: the folder is marked as opaque",
            );
        }
        let mut divided: HashMap<String, Self> = HashMap::new();
        for (name, change) in self.folder.entries {
            let source = names.iter().find(|own| own.eq_ignore_ascii_case(&name));
            match (source, change) {
                (Some(source), Change::Directory(folder)) => {
                    let part = divided.entry(source.clone());
                    let part = part.or_insert_with(|| Self {
                        folder: Folder::default(),
                        prefix: format!("{source}/"),
                        paths: self.paths.clone(),
                        modified: self.modified,
                        is_strict: self.is_strict,
                    });
                    for twice in part.folder.absorb(folder) {
                        let reason = "is in several directories whose names differ in case";
                        report.refuse(format!("{name}/{twice}"), reason);
                    }
                }
                (Some(_), Change::Deleted) => {
                    report.refuse(name, "is a source, and cannot be deleted: leave it out");
                }
                (Some(_), _) => {
                    let reason = "is a source: its changes are in a directory of this name";
                    report.refuse(name, reason);
                }
                (None, Change::Deleted) => {}
                (None, _) if is_litter(&name) => {}
                (None, _) => {
                    let reason = format!("is in no source: they are {}", names.join(", "));
                    report.refuse(name, reason);
                }
            }
        }
        match report.refusals.is_empty() {
            true => Ok(divided),
            false => Err(OpenCause::Refused(report.refusals)),
        }
    }

    /// Returns a source with the changes. Notes about them go to the log.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that cannot be applied.
    pub(super) fn apply(
        self,
        original: &Original<'_>,
        reader: &Arc<Reader>,
        options: &super::Options,
    ) -> Result<Changed, OpenCause> {
        let (folder, prefix) = (self.folder, &self.prefix);
        let apply =
            |tools: Tools<'_>, report: &mut Report| apply(original, folder, prefix, tools, report);
        let (written, report) = logged(with_tools(reader, options, self.is_strict, apply))?;
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

    /// Returns what changes do to the files of a mount.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that cannot be applied, or an
    /// error if a directory cannot be listed.
    pub(super) fn layer_over(self, vfs: &Arc<Vfs>) -> Result<(Layer, Report), OpenCause> {
        let files = files::Files::declare(vfs, &self.folder)?;
        let (folder, prefix) = (self.folder, &self.prefix);
        let apply =
            |tools: Tools<'_>, report: &mut Report| files.apply(folder, prefix, tools, report);
        logged(with_tools(&vfs.reader, &vfs.options, self.is_strict, apply))
    }
}

/// Applies changes by a function.
///
/// # Errors
/// Returns everything that cannot be applied, or if `is_strict` is a risk.
pub(crate) fn with_tools<T>(
    reader: &Arc<Reader>,
    options: &super::Options,
    is_strict: bool,
    apply: impl FnOnce(Tools<'_>, &mut Report) -> Option<T>,
) -> Result<(T, Report), Vec<Notice>> {
    let unwrap = |source| {
        let (source, images) = unwrap(reader, source, &Options::default())?;
        Ok((source, images.tracks))
    };
    let tools = Tools {
        unwrap: &unwrap,
        convert: &Converter { options, reader },
    };
    let mut report = Report::default();
    let applied = apply(tools, &mut report);
    if is_strict {
        report.refuse_risks();
    }
    match applied.filter(|_| report.refusals.is_empty()) {
        Some(applied) => Ok((applied, report)),
        None => Err(report.refusals),
    }
}

/// Writes the notes about changes that have been applied to the log.
fn logged<T>(applied: Result<(T, Report), Vec<Notice>>) -> Result<(T, Report), OpenCause> {
    let (applied, report) = applied.map_err(OpenCause::Refused)?;
    report.information().for_each(|note| log::info!("{note}"));
    report.warnings().for_each(|note| log::warn!("{note}"));
    Ok((applied, report))
}

impl Changed {
    /// Returns the file with this name, if it is one of those that it consists of.
    pub(super) fn partner(&self, name: &str) -> Option<Arc<dyn ReadAt>> {
        let mut partners = self.partners.iter();
        let found = partners.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, source)| source.clone())
    }
}

/// Returns the stem of a file name.
pub(super) fn stem(name: &str) -> &str {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(name)
}
