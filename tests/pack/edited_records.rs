//! Values of records in `info.json` and in tables of an asset (`hpipack --apply`).

use crate::edited_views::Mod;
use fixtures::hpi::{File, file};
use fixtures::ta::tnt::Map;
use fixtures::{playstation, png_of};
use hpimount_containers::hpi::chunk::Method;

const INFO: &str = "converted/bank.vab/info.json";
const TONES: &str = "converted/bank.vab/programs.tsv";

/// Returns an archive with a bank of sounds.
fn bank() -> Mod {
    let mut files = playstation::files().into_iter();
    let (name, bytes) = files.find(|(name, _)| *name == "bank.vab").unwrap();
    Mod::of(vec![file(name.as_bytes(), File::new(bytes, Method::Zlib))])
}

#[test]
fn values_of_a_damaged_asset_are_refused_with_the_damage() {
    let mut files = playstation::files().into_iter();
    let (name, bytes) = files.find(|(name, _)| *name == "bank.vab").unwrap();
    let cut = File::new(&bytes[..100], Method::Zlib);
    let edited = Mod::of(vec![file(name.as_bytes(), cut)]);
    edited.edit(INFO, br#"{"volume": 100}"#);
    let refused = edited.refused();
    let expected = "converted/bank.vab/info.json: shows nothing of bank.vab: ";
    assert!(refused.contains(expected), "{refused}");
}

/// Returns the rows of a table.
fn rows(table: &str) -> Vec<Vec<&str>> {
    table.lines().map(|row| row.split('\t').collect()).collect()
}

#[test]
fn values_from_json_and_cells_from_tables_become_an_asset_together() {
    let edited = bank();
    let before = edited.original(TONES);
    edited
        .edit(INFO, br#"{"volume": 100, "programs_count": 2}"#)
        .edit(TONES, b"slot;tone;pan;bend_1\r\n0;1;33;7\r\n");
    let table = edited.shown(TONES);
    let mut expected = rows(&before);
    let column = |name| {
        expected[0]
            .iter()
            .position(|column| *column == name)
            .unwrap()
    };
    let (pan, bend) = (column("pan"), column("bend_1"));
    (expected[2][pan], expected[2][bend]) = ("33", "7");
    assert_eq!(rows(&table), expected);
    assert!(edited.shown(INFO).contains("\"volume\": 100,\n"));
}

#[test]
fn values_that_do_not_fit_or_disagree_are_refused_with_their_places() {
    let edited = bank();
    edited
        .edit(INFO, br#"{"version": 5, "attributes": [1, 256]}"#)
        .edit(TONES, b"slot\ttone\tpan\tvolume\n0\t1\t33\t300\n");
    let refused = edited.refused();
    for line in [
        "converted/bank.vab/info.json: version: follows from the layout of the file, or decides it\n",
        "converted/bank.vab/info.json: attributes[1]: \"256\" is not from 0 to 255\n",
        "converted/bank.vab/programs.tsv: line 2, column volume (0 1): \"300\" is not from 0 to 255\n",
    ] {
        assert!(refused.contains(line), "{refused}");
    }
    let edited = bank();
    edited
        .edit(INFO, br#"{"programs": [{"tones": [{}, {"pan": 5}]}, {}]}"#)
        .edit(TONES, b"slot\ttone\tpan\n0\t1\t33\n");
    let refused = edited.refused();
    assert!(refused.contains("disagrees with"), "{refused}");
}

#[test]
fn a_table_that_exceeds_the_memory_budget_is_a_failure_and_no_refusal() {
    let edited = bank();
    // Each line is a row that is compared.
    let table = edited.original(TONES) + &"\n".repeat(100_000);
    edited.edit(TONES, table.as_bytes());
    let failed = edited.checked("cachesize=1M");
    let problem = "a.hpi: encoding an edited file needs ";
    assert!(failed.contains(problem), "{failed}");
    let enough = edited.checked("cachesize=64M");
    assert!(enough.contains(" 0 not checked"), "{enough}");
}

#[test]
fn a_table_may_be_longer_than_an_asset() {
    let edited = bank();
    let remark = "x".repeat(65 << 20);
    let table = format!("slot\ttone\tpan\tremark\n0\t1\t33\t{remark}\n");
    edited.edit(TONES, table.as_bytes());
    let refused = edited.checked("cachesize=1G");
    assert!(refused.contains("column remark: is unknown"), "{refused}");
}

#[test]
fn heights_values_and_names_of_a_map_are_edited_together() {
    const INFO: &str = "converted/parts/coast.tnt/info.json";
    const HEIGHTS: &str = "converted/parts/coast.tnt/height.png";
    const FEATURES: &str = "converted/parts/coast.tnt/features.tsv";
    let map = Map {
        sea_level: 33,
        ..Map::small()
    };
    let packed = File::new(map.file(0x2000), Method::Zlib);
    let edited = Mod::of(vec![file(b"coast.tnt", packed)]);
    let info = edited.original(INFO);
    assert!(info.contains("\"height_range\": [10, 17]"), "{info}");
    let table = edited.original(FEATURES);
    edited
        .edit(INFO, info.replace(": 33,", ": 90,").as_bytes())
        .edit(HEIGHTS, &png_of(4, 2, vec![[200, 200, 200, 255]; 8]))
        .edit(FEATURES, table.replace("Tree", "Palm").as_bytes());
    let info = edited.shown(INFO);
    for new in ["\"sea_level\": 90,", "[200, 200]", "\"name\": \"Palm\""] {
        assert!(info.contains(new), "{new} in {info}");
    }
}
