//! Sources of mounts, and their contents.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::hpipack::{hpipack, stderr};
use crate::mount::Fixture;
use fixtures::hip::{Asset, Hip};
use serde_json::Value;

/// Returns a fixture with a folder called `source` as its source. `fill` fills the
/// folder.
pub fn folder(fill: impl FnOnce(&Path)) -> Fixture {
    let mut fixture = Fixture::new();
    fs::remove_file(&fixture.archive).unwrap();
    fixture.archive = fixture.dir().join("source");
    fs::create_dir(&fixture.archive).unwrap();
    fill(&fixture.archive);
    fixture
}

/// Returns a fixture with a file as its source.
pub fn file(name: &str, bytes: &[u8]) -> Fixture {
    let fixture = Fixture::named(name, "mnt");
    fs::write(&fixture.archive, bytes).unwrap();
    fixture
}

/// Packs a directory with hpipack.
pub fn pack(directory: &Path, archive: &Path) {
    pack_as(directory, archive, &[]);
}

/// Packs a directory with hpipack and these options.
pub fn pack_as(directory: &Path, archive: &Path, options: &[&str]) {
    let ran = hpipack(&[&["-q"], options].concat(), directory, archive);
    assert!(ran.status.success(), "{options:?}: {}", stderr(&ran));
}

/// Returns a HIP archive with these assets of several types in one layer. All
/// types are shown according to the extension.
pub fn hip<'a>(assets: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let types = [b"RAW ", b"BINK", b"ABCD", b"XYZ "];
    let mut hip = Hip::default();
    hip.layer(0);
    for ((name, bytes), code) in assets.zip(types.iter().cycle()) {
        hip.add(Asset::new(code, name, bytes));
    }
    hip.build()
}

/// Returns an IFP file with `count` animations of one object with `frames` keys.
pub fn ifp(count: u32, frames: u32) -> Vec<u8> {
    let name = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(24, 0);
        bytes
    };
    let mut bytes = [b"ANP3".to_vec(), vec![0; 4], name("many")].concat();
    bytes.extend(count.to_le_bytes());
    for number in 0..count {
        bytes.extend(name(&format!("walk{number}")));
        bytes.extend([1_u32, 16 * frames, 1].map(u32::to_le_bytes).concat());
        bytes.extend(name("Root"));
        bytes.extend([4, frames, 0].map(u32::to_le_bytes).concat());
        for key in (0..frames).map(|key| key as i16) {
            let key = [0, 0, key, 4096, key, key, 0, number as i16];
            bytes.extend(key.map(i16::to_le_bytes).concat());
        }
    }
    bytes
}

/// Returns the names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{directory:?}: {error}"));
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns the contents of a JSON file.
pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&read(path)).unwrap()
}

/// Returns the bytes of a file, which can be read.
pub fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a program, which must succeed, and returns its output.
pub fn output(program: &str, args: &[&str], path: &Path) -> String {
    let output = Command::new(program).args(args).arg(path).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
