//! Small HIP archives with assets that repeatedly refer to the same bytes: reports
//! about them finish, within their memory limits.

use std::fs;
use std::io;
use std::ops::Range;
use testkit::fuse_test;

use fixtures::heavy_iron as build;
use fixtures::hip::block;
use hpimount_containers::hip::asset_id;
use testkit::limits::peak_memory_of;
use testkit::mount::Mount;
use testkit::mounted::mounted;

/// Returns an archive of `count` assets of a type that all refer to the same
/// bytes.
fn same(code: &[u8; 4], count: u32, bytes: &[u8]) -> Vec<u8> {
    let whole = 0..bytes.len() as u32;
    let assets = (0..count).map(|id| (*code, id, whole.clone()));
    archive(&assets.collect::<Vec<_>>(), bytes)
}

/// Returns an archive of assets, each with a type, an id and a part of these
/// bytes.
fn archive(assets: &[([u8; 4], u32, Range<u32>)], bytes: &[u8]) -> Vec<u8> {
    let tables = |start: u32| {
        let assets = assets.iter().flat_map(|(code, id, part)| {
            let code = u32::from_be_bytes(*code);
            let offset = start + part.start;
            let fields = [*id, code, offset, part.len() as u32, 0, 1];
            block(b"AHDR", &build::big(&fields))
        });
        let assets: Vec<u8> = assets.collect();
        let tables = [block(b"ATOC", &assets), block(b"LTOC", &[])].concat();
        [block(b"HIPA", &[]), block(b"DICT", &tables)].concat()
    };
    let head = tables(0).len() as u32;
    [tables(head), bytes.to_vec()].concat()
}

/// Reads a file of the converted tree.
fn read(mount: &Mount, file: &str) -> io::Result<Vec<u8>> {
    fs::read(mount.file("converted").join(file))
}

/// Maximum memory of a mount with a cache of 8 MiB.
const MAX_MEMORY: usize = 64 << 20;

fn check_memory(mount: &Mount) {
    let peak = peak_memory_of(&mount.pid().to_string());
    assert!(peak < MAX_MEMORY, "{peak} bytes");
}

#[fuse_test]
fn links_that_are_referenced_repeatedly_are_not_sorted_in_memory() {
    let links = build::little(&[0x0001_0002, 7, 0, 0, 0, 0, 0, 0]).repeat(255);
    let object = [build::little(&[1, 0x001D_FF1E]), links].concat();
    let archive = same(b"DPAT", 1100, &object);
    assert!(archive.len() < 100_000);
    let mount = mounted(&archive, "cachesize=8M");
    let error = read(&mount, "tables/links_in.tsv").unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EIO), "{error}");
    // Other reports can be read.
    let places = read(&mount, "tables/placements.tsv").unwrap();
    assert_eq!(places.iter().filter(|byte| **byte == b'\n').count(), 1);
    check_memory(&mount);
}

#[fuse_test]
fn bytes_that_are_referenced_repeatedly_are_read_up_to_a_limit() {
    let archive = same(b"RWTX", 600, &vec![0; 1 << 20]);
    let mount = mounted(&archive, "cachesize=8M");
    for file in ["errors.tsv", "checks.txt"] {
        let error = read(&mount, file).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO), "{file}: {error}");
    }
    check_memory(&mount);
}

#[fuse_test]
fn the_geometry_of_a_level_is_limited() {
    let corners: Vec<[f32; 3]> = (0..3000_u16)
        .map(|n| [n.into(), (n % 7).into(), 0.0])
        .collect();
    let triangles: Vec<[u16; 3]> = (0..2998).map(|n| [n, n + 1, n + 2]).collect();
    let uvs = vec![[0.0; 2]; corners.len()];
    let model = build::plain_model(&corners, &uvs, &triangles);
    let mount = mounted(&same(b"JSP ", 400, &model), "cachesize=8M");
    let level = read(&mount, "level.glb").unwrap();
    let length = u32::from_le_bytes(level[12..16].try_into().unwrap()) as usize;
    let json = String::from_utf8(level[20..20 + length].to_vec()).unwrap();
    assert!(json.contains("with it, the level has more than 262144 corners"));
    assert!(level.len() < 48 << 20, "{}", level.len());
    check_memory(&mount);
}

#[fuse_test]
fn the_textures_of_a_level_are_read_up_to_a_limit() {
    // A small texture in a dictionary of 4 MiB.
    let small = build::gamecube(4, 0, [8, 4], &[], &[0xFC, 0].repeat(32), 1);
    let padding = build::chunk(3, &vec![0; 4 << 20]);
    let mut bytes = build::chunk(0x16, &[&small[12..], &padding].concat());
    let texture = 0..bytes.len() as u32;
    let mut assets = Vec::new();
    for number in 0..80 {
        let name = format!("t{number:03}");
        let mut model = build::pyramid();
        let at = model.windows(4).position(|four| four == b"wood").unwrap();
        model[at..at + 4].copy_from_slice(name.as_bytes());
        let start = bytes.len() as u32;
        bytes.extend(model);
        assets.push((*b"JSP ", number, start..bytes.len() as u32));
        let id = asset_id(format!("{name}.RW3").as_bytes());
        assets.push((*b"RWTX", id, texture.clone()));
    }
    let mount = mounted(&archive(&assets, &bytes), "cachesize=8M");
    let level = read(&mount, "level.glb").unwrap();
    let length = u32::from_le_bytes(level[12..16].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&level[20..20 + length]).unwrap();
    // The models take a little of the 256 MiB.
    assert_eq!(json["images"].as_array().unwrap().len(), 63);
    assert_eq!(json["meshes"].as_array().unwrap().len(), 80);
    check_memory(&mount);
}
