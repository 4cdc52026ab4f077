//! Sounds with their native headers restored: other programs decode them to the
//! samples of the WAV file.

#[path = "support/heavy_iron/mod.rs"]
mod heavy_iron;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use heavy_iron::build;
use hpimount::mount::{Ino, Options};
use hpimount_containers::hip::{Game, Platform, asset_id};
use support::hip::{Asset, Hip};
use support::mount::{Mount, can_mount, has_programs};
use support::mounted::mounted;
use support::{noise, shared, skip, walked};

/// Samples of a sound; its last frame is not full.
const SAMPLES: u32 = 1393;

/// Decodes files by their own headers with the independent reader.
const DRIVER: &str = "
import struct, sys
sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], sys.argv[1] + '/..']
import snd_ref
for path in sys.argv[2:]:
    data = open(path, 'rb').read()
    if path.endswith('.dsp'):
        word = lambda form, at: struct.unpack_from('>' + form, data, at)
        (samples,), coef, (yn1, yn2) = word('I', 0), word('16h', 0x1C), word('2H', 0x40)
        entry = {'samples': samples, 'coef': coef, 'yn1': yn1, 'yn2': yn2}
        pcm = snd_ref.dsp_decode(data[0x60:], entry)
    else:
        assert data[:4] == b'VAGp'
        (size,) = struct.unpack_from('>I', data, 12)
        pcm = snd_ref.vag_decode(data[48:48 + size])[0]
    open(path + '.made', 'wb').write(struct.pack('<%dh' % len(pcm), *pcm))
";

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
fn sound(platform: Platform, table: &[u8], data: &[u8]) -> Option<(Mount, PathBuf, PathBuf)> {
    let mount = mounted(&archive(platform, table, data), "")?;
    let extension = match platform {
        Platform::GameCube => "dsp",
        _ => "vag",
    };
    let wav = mount.file("converted/sounds/beep.wav");
    let native = mount.file(&format!("converted/sounds/native/beep.{extension}"));
    Some((mount, wav, native))
}

/// Returns a sound of the GameCube. The first four pairs of coefficients are
/// used.
fn dsp(pairs: [[i16; 2]; 4], loops: Option<(u32, u32)>) -> Option<(Mount, PathBuf, PathBuf)> {
    let mut coefficients = [0; 16];
    coefficients[..8].copy_from_slice(pairs.as_flattened());
    let mut data = noise(1, 8 * SAMPLES.div_ceil(14) as usize);
    data.iter_mut().step_by(8).for_each(|head| *head &= 0x37);
    let id = asset_id(b"beep");
    let table = build::dsp_table_with(id, SAMPLES, 22_050, coefficients, loops);
    sound(Platform::GameCube, &table, &data)
}

/// Returns the samples of a WAV file.
fn samples(wav: &Path) -> Vec<u8> {
    let bytes = fs::read(wav).unwrap();
    let size = u32::from_le_bytes(bytes[40..44].try_into().unwrap()) as usize;
    bytes[44..44 + size].to_vec()
}

/// Returns the samples that the independent reader decodes from a file.
fn decoded(native: &Path) -> Option<Vec<u8>> {
    let readers = shared("oracle/hip_assets")?;
    let work_dir = tempfile::tempdir().unwrap();
    let copy = work_dir.path().join(native.file_name().unwrap());
    fs::copy(native, &copy).unwrap();
    let mut python = Command::new("python3");
    python.args(["-c", DRIVER]).arg(readers).arg(&copy);
    match python.output() {
        Ok(output) => {
            let problem = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{problem}");
            Some(fs::read(copy.with_added_extension("made")).unwrap())
        }
        Err(error) => {
            skip::skip(&format!("python3: {error}"));
            None
        }
    }
}

#[test]
fn the_independent_reader_decodes_the_dsp_file_to_the_same_samples() {
    if !can_mount() {
        return;
    }
    let pairs = [[1820, -300], [3020, -1100], [4080, -2040], [-1800, 77]];
    for loops in [None, Some((34, 1_142_857))] {
        let (_mount, wav, native) = dsp(pairs, loops).unwrap();
        let Some(known) = decoded(&native) else {
            return;
        };
        assert_eq!(known.len(), 2 * SAMPLES as usize);
        assert!(samples(&wav) == known, "{loops:?}");
    }
}

#[test]
fn the_independent_reader_decodes_the_vag_file_to_the_same_samples() {
    if !can_mount() {
        return;
    }
    let mut data = noise(2, 16 * 60);
    for frame in data.as_chunks_mut::<16>().0 {
        frame[0] &= 0x3B;
        frame[1] = 0;
    }
    let table = build::vag_table(asset_id(b"beep"), 11_025, data.len() as u32);
    let (_mount, wav, native) = sound(Platform::PlayStation2, &table, &data).unwrap();
    let Some(known) = decoded(&native) else {
        return;
    };
    assert_eq!(known.len(), 2 * 60 * 28);
    assert!(samples(&wav) == known);
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

#[test]
fn ffmpeg_decodes_the_dsp_file_to_the_same_samples() {
    if !can_mount() || !has_programs(&["ffmpeg"]) {
        return;
    }
    // FFmpeg truncates predictions that the console rounds. With these pairs,
    // there is nothing to round.
    let pairs = [[0, 0], [2048, 0], [4096, -2048], [-2048, 0]];
    let (_mount, wav, native) = dsp(pairs, None).unwrap();
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
