//! The process: going into the background, signals, mounting, and exiting
//! without leaving anything behind.

mod allocator;
mod background;
mod clean_up;
#[cfg_attr(not(target_os = "linux"), path = "confine_elsewhere.rs")]
mod confine;
mod descriptors;
pub mod desktop;
#[cfg(target_os = "linux")]
mod edit;
mod exit;
mod flood;
#[cfg_attr(not(target_os = "linux"), path = "guard_elsewhere.rs")]
mod guard;
mod idle;
#[cfg(feature = "index")]
mod index;
mod log;
mod message;
#[cfg_attr(not(target_os = "linux"), path = "mount_elsewhere.rs")]
mod mount;
#[cfg(target_os = "linux")]
mod mount_table;
#[cfg_attr(not(target_os = "linux"), path = "notifier_elsewhere.rs")]
mod notifier;
mod pack;
#[cfg(target_os = "linux")]
mod packages;
mod palette;
mod password;
#[cfg(target_os = "linux")]
mod privileges;
mod progress;
#[cfg(target_os = "linux")]
mod revert;
mod signals;
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
mod tasks;
pub mod thumbnail;
#[cfg(target_os = "linux")]
mod watchers;
mod without_mount;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ::log::LevelFilter;
use signal_hook::iterator::Signals;

pub use self::allocator::settle_allocator;
use self::background::Detached;
pub use self::background::{Background, Forked, go_into_background};
pub use self::clean_up::clean_up_on_signals;
use self::confine::Confined;
pub use self::confine::Confinement;
pub use self::descriptors::{close_inherited, raise_file_limit};
pub use self::exit::{EXIT_REASONS, ExitReason, Failure};
use self::guard::Guard;
#[cfg(feature = "index")]
pub use self::index::{Index, index};
pub use self::message::{set_program, tell};
use self::mount::Mount;
pub use self::mount::unmount;
use self::notifier::Notifier;
pub use self::pack::{Pack, PackStyle, pack};
pub use self::password::PasswordSource;
use self::progress::Progress;
#[cfg(target_os = "linux")]
pub use self::revert::revert;
use self::supervisor::Supervisor;
pub use self::tasks::with_tasks;
use self::without_mount::vfs_options;
pub use self::without_mount::{
    Check, Diff, Extract, Inspection, check, diff, extract, inspect, progress_bar,
};
#[cfg(target_os = "linux")]
use crate::edit::EditedMount;
use crate::fuse::{Ownership, Running, SessionOptions};
use crate::mount::{Sources, Vfs};
#[cfg(target_os = "linux")]
use crate::requester;
use crate::source::remote::{Access, Network, RemoteOptions};

/// The occupant of a directory for mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occupant {
    /// Nothing of ours, or a mount without a process.
    Nothing,
    /// A mount of hpimount.
    Mount,
    /// A mount of hpimount that does not answer.
    Silent,
}

/// How long requests may continue after the kernel has ended the mount, and how
/// often that is checked.
const GRACE: Duration = Duration::from_secs(2);

/// Number of threads that answer requests if a source is on a server: most of
/// them wait for it, and listing a directory should not.
const REMOTE_THREADS: usize = 16;

/// A mount to create.
#[derive(Debug)]
pub struct MountPlan {
    /// The archives, or a game's folder.
    pub sources: Sources,
    /// The directory to mount on.
    pub mount_point: PathBuf,
    /// How the mount behaves.
    pub options: MountOptions,
}

/// The options of a mount.
#[derive(Debug, Clone, Default)]
pub struct MountOptions {
    /// Whether other users have access.
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
    /// Whether to disable prefetching.
    pub no_prefetch: bool,
    /// Idle time after which the mount is unmounted, if any.
    pub idle: Option<Duration>,
    /// How sources on servers are read.
    pub remote: RemoteOptions,
    /// File with the palette of pictures that have none of their own.
    pub palette: Option<PathBuf>,
    /// Folders of changes to apply to the source, the last one on top.
    pub apply: Vec<PathBuf>,
    /// Whether to refuse changes that games may not find.
    pub apply_strict: bool,
    /// The folder for files that are saved into the mount, if it can be edited.
    pub edit: Option<PathBuf>,
    /// Whether files that are refused are shown as desktop notifications.
    pub notify: bool,
    /// Where the password of encrypted archives comes from, if they have one.
    pub password: Option<PasswordSource>,
    /// Whether threads that read sources are not confined.
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

/// Mounts, and serves until unmounted, in the foreground or in a process that
/// was forked for that.
///
/// # Errors
/// Returns an error if nothing was mounted, or if the session ended
/// unexpectedly.
pub fn run(plan: &MountPlan, background: Option<Background>) -> Result<(), Failure> {
    signals::reset_sigchld().map_err(Failure::no_signals)?;
    // Whatever it was started as, it is found by this name.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"hpimount");
    // While this is the only thread.
    let is_sandboxed = !plan.options.no_sandbox;
    let cannot_fork = |error| Failure::Other("cannot fork", error);
    let mut guard = Guard::start(is_sandboxed).map_err(cannot_fork)?;
    let notifier = plan.options.notify.then(Notifier::start);
    let notifier = notifier.transpose().map_err(cannot_fork)?;
    let point = mount::mount_point(&plan.mount_point)?;
    // First: a password is asked for while there is no other thread.
    let vfs_options = crate::mount::Options {
        mount_point: Some(point.clone()),
        ..vfs_options(&plan.sources, &plan.options)?
    };
    // Before any thread is confined to the sources.
    #[cfg(target_os = "linux")]
    watch_requesters(&plan.options)?;
    let confined = Confined::start(is_sandboxed).map_err(Failure::no_thread)?;
    let tree = open(plan, vfs_options, &confined, notifier)?;
    descriptors::warn_of_few(session_options(plan).threads);
    // Until here a signal terminates the process at once, even while it waits
    // for a slow source; from here on there is a mount to remove.
    let signals = signals::catch().map_err(Failure::no_signals)?;
    let waiting = Waiting::of(background);
    let Serving { session, mount } = serve(plan, &point, tree.clone(), confined, &mut guard)?;
    let handle = signals.handle();
    let without_threads = |error| {
        mount.unmount();
        Failure::no_thread(error)
    };
    let signal_thread = unmount_at(signals, mount.clone()).map_err(without_threads)?;
    end_with(mount.clone()).map_err(without_threads)?;
    if let Some(limit) = plan.options.idle {
        idle::watch(move || tree.uses(), mount.clone(), limit).map_err(without_threads)?;
    }
    if let Err(error) = waiting.tell_ready() {
        ::log::warn!("the parent process is gone: {error}");
        mount.unmount();
    }
    let (outcome, device) = session.join();
    match outcome {
        Ok(()) => mount.clear_away(),
        Err(_) => {
            mount.unmount();
        }
    }
    handle.close();
    // It ends with the handle; a panic in it has been logged.
    let _ = signal_thread.join();
    // Not before: at a second signal that thread closes the device by its
    // number, and the standard library aborts a debug build whose owner of a
    // descriptor finds it closed.
    drop(device);
    ::log::logger().flush();
    outcome.map_err(|error| Failure::Other("the FUSE session ended unexpectedly", error))
}

/// The process or the service manager that waits for the mount to be ready.
enum Waiting {
    Process(Detached),
    Supervisor(Option<Supervisor>),
}

impl Waiting {
    /// Opens what the notification needs, before this thread is restricted.
    fn of(background: Option<Background>) -> Self {
        match background {
            Some(process) => Self::Process(process.detach()),
            None => Self::Supervisor(Supervisor::connect()),
        }
    }

    /// Notifies the process or the service manager.
    ///
    /// # Errors
    /// Returns an error if the waiting process is gone.
    fn tell_ready(self) -> io::Result<()> {
        match self {
            Self::Process(process) => return process.tell_ready(),
            Self::Supervisor(supervisor) => supervisor.iter().for_each(Supervisor::tell_ready),
        }
        Ok(())
    }
}

/// The tree of a mount.
#[derive(Clone)]
enum Tree {
    /// A tree that changes only with its sources.
    Fixed(Arc<Vfs>),
    /// A tree that can be edited.
    #[cfg(target_os = "linux")]
    Edited(Arc<EditedMount>),
}

impl Tree {
    /// Returns a number that grows with every use that reaches this process.
    fn uses(&self) -> u64 {
        match self {
            Self::Fixed(vfs) => vfs.uses(),
            #[cfg(target_os = "linux")]
            Self::Edited(mount) => mount.uses(),
        }
    }
}

/// Opens the sources of a mount, in a thread that is confined to them.
fn open(
    plan: &MountPlan,
    vfs_options: crate::mount::Options,
    confined: &Confined,
    notifier: Option<Notifier>,
) -> Result<Tree, Failure> {
    if let Some(folder) = &plan.options.edit {
        return open_edited(plan, folder, vfs_options, confined, notifier);
    }
    let prepared = plan.sources.prepare()?;
    let prepared = prepared.with_changes(&plan.options.apply, plan.options.apply_strict)?;
    let confinement = plan.options.confinement(&prepared.paths());
    let progress = Progress::of(vfs_options.network.as_ref());
    let vfs = confined.run(move || {
        confinement.restrict_files()?;
        Ok(Vfs::open_prepared(prepared, vfs_options))
    });
    drop(progress);
    Ok(Tree::Fixed(vfs.flatten().map_err(Failure::no_thread)??))
}

#[cfg(target_os = "linux")]
fn open_edited(
    plan: &MountPlan,
    folder: &Path,
    options: crate::mount::Options,
    confined: &Confined,
    notifier: Option<Notifier>,
) -> Result<Tree, Failure> {
    edit::open(plan, folder, options, confined, notifier).map(Tree::Edited)
}

#[cfg(not(target_os = "linux"))]
fn open_edited(
    _plan: &MountPlan,
    _folder: &Path,
    _options: crate::mount::Options,
    _confined: &Confined,
    _notifier: Option<Notifier>,
) -> Result<Tree, Failure> {
    Err(Failure::Usage("--edit needs Linux".to_owned()))
}

/// Starts a thread that unmounts at the first signal, and ends the process at
/// the second one.
fn unmount_at(mut signals: Signals, mount: Arc<Mount>) -> io::Result<JoinHandle<()>> {
    let wait = move || {
        let mut unmounted = false;
        for signal in &mut signals {
            ::log::info!("signal {signal}");
            if unmounted {
                mount.cut_off();
                std::process::exit(0);
            }
            unmounted = mount.unmount();
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
}

/// Starts the threads that talk to the servers of the sources, with their own
/// confinement; `None` if all sources are on disk.
fn network(sources: &Sources, options: &MountOptions) -> Result<Option<Arc<Network>>, Failure> {
    if sources.urls().next().is_none() {
        return Ok(None);
    }
    let no_sandbox = options.no_sandbox;
    let enter = move |access: &Access| match no_sandbox {
        true => Ok(()),
        false => Confinement::to_network(access).enter(),
    };
    let started = Network::start(&options.remote, sources.urls(), enter);
    started.map(Some).map_err(Failure::Usage)
}

/// Starts the thread that looks for killed readers, with its own confinement.
#[cfg(target_os = "linux")]
fn watch_requesters(options: &MountOptions) -> Result<(), Failure> {
    let confinement = options.confinement(&[requester::PROCESSES.into()]);
    let started = requester::start(move || confinement.enter());
    started.map_err(Failure::no_thread)
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

/// Exits the process when the kernel has ended the mount and threads still wait
/// for a source that hangs. There are no readers left.
fn end_with(mount: Arc<Mount>) -> io::Result<()> {
    let watch = move || {
        while mount.is_connected() {
            thread::sleep(GRACE);
        }
        thread::sleep(GRACE);
        ::log::warn!("aborted reads of sources that hang");
        mount.clear_away();
        std::process::exit(0);
    };
    let thread = thread::Builder::new().name("end".to_owned());
    thread.spawn(watch).map(drop)
}

/// A running mount.
struct Serving {
    session: Running,
    mount: Arc<Mount>,
}

/// Mounts, which needs privileges that the confined threads do not have, and
/// starts confined threads to answer requests. Afterwards this thread, and those
/// that it starts, can only wait and unmount.
#[cfg(target_os = "linux")]
fn serve(
    plan: &MountPlan,
    point: &Path,
    tree: Tree,
    confined: Confined,
    guard: &mut Guard,
) -> Result<Serving, Failure> {
    let options = &plan.options;
    let (ownership, session) = (ownership(plan), session_options(plan));
    let usage = mount::Use {
        allow_other: options.allow_other,
        is_edited: options.edit.is_some(),
    };
    let (mount, device) = mount::mount(point, &plan.sources.name(), usage)?;
    // Fails if somebody has killed the guard.
    let _ = guard.protect(mount.made());
    let session = confined.begin(move || match tree {
        Tree::Fixed(vfs) => crate::fuse::serve(vfs, ownership, session, device),
        Tree::Edited(mount) => crate::fuse::serve_edited(mount, ownership, session, device),
    });
    // Meanwhile: the kernel takes a few tenths of a millisecond for it.
    let restricted = match options.no_sandbox {
        true => Ok(()),
        false => mount
            .drop_privileges(options.idle.is_some())
            .and_then(|()| mount.restrict_calls()),
    };
    match restricted.and_then(|()| session.wait().flatten()) {
        Ok(session) => Ok(Serving {
            session,
            mount: Arc::new(mount),
        }),
        Err(error) => {
            mount.unmount();
            Err(Failure::Refused(format!("{}: {error}", point.display())))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn serve(
    plan: &MountPlan,
    point: &Path,
    tree: Tree,
    _confined: Confined,
    _guard: &mut Guard,
) -> Result<Serving, Failure> {
    let Tree::Fixed(vfs) = tree;
    let refused = |error: io::Error| mount::refused(point, &error);
    let (ownership, session) = (ownership(plan), session_options(plan));
    let name = plan.sources.name();
    let session =
        crate::fuse::mount_and_serve(vfs, ownership, session, point, &name).map_err(refused)?;
    Ok(Serving {
        session,
        mount: Arc::new(mount::Mount::new(point.to_owned())),
    })
}

fn ownership(plan: &MountPlan) -> Ownership {
    let options = &plan.options;
    Ownership {
        uid: options
            .uid
            .unwrap_or_else(|| rustix::process::getuid().as_raw()),
        gid: options
            .gid
            .unwrap_or_else(|| rustix::process::getgid().as_raw()),
        umask: options.umask,
    }
}

/// Number of processors that this process can use.
fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

fn session_options(plan: &MountPlan) -> SessionOptions {
    let usual = || match plan.sources.urls().next() {
        Some(_) => REMOTE_THREADS,
        None => cores(),
    };
    SessionOptions {
        threads: plan.options.threads.unwrap_or_else(usual),
        allow_other: plan.options.allow_other,
        prefetch: !plan.options.no_prefetch,
        lifetime: plan.options.idle.map(idle::lifetime),
    }
}
