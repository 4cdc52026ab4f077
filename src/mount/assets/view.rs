//! `X.meta`: the files that the view of an asset generates.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Assets;
use crate::formats::VIEW_FORMATS;
use crate::mount::tree::MountTree;
use crate::mount::tree::grafts::{Built, Files};
use crate::mount::tree::subtree::{Node, Rendered, Viewed};
use crate::mount::{Error, Result};
use crate::namespace::companion::Companions;
use crate::namespace::tree::{Label, NewInode, TreeBuilder};
use hpimount_assets::view::View;
use hpimount_containers::io;
use hpimount_containers::volume::{FileId, Name, NodeId, Sink};

/// Builds the tree of the files that show an asset by the format with this
/// number.
///
/// # Errors
/// Returns an error if the asset cannot be read, or if there is not enough
/// memory. An asset that cannot be parsed has a view that says so.
pub(crate) fn build(
    mount: &MountTree,
    asset: &Node<'_>,
    modified: i64,
    format: u8,
) -> Result<Built> {
    let format = VIEW_FORMATS.get(format as usize).ok_or(Error::NotFound)?;
    let failed = |error| mount.failed(asset, &error);
    let model = Assets::of(mount).model(asset, format).map_err(failed)?;
    let mut builder = mount.new_builder(modified, Companions::NONE);
    add_files(&mut builder, &*model.view).map_err(failed)?;
    let file = asset.file();
    let asset_type = file.and_then(|file| file.volume.volume.asset(file.file));
    let converted = (0..).zip(format.converted.of(asset_type).files);
    let converted = converted.filter_map(|(position, file)| {
        let number = file.find(&*model.view)?;
        Some((position, FileId(number as u32)))
    });
    Ok(Built {
        builder,
        files: Files::Rendered,
        rendered: Rendered::View(Viewed {
            asset: asset.ino(),
            format,
            version: model.version,
            converted: converted.collect(),
        }),
        problem: None,
        fingerprint: model.version.stamp,
    })
}

/// Adds the files of a view, with their directories.
fn add_files(builder: &mut TreeBuilder, view: &dyn View) -> io::Result<()> {
    let root = builder.root();
    let mut folders: HashMap<Cow<'_, str>, NodeId> = HashMap::new();
    for (number, file) in view.files().into_iter().enumerate() {
        let parent = match file.folder {
            None => root,
            Some(name) => match folders.get(&name) {
                Some(&folder) => folder,
                None => {
                    let folder = builder.dir(root, Name::utf_8(&name), None)?;
                    folders.insert(name, folder);
                    folder
                }
            },
        };
        let inode = NewInode {
            kind: builder.file_kind(FileId(number as u32)),
            size: view.size(number),
            modified: None,
        };
        builder.add(parent, &Label::new(Name::utf_8(&file.name)), inode)?;
    }
    Ok(())
}
