//! Grand Theft Auto: its lists name its archives (SEMANTICS, Merging).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use hpimount_gta::data::files;

/// The folder of the lists.
const LISTS: &str = "data";

/// The list that mods for all games have. It alone does not make a game.
const DEFAULT: &str = "default.dat";

/// Archives that the games load without a list, the lowest first.
const ALWAYS: [&str; 3] = ["models/gta3.img", "models/gta_int.img", "models/player.img"];

/// Keywords for an archive in a list.
const ARCHIVES: [&str; 2] = ["IMG", "CDIMAGE"];

/// Extensions of the files that a mod may have in any of its folders, if the
/// game has one file of the name in the folder of the lists.
const DATA: [&str; 5] = ["cfg", "dat", "ide", "ipl", "zon"];

/// Maximum depth of the folders below the one of the lists. The games
/// have three.
const MAX_DEPTH: usize = 8;

/// Maximum number of files below it. The games have a tenth as many.
const MAX_FILES: usize = 1 << 16;

/// Maximum length of a list in bytes. Those of the games have a thousandth.
const MAX_LIST: u64 = 4 << 20;

/// The archives of a game.
#[derive(Debug, Clone, Default)]
pub(in crate::mount) struct Archives {
    /// Their paths, the lowest first.
    pub(in crate::mount) paths: Vec<PathBuf>,
    /// Warnings about entries of the lists that the folder does not have.
    pub(in crate::mount) warnings: Vec<String>,
}

/// Returns the archives of the game in a folder; `None` if it is another game.
pub(in crate::mount) fn archives(folder: &Path) -> Option<Archives> {
    let lists = files::NAMES.iter().filter_map(|name| {
        let path = find(folder, &format!("{LISTS}/{name}"))?;
        Some((*name, path))
    });
    let lists: Vec<_> = lists.collect();
    if !lists.iter().any(|(name, _)| *name != DEFAULT) {
        return None;
    }
    let always = ALWAYS.iter().filter_map(|path| find(folder, path));
    let mut archives = Archives {
        paths: always.collect(),
        ..Archives::default()
    };
    for (name, list) in lists {
        for path in named_in(&list) {
            match find(folder, &path) {
                Some(path) if archives.paths.contains(&path) => {}
                Some(path) => archives.paths.push(path),
                None => archives
                    .warnings
                    .push(format!("{name} names {path}, which does not exist")),
            }
        }
    }
    Some(archives)
}

/// Returns whether the game streams a file with this name from its archives,
/// where it finds it by the name alone.
pub(in crate::mount) fn is_streamed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    match extension {
        "dff" | "txd" | "col" | "ifp" => true,
        // Text files of placements are loose.
        "ipl" => stem.contains("_stream"),
        _ => false,
    }
}

/// The data files of a game by their names, as loaders of mods find them.
#[derive(Debug, Default)]
pub(in crate::mount) struct DataFiles {
    /// Its path from the folder of the game, without the name, by the name in
    /// lower case; `None` if several files have the name.
    folders: HashMap<String, Option<PathBuf>>,
}

impl DataFiles {
    /// Lists the data files of the game in a folder.
    pub(in crate::mount) fn of(game: &Path) -> Self {
        let mut files = Self::default();
        let entries = fs::read_dir(game).into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        for name in names.filter(|name| name.eq_ignore_ascii_case(LISTS)) {
            files.add(game, Path::new(&name), MAX_DEPTH);
        }
        files
    }

    /// Adds the data files of a folder. Links are not followed.
    fn add(&mut self, game: &Path, folder: &Path, depth: usize) {
        let entries = fs::read_dir(game.join(folder)).into_iter().flatten();
        for entry in entries.filter_map(Result::ok) {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && depth > 0 {
                self.add(game, &folder.join(entry.file_name()), depth - 1);
            }
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if kind.is_file() && is_data(&name) && self.folders.len() < MAX_FILES {
                let folders = self.folders.entry(name);
                let one = folders.and_modify(|folder| *folder = None);
                one.or_insert_with(|| Some(folder.to_owned()));
            }
        }
    }

    /// Returns the folder of the game's only data file with this name.
    pub(in crate::mount) fn folder_of(&self, name: &str) -> Option<&Path> {
        self.folders.get(&name.to_ascii_lowercase())?.as_deref()
    }
}

/// Returns whether a file with this name in lower case is a data file.
fn is_data(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| DATA.contains(&extension))
}

/// Returns the paths of the archives that a list names; none of one that cannot
/// be read.
fn named_in(list: &Path) -> Vec<String> {
    let is_small = fs::metadata(list).is_ok_and(|found| found.len() <= MAX_LIST);
    let bytes = fs::read(list).ok().filter(|_| is_small);
    let found = bytes.and_then(|bytes| files::parse(&bytes).ok());
    let files = found.unwrap_or_default().files.into_iter();
    files
        .filter(|file| ARCHIVES.contains(&file.kind.as_str()))
        .map(|file| file.path)
        .collect()
}

/// Returns the file at a path below a folder, ignoring ASCII case. The same
/// spelling comes first. Paths do not leave the folder.
pub(in crate::mount) fn find(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut found = folder.to_owned();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return None;
        }
        let exact = found.join(part);
        if exact.exists() {
            found = exact;
            continue;
        }
        let entries = fs::read_dir(&found).ok()?.filter_map(Result::ok);
        let mut names = entries.map(|entry| entry.file_name());
        found.push(names.find(|name| name.eq_ignore_ascii_case(part))?);
    }
    found.is_file().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_those_that_every_game_loads_and_then_those_of_the_lists() {
        let game = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = game.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("DATA/default.dat", "IMG models\\b.img\n");
        assert!(archives(game.path()).is_none());
        write(
            "DATA/GTA.DAT",
            "IMG MODELS\\A.IMG\nIMG ..\\x.img\nimg models/gta3.img\nEXIT\nIMG c.img\n",
        );
        for name in ["Gta3.img", "player.img", "gta_int.img", "a.img", "B.img"] {
            write(&format!("Models/{name}"), "");
        }
        let found = archives(game.path()).unwrap();
        let names = found.paths.iter().map(|path| super::super::file_name(path));
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["Gta3.img", "gta_int.img", "player.img", "B.img", "a.img"]
        );
        assert_eq!(
            found.warnings,
            ["gta.dat names ../x.img, which does not exist"]
        );
    }
    #[test]
    fn data_files_are_found_by_names_that_only_one_has() {
        let game = tempfile::tempdir().unwrap();
        for path in [
            "Data/HANDLING.cfg",
            "Data/maps/la/LA.ide",
            "Data/maps/la/town.ipl",
            "Data/maps/sf/town.ipl",
            "Data/maps/readme.txt",
            "other/carcols.dat",
        ] {
            let path = game.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("..", game.path().join("Data/again")).unwrap();
        let files = DataFiles::of(game.path());
        assert_eq!(files.folder_of("Handling.CFG"), Some(Path::new("Data")));
        assert_eq!(files.folder_of("la.ide"), Some(Path::new("Data/maps/la")));
        for name in ["town.ipl", "readme.txt", "carcols.dat", "x.ide", ""] {
            assert_eq!(files.folder_of(name), None, "{name}");
        }
    }
}
