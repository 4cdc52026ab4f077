//! The triangles of a geometry by material, in drawing order. Games draw these and
//! ignore the list of triangles.

use bytes::Bytes;

use crate::Chunk;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Endian, Result, Warnings};

/// The triangles of a material, in drawing order.
#[derive(Debug, Clone)]
pub struct BinMesh {
    /// Number of the material.
    pub material: u32,
    /// Number of indices.
    pub count: u32,
    /// True for strips: each index after the second forms a triangle with the previous
    /// two.
    is_strip: bool,
    /// Bytes of an index, 2 or 4.
    width: usize,
    indices: Bytes,
}

impl BinMesh {
    /// Returns the numbers of vertices; empty for native geometry of consoles.
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        let words = self.indices.chunks_exact(self.width);
        words.map(|word| {
            word.iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u32::from(byte))
        })
    }

    /// Returns the number of triangles, including degenerate ones of strips.
    pub fn triangle_count(&self) -> usize {
        let indices = self.indices.len() / self.width;
        match self.is_strip {
            true => indices.saturating_sub(2),
            false => indices / 3,
        }
    }

    /// Returns the triangles, counter-clockwise, without degenerate ones, which
    /// have a vertex twice.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> {
        let index = |at: usize| {
            let word = &self.indices[at * self.width..][..self.width];
            word.iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u32::from(byte))
        };
        let triangles = (0..self.triangle_count()).map(move |number| match self.is_strip {
            true if number % 2 == 0 => [number, number + 1, number + 2].map(index),
            true => [number + 1, number, number + 2].map(index),
            false => [3 * number, 3 * number + 1, 3 * number + 2].map(index),
        });
        let is_strip = self.is_strip;
        triangles.filter(move |[a, b, c]| !is_strip || a != b && b != c && a != c)
    }
}

/// The meshes of a geometry.
#[derive(Debug, Default)]
pub(super) struct BinMeshes {
    pub(super) is_strips: bool,
    pub(super) meshes: Vec<BinMesh>,
}

/// Reads the meshes. A mesh of a native geometry has no indices or, in mobile games,
/// 16-bit indices.
pub(super) fn read(plugin: &Chunk, is_native: bool, warnings: &mut Warnings) -> Result<BinMeshes> {
    let mut cursor = plugin.cursor(Endian::Little);
    let is_strips = cursor.u32("mesh flags")? & 1 != 0;
    let count = cursor.u32("mesh count")?;
    let at = cursor.offset();
    let declared = cursor.u32("index count")?;
    let count = cursor.check_count(count.into(), 8, "mesh count")?;
    let data = (cursor.remaining() - 8 * count) as u64;
    let width = match is_native {
        false => 4,
        true if data >= 4 * u64::from(declared) => 4,
        true => 2,
    };
    let has_indices = !is_native || data > 0 && data >= 2 * u64::from(declared);
    let (mut meshes, mut total) = (Vec::new(), 0);
    for _ in 0..count {
        let count = cursor.u32("index count")?;
        let material = cursor.u32("mesh material")?;
        let mut indices = Bytes::new();
        if has_indices {
            let count = cursor.check_count(count.into(), width, "index count")?;
            indices = take(&mut cursor, &plugin.body, count * width, "indices")?;
        }
        total += u64::from(count);
        meshes.push(BinMesh {
            material,
            count,
            is_strip: is_strips,
            width,
            indices,
        });
    }
    if total != u64::from(declared) {
        warnings.push(format!(
            "index count at {at:#x}: is {declared}, meshes have {total}"
        ));
    }
    Ok(BinMeshes { is_strips, meshes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh(indices: &[u8], width: usize, is_strip: bool) -> BinMesh {
        let wide = indices.iter().flat_map(|&index| {
            let mut word = vec![index];
            word.resize(width, 0);
            word
        });
        BinMesh {
            material: 0,
            count: indices.len() as u32,
            is_strip,
            width,
            indices: wide.collect(),
        }
    }

    #[test]
    fn odd_triangles_of_strips_are_turned_over_and_degenerate_ones_left_out() {
        for width in [2, 4] {
            let strip = mesh(&[0, 1, 2, 3, 3, 4], width, true);
            let triangles: Vec<_> = strip.triangles().collect();
            assert_eq!(triangles, [[0, 1, 2], [2, 1, 3]]);
            assert_eq!(strip.triangle_count(), 4);
            let list = mesh(&[0, 1, 2, 2, 1, 3, 9], width, false);
            let triangles: Vec<_> = list.triangles().collect();
            assert_eq!(triangles, [[0, 1, 2], [2, 1, 3]]);
            assert_eq!(list.indices().last(), Some(9));
        }
        assert_eq!(mesh(&[1], 4, true).triangles().count(), 0);
    }
}
