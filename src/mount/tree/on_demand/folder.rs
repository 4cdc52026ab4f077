//! Directories that their volume lists on demand: folders on disk and on
//! servers.

use crate::content::{Images, OpenVolume};
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::place;
use crate::mount::tree::subtree::{Node, Rendered};
use crate::mount::tree::volume::{NewVolume, probe};
use crate::mount::{Attr, Error, Result, Vfs};
use crate::namespace::companion::Companions;
use hpimount_containers::volume::{FileId, LiveFolder};

/// Builds the tree of the directory at `node`, which its volume, a folder, knows as
/// `directory`.
///
/// # Errors
/// Returns an error if it cannot be listed; the log has the cause.
pub(super) fn build(
    vfs: &Vfs,
    node: &Node<'_>,
    (volume, folder): (&OpenVolume, &dyn LiveFolder),
    directory: FileId,
    attr: Attr,
) -> Result<Built> {
    let companions = Companions {
        // Only the root of a source has one.
        converted: false,
        ..vfs
            .options
            .companions_in(volume.nesting, volume.is_plain_folder)
    };
    let mut builder = vfs.new_builder(attr.modified, companions);
    let listed = folder.list(directory, &mut builder);
    let listed = listed.map_err(|error| {
        let path = place::path(vfs, node).unwrap_or_default();
        let stats = &vfs.reader.stats;
        stats.failed(format!("{}/{path}: {error}", volume.location));
        Error::from(&error)
    })?;
    probe(&mut builder, &*listed, false);
    Ok(Built {
        builder,
        fingerprint: listed.live().map_or(0, LiveFolder::fingerprint),
        files: Files::New(NewVolume {
            name: node.tree().name(node.index).to_owned(),
            location: volume.location.clone(),
            format: volume.format,
            is_plain_folder: volume.is_plain_folder,
            nesting: volume.nesting,
            stored: 0,
            images: Images::default(),
            volume: listed,
            plan: None,
        }),
        rendered: Rendered::No,
        problem: None,
    })
}
