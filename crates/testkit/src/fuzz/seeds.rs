//! Seeds: small valid files, and some odd or broken ones.

mod heavy_iron;
mod total_annihilation;

use hpimount_containers::hip::{Game, Platform};
use hpimount_containers::hpi::chunk::{CHUNK_SIZE, Method};
use hpimount_containers::hpi::cipher::Cipher;
use hpimount_containers::hpi::lz77::encode;

pub use self::heavy_iron::{hi_models, hi_objects, hi_sounds, hi_textures};
pub use self::total_annihilation::{bos, cob, gaf, pcx, ta_small, tdf, tdo, tnt};
use super::chunk::ChunkHead;
use fixtures::full::{full_hgo_files, full_ifp_files};
use fixtures::hip::{Asset, Hip, TARGETS, hipb};
use fixtures::hpi::{Chunk, Entry, File, V1, V2, dir, file, hostile};
use fixtures::playstation;
use fixtures::{Endian, assets, consoles};
use fixtures::{clump, col, gxt, txd};
use fixtures::{noise, text};

/// Maximum length of a seed in bytes.
pub const MAX_LENGTH: usize = 12 << 10;

/// Length of the seeds that are full of small parts.
const FULL: usize = 2 << 10;

const METHODS: [Method; 3] = [Method::Stored, Method::Lz77, Method::Zlib];

/// Returns a tree that stays small when it is packed.
fn tree(method: Method) -> Vec<Entry> {
    let file = |name: &str, data: Vec<u8>| file(name.as_bytes(), File::new(data, method));
    let long = match method {
        Method::Stored => text(3000),
        _ => vec![7; CHUNK_SIZE + 500],
    };
    let deep = dir(b"b", vec![dir(b"c", vec![file("one.bin", vec![b'x'])])]);
    vec![
        dir(
            b"Units",
            vec![file("ARMPW.FBI", text(700)), file("empty.txt", vec![])],
        ),
        dir(b"units", vec![deep]),
        file("\u{fc}.bin", noise(1, 200)),
        file("long.tdf", long),
        file("long.tdf", vec![1]),
    ]
}

pub fn hpi_v1() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (method, key) in METHODS.into_iter().zip([0, 0x7D, 0xFF]) {
        let archive = V1 {
            // The entry point enciphers it.
            cipher: Cipher::PLAIN,
            lists_elsewhere: key == 0x7D,
            ..V1::new(tree(method)).keyed(key)
        };
        seeds.push(archive.build().bytes);
    }
    let is_first = |broken: &hostile::Broken| broken.bytes.get(4..8) == Some(&[0, 0, 1, 0]);
    let broken = hostile::unopenable()
        .into_iter()
        .chain(hostile::unreadable());
    seeds.extend(broken.filter(is_first).map(|broken| broken.bytes));
    short(seeds)
}

pub fn hpi_v2() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for method in METHODS {
        for raw_blocks in [true, false] {
            let archive = V2 {
                raw_blocks,
                chunk_size: (!raw_blocks).then_some(1000),
                ..V2::new(tree(method))
            };
            seeds.push(archive.build().bytes);
        }
    }
    short(seeds)
}

pub fn chunk() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for method in METHODS {
        for (flags, key, size) in [(0, 0x7D, 300), (0, 0, CHUNK_SIZE + 9), (1, 0, 70_000)] {
            let plain = vec![[7, 8, 9]; size.div_ceil(3)].concat();
            let parts = plain[..size].chunks(if flags == 0 { CHUNK_SIZE } else { size });
            let packed = parts.map(|part| Chunk::new(method).pack(part));
            let [low, middle, high, _] = (size as u32).to_le_bytes();
            let head = ChunkHead {
                flags,
                key,
                size: [low, middle, high],
            };
            seeds.push([head.bytes(), packed.collect::<Vec<_>>().concat()].concat());
        }
    }
    short(seeds)
}

pub fn lz77() -> Vec<Vec<u8>> {
    let plain = [
        vec![],
        b"a".to_vec(),
        text(900),
        vec![7; 5000],
        noise(1, 300),
        [text(5000), text(400)].concat(),
    ];
    let seeds = plain
        .iter()
        .zip([0, 1, 2, 6, 40, 255])
        .map(|(plain, step)| {
            let length = (plain.len() as u16).to_le_bytes();
            [&length[..], &[step], &encode(plain)].concat()
        });
    short(seeds.collect())
}

pub fn hip() -> Vec<Vec<u8>> {
    let mut seeds = vec![Hip::default().build()];
    for (game, platform) in TARGETS.into_iter().step_by(3) {
        let mut hip = Hip::target(game, platform);
        hip.alignment = 32;
        for (number, code) in [b"MODL", b"TEXT", b"ANIM", b"XYZ "].into_iter().enumerate() {
            hip.layer(number as u32);
            hip.add(Asset::new(code, "walk", &text(40)));
            hip.add(Asset::new(code, &format!("{number}/x.y"), b""))
                .layers[0]
                .1
                .push(77);
        }
        hip.assets[1].checksum = Some(0);
        if game != Game::Scooby && platform == Platform::GameCube {
            hip.hipb = Some(hipb(1, &[(0, b"first")], 2));
        }
        seeds.push(hip.build());
    }
    short(seeds)
}

pub fn psx() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = [3, 4, 6].map(assets::level).into();
    seeds.push(assets::empty_psx());
    short(seeds)
}

/// Returns the files of the PlayStation with these extensions.
fn playstation(extensions: &[&str]) -> Vec<Vec<u8>> {
    let files = playstation::files().into_iter();
    let files = files.filter(|(name, _)| {
        let extension = name.rsplit_once('.').unwrap().1;
        extensions.contains(&extension)
    });
    short(files.map(|(_, file)| file).collect())
}

pub fn tim() -> Vec<Vec<u8>> {
    playstation(&["tim", "tm2"])
}

pub fn vag() -> Vec<Vec<u8>> {
    playstation(&["vag"])
}

pub fn vab() -> Vec<Vec<u8>> {
    playstation(&["vab"])
}

pub fn qb() -> Vec<Vec<u8>> {
    playstation(&["qb"])
}

pub fn trg() -> Vec<Vec<u8>> {
    playstation(&["trg"])
}

pub fn rle() -> Vec<Vec<u8>> {
    playstation(&["rle"])
}

pub fn pvr() -> Vec<Vec<u8>> {
    playstation(&["pvr"])
}

pub fn psh() -> Vec<Vec<u8>> {
    playstation(&["psh"])
}

pub fn kat() -> Vec<Vec<u8>> {
    playstation(&["kat", "sfx"])
}

pub fn xa() -> Vec<Vec<u8>> {
    playstation(&["xa", "str"])
}

pub fn ddm() -> Vec<Vec<u8>> {
    playstation(&["ddm", "ddx"])
}

pub fn bon() -> Vec<Vec<u8>> {
    playstation(&["bon"])
}

pub fn consoles() -> Vec<Vec<u8>> {
    let files = consoles::files().into_iter();
    short(files.map(|(_, file)| file).collect())
}

pub fn hgo() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = [Endian::Big, Endian::Little].map(assets::model).into();
    seeds.push(assets::block_table());
    seeds.extend(beginnings(full_hgo_files()));
    short(seeds)
}

pub fn txd() -> Vec<Vec<u8>> {
    let two = txd::txd(&[txd::gray("a", [1, 2]), txd::gray("b", [3, 4])]);
    short(vec![two, txd::txd(&[])])
}

pub fn dff() -> Vec<Vec<u8>> {
    let light = [
        clump::words(&[1]),
        clump::floats(&[1.0, 2.0, 3.0]),
        clump::words(&[0, 4, 77]),
    ];
    let plugins = [
        clump::chunk(0x50E, &clump::words(&[1, 1, 4, 4, 0, 0, 1, 2, 3])),
        clump::chunk(0x253_F2F8, &light.concat()),
        clump::chunk(0x253_F2F9, &clump::words(&[1, 2, 3, 4, 5])),
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
    let bare = clump::clump(&clump::frames(&[("empty", -1)]), &[], &[], &[]);
    short(vec![model, bare])
}

pub fn map() -> Vec<Vec<u8>> {
    let definitions = "objs\n1, crate, box, 100, 0\n2, pole, iron, 1, 90, 4\nend\n\
                       txdp\nbox, wood\nend\n";
    let placements = "inst\n1, crate, 0, 1, 2, 3, 0, 0, 0, 1, -1\n\
                      2, pole, 1, 2, 3, 1, 1, 1, 0, 0, 0, 1\nend\nzone\nend\n";
    let header: Vec<u32> = [
        vec![1, 0, 0, 0, 1, 0, 0x4C, 0],
        vec![0; 6],
        vec![0x74, 0, 0, 0],
    ]
    .concat();
    let binary = [b"bnry".to_vec(), clump::words(&header), vec![1; 88]].concat();
    let texts = [definitions, placements].map(|text| text.as_bytes().to_vec());
    short([&texts[..], &[binary]].concat())
}

pub fn col() -> Vec<Vec<u8>> {
    let all: Vec<_> = (1..=4)
        .map(|version| col::model(version, "crate"))
        .collect();
    let together = all.concat();
    short([all, vec![together]].concat())
}

pub fn gxt() -> Vec<Vec<u8>> {
    short(vec![gxt::third(), gxt::later()])
}

pub fn gta_data() -> Vec<Vec<u8>> {
    let texts = [
        "col\n0,0,0 # black\n245,16,1\nend\ncar\nbus, 0,1, 1,9\nend\ncar4\nvan, 0,1,0,1\nend\n",
        "IMG MODELS\\A.IMG\nCOLFILE 0 a.col\nEXIT\n",
        "man, ped, walk, 2\nwalk\nrun\nend\n",
        "; comment\nCAR 1 2 D\n!BIKE 4\n$RC 0.5\n",
        "KEY Some ~r~text\n",
        "processed\n0 0 1 0 0 1 0.2 9 0 1 0 0 1 0.2 0 9 1 0 0 1 0.2 1\n1, -9, -8, 9, 8\n*\n",
    ];
    let texts = texts.map(|text| text.as_bytes().to_vec());
    [&texts[..], &[waterpro()]].concat()
}

/// A map with water of two heights.
fn waterpro() -> Vec<u8> {
    let mut file = 2_u32.to_le_bytes().to_vec();
    file.extend([6.0_f32, 20.5].iter().flat_map(|level| level.to_le_bytes()));
    file.resize(0x3C4, 0);
    file.resize(0x53C4, 0x80);
    for (at, number) in [(0x3C4, 0), (0x13C4, 0), (0x13C5, 0), (0x13C6, 1)] {
        file[at] = number;
    }
    file
}

pub fn ifp() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = [false, true].map(assets::anp).into();
    seeds.extend([assets::anlf(), assets::anpk()]);
    seeds.extend(beginnings(full_ifp_files()));
    short(seeds)
}

fn beginnings(files: Vec<(&str, Vec<u8>)>) -> impl Iterator<Item = Vec<u8>> {
    files.into_iter().map(|(_, mut bytes)| {
        bytes.truncate(FULL);
        bytes
    })
}

/// Returns seeds of the formats with their names, an archive with one of each,
/// and pairs of archives.
pub fn vfs() -> Vec<Vec<u8>> {
    let named = [
        (0, hpi_v1()),
        (0, hpi_v2()),
        (5, hip()),
        (1, psx()),
        (2, hgo()),
        (4, ifp()),
    ];
    let mut seeds = Vec::new();
    for (name, files) in named {
        for (number, bytes) in files.into_iter().take(6).enumerate() {
            let how = [0, 0x0E, 0x11, 0x04][number % 4];
            seeds.push([&[name, how][..], &bytes].concat());
        }
    }
    // Stored, so that changes affect the files inside.
    let stored = |name: &[u8], bytes| file(name, File::new(bytes, Method::Stored));
    let inner = V1::new(vec![stored(b"a.hpi", hpi_v1().remove(0))]);
    let files: [(&[u8], Vec<u8>); 6] = [
        (b"a.hpi", inner.build().bytes),
        (b"b.psx", psx().remove(0)),
        (b"c.hgo", hgo().remove(0)),
        (b"c.hgo.blk", hgo().remove(2)),
        (b"d.IFP", ifp().remove(0)),
        (b"e.hip", hip().remove(1)),
    ];
    let entries = files.map(|(name, bytes)| stored(name, bytes));
    let nested = V1::new(entries.to_vec()).build().bytes;
    seeds.push([&[0, 0][..], &nested].concat());
    let (mut below, mut above) = (hpi_v1(), hpi_v2());
    for (how, first, second) in [
        (0x20, below.remove(0), above.remove(0)),
        (0x23, above.remove(0), below.remove(0)),
        (0x60, below.remove(0), hip().remove(1)),
    ] {
        let length = (first.len() as u16).to_le_bytes();
        seeds.push([&[0, how][..], &length, &first, &second].concat());
    }
    short(seeds)
}

pub fn ops() -> Vec<Vec<u8>> {
    (0..12)
        .map(|seed| noise(seed, 300 + 60 * seed as usize))
        .collect()
}

fn short(mut seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.retain(|seed| seed.len() <= MAX_LENGTH);
    assert!(!seeds.is_empty());
    seeds
}
