//! Packing: a directory on disk becomes an archive, or files of an archive are
//! replaced.

mod apply;
mod copy;
pub mod hip;
mod patch;
mod replace;
mod riivolution;
mod target;
mod threads;
mod walk;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use apply::{DryRun, Edit, check_target};
pub use hip::SETTINGS;
pub use replace::Replacement;
pub use riivolution::Plan as Mod;
pub use target::Target;
pub use threads::Threads;
use walk::walk;

use crate::source::DiskNames;
use hpimount_containers::changes::{self, Notice};
use hpimount_containers::hpi::chunk::Method;
use hpimount_containers::hpi::write::{v1, v2};
pub use hpimount_containers::pack::Empty;
use hpimount_containers::write::{self, Directory};

/// The game that an archive is for, and how it is packed.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// Total Annihilation.
    TotalAnnihilation {
        /// Packing method of files.
        method: Method,
        /// Key of the cipher; 0 for none.
        key: u8,
    },
    /// TA: Kingdoms.
    Kingdoms {
        /// True if data is packed with zlib.
        packed: bool,
    },
    /// A game of Heavy Iron Studios, according to `Settings.ini`.
    Hip,
    /// A format whose archives are packed by adding everything to an empty one.
    Plain(Empty),
}

/// The reason why an archive could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something in the directory cannot be read or packed.
    #[error("{}: {problem}", path.display())]
    Source {
        /// Its path.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The target cannot be written.
    #[error("{}: {problem}", path.display())]
    Target {
        /// Its path.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// Changes cannot be applied.
    #[error("{}", changes::listed(.0))]
    Refused(Vec<Notice>),
    /// The archive cannot be written.
    #[error(transparent)]
    Archive(#[from] write::Error),
}

/// Result with the packer's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn source(path: &Path, problem: impl ToString) -> Self {
        Self::Source {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }

    fn refused(path: &Path, text: impl Into<String>) -> Self {
        let path = path.display().to_string();
        let text = text.into();
        Self::Refused(vec![Notice::new(path, text)])
    }

    fn target(path: &Path, problem: impl ToString) -> Self {
        Self::Target {
            path: path.to_owned(),
            problem: problem.to_string(),
        }
    }
}

/// Number of bytes that wait to be written together.
const BUFFER: usize = 256 << 10;

/// An archive that is ready to be written.
pub struct Archive {
    plan: Plan,
    /// Number of bytes that will be read.
    pub bytes: u64,
    /// Files that are not packed, and why.
    pub skipped: Vec<(PathBuf, &'static str)>,
    /// Warnings for the user about the archive, one sentence each.
    pub warnings: Vec<String>,
    /// Additional notes, one sentence each.
    pub notes: Vec<String>,
}

/// Plan for writing an archive.
enum Plan {
    Version1(Directory, v1::Options),
    Version2(Directory, v2::Options),
    Hip(Box<hip::Plan>),
    Apply(Box<apply::Plan>),
    Patch(Box<patch::Plan>),
    Mod(Box<Mod>),
}

impl Archive {
    /// Prepares an archive of the contents of `directory`, whose files have such `names`,
    /// except for a file at `target`, the path of the new archive.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read or packed.
    pub fn of_directory(
        directory: &Path,
        names: DiskNames,
        target: &Path,
        format: Format,
    ) -> Result<Self> {
        let walked = walk(directory, names, target)?;
        let skipped = walked.skipped.into_iter();
        let mut skipped: Vec<_> = skipped
            .map(|path| (path, "it is the archive itself"))
            .collect();
        let mut bytes = walked.bytes;
        let plan = match format {
            Format::Plain(empty) => {
                let plan = apply::Plan::of_directory(directory, names, target, empty)?;
                return Ok(Self::with(plan));
            }
            Format::TotalAnnihilation { method, key } => {
                Plan::Version1(walked.root, v1::Options { method, key })
            }
            Format::Kingdoms { packed } => Plan::Version2(walked.root, v2::Options { packed }),
            Format::Hip => {
                let plan = hip::Plan::new(directory, &walked.root)?;
                let unlisted = plan.skipped.iter().cloned();
                skipped.extend(unlisted.map(|path| (path, "Settings.ini does not list it")));
                bytes = plan.bytes();
                Plan::Hip(Box::new(plan))
            }
        };
        Ok(Self {
            plan,
            bytes,
            skipped,
            warnings: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Prepares an archive or a disc with changes, which is written to `out`: as it is,
    /// or as a patch or a mod if that is what the extension of `out` says.
    ///
    /// # Errors
    /// Returns [`Error::Refused`] with everything that cannot be applied, or
    /// [`Error::Target`] if the result has several files and `out` does not have the
    /// extension of the first one.
    pub fn with_changes(edit: Edit, out: &Path) -> Result<Self> {
        if riivolution::is_mod(out) {
            let plan = Mod::new(edit, out)?;
            return Ok(Self {
                bytes: plan.bytes(),
                warnings: plan.report().warnings().collect(),
                notes: plan.report().information().collect(),
                skipped: Vec::new(),
                plan: Plan::Mod(Box::new(plan)),
            });
        }
        let Some(format) = patch::format_of(out)? else {
            return Ok(Self::with(apply::Plan::new(edit, out)?));
        };
        let plan = patch::Plan::new(edit, format, out)?;
        Ok(Self {
            bytes: plan.bytes(),
            warnings: plan.report().warnings().chain(plan.applies_to()).collect(),
            notes: plan.report().information().collect(),
            skipped: Vec::new(),
            plan: Plan::Patch(Box::new(plan)),
        })
    }

    fn with(plan: apply::Plan) -> Self {
        Self {
            bytes: plan.bytes(),
            warnings: plan.report().warnings().collect(),
            notes: plan.report().information().collect(),
            skipped: Vec::new(),
            plan: Plan::Apply(Box::new(plan)),
        }
    }

    /// Prepares a copy of the archive at `path` with some of its files
    /// replaced. Everything else is copied unchanged. `spool` is an empty file for packed
    /// files, which confined threads cannot create.
    ///
    /// # Errors
    /// Returns [`Error::Source`] if the archive or a file on disk cannot be
    /// read, or if a name does not match exactly one file. Two names must not
    /// match the same file.
    pub fn with_replacements(
        path: &Path,
        replacements: &[Replacement],
        spool: Option<Arc<File>>,
    ) -> Result<Self> {
        Ok(Self::with(replace::plan(path, replacements, spool)?))
    }

    /// Returns the paths of further files: the directory of a pair, and the tracks
    /// of a cue sheet.
    pub fn beside(&self) -> Vec<PathBuf> {
        match &self.plan {
            Plan::Apply(plan) => plan.beside(),
            _ => Vec::new(),
        }
    }

    /// Writes the archive to the target, and the files of [`Archive::beside`] to their
    /// own; none appears at its path before it is [kept](Target::keep).
    /// `progress` is called with the number of bytes that have been read since the
    /// last call.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, if a target cannot be written, or for a
    /// [mod](Archive::as_mod).
    pub fn write(
        &self,
        target: &Target,
        beside: &[Target],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let shown = &mut |bytes| progress(bytes);
        let out = BufWriter::with_capacity(BUFFER, target.file());
        match &self.plan {
            Plan::Version1(root, options) => {
                v1::write(root, *options, out, &mut Threads::start(), shown)?
            }
            Plan::Version2(root, options) => {
                v2::write(root, *options, out, &mut Threads::start(), shown)?
            }
            Plan::Hip(plan) => plan.write(out, shown)?,
            Plan::Apply(plan) => plan.write(target.file(), beside, shown)?,
            Plan::Patch(plan) => plan.write(out, progress)?,
            Plan::Mod(plan) => return Err(plan.not_a_file()),
        }
        Ok(())
    }

    /// Returns the mod if it is one, which is written as a folder.
    pub fn as_mod(&self) -> Option<&Mod> {
        match &self.plan {
            Plan::Mod(plan) => Some(plan),
            _ => None,
        }
    }
}

/// Checks that the extension of `out` is not that of a patch or of a mod, which are made
/// of changes only.
///
/// # Errors
/// Returns [`Error::Target`] if it is.
pub fn check_is_archive(out: &Path) -> Result<()> {
    match riivolution::is_mod(out) || patch::format_of(out)?.is_some() {
        true => Err(Error::target(
            out,
            "patches and mods are written by `hpi apply` only",
        )),
        false => Ok(()),
    }
}
