//! `hpi index`: confined threads read the sources, and the thread that started
//! them writes the database.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use indicatif::{ProgressBar, ProgressStyle};

use super::exit::Failure;
use super::tasks::with_tasks;
use super::without_mount::vfs_options;
use super::{MountOptions, cores};
use crate::inspect::index::{Database, index as index_source};
use crate::mount::{Meta, Options, Prepared, Sources, Vfs};
use crate::platform::{FileStat, canonical};

/// An index to write.
#[derive(Debug)]
pub struct Index {
    /// The file of the database.
    pub database: PathBuf,
    /// The sources, which are indexed separately.
    pub sources: Vec<Sources>,
    /// Number of bytes that may be read for each byte of a source.
    pub expansion: u64,
    /// True if progress is shown on a terminal.
    pub progress: bool,
}

/// Adds everything in the sources to a database, except for sources that it has
/// and that are unchanged. A source that cannot be opened is reported on
/// standard error and has its error in the database; the first such source
/// determines the exit code.
///
/// # Errors
/// Returns an error if the database cannot be written.
pub fn index(index: &Index, options: &MountOptions) -> Result<ExitCode, Failure> {
    let mut database = Database::open(&index.database)?;
    let mut failed = None;
    for sources in &index.sources {
        if let Err(failure) = add(&mut database, sources, index, options)? {
            let code = failure.report();
            failed.get_or_insert(code);
        }
    }
    database.close()?;
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

/// Adds a source unless it is unchanged. The inner error is that of opening the
/// source.
fn add(
    database: &mut Database,
    sources: &Sources,
    index: &Index,
    options: &MountOptions,
) -> Result<Result<(), Failure>, Failure> {
    let name = sources.name();
    let vfs_options = Options {
        strict: true,
        force: false,
        ..vfs_options(sources, options)?
    };
    let prepared = sources.prepare();
    let prepared =
        prepared.and_then(|prepared| prepared.with_changes(&options.apply, options.apply_strict));
    let identity = match &prepared {
        Ok(prepared) => identity(sources, prepared, options, &vfs_options),
        Err(_) => None,
    };
    if !database.begin(&name, identity.as_deref())? {
        return Ok(Ok(()));
    }
    let added = match prepared {
        Ok(prepared) => add_rows(database, &name, prepared, vfs_options, options, index)?,
        Err(error) => Err(Failure::from(error)),
    };
    let error = added.as_ref().err().map(ToString::to_string);
    database.end(error.as_deref())?;
    Ok(added)
}

fn add_rows(
    database: &mut Database,
    name: &str,
    prepared: Prepared,
    vfs_options: Options,
    options: &MountOptions,
    index: &Index,
) -> Result<Result<(), Failure>, Failure> {
    let confinement = options.confinement(&prepared.paths());
    let threads = options.threads.unwrap_or_else(cores);
    let bar = progress_bar(name, index.progress);
    let (read, written) = with_tasks(
        |rows| {
            confinement.run(|| {
                let vfs = Vfs::open_prepared(prepared, vfs_options)?;
                Ok(index_source(&vfs, threads, index.expansion, &rows, &bar))
            })
        },
        |rows| rows.iter().try_for_each(|row| database.add(row)),
    );
    written?;
    let opened = read.map_err(Failure::no_thread)?;
    let left_out = |problem| Failure::LeftOut(format!("{name}: {problem}"));
    bar.finish_and_clear();
    let indexed = opened.map_err(Failure::Source);
    Ok(indexed.and_then(|indexed| indexed.map_err(left_out)))
}

/// Returns a text that changes when a source does: the sizes and times of all
/// its files, and what else the rows depend on. `None` for a source on a server,
/// which is always read again.
fn identity(
    sources: &Sources,
    prepared: &Prepared,
    mount_options: &MountOptions,
    options: &Options,
) -> Option<String> {
    if sources.urls().next().is_some() {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    matches!(sources, Sources::Game { .. }).hash(&mut hasher);
    (
        options.meta == Meta::Off,
        options.companions,
        options.converted,
    )
        .hash(&mut hasher);
    options.password.is_some().hash(&mut hasher);
    mount_options.apply_strict.hash(&mut hasher);
    for path in prepared.paths() {
        add_identity(&path, false, &mut hasher);
    }
    for path in &mount_options.apply {
        choices(path).hash(&mut hasher);
        add_identity(path, true, &mut hasher);
    }
    let version = env!("CARGO_PKG_VERSION");
    Some(format!("{version} {:016x}", hasher.finish()))
}

/// Returns the choices behind the path of a mod, if there are any.
fn choices(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let (_, choices) = text.split_once('#').filter(|_| !path.exists())?;
    Some(choices.to_owned())
}

/// Adds the size and the time of a file, or of everything in a directory. Directories of
/// changes count by themselves as well: they may be added, or marked as opaque.
fn add_identity(path: &Path, is_change: bool, hasher: &mut DefaultHasher) {
    let mut left = vec![canonical(path).unwrap_or_else(|_| path.to_owned())];
    while let Some(path) = left.pop() {
        let Ok(found) = path.metadata() else {
            continue;
        };
        let is_link = path.is_symlink();
        if found.is_dir() && !is_link {
            let entries = path.read_dir().into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            left.extend(paths);
            if is_change && let Ok(stat) = FileStat::through_links(None, &path) {
                (path, stat.changed()).hash(hasher);
            }
            continue;
        }
        let modified = found.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (path, is_link, found.len(), modified).hash(hasher);
    }
}

fn progress_bar(name: &str, is_wanted: bool) -> ProgressBar {
    if !is_wanted {
        return ProgressBar::hidden();
    }
    let template = "{spinner} {msg}: {human_pos} entries, {per_sec}";
    let style = ProgressStyle::with_template(template).expect("the template is valid");
    ProgressBar::new_spinner()
        .with_style(style)
        .with_message(name.to_owned())
}
