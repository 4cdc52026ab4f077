//! Companions that can be looked up but are not listed: `X.meta` beside an
//! asset, and `converted` in the root of an archive.

use crate::mount::tree::subtree::Node;
use crate::mount::{Error, Meta, Result, Vfs};
use crate::namespace::companion::{self, CONVERTED, META_SUFFIX, Shows};
use crate::namespace::numbers::Origin;

/// The hidden companions in a directory.
pub(crate) struct HiddenCompanions<'v, 'n> {
    vfs: &'v Vfs,
    directory: &'n Node<'v>,
}

/// A companion that was found.
pub(crate) struct FoundCompanion<'v> {
    /// Its root.
    pub(crate) root: Node<'v>,
    /// The name under which it would be listed.
    pub(crate) name: String,
}

impl<'v, 'n> HiddenCompanions<'v, 'n> {
    /// Returns those in a directory; a directory of generated files has no
    /// companions.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`] if there can be none.
    pub(crate) fn in_directory(vfs: &'v Vfs, directory: &'n Node<'v>) -> Result<Self> {
        if vfs.mount.options.meta == Meta::Off || directory.subtree().is_rendered() {
            return Err(Error::NotFound);
        }
        Ok(Self { vfs, directory })
    }

    /// Finds a companion by its name, and builds its subtree.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], or the errors of building it.
    pub(crate) fn find(&self, name: &str) -> Result<FoundCompanion<'v>> {
        let options = &self.vfs.mount.options;
        if options.is_same_name(name, CONVERTED) && self.vfs.mount.is_container_root(self.directory)
        {
            let origin = Origin::Hidden(self.directory.ino(), Shows::Converted);
            return enter(self.vfs, origin, CONVERTED.to_owned());
        }
        let stem_length = name.len().checked_sub(META_SUFFIX.len());
        let (stem, suffix) = stem_length
            .and_then(|length| name.split_at_checked(length))
            .ok_or(Error::NotFound)?;
        match options.is_same_name(suffix, META_SUFFIX) {
            true => self.meta(stem),
            false => Err(Error::NotFound),
        }
    }

    /// Finds the `X.meta` of the asset with this name.
    fn meta(&self, name: &str) -> Result<FoundCompanion<'v>> {
        let tree = self.directory.tree();
        let found = tree.find(self.directory.index, name, self.vfs.mount.folds());
        let (_, index) = found.ok_or(Error::NotFound)?;
        meta_of(self.vfs, &self.directory.other(index))
    }
}

/// Finds the `X.meta` of an asset.
///
/// # Errors
/// Returns [`Error::NotFound`] if the file is no asset, or the errors of building it.
pub(crate) fn meta_of<'v>(vfs: &'v Vfs, asset: &Node<'v>) -> Result<FoundCompanion<'v>> {
    let name = asset.tree().name(asset.index);
    let file = asset.file().ok_or(Error::NotFound)?;
    let asset_type = file.volume.volume.asset(file.file);
    let format = companion::view_format(name, asset_type).ok_or(Error::NotFound)?;
    let shows = Shows::Meta(format);
    let origin = Origin::Hidden(asset.ino(), shows);
    enter(vfs, origin, shows.name_beside(name))
}

fn enter(vfs: &Vfs, origin: Origin, name: String) -> Result<FoundCompanion<'_>> {
    let root = Node::entered_root(vfs.mount.subtree(origin)?);
    Ok(FoundCompanion { root, name })
}
