//! `hpi index` writes a database that answers questions about everything in its
//! sources, and keeps unchanged parts.

mod assets;
mod interrupted;

use std::fs;
use std::path::Path;
use std::process::Command;

use fixtures::container_seeds::zip_of_copies;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Entry, File, V1, dir, file as entry};
use fixtures::playstation;
use fixtures::ta::bos;
use hpimount_containers::hpi::chunk::Method;
use rusqlite::Connection;
use testkit::mount::{Fixture, Run, has_programs, hpi, run};
use testkit::sources::folder;

fn packed(name: &str, bytes: &[u8]) -> Entry {
    entry(name.as_bytes(), File::new(bytes, Method::Zlib))
}

fn hpi_with(entries: Vec<Entry>) -> Vec<u8> {
    V1::new(entries).build().bytes
}

/// Returns a command that indexes sources of a directory.
fn command(directory: &Path, sources: &[&str]) -> Command {
    let mut command = hpi("index");
    command
        .current_dir(directory)
        .args(["all.sqlite"])
        .args(sources);
    command
}

fn index(directory: &Path, sources: &[&str]) -> Run {
    run(&mut command(directory, sources))
}

/// Indexes sources of a directory, and asserts that all can be opened.
fn indexed(directory: &Path, sources: &[&str]) {
    let ran = index(directory, sources);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
}

/// Returns a group with a member.
fn group(member: u32) -> Vec<u8> {
    let head = vec![0, 0, 0, 1, 0x11, 0, 0, 0x1D, 0, 1, 0, 0];
    [head, member.to_be_bytes().to_vec()].concat()
}

/// Returns the lines that `sqlite3` prints.
fn lines(directory: &Path, query: &str) -> Vec<String> {
    let mut command = Command::new("sqlite3");
    let output = command
        .current_dir(directory)
        .args(["all.sqlite", query])
        .output();
    let output = output.unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Returns a folder with archives of a game.
fn games() -> Fixture {
    folder(|source| {
        let unit = "[UNITINFO]\n{\nUnitName=TANK;\nName=Jellyfish;\nWeapon1=GUN;\n}\n";
        let inner = hpi_with(vec![packed("readme.txt", b"a word in a text")]);
        let one = hpi_with(vec![
            dir(b"units", vec![packed("TANK.fbi", unit.as_bytes())]),
            packed("inner.ufo", &inner),
            packed("same.bin", b"the same bytes"),
        ]);
        let two = hpi_with(vec![packed("other.bin", b"the same bytes")]);
        fs::write(source.join("one.hpi"), one).unwrap();
        fs::write(source.join("two.hpi"), two).unwrap();
        fs::write(source.join("broken.hpi"), b"HAPI, but not at all").unwrap();
    })
}

#[test]
fn questions_across_archives_are_answered() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let games = games();
    let directory = &games.archive;
    indexed(directory, &["one.hpi", "two.hpi"]);
    let ask = |query: &str| lines(directory, query);
    assert_eq!(
        ask("SELECT source, archive, path, kind, type, size FROM files ORDER BY source, path"),
        [
            "one.hpi||inner.ufo|archive|ufo|".to_owned()
                + &ask("SELECT size FROM files WHERE kind = 'archive'")[0],
            "one.hpi|inner.ufo|inner.ufo.d/readme.txt|file|txt|16".to_owned(),
            "one.hpi||same.bin|file|bin|14".to_owned(),
            "one.hpi||units|directory||0".to_owned(),
            "one.hpi||units/TANK.fbi|file|fbi|59".to_owned(),
            "two.hpi||other.bin|file|bin|14".to_owned(),
        ]
    );
    assert_eq!(
        ask("SELECT count(*), min(path) FROM files WHERE kind = 'file' \
             GROUP BY sha256 HAVING count(*) > 1"),
        ["2|other.bin"]
    );
    assert_eq!(
        ask("SELECT path FROM texts JOIN files ON id = texts.rowid WHERE texts MATCH 'word'"),
        ["inner.ufo.d/readme.txt"]
    );
    assert_eq!(
        ask(
            "SELECT path, format FROM texts JOIN files ON id = texts.rowid \
             JOIN assets ON entry = id WHERE texts MATCH 'jellyfish'"
        ),
        ["units/TANK.fbi|TDF"]
    );
    assert_eq!(
        ask("SELECT from_name, from_place, to_name FROM refs WHERE missing AND field = 'weapon'"),
        ["TANK|units/TANK.fbi|GUN"]
    );
}

#[test]
fn words_of_scripts_and_configurations_are_found() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let script = "piece flywheel; Create() { show flywheel; return (0); }";
    let script = bos::compile(script, &[]).unwrap().cob(&[]).file();
    let mut scripts = playstation::files().into_iter();
    let (_, qb) = scripts.find(|(name, _)| *name == "script.qb").unwrap();
    let games = folder(|source| {
        let folder = source.join("game");
        fs::create_dir(&folder).unwrap();
        for (name, bytes) in [
            ("level.qb", &qb[..]),
            ("tank.cob", &script),
            ("tank.fbi", b"[UNITINFO]\n{\nName=Jellyfish;\n}\n"),
            (
                "town.ipl",
                b"inst\n7, lamppost, 0, 1, 2, 3, 0, 0, 0, 1, -1\nend\n",
            ),
            ("handling.cfg", b"; the heaviest first\nCAR 1 2 D\n"),
        ] {
            fs::write(folder.join(name), bytes).unwrap();
        }
    });
    indexed(&games.archive, &["game"]);
    for (word, path) in [
        ("endscript", "level.qb"),
        ("flywheel", "tank.cob"),
        ("jellyfish", "tank.fbi"),
        ("lamppost", "town.ipl"),
        ("heaviest", "handling.cfg"),
    ] {
        let query = format!(
            "SELECT path FROM texts JOIN files ON id = texts.rowid WHERE texts MATCH '{word}'"
        );
        assert_eq!(lines(&games.archive, &query), [path], "{word}");
    }
}

#[test]
fn references_of_every_kind_of_game_are_listed() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let games = folder(|source| {
        fs::create_dir_all(source.join("gta/data")).unwrap();
        fs::write(
            source.join("gta/data/town.ide"),
            "objs\n5, tree, trees, 100, 0\nend\n",
        )
        .unwrap();
        fs::write(source.join("gta/tree.dff"), b"a model").unwrap();
        let mut hip = Hip::default();
        hip.layer(0);
        hip.add(Asset::new(b"GRUP", "DOORS", &group(0x1234_5678)));
        fs::write(source.join("level.HIP"), hip.build()).unwrap();
    });
    indexed(&games.archive, &["gta", "level.HIP"]);
    let of = |source: &str, columns: &str| {
        let query = format!(
            "SELECT {columns} FROM refs JOIN source_names ON id = refs.source \
             WHERE source_names.source = '{source}' ORDER BY field"
        );
        lines(&games.archive, &query)
    };
    assert_eq!(
        of(
            "gta",
            "from_name, from_place, field, to_name, to_place, missing"
        ),
        [
            "tree|data/town.ide|model|tree|tree.dff|0",
            "tree|data/town.ide|textures|trees||1",
        ]
    );
    assert_eq!(
        of("level.HIP", "from_name, to_place, missing"),
        ["DOORS|12345678|1"]
    );
}

#[test]
fn a_game_is_one_source_whose_references_lead_to_other_archives() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let games = folder(|source| {
        let tank = "[UNITINFO]\n{\nUnitName=TANK;\nWeapon1=GUN;\n}\n";
        let gun = "[GUN]\n{\nname=Gun;\n}\n";
        let units = hpi_with(vec![dir(
            b"units",
            vec![packed("tank.fbi", tank.as_bytes())],
        )]);
        let weapons = hpi_with(vec![dir(
            b"weapons",
            vec![packed("gun.tdf", gun.as_bytes())],
        )]);
        fs::create_dir(source.join("game")).unwrap();
        fs::write(source.join("game/a.hpi"), units).unwrap();
        fs::write(source.join("game/rev31.gp3"), weapons).unwrap();
    });
    indexed(&games.archive, &["--game", "game", "game/a.hpi"]);
    let query = "SELECT source_names.source, to_name, to_place, resolved_in, missing FROM refs \
                 JOIN source_names ON id = refs.source WHERE field = 'weapon' ORDER BY missing";
    assert_eq!(
        lines(&games.archive, query),
        ["game|GUN|weapons/gun.tdf|rev31.gp3|0", "a.hpi|GUN|||1"]
    );
    assert_eq!(
        lines(
            &games.archive,
            "SELECT source, path FROM files WHERE kind = 'file' ORDER BY id"
        )
        .len(),
        3
    );
}

#[test]
fn unchanged_sources_are_skipped_and_damaged_ones_have_their_error() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let games = games();
    let directory = &games.archive;
    let ran = index(directory, &["one.hpi", "broken.hpi", "two.hpi"]);
    assert_eq!(ran.code, Some(13), "{ran:?}");
    assert!(ran.stderr.contains("broken.hpi: "), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    let errors = lines(
        directory,
        "SELECT source_names.source FROM sources \
        JOIN source_names USING (id) WHERE error IS NOT NULL",
    );
    assert_eq!(errors, ["broken.hpi"]);
    let numbers = |source: &str| {
        lines(
            directory,
            &format!("SELECT id FROM files WHERE source = '{source}' ORDER BY id"),
        )
    };
    let before = numbers("one.hpi");
    fs::write(
        directory.join("two.hpi"),
        hpi_with(vec![packed("new.bin", b"new")]),
    )
    .unwrap();
    indexed(directory, &["one.hpi", "two.hpi"]);
    assert_eq!(numbers("one.hpi"), before);
    assert_eq!(
        lines(directory, "SELECT path FROM files WHERE source = 'two.hpi'"),
        ["new.bin"]
    );
}

#[test]
fn a_source_is_read_again_after_an_empty_directory_of_its_changes_was_made() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let games = games();
    let directory = &games.archive;
    fs::create_dir(directory.join("edit")).unwrap();
    let with_changes = ["--apply", "edit", "one.hpi"];
    let numbers = || {
        let query = "SELECT id FROM files WHERE source = 'one.hpi' ORDER BY id";
        lines(directory, query)
    };
    indexed(directory, &with_changes);
    indexed(directory, &["two.hpi"]);
    let before = numbers();
    indexed(directory, &with_changes);
    assert_eq!(numbers(), before);
    // Nor after its changes were given by another path.
    indexed(directory, &["--apply", "./edit", "one.hpi"]);
    assert_eq!(numbers(), before);
    fs::create_dir(directory.join("edit/new")).unwrap();
    indexed(directory, &with_changes);
    assert_ne!(numbers(), before);
}

#[test]
fn another_file_is_not_overwritten() {
    let games = games();
    let text = "this is a text of more than a hundred bytes, so that it could begin with the \
                header of a database, but does not";
    fs::write(games.archive.join("all.sqlite"), text).unwrap();
    let ran = index(&games.archive, &["one.hpi"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.starts_with("hpi: all.sqlite: "), "{ran:?}");
    assert_eq!(
        fs::read_to_string(games.archive.join("all.sqlite")).unwrap(),
        text
    );
    assert_eq!(index(&games.archive, &[]).code, Some(2));
}

#[test]
fn a_small_archive_with_the_same_names_many_times_has_few_rows_and_says_so() {
    const COUNT: usize = 1000;
    let inner = zip_of_copies("bin", b"a", COUNT);
    let zip = zip_of_copies("zip", &inner, COUNT);
    let length = zip.len() as i64;
    let fixture = folder(|source| {
        fs::create_dir(source.join("mods")).unwrap();
        fs::write(source.join("mods/small.zip"), zip).unwrap();
    });
    let directory = &fixture.archive;
    for (source, of_source) in [("mods/small.zip", 0), ("mods", 1)] {
        let ran = index(directory, &["--expansion=10", source]);
        assert_eq!(ran.code, Some(10), "{ran:?}");
        assert!(ran.stderr.contains("bytes of rows"), "{ran:?}");
        let connection = Connection::open(directory.join("all.sqlite")).unwrap();
        let number = |query| connection.query_row(query, [], |row| row.get::<_, i64>(0));
        let last = "SELECT entries_to - entries_from FROM sources ORDER BY id DESC LIMIT 1";
        let entries = number(last).unwrap() - of_source;
        // Each has at least 256 bytes, and there are more than in the outer zip.
        assert!(
            (COUNT as i64..length * 10 / 256).contains(&entries),
            "{entries}"
        );
        let errors = "SELECT count(*) FROM sources WHERE error LIKE '%bytes of rows%'";
        assert_eq!(number(errors), Ok(1 + of_source));
    }
}
