//! `X.d`: the contents of an archive that is a file of the mount.

use std::cell::Cell;
use std::sync::Arc;

use crate::content::{Member, OpenVolume};
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::place;
use crate::mount::tree::subtree::{Node, Rendered};
use crate::mount::tree::volume::{self, NewVolume, VolumeFile};
use crate::mount::{Attr, Error, Result, Vfs};
use crate::namespace::companion::Companions;
use crate::namespace::tree::{InodeKind, TreeBuilder};
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
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if it is not a file of a volume, and the
    /// errors of determining its size.
    fn at(vfs: &Vfs, node: &Node<'_>) -> Result<Self> {
        let (Some(volume), Some(InodeKind::File { file, .. })) = (node.volume(), node.kind())
        else {
            return Err(Error::NotFound);
        };
        Ok(Self {
            volume: volume.clone(),
            file,
            len: Attr::of_node(vfs, node)?.size,
        })
    }

    /// Returns a number that changes when the file changes.
    ///
    /// # Errors
    /// Returns an error if the file on disk is not available.
    fn stamp(&self) -> io::Result<u64> {
        Ok(self.volume.volume.version(self.file)?.stamp)
    }

    /// Returns the bytes of the file as the source of a volume.
    fn into_source(self, vfs: &Vfs) -> Arc<dyn ReadAt> {
        Arc::new(Member {
            reader: vfs.reader.clone(),
            volume: self.volume,
            file: self.file,
            len: self.len,
        })
    }
}

impl Vfs {
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
pub(super) fn build(vfs: &Vfs, node: &Node<'_>, attr: Attr) -> Result<Built> {
    let file = SourceFile::at(vfs, node)?;
    // The result depends on both files of a pair.
    let stamp = file.stamp().map_err(|error| vfs.failed(node, &error))?;
    let fingerprint = Cell::new(stamp);
    let partner = |name: &str| {
        let partner = partner(vfs, node, name)?;
        let stamp = partner.stamp().ok()?;
        fingerprint.set(fingerprint.get().rotate_left(1) ^ stamp);
        Some(partner.into_source(vfs))
    };
    let file = VolumeFile {
        name: node.tree().name(node.index),
        location: "",
        nesting: file.volume.nesting + 1,
        source: file.into_source(vfs),
        partner: &partner,
    };
    let new_builder = |companions| vfs.new_builder(attr.modified, companions);
    let opened = volume::open(file, &vfs.reader, &vfs.options, |_| true, new_builder);
    let mut problem = None;
    let (builder, volume) = match opened {
        Ok(opened) => (opened.builder, opened.volume),
        Err(error) if error.is_fault() => return Err(vfs.failed(node, &error)),
        Err(error) => {
            log::warn!("{}: {error}", place::path(vfs, node)?);
            let shown = error_text(new_builder(Companions::NONE), &error);
            problem = Some(error);
            shown.map_err(|error| vfs.failed(node, &error))?
        }
    };
    Ok(Built {
        builder,
        files: Files::New(volume),
        rendered: Rendered::No,
        problem,
        fingerprint: fingerprint.get(),
    })
}

/// Returns another file in the directory of a file.
fn partner(vfs: &Vfs, file: &Node<'_>, name: &str) -> Option<SourceFile> {
    let directory = file.tree().inode(file.index)?.parent;
    let (_, index) = file.tree().find(directory, name, true)?;
    SourceFile::at(vfs, &file.other(index)).ok()
}

/// Returns the contents of `X.d` for an archive that cannot be opened:
/// [`ERROR_FILE`].
fn error_text(mut builder: TreeBuilder, error: &io::Error) -> io::Result<(TreeBuilder, NewVolume)> {
    let text = format!("{error}\n");
    let entry = Entry {
        file: FileId(0),
        size: Some(text.len() as u64),
        modified: None,
        asset: None,
    };
    let root = builder.root();
    builder.file(root, Name::utf_8(ERROR_FILE), entry)?;
    Ok((builder, NewVolume::text("", "unknown", text.into_bytes())))
}
