//! Discs in several files, in block images, and under ambiguous names.

use std::fs;
use std::path::Path;

use super::foreign::{file, mounted};
use fixtures::consoles;
use fixtures::container_seeds as seeds;
use fixtures::disc::{Disc, MODE_2};
use fixtures::dreamcast::{self, AREA};
use fixtures::noise;
use hpimount::mount::Options;
use hpimount_containers::Archive;
use testkit::applied::read_at;
use testkit::chd::{chdman, text};
use testkit::containers::{self, Contents as _};
use testkit::programs::run_in;
use testkit::walked;

/// Bytes of a raw sector, and of one with subchannels.
const RAW: usize = 2352;
const WITH_SUBCHANNELS: usize = 2448;

/// The bit of the submode in a subheader for Form 2.
const FORM_2: u8 = 0x20;

fn disc() -> Disc {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"text").file("D/B.BIN", &noise(1, 5000));
    disc
}

fn check(opened: &Archive) {
    let mut files: Vec<_> = opened.files().collect();
    files.sort_by_key(|(path, _)| path.to_owned());
    let found = files
        .iter()
        .map(|(path, entry)| (*path, opened.bytes(*entry).unwrap()));
    let found: Vec<_> = found
        .filter(|(path, _)| !path.starts_with("tracks/"))
        .collect();
    assert!(found == [("A.TXT", b"text".to_vec()), ("D/B.BIN", noise(1, 5000))]);
    assert_eq!(opened.volume().warnings(), [""; 0]);
}

#[test]
fn a_gdi_shows_the_second_area_in_all_its_data_tracks() {
    let area = dreamcast::area(&disc());
    // The files are in the second data track, which begins at sector 20.
    let (first, last) = area.split_at(20 * seeds::SECTOR);
    let audio = noise(2, 3 * RAW);
    let gdi = format!(
        "4\n1 0 4 2048 track01.bin 0\n2 900 0 2352 track02.raw 0\n\
         3 {AREA} 4 2048 track03.bin 0\n4 {} 4 2048 \"track 04.bin\" 0\n",
        AREA + 20
    );
    let beside = |name: &str| match name {
        "track01.bin" => Some(vec![0; 20 * seeds::SECTOR]),
        "track02.raw" => Some(audio.clone()),
        "track03.bin" => Some(first.to_vec()),
        "track 04.bin" => Some(last.to_vec()),
        _ => None,
    };
    let opened = containers::open("disc.gdi", gdi.clone().into(), &beside, true).unwrap();
    check(&opened);
    let game = &opened.volume().info()["game"];
    assert_eq!(
        (&game["title"], &game["id"]),
        (&"A GAME".into(), &"T0000M".into())
    );
    assert_eq!(game["region"], "Japan, America, Europe");
    let (_, track) = opened
        .files()
        .find(|(path, _)| *path == "tracks/02.wav")
        .unwrap();
    assert_eq!(opened.bytes(track).unwrap()[44..], audio);
    assert_eq!(opened.volume().images().len(), 4);
    // As plain files, the tracks have names without spaces.
    let plain = opened.volume().plain_files("disc");
    let names: Vec<&str> = plain.iter().map(|(name, _)| &**name).collect();
    let tracks = ["track01.bin", "track02.raw", "track03.bin", "track04.bin"];
    assert_eq!(names, [&["disc.gdi"][..], &tracks].concat());
    let bytes = |number: usize| {
        let source = &plain[number].1;
        let mut bytes = vec![0; source.len() as usize];
        source.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    assert_eq!(
        bytes(0),
        gdi.replace("\"track 04.bin\"", "track04.bin").into_bytes()
    );
    assert!(bytes(2) == audio && bytes(4) == last);
    let without = |name: &str| beside(name).filter(|_| name != "track 04.bin");
    let error = containers::open("disc.gdi", gdi.into(), &without, true)
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("track 04.bin is missing"),
        "{error}"
    );
}

#[test]
fn a_dreamcast_disc_that_chdman_packs_and_extracts_has_the_files_of_its_second_area() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    for name in ["first", "second", "out"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("first/WRONG.TXT"), b"for players of CDs").unwrap();
    fs::write(path("second/A.TXT"), b"text").unwrap();
    fs::write(path("second/B.BIN"), noise(1, 50_000)).unwrap();
    let images = [
        ["-quiet", "-o", "track01.bin", "first"].to_vec(),
        ["-quiet", "-C", "0,45000", "-o", "track03.bin", "second"].to_vec(),
    ];
    for arguments in images {
        if !run_in(directory.path(), "genisoimage", &arguments) {
            return;
        }
    }
    fs::write(path("track02.raw"), noise(2, 7 * RAW)).unwrap();
    // The second track does not begin at a frame where a CHD track may begin.
    let sheet = "3\n1 0 4 2048 track01.bin 0\n2 450 0 2352 track02.raw 0\n\
        3 45000 4 2048 track03.bin 0\n";
    fs::write(path("disc.gdi"), sheet).unwrap();
    let expected = mounted(&path("disc.gdi"));
    assert_eq!(expected["A.TXT"], file(b"text"));
    assert_eq!(expected["tracks/02.wav"].size, 44 + 7 * RAW as u64);
    let names: Vec<&String> = expected.keys().collect();
    assert_eq!(names, ["A.TXT", "B.BIN", "tracks/02.wav"]);
    let (sheet, chd, out) = (path("disc.gdi"), path("disc.chd"), path("out/disc.gdi"));
    if !chdman(&["createcd", "-i", text(&sheet), "-o", text(&chd)]) {
        return;
    }
    assert_eq!(mounted(&chd), expected);
    assert!(chdman(&["extractcd", "-i", text(&chd), "-o", text(&out)]));
    assert_eq!(mounted(&out), expected);
    // The plain files equal the packed ones.
    let vfs = walked::open(chd, Options::default()).unwrap();
    let plain = |name: &str| read_at(&vfs, &format!(".hpimount/image/{name}"));
    assert!(plain("track03.bin") == fs::read(path("track03.bin")).unwrap());
    assert!(plain("track02.raw") == fs::read(path("track02.raw")).unwrap());
    assert_eq!(plain("disc.gdi"), fs::read(path("disc.gdi")).unwrap());
}

#[test]
fn an_mds_shows_the_tracks_of_the_mdf_beside_it() {
    let audio = noise(2, 2 * RAW);
    let frames = |bytes: &[u8]| {
        let frames = bytes.chunks(RAW).map(|frame| [frame, &[0xEE; 96]].concat());
        frames.collect::<Vec<_>>().concat()
    };
    let data = disc().raw();
    let count = (data.len() / RAW) as u32;
    let image = [frames(&data), frames(&audio)].concat();
    let mut mds = seeds::mds();
    for (track, start, length) in [(0, 0, count), (1, count, 2)] {
        let at = 0x70 + track * 80;
        mds[at + 16..at + 18].copy_from_slice(&(WITH_SUBCHANNELS as u16).to_le_bytes());
        mds[at + 40..at + 44].copy_from_slice(&(start * WITH_SUBCHANNELS as u32).to_le_bytes());
        let at = 0x70 + 160 + track * 8;
        mds[at + 4..at + 8].copy_from_slice(&length.to_le_bytes());
    }
    for (name, bytes, other) in [("a.mds", &mds, &image), ("a.mdf", &image, &mds)] {
        let beside = |wanted: &str| {
            assert!(wanted.starts_with("a.md") && wanted != name, "{wanted}");
            Some(other.clone())
        };
        let opened = containers::open(name, bytes.clone(), &beside, true).unwrap();
        assert_eq!(opened.format().name, "MDS");
        check(&opened);
        let (_, track) = opened
            .files()
            .find(|(path, _)| *path == "tracks/02.wav")
            .unwrap();
        assert_eq!(opened.bytes(track).unwrap()[44..], audio);
    }
    check(&containers::open("a.mdf", image, &|_| None, true).unwrap());
    let error = containers::open("a.mds", mds, &|_| None, true)
        .err()
        .unwrap();
    assert!(error.to_string().contains(".mdf file beside it"), "{error}");
}

#[test]
fn an_img_whose_first_file_looks_like_another_archive_is_what_its_directory_says() {
    for magic in [&b"HAPI"[..], b"HIPA", b"PK\x03\x04", b"Rar!"] {
        let mut image = seeds::sectors();
        image[..4].copy_from_slice(magic);
        let directory = seeds::img_directory();
        let beside = |wanted: &str| (wanted == "a.dir").then(|| directory.clone());
        let opened = containers::open("a.img", image, &beside, true).unwrap();
        assert_eq!(opened.format().name, "IMG");
        let (_, file) = opened.files().find(|(path, _)| *path == "a.ifp").unwrap();
        assert!(opened.bytes(file).unwrap().starts_with(magic));
    }
}

#[test]
fn a_ccd_shows_the_tracks_of_the_img_beside_it() {
    let audio = noise(2, 2 * RAW);
    let data = disc().raw();
    let start = data.len() / RAW;
    let image = [&data[..], &audio].concat();
    let ccd = format!(
        "[CloneCD]\r\nVersion=3\r\n[Entry 0]\r\nSession=1\r\nPoint=0xa2\r\nPLBA=4500\r\n\
        [Entry 1]\r\nSession=1\r\nPoint=0x01\r\nControl=0x04\r\nPLBA=0\r\n\
        [Entry 2]\r\nSession=1\r\nPoint=0x02\r\nControl=0x00\r\nPLBA={start}\r\n\
        [TRACK 1]\r\nMODE=2\r\nINDEX 1=0\r\n[TRACK 2]\r\nMODE=0\r\nINDEX 1={start}\r\n"
    );
    for (name, bytes, other) in [
        ("a.ccd", ccd.as_bytes(), &image[..]),
        ("a.img", &image, ccd.as_bytes()),
    ] {
        let beside = |wanted: &str| match wanted {
            "a.img" | "a.ccd" if wanted != name => Some(other.to_vec()),
            _ => None,
        };
        let opened = containers::open(name, bytes.to_vec(), &beside, true).unwrap();
        assert_eq!(opened.format().name, "CCD");
        check(&opened);
        let (_, track) = opened
            .files()
            .find(|(path, _)| *path == "tracks/02.wav")
            .unwrap();
        assert_eq!(opened.bytes(track).unwrap()[44..], audio);
    }
    check(&containers::open("a.img", data, &|_| None, true).unwrap());
    let error = containers::open("a.ccd", ccd.into(), &|_| None, true)
        .err()
        .unwrap();
    assert!(error.to_string().contains(".img file beside it"), "{error}");
}

#[test]
fn discs_packed_as_dax_ecm_and_pbp_have_the_files_of_the_disc() {
    let directory = tempfile::tempdir().unwrap();
    let mut form_2 = disc();
    let frames = [3, 4].map(|seed| {
        let mut frame = noise(seed, MODE_2);
        frame[2] |= FORM_2;
        frame
    });
    form_2.form_2_file("D/M.STR", &frames.concat());
    let (iso, raw) = (disc().iso(), form_2.raw());
    for (name, bytes) in [
        ("plain.iso", &iso),
        ("raw.bin", &raw),
        ("plain.dax", &seeds::dax(&iso)),
        ("raw.bin.ecm", &seeds::ecm(&raw)),
        ("raw.pbp", &seeds::pbp(&raw)),
    ] {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    let found = |name: &str| mounted(&directory.path().join(name));
    let (plain, raw) = (found("plain.iso"), found("raw.bin"));
    assert!(plain.contains_key("D/B.BIN") && raw.contains_key("D/M.STR"));
    assert_eq!(found("plain.dax"), plain);
    assert_eq!(found("raw.bin.ecm"), raw);
    assert_eq!(found("raw.pbp"), raw);
}

#[test]
fn a_wbfs_of_wit_has_the_files_of_the_disc() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("disc.iso"), seeds::gcm()).unwrap();
    let arguments = ["copy", "disc.iso", "disc.wbfs", "--wbfs"];
    if !run_in(directory.path(), "wit", &arguments) {
        return;
    }
    let path = |name: &str| directory.path().join(name);
    let (found, expected) = (mounted(&path("disc.wbfs")), mounted(&path("disc.iso")));
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}

/// Returns the paths of the files that a mount of a folder shows in `X.d`.
fn inside(folder: &Path, name: &str) -> bool {
    let vfs = walked::open(folder.to_owned(), Options::default()).unwrap();
    let files = walked::files(&vfs);
    files.get(&format!("{name}.d/A.TXT")) == Some(&file(b"text"))
}

#[test]
fn discs_and_zips_under_other_names_can_be_entered() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
    let (iso, raw) = (disc().iso(), disc().raw());
    let zip = seeds::zip_with("A.TXT", b"text");
    let names = [
        "a.img", "b.bin", "c.mdf", "d.img", "e.mdf", "f.jar", "g.pk3", "h.zipx",
    ];
    for (name, bytes) in names
        .into_iter()
        .zip([&iso, &iso, &iso, &raw, &raw, &zip, &zip, &zip])
    {
        write(name, bytes);
        assert!(inside(directory.path(), name), "{name}");
    }
    // Other files with these names have no companion.
    write("i.img", &noise(1, 40_960));
    write("j.bin", &vec![0; 40_960]);
    let vfs = walked::open(directory.path().to_owned(), Options::default()).unwrap();
    for name in ["i.img.d", "j.bin.d"] {
        assert!(
            vfs.lookup(hpimount::mount::Ino::ROOT, name).is_err(),
            "{name}"
        );
    }
}

#[test]
fn discs_say_their_game_and_its_region() {
    let mut playstation = disc();
    playstation.file("SYSTEM.CNF", b"BOOT = cdrom:\\SLES_000.01;1\r\n");
    let mut gamecube = seeds::gcm();
    gamecube[0x45B] = 2;
    let xbox = seeds::xdvdfs_with("default.xbe", &consoles::program());
    let info = |image: Vec<u8>| {
        let opened = containers::open("disc.iso", image, &|_| None, true).unwrap();
        opened.volume().info()
    };
    let game = &info(playstation.iso())["game"];
    assert_eq!(
        (&game["id"], &game["region"]),
        (&"SLES-00001".into(), &"Europe".into())
    );
    let game = info(gamecube);
    assert_eq!(
        (&game["title"], &game["region"]),
        (&"A disc".into(), &"Europe".into())
    );
    let game = &info(xbox)["game"];
    assert_eq!(
        (&game["title"], &game["region"]),
        (&"A Gäme".into(), &"North America".into())
    );
    assert_eq!(info(disc().iso())["game"], serde_json::Value::Null);
}
