//! Writing archives, and applying changes to archives and discs. What may be hostile is
//! read by a confined thread.

use std::path::{Path, PathBuf};
use std::{fs, io, iter, slice};

use super::{Confinement, Failure, progress_bar, spool, tell, with_tasks};
use crate::pack::{
    self, Archive, DryRun, Edit, Format, Mod, Replacement, Target, check_is_archive, check_target,
};
use crate::platform::clean_up_on_signals;
use crate::source::{DiskNames, NewFolder};

/// A packing task.
#[derive(Debug)]
pub enum Pack {
    /// An archive of a directory.
    Directory {
        /// The directory.
        dir: PathBuf,
        /// The names of its files.
        names: DiskNames,
        /// The archive to write.
        out: PathBuf,
        /// Its format.
        format: Format,
    },
    /// A copy of an archive with new contents of some files.
    Replace {
        /// The archive.
        archive: PathBuf,
        /// The archive to write.
        out: PathBuf,
        /// The new contents.
        replacements: Vec<Replacement>,
    },
    /// A source with changes.
    Apply {
        /// The changes, the last ones on top.
        changes: Vec<PathBuf>,
        /// The source that they change.
        source: PathBuf,
        /// The output; `None` to print what would change.
        out: Option<PathBuf>,
        /// True if changes are refused that games may not find.
        is_strict: bool,
        /// The names of files in folders of changes.
        names: DiskNames,
    },
}

/// Output options.
#[derive(Debug, Clone, Copy)]
pub struct PackStyle {
    /// True if an existing output is overwritten.
    pub force: bool,
    /// True if additional notes are printed.
    pub is_verbose: bool,
    /// True if only errors are printed.
    pub is_quiet: bool,
}

/// Writes an archive, or what an archive or a disc is with changes.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn pack(pack: &Pack, style: PackStyle) -> Result<(), Failure> {
    match pack {
        Pack::Directory {
            dir,
            names,
            out,
            format,
        } => {
            check_is_archive(out)?;
            let archive = Archive::of_directory(dir, *names, out, *format)?;
            write(archive, None, style, slice::from_ref(dir), out)
        }
        Pack::Replace {
            archive,
            out,
            replacements,
        } => {
            check_is_archive(out)?;
            let files = replacements.iter().map(|new| new.file.clone());
            let readable: Vec<PathBuf> = files.chain([archive.clone()]).collect();
            let confinement = Confinement::to(&readable);
            let spool = spool();
            let plan = || Archive::with_replacements(archive, replacements, spool);
            let planned = confined(&confinement, plan)?;
            let source = slice::from_ref(archive);
            write(planned, Some(&confinement), style, source, out)
        }
        Pack::Apply {
            changes,
            source,
            out: None,
            is_strict,
            names,
        } => {
            let edit = Edit::open(source, changes, *is_strict, *names)?;
            dry_run(edit, style)
        }
        Pack::Apply {
            changes,
            source,
            out: Some(out),
            is_strict,
            names,
        } => {
            check_target(out, source, changes, style.force)?;
            let edit = Edit::open(source, changes, *is_strict, *names)?;
            let confinement = Confinement::to(&edit.paths());
            let planned = confined(&confinement, || Archive::with_changes(edit, out))?;
            let readable = [changes, slice::from_ref(source)].concat();
            write(planned, Some(&confinement), style, &readable, out)
        }
    }
}

/// Writes an archive that is read with a confinement, if any, from files and folders, the
/// last of which is the source.
fn write(
    archive: Archive,
    confinement: Option<&Confinement>,
    style: PackStyle,
    readable: &[PathBuf],
    out: &Path,
) -> Result<(), Failure> {
    let written = match confinement.zip(archive.as_mod()) {
        Some((confinement, made)) => {
            write_folder(made, confinement, style, readable, out)?;
            Vec::new()
        }
        None => {
            let source = readable.last().map_or(Path::new(""), PathBuf::as_path);
            write_file(&archive, confinement, style, source, out)?
        }
    };
    let report = report(&archive, style);
    // Windows replaces no file that is open, and one may be the source.
    drop(archive);
    written.into_iter().try_for_each(Target::keep)?;
    report.iter().for_each(tell);
    Ok(())
}

/// Writes an archive, and the files beside it, which are to be kept in this order.
fn write_file(
    archive: &Archive,
    confinement: Option<&Confinement>,
    style: PackStyle,
    source: &Path,
    out: &Path,
) -> Result<Vec<Target>, Failure> {
    let target = Target::new(out, style.force, source)?;
    let beside = archive.beside().into_iter();
    let beside = beside.map(|path| Target::new(&path, style.force, source));
    let mut beside = beside.collect::<pack::Result<Vec<_>>>()?;
    let targets = iter::once(&target).chain(&beside);
    let temporary = targets.filter_map(|target| Some(target.temporary()?.to_owned()));
    let temporary: Vec<PathBuf> = temporary.collect();
    let clean_up = move || {
        for path in &temporary {
            // It may just have been renamed, so the file may be gone.
            let _ = fs::remove_file(path);
        }
    };
    clean_up_on_signals(clean_up).map_err(Failure::no_signals)?;
    let bar = progress_bar(archive.bytes, !style.is_quiet);
    let write = || archive.write(&target, &beside, &|bytes| bar.inc(bytes));
    let written = match confinement {
        Some(confinement) => confined(confinement, write),
        None => write().map_err(Failure::from),
    };
    bar.finish_and_clear();
    written?;
    // Files that the first one refers to exist before it.
    beside.push(target);
    Ok(beside)
}

/// Writes a mod, which is a folder: a confined thread reads, and this one writes.
fn write_folder(
    made: &Mod,
    confinement: &Confinement,
    style: PackStyle,
    readable: &[PathBuf],
    out: &Path,
) -> Result<(), Failure> {
    let mut folder =
        NewFolder::create(out, DiskNames::Plain, readable).map_err(Failure::NotWritten)?;
    clean_up_on_signals(folder.remover()).map_err(Failure::no_signals)?;
    let bar = progress_bar(made.bytes(), !style.is_quiet);
    let read = |tasks| {
        confined(confinement, || {
            made.write(&tasks, &mut |bytes| bar.inc(bytes))
        })
    };
    let (read, written) = with_tasks(read, |task| folder.perform(task));
    bar.finish_and_clear();
    written.map_err(Failure::NotWritten)?;
    read?;
    folder.keep().map_err(Failure::NotWritten)
}

/// Returns what the user should know about what was written.
fn report(archive: &Archive, style: PackStyle) -> Vec<String> {
    if style.is_quiet {
        return Vec::new();
    }
    let skipped = archive.skipped.iter();
    let skipped = skipped.map(|(path, why)| format!("{}: skipped: {why}", path.display()));
    let warnings = archive.warnings.iter().map(ToString::to_string);
    let notes = archive.notes.iter().filter(|_| style.is_verbose);
    let notes = notes.map(ToString::to_string);
    skipped.chain(warnings).chain(notes).collect()
}

/// Prints what would change.
fn dry_run(edit: Edit, style: PackStyle) -> Result<(), Failure> {
    let confinement = Confinement::to(&edit.paths());
    let (table, notes) = confined(&confinement, || DryRun::new(edit))?;
    let written = table.write(&mut io::stdout().lock());
    written.map_err(Failure::no_output)?;
    if !style.is_quiet {
        notes.iter().for_each(tell);
    }
    Ok(())
}

/// Runs a step of packing in a confined thread.
fn confined<T: Send>(
    confinement: &Confinement,
    work: impl FnOnce() -> pack::Result<T> + Send,
) -> Result<T, Failure> {
    Ok(confinement.run(work).map_err(Failure::no_thread)??)
}
