//! CDs with several tracks: with changes, and as plain files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::{TempDir, tempdir};

use fixtures::disc::Disc;
use fixtures::noise;
use hpimount::mount::{Ino, Options};
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::hpipack::stderr;
use testkit::skip::possible;
use testkit::walked::{files, open};

/// Bytes of a raw sector.
const RAW: usize = 2352;

/// Exit code of refused changes, and of targets that cannot be written.
const REFUSED: i32 = 14;
const NOT_WRITTEN: i32 = 20;

/// Returns the data track of a disc, and two of audio.
fn tracks() -> [Vec<u8>; 3] {
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    disc.file("DATA/A.DAT", &noise(1, 5000));
    [disc.raw(), noise(2, 200 * RAW), noise(3, 90 * RAW)]
}

fn time(sectors: usize) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        sectors / 75 / 60,
        sectors / 75 % 60,
        sectors % 75
    )
}

/// Writes a sheet with all tracks in one file, the second one with a pregap.
fn in_one_file(folder: &Path) -> PathBuf {
    let tracks = tracks();
    let start = tracks[0].len() / RAW;
    let sheet = format!(
        "FILE \"game.bin\" BINARY\r\n  TRACK 01 MODE2/2352\r\n    INDEX 01 00:00:00\r\n  \
         TRACK 02 AUDIO\r\n    INDEX 00 {}\r\n    INDEX 01 {}\r\n  TRACK 03 AUDIO\r\n    \
         INDEX 01 {}\r\n",
        time(start),
        time(start + 150),
        time(start + 200)
    );
    fs::write(folder.join("game.bin"), tracks.concat()).unwrap();
    fs::write(folder.join("game.cue"), sheet).unwrap();
    folder.join("game.cue")
}

/// Writes a sheet with a file for each track.
fn in_own_files(folder: &Path) -> PathBuf {
    let mut sheet = String::new();
    for (number, track) in (1..).zip(tracks()) {
        let kind = if number == 1 { "MODE2/2352" } else { "AUDIO" };
        let name = format!("game (Track {number}).bin");
        sheet +=
            &format!("FILE \"{name}\" BINARY\n  TRACK {number:02} {kind}\n    INDEX 01 00:00:00\n");
        fs::write(folder.join(name), track).unwrap();
    }
    fs::write(folder.join("game.cue"), sheet).unwrap();
    folder.join("game.cue")
}

/// A folder with changes that extend the data track.
struct Changes {
    work: TempDir,
    folder: PathBuf,
    out: PathBuf,
}

fn changes() -> Changes {
    let work = tempdir().unwrap();
    let folder = work.path().join("changes");
    write(&folder, "README.TXT", &noise(7, 20_000));
    write(&folder, "DATA/NEW.DAT", b"a new file");
    let out = work.path().join("out");
    fs::create_dir(&out).unwrap();
    let out = out.join("new.cue");
    Changes { work, folder, out }
}

/// Returns the names in a directory, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn tracks_behind_the_data_move_and_the_sheet_says_where() {
    let Changes { work, folder, out } = changes();
    let original = in_one_file(work.path());
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(
        stderr(&ran).contains("the 2 tracks behind the data move by"),
        "{}",
        stderr(&ran)
    );
    assert_eq!(names(out.parent().unwrap()), ["new.bin", "new.cue"]);
    let bin = fs::read(out.with_extension("bin")).unwrap();
    let tracks = tracks();
    let grown = (bin.len() - tracks.concat().len()) / RAW;
    assert!(grown > 0);
    let sheet = fs::read_to_string(&out).unwrap();
    let start = tracks[0].len() / RAW + grown;
    for expected in [
        "FILE \"new.bin\" BINARY\r\n".to_owned(),
        format!("INDEX 00 {}", time(start)),
        format!("INDEX 01 {}", time(start + 150)),
        format!("INDEX 01 {}", time(start + 200)),
    ] {
        assert!(sheet.contains(&expected), "{sheet}");
    }
    assert!(bin.ends_with(&[&tracks[1][..], &tracks[2]].concat()));

    let (before, after) = (
        open(original.clone(), Options::default()),
        open(out, Options::default()),
    );
    let (before, after) = (before.unwrap(), after.unwrap());
    for track in ["tracks/02.wav", "tracks/03.wav"] {
        assert!(read_at(&before, track) == read_at(&after, track), "{track}");
    }
    assert!(read_at(&after, "README.TXT") == noise(7, 20_000));
    // The mount is the same, and has the same image under the name of the source.
    let mounted = open_changed(&original, &folder).unwrap();
    assert!(files(&mounted) == files(&after));
    assert!(read_at(&mounted, ".hpimount/image/game.bin") == bin);
    assert!(read_at(&mounted, "disc.bin") == bin);
    let ran = hpi_apply(
        &["--strict"],
        &folder,
        &original,
        &work.path().join("s.cue"),
    );
    assert_eq!(ran.status.code(), Some(REFUSED));
}

#[test]
fn a_track_in_a_file_of_its_own_stays_as_it_is() {
    let Changes { work, folder, out } = changes();
    let original = in_own_files(work.path());
    let ran = hpi_apply(&[], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(!stderr(&ran).contains("tracks"), "{}", stderr(&ran));
    let written = [
        "new (Track 1).bin",
        "new (Track 2).bin",
        "new (Track 3).bin",
        "new.cue",
    ];
    assert_eq!(names(out.parent().unwrap()), written);
    let file = |name: &str| fs::read(out.with_file_name(name)).unwrap();
    let tracks = tracks();
    assert!(file("new (Track 2).bin") == tracks[1] && file("new (Track 3).bin") == tracks[2]);
    assert!(file("new (Track 1).bin").len() > tracks[0].len());
    // A mount has all tracks in one file.
    let mounted = open_changed(&original, &folder).unwrap();
    let all = [
        "new (Track 1).bin",
        "new (Track 2).bin",
        "new (Track 3).bin",
    ]
    .map(file)
    .concat();
    assert!(read_at(&mounted, ".hpimount/image/game.bin") == all);
    assert!(files(&mounted) == files(&open(out, Options::default()).unwrap()));
}

#[test]
fn the_result_of_a_sheet_is_a_sheet() {
    let Changes { work, folder, out } = changes();
    let original = in_one_file(work.path());
    let ran = hpi_apply(&[], &folder, &original, &out.with_extension("iso"));
    assert_eq!(ran.status.code(), Some(NOT_WRITTEN));
    assert!(
        stderr(&ran).contains("its extension must be .cue"),
        "{}",
        stderr(&ran)
    );
}

#[test]
fn a_compressed_cd_is_changed_like_its_sheet_and_is_the_same_as_plain_files() {
    let Changes { work, folder, out } = changes();
    let original = in_one_file(work.path());
    let chd = work.path().join("game.chd");
    let mut chdman = Command::new("chdman");
    chdman
        .arg("createcd")
        .arg("-i")
        .arg(&original)
        .arg("-o")
        .arg(&chd);
    let made = chdman.output();
    if !possible(made.is_ok(), "chdman is missing") {
        return;
    }
    assert!(made.unwrap().status.success());
    let mounted = open(chd.clone(), Options::default()).unwrap();
    assert!(read_at(&mounted, "disc.bin") == tracks().concat());
    let plain = read_at(&mounted, "disc.cue");
    let sheet = String::from_utf8(plain).unwrap();
    let words =
        |sheet: &str| -> Vec<String> { sheet.split_whitespace().map(str::to_owned).collect() };
    let given = fs::read_to_string(&original)
        .unwrap()
        .replace("game.bin", "disc.bin");
    assert_eq!(words(&sheet), words(&given));
    // Neither is listed, and both also have the name of the source.
    let listed: Vec<String> = files(&mounted).into_keys().collect();
    assert!(
        !listed.iter().any(|path| path.starts_with("disc.")),
        "{listed:?}"
    );
    assert!(read_at(&mounted, ".hpimount/image/game.cue").starts_with(b"FILE \"game.bin\""));

    for (source, name) in [(&original, "of_sheet.cue"), (&chd, "of_chd.cue")] {
        let ran = hpi_apply(&["--quiet"], &folder, source, &out.with_file_name(name));
        assert!(ran.status.success(), "{name}: {}", stderr(&ran));
    }
    let bin = |name: &str| fs::read(out.with_file_name(name)).unwrap();
    assert!(bin("of_sheet.bin") == bin("of_chd.bin"));
    let changed = open_changed(&chd, &folder).unwrap();
    assert!(read_at(&changed, ".hpimount/image/game.bin") == bin("of_chd.bin"));
    // chdman reads the result, and finds nothing to correct.
    let again = work.path().join("again.chd");
    let mut chdman = Command::new("chdman");
    chdman
        .arg("createcd")
        .arg("-i")
        .arg(out.with_file_name("of_chd.cue"));
    let made = chdman.arg("-o").arg(&again).output().unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let read = open(again, Options::default()).unwrap();
    assert!(read_at(&read, "disc.bin") == bin("of_chd.bin"));
}

#[test]
fn a_disc_of_mode_1_is_also_an_image_of_its_user_data() {
    let work = tempdir().unwrap();
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    let data = disc.iso();
    fs::write(work.path().join("a.iso"), &data).unwrap();
    let sheet = "FILE \"a.iso\" BINARY\n  TRACK 01 MODE1/2048\n    INDEX 01 00:00:00\n";
    fs::write(work.path().join("a.cue"), sheet).unwrap();
    let mounted = open(work.path().join("a.cue"), Options::default()).unwrap();
    assert!(read_at(&mounted, "disc.iso") == data);
    let raw = read_at(&mounted, "disc.bin");
    assert_eq!(raw.len(), data.len() / 2048 * RAW);
    // Raw sectors with their error correction are read as the same disc.
    fs::write(work.path().join("raw.bin"), raw).unwrap();
    let read = open(work.path().join("raw.bin"), Options::default()).unwrap();
    assert_eq!(read_at(&read, "README.TXT"), b"read me");
    let sheet = String::from_utf8(read_at(&read, "disc.cue")).unwrap();
    assert!(sheet.contains("MODE1/2352"), "{sheet}");
}

#[test]
fn what_cannot_be_written_says_why() {
    let Changes { work, folder, out } = changes();
    let audio = "FILE \"game.bin\" BINARY\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n";
    let late = "FILE \"late.bin\" BINARY\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n  \
                TRACK 02 MODE2/2352\n    INDEX 01 00:00:20\n";
    let late_sectors = [noise(5, 20 * RAW), tracks()[0].clone()].concat();
    fs::write(work.path().join("late.bin"), late_sectors).unwrap();
    in_one_file(work.path());
    for (sheet, reason) in [
        (audio, "audio tracks cannot be changed"),
        (late, "has its data track behind others"),
    ] {
        let source = work.path().join("other.cue");
        fs::write(&source, sheet).unwrap();
        let ran = hpi_apply(&[], &folder, &source, &out);
        let told = stderr(&ran);
        assert_eq!(ran.status.code(), Some(REFUSED), "{told}");
        assert!(told.contains(reason), "{told}");
    }
    // Audio tracks, and the plain disc, are generated.
    let original = in_one_file(work.path());
    write(&folder, "tracks/02.wav", b"RIFF");
    write(&folder, "disc.bin", b"x");
    let ran = hpi_apply(&[], &folder, &original, &out);
    let told = stderr(&ran);
    for path in ["tracks/02.wav: is generated", "disc.bin: is generated"] {
        assert!(told.contains(path), "{told}");
    }
}

#[test]
fn a_dry_run_says_what_would_be_done_and_writes_nothing() {
    let Changes { work, folder, out } = changes();
    let mut disc = Disc::default();
    disc.file("README.TXT", b"read me");
    disc.file("DATA/A.DAT", &noise(1, 5000));
    let original = work.path().join("a.iso");
    fs::write(&original, disc.iso()).unwrap();
    write(&folder, "DATA/.wh.A.DAT", b"");
    let ran = hpi_apply(&["--dry-run"], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(names(out.parent().unwrap()).is_empty());
    let table = String::from_utf8(ran.stdout).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(
        rows[0],
        ["action", "path", "old place", "new place", "bytes"]
    );
    let row = |action: &str, path: &str| {
        let found = rows.iter().find(|row| row[..2] == [action, path]);
        found.unwrap_or_else(|| panic!("{table}")).clone()
    };
    let replaced = row("replace", "README.TXT");
    assert!(replaced[2].parse::<u64>().unwrap() < replaced[3].parse::<u64>().unwrap());
    assert_eq!(replaced[4], "20000");
    assert_eq!(row("add", "DATA/NEW.DAT")[2], "");
    assert_eq!(row("delete", "DATA/A.DAT")[3..], ["", ""]);
    assert_eq!(rows.len(), 4);
    // The new data is where the table says.
    let ran = hpi_apply(&["--quiet"], &folder, &original, &out.with_extension("iso"));
    assert!(ran.status.success());
    let written = fs::read(out.with_extension("iso")).unwrap();
    let place: usize = replaced[3].parse().unwrap();
    assert!(written[place..].starts_with(&noise(7, 20_000)));
    assert!(
        stderr(&hpi_apply(&["--dry-run"], &folder, &original, &out))
            .contains("1 replaced, 1 added, 1 deleted, 0 ignored")
    );
}

#[test]
fn plain_files_of_a_cd_are_not_listed_and_a_real_entry_wins() {
    let work = tempdir().unwrap();
    let mut disc = Disc::default();
    disc.file("DISC.BIN", b"a file of the disc");
    let raw = disc.raw();
    fs::write(work.path().join("a.bin"), &raw).unwrap();
    let mounted = open(work.path().join("a.bin"), Options::default()).unwrap();
    assert_eq!(read_at(&mounted, "disc.bin"), b"a file of the disc");
    assert!(read_at(&mounted, ".hpimount/image/a.bin") == raw);
    assert!(mounted.lookup(Ino::ROOT, "disc.cue").is_ok());
    assert_eq!(
        files(&mounted).into_keys().collect::<Vec<_>>(),
        ["DISC.BIN"]
    );
}
