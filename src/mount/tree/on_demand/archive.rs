//! `X.d`: the contents of an archive that is a file of the mount.

use std::cell::Cell;
use std::sync::Arc;

use crate::content::{Member, OpenVolume};
use crate::mount::tree::MountTree;
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::place;
use crate::mount::tree::subtree::{Node, Rendered};
use crate::mount::tree::volume::{self, VolumeFile};
use crate::mount::{Error, Result};
use crate::namespace::companion::Companions;
use crate::namespace::tree::TreeBuilder;
use hpimount_assets::view::ERROR_FILE;
use hpimount_containers::io::{self, ReadAt};
use hpimount_containers::volume::{Entry, FileId, Name, Sink};

/// A file of a volume of the mount, which can be the source of another volume.
struct SourceFile {
    volume: Arc<OpenVolume>,
    file: FileId,
    len: u64,
}

impl SourceFile {
    /// Returns the file at `node`.
    fn at(mount: &MountTree, node: &Node<'_>) -> Result<Self> {
        let (Some(file), Some(volume)) = (node.file(), node.volume()) else {
            return Err(Error::NotFound);
        };
        let len = node.size().map_or_else(|| mount.decoded_size(file), Ok);
        Ok(Self {
            volume: volume.clone(),
            file: file.file,
            len: len.map_err(|error| mount.failed(node, &error))?,
        })
    }

    /// Returns a number that changes when the file changes.
    fn stamp(&self) -> io::Result<u64> {
        Ok(self.volume.volume.version(self.file)?.stamp)
    }

    /// Returns the bytes of the file as the source of a volume.
    fn into_source(self, mount: &MountTree) -> Arc<dyn ReadAt> {
        Arc::new(Member {
            reader: mount.reader.clone(),
            volume: self.volume,
            file: self.file,
            len: self.len,
        })
    }
}

impl MountTree {
    /// Returns the bytes of the file at a node as a source.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`SourceFile::at`].
    pub(in crate::mount) fn source_at(&self, node: &Node<'_>) -> Result<Arc<dyn ReadAt>> {
        Ok(SourceFile::at(self, node)?.into_source(self))
    }
}

/// Builds the tree of the archive at `node`.
///
/// An archive that cannot be opened has an [`ERROR_FILE`] instead of its contents,
/// unless the error is a fault, which may be temporary.
///
/// # Errors
/// Returns the fault that prevents the archive from being read, or an error if
/// there is not enough memory.
pub(super) fn build(mount: &MountTree, node: &Node<'_>, modified: i64) -> Result<Built> {
    let file = SourceFile::at(mount, node)?;
    // The result depends on both files of a pair.
    let stamp = file.stamp().map_err(|error| mount.failed(node, &error))?;
    let fingerprint = Cell::new(stamp);
    let partner = |name: &str| {
        let partner = partner(mount, node, name)?;
        let stamp = partner.stamp().ok()?;
        fingerprint.set(fingerprint.get().rotate_left(1) ^ stamp);
        Some(partner.into_source(mount))
    };
    let file = VolumeFile {
        name: node.tree().name(node.index),
        location: "",
        nesting: file.volume.nesting + 1,
        source: file.into_source(mount),
        partner: &partner,
    };
    let new_builder = |companions| mount.new_builder(modified, companions);
    let opened = volume::open(file, &mount.reader, &mount.options, |_| true, new_builder);
    let mut problem = None;
    let (builder, volume) = match opened {
        Ok(opened) => (opened.builder, opened.volume),
        Err(error) if error.is_fault() => return Err(mount.failed(node, &error)),
        Err(error) => {
            log::warn!("{}: {error}", place::path(mount, node)?);
            let shown = error_text(new_builder(Companions::NONE), &error);
            problem = Some(error);
            shown.map_err(|error| mount.failed(node, &error))?
        }
    };
    Ok(Built {
        builder,
        files: Files::New(Box::new(volume)),
        rendered: Rendered::No,
        problem,
        fingerprint: fingerprint.get(),
    })
}

/// Returns another file in the directory of a file.
fn partner(mount: &MountTree, file: &Node<'_>, name: &str) -> Option<SourceFile> {
    let directory = file.tree().inode(file.index)?.parent;
    let (_, index) = file.tree().find(directory, name, true)?;
    SourceFile::at(mount, &file.other(index)).ok()
}

/// Returns the contents of `X.d` for an archive that cannot be opened:
/// [`ERROR_FILE`].
fn error_text(
    mut builder: TreeBuilder,
    error: &io::Error,
) -> io::Result<(TreeBuilder, OpenVolume)> {
    let text = format!("{error}\n");
    let entry = Entry {
        file: FileId(0),
        size: Some(text.len() as u64),
        modified: None,
        asset: None,
    };
    let root = builder.root();
    builder.file(root, Name::utf_8(ERROR_FILE), entry)?;
    Ok((builder, volume::text("", "unknown", text.into_bytes())))
}
