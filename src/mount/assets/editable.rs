//! Test of whether a file of a converted tree can be edited. The answer, with the reason against
//! it, is what an unchanged copy of the file gets.

use std::collections::HashMap;

use bytes::Bytes;

use super::Assets;
use super::context::Context;
use crate::content::{Caller, MAX_ASSET};
use crate::memory::budget::Charge;
use crate::mount::tree::MountTree;
use crate::mount::tree::subtree::{Node, RenderedFile};
use crate::mount::{Access, Error, format_of};
use crate::namespace::companion::Shows;
use crate::namespace::numbers::Origin;
use crate::namespace::tree::InodeKind;
use hpimount_assets::view::import::{AllEdits, Edit, EditedFile};
use hpimount_assets::view::report::Editing;
use hpimount_assets::view::{AssetContext, AssetRef, ViewFile, ViewFormat};
use hpimount_containers::io;

/// Advice for files of a view that the converted tree has too.
pub(crate) const EDIT_CONVERTED: &str = "edit the file in `converted`";

/// Returns whether the converted tree has files of an asset.
pub(crate) fn is_converted(asset: &Node<'_>) -> bool {
    let known = asset
        .file()
        .and_then(|file| file.volume.volume.asset(file.file));
    let converted = format_of(asset).map(|format| format.converted.of(known));
    converted.is_some_and(|converted| converted.is_something())
}

/// Returns whether a file is in the `X.meta` beside an asset, and not in a converted tree.
fn is_beside_asset(mount: &MountTree, shown: &Node<'_>) -> bool {
    match shown.subtree().range.origin {
        Origin::Hidden(_, Shows::Meta(_)) => true,
        Origin::Directory(directory) => mount.node(directory).is_ok_and(|directory| {
            let shows = match directory.kind() {
                Some(InodeKind::Companion { shows, .. }) => Some(shows),
                _ => None,
            };
            matches!(shows, Some(Shows::Meta(_)))
        }),
        _ => false,
    }
}

/// Returns what can be edited in a generated file, or else why nothing can.
///
/// # Errors
/// Returns an error if the asset cannot be read, or if there is not enough memory.
pub(crate) fn editable(mount: &MountTree, shown: &Node<'_>) -> io::Result<String> {
    let assets = Assets::of(mount);
    let Some((rendered, _)) = shown.rendered() else {
        return Err(io::Error::UnknownFormat);
    };
    let (asset, format, number): (_, &'static ViewFormat, _) = match rendered {
        RenderedFile::Report(report, _) => {
            return Ok(match report.edit {
                Some(Editing { cells, .. }) => format!("yes: {cells}"),
                None => "no: only shows other files".to_owned(),
            });
        }
        RenderedFile::OfView(viewed, number) => {
            (viewed.asset, viewed.format, Some(number.0 as usize))
        }
        RenderedFile::OfAsset(file) => {
            let asset = mount.node(file.asset).map_err(unexpected)?;
            let number = assets.number_in_view(&asset, file)?;
            (file.asset, file.format, number)
        }
    };
    let Some(number) = number else {
        return Ok("no: the asset does not have it".to_owned());
    };
    let node = mount.node(asset).map_err(unexpected)?;
    let unchanged = HashMap::new();
    let context = Context::with_changes(assets, &node, &unchanged);
    let model = assets.model_in(&context, format, Caller::Request)?;
    let part = context.part(format, number)?;
    let left_out = part.as_ref().and_then(|part| format.left_out(&part.path()));
    let left_out = left_out.or_else(|| {
        let is_elsewhere = is_beside_asset(mount, shown) && is_converted(&node);
        is_elsewhere.then_some(EDIT_CONVERTED)
    });
    let editable = part.and_then(|part| Some((format.editable(&part.path())?, part)));
    let Some((editable, part)) = editable.filter(|_| left_out.is_none()) else {
        let reason = left_out.unwrap_or("is made from the asset, and not the other way");
        return Ok(format!("no: {reason}"));
    };
    let yes = format!("yes: {}", editable.what);
    if model.view.has_values(number, &context) {
        return Ok(yes);
    }
    let size = assets.rendered_size(shown)?;
    if size > MAX_ASSET {
        return Ok(format!("no: has more than {MAX_ASSET} bytes"));
    }
    let _memory = memory_of_part(mount, format, &part, [assets.size_of(&node)?, size])?;
    let file = assets.bytes(shown, 0..size, Access::Unknown);
    let file = file.map_err(unexpected)??;
    let Some(bytes) = AssetContext::read(&context, AssetRef(asset.0)) else {
        return Err(context.fault().unwrap_or(io::Error::Changed));
    };
    let refused = match (format.import_all, format.import) {
        (Some(all), _) => {
            let content = Some(Bytes::copy_from_slice(&file));
            let path = part.path().into_owned();
            let imported = (all.import)(&AllEdits {
                asset: &bytes,
                context: &context,
                files: &[EditedFile { path, content }],
            });
            let refused = imported.err().unwrap_or_default();
            refused.into_iter().next().map(|refused| refused.reason)
        }
        (None, Some(import)) => {
            let edit = Edit {
                asset: &bytes,
                original: &bytes,
                context: &context,
                part: &part,
                file: &file,
            };
            let refused = import(&edit).err();
            refused.or_else(|| format.refuses.and_then(|refuses| refuses(&edit)))
        }
        (None, None) => None,
    };
    if let Some(fault) = context.fault() {
        return Err(fault);
    }
    Ok(match refused {
        None => yes,
        Some(reason) => format!("no: {reason}"),
    })
}

/// Memory of an encoding as a multiple of the bytes of the asset and of the edited file.
/// The pixels of pictures and the scenes of models are accounted for where they are read.
const MEMORY_OF_EDIT: u64 = 8;

/// Memory of encoding a picture as a multiple of the bytes of the asset: the asset without
/// earlier edits, with them and with this one, and the result, which is read to compare it.
const MEMORY_OF_PICTURE: u64 = 4;

/// Returns the memory for the encoding of an asset and edited files that have `length`
/// bytes together.
pub(crate) fn memory_of_edit(mount: &MountTree, length: u64) -> io::Result<Charge> {
    charge(mount, length.saturating_mul(MEMORY_OF_EDIT))
}

/// Returns the memory for the encoding of a file of an asset's view, by the lengths of the
/// asset and of the file.
pub(crate) fn memory_of_part(
    mount: &MountTree,
    format: &ViewFormat,
    part: &ViewFile,
    [asset, file]: [u64; 2],
) -> io::Result<Charge> {
    let is_picture = format.import_all.is_none() && part.name.ends_with(".png");
    match is_picture {
        // Its pixels are accounted for where they are read.
        true => charge(
            mount,
            asset.saturating_mul(MEMORY_OF_PICTURE).saturating_add(file),
        ),
        false => memory_of_edit(mount, asset.saturating_add(file)),
    }
}

fn charge(mount: &MountTree, bytes: u64) -> io::Result<Charge> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    mount.reader.budget().charge("an edited asset", bytes)
}

/// Converts an error that only a source that changes can cause.
pub(crate) fn unexpected(_: Error) -> io::Error {
    io::Error::Changed
}
