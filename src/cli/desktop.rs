//! `hpi open` and `hpi thumbnail`, which desktops run as `hpimount-open` and
//! `hpimount-thumbnailer`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueHint};

use super::values::local_file;
use crate::app::desktop::Action;

/// Open archives in the file manager
///
/// Each FILE is mounted below the directory `hpimount` in the home directory, and shown in the file
/// manager. Desktops run this to open an archive. A FILE that is already mounted there is shown
/// again; one that has changed since is mounted again.
///
/// An asset on a mount is not mounted: its model is opened if the desktop has a viewer for glTF
/// files, or else its preview, or else the directory with its parts.
///
/// It is unmounted after ten minutes without use, or by `--unmount`. Errors are shown as
/// notifications and written to standard error.
#[derive(Debug, Parser)]
pub struct Open {
    /// What to open, as a path or a file:// URI
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "unmount_all")]
    files: Vec<OsString>,
    /// Mount each FILE so that it can be edited; saved files go to FILE.mod beside it
    ///
    /// Files that the archive cannot have are shown as notifications.
    #[arg(short, long, conflicts_with = "unmount")]
    edit: bool,
    /// Unmount each FILE instead of opening it; one that is in use stays mounted
    #[arg(short, long)]
    unmount: bool,
    /// Unmount all files that were opened in this session
    #[arg(long, exclusive = true)]
    unmount_all: bool,
}

impl Open {
    /// Returns what to do.
    ///
    /// # Errors
    /// Returns a message if a FILE is not a local file.
    pub fn action(&self) -> Result<Action, String> {
        if self.unmount_all {
            return Ok(Action::UnmountAll);
        }
        let files = self.files.iter().map(|file| local_file(file));
        let files = files.collect::<Result<_, _>>()?;
        Ok(match self.unmount {
            true => Action::Unmount(files),
            false => Action::Open(files, self.edit),
        })
    }
}

/// Draw a thumbnail of a file
///
/// OUTPUT is written as PNG. File managers run this to show what is in a file. INPUT is a sprite,
/// model, map, section or picture of Total Annihilation (GAF, 3DO, TNT, SCT, PCX), a PSX or HGO
/// model, a RWTX texture, or an HPI or HIP archive, which becomes a contact sheet of what is in it.
///
/// A file on a mount of `hpimount(8)` is shown as the mount shows it, with the textures that belong
/// to it. Elsewhere, only the contents of the file itself are drawn.
///
/// If the kernel supports Landlock, the program can read INPUT and nothing else. It ends after 20
/// seconds at most, and uses at most 1 GiB of address space.
#[derive(Debug, Parser)]
pub struct Thumbnail {
    /// The file to draw, as a path or a file:// URI
    #[arg(value_hint = ValueHint::FilePath)]
    input: OsString,
    /// The PNG file to write
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Maximum width and height in pixels, from 1 to 4096; smaller pictures are not enlarged
    #[arg(short, long, default_value_t = 128)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub size: u32,
}

impl Thumbnail {
    /// Returns the file to draw.
    ///
    /// # Errors
    /// Returns a message if it is not a local file.
    pub fn input(&self) -> Result<PathBuf, String> {
        local_file(&self.input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, parse};

    fn action(line: &[&str]) -> Result<Action, String> {
        let line = [&["hpimount-open"], line].concat();
        match parse("hpimount-open", line.into_iter().map(OsString::from)) {
            Ok(Command::Open(open)) => open.action(),
            Ok(command) => panic!("{command:?}"),
            Err(rejected) => Err(rejected.to_string()),
        }
    }

    #[test]
    fn files_are_opened_or_unmounted() {
        let files = vec!["a.hpi".into(), "/b c.hip".into()];
        let given = ["a.hpi", "file:///b%20c.hip"];
        assert_eq!(action(&given), Ok(Action::Open(files.clone(), false)));
        let edit = ["--edit", given[0], given[1]];
        assert_eq!(action(&edit), Ok(Action::Open(files.clone(), true)));
        let unmount = ["-u", given[0], given[1]];
        assert_eq!(action(&unmount), Ok(Action::Unmount(files)));
        assert_eq!(action(&["--unmount-all"]), Ok(Action::UnmountAll));
        let wrong = [
            &[][..],
            &["--unmount"],
            &["--unmount-all", "a"],
            &["-e", "-u", "a"],
        ];
        for wrong in wrong {
            assert!(action(wrong).is_err(), "{wrong:?}");
        }
    }
}
