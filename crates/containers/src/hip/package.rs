//! PACK: metadata of the archive (FORMATS, HIP 3).

use crate::io::{Cursor, Result};

use super::block;
use crate::io::Warnings;

/// Maximum number of strings of a PLAT block; games have four or five.
const MAX_STRINGS: usize = 16;

/// The fields of PACK. Every block in it may be missing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Package {
    /// PVER.
    pub(super) version: Option<Version>,
    /// PFLG, unused by the games.
    pub(super) flags: Option<u32>,
    /// PCNT.
    pub(super) counts: Option<Counts>,
    /// PCRT.
    pub(super) created: Option<Created>,
    /// PMOD, seconds since 1970 UTC.
    pub(super) modified: Option<u32>,
    /// PLAT: its strings in the order of the file, single-byte text.
    pub(super) plat: Option<Vec<Vec<u8>>>,
}

/// PVER.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    /// `subVersion`, 2 in all games; lower ones have no checksums.
    pub(super) sub: u32,
    /// `clientVersion`, of the tool that wrote the archive.
    pub(super) client: u32,
    /// `compatVersion`, 1 if it is missing.
    pub(super) compat: u32,
}

/// PCNT. Tools write zeros or wrong numbers, so nothing relies on it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    /// Absolute offset of the first one.
    pub(super) offset: u64,
    /// Number of AHDR blocks.
    pub(super) assets: Option<u32>,
    /// Number of LHDR blocks.
    pub(super) layers: Option<u32>,
    /// Largest size of an asset.
    pub(super) max_asset: Option<u32>,
    /// Largest size of a layer.
    pub(super) max_layer: Option<u32>,
    /// Largest size of an asset with the flag READ_TRANSFORM.
    pub(super) max_xform: Option<u32>,
}

/// PCRT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Created {
    /// Seconds since 1970 UTC.
    pub(super) time: u32,
    /// The same as text, in the time zone of California; empty if it is
    /// missing.
    pub(super) text: Vec<u8>,
}

impl Package {
    /// Reads the blocks of PACK's body, in any order.
    pub(super) fn read(&mut self, mut body: Cursor, warnings: &mut Warnings) -> Result<()> {
        while let Some(mut block) = block::next(&mut body, warnings)? {
            let body = &mut block.body;
            let complete = match &block.name {
                b"PVER" => replace(&mut self.version, version(body)),
                b"PFLG" => replace(&mut self.flags, block::number(body, "PFLG")),
                b"PCNT" => replace(&mut self.counts, Some(counts(body))),
                b"PCRT" => replace(&mut self.created, created(body)?),
                b"PMOD" => replace(&mut self.modified, block::number(body, "PMOD")),
                b"PLAT" => replace(&mut self.plat, Some(strings(body)?)),
                _ => true,
            };
            if !complete {
                let name = String::from_utf8_lossy(&block.name);
                warnings.push(format!("{name} at {:#x}: is too short", block.offset));
            }
        }
        Ok(())
    }
}

/// Sets a field to the value that was read; returns whether there was one.
fn replace<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let found = value.is_some();
    if found {
        *field = value;
    }
    found
}

fn version(body: &mut Cursor) -> Option<Version> {
    Some(Version {
        sub: block::number(body, "subVersion")?,
        client: block::number(body, "clientVersion")?,
        compat: block::number(body, "compatVersion").unwrap_or(1),
    })
}

fn counts(body: &mut Cursor) -> Counts {
    Counts {
        offset: body.offset(),
        assets: block::number(body, "assetCount"),
        layers: block::number(body, "layerCount"),
        max_asset: block::number(body, "maxAssetSize"),
        max_layer: block::number(body, "maxLayerSize"),
        max_xform: block::number(body, "maxXformAssetSize"),
    }
}

fn created(body: &mut Cursor) -> Result<Option<Created>> {
    let Some(time) = block::number(body, "createdDate") else {
        return Ok(None);
    };
    let text = block::take_string(body, "createdDateString")?.to_vec();
    Ok(Some(Created { time, text }))
}

fn strings(body: &mut Cursor) -> Result<Vec<Vec<u8>>> {
    let mut strings = Vec::new();
    while body.remaining() > 0 && strings.len() < MAX_STRINGS {
        strings.push(block::take_string(body, "PLAT")?.to_vec());
    }
    Ok(strings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Endian;

    fn read(bytes: &[u8]) -> (Package, Vec<String>) {
        let mut package = Package::default();
        let mut warnings = Warnings::default();
        package
            .read(Cursor::new(bytes, 0, Endian::Big), &mut warnings)
            .unwrap();
        (package, warnings.texts())
    }

    #[test]
    fn the_blocks_are_read_in_any_order() {
        let (package, warnings) = read(
            b"PLAT\0\0\0\x10GC\0\0GameCube\0\0\0\0\
              PVER\0\0\0\x08\0\0\0\x02\0\x0a\0\x0fPMOD\0\0\0\x04\0\0\0\x09\
              NEW!\0\0\0\x01?\0",
        );
        assert!(warnings.is_empty());
        let plat: Vec<&[u8]> = vec![b"GC", b"GameCube", b""];
        assert_eq!(package.plat.unwrap(), plat);
        assert_eq!(package.modified, Some(9));
        let version = Version {
            sub: 2,
            client: 0x000A_000F,
            compat: 1,
        };
        assert_eq!(package.version, Some(version));
    }

    #[test]
    fn the_text_of_a_date_may_be_missing() {
        let (package, _) = read(b"PCRT\0\0\0\x04\0\0\0\x07");
        let created = package.created.unwrap();
        assert_eq!((created.time, created.text), (7, Vec::new()));
    }

    #[test]
    fn a_block_without_its_number_is_a_warning() {
        let (package, warnings) = read(b"PFLG\0\0\0\x02\0\0");
        assert_eq!(package, Package::default());
        assert_eq!(warnings, ["PFLG at 0x0: is too short"]);
    }
}
