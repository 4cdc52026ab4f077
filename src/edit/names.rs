//! Meaning of the names and paths of an edited mount.

use super::folder::UNFINISHED;
pub(super) use crate::mount::CONTROL;
pub(super) use crate::namespace::companion::{CONVERTED, META_SUFFIX};
use hpimount_containers::changes::is_litter;

/// Ends the name of the directory with the contents of an archive.
pub(super) const INSIDE: &str = ".d";

/// Suffix of a message about a rejected file, after the name of the file.
pub(super) const MESSAGE: &str = ".error.txt";

/// Use of a name by programs that save files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is a file like others.
    File,
    /// It is for a short time, unless it stays.
    Perhaps,
    /// It is for a short time.
    Scratch,
}

/// Returns how programs use files of this name. A name that only begins as the name of a
/// file in the same directory is `Perhaps`; `has` tells whether there is such a file.
pub(super) fn use_of(name: &str, has: &dyn Fn(&str) -> bool) -> Use {
    let lower = name.to_ascii_lowercase();
    if is_litter(name) || lower.starts_with(UNFINISHED) || lower.ends_with(".part") {
        return Use::Scratch;
    }
    let with_random = |start: &str, length| {
        let random = name.strip_prefix(start);
        random.is_some_and(|random| {
            random.len() == length
                && random
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let is_temporary = name == "4913"
        || with_random("sed", 6)
        || with_random("XX", 8)
        || with_random("tmp", 8)
        || name.starts_with("lu") && name.ends_with(".tmp");
    // `.T.XXXXXX` and `T.XXXXXX` beside T, and `T@` before T is replaced.
    let of_another = || {
        let before = name.rsplit_once('.').filter(|(_, end)| end.len() == 6);
        let (hidden, plain) = (
            before.and_then(|(before, _)| before.strip_prefix('.')),
            before.map(|(before, _)| before),
        );
        [hidden, plain, name.strip_suffix('@')]
            .into_iter()
            .flatten()
            .any(|other| !other.is_empty() && has(other))
    };
    match is_temporary || of_another() {
        true => Use::Perhaps,
        false => Use::File,
    }
}

/// Returns whether a path is in a tree of converted assets.
pub(super) fn is_converted(path: &str) -> bool {
    path.split('/').any(|part| part == CONVERTED)
}

/// Returns the path of the `X.meta` that a path is called to be in, or to be.
pub(super) fn meta_of(path: &str) -> Option<&str> {
    let end = path.match_indices(META_SUFFIX).find_map(|(at, _)| {
        let end = at + META_SUFFIX.len();
        (end == path.len() || path[end..].starts_with('/')).then_some(end)
    });
    end.map(|end| &path[..end])
}

/// Returns whether a file is called to be in a view: the converted tree, or an `X.meta`.
pub(super) fn may_be_in_view(path: &str) -> bool {
    is_converted(path) || meta_of(path).is_some_and(|meta| meta.len() < path.len())
}

/// Returns the path of the archive that a path is in: of the directory with its contents and
/// a slash, or empty for a source.
pub(super) fn archive_of(path: &str) -> &str {
    let inside = format!("{INSIDE}/");
    let end = path.rfind(&inside).map_or(0, |at| at + inside.len());
    &path[..end]
}

/// Returns whether a file in a view may be of the asset at a path, in the same archive.
pub(super) fn may_be_of(shown: &str, asset: &str) -> bool {
    let tree = shown.split('/').take_while(|part| *part != CONVERTED);
    let tree: usize = tree.map(|part| part.len() + 1).sum();
    let archive = match meta_of(shown) {
        Some(meta) => Some(archive_of(meta)),
        None => shown.get(..tree),
    };
    let inside = archive.and_then(|archive| asset.strip_prefix(archive));
    inside.is_some_and(|inside| !inside.contains(&format!("{INSIDE}/")))
}

/// Returns whether what a path shows may follow from changes of other paths.
pub(super) fn is_derived(path: &str) -> bool {
    let mut parts = path.split('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    parts.next() == Some(CONTROL)
        || is_converted(path)
        || meta_of(path).is_some()
        || last.starts_with("disc.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converted_files_are_of_assets_of_their_archive() {
        assert!(may_be_of("converted/a/logo.png", "a/logo.pcx"));
        assert!(may_be_of(
            "disc/a.hpi.d/converted/logo.png",
            "disc/a.hpi.d/logo.pcx"
        ));
        assert!(!may_be_of(
            "disc/a.hpi.d/converted/logo.png",
            "disc/readme.txt"
        ));
        assert!(!may_be_of("converted/logo.png", "disc/a.hpi.d/logo.pcx"));
        let table = "disc/a.hip.d/layers/00/list.atbl.meta/effects.tsv";
        assert!(may_be_of(table, "disc/a.hip.d/layers/00/list.atbl"));
        assert!(!may_be_of(table, "layers/00/list.atbl"));
        assert!(!may_be_of("readme.txt", "readme.txt"));
    }

    #[test]
    fn views_are_known_by_their_paths() {
        assert_eq!(meta_of("a.meta.d/b.meta/c/d"), Some("a.meta.d/b.meta"));
        assert_eq!(meta_of("a/b.meta"), Some("a/b.meta"));
        assert_eq!(meta_of("a/b.metadata"), None);
        assert!(may_be_in_view("a/b.meta/c") && may_be_in_view("converted/c"));
        assert!(!may_be_in_view("a/b.meta") && !may_be_in_view("a/b"));
    }

    #[test]
    fn names_of_programs_that_save_are_known() {
        let has = |name: &str| name == "unit.fbi";
        let kind = |name: &str| use_of(name, &has);
        for name in [
            ".goutputstream-A1B2C3",
            ".unit.fbi.swp",
            "unit.fbi~",
            ".#unit.fbi",
            "#unit.fbi#",
            ".~lock.unit.fbi#",
            ".unit.fbi.kate-swp",
            "unit.fbi.part",
        ] {
            assert_eq!(kind(name), Use::Scratch, "{name}");
        }
        for name in [
            "4913",
            "sedAbCdEf",
            "XX12345678",
            "tmpabcdefgh",
            "lu12ab3.tmp",
            ".unit.fbi.Xy12Zw",
            "unit.fbi.Xy12Zw",
            "unit.fbi@",
        ] {
            assert_eq!(kind(name), Use::Perhaps, "{name}");
        }
        for name in ["unit.fbi", "readme.txt.backup", "sedan.3do", "other.Xy12Zw"] {
            assert_eq!(kind(name), Use::File, "{name}");
        }
    }
}
