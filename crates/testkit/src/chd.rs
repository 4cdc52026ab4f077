//! CHD images, and MAME's `chdman`, which makes them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::skip;
use fixtures::container_seeds::{ChdTrack, chd_of};
use hpimount_containers::image::{self, BlockImage};
use hpimount_containers::io::{Error, ReadAt};

/// Opens an image. Its format must be recognized.
pub fn open(path: &Path) -> Result<Box<dyn BlockImage>, Error> {
    open_bytes(fs::read(path).unwrap())
}

/// Opens an image in memory.
pub fn open_bytes(bytes: Vec<u8>) -> Result<Box<dyn BlockImage>, Error> {
    let source: Arc<dyn ReadAt> = Arc::new(bytes);
    let format = image::detect(&*source)?.ok_or(Error::UnknownFormat)?;
    (format.open)(source)
}

/// Returns the decoded bytes of an image.
pub fn bytes(image: &dyn BlockImage) -> Vec<u8> {
    let blocks = image.len().div_ceil(image.block_size().into());
    let blocks = (0..blocks).map(|block| image.decode(block).unwrap());
    blocks.flatten().collect()
}

/// Runs `chdman`; returns false if it is not installed.
pub fn chdman(arguments: &[&str]) -> bool {
    let mut command = Command::new("chdman");
    command
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.status();
    if !skip::possible(status.is_ok(), "chdman (mame-tools) is missing") {
        return false;
    }
    assert!(status.unwrap().success(), "chdman {arguments:?}");
    true
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns bytes that suit different codecs: text, a wave, noise and zeros.
pub fn varied() -> Vec<u8> {
    let mut state = 1_u32;
    let noise = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = std::iter::repeat_with(noise).take(40_960).collect();
    let text = b"all work and no play makes jack a dull boy. ".repeat(2000);
    let wave = (0..40_000).flat_map(|at| {
        let angle = f64::from(at) / 20.0;
        ((angle.sin() * 9000.0 + angle * 3.0) as i16).to_le_bytes()
    });
    let mut bytes = [text, wave.collect(), noise, vec![0; 40_960]].concat();
    bytes.resize(bytes.len().next_multiple_of(4096), 3);
    bytes
}

/// Returns an image of these bytes, made by `chdman` with some codecs; `None` if it is
/// not installed.
pub fn created(codecs: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let (input, out) = (directory.path().join("input"), directory.path().join("out"));
    fs::write(&input, bytes).unwrap();
    let arguments = ["createraw", "-hs", "4096", "-us", "512", "-c", codecs];
    let files = ["-i", text(&input), "-o", text(&out)];
    chdman(&[&arguments[..], &files].concat()).then(|| fs::read(out).unwrap())
}

/// Returns an uncompressed image of a CD. A track consists of the fields of its
/// metadata text, and its sectors of 2352 bytes with little-endian samples.
pub fn cd(tracks: &[(&str, &[u8])]) -> Vec<u8> {
    let tracks = tracks.iter().map(|(fields, sectors)| ChdTrack {
        fields,
        sectors,
        step: 2352,
        padding: 0,
    });
    chd_of(b"CHT2", &Vec::from_iter(tracks))
}
