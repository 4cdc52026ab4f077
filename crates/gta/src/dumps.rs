//! Golden tests: the generated files of small assets, compared with `dumps/`.

use fixtures::{assets, clump, col, dumps, gxt, txd};
use hpimount_assets::view::Alone;

#[test]
fn the_generated_files_are_as_in_their_dumps() {
    for (name, bytes) in texts().chain(binaries()) {
        let mut formats = crate::FORMATS.iter();
        let format = formats.find(|format| format.shows(name.as_bytes()));
        let format = format.unwrap_or_else(|| panic!("{name} has no format"));
        dumps::check(env!("CARGO_MANIFEST_DIR"), name, format, bytes, &Alone);
    }
}

fn texts() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let texts = [
        (
            "carcols.dat",
            "col\n0,0,0 # black\n245,16,1\nend\ncar\nbus, 0,1, 1,9\nend\ncar4\nvan, 0,1,0,1\nend\n",
        ),
        ("gta.dat", "IMG MODELS\\A.IMG\nCOLFILE 0 a.col\nODD\nEXIT\n"),
        (
            "animgrp.dat",
            "man, ped, walk, 2\nwalk\nrun\nend\nfat, ped, run, 0\nend\n",
        ),
        (
            "handling.cfg",
            "; comment\nCAR 1 2 D\n!BIKE 4\n$RC 0.5\nVAN\n",
        ),
        ("mod.fxt", "KEY Some ~r~text\n"),
        (
            "water.dat",
            "processed\n0 0 1 0 0 1 0.2 9 0 1 0 0 1 0.2 0 9 1 0 0 1 0.2 1\n1, -9, -8, 9, 8\n*\n",
        ),
        (
            "town.ide",
            "objs\n1, crate, box, 100, 0\n2, pole, iron, 1, 90, 4\n3 odd\nend\n\
             news\n1\nend\ntxdp\nbox, wood\nend\n",
        ),
        ("encrypted.ide", "objs\n1\0\n"),
        (
            "town.ipl",
            "inst\n1, crate, 0, 1, 2, 3, 0, 0, 0, 1, -1\n\
             2, pole, 1, 2, 3, 1, 1, 1, 0, 0, 0, 1\nend\nzone\nend\n",
        ),
        ("info.zon", "zone\nBAY, 0, 1, 2, 3, 4, 5, 6, 1, BAY\nend\n"),
    ];
    let texts = texts.into_iter();
    texts.map(|(name, text)| (name, text.as_bytes().to_vec()))
}

fn binaries() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let cut = |bytes: Vec<u8>, end: usize| bytes[..bytes.len() - end].to_vec();
    let mut broken = col::model(1, "a");
    broken[32 + 40..][..4].fill(0xFF);
    let mut unknown = txd::gray("broken", [0, 0]);
    unknown[0x18] = 10;
    let gray = || txd::gray("wall", [7, 9]);
    let binaries = [
        ("waterpro.dat", waterpro()),
        ("binary.ipl", placements()),
        ("cut.ipl", cut(placements(), 80)),
        (
            "crate.col",
            [broken, col::model(3, "b"), col::model(2, "c")].concat(),
        ),
        ("other.col", b"COLX".to_vec()),
        ("three.gxt", gxt::third()),
        ("later.gxt", gxt::later()),
        ("cut.gxt", cut(gxt::later(), 10)),
        ("bits.gxt", b"\x04\0\x09\0TABL\0\0\0\0".to_vec()),
        ("box.txd", txd::txd(&[gray(), unknown, gray()])),
        ("empty.txd", txd::chunk(0x16, b"")),
        ("crate.dff", model()),
        ("cut.dff", cut(model(), 200)),
        ("frames.dff", model()[..0xF0].to_vec()),
        ("anp2.ifp", assets::anp(false)),
        ("anp3.ifp", assets::anp(true)),
        ("anpk.ifp", assets::anpk()),
        ("anlf.ifp", assets::anlf()),
        ("cut.ifp", cut(assets::anp(true), 50)),
        ("magic.ifp", b"ANP4".to_vec()),
    ];
    binaries.into_iter()
}

/// A map with water of two heights.
fn waterpro() -> Vec<u8> {
    let mut file = 2_u32.to_le_bytes().to_vec();
    file.extend(clump::floats(&[6.0, 20.5]));
    file.resize(0x3C4, 0);
    file.resize(0x53C4, 0x80);
    for (at, number) in [(0x3C4, 0), (0x13C4, 0), (0x13C5, 0), (0x13C6, 1)] {
        file[at] = number;
    }
    file
}

/// A binary file with two objects and a car.
fn placements() -> Vec<u8> {
    let mut header = [0; 18];
    for (place, word) in [(0, 2), (4, 1), (6, 0x4C), (14, 0x9C)] {
        header[place] = word;
    }
    let object = |x: f32| {
        let place = clump::floats(&[x, 2.0, 3.0, 0.0, 0.0, 0.0, x]);
        [place, clump::words(&[7, 0x101, u32::MAX])].concat()
    };
    let car = [
        clump::floats(&[1.0, 2.0, 3.0, 0.5]),
        clump::words(&[400, u32::MAX, 3, 0, 1, 2, 0, 10_000]),
    ];
    [
        b"bnry".to_vec(),
        clump::words(&header),
        object(1.5),
        object(0.0),
        car.concat(),
    ]
    .concat()
}

/// A model with effects, a breakable and a collision model.
fn model() -> Vec<u8> {
    let effects = [
        clump::words(&[2]),
        clump::floats(&[1.0, 2.0, 3.0]),
        clump::words(&[0, 8, 77]),
        clump::floats(&[0.5]),
        clump::floats(&[1.0, 2.0, 3.0]),
        clump::words(&[77, 0]),
    ];
    let mut names = b"glass".to_vec();
    names.resize(64, 0);
    let breakable = [
        clump::words(&[1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
        names,
        clump::floats(&[0.25, 0.5, 1.0]),
    ];
    let plugins = [
        clump::chunk(0x50E, &clump::words(&[1, 1, 4, 4, 0, 0, 1, 2, 3])),
        clump::chunk(0x253_F2F8, &effects.concat()),
        clump::chunk(0x253_F2F9, &clump::words(&[1, 2, 3, 4, 5])),
        clump::chunk(0x253_F2FD, &breakable.concat()),
    ];
    let mut animation = clump::words(&[0x100, 1, 0, 0]);
    animation.extend(clump::floats(&[1.5]));
    animation.extend([&[0; 4][..], b"flow", &[0; 60]].concat());
    let animations = [
        clump::chunk(1, &clump::words(&[1])),
        clump::chunk(0x1B, &animation),
    ];
    let model = clump::clump(
        &clump::frames(&[("crate", -1), ("crate_dam", 0)]),
        &[
            clump::square(&["wood", "stone"], &plugins),
            clump::mobile_square("wood"),
        ],
        &[clump::atomic(0, 0), clump::atomic(1, 1)],
        &[clump::chunk(0x253_F2FA, &col::model(3, "crate"))],
    );
    [clump::chunk(0x2B, &animations.concat()), model].concat()
}
