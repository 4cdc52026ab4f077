//! The parts of the process that only some systems have: the mount and its background, signals,
//! sandboxes, limits, and archives that desktops open. Only this file chooses among
//! its parts by system; without FUSE, `elsewhere.rs` is the substitute.

mod allocator;
#[cfg(fuse)]
mod background;
#[cfg_attr(not(target_os = "linux"), path = "confine_elsewhere.rs")]
mod confine;
#[cfg(fuse)]
mod descriptors;
pub mod desktop;
#[cfg(edit)]
mod edit;
#[cfg(not(fuse))]
mod elsewhere;
#[cfg(fuse)]
#[cfg_attr(not(target_os = "linux"), path = "guard_elsewhere.rs")]
mod guard;
#[cfg(fuse)]
mod idle;
#[cfg_attr(not(unix), path = "limits_elsewhere.rs")]
pub(super) mod limits;
#[cfg(fuse)]
#[cfg_attr(not(target_os = "linux"), path = "mount_elsewhere.rs")]
mod mount;
#[cfg(all(fuse, target_os = "linux"))]
mod mount_table;
#[cfg(fuse)]
#[cfg_attr(not(target_os = "linux"), path = "notifier_elsewhere.rs")]
mod notifier;
#[cfg(all(fuse, target_os = "linux"))]
mod occupant;
#[cfg(all(fuse, target_os = "linux"))]
mod packages;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(edit)]
mod revert;
#[cfg(fuse)]
mod run;
#[cfg(serve)]
mod serve;
#[cfg(any(fuse, serve))]
#[cfg_attr(not(unix), path = "signals_elsewhere.rs")]
mod signals;
#[cfg(fuse)]
mod supervisor;
#[cfg(target_os = "linux")]
#[cfg_attr(
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )),
    path = "syscalls_elsewhere.rs"
)]
mod syscalls;
#[cfg(fuse)]
mod system_log;
#[cfg(all(fuse, target_os = "linux"))]
mod watchers;

#[cfg(any(fuse, serve))]
use super::{MountOptions, cores};
#[cfg(any(fuse, serve))]
use crate::mount::Sources;

pub use self::allocator::settle_allocator;
#[cfg(fuse)]
pub use self::background::{Background, Forked, go_into_background};
pub use self::confine::Confinement;
#[cfg(fuse)]
pub use self::descriptors::close_inherited;
#[cfg(not(fuse))]
pub use self::elsewhere::{Background, Forked, close_inherited, go_into_background, run, unmount};
#[cfg(fuse)]
pub use self::mount::unmount;
#[cfg(edit)]
pub use self::revert::revert;
#[cfg(fuse)]
pub use self::run::run;
#[cfg(serve)]
pub use self::serve::{Serve, TokenSource, serve};

/// Number of threads that answer requests if a source is on a server: most of
/// them wait for it, and listing a directory should not.
#[cfg(any(fuse, serve))]
const REMOTE_THREADS: usize = 16;

/// Returns the number of threads that answer requests.
#[cfg(any(fuse, serve))]
fn reading_threads(sources: &Sources, options: &MountOptions) -> usize {
    let usual = || match sources.urls().next() {
        Some(_) => REMOTE_THREADS,
        None => cores(),
    };
    options.threads.unwrap_or_else(usual)
}

/// The occupant of a directory for mounts.
#[cfg(fuse)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occupant {
    /// Nothing of ours, or a mount without a process.
    Nothing,
    /// A mount of hpimount.
    Mount,
    /// A mount of hpimount that does not answer.
    Silent,
}
