//! Skins: the bones of each vertex. [`native_skin`](super::native_skin) reads the skins
//! of native geometries.

use bytes::Bytes;

use crate::Chunk;
use hpimount_assets::parse::{floats, take};
use hpimount_containers::io::{Cursor, Endian, Error, Result, Warnings};

/// Encoding of a skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Since version 3.4: with a list of the used bones.
    New,
    /// Before version 3.4: with a word before each matrix.
    Old,
    /// In the atomic, together with the nodes of the skeleton.
    Atomic,
    /// For the GameCube: bones of positions, or of matrices.
    GameCube,
    /// For the Xbox.
    Xbox,
    /// For the PlayStation 2: vertices contain the bones.
    Ps2,
    /// For OpenGL: vertices contain the bones.
    OpenGl,
}

/// Up to four bones of a vertex, and their weights.
pub type Influence = ([u8; 4], [f32; 4]);

/// A skin.
#[derive(Debug, Clone)]
pub struct Skin {
    /// Encoding.
    pub form: Form,
    /// Number of bones.
    pub bones: u8,
    /// Numbers of the bones that move vertices.
    pub used: Bytes,
    /// Maximum number of bones of a vertex.
    pub most_weights: u8,
    /// Id, index and flags of each bone's node, if the skin has them.
    pub nodes: Vec<[i32; 3]>,
    indices: Bytes,
    weights: Bytes,
    matrices: Vec<[f32; 16]>,
}

/// Size of the bones and the weights of a vertex in bytes.
const VERTEX: usize = 4 + 16;

/// Bytes of a matrix.
const MATRIX: usize = 64;

impl Skin {
    /// Reads the skin of a geometry with this number of vertices.
    pub(super) fn read(chunk: &Chunk, vertices: u32) -> Result<Self> {
        let mut cursor = chunk.cursor(Endian::Little);
        let bones = cursor.u8("bone count")?;
        let used = usize::from(cursor.u8("used bones")?);
        let most_weights = cursor.u8("weight count")?;
        cursor.u8("skin")?;
        // Since version 3.4, a skin with bones uses some of them.
        let form = match used {
            0 if bones > 0 => Form::Old,
            _ => Form::New,
        };
        let used = take(&mut cursor, &chunk.body, used, "used bones")?;
        let (indices, weights) = points(&mut cursor, &chunk.body, vertices)?;
        let mut matrices = Vec::with_capacity(bones.into());
        for _ in 0..bones {
            if form == Form::Old {
                cursor.u32("bone matrix")?;
            }
            matrices.push(matrix_in(&mut cursor)?);
        }
        Ok(Self {
            form,
            bones,
            used,
            most_weights,
            nodes: Vec::new(),
            indices,
            weights,
            matrices,
        })
    }

    /// Reads the skin in an atomic whose geometry has this number of vertices.
    pub(super) fn read_of_atomic(chunk: &Chunk, vertices: u32) -> Result<Self> {
        let mut cursor = chunk.cursor(Endian::Little);
        let stored_bones = cursor.u32("bone count")?;
        let stored = cursor.u32("skin vertices")?;
        let problem = |field, text| Err(Error::damaged(chunk.offset, field, text));
        let Ok(bones) = u8::try_from(stored_bones) else {
            let text = format!("is {stored_bones}, at most 255 are possible");
            return problem("bone count", text);
        };
        if stored != vertices {
            let text = format!("are {stored}, those of the geometry {vertices}");
            return problem("skin vertices", text);
        }
        let (indices, weights) = points(&mut cursor, &chunk.body, vertices)?;
        let (mut nodes, mut matrices) = (Vec::new(), Vec::new());
        for _ in 0..bones {
            nodes.push([
                cursor.i32("bone id")?,
                cursor.i32("bone index")?,
                cursor.i32("bone flags")? & 3,
            ]);
            matrices.push(matrix_in(&mut cursor)?);
        }
        Ok(Self {
            form: Form::Atomic,
            bones,
            used: Bytes::new(),
            most_weights: 4,
            nodes,
            indices,
            weights,
            matrices,
        })
    }

    /// Returns a skin with these bones of vertices.
    pub(super) fn of_points(
        form: Form,
        bones: u8,
        used: Bytes,
        most_weights: u8,
        points: &[Influence],
        matrices: Vec<[f32; 16]>,
    ) -> Self {
        let weights = points.iter().flat_map(|(_, weights)| weights);
        Self {
            form,
            bones,
            used,
            most_weights,
            nodes: Vec::new(),
            indices: points.iter().flat_map(|(bones, _)| *bones).collect(),
            weights: weights.flat_map(|weight| weight.to_le_bytes()).collect(),
            matrices,
        }
    }

    /// Returns the bones of each vertex. For native GameCube geometry, returns the
    /// bones of each position, or none.
    pub fn indices(&self) -> impl Iterator<Item = [u8; 4]> {
        self.indices.as_chunks().0.iter().copied()
    }

    /// Returns the weights of these bones.
    pub fn weights(&self) -> impl Iterator<Item = [f32; 4]> {
        groups(&self.weights)
    }

    /// Returns the inverse bind matrices of the bones, row by row; the last row is 0,
    /// 0, 0, 1.
    pub fn matrices(&self) -> impl Iterator<Item = [f32; 16]> {
        self.matrices.iter().copied()
    }

    /// Returns its memory on the heap in bytes, without the bytes of its file.
    pub(super) fn memory(&self) -> usize {
        let points = match self.form {
            Form::New | Form::Old | Form::Atomic => 0,
            Form::GameCube | Form::Xbox | Form::Ps2 | Form::OpenGl => {
                self.indices.len() + self.weights.len()
            }
        };
        self.nodes.capacity() * size_of::<[i32; 3]>() + self.matrices.capacity() * MATRIX + points
    }

    /// Warns about weights of bones that do not exist.
    pub(super) fn check(&self, at: u64, warnings: &mut Warnings) {
        let points = self.indices().zip(self.weights());
        let shares = points.flat_map(|(bones, weights)| bones.into_iter().zip(weights));
        let odd = shares.filter(|&(bone, weight)| weight != 0.0 && bone >= self.bones);
        let odd = odd.count();
        if odd > 0 {
            let bones = self.bones;
            warnings.push(format!(
                "skin at {at:#x}: {odd} weights are of bones past {bones}"
            ));
        }
    }
}

/// Takes the bones and the weights of all vertices.
fn points(cursor: &mut Cursor<'_>, body: &Bytes, vertices: u32) -> Result<(Bytes, Bytes)> {
    let vertices = cursor.check_count(vertices.into(), VERTEX, "skin")?;
    let indices = take(cursor, body, 4 * vertices, "bones of vertices")?;
    let weights = take(cursor, body, 16 * vertices, "weights")?;
    Ok((indices, weights))
}

/// Reads a matrix. Every fourth number is junk from tools.
pub(super) fn matrix_in(cursor: &mut Cursor<'_>) -> Result<[f32; 16]> {
    let mut matrix = floats(cursor, "bone matrix")?;
    for (row, last) in [(3, 0.0), (7, 0.0), (11, 0.0), (15, 1.0)] {
        matrix[row] = last;
    }
    Ok(matrix)
}

/// Returns groups of little-endian floats.
pub(super) fn groups<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [f32; N]> {
    let groups = bytes.chunks_exact(4 * N);
    groups.map(|group| {
        let words = group.as_chunks().0;
        std::array::from_fn(|index| f32::from_le_bytes(words[index]))
    })
}
