//! Facts about assets in an index, including damaged ones.

use std::fs;

use super::{hpi_with, index, indexed, lines, packed};
use fixtures::heavy_iron as build;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::V1;
use fixtures::ta::pcx::Pcx;
use fixtures::ta::{gaf, tdo, tnt};
use fixtures::{noise, playstation};
use testkit::edits::music;
use testkit::mount::has_programs;
use testkit::sources::folder;

/// Returns an opaque frame of this size.
fn frame(width: u16, height: u16) -> gaf::Frame {
    let pixels = vec![Some(1); usize::from(width) * usize::from(height)];
    gaf::Frame::rle(width, height, &pixels)
}

#[test]
fn an_asset_has_the_size_of_its_picture_its_vertices_and_its_length() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    // Shown for 3 and for 6 thirtieths of a second.
    let sprite = gaf::sequence("boom", vec![(frame(40, 30), 3), (frame(64, 16), 6)]);
    let turret = tdo::Object {
        vertices: vec![[0; 3]; 2],
        ..tdo::object("turret")
    };
    let model = tdo::Object {
        vertices: vec![[0; 3]; 3],
        children: vec![turret],
        ..tdo::object("base")
    };
    let texture = build::gamecube(4, 0, [8, 4], &[], &[0xFC, 0].repeat(32), 1);
    let mut level = Hip::default();
    level.layer(0);
    level.add(Asset::new(b"RWTX", "rock", &texture).with_id(0x1234_ABCD));
    let sources = folder(|source| {
        let files = playstation::files().into_iter();
        let (_, vag) = files
            .clone()
            .find(|(name, _)| *name == "sound.vag")
            .unwrap();
        let all = hpi_with(vec![
            packed("boom.gaf", &gaf::file(&[sprite])),
            packed("map.sct", &tnt::Section::small(3).file()),
            packed("music.wav", &music(2, 22_050, 33_075)),
            packed("picture.pcx", &Pcx::indexed(50, 20, vec![7; 1000]).file()),
            packed("sound.vag", &vag),
            packed("tank.3do", &tdo::file(&model)),
        ]);
        fs::write(source.join("all.hpi"), all).unwrap();
        fs::write(source.join("level.HIP"), level.build()).unwrap();
    });
    let directory = &sources.archive;
    indexed(directory, &["all.hpi", "level.HIP"]);
    let ask = |columns: &str, source: &str| {
        let query = format!(
            "SELECT {columns} FROM files JOIN assets ON entry = id \
             WHERE source = '{source}' ORDER BY path"
        );
        lines(directory, &query)
    };
    let facts = "path, format, width, height, vertices, round(seconds, 4)";
    assert_eq!(
        ask(facts, "all.hpi"),
        [
            "boom.gaf|GAF|40|30||0.3",
            "map.sct|SCT|128|128||",
            "music.wav|WAV||||1.5",
            "picture.pcx|PCX|50|20||",
            // Four blocks of 28 samples at 22050 Hz.
            "sound.vag|VAG||||0.0051",
            "tank.3do|3DO|||5|",
        ]
    );
    assert_eq!(
        ask(
            "format, name, asset_id, width, height, assets.error",
            "level.HIP"
        ),
        ["HIP texture|rock|1234ABCD|8|4|"]
    );
}

#[test]
fn damaged_files_archives_and_assets_have_their_errors_and_the_rest_its_rows() {
    if !has_programs(&["sqlite3"]) {
        return;
    }
    let model = tdo::file(&tdo::object("base"));
    let bytes = noise(1, 5000);
    let mut built = V1::new(vec![
        packed("a.bin", &bytes),
        packed("archive.ufo", b"HAPI, but not at all"),
        packed("good.txt", b"good"),
        packed("model.3do", &model[..model.len() / 2]),
    ])
    .build();
    let chunk = built.files[0].chunks[0];
    built.bytes[chunk + 100] ^= 1;
    let sources = folder(|source| fs::write(source.join("a.hpi"), &built.bytes).unwrap());
    let directory = &sources.archive;
    let ran = index(directory, &["a.hpi"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let rows = lines(
        directory,
        "SELECT path, kind, size, sha256 IS NOT NULL, coalesce(files.error, ''), \
         coalesce(assets.error, '') FROM files LEFT JOIN assets ON entry = id ORDER BY path",
    );
    let starts = [
        format!("a.bin|file|5000|0|chunk 0 at {chunk:#x}: checksum is "),
        "archive.ufo|archive|20|1|".to_owned(),
        "good.txt|file|4|1||".to_owned(),
        format!("model.3do|file|{}|1||", model.len() / 2),
    ];
    assert_eq!(rows.len(), starts.len(), "{rows:#?}");
    for (row, start) in rows.iter().zip(starts) {
        assert!(row.starts_with(&start), "{start}: {rows:#?}");
    }
    for (row, words) in [(1, "version"), (3, " at 0x")] {
        assert!(rows[row].contains(words), "{words}: {rows:#?}");
    }
    // An error is not a text of the file.
    let texts = "SELECT path, text FROM texts JOIN files ON files.id = texts.rowid \
                 WHERE text IS NOT NULL";
    assert_eq!(lines(directory, texts), ["good.txt|good"]);
}
