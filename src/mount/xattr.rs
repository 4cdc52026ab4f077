//! Extended attributes (SEMANTICS, Extended attributes).

use super::{Error, Ino, Result, Vfs};
use crate::namespace::table::Node;
use crate::namespace::tree::{self, Kind};

/// The bytes that the archive has for a name.
const RAW_NAME: &str = "user.hpimount.raw_name";

/// File name of the archive that a file comes from.
const SOURCE: &str = "user.hpimount.source";

/// File names, a line each, of the archives in which an entry hides another.
const SHADOWS: &str = "user.hpimount.shadows";

impl Vfs {
    /// Names of the extended attributes of an inode.
    pub fn xattr_names(&self, ino: Ino) -> Vec<&'static str> {
        let mut names = Vec::new();
        let Ok(node) = self.attribute_node(ino) else {
            return names;
        };
        if node.tree.link(node.index).is_some() {
            // Linux never asks for a `user.` attribute of a symbolic link, so
            // what is listed here could not be had.
            return names;
        }
        if node.index != tree::ROOT {
            names.push(RAW_NAME);
        }
        if !node.tree.hidden(node.index).is_empty() {
            names.push(SHADOWS);
        }
        if let (Some(volume), Some(Kind::File { file, .. })) = (self.volume(node), node.kind()) {
            names.push(SOURCE);
            let archive = volume.archive();
            names.extend(archive.map_or(Vec::new(), |archive| archive.xattr_names(file)));
        }
        names
    }

    /// Value of an extended attribute.
    ///
    /// # Errors
    /// [`Error::NoAttribute`], [`Error::AttributeKind`] for names outside
    /// `user.`, [`Error::NotFound`]; [`Error::Io`] where the archive must be
    /// read for it and cannot be.
    pub fn xattr(&self, ino: Ino, name: &str) -> Result<Vec<u8>> {
        if !name.starts_with("user.") {
            // A kind that is not kept, rather than an absent attribute: `ls`
            // then asks once for the whole mount, and not for every file.
            return Err(Error::AttributeKind);
        }
        let node = self.attribute_node(ino)?;
        if name == RAW_NAME && node.index != tree::ROOT {
            return Ok(node.tree.raw_name(node.index).to_owned());
        }
        if name == SHADOWS {
            return self.shadows(node).ok_or(Error::NoAttribute);
        }
        let (Some(volume), Some(Kind::File { file, .. })) = (self.volume(node), node.kind()) else {
            return Err(Error::NoAttribute);
        };
        if name == SOURCE {
            return Ok(volume.name.clone().into_bytes());
        }
        let archive = volume.archive().ok_or(Error::NoAttribute)?;
        match archive.xattr(file, name) {
            Ok(Some(value)) => Ok(value.into_bytes()),
            Ok(None) => Err(Error::NoAttribute),
            Err(error) => Err(self.failed(node, &error)),
        }
    }

    /// File names of the archives in which an entry hides another, highest
    /// first.
    fn shadows(&self, node: Node<'_>) -> Option<Vec<u8>> {
        let first = node.tree.first_volume;
        let hidden = node.tree.hidden(node.index).iter();
        let volumes = hidden.filter_map(|number| self.volumes.get((first + number) as usize));
        let names: Vec<&str> = volumes.map(|volume| volume.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join("\n").into_bytes())
    }

    /// The inode whose attributes an inode has.
    fn attribute_node(&self, ino: Ino) -> Result<Node<'_>> {
        self.forest
            .get(ino)
            .or_else(|| Some(self.directory(ino).ok()?.node))
            .ok_or(Error::NoAttribute)
    }
}
