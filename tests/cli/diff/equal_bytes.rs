//! Files are equal regardless of the encoding of their bytes. They are decoded only if
//! sizes, checksums and packed bytes do not decide.

use std::fs;

use super::{diff, hpi_with, lines, packed, pair};
use fixtures::container_seeds::{dax, ecm, zip_with};
use fixtures::disc::{Disc, MODE_2};
use fixtures::hpi::{File, V1, file as entry};
use fixtures::noise;
use hpimount_containers::hpi::chunk::Method;
use testkit::mount::{hpi, run};
use testkit::sources::folder;

#[test]
fn files_that_are_packed_in_other_ways_are_equal() {
    let bytes = noise(1, 200_000);
    let archive = |method| hpi_with(vec![entry(b"a.bin", File::new(bytes.clone(), method))]);
    let methods = [Method::Zlib, Method::Lz77].map(archive);
    let files = pair(["a.hpi", "b.hpi"], [&methods[0], &methods[1]]);
    assert_eq!(
        lines(&files.archive, &["a.hpi", "b.hpi"]),
        (Some(0), vec![])
    );
    fs::write(files.archive.join("c.zip"), zip_with("a.bin", &bytes)).unwrap();
    assert_eq!(
        lines(&files.archive, &["a.hpi", "c.zip"]),
        (Some(0), vec![])
    );
}

#[test]
fn files_whose_packed_bytes_are_equal_are_not_decoded() {
    let bytes = noise(1, 200_000);
    let mut built = V1::new(vec![packed("a.bin", &bytes)]).build();
    // No program can decode them.
    let chunk = built.files[0].chunks[0];
    built.bytes[chunk + 100] ^= 1;
    let files = pair(["a.hpi", "b.hpi"], [&built.bytes, &built.bytes]);
    assert_eq!(
        lines(&files.archive, &["a.hpi", "b.hpi"]),
        (Some(0), vec![])
    );
    let mut command = hpi("cat");
    command.current_dir(&files.archive).args(["a.hpi", "a.bin"]);
    assert_ne!(run(&mut command).code, Some(0));
}

/// Returns an archive whose only file, of this length, no program can decode.
fn undecodable(seed: u64, length: usize) -> Vec<u8> {
    let mut built = V1::new(vec![packed("a.bin", &noise(seed, length))]).build();
    let chunk = built.files[0].chunks[0];
    built.bytes[chunk + 100] ^= 1;
    built.bytes
}

#[test]
fn files_of_other_sizes_are_not_decoded() {
    let files = pair(
        ["a.hpi", "b.hpi"],
        [&undecodable(1, 5000), &undecodable(2, 6000)],
    );
    assert_eq!(
        lines(&files.archive, &["a.hpi", "b.hpi"]),
        (
            Some(1),
            vec!["changed: a.bin: 5000 -> 6000 bytes".to_owned()]
        )
    );
    // Only their bytes could tell.
    fs::write(files.archive.join("c.hpi"), undecodable(2, 5000)).unwrap();
    let ran = diff(&files.archive, &["a.hpi", "c.hpi"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn files_with_other_stored_checksums_are_not_decoded() {
    let undecodable = |seed| {
        let name = "a.bin";
        let mut zip = zip_with(name, &noise(seed, 5000));
        // After the header.
        zip[30 + name.len() + 100] ^= 1;
        zip
    };
    let files = pair(["a.zip", "b.zip"], [&undecodable(1), &undecodable(2)]);
    assert_eq!(
        lines(&files.archive, &["a.zip", "b.zip"]),
        (Some(1), vec!["changed: a.bin".to_owned()])
    );
    let mut command = hpi("cat");
    command.current_dir(&files.archive).args(["a.zip", "a.bin"]);
    assert_ne!(run(&mut command).code, Some(0));
}

#[test]
fn discs_are_compared_in_whatever_form_their_images_are() {
    let mut movie = noise(3, 2 * MODE_2);
    for sector in movie.chunks_mut(MODE_2) {
        // Data of Form 2.
        sector[..8].copy_from_slice(&[0, 0, 0x28, 0, 0, 0, 0x28, 0]);
    }
    let disc = |readme: &[u8], level: &str| {
        let mut disc = Disc::default();
        disc.file("README.TXT", readme)
            .file("DATA/SAME.BIN", &noise(1, 5000))
            .file(&format!("DATA/{level}.WAD"), &noise(2, 5000));
        disc
    };
    let (old, new) = (disc(b"first", "LEVEL"), disc(b"second", "WORLD"));
    let with_movie = |mut disc: Disc| {
        disc.form_2_file("INTRO.STR", &movie);
        disc.raw()
    };
    let files = folder(|source| {
        for (name, bytes) in [
            ("old.iso", old.iso()),
            ("old.dax", dax(&old.iso())),
            ("new.iso", new.iso()),
            ("old.bin", with_movie(disc(b"first", "LEVEL"))),
            ("old.ecm", ecm(&with_movie(disc(b"first", "LEVEL")))),
        ] {
            fs::write(source.join(name), bytes).unwrap();
        }
    });
    for same in [["old.iso", "old.dax"], ["old.bin", "old.ecm"]] {
        assert_eq!(lines(&files.archive, &same), (Some(0), vec![]), "{same:?}");
    }
    for old in ["old.iso", "old.dax"] {
        let (code, found) = lines(&files.archive, &[old, "new.iso"]);
        let expected = [
            "changed: README.TXT: 5 -> 6 bytes",
            "moved: DATA/LEVEL.WAD -> DATA/WORLD.WAD",
        ];
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!((code, &found[..]), (Some(1), &expected[..]), "{old}");
    }
}
