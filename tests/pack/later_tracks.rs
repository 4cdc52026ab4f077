//! Tracks with sound and movies that are also files of the CD, whose records refer to
//! the tracks.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::tempdir;

use fixtures::disc::{Disc, MODE_2, raw_sectors};
use fixtures::noise;
use hpimount::mount::Options;
use testkit::applied::{hpi_apply, open_changed, read_at, write};
use testkit::containers;
use testkit::hpipack::stderr;
use testkit::walked::open;

const SECTOR: usize = 2048;
const RAW: usize = 2352;

/// Length of the header of a WAV file.
const WAV: usize = 44;

/// Number of sectors of the track.
const SECTORS: usize = 20;

/// Writes a CD with a data track and an audio track, which is also the file
/// `TRACK02.DA`, and returns its sheet and the samples.
fn disc(folder: &Path) -> (PathBuf, Vec<u8>) {
    let mut disc = Disc::default();
    disc.file("A.TXT", b"a").file("TRACK02.DA", b"");
    // CD-ROM XA: the extent is an audio track.
    disc.fields("TRACK02.DA", b"\0\0\0\0\x45\x55XA\0\0\0\0\0\0");
    let mut data = disc.iso();
    let first = data.len() / SECTOR;
    point(&mut data, b"TRACK02.DA", first);
    put(&mut data, 16 * SECTOR + 80, (first + SECTORS) as u32);
    let samples = noise(1, SECTORS * RAW);
    fs::write(folder.join("data.bin"), &data).unwrap();
    fs::write(folder.join("audio.bin"), &samples).unwrap();
    let sheet = folder.join("a.cue");
    let text = "FILE data.bin BINARY\nTRACK 01 MODE1/2048\nINDEX 01 00:00:00\n\
        FILE audio.bin BINARY\nTRACK 02 AUDIO\nINDEX 01 00:00:00\n";
    fs::write(&sheet, text).unwrap();
    (sheet, samples)
}

/// Number of sectors in the pregap of the second track of a Video CD.
const PREGAP: usize = 3;

/// Writes a Video CD, whose second track is a movie, and returns its sheet and the
/// data of the movie with subheaders.
fn video_cd(folder: &Path) -> (PathBuf, Vec<u8>) {
    let mut movie = noise(3, SECTORS * MODE_2);
    for sector in movie.chunks_mut(MODE_2) {
        sector[2] = 0x20;
        sector[8..12].copy_from_slice(&[0, 0, 1, 0xBA]);
        sector[MODE_2 - 4..].fill(0);
    }
    let mut track = Disc::default();
    let track = track.form_2_file("M", &movie).raw();
    let track = &track[track.len() - SECTORS * RAW..];
    let mut disc = Disc::default();
    disc.file("A.TXT", b"a").form_2_file("AVSEQ01.DAT", &[]);
    let mut data = disc.iso();
    let first = data.len() / SECTOR;
    point(&mut data, b"AVSEQ01.DAT", first + PREGAP);
    fs::write(folder.join("data.bin"), raw_sectors(&data)).unwrap();
    fs::write(folder.join("movie.bin"), track).unwrap();
    let sheet = folder.join("v.cue");
    let text = "FILE data.bin BINARY\nTRACK 01 MODE2/2352\nINDEX 01 00:00:00\n\
        FILE movie.bin BINARY\nTRACK 02 MODE2/2352\nPREGAP 00:00:03\nINDEX 01 00:00:00\n";
    fs::write(&sheet, text).unwrap();
    (sheet, movie)
}

/// Points the record of a file to the sectors of a later track.
fn point(data: &mut [u8], name: &[u8], first: usize) {
    let record = find(data, name) - 33;
    put(data, record + 2, first as u32);
    put(data, record + 10, (SECTORS * SECTOR) as u32);
}

fn find(bytes: &[u8], text: &[u8]) -> usize {
    let mut windows = bytes.windows(text.len());
    windows.position(|window| window == text).unwrap()
}

/// Writes a number in both byte orders.
fn put(bytes: &mut [u8], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
    bytes[at + 4..at + 8].copy_from_slice(&number.to_be_bytes());
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

#[test]
fn a_file_that_is_an_audio_track_has_its_samples() {
    let work = tempdir().unwrap();
    let (sheet, samples) = disc(work.path());
    let mount = open(sheet, Options::default()).unwrap();
    let file = read_at(&mount, "TRACK02.DA");
    assert!(file[WAV..] == samples);
    assert_eq!(file, read_at(&mount, "tracks/02.wav"));
}

#[test]
fn records_of_audio_tracks_move_with_them_when_the_data_track_grows() {
    let work = tempdir().unwrap();
    let (sheet, samples) = disc(work.path());
    let folder = work.path().join("changes");
    write(&folder, "NEW.TXT", &noise(2, 10 * SECTOR));
    let mounted = open_changed(&sheet, &folder).unwrap();
    assert!(read_at(&mounted, "TRACK02.DA")[WAV..] == samples);
    let out = work.path().join("out/a.cue");
    fs::create_dir(out.parent().unwrap()).unwrap();
    let ran = hpi_apply(&["--quiet"], &folder, &sheet, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let sheet = fs::read_to_string(&out).unwrap();
    let name = sheet.split('"').nth(1).unwrap_or_else(|| panic!("{sheet}"));
    let data = fs::read(out.with_file_name(name)).unwrap();
    let sectors = data.len() / SECTOR;
    let record = find(&data, b"TRACK02.DA") - 33;
    assert_eq!(number(&data, record + 2), sectors);
    assert_eq!(number(&data, record + 10), SECTORS * SECTOR);
    assert_eq!(number(&data, 16 * SECTOR + 80), sectors + SECTORS);
}

#[test]
fn a_movie_of_a_video_cd_is_read_from_its_track() {
    let work = tempdir().unwrap();
    let (sheet, movie) = video_cd(work.path());
    let mount = open(sheet, Options::default()).unwrap();
    assert!(read_at(&mount, "AVSEQ01.DAT.raw2336") == movie);
    let played = read_at(&mount, "AVSEQ01.DAT.cdxa.dat");
    assert_eq!(played.len(), WAV + SECTORS * RAW);
    assert!(played[WAV + 16..][..MODE_2] == movie[..MODE_2]);
    let data = movie
        .chunks(MODE_2)
        .flat_map(|sector| &sector[8..][..SECTOR]);
    assert!(data.eq(&read_at(&mount, "AVSEQ01.DAT")));
    let text = fs::read(work.path().join("v.cue")).unwrap();
    let beside = |name: &str| fs::read(work.path().join(name)).ok();
    let opened = containers::open("v.cue", text, &beside, true).unwrap();
    assert_eq!(opened.volume().warnings(), [""; 0]);
}

#[test]
fn records_of_movies_move_with_their_track_and_are_not_replaced() {
    let work = tempdir().unwrap();
    let (sheet, movie) = video_cd(work.path());
    let folder = work.path().join("changes");
    write(&folder, "NEW.TXT", &noise(2, 10 * SECTOR));
    let mounted = open_changed(&sheet, &folder).unwrap();
    assert!(read_at(&mounted, "AVSEQ01.DAT.raw2336") == movie);
    write(&folder, "AVSEQ01.DAT.raw2336", &noise(4, movie.len()));
    let refused = open_changed(&sheet, &folder).err().unwrap();
    assert!(
        refused.contains("AVSEQ01.DAT.raw2336: is in another track"),
        "{refused}"
    );
}

#[test]
fn an_audio_track_is_not_replaced_by_a_file_of_its_name() {
    let work = tempdir().unwrap();
    let (sheet, _) = disc(work.path());
    let folder = work.path().join("changes");
    write(&folder, "TRACK02.DA", b"other");
    let refused = open_changed(&sheet, &folder).err().unwrap();
    assert!(
        refused.contains("TRACK02.DA: is in another track"),
        "{refused}"
    );
}
