//! `hpimount SOURCE... MOUNTPOINT`: arguments, then the daemon.

use std::process::ExitCode;

use clap::Parser;
use hpimount::cli::Args;
use hpimount::daemon::{self, Failure, Plan};

fn main() -> ExitCode {
    let args = Args::parse();
    run(&args).unwrap_or_else(|failure| failure.report())
}

fn run(args: &Args) -> Result<ExitCode, Failure> {
    let options = args.mount_options().map_err(Failure::Usage)?;
    let (sources, mount_point) = args.sources().map_err(Failure::Usage)?;
    if !args.foreground && !daemon::is_background() {
        return daemon::detach();
    }
    daemon::settle_allocator();
    daemon::start_log(args.log_level());
    daemon::run(&Plan {
        sources,
        mount_point: mount_point.clone(),
        options,
    })?;
    Ok(ExitCode::SUCCESS)
}
