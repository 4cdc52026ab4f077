//! A map of the mod: an island.

use super::NewFile;
use super::palette::{GRAY, GREEN, SAND, WATER, color};
use fixtures::ta::tnt::Map;

/// Tiles of a side, pixels of a tile, and pixels of the minimap.
const TILES: u32 = 20;
const TILE: u32 = 32;
const MINIMAP: u32 = 120;

/// Lower heights are under water.
const SEA: u8 = 75;

/// Heights of the upper limits of sand and of grass.
const BEACH: u8 = 84;
const ROCKS: u8 = 140;

/// Returns the files of the map, by their paths in the mod.
pub(super) fn files() -> Vec<NewFile> {
    let text = [
        "[GlobalHeader]",
        "\t{",
        "\tmissionname=Demo Island;",
        "\tmissiondescription=An island to look at;",
        "\tsize=5 x 5;",
        "\tnumplayers=2, 4;",
        "\tminwindspeed=200;",
        "\t}",
    ];
    vec![
        ("Maps/Demo Island.tnt".to_owned(), tnt()),
        (
            "Maps/Demo Island.ota".to_owned(),
            (text.join("\r\n") + "\r\n").into_bytes(),
        ),
    ]
}

/// Returns the height at a position of the map, whose coordinates are from 0 to
/// 1.
fn height(x: f32, y: f32) -> f32 {
    let (from_middle_x, from_middle_y) = (x - 0.5, y - 0.5);
    let distance = from_middle_x.hypot(from_middle_y);
    let hills = (x * 17.0).sin() * (y * 13.0).cos() * 18.0 + (x * 41.0 + y * 29.0).sin() * 6.0;
    (150.0 - distance * 230.0 + hills).clamp(0.0, 255.0)
}

/// Returns the color of the ground at a position, lit from the left.
fn ground(x: f32, y: f32) -> u8 {
    let here = height(x, y);
    let slope = here - height(x - 0.008, y - 0.008);
    let grain = ((x * 997.0).sin() * (y * 883.0).sin() * 1.5) as i32;
    let light = 10 + (slope * 1.2) as i32 + grain;
    let level = here as u8;
    if level < SEA {
        color(WATER, 3 + i32::from(level) / 9)
    } else if level < BEACH {
        color(SAND, light + 2)
    } else if level < ROCKS {
        color(GREEN, light - 1)
    } else {
        color(GRAY, light)
    }
}

fn tnt() -> Vec<u8> {
    let whole = (TILES * TILE) as f32;
    let tile = |number: u32| {
        let (left, top) = (number % TILES * TILE, number / TILES * TILE);
        let pixels = (0..TILE * TILE).map(|at| {
            let (x, y) = (left + at % TILE, top + at / TILE);
            ground(x as f32 / whole, y as f32 / whole)
        });
        pixels.collect()
    };
    let cells = 2 * TILES;
    let cell = |at: u32| {
        let (x, y) = ((at % cells) as f32, (at / cells) as f32);
        (height(x / cells as f32, y / cells as f32) as u8, 0xFFFF)
    };
    let small = MINIMAP as f32;
    let minimap = (0..MINIMAP * MINIMAP)
        .map(|at| ground((at % MINIMAP) as f32 / small, (at / MINIMAP) as f32 / small));
    let map = Map {
        width: cells,
        height: cells,
        sea_level: SEA.into(),
        map: (0..(TILES * TILES) as u16).collect(),
        cells: (0..cells * cells).map(cell).collect(),
        tiles: (0..TILES * TILES).map(tile).collect(),
        features: Vec::new(),
        minimap: (MINIMAP, MINIMAP, minimap.collect()),
    };
    map.file(0x2000)
}
