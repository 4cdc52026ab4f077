//! `--check`: reading, decoding, verifying and parsing everything in the
//! sources.
//!
//! One thread walks the tree of a source and queues jobs, the others run them.
//! Findings are reported at once. Memory is limited to the budget of a mount
//! and a queue of bounded length.

mod dat;
mod image;
mod job;
mod lanes;
mod output;

use std::collections::HashSet;
use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};

use indicatif::ProgressBar;

pub use self::dat::Dat;
use self::job::{Job, Worker};
use self::lanes::Lanes;
use self::output::{Cause, CheckOutput, Severity};
pub use self::output::{Style, Summary};
use super::bounds::Bounds;
use super::walk::{Step, Walk};
use super::{Archive, Contents, Error, Role};
use crate::mount::{Ino, Meta, OpenCause, OpenError, Options, Prepared, Vfs};
use hpimount_containers::volume::DiscImage;

/// Maximum number of queued jobs.
const MAX_WAITING: usize = 1024;

/// Minimum size of a file that is read in several parts concurrently, if
/// possible, and the size of a part; both in bytes.
const LARGE: u64 = 8 << 20;
const PART: u64 = 4 << 20;

/// The sources to check, and the options.
pub struct CheckPlan {
    /// The sources with their names; each is checked separately.
    pub sources: Vec<(String, Prepared)>,
    /// The options for opening them.
    pub options: Options,
    /// Number of threads that read.
    pub threads: usize,
    /// Number of bytes that are read for each byte of a source at most.
    pub expansion: u64,
    /// The list to compare disc images with.
    pub list: Option<Dat>,
    /// The output style.
    pub style: Style,
}

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// Statistics.
    pub summary: Summary,
    /// The first source that could not be opened.
    pub unopened: Option<OpenError>,
}

/// Checks sources in order. Findings and a summary go to `out`, one per line,
/// and progress to `bar`.
///
/// # Errors
/// Returns [`Error::Output`] if writing fails.
pub fn check(
    plan: &CheckPlan,
    out: &mut (dyn Write + Send),
    bar: &ProgressBar,
) -> Result<Checked, Error> {
    let output = CheckOutput::new(out, plan.style, bar);
    let mut unopened = None;
    for (name, prepared) in &plan.sources {
        output.summary.sources.add(1);
        let options = Options {
            // Damage must be reported.
            force: false,
            verify: true,
            ..plan.options.clone()
        };
        match Vfs::open_prepared(prepared, options) {
            Ok(vfs) => {
                Check::new(plan, name, &vfs, &output).run();
                for path in vfs.wrongly_applied(prepared) {
                    let cause = Cause::text(&"differs from the folder of changes");
                    output.finding(Severity::Damage, name, &path, cause);
                }
            }
            Err(error) => {
                let severity = match &error.cause {
                    OpenCause::Unreadable(_) | OpenCause::NoArchives | OpenCause::Refused(_) => {
                        Severity::NotChecked
                    }
                    OpenCause::Volume(cause) => match Severity::of(cause) {
                        // The source was named explicitly.
                        Severity::Warning => Severity::NotChecked,
                        severity => severity,
                    },
                };
                let cause = match &error.cause {
                    OpenCause::Volume(cause) => Cause::of(cause),
                    cause => Cause::text(cause),
                };
                output.finding(severity, name, "", cause);
                unopened.get_or_insert(error);
            }
        }
        if output.is_broken() {
            break;
        }
    }
    let summary = output.finish()?;
    Ok(Checked { summary, unopened })
}

/// The check of one source.
struct Check<'a, 'r> {
    plan: &'a CheckPlan,
    /// Name of the source.
    source: &'a str,
    vfs: &'a Vfs,
    output: &'a CheckOutput<'r>,
}

impl<'a, 'r> Check<'a, 'r> {
    fn new(
        plan: &'a CheckPlan,
        source: &'a str,
        vfs: &'a Vfs,
        output: &'a CheckOutput<'r>,
    ) -> Self {
        Self {
            plan,
            source,
            vfs,
            output,
        }
    }

    fn run(&self) {
        let (jobs, waiting) = sync_channel(MAX_WAITING);
        let lanes = Lanes::new(waiting);
        std::thread::scope(|scope| {
            for _ in 0..self.plan.threads.max(1) {
                scope.spawn(|| {
                    let worker = Worker::new(self.source, self.vfs, self.output, self.plan);
                    let run = |job: &Job| {
                        // The reader of the output may be gone.
                        if !self.output.is_broken() {
                            worker.run(job);
                        }
                    };
                    while let Some((job, lane)) = lanes.next() {
                        run(&job);
                        let next = || lane.and_then(|lane| lanes.next_in(lane));
                        std::iter::from_fn(next).for_each(|job| run(&job));
                    }
                });
            }
            let discs = self.walk(&jobs);
            drop(jobs);
            if self.plan.list.is_some() && discs == 0 && !self.output.is_broken() {
                self.unchecked("has no disc to compare with the list");
            }
        });
    }

    /// Walks the tree and queues jobs. Returns the number of discs.
    fn walk(&self, jobs: &SyncSender<Job>) -> usize {
        let Some(root) = self.archive(Ino::ROOT, "", jobs) else {
            return 0;
        };
        let mut discs = usize::from(root.is_disc);
        let mut bounds = Bounds::new(&root, self.plan.expansion);
        let mut enters = true;
        self.together(Ino::ROOT, "", jobs);
        let mut walk = Walk::new(Ino::ROOT, String::new());
        let mut linked = HashSet::new();
        while let Some(step) = walk.next(self.vfs) {
            if self.output.is_broken() {
                break;
            }
            let step = match step {
                Ok(step) => step,
                Err((path, error)) => {
                    let cause = Cause::text(&error);
                    self.output
                        .finding(Severity::NotChecked, self.source, &path, cause);
                    continue;
                }
            };
            let is_packed = bounds.is_packed(walk.archives());
            if is_packed && let Err(problem) = bounds.read(step.entry.size) {
                self.unchecked(&problem);
                break;
            }
            match step.entry.role {
                Role::Directory => {
                    self.together(step.entry.ino, &step.path, jobs);
                    walk.enter(step);
                }
                Role::Inside if !enters => {}
                Role::Inside => {
                    if is_packed && let Err(problem) = bounds.enter() {
                        self.unchecked(&problem);
                        enters = false;
                        continue;
                    }
                    let path = step.path.strip_suffix(".d").unwrap_or(&step.path);
                    if let Some(archive) = self.archive(step.entry.ino, path, jobs) {
                        discs += usize::from(archive.is_disc);
                        if !is_packed {
                            bounds.store(&archive);
                        }
                        self.together(step.entry.ino, &step.path, jobs);
                        walk.enter(step);
                    }
                }
                Role::File { is_asset } => {
                    let is_new = step.entry.links == 1 || linked.insert(step.entry.ino);
                    if is_new {
                        self.file(step, is_asset, jobs);
                    }
                }
                Role::AssetDirectory | Role::Generated | Role::Link { .. } => {}
            }
        }
        discs
    }

    /// Reports that a part of the source is not checked.
    fn unchecked(&self, problem: &str) {
        let cause = Cause::text(&problem);
        self.output
            .finding(Severity::NotChecked, self.source, "", cause);
    }

    /// Checks an archive as a whole, and returns its properties; `None` if it
    /// cannot be entered.
    fn archive(&self, directory: Ino, path: &str, jobs: &SyncSender<Job>) -> Option<Archive> {
        let find = |severity, cause| self.output.finding(severity, self.source, path, cause);
        let archive = match Contents(self.vfs).archive(directory) {
            Ok(archive) => archive,
            Err(error) => {
                find(Severity::NotChecked, Cause::text(&error));
                return None;
            }
        };
        if let Some(problem) = &archive.problem {
            find(Severity::of(problem), Cause::of(problem));
            return None;
        }
        for warning in &archive.warnings {
            find(Severity::Warning, Cause::text(warning));
        }
        if archive.is_container {
            self.output.summary.archives.add(1);
        }
        if self.plan.list.is_some() && archive.is_disc && archive.images.is_empty() {
            let cause = "is a disc without an image that the list could have";
            find(Severity::NotChecked, Cause::text(&cause));
        }
        // A list is about all files of a disc together.
        let belong_together =
            |one: &DiscImage, other: &DiscImage| self.plan.list.is_some() || one.file == other.file;
        let mut first = 0;
        for images in archive.images.chunk_by(belong_together) {
            let numbers = first..first + images.len();
            first = numbers.end;
            let path = path.to_owned();
            self.send(
                jobs,
                Job::Images {
                    directory,
                    numbers,
                    path,
                },
            );
        }
        Some(archive)
    }

    /// Queues the check of the assets of a directory together, if there is one.
    /// Why a directory cannot be entered is found by the walk.
    fn together(&self, directory: Ino, path: &str, jobs: &SyncSender<Job>) {
        let is_shown = self.plan.options.meta != Meta::Off;
        if is_shown && self.vfs.is_checked_as_a_whole(directory) == Ok(true) {
            let path = path.to_owned();
            self.send(jobs, Job::Together { directory, path });
        }
    }

    fn file(&self, step: Step, is_asset: bool, jobs: &SyncSender<Job>) {
        let Step { path, entry } = step;
        self.output.summary.files.add(1);
        self.output.expect(entry.size);
        let lane = Contents(self.vfs).whole_of(entry.ino);
        let file = |range, is_whole| Job::File {
            ino: entry.ino,
            path: path.clone(),
            range,
            is_asset: is_asset && is_whole,
            is_whole,
            lane,
        };
        let is_divisible = || Contents(self.vfs).is_divisible(entry.ino) == Ok(true);
        if is_asset || entry.size < LARGE || !is_divisible() {
            return self.send(jobs, file(0..entry.size, true));
        }
        let mut start = 0;
        while start < entry.size {
            let end = entry.size.min(start + PART);
            self.send(jobs, file(start..end, false));
            start = end;
        }
    }

    fn send(&self, jobs: &SyncSender<Job>, job: Job) {
        // Workers end before the walk only if one has panicked, which the scope
        // propagates.
        let _ = jobs.send(job);
    }
}
