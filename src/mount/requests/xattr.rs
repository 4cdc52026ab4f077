//! Extended attributes (SEMANTICS, Extended attributes).

use crate::mount::assets::editable::editable;
use crate::mount::assets::picture::format_of;
use crate::mount::tree::place;
use crate::mount::tree::subtree::{Node, RenderedFile};
use crate::mount::{Error, FileKind, Ino, Result, Vfs};
use crate::namespace::numbers::Origin;
use crate::namespace::tree::InodeKind;
use hpimount_assets::model::{png, reduced};
use hpimount_containers::io::Bounded;

/// The original bytes of a name.
const RAW_NAME: &str = "user.hpimount.raw_name";

/// File name of the archive that a file comes from.
const SOURCE: &str = "user.hpimount.source";

/// File names, one per line, of the archives whose entry of the same name is
/// hidden by this one.
const SHADOWS: &str = "user.hpimount.shadows";

/// Path in a folder of changes of the contents of a file.
const APPLIED: &str = "user.hpimount.applied";

/// Attribute with the reason why an asset of an archive cannot be shown. It is not listed, because
/// computing it requires reading the asset.
const ERROR: &str = "user.hip.error";

/// Attribute with the parts of a generated file that can be edited, or the reason why there are
/// none: `yes: values` or `no: REASON`. It is not listed, because the asset must be read.
const EDITABLE: &str = "user.hpimount.editable";

/// A PNG file with the picture that represents an asset. It is not listed,
/// because it must be rendered.
pub(crate) const PREVIEW: &str = "user.hpimount.preview";

/// Maximum length of a preview in bytes, which is that of any value on Linux.
pub(crate) const MAX_PREVIEW: usize = 64 << 10;

/// Maximum side of a preview, in pixels.
const MAX_EDGE: u32 = 512;

/// The extended attributes of an inode.
pub(crate) struct Xattrs<'v> {
    vfs: &'v Vfs,
    node: Node<'v>,
}

impl Vfs {
    /// Returns whether something can be edited in a generated file.
    pub(crate) fn is_editable(&self, ino: Ino) -> bool {
        let editable = self.xattr(ino, EDITABLE);
        editable.is_ok_and(|text| text.starts_with(b"yes"))
    }
}

impl<'v> Xattrs<'v> {
    /// Returns the attributes of the inode `ino`; an alias has the attributes
    /// of its directory.
    ///
    /// # Errors
    /// Returns [`Error::NoAttribute`] for an inode that cannot have any, and the
    /// errors of finding it.
    pub(crate) fn of(vfs: &'v Vfs, ino: Ino) -> Result<Self> {
        let node = match vfs.node(ino) {
            Err(Error::NotFound) => {
                let (node, _) = vfs.mount.directory(ino).map_err(|_| Error::NoAttribute)?;
                node
            }
            node => node?,
        };
        Ok(Self { vfs, node })
    }

    /// Returns their names.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let node = &self.node;
        let mut names = Vec::new();
        if node.kind().map(InodeKind::file_kind) == Some(FileKind::Symlink) {
            // Linux never requests a `user.` attribute of a symbolic link, so a
            // listed name could not be read.
            return names;
        }
        if self.raw_name().is_some() {
            names.push(RAW_NAME);
        }
        if !node.tree().hidden(node.index).is_empty() {
            names.push(SHADOWS);
        }
        if self.applied().is_some() {
            names.push(APPLIED);
        }
        if let Some(file) = node.file() {
            names.push(SOURCE);
            names.extend(file.volume.volume.xattr_names(file.file));
        } else if node.rendered().is_some() {
            names.push(SOURCE);
        }
        names
    }

    /// Returns the value of the attribute `name`, which begins with `user.`.
    ///
    /// # Errors
    /// Returns [`Error::NoAttribute`]; [`Error::Io`] if the archive must be read
    /// but cannot be.
    pub(crate) fn value(&self, name: &str) -> Result<Vec<u8>> {
        match name {
            RAW_NAME => self.raw_name().ok_or(Error::NoAttribute),
            SHADOWS => shadows(&self.node).ok_or(Error::NoAttribute),
            SOURCE => self.source_name(),
            APPLIED => self.applied().ok_or(Error::NoAttribute),
            ERROR => self.asset_error(),
            PREVIEW => self.preview(),
            EDITABLE => self.editable(),
            _ => self.of_volume(name),
        }
    }

    /// Returns the path of a changed file in the folder of changes.
    fn applied(&self) -> Option<Vec<u8>> {
        if self.vfs.applied.is_empty() {
            return None;
        }
        let path = place::path(&self.vfs.mount, &self.node).ok()?;
        Some(self.vfs.applied.get(&path)?.path().as_bytes().to_vec())
    }

    /// Returns the value of an attribute that the volume of a file has.
    fn of_volume(&self, name: &str) -> Result<Vec<u8>> {
        let file = self.node.file().ok_or(Error::NoAttribute)?;
        match file.volume.volume.xattr(file.file, name) {
            Ok(Some(value)) => Ok(value.into_bytes()),
            Ok(None) => Err(Error::NoAttribute),
            Err(error) => Err(self.vfs.mount.failed(&self.node, &error)),
        }
    }

    /// Returns why an asset cannot be shown, or [`Error::NoAttribute`] if it
    /// can.
    fn asset_error(&self) -> Result<Vec<u8>> {
        let node = &self.node;
        let file = node.file().ok_or(Error::NoAttribute)?;
        let is_typed = file.volume.volume.asset(file.file).is_some();
        let format = format_of(node).filter(|_| is_typed);
        match self
            .vfs
            .assets()
            .model(node, format.ok_or(Error::NoAttribute)?)
        {
            Ok(model) => {
                let error = model.view.failure().ok_or(Error::NoAttribute)?;
                Ok(error.to_string().into_bytes())
            }
            Err(error) if error.is_fault() => Err(self.vfs.mount.failed(node, &error)),
            Err(error) => Ok(error.to_string().into_bytes()),
        }
    }

    /// Returns what can be edited in a generated file.
    fn editable(&self) -> Result<Vec<u8>> {
        if self.node.rendered().is_none() {
            return Err(Error::NoAttribute);
        }
        match editable(&self.vfs.mount, &self.node) {
            Ok(text) => Ok(text.into_bytes()),
            Err(error) => Err(self.vfs.mount.failed(&self.node, &error)),
        }
    }

    /// Returns the picture that represents an asset as a PNG file, as large as
    /// fits into a value.
    fn preview(&self) -> Result<Vec<u8>> {
        let mut picture = self.vfs.assets().small_picture(&self.node, MAX_EDGE)?;
        loop {
            let mut file = Bounded::new(MAX_PREVIEW);
            if png::write(&picture, &mut file).is_ok() {
                return Ok(file.into_bytes());
            }
            let edge = picture.width.max(picture.height) / 2;
            if edge == 0 {
                return Err(Error::NoAttribute);
            }
            picture = reduced(picture, edge);
        }
    }

    /// Returns the original bytes of the name of the inode; for a companion,
    /// the bytes of the shown name.
    fn raw_name(&self) -> Option<Vec<u8>> {
        let node = &self.node;
        match node.origin() {
            None => Some(node.tree().raw_name(node.index).to_owned()),
            Some(Origin::Hidden(asset, shows)) => {
                let asset = self.vfs.node(asset).ok()?;
                let name = shows.name_beside(asset.tree().name(asset.index));
                Some(name.into_bytes())
            }
            Some(_) => None,
        }
    }

    /// Returns the name of the file that a file comes from: its archive, or the
    /// asset that it shows; for a report, the archive of the assets, the lowest
    /// of several.
    fn source_name(&self) -> Result<Vec<u8>> {
        if let Some(file) = self.node.file() {
            return Ok(file.volume.name.clone().into_bytes());
        }
        let (rendered, _) = self.node.rendered().ok_or(Error::NoAttribute)?;
        let asset = match rendered {
            RenderedFile::OfView(viewed, _) => self.vfs.node(viewed.asset)?,
            RenderedFile::OfAsset(file) => self.vfs.node(file.asset)?,
            RenderedFile::Report(_, directory) => {
                let directory = self.vfs.mount.enter(self.vfs.node(directory)?)?;
                let volume = directory.subtree().volumes.first();
                let name = volume.map_or("", |volume| &volume.name);
                return Ok(name.to_owned().into_bytes());
            }
        };
        Ok(asset.tree().name(asset.index).to_owned().into_bytes())
    }
}

/// Returns the file names of the archives whose entry of the same name is
/// hidden by this one, highest first.
fn shadows(node: &Node<'_>) -> Option<Vec<u8>> {
    let volumes = &node.subtree().volumes;
    let hidden = node.tree().hidden(node.index).iter();
    let hidden = hidden.filter_map(|&number| volumes.get(number as usize));
    let names: Vec<&str> = hidden.map(|volume| volume.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join("\n").into_bytes())
}
