//! Generates files of fictitious games, for `scripts/demo` and the pictures of
//! the README.
//!
//! `demo DIR` fills a new directory: `mymod/`, a mod for Total Annihilation as
//! a folder; `reef.HIP`, an archive of Heavy Iron's kind; `models/` with a PSX
//! level, an HGO character and an IFP package.

mod map;
mod models;
mod palette;
mod reef;
mod units;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Parser;

/// Fills a directory with sample files.
#[derive(Parser)]
struct Command {
    /// The directory to create
    dir: PathBuf,
}

/// A new file: its path and its bytes.
type NewFile = (String, Vec<u8>);

fn main() -> io::Result<()> {
    let Command { dir } = Command::parse();
    fs::create_dir(&dir)?;
    let files = units::files().into_iter();
    for (name, bytes) in files.chain(map::files()) {
        write(&dir.join("mymod").join(name), &bytes)?;
    }
    write(&dir.join("reef.HIP"), &reef::archive())?;
    for (name, bytes) in models::files() {
        write(&dir.join("models").join(name), &bytes)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}
