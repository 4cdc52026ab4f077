//! hpimount-thumbnailer renders thumbnails of files for file managers.

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use hpimount::app::thumbnail::{self, limits};
use hpimount::app::{ExitReason, tell};
use hpimount::cli::thumbnailer::{Args, FAILED, PROGRAM};

fn main() -> ExitCode {
    let ran = match PROGRAM.parse(std::env::args_os()) {
        Ok(args) => run(&args),
        Err(rejected) => Err((rejected.into_message(), ExitReason::USAGE.code)),
    };
    match ran {
        Ok(code) => code,
        Err((message, code)) => {
            tell(PROGRAM.name, message);
            ExitCode::from(code)
        }
    }
}

/// Returns the exit code, or a message and its exit code.
fn run(args: &Args) -> Result<ExitCode, (String, u8)> {
    let failed = |message: String| (message, FAILED.code);
    if let Some(text) = args.common.generate {
        let cannot = |error| failed(format!("cannot write to standard output: {error}"));
        text.print(&PROGRAM).map_err(cannot)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (input, output) = args
        .paths()
        .map_err(|problem| (problem, ExitReason::USAGE.code))?;
    if limits::is_worker() {
        limits::limit_worker().map_err(|error| failed(format!("cannot set limits: {error}")))?;
        let deadline = Instant::now() + limits::ENOUGH;
        let png = thumbnail::png_of(&input, args.size, deadline)
            .map_err(|error| failed(error.to_string()))?;
        fs::write(&output, png)
            .map_err(|error| failed(format!("{}: {error}", output.display())))?;
        return Ok(ExitCode::SUCCESS);
    }
    let ended =
        limits::run_worker().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let name = input.display();
    let ended = ended.ok_or_else(|| failed(format!("{name}: timed out")))?;
    match ended.code().map(u8::try_from) {
        Some(Ok(code)) => Ok(ExitCode::from(code)),
        // Killed by one of its limits.
        _ => Err(failed(format!("{name}: stopped: {ended}"))),
    }
}
