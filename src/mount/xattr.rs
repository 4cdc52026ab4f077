//! Extended attributes (SEMANTICS, Extended attributes).

use super::subtree::{Node, RenderedFile};
use super::{Error, Ino, Result, Vfs};
use crate::namespace::companion;
use crate::namespace::numbers::Origin;
use hpimount_assets::formats::VIEW_FORMATS;

/// The original bytes of a name.
const RAW_NAME: &str = "user.hpimount.raw_name";

/// File name of the archive that a file comes from.
const SOURCE: &str = "user.hpimount.source";

/// File names, one per line, of the archives in which an entry hides another.
const SHADOWS: &str = "user.hpimount.shadows";

/// Why an asset of an archive cannot be shown. It is not listed, because
/// computing it requires reading the asset.
const ERROR: &str = "user.hip.error";

impl Vfs {
    /// Returns the names of the extended attributes of an inode.
    pub fn xattr_names(&self, ino: Ino) -> Vec<&'static str> {
        let mut names = Vec::new();
        let Ok(node) = self.attribute_node(ino) else {
            return names;
        };
        if node.tree().link(node.index).is_some() {
            // Linux never requests a `user.` attribute of a symbolic link, so a
            // listed name could not be read.
            return names;
        }
        if self.raw_name(&node).is_some() {
            names.push(RAW_NAME);
        }
        if !node.tree().hidden(node.index).is_empty() {
            names.push(SHADOWS);
        }
        if let Some(file) = node.file() {
            names.push(SOURCE);
            names.extend(file.volume.volume.xattr_names(file.file));
        } else if node.rendered().is_some() {
            names.push(SOURCE);
        }
        names
    }

    /// Returns the value of an extended attribute.
    ///
    /// # Errors
    /// Returns [`Error::NoAttribute`], [`Error::AttributeKind`] for names
    /// outside `user.`, or [`Error::NotFound`]; [`Error::Io`] if the archive
    /// must be read but cannot be.
    pub fn xattr(&self, ino: Ino, name: &str) -> Result<Vec<u8>> {
        if !name.starts_with("user.") {
            // "Not supported" instead of "no such attribute": `ls` then asks
            // once for the whole mount, and not for every file.
            return Err(Error::AttributeKind);
        }
        let node = self.attribute_node(ino)?;
        if name == RAW_NAME {
            return self.raw_name(&node).ok_or(Error::NoAttribute);
        }
        if name == SHADOWS {
            return shadows(&node).ok_or(Error::NoAttribute);
        }
        if name == SOURCE {
            return self.source_name(&node);
        }
        let file = node.file().ok_or(Error::NoAttribute)?;
        if name == ERROR {
            return self.error_of(&node);
        }
        match file.volume.volume.xattr(file.file, name) {
            Ok(Some(value)) => Ok(value.into_bytes()),
            Ok(None) => Err(Error::NoAttribute),
            Err(error) => Err(self.failed(&node, &error)),
        }
    }

    /// Returns why an asset cannot be shown, or [`Error::NoAttribute`] if it
    /// can.
    fn error_of(&self, node: &Node<'_>) -> Result<Vec<u8>> {
        let file = node.file().ok_or(Error::NoAttribute)?;
        let asset = file.volume.volume.asset(file.file);
        let name = node.tree().name(node.index);
        let format = asset.and_then(|asset| companion::view_format(name, Some(asset)));
        let format = format.and_then(|number| VIEW_FORMATS.get(usize::from(number)));
        let model = self.model(node, format.ok_or(Error::NoAttribute)?);
        match model {
            Ok(model) => {
                let error = model.view.failure().ok_or(Error::NoAttribute)?;
                Ok(error.to_string().into_bytes())
            }
            Err(error) if error.is_fault() => Err(self.failed(node, &error)),
            Err(error) => Ok(error.to_string().into_bytes()),
        }
    }

    /// Returns the original bytes of the name of an inode; those of the shown
    /// name for a companion.
    fn raw_name(&self, node: &Node<'_>) -> Option<Vec<u8>> {
        match node.origin() {
            None => Some(node.tree().raw_name(node.index).to_owned()),
            Some(Origin::Hidden(asset, shows)) => {
                let asset = self.node(asset).ok()?;
                let name = shows.name_beside(asset.tree().name(asset.index));
                Some(name.into_bytes())
            }
            Some(_) => None,
        }
    }

    /// Returns the name of the file that a file comes from: its archive, or the
    /// asset that it shows; for a report, the archive of the assets, the lowest
    /// of several.
    fn source_name(&self, node: &Node<'_>) -> Result<Vec<u8>> {
        if let Some(file) = node.file() {
            return Ok(file.volume.name.clone().into_bytes());
        }
        let (rendered, _) = node.rendered().ok_or(Error::NoAttribute)?;
        let asset = match rendered {
            RenderedFile::OfView(viewed, _) => self.node(viewed.asset)?,
            RenderedFile::OfAsset(file) => self.node(file.asset)?,
            RenderedFile::Report(_, directory) => {
                let directory = self.enter(self.node(directory)?)?;
                let volume = directory.subtree().volumes.first();
                let name = volume.map_or("", |volume| &volume.name);
                return Ok(name.to_owned().into_bytes());
            }
        };
        Ok(asset.tree().name(asset.index).to_owned().into_bytes())
    }

    /// Returns the inode with the attributes of `ino`: for an alias, the
    /// directory itself.
    fn attribute_node(&self, ino: Ino) -> Result<Node<'_>> {
        match self.node(ino) {
            Err(Error::NotFound) => {
                let (node, _) = self.directory(ino).map_err(|_| Error::NoAttribute)?;
                Ok(node)
            }
            node => node,
        }
    }
}

/// Returns the file names of the archives in which an entry hides another,
/// highest first.
fn shadows(node: &Node<'_>) -> Option<Vec<u8>> {
    let volumes = &node.subtree().volumes;
    let hidden = node.tree().hidden(node.index).iter();
    let hidden = hidden.filter_map(|&number| volumes.get(number as usize));
    let names: Vec<&str> = hidden.map(|volume| volume.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join("\n").into_bytes())
}
