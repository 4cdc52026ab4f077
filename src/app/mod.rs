//! The process: going into the background, signals, mounting, and exiting
//! without leaving anything behind.

mod daemon;
mod exit;
mod flood;
#[cfg(feature = "index")]
mod index;
mod log;
mod message;
mod pack;
mod palette;
mod password;
mod progress;
#[cfg(explorer)]
mod register;
mod tasks;
pub mod thumbnail;
mod without_mount;

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use ::log::LevelFilter;

#[cfg(edit)]
pub use self::daemon::revert;
pub use self::daemon::{
    Background, Confinement, Forked, close_inherited, desktop, go_into_background, run,
    settle_allocator, unmount,
};
#[cfg(serve)]
pub use self::daemon::{Serve, TokenSource, serve};
pub use self::exit::{EXIT_REASONS, ExitReason, Failure};
#[cfg(feature = "index")]
pub use self::index::{Index, index};
pub use self::message::{set_program, tell};
pub use self::pack::{Pack, PackStyle, pack};
pub use self::password::PasswordSource;
#[cfg(explorer)]
pub use self::register::{register, unregister};
pub use self::tasks::with_tasks;
pub use self::without_mount::{
    Check, Diff, Extract, Inspection, check, diff, extract, inspect, progress_bar,
};
use crate::mount::Sources;
use crate::source::remote::{Access, Network, RemoteOptions, Task};

/// A mount to create.
#[derive(Debug)]
pub struct MountPlan {
    /// The archives, or a game's folder.
    pub sources: Sources,
    /// The directory to mount on.
    pub mount_point: PathBuf,
    /// Options of the mount.
    pub options: MountOptions,
}

/// The options of a mount.
#[derive(Debug, Clone, Default)]
pub struct MountOptions {
    /// True if other users have access.
    pub allow_other: bool,
    /// User ID of the owner of all files; if it is not set, the mounting user.
    pub uid: Option<u32>,
    /// Group ID of all files; if it is not set, the mounting user's.
    pub gid: Option<u32>,
    /// Permission bits to remove from all modes.
    pub umask: u16,
    /// Threads that answer requests; `None` for as many as cores, or 16 with
    /// sources on servers.
    pub threads: Option<usize>,
    /// True if prefetching is disabled.
    pub no_prefetch: bool,
    /// Idle time after which the mount is unmounted, if any.
    pub idle: Option<Duration>,
    /// Options for sources on servers.
    pub remote: RemoteOptions,
    /// File with the palette of pictures that have none of their own.
    pub palette: Option<PathBuf>,
    /// Folders of changes to apply to the source, the last one on top.
    pub apply: Vec<PathBuf>,
    /// True if changes are refused that games may not find.
    pub apply_strict: bool,
    /// The folder for files that are saved into the mount, if it can be edited.
    pub edit: Option<PathBuf>,
    /// True if refused files are shown as desktop notifications.
    pub notify: bool,
    /// Source of the password of encrypted archives, if they have one.
    pub password: Option<PasswordSource>,
    /// True if threads that read sources are not confined.
    pub no_sandbox: bool,
    /// Options of the file tree.
    pub vfs: crate::mount::Options,
}

impl MountOptions {
    /// Returns the confinement of threads that read these files and directories.
    fn confinement(&self, readable: &[PathBuf]) -> Confinement {
        match self.no_sandbox {
            true => Confinement::none(),
            false => Confinement::to(readable),
        }
    }
}

/// Returns `usual`, or the seconds in an environment variable, so that tests
/// need not wait. Not available in release builds.
pub fn shortened(variable: &str, usual: Duration) -> Duration {
    let seconds = std::env::var(variable).ok();
    match seconds.and_then(|seconds| seconds.parse().ok()) {
        Some(seconds) if cfg!(debug_assertions) => Duration::from_secs(seconds),
        _ => usual,
    }
}

/// Starts logging to standard error.
pub fn start_log(level: LevelFilter) {
    log::start(level);
}

/// Starts the threads that talk to the servers of the sources, with their own
/// confinement; `None` if all sources are on disk.
fn network(sources: &Sources, options: &MountOptions) -> Result<Option<Arc<Network>>, Failure> {
    if sources.urls().next().is_none() {
        return Ok(None);
    }
    let no_sandbox = options.no_sandbox;
    let enter = move |task: Task, access: &Access| match no_sandbox {
        true => Ok(()),
        false => Confinement::to_network(task, access).enter(),
    };
    let started = Network::start(&options.remote, sources.urls(), enter);
    started.map(Some).map_err(Failure::Usage)
}

/// Opens an unnamed temporary file for generated files here, since the confined
/// threads cannot.
fn spool() -> Option<Arc<File>> {
    match tempfile::tempfile() {
        Ok(file) => Some(Arc::new(file)),
        Err(error) => {
            ::log::warn!(
                "cannot create a temporary file, large generated files are unavailable: {error}"
            );
            None
        }
    }
}

/// Number of processors that this process can use.
fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}
