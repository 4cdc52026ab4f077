//! Paths that may show other bytes, and since which change.

use std::collections::HashMap;

use super::names::{CONVERTED, INSIDE, archive_of, is_derived, meta_of};

/// Maximum number of keys.
const MAX_KEYS: usize = 1 << 16;

/// The changes of DIR, by what follows from them. Changes have increasing numbers.
#[derive(Default)]
pub(super) struct Changes {
    last: HashMap<Key, Last>,
    /// The last changes of all.
    all: Last,
    /// All keys up to this change have been forgotten.
    forgotten: u64,
}

/// The last two changes.
#[derive(Clone, Copy, Default)]
struct Last {
    before: u64,
    last: u64,
}

/// Scope of a change.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A file or a directory with everything in it.
    Path(String),
    /// The files in a directory with a stem: a changed archive with all its files, such as
    /// `.img` and `.dir`.
    Stem(String),
    /// The files of a source or an archive with an edited view.
    Tree(String),
    /// The other names of assets in a source, and the files that list them.
    Names(String),
}

impl Last {
    fn add(&mut self, number: u64) {
        *self = Self {
            before: self.last,
            last: number,
        };
    }

    /// Returns whether a change is after `since` and not after `until`.
    fn is_between(self, since: u64, until: u64) -> bool {
        match (self.last <= until, self.before <= until) {
            (true, _) => self.last > since,
            (false, true) => self.before > since,
            (false, false) => until > since,
        }
    }
}

impl Changes {
    /// Records a change of a path.
    pub(super) fn record(&mut self, number: u64, path: &str) {
        self.all.add(number);
        // Without a path, everything may have changed.
        if path.is_empty() || self.last.len() >= MAX_KEYS {
            self.last.clear();
            self.forgotten = number;
        }
        let mut add = |key| self.last.entry(key).or_default().add(number);
        add(Key::Path(path.to_owned()));
        // Its contents, if it is an archive.
        add(Key::Path(format!("{path}{INSIDE}")));
        if let Some(meta) = meta_of(path) {
            add(Key::Tree(archive_of(meta).trim_end_matches('/').to_owned()));
        }
        let mut at = 0;
        for part in path.split('/') {
            let before = path[..at].trim_end_matches('/');
            if let Some(archive) = part.strip_suffix(INSIDE) {
                add(Key::Stem(stem(&path[..at + archive.len()]).to_owned()));
            }
            match part {
                CONVERTED => add(Key::Tree(before.to_owned())),
                "layers" => add(Key::Names(before.to_owned())),
                _ => {}
            }
            at += part.len() + 1;
        }
    }

    /// Returns whether the file at `path` may have other bytes after the change `until`
    /// than after the change `since`.
    pub(super) fn between(&self, path: &str, since: u64, until: u64) -> bool {
        self.forgotten > since || self.is_known_between(path, since, until)
    }

    /// Like [`Changes::between`], but false if the changes have been forgotten.
    pub(super) fn is_known_between(&self, path: &str, since: u64, until: u64) -> bool {
        if is_derived(path) {
            return self.all.is_between(since, until);
        }
        let has = |key: Key| {
            let last = self.last.get(&key);
            last.is_some_and(|last| last.is_between(since, until))
        };
        if has(Key::Stem(stem(path).to_owned())) {
            return true;
        }
        let mut at = 0;
        for part in path.split('/') {
            let before = path[..at].trim_end_matches('/');
            let is_name = ["types", "ids"].contains(&part) || at + part.len() == path.len();
            at += part.len() + 1;
            let is_changed = has(Key::Path(path[..at - 1].to_owned()))
                || has(Key::Tree(before.to_owned()))
                || is_name && has(Key::Names(before.to_owned()));
            if is_changed {
                return true;
            }
        }
        false
    }
}

/// Returns the path of a file without the extension.
fn stem(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    match path[name..].rfind('.') {
        Some(at) if at > 0 => &path[..name + at],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affects(changed: &str, path: &str) -> bool {
        let mut changes = Changes::default();
        changes.record(1, changed);
        changes.between(path, 0, 1)
    }

    #[test]
    fn a_change_affects_what_is_made_of_it() {
        let changed = "a.hip.d/layers/01/wall.rw3";
        for path in [
            changed,
            "a.hip",
            "a.hip.meta/info.json",
            "a.hip.d/converted/wall.png",
            "a.hip.d/types/Texture/wall",
            "a.hip.d/assets.tsv",
            ".hpimount/image/disc.iso",
            "disc.iso",
        ] {
            assert!(affects(changed, path), "{path}");
        }
        for path in ["b.hip", "a.hip.d/layers/01/door.rw3", "ab", "b.hip.d/ids/1"] {
            assert!(!affects(changed, path), "{path}");
        }
        assert!(affects("dir", "dir/file"));
        assert!(affects("dir/a.hpi", "dir/a.hpi.d/file"));
        assert!(affects("models/gta3.img.d/a.dff", "models/gta3.dir"));
        let edited = "a.hip.d/converted/wall.png";
        assert!(affects(edited, "a.hip.d/layers/01/wall.rw3"));
        assert!(!affects(edited, "b.hip.d/layers/01/wall.rw3"));
    }

    #[test]
    fn changes_are_told_from_those_of_other_versions() {
        let mut changes = Changes::default();
        changes.record(3, "a");
        changes.record(5, "a");
        for (since, until, expected) in [
            (5, 9, false),
            (4, 9, true),
            (3, 4, false),
            (2, 4, true),
            (2, 2, false),
        ] {
            assert_eq!(
                changes.between("a", since, until),
                expected,
                "{since} {until}"
            );
        }
    }

    #[test]
    fn without_a_path_everything_may_have_changed() {
        let mut changes = Changes::default();
        changes.record(1, "a");
        changes.record(2, "");
        assert!(changes.between("b", 1, 2));
        assert!(!changes.between("b", 2, 3));
    }

    #[test]
    fn what_was_forgotten_may_have_changed() {
        let mut changes = Changes::default();
        for number in 1..=MAX_KEYS as u64 + 1 {
            changes.record(number, &number.to_string());
        }
        assert!(changes.between("other", 0, 70_000));
        assert!(!changes.is_known_between("other", 0, 70_000));
        assert!(!changes.between("other", MAX_KEYS as u64 + 1, 70_000));
    }
}
