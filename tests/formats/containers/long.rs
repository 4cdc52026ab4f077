//! Compressed files without a recorded size that are too long to decode when they are
//! opened.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use testkit::files::read_at;
use testkit::fuse_test;
use testkit::mount::{hpi, run};
use testkit::sources::{folder, names};

/// Size of the file in bytes, more than is decoded in one piece.
const SIZE: usize = 40 << 20;

/// Returns the file, packed.
fn packed() -> Vec<u8> {
    gzip(&[&vec![0; SIZE - 3], &b"end"[..]].concat())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[fuse_test]
fn a_long_file_has_its_size_when_a_program_requests_it() {
    let fixture = folder(|source| fs::write(source.join("long.bin.gz"), packed()).unwrap());
    let mount = fixture.mount(&[]);
    let directory = mount.file("long.bin.gz.d");
    assert_eq!(names(&directory), ["long.bin"]);
    let file = directory.join("long.bin");
    assert_eq!(fs::metadata(&file).unwrap().len(), SIZE as u64);
    let file = fs::File::open(file).unwrap();
    assert_eq!(read_at(&file, SIZE as u64 - 3, 9).unwrap(), b"end");
}

#[test]
fn a_list_does_not_decode_a_long_file_and_a_check_does() {
    let fixture = folder(|source| {
        let packed = packed();
        fs::write(source.join("a.gz"), &packed).unwrap();
        fs::write(source.join("b.gz"), &packed[..packed.len() - 20]).unwrap();
    });
    let list = |options: &[&str]| {
        let source = fixture.archive.join("a.gz");
        let ran = run(hpi("list").args(options).arg(source));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    let text = list(&[]);
    assert!(text.contains(" ? ") && text.contains(" a\n"), "{text}");
    let text = list(&["--json"]);
    assert!(text.contains("\"size\":null"), "{text}");
    let checked = run(hpi("check").arg(&fixture.archive));
    assert_eq!(checked.code, Some(12), "{checked:?}");
    let is_damaged = |name: &str| checked.stdout.contains(&format!("{name}.gz.d/{name}:"));
    assert!(is_damaged("b") && !is_damaged("a"), "{checked:?}");
    let bytes = SIZE.to_string();
    let listed = run(hpi("list").arg(&fixture.archive).arg("a.gz.d/a"));
    assert!(listed.stdout.contains(&bytes), "{listed:?}");
}

#[test]
fn a_long_asset_is_shown() {
    // A header of BMP: 24 bits for each pixel.
    let (width, height) = (2432_u32, 2400_u32);
    let header = [54, 0, 54, 40, width, height, 24 << 16 | 1, 0, 0, 0, 0, 0, 0];
    let header = header.iter().flat_map(|number| number.to_le_bytes());
    let mut bitmap: Vec<u8> = b"BM".iter().copied().chain(header).collect();
    bitmap.resize(54 + (3 * width * height) as usize, 0);
    let fixture = folder(|source| fs::write(source.join("a.bmp.gz"), gzip(&bitmap)).unwrap());
    let info = "a.bmp.gz.d/a.bmp.meta/info.json";
    let ran = run(hpi("cat").arg(&fixture.archive).arg(info));
    assert!(ran.stdout.contains("\"width\": 2432,"), "{ran:?}");
}

#[test]
fn what_of_a_long_file_cannot_be_decoded_is_logged_with_force() {
    let packed = packed();
    let cut = &packed[..packed.len() - 20];
    let fixture = folder(|source| fs::write(source.join("b.gz"), cut).unwrap());
    let list = ["-v", "-o", "force"];
    let ran = run(hpi("list").args(list).arg(&fixture.archive).arg("b.gz.d/b"));
    assert_eq!(ran.stderr.matches("can be decoded").count(), 1, "{ran:?}");
}
