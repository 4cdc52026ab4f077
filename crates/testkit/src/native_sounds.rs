//! Archives with one sound, as a WAV file and with its native header.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mount::Mount;
use crate::mounted::mounted;
use fixtures::heavy_iron as build;
use fixtures::hip::{Asset, Hip};
use fixtures::noise;
use hpimount_containers::hip::{Game, Platform, asset_id};

/// Samples of a sound; its last frame is not full.
pub const SAMPLES: u32 = 1393;

/// Returns an archive with one sound, called `beep`.
fn archive(platform: Platform, table: &[u8], data: &[u8]) -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, platform);
    hip.layer(0)
        .add(Asset::new(b"SND ", "beep", data))
        .add(Asset::new(b"SNDI", "sound_info", table));
    hip.build()
}

/// Returns a mount of one sound, and its files in the converted tree: WAV and
/// native.
pub fn sound(platform: Platform, table: &[u8], data: &[u8]) -> (Mount, PathBuf, PathBuf) {
    let mount = mounted(&archive(platform, table, data), "");
    let extension = match platform {
        Platform::GameCube => "dsp",
        _ => "vag",
    };
    let wav = mount.file("converted/sounds/beep.wav");
    let native = mount.file(&format!("converted/sounds/native/beep.{extension}"));
    (mount, wav, native)
}

/// Returns a sound of the GameCube. The first four pairs of coefficients are
/// used.
pub fn dsp(pairs: [[i16; 2]; 4], loops: Option<(u32, u32)>) -> (Mount, PathBuf, PathBuf) {
    let mut coefficients = [0; 16];
    coefficients[..8].copy_from_slice(pairs.as_flattened());
    let mut data = noise(1, 8 * SAMPLES.div_ceil(14) as usize);
    data.iter_mut().step_by(8).for_each(|head| *head &= 0x37);
    let id = asset_id(b"beep");
    let table = build::dsp_table_with(id, SAMPLES, 22_050, coefficients, loops);
    sound(Platform::GameCube, &table, &data)
}

/// Returns the samples of a WAV file.
pub fn samples(wav: &Path) -> Vec<u8> {
    let bytes = fs::read(wav).unwrap();
    let size = u32::from_le_bytes(bytes[40..44].try_into().unwrap()) as usize;
    bytes[44..44 + size].to_vec()
}
