//! Inspection of sources without mounting them, in threads that are confined as
//! in a mount.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use indicatif::{ProgressBar, ProgressStyle};

use super::exit::{self, Failure};
use super::tasks::{with_performers, with_tasks};
use super::{MountOptions, cores, network, palette, password, spool, tell};
use crate::inspect::check::{CheckPlan, Checked, Dat, Style, check as check_sources};
use crate::inspect::diff::{DiffPlan, Task, diff as diff_sources};
use crate::inspect::{self, Error, ExtractStyle, ListStyle};
use crate::mount::{KnownFiles, Meta, Options, Prepared, Sources, Vfs};
use crate::pack::Target;
use crate::platform::{clean_up_on_signals, end_without_reader};
use crate::source::remote::RemoteUrl;
use crate::source::{DiskNames, Extraction, Location, NewFolder};

/// An inspection of sources.
#[derive(Debug)]
pub enum Inspection {
    /// List these paths, or everything.
    List(Vec<String>, ListStyle),
    /// Print the files at these paths, or write them to a new file.
    Cat(Vec<String>, Option<PathBuf>),
}

impl Inspection {
    /// Returns the paths of the entries; without any, the path of the root.
    fn paths(&self) -> Vec<&str> {
        match self {
            Self::List(paths, _) if paths.is_empty() => vec![""],
            Self::List(paths, _) | Self::Cat(paths, _) => {
                paths.iter().map(String::as_str).collect()
            }
        }
    }
}

/// Inspects sources. A problem with a path is reported on standard error, and
/// the others are still inspected; the first problem determines the exit code.
///
/// # Errors
/// Returns an error if the sources cannot be opened, or if writing fails.
pub fn inspect(
    sources: &Sources,
    inspection: &Inspection,
    options: &MountOptions,
) -> Result<ExitCode, Failure> {
    let prepared = sources.prepare()?;
    let prepared = prepared.with_changes(&options.apply, options.apply_strict)?;
    let vfs_options = vfs_options(sources, options)?;
    let readable = prepared.paths();
    let target = match inspection {
        Inspection::Cat(_, Some(path)) => {
            let source = readable.first().map_or(Path::new(""), PathBuf::as_path);
            Some(Target::new(path, false, source)?)
        }
        _ => None,
    };
    let file = target.as_ref().map(Target::file);
    let inspected = options.confinement(&readable).run(|| {
        let vfs = Vfs::open_prepared(prepared, vfs_options)?;
        match file {
            Some(file) => inspect_opened(&vfs, inspection, file, false),
            None => {
                let stdout = io::stdout();
                inspect_opened(&vfs, inspection, stdout.lock(), stdout.is_terminal())
            }
        }
    });
    let outcome = inspected.map_err(Failure::no_thread)?;
    let code = outcome.map_err(|error| {
        end_on_broken_pipe(&error);
        Failure::from(error)
    })?;
    if code == ExitCode::SUCCESS
        && let Some(target) = target
    {
        target.keep()?;
    }
    Ok(code)
}

fn inspect_opened(
    vfs: &Vfs,
    inspection: &Inspection,
    out: impl Write,
    is_terminal: bool,
) -> Result<ExitCode, Error> {
    let mut out = io::BufWriter::new(out);
    let mut failed = None;
    for path in inspection.paths() {
        let mut trouble = |error: Error| {
            let code = Failure::from(error).report();
            failed.get_or_insert(code);
        };
        let inspected = match inspection {
            Inspection::List(_, style) => {
                inspect::list(vfs, path, style, is_terminal, &mut out, &mut trouble)
            }
            Inspection::Cat(..) => inspect::cat(vfs, path, &mut out),
        };
        // An error message for a path must come after its output.
        out.flush().map_err(Error::Output)?;
        match inspected {
            Ok(()) => {}
            Err(Error::Output(error)) => return Err(Error::Output(error)),
            Err(error) => trouble(error),
        }
    }
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

/// Maximum number of threads that write extracted files.
const MAX_WRITERS: usize = 4;

/// Options of an extraction, with its target.
#[derive(Debug)]
pub struct Extract {
    /// Selection of the files.
    pub style: ExtractStyle,
    /// The folder to write to.
    pub folder: PathBuf,
    /// True if existing files are replaced.
    pub force: bool,
    /// True if entries get names that are valid on Windows.
    pub windows_names: bool,
    /// True if progress is shown on a terminal.
    pub progress: bool,
}

/// Extracts a source. A problem with a file is reported on standard error, and the others are
/// still extracted; the first problem determines the exit code.
///
/// # Errors
/// Returns an error if the source cannot be opened, if writing fails, or if a file exists.
pub fn extract(
    sources: &Sources,
    extract: &Extract,
    options: &MountOptions,
) -> Result<ExitCode, Failure> {
    let prepared = sources.prepare()?;
    let prepared = prepared.with_changes(&options.apply, options.apply_strict)?;
    let mut vfs_options = vfs_options(sources, options)?;
    if extract.style.meta {
        // In archives they are usually not listed.
        vfs_options.meta = Meta::Visible;
    }
    let readable = prepared.paths();
    let folder = Extraction::open(
        &extract.folder,
        &readable,
        extract.force,
        extract.windows_names,
    );
    let folder = folder.map_err(Failure::NotWritten)?;
    clean_up_on_signals(folder.remover()).map_err(Failure::no_signals)?;
    let bar = progress_bar(0, extract.progress);
    let confinement = options.confinement(&readable);
    let threads = options.threads.unwrap_or_else(cores);
    let writers = match extract.windows_names {
        // Of names that differ only in case, the first one stays as it is.
        true => 1,
        false => threads.clamp(1, MAX_WRITERS),
    };
    let mut failed = None;
    let read = |tasks: Vec<SyncSender<_>>| {
        let mut trouble = |error: Error| {
            let code = bar.suspend(|| Failure::from(error).report());
            failed.get_or_insert(code);
        };
        confinement.run(|| {
            let vfs = Vfs::open_prepared(prepared, vfs_options)?;
            inspect::extract(&vfs, &extract.style, threads, &tasks, &mut trouble, &bar)
        })
    };
    let (read, written) = with_performers(writers, read, |tasks: Vec<_>| {
        tasks.into_iter().try_for_each(|task| folder.perform(task))
    });
    bar.finish_and_clear();
    written.map_err(Failure::NotWritten)?;
    match folder.left_out() {
        0 => {}
        links => tell(format!(
            "{links} links are left out, which Windows cannot have"
        )),
    }
    let read: Result<(), Failure> = read.map_err(Failure::no_thread)?.map_err(Failure::from);
    match (read, failed) {
        (Err(failure), Some(code)) => {
            failure.report();
            Ok(code)
        }
        (read, failed) => read.map(|()| failed.unwrap_or(ExitCode::SUCCESS)),
    }
}

/// A check and its output options.
#[derive(Debug)]
pub struct Check {
    /// The sources, which are checked separately.
    pub sources: Vec<Sources>,
    /// The list to compare disc images with.
    pub list: Option<PathBuf>,
    /// Number of bytes that are read for each byte of a source at most.
    pub expansion: u64,
    /// True if findings are printed as JSON.
    pub json: bool,
    /// True if progress is shown on a terminal.
    pub progress: bool,
    /// True if matters of style are listed.
    pub is_verbose: bool,
}

/// Checks everything in the sources. Findings go to standard output.
///
/// # Errors
/// Returns an error if the list cannot be read, or if writing fails.
pub fn check(check: &Check, options: &MountOptions) -> Result<ExitCode, Failure> {
    let open = |path: &PathBuf| {
        let opened = File::open(path);
        opened.map_err(|error| Error::List(format!("{}: {error}", path.display())))
    };
    let list = check
        .list
        .as_ref()
        .map(|path| Ok::<_, Error>((path, open(path)?)));
    let list = list.transpose()?;
    let mut sources = Vec::with_capacity(check.sources.len());
    for source in &check.sources {
        let prepared = source.prepare()?;
        let prepared = prepared.with_changes(&options.apply, options.apply_strict)?;
        sources.push((source.display_name(), prepared));
    }
    let mut readable = Vec::new();
    for (_, prepared) in &sources {
        readable.extend(prepared.paths());
    }
    let urls = check.sources.iter().flat_map(Sources::urls);
    let options_of_vfs = vfs_options(&of_urls(urls), options)?;
    let bar = progress_bar(0, check.progress);
    let checked = options.confinement(&readable).run(|| {
        let list = list.map(|(path, file)| {
            let wrong = |problem| Error::List(format!("{}: {problem}", path.display()));
            Dat::read(file).map_err(wrong)
        });
        let list = list.transpose()?.map(Arc::new);
        let known_files = list
            .clone()
            .map(|list| KnownFiles::new(move |size, crc32| list.name_of(size, crc32)));
        let plan = CheckPlan {
            sources,
            options: Options {
                known_files,
                ..options_of_vfs
            },
            threads: options.threads.unwrap_or_else(cores),
            expansion: check.expansion,
            list,
            style: Style {
                json: check.json,
                is_terminal: io::stdout().is_terminal(),
                is_verbose: check.is_verbose,
            },
        };
        check_sources(plan, &mut io::stdout(), &bar)
    });
    let checked = checked.map_err(Failure::no_thread)?;
    let Checked { summary, unopened } = checked.map_err(|error| {
        end_on_broken_pipe(&error);
        Failure::from(error)
    })?;
    Ok(ExitCode::from(exit::checked(&summary, unopened).code))
}

/// A comparison and its output options.
#[derive(Debug)]
pub struct Diff {
    /// The sources of both sides.
    pub sides: [Sources; 2],
    /// Number of bytes that are read for each byte of a side at most.
    pub expansion: u64,
    /// True if differences are printed as JSON.
    pub json: bool,
    /// True if changes within assets are omitted.
    pub brief: bool,
    /// True if progress is shown on a terminal.
    pub progress: bool,
    /// The folder of changes to write the differences to, if any.
    pub folder: Option<PathBuf>,
    /// True if archives in the sources are compared as a whole.
    pub whole: bool,
}

/// Compares the sources of two sides. Differences go to standard output, and to a folder
/// of changes if that is wanted.
///
/// # Errors
/// Returns an error if a source cannot be opened, if writing fails, or if a folder of
/// changes cannot express the differences.
pub fn diff(diff: &Diff, options: &MountOptions) -> Result<ExitCode, Failure> {
    let [old, new] = &diff.sides;
    let changed = new.prepare()?;
    let changed = changed.with_changes(&options.apply, options.apply_strict)?;
    let original = old.prepare()?;
    let mut readable = original.paths();
    readable.extend(changed.paths());
    let new_folder = |path: &PathBuf| NewFolder::create(path, DiskNames::default(), &readable);
    let folder = diff.folder.as_ref().map(new_folder).transpose();
    let mut folder = folder.map_err(Failure::NotWritten)?;
    if let Some(folder) = &folder {
        clean_up_on_signals(folder.remover()).map_err(Failure::no_signals)?;
    }
    readable.extend(folder.iter().map(|folder| folder.path().to_owned()));
    let urls = old.urls().chain(new.urls());
    let mut options_of_vfs = vfs_options(&of_urls(urls), options)?;
    options_of_vfs.companions &= !diff.whole;
    let bar = progress_bar(0, diff.progress);
    let confinement = options.confinement(&readable);
    let compare = |tasks| {
        let plan = DiffPlan {
            sides: [(old.name(), original.clone()), (new.name(), changed)],
            options: options_of_vfs,
            spool: spool(),
            threads: options.threads.unwrap_or_else(cores),
            expansion: diff.expansion,
            style: inspect::diff::Style {
                json: diff.json,
                brief: diff.brief,
                is_terminal: io::stdout().is_terminal(),
            },
            folder: diff.folder.is_some().then_some(tasks),
        };
        confinement.run(|| {
            let mut out = io::BufWriter::new(io::stdout());
            let mut trouble = |text: &str| tell(text);
            diff_sources(plan, &mut out, &mut trouble, &bar)
        })
    };
    let (found, written) = with_tasks(compare, |task| match &mut folder {
        Some(folder) => perform(task, folder, &original, options.apply_strict),
        None => Ok(()),
    });
    // Whoever compares knows only that the folder is not written any more.
    written.map_err(Failure::NotWritten)?;
    let found = found.map_err(Failure::no_thread)?;
    let found = found.map_err(|error| {
        // A signal would leave what was written.
        drop(folder.take());
        end_on_broken_pipe(&error);
        Failure::from(error)
    })?;
    let folder = folder.filter(|_| found.troubles == 0);
    let is_exported = folder.is_some();
    let kept = folder.map_or(Ok(()), NewFolder::keep);
    kept.map_err(Failure::NotWritten)?;
    Ok(ExitCode::from(exit::compared(&found, is_exported).code))
}

/// Does a task of an export. `original` is the source that the folder has changes for;
/// with `is_strict` they are refused if games may not find them.
fn perform(
    task: Task,
    folder: &mut NewFolder,
    original: &Prepared,
    is_strict: bool,
) -> io::Result<()> {
    match task {
        Task::Write(task) => folder.perform(task)?,
        Task::Apply(reply) => {
            let changes = [folder.path().to_owned()];
            // Nobody receives it if the comparison has failed.
            let _ = reply.send(original.clone().with_changes(&changes, is_strict));
        }
    }
    Ok(())
}

/// Returns the sources at some URLs.
fn of_urls<'a>(urls: impl Iterator<Item = &'a RemoteUrl>) -> Sources {
    Sources::Given {
        locations: urls.cloned().map(Location::Remote).collect(),
        order: None,
        separate: false,
    }
}

/// Returns the options with resources that confined threads could not open: a
/// file for generated data, connections, the palette and the password.
pub(super) fn vfs_options(
    sources: &Sources,
    options: &MountOptions,
) -> Result<crate::mount::Options, Failure> {
    Ok(crate::mount::Options {
        palette: options.palette.as_deref().map(palette::read).transpose()?,
        password: options.password.as_ref().map(password::read).transpose()?,
        spool: spool(),
        network: network(sources, options)?,
        ..options.vfs.clone()
    })
}

/// Returns a progress bar for this many bytes, shown only on terminals.
pub fn progress_bar(bytes: u64, is_wanted: bool) -> ProgressBar {
    if !is_wanted {
        return ProgressBar::hidden();
    }
    let template = "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    ProgressBar::new(bytes).with_style(style)
}

/// Ends the process, like others in a pipeline, if the reader of standard output is gone.
fn end_on_broken_pipe(error: &Error) {
    if let Error::Output(error) = error
        && error.kind() == io::ErrorKind::BrokenPipe
    {
        end_without_reader();
    }
}
