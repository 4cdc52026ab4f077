//! `hpi check`: reading, decoding, verifying and parsing everything in the
//! sources.
//!
//! One thread walks the tree of a source and queues jobs, the others run them.
//! Findings are reported at once. Memory is limited to the budget of a mount
//! and a queue of bounded length.
//!
//! Files that are parts of a disc image are checked by hashing the image. If some of
//! it cannot be read, a second walk queues those files (`covered`).

mod covered;
mod dat;
mod file;
mod finding;
mod image;
mod job;
mod output;
mod subject;
mod sums;

use std::io::Write;
use std::sync::Arc;

use indicatif::ProgressBar;

use self::covered::{HashedImages, ImageSources, Unsound};
pub use self::dat::Dat;
use self::file::FileJob;
use self::finding::{Cause, Severity};
use self::image::Hashing;
use self::job::{Job, Push, Workplace};
use self::output::CheckOutput;
pub use self::output::{Style, Summary};
use self::subject::Subject;
use super::bounds::Bounds;
use super::pool::unordered;
use super::walk::{Step, Walk, file_of};
use super::{Archive, Contents, Entry, Error, Role};
use crate::mount::{HeldIno, Ino, Meta, OpenCause, OpenError, Options, Prepared, Vfs};
use hpimount_containers::volume::DiscImage;

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
    pub list: Option<Arc<Dat>>,
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
    mut plan: CheckPlan,
    out: &mut (dyn Write + Send),
    bar: &ProgressBar,
) -> Result<Checked, Error> {
    let output = CheckOutput::new(out, plan.style, bar);
    let mut unopened = None;
    for (name, prepared) in std::mem::take(&mut plan.sources) {
        output.summary.sources.add(1);
        let options = Options {
            // Damage must be reported.
            force: false,
            verify: true,
            ..plan.options.clone()
        };
        match Vfs::open_prepared(prepared, options) {
            Ok(vfs) => {
                let check = Check {
                    plan: &plan,
                    workplace: Workplace {
                        subject: Subject {
                            source: &name,
                            vfs: &vfs,
                            output: &output,
                            list: plan.list.as_deref(),
                            threads: plan.threads.max(1),
                        },
                        hashing: Hashing::new(vfs.reader().budget().limit()),
                        unsound: Unsound::default(),
                    },
                };
                // Before the rest, which may take long and have much to say.
                if vfs.changed_files() > 0 {
                    let wrong = vfs.wrongly_applied();
                    output.applied(&name, vfs.changed_files(), wrong.len());
                    for path in wrong {
                        let cause = Cause::text(&"differs from the folder of changes");
                        output.finding(Severity::Damage, &name, &path, cause);
                    }
                }
                check.run();
                output.summary.decoded.add(vfs.decoded());
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
                output.finding(severity, &name, "", cause);
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
    workplace: Workplace<'a, 'r>,
}

/// The images of an archive around the walk, which are hashed.
struct Around {
    hashed: Arc<HashedImages>,
    sources: ImageSources,
}

impl Check<'_, '_> {
    fn run(&self) {
        let output = self.workplace.subject.output;
        let discs = self.with_workers(|push| self.walk(push));
        if self.plan.list.is_some() && discs == 0 && !output.is_broken() {
            let cause = Cause::text(&"has no disc to compare with the list");
            self.find(Severity::NotChecked, "", cause);
        }
        let unsound = self.workplace.unsound.take();
        if !unsound.is_empty() {
            self.with_workers(|push| {
                for hashed in &unsound {
                    self.read_files_of(hashed, push);
                }
            });
        }
    }

    /// Calls `produce` with a queue of jobs, which workers run. Returns its result
    /// after the last job.
    fn with_workers<T>(&self, produce: impl FnOnce(Push<'_>) -> T) -> T {
        let Subject {
            output, threads, ..
        } = self.workplace.subject;
        let run = |job: Job| {
            // The reader of the output may be gone.
            if !output.is_broken() {
                self.workplace.run(job);
            }
        };
        unordered(threads, produce, Job::lane, run)
    }

    /// Walks the tree and queues jobs. Returns the number of discs.
    fn walk(&self, push: Push<'_>) -> usize {
        let Subject { vfs, output, .. } = self.workplace.subject;
        let root_ino = HeldIno::kept(Ino::ROOT);
        let Some((root, hashed)) = self.archive(&root_ino, "", push) else {
            return 0;
        };
        let mut discs = usize::from(root.is_disc);
        self.together(&root_ino, "", push);
        let bounds = Bounds::of(vfs, Ino::ROOT, self.plan.expansion);
        let mut walk = Walk::within(bounds, root_ino, String::new());
        // The root of the source, and the archives around the walk.
        let mut around = vec![hashed];
        while let Some(step) = walk.next(vfs) {
            if output.is_broken() {
                break;
            }
            self.leave(&mut around, walk.archives() + 1);
            let step = match step {
                Ok(step) => step,
                Err(missed) => {
                    let (path, cause) = missed.explained();
                    self.find(Severity::NotChecked, &path, Cause::text(&cause));
                    continue;
                }
            };
            match step.entry.role {
                Role::Directory => {
                    self.together(&step.entry.ino, &step.path, push);
                    walk.enter(vfs, step);
                }
                Role::Inside => {
                    if let Some((archive, hashed)) = self.archive(&step.entry.ino, &step.path, push)
                    {
                        discs += usize::from(archive.is_disc);
                        self.together(&step.entry.ino, &step.path, push);
                        around.push(hashed);
                        walk.enter(vfs, step);
                    }
                }
                Role::File { is_asset } => {
                    if walk.is_first_link(&step.entry) {
                        output.summary.files.add(1);
                        match self.covering(&around, &step.entry) {
                            Some(hashed) => hashed.add_file(step.entry.size),
                            None => self.file(step, is_asset, push),
                        }
                    }
                }
                Role::AssetDirectory | Role::Generated | Role::Link { .. } => {}
            }
        }
        self.leave(&mut around, 0);
        discs
    }

    /// Queues the files that are parts of images that could not be read.
    fn read_files_of(&self, hashed: &HashedImages, push: Push<'_>) {
        let Subject { vfs, output, .. } = self.workplace.subject;
        let images = match Contents(vfs).archive(*hashed.directory) {
            Ok(archive) => ImageSources::of(archive.images),
            Err(error) => {
                let cause = Cause::text(&error);
                return self.find(Severity::NotChecked, &hashed.path, cause);
            }
        };
        let mut left = hashed.files();
        // The first walk has counted them.
        let mut walk = Walk::new(hashed.directory.clone(), hashed.path.clone());
        while left > 0
            && !output.is_broken()
            && let Some(step) = walk.next(vfs)
        {
            // The first walk has reported what cannot be listed.
            let Ok(step) = step else {
                continue;
            };
            match step.entry.role {
                Role::Directory | Role::Inside => walk.enter(vfs, step),
                Role::File { is_asset } => {
                    let part = images.part_of(vfs, &step.entry);
                    let Some(part) = part.filter(|_| walk.is_first_link(&step.entry)) else {
                        continue;
                    };
                    left -= 1;
                    if hashed.is_read(&part) {
                        output.expect(step.entry.size);
                        output.read(step.entry.size);
                    } else {
                        self.file(step, is_asset, push);
                    }
                }
                Role::AssetDirectory | Role::Generated | Role::Link { .. } => {}
            }
        }
    }

    /// Leaves the innermost archives around the walk, except for the `count` outer
    /// ones.
    fn leave(&self, around: &mut Vec<Option<Around>>, count: usize) {
        let output = self.workplace.subject.output;
        for archive in around.drain(count.min(around.len())..).flatten() {
            self.workplace.unsound.settle(archive.hashed, output);
        }
    }

    /// Returns the outermost images around the walk that a file is a part of.
    fn covering<'h>(&self, around: &'h [Option<Around>], file: &Entry) -> Option<&'h HashedImages> {
        let vfs = self.workplace.subject.vfs;
        let mut around = around.iter().flatten();
        let found = around.find(|archive| archive.sources.part_of(vfs, file).is_some());
        found.map(|archive| &*archive.hashed)
    }

    /// Reports a finding.
    fn find(&self, severity: Severity, path: &str, cause: Cause) {
        self.workplace.subject.finding(severity, path, cause);
    }

    /// Checks the archive that a directory shows as a whole, and returns its
    /// properties, and its images if there are any; `None` if it cannot be entered.
    fn archive(
        &self,
        directory: &HeldIno,
        path_of_directory: &str,
        push: Push<'_>,
    ) -> Option<(Archive, Option<Around>)> {
        let path = file_of(path_of_directory);
        let Subject { vfs, output, .. } = self.workplace.subject;
        let mut archive = match Contents(vfs).archive(**directory) {
            Ok(archive) => archive,
            Err(error) => {
                self.find(Severity::NotChecked, path, Cause::text(&error));
                return None;
            }
        };
        if let Some(problem) = &archive.problem {
            self.find(Severity::of(problem), path, Cause::of(problem));
            return None;
        }
        for warning in &archive.warnings {
            self.find(Severity::Warning, path, Cause::text(warning));
        }
        if archive.is_container {
            output.summary.archives.add(1);
        }
        if self.plan.list.is_some() && archive.is_disc && archive.images.is_empty() {
            let cause = "is a disc without an image that the list could have";
            self.find(Severity::NotChecked, path, Cause::text(&cause));
        }
        let images = std::mem::take(&mut archive.images);
        if images.is_empty() {
            return Some((archive, None));
        }
        let hashed = HashedImages::new(directory.clone(), path_of_directory);
        // A list is about all files of a disc together.
        let belong_together =
            |one: &DiscImage, other: &DiscImage| self.plan.list.is_some() || one.file == other.file;
        let mut first = 0;
        for images in images.chunk_by(belong_together) {
            let numbers = first..first + images.len();
            first = numbers.end;
            let job = Job::Images {
                hashed: hashed.clone(),
                numbers,
                path: path.to_owned(),
            };
            push(job);
        }
        let sources = ImageSources::of(images);
        Some((archive, Some(Around { hashed, sources })))
    }

    /// Queues the check of the assets of a directory together, if there is one. The walk finds why
    /// a directory cannot be entered.
    fn together(&self, directory: &HeldIno, path: &str, push: Push<'_>) {
        let vfs = self.workplace.subject.vfs;
        let is_shown = self.plan.options.meta != Meta::Off;
        if is_shown && vfs.assets().is_checked_as_a_whole(**directory) == Ok(true) {
            let (directory, path) = (directory.clone(), path.to_owned());
            push(Job::Together { directory, path });
        }
    }

    /// Queues a file, in parts if that is possible.
    fn file(&self, step: Step, is_asset: bool, push: Push<'_>) {
        let Step { path, entry } = step;
        let Subject { vfs, output, .. } = self.workplace.subject;
        let contents = Contents(vfs);
        output.expect(entry.size);
        let lane = contents.whole_of(*entry.ino);
        let file = |range, is_whole| {
            Job::File(FileJob {
                ino: entry.ino.clone(),
                path: path.clone(),
                range,
                is_asset: is_asset && is_whole,
                is_whole,
                lane,
            })
        };
        let is_divisible = || {
            let has_sum = contents.recorded_sum(*entry.ino).is_some();
            !has_sum && contents.is_divisible(*entry.ino) == Ok(true)
        };
        if is_asset || entry.size < LARGE || !is_divisible() {
            return push(file(0..entry.size, true));
        }
        let mut start = 0;
        while start < entry.size {
            let end = entry.size.min(start + PART);
            push(file(start..end, false));
            start = end;
        }
    }
}
