//! waterpro.dat: the water of GTA III and Vice City in squares, compiled from water.dat
//! (FORMATS, GTA 7.3).

use bytes::Bytes;
use get_size2::GetSize;

use super::water::{self, Layer, corners};
use hpimount_assets::model::Scene;
use hpimount_assets::parse::take;
use hpimount_containers::io::{Cursor, Endian, Result, Warnings};

/// Number of places for heights.
const LEVELS: usize = 48;

/// Size of a rectangle in bytes: four floats, which the games ignore.
const RECTANGLE: usize = 16;

/// The bit of a square without water.
const DRY: u8 = 0x80;

/// Width and height of the map.
const MAP: f32 = 4096.0;

/// Origin of the map in x and y.
pub const START: [f32; 2] = [-2048.0, -2048.0];

/// Origin of the map of Vice City.
pub const START_OF_VICE_CITY: [f32; 2] = [-2448.0, -2048.0];

/// The water of a map.
#[derive(Debug, GetSize)]
pub struct WaterPro {
    /// Heights, which the squares have numbers of.
    pub levels: Vec<f32>,
    /// 64 by 64 squares, which the games draw in the distance.
    pub coarse: Grid,
    /// 128 by 128 squares, where there is water.
    pub fine: Grid,
    /// Warnings.
    pub warnings: Warnings,
}

/// Squares that cover the map.
#[derive(Debug, Clone, GetSize)]
pub struct Grid {
    /// Number of squares along x and along y.
    pub side: usize,
    /// The height index of each square, in rows along y.
    #[get_size(ignore)]
    squares: Bytes,
}

/// Water of one height: adjacent squares along y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strip {
    /// Number of its height.
    pub index: usize,
    /// Height.
    pub level: f32,
    /// Edges: left, bottom, right, top.
    pub edges: [f32; 4],
}

/// Reads a file.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) if the
/// file is too short or has more than 48 heights.
pub fn parse(bytes: &Bytes) -> Result<WaterPro> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    let at = cursor.offset();
    let count = cursor.u32("number of heights")? as usize;
    if count > LEVELS {
        let problem = format!("is {count}, should be at most {LEVELS}");
        return Err(hpimount_containers::io::Error::damaged(
            at,
            "number of heights",
            problem,
        ));
    }
    let mut levels = Vec::with_capacity(LEVELS);
    for _ in 0..LEVELS {
        levels.push(cursor.f32("height")?);
    }
    levels.truncate(count);
    cursor.take(LEVELS * RECTANGLE, "rectangles")?;
    let mut grid = |side: usize, field| {
        let squares = take(&mut cursor, bytes, side * side, field)?;
        Ok(Grid { side, squares })
    };
    let (coarse, fine) = (grid(64, "large squares")?, grid(128, "small squares")?);
    let mut warnings = Warnings::default();
    for grid in [&coarse, &fine] {
        let wrong = grid.squares.iter().filter(|&&square| {
            let is_wet = square & DRY == 0;
            is_wet && usize::from(square) >= count
        });
        let wrong = wrong.count();
        if wrong > 0 {
            let side = grid.side;
            warnings.push(format!(
                "{wrong} of {side} x {side} squares have a height that does not exist"
            ));
        }
    }
    if cursor.remaining() > 0 {
        let count = cursor.remaining();
        warnings.push(format!("{count} bytes follow the last square"));
    }
    Ok(WaterPro {
        levels,
        coarse,
        fine,
        warnings,
    })
}

impl WaterPro {
    /// Returns the water of a grid on a map that begins at `start`. Squares with an
    /// invalid height index have no water.
    pub fn strips(&self, grid: &Grid, start: [f32; 2]) -> impl Iterator<Item = Strip> {
        let edge = MAP / grid.side as f32;
        let columns = grid.squares.chunks(grid.side).enumerate();
        columns.flat_map(move |(x, column)| {
            let mut first = 0;
            let runs = column.chunk_by(|one, next| one == next);
            runs.filter_map(move |run| {
                let (bottom, index) = (first, usize::from(run[0]));
                first += run.len();
                let place = |axis: usize, number: usize| start[axis] + edge * number as f32;
                Some(Strip {
                    index,
                    // Squares without water have an index above all heights.
                    level: *self.levels.get(index)?,
                    edges: [
                        place(0, x),
                        place(1, bottom),
                        place(0, x + 1),
                        place(1, first),
                    ],
                })
            })
        })
    }
}

/// Returns the water as a scene of a map that begins at `start`. The coarse
/// squares are hidden.
pub fn scene(water: &WaterPro, start: [f32; 2]) -> Scene<'static> {
    let layer = |name, is_visible, grid| {
        let strips = water.strips(grid, start);
        let strips = strips.map(|strip| corners(strip.level, strip.edges).to_vec());
        Layer {
            name,
            is_visible,
            surfaces: strips.collect(),
        }
    };
    water::scene_of([
        layer("near", true, &water.fine),
        layer("far", false, &water.coarse),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpimount_assets::model::scene::Mesh;

    /// Returns a file with these heights and with these indices at some squares (grid,
    /// x, y).
    fn file(levels: &[f32], squares: &[(usize, usize, usize, u8)]) -> Vec<u8> {
        let mut file = (levels.len() as u32).to_le_bytes().to_vec();
        let zeros = [0.0].repeat(LEVELS - levels.len());
        file.extend(
            levels
                .iter()
                .chain(&zeros)
                .flat_map(|level| level.to_le_bytes()),
        );
        file.resize(0x3C4, 0);
        file.resize(0x53C4, DRY);
        for &(grid, x, y, number) in squares {
            let (start, side) = [(0x3C4, 64), (0x13C4, 128)][grid];
            file[start + side * x + y] = number;
        }
        file
    }

    #[test]
    fn squares_have_the_heights_of_their_numbers_along_y_first() {
        let squares = [
            (1, 2, 3, 0),
            (1, 2, 4, 0),
            (1, 2, 5, 1),
            (1, 127, 127, 1),
            (0, 63, 0, 1),
        ];
        let water = parse(&file(&[6.0, 20.5], &squares).into()).unwrap();
        assert!(water.warnings.is_empty());
        let strips: Vec<_> = water.strips(&water.fine, START).collect();
        let strip = |index, level, edges| Strip {
            index,
            level,
            edges,
        };
        let expected = [
            strip(0, 6.0, [-1984.0, -1952.0, -1952.0, -1888.0]),
            strip(1, 20.5, [-1984.0, -1888.0, -1952.0, -1856.0]),
            strip(1, 20.5, [2016.0, 2016.0, 2048.0, 2048.0]),
        ];
        assert_eq!(strips, expected);
        let strips: Vec<_> = water.strips(&water.coarse, START_OF_VICE_CITY).collect();
        assert_eq!(strips, [strip(1, 20.5, [1584.0, -2048.0, 1648.0, -1984.0])]);
        let scene = scene(&water, START);
        let triangles: Vec<_> = scene.meshes.iter().map(Mesh::triangles).collect();
        assert_eq!(triangles, [6, 2]);
        assert_eq!(scene.hidden.into_iter().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn wrong_numbers_and_lengths_are_found() {
        let mut bytes = file(&[6.0], &[(1, 0, 0, 1), (1, 0, 1, 0x7F)]);
        bytes.push(0);
        let water = parse(&bytes.clone().into()).unwrap();
        assert_eq!(water.strips(&water.fine, START).count(), 0);
        assert_eq!(
            water.warnings.texts(),
            [
                "2 of 128 x 128 squares have a height that does not exist",
                "1 bytes follow the last square",
            ]
        );
        bytes.truncate(0x53C3);
        let error = parse(&bytes.clone().into()).unwrap_err().to_string();
        assert!(error.starts_with("small squares at 0x13c4: "), "{error}");
        bytes[0] = 49;
        let error = parse(&bytes.into()).unwrap_err().to_string();
        assert_eq!(
            error,
            "number of heights at 0x0: is 49, should be at most 48"
        );
    }
}
