//! Skins of native geometry: the bones of each vertex, as stored for consoles (FORMATS,
//! HIP assets 7).

use bytes::Bytes;

use super::skin::{Form, Influence, Skin, matrix_in};
use crate::{Chunk, kind};
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Error, Result};

/// Maximum number of bones of a vertex.
const MAX_WEIGHTS: u8 = 4;

/// Entries of each table of bones in a skin of the Xbox.
const TABLE: usize = 256;

/// Factor from a position in the list of used bones to the bone's matrix number.
pub(super) const MATRIX_STEP: u16 = 3;

/// Reads the counts of bones, used bones and weights, and the used bones.
fn head(cursor: &mut Cursor<'_>, body: &Bytes) -> Result<(u8, Bytes, u8)> {
    let bones = cursor.u8("bone count")?;
    let used = cursor.u8("used bones")?;
    let at = cursor.offset();
    let weights = cursor.u8("weight count")?;
    cursor.u8("skin")?;
    let weights = if weights == 0 { MAX_WEIGHTS } else { weights };
    check_weights(at, weights.into())?;
    let used = take(cursor, body, used.into(), "used bones")?;
    Ok((bones, used, weights))
}

/// Reads a 32-bit number of bones.
fn bone_count(cursor: &mut Cursor<'_>) -> Result<u8> {
    let at = cursor.offset();
    let stored = cursor.u32("bone count")?;
    u8::try_from(stored).map_err(|_| {
        let text = format!("is {stored}, at most 255 are possible");
        Error::damaged(at, "bone count", text)
    })
}

fn check_weights(at: u64, weights: u32) -> Result<()> {
    if (1..=MAX_WEIGHTS.into()).contains(&weights) {
        return Ok(());
    }
    let text = format!("is {weights}, 1 to {MAX_WEIGHTS} are possible");
    Err(Error::damaged(at, "weight count", text))
}

/// Reads the inverse bind matrices of bones.
fn matrices(cursor: &mut Cursor<'_>, bones: u8) -> Result<Vec<[f32; 16]>> {
    (0..bones).map(|_| matrix_in(cursor)).collect()
}

impl Skin {
    /// Reads the skin of a GameCube geometry. It has bones for each position. With a
    /// single weight, it lacks these, and the display lists have a matrix number for
    /// each vertex.
    pub(super) fn read_gamecube(plugin: &Chunk, positions: u32) -> Result<Self> {
        let chunk = plugin.child(kind::STRUCT, "native skin")?;
        let mut cursor = chunk.cursor(Endian::Little);
        cursor.u32("skin platform")?;
        let (bones, used, most_weights) = head(&mut cursor, &chunk.body)?;
        let mut points = Vec::new();
        if most_weights > 1 {
            let width = usize::from(most_weights);
            let count = cursor.check_count(positions.into(), 2 * width, "skin")?;
            let numbers = take(&mut cursor, &chunk.body, count * width, "bones of vertices")?;
            let weights = take(&mut cursor, &chunk.body, count * width, "weights")?;
            let numbers = numbers.chunks_exact(width);
            points = numbers
                .zip(weights.chunks_exact(width))
                .map(|(bones, weights)| {
                    influence(
                        bones.iter().copied(),
                        weights.iter().map(|&one| f32::from(one) / 128.0),
                    )
                })
                .collect();
        }
        let at = cursor.offset();
        let mut cursor = chunk.cursor(Endian::Big);
        cursor.seek(at, "bone matrices")?;
        let matrices = matrices(&mut cursor, bones)?;
        Ok(Self::of_points(
            Form::GameCube,
            bones,
            used,
            most_weights,
            &points,
            matrices,
        ))
    }

    /// Reads the skin of an Xbox geometry.
    pub(super) fn read_xbox(plugin: &Chunk, vertices: usize) -> Result<Self> {
        let chunk = plugin.child(kind::STRUCT, "native skin")?;
        let mut cursor = chunk.cursor(Endian::Little);
        cursor.u32("skin platform")?;
        let bones = bone_count(&mut cursor)?;
        let mut places = [0; TABLE];
        for place in &mut places {
            *place = cursor.i32("bone of a place")?;
        }
        cursor.take(4 * TABLE, "places of bones")?;
        let used = cursor.u32("used bones")?;
        let at = cursor.offset();
        let most_weights = cursor.u32("weight count")?;
        check_weights(at, most_weights)?;
        cursor.u32("weights pointer")?;
        let at = cursor.offset();
        let stride = cursor.u32("size of the weights")? as usize;
        let width = most_weights as usize;
        if stride < 3 * width {
            let text = format!("is {stride} for {width} weights");
            return Err(Error::damaged(at, "size of the weights", text));
        }
        let count = cursor.check_count(vertices as u64, stride, "skin")?;
        let data = take(&mut cursor, &chunk.body, stride * count, "weights")?;
        let points: Vec<_> = data
            .chunks_exact(stride)
            .map(|stored| {
                let (weights, numbers) = stored.split_at(width);
                let numbers = numbers[..2 * width].as_chunks().0.iter().map(|&number| {
                    let place = u16::from_le_bytes(number) / MATRIX_STEP;
                    let bone = places.get(usize::from(place)).copied().unwrap_or(-1);
                    // No bone has this number, so a later check reports it.
                    u8::try_from(bone).unwrap_or(u8::MAX)
                });
                influence(numbers, weights.iter().map(|&one| f32::from(one) / 255.0))
            })
            .collect();
        let matrices = matrices(&mut cursor, bones)?;
        let used: Bytes = places
            .iter()
            .take(used as usize)
            .filter_map(|&bone| u8::try_from(bone).ok())
            .collect();
        let most_weights = most_weights as u8;
        Ok(Self::of_points(
            Form::Xbox,
            bones,
            used,
            most_weights,
            &points,
            matrices,
        ))
    }

    /// Reads the skin of a PlayStation 2 geometry, whose vertices contain the bones.
    pub(super) fn read_ps2(plugin: &Chunk, points: &[Influence]) -> Result<Self> {
        let chunk = plugin.child(kind::STRUCT, "native skin")?;
        let mut cursor = chunk.cursor(Endian::Little);
        cursor.u32("skin platform")?;
        let (bones, used, most_weights) = head(&mut cursor, &chunk.body)?;
        let matrices = matrices(&mut cursor, bones)?;
        Ok(Self::of_points(
            Form::Ps2,
            bones,
            used,
            most_weights,
            points,
            matrices,
        ))
    }

    /// Reads the skin of an OpenGL geometry, whose vertices contain the bones.
    pub(super) fn read_opengl(plugin: &Chunk, points: &[Influence]) -> Result<Self> {
        let chunk = plugin.child(kind::STRUCT, "native skin")?;
        let mut cursor = chunk.cursor(Endian::Little);
        cursor.u32("skin platform")?;
        let bones = bone_count(&mut cursor)?;
        let matrices = matrices(&mut cursor, bones)?;
        let used = Bytes::new();
        Ok(Self::of_points(
            Form::OpenGl,
            bones,
            used,
            MAX_WEIGHTS,
            points,
            matrices,
        ))
    }

    /// Returns the bones of a vertex with a single bone, given by its matrix number.
    pub(super) fn of_matrix(&self, matrix: u8) -> Influence {
        let place = usize::from(matrix) / usize::from(MATRIX_STEP);
        let bone = self.used.get(place).copied().unwrap_or(u8::MAX);
        ([bone, 0, 0, 0], [1.0, 0.0, 0.0, 0.0])
    }
}

/// Returns up to four bones and their weights. Bones without weight are 0.
fn influence(bones: impl Iterator<Item = u8>, weights: impl Iterator<Item = f32>) -> Influence {
    let mut influence = Influence::default();
    for (index, (bone, weight)) in bones.zip(weights).take(4).enumerate() {
        if weight != 0.0 {
            influence.0[index] = bone;
            influence.1[index] = weight;
        }
    }
    influence
}
