//! Random HIP archives.

use std::collections::BTreeSet;

use hpimount_containers::hip::{Game, Platform};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use fixtures::hip::{Asset, Hip, TARGETS, hipb};

/// Returns usual, odd and invalid names.
fn names() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[a-z_]{1,12}(\\.(dff|RW3|anm))?".prop_map(String::into_bytes),
        select(vec![
            &b""[..],
            b".",
            b"..",
            b"/",
            b"a/b",
            b"\"?*<>|:;=",
            b"tab\tnl\n\x01",
            b"caf\xe9 \x80\xff",
            b"[12345678] fake",
            b"same",
            b"SAME",
            b"same.mrkr",
        ])
        .prop_map(<[u8]>::to_vec),
        vec(1_u8.., 0..=255),
    ]
}

fn assets() -> impl Strategy<Value = Asset> {
    let codes = select(vec![
        *b"RWTX",
        *b"MODL",
        *b"ANIM",
        *b"MRKR",
        *b"TEXT",
        *b"DYNA",
        *b"JSP ",
        *b"SND ",
        *b"BSP ",
        *b"ZZZZ",
        *b"\x01/  ",
    ]);
    let checksum = prop_oneof![Just(None), Just(Some(0)), any::<u32>().prop_map(Some)];
    let numbers = (any::<u32>(), any::<u32>(), any::<i32>(), checksum);
    (codes, names(), names(), vec(any::<u8>(), 0..200), numbers).prop_map(
        |(code, name, source_file, bytes, (id, flags, align, checksum))| Asset {
            id,
            code,
            name,
            source_file,
            flags,
            align,
            bytes,
            checksum,
        },
    )
}

/// Returns archives with distinct ids, empty layers, shared assets, and ids
/// without an asset.
pub fn archives() -> impl Strategy<Value = ((Game, Platform), Hip)> {
    let layer = (0_u32..14, vec(any::<Index>(), 0..12), any::<bool>());
    let layers = vec(layer, 0..6);
    let given = prop_oneof![Just(None), names().prop_map(Some)];
    (select(&TARGETS[..]), vec(assets(), 0..20), layers, given).prop_map(
        |(target, mut assets, layers, given)| {
            let mut ids = BTreeSet::new();
            assets.retain(|asset| ids.insert(asset.id));
            let mut hip = Hip::target(target.0, target.1);
            for (kind, picks, dangling) in layers {
                let mut members: Vec<u32> = Vec::new();
                if !assets.is_empty() {
                    members.extend(picks.iter().map(|pick| pick.get(&assets).id));
                }
                if dangling && !ids.contains(&0xDEAD_BEEF) {
                    members.push(0xDEAD_BEEF);
                }
                hip.layers.push((kind, members));
            }
            hip.assets = assets;
            // Tools that add this block know the game.
            hip.hipb = given.map(|name| {
                let platform = match target {
                    (Game::Scooby, Platform::PlayStation2) => 1,
                    (Game::Scooby, Platform::GameCube) => 2,
                    (Game::Scooby, Platform::Xbox) => 3,
                    _ => 0,
                };
                let game = match target.0 {
                    Game::Incredibles => 3,
                    Game::Rotu => 4,
                    Game::RatProto => 5,
                    _ => 0,
                };
                hipb(platform, &[(0, &name)], game)
            });
            (target, hip)
        },
    )
}

/// Returns the expected assets of each layer: the existing ones, without duplicates.
pub fn members(hip: &Hip) -> Vec<Vec<usize>> {
    let mut layers = Vec::new();
    for (_, ids) in &hip.layers {
        let mut seen = BTreeSet::new();
        let found = ids.iter().filter(|&&id| seen.insert(id));
        let index = |id: &u32| hip.assets.iter().position(|asset| asset.id == *id);
        layers.push(found.filter_map(index).collect());
    }
    layers
}
