//! Seeds of the assets of Heavy Iron.

use super::super::heavy_iron::number_of;
use super::short;
use fixtures::{heavy_iron as hi, noise};

pub fn hi_textures() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (format, palette) in [(0, 0), (2, 0), (5, 0), (6, 0), (8, 32), (9, 512), (14, 0)] {
        let bytes = hi::gamecube(format, 1, [16, 8], &noise(1, palette), &noise(2, 700), 2);
        seeds.push(bytes);
    }
    for (raster, compression, palette) in [(0x2600, 0, 1024), (0x500, 0, 0), (0x300, 0x0F, 0)] {
        let bytes = hi::xbox(
            raster,
            compression,
            [8, 8],
            &noise(1, palette),
            &noise(2, 340),
            2,
        );
        seeds.push(bytes);
    }
    for bits in [4, 8, 32] {
        let pixels = noise(3, 0x50 + 256 * bits / 8);
        seeds.push(hi::playstation2(
            bits,
            2,
            16,
            &pixels,
            &noise(4, 0x50 + 1024),
        ));
    }
    short(seeds)
}

pub fn hi_sounds() -> Vec<Vec<u8>> {
    let with_data = |facts: u8, table: Vec<u8>, data: usize| {
        let length = (table.len() as u16).to_le_bytes();
        [&[facts][..], &length, &table, &noise(5, data)].concat()
    };
    short(vec![
        with_data(0, hi::dsp_table(1, 140, 22_050), 80),
        with_data(1, hi::xbox_table(1, 1, 2, 22_050, 400), 400),
        with_data(1, hi::xbox_table(1, 0x69, 1, 22_050, 144), 144),
        with_data(2, hi::vag_table(1, 22_050, 160), 160),
        // The Incredibles on GameCube.
        with_data(8, hi::bank_table(1, &[1; 16]), 0),
    ])
}

pub fn hi_models() -> Vec<Vec<u8>> {
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5; 3]];
    let plain = hi::plain_model(&positions, &[[0.25; 2]; 4], &[[0, 1, 2], [2, 1, 3]]);
    let gamecube = [false, true].map(hi::gamecube_model);
    let models = [plain, hi::world()].into_iter().chain(gamecube);
    let mut seeds: Vec<_> = models.map(|model| [vec![0], model].concat()).collect();
    seeds.push([vec![0], hi::level_info()].concat());
    short(seeds)
}

pub fn hi_objects() -> Vec<Vec<u8>> {
    let header = |links: u8| [hi::big(&[7]), vec![0, links, 0, 0x1D]].concat();
    let bodies = [
        ("TEXT", [hi::big(&[5]), b"{c:1}\0\0\0".to_vec()].concat()),
        ("CRDT", hi::credits()),
        (
            "ANIM",
            [hi::big(&[0x3142_4B53, 0, 0x0001_0001, 1]), noise(1, 32)].concat(),
        ),
        (
            "ATBL",
            hi::big(&[
                0x4C42_5441,
                1,
                1,
                0,
                0,
                9,
                0,
                0,
                0,
                0x0001_0001,
                56,
                0,
                0,
                0,
                0,
            ]),
        ),
        (
            "MINF",
            [
                hi::big(&[0x464E_494D, 1, 2, 3, 4]),
                noise(2, 56),
                hi::big(&[5, 0]),
            ]
            .concat(),
        ),
        (
            "LKIT",
            [hi::big(&[0x5449_4B4C, 0, 1, 0]), noise(3, 96)].concat(),
        ),
        ("JAW", hi::big(&[1, 77, 0, 8, 0x0400_0000, 0x0102_0304])),
        ("COLL", hi::big(&[1, 2, 3, 4])),
        ("SIMP", [header(1), noise(4, 88 + 32)].concat()),
        (
            "GRUP",
            [header(1), hi::big(&[0x0002_0000, 8, 9]), noise(5, 32)].concat(),
        ),
        (
            "DYNA",
            [
                header(0),
                hi::big(&[0x70AD_B7F9, 0x0002_0000]),
                noise(6, 20),
            ]
            .concat(),
        ),
        ("PLYR", [header(1), noise(7, 76 + 32 + 4)].concat()),
        (
            "SGRP",
            [
                header(0),
                hi::big(&[0, 0x0100_0000, 0, 0, 0, 0, 7, 0, 0, 0]),
            ]
            .concat(),
        ),
        (
            "SPLN",
            [header(0), hi::big(&[1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0])].concat(),
        ),
        (
            "UIM",
            [header(0), hi::big(&[0x0100_0000, 28, 0, 0, 3]), vec![0; 24]].concat(),
        ),
    ];
    let seed = |(code, body): (&str, Vec<u8>)| [vec![0, number_of(code)], body].concat();
    // A fire of Rise of the Underminer.
    let fire = [hi::big(&[1, 7, 0, 10]), vec![0; 176]].concat();
    let fire = [vec![12, number_of("SHRP")], fire].concat();
    short(bodies.map(seed).into_iter().chain([fire]).collect())
}
