//! Generates an installer as Inno Setup makes it, which installs files into one folder.
//!
//! `installer OUT.exe FILE...` writes the installer, and its data as `OUT-1.bin`.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Parser;

use fixtures::inno::{Inno, Packing, inno_file};

/// Writes an installer of files
#[derive(Parser)]
struct Command {
    /// The installer to write
    out: PathBuf,
    /// The files that it installs
    files: Vec<PathBuf>,
}

/// Maximum length of a file with data.
const SLICE: usize = 1 << 30;

fn main() -> io::Result<()> {
    let Command { out, files } = Command::parse();
    let files = files.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(inno_file(&format!("{{app}}\\{name}"), &fs::read(path)?))
    });
    let installer = Inno {
        packing: Packing::Lzma2,
        is_solid: true,
        slices: Some((SLICE, 1)),
        directories: vec!["{app}\\saves"],
        ..Inno::new(files.collect::<io::Result<_>>()?)
    };
    let built = installer.build();
    for (end, bytes) in &built.slices {
        let stem = out.file_stem().unwrap_or_default().to_string_lossy();
        fs::write(out.with_file_name(format!("{stem}{end}")), bytes)?;
    }
    fs::write(out, built.program)
}
