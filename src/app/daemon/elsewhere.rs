//! Builds without FUSE: nothing is mounted.

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::app::{Failure, MountPlan};

/// A process in the background, of which there are none.
#[derive(Debug)]
pub struct Background(Infallible);

/// The outcome of going into the background.
#[derive(Debug)]
pub enum Forked {
    /// The process that waited for the one in the background.
    Waited(ExitCode),
    /// The process in the background.
    Background(Background),
}

/// Says what there is instead of a mount.
fn no_fuse() -> Failure {
    let text = "this program was built without it. `hpi list`, `hpi cat` and `hpi extract` do \
                without a mount";
    Failure::NoFuse(text.to_owned())
}

/// Does not go into the background.
///
/// # Errors
/// Always fails.
pub fn go_into_background() -> Result<Forked, Failure> {
    Err(no_fuse())
}

/// Mounts nothing.
///
/// # Errors
/// Always fails.
pub fn run(_plan: &MountPlan, _background: Option<Background>) -> Result<(), Failure> {
    Err(no_fuse())
}

/// Unmounts nothing.
///
/// # Errors
/// Always fails.
pub fn unmount(_mount_point: &Path) -> Result<(), Failure> {
    Err(no_fuse())
}

/// Closes nothing.
pub fn close_inherited(_arguments: impl Iterator<Item = OsString>) {}
