//! Generates the files that `scripts/bench` uses, and packs them as HIP.
//!
//! `corpus files DIR` generates 5,000 files, 273 MiB in total, in 146
//! directories: 60 % text, 30 % records, 10 % noise; sizes from 1 KiB to 4 MiB,
//! small ones more often, and twelve of 8 MiB in `big/`. Some of the texts
//! contain the word `NEEDLE_zqxj` in the middle. The output is deterministic.
//!
//! `corpus game DIR` generates 4,560 files, 200 MiB in total, in the
//! directories of Total Annihilation, with about the same numbers and sizes.
//!
//! `corpus hip DIR OUT` packs a directory into an archive for GameCube: every
//! file is an asset of a type that nothing parses, every directory a layer.
//!
//! `corpus shape OUT --files N --width N` writes an HPI archive of a given shape
//! directly, with meaningless contents.

mod game;
mod generate;
mod shape;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Parser;
use fixtures::hip::{Asset, Hip};
use hpimount_containers::hip::{Game, Platform};

use generate::{Generator, Kind};
use shape::Shape;

/// Generates the files that benchmarks read.
#[derive(Parser)]
enum Command {
    /// Fill a new directory with files
    Files {
        dir: PathBuf,
        /// Only 200 files, 8 MiB in total
        #[arg(long)]
        quick: bool,
    },
    /// Fill a new directory with files like a game's
    Game {
        dir: PathBuf,
        /// Only a twentieth of the files
        #[arg(long)]
        quick: bool,
    },
    /// Pack a directory into a HIP archive
    Hip { dir: PathBuf, out: PathBuf },
    /// Write an HPI archive of a given shape
    Shape(Shape),
}

/// The number of files, and their sizes.
struct Scale {
    files: usize,
    /// Maximum size of a file outside `big/`, in bytes.
    largest: f64,
    /// Bytes of a file in `big/`.
    big: usize,
}

const FULL: Scale = Scale {
    files: 5000,
    largest: (4 << 20) as f64,
    big: 8 << 20,
};

const QUICK: Scale = Scale {
    files: 200,
    largest: (1 << 18) as f64,
    big: 3 << 17,
};

/// Files in `big/`.
const BIG_FILES: usize = 12;

/// Minimum number of bytes of a file.
const SMALLEST: f64 = 1024.0;

/// Exponent of the sizes: files above a size become rarer with its power.
const EXPONENT: f64 = 0.62;

/// One file in this many contains the needle, if it is a text.
const NEEDLE_EVERY: usize = 97;

/// The text that is searched for.
const NEEDLE: &[u8] = b"\nNEEDLE_zqxj found here\n";

/// With this seed the files have 273 MiB.
const SEED: u64 = 20_261_158;

fn main() -> io::Result<()> {
    match Command::parse() {
        Command::Files { dir, quick } => files(&dir, if quick { &QUICK } else { &FULL }),
        Command::Game { dir, quick } => game::write(&dir, if quick { 20 } else { 1 }),
        Command::Hip { dir, out } => pack(&dir, &out),
        Command::Shape(shape) => shape.write(),
    }
}

fn files(root: &Path, scale: &Scale) -> io::Result<()> {
    let mut generator = Generator::new(SEED);
    let directories = directories();
    for directory in &directories {
        fs::create_dir_all(root.join(directory))?;
    }
    fs::create_dir(root.join("big"))?;
    let mut total = 0;
    for number in 0..scale.files {
        let (path, kind, size) = if number < BIG_FILES {
            let kind = [Kind::Text, Kind::Records][number % 2];
            let name = format!("big/big{number:02}.{}", extension(kind));
            (name, kind, scale.big)
        } else {
            let random = generator.random();
            let size = size(random.unit(), scale.largest);
            let kind = match random.unit() {
                share if share < 0.6 => Kind::Text,
                share if share < 0.9 => Kind::Records,
                _ => Kind::Noise,
            };
            let directory = &directories[random.below(directories.len())];
            let name = format!("{directory}/f{number:05}.{}", extension(kind));
            (name.trim_start_matches('/').to_owned(), kind, size)
        };
        let mut bytes = generator.bytes(kind, size);
        if number % NEEDLE_EVERY == 0 && kind == Kind::Text {
            hide_needle(&mut bytes);
        }
        total += bytes.len();
        fs::write(root.join(path), bytes)?;
    }
    print_total(scale.files, total);
    Ok(())
}

fn print_total(files: usize, bytes: usize) {
    println!("{files} files, {} MiB", (bytes + (1 << 19)) >> 20);
}

/// Inserts the needle in the middle of a text.
fn hide_needle(text: &mut Vec<u8>) {
    let middle = text.len() / 2;
    text.splice(middle..middle, NEEDLE.iter().copied());
}

/// Returns the root and 24 directories with five more in each.
fn directories() -> Vec<String> {
    let inner = |outer| (0..5).map(move |inner| format!("d{outer:02}/sub{inner}"));
    let outer = (0..24).flat_map(|outer| [format!("d{outer:02}")].into_iter().chain(inner(outer)));
    [String::new()].into_iter().chain(outer).collect()
}

fn extension(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "txt",
        Kind::Records => "bin",
        Kind::Noise => "dat",
    }
}

/// Returns a size by the power law: `share` of the sizes are smaller.
fn size(share: f64, largest: f64) -> usize {
    let (low, high) = (SMALLEST.powf(-EXPONENT), largest.powf(-EXPONENT));
    (low - share * (low - high)).powf(-1.0 / EXPONENT) as usize
}

fn pack(root: &Path, out: &Path) -> io::Result<()> {
    let mut archive = Hip::target(Game::Bfbb, Platform::GameCube);
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let mut entries = fs::read_dir(&directory)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        archive.layer(0);
        for entry in entries {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            // Ids are derived from names, which must therefore be unique.
            let name = path.strip_prefix(root).map_err(io::Error::other)?;
            let name = name.to_string_lossy().replace('/', "_");
            archive.add(Asset::new(b"RAW ", &name, &fs::read(&path)?));
        }
    }
    fs::write(out, archive.build())
}
