//! Writing the tables of an archive again: assets and layers are added, removed
//! and described anew. The data stays in order and keeps its alignment, and new
//! assets are empty at first; [`splice`](super::splice) then gives them their data.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::block::{self, Header, Name};
use super::contents::{self, MAX_DICT_LENGTH};
use super::write::{Blocks, Extent, FILLER, asset_block, layer_alignment};
use super::{AssetOffsets, Hip, Offsets, write};
use crate::changes::{Composed, Patch};
use crate::io::{Cursor, Endian, Error, ReadAt, Result, Warnings};

/// The assets and layers that an archive is to have.
pub(super) struct Structure {
    /// In the order of the table.
    pub(super) assets: Vec<Asset>,
    pub(super) layers: Vec<Layer>,
}

/// An asset that an archive is to have.
pub(super) struct Asset {
    pub(super) id: u32,
    /// Its number in the original; `None` for a new one.
    pub(super) old: Option<u32>,
    /// Its description, if it is new or described anew.
    pub(super) described: Option<write::Asset>,
}

/// A layer that an archive is to have.
pub(super) struct Layer {
    /// Its number in the original; `None` for a new one.
    pub(super) old: Option<usize>,
    pub(super) kind: u32,
    /// LDBG of a new one.
    pub(super) debug: u32,
    /// The ids that it lists.
    pub(super) ids: Vec<u32>,
    /// True if its LHDR must be written again.
    pub(super) is_changed: bool,
}

/// Returns an archive with other tables, and by how many bytes its data has moved:
/// a multiple of the alignment of layers.
///
/// # Errors
/// Returns an error if the original cannot be read, or if its blocks are missing,
/// repeated or in another order than the games' archives have.
pub(super) fn restructure(
    original: &Arc<dyn ReadAt>,
    hip: &Hip,
    offsets: &Offsets,
    wanted: &Structure,
) -> Result<(Composed, i64)> {
    let dict = only(hip, b"DICT")?;
    let stream = only(hip, b"STRM")?;
    let data = hip.contents.stream.and_then(|stream| {
        let padding = stream.padding?;
        Some((stream.data?, u64::from(padding)))
    });
    let (data, padding) = data.ok_or_else(|| unusual("has no DPAK block"))?;
    if stream.offset < dict.next() {
        return Err(unusual("has its data before its tables"));
    }
    let mut ignored = Warnings::default();
    let body = contents::body(&**original, dict, MAX_DICT_LENGTH, &mut ignored)?;
    let tables = Tables::read(&body, dict.body())?;
    let (mut body, places) = tables.write(hip, wanted)?;
    let grown = 8 + body.len() as i64 - (dict.next() - dict.offset) as i64;
    let padding = Padding::new(original.len(), hip, offsets, data, padding).after(grown);
    let moved = grown + padding.absorbed;
    for (asset, place) in wanted.assets.iter().zip(places) {
        let Some(old) = asset.old.map(|old| offsets.assets[old as usize].offset) else {
            continue;
        };
        if u64::from(old) >= dict.next() {
            // An asset past the end stays past the end.
            let new = u64::from(old).saturating_add_signed(moved);
            let new = u32::try_from(new).unwrap_or(u32::MAX);
            body[place..place + 4].copy_from_slice(&new.to_be_bytes());
        }
    }

    let mut out = Composed::default();
    out.append(original, 0..dict.offset);
    let size = body.len() as u32;
    out.append_bytes([&dict.name[..], &size.to_be_bytes(), &body].concat());
    out.append(original, dict.next()..data.body());
    padding.append_to(&mut out, original);

    let mut patch = Patch::new(Arc::new(out));
    let to = |field: u64| match field < dict.offset {
        true => field,
        false => field.saturating_add_signed(grown),
    };
    for (field, body) in &offsets.sizes {
        // An impossible size is left unchanged.
        if body.end <= original.len() {
            let size = (body.end - body.start).saturating_add_signed(padding.absorbed) as u32;
            patch.put(to(*field), size.to_be_bytes().to_vec());
        }
    }
    for (field, count) in counts(hip, offsets, wanted) {
        patch.put(to(field), count.to_be_bytes().to_vec());
    }
    Ok((patch.finish(), moved))
}

/// The padding at the start of DPAK, which absorbs the growth of the tables, so that
/// all alignments are kept.
struct Padding {
    /// The length that DPAK states, and whether that is stored. In archives of the first
    /// version, data is where the field is in the others.
    stated: u64,
    has_field: bool,
    /// Start of the padding, and the number of its bytes that may be removed.
    start: u64,
    removed: u64,
    /// The alignment of layers in bytes.
    alignment: u64,
    /// Length of the padding that is written, and its growth, in bytes.
    filled: u64,
    absorbed: i64,
}

impl Padding {
    /// Returns the padding of an archive of `length` bytes, whose DPAK is the block
    /// `data` and states `stated` bytes of padding.
    fn new(length: u64, hip: &Hip, offsets: &Offsets, data: Header, stated: u64) -> Self {
        let alignment = layer_alignment(hip.platform.value);
        let is_apart = |range: Range<u64>| {
            let mut assets = offsets.assets.iter().map(AssetOffsets::range);
            assets.all(|own| own.is_empty() || own.start >= range.end || own.end <= range.start)
        };
        let field = data.body()..data.body() + 4;
        let has_field = is_apart(field.clone());
        let start = if has_field { field.end } else { field.start };
        let is_padding = has_field && start + stated <= length && is_apart(start..start + stated);
        Self {
            stated,
            has_field,
            start,
            removed: if is_padding { stated % alignment } else { 0 },
            alignment,
            filled: 0,
            absorbed: 0,
        }
    }

    /// Returns the padding behind tables that have grown by this many bytes.
    fn after(self, grown: i64) -> Self {
        let filled = (self.removed as i64 - grown).rem_euclid(self.alignment as i64) as u64;
        Self {
            filled,
            absorbed: filled as i64 - self.removed as i64,
            ..self
        }
    }

    /// Appends the padding with its length, and everything behind it.
    fn append_to(&self, out: &mut Composed, original: &Arc<dyn ReadAt>) {
        if self.has_field {
            let stated = (self.stated as i64 + self.absorbed) as u32;
            out.append_bytes(stated.to_be_bytes().to_vec());
        }
        out.append_fill(FILLER, self.filled);
        out.append(original, self.start + self.removed..original.len());
    }
}

/// Returns PCNT's numbers of assets and layers, with their offsets in the original. A
/// wrong one stays wrong.
fn counts(hip: &Hip, offsets: &Offsets, wanted: &Structure) -> Vec<(u64, u32)> {
    let (Some(field), Some(stated)) = (offsets.counts, hip.contents.package.counts) else {
        return Vec::new();
    };
    let toc = &hip.contents.toc;
    let numbers = [
        (stated.assets, toc.assets.len(), wanted.assets.len()),
        (stated.layers, toc.layers.len(), wanted.layers.len()),
    ];
    let numbers = [field, field + 4].into_iter().zip(numbers);
    let right = numbers
        .filter(|(_, (stated, old, _))| stated.is_some_and(|stated| stated as usize == *old));
    right
        .map(|(field, (_, _, new))| (field, new as u32))
        .collect()
}

/// Returns the only block of this name.
fn only(hip: &Hip, name: &Name) -> Result<Header> {
    let mut found = hip
        .contents
        .blocks
        .iter()
        .filter(|block| &block.name == name);
    let shown = name.escape_ascii();
    match (found.next(), found.next()) {
        (Some(&block), None) => Ok(block),
        (None, _) => Err(unusual(&format!("has no {shown} block"))),
        _ => Err(unusual(&format!("has several {shown} blocks"))),
    }
}

fn unusual(problem: &str) -> Error {
    let text = format!("{problem}, so that assets can be replaced, not added or deleted");
    Error::Unsupported(text)
}

/// A block of a table, without its header.
type Raw<'a> = (Name, &'a [u8]);

/// The blocks of DICT.
#[derive(Default)]
struct Tables<'a> {
    /// The blocks of ATOC before the assets, and of LTOC before the layers.
    heads: [Vec<Raw<'a>>; 2],
    /// AHDR of each asset.
    assets: Vec<&'a [u8]>,
    /// LHDR of each layer, and the blocks that follow it.
    layers: Vec<(&'a [u8], Vec<Raw<'a>>)>,
}

impl<'a> Tables<'a> {
    /// Reads the body of DICT, which begins at `offset`.
    fn read(body: &'a [u8], offset: u64) -> Result<Self> {
        let mut tables = Self::default();
        // These warnings were reported when the archive was opened.
        let mut ignored = Warnings::default();
        let mut seen = Vec::new();
        let mut body = Cursor::new(body, offset, Endian::Big);
        while let Some(mut table) = block::next(&mut body, &mut ignored)? {
            if seen.contains(&table.name) || !matches!(&table.name, b"ATOC" | b"LTOC") {
                return Err(unusual("has other tables than one ATOC and one LTOC"));
            }
            seen.push(table.name);
            while let Some(mut entry) = block::next(&mut table.body, &mut ignored)? {
                let raw = entry.body.take(entry.body.remaining(), "block")?;
                match (&table.name, &entry.name) {
                    (b"ATOC", b"AHDR") => tables.assets.push(raw),
                    (b"ATOC", _) => tables.heads[0].push((entry.name, raw)),
                    (_, b"LHDR") => tables.layers.push((raw, Vec::new())),
                    _ => match tables.layers.last_mut() {
                        Some((_, after)) => after.push((entry.name, raw)),
                        None => tables.heads[1].push((entry.name, raw)),
                    },
                }
            }
        }
        match seen.len() {
            2 => Ok(tables),
            _ => Err(unusual("lacks one of the tables ATOC and LTOC")),
        }
    }

    /// Returns the new body of DICT, and where in it each asset has its offset.
    fn write(&self, hip: &Hip, wanted: &Structure) -> Result<(Vec<u8>, Vec<usize>)> {
        let mut out = Blocks::default();
        let mut places = Vec::with_capacity(wanted.assets.len());
        let has_checksums = has_checksums(hip);
        out.block(b"ATOC", |out| {
            for (name, raw) in &self.heads[0] {
                out.block(name, |out| out.bytes(raw));
            }
            for asset in &wanted.assets {
                // The offset follows the header of AHDR, the id and the type.
                places.push(out.len() + 16);
                match (&asset.described, asset.old) {
                    (Some(described), old) => {
                        let old = old.map(|old| hip.asset(old));
                        let extent = Extent {
                            offset: old.map_or(0, |old| old.offset),
                            size: old.map_or(0, |old| old.size),
                            plus: old.map_or(0, |old| old.plus),
                            align: described.align,
                        };
                        let checksum = has_checksums.then_some(described.checksum);
                        asset_block(out, described, extent, checksum);
                    }
                    (None, Some(old)) => {
                        let raw = self.assets.get(old as usize).copied().unwrap_or_default();
                        out.block(b"AHDR", |out| out.bytes(raw));
                    }
                    (None, None) => {}
                }
            }
        });
        out.block(b"LTOC", |out| {
            for (name, raw) in &self.heads[1] {
                out.block(name, |out| out.bytes(raw));
            }
            for layer in &wanted.layers {
                let old = layer.old.and_then(|old| self.layers.get(old));
                out.block(b"LHDR", |out| self.layer(out, hip, layer, has_checksums));
                for (name, raw) in old.iter().flat_map(|(_, after)| after) {
                    out.block(name, |out| out.bytes(raw));
                }
            }
        });
        let body = out.finish();
        match body.len() as u64 {
            ..=MAX_DICT_LENGTH => Ok((body, places)),
            _ => Err(Error::Unsupported("would have too many assets".to_owned())),
        }
    }

    /// Writes the body of an LHDR.
    fn layer(&self, out: &mut Blocks, hip: &Hip, layer: &Layer, has_debug: bool) {
        let old = layer
            .old
            .and_then(|old| Some((old, self.layers.get(old)?.0)));
        if let Some((_, raw)) = old.filter(|_| !layer.is_changed) {
            out.bytes(raw);
            return;
        }
        out.number(layer.kind);
        out.number(layer.ids.len() as u32);
        for &id in &layer.ids {
            out.number(id);
        }
        match old {
            Some((number, raw)) if hip.contents.toc.layers[number].debug == Some(layer.debug) => {
                // The bytes after the ids.
                let listed = hip.contents.toc.ids(&hip.contents.toc.layers[number]).len();
                out.bytes(raw.get(8 + 4 * listed..).unwrap_or_default());
            }
            _ => out.block(b"LDBG", |out| {
                if has_debug {
                    out.number(layer.debug);
                }
            }),
        }
    }
}

/// Returns whether the archive has checksums of its assets, and LDBG values:
/// archives of the first version have neither.
pub(super) fn has_checksums(hip: &Hip) -> bool {
    match hip.contents.package.version {
        Some(version) => version.sub >= write::SUB_VERSION_2,
        None => true,
    }
}

/// Returns the first asset of each id, by its number.
pub(super) fn first_of_ids(ids: impl Iterator<Item = u32>) -> HashMap<u32, u32> {
    let mut first = HashMap::new();
    for (number, id) in (0..).zip(ids) {
        first.entry(id).or_insert(number);
    }
    first
}
