//! Writes the files in `docs/desktop` that follow from the lists of formats:
//! `cargo run --example desktop_files`.

use std::path::Path;
use std::{fs, io};

use hpimount::app::desktop::files::files;

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/desktop");
    for file in files() {
        fs::write(folder.join(file.name), file.text)?;
    }
    Ok(())
}
