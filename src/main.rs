//! `hpimount SOURCE... MOUNTPOINT`: parses the arguments and runs the daemon,
//! or a command that needs no mount.

use std::process::ExitCode;

use hpimount::app::{self, ExitReason, Failure, Forked, MountPlan};
use hpimount::cli::hpimount::{Action, Args, PROGRAM};

fn main() -> ExitCode {
    let ran = match PROGRAM.parse(std::env::args_os()) {
        Ok(args) => run(args),
        Err(rejected) => Err(Failure::Usage(rejected.into_message())),
    };
    ran.unwrap_or_else(|failure| failure.report())
}

fn run(args: Args) -> Result<ExitCode, Failure> {
    if let Some(text) = args.common.generate {
        let cannot = |error| Failure::Other("cannot write to standard output", error);
        text.print(&PROGRAM).map_err(cannot)?;
        return Ok(ExitCode::SUCCESS);
    }
    app::raise_file_limit();
    let (sources, mount_point) = match args.action().map_err(Failure::Usage)? {
        Action::Mount(sources, mount_point) => (sources, mount_point),
        Action::Inspect(sources, inspection) => {
            app::start_log(args.log_level());
            return app::inspect(&sources, &inspection, &args.mount);
        }
        Action::Check(check) => {
            app::settle_allocator();
            app::start_log(args.log_level());
            return app::check(&check, &args.mount);
        }
        Action::Diff(diff) => {
            app::settle_allocator();
            app::start_log(args.log_level());
            return app::diff(&diff, &args.mount).or_else(|failure| {
                failure.report();
                Ok(ExitCode::from(ExitReason::USAGE.code))
            });
        }
        #[cfg(feature = "index")]
        Action::Index(index) => {
            app::settle_allocator();
            app::start_log(args.log_level());
            return app::index(&index, &args.mount);
        }
        Action::Unmount(points) => {
            points.iter().try_for_each(|point| app::unmount(point))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
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
    let plan = MountPlan {
        sources,
        mount_point,
        options: args.mount,
    };
    app::run(&plan, background)?;
    Ok(ExitCode::SUCCESS)
}
