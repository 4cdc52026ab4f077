//! Assets of Total Annihilation.

use std::fs;
use std::io;
use std::path::Path;

use fixtures::ta;
use hpimount::formats::VIEW_FORMATS;
use hpimount_assets::view::{self, Alone};

use super::Total;

/// A kind of assets: their directory, their extension, their number, and a
/// function that builds one of them by its number.
type Kind = (&'static str, &'static str, usize, fn(usize) -> Vec<u8>);

const KINDS: [Kind; 5] = [
    ("game/anims", "gaf", 170, sprite),
    ("game/unitpics", "pcx", 150, picture),
    ("game/objects3d", "3do", 280, model),
    ("models", "3do", 300, model),
    ("mod/units", "fbi", 2000, unit),
];

pub(super) fn make(dir: &Path, divisor: usize) -> io::Result<()> {
    for (directory, extension, count, make) in KINDS {
        let directory = dir.join(directory);
        fs::create_dir_all(&directory)?;
        for number in 0..count / divisor {
            let file = directory.join(format!("{number:04}.{extension}"));
            fs::write(file, make(number))?;
        }
    }
    Ok(())
}

/// Converts the assets in the subdirectories of a directory.
pub(super) fn render(dir: &Path) -> io::Result<()> {
    let mut total = Total::default();
    for directory in fs::read_dir(dir)? {
        for entry in fs::read_dir(directory?.path())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let mut formats = VIEW_FORMATS.iter();
            let Some(format) = formats.find(|format| format.shows(name)) else {
                continue;
            };
            let view = view::open(format, &fs::read(&path)?.into(), &Alone);
            total.render(format, None, &*view, &Alone)?;
        }
    }
    total.print();
    Ok(())
}

/// Returns a pixel of a sprite: one of a gap, of a run, or one that is copied.
fn sprite_pixel(pixel: usize) -> Option<u8> {
    match pixel % 16 {
        0..4 => None,
        4..9 => Some(40),
        other => Some((other * 13 + pixel / 16) as u8),
    }
}

/// Returns a sprite of eight frames.
fn sprite(number: usize) -> Vec<u8> {
    let edge = 24 + (number % 40) as u16;
    let pixels: Vec<_> = (0..usize::from(edge).pow(2)).map(sprite_pixel).collect();
    let frames = (0..8).map(|_| (ta::gaf::Frame::rle(edge, edge, &pixels), 2));
    ta::gaf::file(&[ta::gaf::sequence("walk", frames.collect())])
}

/// Returns a picture as large as the pictures of units.
fn picture(number: usize) -> Vec<u8> {
    let pixels = (0..96 * 96).map(|pixel| (pixel / 7 + number) as u8);
    ta::pcx::Pcx::indexed(96, 96, pixels.collect()).file()
}

/// Returns a model of a tower of boxes.
fn model(number: usize) -> Vec<u8> {
    const EDGE: i32 = 12 << 16;
    let mut root = ta::tdo::object("base");
    for storey in 0..8 + number % 16 {
        let mut object = ta::tdo::object(&format!("storey{storey}"));
        let (low, high) = ((storey as i32) << 20, (storey as i32 + 1) << 20);
        let (from, to) = ([-EDGE, low, -EDGE], [EDGE, high, EDGE]);
        ta::tdo::add_box(&mut object, from, to, |face, side| {
            side.color = (16 * face + storey) as u32;
        });
        root.children.push(object);
    }
    ta::tdo::file(&root)
}

/// Returns the text of a unit with 90 keys; most of them occur in all units.
fn unit(number: usize) -> Vec<u8> {
    let keys = (0..90).map(|key| {
        let name = if key % 10 == 9 { key * number } else { key };
        let name = format!("SomeKey{}", name % 300);
        ta::tdf::key(&name, &format!("{}", number * key))
    });
    let name = ta::tdf::key("UnitName", &format!("ARM{number}"));
    let items = [name].into_iter().chain(keys).collect();
    ta::tdf::file(&[ta::tdf::section("UNITINFO", items)])
}
