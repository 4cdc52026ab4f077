//! `hpi diff`: how two sides differ, file by file.
//!
//! One thread walks both trees and queues pairs of files, the others compare
//! them, and the differences are printed in the order of the walk. Then the
//! archives that differ are entered, and so on. Files of one side alone are kept
//! until the end, when those that were moved are found. Memory is limited to
//! the budget of a mount, which the two sides and these files share, and queues
//! of bounded length. `--expansion` limits how much of each side is read and entered.

mod asset;
mod difference;
mod edits;
mod export;
mod lone;
mod output;
mod pairs;
mod record;
mod same;
mod table;
mod text;
mod value;

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use indicatif::ProgressBar;

use self::difference::Difference;
use self::edits::Edits;
pub use self::export::Task;
use self::lone::{Lone, LoneFiles};
use self::output::DiffOutput;
pub use self::output::{DiffCounts, Style};
use self::pairs::{Directories, Item, Pairs};
use self::record::{Nature, Record};
use super::bounds::{Bounds, EXPANSION};
use super::pool::{no_lane, ordered};
use super::{Contents, Error, Role, Trouble};
use crate::mount::{HeldIno, Ino, Meta, Options, Prepared, Vfs};
use crate::namespace::companion::Shows;

/// The first or the second side: 0 or 1.
type Side = usize;

/// The sides to compare, and the options.
pub struct DiffPlan {
    /// The sources of both sides, with their names.
    pub sides: [(String, Prepared); 2],
    /// The options for opening each side; their memory and disk space are for both.
    pub options: Options,
    /// A file for generated data of the second side, if one was opened before.
    pub spool: Option<Arc<File>>,
    /// Number of threads that compare.
    pub threads: usize,
    /// Number of bytes that are read for each byte of a side at most.
    pub expansion: u64,
    /// The output style.
    pub style: Style,
    /// Channel to the writer of a folder of changes, if one is written.
    pub folder: Option<SyncSender<Task>>,
}

/// Compares two sides. Differences go to `out`, one per line, what cannot be
/// compared goes to `trouble`, and progress to `bar`. If everything can be compared, the
/// differences are exported.
///
/// # Errors
/// Returns an error if a side cannot be opened, if writing fails, or if a folder of
/// changes cannot express the differences.
pub fn diff(
    plan: DiffPlan,
    out: &mut (dyn Write + Send),
    trouble: &mut (dyn FnMut(&str) + Send),
    bar: &ProgressBar,
) -> Result<DiffCounts, Error> {
    let budget = plan.options.cache_size;
    let options = Options {
        // All sources are compared or none.
        strict: true,
        force: false,
        cache_size: budget / 8 * 3,
        spool_size: plan.options.spool_size / 2,
        ..plan.options.clone()
    };
    let [(old_name, old), (new_name, new)] = plan.sides;
    let old = Vfs::open_prepared(old, options.clone())?;
    let of_new = Options {
        spool: plan.spool,
        ..options.clone()
    };
    let new = Vfs::open_prepared(new, of_new)?;
    bar.set_length(old.extent().bytes);
    let limits = Limits {
        threads: plan.threads,
        expansion: plan.expansion,
        // An export takes a part of the budget of files of one side alone.
        lone: match plan.folder {
            Some(_) => budget / 8,
            None => budget / 4,
        },
        edits: budget / 16,
    };
    let names = [&*old_name, &*new_name];
    let mut edits = Edits::new(limits.edits);
    let wanted = plan.folder.is_some().then_some(&mut edits);
    let output = DiffOutput::new(out, trouble, names, plan.style, bar, wanted);
    let shows_assets = !plan.style.brief && plan.options.meta != Meta::Off;
    let found = compare([&old, &new], &limits, shows_assets, output)?;
    let Some(folder) = plan.folder.filter(|_| found.troubles == 0) else {
        return Ok(found);
    };
    drop(old);
    let differences_after = |changed: Prepared| {
        let changed = Vfs::open_prepared(changed, options.clone())?;
        let mut edits = Edits::new(limits.edits);
        let style = Style {
            brief: true,
            ..plan.style
        };
        let (mut out, mut trouble) = (std::io::sink(), |_: &str| {});
        let bar = ProgressBar::hidden();
        let output = DiffOutput::new(&mut out, &mut trouble, names, style, &bar, Some(&mut edits));
        compare([&changed, &new], &limits, false, output)?;
        Ok(edits)
    };
    export::export(&edits, &new_name, &new, &folder, differences_after)?;
    Ok(found)
}

/// Compares two entries of a mount, at these paths: two files, or everything in two
/// directories. Differences go to `out` as JSON, one object per line.
///
/// # Errors
/// Returns an error if writing fails.
pub(crate) fn diff_entries(
    vfs: &Vfs,
    entries: [(&str, HeldIno); 2],
    threads: usize,
    out: &mut (dyn Write + Send),
) -> Result<DiffCounts, Error> {
    let [(old_name, old), (new_name, new)] = entries;
    let limits = Limits {
        threads,
        expansion: EXPANSION,
        lone: vfs.options().cache_size / 4,
        edits: 0,
    };
    let style = Style {
        json: true,
        brief: false,
        is_terminal: false,
    };
    let (mut trouble, bar) = (|_: &str| {}, ProgressBar::hidden());
    let names = [old_name, new_name];
    let mut output = DiffOutput::new(out, &mut trouble, names, style, &bar, None);
    let diff = Diff::new([vfs; 2], &limits, vfs.options().meta != Meta::Off, false);
    let mut lone = LoneFiles::new(limits.lone);
    let both = Directories {
        path: String::new(),
        inos: [old, new],
    };
    if vfs.directory(*both.inos[1]).is_ok() {
        diff.pairs(both, &mut lone, &mut output);
    } else {
        match diff.files(new_name.to_owned(), numbers(&both.inos)) {
            Compared::Same { size } => output.same(size),
            Compared::Different(record) => output.record(&record),
            Compared::Archives(record, inside) => {
                output.record(&record);
                diff.pairs(inside, &mut lone, &mut output);
            }
            Compared::Lone(file) => output.record(&file.into_record()),
        }
    }
    diff.moved(lone, &mut output);
    output.finish()
}

/// Limits of a comparison.
struct Limits {
    threads: usize,
    expansion: u64,
    /// Bytes of memory for files of one side alone.
    lone: usize,
    /// Bytes of memory for what is exported.
    edits: usize,
}

/// Compares two opened sides.
fn compare(
    sides: [&Vfs; 2],
    limits: &Limits,
    shows_assets: bool,
    mut output: DiffOutput<'_>,
) -> Result<DiffCounts, Error> {
    let diff = Diff::new(sides, limits, shows_assets, output.is_exported());
    let mut lone = LoneFiles::new(limits.lone);
    let root = Directories {
        path: String::new(),
        inos: [0, 1].map(|_| HeldIno::kept(Ino::ROOT)),
    };
    diff.pairs(root, &mut lone, &mut output);
    diff.moved(lone, &mut output);
    output.finish()
}

/// A comparison.
struct Diff<'v> {
    sides: [&'v Vfs; 2],
    bounds: [Arc<Bounds>; 2],
    threads: usize,
    /// True if assets are compared.
    shows_assets: bool,
    /// True if the differences are exported.
    is_exported: bool,
}

/// The result of comparing two entries.
enum Compared {
    Same {
        size: u64,
    },
    /// Something is printed.
    Different(Record),
    /// Both are archives that differ.
    Archives(Record, Directories),
    /// Only one side has the entry.
    Lone(Lone),
}

impl<'v> Diff<'v> {
    fn new(sides: [&'v Vfs; 2], limits: &Limits, shows_assets: bool, is_exported: bool) -> Self {
        Self {
            sides,
            bounds: sides.map(|vfs| Bounds::of(vfs, Ino::ROOT, limits.expansion)),
            threads: limits.threads,
            shows_assets,
            is_exported,
        }
    }

    /// Compares everything that two directories have, outer archives first.
    fn pairs(&self, both: Directories, lone: &mut LoneFiles, output: &mut DiffOutput<'_>) {
        let mut level = vec![both];
        // Number of the pairs of archives that were entered, and how many archives
        // are around each pair of this level.
        let (mut archive, mut depth) = (0, 0);
        let (mut is_over, mut enters) = (false, true);
        while !level.is_empty() && !is_over {
            let mut next = Vec::new();
            let walk = |push: &mut dyn FnMut(Item)| {
                for directories in level {
                    let pairs = Pairs::new(self, archive, depth, push);
                    is_over = !pairs.walk(directories);
                    if is_over {
                        break;
                    }
                    archive += 1;
                }
            };
            let run = |item| self.compare(item);
            let note = |compared| match compared {
                Compared::Same { size } => output.same(size),
                Compared::Different(record) => output.record(&record),
                Compared::Archives(record, inside) => {
                    output.record(&record);
                    match self.enter(depth, &inside) {
                        _ if !enters => {}
                        Ok(()) => next.push(inside),
                        Err(problem) => {
                            enters = false;
                            output.record(&problem);
                        }
                    }
                }
                Compared::Lone(file) => {
                    if let Some(file) = lone.add(file) {
                        output.record(&file.into_record());
                    }
                }
            };
            ordered(self.threads, walk, no_lane, run, note);
            if output.is_broken() {
                return;
            }
            level = next;
            depth += 1;
        }
    }

    /// Counts two archives in `depth` others; returns a record if these are too many.
    fn enter(&self, depth: usize, archives: &Directories) -> Result<(), Record> {
        for (side, bounds) in self.bounds.iter().enumerate() {
            let path = String::new();
            let left_out = |cause| Record::Trouble { side, path, cause };
            bounds.enter(depth).map_err(left_out)?;
            let archive = || Contents(self.sides[side]).archive(*archives.inos[side]);
            bounds.store(depth, || archive().unwrap_or_default().stored);
        }
        Ok(())
    }

    fn compare(&self, item: Item) -> Compared {
        match item {
            Item::Lone(lone) => Compared::Lone(lone),
            Item::Trouble { side, path, cause } => {
                Compared::Different(Record::Trouble { side, path, cause })
            }
            Item::Kinds { path, kinds } => Compared::Different(Record::Kinds { path, kinds }),
            Item::Links { path, inos } => match self.links(numbers(&inos)) {
                Ok([old, new]) if old == new => Compared::Same { size: 0 },
                Ok(targets) => Compared::Different(Record::Target { path, targets }),
                Err((side, cause)) => Compared::Different(Record::Trouble { side, path, cause }),
            },
            Item::Files { path, inos } => self.files(path, numbers(&inos)),
        }
    }

    /// Returns the targets of two links.
    fn links(&self, inos: [Ino; 2]) -> Result<[String; 2], (Side, String)> {
        let target = |side: Side| {
            let read = self.sides[side].readlink(inos[side]);
            let text = read.map_err(|error| (side, error.to_string()))?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        Ok([target(0)?, target(1)?])
    }

    fn files(&self, path: String, inos: [Ino; 2]) -> Compared {
        match same::files(self.sides, inos) {
            Ok(same::Verdict {
                is_same: true,
                sizes,
            }) => Compared::Same { size: sizes[0] },
            Ok(same::Verdict { sizes, .. }) => {
                let inside = |side: Side| Contents(self.sides[side]).inside(inos[side]);
                let archives = inside(0).zip(inside(1)).map(|(old, new)| Directories {
                    path: Shows::Inside.name_beside(&path),
                    inos: [old, new],
                });
                let nature = match &archives {
                    // Finding it opens archives.
                    _ if !self.is_exported => Nature::Stored,
                    Some(inside) if self.are_archives(inside) => Nature::Archive,
                    _ => self.nature(inos, sizes),
                };
                let record = self.changed(path, None, inos, sizes, nature);
                match archives {
                    Some(archives) => Compared::Archives(record, archives),
                    None => Compared::Different(record),
                }
            }
            Err((side, trouble)) => {
                let cause = trouble.to_string();
                Compared::Different(Record::Trouble { side, path, cause })
            }
        }
    }

    /// Returns the record of two files that differ; `new_path` is set if the
    /// second one has another path.
    fn changed(
        &self,
        path: String,
        new_path: Option<String>,
        inos: [Ino; 2],
        sizes: [u64; 2],
        nature: Nature,
    ) -> Record {
        let compared = match self.shows_assets {
            true => asset::differences(self.sides, inos),
            false => Ok(Vec::new()),
        };
        let differences = compared.unwrap_or_else(|(side, trouble): (Side, Trouble)| {
            vec![Difference::not_compared(side, &trouble)]
        });
        Record::Changed {
            path,
            new_path,
            sizes,
            asset: Contents(self.sides[0]).asset_of(inos[0]),
            differences,
            nature,
        }
    }

    /// Returns whether the contents of both archives are shown, and not why they are not.
    fn are_archives(&self, inside: &Directories) -> bool {
        [0, 1].into_iter().all(|side: Side| {
            let archive = Contents(self.sides[side]).archive(*inside.inos[side]);
            archive.is_ok_and(|archive| archive.problem.is_none())
        })
    }

    /// Returns what kind of file two are that differ and are no archives.
    fn nature(&self, inos: [Ino; 2], sizes: [u64; 2]) -> Nature {
        let role = Contents(self.sides[1]).role(inos[1]);
        match same::differ_in_layout(self.sides, inos, sizes) {
            true => Nature::Layout,
            false if role == Some(Role::Generated) => Nature::Generated,
            false => Nature::Stored,
        }
    }

    /// Finds the files that were moved, and prints the others of one side.
    fn moved(&self, lone: LoneFiles, output: &mut DiffOutput<'_>) {
        let mut matching = lone.into_matching();
        for [old, new] in matching.take_same_assets() {
            let inos = [*old.ino, *new.ino];
            let record = match same::files(self.sides, inos) {
                Ok(same::Verdict { is_same: true, .. }) => Record::Moved {
                    path: old.path.into(),
                    new_path: new.path.into(),
                },
                Ok(same::Verdict { sizes, .. }) => {
                    let new_path = Some(new.path.into());
                    self.changed(old.path.into(), new_path, inos, sizes, Nature::Stored)
                }
                Err((side, trouble)) => Record::Trouble {
                    side,
                    path: if side == 0 { old.path } else { new.path }.into(),
                    cause: trouble.to_string(),
                },
            };
            output.record(&record);
        }
        let candidates = matching.of_equal_size();
        let hash = |(side, number, ino): (Side, usize, Ino)| {
            let sum = super::hash::sha256(self.sides[side], ino);
            (side, number, sum.ok())
        };
        let produce = |push: &mut dyn FnMut(_)| candidates.into_iter().for_each(push);
        let note = |(side, number, sum)| {
            // A file that cannot be read was moved from nowhere.
            if let Some(sum) = sum {
                matching.set_sum(side, number, sum);
            }
        };
        ordered(self.threads, produce, no_lane, hash, note);
        for [old, new] in matching.take_equal() {
            output.record(&Record::Moved {
                path: old.path.into(),
                new_path: new.path.into(),
            });
        }
        for file in matching.into_rest() {
            output.record(&file.into_record());
        }
    }
}

/// Returns the numbers of two entries, which the caller keeps.
fn numbers(held: &[HeldIno; 2]) -> [Ino; 2] {
    [*held[0], *held[1]]
}
