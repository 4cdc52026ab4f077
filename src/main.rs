//! `hpimount SOURCE... MOUNTPOINT`: arguments, then the daemon.

use std::process::ExitCode;

use hpimount::cli::Rejected;
use hpimount::cli::hpimount::{Args, PROGRAM};
use hpimount::daemon::{self, Failure, Plan};

fn main() -> ExitCode {
    let ran = match Args::parse(std::env::args_os()) {
        Ok(args) => run(args),
        Err(Rejected::Parser(error)) => error.exit(),
        Err(Rejected::Value(problem)) => Err(Failure::Usage(problem)),
    };
    ran.unwrap_or_else(|failure| failure.report())
}

fn run(args: Args) -> Result<ExitCode, Failure> {
    if let Some(text) = args.generate {
        let cannot = |error| Failure::Other("cannot write to standard output", error);
        text.print(&PROGRAM).map_err(cannot)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (sources, mount_point) = args.sources().map_err(Failure::Usage)?;
    if !args.foreground && !daemon::is_background() {
        return daemon::detach();
    }
    daemon::settle_allocator();
    daemon::start_log(args.log_level());
    daemon::run(&Plan {
        sources,
        mount_point: mount_point.to_owned(),
        options: args.mount,
    })?;
    Ok(ExitCode::SUCCESS)
}
