//! Skins of platform-independent geometry: the bones of each vertex.

use bytes::Bytes;

use crate::heavy_iron::take;
use crate::renderware::Chunk;
use hpimount_containers::io::{Endian, Result};

/// A skin.
#[derive(Debug, Clone)]
pub struct Skin {
    /// Number of bones.
    pub bones: u8,
    /// Numbers of the bones that move vertices.
    pub used: Bytes,
    /// Maximum number of bones of a vertex.
    pub most_weights: u8,
    indices: Bytes,
    weights: Bytes,
    matrices: Bytes,
}

/// Bytes of the table of split skins, which may follow.
const SPLITS: usize = 12;

impl Skin {
    /// Reads the skin of `vertices` vertices. `None` if its length does not
    /// match its counts, which means that it has another form.
    pub(super) fn read(chunk: &Chunk, vertices: usize) -> Option<Self> {
        let skin = Self::fields(chunk, vertices).ok()?;
        let (skin, left) = skin;
        (left == 0 || left == SPLITS).then_some(skin)
    }

    fn fields(chunk: &Chunk, vertices: usize) -> Result<(Self, usize)> {
        let mut cursor = chunk.cursor(Endian::Little);
        let bones = cursor.u8("bone count")?;
        let used = usize::from(cursor.u8("used bones")?);
        let most_weights = cursor.u8("weight count")?;
        cursor.u8("skin")?;
        let body = &chunk.body;
        let used = take(&mut cursor, body, used, "used bones")?;
        cursor.check_count(vertices as u64, 20, "skin")?;
        let indices = take(&mut cursor, body, 4 * vertices, "bones of vertices")?;
        let weights = take(&mut cursor, body, 16 * vertices, "weights")?;
        let matrices = take(&mut cursor, body, 64 * usize::from(bones), "bone matrices")?;
        let skin = Self {
            bones,
            used,
            most_weights,
            indices,
            weights,
            matrices,
        };
        Ok((skin, cursor.remaining()))
    }

    /// Returns the bones of each vertex.
    pub fn indices(&self) -> impl Iterator<Item = [u8; 4]> {
        self.indices.as_chunks().0.iter().copied()
    }

    /// Returns the weights of these bones.
    pub fn weights(&self) -> impl Iterator<Item = [f32; 4]> {
        floats(&self.weights)
    }

    /// Returns the inverse bind matrix of each bone: rows of four numbers, the
    /// last of each unused.
    pub fn matrices(&self) -> impl Iterator<Item = [f32; 16]> {
        floats(&self.matrices)
    }
}

/// Returns groups of little-endian floats.
pub(super) fn floats<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [f32; N]> {
    let groups = bytes.chunks_exact(4 * N);
    groups.map(|group| {
        let words = group.as_chunks().0;
        std::array::from_fn(|index| f32::from_le_bytes(words[index]))
    })
}
