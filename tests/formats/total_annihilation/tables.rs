//! The tables of a game in the root of its converted tree.

use std::fs;
use std::path::Path;
use testkit::fuse_test;

use fixtures::ta::tdf::{self, Item, key, section};
use fixtures::ta::tnt;
use testkit::mount::Mount;
use testkit::sources::{folder, names, pack};

fn write(source: &Path, path: &str, bytes: &[u8]) {
    let path = source.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Writes the files of a small game, with a tank of this cost.
fn game(source: &Path, cost: &str) {
    let write = |path: &str, items: &[Item]| write(source, path, &tdf::file(items));
    let tank = vec![
        key("UnitName", "ARMTANK"),
        key("BuildCost", "1"),
        key("buildcost", cost),
    ];
    write("units/tank.fbi", &[section("UNITINFO", tank)]);
    write(
        "units/bot.fbi",
        &[section("UNITINFO", vec![key("Speed", "3")])],
    );
    let damage = section("DAMAGE", vec![key("default", "20")]);
    write("weapons/all.tdf", &[section("LASER", vec![damage])]);
    write(
        "features/green/trees.tdf",
        &[section("TREE", vec![key("height", "9")])],
    );
    write(
        "gamedata/sound.tdf",
        &[section("TANK", vec![key("ok", "beep")])],
    );
    write(
        "gamedata/moveinfo.tdf",
        &[section("CLASS0", vec![key("Name", "TANK3")])],
    );
    let header = section("GlobalHeader", vec![key("numplayers", "4")]);
    write("maps/Coast.ota", &[header]);
    let map = tnt::Map::small().file(0x2000);
    fs::write(source.join("maps/Coast.tnt"), map).unwrap();
}

fn rows(mount: &Mount, path: &str) -> Vec<Vec<String>> {
    let text =
        fs::read_to_string(mount.file(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows = text.lines().map(|row| row.split('\t').map(str::to_owned));
    rows.map(Iterator::collect).collect()
}

/// Returns the cell in the row and the column with these names.
fn cell(rows: &[Vec<String>], name: &str, column: &str) -> String {
    let column = rows[0].iter().position(|found| found == column).unwrap();
    let row = rows.iter().find(|row| row[0] == name).unwrap();
    row[column].clone()
}

#[fuse_test]
fn an_archive_and_a_folder_have_all_tables() {
    for is_packed in [true, false] {
        let mut fixture = folder(|source| game(source, "7"));
        if is_packed {
            let archive = fixture.dir().join("game.hpi");
            pack(&fixture.archive, &archive);
            fixture.archive = archive;
        }
        let mount = fixture.mount(&["--converted"]);
        let expected = [
            "conflicts",
            "features",
            "maps",
            "missing",
            "moveinfo",
            "references",
            "sounds",
            "texts",
            "units",
            "weapons",
        ];
        let mut expected = expected.map(|name| format!("{name}.tsv")).to_vec();
        expected.insert(0, "README.txt".to_owned());
        assert_eq!(names(&mount.file("tables")), expected);
        let units = rows(&mount, "tables/units.tsv");
        // In the order of the paths.
        assert_eq!(units[0][3..], ["Speed", "UnitName", "BuildCost"]);
        assert_eq!(cell(&units, "ARMTANK", "BuildCost"), "7");
        assert_eq!(cell(&units, "bot", "Speed"), "3");
        assert_eq!(cell(&units, "bot", "file"), "units/bot.fbi");
        // For a loose file, this is its directory.
        let archive = if is_packed { "game.hpi" } else { "units" };
        assert_eq!(cell(&units, "bot", "archive"), archive);
        let weapons = rows(&mount, "tables/weapons.tsv");
        assert_eq!(cell(&weapons, "LASER", "DAMAGE.default"), "20");
        let features = rows(&mount, "tables/features.tsv");
        assert_eq!(cell(&features, "TREE", "file"), "features/green/trees.tdf");
        assert_eq!(rows(&mount, "tables/sounds.tsv")[1][0], "TANK");
        assert_eq!(rows(&mount, "tables/moveinfo.tsv")[1][0], "TANK3");
        let maps = rows(&mount, "tables/maps.tsv");
        assert_eq!(cell(&maps, "Coast", "players"), "4");
        assert_eq!(cell(&maps, "Coast", "features"), "2");
        // `stat` returns the size that is read.
        let path = mount.file("tables/units.tsv");
        let size = fs::metadata(&path).unwrap().len();
        assert_eq!(size, fs::read(&path).unwrap().len() as u64);
    }
}

#[fuse_test]
fn the_winning_files_of_merged_archives_are_in_the_tables() {
    let mut fixture = folder(|source| game(source, "7"));
    let (low, high) = (
        fixture.dir().join("low.hpi"),
        fixture.dir().join("high.hpi"),
    );
    pack(&fixture.archive, &low);
    game(&fixture.archive, "8");
    fs::remove_dir_all(fixture.archive.join("maps")).unwrap();
    pack(&fixture.archive, &high);
    fixture.archive = low;
    let high = high.to_str().unwrap().to_owned();
    let mut command = testkit::mount::hpimount();
    command.args([fixture.archive.to_str().unwrap(), &high]);
    command.arg(&fixture.point);
    let mount = fixture.mount_by(command);
    let units = rows(&mount, "converted/tables/units.tsv");
    assert_eq!(cell(&units, "ARMTANK", "BuildCost"), "8");
    assert_eq!(cell(&units, "ARMTANK", "archive"), "high.hpi");
    let maps = rows(&mount, "converted/tables/maps.tsv");
    assert_eq!(cell(&maps, "Coast", "archive"), "low.hpi");
}

#[fuse_test]
fn an_archive_in_a_folder_has_its_own_tables() {
    let fixture = folder(|source| {
        let inside = source.join("inside");
        game(&inside, "7");
        pack(&inside, &source.join("mod.ufo"));
        fs::remove_dir_all(inside).unwrap();
    });
    let mount = fixture.mount(&[]);
    let units = rows(&mount, "mod.ufo.d/converted/tables/units.tsv");
    assert_eq!(units.len(), 3);
    assert_eq!(cell(&units, "ARMTANK", "archive"), "mod.ufo");
    assert!(!mount.file("converted/tables").exists());
}

#[fuse_test]
fn a_mod_in_a_subfolder_has_its_own_tables() {
    for is_packed in [true, false] {
        let mut fixture = folder(|source| game(&source.join("mods/mine"), "7"));
        if is_packed {
            let archive = fixture.dir().join("mods.hpi");
            pack(&fixture.archive, &archive);
            fixture.archive = archive;
        }
        let mount = fixture.mount(&["--converted"]);
        let units = rows(&mount, "mods/mine/tables/units.tsv");
        assert_eq!(cell(&units, "ARMTANK", "BuildCost"), "7");
        assert_eq!(cell(&units, "bot", "file"), "mods/mine/units/bot.fbi");
        assert!(!mount.file("tables").exists());
    }
}

#[fuse_test]
fn everything_that_a_unit_needs_is_copied_by_the_documented_command() {
    let page = include_str!("../../../docs/MODDING.md");
    let command = page.lines().skip_while(|line| !line.starts_with("awk"));
    let command: Vec<&str> = command
        .take_while(|line| !line.starts_with("hpi pack"))
        .collect();
    let mount = folder(|source| {
        game(source, "7");
        let unit = vec![key("UnitName", "ARMPW"), key("Weapon1", "laser")];
        write(
            source,
            "units/peewee.fbi",
            &tdf::file(&[section("UNITINFO", unit)]),
        );
        write(source, "objects3d/ArmPw.3do", b"no model");
    })
    .mount(&[]);
    let home = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(mount.file(""), home.path().join("ta")).unwrap();
    let copy = home.path().join("armpw");
    fs::create_dir(&copy).unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &command.join("\n")]);
    shell.current_dir(home.path()).env("HOME", home.path());
    assert!(shell.status().unwrap().success());
    assert_eq!(names(&copy), ["objects3d", "units", "weapons"]);
    assert_eq!(names(&copy.join("units")), ["peewee.fbi"]);
}

/// Returns the inconsistencies of a folder, without the number of findings.
fn findings(write: impl FnOnce(&Path)) -> Vec<String> {
    let mount = folder(write).mount(&["--converted"]);
    let text = fs::read_to_string(mount.file("checks.txt")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.pop();
    lines
}

#[fuse_test]
fn a_mod_that_changes_units_of_a_game_does_not_lack_their_models() {
    let unit = |name: &str| {
        let keys = vec![key("UnitName", name), key("Objectname", name)];
        tdf::file(&[section("UNITINFO", keys)])
    };
    let found = findings(|source| {
        write(source, "units/changed.fbi", &unit("changed"));
        // The same unit of both games of Kingdoms.
        write(source, "unitscb/changed.fbi", &unit("changed"));
        write(source, "units/own.fbi", &unit("own"));
        write(source, "unitpics/own.pcx", b"");
    });
    assert!(
        found.iter().all(|line| line.starts_with("units/own.fbi:")),
        "{found:?}"
    );
    assert!(
        found[0].contains("objects3d/own.3do is missing"),
        "{found:?}"
    );
}

#[fuse_test]
fn maps_are_checked_for_unknown_features_and_players_outside() {
    let found = findings(|source| {
        game(source, "1");
        let start = |x: &str| {
            let keys = vec![
                key("specialwhat", "StartPos1"),
                key("XPos", x),
                key("ZPos", "0"),
            ];
            let specials = section("specials", vec![section("special0", keys)]);
            let schema = section("Schema 0", vec![specials]);
            tdf::file(&[section("GlobalHeader", vec![schema])])
        };
        write(source, "maps/In.ota", &start("0"));
        write(source, "maps/Out.ota", &start("100000"));
        for name in ["In", "Out"] {
            let map = tnt::Map::small().file(0x2000);
            write(source, &format!("maps/{name}.tnt"), &map);
        }
        write(source, "gamedata/sidedata.tdf", b"");
    });
    let of_maps: Vec<_> = found
        .iter()
        .filter(|line| line.starts_with("maps/"))
        .collect();
    assert_eq!(
        of_maps,
        [
            "maps/Coast.ota: the feature Rock does not exist",
            "maps/In.ota: the feature Rock does not exist",
            "maps/Out.ota: player 1 starts at 100000,0, outside of the map",
            "maps/Out.ota: the feature Rock does not exist",
        ]
    );
}
