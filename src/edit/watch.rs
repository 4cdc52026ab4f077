//! Changes of DIR that other programs make.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::namespace::joined;
use crate::source::{OPAQUE, WHITEOUT};
use hpimount_containers::changes::is_litter;
use hpimount_containers::volume::MAX_DEPTH;

/// Number of bytes of events that are read at a time.
const EVENTS: usize = 16 << 10;

/// The events that are watched in each directory.
const WATCHED: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW);

/// The kinds of file systems that others may change without events here: NFS, FUSE, 9P,
/// SMB and Ceph.
const REMOTE: [u32; 6] = [
    0x6969,
    0x6573_5546,
    0x0102_1997,
    0xFF53_4D42,
    0xFE53_4D42,
    0x00C3_6400,
];

/// Interval between assumed changes of DIR where it cannot be watched.
const LOOKED_AT: Duration = Duration::from_secs(1);

/// A message to the thread of `later`.
pub(super) enum Signal {
    /// A file was written through a mapping.
    Written(u64),
    /// A file was closed that has no place in DIR.
    Closed(u64),
    /// The version of a number cannot have a file.
    Refused(u64, u64),
    /// In the version of a number, a later file says something else about the asset of the one
    /// at this path.
    Superseded(String, u64),
    /// The version of a number has files with values that later ones have changed.
    Outdated(u64),
    /// Another program, or the mount itself, has changed an entry of DIR.
    Changed(String),
    /// Changes of DIR were missed: all of it may have changed.
    Missed,
    /// The mount ends.
    End,
}

/// The signals for the thread of what happens later, among them the changes of DIR.
pub(super) struct Watch {
    sender: Sender<Signal>,
    signals: Receiver<Signal>,
}

impl Watch {
    /// Starts the thread that watches the folder at `path`; `confine` confines it.
    ///
    /// # Errors
    /// Returns an error if the thread cannot be started or confined.
    pub(super) fn start(
        path: &Path,
        confine: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, signals) = channel();
        let (confined, outcome) = channel();
        let (path, events) = (path.to_owned(), sender.clone());
        let work = move || {
            let result = confine();
            let is_confined = result.is_ok();
            // The starting thread waits for it.
            let _ = confined.send(result);
            if is_confined {
                watch(&path, &events);
            }
        };
        thread::Builder::new()
            .name("watch".to_owned())
            .spawn(work)?;
        outcome.recv().map_err(io::Error::other)??;
        Ok(Self { sender, signals })
    }

    /// Returns a sender of signals.
    pub(super) fn sender(&self) -> Sender<Signal> {
        self.sender.clone()
    }

    /// Waits for the next signal.
    pub(super) fn next(&self) -> Result<Signal, RecvTimeoutError> {
        self.signals
            .recv()
            .map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Waits for the next signal for some time.
    pub(super) fn next_within(&self, time: Duration) -> Result<Signal, RecvTimeoutError> {
        self.signals.recv_timeout(time)
    }
}

/// Sends the changes of a folder until the receiver is gone.
fn watch(path: &Path, events: &Sender<Signal>) {
    let watched = check_local(path).and_then(|()| Watched::start(path));
    let Err(error) = watched.and_then(|mut watched| watched.send_all(events)) else {
        return;
    };
    log::warn!(
        "{}: cannot be watched: {error}; it is looked at every second",
        path.display()
    );
    while events.send(Signal::Missed).is_ok() {
        thread::sleep(LOOKED_AT);
    }
}

/// Checks that all changes of a folder are made by this machine's kernel.
fn check_local(path: &Path) -> io::Result<()> {
    // All numbers fit, whatever the type is on this machine.
    let kind = rustix::fs::statfs(path)?.f_type as u32;
    match REMOTE.contains(&kind) {
        true => Err(io::Error::other(
            "its file system does not tell of all changes",
        )),
        false => Ok(()),
    }
}

/// The watches of a folder.
struct Watched {
    root: PathBuf,
    inotify: OwnedFd,
    /// The paths of the directories, relative to the folder.
    directories: HashMap<i32, String>,
}

impl Watched {
    fn start(root: &Path) -> io::Result<Self> {
        let mut watched = Self {
            root: root.to_owned(),
            inotify: inotify::init(CreateFlags::CLOEXEC)?,
            directories: HashMap::new(),
        };
        watched.add("", &mut |_| {})?;
        Ok(watched)
    }

    /// Watches a directory and those in it, and calls `found` with the paths of the
    /// entries, which may have been made before.
    fn add(&mut self, path: &str, found: &mut dyn FnMut(String)) -> io::Result<()> {
        if path.split('/').count() > MAX_DEPTH {
            return Ok(());
        }
        let directory = self.root.join(path);
        let number = match inotify::add_watch(&self.inotify, &directory, WATCHED) {
            // It is gone again.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            number => number?,
        };
        self.directories.insert(number, path.to_owned());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(directory) = rustix::fs::open(&directory, flags, Mode::empty()) else {
            return Ok(());
        };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            let Some(name) = changed_name(&name).filter(|name| ![".", ".."].contains(name)) else {
                continue;
            };
            let inner = joined(path, name);
            if entry.file_type() == FileType::Directory {
                self.add(&inner, found)?;
            }
            found(inner);
        }
        Ok(())
    }

    /// Sends events until the receiver is gone.
    fn send_all(&mut self, events: &Sender<Signal>) -> io::Result<()> {
        let inotify = self.inotify.try_clone()?;
        let mut buffer = [MaybeUninit::uninit(); EVENTS];
        let mut reader = Reader::new(&inotify, &mut buffer);
        let is_received = Cell::new(true);
        let send = |signal| is_received.set(is_received.get() && events.send(signal).is_ok());
        while is_received.get() {
            let (directory, flags, name) = match reader.next() {
                Err(Errno::INTR) => continue,
                event => {
                    let event = event?;
                    let name = event.file_name().map(|name| name.to_bytes().to_vec());
                    (event.wd(), event.events(), name)
                }
            };
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                self.add("", &mut |_| {})?;
                send(Signal::Missed);
                continue;
            }
            if flags.contains(ReadFlags::IGNORED) {
                self.directories.remove(&directory);
                continue;
            }
            let (Some(directory), Some(name)) = (self.directories.get(&directory), name) else {
                continue;
            };
            let name = String::from_utf8_lossy(&name);
            let Some(name) = changed_name(&name) else {
                continue;
            };
            let path = joined(directory, name);
            let is_new = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
            if flags.contains(ReadFlags::ISDIR) && is_new {
                self.add(&path, &mut |inner| send(Signal::Changed(inner)))?;
            }
            // A new file is sent when it is closed.
            if flags.contains(ReadFlags::CREATE) && !flags.contains(ReadFlags::ISDIR) {
                let full = self.root.join(&path);
                let is_link = full.symlink_metadata().is_ok_and(|data| !data.is_file());
                if !is_link {
                    continue;
                }
            }
            send(Signal::Changed(path));
        }
        Ok(())
    }
}

/// Returns the name of the entry that a change of `name` concerns; `None` for names that
/// are not applied, such as unfinished files.
pub(super) fn changed_name(name: &str) -> Option<&str> {
    if is_litter(name) {
        return None;
    }
    match name.strip_prefix(WHITEOUT) {
        Some(_) if name == OPAQUE => Some(name),
        Some(deleted) => Some(deleted),
        None => Some(name),
    }
}
