//! Pictures and sounds that edits put into converted trees.

use fixtures::noise;
use hpimount_assets::model::wav::{self, Wav};
use hpimount_assets::model::{Picture, Pixels, png};

/// Returns a PNG file of a photo-like picture: soft gradients, some edges, and a little
/// noise.
pub fn photo(width: u32, height: u32) -> Vec<u8> {
    let grain = noise(77, (3 * width * height) as usize);
    let pixel = |at: u32| {
        let (x, y) = ((at % width) as f32, (at / width) as f32);
        let sky = 170.0 - y + 20.0 * (x / 23.0).sin();
        let hill = y > height as f32 * 0.6 + 5.0 * (x / 11.0).sin();
        let base = match hill {
            true => [60.0 + x / 2.0, 90.0 + y, 50.0],
            false => [sky * 0.7, sky * 0.9, sky],
        };
        let part = |part: usize| {
            let grain = f32::from(grain[3 * at as usize + part] % 7) - 3.0;
            (base[part] + grain) as u8
        };
        [part(0), part(1), part(2), 255]
    };
    png_of(width, height, (0..width * height).map(pixel).collect())
}

/// Returns a PNG file.
pub fn png_of(width: u32, height: u32, pixels: Vec<[u8; 4]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pixels = Pixels::Rgba(pixels);
    let picture = Picture {
        width,
        height,
        pixels,
    };
    png::write(&picture, &mut bytes).unwrap();
    bytes
}

/// Returns channels, rate and samples of a WAV file that hpimount has written.
pub fn samples(wav: &[u8]) -> (u16, u32, Vec<i16>) {
    let length = u32::from_le_bytes(*wav[40..].first_chunk().unwrap()) as usize;
    let samples = wav[44..44 + length].as_chunks().0.iter();
    (
        u16::from_le_bytes([wav[22], wav[23]]),
        u32::from_le_bytes(*wav[24..].first_chunk().unwrap()),
        samples.map(|&sample| i16::from_le_bytes(sample)).collect(),
    )
}

/// Returns a WAV file with notes of some instruments.
pub fn music(channels: u16, rate: u32, frames: u32) -> Vec<u8> {
    music_with(channels, rate, frames, None)
}

/// Returns [`music`] with a loop: its first and last sample.
pub fn music_with(channels: u16, rate: u32, frames: u32, loops: Option<(u32, u32)>) -> Vec<u8> {
    let wave = |at: u32, channel: u16| {
        let time = at as f32 / rate as f32;
        let fade = 1.0 - (time * 4.0).fract() * 0.7;
        let tone = |pitch: f32| (time * pitch * std::f32::consts::TAU).sin();
        let pitch = 220.0 + 55.0 * (time * 4.0).floor() + f32::from(channel);
        let sum = tone(pitch) + 0.5 * tone(2.0 * pitch) + 0.25 * tone(3.0 * pitch);
        (sum * fade * 9000.0) as i16
    };
    let samples = (0..frames).flat_map(|at| (0..channels).map(move |channel| wave(at, channel)));
    let samples: Vec<i16> = samples.collect();
    let wav = Wav {
        channels,
        rate,
        samples: frames,
        loops,
    };
    let mut bytes = Vec::new();
    wav::write(&wav, &samples, &mut bytes).unwrap();
    bytes
}
