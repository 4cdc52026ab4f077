//! `hpi`, under all its names: parses the arguments, and runs the command.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use hpimount::app::{self, ExitReason, Failure, Forked, MountOptions, desktop, thumbnail};
use hpimount::cli::{self, Command, Contents, Mount};
use hpimount::platform::{keep_window_open, raise_file_limit};

/// The title of notifications.
const CANNOT_OPEN: &str = "Cannot open";

fn main() -> ExitCode {
    let name = cli::name(std::env::args_os().next().as_deref());
    app::set_program(name);
    let ran = match cli::parse(name, std::env::args_os()) {
        Ok(command) => run(command),
        Err(rejected) => {
            let problem = rejected.into_message();
            match name {
                // There may be no terminal.
                cli::DESKTOP => Ok(desktop::report(CANNOT_OPEN, &problem, ExitReason::USAGE)),
                _ => Err(Failure::Usage(problem)),
            }
        }
    };
    ran.unwrap_or_else(|failure| {
        let code = failure.report();
        keep_window_open("hpi has ended.");
        code
    })
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Mount(args) => mount(&args),
        Command::List(args) => {
            let (sources, inspection) = args.plan().map_err(Failure::Usage)?;
            let options = begin(&args.contents)?;
            app::inspect(&sources, &inspection, &options)
        }
        Command::Cat(args) => {
            let (sources, inspection) = args.plan().map_err(Failure::Usage)?;
            let options = begin(&args.contents)?;
            app::inspect(&sources, &inspection, &options)
        }
        Command::Extract(args) => {
            let (sources, extract) = args.plan().map_err(Failure::Usage)?;
            let options = begin(&args.contents)?;
            app::extract(&sources, &extract, &options)
        }
        #[cfg(serve)]
        Command::Serve(args) => {
            let (sources, serve) = args.plan().map_err(Failure::Usage)?;
            let options = args.options().map_err(Failure::Usage)?;
            raise_file_limit();
            app::settle_allocator();
            app::start_log(args.log_level());
            app::serve(&sources, &serve, &options)
        }
        Command::Check(args) => {
            let check = args.plan().map_err(Failure::Usage)?;
            let options = begin(&args.contents)?;
            app::check(&check, &options)
        }
        Command::Diff(args) => {
            let diff = args.plan().map_err(Failure::Usage)?;
            let options = begin(&args.contents)?;
            app::diff(&diff, &options).or_else(|failure| {
                failure.report();
                Ok(ExitCode::from(ExitReason::USAGE.code))
            })
        }
        #[cfg(feature = "index")]
        Command::Index(args) => {
            let index = args.plan().map_err(Failure::Usage)?;
            let options = begin(&args.contents)?;
            app::index(&index, &options)
        }
        Command::Pack(args) => {
            let (pack, style) = args.plan().map_err(Failure::Usage)?;
            app::pack(&pack, style).map(|()| ExitCode::SUCCESS)
        }
        Command::Apply(args) => {
            let (pack, style) = args.plan().map_err(Failure::Usage)?;
            app::pack(&pack, style).map(|()| ExitCode::SUCCESS)
        }
        #[cfg(edit)]
        Command::Revert(args) => Ok(each(&args.paths, app::revert)),
        #[cfg(explorer)]
        Command::Register => app::register().map(|()| ExitCode::SUCCESS),
        #[cfg(explorer)]
        Command::Unregister => app::unregister().map(|()| ExitCode::SUCCESS),
        Command::Unmount(args) => Ok(each(&args.mount_points, app::unmount)),
        Command::Open(args) => Ok(match args.action() {
            Ok(action) => desktop::run(action),
            Err(problem) => desktop::report(CANNOT_OPEN, &problem, ExitReason::USAGE),
        }),
        Command::Thumbnail(args) => {
            let input = args.input().map_err(Failure::Usage)?;
            thumbnail::draw(&input, &args.output, args.size)
        }
        Command::Completions { shell, program } => print(&cli::completions(shell, &program)),
        Command::Man {
            to: Some(folder), ..
        } => write_pages(&folder),
        Command::Man { command, .. } => {
            print(&cli::man(command.as_deref()).map_err(Failure::Usage)?)
        }
    }
}

/// Does something with all paths. Returns the exit code of the first failure; all are
/// reported.
fn each<P: AsRef<Path>>(paths: &[P], act: fn(&Path) -> Result<(), Failure>) -> ExitCode {
    let failures = paths.iter().filter_map(|path| act(path.as_ref()).err());
    let codes: Vec<ExitCode> = failures.map(|failure| failure.report()).collect();
    codes.first().copied().unwrap_or(ExitCode::SUCCESS)
}

/// Mounts, and serves the mount in the foreground or in the background.
fn mount(args: &Mount) -> Result<ExitCode, Failure> {
    let plan = args.plan().map_err(Failure::Usage)?;
    raise_file_limit();
    app::close_inherited(std::env::args_os());
    let background = match args.foreground {
        true => None,
        false => match app::go_into_background()? {
            Forked::Waited(code) => return Ok(code),
            Forked::Background(process) => Some(process),
        },
    };
    app::settle_allocator();
    app::start_log(args.log_level());
    app::run(&plan, background)?;
    Ok(ExitCode::SUCCESS)
}

/// Prepares the process for reading sources without a mount, and returns how they are read.
fn begin(contents: &Contents) -> Result<MountOptions, Failure> {
    let options = contents.options().map_err(Failure::Usage)?;
    raise_file_limit();
    app::settle_allocator();
    app::start_log(contents.log_level());
    Ok(options)
}

/// Writes all man pages to a folder.
fn write_pages(folder: &Path) -> Result<ExitCode, Failure> {
    for (path, page) in cli::man_pages() {
        let path = folder.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = made.and_then(|()| fs::write(&path, page));
        written.map_err(|error| Failure::not_written(&path, error))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a text to standard output.
fn print(text: &str) -> Result<ExitCode, Failure> {
    let written = io::stdout().lock().write_all(text.as_bytes());
    written.map_err(Failure::no_output)?;
    Ok(ExitCode::SUCCESS)
}
