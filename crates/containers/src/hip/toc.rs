//! DICT: the tables of the assets and of the layers (FORMATS, HIP 5 and 6).

use zerocopy::big_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::io::{Cursor, Error, Result};
use crate::volume::MAX_ENTRIES;

use super::block::{self, Block};
use super::kinds::{Code, Type};
use crate::io::Warnings;

/// Maximum number of layers; archives of the games have about 20 at most. A layer
/// takes 28 bytes of the archive, but 2.4 KB while `info.json` is made.
pub(super) const MAX_LAYERS: usize = 10_000;

/// The fixed part of an AHDR block.
#[derive(Debug, FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct AssetHeader {
    id: U32,
    kind: [u8; 4],
    offset: U32,
    size: U32,
    plus: U32,
    flags: U32,
}

/// One asset, as AHDR and its ADBG describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asset {
    /// Its id, usually the hash of its name.
    pub(super) id: u32,
    /// Its type. The subtype is not in DICT and is 0 until it is determined.
    pub(super) kind: Type,
    /// Absolute offset of its bytes in the source.
    pub(super) offset: u32,
    /// Length in bytes.
    pub(super) size: u32,
    /// Padding after it in its layer, in bytes.
    pub(super) plus: u32,
    /// 1 SOURCE_FILE, 2 SOURCE_VIRTUAL, 4 READ_TRANSFORM, 8 WRITE_TRANSFORM.
    pub(super) flags: u32,
    /// Alignment in bytes; 0 or less for the alignment of the asset's type;
    /// `None` without ADBG.
    pub(super) align: Option<i32>,
    /// CRC-32/MPEG-2 of its data, 0 for none; `None` in archives of the first
    /// version, which have none.
    pub(super) checksum: Option<u32>,
    /// Position of its name, followed by its source file, in [`Toc::texts`].
    text: u32,
    name_length: u32,
    source_length: u32,
}

impl Asset {
    /// Returns the checksum of its data; `None` if the archive has none.
    pub(super) fn recorded_sum(&self) -> Option<u32> {
        self.checksum.filter(|&checksum| checksum != 0)
    }
}

/// One layer, as LHDR and its LDBG describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    /// Number of its type.
    pub(super) kind: u32,
    /// LDBG's value.
    pub(super) debug: Option<u32>,
    /// Position of its asset ids in [`Toc::ids`].
    first: u32,
    count: u32,
}

/// The tables of an archive.
#[derive(Debug, Default)]
pub(super) struct Toc {
    /// The assets in the order of the archive.
    pub(super) assets: Vec<Asset>,
    /// The layers in the order of the archive.
    pub(super) layers: Vec<Layer>,
    /// AINF, unused by the games.
    pub(super) asset_info: Option<u32>,
    /// LINF, unused by the games.
    pub(super) layer_info: Option<u32>,
    /// Asset ids of all layers.
    ids: Vec<u32>,
    /// Names and source files of all assets.
    texts: Vec<u8>,
    /// Position of each asset's description, if the archive is read to be changed.
    pub(super) places: Option<Vec<Place>>,
}

/// The position of an asset's description.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Absolute offset of AHDR's body.
    pub(super) header: u64,
    /// Absolute offset of the checksum, if there is one.
    pub(super) checksum: Option<u64>,
}

impl Toc {
    /// Returns the memory that it uses, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.assets.capacity() * size_of::<Asset>()
            + self.layers.capacity() * size_of::<Layer>()
            + self.ids.capacity() * size_of::<u32>()
            + self.texts.capacity()
    }

    /// Reads the blocks of DICT's body. A truncated header is an error; with
    /// `force` it is skipped instead.
    pub(super) fn read(
        &mut self,
        mut body: Cursor,
        force: bool,
        warnings: &mut Warnings,
    ) -> Result<()> {
        while let Some(mut table) = block::next(&mut body, warnings)? {
            while let Some(entry) = block::next(&mut table.body, warnings)? {
                let read = match (&table.name, &entry.name) {
                    (b"ATOC", b"AHDR") => self.read_asset(entry, warnings),
                    (b"LTOC", b"LHDR") => self.read_layer(entry, warnings),
                    _ => {
                        self.read_value(&table.name, entry);
                        Ok(())
                    }
                };
                match read {
                    Err(error @ Error::Damaged { .. }) if force => warnings.push(error.to_string()),
                    other => other?,
                }
            }
        }
        Ok(())
    }

    /// Returns the name of `asset`, single-byte text.
    pub(super) fn name(&self, asset: &Asset) -> &[u8] {
        self.text(asset.text, asset.name_length)
    }

    /// Returns the file that `asset` was made from, single-byte text.
    pub(super) fn source_file(&self, asset: &Asset) -> &[u8] {
        let start = asset.text.saturating_add(asset.name_length);
        self.text(start, asset.source_length)
    }

    /// Returns the asset ids that `layer` lists.
    pub(super) fn ids(&self, layer: &Layer) -> &[u32] {
        let first = layer.first as usize;
        self.ids
            .get(first..first + layer.count as usize)
            .unwrap_or_default()
    }

    fn text(&self, start: u32, length: u32) -> &[u8] {
        let start = start as usize;
        self.texts
            .get(start..start + length as usize)
            .unwrap_or_default()
    }

    fn read_asset(&mut self, mut entry: Block, warnings: &mut Warnings) -> Result<()> {
        if entry.body.remaining() < size_of::<AssetHeader>() {
            return Err(block::too_short(&entry, size_of::<AssetHeader>()));
        }
        if self.assets.len() >= MAX_ENTRIES {
            return Err(too_many(entry.offset, MAX_ENTRIES, "entries"));
        }
        let mut place = Place {
            header: entry.body.offset(),
            checksum: None,
        };
        let header: &AssetHeader = entry.body.record("AHDR")?;
        let mut asset = Asset {
            id: header.id.get(),
            kind: Type {
                code: padded(header.kind),
                subtype: 0,
            },
            offset: header.offset.get(),
            size: header.size.get(),
            plus: header.plus.get(),
            flags: header.flags.get(),
            align: None,
            checksum: None,
            text: self.texts.len() as u32,
            name_length: 0,
            source_length: 0,
        };
        while let Some(child) = block::next(&mut entry.body, warnings)? {
            if &child.name == b"ADBG" && asset.align.is_none() {
                place.checksum = self.read_debug(&mut asset, child.body)?;
            }
        }
        self.assets.push(asset);
        if let Some(places) = &mut self.places {
            places.push(place);
        }
        Ok(())
    }

    fn read_debug(&mut self, asset: &mut Asset, mut body: Cursor) -> Result<Option<u64>> {
        let Ok(align) = body.i32("align") else {
            return Ok(None);
        };
        let name = block::take_string(&mut body, "name")?;
        let source = block::take_string(&mut body, "filename")?;
        asset.align = Some(align);
        asset.name_length = name.len() as u32;
        asset.source_length = source.len() as u32;
        let offset = body.offset();
        asset.checksum = block::number(&mut body, "checksum");
        self.texts.extend_from_slice(name);
        self.texts.extend_from_slice(source);
        Ok(asset.checksum.map(|_| offset))
    }

    fn read_layer(&mut self, mut entry: Block, warnings: &mut Warnings) -> Result<()> {
        let body = &mut entry.body;
        let (Ok(kind), Ok(count)) = (body.u32("type"), body.u32("count")) else {
            return Err(block::too_short(&entry, 8));
        };
        let room = body.remaining() / 4;
        let listed = room.min(count as usize);
        if listed < count as usize {
            warnings.push(format!(
                "LHDR at {:#x}: its {count} assets do not fit, only {room} do",
                entry.offset
            ));
        }
        if self.layers.len() >= MAX_LAYERS {
            return Err(too_many(entry.offset, MAX_LAYERS, "layers"));
        }
        if self.ids.len() + listed > MAX_ENTRIES {
            return Err(too_many(entry.offset, MAX_ENTRIES, "entries"));
        }
        let first = self.ids.len() as u32;
        for _ in 0..listed {
            self.ids.push(body.u32("asset id")?);
        }
        let mut debug = None;
        while let Some(mut child) = block::next(body, warnings)? {
            if &child.name == b"LDBG" {
                debug = block::number(&mut child.body, "LDBG");
            }
        }
        self.layers.push(Layer {
            kind,
            debug,
            first,
            count: listed as u32,
        });
        Ok(())
    }

    /// Reads the single numbers of the tables. An LDBG that follows its LHDR,
    /// instead of being inside it, belongs to it too.
    fn read_value(&mut self, table: &block::Name, mut entry: Block) {
        let value = block::number(&mut entry.body, "value");
        match (table, &entry.name) {
            (b"ATOC", b"AINF") => self.asset_info = value,
            (b"LTOC", b"LINF") => self.layer_info = value,
            (b"LTOC", b"LDBG") => {
                if let Some(layer) = self.layers.last_mut() {
                    layer.debug = value;
                }
            }
            _ => {}
        }
    }
}

/// Returns a code padded with spaces, which some tools omit.
fn padded(mut code: Code) -> Code {
    for byte in code.iter_mut().rev() {
        match byte {
            0 => *byte = b' ',
            b' ' => {}
            _ => break,
        }
    }
    code
}

fn too_many(offset: u64, most: usize, what: &str) -> Error {
    Error::damaged(offset, "DICT", format!("lists more than {most} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Endian;

    fn block(name: &str, body: &[u8]) -> Vec<u8> {
        let size = (body.len() as u32).to_be_bytes();
        [name.as_bytes(), &size, body].concat()
    }

    fn read(dict: &[u8], force: bool) -> Result<(Toc, Vec<String>)> {
        let mut toc = Toc::default();
        let mut warnings = Warnings::default();
        let body = Cursor::new(dict, 0x100, Endian::Big);
        toc.read(body, force, &mut warnings)?;
        Ok((toc, warnings.texts()))
    }

    fn header(id: u8, kind: &[u8; 4]) -> Vec<u8> {
        let numbers = [0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 9];
        [&[0, 0, 0, id][..], kind, &numbers].concat()
    }

    #[test]
    fn an_asset_has_all_its_fields() {
        let debug = block(
            "ADBG",
            b"\xff\xff\xff\xffab\0\0\\\\job\\x\0\x12\x34\x56\x78",
        );
        let asset = [header(1, b"BSP\0"), debug].concat();
        let table = [block("AINF", &[0, 0, 0, 6]), block("AHDR", &asset)].concat();
        let (toc, warnings) = read(&block("ATOC", &table), false).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(toc.asset_info, Some(6));
        let asset = toc.assets[0];
        assert_eq!((asset.id, &asset.kind.code), (1, b"BSP "));
        assert_eq!((asset.offset, asset.size), (7, 5));
        assert_eq!((asset.plus, asset.flags), (3, 9));
        assert_eq!((asset.align, asset.checksum), (Some(-1), Some(0x1234_5678)));
        assert_eq!(toc.name(&asset), b"ab");
        assert_eq!(toc.source_file(&asset), b"\\\\job\\x");
    }

    #[test]
    fn an_asset_may_lack_its_debug_block_and_its_checksum() {
        let bare = block("AHDR", &header(1, b"TEXT"));
        let debug = block("ADBG", b"\0\0\0\x10a\0\0\0");
        let first_version = block("AHDR", &[header(2, b"TEXT"), debug].concat());
        let table = block("ATOC", &[bare, first_version].concat());
        let (toc, _) = read(&table, false).unwrap();
        assert_eq!(toc.assets[0].align, None);
        assert_eq!(toc.name(&toc.assets[0]), b"");
        let asset = toc.assets[1];
        assert_eq!((asset.align, asset.checksum), (Some(16), None));
        assert_eq!(toc.name(&asset), b"a");
    }

    #[test]
    fn a_truncated_header_is_skipped_only_with_force() {
        let good = block("AHDR", &header(1, b"TEXT"));
        let table = block("ATOC", &[good, block("AHDR", &[0; 6])].concat());
        let error = read(&table, false).unwrap_err();
        assert_eq!(error.to_string(), "AHDR at 0x128: needs 24 bytes, has 6");
        let (toc, warnings) = read(&table, true).unwrap();
        assert_eq!(toc.assets.len(), 1);
        assert_eq!(warnings, [error.to_string()]);
    }

    #[test]
    fn a_layer_with_a_wrong_count_has_the_assets_that_fit() {
        let ids = b"\0\0\0\x03\xff\xff\xff\xff\0\0\0\x01\0\0\0\x02";
        let (toc, warnings) = read(&block("LTOC", &block("LHDR", ids)), false).unwrap();
        assert_eq!(toc.ids(&toc.layers[0]), [1, 2]);
        assert_eq!(
            warnings,
            ["LHDR at 0x108: its 4294967295 assets do not fit, only 2 do"]
        );
    }

    #[test]
    fn more_layers_than_any_archive_has_are_refused() {
        let empty = block("LHDR", &[0, 0, 0, 3, 0, 0, 0, 0]);
        let table = |layers| block("LTOC", &empty.repeat(layers));
        let (toc, _) = read(&table(MAX_LAYERS), false).unwrap();
        assert_eq!(toc.layers.len(), MAX_LAYERS);
        let error = read(&table(MAX_LAYERS + 1), false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "DICT at 0x27208: lists more than 10000 layers"
        );
    }

    #[test]
    fn a_layers_debug_value_may_follow_it() {
        let empty = [0, 0, 0, 3, 0, 0, 0, 0];
        let inside = block(
            "LHDR",
            &[&empty[..], &block("LDBG", &[0, 0, 0, 7])].concat(),
        );
        let after = [block("LHDR", &empty), block("LDBG", &[0, 0, 0, 8])].concat();
        let (toc, _) = read(&block("LTOC", &[inside, after].concat()), false).unwrap();
        assert_eq!(toc.layers[0].debug, Some(7));
        assert_eq!(toc.layers[1].debug, Some(8));
    }
}
