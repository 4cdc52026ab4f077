//! Random archives with loose files: their mount matches a simple model
//! (SEMANTICS, Merging).

use std::collections::BTreeSet;
use std::fs;
use testkit::fuse_test;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use fixtures::hpi::{Entry, File, dir, file};
use hpimount_containers::hpi::chunk::Method;
use testkit::merge_model::{Entries, Layer, Model, Node, one_of_each_case};
use testkit::merging::{Folder, attribute, shadowed, tree};
use testkit::mount::Mount;

/// Threads that look up names concurrently.
const THREADS: u64 = 4;

/// Returns a few words in many spellings, so that they clash.
fn names() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["a", "units", "x.fbi", "\u{e9}t\u{e9}", "two words"]);
    (word, any::<u64>()).prop_map(|(word, seed)| respelled(word, seed))
}

/// Returns another spelling of a path.
fn respelled(path: &str, seed: u64) -> String {
    let mut state = seed | 1;
    let mut respell = |letter: char| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        match state >> 63 {
            0 => letter.to_ascii_lowercase(),
            _ => letter.to_ascii_uppercase(),
        }
    };
    path.chars().map(&mut respell).collect()
}

fn entries() -> impl Strategy<Value = Entries> {
    let leaf = prop::collection::vec(any::<u8>(), 0..20).prop_map(Node::File);
    let node = leaf.prop_recursive(3, 24, 5, |node| {
        prop::collection::vec((names(), node), 0..5).prop_map(Node::Directory)
    });
    prop::collection::vec((names(), node), 0..6)
}

/// Keeps one entry of each name in every directory. Names with the same `key`
/// are the same.
fn distinct(entries: &mut Entries, key: fn(&str) -> String) {
    let mut known = BTreeSet::new();
    entries.retain(|(name, _)| known.insert(key(name)));
    for (_, node) in entries {
        if let Node::Directory(below) = node {
            distinct(below, key);
        }
    }
}

/// Sorts the entries of all directories by their names.
fn sort(entries: &mut Entries) {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (_, node) in entries {
        if let Node::Directory(below) = node {
            sort(below);
        }
    }
}

/// Returns the entries as archives have them.
fn packed(entries: &Entries) -> Vec<Entry> {
    let entry = |(name, node): &(String, Node)| {
        // The letters have the same codes in Unicode and Windows-1252.
        let name: Vec<u8> = name.chars().map(|letter| letter as u8).collect();
        match node {
            Node::File(bytes) => file(&name, File::new(bytes.clone(), Method::Zlib)),
            Node::Directory(below) => dir(&name, packed(below)),
        }
    };
    entries.iter().map(entry).collect()
}

/// Writes loose files.
fn write(folder: &Folder, at: &str, entries: &Entries) {
    for (name, node) in entries {
        let path = format!("{at}{name}");
        match node {
            Node::File(bytes) => {
                folder.write(&path, bytes);
            }
            Node::Directory(below) => {
                fs::create_dir(folder.path.join(&path)).unwrap();
                write(folder, &format!("{path}/"), below);
            }
        }
    }
}

fn check(mount: &Mount, model: &Model) {
    assert_eq!(tree(mount.path()), model.tree());
    assert_eq!(shadowed(mount), model.shadowed);
    for (path, seen) in &model.seen {
        let shadows = attribute(&mount.file(path), "shadows");
        let expected = (!seen.shadows.is_empty()).then(|| seen.shadows.join("\n"));
        assert_eq!(shadows, expected, "{path}");
    }
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for (number, (path, seen)) in model.seen.iter().enumerate() {
                    let seed =
                        (number as u64 * THREADS + thread).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    let path = mount.file(&respelled(path, seed));
                    let Some(bytes) = &seen.bytes else {
                        assert!(path.is_dir(), "{}", path.display());
                        continue;
                    };
                    assert_eq!(&fs::read(&path).unwrap(), bytes);
                    assert_eq!(attribute(&path, "source").as_ref(), Some(&seen.source));
                }
            });
        }
    });
}

fn run(cases: impl Strategy<Value = Vec<Entries>>, test: impl Fn(Vec<Entries>)) {
    let cases_wanted = std::env::var("PROPTEST_CASES").ok();
    let config = ProptestConfig {
        cases: cases_wanted.map_or(24, |number| number.parse().unwrap()),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(&cases, |layers| {
            test(layers);
            Ok(())
        })
        .unwrap();
}

fn layers(most: usize) -> impl Strategy<Value = Vec<Entries>> {
    prop::collection::vec(entries(), 2..most)
}

#[fuse_test]
fn archives_on_the_command_line_merge_as_in_the_model() {
    run(layers(6), |mut all| {
        let sources = Folder::new();
        let mut layers = Vec::new();
        let mut arguments = Vec::new();
        for (number, entries) in all.iter_mut().enumerate() {
            distinct(entries, str::to_owned);
            let name = format!("{number}.ufo");
            sources.archive(&name, packed(entries));
            arguments.push(format!("{{}}/{name}"));
            layers.push(Layer {
                name,
                entries: entries.clone(),
                date: None,
            });
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        check(&sources.mount(&arguments), &Model::new(&layers));
    });
}

/// Returns a game's folder and its model. The last entries are loose files. The others
/// are archives, lowest first, which `write_archive` writes from a number, a name and
/// entries.
fn game(
    mut all: Vec<Entries>,
    extension: &str,
    write_archive: impl Fn(&Folder, usize, &str, &Entries) -> Option<u32>,
) -> (Folder, Model) {
    let sources = Folder::new();
    let mut loose = all.pop().unwrap_or_default();
    let archives = all.into_iter().enumerate();
    let mut layers: Vec<Layer> = archives
        .map(|(number, entries)| {
            // The first name wins.
            let name = format!("{}.{extension}", 9 - number);
            Layer {
                date: write_archive(&sources, number, &name, &entries),
                name,
                entries,
            }
        })
        .collect();
    write(&sources, "", &loose);
    sort(&mut loose);
    let loose = one_of_each_case(loose);
    layers.push(Layer {
        name: "game".to_owned(),
        entries: loose,
        date: None,
    });
    (sources, Model::new(&layers))
}

/// Checks a game of Total Annihilation.
fn check_game(all: Vec<Entries>) {
    let (sources, model) = game(all, "ufo", |sources, _, name, entries| {
        sources.archive(name, packed(entries));
        None
    });
    check(&sources.game(), &model);
}

#[fuse_test]
fn a_game_with_loose_files_merges_as_in_the_model() {
    run(layers(6), |mut all| {
        all.iter_mut()
            .for_each(|entries| distinct(entries, str::to_owned));
        check_game(all);
    });
}

#[fuse_test]
fn a_hidden_file_with_the_name_of_a_directory_with_hidden_files_is_numbered() {
    let loose = |name: &str| (name.to_owned(), Node::File(name.into()));
    let folder = |name: &str, entries| (name.to_owned(), Node::Directory(entries));
    // The folders `units` are merged: the directory `a` hides the file `a`, and
    // of the files in it one hides the other.
    let units = folder("units", vec![folder("a", vec![loose("X"), loose("x")])]);
    let archive = vec![];
    check_game(vec![
        archive,
        vec![folder("UNITS", vec![loose("a")]), units],
    ]);
}

#[fuse_test]
fn a_game_of_kingdoms_merges_by_date_as_in_the_model() {
    run(layers(6), |mut all| {
        // Its archives list directories and files separately, so the model does not
        // know the order of two entries with the same name.
        all.iter_mut()
            .for_each(|entries| distinct(entries, str::to_ascii_lowercase));
        let (sources, model) = game(all, "hpi", |sources, number, name, entries| {
            // Neither in the order of the names nor in reverse.
            let date = 950_000_000 + 1000 * ((number as u32 * 3 + 1) % 5);
            sources.kingdoms(name, date, packed(entries));
            Some(date)
        });
        let mount = sources.mount(&["--order", "kingdoms", "--game", "{}"]);
        check(&mount, &model);
    });
}
