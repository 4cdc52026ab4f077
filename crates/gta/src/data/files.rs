//! gta.dat and default.dat: the files that a game loads, in order (FORMATS, GTA
//! 7.2).

use std::collections::HashMap;

use get_size2::GetSize;

use super::MAX_ROWS;
use crate::document::{bounded_lines, text};
use hpimount_assets::view::{AssetContext, AssetRef};
use hpimount_containers::io::{Result, Warnings};

/// Names of the files in load order.
pub const NAMES: &[&str] = &["default.dat", "gta.dat", "gta3.dat", "gta_vc.dat"];

/// Kinds of files that a line may load.
const KNOWN: [&str; 12] = [
    "IMG",
    "IDE",
    "IPL",
    "MAPZONE",
    "TEXDICTION",
    "MODELFILE",
    "HIERFILE",
    "COLFILE",
    "SPLASH",
    "CDIMAGE",
    "WATER",
    "IPLPATH",
];

/// The lines of a file.
#[derive(Debug, Default, GetSize)]
pub struct Files {
    /// The lines up to `EXIT`.
    pub files: Vec<File>,
    /// Warnings.
    pub warnings: Warnings,
}

/// A file that is loaded.
#[derive(Debug, Clone, PartialEq, Eq, GetSize)]
pub struct File {
    /// Number of its line, from 1.
    pub line: u32,
    /// Kind in upper case, such as `IMG`.
    pub kind: String,
    /// Path relative to the folder of the game, with slashes.
    pub path: String,
    /// Number of the collision models' island.
    pub level: Option<i64>,
}

/// Reads a list of files.
///
/// # Errors
/// Returns [`Error::Damaged`](hpimount_containers::io::Error::Damaged) for a
/// file that is not a text or has more than 65,536 rows.
pub fn parse(bytes: &[u8]) -> Result<Files> {
    let text = text(bytes)?;
    let mut found = Files::default();
    for line in bounded_lines(&text, &['#'], MAX_ROWS) {
        let line = line?;
        let (kind, rest) = first_word(line.text);
        let kind = kind.to_ascii_uppercase();
        if kind == "EXIT" {
            break;
        }
        if !KNOWN.contains(&kind.as_str()) {
            let shown: String = kind.chars().take(24).collect();
            found
                .warnings
                .push(format!("line {}: {shown:?} is unknown", line.number));
        }
        let (level, path) = match kind.as_str() {
            "COLFILE" => {
                let (level, path) = first_word(rest);
                (level.parse().ok(), path)
            }
            _ => (None, rest),
        };
        found.files.push(File {
            line: line.number,
            kind,
            path: path.replace('\\', "/"),
            level,
        });
    }
    Ok(found)
}

/// The load order of files: positions by lower-case path. The last entry of a path
/// counts.
pub(crate) struct LoadOrder(HashMap<String, usize>);

/// Returns the order of the lists in these files.
pub(crate) fn load_order(lists: &[AssetRef], context: &dyn AssetContext) -> LoadOrder {
    let lists = lists.iter().filter_map(|&list| {
        let path = context.path_of(list).to_ascii_lowercase();
        let place = NAMES.iter().position(|name| path.ends_with(name))?;
        let files = parse(&context.read(list)?).ok()?;
        Some((place, files))
    });
    let mut lists: Vec<_> = lists.collect();
    lists.sort_by_key(|(place, _)| *place);
    let files = lists.into_iter().flat_map(|(_, list)| list.files);
    LoadOrder::new(files.map(|file| file.path.to_ascii_lowercase()))
}

impl LoadOrder {
    fn new(paths: impl Iterator<Item = String>) -> Self {
        Self(paths.zip(0..).collect())
    }

    /// Returns the position of a file by its lower-case path, which may have additional
    /// leading folders. Unlisted files come first, with `None`.
    pub(crate) fn position(&self, path: &str) -> Option<usize> {
        let starts = path.match_indices('/').map(|(slash, _)| slash + 1);
        let mut ends = [0].into_iter().chain(starts).map(|start| &path[start..]);
        ends.find_map(|end| self.0.get(end)).copied()
    }
}

/// Returns the first word of a text and the trimmed rest.
fn first_word(text: &str) -> (&str, &str) {
    let is_blank = |letter: char| letter <= ' ';
    let text = text.trim_matches(is_blank);
    let (word, rest) = text.split_once(is_blank).unwrap_or((text, ""));
    (word, rest.trim_matches(is_blank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_load_files_up_to_the_exit() {
        let text =
            b"# files\nimg MODELS\\A B.IMG # more\nCOLFILE 1\tMODELS\\x.col\nLOAD x\nEXIT\nIDE y\n";
        let found = parse(text).unwrap();
        let files: Vec<_> = found
            .files
            .iter()
            .map(|file| {
                (
                    file.line,
                    file.kind.as_str(),
                    file.path.as_str(),
                    file.level,
                )
            })
            .collect();
        assert_eq!(
            files,
            [
                (2, "IMG", "MODELS/A B.IMG", None),
                (3, "COLFILE", "MODELS/x.col", Some(1)),
                (4, "LOAD", "x", None),
            ]
        );
        assert_eq!(found.warnings.texts(), ["line 4: \"LOAD\" is unknown"]);
    }

    #[test]
    fn files_are_ordered_as_they_are_loaded() {
        let order = LoadOrder::new(["data/b.ide", "data/a.ide"].map(str::to_owned).into_iter());
        assert_eq!(order.position("data/a.ide"), Some(1));
        assert_eq!(order.position("game/data/b.ide"), Some(0));
        assert_eq!(order.position("xdata/b.ide"), None);
    }
}
