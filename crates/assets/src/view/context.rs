//! Access of views to other files of the mount.

use std::any::Any;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::View;
use super::wanted::{AssetRef, Wanted};
use crate::gta::context::GtaContext;
use crate::heavy_iron::context::ArchiveContext;
use crate::model::{CORNER_BYTES, Reservation};
use crate::total_annihilation::context::GameContext;

/// A value that views compute once for a whole archive, game or folder, such as
/// an index of its textures.
pub trait Shared: Any + Send + Sync {
    /// Returns its memory, in bytes.
    fn memory(&self) -> usize;
}

/// Creates a [`Shared`] value.
pub type MakeShared<'a> = &'a dyn Fn(&dyn AssetContext) -> Box<dyn Shared>;

/// The environment of an asset: the files that its view may read.
///
/// Names and paths are compared ignoring ASCII case. Methods return `None` for
/// a file that does not exist, is too large, or cannot be read; in the last
/// case, if the fault may be temporary, results that depend on it are not
/// cached.
pub trait AssetContext {
    /// Returns the name of the asset itself; empty if it is unknown.
    fn name(&self) -> &str;

    /// Finds a file.
    fn find(&self, wanted: Wanted<'_>) -> Option<AssetRef>;

    /// Returns the files with one of these extensions (lower case, without the
    /// dot), in the order of their paths: those in and below the directories in
    /// the root of the asset's archive, merged game or folder whose names begin
    /// with `folder`. With an empty name, all files are searched. The contents
    /// of nested archives are not.
    fn find_extensions(&self, folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let _ = (folder, extensions);
        Vec::new()
    }

    /// Returns the path of a file in the mount.
    fn path_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Returns the name of the archive that a file is in.
    fn archive_of(&self, file: AssetRef) -> String {
        let _ = file;
        String::new()
    }

    /// Returns the bytes of a file.
    fn read(&self, file: AssetRef) -> Option<Bytes>;

    /// Reserves temporary memory for a rendering.
    ///
    /// # Errors
    /// Returns an error if the memory budget is exhausted.
    fn reserve(&self, bytes: usize) -> io::Result<Option<Reservation>> {
        let _ = bytes;
        Ok(None)
    }

    /// Returns the parsed model of an asset; `None` if that model is currently
    /// being built and depends on this one.
    fn model(&self, file: AssetRef) -> Option<Arc<dyn View>> {
        let _ = file;
        None
    }

    /// Returns the value that is shared under `name`, created by `make` on the
    /// first call.
    fn shared(&self, name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>>;

    /// Returns what only the assets in archives of Heavy Iron's games need.
    fn archive(&self) -> &dyn ArchiveContext {
        &Alone
    }

    /// Returns what only the assets of Total Annihilation need.
    fn game(&self) -> &dyn GameContext {
        &Alone
    }

    /// Returns what only the assets of Grand Theft Auto need.
    fn gta(&self) -> &dyn GtaContext {
        &Alone
    }
}

impl dyn AssetContext + '_ {
    /// Returns the bytes of the file with this name beside the asset.
    pub fn read_sibling(&self, name: &str) -> Option<Bytes> {
        self.read(self.find(Wanted::Sibling(name))?)
    }

    /// Reserves memory for a scene with this number of face corners, before it
    /// is built.
    pub(crate) fn reserve_scene(&self, corners: usize) -> io::Result<Option<Reservation>> {
        self.reserve(corners * CORNER_BYTES)
    }
}

/// Returns the value that is shared under `name`, created by `make` on the
/// first call.
pub(crate) fn shared<T: Shared>(
    context: &dyn AssetContext,
    name: &'static str,
    make: fn(&dyn AssetContext) -> T,
) -> Option<Arc<T>> {
    let boxed = |context: &dyn AssetContext| Box::new(make(context)) as Box<dyn Shared>;
    let shared: Arc<dyn Any + Send + Sync> = context.shared(name, &boxed)?;
    shared.downcast().ok()
}

/// A context without other files.
pub struct Alone;

impl AssetContext for Alone {
    fn name(&self) -> &str {
        ""
    }

    fn find(&self, _wanted: Wanted<'_>) -> Option<AssetRef> {
        None
    }

    fn read(&self, _file: AssetRef) -> Option<Bytes> {
        None
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}

impl ArchiveContext for Alone {}

impl GameContext for Alone {}

impl GtaContext for Alone {}
