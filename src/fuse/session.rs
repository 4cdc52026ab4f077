//! The session with the kernel: its threads, from the start to the end of a
//! mount.

use std::ffi::OsStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use fuser::{Notifier, Session, SessionACL};

#[cfg(target_os = "linux")]
use super::edited::Edited;
use super::{Hook, Mounted, Ownership, number};
#[cfg(target_os = "linux")]
use crate::edit::EditedMount;
use crate::mount::{Invalidations, Vfs};
use crate::prefetch::Prefetch;

/// Options of the session with the kernel.
#[derive(Debug, Clone, Copy)]
pub struct SessionOptions {
    /// Threads that answer requests. Platforms other than Linux have one.
    pub threads: usize,
    /// True if users other than the mounting one are answered.
    pub allow_other: bool,
    /// True if files are pushed into the kernel's page cache ahead of readers.
    pub prefetch: bool,
    /// Cache lifetime of lasting answers in the kernel; `None` for no limit.
    pub lifetime: Option<Duration>,
}

fn config(options: SessionOptions) -> fuser::Config {
    let mut config = fuser::Config::default();
    config.acl = if options.allow_other {
        SessionACL::All
    } else {
        SessionACL::Owner
    };
    config.n_threads = Some(if cfg!(target_os = "linux") {
        options.threads.max(1)
    } else {
        1
    });
    config
}

/// Starts the session with the kernel over an open FUSE device, and answers
/// requests on its own threads until the mount is gone.
///
/// # Errors
/// Returns an error if the protocol negotiation fails, or if threads cannot be
/// started.
#[cfg(target_os = "linux")]
pub fn serve(
    vfs: Arc<Vfs>,
    ownership: Ownership,
    options: SessionOptions,
    device: std::os::fd::OwnedFd,
) -> io::Result<Running> {
    let config = config(options);
    let mounted = Mounted::new(vfs, ownership, options);
    let background = Background::of(&mounted);
    let session = Session::from_fd(mounted, device, config.acl, config)?;
    run(session, background)
}

/// Like [`serve`], for a mount that can be edited.
///
/// # Errors
/// Returns an error under the same conditions as [`serve`].
#[cfg(target_os = "linux")]
pub fn serve_edited(
    mount: Arc<EditedMount>,
    ownership: Ownership,
    options: SessionOptions,
    device: std::os::fd::OwnedFd,
) -> io::Result<Running> {
    let config = config(options);
    let edited = Edited::new(mount, ownership);
    let session = Session::from_fd(edited, device, config.acl, config)?;
    let device = OpenDevice(session.notifier());
    let thread = std::thread::Builder::new().name("session".to_owned());
    let thread = thread.spawn(move || session.run())?;
    Ok(Running { thread, device })
}

/// Mounts on `mount_point` and answers requests on its own thread until the
/// mount is gone.
///
/// # Errors
/// Returns an error if the system refuses the mount.
#[cfg(not(target_os = "linux"))]
pub fn mount_and_serve(
    vfs: Arc<Vfs>,
    ownership: Ownership,
    options: SessionOptions,
    mount_point: &std::path::Path,
    name: &str,
) -> io::Result<Running> {
    use fuser::MountOption;

    let mut config = config(options);
    config.mount_options = vec![
        // A comma or a backslash would begin another mount option.
        MountOption::FSName(name.replace([',', '\\'], "_")),
        MountOption::Subtype("hpimount".to_owned()),
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::DefaultPermissions,
    ];
    let mounted = Mounted::new(vfs, ownership, options);
    let background = Background::of(&mounted);
    run(Session::new(mounted, mount_point, &config)?, background)
}

/// A session that answers requests on its own threads.
pub struct Running {
    thread: JoinHandle<io::Result<()>>,
    device: OpenDevice,
}

/// Keeps the FUSE device of a session open after the session has ended.
pub struct OpenDevice(#[expect(dead_code, reason = "held, not used")] Notifier);

impl Running {
    /// Waits until the mount is gone.
    ///
    /// # Errors
    /// The first value is an error if the session ended unexpectedly.
    pub fn join(self) -> (io::Result<()>, OpenDevice) {
        let panicked = |_| Err(io::Error::other("the session panicked"));
        (self.thread.join().unwrap_or_else(panicked), self.device)
    }
}

/// The state of the threads that notify the kernel.
struct Background {
    vfs: Arc<Vfs>,
    prefetch: Option<Arc<Prefetch>>,
    hook: Hook,
}

impl Background {
    fn of(mounted: &Mounted) -> Self {
        Self {
            vfs: mounted.vfs.clone(),
            prefetch: mounted.prefetch.clone(),
            hook: mounted.hook.clone(),
        }
    }
}

fn run(session: Session<Mounted>, background: Background) -> io::Result<Running> {
    let Background {
        vfs,
        prefetch,
        hook,
    } = background;
    if let Some(prefetch) = prefetch {
        let notifier = session.notifier();
        prefetch.start(&vfs, move |inode, offset, bytes| {
            if let Some(hook) = &hook {
                hook("prefetch");
            }
            // The kernel may have forgotten the inode by now.
            let _ = notifier.store(number(inode), offset, bytes);
        })?;
    }
    let notifier = session.notifier();
    let invalidations = vfs.invalidations().clone();
    std::thread::Builder::new()
        .name("invalidate".to_owned())
        .spawn(move || {
            loop {
                // Finding an entry may open archives.
                match catch_unwind(AssertUnwindSafe(|| vfs.next_invalidation())) {
                    // The kernel may not know it any more.
                    Ok(Some((parent, name))) => {
                        let _ = notifier.inval_entry(number(parent), OsStr::new(&name));
                    }
                    Ok(None) => break,
                    Err(_) => log::error!("invalidate: internal error"),
                }
            }
        })?;
    let device = OpenDevice(session.notifier());
    let thread = std::thread::Builder::new()
        .name("session".to_owned())
        .spawn(move || {
            let _closed = Closing(invalidations);
            session.run()
        })?;
    Ok(Running { thread, device })
}

/// Ends the waiting for invalidations when the session ends.
struct Closing(Arc<Invalidations>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}
