//! The top-level blocks of an archive (FORMATS, HIP 1 and 7).

use crate::format::Options;
use crate::io::{Cursor, Endian, Error, ReadAt, Result, read_vec};

use super::block::{self, Header};
use super::hipb::Hipb;
use super::package::Package;
use super::toc::Toc;
use crate::io::Warnings;

/// Maximum number of blocks that are read; archives have five.
const MAX_BLOCKS: usize = 64;

/// Maximum length of PACK and HIPB, in bytes.
const MAX_HEADER_LENGTH: u64 = 1 << 20;

/// Maximum length of DICT, in bytes: enough for two million assets.
pub(super) const MAX_DICT_LENGTH: u64 = 1 << 28;

/// Everything in an archive except the data of its assets.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// PACK.
    pub(super) package: Package,
    /// DICT.
    pub(super) toc: Toc,
    /// STRM.
    pub(super) stream: Option<Stream>,
    /// HIPB.
    pub(super) hipb: Option<Hipb>,
    /// The headers of all blocks, in the order of the archive.
    pub(super) blocks: Vec<Header>,
}

/// STRM, which is not needed to find data: the position of an asset is in its
/// AHDR.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Stream {
    /// Length according to its header.
    pub(super) size: u32,
    /// DHDR's value.
    pub(super) debug: Option<u32>,
    /// DPAK.
    pub(super) data: Option<Header>,
    /// Length of the padding at DPAK's start, as stored.
    pub(super) padding: Option<u32>,
}

impl Contents {
    /// Reads the blocks of `source`, and also where assets are described if it is to be
    /// changed.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, or, unless `force`, if
    /// DICT is damaged.
    pub(super) fn read(
        source: &dyn ReadAt,
        options: &Options,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        let mut contents = Self::default();
        contents.toc.places = options.to_change.then(Vec::new);
        let (mut has_package, mut has_toc) = (false, false);
        let mut offset = 0;
        for _ in 0..MAX_BLOCKS {
            let Some(header) = Header::read(source, offset)? else {
                break;
            };
            offset = header.next();
            contents.blocks.push(header);
            match &header.name {
                b"PACK" => {
                    has_package = true;
                    let body = body(source, header, MAX_HEADER_LENGTH, warnings)?;
                    let cursor = Cursor::new(&body, header.body(), Endian::Big);
                    contents.package.read(cursor, warnings)?;
                }
                b"DICT" => {
                    has_toc = true;
                    let body = body(source, header, MAX_DICT_LENGTH, warnings)?;
                    let cursor = Cursor::new(&body, header.body(), Endian::Big);
                    contents.toc.read(cursor, options.force, warnings)?;
                }
                b"STRM" => {
                    let stream = Stream::read(source, header)?;
                    offset = stream.end(source, header, warnings)?;
                    contents.stream = Some(stream);
                }
                b"HIPB" => {
                    let body = body(source, header, MAX_HEADER_LENGTH, warnings)?;
                    let cursor = Cursor::new(&body, header.body(), Endian::Big);
                    contents.hipb = Some(Hipb::read(cursor, warnings));
                }
                _ => {}
            }
        }
        for (exists, name) in [(has_package, "PACK"), (has_toc, "DICT")] {
            if !exists {
                warnings.push(format!("there is no {name} block"));
            }
        }
        if offset < source.len() {
            let left = source.len() - offset;
            warnings.push(format!("{left} bytes at {offset:#x} belong to no block"));
        }
        Ok(contents)
    }
}

impl Stream {
    fn read(source: &dyn ReadAt, header: Header) -> Result<Self> {
        let mut stream = Self {
            size: header.size,
            ..Self::default()
        };
        let mut offset = header.body();
        // The size of STRM is unreliable, but its two blocks are always at its
        // start.
        for _ in 0..2 {
            let Some(child) = Header::read(source, offset)? else {
                break;
            };
            match &child.name {
                b"DHDR" => stream.debug = first_number(source, child)?,
                b"DPAK" => {
                    stream.data = Some(child);
                    stream.padding = first_number(source, child)?;
                    break;
                }
                _ => break,
            }
            offset = child.next();
        }
        Ok(stream)
    }

    /// Returns the offset of the next block: after STRM or, if its size is
    /// wrong, after its DPAK. Otherwise nothing follows.
    fn end(&self, source: &dyn ReadAt, header: Header, warnings: &mut Warnings) -> Result<u64> {
        let length = source.len();
        let stated = header.next();
        let data_end = self.data.map_or(stated, |data| data.next());
        if stated != data_end {
            warnings.push(format!(
                "STRM ends at {stated:#x}, the DPAK in it at {data_end:#x}"
            ));
        }
        for offset in [stated, data_end] {
            if offset == length || is_known(Header::read(source, offset)?) {
                return Ok(offset);
            }
        }
        if stated.max(data_end) > length {
            warnings.push(format!("STRM is cut off at {length:#x}"));
        }
        // The engine ignores anything else.
        Ok(stated.max(data_end).min(length))
    }
}

/// Returns whether a block may follow STRM. If the size of STRM is wrong, other
/// names could be data of an asset.
fn is_known(header: Option<Header>) -> bool {
    header.is_some_and(|header| matches!(&header.name, b"HIPB" | b"PACK" | b"DICT"))
}

/// Returns the body of a block, limited by the source.
pub(super) fn body(
    source: &dyn ReadAt,
    header: Header,
    longest: u64,
    warnings: &mut Warnings,
) -> Result<Vec<u8>> {
    let name = String::from_utf8_lossy(&header.name);
    let left = source.len().saturating_sub(header.body());
    let length = u64::from(header.size).min(left);
    if length > longest {
        let problem = format!("has {length} bytes, more than {longest} are not supported");
        return Err(Error::damaged(header.offset, name.into_owned(), problem));
    }
    if length < u64::from(header.size) {
        warnings.push(format!(
            "{name} at {:#x}: its {} bytes exceed the {left} that are left",
            header.offset, header.size
        ));
    }
    read_vec(source, header.body(), length, "block")
}

/// Returns the first number in a block's body, if there is one.
fn first_number(source: &dyn ReadAt, header: Header) -> Result<Option<u32>> {
    if header.size < 4 || source.len().saturating_sub(header.body()) < 4 {
        return Ok(None);
    }
    let bytes = read_vec(source, header.body(), 4, "value")?;
    let mut cursor = Cursor::new(&bytes, header.body(), Endian::Big);
    Ok(block::number(&mut cursor, "value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(name: &str, size: u32, body: &[u8]) -> Vec<u8> {
        [name.as_bytes(), &size.to_be_bytes(), body].concat()
    }

    fn read(bytes: Vec<u8>) -> (Contents, Vec<String>) {
        let mut warnings = Warnings::default();
        let options = Options::default();
        let contents = Contents::read(&bytes, &options, &mut warnings).unwrap();
        (contents, warnings.texts())
    }

    /// Returns an archive whose STRM declares `stream` bytes and whose DPAK
    /// declares `data`, followed by a HIPB. The correct values are 30 and 10.
    fn archive(stream: u32, data: u32) -> Vec<u8> {
        [
            block("HIPA", 0, b""),
            block("PACK", 0, b""),
            block("DICT", 0, b""),
            block("STRM", stream, b""),
            block("DHDR", 4, &[0xFF; 4]),
            block("DPAK", data, b"\0\0\0\x04333312"),
            block("HIPB", 4, &[0, 0, 0, 0]),
        ]
        .concat()
    }

    #[test]
    fn hipb_is_found_after_strm_or_after_dpak() {
        for (stream, data) in [(30, 10), (30, 0x7FFF_FFFF), (4, 10), (u32::MAX, 10)] {
            let (contents, warnings) = read(archive(stream, data));
            assert!(contents.hipb.is_some(), "{stream} {data}");
            // Only the first one is consistent.
            assert_eq!(warnings.is_empty(), (stream, data) == (30, 10));
            let found = contents.stream.unwrap();
            assert_eq!((found.debug, found.padding), (Some(u32::MAX), Some(4)));
        }
    }

    #[test]
    fn a_stream_that_is_cut_off_is_a_warning() {
        let (contents, warnings) = read(archive(0x1014, 0x1000));
        assert!(contents.hipb.is_none());
        assert_eq!(warnings, ["STRM is cut off at 0x4a"]);
    }

    #[test]
    fn data_of_assets_is_not_mistaken_for_blocks() {
        let mut bytes = archive(26, 10);
        bytes[58..62].copy_from_slice(b"HELP");
        let (contents, warnings) = read(bytes);
        assert!(contents.hipb.is_some());
        assert_eq!(warnings, ["STRM ends at 0x3a, the DPAK in it at 0x3e"]);
    }

    #[test]
    fn an_invalid_block_ends_the_archive() {
        let garbage = [archive(30, 10), b"3333333333".to_vec()].concat();
        let (contents, warnings) = read(garbage);
        assert!(contents.hipb.is_some());
        assert_eq!(warnings, ["10 bytes at 0x4a belong to no block"]);
    }

    #[test]
    fn missing_blocks_are_warnings() {
        let (_, warnings) = read(block("HIPA", 0, b""));
        assert_eq!(
            warnings,
            ["there is no PACK block", "there is no DICT block"]
        );
    }

    #[test]
    fn the_number_of_blocks_is_bounded() {
        let (_, warnings) = read(block("NULL", 0, b"").repeat(1000));
        assert_eq!(warnings.len(), 3);
    }
}
