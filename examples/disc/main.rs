//! Generates a small disc of a fictitious game.
//!
//! `disc OUT.iso` writes an ISO 9660 image: a text, a HIP archive with texts,
//! a texture, a model and a sound, and a GTA archive with another HIP in it. `disc
//! OUT.cso` writes the same image compressed.

use std::io;
use std::path::PathBuf;

use clap::Parser;

use fixtures::container_seeds::cso;
use fixtures::disc::Disc;
use fixtures::heavy_iron;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::asset_id;

/// Writes a disc image with archives in it.
#[derive(Parser)]
struct Command {
    /// The image to write
    out: PathBuf,
}

/// Pixels of a side of the texture.
const SIDE: u16 = 64;

/// Frames of the sound, and samples of a frame.
const FRAMES: u32 = 800;
const FRAME: u32 = 14;

fn main() -> io::Result<()> {
    let command = Command::parse();
    let level = level();
    let mut disc = Disc::default();
    disc.file(
        "README.TXT",
        b"A disc to look around in.\r\nBB/BB01.HIP is an archive of Heavy Iron's kind.\r\n",
    )
    .file("BB/BB01.HIP", &level)
    .file("MODELS/LEVEL.IMG", &img("bb01.hip", &level));
    let image = match command.out.extension().is_some_and(|own| own == "cso") {
        true => cso(&disc.iso()),
        false => disc.iso(),
    };
    std::fs::write(command.out, image)
}

/// Returns an archive with texts, a texture, a model and a sound.
fn level() -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    let texts = [
        ("hello_text", "Hello from the disc."),
        ("sign_text", "Beware of the jellyfish."),
    ];
    for (name, text) in texts {
        let length = (text.len() as u32).to_be_bytes();
        let bytes = [&length, text.as_bytes(), &[0]].concat();
        hip.add(Asset::new(b"TEXT", name, &bytes));
    }
    hip.layer(1);
    hip.add(Asset::new(b"RWTX", "checkers.RW3", &texture()));
    hip.layer(3);
    hip.add(Asset::new(b"MODL", "pyramid.dff", &heavy_iron::pyramid()));
    hip.layer(6);
    hip.add(Asset::new(b"SND ", "bell", &bell()));
    hip.layer(7);
    let table = heavy_iron::dsp_table(asset_id(b"bell"), FRAMES * FRAME, 22_050);
    hip.add(Asset::new(b"SNDI", "sound_info", &table));
    hip.build()
}

/// Returns a sound for GameCube that fades away: frames of ADPCM whose predictor
/// is 0, so that their nibbles are the samples.
fn bell() -> Vec<u8> {
    let frames = (0..FRAMES).flat_map(|frame| {
        let scale = 11 - frame * 8 / FRAMES;
        let nibble = move |sample: u32| {
            let phase = (frame * FRAME + sample) as f32 / 8.0;
            (phase.sin() * 7.0).round() as i8 as u8 & 0xF
        };
        let pairs = (0..FRAME).step_by(2);
        let pairs = pairs.map(move |sample| nibble(sample) << 4 | nibble(sample + 1));
        std::iter::once(scale as u8).chain(pairs)
    });
    frames.collect()
}

/// Returns a texture for GameCube: squares of two colors, in 16-bit pixels
/// that are stored in tiles of 4 x 4.
fn texture() -> Vec<u8> {
    const RGB565: u8 = 4;
    let mut pixels = Vec::new();
    let tiles = SIDE / 4;
    for tile in 0..tiles * tiles {
        for pixel in 0..16 {
            let (x, y) = (tile % tiles * 4 + pixel % 4, tile / tiles * 4 + pixel / 4);
            let is_light = (x / 8 + y / 8) % 2 == 0;
            let color: u16 = if is_light { 0xFFC0 } else { 0x2D7F };
            pixels.extend(color.to_be_bytes());
        }
    }
    heavy_iron::gamecube(RGB565, 0, [SIDE, SIDE], &[], &pixels, 1)
}

/// Returns a GTA archive of version 2 with one file.
fn img(name: &str, bytes: &[u8]) -> Vec<u8> {
    const SECTOR: usize = 2048;
    let sectors = bytes.len().div_ceil(SECTOR) as u32;
    let mut image = [b"VER2", &1_u32.to_le_bytes()[..]].concat();
    image.extend([1, sectors].map(u32::to_le_bytes).concat());
    image.extend(name.as_bytes());
    image.resize(SECTOR, 0);
    image.extend(bytes);
    image.resize(image.len().next_multiple_of(SECTOR), 0);
    image
}
