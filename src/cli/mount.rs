//! `hpi mount`, which is also `hpimount`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueHint};
use log::LevelFilter;

use super::contents::{Contents, absolute};
use super::mount_options;
use crate::app::MountPlan;

/// Mount archives, folders, assets and discs as file systems
///
/// `hpimount`, which is also `hpi mount`, mounts game archives, folders and assets as file systems.
/// A SOURCE is an archive (HPI, UFO, CCX, GP3 and KMP of Total Annihilation and TA: Kingdoms; HIP
/// and HOP of Heavy Iron's games; IMG of Grand Theft Auto; WAD, PKR and PRE of Neversoft's games;
/// zip, 7z), a disc image (GameCube, ISO 9660, Xbox), a folder, or a single asset, such as a PSX or
/// HGO model. The type is detected from the content, except for formats without a signature, which
/// need their extension.
///
/// A SOURCE can also be the URL of a file on a web server (`https://`, `http://`), of an object in
/// a bucket (`s3://BUCKET/KEY`) or of a folder there (`s3://BUCKET/PREFIX/`). Only what is read is
/// fetched. `@FILE` means the URL in the first line of FILE, which keeps it out of the process
/// list. A file name that begins with `@` is written `./@FILE`.
///
/// A single SOURCE is the root of the mount. Several HPI archives are merged: the tree has the
/// files of all of them, and among files with the same name, the one of the last archive on the
/// command line wins. If one of several sources is not an HPI archive, each source has its own
/// directory.
///
/// Every archive `X` in a folder or in another archive has a directory `X.d` beside it with its
/// contents. Every asset `X` of a known format has a directory `X.meta` with its contents as text,
/// tables, pictures, sounds and models; in HPI and HIP archives it can be entered but is not
/// listed. Files are decoded on demand.
///
/// The directory `converted` in the root of an archive or game has the same directories with the
/// assets converted: one file for a picture, a sound or a text, and a preview and a directory `X`
/// with the parts for others. In the root of a mounted HIP archive it is listed, and has a
/// directory for each kind of asset; elsewhere it can be entered but is not listed. `--converted`
/// mounts it alone.
///
/// The command returns when the file system is mounted and answers requests; a process in the
/// background serves it until it is unmounted with `hpi unmount MOUNTPOINT`, `fusermount3 -u
/// MOUNTPOINT` or `umount MOUNTPOINT`. Unless the command is run by root, it mounts through
/// `fusermount3(1)`.
#[derive(Debug, Parser)]
#[command(override_usage = "hpimount [OPTIONS] SOURCE... MOUNTPOINT\n       \
    hpimount [OPTIONS] --game FOLDER MOUNTPOINT")]
#[command(after_help = mount_options::help(), after_long_help = mount_options::long_help())]
pub struct Mount {
    /// What to mount: files, folders and URLs, or none with --game; then the directory to mount
    /// it on
    #[arg(value_name = "SOURCE... MOUNTPOINT", required = true, value_hint = ValueHint::AnyPath)]
    paths: Vec<OsString>,
    /// Mount SOURCE so that it can be edited; saved files go to DIR
    ///
    /// Files that programs save into the mount go to DIR, which is made if it is missing, in the
    /// layout of `--apply`; SOURCE is never written. The archive, the disc in `.hpimount/image` and
    /// converted files change when a file is closed. Removing a file from DIR undoes the edit. A
    /// file that the source cannot have is an error of closing it, and named in
    /// `.hpimount/changes.tsv`. `hpi apply DIR SOURCE OUT` writes the result. With `--apply`, DIR
    /// is above its CHANGES. Without it, the mount is read-only.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = absolute())]
    #[arg(conflicts_with = "converted")]
    edit: Option<PathBuf>,
    /// Show files that are refused as desktop notifications
    ///
    /// Many programs do not tell that saving a file has failed.
    #[arg(long, requires = "edit")]
    notify: bool,
    /// Stay in the foreground and log to standard error
    ///
    /// The command ends when the file system is unmounted, and does not log to the system log.
    #[arg(short, long)]
    pub foreground: bool,
    #[command(flatten)]
    contents: Contents,
}

/// Undo edits of a mount that is edited
///
/// What its folder of edits has for each PATH and everything below it is moved to `.Trash-hpimount`
/// in that folder, and the mount shows the original again. A PATH may be that of a deleted file or
/// directory.
#[cfg(edit)]
#[derive(Debug, Parser)]
pub struct Revert {
    /// Files and directories in the mount
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

impl Mount {
    /// Returns what to mount.
    ///
    /// # Errors
    /// Returns a message if something is missing, superfluous or not supported.
    pub fn plan(&self) -> Result<MountPlan, String> {
        let (mount_point, sources) = self.paths.split_last().ok_or("nothing to mount")?;
        if sources.is_empty() && self.contents.game.is_empty() {
            return Err("the mount point is missing".to_owned());
        }
        let mut settings = self.contents.settings()?;
        if self.edit.is_some() && settings.is_read_only {
            return Err("--edit contradicts -o ro".to_owned());
        }
        settings.mount.edit.clone_from(&self.edit);
        settings.mount.notify = self.notify;
        Ok(MountPlan {
            sources: self.contents.sources(sources)?,
            mount_point: mount_point.into(),
            options: settings.mount,
        })
    }

    /// Returns the log level.
    pub fn log_level(&self) -> LevelFilter {
        self.contents.log_level_or(LevelFilter::Warn)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::{Command, parse};
    use crate::mount::{Meta, Order, Sources};

    fn plan(line: &[&str]) -> Result<MountPlan, String> {
        let line = [&["hpimount"], line].concat();
        match parse("hpimount", line.into_iter().map(OsString::from)) {
            Ok(Command::Mount(mount)) => mount.plan(),
            Ok(command) => panic!("{command:?}"),
            Err(rejected) => Err(rejected.to_string()),
        }
    }

    fn sources(line: &[&str]) -> Result<Sources, String> {
        plan(line).map(|plan| plan.sources)
    }

    #[test]
    fn the_last_path_is_the_mount_point() {
        let plan = plan(&["a", "b", "mnt", "-o", "ro"]).unwrap();
        let Sources::Given { locations, .. } = plan.sources else {
            panic!("{plan:?}");
        };
        assert_eq!(locations, ["a", "b"].map(|path| PathBuf::from(path).into()));
        assert_eq!(plan.mount_point, Path::new("mnt"));
        assert_eq!(sources(&["mnt"]).unwrap_err(), "the mount point is missing");
    }

    #[test]
    fn a_game_has_a_mount_point_and_no_sources() {
        assert!(matches!(
            sources(&["--game", "ta", "--order", "rwe", "mnt"]),
            Ok(Sources::Game {
                order: Some(Order::Rwe),
                ..
            })
        ));
        assert!(sources(&["--game", "ta", "a.hpi", "mnt"]).is_err());
        assert!(sources(&["--game", "ta", "--game", "tak", "mnt"]).is_err());
        assert!(sources(&["--game", "ta", "--order", "cli", "mnt"]).is_err());
    }

    #[test]
    fn mods_are_folders_above_a_game_in_their_order() {
        let found = sources(&["--game", "gta", "--mod", "a", "--mod=b", "mnt"]);
        let Ok(Sources::Game { mods, .. }) = found else {
            panic!("{found:?}");
        };
        assert_eq!(mods, ["a", "b"].map(PathBuf::from));
        let refused = sources(&["--mod", "a", "b.hpi", "mnt"]).unwrap_err();
        assert_eq!(refused, "--mod requires --game");
    }

    #[test]
    fn a_mount_that_is_edited_is_not_read_only() {
        let edited = |options: &str| plan(&["--edit", "e", "-o", options, "a.hpi", "mnt"]);
        assert!(edited("rw").is_ok());
        assert!(edited("ro").is_err());
        assert!(plan(&["--edit", "e", "--edit", "f", "a.hpi", "mnt"]).is_err());
        assert!(plan(&["--edit", "e", "--converted", "a.hpi", "mnt"]).is_err());
    }

    #[test]
    fn folders_of_changes_are_absolute_and_in_order() {
        let plan = plan(&["--apply", "/a", "--apply=b", "--game", "ta", "mnt"]).unwrap();
        let folders = &plan.options.apply;
        assert_eq!(folders[0], Path::new("/a"));
        assert!(folders[1].is_absolute() && folders[1].ends_with("b"));
    }

    #[test]
    fn an_invalid_url_is_rejected_with_a_message() {
        for (line, refusal) in [
            (&["gopher://mods/a.hpi", "mnt"][..], "sources are files"),
            #[cfg(feature = "remote")]
            (&["--game", "s3://ta/", "mnt"], "folders on disk only"),
            #[cfg(not(feature = "remote"))]
            (&["s3://ta/", "mnt"], "built without remote sources"),
        ] {
            let problem = sources(line).unwrap_err();
            assert!(problem.contains(refusal), "{problem}");
        }
    }

    #[test]
    fn mount_options_are_separated_by_commas_or_given_several_times() {
        let options = |line: &[&str]| plan(&[line, &["a", "mnt"]].concat()).unwrap().options;
        let meta = |line: &[&str]| (options(line).vfs.meta, options(line).vfs.companions);
        assert_eq!(meta(&["--no-meta"]), (Meta::Off, false));
        assert_eq!(meta(&["-o", "meta=off"]), (Meta::Off, true));
        assert_eq!(
            meta(&["-o", "meta=hidden", "-oro,meta=visible"]),
            (Meta::Visible, true)
        );
        assert_eq!(
            meta(&["--no-meta", "-o", "meta=hidden"]),
            (Meta::Off, false)
        );
        assert_eq!(options(&["-o", "uid=5,,umask=027"]).umask, 0o027);
        assert!(plan(&["-o", "zzz", "a", "mnt"]).is_err());
    }

    #[test]
    fn the_log_level_is_as_asked() {
        let level = |flags: &[&str]| {
            let line = [&["hpimount"], flags, &["a", "mnt"]].concat();
            match parse("hpimount", line.into_iter().map(OsString::from)) {
                Ok(Command::Mount(mount)) => mount.log_level(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(level(&[]), LevelFilter::Warn);
        assert_eq!(level(&["-f", "-vv"]), LevelFilter::Debug);
        assert_eq!(level(&["-q"]), LevelFilter::Error);
    }
}
