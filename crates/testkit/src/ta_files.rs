//! Checks with other programs of files that show assets of Total Annihilation.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::gltf;
use crate::mount::has_programs;
use crate::sources::{names, read};

/// Asserts that other programs read all pictures, models and animations below
/// a directory.
pub fn other_programs_read(directory: &Path) {
    let run = |program: &str, arguments: &[&str], path: &Path| {
        let mut command = Command::new(program);
        let output = command.args(arguments).arg(path).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}: {text}", path.display());
        text
    };
    if has_programs(&["pngcheck"]) {
        let mut pictures = Vec::new();
        all(directory, ".png", &mut pictures);
        assert!(pictures.len() > 10);
        for picture in pictures {
            run("pngcheck", &["-q"], &picture);
        }
    }
    if has_programs(&["assimp"]) {
        let mut models = Vec::new();
        all(directory, ".glb", &mut models);
        for model in &models {
            run("assimp", &["info"], model);
        }
        gltf::validate(&models);
    }
    if has_programs(&["ffprobe"]) {
        let mut animations = Vec::new();
        all(directory, ".apng", &mut animations);
        let options = ["-v", "error", "-of", "csv=p=0", "-f", "apng"];
        let entries = ["-show_entries", "packet=duration_time"];
        let arguments = [&options[..], &entries[..]].concat();
        for animation in animations {
            let durations = run("ffprobe", &arguments, &animation);
            let durations = durations.lines().map(|line| line.parse::<f64>().unwrap());
            let known = ticks(&animation);
            assert_eq!(durations.clone().count(), known.len());
            for (duration, ticks) in durations.zip(known) {
                let expected = f64::from(ticks) / 30.0;
                assert!((duration - expected).abs() < 0.001, "{duration} {ticks}");
            }
        }
    }
}

/// Appends all files below a folder with names that end with `end`.
pub fn all(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            all(&path, end, found);
        } else if name.ends_with(end) {
            found.push(path);
        }
    }
}

/// Returns the durations of the frames of an animation in ticks of 1/30 s, from
/// `frames.tsv`. A duration of 0 ticks is shown as one.
pub fn ticks(animation: &Path) -> Vec<u32> {
    let name = animation.file_name().unwrap().to_str().unwrap();
    let number: usize = name[..3].parse().unwrap();
    let table = String::from_utf8(read(&animation.with_file_name("frames.tsv"))).unwrap();
    let rows = table
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect::<Vec<_>>());
    let rows = rows.filter(|row| row[0] == number.to_string());
    rows.map(|row| row[7].parse::<u32>().unwrap().max(1))
        .collect()
}
