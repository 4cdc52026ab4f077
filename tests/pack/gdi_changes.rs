//! Dreamcast discs with changes: as GDI, and in a CHD.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{TempDir, tempdir};

use fixtures::disc::Disc;
use fixtures::dreamcast::{self, AREA, Gd, RAW, SECTOR, Track};
use fixtures::noise;
use hpimount::mount::Options;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::chd::{chdman, text};
use testkit::hpipack::{hpipack, stderr};
use testkit::programs::run_in;
use testkit::walked::{files, open};

/// Exit code of refused changes, and of targets that cannot be written.
const REFUSED: i32 = 14;
const NOT_WRITTEN: i32 = 20;

/// The sectors of audio between the tracks of data of [`disc`], in the area.
const AUDIO: std::ops::Range<usize> = 24..34;

/// Returns a disc with data in two tracks of its second area and audio between them.
fn disc(step: usize) -> Gd {
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    disc.file("DATA/A.DAT", &noise(1, 5000));
    // The sectors of audio: no track of data has them.
    disc.file(
        "DATA/B.DAT",
        &[0; AUDIO.end * SECTOR - AUDIO.start * SECTOR],
    );
    disc.file("DATA/C.DAT", &noise(3, 5000));
    let area = dreamcast::area(&disc);
    let mut gd = Gd::new(&area[..AUDIO.start * SECTOR], step);
    gd.tracks
        .push(Track::audio(AUDIO.len(), AREA + AUDIO.start));
    let last = Track::data(&area[AUDIO.end * SECTOR..], AREA + AUDIO.end, step);
    gd.tracks.push(last);
    gd
}

/// A folder of changes, and a place for its results.
struct Changes {
    work: TempDir,
    folder: PathBuf,
    out: PathBuf,
}

impl Changes {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let work = tempdir().unwrap();
        let folder = work.path().join("changes");
        for (path, bytes) in files {
            write(&folder, path, bytes);
        }
        let out = work.path().join("out");
        fs::create_dir(&out).unwrap();
        let out = out.join("new.gdi");
        Self { work, folder, out }
    }

    /// Applies the changes, and returns the written files by their names.
    fn written(&self, source: &Path) -> BTreeMap<String, Vec<u8>> {
        let ran = hpi_apply(&[], &self.folder, source, &self.out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        self.files()
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.out.parent().unwrap()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        paths
            .map(|path| (name(&path), fs::read(&path).unwrap()))
            .collect()
    }
}

/// Changes of every kind: in place, at the end, of a file outside of data tracks, and
/// of directories.
fn changes() -> Changes {
    Changes::new(&[
        ("README.TXT", b"READ ME"),
        ("DATA/.wh.A.DAT", b""),
        ("DATA/B.DAT", b"found"),
        ("DATA/C.DAT", &noise(7, 20_000)),
        ("DATA/NEW.DAT", &noise(8, 3000)),
    ])
}

/// Asserts that a changed track has whole sectors with the right addresses.
fn is_whole(track: &[u8], original: &Track) {
    assert_eq!(track.len() % RAW, 0);
    let old: Vec<&[u8]> = original.sectors.chunks(RAW).collect();
    for (number, sector) in track.chunks(RAW).enumerate() {
        if old.get(number) == Some(&sector) {
            continue;
        }
        let place = original.first + number;
        assert_eq!(sector[..16], dreamcast::head(place), "{place}");
        assert!(dreamcast::is_whole(sector), "{place}");
    }
}

#[test]
fn the_last_track_of_a_gdi_grows_and_its_description_stays() {
    let changes = changes();
    let gd = disc(RAW);
    let original = gd.write(changes.work.path());
    let written = changes.written(&original);
    assert_eq!(written.len(), 1 + gd.tracks.len());
    let sheet = String::from_utf8(written["new.gdi"].clone()).unwrap();
    let unnamed = sheet.replace("\"new ", "").replace('"', "");
    assert_eq!(unnamed, gd.sheet());
    for (name, original) in gd.named() {
        let track = &written[&format!("new {name}")];
        match &*name {
            "track03.bin" => assert_eq!(track.len(), original.sectors.len()),
            "track05.bin" => assert!(track.len() > original.sectors.len()),
            _ => assert!(*track == original.sectors, "{name}"),
        }
        if !original.is_audio {
            is_whole(track, original);
        }
    }
    // The volume ends where the last track does.
    let end = AREA + AUDIO.end + written["new track05.bin"].len() / RAW;
    let descriptor = &written["new track03.bin"][16 * RAW + 16..][..SECTOR];
    let blocks = u32::from_le_bytes(descriptor[80..84].try_into().unwrap());
    assert_eq!(blocks as usize, end - AREA);

    let after = open(changes.out.clone(), Options::default()).unwrap();
    let names = files(&after).into_keys();
    let names: Vec<String> = names.filter(|name| !name.contains(".meta/")).collect();
    let expected = ["DATA/B.DAT", "DATA/C.DAT", "DATA/NEW.DAT", "README.TXT"];
    assert_eq!(
        names,
        [&expected[..], &["tracks/02.wav", "tracks/04.wav"]].concat()
    );
    assert_eq!(read_at(&after, "README.TXT"), b"READ ME");
    assert_eq!(read_at(&after, "DATA/B.DAT"), b"found");
    assert!(read_at(&after, "DATA/C.DAT") == noise(7, 20_000));
    assert!(read_at(&after, "DATA/NEW.DAT") == noise(8, 3000));
    assert!(read_at(&after, "tracks/04.wav")[44..] == gd.tracks[3].sectors);

    // A mount has the same files and the same tracks.
    let mounted = open_changed(&original, &changes.folder).unwrap();
    assert!(files(&mounted) == files(&after));
    for name in gd.named().map(|(name, _)| name) {
        let written = &written[&format!("new {name}")];
        assert!(read_at(&mounted, &name) == *written, "{name}");
        assert!(
            read_at(&mounted, &format!(".hpimount/image/{name}")) == *written,
            "{name}"
        );
    }
    let sheet = read_at(&mounted, "disc.gdi");
    assert_eq!(String::from_utf8(sheet).unwrap(), gd.sheet());
}

#[test]
fn a_chd_of_a_dreamcast_disc_is_changed_like_its_gdi() {
    for step in [RAW, SECTOR] {
        let changes = changes();
        let gd = disc(step);
        let of_gdi = changes.written(&gd.write(changes.work.path()));
        let chd = changes.work.path().join("packed.chd");
        fs::write(&chd, gd.chd()).unwrap();
        let ran = hpi_apply(&["--force"], &changes.folder, &chd, &changes.out);
        assert!(ran.status.success(), "{}", stderr(&ran));
        let of_chd = changes.files();
        assert!(of_chd == of_gdi);
        let mounted = open_changed(&chd, &changes.folder).unwrap();
        for name in ["track03.bin", "track04.raw", "track05.bin"] {
            assert!(
                read_at(&mounted, name) == of_chd[&format!("new {name}")],
                "{name}"
            );
        }
        assert!(read_at(&mounted, ".hpimount/image/packed.gdi") == gd.sheet().as_bytes());
        // Nothing is changed without changes.
        let nothing = Changes::new(&[("README.TXT", b"read me")]);
        let written = nothing.written(&chd);
        for (name, track) in gd.named() {
            assert!(written[&format!("new {name}")] == track.sectors, "{name}");
        }
    }
}

#[test]
fn chdman_and_isoinfo_read_a_changed_dreamcast_disc() {
    let changes = Changes::new(&[
        ("A.TXT", &noise(5, 9000)),
        ("B.BIN", b"short"),
        ("NEW.BIN", &noise(6, 5000)),
    ]);
    let work = changes.work.path();
    fs::create_dir(work.join("content")).unwrap();
    fs::write(work.join("content/A.TXT"), b"text").unwrap();
    fs::write(work.join("content/B.BIN"), noise(1, 50_000)).unwrap();
    let arguments = ["-quiet", "-C", "0,45000", "-o", "area.bin", "content"];
    if !run_in(work, "genisoimage", &arguments) {
        return;
    }
    let gd = Gd::new(&fs::read(work.join("area.bin")).unwrap(), SECTOR);
    let original = gd.write(work);
    let chd = work.join("game.chd");
    if !chdman(&["createcd", "-i", text(&original), "-o", text(&chd)]) {
        return;
    }
    let of_chd = changes.written(&chd);
    let ran = hpi_apply(&["--force"], &changes.folder, &original, &changes.out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(changes.files() == of_chd);
    // isoinfo finds the files by the positions in the area alone.
    let track = work.join("out/new track03.bin");
    for (name, bytes) in [("A.TXT", noise(5, 9000)), ("NEW.BIN", noise(6, 5000))] {
        let script = format!("isoinfo -i \"$1\" -N {AREA} -x '/{name};1' > found");
        assert!(run_in(work, "sh", &["-c", &script, "sh", text(&track)]));
        assert!(fs::read(work.join("found")).unwrap() == bytes, "{name}");
    }
    // chdman packs the result, which has the same tracks.
    let again = work.join("again.chd");
    assert!(chdman(&[
        "createcd",
        "-i",
        text(&changes.out),
        "-o",
        text(&again)
    ]));
    let read = open(again, Options::default()).unwrap();
    assert!(read_at(&read, "track03.bin") == of_chd["new track03.bin"]);
    assert!(read_at(&read, "A.TXT") == noise(5, 9000));
}

/// Returns a full disc: its data is followed by `empty` sectors of zeros, and then an
/// audio track.
fn full(empty: usize) -> Gd {
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    disc.file("DATA/A.DAT", &noise(1, 5000));
    let mut area = dreamcast::area(&disc);
    area.resize(area.len() + empty * SECTOR, 0);
    let mut gd = Gd::new(&area, RAW);
    gd.tracks.push(Track::audio(5, AREA + area.len() / SECTOR));
    gd
}

#[test]
fn a_disc_that_is_full_has_new_data_in_empty_sectors_or_refuses_it() {
    let gd = full(8);
    let fits = Changes::new(&[
        ("README.TXT", &noise(5, 3 * SECTOR)),
        ("DATA/NEW.DAT", &noise(6, 5 * SECTOR)),
    ]);
    let original = gd.write(fits.work.path());
    let written = fits.written(&original);
    assert_eq!(written["new track03.bin"].len(), gd.tracks[2].sectors.len());
    is_whole(&written["new track03.bin"], &gd.tracks[2]);
    assert!(written["new track04.raw"] == gd.tracks[3].sectors);
    let after = open(fits.out.clone(), Options::default()).unwrap();
    assert!(read_at(&after, "README.TXT") == noise(5, 3 * SECTOR));
    assert!(read_at(&after, "DATA/NEW.DAT") == noise(6, 5 * SECTOR));
    assert!(read_at(&after, "DATA/A.DAT") == noise(1, 5000));

    // Both files that do not fit are named, and no others.
    let large = Changes::new(&[
        ("README.TXT", &noise(5, 9 * SECTOR)),
        ("DATA/A.DAT", &noise(7, 6000)),
        ("DATA/NEW.DAT", &noise(6, 10 * SECTOR)),
    ]);
    let ran = hpi_apply(&[], &large.folder, &original, &large.out);
    let told = stderr(&ran);
    assert_eq!(ran.status.code(), Some(REFUSED), "{told}");
    for problem in [
        "README.TXT: needs 9 sectors",
        "DATA/NEW.DAT: needs 10 sectors",
    ] {
        assert!(told.contains(problem), "{told}");
    }
    assert!(
        told.contains("only what needs no more sectors than before has room"),
        "{told}"
    );
    assert!(!told.contains("A.DAT"), "{told}");
    assert!(large.files().is_empty());
    assert!(open_changed(&original, &large.folder).is_err());
}

#[test]
fn sectors_with_data_that_no_file_has_are_never_written() {
    let mut gd = full(8);
    // Something that no directory names, in the middle of the empty sectors.
    let first = gd.tracks[2].sectors.len() / RAW - 8;
    let hidden = first + 3;
    let sector = dreamcast::mode_1(&noise(9, SECTOR), AREA + hidden);
    gd.tracks[2].sectors[hidden * RAW..][..RAW].copy_from_slice(&sector);
    for (count, is_placed) in [(4, true), (5, false)] {
        let changes = Changes::new(&[("README.TXT", &noise(5, count * SECTOR))]);
        let original = gd.write(changes.work.path());
        let ran = hpi_apply(&[], &changes.folder, &original, &changes.out);
        assert_eq!(ran.status.success(), is_placed, "{count}: {}", stderr(&ran));
        if is_placed {
            let track = &changes.files()["new track03.bin"];
            assert!(track[hidden * RAW..][..RAW] == sector);
        }
    }
}

#[test]
fn the_result_of_a_gdi_is_a_gdi_and_its_tracks_are_not_changed_by_name() {
    let changes = Changes::new(&[("README.TXT", b"READ ME")]);
    let original = disc(RAW).write(changes.work.path());
    let out = changes.out.with_extension("cue");
    let ran = hpi_apply(&[], &changes.folder, &original, &out);
    assert_eq!(ran.status.code(), Some(NOT_WRITTEN));
    assert!(
        stderr(&ran).contains("its extension must be .gdi"),
        "{}",
        stderr(&ran)
    );
    for path in ["tracks/04.wav", "track03.bin", "disc.gdi"] {
        write(&changes.folder, path, b"x");
    }
    let ran = hpi_apply(&[], &changes.folder, &original, &changes.out);
    assert_eq!(ran.status.code(), Some(REFUSED));
    for path in ["tracks/04.wav", "track03.bin", "disc.gdi"] {
        let told = stderr(&ran);
        assert!(told.contains(&format!("{path}: is generated")), "{told}");
    }
}

#[test]
fn if_one_track_cannot_be_written_none_is_and_older_ones_stay() {
    let changes = changes();
    let original = disc(RAW).write(changes.work.path());
    fs::write(&changes.out, b"older").unwrap();
    fs::write(changes.out.with_file_name("new track05.bin"), b"older").unwrap();
    // Only the first track, of a few sectors, is short enough.
    let script = "ulimit -f 16; exec \"$@\"";
    let mut limited = Command::new("sh");
    limited.args([
        "-c",
        script,
        "sh",
        env!("CARGO_BIN_EXE_hpi"),
        "apply",
        "--force",
    ]);
    let ran = limited
        .args([&changes.folder, &original, &changes.out])
        .output();
    let ran = ran.unwrap();
    assert_eq!(ran.status.code(), Some(NOT_WRITTEN), "{}", stderr(&ran));
    let left = changes.files();
    let older = b"older".to_vec();
    let expected = ["new track05.bin", "new.gdi"].map(|name| (name.to_owned(), older.clone()));
    assert_eq!(left, BTreeMap::from(expected));
}

#[test]
fn a_gdi_in_an_archive_is_changed_with_its_tracks() {
    let changes = changes();
    let work = changes.work.path();
    let content = work.join("content");
    fs::create_dir(&content).unwrap();
    let original = disc(RAW).write(&content);
    let expected = changes.written(&original);
    let archive = work.join("game.zip");
    let packed = hpipack(&[], &content, &archive);
    assert!(packed.status.success(), "{}", stderr(&packed));
    let around = work.join("around");
    fs::create_dir(&around).unwrap();
    fs::rename(&changes.folder, around.join("game.gdi.d")).unwrap();
    let mounted = open_changed(&archive, &around).unwrap();
    for name in ["track03.bin", "track04.raw", "track05.bin"] {
        assert!(
            read_at(&mounted, name) == expected[&format!("new {name}")],
            "{name}"
        );
    }
    assert_eq!(read_at(&mounted, "game.gdi.d/README.TXT"), b"READ ME");
}
