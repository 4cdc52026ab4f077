//! Interrupted indexing, and the memory of indexing.

use std::path::Path;
use std::process::{Child, Stdio};

use super::{command, hpi_with, indexed, lines, packed};
use testkit::faulty_fs::{FaultyFs, Mode};
use testkit::fuse_test;
use testkit::limits::peak_beside_program;
use testkit::mount::{Fixture, eventually, has_programs};
use testkit::sources::folder;

/// A folder whose files can stop answering, beside `first.hpi`.
struct Sources {
    folder: Fixture,
    second: FaultyFs,
}

impl Sources {
    fn new(first: &[u8]) -> Self {
        let folder = folder(|source| {
            std::fs::write(source.join("first.hpi"), first).unwrap();
            std::fs::create_dir(source.join("second")).unwrap();
        });
        let names: Vec<String> = (0..FILES)
            .map(|number| format!("{number:02}.bin"))
            .collect();
        let files: Vec<(&str, &[u8])> = names
            .iter()
            .map(|name| (name.as_str(), name.as_bytes()))
            .collect();
        let second = FaultyFs::new(&folder.archive.join("second"), &files);
        Self { folder, second }
    }

    fn directory(&self) -> &Path {
        &self.folder.archive
    }

    /// Indexes both sources until the second one has answered exactly `reads` reads.
    fn hang_after(&self, reads: u64, options: &[&str]) -> Hanging<'_> {
        self.second.set(Mode::HangsAfter(reads));
        let mut command = command(self.directory(), &["first.hpi", "second"]);
        command.args(options).stdin(Stdio::null());
        let hanging = Hanging {
            child: command.spawn().unwrap(),
            second: &self.second,
        };
        eventually("a read hangs", || self.second.held() > 0);
        hanging
    }
}

/// A process that waits for a read. It is killed when this is dropped.
struct Hanging<'a> {
    child: Child,
    second: &'a FaultyFs,
}

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        // The kernel ends it after the read.
        self.second.set(Mode::Fine);
        self.child.wait().unwrap();
    }
}

/// Files of the second source, in each of its two directories.
const FILES: usize = 40;

#[fuse_test]
fn an_interrupted_run_leaves_whole_sources_and_the_next_one_continues() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let first = hpi_with(vec![packed("a.txt", b"a word"), packed("b.txt", b"b")]);
    let sources = Sources::new(&first);
    let ask = |query: &str| lines(sources.directory(), query);
    let count = |table: &str| ask(&format!("SELECT count(*) FROM {table}"))[0].clone();
    let hanging = sources.hang_after(FILES as u64, &["-o", "threads=1"]);
    let journal = sources.directory().join("all.sqlite-wal");
    assert!(journal.exists(), "rows of the second source are written");
    drop(hanging);
    assert!(journal.exists(), "nothing has undone them");
    let rows = ["first.hpi|a.txt", "first.hpi|b.txt"];
    let all = "SELECT source, path FROM files ORDER BY id";
    assert_eq!(ask(all), rows);
    assert_eq!(ask("SELECT source FROM source_names"), ["first.hpi"]);
    assert_eq!((count("entries"), count("texts")), ("2".into(), "2".into()));
    let numbers = "SELECT id FROM files WHERE source = 'first.hpi'";
    let before = ask(numbers);

    indexed(sources.directory(), &["first.hpi", "second"]);
    assert_eq!(ask(numbers), before);
    let of_second = "SELECT count(*), count(DISTINCT path), count(sha256) FROM files \
                     WHERE source = 'second' AND kind = 'file'";
    let files = 2 * FILES;
    assert_eq!(ask(of_second), [format!("{files}|{files}|{files}")]);
    assert_eq!(ask("PRAGMA integrity_check"), ["ok"]);

    // A source that is skipped is not read.
    let whole = ask(all);
    sources.second.set(Mode::HangsAfter(0));
    indexed(sources.directory(), &["first.hpi", "second"]);
    assert_eq!(ask(all), whole);
}

/// Texts of an archive, and the length of each.
const TEXTS: usize = 96;
const LENGTH: usize = 1 << 20;

/// Maximum memory of the program with a budget of 1 MiB: database pages, and texts
/// waiting to be written.
const MOST: usize = 64 << 20;

#[fuse_test]
fn memory_does_not_grow_with_the_texts_of_a_source() {
    // Few long words, which are quickly found.
    let text = [&b"x".repeat(8191)[..], b" "]
        .concat()
        .repeat(LENGTH / 8192);
    let entries = (0..TEXTS).map(|number| packed(&format!("{number}.txt"), &text));
    let sources = Sources::new(&hpi_with(entries.collect()));
    let hanging = sources.hang_after(0, &["-o", "cachesize=1M,threads=2"]);
    let peak = peak_beside_program(&hanging.child.id().to_string());
    assert!(peak < MOST, "{} MiB", peak >> 20);
    drop(hanging);
    // All of them were kept.
    let size = |name: &str| sources.directory().join(name).metadata().unwrap().len() as usize;
    assert!(size("all.sqlite") + size("all.sqlite-wal") > TEXTS * LENGTH);
}
