//! Tests of the tables about a whole game.

mod relations;

use std::cell::Cell;
use std::io::{self, Write};
use std::sync::Arc;

use super::{REPORTS, file_name};
use crate::gaf;
use fixtures::ta::tdf::{Item, file, key, section};
use fixtures::ta::tnt::Map;
use hpimount_assets::model::Reservation;
use hpimount_assets::view::edit::{Edit, What};
use hpimount_assets::view::report::TableEdit;
use hpimount_assets::view::{AssetContext, AssetKey, AssetRef, Bytes, MakeShared, Shared};
use hpimount_containers::text::has_extension;

/// A file, a position in it, the name of a key and a text.
type EditedKey = (String, usize, String, String);

/// A game with files in memory, sorted by path.
#[derive(Default)]
struct Game {
    files: Vec<(String, Option<Bytes>)>,
    /// Number of reads of the files.
    reads: Cell<usize>,
    /// True if the memory budget is exhausted.
    is_full: bool,
}

impl Game {
    fn with(mut self, path: &str, bytes: Vec<u8>) -> Self {
        self.files.push((path.to_owned(), Some(bytes.into())));
        self
    }

    fn text(self, path: &str, items: &[Item]) -> Self {
        self.with(path, file(items))
    }

    fn get(&self, file: AssetRef) -> &(String, Option<Bytes>) {
        &self.files[file.0 as usize]
    }

    fn table(&self, path: &str) -> Vec<Vec<String>> {
        let text = self.report(path);
        let rows = text.lines().map(|row| row.split('\t').map(str::to_owned));
        rows.map(Iterator::collect).collect()
    }

    /// Returns the keys that an edited table changes: their positions, or the positions
    /// of their sections and their names, and their values.
    fn edited(&self, path: &str, edits: &[(&str, &str)]) -> Result<Vec<EditedKey>, String> {
        let shown = self.report(path);
        let edited = edits.iter().fold(shown.clone(), |text, (old, new)| {
            assert!(text.contains(old), "{old} in {text}");
            text.replace(old, new)
        });
        let report = REPORTS.iter().find(|report| report.path == path).unwrap();
        let edit = report.edit.as_ref().unwrap().edit;
        let found = edit(self, shown.as_bytes(), edited.as_bytes())?;
        let edits = found.edits.into_iter().map(|(file, edit)| match edit {
            TableEdit::Value(Edit {
                what: What::Text(position, name, text),
                ..
            }) => (self.path_of(file), position, name, text),
            other => panic!("{other:?} is no text"),
        });
        Ok(edits.collect())
    }

    fn report(&self, path: &str) -> String {
        let report = REPORTS.iter().find(|report| report.path == path).unwrap();
        assert!((report.applies)(self), "{path}");
        let mut out = Vec::new();
        report.render(self, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}

impl AssetContext for Game {
    fn name(&self) -> &str {
        ""
    }

    fn find(&self, key: AssetKey<'_>) -> Option<AssetRef> {
        let AssetKey::Path(wanted) = key else {
            return None;
        };
        let mut paths = self.files.iter().map(|(path, _)| path);
        let found = paths.position(|path| path.eq_ignore_ascii_case(wanted));
        found.map(|number| AssetRef(number as u64))
    }

    fn path_of(&self, file: AssetRef) -> String {
        self.get(file).0.clone()
    }

    fn archive_of(&self, _file: AssetRef) -> String {
        "a.hpi".to_owned()
    }

    fn read(&self, file: AssetRef) -> Option<Bytes> {
        self.reads.set(self.reads.get() + 1);
        self.get(file).1.clone()
    }

    fn reserve(&self, _bytes: usize) -> io::Result<Option<Reservation>> {
        match self.is_full {
            true => Err(io::ErrorKind::OutOfMemory.into()),
            false => Ok(None),
        }
    }

    fn shared(&self, _name: &'static str, make: MakeShared<'_>) -> Option<Arc<dyn Shared>> {
        Some(make(self).into())
    }

    fn find_extensions(&self, folder: &str, extensions: &[&str]) -> Vec<AssetRef> {
        let files = self.files.iter().enumerate();
        let found = files.filter(|(_, (path, _))| {
            let mut known = extensions.iter();
            path.starts_with(folder) && known.any(|one| has_extension(path.as_bytes(), one))
        });
        found.map(|(number, _)| AssetRef(number as u64)).collect()
    }

    fn list(&self, directory: &str) -> Vec<AssetRef> {
        self.find_extensions(directory, gaf::EXTENSIONS)
    }
}

/// Returns units with twenty keys with a value, and one unique key.
fn units(count: usize, value: &str) -> Game {
    (0..count).fold(Game::default(), |game, number| {
        let own = key(&format!("Own{number}"), "1");
        let keys = (0..20).map(|number| key(&format!("Key{number}"), value));
        let items = keys.chain([own]).collect();
        game.text(
            &format!("units/{number}.fbi"),
            &[section("UNITINFO", items)],
        )
    })
}

#[test]
fn texts_are_read_again_only_if_there_is_no_memory_for_the_rows() {
    let game = units(9, "a\tb");
    let table = game.table("tables/units.tsv");
    assert_eq!(game.reads.get(), 9);
    let full = Game {
        is_full: true,
        ..units(9, "a\tb")
    };
    assert_eq!(full.table("tables/units.tsv"), table);
    assert_eq!(full.reads.get(), 2 * 9);
    // More than the maximum that is kept.
    let many = units(40, &"long ".repeat(5000));
    assert_eq!(many.table("tables/units.tsv").len(), 1 + 40);
    assert_eq!(many.reads.get(), 2 * 40);
}

#[test]
fn columns_are_the_union_of_keys_in_order_of_appearance() {
    let game = Game::default()
        .text(
            "units/a.fbi",
            &[section(
                "UNITINFO",
                vec![
                    key("UnitName", "ARMA"),
                    key("Name", "Tank"),
                    key("Cost", "1"),
                    key("cost", "2"),
                ],
            )],
        )
        .text(
            "unitscb/b.fbi",
            &[section(
                "UnitInfo",
                vec![
                    key("Speed", "a\tb"),
                    section("Joy", vec![key("Radius", "3")]),
                    key("COST", "4"),
                ],
            )],
        );
    let expected = [
        "name file archive UnitName key.Name Cost Speed Joy.Radius",
        "ARMA units/a.fbi a.hpi ARMA Tank 2  ",
        "b unitscb/b.fbi a.hpi   4 a\\tb 3",
    ];
    let expected = expected.map(|row| row.split(' ').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(game.table("tables/units.tsv"), expected);
}

#[test]
fn weapons_come_from_their_own_texts_and_from_units() {
    let damage = section("DAMAGE", vec![key("default", "200")]);
    let game = Game::default()
        .text(
            "units/witch.fbi",
            &[
                section("UNITINFO", vec![key("UnitName", "WITCH")]),
                section("Weapon1", vec![key("range", "300")]),
            ],
        )
        .text(
            "weapons/all.tdf",
            &[
                section("LASER", vec![key("range", "60"), damage]),
                section("BOMB", vec![]),
            ],
        );
    let names = |table: &[Vec<String>]| {
        let cells = table.iter().map(|row| [row[0].clone(), row[3].clone()]);
        cells.collect::<Vec<_>>()
    };
    let table = game.table("tables/weapons.tsv");
    let expected = [
        ["name", "range"],
        ["LASER", "60"],
        ["BOMB", ""],
        ["witch.WEAPON1", "300"],
    ];
    assert_eq!(names(&table), expected);
    assert_eq!(table[0][4], "DAMAGE.default");
    assert_eq!(game.table("tables/units.tsv").len(), 2);
}

#[test]
fn sounds_and_movement_classes_are_found_by_file_name() {
    let class = vec![key("Name", "TANKSH3"), key("FootprintX", "3")];
    let game = Game::default()
        .text("gamedata/MOVEINFO.TDF", &[section("CLASS0", class)])
        .text(
            "gamedata/Sound.tdf",
            &[section("ARM_TANK", vec![key("select1", "tank1")])],
        )
        .text("gamedata/sidedata.tdf", &[section("SIDE0", vec![])]);
    let moves = game.table("tables/moveinfo.tsv");
    assert_eq!((moves.len(), moves[1][0].as_str()), (2, "TANKSH3"));
    let sounds = game.table("tables/sounds.tsv");
    assert_eq!((sounds.len(), sounds[1][0].as_str()), (2, "ARM_TANK"));
}

#[test]
fn a_map_combines_its_text_and_its_picture() {
    let schema = |kind: &str| section("Schema 0", vec![key("Type", kind)]);
    let header = vec![
        key("missionname", "Coast"),
        key("numplayers", "2, 4"),
        key("size", "16 x 16"),
        key("minwindspeed", "500"),
        key("tidalstrength", "20"),
        schema("Network 1"),
        schema("Easy"),
    ];
    let game = Game::default()
        .text("maps/Coast.ota", &[section("GlobalHeader", header)])
        .with("maps/coast.b.tnt", b"no map".to_vec())
        .with("maps/Coast.tnt", Map::small().file(0x2000));
    let table = game.table("tables/maps.tsv");
    let cell = |row: usize, column: &str| {
        let column = table[0].iter().position(|name| name == column).unwrap();
        table[row][column].as_str()
    };
    assert_eq!(table.len(), 3);
    assert_eq!((cell(1, "map"), cell(2, "map")), ("Coast", "coast.b"));
    assert_eq!(cell(1, "schemas"), "Network 1, Easy");
    assert_eq!((cell(1, "players"), cell(1, "size")), ("2, 4", "16 x 16"));
    let tnt = crate::tnt::parse(&Map::small().file(0x2000).into()).unwrap();
    let placed = (0..tnt.cells()).filter(|&cell| tnt.feature(cell).is_some());
    assert_eq!(cell(1, "features"), placed.count().to_string());
    assert_eq!((cell(2, "features"), cell(2, "archive")), ("", "a.hpi"));
}

#[test]
fn unreadable_texts_have_a_row_with_their_name() {
    let mut game = Game::default().text("units/a.fbi", &[section("UNITINFO", vec![])]);
    game.files.push(("units/lost.fbi".to_owned(), None));
    game.files[0].1 = Some(file(&[section("UNITINFO", vec![key("Cost", "1")])]).into());
    let table = game.table("tables/units.tsv");
    assert_eq!(table[2], ["lost", "units/lost.fbi", "a.hpi", ""]);
    // Edits of it are refused.
    let edits = [("units/lost.fbi\ta.hpi\t", "units/lost.fbi\ta.hpi\t5")];
    let problem = game.edited("tables/units.tsv", &edits).unwrap_err();
    assert!(
        problem.starts_with("line 3, column Cost (lost): its file cannot be read"),
        "{problem}"
    );
}

#[test]
fn an_edited_cell_changes_the_key_of_its_column() {
    let inner = section("key", vec![key("foo", "1")]);
    let keys = vec![
        key("foo", "2"),
        key("Name", "Tank"),
        key("a\tb", "3"),
        inner,
    ];
    let game = Game::default().text("units/a.fbi", &[section("UNITINFO", keys)]);
    let path = "tables/units.tsv";
    let table = game.table(path);
    let columns = [
        "name", "file", "archive", "foo", "key.Name", "a\\tb", "key.foo",
    ];
    assert_eq!(table[0], columns);
    let at = |position, text: &str| {
        (
            "units/a.fbi".to_owned(),
            position,
            String::new(),
            text.to_owned(),
        )
    };
    let edited = |edit| game.edited(path, &[("2\tTank\t3\t1", edit)]).unwrap();
    assert_eq!(edited("7\tTank\t3\t1"), [at(1, "7")]);
    assert_eq!(edited("2\tJeep\t3\t1"), [at(2, "Jeep")]);
    assert_eq!(edited("2\tTank\t7\t1"), [at(3, "7")]);
    assert_eq!(edited("2\tTank\t3\t7"), [at(5, "7")]);
}

#[test]
fn backslashes_of_edited_cells_stay() {
    let keys = vec![key("path", "anims\\tank.gaf"), key("text", "a\tb")];
    let game = Game::default().text("units/a.fbi", &[section("UNITINFO", keys)]);
    for path in ["tables/units.tsv", "tables/texts.tsv"] {
        let edits = [("anims\\tank", "anims\\tank2"), ("a\\tb", "a\\tc")];
        let edited = game.edited(path, &edits).unwrap();
        let texts = [&edited[0].3, &edited[1].3];
        assert_eq!(texts, ["anims\\tank2.gaf", "a\tc"], "{path}");
    }
}

#[test]
fn a_key_that_a_section_lacks_is_named_by_its_column() {
    let unit = |keys| [section("UNITINFO", keys)];
    let game = Game::default()
        .text(
            "units/a.fbi",
            &unit(vec![
                key("Name", "Tank"),
                section("key", vec![key("foo", "1")]),
            ]),
        )
        .text("units/b.fbi", &unit(vec![]));
    let edits = [(
        "b\tunits/b.fbi\ta.hpi\t\t",
        "b\tunits/b.fbi\ta.hpi\tJeep\t5",
    )];
    let edited = game.edited("tables/units.tsv", &edits).unwrap();
    let named = |name: &str, text: &str| {
        (
            "units/b.fbi".to_owned(),
            1,
            name.to_owned(),
            text.to_owned(),
        )
    };
    assert_eq!(edited, [named("Name", "Jeep"), named("key.foo", "5")]);
}

#[test]
fn values_without_a_column_are_in_the_last_one() {
    let keys = (0..5000).map(|number| key(&format!("k{number}"), "v"));
    let long = key(&"n".repeat(256), "w");
    let items = keys.chain([long]).collect();
    let game = Game::default().text("features/all/a.tdf", &[section("TREE", items)]);
    let table = game.table("tables/features.tsv");
    assert_eq!(
        (table[0].len(), table[1].len()),
        (3 + 4096 + 1, 3 + 4096 + 1)
    );
    assert_eq!(table[0].last().unwrap(), "more");
    let more = table[1].last().unwrap();
    assert!(more.starts_with("k4096=v;k4097=v;") && more.ends_with("nnn=w;"));
}

#[test]
fn many_rows_and_many_keys_do_not_make_a_huge_table() {
    // A mebibyte of text: 50,000 rows, and 2,000 keys in one of them.
    let keys = (0..2000).map(|number| key(&format!("k{number}"), ""));
    let mut items = vec![section("first", keys.collect())];
    items.extend((0..50_000).map(|_| section("x", vec![])));
    let game = Game::default().text("weapons/a.tdf", &items);
    struct Count(u64);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    assert_eq!(REPORTS[1].path, "tables/weapons.tsv");
    REPORTS[1].render(&game, &mut count).unwrap();
    assert!(count.0 < 25 << 20, "{}", count.0);
}

#[test]
fn a_table_exists_if_there_are_files_for_it() {
    let game = Game::default().text("units/a.fbi", &[]);
    let existing = REPORTS.iter().filter(|report| (report.applies)(&game));
    let names: Vec<_> = existing.map(|report| file_name(report.path)).collect();
    let expected = [
        "units.tsv",
        "weapons.tsv",
        "README.txt",
        "checks.txt",
        "references.tsv",
        "missing.tsv",
        "conflicts.tsv",
        "texts.tsv",
    ];
    assert_eq!(names, expected);
}
