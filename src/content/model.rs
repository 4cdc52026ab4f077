//! Parsed assets, shared by everything that is rendered from them.

use std::sync::Arc;

use super::Key;
use crate::memory::budget::Charge;
use crate::memory::cache::{Cache, Value};
use crate::namespace::numbers::Hold;
use hpimount_assets::view::{Shared, View};
use hpimount_containers::io::Error;
use hpimount_containers::volume::Version;

/// Largest asset that is parsed, in bytes.
pub const MAX_ASSET: u64 = 64 << 20;

/// References that keep the numbers of the files that a model or a shared value refers to.
pub type Kept = Box<[Arc<Hold>]>;

/// A parsed asset.
pub struct Model {
    /// Its generated files.
    pub view: Arc<dyn View>,
    /// The version of the file that it was parsed from
    /// (see [`hpimount_containers::volume::LiveFolder::version`]).
    pub version: Version,
    /// The numbers of files that it refers to.
    pub kept: Kept,
    /// Charges the asset's bytes and the parsed model.
    pub(super) _memory: Charge,
}

/// The key of a shared value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SharedKey {
    /// Name of the kind of value.
    pub name: &'static str,
    /// Inode number of the directory whose files share it.
    pub root: u64,
}

/// A cached shared value.
#[derive(Clone)]
pub(super) struct SharedValue {
    pub(super) value: Arc<dyn Shared>,
    pub(super) _memory: Arc<(Charge, Kept)>,
}

/// The cached shared values.
pub(super) type SharedValues = Cache<SharedKey, SharedValue, Error>;

impl Value for SharedValue {
    fn weight(&self) -> usize {
        0
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.value) > 1
    }
}

/// The cached models.
pub(super) type Models = Cache<Key, Arc<Model>, Error>;

impl Value for Arc<Model> {
    fn weight(&self) -> usize {
        0
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(self) > 1
    }
}
