//! Tests of TNT files, each with the smallest file that shows the behavior.

use super::*;
use fixtures::ta::put;
use fixtures::ta::tnt::{Kingdoms, Map};

fn parsed(bytes: Vec<u8>) -> Tnt {
    parse(&bytes.into()).unwrap()
}

/// Parses a small map with `value` at the offset `at`.
fn with(at: usize, value: u32) -> Result<Tnt, Box<Incomplete<Tnt>>> {
    let mut bytes = Map::small().file(0x2000);
    put(&mut bytes, at, &value.to_le_bytes());
    parse(&bytes.into())
}

#[test]
fn cells_have_heights_and_features() {
    for version in [0x2000, 0x1020] {
        let tnt = parsed(Map::small().file(version));
        assert!(tnt.warnings.is_empty(), "{:?}", tnt.warnings);
        assert_eq!(
            tnt.heights().collect::<Vec<_>>(),
            (10..18).collect::<Vec<_>>()
        );
        let features: Vec<_> = (0..9).map(|cell| tnt.feature(cell)).collect();
        let (tree, rock) = (Some(0), Some(1));
        assert_eq!(
            features,
            [None, rock, None, None, tree, None, None, None, None]
        );
        let none: Vec<_> = tnt.cells_without_feature().into_iter().collect();
        assert_eq!(none, [(2, 1), (0xFFFC, 1), (0xFFFE, 1), (0xFFFF, 3)]);
        let names: Vec<_> = tnt.features.iter().map(|feature| feature.name).collect();
        assert_eq!(names, ["Tree", "Rock"]);
        assert_eq!(
            (tnt.sea_level, tnt.flags & 1),
            (75, u32::from(version == 0x2000))
        );
        let minimap = tnt.minimap.unwrap();
        assert_eq!((minimap.width, minimap.height), (3, 2));
        assert_eq!(minimap.pixels, [1, 2, 3, 4, 5, 6][..]);
    }
}

#[test]
fn rows_of_the_picture_consist_of_rows_of_tiles() {
    let mut map = Map::small();
    let row = |map: &Map, y, step| {
        let mut row = Vec::new();
        parsed(map.file(0x2000)).terrain.row(y, step, &mut row);
        row
    };
    let second: Vec<u8> = (32..64).collect();
    assert_eq!(row(&map, 1, 1), [&[7; 32][..], &second].concat());
    assert_eq!(row(&map, 1, 8), [7, 7, 7, 7, 32, 40, 48, 56]);
    map.map[0] = 2;
    assert_eq!(row(&map, 0, 16), [0, 0, 0, 16], "a missing tile is black");
    let warnings = parsed(map.file(0x2000)).warnings.texts();
    assert_eq!(warnings, ["1 tiles on the map are past the last of 2"]);
    assert_eq!(row(&map, 32, 16), [0; 4], "there is no such row");
}

#[test]
fn an_invalid_part_is_an_error_and_the_others_are_read() {
    let incomplete = with(12, 0xFFFF).unwrap_err();
    assert_eq!(
        incomplete.error.to_string(),
        "tile map at 0xc: points to 0xffff, outside 0x0..0x97a"
    );
    let tnt = incomplete.model;
    assert_eq!(tnt.heights().count(), 8);
    assert_eq!((tnt.features.len(), tnt.terrain.tile_count()), (2, 2));
    assert!(tnt.minimap.is_some());
    let error = |at, value| with(at, value).unwrap_err().error.to_string();
    assert_eq!(
        error(16, u32::MAX).split(':').next(),
        Some("attributes at 0x10")
    );
    assert_eq!(error(20, u32::MAX).split(':').next(), Some("tiles at 0x14"));
    assert_eq!(
        error(32, u32::MAX).split(':').next(),
        Some("features at 0x20")
    );
    assert_eq!(
        error(24, 65537),
        "tile count at 0x18: is 65537, more than 65536"
    );
    assert_eq!(
        error(28, 65536),
        "feature count at 0x1c: is 65536, more than 65535"
    );
}

#[test]
fn a_damaged_minimap_is_a_warning() {
    let tnt = with(40, u32::MAX).unwrap();
    assert!(tnt.minimap.is_none());
    assert_eq!(
        tnt.warnings.texts(),
        ["there is no minimap: minimap at 0x28: points to 0xffffffff, outside 0x0..0x97a"]
    );
    assert!(with(40, 0).unwrap().warnings.is_empty());
    let mut map = Map::small();
    map.minimap.0 = 4097;
    let size = parsed(map.file(0x2000)).warnings.texts();
    assert_eq!(
        size,
        ["there is no minimap: minimap size at 0x96c: is 4097x2, should be 1 to 4096 each"]
    );
}

#[test]
fn the_size_of_a_map_is_bounded() {
    let error = |at, value| with(at, value).unwrap_err().error.to_string();
    let size = "should be 1 to 16777216 cells";
    assert_eq!(error(4, 0), format!("map size at 0x4: is 0x2, {size}"));
    assert_eq!(
        error(8, 1 << 31),
        format!("map size at 0x4: is 4x2147483648, {size}")
    );
    assert_eq!(
        error(8, 4194305),
        format!("map size at 0x4: is 4x4194305, {size}")
    );
    assert!(error(8, 4194304).starts_with("attributes at "));
    assert_eq!(
        error(0, 0x3000),
        "version at 0x0: is 0x3000, should be 0x1020, 0x2000 or 0x4000"
    );
    let short = Map::small().file(0x2000)[..63].to_vec();
    let error = parse(&short.into()).unwrap_err().error.to_string();
    assert_eq!(error, "header at 0x0: needs 64 bytes, 63 are left");
}

#[test]
fn odd_numbers_are_warnings() {
    let mut map = Map::small();
    (map.width, map.height) = (8, 1);
    map.map.clear();
    let mut bytes = map.file(0x2000);
    put(&mut bytes, 64 + 3, &[1]);
    put(&mut bytes, 64 + 32 + 2048, &[9]);
    assert_eq!(
        parsed(bytes).warnings.texts(),
        [
            "the map is 8x1 cells, not even numbers",
            "1 features have a number other than their index",
            "the fourth byte of 1 cells is not 0",
        ]
    );
}

#[test]
fn the_used_part_of_a_minimap_follows_from_the_size() {
    let used = |width, height| {
        let tnt = Tnt {
            width,
            height,
            ..Tnt::default()
        };
        tnt.minimap_used()
    };
    // 992 x 896 pixels, and 224 x 896.
    assert_eq!(used(64, 64), Some((252, 228)));
    assert_eq!(used(16, 64), Some((63, 252)));
    assert_eq!(used(64, 8), None);
    assert_eq!(used(2, 64), None);
}

#[test]
fn a_minimap_without_padding_is_used_whole() {
    let used = |outside: u8| {
        // 80 x 40 cells have 252 x 103 pixels.
        let mut pixels = vec![7; 252 * 103];
        pixels.resize(252 * 252, outside);
        let tnt = Tnt {
            width: 80,
            height: 40,
            minimap: Some(Minimap {
                width: 252,
                height: 252,
                pixels: pixels.into(),
            }),
            ..Tnt::default()
        };
        tnt.minimap_used()
    };
    assert_eq!(used(0x64), Some((252, 103)));
    assert_eq!(used(9), Some((252, 252)));
}

#[test]
fn maps_of_kingdoms_have_heights_features_and_names_of_pictures() {
    for is_wide in [false, true] {
        let tnt = parsed(Kingdoms::small(is_wide).file());
        assert!(tnt.warnings.is_empty());
        assert_eq!(tnt.version, Version::Kingdoms);
        assert_eq!(
            tnt.heights().collect::<Vec<_>>(),
            (20..28).collect::<Vec<_>>()
        );
        let features: Vec<_> = (0..8).filter(|&cell| tnt.feature(cell).is_some()).collect();
        assert_eq!(features, [1, 7]);
        let ground = tnt.ground.as_ref().unwrap();
        assert_eq!(ground.coordinate_size, if is_wide { 4 } else { 1 });
        let tile = |name, u, v| Some(GroundTile { name, u, v });
        assert_eq!(ground.get(0), tile(0x10, 1, 2));
        assert_eq!(ground.get(1), tile(0xABCD, 3, 4));
        assert_eq!((ground.get(2), ground.len()), (None, 2));
        assert_eq!(tnt.minimap.as_ref().unwrap().pixels.len(), 126 * 126);
        assert_eq!(tnt.minimap_used(), None);
    }
}
