//! A mount, from the forked process to its end.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::Path;
#[cfg(not(target_os = "linux"))]
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use signal_hook::iterator::Signals;

use super::background::{Background, Detached};
use super::confine::Confined;
#[cfg(target_os = "linux")]
use super::edit;
use super::guard::Guard;
use super::mount::{self, Mount};
use super::notifier::Notifier;
use super::reading_threads;
use super::supervisor::Supervisor;
use super::{descriptors, idle, signals};
#[cfg(target_os = "linux")]
use crate::app::MountOptions;
use crate::app::progress::Progress;
use crate::app::without_mount::vfs_options;
use crate::app::{Failure, MountPlan};
#[cfg(target_os = "linux")]
use crate::edit::EditedMount;
use crate::fuse::{Ownership, Running, SessionOptions};
use crate::mount::Vfs;
#[cfg(target_os = "linux")]
use crate::requester;

/// Grace period for requests after the kernel has ended the mount, and interval of the checks for
/// its end.
const GRACE: Duration = Duration::from_secs(2);

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
    let made = make_mount(plan, &point, &mut guard)?;
    let waiting = Waiting::of(background);
    let Serving { session, mount } = serve(plan, made, tree.clone(), confined)?;
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
    let point = options.mount_point.as_deref();
    let sourced = edit::Sourced::prepare(&plan.sources, folder, &plan.options, point)?;
    let opened = sourced.open_folder()?;
    let refused = move |path: &str, reason: &str| {
        if let Some(notifier) = &notifier {
            notifier.notify(&format!("{path} is refused"), reason);
        }
    };
    let mount = sourced.open(opened, options, confined, refused)?;
    Ok(Tree::Edited(mount))
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

/// Starts the thread that looks for killed readers, with its own confinement.
#[cfg(target_os = "linux")]
fn watch_requesters(options: &MountOptions) -> Result<(), Failure> {
    let confinement = options.confinement(&[requester::PROCESSES.into()]);
    let started = requester::start(move || confinement.enter());
    started.map_err(Failure::no_thread)
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

/// A mount and the device that its requests come from.
#[cfg(target_os = "linux")]
type NewMount = (Mount, OwnedFd);

/// The place of a mount, which the FUSE library makes when it serves it.
#[cfg(not(target_os = "linux"))]
type NewMount = PathBuf;

/// Mounts, which needs privileges that the confined threads do not have. The caller is
/// still in the process group that it was started in: on an autofs, the kernel lets only
/// the process group of the automounter pass, and all others wait for the mount.
#[cfg(target_os = "linux")]
fn make_mount(plan: &MountPlan, point: &Path, guard: &mut Guard) -> Result<NewMount, Failure> {
    let usage = mount::Use {
        allow_other: plan.options.allow_other,
        is_edited: plan.options.edit.is_some(),
    };
    let (mount, device) = mount::mount(point, &plan.sources.name(), usage)?;
    // Fails if the guard was killed.
    let _ = guard.protect(mount.made());
    Ok((mount, device))
}

#[cfg(not(target_os = "linux"))]
fn make_mount(_plan: &MountPlan, point: &Path, _guard: &mut Guard) -> Result<NewMount, Failure> {
    Ok(point.to_owned())
}

/// Starts confined threads to answer requests. Afterwards this thread, and those
/// that it starts, can only wait and unmount.
#[cfg(target_os = "linux")]
fn serve(
    plan: &MountPlan,
    (mount, device): NewMount,
    tree: Tree,
    confined: Confined,
) -> Result<Serving, Failure> {
    let options = &plan.options;
    let (ownership, session) = (ownership(plan), session_options(plan));
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
            let point = plan.mount_point.display();
            Err(Failure::Refused(format!("{point}: {error}")))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn serve(
    plan: &MountPlan,
    point: NewMount,
    tree: Tree,
    _confined: Confined,
) -> Result<Serving, Failure> {
    let Tree::Fixed(vfs) = tree;
    let refused = |error: io::Error| mount::refused(&point, &error);
    let (ownership, session) = (ownership(plan), session_options(plan));
    let name = plan.sources.name();
    let session =
        crate::fuse::mount_and_serve(vfs, ownership, session, &point, &name).map_err(refused)?;
    Ok(Serving {
        session,
        mount: Arc::new(mount::Mount::new(point)),
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

fn session_options(plan: &MountPlan) -> SessionOptions {
    SessionOptions {
        threads: reading_threads(&plan.sources, &plan.options),
        allow_other: plan.options.allow_other,
        prefetch: !plan.options.no_prefetch,
        lifetime: plan.options.idle.map(idle::lifetime),
    }
}
