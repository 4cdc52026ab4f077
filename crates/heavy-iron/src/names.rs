//! Names for ids, from the archive of the asset and those beside it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use hpimount_assets::view::NamedAsset;
use hpimount_assets::view::{AssetContext, Table};

/// Looks up the names of assets by their ids.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a>(pub(super) &'a dyn AssetContext);

impl<'a> Names<'a> {
    /// Returns the name of the asset with this id.
    pub(super) fn find(self, id: u32) -> Option<String> {
        Some(self.look_up(id)?.name)
    }

    /// Returns the name of the asset with this id, and its archive if that is
    /// another one.
    fn look_up(self, id: u32) -> Option<NamedAsset> {
        if id == 0 {
            return None;
        }
        self.0.asset_name(id)
    }

    /// Returns the asset with this id, which is the target of a link and may be
    /// in any archive of the mount.
    pub(super) fn find_target(self, id: u32) -> Option<NamedAsset> {
        if id == 0 {
            return None;
        }
        self.0.asset_name_anywhere(id)
    }

    /// Returns a reference to the asset with this id.
    pub(super) fn reference(self, id: u32) -> Reference<'a> {
        Reference {
            id,
            names: self,
            is_target: false,
        }
    }

    /// Returns a reference to the target of a link, see [`Names::find_target`].
    pub(super) fn target(self, id: u32) -> Reference<'a> {
        Reference {
            is_target: true,
            ..self.reference(id)
        }
    }

    /// Adds two cells to a table: an id, and the name of its asset. Both are
    /// empty for id 0.
    pub(super) fn cells(self, id: u32, table: &mut Table<'_>) {
        table.optional((id != 0).then(|| format!("{id:08X}")));
        table.optional_text(self.find(id).as_deref());
    }

    /// Adds two cells to a table: the id of the target of a link, and its name.
    /// Returns the target.
    pub(super) fn target_cells(self, id: u32, table: &mut Table<'_>) -> Option<NamedAsset> {
        let found = self.find_target(id);
        table.optional((id != 0).then(|| format!("{id:08X}")));
        table.optional_text(found.as_ref().map(|found| found.name.as_str()));
        found
    }
}

/// A reference to an asset: `{"id": "06E27239", "name": "..."}`, with `archive`
/// if it is in another one, without a name if no archive has it, and `null` for
/// none.
pub(super) struct Reference<'a> {
    id: u32,
    names: Names<'a>,
    is_target: bool,
}

impl Serialize for Reference<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.id == 0 {
            return serializer.serialize_none();
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &format_args!("{:08X}", self.id))?;
        let found = match self.is_target {
            true => self.names.find_target(self.id),
            false => self.names.look_up(self.id),
        };
        if let Some(NamedAsset { name, archive, .. }) = found {
            map.serialize_entry("name", &name)?;
            if let Some(archive) = archive {
                map.serialize_entry("archive", &archive)?;
            }
        }
        map.end()
    }
}
