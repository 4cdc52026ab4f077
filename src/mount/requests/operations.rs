//! The operations of a file system, as `fuse.rs` calls them, except for reading files.

use std::borrow::Cow;

use super::hidden::HiddenCompanions;
use super::listing::Listing;
use super::xattr::Xattrs;
use crate::mount::tree::{place, plain};
use crate::mount::{Access, Attr, Error, FileKind, Ino, Result, Vfs};
use crate::namespace::transient::TransientKind;
use crate::sync::lock;

impl Vfs {
    /// Finds the entry `name` of a directory, and counts one lookup of the
    /// result (see [`Vfs::forget`]).
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], or [`Error::NotADirectory`] if the parent
    /// is not a directory.
    pub fn lookup(&self, parent: Ino, name: &str) -> Result<Attr> {
        self.reader().stats.count(|stats| &stats.lookups);
        let (node, is_aliased) = self.mount.directory(parent)?;
        if let Some((true_name, index)) = node.tree().find(node.index, name, self.mount.folds()) {
            let is_aliased = is_aliased || true_name != name;
            return Attr::of_entry(self, parent, name, &node.other(index), is_aliased);
        }
        if let Some(control) = self
            .control
            .as_ref()
            .and_then(|control| control.find(parent, name))
        {
            return self.getattr(control);
        }
        match plain::find(&self.mount, &node, name) {
            Err(Error::NotFound) => {}
            file => {
                let file = file?;
                let attr = Attr::of_node(self, &file)?;
                self.look(attr.ino);
                return Ok(attr);
            }
        }
        let found = HiddenCompanions::in_directory(self, &node)?.find(name)?;
        let is_aliased = is_aliased || found.name != name;
        Attr::of_entry(self, parent, name, &found.root, is_aliased)
    }

    /// Returns an inode that the kernel has forgotten, and counts one lookup of
    /// it (see [`Vfs::forget`]). NFS exports need this: clients remember numbers
    /// for longer than the local kernel does.
    ///
    /// # Errors
    /// Returns [`Error::Stale`], also for inodes that exist only while the
    /// kernel remembers them, such as another spelling of a directory.
    pub fn lookup_again(&self, ino: Ino) -> Result<Attr> {
        let held = self.node(ino);
        if matches!(held, Err(Error::NotFound)) {
            lock(&self.mount.transients).look_again(ino);
        }
        let attr = self.getattr(ino)?;
        self.look(ino);
        Ok(attr)
    }

    /// Returns the parent of a directory, and counts one lookup of it.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::parent`].
    pub fn lookup_parent(&self, ino: Ino) -> Result<Attr> {
        self.lookup_again(self.parent(ino)?)
    }

    /// Returns the attributes of an inode.
    ///
    /// # Errors
    /// Returns [`Error::Stale`], or [`Error::Io`] if a generated file cannot
    /// be rendered to determine its size.
    pub fn getattr(&self, ino: Ino) -> Result<Attr> {
        self.reader().stats.count(|stats| &stats.getattrs);
        match self.node(ino) {
            Err(Error::NotFound) => {}
            node => return Attr::of_node(self, &node?),
        }
        match ino.shortcut_target() {
            Some(directory) => Attr::of_shortcut(self, directory),
            None => Attr::of_transient(self, ino),
        }
    }

    /// Like [`Vfs::getattr`], but does not determine an unknown size: it is 0, and the
    /// attributes are not lasting.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::getattr`].
    pub fn attr_without_size(&self, ino: Ino) -> Result<Attr> {
        match Attr::of_unknown_size(self, &self.node(ino)?) {
            Some(attr) => Ok(attr),
            None => self.getattr(ino),
        }
    }

    /// Returns the text of a symbolic link.
    ///
    /// # Errors
    /// Returns [`Error::NotALink`] or [`Error::NotFound`]; or, if the text is the
    /// data of a file, the errors of reading that.
    pub fn readlink(&self, ino: Ino) -> Result<Vec<u8>> {
        if let Some(directory) = ino.shortcut_target() {
            return Ok(place::link_text(&self.mount, &self.node(directory)?)?.into_bytes());
        }
        let node = self.node(ino)?;
        if let (Some(file), Some(size)) = (node.stored_link(), node.size()) {
            let text = self.reader().read(file, 0..size, Access::Unknown);
            let text = text.map_err(|error| self.mount.failed(&node, &error))?;
            return Ok(text.to_vec());
        }
        let text = place::text_of(&self.mount, &node)?;
        text.map(Cow::into_owned).ok_or(Error::NotALink)
    }

    /// Returns the parent of a directory.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`].
    pub fn parent(&self, ino: Ino) -> Result<Ino> {
        if let Some(TransientKind::Alias { parent, .. }) = lock(&self.mount.transients).get(ino) {
            return Ok(*parent);
        }
        place::parent(&self.mount, &self.node(ino)?)
    }

    /// Lists the entries of a directory from `offset` on, with name, inode,
    /// kind and the offset of the next entry, until `emit` returns that its
    /// buffer is full. Lookups are not counted.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`].
    pub fn readdir(
        &self,
        ino: Ino,
        offset: u64,
        emit: &mut dyn FnMut(&str, Ino, FileKind, u64) -> bool,
    ) -> Result<()> {
        self.reader().stats.count(|stats| &stats.readdirs);
        Listing::new(self, ino, offset)?.plain(emit);
        Ok(())
    }

    /// Returns the number of entries that [`Vfs::readdir`] lists from `offset` on.
    ///
    /// # Errors
    /// Returns an error under the same conditions as [`Vfs::readdir`].
    pub fn count_entries(&self, ino: Ino, offset: u64) -> Result<u64> {
        Ok(Listing::new(self, ino, offset)?.count())
    }

    /// Like [`Vfs::readdir`], with the attributes of the entries. Each entry
    /// that `emit` accepts counts as one lookup.
    ///
    /// Listing renders nothing: a generated file of unknown size is listed with
    /// size 0 and with attributes that are not cached, so that it is looked up
    /// when it is used.
    ///
    /// # Errors
    /// Returns [`Error::NotADirectory`] or [`Error::NotFound`]; none once
    /// `emit` has accepted an entry, since the kernel would not learn of its
    /// lookup.
    pub fn readdir_plus(
        &self,
        ino: Ino,
        offset: u64,
        emit: &mut dyn FnMut(&str, Attr, u64) -> bool,
    ) -> Result<()> {
        self.reader().stats.count(|stats| &stats.readdirs);
        Listing::new(self, ino, offset)?.with_attributes(emit)
    }

    /// Returns the names of the extended attributes of an inode.
    pub fn xattr_names(&self, ino: Ino) -> Vec<&'static str> {
        Xattrs::of(self, ino).map_or_else(|_| Vec::new(), |attributes| attributes.names())
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
        Xattrs::of(self, ino)?.value(name)
    }

    /// Returns the name of an entry as it is listed, which may differ from the
    /// one it was looked up by in upper and lower case.
    ///
    /// # Errors
    /// Returns an error if there is no such entry.
    pub fn spelling(&self, directory: Ino, name: &str) -> Result<String> {
        let (node, _) = self.mount.directory(directory)?;
        if let Some((spelling, _)) = node.tree().find(node.index, name, self.mount.folds()) {
            return Ok(spelling.to_owned());
        }
        let hidden = HiddenCompanions::in_directory(self, &node);
        match hidden.and_then(|hidden| hidden.find(name)) {
            Ok(found) => Ok(found.name),
            // It is generated, and has only this name.
            Err(Error::NotFound) => Ok(name.to_owned()),
            Err(error) => Err(error),
        }
    }
}
