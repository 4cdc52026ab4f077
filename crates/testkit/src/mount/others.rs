//! Operations of other programs on a mount: use, unmount, and mount above and below it.

use std::ffi::CStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::mount::{MountFlags, UnmountFlags};

use super::{eventually, run};

/// Programs that unmount.
pub const TOOLS: [&[&str]; 3] = [&["umount"], &["umount", "-l"], &["fusermount3", "-u"]];

/// Unmounts with one of [`TOOLS`], which must succeed. Retries a busy mount, like
/// [`unmount`].
pub fn unmount_by(tool: &[&str], point: &Path) {
    eventually(&format!("{tool:?} unmounts"), || {
        let ran = run(Command::new(tool[0]).args(&tool[1..]).arg(point));
        let busy = ran.stderr.contains("busy");
        assert!(busy || ran.code == Some(0), "{tool:?}: {ran:?}");
        ran.code == Some(0)
    });
}

/// Unmounts with the system call. Unlike umount(8), it sends no requests to the
/// mount first.
///
/// Retries a busy mount: children of other tests briefly inherit the open files until
/// they execute their programs.
pub fn unmount(point: &Path) {
    eventually("it is unmounted", || {
        rustix::mount::unmount(point, UnmountFlags::empty()).is_ok()
    });
}

/// Makes the kernel forget all unused names and inodes of a mount.
///
/// Writing to `/proc/sys/vm/drop_caches` would affect the whole machine, where other
/// tests count requests for names that the kernel should remember.
pub fn forget_names(point: &Path) {
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount(point, flags, "").unwrap();
}

/// A program with its current directory in a mount, killed when dropped.
pub struct Guest(Child);

impl Guest {
    pub fn inside(directory: &Path) -> Self {
        let mut command = Command::new("cat");
        command
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A file system with a file in it; unmounted when dropped.
pub struct Tmpfs(PathBuf);

impl Tmpfs {
    pub fn on(point: &Path) -> Self {
        Self::with(point, c"")
    }

    /// Mounts it with options such as `size=`.
    pub fn with(point: &Path, options: &CStr) -> Self {
        let flags = MountFlags::empty();
        rustix::mount::mount("tmpfs", point, "tmpfs", flags, options).unwrap();
        File::create(point.join("mark")).unwrap();
        Self(point.to_owned())
    }

    pub fn assert_there(&self) {
        assert!(self.0.join("mark").exists());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // The fixture may have unmounted it.
        let _ = rustix::mount::unmount(&self.0, UnmountFlags::DETACH);
    }
}
