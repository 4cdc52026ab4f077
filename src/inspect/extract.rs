//! `hpi extract`: files that another thread writes, since threads that read sources may
//! not.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use indicatif::ProgressBar;

use super::bounds::Bounds;
use super::path::{PathEntry, find};
use super::pool::ordered;
use super::walk::{Step, Walk};
use super::{Contents, Error, Role};
use crate::mount::{self, Bytes, FileKind, HeldIno, Ino, Vfs};
use crate::namespace::companion::CONVERTED;
use crate::source::ExtractTask;
use hpimount_containers::io as bytes;

/// Selection of the files to extract.
#[derive(Debug, Clone)]
pub struct ExtractStyle {
    /// The paths, with everything below them; without any, everything.
    pub paths: Vec<String>,
    /// True if the contents of archives are extracted too, as `X.d`.
    pub nested: bool,
    /// True if files made of assets are extracted too, as `X.meta`.
    pub meta: bool,
    /// Number of bytes that are read for each byte of the source at most.
    pub expansion: u64,
}

/// Extracts entries of a source with several threads, by sending `tasks` to a thread that
/// writes. A file that cannot be read is reported to `trouble`, and the others are
/// extracted.
///
/// # Errors
/// Returns [`Error::LeftOut`] if the source expands too much, or [`Error::Output`] if the
/// other thread does not write any more.
pub fn extract(
    vfs: &Vfs,
    style: &ExtractStyle,
    threads: usize,
    tasks: &SyncSender<ExtractTask<Bytes>>,
    trouble: &mut (dyn FnMut(Error) + Send),
    bar: &ProgressBar,
) -> Result<(), Error> {
    let extract = Extract {
        vfs,
        style,
        tasks,
        bar,
        started: AtomicU64::new(0),
        is_stopped: AtomicBool::new(false),
    };
    ordered(
        threads,
        |push| extract.walk(push),
        |job| extract.run(job),
        |ran: Result<(), Error>| {
            if let Err(error) = ran {
                trouble(error);
            }
        },
    )
}

/// A file to extract to a path, or the reason why something is not extracted.
type Job = Result<(HeldIno, String), Error>;

struct Extract<'a> {
    vfs: &'a Vfs,
    style: &'a ExtractStyle,
    tasks: &'a SyncSender<ExtractTask<Bytes>>,
    bar: &'a ProgressBar,
    /// Number of files that were begun.
    started: AtomicU64,
    /// True if the other thread has stopped writing.
    is_stopped: AtomicBool,
}

impl Extract<'_> {
    /// Finds what is to be extracted.
    fn walk(&self, push: &mut dyn FnMut(Job)) -> Result<(), Error> {
        if self.style.paths.is_empty() {
            return self.below(find(self.vfs, "")?, push);
        }
        let mut chosen: Vec<PathEntry> = Vec::new();
        for path in &self.style.paths {
            match find(self.vfs, path) {
                Ok(found) => chosen.push(found),
                Err(error) => push(Err(error)),
            }
        }
        // Entries of a chosen directory are extracted once.
        chosen.sort_by_key(|found| found.path.replace('/', "\0"));
        chosen.dedup_by(|next, before| is_at_or_below(&next.path, &before.path));
        chosen
            .into_iter()
            .try_for_each(|found| self.below(found, push))
    }

    /// Finds what is to be extracted of an entry.
    fn below(&self, found: PathEntry, push: &mut dyn FnMut(Job)) -> Result<(), Error> {
        let ino = HeldIno::kept(found.attr.ino);
        if found.attr.kind != FileKind::Directory {
            self.bar.inc_length(found.attr.size);
            push(Ok((ino, found.path)));
            return Ok(());
        }
        let bounds = Bounds::of(self.vfs, *ino, self.style.expansion);
        let start = found.path;
        if !start.is_empty() {
            self.send(ExtractTask::Directory(start.clone()))?;
        }
        let mut walk = Walk::within(bounds, ino, start.clone());
        walk.shows_archives = self.style.nested;
        let missed = |missed| Error::missed(missed, &start);
        while let Some(step) = walk.next(self.vfs) {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Err(Error::stopped());
            }
            let step = match step.map_err(missed) {
                Ok(step) => step,
                Err(error @ Error::LeftOut(_)) => return Err(error),
                Err(error) => {
                    push(Err(error));
                    continue;
                }
            };
            match step.entry.role {
                Role::Directory => self.enter(&mut walk, step)?,
                Role::Inside => match self.is_archive(&step) {
                    Ok(true) => self.enter(&mut walk, step)?,
                    Ok(false) => {}
                    Err(error) => push(Err(error)),
                },
                Role::AssetDirectory if self.style.meta && step.entry.name != CONVERTED => {
                    self.enter(&mut walk, step)?;
                }
                Role::AssetDirectory => {}
                Role::File { .. } | Role::Generated => {
                    self.bar.inc_length(step.entry.size);
                    push(Ok((step.entry.ino, step.path)));
                }
                Role::Link { .. } => match find(self.vfs, &step.path) {
                    Ok(found) if self.style.paths.is_empty() => {
                        let up = "../".repeat(step.path.matches('/').count());
                        self.send(ExtractTask::Link(step.path, up + &found.path))?;
                    }
                    // Of what is chosen, links need not lead to what is chosen as well.
                    Ok(found) if found.attr.kind == FileKind::File => {
                        walk.read(found.attr.size).map_err(missed)?;
                        self.bar.inc_length(found.attr.size);
                        push(Ok((HeldIno::kept(found.attr.ino), step.path)));
                    }
                    Ok(_) => {
                        let error = mount::Error::IsADirectory;
                        push(Err(Error::path(&step.path, error)));
                    }
                    Err(error) => push(Err(error)),
                },
            }
        }
        Ok(())
    }

    /// Makes a directory, and continues with what is in it.
    fn enter(&self, walk: &mut Walk, step: Step) -> Result<(), Error> {
        self.send(ExtractTask::Directory(step.path.clone()))?;
        walk.enter(self.vfs, step);
        Ok(())
    }

    /// Returns whether a file which looks like an archive is one.
    fn is_archive(&self, inside: &Step) -> Result<bool, Error> {
        let failed = |error| Error::path(&inside.path, error);
        let archive = Contents(self.vfs).archive(*inside.entry.ino);
        let archive = archive.map_err(failed)?;
        match archive.problem {
            None => Ok(true),
            Some(bytes::Error::UnknownFormat) => Ok(false),
            Some(problem) => Err(Error::path(&inside.path, problem)),
        }
    }

    fn run(&self, job: Job) -> Result<(), Error> {
        let (ino, path) = job?;
        if self.is_stopped.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.file(*ino, &path) {
            // The writing thread knows the reason.
            Err(Error::Output(_)) => Ok(()),
            ran => ran,
        }
    }

    fn file(&self, file: Ino, path: &str) -> Result<(), Error> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        self.send(ExtractTask::Begin(number, path.to_owned()))?;
        for piece in Contents(self.vfs).pieces(file) {
            match piece {
                Ok(bytes) => {
                    self.bar.inc(bytes.len() as u64);
                    self.send(ExtractTask::Append(number, bytes))?;
                }
                Err(trouble) => {
                    self.send(ExtractTask::Abort(number))?;
                    return Err(Error::path(path, trouble));
                }
            }
        }
        let attr = self.vfs.attr_without_size(file);
        let modified = attr.map_or(0, |attr| attr.modified);
        self.send(ExtractTask::End(number, modified))
    }

    fn send(&self, task: ExtractTask<Bytes>) -> Result<(), Error> {
        self.tasks.send(task).map_err(|_| {
            self.is_stopped.store(true, Ordering::Relaxed);
            Error::stopped()
        })
    }
}

/// Returns whether a path is another one, or is below it.
fn is_at_or_below(path: &str, other: &str) -> bool {
    let rest = path.strip_prefix(other);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || other.is_empty())
}
