//! A tree like the one of Total Annihilation.

use std::fs;
use std::io;
use std::path::Path;

use super::generate::{Generator, Kind};
use super::{NEEDLE_EVERY, SEED, hide_needle, print_total};

/// The files of one directory.
struct Directory {
    name: &'static str,
    extension: &'static str,
    files: usize,
    /// Total size of the files in bytes.
    bytes: usize,
    kind: Kind,
}

const fn directory(
    name: &'static str,
    extension: &'static str,
    (files, kilobytes): (usize, usize),
    kind: Kind,
) -> Directory {
    Directory {
        name,
        extension,
        files,
        bytes: kilobytes << 10,
        kind,
    }
}

/// 4,560 files, 200 MiB in total.
const DIRECTORIES: [Directory; 18] = [
    directory("ai", "txt", (30, 60), Kind::Text),
    directory("anims", "gaf", (420, 34_000), Kind::Records),
    directory("bitmaps", "pcx", (160, 24_000), Kind::Records),
    directory("camps", "tdf", (70, 200), Kind::Text),
    directory("download", "tdf", (60, 120), Kind::Text),
    directory("features", "tdf", (190, 700), Kind::Text),
    directory("fonts", "fnt", (30, 150), Kind::Records),
    directory("gamedata", "tdf", (40, 800), Kind::Text),
    directory("guis", "gui", (330, 1_400), Kind::Text),
    directory("maps", "tnt", (140, 76_000), Kind::Records),
    directory("maps/scenarios", "ota", (140, 900), Kind::Text),
    directory("objects3d", "3do", (780, 7_000), Kind::Records),
    directory("palettes", "pal", (20, 320), Kind::Noise),
    directory("scripts", "cob", (320, 2_600), Kind::Records),
    directory("sections", "sct", (720, 26_000), Kind::Records),
    directory("sounds", "wav", (560, 22_000), Kind::Noise),
    directory("units", "fbi", (310, 850), Kind::Text),
    directory("unitpics", "pcx", (240, 7_700), Kind::Records),
];

/// Fills a new directory with one in `share` of the files.
pub(super) fn write(root: &Path, share: usize) -> io::Result<()> {
    let mut generator = Generator::new(SEED);
    let (mut number, mut total) = (0, 0);
    for directory in &DIRECTORIES {
        fs::create_dir_all(root.join(directory.name))?;
        let average = directory.bytes / directory.files;
        for _ in 0..directory.files.div_ceil(share) {
            // From a quarter of the average to seven quarters.
            let size = average / 4 + generator.random().below(average * 3 / 2);
            let mut bytes = generator.bytes(directory.kind, size);
            if number % NEEDLE_EVERY == 0 && directory.kind == Kind::Text {
                hide_needle(&mut bytes);
            }
            total += bytes.len();
            let name = format!("file{number:04}.{}", directory.extension);
            fs::write(root.join(directory.name).join(name), bytes)?;
            number += 1;
        }
    }
    print_total(number, total);
    Ok(())
}
