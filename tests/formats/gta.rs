//! Models of Grand Theft Auto in a mount: in the archives of a game, with
//! textures that its definitions name.

use std::fs;

use crate::support::build::{clump, txd};
use crate::support::mounted::mounted_files;
use crate::support::shown::bytes_of;
use crate::support::sources::folder;
use hpimount_test_attributes::fuse_test;

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
    let table = |name: &str| {
        let path = mount.file(&format!("tables/{name}.tsv"));
        let text = fs::read_to_string(path).unwrap();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
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
