//! `hpi diff` finds the same differences as `diff -r` on mounts of both sides, shows
//! how assets have changed, and has the exit codes of diff(1).

mod equal_bytes;
mod media;
mod random;

use std::fs;
use std::path::Path;

use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{Entry, File, V1, dir, file as entry};
use fixtures::ta::{bos, gaf, tdo};
use fixtures::{assets, playstation};
use hpimount_containers::hpi::chunk::Method;
use serde_json::{Value, json};
use testkit::mount::{Fixture, Run, hpi, run};
use testkit::sources::folder;

/// Compares sources in a directory.
fn diff(directory: &Path, args: &[&str]) -> Run {
    run(hpi("diff").current_dir(directory).args(args))
}

/// Returns the exit code and the lines of a comparison without messages.
fn lines(directory: &Path, args: &[&str]) -> (Option<i32>, Vec<String>) {
    let ran = diff(directory, args);
    assert_eq!(ran.stderr, "", "{ran:?}");
    (ran.code, ran.stdout.lines().map(str::to_owned).collect())
}

/// Returns the exit code and the objects of a comparison.
fn objects(directory: &Path, args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let (code, lines) = lines(directory, &[&["--json"], args].concat());
    let parse = |line: &String| serde_json::from_str(line).unwrap();
    (code, lines.iter().map(parse).collect())
}

fn packed(name: &str, bytes: &[u8]) -> Entry {
    entry(name.as_bytes(), File::new(bytes, Method::Zlib))
}

fn hpi_with(entries: Vec<Entry>) -> Vec<u8> {
    V1::new(entries).build().bytes
}

/// Writes two files, and returns their folder.
fn pair(names: [&str; 2], contents: [&[u8]; 2]) -> Fixture {
    folder(|source| {
        for (name, bytes) in names.iter().zip(contents) {
            fs::write(source.join(name), bytes).unwrap();
        }
    })
}

const OLD_UNIT: &str = "[UNITINFO]\n{\nname=Tank;\nMaxDamage=740;\nGone=1;\n}\n";
const NEW_UNIT: &str = "[UNITINFO]\n{\nname=Tank;\nMaxDamage=9999;\nNew=20;\n}\n";

#[test]
fn every_kind_of_difference_is_one_line() {
    let moved = b"the same bytes";
    let old = hpi_with(vec![
        dir(b"units", vec![packed("TANK.fbi", OLD_UNIT.as_bytes())]),
        packed("same.txt", b"same"),
        packed("gone.txt", b"gone"),
        packed("a.bin", moved),
        packed("kind", b"a file"),
    ]);
    let new = hpi_with(vec![
        dir(b"kind", vec![packed("in.txt", b"in")]),
        dir(b"units", vec![packed("tank.fbi", NEW_UNIT.as_bytes())]),
        packed("b.bin", moved),
        packed("SAME.txt", b"same"),
        packed("new.txt", b"a new file"),
    ]);
    let files = pair(["old.ufo", "new.ufo"], [&old, &new]);
    let expected = [
        "changed: units/TANK.fbi: 49 -> 50 bytes",
        "    sections[UNITINFO].keys.MaxDamage: 740 -> 9999",
        "  - sections[UNITINFO].keys.Gone: 1",
        "  + sections[UNITINFO].keys.New: 20",
        "changed: kind: file -> directory",
        "moved: a.bin -> b.bin",
        "removed: gone.txt",
        "added: new.txt",
    ];
    let (code, found) = lines(&files.archive, &["old.ufo", "new.ufo"]);
    assert_eq!(
        (code, found),
        (Some(1), expected.map(str::to_owned).to_vec())
    );
    let (code, found) = lines(&files.archive, &["--brief", "old.ufo", "new.ufo"]);
    let brief = expected.iter().filter(|line| !line.starts_with(' '));
    let brief: Vec<String> = brief.map(|line| (*line).to_owned()).collect();
    assert_eq!((code, found), (Some(1), brief));
    let (_, found) = objects(&files.archive, &["old.ufo", "new.ufo"]);
    assert_eq!(
        found[0]["differences"],
        json!([
            {"field": "sections[UNITINFO].keys.MaxDamage", "old": "740", "new": "9999"},
            {"field": "sections[UNITINFO].keys.Gone", "old": "1"},
            {"field": "sections[UNITINFO].keys.New", "new": "20"},
        ])
    );
    let summary = json!({
        "type": "summary", "same": 1, "changed": 2, "added": 1, "removed": 1, "moved": 1,
        "troubles": 0,
    });
    assert_eq!(found.last(), Some(&summary));
    // With exact spelling, the same bytes have another name.
    let (_, found) = lines(
        &files.archive,
        &["-o", "case_sensitive", "old.ufo", "new.ufo"],
    );
    assert!(
        found.contains(&"moved: same.txt -> SAME.txt".to_owned()),
        "{found:?}"
    );
    let (code, found) = lines(&files.archive, &["new.ufo", "new.ufo"]);
    assert_eq!((code, found), (Some(0), Vec::new()));
}

#[test]
fn archives_that_differ_are_entered_and_equal_ones_are_not() {
    let inner = |bytes: &[u8]| hpi_with(vec![packed("in.txt", bytes)]);
    let outer = |bytes: &[u8]| {
        hpi_with(vec![
            packed("inner.ufo", &inner(bytes)),
            packed("same.ufo", &inner(b"always")),
        ])
    };
    let files = pair(["a.hpi", "b.hpi"], [&outer(b"one"), &outer(b"two")]);
    let (_, found) = objects(&files.archive, &["a.hpi", "b.hpi"]);
    let paths: Vec<&str> = found
        .iter()
        .filter_map(|line| line["path"].as_str())
        .collect();
    assert_eq!(paths, ["inner.ufo", "inner.ufo.d/in.txt"]);
    // The files of the archive that is the same on both sides are not counted.
    assert_eq!(found.last().unwrap()["same"], 1);
}

#[test]
fn assets_of_every_family_are_compared_in_their_own_terms() {
    let made = |name: &str| {
        let mut files = playstation::files().into_iter();
        files.find(|(known, _)| *known == name).unwrap().1
    };
    let changed = |name: &str, at: usize, value: u8| {
        let mut bytes = made(name);
        bytes[at] = value;
        (made(name), bytes)
    };
    let sprite = |width| {
        let frame = gaf::Frame::rle(width, 1, &vec![Some(1); width.into()]);
        gaf::file(&[gaf::sequence("Boom", vec![(frame, 1)])])
    };
    let model = |count: usize| {
        let object = tdo::Object {
            vertices: vec![[0; 3]; count],
            ..tdo::object("base")
        };
        tdo::file(&object)
    };
    let script = |speed: u32| {
        let text = format!("piece base; Create() {{ sleep {speed}; return (0); }}");
        bos::compile(&text, &[]).unwrap().cob(&[]).file()
    };
    let pairs = [
        ("boom.gaf", (sprite(4), sprite(8))),
        ("tank.3do", (model(3), model(4))),
        ("tank.cob", (script(100), script(200))),
        ("level.psx", (assets::level(4), assets::level(6))),
        ("picture.tim", changed("true.tim", 18, 1)),
        ("sound.vag", changed("sound.vag", 18, 0x2B)),
        ("script.qb", changed("script.qb", 2, 0x2A)),
        ("level_t.trg", changed("level_t.trg", 42, 5)),
    ];
    let files = folder(|source| {
        for (name, (old, new)) in &pairs {
            for (side, bytes) in [("old", old), ("new", new)] {
                fs::create_dir_all(source.join(side)).unwrap();
                fs::write(source.join(side).join(name), bytes).unwrap();
            }
        }
    });
    let (code, found) = objects(&files.archive, &["old", "new"]);
    assert_eq!(code, Some(1));
    for (name, field) in [
        ("boom.gaf", "frames.tsv[Boom].width"),
        ("tank.3do", "vertices"),
        ("tank.cob", "script.bos: line "),
        ("level.psx", "version"),
        ("picture.tim", "pictures[0].height"),
        ("sound.vag", "rate"),
        ("script.qb", "source.q: line "),
        ("level_t.trg", "nodes[autoexec].commands[1]"),
    ] {
        let record = found.iter().find(|one| one["path"] == name);
        let differences = record.unwrap_or_else(|| panic!("{name}: {found:#?}"))["differences"]
            .as_array()
            .unwrap();
        let mut fields = differences.iter().map(|one| one["field"].as_str());
        let is_named = fields.any(|one| one.is_some_and(|one| one.starts_with(field)));
        assert!(is_named, "{name}: {differences:#?}");
    }
}

/// Warnings name lines and offsets, which move.
#[test]
fn an_added_comment_or_statement_is_one_added_line() {
    // A comment or statement is added at the `@`.
    let texts = [
        (
            "tank.fbi",
            "// a comment\n",
            "[UNITINFO]\n{\n@Name=a;;\nName=b;\n}\n",
        ),
        (
            "town.ide",
            "# a comment\n",
            "@objs\n1, crate, box, 100, 0\n2, pole\nend\nnews\nend\n",
        ),
        (
            "places.ipl",
            "# a comment\n",
            "inst\n@7, crate, 0, 1, 2, 3, 0, 0, 0, 1, -1\nend\n",
        ),
        (
            "handling.cfg",
            "; a comment\n",
            "@CAR 1 2 D\nVAN 3\n! BIKE 4\n",
        ),
        (
            "tank.cob",
            "show base;",
            "piece base; Create() { sleep 5; @ return (0); }",
        ),
    ];
    let files = folder(|source| {
        for side in ["old", "new"] {
            fs::create_dir(source.join(side)).unwrap();
            for (name, added, text) in texts {
                let text = text.replace('@', if side == "new" { added } else { "" });
                let bytes = match name.ends_with(".cob") {
                    true => bos::compile(&text, &[]).unwrap().cob(&[]).file(),
                    false => text.into_bytes(),
                };
                fs::write(source.join(side).join(name), bytes).unwrap();
            }
        }
    });
    let (code, found) = objects(&files.archive, &["old", "new"]);
    assert_eq!(code, Some(1));
    for (name, added, _) in texts {
        let record = found.iter().find(|one| one["path"] == name);
        let differences = &record.unwrap_or_else(|| panic!("{name}: {found:#?}"))["differences"];
        let [only] = &differences.as_array().unwrap()[..] else {
            panic!("{name}: {differences:#?}");
        };
        let new = only["new"].as_str().unwrap_or_default();
        assert_eq!(
            (&only["old"], new.trim()),
            (&Value::Null, added.trim()),
            "{name}"
        );
    }
}

#[test]
fn a_report_with_many_empty_cells_is_compared() {
    let files = folder(|source| {
        for (side, last) in [("old", 1), ("new", 2)] {
            let units = source.join(side).join("units");
            fs::create_dir_all(&units).unwrap();
            for unit in 0..600 {
                let keys = (0..5).map(|key| format!("key{}=1;\n", unit % 30 * 5 + key));
                let keys: String = keys.collect();
                let text = format!("[UNITINFO]\n{{\n{keys}last={last};\n}}\n");
                fs::write(units.join(format!("u{unit}.fbi")), text).unwrap();
            }
        }
    });
    let (_, found) = lines(&files.archive, &["--converted", "old", "new"]);
    assert_eq!(found[0], "changed: tables/units.tsv", "{found:?}");
    assert_eq!(found[1], "    units.tsv[u0].last: 1 -> 2", "{found:?}");
}

#[test]
fn long_generated_files_of_both_sides_are_not_mixed_up() {
    let keys: String = (0..9000)
        .map(|key| format!("key{key}=a value;\n"))
        .collect();
    let files = folder(|source| {
        for (side, last) in [("old", 1), ("new", 2)] {
            let units = source.join(side).join("units");
            fs::create_dir_all(&units).unwrap();
            let unit = format!("[UNITINFO]\n{{\n{keys}last={last};\n}}\n");
            fs::write(units.join("unit.fbi"), unit).unwrap();
        }
    });
    let (code, found) = lines(&files.archive, &["--converted", "--brief", "old", "new"]);
    assert_eq!(code, Some(1));
    let expected = ["tables/units.tsv", "tables/texts.tsv"].map(|path| format!("changed: {path}"));
    assert_eq!(found, expected);
}

/// Returns an object with one link that sends an event.
fn group(event: u16) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 1, 0x11, 1, 0, 0x1D, 0, 0, 0, 0];
    bytes.extend(event.to_be_bytes());
    bytes.extend([0; 30]);
    bytes
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    bytes
}

/// Returns an archive with such an object, and with a text.
fn doors(event: u16, name: &str, line: &str) -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    hip.add(Asset::new(b"GRUP", "DOORS", &group(event)));
    hip.add(Asset::new(b"TEXT", name, &text(line)).with_id(0x1234_5678));
    hip.build()
}

#[test]
fn reports_are_compared_by_the_values_of_their_cells() {
    let [old, new] = [1, 2].map(|event| doors(event, "sign", "Beware"));
    let files = pair(["old.HIP", "new.HIP"], [&old, &new]);
    let (code, found) = objects(&files.archive, &["--converted", "old.HIP", "new.HIP"]);
    assert_eq!(code, Some(1));
    let mut found = found.iter();
    let links = found.find(|found| found["path"] == "tables/links.tsv");
    let expected = json!([
        {"field": "links.tsv[0xB44F3A69].event", "old": "Enable", "new": "Disable"},
        {"field": "links.tsv[0xB44F3A69].event_id", "old": 1, "new": 2},
        {"field": "links.tsv[0xB44F3A69].event_word", "old": "Enable", "new": "Disable"},
    ]);
    assert_eq!(links.unwrap()["differences"], expected);
}

#[test]
fn a_report_without_room_in_memory_is_not_compared_by_its_cells() {
    let archive = |event| {
        let mut hip = Hip::default();
        hip.layer(0);
        for number in 0..140 {
            hip.add(Asset::new(b"GRUP", &format!("DOOR{number}"), &group(event)));
        }
        hip.build()
    };
    let files = pair(["old.HIP", "new.HIP"], [&archive(1), &archive(2)]);
    for (size, is_compared) in [("1M", false), ("64M", true)] {
        let size = format!("cachesize={size}");
        let args = ["--converted", "-o", &size, "old.HIP", "new.HIP"];
        let (_, found) = objects(&files.archive, &args);
        let mut found = found.iter();
        let links = found.find(|found| found["path"] == "tables/links.tsv");
        let links = links.unwrap();
        assert!(links["size"][1].as_u64() < Some(1 << 14), "{links}");
        let differences = links["differences"].as_array().unwrap();
        assert_eq!(!differences.is_empty(), is_compared, "{differences:?}");
    }
}

#[test]
fn assets_of_hip_archives_are_compared_by_id_and_in_their_own_terms() {
    let old = doors(1, "sign", "Beware");
    let new = doors(2, "board", "Beware!");
    let files = pair(["old.HIP", "new.HIP"], [&old, &new]);
    let (code, found) = lines(&files.archive, &["old.HIP", "new.HIP"]);
    assert_eq!(code, Some(1));
    let has = |start: &str| found.iter().any(|line| line.starts_with(start));
    for start in [
        "changed: layers/00-DEFAULT/DOORS.grup (GRUP ",
        "    links[0].event",
        "changed: layers/00-DEFAULT/sign.text -> layers/00-DEFAULT/board.text (TEXT 12345678)",
        "changed: assets.tsv",
        "    assets.tsv[12345678].name: sign -> board",
    ] {
        assert!(has(start), "{start}: {found:#?}");
    }
    // The links of `types` and `ids` lead to the same files.
    assert!(
        !has("changed: types/Group") && !has("added: types/T"),
        "{found:#?}"
    );
}

#[test]
fn lists_of_sources_and_games_are_compared_as_they_are_merged() {
    let file = |bytes: &[u8]| hpi_with(vec![packed("a.txt", bytes)]);
    let files = folder(|source| {
        fs::create_dir(source.join("game")).unwrap();
        for (name, bytes) in [
            ("a.hpi", &b"low"[..]),
            ("b.hpi", b"top"),
            ("game/a.hpi", b"low"),
            ("game/rev31.gp3", b"top"),
        ] {
            fs::write(source.join(name), file(bytes)).unwrap();
        }
    });
    for same in [
        &["a.hpi", "b.hpi", "--against", "a.hpi", "--against", "b.hpi"][..],
        &["--game", "game", "a.hpi", "b.hpi"],
        &["--game", "game", "--game", "game"],
        &["--game", "game", "--against", "b.hpi"],
    ] {
        assert_eq!(lines(&files.archive, same), (Some(0), vec![]), "{same:?}");
    }
    let (code, found) = lines(&files.archive, &["b.hpi", "a.hpi", "--against", "b.hpi"]);
    assert_eq!((code, found), (Some(1), vec!["changed: a.txt".to_owned()]));
    for wrong in [
        &["a.hpi"][..],
        &["a.hpi", "b.hpi", "a.hpi"],
        &["--game", "game"],
    ] {
        let ran = diff(&files.archive, wrong);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_named_and_the_rest_is_compared() {
    let bytes = fixtures::noise(1, 5000);
    let built =
        |other: &[u8]| V1::new(vec![packed("a.bin", &bytes), packed("b.bin", other)]).build();
    let old = built(b"one").bytes;
    let mut new = built(b"two");
    let chunk = new.files[0].chunks[0];
    new.bytes[chunk + 100] ^= 1;
    let files = pair(["old.hpi", "new.hpi"], [&old, &new.bytes]);
    let ran = diff(&files.archive, &["old.hpi", "new.hpi"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(2), "changed: b.bin\n")
    );
    assert!(
        ran.stderr.contains("new.hpi: a.bin: chunk 0 at "),
        "{ran:?}"
    );
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    let ran = diff(&files.archive, &["old.hpi", "missing.hpi"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("missing.hpi"), "{ran:?}");
}
