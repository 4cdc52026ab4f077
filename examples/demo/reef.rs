//! An archive of Heavy Iron's kind: textures, texts, a model, and a gate that
//! two objects open.

use fixtures::heavy_iron;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::asset_id;

/// Pixels of a side of a texture.
const SIDE: u16 = 64;

/// Red, green and blue of the pixel at a column and a row.
type Pixel = fn(i32, i32) -> [i32; 3];

/// Returns the archive.
pub(super) fn archive() -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    for (name, text) in [
        ("hello_text", "Welcome to the reef."),
        ("sign_text", "Beware of the jellyfish."),
        ("gate_text", "The gate opens at low tide."),
    ] {
        let length = (text.len() as u32).to_be_bytes();
        let bytes = [&length, text.as_bytes(), &[0]].concat();
        hip.add(Asset::new(b"TEXT", name, &bytes));
    }
    add_gate(&mut hip);
    hip.layer(1);
    let textures: [(&str, Pixel); 6] = [
        ("sand.RW3", |x, y| {
            [225 + (x * 7 + y * 3) % 17, 200 + (x * y) % 13, 140]
        }),
        ("water.RW3", |x, y| {
            let wave = ((x as f32 / 5.0).sin() * 4.0) as i32 + y;
            [30, 120 + wave * 3 % 40, 190 + wave % 9 * 6]
        }),
        ("coral.RW3", |x, y| {
            let (x, y) = (x % 16 - 8, y % 16 - 8);
            if x * x + y * y < 38 {
                [240, 110 + x * 5, 130 + y * 5]
            } else {
                [120, 40, 90]
            }
        }),
        ("bricks.RW3", |x, y| {
            let row = y / 8;
            let seam = y % 8 == 0 || (x + row % 2 * 8) % 16 == 0;
            if seam {
                [200, 195, 180]
            } else {
                [165 + row * 4, 85 + x % 16, 60]
            }
        }),
        ("fish.RW3", |x, y| {
            let (x, y) = (x - 28, y - 32);
            let body = x * x / 4 + y * y < 130;
            let tail = (16..30).contains(&x) && y.abs() < x - 14;
            let eye = (x + 14).pow(2) + (y + 3).pow(2) < 7;
            match (eye, body || tail) {
                (true, _) => [20, 20, 40],
                (_, true) => [250, 160 + y * 3, 40],
                _ => [60, 150 + y, 200],
            }
        }),
        ("leaf.RW3", |x, y| {
            let vein = (x - y).abs() < 2 || (x + y) % 11 == 0;
            if vein {
                [170, 220, 120]
            } else {
                [50 + x / 2, 140 + y, 60]
            }
        }),
    ];
    for (name, pixel) in textures {
        hip.add(Asset::new(b"RWTX", name, &texture(pixel)));
    }
    hip.layer(3);
    hip.add(Asset::new(b"MODL", "rock.dff", &heavy_iron::pyramid()));
    hip.build()
}

/// Adds a platform, and a button and a lever that open it when they are pressed.
fn add_gate(hip: &mut Hip) {
    const ONE_LINK: u32 = 0x1801_001D;
    const NO_LINKS: u32 = 0x0600_001D;
    const PRESS_OPENS: u32 = 0x0037_000D;
    let object = |name: &str, base: u32, length: usize| {
        let mut bytes = heavy_iron::big(&[asset_id(name.as_bytes()), base]);
        bytes.resize(length, 0);
        bytes
    };
    let link = [PRESS_OPENS, asset_id(b"GATE_01"), 0, 0, 0, 0, 0, 0];
    for name in ["BUTTON_01", "LEVER_02"] {
        let button = [object(name, ONE_LINK, 156), heavy_iron::big(&link)].concat();
        hip.add(Asset::new(b"BUTN", name, &button));
    }
    hip.add(Asset::new(
        b"PLAT",
        "GATE_01",
        &object("GATE_01", NO_LINKS, 192),
    ));
}

/// Returns a texture for GameCube, in 16-bit pixels that are stored in tiles of
/// 4 x 4.
fn texture(pixel: Pixel) -> Vec<u8> {
    const RGB565: u8 = 4;
    const TILE: i32 = 4;
    let side = i32::from(SIDE);
    let mut pixels = Vec::new();
    for (top, left) in (0..side / TILE).flat_map(|y| (0..side / TILE).map(move |x| (y, x))) {
        for (y, x) in (0..TILE).flat_map(|y| (0..TILE).map(move |x| (y, x))) {
            let color = pixel(TILE * left + x, TILE * top + y);
            let [red, green, blue] = color.map(|part| part.clamp(0, 255) as u16);
            pixels.extend((red >> 3 << 11 | green >> 2 << 5 | blue >> 3).to_be_bytes());
        }
    }
    heavy_iron::gamecube(RGB565, 0, [SIDE, SIDE], &[], &pixels, 1)
}
