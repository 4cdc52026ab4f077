//! Discs as plain files: in the root of a disc, whether it is mounted or a file of
//! the mount, and not listed there.

use std::fs;
use std::path::Path;

use testkit::fuse_test;

use fixtures::container_seeds as seeds;
use fixtures::disc::Disc;
use fixtures::dreamcast::{self, Gd};
use fixtures::noise;
use testkit::chd;
use testkit::mounted::{mounted, mounted_files};
use testkit::sources::{folder, names};

/// Bytes of a raw sector.
const RAW: usize = 2352;

fn disc() -> Disc {
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    disc.file("DATA/A.DAT", &noise(1, 5000));
    disc
}

fn is(path: &Path, expected: &[u8]) {
    let read = fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    assert!(read.unwrap() == expected, "{}", path.display());
}

#[fuse_test]
fn a_disc_in_a_folder_is_plain_in_its_directory() {
    let gcm = seeds::gcm();
    let tracks = [disc().raw(), noise(2, 200 * RAW)];
    let mount = folder(|source| {
        fs::write(source.join("game.gcz"), seeds::gcz(&gcm, 0x8000)).unwrap();
        let tracks = [
            ("TYPE:MODE2_RAW", &tracks[0][..]),
            ("TYPE:AUDIO", &tracks[1]),
        ];
        fs::write(source.join("cd.chd"), chd::cd(&tracks)).unwrap();
        fs::write(source.join("a.zip"), seeds::zip_with("a.txt", b"a")).unwrap();
    })
    .mount(&[]);
    is(&mount.file("game.gcz.d/disc.iso"), &gcm);
    // Case does not matter, as for all names.
    is(&mount.file("game.gcz.d/DISC.ISO"), &gcm);
    is(&mount.file("cd.chd.d/disc.bin"), &tracks.concat());
    let sheet = fs::read_to_string(mount.file("cd.chd.d/disc.cue")).unwrap();
    assert!(sheet.contains("FILE \"disc.bin\" BINARY") && sheet.contains("TRACK 02 AUDIO"));
    assert!(!mount.file("cd.chd.d/disc.iso").exists());
    // It is a file of each disc only, and only of its root.
    for path in ["disc.iso", "a.zip.d/disc.iso", "cd.chd.d/DATA/disc.bin"] {
        assert!(!mount.file(path).exists(), "{path}");
    }
    assert_eq!(
        names(&mount.file("cd.chd.d")),
        ["DATA", "README.TXT", "tracks"]
    );
}

#[fuse_test]
fn a_disc_in_a_block_image_of_any_kind_has_the_bytes_of_the_dump() {
    // Several blocks of each kind, with zeros between them.
    let gcm = [
        seeds::gcm(),
        noise(1, 100_000),
        vec![0; 100_000],
        noise(2, 50_000),
    ]
    .concat();
    let iso = disc().iso();
    let kinds = [
        ("a.rvz", seeds::rvz(&gcm), &gcm),
        ("b.wia", seeds::wia(&gcm), &gcm),
        ("c.gcz", seeds::gcz(&gcm, 0x8000), &gcm),
        ("d.cso", seeds::cso(&iso), &iso),
        ("e.zso", seeds::zso(&iso), &iso),
        ("f.chd", seeds::chd(&iso), &iso),
        ("g.dax", seeds::dax(&iso), &iso),
    ];
    let ciso = seeds::ciso(&gcm, 2 << 20);
    let mount = folder(|source| {
        for (name, bytes, _) in &kinds {
            fs::write(source.join(name), bytes).unwrap();
        }
        fs::write(source.join("h.ciso"), &ciso).unwrap();
    })
    .mount(&[]);
    for (name, packed, plain) in &kinds {
        assert!(!packed.starts_with(&plain[..8]), "{name}");
        is(&mount.file(&format!("{name}.d/disc.iso")), plain);
    }
    // A CISO does not contain the length of the disc: it is assumed to be full.
    let file = fs::File::open(mount.file("h.ciso.d/disc.iso")).unwrap();
    let size = file.metadata().unwrap().len();
    assert_eq!(size, 1_459_978_240);
    let part = |at: u64, length: usize| {
        let mut bytes = vec![1; length];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, at).unwrap();
        bytes
    };
    assert!(part(0, gcm.len()) == gcm);
    for at in [gcm.len() as u64, size / 2, size - 70_000] {
        assert!(part(at, 70_000) == [0; 70_000], "{at}");
    }
}

#[fuse_test]
fn a_dreamcast_disc_has_its_description_and_its_tracks() {
    let gd = Gd::new(&dreamcast::area(&disc()), dreamcast::SECTOR);
    let mount = folder(|source| fs::write(source.join("game.chd"), gd.chd()).unwrap()).mount(&[]);
    is(&mount.file("game.chd.d/disc.gdi"), gd.sheet().as_bytes());
    for (name, track) in gd.named() {
        is(&mount.file(&format!("game.chd.d/{name}")), &track.sectors);
    }
    assert!(!mount.file("game.chd.d/disc.iso").exists());
}

#[fuse_test]
fn a_disc_in_a_disc_in_an_archive_is_plain() {
    let inner = disc().iso();
    let mut outer = Disc::default();
    outer.file("INNER.ISO", &inner);
    let mount = mounted(&seeds::zip_with("outer.iso", &outer.iso()), "");
    let point = mount.file("outer.iso.d");
    is(&point.join("disc.iso"), &outer.iso());
    is(&point.join("INNER.ISO.d/disc.iso"), &inner);
}

#[fuse_test]
fn sources_side_by_side_are_plain_in_their_directories() {
    let work = tempfile::tempdir().unwrap();
    let paths = ["a.iso", "b.iso"].map(|name| work.path().join(name));
    let discs = [disc().iso(), Disc::default().file("B.TXT", b"b").iso()];
    for (path, disc) in paths.iter().zip(&discs) {
        fs::write(path, disc).unwrap();
    }
    let mount = mounted_files(&paths, "");
    is(&mount.file("a.iso/disc.iso"), &discs[0]);
    is(&mount.file("b.iso/disc.iso"), &discs[1]);
    assert!(!mount.file("disc.iso").exists());
}

#[fuse_test]
fn an_entry_of_the_disc_wins_and_visible_companions_list_the_others() {
    let mut disc = disc();
    disc.file("DISC.BIN", b"a file of the disc");
    let raw = disc.raw();
    let mount = folder(|source| fs::write(source.join("game.bin"), &raw).unwrap())
        .mount(&["-o", "meta=visible"]);
    let point = mount.file("game.bin.d");
    is(&point.join("disc.bin"), b"a file of the disc");
    let listed = names(&point);
    assert_eq!(
        listed,
        ["DATA", "DISC.BIN", "README.TXT", "converted", "disc.cue"]
    );
    let entries = fs::read_dir(&point).unwrap();
    for entry in entries.map(Result::unwrap) {
        let known = fs::metadata(entry.path()).unwrap();
        use std::os::unix::fs::{DirEntryExt, MetadataExt};
        assert_eq!(known.ino(), entry.ino(), "{entry:?}");
    }
}

#[fuse_test]
fn a_plain_disc_that_is_read_beside_much_else_stays_the_same() {
    let gcm = seeds::gcm();
    let mount = folder(|source| {
        fs::write(source.join("game.gcz"), seeds::gcz(&gcm, 0x8000)).unwrap();
        for number in 0..40 {
            let name = source.join(format!("{number}.zip"));
            fs::write(name, seeds::zip_of_copies("txt", b"text", 2000)).unwrap();
        }
    })
    .mount(&["-o", "cachesize=1M"]);
    let path = mount.file("game.gcz.d/disc.iso");
    let file = fs::File::open(&path).unwrap();
    let ino = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    let before = ino(&path);
    for number in 0..40 {
        assert!(!names(&mount.file(&format!("{number}.zip.d"))).is_empty());
        let mut bytes = vec![0; 4096];
        let at = 97 * number;
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, at).unwrap();
        assert!(bytes == gcm[at as usize..][..4096]);
    }
    assert_eq!(ino(&path), before);
    is(&path, &gcm);
}
