//! Damage of any single byte of an asset of Heavy Iron's games, and truncation
//! anywhere: the files of the asset and of its archive are readable, or have an error
//! with an offset, and other assets are not affected.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use fixtures::heavy_iron as build;
use fixtures::hip::{Asset, Hip};
use hpimount::mount::{Meta, Options, Sources, Vfs};
use hpimount_containers::hip::{Game, Platform, asset_id};
use testkit::matrix::{Seen, What, damages, see};
use testkit::trial;

/// A short trial tries one in this many damages.
const STEP: usize = 131;

/// An asset to be damaged: its type, its name and its bytes.
type Damaged = (&'static [u8; 4], &'static str, Vec<u8>);

fn assets() -> Vec<Damaged> {
    let pixels = fixtures::noise(1, 64);
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let beep = asset_id(b"beep");
    let link = build::big(&[0x0001_0002, beep, 0x3F80_0000, 0, 0, 0, 0, 0]);
    let head = |base: u32| build::big(&[asset_id(b"damaged"), base << 24 | 0x0001_001D]);
    let floats = build::big_floats(&[0.5; 15]);
    let entity = [build::big(&[0x0100_0000, 0, 0]), floats, vec![0; 20]].concat();
    let key = build::big(&[0, 0, 0x7FFF, 0]);
    let animation = [
        build::big(&[0x3142_4B53, 0, 0x0001_0002, 2, 0x3F80_0000, 0, 0]),
        [&key[..], &key].concat(),
        build::big(&[0, 0x3F80_0000, 0]),
    ];
    let table = [
        build::big(&[0x4C42_5441, 1, 1, 1, 0, beep]),
        build::big(&[0, 0, 0, 0x0001_0001, 84, 0, 0, 0]),
        build::big(&[7, 0, 0, 0, 0, 0, 0, 0]),
    ];
    vec![
        (
            b"RWTX",
            "damaged.RW3",
            build::gamecube(14, 255, [8, 8], &[], &pixels[..32], 1),
        ),
        (
            b"RWTX",
            "damaged.RW3",
            build::xbox(0x2500, 0, [4, 4], &[7; 1024][..], &pixels[..16], 1),
        ),
        (
            b"RWTX",
            "damaged.RW3",
            build::playstation2(32, 0, 4, &pixels, &[]),
        ),
        (b"SNDI", "damaged", build::dsp_table(beep, 28, 8000)),
        (b"SND ", "damaged", pixels.clone()),
        (
            b"TEXT",
            "damaged",
            b"\0\0\0\x0ch{sound:beep}\0\0\0".to_vec(),
        ),
        (b"CRDT", "damaged", build::credits()),
        (
            b"MODL",
            "damaged.dff",
            build::plain_model(&corners, &[[0.0; 2]; 3], &[[0, 1, 2]]),
        ),
        (b"JSP ", "damaged", build::gamecube_model(true)),
        (b"JSP ", "damaged", build::level_info()),
        (b"BSP ", "damaged", build::world()),
        (b"DPAT", "damaged", [head(30), link.clone()].concat()),
        (b"SIMP", "damaged", [head(11), entity, link].concat()),
        (b"ANIM", "damaged", animation.concat()),
        (b"ATBL", "damaged", table.concat()),
        (
            b"JAW ",
            "damaged",
            [build::big(&[1, beep, 0, 8]), vec![2, 0, 0, 0, 9, 9, 0, 0]].concat(),
        ),
        (b"FLY ", "damaged", vec![1; 64]),
        (
            b"LODT",
            "damaged",
            build::big(&[1, beep, 0, 0, 0, 0, 0, 0, 0]),
        ),
    ]
}

/// Returns an archive with an asset that has these bytes, between others.
fn archive((code, name, _): &Damaged, bytes: &[u8]) -> Vec<u8> {
    let mut hip = Hip::target(Game::Bfbb, Platform::GameCube);
    hip.layer(0);
    hip.add(Asset::new(b"TEXT", "whole", b"\0\0\0\x02ok\0\0"));
    hip.add(Asset::new(code, name, bytes));
    hip.add(Asset::new(b"MRKR", "marker", &build::big_floats(&[1.0; 3])));
    hip.build()
}

/// Returns everything that a mount of an archive shows.
fn shown(work_dir: &Path, archive: &[u8]) -> Vec<Seen> {
    let file = work_dir.join("a.HIP");
    fs::write(&file, archive).unwrap();
    let sources = Sources::one(file);
    let options = Options {
        cache_size: 8 << 20,
        meta: Meta::Visible,
        ..Options::default()
    };
    let vfs: Arc<Vfs> = Vfs::open(&sources, options).unwrap_or_else(|error| panic!("{error}"));
    see(&vfs)
}

/// Checks a mount of an archive with a damaged asset.
fn check(seen: &[Seen], what: &str) {
    let mut whole = 0;
    for Seen {
        path, what: found, ..
    } in seen
    {
        let What::File { bytes, .. } = found else {
            continue;
        };
        let Some(bytes) = bytes else {
            panic!("{what}: {path} cannot be read");
        };
        if path.contains("damaged") && path.ends_with("/error.txt") {
            let error = String::from_utf8_lossy(bytes);
            let is_expected = error.contains(" at 0x") || error.contains("SNDI");
            assert!(is_expected, "{what}: {path}: {error}");
        }
        if path.contains("/layers/") && path.contains("whole") && path.ends_with("text.txt") {
            assert_eq!(bytes, b"ok", "{what}");
            whole += 1;
        }
    }
    assert_eq!(whole, 1, "{what}");
}

#[test]
fn a_damaged_asset_is_shown_or_has_an_offset_and_affects_no_other() {
    let work_dir = tempfile::tempdir().unwrap();
    for asset in assets() {
        let (code, _, bytes) = &asset;
        let code = String::from_utf8_lossy(*code);
        let seen = shown(work_dir.path(), &archive(&asset, bytes));
        check(&seen, &code);
        for damage in trial::some(damages(bytes), STEP) {
            let seen = shown(work_dir.path(), &archive(&asset, &damage.apply(bytes)));
            check(&seen, &format!("{code}, {damage:?}"));
        }
    }
}
