//! Mounting and unmounting on Linux.
//!
//! The mount is made here and not by `fuser`, whose guard would unmount the
//! path again after another process has unmounted it, and with it anything
//! mounted below.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use rustix::thread::CapabilitySet;

use super::confine::unconfined;
use super::mount_table::{Entry, MountId, MountTable};
pub(super) use super::occupant::occupant;
use super::occupant::{
    FS_TYPE, answers_soon, is_dead, is_dead_mount, mount_table, ours_on, resolve,
};
use super::syscalls::{self, Work};
use super::{packages, privileges, watchers};
use crate::app::Failure;

/// The FUSE device.
const DEVICE: &str = "/dev/fuse";

/// The required access to it.
const DEVICE_ACCESS: Access = Access::READ_OK.union(Access::WRITE_OK);

/// The program that mounts for ordinary users.
const FUSERMOUNT: &str = "fusermount3";

/// A hint for messages.
const WITHOUT: &str = "; `hpi list`, `hpi cat` and `hpi check` work without";

/// Timeout for the response of another mount.
const PATIENCE: Duration = Duration::from_secs(5);

/// A mount of this process.
#[derive(Debug)]
pub(super) struct Mount {
    made: Made,
    /// The device of the session, which shows whether it is alive.
    device: OwnedFd,
}

/// A mount, and how it must be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    point: PathBuf,
    id: MountId,
    how: How,
}

/// Method that made the mount and must undo it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// This process, by the system call.
    Directly,
    /// By `fusermount3`, for an ordinary user.
    ByHelper,
}

/// Permitted uses of a mount.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    /// True if users other than the mounting one are answered.
    pub(super) allow_other: bool,
    /// True if it can be edited.
    pub(super) is_edited: bool,
}

/// Mounts on `point`, which [`mount_point`] has checked; `name` is shown as the
/// source in the mount table. Also returns the device to serve.
///
/// # Errors
/// Returns [`Failure::NoFuse`] or [`Failure::Refused`], and
/// [`Failure::MountPoint`] if something was mounted there in the meantime.
pub(super) fn mount(point: &Path, name: &str, usage: Use) -> Result<(Mount, OwnedFd), Failure> {
    let _turn = Turn::take(point);
    // Another process may have mounted there since it was checked.
    mount_point(point)?;
    let direct = rustix::process::geteuid().is_root();
    let attempt = if direct {
        mount_directly(point, name, usage)
    } else {
        Err(Errno::PERM)
    };
    let (device, how) = match attempt {
        Ok(device) => (device, How::Directly),
        Err(Errno::NOENT | Errno::NODEV | Errno::NXIO) => {
            return Err(Failure::NoFuse(format!(
                "{DEVICE} does not exist; load the kernel module with `modprobe fuse`{WITHOUT}"
            )));
        }
        // Root in a container gets this too.
        Err(Errno::PERM | Errno::ACCESS) => (mount_by_helper(point, name, usage)?, How::ByHelper),
        Err(error) => return Err(Failure::Refused(format!("{}: {error}", point.display()))),
    };
    let made = made(point, how, &device);
    if made.is_err() {
        // Nothing will serve it. The error has been reported.
        let _ = detach(point, how);
    }
    Ok((made?, device))
}

/// The right to mount on a directory, which one process has at a time: checking
/// that nothing is mounted there and mounting must not be interleaved. It is a
/// lock on the directory, which ends with this value.
struct Turn(#[expect(dead_code, reason = "held, not used")] Option<OwnedFd>);

impl Turn {
    /// Waits for the turn on `point`. Where directories cannot be locked, or if
    /// another program keeps the lock, there is no turn to wait for.
    fn take(point: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(directory) = rustix::fs::open(point, flags, Mode::empty()) else {
            return Self(None);
        };
        let begun = Instant::now();
        loop {
            match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Self(Some(directory)),
                Err(Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(error) => {
                    log::debug!("{}: cannot be locked: {error}", point.display());
                    return Self(None);
                }
            }
        }
    }
}

/// Returns the mount that was just made on `point`.
fn made(point: &Path, how: How, device: &OwnedFd) -> Result<Mount, Failure> {
    let table = mount_table()?;
    let top = table
        .topmost(point)
        .ok_or_else(|| Failure::Refused(format!("{}: is not mounted", point.display())))?;
    Ok(Mount {
        made: Made {
            point: point.to_owned(),
            id: top.id.clone(),
            how,
        },
        device: device
            .try_clone()
            .map_err(|error| Failure::Other("cannot keep the FUSE device", error))?,
    })
}

fn mount_directly(point: &Path, name: &str, usage: Use) -> Result<OwnedFd, Errno> {
    let device = rustix::fs::open(DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let mut data = format!(
        "fd={},rootmode=40000,user_id={},group_id={},default_permissions",
        device.as_raw_fd(),
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    if usage.allow_other {
        data.push_str(",allow_other");
    }
    let data = CString::new(data).map_err(|_| Errno::INVAL)?;
    let access = match usage.is_edited {
        true => MountFlags::NOATIME,
        false => MountFlags::RDONLY,
    };
    let flags = access | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount(name, point, FS_TYPE, flags, Some(&*data))?;
    Ok(device)
}

/// Lets `fusermount3` make the mount, and receives the device over a socket.
fn mount_by_helper(point: &Path, name: &str, usage: Use) -> Result<OwnedFd, Failure> {
    let other = |error| Failure::Other("cannot talk to fusermount3", error);
    let (ours, theirs) = UnixStream::pair().map_err(other)?;
    rustix::io::fcntl_setfd(&theirs, FdFlags::empty()).map_err(|error| other(error.into()))?;
    let access = match usage.is_edited {
        true => "rw,noatime",
        false => "ro",
    };
    let mut options = format!(
        "{access},nosuid,nodev,default_permissions,subtype=hpimount,fsname={}",
        escape_option(name)
    );
    if usage.allow_other {
        options.push_str(",allow_other");
    }
    let output = Command::new(FUSERMOUNT)
        .arg("-o")
        .arg(options)
        .arg("--")
        .arg(point)
        .env("_FUSE_COMMFD", theirs.as_raw_fd().to_string())
        .output();
    drop(theirs);
    let output = match output {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(no_helper());
        }
        Err(error) => return Err(other(error)),
    };
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if !output.status.success() {
        return Err(match rustix::fs::access(DEVICE, DEVICE_ACCESS) {
            Ok(()) => Failure::Refused(message),
            Err(Errno::ACCESS) => Failure::NoFuse(format!(
                "{message}; only users with read and write access to {DEVICE} can mount"
            )),
            Err(_) => Failure::NoFuse(message),
        });
    }
    receive_device(&ours).map_err(other)
}

/// Returns the error for a missing [`FUSERMOUNT`].
fn no_helper() -> Failure {
    let advice = packages::advice();
    Failure::NoFuse(format!(
        "{FUSERMOUNT}, which mounts for ordinary users, is missing; {advice}{WITHOUT}"
    ))
}

/// Receives the one file descriptor that is sent on `socket`.
fn receive_device(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::net::recvmsg(
        socket,
        &mut [io::IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    ancillary
        .drain()
        .find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        })
        .ok_or_else(|| io::Error::other("no device was sent"))
}

/// Escapes a value, so that a comma in a file name does not begin another mount
/// option.
fn escape_option(value: &str) -> String {
    value.replace('\\', "\\\\").replace(',', "\\,")
}

impl Mount {
    /// Unmounts, even if the mount has been moved, unless another mount covers
    /// it. A mount that is in use is detached: it disappears from the tree at
    /// once, and ends with its last user. Returns whether the mount is gone.
    pub(super) fn unmount(&self) -> bool {
        self.try_unmount(true).unwrap_or_else(|error| {
            log::error!("cannot unmount {}: {error}", self.made.point.display());
            false
        })
    }

    /// Gives up the privileges of the current thread, and of those that it
    /// starts, that unmounting does not need. `fusermount3` gets its own when it
    /// is executed.
    ///
    /// # Errors
    /// Returns an error if they are kept.
    pub(super) fn drop_privileges(&self, unmounts_when_idle: bool) -> io::Result<()> {
        let kept = match unmounts_when_idle {
            true => privileges::TO_UNMOUNT.union(privileges::TO_SEE_WATCHERS),
            false => privileges::TO_UNMOUNT,
        };
        self.made.how.keep(kept)
    }

    /// Returns the mount without its session.
    pub(super) fn made(&self) -> &Made {
        &self.made
    }

    /// Restricts the current thread to the system calls that unmounting needs, if
    /// it needs no program for that.
    ///
    /// # Errors
    /// Returns an error if they are not filtered.
    pub(super) fn restrict_calls(&self) -> io::Result<()> {
        self.made.how.restrict_calls()
    }

    /// Removes the mount if it still exists after the session has ended. The
    /// kernel can end a session but leave the mount, as for `umount -f` of a
    /// busy one.
    pub(super) fn clear_away(&self) {
        self.unmount();
    }

    /// Aborts pending requests before the process exits. A thread that the
    /// kernel keeps in a hanging read would keep the device open, and with it
    /// the mount.
    pub(super) fn cut_off(&self) {
        let open = fs::read_dir("/proc/self/fd").into_iter().flatten();
        // Found by name, since requesting metadata could hang as well.
        let devices = open.flatten().filter(|entry| {
            fs::read_link(entry.path()).is_ok_and(|path| path == Path::new(DEVICE))
        });
        let numbers = devices.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        for number in Vec::<RawFd>::from_iter(numbers) {
            // Errors cannot be handled here.
            let _ = nix::unistd::close(number);
        }
    }

    /// Unmounts unless the mount is in use, or a program waits for changes of
    /// it. Returns whether it is gone.
    pub(super) fn unmount_unused(&self) -> bool {
        if self.made.id.device().is_some_and(watchers::any) {
            return false;
        }
        self.try_unmount(false).unwrap_or_else(|error| {
            log::debug!("{} stays mounted: {error}", self.made.point.display());
            false
        })
    }

    fn try_unmount(&self, lazy: bool) -> io::Result<bool> {
        self.made.unmount(lazy, self.is_connected())
    }

    /// Returns whether the kernel still serves the session, as it does until
    /// the last unmount. Afterwards another mount may have the same numbers.
    pub(super) fn is_connected(&self) -> bool {
        let mut device = [PollFd::new(&self.device, PollFlags::empty())];
        let polled = poll(&mut device, Some(&Timespec::default()));
        polled.is_err() || !device[0].revents().contains(PollFlags::ERR)
    }
}

impl How {
    /// All ways, by their numbers in [`Made::to_bytes`].
    const ALL: [Self; 2] = [Self::Directly, Self::ByHelper];

    /// Gives up the privileges of the current thread but `kept`, unless a program is
    /// executed to unmount.
    fn keep(self, kept: CapabilitySet) -> io::Result<()> {
        match self {
            Self::Directly => privileges::keep(kept).map_err(unconfined),
            Self::ByHelper => Ok(()),
        }
    }

    /// Restricts the current thread to the system calls that unmounting needs, unless a
    /// program is executed for that.
    fn restrict_calls(self) -> io::Result<()> {
        match self {
            Self::Directly => syscalls::restrict(Work::Unmount).map_err(unconfined),
            Self::ByHelper => Ok(()),
        }
    }
}

impl Made {
    /// Returns a text for another process that begins with how the mount was made.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let how = How::ALL.iter().position(|how| *how == self.how);
        let point = self.point.as_os_str().as_bytes();
        let id = self.id.parts().map(OsStr::as_bytes);
        [
            &[how.unwrap_or_default() as u8],
            id[0],
            b"\0",
            id[1],
            b"\0",
            point,
        ]
        .concat()
    }

    /// Parses the text after its first byte, `how`.
    pub(super) fn from_bytes(how: u8, text: &[u8]) -> Option<Self> {
        let how = *How::ALL.get(usize::from(how))?;
        let mut parts = text.splitn(3, |&byte| byte == 0).map(OsStr::from_bytes);
        Some(Self {
            how,
            id: MountId::new(parts.next()?, parts.next()?),
            point: parts.next()?.into(),
        })
    }

    /// Gives up what unmounting a mount that was made in this way does not need.
    ///
    /// # Errors
    /// Returns an error if that is kept.
    pub(super) fn restrict(how: u8) -> io::Result<()> {
        let Some(how) = How::ALL.get(usize::from(how)) else {
            return Ok(());
        };
        how.keep(privileges::TO_UNMOUNT)?;
        how.restrict_calls()
    }

    /// Unmounts, if it is in use only if `lazy`. `connected` is whether its session is
    /// alive. Returns whether the mount is gone.
    ///
    /// # Errors
    /// Returns an error if the system refuses.
    pub(super) fn unmount(&self, lazy: bool, connected: bool) -> io::Result<bool> {
        let table = MountTable::read()?;
        let Some(Entry { point, .. }) = table.find(&self.id) else {
            return Ok(true);
        };
        if !connected && !is_dead_mount(point) {
            // The mount of another process with the same numbers.
            return Ok(true);
        }
        if table.topmost(point).is_some_and(|top| top.id != self.id) {
            log::warn!("{}: another mount covers it", point.display());
            return Ok(false);
        }
        take_down(point, self.how, lazy)?;
        Ok(true)
    }
}

/// Unmounts the topmost mount at `point`, even if it is in use.
fn detach(point: &Path, how: How) -> io::Result<()> {
    take_down(point, how, true)
}

/// Unmounts the topmost mount at `point`; if it is in use, only if `lazy`.
fn take_down(point: &Path, how: How, lazy: bool) -> io::Result<()> {
    match how {
        How::Directly => {
            let flags = match lazy {
                true => UnmountFlags::DETACH,
                false => UnmountFlags::empty(),
            };
            Ok(rustix::mount::unmount(point, flags)?)
        }
        How::ByHelper => {
            let mut fusermount = Command::new(FUSERMOUNT);
            fusermount.arg("-u").args(lazy.then_some("-z"));
            let output = fusermount.arg("--").arg(point).output()?;
            match output.status.success() {
                true => Ok(()),
                false => Err(io::Error::other(
                    String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                )),
            }
        }
    }
}

/// Returns how this user's mounts are unmounted.
fn how() -> How {
    match rustix::process::geteuid().is_root() {
        true => How::Directly,
        false => How::ByHelper,
    }
}

/// Unmounts a mount of hpimount at `path`, unless it is in use.
///
/// # Errors
/// Returns [`Failure::MountPoint`] if hpimount has mounted nothing there, and
/// [`Failure::NotUnmounted`] if the system refuses.
pub fn unmount(path: &Path) -> Result<(), Failure> {
    let nothing =
        |why: &dyn std::fmt::Display| Failure::MountPoint(format!("{}: {why}", path.display()));
    let point = resolve(path).map_err(|error| nothing(&error))?;
    if ours_on(&point)?.is_none() {
        return Err(nothing(&"nothing is mounted there by hpimount"));
    }
    take_down(&point, how(), false).map_err(|error| {
        let is_busy = Errno::from_io_error(&error) == Some(Errno::BUSY);
        match error.kind() {
            io::ErrorKind::NotFound => no_helper(),
            _ if is_busy => Failure::NotUnmounted(format!(
                "{}: is in use; `fuser -vm` shows by which programs",
                point.display()
            )),
            _ => Failure::NotUnmounted(format!("{}: {error}", point.display())),
        }
    })
}

/// Checks that `path` can be a mount point, and makes it absolute. Removes a
/// mount of hpimount whose daemon has died.
///
/// # Errors
/// Returns [`Failure::MountPoint`] if it cannot.
pub(super) fn mount_point(path: &Path) -> Result<PathBuf, Failure> {
    let unusable = |why: &dyn std::fmt::Display| {
        Failure::MountPoint(format!("mount point {}: {why}", path.display()))
    };
    let point = resolve(path).map_err(|error| unusable(&error))?;
    while let Some(top) = ours_on(&point)? {
        let answer = answers_soon(&point, PATIENCE);
        // Its process or its guard may have unmounted it in the meantime.
        if ours_on(&point)? != Some(top.clone()) {
            continue;
        }
        match answer {
            Err(error) if is_dead(&error) => {}
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                return Err(unusable(
                    &"the mount there does not answer; `umount -l` removes it",
                ));
            }
            _ => return Err(unusable(&"an archive is mounted there already")),
        }
        log::warn!("{}: removing a dead mount", point.display());
        if let Err(error) = detach(&point, how())
            && ours_on(&point)? == Some(top)
        {
            return Err(unusable(&format!("cannot remove a dead mount: {error}")));
        }
    }
    match fs::metadata(&point) {
        Err(error) => Err(unusable(&error)),
        Ok(metadata) if !metadata.is_dir() => Err(unusable(&"is not a directory")),
        Ok(_) => Ok(point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_learns_which_mount_was_made() {
        for how in How::ALL {
            let made = Made {
                point: "/mnt/a b".into(),
                id: MountId::new("41".as_ref(), "0:51".as_ref()),
                how,
            };
            let bytes = made.to_bytes();
            assert_eq!(Made::from_bytes(bytes[0], &bytes[1..]), Some(made));
        }
        assert_eq!(Made::from_bytes(2, b"41\x000:51\0/mnt"), None);
        assert_eq!(Made::from_bytes(0, b"41\x000:51"), None);
    }

    #[test]
    fn a_comma_in_a_name_begins_no_option() {
        assert_eq!(escape_option("a,suid\\b"), "a\\,suid\\\\b");
    }
}
