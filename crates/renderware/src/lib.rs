#![doc = include_str!("../README.md")]
//!
//! RenderWare chunks (FORMATS, HIP assets 2), and the structures in them that several
//! families of games use.
//!
//! A chunk is a type, a size and a version, little-endian on every console, and a body,
//! which may contain chunks. Children are parsed only on request; unknown chunks are
//! skipped.

#![forbid(unsafe_code)]

pub mod clump;
pub mod export;
pub mod rewrite;
pub mod texture;
pub mod user_data;
pub mod world;

use bytes::Bytes;

use hpimount_assets::parse::name::until_nul;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Types of chunks.
pub mod kind {
    /// Plain fields of the parent chunk.
    pub const STRUCT: u32 = 0x01;
    /// A string, padded to a multiple of 4.
    pub const STRING: u32 = 0x02;
    /// Data of plugins.
    pub const EXTENSION: u32 = 0x03;
    /// A reference to a texture.
    pub const TEXTURE: u32 = 0x06;
    /// A material.
    pub const MATERIAL: u32 = 0x07;
    /// A list of materials.
    pub const MATERIAL_LIST: u32 = 0x08;
    /// A sector of a world.
    pub const SECTOR: u32 = 0x09;
    /// A plane between parts of a world.
    pub const PLANE: u32 = 0x0A;
    /// A world: level geometry as a tree of sectors.
    pub const WORLD: u32 = 0x0B;
    /// A light.
    pub const LIGHT: u32 = 0x12;
    /// A list of frames.
    pub const FRAME_LIST: u32 = 0x0E;
    /// A geometry.
    pub const GEOMETRY: u32 = 0x0F;
    /// A clump: a model.
    pub const CLUMP: u32 = 0x10;
    /// An atomic: a geometry in a frame.
    pub const ATOMIC: u32 = 0x14;
    /// A texture as a console stores it.
    pub const TEXTURE_NATIVE: u32 = 0x15;
    /// A texture dictionary.
    pub const TEXTURE_DICTIONARY: u32 = 0x16;
    /// A list of geometries.
    pub const GEOMETRY_LIST: u32 = 0x1A;
    /// Plugin: skin.
    pub const SKIN: u32 = 0x116;
    /// Plugin: node of a skeleton.
    pub const HANIM: u32 = 0x11E;
    /// Plugin: named values.
    pub const USER_DATA: u32 = 0x11F;
    /// Plugin: triangles by material.
    pub const BIN_MESH: u32 = 0x50E;
    /// Plugin: geometry as a console stores it.
    pub const NATIVE_DATA: u32 = 0x510;
    /// The vertex format of native geometry of the Xbox.
    pub const VERTEX_FORMAT: u32 = 0x511;
    /// Plugin of Grand Theft Auto: colors of vertices at night.
    pub const NIGHT_COLORS: u32 = 0x253_F2F9;
    /// Plugin of Grand Theft Auto: the name of a frame.
    pub const FRAME_NAME: u32 = 0x253_F2FE;
}

/// Length of a chunk's header in bytes.
pub const HEADER: usize = 12;

/// Mask of a size without its corrupted top byte.
const MENDED_SIZE: u32 = 0x00FF_FFFF;

/// The library version that wrote a chunk, as stored.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub u32);

impl Version {
    /// Returns the version as a number, `0x34003` for 3.4.0.3. The old form, without
    /// build number, is in the two low bytes.
    pub fn number(self) -> u32 {
        if self.0 & 0xFFFF_0000 == 0 {
            return self.0 << 8;
        }
        ((self.0 >> 14 & 0x3_FF00) + 0x3_0000) | (self.0 >> 16 & 0x3F)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.number();
        write!(
            f,
            "{:x}.{:x}.{:x}.{:x}",
            number >> 16,
            number >> 12 & 15,
            number >> 8 & 15,
            number & 0xFF
        )
    }
}

/// A chunk: its header and its body.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Type, see [`kind`].
    pub kind: u32,
    /// Version of the library that wrote it.
    pub version: Version,
    /// Size of the body according to the header.
    pub declared_size: u32,
    /// Absolute offset of the body in the asset.
    pub offset: u64,
    /// True if the top byte of the size was ignored, see [`Chunks`].
    pub is_mended: bool,
    /// The body, possibly truncated.
    pub body: Bytes,
}

impl Chunk {
    /// Returns whether the header declares more bytes than the parent chunk
    /// has.
    pub fn is_cut(&self) -> bool {
        (self.body.len() as u64) < u64::from(self.declared_size)
    }

    /// Returns the chunks in the body.
    pub fn children(&self) -> Chunks {
        Chunks::new(self.body.clone(), self.offset)
    }

    /// Returns the first child of type `kind`.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the child is missing.
    pub fn child(&self, kind: u32, field: &'static str) -> Result<Self> {
        let found = self.children().find(|chunk| chunk.kind == kind);
        found.ok_or_else(|| Error::damaged(self.offset, field, "is missing"))
    }

    /// Returns the plugin data in the first extension among the children.
    pub fn plugins(&self) -> Plugins {
        let extension = self.children().find(|chunk| chunk.kind == kind::EXTENSION);
        extension.map_or_else(Plugins::default, |chunk| chunk.as_plugins())
    }

    /// Returns the plugin data in this extension.
    pub fn as_plugins(&self) -> Plugins {
        Plugins(self.children())
    }

    /// Returns a cursor over the body.
    pub fn cursor(&self, endian: Endian) -> Cursor<'_> {
        Cursor::new(&self.body, self.offset, endian)
    }

    /// Returns the body as a string, up to its first NUL.
    pub fn string(&self) -> String {
        until_nul(&self.body)
    }

    /// Checks that the chunk is not cut.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] at the header of a cut chunk.
    pub fn check_whole(&self, field: &'static str) -> Result<()> {
        if !self.is_cut() {
            return Ok(());
        }
        Err(Error::damaged(
            self.offset - HEADER as u64,
            field,
            format!(
                "chunk {:#x} needs {} bytes, {} are left",
                self.kind,
                self.declared_size,
                self.body.len()
            ),
        ))
    }
}

/// The plugin data of an object, as chunks that are parsed on request.
#[derive(Debug, Default, Clone)]
pub struct Plugins(Chunks);

impl Plugins {
    /// Returns the plugins in their order.
    pub fn iter(&self) -> Chunks {
        self.0.clone()
    }

    /// Returns the first plugin of type `kind`.
    pub fn find(&self, kind: u32) -> Option<Chunk> {
        self.iter().find(|chunk| chunk.kind == kind)
    }
}

/// Consecutive chunks in some bytes.
///
/// A chunk that exceeds the remaining bytes is truncated and ends the iteration. A
/// trailing partial header is left over. Tools that lock models against editing corrupt
/// the top byte of sizes, which the games ignore: if a size fits only without its top
/// byte, the byte is ignored and the chunk counts as mended.
#[derive(Debug, Default, Clone)]
pub struct Chunks {
    rest: Bytes,
    offset: u64,
}

impl Chunks {
    /// Returns the chunks of `bytes`, which begin at `offset` of the asset.
    pub fn new(bytes: Bytes, offset: u64) -> Self {
        Self {
            rest: bytes,
            offset,
        }
    }

    /// Returns the number of bytes after the last returned chunk.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns the absolute offset of the next chunk.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl Iterator for Chunks {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let (header, _) = self.rest.split_first_chunk::<HEADER>()?;
        let word = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let (kind, stored, version) = (word(0), word(4), word(8));
        let available = self.rest.len() - HEADER;
        let fits = |size: u32| usize::try_from(size).is_ok_and(|size| size <= available);
        let is_mended = !fits(stored) && fits(stored & MENDED_SIZE);
        let size = if is_mended {
            stored & MENDED_SIZE
        } else {
            stored
        };
        let length = usize::try_from(size).unwrap_or(usize::MAX).min(available);
        let offset = self.offset + HEADER as u64;
        let body = self.rest.slice(HEADER..HEADER + length);
        self.rest = self.rest.slice(HEADER + length..);
        self.offset = offset + length as u64;
        Some(Chunk {
            kind,
            version: Version(version),
            declared_size: size,
            offset,
            is_mended,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: u32, size: u32, body: &[u8]) -> Vec<u8> {
        let words = [kind, size, 0x1003_FFFF].map(u32::to_le_bytes).concat();
        [&words[..], body].concat()
    }

    #[test]
    fn versions_of_both_forms_are_read() {
        assert_eq!(Version(0x1003_FFFF).to_string(), "3.4.0.3");
        assert_eq!(Version(0x1400_FFFF).to_string(), "3.5.0.0");
        assert_eq!(Version(0x0C02_FFFF).to_string(), "3.3.0.2");
        assert_eq!(Version(0x350).to_string(), "3.5.0.0");
    }

    #[test]
    fn chunks_have_absolute_offsets_and_a_cut_one_is_the_last() {
        let inner = [chunk(2, 4, b"abc\0"), chunk(2, 0, b"")].concat();
        let bytes = [
            chunk(0x16, inner.len() as u32, &inner),
            chunk(9, u32::MAX, b"xy"),
        ];
        let mut chunks = Chunks::new(bytes.concat().into(), 0x100);
        let first = chunks.next().unwrap();
        assert_eq!(
            (first.kind, first.offset, first.is_cut()),
            (0x16, 0x10C, false)
        );
        let strings: Vec<_> = first.children().map(|c| (c.offset, c.string())).collect();
        assert_eq!(strings, [(0x118, "abc".to_owned()), (0x128, String::new())]);
        let last = chunks.next().unwrap();
        assert!(last.is_cut());
        assert_eq!(
            last.check_whole("clump").unwrap_err().to_string(),
            "clump at 0x128: chunk 0x9 needs 4294967295 bytes, 2 are left"
        );
        assert!(chunks.next().is_none());
    }

    #[test]
    fn a_size_with_a_spoilt_top_byte_is_mended_if_the_rest_fits() {
        let sizes = |size| {
            let mut chunks = Chunks::new(chunk(1, size, b"abcd").into(), 0);
            let chunk = chunks.next().unwrap();
            (chunk.declared_size, chunk.is_mended, chunk.is_cut())
        };
        assert_eq!(sizes(4), (4, false, false));
        assert_eq!(sizes(0x0100_0004), (4, true, false));
        assert_eq!(sizes(0x0100_0005), (0x0100_0005, false, true));
    }

    #[test]
    fn plugins_are_the_chunks_of_the_extension() {
        let inner = [chunk(0x11E, 1, b"x"), chunk(0x116, 0, b"")].concat();
        let parent = chunk(3, inner.len() as u32, &inner);
        let outer = chunk(0x0F, parent.len() as u32, &parent);
        let object = Chunks::new(outer.into(), 0).next().unwrap();
        let plugins = object.plugins();
        let kinds: Vec<_> = plugins.iter().map(|plugin| plugin.kind).collect();
        assert_eq!(kinds, [0x11E, 0x116]);
        assert!(plugins.find(0x116).is_some() && plugins.find(7).is_none());
    }
}
