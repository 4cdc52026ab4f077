//! A process that unmounts when the process of a mount has died without doing so: because
//! it was killed, or by a failed allocation. Otherwise every access to the mount point
//! would fail.
//!
//! It is forked before anything is read, waits for the end of a pipe whose other end only
//! the process of the mount has, and ends with that process.

use std::env;
use std::ffi::CStr;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsRawFd;

use nix::sys::signal::SigSet;
use nix::unistd::ForkResult;

use super::background::{fork_alone, null};
use super::descriptors;
use super::mount::Made;

/// The guard, as the process of the mount sees it.
#[derive(Debug)]
pub(super) struct Guard(PipeWriter);

impl Guard {
    /// Starts the process, which restricts itself if `is_sandboxed`. No thread may have
    /// been started before.
    ///
    /// # Errors
    /// Returns an error if the system refuses.
    pub(super) fn start(is_sandboxed: bool) -> io::Result<Self> {
        let (end, guard) = pipe()?;
        match fork_alone()? {
            ForkResult::Parent { .. } => Ok(Self(guard)),
            ForkResult::Child => {
                // Otherwise the pipe would never end.
                drop(guard);
                // Nobody sees an error.
                let _ = wait(end, is_sandboxed);
                std::process::exit(0);
            }
        }
    }

    /// Tells the process what to unmount.
    ///
    /// # Errors
    /// Returns an error if the process is gone.
    pub(super) fn protect(&mut self, mount: &Made) -> io::Result<()> {
        self.0.write_all(&mount.to_bytes())
    }
}

/// Waits for the end of the other process, and unmounts what that has mounted.
fn wait(mut end: PipeReader, is_sandboxed: bool) -> io::Result<()> {
    detach(c"hpimount-guard", &end)?;
    let mut how = [0];
    if end.read(&mut how)? == 0 {
        return Ok(());
    }
    let mut rest = Vec::new();
    let restricted = match is_sandboxed {
        true => Made::restrict(how[0]),
        false => Ok(()),
    };
    end.read_to_end(&mut rest)?;
    restricted?;
    if let Some(mount) = Made::from_bytes(how[0], &rest) {
        mount.unmount(true, false)?;
    }
    Ok(())
}

/// Gives up everything that this process has in common with the other one but the end of
/// a pipe, and takes another name.
pub(super) fn detach(name: &CStr, end: &PipeReader) -> io::Result<()> {
    let _ = rustix::thread::set_name(name);
    // It ends by itself. What executes other programs unblocks them.
    SigSet::all().thread_block()?;
    rustix::process::setsid()?;
    env::set_current_dir("/")?;
    let null = null()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    // Closed here: no owner of a descriptor may remain that the next call closes.
    drop(null);
    descriptors::close_all_but([end.as_raw_fd() as u32]);
    Ok(())
}
