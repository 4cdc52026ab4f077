//! An IMG archive of Grand Theft Auto, full of small models and dictionaries.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use fixtures::{clump, txd};
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{
    self, AssetContext, AssetKey, AssetRef, MakeShared, Shared, ViewFormat,
};

use super::Total;

/// Number of entries.
const ENTRIES: usize = 16_000;

/// Bytes of a sector.
const SECTOR: usize = 2048;

/// Returns the entries: models, and a dictionary for each.
fn entries(divisor: usize) -> Vec<(String, Bytes)> {
    let pair = |number: usize| {
        let texture = format!("wood{number}");
        let model = clump::clump(
            &clump::frames(&[("crate", -1)]),
            &[clump::square(&[&texture], &[])],
            &[clump::atomic(0, 0)],
            &[],
        );
        let dictionary = txd::txd(&[txd::gray(&texture, [number as u8, 255])]);
        [
            (format!("crate{number:05}.dff"), model.into()),
            (format!("crate{number:05}.txd"), dictionary.into()),
        ]
    };
    (0..ENTRIES / 2 / divisor).flat_map(pair).collect()
}

/// Returns an IMG of version 2.
pub(super) fn archive(divisor: usize) -> Vec<u8> {
    let entries = entries(divisor);
    let mut head = b"VER2".to_vec();
    head.extend((entries.len() as u32).to_le_bytes());
    let mut sector = (8 + 32 * entries.len()).div_ceil(SECTOR) as u32;
    let mut bodies = Vec::new();
    for (name, bytes) in &entries {
        let sectors = bytes.len().div_ceil(SECTOR) as u32;
        head.extend([sector, sectors].map(u32::to_le_bytes).concat());
        let mut field = name.as_bytes().to_vec();
        field.resize(24, 0);
        head.extend(field);
        sector += sectors;
        bodies.extend_from_slice(bytes);
        bodies.resize(bodies.len().next_multiple_of(SECTOR), 0);
    }
    head.resize(head.len().next_multiple_of(SECTOR), 0);
    [head, bodies].concat()
}

/// Converts the entries.
pub(super) fn render(divisor: usize) -> io::Result<()> {
    let entries = entries(divisor);
    let names = (0..).zip(&entries);
    let names = names.map(|(number, (name, _))| (name.as_str(), AssetRef(number)));
    let files = Files {
        names: names.collect(),
        entries: &entries,
    };
    let mut total = Total::default();
    for (name, bytes) in &entries {
        let shows = |format: &&ViewFormat| format.shows(name.as_bytes());
        let context = Entry(name, &files);
        if let Some(format) = VIEW_FORMATS.iter().find(shows) {
            let view = view::open(format, bytes, &context);
            total.render(format, None, &*view, &context)?;
        }
    }
    total.print();
    Ok(())
}

/// The entries and their numbers by their names.
struct Files<'a> {
    names: HashMap<&'a str, AssetRef>,
    entries: &'a [(String, Bytes)],
}

/// An entry with this name among the others.
struct Entry<'a>(&'a str, &'a Files<'a>);

impl AssetContext for Entry<'_> {
    fn name(&self) -> &str {
        self.0
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        match key {
            AssetKey::Sibling(name) => self.1.names.get(name).copied(),
            _ => None,
        }
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        let entry = self.1.entries.get(file.0 as usize);
        entry.map(|(_, bytes)| bytes.clone())
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }
}
