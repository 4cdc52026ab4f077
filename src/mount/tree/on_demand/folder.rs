//! Directories that their volume lists on demand: folders on disk and on
//! servers.

use crate::content::OpenVolume;
use crate::mount::tree::MountTree;
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::place;
use crate::mount::tree::subtree::{Node, Rendered};
use crate::mount::tree::volume::probe;
use crate::mount::{Error, Result};
use crate::namespace::companion::Companions;
use hpimount_containers::volume::{FileId, LiveFolder};

/// Builds the tree of the directory at `node`, which its volume, a folder, knows as
/// `directory`.
///
/// # Errors
/// Returns an error if it cannot be listed; the log has the cause.
pub(super) fn build(
    mount: &MountTree,
    node: &Node<'_>,
    (volume, folder): (&OpenVolume, &dyn LiveFolder),
    directory: FileId,
    modified: i64,
) -> Result<Built> {
    let companions = Companions {
        // Only the root of a source has one.
        converted: false,
        ..mount
            .options
            .companions_in(volume.nesting, volume.is_plain_folder)
    };
    let mut builder = mount.new_builder(modified, companions);
    let listed = folder.list(directory, &mut builder);
    let listed = listed.map_err(|error| {
        let path = place::path(mount, node).unwrap_or_default();
        let stats = &mount.reader.stats;
        stats.failed(format!("{}/{path}: {error}", volume.location));
        Error::from(&error)
    })?;
    probe(&mut builder, &*listed, false);
    Ok(Built {
        builder,
        fingerprint: listed.live().map_or(0, LiveFolder::fingerprint),
        files: Files::New(Box::new(OpenVolume {
            location: volume.location.clone(),
            is_plain_folder: volume.is_plain_folder,
            nesting: volume.nesting,
            ..OpenVolume::new(node.tree().name(node.index), volume.format, listed)
        })),
        rendered: Rendered::No,
        problem: None,
    })
}
