//! Sources with the changes of folders and patches (`--apply`).
//!
//! An archive, a disc or an asset becomes another source ([`Changes::apply`]). Files
//! that are not in one archive, those of a folder and of merged archives, get a
//! [`Layer`] of changes on top ([`Changes::layer_over`]): merging adds it as the
//! highest layer, and folders are listed with it ([`ChangedFolder`]).

#[cfg(edit)]
mod edits;
mod files;
mod folder;
mod layer;
mod patch;
mod riivolution;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(edit)]
pub(crate) use self::edits::{Edits, each_change, is_plain};
pub(super) use self::folder::{ChangedFolder, List};
pub(super) use self::layer::Layer;
use self::patch::{PatchFile, SpoolFile};
use self::riivolution::ModFile;
use super::volume::{self, VolumeFile};
use super::{Converter, OpenCause, OpenError, Vfs};
use crate::content::{Reader, unwrap};
use crate::memory::budget::Budget;
use crate::namespace::tree::TreeBuilder;
use crate::platform::{FileStat, canonical};
use crate::source::{ChangesFolder, DiskNames, FilePool};
use hpimount_containers::apply::{Tools, apply};
use hpimount_containers::changes::{
    Change, Composed, Folder, Notice, Original, Report, Weight, Written, is_litter,
};
use hpimount_containers::format::Options;
use hpimount_containers::io::{self as containers, ReadAt};
use hpimount_containers::text::{has_extension, stem};
use hpimount_containers::{formats, image, sheet};
use hpimount_patches::Patched;

/// Folders of changes that have been read, and patches, in the order in which they are
/// applied.
#[derive(Clone, Default)]
pub(crate) struct Changes {
    steps: Vec<Step>,
    /// Storage for decoded sections of all patches.
    spool: Option<Arc<SpoolFile>>,
    /// Memory of the files of folders, in bytes.
    memory: usize,
    /// Path in the mount of the source that they belong to: empty, or with a slash
    /// at the end.
    prefix: String,
    /// The folders and patches.
    pub(crate) paths: Vec<PathBuf>,
    /// The modification time of the last one that was changed, in seconds since 1970
    /// UTC.
    pub(super) modified: i64,
    /// True if risks are refused.
    is_strict: bool,
}

/// Changes that are applied together.
#[derive(Clone)]
enum Step {
    /// Folders, the last one on top.
    Folder(Folder),
    Patch(PatchFile),
    Mod(ModFile),
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Changes").field(&self.paths).finish()
    }
}

/// A source with changes.
pub(super) struct Changed {
    /// Its name.
    pub(super) name: String,
    /// Its bytes.
    pub(super) source: Arc<dyn ReadAt>,
    /// The names and the bytes of the other files that it consists of.
    pub(super) partners: Vec<(String, Arc<dyn ReadAt>)>,
    /// Memory of its tables and of `report`, in bytes.
    pub(super) memory: usize,
    /// Outcome of the changes.
    pub(super) report: Report,
    stages: Vec<Stage>,
}

/// The files that a source becomes by the last step.
pub(crate) struct Outcome {
    /// The name of the source.
    name: String,
    /// Its files.
    pub(crate) written: Written,
    /// Outcome of the changes of all steps.
    pub(crate) report: Report,
    /// The results of the steps before, and of patches: parts of `written` may be ranges
    /// of them.
    pub(crate) stages: Vec<Stage>,
    /// Memory of patches, of the steps before and of the files of folders, in bytes.
    memory: usize,
}

/// A result that parts of later ones are ranges of.
pub(crate) enum Stage {
    /// Of a folder.
    Composed(Arc<Composed>),
    /// Of a patch.
    Patched(Arc<Patched>),
}

impl Changes {
    /// Reads the folders, whose files have such `names`, and opens the patches at these paths.
    ///
    /// # Errors
    /// Returns an error with the path that cannot be read.
    pub(crate) fn read(
        paths: &[PathBuf],
        is_strict: bool,
        names: DiskNames,
    ) -> Result<Self, OpenError> {
        let pool = Arc::new(FilePool::default());
        let mut changes = Self {
            steps: Vec::new(),
            spool: None,
            memory: 0,
            prefix: String::new(),
            paths: Vec::with_capacity(paths.len()),
            modified: i64::MIN,
            is_strict,
        };
        for path in paths {
            let added = changes.add(path, &pool, names);
            added.map_err(|error| {
                OpenError::new(path.to_string_lossy(), OpenCause::Unreadable(error))
            })?;
        }
        Ok(changes)
    }

    fn add(&mut self, path: &Path, pool: &Arc<FilePool>, names: DiskNames) -> io::Result<()> {
        if !path.is_dir()
            && let Some(mods) = riivolution::open(path, pool, &mut self.paths)?
        {
            self.memory += mods.iter().map(|own| own.memory).sum::<usize>();
            self.steps.extend(mods.into_iter().map(Step::Mod));
            return Ok(());
        }
        let stat = FileStat::through_links(None, path)?;
        self.modified = self.modified.max(stat.modified);
        self.paths.push(canonical(path)?);
        if !path.is_dir() {
            self.spool = self.spool.take().or_else(SpoolFile::create);
            let patch = PatchFile::open(path, pool, self.spool.clone())?;
            self.steps.push(Step::Patch(patch));
            return Ok(());
        }
        let (folder, memory) = ChangesFolder::open(path, pool, names)?.read()?;
        self.memory += memory;
        match self.steps.last_mut() {
            Some(Step::Folder(below)) => below.overlay(folder),
            _ => self.steps.push(Step::Folder(folder)),
        }
        Ok(())
    }

    /// Returns the folder of changes, if there are no patches.
    fn folder(&mut self) -> Result<Folder, OpenCause> {
        let mut folder = Folder::default();
        for step in std::mem::take(&mut self.steps) {
            let path = match step {
                Step::Folder(only) => {
                    folder = only;
                    continue;
                }
                Step::Patch(patch) => patch.name(),
                Step::Mod(own) => own.name,
            };
            let text = "is a patch of one file: it cannot be applied to a folder, or to \
                        several sources together";
            let text = text.to_owned();
            return Err(OpenCause::Refused(vec![Notice::new(path, text)]));
        }
        Ok(folder)
    }

    /// Divides the changes among sources that the mount shows as directories called
    /// `names`.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that is in none of them.
    pub(super) fn divide(mut self, names: &[String]) -> Result<HashMap<String, Self>, OpenCause> {
        let folder = self.folder()?;
        let mut report = Report::default();
        if folder.is_opaque {
            report.refuse(
                "",
                "sources cannot be deleted: the folder is marked as opaque",
            );
        }
        let mut divided: HashMap<String, Folder> = HashMap::new();
        for (name, change) in folder.entries {
            let source = names.iter().find(|own| own.eq_ignore_ascii_case(&name));
            match (source, change) {
                (Some(source), Change::Directory(folder)) => {
                    let part = divided.entry(source.clone()).or_default();
                    for twice in part.absorb(*folder) {
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
        if !report.refusals.is_empty() {
            return Err(OpenCause::Refused(report.refusals));
        }
        // They share the files, which count once.
        let mut memory = std::mem::take(&mut self.memory);
        let part = |(source, folder): (String, Folder)| {
            let part = Self {
                steps: vec![Step::Folder(folder)],
                memory: std::mem::take(&mut memory),
                prefix: format!("{source}/"),
                ..self.clone()
            };
            (source, part)
        };
        Ok(divided.into_iter().map(part).collect())
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
        let changed = Changed::new(self.write(original, reader, reader.budget(), options)?);
        log_notes(&changed.report);
        Ok(changed)
    }

    /// Applies the steps to a source, each to the result of the one before, and returns
    /// the files that it becomes. The windows of a patch are charged to `budget`, and its
    /// lists may take as much as that has in all: more could not be charged.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that cannot be applied.
    pub(crate) fn write(
        mut self,
        original: &Original<'_>,
        reader: &Arc<Reader>,
        budget: &Arc<Budget>,
        options: &super::Options,
    ) -> Result<Outcome, OpenCause> {
        let mut steps = std::mem::take(&mut self.steps).into_iter();
        let first = steps.next();
        let first = first.unwrap_or_else(|| Step::Folder(Folder::default()));
        let mut outcome = self.step(first, original, reader, budget, options)?;
        for step in steps {
            let mut before = Changed::new(outcome);
            if matches!(step, Step::Patch(_)) {
                // The patch may change these files.
                before.report.applied.clear();
            }
            let partner = |name: &str| {
                let changed = before.partner(name);
                changed.or_else(|| (original.partner)(name))
            };
            let changed = Original {
                source: before.source.clone(),
                name: &before.name,
                shown: &before.name,
                partner: &partner,
                is_changed: true,
            };
            outcome = self.step(step, &changed, reader, budget, options)?;
            let mut report = before.report;
            report.extend(std::mem::take(&mut outcome.report));
            outcome.report = report;
            outcome.stages.splice(..0, before.stages);
            outcome.memory += before.memory;
        }
        outcome.memory += self.memory;
        Ok(outcome)
    }

    fn step(
        &self,
        step: Step,
        original: &Original<'_>,
        reader: &Arc<Reader>,
        budget: &Arc<Budget>,
        options: &super::Options,
    ) -> Result<Outcome, OpenCause> {
        let mut report = Report::default();
        let folder = match step {
            Step::Patch(patch) => return with_patch(&patch, original, reader, budget, options),
            Step::Folder(folder) => folder,
            Step::Mod(own) => own.folder(original, reader, &mut report)?,
        };
        let apply = |tools: Tools<'_>, report: &mut Report| {
            apply(original, folder, &self.prefix, tools, report)
        };
        let applied = with_tools(reader, options, self.is_strict, apply);
        let (written, applied) = applied.map_err(OpenCause::Refused)?;
        report.extend(applied);
        Ok(Outcome {
            name: original.name.to_owned(),
            written,
            report,
            stages: Vec::new(),
            memory: 0,
        })
    }

    /// Returns what changes do to the files of a mount, and the memory that they take in
    /// bytes.
    ///
    /// # Errors
    /// Returns [`OpenCause::Refused`] with everything that cannot be applied, or an
    /// error if a directory cannot be listed.
    pub(super) fn layer_over(
        mut self,
        vfs: &Arc<Vfs>,
    ) -> Result<(Layer, Report, usize), OpenCause> {
        let folder = self.folder()?;
        let files = files::Files::declare(vfs, &folder)?;
        let prefix = &self.prefix;
        let apply =
            |tools: Tools<'_>, report: &mut Report| files.apply(folder, prefix, tools, report);
        let applied = with_tools(vfs.reader(), vfs.options(), self.is_strict, apply);
        let (layer, report) = applied.map_err(OpenCause::Refused)?;
        log_notes(&report);
        let memory = self.memory + layer.memory() + report.memory();
        Ok((layer, report, memory))
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
fn log_notes(report: &Report) {
    report.information().for_each(|note| log::info!("{note}"));
    report.warnings().for_each(|note| log::warn!("{note}"));
}

/// Applies a patch to one of the files that a source is, see [`Originals`]. Its
/// windows and lists are within `budget`.
fn with_patch(
    patch: &PatchFile,
    original: &Original<'_>,
    reader: &Arc<Reader>,
    budget: &Arc<Budget>,
    options: &super::Options,
) -> Result<Outcome, OpenCause> {
    let Originals {
        sheet,
        mut files,
        plain,
    } = Originals::find(original, reader, options)?;
    let applied = patch.apply(&files, budget, options)?;
    let memory = applied.patched.memory();
    let mut report = Report::default();
    for note in applied.notes {
        report.note(Weight::Warning, patch.name(), note);
    }
    report.patches.push(applied.applied);
    files[applied.number].1 = applied.patched.clone();
    let (name, source) = files[applied.number].clone();
    let is_plain = applied.number < plain;
    let (name, written) = match sheet {
        Some((sheet_name, sheet)) if !has_extension(name.as_bytes(), "iso") => {
            // The plain files belong to the plain sheet, the others to the given one.
            let (sheet_name, sheet, files) = match is_plain {
                true => (sheet_name, sheet, &files[..plain]),
                false => (
                    original.name.to_owned(),
                    original.source.clone(),
                    &files[plain..],
                ),
            };
            let files = files
                .iter()
                .map(|(name, file)| (name.clone(), Composed::whole(file)));
            let written = Written {
                files: files.collect(),
                ..Written::alone(Composed::whole(&sheet))
            };
            (sheet_name, written)
        }
        _ => (name, Written::alone(Composed::whole(&source))),
    };
    Ok(Outcome {
        name,
        written,
        report,
        stages: vec![Stage::Patched(applied.patched)],
        memory,
    })
}

/// A file with its name.
type Named = (String, Arc<dyn ReadAt>);

/// Extensions of files that refer to those with the data.
const SHEETS: [&str; 4] = ["ccd", "cue", "gdi", "mds"];

/// The files that a patch may have been made for.
struct Originals {
    /// The sheet that refers to the plain files, if there is one.
    sheet: Option<Named>,
    /// The files, the likeliest first: the plain files of a disc, which people have
    /// whatever the source is packed as; the files that a sheet refers to; or the source
    /// itself.
    files: Vec<Named>,
    /// The number of plain files.
    plain: usize,
}

impl Originals {
    fn find(
        original: &Original<'_>,
        reader: &Arc<Reader>,
        options: &super::Options,
    ) -> Result<Self, OpenCause> {
        let is_sheet = |name: &str| {
            let mut sheets = SHEETS.iter();
            sheets.any(|one| has_extension(name.as_bytes(), one))
        };
        let is_packed = image::detect(&*original.source)?.is_some();
        let mut found = Self {
            sheet: None,
            files: Vec::new(),
            plain: 0,
        };
        if is_packed || is_sheet(original.name) || has_extension(original.name.as_bytes(), "001") {
            found.files = plain_files(original, reader, options)?;
        }
        let sheet = found.files.iter().position(|(name, _)| is_sheet(name));
        found.sheet = sheet.map(|number| found.files.remove(number));
        if let Some((name, _)) = &found.sheet
            && has_extension(name.as_bytes(), "gdi")
        {
            // The last track has the game.
            found.files.reverse();
        }
        found.plain = found.files.len();
        if is_sheet(original.name) {
            for name in sheet::files(&*original.source)? {
                let file = (original.partner)(&name);
                found.files.extend(file.map(|file| (name, file)));
            }
        } else {
            found
                .files
                .push((original.name.to_owned(), original.source.clone()));
        }
        Ok(found)
    }
}

/// Returns the plain files of a disc; none for other archives.
fn plain_files(
    original: &Original<'_>,
    reader: &Arc<Reader>,
    options: &super::Options,
) -> Result<Vec<Named>, containers::Error> {
    let file = VolumeFile {
        name: original.name,
        location: original.name,
        nesting: 0,
        source: original.source.clone(),
        partner: original.partner,
    };
    let new_builder = |companions| TreeBuilder::new(0, 0, companions);
    let opened = volume::open(file, reader, options, |_| true, new_builder)?;
    Ok(opened.volume.volume.plain_files(stem(original.name)))
}

impl Changed {
    /// Lets the files that a source becomes be read.
    fn new(outcome: Outcome) -> Self {
        let Outcome {
            name,
            written,
            report,
            mut stages,
            memory,
        } = outcome;
        let files = written.files.iter().map(|(_, file)| file);
        let all = files.chain(&written.directory).chain([&written.data]);
        let memory = memory + all.map(Composed::memory).sum::<usize>() + report.memory();
        let spliced = Arc::new(written.data);
        stages.push(Stage::Composed(spliced.clone()));
        let data: Arc<dyn ReadAt> = spliced;
        let files = written.files.into_iter();
        let files = files.map(|(name, file)| (name, Arc::new(file) as Arc<dyn ReadAt>));
        let mut changed = Self {
            source: data.clone(),
            partners: files.collect(),
            memory,
            report,
            stages,
            name,
        };
        let Some(directory) = written.directory else {
            return changed;
        };
        let directory: Arc<dyn ReadAt> = Arc::new(directory);
        let pairs = formats::changed_pairs;
        match pairs().find_map(|pair| pair.directory_of(&changed.name)) {
            Some(name) => changed.partners.push((name, directory)),
            // The source is the file with the directory.
            None => {
                let name = pairs().find_map(|pair| pair.other(&changed.name));
                changed.partners.extend(name.map(|name| (name, data)));
                changed.source = directory;
            }
        }
        changed
    }

    /// Returns the file with this name, if it is one of those that it consists of.
    pub(super) fn partner(&self, name: &str) -> Option<Arc<dyn ReadAt>> {
        let mut partners = self.partners.iter();
        let found = partners.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, source)| source.clone())
    }
}
