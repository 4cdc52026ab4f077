//! Names for ids, from the asset's archive and adjacent ones.

use std::collections::HashMap;
use std::fmt;

use get_size2::GetSize;
use hpimount_assets::view::context::{Shared, shared};
use hpimount_assets::view::{AssetContext, NamedAsset};
use hpimount_containers::hip::asset_id;
use hpimount_containers::text::to_windows_1252;
use hpimount_record::{Value, shortened};

/// Looks up asset names by id.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a>(pub(super) &'a dyn AssetContext);

impl Names<'_> {
    /// Returns the name of the asset with this id.
    pub(super) fn find(self, id: u32) -> Option<String> {
        Some(self.look_up(id)?.name)
    }

    /// Returns the name of the asset with this id, or else the id in table form.
    pub(super) fn name_or_id(self, id: u32) -> String {
        self.find(id).unwrap_or_else(|| IdCell(id).to_string())
    }

    /// Returns the name of the asset with this id, and its archive if that is another
    /// one.
    fn look_up(self, id: u32) -> Option<NamedAsset> {
        (id != 0).then(|| self.0.asset_name(id))?
    }

    /// Returns the asset with this id, the target of a link. It may be in any archive
    /// of the mount.
    pub(super) fn find_target(self, id: u32) -> Option<NamedAsset> {
        (id != 0).then(|| self.0.asset_name_anywhere(id))?
    }

    /// Returns a reference to the asset with this id in `info.json`: `{"id":
    /// "0x06E27239", "name": "..."}`. It has an `archive` if the asset is in another
    /// one, and no name if no archive has the asset. Id 0 is null.
    pub(super) fn reference(self, id: u32) -> Value {
        described(id, hex(id), self.look_up(id))
    }

    /// Returns the same for `object.json`, where ids have the form `06E27239`.
    pub(super) fn in_object(self, id: u32) -> Value {
        described(id, format!("{id:08X}").into(), self.look_up(id))
    }

    /// Returns a reference to the target of a link in `object.json`.
    pub(super) fn target(self, id: u32) -> Value {
        described(id, format!("{id:08X}").into(), self.find_target(id))
    }

    /// Returns the two table cells of an id: the id, and the asset's name. Both are
    /// empty for id 0.
    pub(super) fn pair(self, id: u32) -> [Value; 2] {
        [cell(id), self.find(id).into()]
    }

    /// Returns the two table cells of a link target.
    pub(super) fn target_pair(self, id: u32) -> [Value; 2] {
        [
            cell(id),
            self.find_target(id).map(|found| found.name).into(),
        ]
    }

    /// Returns the two table cells of several ids: the ids separated by spaces, and
    /// their names separated by `; `, because names contain spaces.
    pub(super) fn pair_of_all(self, ids: &[u32]) -> [Value; 2] {
        let hex: Vec<_> = ids.iter().map(|&id| IdCell(id).to_string()).collect();
        let shown: Vec<_> = ids.iter().map(|&id| self.name_or_id(id)).collect();
        [hex.join(" ").into(), shown.join("; ").into()]
    }
}

/// The ids of an archive's assets, by lower-case name. Archives are opened separately
/// for edits, so they do not share this.
#[derive(Default, GetSize)]
struct Ids(HashMap<String, Vec<u32>>);

impl Shared for Ids {
    fn memory(&self) -> usize {
        self.get_heap_size()
    }
}

impl Ids {
    fn read(context: &dyn AssetContext) -> Self {
        let mut ids = Self::default();
        for file in context.assets() {
            if let (Some(name), Some(asset)) = (context.name_of(file), context.asset_of(file)) {
                let known = ids.0.entry(name.to_ascii_lowercase()).or_default();
                known.push(asset.id);
            }
        }
        ids
    }
}

/// Returns the id of the asset with this name, preferring assets of the archive. Fails
/// if the name is unknown or ambiguous.
pub(super) fn id_named(context: &dyn AssetContext, name: &str) -> Result<u32, String> {
    let ids = shared(context, "ids of asset names", Ids::read).unwrap_or_default();
    let ids = ids.0.get(&name.to_ascii_lowercase());
    let hash = asset_id(&to_windows_1252(name));
    let elsewhere = || context.asset_name_anywhere(hash);
    match ids.map(Vec::as_slice).unwrap_or_default() {
        [id] => Ok(*id),
        [] if elsewhere().is_some_and(|known| known.name.eq_ignore_ascii_case(name)) => Ok(hash),
        [] => Err(format!(
            "no asset is called {}; write its id (the hash of the name is {hash:08X})",
            shortened(name)
        )),
        ids => {
            let ids: Vec<_> = ids.iter().map(|id| format!("{id:08X}")).collect();
            Err(format!(
                "several assets are called {name}; write an id: {}",
                ids.join(", ")
            ))
        }
    }
}

/// Returns the cell of an id.
fn cell(id: u32) -> Value {
    (id != 0).then(|| IdCell(id).to_string()).into()
}

/// An id in a table, `0x06E27239`, because spreadsheets mistake `06E27239` for a
/// number.
pub(super) struct IdCell(pub(super) u32);

impl fmt::Display for IdCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08X}", self.0)
    }
}

fn described(id: u32, text: Value, found: Option<NamedAsset>) -> Value {
    if id == 0 {
        return Value::Null;
    }
    let mut entries = vec![("id".into(), text)];
    if let Some(NamedAsset { name, archive, .. }) = found {
        entries.push(("name".into(), name.into()));
        entries.extend(archive.map(|archive| ("archive".into(), archive.into())));
    }
    Value::Map(entries)
}

/// Returns an id as a fact.
pub(super) fn hex(id: u32) -> Value {
    IdCell(id).to_string().into()
}
