//! Generates the assets whose conversion `scripts/bench` measures, and converts
//! them in one process, without a mount.
//!
//! `converted make DIR` fills a new directory. `game` has 170 sprites, 150
//! pictures and 280 models of Total Annihilation, `models` 300 models, and `mod`
//! the texts of 2,000 units. `level.HIP` has 200 textures, 300 sounds and 100
//! models of Heavy Iron's games, `gta3.img` 8,000 models of Grand Theft Auto and
//! as many dictionaries. `--quick` makes a hundredth of it.
//!
//! `converted render DIR` parses each asset of `game` once and renders each
//! file of its view once, and `converted render-level` does the same with the
//! assets of `level.HIP`, `converted render-img` with those of `gta3.img`.

mod archive;
mod game;
mod level;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Parser;
use hpimount_assets::view::{AssetContext, View, ViewFormat};
use hpimount_containers::volume::AssetType;

/// Makes assets, and converts them without a mount.
#[derive(Parser)]
enum Command {
    /// Fill a new directory with assets
    Make {
        dir: PathBuf,
        /// Make a hundredth of them
        #[arg(long)]
        quick: bool,
    },
    /// Convert all assets in such a directory's `game`
    Render { dir: PathBuf },
    /// Convert the assets of its `level.HIP`
    RenderLevel {
        /// Those that `make --quick` makes
        #[arg(long)]
        quick: bool,
    },
    /// Convert the entries of its `gta3.img`
    RenderImg {
        /// Those that `make --quick` makes
        #[arg(long)]
        quick: bool,
    },
}

fn main() -> io::Result<()> {
    match Command::parse() {
        Command::Make { dir, quick } => make(&dir, divisor(quick)),
        Command::Render { dir } => game::render(&dir.join("game")),
        Command::RenderLevel { quick } => level::render(divisor(quick)),
        Command::RenderImg { quick } => archive::render(divisor(quick)),
    }
}

/// Returns what all numbers of assets are divided by.
fn divisor(quick: bool) -> usize {
    if quick { 100 } else { 1 }
}

fn make(dir: &Path, divisor: usize) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    game::make(dir, divisor)?;
    fs::write(dir.join("gta3.img"), archive::archive(divisor))?;
    fs::write(dir.join("level.HIP"), level::archive(divisor))
}

/// The number and size of the converted files.
#[derive(Default)]
struct Total {
    files: u32,
    bytes: usize,
}

impl Total {
    /// Renders the files that a converted tree has of an asset, one by one.
    fn render(
        &mut self,
        format: &ViewFormat,
        asset: Option<AssetType>,
        view: &dyn View,
        context: &dyn AssetContext,
    ) -> io::Result<()> {
        let converted = format.converted.of(asset);
        for number in 0..view.files().len() {
            let shows_whole = || {
                let mut files = converted.files.iter();
                files.any(|file| file.find(view) == Some(number))
            };
            if converted.has_directory || shows_whole() {
                let mut out = Vec::new();
                view.render(number, context, &mut out)?;
                self.add(out.len());
            }
        }
        Ok(())
    }

    fn add(&mut self, bytes: usize) {
        self.files += 1;
        self.bytes += bytes;
    }

    fn print(&self) {
        println!("{} files, {} bytes", self.files, self.bytes);
    }
}
