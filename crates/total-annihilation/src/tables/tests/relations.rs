//! Tests of references and checks.

use super::Game;
use fixtures::ta::tdf::{Item, key, section};
use fixtures::ta::{bos, gaf as sprites, tdo};

/// Returns a model with a face of this texture.
fn model(texture: &str) -> Vec<u8> {
    let mut root = tdo::object("base");
    root.vertices = vec![[0; 3]; 3];
    root.primitives = vec![tdo::Primitive {
        texture: Some(texture.to_owned()),
        ..tdo::primitive(&[0, 1, 2])
    }];
    tdo::file(&root)
}

/// Returns a sprite file with a sequence of a frame.
fn sprite(name: &str) -> Vec<u8> {
    let frame = sprites::Frame::rle(3, 2, &[Some(1); 6]);
    sprites::file(&[sprites::sequence(name, vec![(frame, 4)])])
}

/// Returns a mod with a unit whose files exist, except for some.
fn one_unit() -> Game {
    let unit = vec![
        key("UnitName", "ARMBOT"),
        key("Objectname", "Bot"),
        key("SoundCategory", "ARM_BOT"),
        key("Weapon1", "LASER"),
        key("ExplodeAs", "BIG_UNIT"),
        key("Corpse", "Bot_dead"),
    ];
    let laser = vec![
        key("model", "shell"),
        key("soundstart", "Zap.WAV"),
        key("explosiongaf", "fx"),
        key("explosionart", "Boom"),
        key("waterexplosiongaf", "fx"),
        key("waterexplosionart", "splash"),
    ];
    let dead = vec![key("Object", "wreck"), key("FeatureDead", "bot_heap")];
    // Wrecks may turn into each other.
    let heap = vec![key("FeatureDead", "BOT_DEAD")];
    let menu = vec![
        key("UNITMENU", "ARMLAB"),
        key("UNITNAME", "armbot"),
        key("MENU", "2"),
        key("BUTTON", "3"),
    ];
    Game::default()
        .with("anims/fx.gaf", sprite("BOOM"))
        .text("download/bot.tdf", &[section("MENUENTRY1", menu)])
        .text(
            "features/bot.tdf",
            &[section("bot_dead", dead), section("bot_heap", heap)],
        )
        .text(
            "gamedata/sound.tdf",
            &[section(
                "ARM_BOT",
                vec![key("ok1", "beep"), key("select1", "no")],
            )],
        )
        .with("objects3d/BOT.3do", model("wall"))
        .with("objects3d/wreck.3do", model("lost"))
        .with("scripts/bot.cob", Vec::new())
        .with("sounds/beep.wav", Vec::new())
        .with("sounds/zap.wav", Vec::new())
        .with("textures/walls.gaf", sprite("Wall"))
        .with("unitpics/armbot.bmp", Vec::new())
        .text("units/bot.fbi", &[section("UNITINFO", unit)])
        .text("weapons/laser.tdf", &[section("Laser", laser)])
}

#[test]
fn a_unit_has_all_references_with_their_places() {
    let rows = one_unit().table("tables/references.tsv");
    let rows = rows[1..].iter().map(|row| row[1..4].join(" "));
    let expected = [
        "unit ARMBOT units/bot.fbi",
        "model objects3d/Bot.3do objects3d/BOT.3do",
        "texture wall textures/walls.gaf",
        "script scripts/Bot.cob scripts/bot.cob",
        "unit picture unitpics/ARMBOT.bmp unitpics/armbot.bmp",
        "build picture anims/ARMBOT_gadget.gaf ",
        "sound category ARM_BOT gamedata/sound.tdf",
        "sound sounds/beep.wav sounds/beep.wav",
        "sound sounds/no.wav ",
        "weapon LASER weapons/laser.tdf",
        "model objects3d/shell.3do ",
        "sound sounds/Zap.wav sounds/zap.wav",
        "sequence anims/fx.gaf: Boom anims/fx.gaf",
        "sequence anims/fx.gaf: splash ",
        "weapon BIG_UNIT ",
        "corpse Bot_dead features/bot.tdf",
        "model objects3d/wreck.3do objects3d/wreck.3do",
        "texture lost ",
        "feature bot_heap features/bot.tdf",
        "feature BOT_DEAD features/bot.tdf",
        "menu ARMLAB download/bot.tdf",
        "builder ARMLAB ",
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_missing_is_a_table_of_its_own() {
    let game = one_unit();
    let all = game.table("tables/references.tsv");
    let missing = game.table("tables/missing.tsv");
    let expected = all[1..].iter().filter(|row| row[4].is_empty());
    assert_eq!(
        missing[1..].iter().collect::<Vec<_>>(),
        expected.collect::<Vec<_>>()
    );
    assert_eq!(
        missing[1][..3],
        ["ARMBOT", "build picture", "anims/ARMBOT_gadget.gaf"]
    );
    let shell = missing
        .iter()
        .find(|row| row[2] == "objects3d/shell.3do")
        .unwrap();
    assert_eq!(shell[5], "weapons/laser.tdf", "the file with the reference");
}

#[test]
fn every_key_of_every_text_is_a_row() {
    let damage = section("DAMAGE", vec![key("default", "7")]);
    let laser = section(
        "LASER",
        vec![key("Range", "60"), damage, key("range", "70")],
    );
    let game = Game::default()
        .text("download/a.tdf", &[key("loose", "1")])
        .text("weapons/a.tdf", &[laser]);
    let expected = [
        "file section key value",
        "download/a.tdf  loose 1",
        "weapons/a.tdf LASER Range 60",
        "weapons/a.tdf LASER.DAMAGE default 7",
        "weapons/a.tdf LASER range 70",
    ];
    let rows = game.table("tables/texts.tsv");
    assert_eq!(
        rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn menus_show_clashes_and_unknown_units() {
    let entry = |unit: &str, button: &str| {
        let keys = [
            ("UNITMENU", "Lab"),
            ("UNITNAME", unit),
            ("MENU", "1"),
            ("BUTTON", button),
        ];
        let keys = keys.map(|(name, value)| key(name, value));
        section("MENUENTRY1", keys.to_vec())
    };
    let lab = section("LAB", vec![key("canbuild1", "A"), key("canbuild8", "B")]);
    let unit = |name: &str| [section("UNITINFO", vec![key("UnitName", name)])];
    let game = Game::default()
        .text("canbuild/mage/imp.tdf", &[])
        .text("download/c.tdf", &[entry("c", "0")])
        .text("gamedata/sidedata.tdf", &[section("CANBUILD", vec![lab])])
        .text("units/a.fbi", &unit("A"))
        .text("units/lab.fbi", &unit("lab"));
    let rows = game.table("tables/menus.tsv");
    let rows: Vec<_> = rows[1..].iter().map(|row| row[..6].join(" ")).collect();
    let expected = [
        "LAB A 1 0 c yes",
        "LAB B 2 1  builder",
        "Lab c 1 0 A builder",
        "mage imp    no",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn names_and_numbers_that_are_used_twice_are_conflicts() {
    let unit = |name: &str, number: &str| {
        let keys = vec![key("UnitName", name), key("UnitNumber", number)];
        [section("UNITINFO", keys)]
    };
    let weapon = |name: &str, id: &str| section(name, vec![key("ID", id)]);
    let game = Game::default()
        .text("units/a.fbi", &unit("A", "7"))
        .text("units/b.fbi", &unit("B", "8"))
        .text("units/c.fbi", &unit("a", "8"))
        .text(
            "weapons/x.tdf",
            &[weapon("X", "1"), weapon("Y", "1"), weapon("Z", "2")],
        );
    let rows = game.table("tables/conflicts.tsv");
    let rows: Vec<_> = rows[1..].iter().map(|row| row[..4].join(" ")).collect();
    let expected = [
        "unit number 8 B units/b.fbi",
        "unit number 8 a units/c.fbi",
        "unit name A A units/a.fbi",
        "unit name A a units/c.fbi",
        "weapon ID 1 X weapons/x.tdf",
        "weapon ID 1 Y weapons/x.tdf",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn sequences_of_all_sprite_files_are_listed() {
    let game = Game::default()
        .with("anims/fx.gaf", sprite("Boom"))
        .with("textures/bad.gaf", b"no sprites".to_vec())
        .with("textures/walls.gaf", sprite("Wall"));
    let rows = game.table("tables/sequences.tsv");
    let rows: Vec<_> = rows[1..].iter().map(|row| row.join(" ")).collect();
    let expected = [
        "Boom anims/fx.gaf a.hpi 0 1 3 2 4 true",
        "Wall textures/walls.gaf a.hpi 0 1 3 2 4 true",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn maps_show_where_players_start() {
    let special = |what: &str, x: &str, z: &str| {
        let keys = [("specialwhat", what), ("XPos", x), ("ZPos", z)];
        section(
            "special0",
            keys.map(|(name, value)| key(name, value)).to_vec(),
        )
    };
    let specials = vec![
        special("StartPos2", "30", "40"),
        special("Geothermal", "1", "1"),
        special("StartPos1", "10", "20"),
    ];
    let schema = section("Schema 1", vec![section("specials", specials)]);
    let header = vec![section("Schema 0", vec![]), schema];
    let game = Game::default().text("maps/a.ota", &[section("GlobalHeader", header)]);
    let table = game.table("tables/maps.tsv");
    let column = table[0].iter().position(|name| name == "starts").unwrap();
    assert_eq!(table[1][column], "1:10,20 2:30,40");
}

/// Returns a script that hides a piece in an endless loop.
fn script() -> Vec<u8> {
    let text = "piece base, gun; Create() { while (1) { hide gun; } return (0); }";
    bos::compile(text, &[]).unwrap().cob(&[]).file()
}

#[test]
fn a_mod_is_checked_for_what_it_must_have_itself() {
    let unit = |name: &str, number: &str| {
        let names = [
            ("UnitName", name),
            ("UnitNumber", number),
            ("Weapon1", "LASER"),
        ];
        section(
            "UNITINFO",
            names.map(|(name, value)| key(name, value)).to_vec(),
        )
    };
    let menu = ["UNITMENU", "UNITNAME", "MENU", "BUTTON"];
    let menu = menu.into_iter().zip(["armlab", "ARMA", "1", "2"]);
    let menu: Vec<Item> = menu.map(|(name, value)| key(name, value)).collect();
    let game = Game::default()
        .text("download/a.tdf", &[section("MENUENTRY1", menu.clone())])
        .text(
            "download/b.tdf",
            &[section(
                "MENUENTRY1",
                [menu, vec![key("unitname", "ARMB")]].concat(),
            )],
        )
        .with("objects3d/arma.3do", model("wall"))
        .with("scripts/arma.cob", script())
        .with("unitpics/arma.pcx", Vec::new())
        // Without this, ARMB would be a unit of the game.
        .with("unitpics/armb.pcx", Vec::new())
        .text("units/a.fbi", &[unit("ARMA", "7")])
        .text("units/b.fbi", &[key("Comment", "1"), unit("ARMB", "7")]);
    let expected = "\
units/a.fbi:1: the unit number 7 is also that of ARMB in units/b.fbi
units/b.fbi:2: the unit number 7 is also that of ARMA in units/a.fbi
download/a.tdf:1: slot 2 on page 1 of armlab is also that of ARMB
download/b.tdf:1: slot 2 on page 1 of armlab is also that of ARMA
units/b.fbi:2: the model objects3d/ARMB.3do is missing
units/b.fbi:2: the script scripts/ARMB.cob is missing
scripts/arma.cob:1: style: the piece base is never used
scripts/arma.cob:5: in Create: an endless loop never waits
scripts/arma.cob:7: it uses the piece gun, which objects3d/ARMA.3do lacks
9 findings, 1 of style
";
    assert_eq!(game.report("checks.txt"), expected);
}

#[test]
fn a_whole_game_is_checked_for_everything() {
    let lab = section(
        "ARMLAB",
        vec![key("canbuild1", "ARMA"), key("canbuild2", "ARMX")],
    );
    let nobody = section("NOBODY", vec![key("canbuild1", "ARMA")]);
    let unit = |name: &str| {
        section(
            "UNITINFO",
            vec![key("UnitName", name), key("Corpse", "heap")],
        )
    };
    let game = Game::default()
        .text(
            "gamedata/sidedata.tdf",
            &[section("CANBUILD", vec![lab, nobody])],
        )
        .text("units/a.fbi", &[unit("ARMA")])
        .text("units/lab.fbi", &[unit("ARMLAB")]);
    let text = game.report("checks.txt");
    for expected in [
        "gamedata/sidedata.tdf:3: ARMLAB builds ARMX, which does not exist\n",
        "gamedata/sidedata.tdf:3: ARMLAB builds ARMA, but is no builder (Builder=1)\n",
        "gamedata/sidedata.tdf:8: ARMA is built by NOBODY, which does not exist\n",
        "units/a.fbi:1: the corpse heap is missing\n",
        "units/a.fbi:1: the build picture anims/ARMA_gadget.gaf is missing\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
