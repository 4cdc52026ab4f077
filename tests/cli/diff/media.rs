//! Pictures and sounds that differ are named if nothing else of their asset differs.

use std::fs;

use super::lines;
use fixtures::ta::gaf;
use fixtures::ta::tnt::Map;
use testkit::sources::folder;

/// Returns two sprites. The second one has this color.
fn sprites(color: u8) -> Vec<u8> {
    let sequence = |name, color| {
        let frame = gaf::Frame::rle(4, 1, &[Some(color); 4]);
        gaf::sequence(name, vec![(frame, 1)])
    };
    gaf::file(&[sequence("Boom", 1), sequence("Smoke", color)])
}

/// Returns a map with this height of a cell, and a feature with this name.
fn map(height: u8, feature: &str) -> Vec<u8> {
    let mut map = Map::small();
    map.cells[1].0 = height;
    map.features[0] = feature.to_owned();
    map.file(0x2000)
}

#[test]
fn pictures_that_differ_are_named_unless_facts_differ() {
    let files = folder(|source| {
        let pairs = [
            ("a.gaf", [sprites(2), sprites(3)]),
            ("b.tnt", [map(12, "Tree"), map(13, "Tree")]),
            ("c.tnt", [map(12, "Tree"), map(13, "Palm")]),
        ];
        for (name, bytes) in pairs {
            for (side, bytes) in ["old", "new"].iter().zip(bytes) {
                fs::create_dir_all(source.join(side)).unwrap();
                fs::write(source.join(side).join(name), bytes).unwrap();
            }
        }
    });
    let (code, found) = lines(&files.archive, &["old", "new"]);
    let expected = [
        "changed: a.gaf",
        "    001 Smoke/00.png differs",
        "changed: b.tnt",
        "    height.png differs",
        "changed: c.tnt",
        "  - features[Tree]: {\"index\":0,\"name\":\"Tree\",\"placed\":1}",
        "  + features[Palm]: {\"index\":0,\"name\":\"Palm\",\"placed\":1}",
    ];
    assert_eq!(
        (code, found),
        (Some(1), expected.map(str::to_owned).to_vec())
    );
    let (_, brief) = lines(&files.archive, &["--brief", "old", "new"]);
    assert_eq!(
        brief,
        ["changed: a.gaf", "changed: b.tnt", "changed: c.tnt"]
    );
}
