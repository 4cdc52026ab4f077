//! `hpi extract`: files that other threads write, since threads that read sources may
//! not.
//!
//! Small files are read and written in batches: handing over each of them would take more
//! processor time than copying it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use indicatif::ProgressBar;

use super::bounds::Bounds;
use super::path::{PathEntry, find};
use super::pool::ordered;
use super::walk::{Step, Walk};
use super::{Contents, Error, Role};
use crate::content::Key;
use crate::mount::{self, Bytes, FileKind, HeldIno, Ino, Vfs};
use crate::namespace::companion::CONVERTED;
use crate::source::ExtractTask;
use hpimount_containers::io as bytes;

/// Maximum number of files of a batch, and the bytes after which a batch ends. A long
/// file is written in parts of this size.
const MAX_BATCH: usize = 16;
const BATCH_BYTES: u64 = 128 << 10;

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

/// Extracts entries of a source with several threads, which send tasks to `writers`: all
/// tasks of a file go to one of them. A file that cannot be read is reported to `trouble`, and
/// the others are extracted.
///
/// # Errors
/// Returns [`Error::LeftOut`] if the source expands too much, or [`Error::Output`] if the
/// other threads do not write any more.
pub fn extract(
    vfs: &Vfs,
    style: &ExtractStyle,
    threads: usize,
    writers: &[Writer],
    trouble: &mut (dyn FnMut(Error) + Send),
    bar: &ProgressBar,
) -> Result<(), Error> {
    let extract = Extract {
        vfs,
        style,
        writers,
        bar,
        started: AtomicU64::new(0),
        batches: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
    };
    ordered(
        threads,
        |push| {
            let mut batches = Batches::new(push);
            let walked = extract.walk(&mut batches);
            batches.end();
            walked
        },
        |batch: &Batch| batch.lane,
        |batch| extract.run(batch),
        |failed: Vec<Error>| failed.into_iter().for_each(&mut *trouble),
    )
}

/// A file to extract, or the reason why something is not extracted.
type Job = Result<(HeldIno, String), Error>;

/// To a thread that writes.
type Writer = SyncSender<Vec<ExtractTask<Bytes>>>;

/// Jobs of one thread.
#[derive(Default)]
struct Batch {
    jobs: Vec<Job>,
    /// The solid block that its files are in.
    lane: Option<Key>,
    /// The sum of their sizes.
    bytes: u64,
}

/// The batch that is being filled.
struct Batches<'a> {
    push: &'a mut dyn FnMut(Batch),
    batch: Batch,
}

impl<'a> Batches<'a> {
    fn new(push: &'a mut dyn FnMut(Batch)) -> Self {
        let batch = Batch::default();
        Self { push, batch }
    }

    fn add(&mut self, job: Job, lane: Option<Key>, size: u64) {
        if lane != self.batch.lane {
            self.end();
        }
        let batch = &mut self.batch;
        batch.jobs.push(job);
        batch.lane = lane;
        batch.bytes = batch.bytes.saturating_add(size);
        if batch.jobs.len() == MAX_BATCH || batch.bytes >= BATCH_BYTES {
            self.end();
        }
    }

    fn fail(&mut self, error: Error) {
        self.add(Err(error), self.batch.lane, 0);
    }

    /// Passes the batch on.
    fn end(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if !batch.jobs.is_empty() {
            (self.push)(batch);
        }
    }
}

/// Tasks that are not sent yet.
struct Tasks<'a> {
    /// To the thread that writes the files of a batch.
    writer: &'a Writer,
    list: Vec<ExtractTask<Bytes>>,
    /// Number of bytes to write.
    bytes: u64,
}

struct Extract<'a> {
    vfs: &'a Vfs,
    style: &'a ExtractStyle,
    writers: &'a [Writer],
    bar: &'a ProgressBar,
    /// Number of files that were begun.
    started: AtomicU64,
    /// Number of batches that were begun.
    batches: AtomicUsize,
    /// True if a writer has stopped.
    is_stopped: AtomicBool,
}

impl Extract<'_> {
    /// Finds what is to be extracted.
    fn walk(&self, batches: &mut Batches<'_>) -> Result<(), Error> {
        if self.style.paths.is_empty() {
            return self.below(find(self.vfs, "")?, batches);
        }
        let mut chosen: Vec<PathEntry> = Vec::new();
        for path in &self.style.paths {
            match find(self.vfs, path) {
                Ok(found) => chosen.push(found),
                Err(error) => batches.fail(error),
            }
        }
        // Entries of a chosen directory are extracted once.
        chosen.sort_by_key(|found| found.path.replace('/', "\0"));
        chosen.dedup_by(|next, before| is_at_or_below(&next.path, &before.path));
        chosen
            .into_iter()
            .try_for_each(|found| self.below(found, batches))
    }

    /// Finds what is to be extracted of an entry.
    fn below(&self, found: PathEntry, batches: &mut Batches<'_>) -> Result<(), Error> {
        let ino = HeldIno::kept(found.attr.ino);
        if found.attr.kind != FileKind::Directory {
            self.add(batches, ino, found.path, found.attr.size);
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
                    batches.fail(error);
                    continue;
                }
            };
            match step.entry.role {
                Role::Directory => self.enter(&mut walk, step)?,
                Role::Inside => match self.is_archive(&step) {
                    Ok(true) => self.enter(&mut walk, step)?,
                    Ok(false) => {}
                    Err(error) => batches.fail(error),
                },
                Role::AssetDirectory if self.style.meta && step.entry.name != CONVERTED => {
                    self.enter(&mut walk, step)?;
                }
                Role::AssetDirectory => {}
                Role::File { .. } | Role::Generated => {
                    self.add(batches, step.entry.ino, step.path, step.entry.size);
                }
                Role::Link { .. } => match find(self.vfs, &step.path) {
                    Ok(found) if self.style.paths.is_empty() => {
                        let up = "../".repeat(step.path.matches('/').count());
                        self.send(ExtractTask::Link(step.path, up + &found.path))?;
                    }
                    // Of what is chosen, links need not lead to what is chosen as well.
                    Ok(found) if found.attr.kind == FileKind::File => {
                        walk.read(found.attr.size).map_err(missed)?;
                        let ino = HeldIno::kept(found.attr.ino);
                        self.add(batches, ino, step.path, found.attr.size);
                    }
                    Ok(_) => {
                        let error = mount::Error::IsADirectory;
                        batches.fail(Error::path(&step.path, error));
                    }
                    Err(error) => batches.fail(error),
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

    /// Adds a file to a batch.
    fn add(&self, batches: &mut Batches<'_>, ino: HeldIno, path: String, size: u64) {
        self.bar.inc_length(size);
        let lane = Contents(self.vfs).whole_of(*ino);
        batches.add(Ok((ino, path)), lane, size);
    }

    /// Extracts the files of a batch, and returns why some are not extracted.
    fn run(&self, batch: Batch) -> Vec<Error> {
        let number = self.batches.fetch_add(1, Ordering::Relaxed);
        let mut tasks = Tasks {
            writer: &self.writers[number % self.writers.len()],
            list: Vec::new(),
            bytes: 0,
        };
        let mut failed = Vec::new();
        for job in batch.jobs {
            if self.is_stopped.load(Ordering::Relaxed) {
                break;
            }
            let ran = job.and_then(|(ino, path)| self.file(*ino, &path, &mut tasks));
            failed.extend(ran.err());
        }
        failed.extend(self.send_all(&mut tasks).err());
        // The writing thread knows why it has stopped.
        failed.retain(|error| !matches!(error, Error::Output(_)));
        failed
    }

    fn file(&self, file: Ino, path: &str, tasks: &mut Tasks<'_>) -> Result<(), Error> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        tasks.list.push(ExtractTask::Begin(number, path.to_owned()));
        for piece in Contents(self.vfs).pieces_once(file) {
            match piece {
                Ok(bytes) => {
                    let length = bytes.len() as u64;
                    self.bar.inc(length);
                    tasks.list.push(ExtractTask::Append(number, bytes));
                    tasks.bytes += length;
                }
                Err(trouble) => {
                    tasks.list.push(ExtractTask::Abort(number));
                    return Err(Error::path(path, trouble));
                }
            }
            if tasks.bytes >= BATCH_BYTES {
                self.send_all(tasks)?;
            }
        }
        let attr = self.vfs.attr_without_size(file);
        let modified = attr.map_or(0, |attr| attr.modified);
        tasks.list.push(ExtractTask::End(number, modified));
        Ok(())
    }

    fn send(&self, task: ExtractTask<Bytes>) -> Result<(), Error> {
        self.send_to(&self.writers[0], vec![task])
    }

    fn send_all(&self, tasks: &mut Tasks<'_>) -> Result<(), Error> {
        tasks.bytes = 0;
        self.send_to(tasks.writer, std::mem::take(&mut tasks.list))
    }

    fn send_to(&self, writer: &Writer, tasks: Vec<ExtractTask<Bytes>>) -> Result<(), Error> {
        writer.send(tasks).map_err(|_| {
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
