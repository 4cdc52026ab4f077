//! Grand Theft Auto: its lists name its archives (SEMANTICS, Merging).

use std::fs;
use std::path::{Path, PathBuf};

use hpimount_assets::gta::data::files;

/// The folder of the lists.
const LISTS: &str = "data";

/// The list that mods for all games have. It alone does not make a game.
const DEFAULT: &str = "default.dat";

/// Archives that the games load without a list, the lowest first.
const ALWAYS: [&str; 3] = ["models/gta3.img", "models/gta_int.img", "models/player.img"];

/// What a list calls an archive.
const ARCHIVES: [&str; 2] = ["IMG", "CDIMAGE"];

/// Maximum length of a list in bytes. Those of the games have a thousandth.
const MAX_LIST: u64 = 4 << 20;

/// The archives of a game.
#[derive(Debug, Clone, Default)]
pub(in crate::mount) struct Archives {
    /// Their paths, the lowest first.
    pub(in crate::mount) paths: Vec<PathBuf>,
    /// What the lists name and the folder does not have.
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
}
