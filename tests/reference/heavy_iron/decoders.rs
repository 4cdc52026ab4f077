//! Textures and sounds of noise: the independent readers decode the same pixels
//! and samples.

use std::path::Path;
use std::process::Command;

use crate::shared;
use fixtures::heavy_iron::kinds::{sounds, textures};
use testkit::decoded::{first, platform, read_sound};
use testkit::skip;

/// Writes the pixels and samples of the independent readers next to the files.
const DRIVER: &str = "
import struct, sys
sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], sys.argv[1] + '/..']
import rwtx_ref, snd_ref
for path in sys.argv[2:]:
    data = open(path, 'rb').read()
    if path.endswith('.rwtx'):
        texture = rwtx_ref.dictionary(data)[0][0]
        made = b''.join(texture['decode'](level) for level in range(len(texture['levels'])))
    else:
        table = open(path + '.table', 'rb').read()
        platform = path.rsplit('.', 1)[1]
        read = {'gc': snd_ref.sndi_gc, 'xbox': snd_ref.sndi_xbox}.get(platform)
        entries = (read(table) if read else snd_ref.sndi_ps2(table, 0))[0]
        wav = snd_ref.decode({'data': data, 'plat': platform}, entries[1][0])[0]
        made = wav[44:44 + struct.unpack_from('<I', wav, 40)[0]]
    open(path + '.made', 'wb').write(made)
";

/// Runs the independent readers on files; returns `false` if they are missing.
fn run_readers(paths: &[std::path::PathBuf]) -> bool {
    let Some(readers) = shared("oracle/hip_assets") else {
        return false;
    };
    let mut command = Command::new("python3");
    command.args(["-c", DRIVER]).arg(readers).args(paths);
    match command.output() {
        Ok(output) => {
            let problem = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{problem}");
            true
        }
        Err(error) => skip::possible(false, &format!("python3: {error}")),
    }
}

#[test]
fn the_independent_reader_decodes_noise_to_the_same_pixels() {
    let work_dir = tempfile::tempdir().unwrap();
    let textures = textures(0);
    let path = |name: &str| work_dir.path().join(format!("{name}.rwtx"));
    for (name, bytes) in &textures {
        std::fs::write(path(name), bytes).unwrap();
    }
    let paths: Vec<_> = textures.iter().map(|(name, _)| path(name)).collect();
    if !run_readers(&paths) {
        return;
    }
    for (name, bytes) in textures {
        let known = std::fs::read(path(&name).with_extension("rwtx.made")).unwrap();
        let texture = first(bytes);
        let is_whole = texture.levels.len() == if name.starts_with("ps2") { 1 } else { 2 };
        let levels = (0..texture.levels.len()).map(|level| texture.rgba(level).unwrap());
        let ours: Vec<[u8; 4]> = levels.flatten().collect();
        assert!(is_whole && ours.as_flattened() == known, "{name}");
    }
}

#[test]
fn the_independent_reader_decodes_noise_to_the_same_samples() {
    let work_dir = tempfile::tempdir().unwrap();
    let sounds = sounds(0);
    let path = |number: usize, name: &str| work_dir.path().join(format!("{number}.{name}"));
    let beside = |path: &Path, end: &str| path.with_added_extension(end);
    let mut paths = Vec::new();
    for (number, (name, table, data)) in sounds.iter().enumerate() {
        let path = path(number, name);
        std::fs::write(&path, data).unwrap();
        std::fs::write(beside(&path, "table"), table).unwrap();
        paths.push(path);
    }
    if !run_readers(&paths) {
        return;
    }
    for (path, (name, table, data)) in paths.iter().zip(sounds) {
        let known = std::fs::read(beside(path, "made")).unwrap();
        let ours = read_sound(platform(name), table, data).pcm();
        let known: Vec<i16> = known
            .as_chunks()
            .0
            .iter()
            .map(|s| i16::from_le_bytes(*s))
            .collect();
        assert!(ours == known, "{}", path.display());
    }
}
