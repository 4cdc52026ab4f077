//! hpipack packs a directory into an archive, and applies changes to archives and
//! discs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io, iter};

use hpimount::app::{Confinement, ExitReason, clean_up_on_signals, progress_bar, tell, with_tasks};
use hpimount::cli::hpipack::{Args, PROGRAM};
use hpimount::pack::{self, Archive, DryRun, Edit, Mod, Target, check_is_archive, check_target};
use hpimount::source::NewFolder;
use hpimount_containers::changes;

/// The exit code if the target cannot be written.
const NOT_WRITTEN: u8 = 20;

fn main() -> ExitCode {
    let ran = match PROGRAM.parse(std::env::args_os()) {
        Ok(args) => run(&args),
        Err(rejected) => Err(Failure::usage(rejected.into_message())),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            for line in failure.lines {
                tell(PROGRAM.name, line);
            }
            ExitCode::from(failure.code)
        }
    }
}

fn run(args: &Args) -> Result<(), Failure> {
    if let Some(text) = args.common.generate {
        return text.print(&PROGRAM).map_err(|error| Failure {
            lines: vec![format!("cannot write to standard output: {error}")],
            code: 1,
        });
    }
    let (dir, out) = args.paths().map_err(Failure::usage)?;
    if args.is_dry {
        return dry_run(args, &dir);
    }
    let (archive, confinement) = prepare(args, &dir, &out)?;
    if let Some((confinement, made)) = confinement.as_ref().zip(archive.as_mod()) {
        write_folder(args, made, confinement, &dir, &out)?;
        report(args, &archive);
        return Ok(());
    }
    let target = Target::new(&out, args.force, &dir)?;
    let beside = archive.beside().into_iter();
    let beside = beside.map(|path| Target::new(&path, args.force, &dir));
    let beside = beside.collect::<pack::Result<Vec<_>>>()?;
    let targets = iter::once(&target).chain(&beside);
    let temporary = targets.filter_map(|target| Some(target.temporary()?.to_owned()));
    let temporary: Vec<PathBuf> = temporary.collect();
    clean_up_on_signals(move || {
        for path in &temporary {
            // It may just have been renamed, so the file may be gone.
            let _ = fs::remove_file(path);
        }
    })?;
    let bar = progress_bar(archive.bytes, !args.quiet);
    let write = || archive.write(&target, &beside, &|bytes| bar.inc(bytes));
    let written = match &confinement {
        Some(confinement) => confined(confinement, write),
        None => write().map_err(Failure::from),
    };
    bar.finish_and_clear();
    written?;
    // What the first one refers to exists before it.
    beside.into_iter().try_for_each(Target::keep)?;
    target.keep()?;
    report(args, &archive);
    Ok(())
}

/// Writes a mod, which is a folder: a confined thread reads, and this one writes.
fn write_folder(
    args: &Args,
    made: &Mod,
    confinement: &Confinement,
    source: &Path,
    out: &Path,
) -> Result<(), Failure> {
    let readable = args.folders.iter().cloned().chain([source.to_owned()]);
    let created = NewFolder::create(out, &readable.collect::<Vec<_>>());
    let mut folder = created.map_err(Failure::not_written)?;
    clean_up_on_signals(folder.remover())?;
    let bar = progress_bar(made.bytes(), !args.quiet);
    let read = |tasks| {
        confined(confinement, || {
            made.write(&tasks, &mut |bytes| bar.inc(bytes))
        })
    };
    let (read, written) = with_tasks(read, |task| folder.perform(task));
    bar.finish_and_clear();
    written.map_err(Failure::not_written)?;
    read?;
    folder.keep().map_err(Failure::not_written)
}

/// Prints what the user should know about what was written.
fn report(args: &Args, archive: &Archive) {
    if !args.quiet {
        for (path, why) in &archive.skipped {
            tell(PROGRAM.name, format!("{}: skipped: {why}", path.display()));
        }
        for warning in &archive.warnings {
            tell(PROGRAM.name, warning);
        }
        for note in archive.notes.iter().filter(|_| args.is_verbose) {
            tell(PROGRAM.name, note);
        }
    }
}

/// Prints what would change.
fn dry_run(args: &Args, source: &Path) -> Result<(), Failure> {
    let edit = Edit::open(source, &args.folders, args.is_strict)?;
    let confinement = Confinement::to(&edit.paths());
    let (table, notes) = confined(&confinement, || DryRun::new(edit))?;
    let written = table.write(&mut io::stdout().lock());
    written.map_err(|error| Failure {
        lines: vec![format!("cannot write to standard output: {error}")],
        code: 1,
    })?;
    if !args.quiet {
        notes.iter().for_each(|note| tell(PROGRAM.name, note));
    }
    Ok(())
}

/// Returns the archive to write. One that is made of another archive, which may
/// be hostile, is read with the returned confinement.
fn prepare(args: &Args, dir: &Path, out: &Path) -> Result<(Archive, Option<Confinement>), Failure> {
    if !args.folders.is_empty() {
        check_target(out, dir, &args.folders, args.force)?;
        let edit = Edit::open(dir, &args.folders, args.is_strict)?;
        let confinement = Confinement::to(&edit.paths());
        let plan = || Archive::with_changes(edit, out);
        return Ok((confined(&confinement, plan)?, Some(confinement)));
    }
    check_is_archive(out)?;
    if !args.replacements.is_empty() {
        let files = args.replacements.iter().map(|new| new.file.clone());
        let readable: Vec<PathBuf> = files.chain([dir.to_owned()]).collect();
        let confinement = Confinement::to(&readable);
        let plan = || Archive::with_replacements(dir, &args.replacements);
        return Ok((confined(&confinement, plan)?, Some(confinement)));
    }
    let format = args.format(dir, out).map_err(Failure::usage)?;
    Ok((Archive::of_directory(dir, out, format)?, None))
}

/// Runs a step of packing in a confined thread.
fn confined<T: Send>(
    confinement: &Confinement,
    work: impl FnOnce() -> pack::Result<T> + Send,
) -> Result<T, Failure> {
    let ran = confinement.run(work).map_err(|error| Failure {
        lines: vec![format!("cannot start a thread: {error}")],
        code: 1,
    })?;
    Ok(ran?)
}

/// Why the program exits, and its exit code.
struct Failure {
    /// The lines of the message.
    lines: Vec<String>,
    code: u8,
}

impl Failure {
    fn not_written(error: io::Error) -> Self {
        Self {
            lines: vec![error.to_string()],
            code: NOT_WRITTEN,
        }
    }

    fn usage(message: String) -> Self {
        Self {
            lines: vec![message],
            code: ExitReason::USAGE.code,
        }
    }
}

impl From<pack::Error> for Failure {
    fn from(error: pack::Error) -> Self {
        Self {
            code: error.exit_code(),
            lines: match error {
                pack::Error::Refused(refusals) => changes::lines(&refusals),
                error => vec![error.to_string()],
            },
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self {
            lines: vec![format!("cannot handle signals: {error}")],
            code: 1,
        }
    }
}
