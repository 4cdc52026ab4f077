//! From sources on disk to a mount.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;

use super::companion::{self, Companions, Shows};
use super::control::Control;
use super::enter::{file_name, folder_volume};
use super::error::{OpenCause, OpenError};
use super::folder::Folder;
use super::tree::{ROOT, TreeBuilder};
use super::volume::{Content, Volume};
use super::{Ino, Options, Vfs};
use crate::archive::{self, NodeId};
use crate::io::{self, FilePool, FileSource, ReadAt};
use crate::view::VIEW_FORMATS;

/// Largest file that is tried as a lone asset without the extension of one.
const MAX_LONE_ASSET: u64 = 64 << 20;

impl Vfs {
    /// Opens `sources` and lays their trees out: a single one is the root,
    /// several stand in directories that are named after their files.
    ///
    /// # Errors
    /// The first source that cannot be mounted, and why.
    pub fn open(sources: &[PathBuf], options: Options) -> Result<Arc<Self>, OpenError> {
        let pool = Arc::new(FilePool::default());
        let now = seconds(SystemTime::now());
        let mut builder = TreeBuilder::new(now, Companions::usual(0, options.meta));
        let mut volumes = Vec::with_capacity(sources.len());
        for path in sources {
            let path = std::path::absolute(path)
                .map_err(|error| OpenError::new(path, OpenCause::Unreadable(error)))?;
            let root = match sources {
                [_] => NodeId(ROOT),
                _ => builder
                    .source_dir(path.file_name().unwrap_or(path.as_os_str()))
                    .map_err(|error| OpenError::new(&path, error))?,
            };
            let place = Place {
                number: volumes.len() as u32,
                root,
            };
            let volume = open_source(&path, place, &pool, &mut builder, &options)
                .map_err(|cause| OpenError::new(&path, cause))?;
            volumes.push(volume);
        }
        for volume in &volumes {
            for warning in volume.warnings() {
                log::warn!("{}: {warning}", volume.name);
            }
        }
        let tree = builder.finish();
        let control = Control::new(&describe(&volumes, &options, tree.len()));
        let modified = tree.inode(ROOT).map_or(now, |root| root.modified);
        let vfs = Self::empty(options, pool);
        let planted = vfs.plant(tree, volumes);
        debug_assert_eq!(planted, Some(Ino::ROOT));
        vfs.plant_control(control, modified);
        Ok(vfs)
    }

    fn plant_control(&self, control: Control, modified: i64) {
        let Ok((tree, stats)) = control.tree(modified) else {
            return;
        };
        let volume = Volume {
            name: super::control::NAME.to_owned(),
            path: PathBuf::new(),
            format: "control",
            content: Content::Archive(Box::new(control)),
            nesting: 0,
        };
        if let Some(root) = self.plant(tree, vec![volume]) {
            let control = super::ControlInodes {
                root,
                stats: Ino(root.0 + stats),
            };
            // The mount is new: nobody has set it before.
            let _ = self.control.set(control);
        }
    }
}

/// Where in the tree a source goes.
#[derive(Clone, Copy)]
struct Place {
    /// Number of its volume.
    number: u32,
    /// The directory that stands for it.
    root: NodeId,
}

fn open_source(
    path: &Path,
    place: Place,
    pool: &Arc<FilePool>,
    builder: &mut TreeBuilder,
    options: &Options,
) -> Result<Volume, OpenCause> {
    let metadata = fs::metadata(path).map_err(OpenCause::Unreadable)?;
    let modified = metadata.modified().map_or(0, seconds);
    builder.begin(place.number, place.root, modified);
    if metadata.is_dir() {
        let folder = Folder::scan(path, pool, builder).map_err(OpenCause::Unreadable)?;
        return Ok(folder_volume(path, folder));
    }
    let source = FileSource::open(path, pool).map_err(OpenCause::Unreadable)?;
    let name = file_name(path);
    let format = match archive::detect(&source) {
        Err(io::Error::UnknownFormat) => {
            let shows = lone_asset(&name, &source)?;
            builder.show_others(shows.filter(|_| options.meta));
            let folder = Folder::of_one_file(path, pool, builder).map_err(OpenCause::Unreadable)?;
            return Ok(folder_volume(path, folder));
        }
        detected => detected?,
    };
    let archive_options = options.archive_options(&name);
    let archive = (format.open)(Arc::new(source), builder, archive_options)?;
    Ok(Volume {
        name,
        path: path.to_owned(),
        format: format.name,
        content: Content::Archive(archive),
        nesting: 0,
    })
}

/// What is to be shown of a file that is no archive: nothing more than its
/// extension says, or what its content turns out to be.
fn lone_asset(name: &str, source: &FileSource) -> Result<Option<Shows>, io::Error> {
    if companion::view_format(name).is_some() {
        return Ok(None);
    }
    if source.len() > MAX_LONE_ASSET {
        return Err(io::Error::UnknownFormat);
    }
    let bytes = io::read_vec(source, 0, source.len(), "file")?;
    let opens = |format: &crate::view::ViewFormat| (format.open)(&bytes).is_ok();
    let format = VIEW_FORMATS.iter().position(opens);
    let format = format.ok_or(io::Error::UnknownFormat)?;
    Ok(Some(Shows::Meta(format as u8)))
}

/// What `.hpimount/info.json` says.
fn describe(volumes: &[Volume], options: &Options, inodes: u32) -> serde_json::Value {
    let source = |volume: &Volume| {
        json!({
            "path": volume.path.to_string_lossy(),
            "format": volume.format,
            "archive": volume.archive().map(archive::Archive::info),
            "warnings": volume.warnings(),
        })
    };
    json!({
        "hpimount": env!("CARGO_PKG_VERSION"),
        "sources": Vec::from_iter(volumes.iter().map(source)),
        "inodes": inodes,
        "case_sensitive": options.case_sensitive,
        "cache_size": options.cache_size,
        "meta": options.meta,
        "force": options.force,
        "verify": options.verify,
    })
}

/// Whole seconds since 1970 UTC, negative before.
pub(super) fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs() as i64),
    }
}
