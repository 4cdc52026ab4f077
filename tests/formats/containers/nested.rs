//! Nested containers behave like single ones: in a zip and in a disc, through the
//! library and through a mount, and several levels deep. Only files with the magic of a
//! container are treated as one.

use std::fs;

use fixtures::container_seeds::{Method7z, seven_zip_of, tgc, zip_with};
use fixtures::disc::{Disc, MODE_2};
use fixtures::hip::{Asset, Hip};
use hpimount::mount::Options;
use hpimount::namespace::companion::Meta;
use testkit::nested::files;
use testkit::walked;

fn archive(text: &[u8]) -> Vec<u8> {
    let mut hip = Hip::default();
    hip.layer(0);
    hip.add(Asset::new(b"TEXT", "hello", text));
    hip.build()
}

#[test]
fn a_hip_in_a_disc_in_a_7z_in_a_zip_is_read_exactly() {
    let mut disc = Disc::default();
    disc.file("BB/BB01.HIP", &archive(b"some text"));
    let inner = disc.iso();
    let solid = [
        ("first.txt", &b"before it"[..]),
        ("disc.iso", &inner),
        ("last.txt", b"behind"),
    ];
    let middle = seven_zip_of(Method7z::Deflate, &solid, 0);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outer.zip");
    fs::write(&path, zip_with("game/middle.7z", &middle)).unwrap();
    let files = files(&path);
    let hello = files.iter().find(|(path, _)| path.ends_with("/hello.text"));
    let (path, hello) = hello.unwrap_or_else(|| panic!("{files:#?}"));
    assert!(
        path.starts_with("game/middle.7z.d/disc.iso.d/BB/BB01.HIP.d/layers/"),
        "{path}"
    );
    assert_eq!(hello.sha256, Ok(walked::sha256_of(b"some text")));
}

#[test]
fn a_tgc_has_the_files_of_its_disc() {
    let directory = tempfile::tempdir().unwrap();
    for shift in [0, 0x10_0000] {
        let path = directory.path().join("disc.tgc");
        fs::write(&path, tgc(shift)).unwrap();
        let files = files(&path);
        let text = &files["files/a.txt"];
        assert_eq!(text.sha256, Ok(walked::sha256_of(b"GCM txt")));
        assert_eq!(
            files["files/bb/c.HIP"].sha256,
            Ok(walked::sha256_of(&[9; 100]))
        );
        assert_eq!(files["sys/main.dol"].size, 0x110);
    }
}

#[test]
fn common_extensions_need_the_first_bytes_of_a_container() {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"text")
        .form_2_file("M.STR", &[1; MODE_2])
        .form_2_file("V.DAT", &movie());
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
    write("alone.bin", &disc.raw());
    write("clone.img", &disc.raw());
    write("with sheet.bin", &disc.raw());
    write(
        "with sheet.cue",
        b"FILE \"with sheet.bin\" BINARY\nTRACK 01 MODE2/2352\nINDEX 01 00:00:00\n",
    );
    write("other.bin", b"anything");
    write("floppy.img", &[0xEB; 512]);
    let options = Options {
        meta: Meta::Off,
        ..Options::default()
    };
    let vfs = walked::open(directory.path().to_owned(), options).unwrap();
    let files = walked::files(&vfs);
    let inside = files.keys().filter_map(|path| path.split_once(".d/"));
    let mut containers: Vec<&str> = inside.map(|(container, _)| container).collect();
    containers.dedup();
    assert_eq!(containers, ["alone.bin", "clone.img", "with sheet.cue"]);
    for container in containers {
        let text = &files[&format!("{container}.d/A.TXT")];
        assert_eq!(text.sha256, Ok(walked::sha256_of(b"text")));
        assert_eq!(files[&format!("{container}.d/M.STR.raw2336")].size, 2336);
        let played = &files[&format!("{container}.d/M.STR.cdxa.str")];
        assert_eq!(played.size, 44 + 2352);
        let video = format!("{container}.d/V.DAT.cdxa");
        let played: Vec<_> = files
            .keys()
            .filter(|path| path.starts_with(&video))
            .collect();
        assert_eq!(played, [&format!("{video}.dat")]);
    }
}

/// Returns a sector of a movie of a Video CD: its subheader, and MPEG.
fn movie() -> [u8; MODE_2] {
    let mut sector = [1; MODE_2];
    sector[8..12].copy_from_slice(&[0, 0, 1, 0xBA]);
    sector
}
