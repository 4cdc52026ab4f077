//! Reports about an archive of arbitrary assets that refer to each other.

use hpimount::mount::{Error, FileKind, Ino, Options, Vfs};
use hpimount_containers::hip::{Platform, asset_id};

use super::heavy_iron::{CODES, GAMES, number_of};
use super::mount::{list, mounted};
use fixtures::heavy_iron;
use fixtures::hip::{Asset, Hip};

const PLATFORMS: [Platform; 4] = [
    Platform::GameCube,
    Platform::Xbox,
    Platform::PlayStation2,
    Platform::Unknown,
];

/// Types of assets in addition to [`CODES`].
const OTHERS: [&[u8; 4]; 6] = [b"JSP ", b"MODL", b"RWTX", b"SND ", b"SNDI", b"BSP "];

/// Maximum total size of the reports of a small archive, in bytes.
const MOST: u64 = 64 << 20;

/// Assets after a byte for console and game: the type, number, length (2 bytes)
/// and bytes of each. An asset is named after its number, so that others can
/// refer to it.
pub fn hi_reports(data: &[u8]) {
    let Some((&target, mut rest)) = data.split_first() else {
        return;
    };
    let platform = PLATFORMS[usize::from(target & 3)];
    let game = GAMES[usize::from(target >> 2 & 3)];
    let mut hip = Hip::target(game, platform);
    hip.layer(u32::from(target >> 4));
    while let Some((&[code, number, low, high], behind)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(behind.len());
        let bytes;
        (bytes, rest) = behind.split_at(length);
        hip.add(Asset::new(&code_of(code), &name(number), bytes));
    }
    let options = Options {
        cache_size: 8 << 20,
        ..Options::default()
    };
    let files = [("a.hip", hip.build())];
    let vfs = mounted(&files, false, options).expect("the archive is valid");
    let converted = vfs.lookup(Ino::ROOT, "converted").unwrap().ino;
    let tables = vfs.lookup(converted, "tables").ok();
    let folders = [Some(converted), tables.map(|tables| tables.ino)];
    let sizes = folders.into_iter().flatten().map(|folder| {
        let listed = list(&vfs, folder, 0, usize::MAX).unwrap();
        let files = listed.iter().filter(|entry| entry.kind == FileKind::File);
        files
            .map(|file| report(&vfs, folder, &file.name))
            .sum::<u64>()
    });
    let total: u64 = sizes.sum();
    assert!(total <= MOST, "{total}");
}

/// Returns the type encoded in a byte.
fn code_of(byte: u8) -> [u8; 4] {
    let index = usize::from(byte) % (CODES.len() + OTHERS.len());
    match CODES.get(index) {
        Some(code) => {
            let mut letters = *b"    ";
            letters[..code.len()].copy_from_slice(code.as_bytes());
            letters
        }
        None => *OTHERS[index - CODES.len()],
    }
}

fn name(number: u8) -> String {
    format!("asset{number}")
}

/// Reads a report and returns its size, or 0 if the budget has no room for it. The size
/// must match, and all rows of a table must have the same number of cells.
fn report(vfs: &Vfs, folder: Ino, name: &str) -> u64 {
    let attr = match vfs.lookup(folder, name) {
        Ok(attr) => attr,
        Err(Error::Io | Error::NoMemory) => return 0,
        Err(error) => panic!("{name}: {error:?}"),
    };
    let bytes = match vfs.read(attr.ino, 0, u32::MAX) {
        Ok(bytes) => bytes,
        Err(Error::Io | Error::NoMemory) => return 0,
        Err(error) => panic!("{name}: {error:?}"),
    };
    assert_eq!(bytes.len() as u64, attr.size, "{name}");
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("glb") => assert!(bytes.starts_with(b"glTF"), "{name}"),
        Some("png") => assert!(bytes.starts_with(b"\x89PNG"), "{name}"),
        Some("tsv") => {
            let text = str::from_utf8(&bytes).unwrap();
            let columns = text.lines().next().unwrap().split('\t').count();
            for line in text.split_terminator('\n') {
                assert_eq!(line.split('\t').count(), columns, "{name}: {line}");
            }
        }
        _ => assert!(str::from_utf8(&bytes).is_ok(), "{name}"),
    }
    vfs.forget(attr.ino, 1);
    attr.size
}

/// Encodes an asset for [`hi_reports`].
fn asset(code: &str, number: u8, bytes: &[u8]) -> Vec<u8> {
    let others = OTHERS
        .iter()
        .position(|other| other.trim_ascii_end() == code.as_bytes());
    let code = match others {
        Some(index) => (CODES.len() + index) as u8,
        None => number_of(code),
    };
    let length = (bytes.len() as u16).to_le_bytes();
    [&[code, number][..], &length, bytes].concat()
}

/// Seeds for [`hi_reports`]: levels on GameCube and Xbox with objects that send
/// each other events and have a model, a table of sounds, and other assets.
pub(super) fn reports_seeds() -> Vec<Vec<u8>> {
    [0, 1].map(level).to_vec()
}

fn level(platform: u8) -> Vec<u8> {
    let is_big = platform == 0;
    let words = |values: &[u32]| heavy_iron::words(is_big, values);
    let id = |number: u8| asset_id(name(number).as_bytes());
    let halves = |first: u32, second: u32| match is_big {
        true => first << 16 | second,
        false => second << 16 | first,
    };
    let object = |number: u8, base: u8, body: &[u32], target: u8| {
        let head = [&words(&[id(number)])[..], &[base, 1, 0, 0x1D]].concat();
        let link = [halves(1, 2), id(target), 0, 0x3F80_0000, 0, 0, id(5), 0];
        [head, words(body), words(&link)].concat()
    };
    let mut placed = [0; 22];
    (placed[12], placed[17]) = (0x3F80_0000, id(3));
    let sound = match is_big {
        true => heavy_iron::dsp_table(id(4), 14, 8000),
        false => heavy_iron::xbox_table(id(4), 1, 1, 8000, 16),
    };
    let assets = [
        asset("SIMP", 1, &object(1, 11, &placed, 2)),
        asset("TIMR", 2, &object(2, 14, &[0x3F80_0000, 0], 200)),
        asset("MODL", 3, &heavy_iron::pyramid()),
        asset("BSP", 7, &heavy_iron::world()),
        asset("SND", 4, &[0; 16]),
        asset("SNDI", 5, &sound),
        asset("TEXT", 6, &[&words(&[2])[..], b"a\t\0\0"].concat()),
        asset("MRKR", 7, &words(&[0x3F80_0000, 0, 0x7FC0_0000])),
        asset("COLL", 8, &words(&[1, id(3), id(9), 0])),
        asset("MINF", 9, &words(&[0x464E_494D, 0, 0, 0, 0])),
        asset("JSP", 10, &heavy_iron::gamecube_model(true)),
        asset("ALST", 1, &words(&[id(1), 9])),
    ];
    [vec![platform], assets.concat()].concat()
}
