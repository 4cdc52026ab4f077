//! The units of the mod: models made of boxes, with textures, pictures, scripts
//! and texts, and an explosion.

use super::NewFile;
use super::palette::{self, BLUE, FIRE, GRAY, GREEN, METAL, OLIVE, RED, SAND, STEEL, TEAL, color};
use fixtures::ta::{cob, gaf, pcx, tdo};

/// Length of a model's unit.
const UNIT: i32 = 1 << 16;

/// Pixels of a side of a texture, and of a unit's picture.
const TEXTURE: u16 = 32;
const PICTURE: u16 = 96;

/// The color of the pixel at a column and a row.
type Pixel = fn(i32, i32) -> u8;

/// A box: two corners, and the texture of its sides.
struct Block([i32; 3], [i32; 3], &'static str);

/// A unit: its name, and the blocks of its body and of its turret.
struct Unit(&'static str, &'static [Block], &'static [Block]);

const UNITS: [Unit; 6] = [
    Unit(
        "Tank",
        &[
            Block([-16, 0, -22], [-9, 8, 22], "tracks"),
            Block([9, 0, -22], [16, 8, 22], "tracks"),
            Block([-9, 3, -20], [9, 11, 20], "plate"),
        ],
        &[
            Block([-7, 11, -8], [7, 17, 8], "team"),
            Block([-2, 12, 8], [2, 15, 30], "dark"),
        ],
    ),
    Unit(
        "Kbot",
        &[
            Block([-10, 0, -4], [-4, 16, 4], "dark"),
            Block([4, 0, -4], [10, 16, 4], "dark"),
            Block([-11, 16, -7], [11, 32, 7], "plate"),
        ],
        &[
            Block([-5, 32, -4], [5, 40, 5], "window"),
            Block([-18, 18, -3], [-11, 30, 16], "team"),
            Block([11, 18, -3], [18, 30, 16], "team"),
        ],
    ),
    Unit(
        "Tower",
        &[
            Block([-14, 0, -14], [14, 6, 14], "concrete"),
            Block([-7, 6, -7], [7, 34, 7], "plate"),
            Block([-11, 34, -11], [11, 42, 11], "team"),
        ],
        &[Block([-3, 37, 11], [3, 41, 30], "dark")],
    ),
    Unit(
        "Radar",
        &[
            Block([-13, 0, -13], [13, 9, 13], "concrete"),
            Block([-3, 9, -3], [3, 30, 3], "dark"),
        ],
        &[Block([-18, 28, -2], [18, 44, 2], "window")],
    ),
    Unit(
        "Ship",
        &[
            Block([-9, 0, -32], [9, 9, 26], "plate"),
            Block([-5, 2, 26], [5, 9, 38], "plate"),
            Block([-6, 9, -18], [6, 19, 2], "window"),
        ],
        &[
            Block([-5, 9, 8], [5, 14, 18], "team"),
            Block([-1, 11, 18], [1, 13, 32], "dark"),
        ],
    ),
    Unit(
        "Plane",
        &[
            Block([-4, 8, -24], [4, 15, 26], "plate"),
            Block([-30, 10, -8], [30, 12, 8], "team"),
            Block([-12, 11, -26], [12, 13, -18], "team"),
        ],
        &[Block([-3, 15, 4], [3, 19, 16], "window")],
    ),
];

/// Returns all files of the units, by their paths in the mod.
pub(super) fn files() -> Vec<NewFile> {
    let mut files = vec![
        ("palettes/palette.pal".to_owned(), palette::file()),
        ("textures/demo.gaf".to_owned(), textures()),
        ("anims/boom.gaf".to_owned(), explosion()),
        ("sounds/boom.wav".to_owned(), bang()),
    ];
    for (number, unit) in UNITS.iter().enumerate() {
        let name = format!("Demo{}", unit.0);
        files.extend([
            (format!("objects3d/{name}.3do"), model(unit)),
            (format!("unitpics/{name}.pcx"), picture(unit)),
            (format!("scripts/{name}.cob"), script()),
            (
                format!("units/{}.FBI", name.to_uppercase()),
                definition(unit.0, number),
            ),
            (
                format!("weapons/{}.TDF", name.to_uppercase()),
                weapon(unit.0, number),
            ),
        ]);
    }
    files
}

/// Returns a script for the pieces that [`model`] has.
fn script() -> Vec<u8> {
    cob::Cob {
        pieces: ["base", "turret"].map(str::to_owned).to_vec(),
        ..cob::small(4)
    }
    .file()
}

fn model(Unit(_, body, turret): &Unit) -> Vec<u8> {
    let mut base = object("base", body);
    // The plate that the game draws when the unit is selected.
    let first = base.vertices.len() as u16;
    let corners = [[-1, -1], [-1, 1], [1, 1], [1, -1]];
    base.vertices
        .extend(corners.map(|[x, z]| [x * 32 * UNIT, 0, z * 32 * UNIT]));
    base.selection = base.primitives.len() as i32;
    base.primitives
        .push(tdo::primitive(&[0, 1, 2, 3].map(|corner| first + corner)));
    base.children = vec![object("turret", turret)];
    tdo::file(&base)
}

fn object(name: &str, blocks: &[Block]) -> tdo::Object {
    let mut object = tdo::object(name);
    for Block(from, to, texture) in blocks {
        let [from, to] = [from, to].map(|corner| corner.map(|part| UNIT * part));
        tdo::add_box(&mut object, from, to, |_, side| {
            side.texture = Some((*texture).to_owned());
        });
    }
    object
}

/// Returns the textures: plates with rivets, tracks, windows and colors.
fn textures() -> Vec<u8> {
    let all: [(&str, Pixel); 6] = [
        ("plate", |x, y| {
            let seam = x % 16 == 0 || y % 16 == 0;
            let rivet = x % 16 == 3 && y % 16 == 3;
            color(
                OLIVE,
                if seam {
                    5
                } else if rivet {
                    14
                } else {
                    11 - (y / 8) % 2
                },
            )
        }),
        ("tracks", |x, y| {
            color(METAL, if y % 6 < 2 { 3 } else { 8 + (x / 4) % 2 })
        }),
        ("team", |x, y| {
            let hue = if (x + y) / 8 % 4 == 0 { GRAY } else { BLUE };
            color(hue, 13 - y / 12)
        }),
        ("dark", |_, y| color(METAL, 9 - y / 6)),
        ("window", |x, y| {
            let frame = x % 8 == 0 || y % 8 == 0;
            color(
                if frame { STEEL } else { TEAL },
                if frame { 6 } else { 15 - (x + y) / 8 },
            )
        }),
        ("concrete", |x, y| {
            color(
                SAND,
                9 + (x * 7 + y * 13) % 5 / 2 - i32::from(y % 16 == 0) * 4,
            )
        }),
    ];
    let side = i32::from(TEXTURE);
    let sequences = all.map(|(name, pixel)| {
        let pixels = (0..side * side)
            .map(|at| pixel(at % side, at / side))
            .collect();
        let frame = gaf::Frame::new(TEXTURE, TEXTURE, gaf::Body::Raw(pixels));
        gaf::sequence(name, vec![(frame, 1)])
    });
    gaf::file(&sequences)
}

/// Returns a ball of fire that grows and fades.
fn explosion() -> Vec<u8> {
    const SIDE: i32 = 48;
    const FRAMES: i32 = 12;
    let frame = |time: i32| {
        let radius = 6 + time * 3 / 2;
        let pixels: Vec<Option<u8>> = (0..SIDE * SIDE)
            .map(|at| {
                let (x, y) = (at % SIDE - SIDE / 2, at / SIDE - SIDE / 2);
                let ragged = (x * 3 + time).rem_euclid(5) + (y * 5 - time).rem_euclid(4);
                let distance = (x * x + y * y).isqrt() + ragged / 2;
                let heat = 16 - time - distance * 14 / radius.max(1) / 2;
                (distance < radius && heat > 0)
                    .then(|| color(if heat > 8 { FIRE } else { RED }, heat))
            })
            .collect();
        (gaf::Frame::rle(SIDE as u16, SIDE as u16, &pixels), 2)
    };
    gaf::file(&[gaf::sequence("boom", (0..FRAMES).map(frame).collect())])
}

/// Returns the picture of a unit for menus: its blocks from the front, before a
/// hill.
fn picture(Unit(_, body, turret): &Unit) -> Vec<u8> {
    let side = i32::from(PICTURE);
    let mut rows: Vec<u8> = (0..side * side)
        .map(|at| match at / side {
            y if y < 62 => color(STEEL, 5 + y / 7),
            y => color(GREEN, 12 - (y - 62) / 6),
        })
        .collect();
    for Block(from, to, texture) in body.iter().chain(*turret) {
        let hue = match *texture {
            "plate" => OLIVE,
            "team" => BLUE,
            "window" => TEAL,
            "concrete" => SAND,
            _ => METAL,
        };
        for y in from[1]..to[1] {
            for x in from[0]..to[0] {
                let edge = x == from[0] || y + 1 == to[1];
                let shade = if edge { 15 } else { 6 + (y - from[1]) / 3 };
                for (dx, dy) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (column, row) = (side / 2 + x * 3 / 2 + dx, 80 - y * 3 / 2 - dy);
                    rows[(row * side + column) as usize] = color(hue, shade);
                }
            }
        }
    }
    let mut pcx = pcx::Pcx::indexed(PICTURE, PICTURE, rows);
    pcx.palette = Some((0x0C, palette::rgb()));
    pcx.file()
}

/// Returns half a second of noise that fades out.
fn bang() -> Vec<u8> {
    const RATE: u32 = 11_025;
    let length = RATE / 2;
    let mut noise = 1_u32;
    let samples = (0..length).map(|time| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let loud = (length - time) * (length - time) / length;
        (128 + (i64::from(noise >> 24) - 128) * i64::from(loud) / i64::from(length)) as u8
    });
    let samples: Vec<u8> = samples.collect();
    let words = |values: &[u32]| {
        values
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>()
    };
    [
        b"RIFF".to_vec(),
        words(&[36 + length]),
        b"WAVEfmt ".to_vec(),
        words(&[16, 1 | 1 << 16, RATE, RATE, 1 | 8 << 16]),
        b"data".to_vec(),
        words(&[length]),
        samples,
    ]
    .concat()
}

fn lines(lines: &[String]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| format!("{line}\r\n").into_bytes())
        .collect()
}

fn definition(name: &str, number: usize) -> Vec<u8> {
    let unit = format!("DEMO{}", name.to_uppercase());
    let cost = 185 + 85 * number;
    lines(&[
        "[UNITINFO]".to_owned(),
        "\t{".to_owned(),
        format!("\tUnitName={unit};"),
        format!("\tObjectName=Demo{name};"),
        format!("\tName={name};"),
        format!("\tDescription=A {name} to look at;"),
        "\tSide=ARM;".to_owned(),
        format!("\tBuildCostMetal={cost};"),
        format!("\tMaxDamage={};", cost * 4),
        format!("\tWeapon1={unit}_GUN;"),
        "\tCategory=ARM DEMO;".to_owned(),
        "\t}".to_owned(),
    ])
}

fn weapon(name: &str, number: usize) -> Vec<u8> {
    let cost = 185 + 85 * number;
    lines(&[
        format!("[DEMO{}_GUN]", name.to_uppercase()),
        "\t{".to_owned(),
        format!("\tname=Gun of the {name};"),
        format!("\trange={};", cost + 60),
        "\treloadtime=1.5;".to_owned(),
        "\t[DAMAGE]".to_owned(),
        "\t\t{".to_owned(),
        format!("\t\tdefault={};", cost / 5),
        "\t\t}".to_owned(),
        "\t}".to_owned(),
    ])
}
