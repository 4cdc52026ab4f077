//! Blocks: a type, a size, and contents (FORMATS, HGO 1).

use get_size2::GetSize;

use super::Hgo;
use hpimount_containers::io::{Cursor, Error, Result};

/// Bytes of a block's type and size.
pub(super) const HEADER_SIZE: u64 = 8;

/// A block of the file.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct Block {
    /// Type as the tools write it, such as `NTBL`. GameCube files have it in reverse.
    pub tag: [u8; 4],
    /// 0 for the root, 1 for the blocks in it, 2 for the blocks of the texture
    /// set.
    pub depth: u8,
    /// Absolute offset of the block's type, its first field.
    pub offset: u64,
    /// Size including the header of 8 bytes. Stored as a signed number; the sign is
    /// ignored.
    pub size: u32,
    /// Number of bytes with known contents, including the header; the rest is
    /// padding.
    pub consumed: u64,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, GetSize)]
pub enum BlockKind {
    /// `HGOF`: the whole file.
    Root,
    /// `NTBL`: the name table.
    Names,
    /// `TST0`: the texture set.
    Textures,
    /// `TSH0`: number of textures.
    TextureCount,
    /// `TXM0`: a texture.
    Texture,
    /// `MS00`: the materials.
    Materials,
    /// `TAS0`: the texture animations.
    TextureAnimations,
    /// `HGO0`: skeleton and geometry.
    Object,
}

impl BlockKind {
    /// Returns the kind of block with this type.
    pub fn from_tag(tag: [u8; 4]) -> Option<Self> {
        match &tag {
            b"HGOF" => Some(Self::Root),
            b"NTBL" => Some(Self::Names),
            b"TST0" => Some(Self::Textures),
            b"TSH0" => Some(Self::TextureCount),
            b"TXM0" => Some(Self::Texture),
            b"MS00" => Some(Self::Materials),
            b"TAS0" => Some(Self::TextureAnimations),
            b"HGO0" => Some(Self::Object),
            _ => None,
        }
    }

    /// Returns the meaning in a word or two.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Root => "whole file",
            Self::Names => "name table",
            Self::Textures => "texture set",
            Self::TextureCount => "number of textures",
            Self::Texture => "texture",
            Self::Materials => "materials",
            Self::TextureAnimations => "texture animations",
            Self::Object => "skeleton and geometry",
        }
    }
}

pub(super) fn read_header(cursor: &mut Cursor<'_>, depth: u8) -> Result<Block> {
    let offset = cursor.offset();
    let tag = cursor.u32("block type")?.to_le_bytes();
    let size = cursor.i32("block size")?.unsigned_abs();
    if u64::from(size) < HEADER_SIZE {
        return Err(Error::damaged(
            offset,
            format!("block {}", tag.escape_ascii()),
            format!("its size is {size}, less than its header"),
        ));
    }
    Ok(Block {
        tag,
        depth,
        offset,
        size,
        consumed: HEADER_SIZE,
    })
}

/// Reads the blocks of one depth to the end of `cursor`.
///
/// A block that extends past the end of its parent is truncated.
pub(super) fn read_blocks(
    cursor: &mut Cursor<'_>,
    hgo: &mut Hgo,
    depth: u8,
    read: fn(BlockKind, &mut Cursor<'_>, &mut Hgo) -> Result<bool>,
) -> Result<()> {
    while cursor.remaining() >= HEADER_SIZE as usize {
        let block = read_header(cursor, depth)?;
        let (tag, offset, size) = (block.tag, block.offset, u64::from(block.size));
        let index = hgo.blocks.len();
        hgo.blocks.push(block);
        let wanted = size - HEADER_SIZE;
        if wanted > cursor.remaining() as u64 {
            let end = cursor.offset() + cursor.remaining() as u64;
            hgo.warnings.push(format!(
                "block {} at {offset:#x}: ends at {:#x}, past the end of its parent at {end:#x}",
                tag.escape_ascii(),
                offset + size
            ));
        }
        let length = (wanted as usize).min(cursor.remaining());
        let mut inner = cursor.section(length, "block")?;
        let result = match BlockKind::from_tag(tag) {
            Some(kind) => read(kind, &mut inner, hgo),
            None => Ok(false),
        };
        hgo.blocks[index].consumed = inner.offset() - offset;
        if !result? {
            hgo.warnings.push(format!(
                "block {} at {offset:#x}: is not known here",
                tag.escape_ascii()
            ));
        }
    }
    let offset = cursor.offset();
    let tail = cursor.take(cursor.remaining(), "tail")?;
    if tail.iter().any(|&byte| byte != 0) {
        hgo.warnings.push(format!(
            "{} bytes at {offset:#x}: too few for a block, and not zero",
            tail.len()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::hgo::parse::parse;
    use fixtures::hgo::Build;
    use hpimount_containers::io::Endian;

    #[test]
    fn blocks_are_listed_with_their_nested_blocks() {
        let hgo = parse(&Build::new(Endian::Big).mouse().into()).unwrap();
        let listed: Vec<_> = hgo.blocks.iter().map(|b| (b.depth, &b.tag)).collect();
        assert_eq!(
            listed,
            [
                (0, b"HGOF"),
                (1, b"NTBL"),
                (1, b"TST0"),
                (2, b"TSH0"),
                (2, b"TXM0"),
                (1, b"MS00"),
                (1, b"HGO0"),
            ]
        );
    }

    #[test]
    fn the_sign_of_a_size_is_ignored() {
        let build = Build::new(Endian::Big);
        let mut block = build.block(b"NTBL", &build.names(&["root"]));
        let negative = -(block.len() as i32);
        block[4..8].copy_from_slice(&negative.to_be_bytes());
        let hgo = parse(&build.root(&[block]).into()).unwrap();
        assert_eq!(hgo.names.iter().collect::<Vec<_>>(), ["root"]);
        assert!(hgo.warnings.is_empty());
    }

    #[test]
    fn a_block_smaller_than_its_header_is_an_error() {
        let build = Build::new(Endian::Big);
        let mut bytes = build.root(&[build.block(b"NTBL", &[])]);
        bytes[15] = 7;
        let incomplete = parse(&bytes.clone().into()).unwrap_err();
        assert_eq!(
            incomplete.error.to_string(),
            "block NTBL at 0x8: its size is 7, less than its header"
        );
    }

    #[test]
    fn unknown_blocks_and_blocks_in_the_wrong_place_are_skipped() {
        let build = Build::new(Endian::Big);
        let stray = build.block(b"TXM0", &[]);
        let bytes = build.root(&[build.block(b"XYZ0", &[1; 4]), stray]);
        assert_eq!(
            parse(&bytes.clone().into()).unwrap().warnings.texts(),
            [
                "block XYZ0 at 0x8: is not known here",
                "block TXM0 at 0x14: is not known here",
            ]
        );
    }

    #[test]
    fn a_block_past_the_end_is_cut_there() {
        let build = Build::new(Endian::Big);
        let mut bytes = build.root(&[build.block(b"NTBL", &build.names(&["root"]))]);
        bytes[15] += 8;
        let hgo = parse(&bytes.clone().into()).unwrap();
        assert_eq!(hgo.names.iter().count(), 1);
        assert_eq!(
            hgo.warnings.texts(),
            ["block NTBL at 0x8: ends at 0x24, past the end of its parent at 0x1c"]
        );
    }
}
