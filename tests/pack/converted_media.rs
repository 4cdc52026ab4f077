//! Edited textures and sounds of HIP archives become assets again, in the codecs of all
//! consoles.

use std::collections::BTreeMap;
use std::fs;

use testkit::fuse_test;

use crate::converted::{Edited, tree};
use fixtures::disc::Disc;
use fixtures::heavy_iron::kinds;
use fixtures::hip::{Asset, Hip};
use hpimount_assets::model::wav;
use hpimount_containers::hip::{Game, Platform};
use testkit::applied::{open_changed, read_at};
use testkit::edits::{music, music_with, photo, samples};
use testkit::pictures::pixels;

/// Returns the peak signal-to-noise ratio of two pictures in decibels.
fn psnr(one: &[u8], other: &[u8]) -> f64 {
    let ((_, _, one), (_, _, other)) = (pixels(one), pixels(other));
    let squares = one.iter().zip(&other);
    let squares = squares.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
    let mean = squares.sum::<f64>() / one.len() as f64;
    10.0 * (255.0_f64.powi(2) / mean.max(1e-9)).log10()
}

/// Returns archives with a texture of each format that is written.
fn textures(seed: u64) -> Vec<(Edited, Vec<String>)> {
    let platforms = [("gx", Platform::GameCube), ("xbox", Platform::Xbox)];
    let archive = |(start, platform)| {
        let mut hip = Hip::target(Game::Bfbb, platform);
        hip.layer(1);
        let mut names = Vec::new();
        for (name, bytes) in kinds::textures(seed) {
            if name.starts_with(start) {
                hip.add(Asset::new(b"RWTX", &name, &bytes));
                names.push(format!("converted/textures/{name}.png"));
            }
        }
        (Edited::new("a.HIP", &hip.build()), names)
    };
    platforms.map(archive).into()
}

/// Returns what a changed archive shows at these paths.
fn shown(edited: &Edited, paths: &[String]) -> BTreeMap<String, Vec<u8>> {
    let vfs = open_changed(&edited.archive, &edited.folder()).unwrap();
    let shown = paths.iter();
    shown
        .map(|path| (path.clone(), read_at(&vfs, path)))
        .collect()
}

#[test]
fn edited_textures_of_every_format_are_shown() {
    for ((edited, paths), (other, _)) in textures(1).into_iter().zip(textures(2)) {
        fs::create_dir(other.folder()).unwrap();
        let before = shown(&other, &paths);
        for (path, png) in &before {
            edited.edit(path, png);
        }
        let after = shown(&edited, &paths);
        for (path, png) in &before {
            let ratio = psnr(png, &after[path]);
            let name = path.trim_start_matches("converted/textures/");
            // The blocks of the other texture are noise.
            let is_exact = !["gx_14", "xbox_200_c", "xbox_300_e", "xbox_300_f"]
                .iter()
                .any(|blocks| name.starts_with(blocks));
            assert!(
                ratio > if is_exact { 100.0 } else { 15.0 },
                "{name}: {ratio}"
            );
        }
        let packed = edited.packed();
        let written = Edited::new("a.HIP", &packed);
        fs::create_dir(written.folder()).unwrap();
        assert!(shown(&written, &paths) == after);
    }
}

#[test]
fn a_photograph_is_shown_well_and_does_not_change_when_it_is_applied_again() {
    for (edited, paths) in textures(1) {
        let (width, height) = match paths[0].contains("gx") {
            true => (64, 32),
            false => (32, 64),
        };
        let photo = photo(width, height);
        for path in &paths {
            edited.edit(path, &photo);
        }
        let after = shown(&edited, &paths);
        for (path, png) in &after {
            let ratio = psnr(&photo, png);
            // Gray, with alpha or few colors.
            let is_poor = [
                "gx_0", "gx_1_", "gx_2", "gx_3", "gx_8", "gx_9_0", "gx_10_0", "xbox_400",
            ]
            .iter()
            .any(|poor| path.contains(poor));
            assert!(ratio >= 30.0 || is_poor, "{path}: {ratio}");
        }
        for (path, png) in &after {
            edited.edit(path, png);
        }
        for (path, png) in shown(&edited, &paths) {
            assert!(pixels(&png) == pixels(&after[&path]), "{path}");
        }
    }
}

#[fuse_test]
fn an_edited_texture_is_read_back_from_a_mount() {
    let (edited, paths) = textures(1).remove(0);
    let path = paths.iter().find(|path| path.contains("gx_6")).unwrap();
    let png = photo(64, 32);
    edited.edit(path, &png);
    edited.assert_shown(path, &png);
    let refused = edited.edit(path, &photo(60, 32)).refused();
    assert!(
        refused.contains("has 60x32 pixels, sides must be powers of two"),
        "{refused}"
    );
}

/// Returns archives with a sound each, and the sound's path.
fn sounds() -> Vec<(Edited, String)> {
    let sounds = kinds::sounds(1).into_iter();
    let archive = |(platform, table, data): (&str, Vec<u8>, Vec<u8>)| {
        let platform = match platform {
            "gc" => Platform::GameCube,
            "xbox" => Platform::Xbox,
            _ => Platform::PlayStation2,
        };
        let mut hip = Hip::target(Game::Bfbb, platform);
        hip.layer(5)
            .add(Asset::new(b"SND ", "beep", &data).with_id(1))
            .add(Asset::new(b"SNDI", "table", &table));
        let path = "converted/sounds/beep.wav".to_owned();
        (Edited::new("a.HIP", &hip.build()), path)
    };
    sounds.map(archive).collect()
}

/// Returns the signal-to-noise ratio of samples in decibels.
fn snr(wanted: &[i16], found: &[i16]) -> f64 {
    let power = |samples: Vec<f64>| samples.iter().map(|sample| sample * sample).sum::<f64>();
    let signal = power(wanted.iter().map(|&sample| sample.into()).collect());
    let pairs = wanted.iter().zip(found);
    let noise = power(pairs.map(|(&a, &b)| f64::from(a) - f64::from(b)).collect());
    10.0 * (signal / noise.max(1e-9)).log10()
}

#[test]
fn edited_sounds_of_every_codec_may_have_another_length_and_play_well() {
    for (edited, path) in sounds() {
        fs::create_dir(edited.folder()).unwrap();
        let paths = [path.clone()];
        let before = shown(&edited, &paths).remove(&path).unwrap();
        let (channels, rate, old) = samples(&before);
        // A multiple of the frames of all codecs.
        for frames in [old.len() as u32 / u32::from(channels), 448 * 10, 448 * 2] {
            let loops = wav::read(&before).unwrap().wav.loops;
            let wav = music_with(channels, rate, frames, loops.map(|_| (0, frames - 1)));
            edited.edit(&path, &wav);
            let after = shown(&edited, &paths).remove(&path).unwrap();
            let (wanted, found) = (samples(&wav), samples(&after));
            assert_eq!((found.0, found.1), (channels, rate));
            assert_eq!(found.2.len(), wanted.2.len());
            let ratio = snr(&wanted.2, &found.2);
            assert!(ratio >= 25.0, "{:?} {frames}: {ratio}", edited.archive);
            // Applied again to the changed archive, it is the same.
            let written = Edited::new("a.HIP", &edited.packed());
            written.edit(&path, &after);
            assert!(written.packed() == fs::read(&written.archive).unwrap());
        }
    }
}

#[test]
fn sounds_that_do_not_fit_are_refused_with_a_remedy() {
    let (edited, path) = sounds().remove(0);
    for (wav, expected) in [
        (music(2, 22_050, 100), "has 2 channels, must have 1"),
        (music(1, 44_100, 100), "-ar 22050"),
        (music(1, 22_050, 0), "has no samples"),
        (b"OggS".to_vec(), "is not a WAV file"),
    ] {
        let refused = edited.edit(&path, &wav).refused();
        assert!(refused.contains(expected), "{refused}");
    }
    let refused = edited
        .edit("converted/sounds/native/beep.dsp", b"x")
        .refused();
    assert!(refused.contains("edit its WAV file"), "{refused}");
}

#[test]
fn a_sound_whose_header_is_in_another_archive_is_refused_with_its_name() {
    let (_, table, data) = kinds::sounds(1).remove(0);
    let hip = |asset: Asset| {
        let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
        hip.layer(5).add(asset);
        hip.build()
    };
    let sound = hip(Asset::new(b"SND ", "beep", &data).with_id(1));
    let table = hip(Asset::new(b"SNDI", "table", &table));
    let wav = music(1, 22_050, 448);
    for (other, expected) in [
        ("BB01.HOP", "in the table of sounds (SNDI) of BB01.HOP"),
        ("boot.HIP", "in the table of sounds (SNDI) of boot.HIP"),
        ("other.HIP", "the archive has no table of sounds (SNDI)"),
    ] {
        let mut disc = Disc::default();
        disc.file("BB01.HIP", &sound).file(other, &table);
        let edited = Edited::new("a.iso", &disc.iso());
        edited.edit("BB01.HIP.d/converted/sounds/beep.wav", &wav);
        let refused = edited.refused();
        assert!(refused.contains(expected), "{other}: {refused}");
        // The way that the reason names is open.
        let edited = Edited::new("a.iso", &disc.iso());
        let path = "BB01.HIP.d/ids/00000001";
        edited.edit(path, &[0; 64]);
        assert!(!edited.packed().is_empty());
    }
}

#[fuse_test]
fn sounds_and_textures_that_are_copied_back_change_nothing() {
    let sounds = sounds().into_iter().map(|(edited, _)| edited);
    let textures = textures(1).into_iter().map(|(edited, _)| edited);
    for edited in sounds.chain(textures) {
        for (path, bytes) in tree(edited.original().path()) {
            edited.edit(path.to_str().unwrap(), &bytes);
        }
        assert!(edited.packed() == fs::read(&edited.archive).unwrap());
    }
}
