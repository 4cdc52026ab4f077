//! Sounds with their native headers restored: the independent readers decode them
//! to the samples of the WAV file.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::shared;
use fixtures::heavy_iron as build;
use fixtures::noise;
use hpimount_containers::hip::{Platform, asset_id};
use testkit::fuse_test;
use testkit::native_sounds::{SAMPLES, dsp, samples, sound};
use testkit::skip;

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

#[fuse_test]
fn the_independent_reader_decodes_the_dsp_file_to_the_same_samples() {
    let pairs = [[1820, -300], [3020, -1100], [4080, -2040], [-1800, 77]];
    for loops in [None, Some((34, 1_142_857))] {
        let (_mount, wav, native) = dsp(pairs, loops);
        let Some(known) = decoded(&native) else {
            return;
        };
        assert_eq!(known.len(), 2 * SAMPLES as usize);
        assert!(samples(&wav) == known, "{loops:?}");
    }
}

#[fuse_test]
fn the_independent_reader_decodes_the_vag_file_to_the_same_samples() {
    let mut data = noise(2, 16 * 60);
    for frame in data.as_chunks_mut::<16>().0 {
        frame[0] &= 0x3B;
        frame[1] = 0;
    }
    let table = build::vag_table(asset_id(b"beep"), 11_025, data.len() as u32);
    let (_mount, wav, native) = sound(Platform::PlayStation2, &table, &data);
    let Some(known) = decoded(&native) else {
        return;
    };
    assert_eq!(known.len(), 2 * 60 * 28);
    assert!(samples(&wav) == known);
}
