//! From sources on disk to a mount.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;

use super::control::Control;
use super::error::{OpenCause, OpenError};
use super::tree::TreeBuilder;
use super::{Options, Vfs};
use crate::archive::{self, Archive, NodeId, Sink};
use crate::io::FileSource;

/// A source that was opened: a part of the tree, and what reads its files.
pub(super) struct Volume {
    /// Name of the archive's file.
    pub(super) name: String,
    path: PathBuf,
    format: &'static str,
    /// What reads its files.
    pub(super) archive: Box<dyn Archive>,
}

impl Vfs {
    /// Opens `sources` and lays their trees out: a single one is the root,
    /// several stand in directories that are named after their files.
    ///
    /// # Errors
    /// The first source that cannot be mounted, and why.
    pub fn open(sources: &[PathBuf], options: Options) -> Result<Self, OpenError> {
        let mut builder = TreeBuilder::new(seconds(SystemTime::now()));
        let mut volumes = Vec::with_capacity(sources.len());
        for path in sources {
            let number = volumes.len() as u32;
            let alone = sources.len() == 1;
            volumes.push(open_volume(path, number, alone, &mut builder, &options)?);
        }
        for volume in &volumes {
            for warning in volume.archive.warnings() {
                log::warn!("{}: {warning}", volume.name);
            }
        }
        let tree = builder.finish();
        let info = describe(&volumes, &options, tree.len());
        Ok(Self::new(tree, volumes, Control::new(&info), options))
    }
}

fn open_volume(
    path: &Path,
    number: u32,
    alone: bool,
    builder: &mut TreeBuilder,
    options: &Options,
) -> Result<Volume, OpenError> {
    let unreadable = |cause| OpenError::new(path, OpenCause::Unreadable(cause));
    // Absolute, because the daemon does not stay in the current directory.
    let path = &std::path::absolute(path).map_err(unreadable)?;
    let source = FileSource::open(path).map_err(unreadable)?;
    let format = archive::detect(&source).map_err(|error| OpenError::new(path, error))?;
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned();
    let modified = seconds(source.modified());
    let root = if alone {
        NodeId(super::tree::ROOT)
    } else {
        builder
            .host_dir(&name)
            .map_err(|error| OpenError::new(path, error))?
    };
    builder.begin(number, root, modified);
    let archive_options = archive::Options {
        name: name.clone(),
        force: options.force,
        verify: options.verify,
    };
    let archive = (format.open)(Arc::new(source), builder as &mut dyn Sink, archive_options)
        .map_err(|error| OpenError::new(path, error))?;
    Ok(Volume {
        name,
        path: path.clone(),
        format: format.name,
        archive,
    })
}

/// What `.hpimount/info.json` says.
fn describe(volumes: &[Volume], options: &Options, inodes: u32) -> serde_json::Value {
    let source = |volume: &Volume| {
        json!({
            "path": volume.path.to_string_lossy(),
            "format": volume.format,
            "archive": volume.archive.info(),
            "warnings": volume.archive.warnings(),
        })
    };
    json!({
        "hpimount": env!("CARGO_PKG_VERSION"),
        "sources": Vec::from_iter(volumes.iter().map(source)),
        "inodes": inodes,
        "case_sensitive": options.case_sensitive,
        "cache_size": options.cache_size,
        "force": options.force,
        "verify": options.verify,
    })
}

/// Whole seconds since 1970 UTC, negative before.
fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs() as i64),
    }
}
