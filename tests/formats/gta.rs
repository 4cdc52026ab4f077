//! Models of Grand Theft Auto in a mount: in the archives of a game, with
//! textures that its definitions name.

use std::fs;
use std::path::Path;

use fixtures::{clump, gxt, ifp, txd};
use serde_json::{Value, json};
use testkit::fuse_test;
use testkit::gltf::{list, scene};
use testkit::mount::hpimount;
use testkit::mounted::mounted_files;
use testkit::shown::bytes_of;
use testkit::sources::folder;

/// Bytes of a sector of an IMG.
const SECTOR: usize = 2048;

/// Returns an IMG of version 2 with these files.
fn img(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut head = b"VER2".to_vec();
    head.extend((files.len() as u32).to_le_bytes());
    let (mut next, mut bodies) = (1_u32, Vec::new());
    for (name, bytes) in files {
        let sectors = bytes.len().div_ceil(SECTOR) as u32;
        head.extend(next.to_le_bytes());
        head.extend(sectors.to_le_bytes());
        let mut field = name.as_bytes().to_vec();
        field.resize(24, 0);
        head.extend(field);
        next += sectors;
        bodies.extend_from_slice(bytes);
        bodies.resize(bodies.len().next_multiple_of(SECTOR), 0);
    }
    head.resize(SECTOR, 0);
    [head, bodies].concat()
}

/// Returns a model of a square with a texture.
fn model(texture: &str) -> Vec<u8> {
    clump::clump(
        &clump::frames(&[("square", -1)]),
        &[clump::square(&[texture], &[])],
        &[clump::atomic(0, 0)],
        &[],
    )
}

/// Returns a dictionary of one texture.
fn dictionary(texture: &str) -> Vec<u8> {
    txd::txd(&[txd::gray(texture, [0, 255])])
}

#[fuse_test]
fn textures_of_a_model_are_found_as_the_game_finds_them() {
    let game = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = game.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let definitions = "objs\n1, crate, box, 100, 0\n2, pole, iron, 100, 0\nend\n\
                       txdp\nbox, wood\nend\n";
    write("data/maps/town.ide", definitions.as_bytes());
    write("models/generic/iron.txd", &dictionary("rust"));
    let archive = img(&[
        ("crate.dff", &model("planks")),
        ("crate.txd", &dictionary("other")),
        ("box.txd", &dictionary("nails")),
        ("wood.txd", &dictionary("PLANKS")),
        ("pole.dff", &model("rust")),
        ("stone.dff", &model("moss")),
        ("stone.txd", &dictionary("moss")),
        ("lost.dff", &model("gone")),
    ]);
    write("models/gta3.img", &archive);
    let mount = mounted_files(&[game.path().to_owned()], "");
    let shown = |model: &str| mount.file(&format!("models/gta3.img.d/{model}.dff.meta"));
    let row = |model: &str| {
        let table = fs::read_to_string(shown(model).join("textures.tsv")).unwrap();
        table.lines().nth(1).unwrap().to_owned()
    };
    let archive = "models/gta3.img.d";
    assert_eq!(
        row("crate"),
        format!("0\tplanks\twood\t{archive}/wood.txd\t2\t1\t")
    );
    assert_eq!(
        row("pole"),
        "0\trust\tiron\tmodels/generic/iron.txd\t2\t1\t"
    );
    assert_eq!(
        row("stone"),
        format!("0\tmoss\tstone\t{archive}/stone.txd\t2\t1\t")
    );
    assert_eq!(row("lost"), "0\tgone\t\t\t\t\tis in no dictionary");
    for name in [
        "model.glb",
        "model.obj",
        "preview.png",
        "textures/planks.png",
    ] {
        assert!(!bytes_of(&shown("crate").join(name)).is_empty(), "{name}");
    }
    let converted = bytes_of(&mount.file("models/gta3.img.d/converted/crate.glb"));
    assert!(converted.starts_with(b"glTF"));
}

/// Returns a package of one animation that moves one bone.
fn package(animation: &str, bone: &str, number: i32) -> Vec<u8> {
    let keys = [[0, 0, 0, 4096, 0], [0, 0, 4096, 0, 60_i16]].concat();
    let object = ifp::anp_object(bone, 3, number, &ifp::shorts(&keys));
    ifp::anp(true, "package", &[(animation, vec![object])])
}

#[fuse_test]
fn a_model_is_moved_by_the_animations_that_the_game_gives_it() {
    let square = || [clump::square(&["skin"], &[])];
    let model = |frames: Vec<u8>| clump::clump(&frames, &square(), &[clump::atomic(0, 0)], &[]);
    let fixture = folder(|game| {
        let write = |name: &str, bytes: &[u8]| fs::write(game.join(name), bytes).unwrap();
        let definitions = "anim\n1, fan, box, fans, 100, 0\nend\n\
                           peds\n2, cop, cop, COP, STAT, man, 0, 0, null, 1, 4, A, B, C\nend\n";
        write("town.ide", definitions.as_bytes());
        write("animgrp.dat", b"man, ped, walk, 2\nwalk\nfly\nend\n");
        write("fans.ifp", &package("spin", "Blade ", -1));
        write("ped.ifp", &package("Walk", "none", 1));
        write(
            "fan.dff",
            &model(clump::frames(&[("fan", -1), ("blade", 0)])),
        );
        for name in ["cop.dff", "guest.dff"] {
            let bones = clump::bones(&[("root", -1), ("hand", 0)]);
            write(name, &model(bones));
        }
    });
    let mount = fixture.mount(&[]);
    let moved = |file: &str| {
        let scene = scene(&mount.file(file));
        let animations = list(&scene, "animations").iter();
        let nodes = |animation: &Value| {
            let targets = list(animation, "channels").iter();
            let nodes = targets.map(|one| one["target"]["node"].as_u64().unwrap());
            nodes
                .map(|node| scene["nodes"][node as usize]["name"].clone())
                .collect()
        };
        animations
            .map(|one| (one["name"].clone(), nodes(one)))
            .collect::<Vec<(Value, Vec<Value>)>>()
    };
    assert_eq!(
        moved("fan.dff.meta/model.glb"),
        [(json!("spin"), vec![json!("blade")])]
    );
    assert_eq!(
        moved("cop.dff.meta/model.glb"),
        [(json!("walk"), vec![json!("hand")])]
    );
    let notes = &scene(&mount.file("cop.dff.meta/model.glb"))["asset"]["extras"]["notes"];
    let is_omitted =
        |note: &Value| note == "Animation fly is omitted: package ped does not have it.";
    assert!(notes.as_array().unwrap().iter().any(is_omitted), "{notes}");
    // A package in the path moves any model with a skeleton.
    assert_eq!(moved("guest.dff.meta/model.glb"), []);
    for model in ["guest", "cop"] {
        assert_eq!(
            moved(&format!("{model}.dff.meta/animated/ped.glb")),
            [(json!("Walk"), vec![json!("hand")])]
        );
    }
    assert_eq!(
        moved("ped.ifp.meta/skeleton.glb"),
        [(json!("Walk"), vec![json!("none")])]
    );
}

#[fuse_test]
fn tables_of_a_game_have_its_models_and_placements() {
    let definitions = b"objs\n7, crate, box, 100, 4\nend\ntxdp\nbox, wood\nend\n";
    let placements =
        b"inst\n7, crate, 0, 1, 2, 3, 0, 0, 1, 1, -1\n8, lost, 0, 1, 2, 3, 0, 0, 0, 0, -1\nend\n";
    let mut binary = b"bnry".to_vec();
    let mut words = [0_u32; 18];
    (words[0], words[6]) = (1, 0x4C);
    binary.extend(words.map(u32::to_le_bytes).concat());
    let placed = [4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 2.0_f32];
    binary.extend(placed.map(f32::to_le_bytes).concat());
    binary.extend([7_u32, 0, 0].map(u32::to_le_bytes).concat());
    let fixture = folder(|game| {
        fs::write(game.join("town.ide"), definitions).unwrap();
        fs::write(game.join("town.ipl"), placements).unwrap();
        fs::write(game.join("town_stream0.ipl"), &binary).unwrap();
    });
    let mount = fixture.mount(&["--converted"]);
    let table = |name: &str| rows(&mount.file(&format!("tables/{name}.tsv")));
    assert_eq!(
        table("models"),
        ["7\tcrate\tbox\tobjs\t100\t\t\t4\ttown.ide\t2"]
    );
    assert_eq!(table("txdp"), ["box\twood\ttown.ide\t5"]);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    assert_eq!(
        table("placements"),
        [
            format!("town.ipl\t2\t0\t7\tcrate\ttrue\t0\t1\t2\t3\t0\t0\t-{half}\t{half}\t\t"),
            "town.ipl\t3\t1\t\t\t\t\t\t\t\t\t\t\t\t\tits rotation has the length 0".to_owned(),
            "town_stream0.ipl\t\t0\t7\tcrate\ttrue\t0\t4\t5\t6\t0\t0\t0\t1\t0\t".to_owned(),
        ]
    );
}

#[fuse_test]
fn tables_of_a_game_have_its_vehicles_people_zones_textures_and_texts() {
    let fixture = folder(|game| {
        let write = |name: &str, bytes: &[u8]| fs::write(game.join(name), bytes).unwrap();
        let definitions = "peds\n2, cop, cop, COP, STAT, man, 0, 0, null, 1, 4, A, B, C\nend\n\
                           cars\n400, van, van, car, VAN, VAN, null, richfamily, 10, 0, 0, -1, \
                           0.7, 0.7, 0\n401, odd\nend\n";
        write("a.ide", definitions.as_bytes());
        write("town.zon", b"zone\nBAY, 0, 1, 2, 3, 4, 5, 6, 1, BAY\nend\n");
        write("van.txd", &dictionary("paint"));
        write("american.gxt", &gxt::third());
        write("mod.fxt", b"KEY Some text\n");
    });
    let mount = fixture.mount(&["--converted"]);
    let table = |name: &str| rows(&mount.file(&format!("tables/{name}.tsv")));
    let cars = table("cars");
    assert!(cars[0].starts_with("400\tvan\tvan\tcar\tVAN\t") && cars[0].ends_with("\ta.ide\t5"));
    assert_eq!(cars.len(), 1);
    assert!(table("peds")[0].starts_with("2\tcop\tcop\tCOP\tSTAT\tman\t"));
    assert_eq!(
        table("zones"),
        ["BAY\t0\t1\t2\t3\t4\t5\t6\t1\tBAY\ttown.zon\t2"]
    );
    assert!(table("textures")[0].starts_with("van.txd\tpaint\t\td3d9\tL8\t\t2\t1\t"));
    assert_eq!(
        table("texts"),
        [
            "american.gxt\tMAIN\tOK\tGr\u{fc}n",
            "american.gxt\tMAIN\tNO\t",
            "mod.fxt\t\tKEY\tSome text"
        ]
    );
}

/// Returns the rows of a table below its head.
fn rows(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[fuse_test]
fn the_archives_of_a_game_are_merged_in_the_order_of_its_lists_below_mods() {
    let fixture = folder(|game| {
        let write = |path: &str, bytes: &[u8]| {
            let path = game.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write(
            "Data/GTA.dat",
            b"IMG MODELS\\MORE.IMG\nIDE DATA\\TOWN.IDE\n",
        );
        let definitions = "objs\n1, crate, planks, 100, 0\n2, pole, iron, 80, 0\nend\n";
        write("Data/town.ide", definitions.as_bytes());
        write(
            "Data/town.ipl",
            b"inst\n1, crate, 0, 0, 0, 0, 0, 0, 0, 1, -1\n9, x, 0, 0, 0, 0, 0, 0, 0, 1, -1\nend\n",
        );
        let first = [
            ("crate.dff", &model("wood")[..]),
            ("planks.txd", &dictionary("moss")),
            ("pole.dff", b"first"),
            ("sign.dff", b"plain"),
        ];
        write("Models/gta3.img", &img(&first));
        let last = [
            ("PLANKS.TXD", &dictionary("wood")[..]),
            ("pole.dff", b"last"),
        ];
        write("Models/more.img", &img(&last));
        write("../mod/pole.dff", b"mod");
        write("../mod/Signs/red/sign.dff", b"red");
        write("Models/generic/box.txd", b"loose");
        write("../mod/Models/Generic/box.txd", b"of the mod");
        write("../mod/data/town.txt", b"text");
        write("../top/pole.dff", b"top");
        // Data files are found by name, too, if the game has exactly one with this
        // name.
        write("Data/handling.cfg", b"CAR 1\n");
        write("Data/maps/east/hills.ipl", b"inst\nend\n");
        write("Data/maps/east/coast.ide", b"objs\nend\n");
        write("Data/maps/west/coast.ide", b"objs\nend\n");
        write("../mod/My car/HANDLING.CFG", b"CAR 2\n");
        write("../mod/My car/readme.txt", b"read me");
        write(
            "../mod/My map/hills.ipl",
            b"inst\n7, hut, 0, 0, 0, 0, 0, 0, 0, 1, -1\nend\n",
        );
        write(
            "../mod/My map/hut.ide",
            b"objs\n7, hut, planks, 100, 0\nend\n",
        );
        write("../mod/My map/coast.ide", b"objs\nend\n");
        write("../top/handling.cfg", b"CAR 3\n");
    });
    let below = fixture.archive.parent().unwrap().to_owned();
    let fixture_game = fixture.archive.clone();
    let mut program = hpimount();
    program.arg("--game").arg(fixture_game);
    for name in ["mod", "top"] {
        program.arg("--mod").arg(below.join(name));
    }
    program.arg(&fixture.point);
    let mount = fixture.mount_by(program);
    assert_eq!(bytes_of(&mount.file("pole.dff")), b"top");
    assert_eq!(
        bytes_of(&mount.file(".hpimount/shadowed/mod/pole.dff")),
        b"mod"
    );
    assert_eq!(bytes_of(&mount.file("Data/town.txt")), b"text");
    assert_eq!(
        bytes_of(&mount.file("models/generic/box.txd")),
        b"of the mod"
    );
    assert_eq!(bytes_of(&mount.file("Data/handling.cfg")), b"CAR 3\n");
    let shadowed = mount.file(".hpimount/shadowed/mod/Data/HANDLING.CFG");
    assert_eq!(bytes_of(&shadowed), b"CAR 2\n");
    let hills = bytes_of(&mount.file("data/maps/east/hills.ipl"));
    assert!(hills.starts_with(b"inst\n7, hut"));
    // The game has no file with these names, or several.
    for path in ["My car/readme.txt", "My map/hut.ide", "My map/coast.ide"] {
        assert!(mount.file(path).is_file(), "{path}");
    }
    assert!(!mount.file("My map/hills.ipl").exists());
    // Streamed files are found by name in any folder of a mod.
    assert_eq!(bytes_of(&mount.file("sign.dff")), b"red");
    let shadowed = mount.file(".hpimount/shadowed/gta3.img/sign.dff");
    assert_eq!(bytes_of(&shadowed)[..5], *b"plain");
    let shown = mount.file("crate.dff.meta/textures.tsv");
    assert_eq!(rows(&shown), ["0\twood\tplanks\tPLANKS.TXD\t2\t1\t"]);
    assert_eq!(
        rows(&mount.file("converted/tables/references.tsv")),
        [
            "Data/town.ide\t2\tobjs\t1\tcrate\tmodel\tcrate\tcrate.dff",
            "Data/town.ide\t2\tobjs\t1\tcrate\ttextures\tplanks\tPLANKS.TXD",
            "Data/town.ide\t3\tobjs\t2\tpole\tmodel\tpole\tpole.dff",
            "Data/town.ide\t3\tobjs\t2\tpole\ttextures\tiron\t",
            "My map/hut.ide\t2\tobjs\t7\thut\tmodel\thut\t",
            "My map/hut.ide\t2\tobjs\t7\thut\ttextures\tplanks\tPLANKS.TXD",
        ]
    );
    assert_eq!(
        rows(&mount.file("converted/tables/missing.tsv")),
        [
            "Data/town.ide\t3\tobjs\t2\tpole\ttextures\tiron",
            "My map/hut.ide\t2\tobjs\t7\thut\tmodel\thut",
            "Data/town.ipl\t3\tinst\t9\tx\tdefinition\t9",
        ]
    );
}
