//! Other programs play the sounds and movies of the samples.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::samples::{files, samples};
use fixtures::disc::{Disc, MODE_2};
use testkit::fuse_test;
use testkit::programs::installed;
use testkit::sources::{file, names, output};

/// The folders of samples with sounds, and the extensions there.
const SOUNDS: [(&str, &[&str]); 7] = [
    ("vag", &["vag"]),
    ("vab", &["vab", "vh"]),
    ("kat", &["kat"]),
    ("xa", &["xa"]),
    ("str", &["str"]),
    ("foreign", &["vag", "xa", "str"]),
    ("real", &["vag"]),
];

/// Minimum number of sectors of a file that FFmpeg recognizes.
const RECOGNIZED: usize = 4;

/// Writes every WAV of the samples to a folder. Returns their names.
fn write_sounds(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for (kind, extensions) in SOUNDS {
        for sample in samples(kind, extensions) {
            let view = sample.open().ok();
            for wav in view.iter().flat_map(|view| files(&**view, ".wav")) {
                let name = format!("{:03} {}.wav", names.len(), sample.name);
                fs::write(folder.join(&name), wav).unwrap();
                names.push(name);
            }
        }
    }
    names
}

#[test]
fn players_open_every_sound() {
    let folder = tempfile::tempdir().unwrap();
    let names = write_sounds(folder.path());
    for player in installed(&["sox", "ffprobe"]) {
        if names.is_empty() {
            return;
        }
        let mut command = Command::new(player);
        command.current_dir(&folder);
        match player {
            "sox" => command.arg("--info").args(&names),
            // One process opens all; the list is a separate file.
            _ => {
                let lines = names.iter().map(|name| format!("file '{name}'\n"));
                fs::write(folder.path().join("list"), lines.collect::<String>()).unwrap();
                let arguments = "-v error -f concat -safe 0 -count_packets -show_entries \
                                 stream=nb_read_packets list";
                command.args(arguments.split_whitespace())
            }
        };
        let output = command.output().unwrap();
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{player}: {complaints}");
        assert_eq!(complaints, "", "{player}");
    }
}

#[fuse_test]
fn players_open_movies_and_sounds_of_a_disc() {
    let mut disc = Disc::default();
    let mut on_disc = Vec::new();
    for sample in samples("foreign", &["str", "xa"]) {
        let sectors = sample.bytes.len() / MODE_2;
        if sectors >= RECOGNIZED && sample.bytes.len().is_multiple_of(MODE_2) {
            let extension = sample.name.rsplit_once('.').unwrap().1.to_uppercase();
            let name = format!("FILE{}.{extension}", on_disc.len());
            disc.form_2_file(&name, &sample.bytes);
            on_disc.push((name, extension.to_lowercase()));
        }
    }
    if on_disc.is_empty() {
        return;
    }
    let mount = file("game.bin", &disc.raw()).mount(&[]);
    let players = installed(&["ffprobe"]);
    for (name, extension) in &on_disc {
        let played = format!("{name}.cdxa.{extension}");
        let shown = names(&mount.file(&format!("{played}.meta")));
        assert!(shown.iter().any(|name| name.ends_with(".wav")), "{shown:?}");
        let is_movie = extension == "str";
        assert_eq!(shown.contains(&"frame.png".to_owned()), is_movie);
        for player in &players {
            let arguments = ["-v", "error", "-show_entries", "stream=codec_type"];
            let kinds = output(player, &arguments, &mount.file(&played));
            assert!(kinds.contains("=audio"), "{name}: {kinds}");
            assert_eq!(kinds.contains("=video"), is_movie, "{name}: {kinds}");
        }
    }
}
