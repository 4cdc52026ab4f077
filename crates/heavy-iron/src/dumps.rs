//! Golden tests: the generated files of small assets, compared with `dumps/`.

use fixtures::{dumps, heavy_iron as hi, noise};
use hpimount_assets::view::page::Page;
use hpimount_assets::view::{ViewFile, ViewFormat};
use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::io::{Endian, Warnings};

use crate::report::REPORTS;
use crate::report::tests::objects::{entity, move_point, platform};
use crate::report::tests::{Archives, floats, id, object, simple, words};

/// A file with all reports about an archive.
const REPORT: ViewFormat = ViewFormat::new("reports", |_, context| {
    let mut page = Page::new("reports", "reports", Warnings::default());
    for report in REPORTS.iter().filter(|report| (report.applies)(context)) {
        let place = match report.path.split_once('/') {
            Some((folder, name)) => ViewFile::inside(folder, name),
            None => report.path.into(),
        };
        page.file(place, move |_: &(), context, out| {
            report.render(context, out)
        });
    }
    Ok(page.show((), None))
});

/// Compares the dumps of all assets and reports of an archive.
fn check(name: &str, mut archives: Archives) {
    let folder = env!("CARGO_MANIFEST_DIR");
    dumps::check(folder, &format!("{name}.HIP"), &REPORT, &b""[..], &archives);
    for index in 0..archives.assets.len() {
        archives.asset = Some(index);
        let asset = &archives.assets[index];
        let code = asset.kind.code;
        let mut formats = crate::FORMATS.iter();
        let format = formats.find(|format| format.asset_types.contains(&code));
        let code = code.escape_ascii().to_string();
        let file = format!("{name}/{}.{}", asset.name, code.trim());
        dumps::check(
            folder,
            &file,
            format.unwrap(),
            asset.bytes.clone(),
            &archives,
        );
    }
}

/// The assets of an archive: type, name and bytes.
type Assets = Vec<(&'static [u8; 4], &'static str, Vec<u8>)>;

/// Returns an archive of Battle for Bikini Bottom.
fn archive(assets: Assets) -> Archives {
    let assets = assets.into_iter();
    let assets: Vec<_> = assets
        .map(|(code, name, bytes)| ("a.HIP", code, name, bytes))
        .collect();
    Archives::new(&assets)
}

/// Returns the same archive for another console or game.
fn of(platform: Platform, game: Game, mut archives: Archives) -> Archives {
    for asset in &mut archives.assets {
        let endian = match platform {
            Platform::GameCube => Endian::Big,
            _ => Endian::Little,
        };
        (asset.kind.platform, asset.kind.endian, asset.kind.game) = (platform, endian, game);
    }
    archives
}

#[test]
fn objects_are_as_in_their_dumps() {
    let link = (24, 9, id("crate"));
    let linked = |bytes: &[u8]| object("linked", 14, bytes, &[link, (500, 501, 77)]);
    let command = [words(&[18, 0x0100_0000]), floats(&[4.0])].concat();
    let unknown = words(&[99, 0, 0]);
    let system = [
        words(&[0, 0, 0, 1, 3, 36]),
        command,
        unknown,
        words(&[0; 3]),
    ];
    let along = [words(&[0, id("point")]), floats(&[2.0])].concat();
    let floor = [
        words(&[1]),
        floats(&[0.5, 1.5]),
        words(&[
            36,
            40,
            44,
            5,
            48,
            1,
            0x6F66_6600,
            0x7472_6100,
            0x6F6E_0000,
            52,
            0xE402_0000,
        ]),
    ];
    let mut effects = words(&[0x0302_0000, id("point")]);
    effects.extend(noise(9, 28 + 44));
    let member = words(&[0x0002_0000, id("crate"), 5]);
    let dyna = [words(&[0x4DC4_49FC, 0x0001_0000, id("point")]), vec![0; 20]].concat();
    let fog = [
        words(&[0x0102_0304, 0xFFEE_DDCC]),
        floats(&[0.5; 4]),
        words(&[1]),
    ];
    let trigger = [floats(&[0.0, 0.0, 0.0, 2.0, 3.0, 4.0]), vec![0; 40]].concat();
    check(
        "objects",
        archive(vec![
            (
                b"SIMP",
                "crate",
                simple("crate", [1.0, f32::NAN, 3.0], id("crate.dff")),
            ),
            (b"TIMR", "linked", linked(&floats(&[2.5, 0.5]))),
            (
                b"PLAT",
                "lift",
                platform("lift", [0, 0], &[], &floats(&[1.0; 10])),
            ),
            (
                b"PLAT",
                "raft",
                platform("raft", [9, 3], &floats(&[1.0]), &along),
            ),
            (b"PLAT", "odd", platform("odd", [77, 78], &[], &[])),
            (
                b"MVPT",
                "point",
                move_point("point", [1.0, 2.0, 3.0], &[id("point"), 9]),
            ),
            (
                b"PARS",
                "system",
                object("system", 39, &system.concat(), &[]),
            ),
            (b"DSCO", "floor", object("floor", 0, &floor.concat(), &[])),
            (b"PARE", "effects", object("effects", 38, &effects, &[])),
            (b"PARP", "props", object("props", 46, &noise(10, 304), &[])),
            (
                b"SURF",
                "ground",
                object("ground", 26, &noise(11, 292), &[]),
            ),
            (b"GRUP", "members", object("members", 17, &member, &[link])),
            (b"DYNA", "taxi", object("taxi", 0, &dyna, &[])),
            (
                b"DYNA",
                "other",
                object("other", 0, &words(&[0x1234_5678, 1, 2]), &[]),
            ),
            (b"FOG ", "fog", object("fog", 36, &fog.concat(), &[])),
            (
                b"COND",
                "if",
                object("if", 31, &words(&[3, 0xC7E0_F71C, 3, 0]), &[]),
            ),
            (
                b"PORT",
                "door",
                object("door", 16, &words(&[0, 0, 0, 0x4842_3031]), &[]),
            ),
            (b"TRIG", "zone", entity("zone", 1, 0, [1.0; 3], &trigger)),
            (
                b"PKUP",
                "spat",
                entity("spat", 4, 0, [0.0; 3], &words(&[id("GoldenSpatula"), 1])),
            ),
            (
                b"VIL ",
                "ham",
                entity(
                    "ham",
                    43,
                    0,
                    [4.0; 3],
                    &words(&[0, id("ham_bind"), 0, 0, 0, 0]),
                ),
            ),
            (
                b"PLYR",
                "player",
                [entity("player", 3, 0, [4.0; 3], &[]), words(&[7])].concat(),
            ),
            (b"BUTN", "short", object("short", 24, &[1; 30], &[])),
            (b"CNTR", "cut", vec![0, 0, 0]),
            (b"TIMR", "empty", Vec::new()),
        ]),
    );
    let sounds = words(&[0, 0x0100_0000, 0, 0, 0, 0, id("spline"), 0, 0, 0]);
    let spline = words(&[1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut spline = object("spline", 0, &spline, &[(1, 2, id("sounds"))]);
    // The header of a spline is little-endian on every console.
    spline[..4].reverse();
    spline[6..8].reverse();
    let menu = [words(&[0x0100_0000, 28, 0, 0, 3]), vec![0; 24]].concat();
    let label = [
        words(&[id("ui:text"), 0x0002_0000]),
        floats(&[8.0, 16.0, 0.0, 32.0, 24.0]),
        words(&[0, 0xFFFF_FF80, 0, id("menu"), 0, 0, 0, 0, 0, 0, 0]),
        words(&[id("hello")]),
        vec![0; 32],
    ];
    let later = archive(vec![
        (b"SGRP", "sounds", object("sounds", 0, &sounds, &[])),
        (b"SPLN", "spline", spline),
        (b"UIM ", "menu", object("menu", 0, &menu, &[])),
        (b"DYNA", "label", object("label", 0, &label.concat(), &[])),
        (b"TEXT", "hello", b"\0\0\0\x05hello\0\0\0".to_vec()),
        (b"SIMP", "simple", simple("simple", [1.0; 3], 7)),
        (b"ZLIN", "unknown", object("unknown", 64, &[7; 20], &[])),
    ]);
    check("later", of(Platform::GameCube, Game::Incredibles, later));
}

#[test]
fn models_and_textures_are_as_in_their_dumps() {
    let wood = hi::gamecube(4, 0, [8, 4], &[], &noise(1, 64), 1);
    let small = hi::gamecube(8, 1, [8, 8], &noise(2, 32), &noise(3, 32), 1);
    let two = [&wood, &small]
        .map(|one| one[28..one.len() - 12].to_vec())
        .concat();
    let two = hi::chunk(0x16, &[hi::chunk(1, &[2, 0, 0, 0]), two].concat());
    let animation = words(&[0x3142_4B53, 0, 0x0002_0001, 2]);
    let scale = floats(&[1.0; 3]);
    let keys = [
        words(&[0, 0, 0, 0, 0x0001_0000, 0, 0, 0]),
        floats(&[0.5]),
        vec![0; 4],
    ];
    let animation = [animation, scale, keys.concat()].concat();
    let info = words(&[0x464E_494D, 2, id("list"), 0, 0, id("figure.dff"), 0]);
    let wooden = [words(&[id("crate.dff"), 0x0020_0001]), floats(&[1.0; 12])].concat();
    let parameters = [words(&[id("speed")]), b"\x011.5\0\0\0\0".to_vec()].concat();
    let info = [info, floats(&[0.5; 12]), wooden, parameters].concat();
    let table = words(&[0x4C42_5441, 1, 1, 1, 0, id("walk.anm")]);
    let file = [
        words(&[3]),
        floats(&[1.0, 0.5]),
        words(&[0x0001_0001, 84, 0, 1, 2]),
    ]
    .concat();
    let state = words(&[0xAB, 0, 1, 88, 0x3F80_0000, 0, 0, 0]);
    let effect = words(&[7, 0, 0, 3, 1, 24, id("walk.anm"), 0, 0, 5, 0, 0]);
    let states = [table, file, state, effect].concat();
    check(
        "models",
        archive(vec![
            (
                b"MODL",
                "crate.dff",
                hi::plain_model(
                    &[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
                    &[[0.25; 2]; 3],
                    &[[0, 1, 2]],
                ),
            ),
            (b"MODL", "figure.dff", hi::figure()),
            (b"MODL", "native.dff", hi::gamecube_model(true)),
            (b"MODL", "cut.dff", hi::pyramid()[..300].to_vec()),
            (b"BSP ", "world.bsp", hi::world()),
            (b"JSP ", "info.jsp", hi::level_info()),
            (b"JSP ", "cut.jsp", hi::level_info()[..60].to_vec()),
            (b"RWTX", "wood.RW3", wood.clone()),
            (b"RWTX", "two.RW3", two),
            (b"RWTX", "cut.RW3", wood[..100].to_vec()),
            (b"RWTX", "none.RW3", Vec::new()),
            (b"ANIM", "walk.anm", animation),
            (b"ANIM", "broken.anm", vec![1; 64]),
            (b"MINF", "figure", info),
            (b"ATBL", "list", states),
            (b"ATBL", "cut", words(&[0x4C42_5441, 1, 9])),
        ]),
    );
    let xbox = hi::xbox(0x600, 0, [8, 8], &[], &noise(4, 256), 1);
    let xbox = archive(vec![(b"RWTX", "xbox.RW3", xbox)]);
    check("xbox_textures", of(Platform::Xbox, Game::Bfbb, xbox));
}

#[test]
fn tables_and_texts_are_as_in_their_dumps() {
    let light = [words(&[1]), floats(&[0.5; 22]), words(&[0])].concat();
    let kit = [words(&[0x5449_4B4C, id("marker"), 2, 0]), light].concat();
    let levels = |rows: &[u32]| words(&[&[1, id("marker")][..], rows].concat());
    let fragment = words(&[6, 1, 2, id("marker"), 0x3F80_0000, 0, id("jaw")]);
    let source = [
        words(&[1, 2]),
        floats(&[1.0; 3]),
        vec![0; 16],
        floats(&[1.0; 3]),
    ]
    .concat();
    let shrapnel = [
        words(&[2, id("shrapnel"), 0]),
        fragment,
        source,
        words(&[99]),
    ]
    .concat();
    let text = b"\0\0\0\x19{sound:beep;x}a\tb{~c}{open\0\0\0";
    let credits = hi::credits();
    let camera = [hi::little(&[1]), hi::floats(&[0.5; 15]), vec![0; 3]].concat();
    check(
        "tables",
        archive(vec![
            (b"LKIT", "kit", kit),
            (b"MRKR", "marker", floats(&[1.0, 2.0, f32::INFINITY])),
            (b"MRKR", "cut", vec![0; 11]),
            (b"SHRP", "shrapnel", shrapnel),
            (b"COLL", "collision", words(&[2, id("marker"), 3, 4])),
            (b"LODT", "levels", levels(&[0x3F80_0000, 1, 2, 3, 0, 0, 0])),
            (
                b"LODT",
                "flagged",
                levels(&[0x3F80_0000, 9, 1, 2, 3, 0, 0, 0]),
            ),
            (b"PIPT", "pipes", words(&[1, id("marker"), 1, 2])),
            (b"SHDW", "shadows", words(&[1, id("marker"), 1, 2])),
            (
                b"PICK",
                "pickups",
                words(&[0x4B43_4950, 1, 5, 0x0102_0003, 4, id("marker"), 0]),
            ),
            (
                b"MAPR",
                "surfaces",
                words(&[id("surfaces"), 1, id("marker"), 2]),
            ),
            (
                b"VILP",
                "properties",
                words(&[0, 1, 2, 3, 4, 5, 6, 0x3F80_0000, u32::MAX]),
            ),
            (b"ALST", "list", words(&[id("walk"), 0, 0])),
            (b"ALST", "empty", Vec::new()),
            (b"FLY ", "camera", camera),
            (
                b"JAW ",
                "jaw",
                words(&[1, id("marker"), 0, 8, 0x0400_0000, 0x0102_0304]),
            ),
            (b"JAW ", "cut", words(&[2, 77, 0, 8])),
            (b"TEXT", "hello.txt", text.to_vec()),
            (b"TEXT", "cut", vec![0, 1]),
            (b"CRDT", "credits", credits.clone()),
            (b"CRDT", "cut", credits[..40].to_vec()),
        ]),
    );
}

#[test]
fn sounds_are_as_in_their_dumps() {
    let beep = id("beep");
    let looped = hi::dsp_table_with(beep, 140, 22_050, hi::COEFFICIENTS, Some((2, 1_142_857)));
    let cut = hi::dsp_table(beep, 140, 22_050)[..60].to_vec();
    let headers = [
        ("dsp", Platform::GameCube, Game::Bfbb, looped, 80),
        (
            "pcm",
            Platform::Xbox,
            Game::Bfbb,
            hi::xbox_table(beep, 1, 2, 22_050, 400),
            400,
        ),
        (
            "vag",
            Platform::PlayStation2,
            Game::Bfbb,
            hi::vag_table(beep, 22_050, 160),
            160,
        ),
        (
            "bank",
            Platform::GameCube,
            Game::Incredibles,
            hi::bank_table(beep, &[1; 16]),
            0,
        ),
        ("cut", Platform::GameCube, Game::Bfbb, cut, 80),
    ];
    for (name, platform, game, table, length) in headers {
        let sounds = archive(vec![
            (b"SNDI", "sounds", table),
            (b"SND ", "beep", noise(5, length)),
            (b"SND ", "none", noise(6, 16)),
        ]);
        check(&format!("sound_{name}"), of(platform, game, sounds));
    }
}
