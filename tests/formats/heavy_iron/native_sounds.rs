//! Sounds with their native headers restored: other programs decode them to the
//! samples of the WAV file.

use std::fs;
use std::process::Command;

use fixtures::heavy_iron as build;
use fixtures::hip::{Asset, Hip};
use hpimount::mount::{Ino, Options};
use hpimount_containers::hip::{Game, Platform, asset_id};
use testkit::fuse_test;
use testkit::mount::has_programs;
use testkit::mounted::mounted;
use testkit::native_sounds::{SAMPLES, dsp, samples};
use testkit::shown::{built, bytes_of, rows};
use testkit::walked;

/// Returns an archive with one sound, called `beep`.
fn archive(platform: Platform, table: &[u8], data: &[u8]) -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, platform);
    hip.layer(0)
        .add(Asset::new(b"SND ", "beep", data))
        .add(Asset::new(b"SNDI", "sound_info", table));
    hip.build()
}

/// Converts a DSP file into a GENH file, since FFmpeg reads GENH but has no
/// reader for DSP files.
fn genh(dsp: &[u8]) -> Vec<u8> {
    const START: u32 = 128;
    const COEFFICIENTS: u32 = 60;
    const THP: u32 = 12;
    let word = |at: usize| u32::from_be_bytes(dsp[at..at + 4].try_into().unwrap());
    let fields = [
        1,
        8,
        word(8),
        u32::MAX,
        word(0),
        THP,
        START,
        START,
        COEFFICIENTS,
        COEFFICIENTS,
        0,
        0,
        0,
        0,
    ];
    let mut file = [
        b"GENH".to_vec(),
        build::little(&fields),
        dsp[0x1C..0x3C].to_vec(),
    ]
    .concat();
    file.resize(START as usize, 0);
    file.extend(&dsp[0x60..]);
    file
}

#[fuse_test]
fn ffmpeg_decodes_the_dsp_file_to_the_same_samples() {
    if !has_programs(&["ffmpeg"]) {
        return;
    }
    // FFmpeg truncates predictions where the console rounds. With these pairs, rounding
    // has no effect.
    let pairs = [[0, 0], [2048, 0], [4096, -2048], [-2048, 0]];
    let (_mount, wav, native) = dsp(pairs, None);
    let work_dir = tempfile::tempdir().unwrap();
    let file = work_dir.path().join("beep.genh");
    fs::write(&file, genh(&fs::read(native).unwrap())).unwrap();
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-i"]).arg(&file);
    let output = ffmpeg.args(["-f", "s16le", "-"]).output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let known = samples(&wav);
    assert_eq!(known.len(), 2 * SAMPLES as usize);
    // It decodes whole frames.
    assert_eq!(output.stdout.len(), 28 * SAMPLES.div_ceil(14) as usize);
    assert!(output.stdout.starts_with(&known));
}

#[test]
fn a_listing_has_the_size_of_a_wav_file_that_was_requested_before() {
    let table = build::dsp_table(asset_id(b"beep"), 14, 8000);
    let work_dir = tempfile::tempdir().unwrap();
    let path = work_dir.path().join("a.hip");
    fs::write(&path, archive(Platform::GameCube, &table, &[0; 8])).unwrap();
    let vfs = walked::open(path, Options::default()).unwrap();
    let converted = vfs.lookup(Ino::ROOT, "converted").unwrap().ino;
    let sounds = vfs.lookup(converted, "sounds").unwrap().ino;
    let listed = || {
        let mut found = None;
        vfs.readdir_plus(sounds, 0, &mut |name, attr, _| {
            if name == "beep.wav" {
                found = Some((attr.size, attr.lasting));
            }
            vfs.forget(attr.ino, 1);
            false
        })
        .unwrap();
        found
    };
    assert_eq!(listed(), Some((0, false)), "nothing is read for a listing");
    let size = vfs.lookup(sounds, "beep.wav").unwrap().size;
    assert_eq!(listed(), Some((size, true)));
    assert_eq!(size, 44 + 2 * 14);
}

#[fuse_test]
fn a_sound_of_a_bank_is_a_wav_file_although_its_asset_is_empty() {
    // Without coefficients, the nibbles after the first byte are the samples.
    let data = [
        0x00, 0x12, 0x00, 0x77, 0x34, 0x56, 0x77, 0x77, 0x71, 0x23, 0x77, 0x77, 0x45, 0x67, 0x77,
        0x77,
    ];
    let mut hip = Hip::target(Game::Incredibles, Platform::GameCube);
    hip.layer(0)
        .add(Asset::new(b"SND ", "beep", &[]))
        .add(Asset::new(
            b"SNDI",
            "sound_info",
            &build::bank_table(asset_id(b"beep"), &data),
        ));
    let mount = mounted(&hip.build(), "");
    let wav = bytes_of(&built(&mount, "beep").join("beep.wav"));
    assert_eq!(bytes_of(&mount.file("converted/sounds/beep.wav")), wav);
    assert_eq!(wav[22..28], [2, 0, 0, 0x7D, 0, 0], "stereo at 32,000 Hz");
    let samples: Vec<_> = wav[44..44 + 4 * 14]
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i16::from_le_bytes(*bytes))
        .collect();
    let [left, right] = [0, 1].map(|channel| samples.iter().skip(channel).step_by(2));
    let left: Vec<_> = left.collect();
    assert_eq!(
        left,
        [&1, &2, &3, &4, &5, &6, &7, &1, &2, &3, &4, &5, &6, &7]
    );
    assert!(right.into_iter().all(|&sample| sample == 7));
    let table = built(&mount, "sound_info");
    let row = &rows(&table.join("banks.tsv"))[0];
    let cells = [
        "bank",
        "sample",
        "name",
        "codec",
        "samples",
        "loop_start",
        "sound_name",
    ];
    assert_eq!(
        cells.map(|name| &*row[name]),
        ["0", "0", "sound", "DSP-ADPCM", "14", "2", "beep"]
    );
    assert!(bytes_of(&table.join("bank0.fsb")).starts_with(b"FSB3"));
}
