//! Directories that an archive lists on demand: links to its assets.

use std::sync::Arc;

use crate::content::OpenVolume;
use crate::mount::Result;
use crate::mount::tree::MountTree;
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::subtree::{Node, Rendered};
use crate::namespace::companion::Companions;
use hpimount_containers::volume::FileId;

/// Builds the tree of the directory at `node`, which its archive `volume` knows as
/// `directory`.
///
/// # Errors
/// Returns an error if there is not enough memory.
pub(super) fn build(
    mount: &MountTree,
    node: &Node<'_>,
    volume: &Arc<OpenVolume>,
    directory: FileId,
    modified: i64,
) -> Result<Built> {
    let options = &mount.options;
    let companions = Companions {
        // Only the root of a source has one.
        converted: false,
        ..options.companions_in(volume.nesting, volume.is_plain_folder)
    };
    let mut builder = mount.new_builder(modified, companions);
    let listed = volume.volume.list(directory, &mut builder);
    listed.map_err(|error| mount.failed(node, &error))?;
    Ok(Built {
        builder,
        files: Files::Around {
            volume: volume.clone(),
            subtree: node.held(),
        },
        rendered: Rendered::No,
        problem: None,
        fingerprint: 0,
    })
}
