//! Edited textures and sounds, as `hpi apply` writes them: the independent
//! readers show the same pixels and samples as the converted tree.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shared;
use hpimount::mount::{Meta, Options};
use tempfile::tempdir;
use testkit::applied::{hpi_apply, read_at, write};
use testkit::edits::{music, photo, samples};
use testkit::hpipack::stderr;
use testkit::pictures::pixels;
use testkit::skip::possible;
use testkit::walked::{files, open};

/// Returns the converted files of an archive with this extension. Omits empty files,
/// whose assets cannot be shown.
fn converted(archive: &Path, extension: &str) -> BTreeMap<String, Vec<u8>> {
    let options = Options {
        converted: true,
        meta: Meta::Converted,
        ..Options::default()
    };
    let vfs = open(archive.to_owned(), options).unwrap();
    let paths = files(&vfs).into_keys();
    let paths = paths.filter(|path| path.ends_with(extension));
    paths
        .map(|path| {
            let bytes = read_at(&vfs, &path);
            (path, bytes)
        })
        .filter(|(_, bytes)| !bytes.is_empty())
        .collect()
}

/// Edits all files of a sample with this extension. The contents of the changed archive
/// must equal the output of the independent reader. The files of both are compared in
/// the order of their contents.
fn check(
    sample: &str,
    extension: &str,
    reader: &str,
    edit: impl Fn(&str, &[u8]) -> Option<Vec<u8>>,
    content: impl Fn(&[u8]) -> Vec<u8>,
) {
    let (Some(sample), Some(reader)) = (shared(sample), shared(reader)) else {
        return;
    };
    let work = tempdir().unwrap();
    let changes = work.path().join("changes");
    let mut edited = 0;
    for (path, bytes) in converted(&sample, extension) {
        if let Some(new) = edit(&path, &bytes) {
            write(&changes, &format!("converted/{path}"), &new);
            edited += 1;
        }
    }
    assert!(edited > 0);
    let out = work.path().join("out.HIP");
    let ran = hpi_apply(&[], &changes, &sample, &out);
    assert!(
        ran.status.success(),
        "{}: {}",
        sample.display(),
        stderr(&ran)
    );
    let seen = work.path().join("seen");
    let mut python = Command::new("python3");
    let output = python.arg("-B").arg(reader).arg(&seen).arg(&out).output();
    if !possible(output.is_ok(), "python3 is missing") {
        return;
    }
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let sorted = |files: Vec<Vec<u8>>| {
        let mut contents: Vec<_> = files.iter().map(|file| content(file)).collect();
        contents.sort();
        contents
    };
    let seen = fs::read_dir(seen)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let seen: Vec<PathBuf> = seen
        .filter(|path| path.to_string_lossy().ends_with(extension))
        .collect();
    let seen = seen.into_iter().map(|path| fs::read(path).unwrap());
    let shown = converted(&out, extension).into_values();
    assert!(
        sorted(shown.collect()) == sorted(seen.collect()),
        "{sample:?}"
    );
}

#[test]
fn the_independent_reader_shows_the_pixels_of_edited_textures() {
    for sample in ["textures_gc.HIP", "textures_xbox.HIP"] {
        check(
            &format!("samples/hip_assets/{sample}"),
            ".png",
            "oracle/hip_assets/rwtx_ref.py",
            |path, png| {
                let (width, height, _) = pixels(png);
                // Palettes of 16,384 colors are not written.
                (!path.contains("c14x2")).then(|| photo(width, height))
            },
            |png| {
                let (width, height, pixels) = pixels(png);
                [&width.to_le_bytes()[..], &height.to_le_bytes(), &pixels].concat()
            },
        );
    }
}

#[test]
fn the_independent_reader_plays_the_samples_of_edited_sounds() {
    for sample in ["sounds_gc.HIP", "sounds_xbox.HIP", "sounds_ps2.HIP"] {
        check(
            &format!("samples/hip_assets/{sample}"),
            ".wav",
            "oracle/hip_assets/snd_ref.py",
            |_, wav| {
                let (channels, rate, samples) = samples(wav);
                let frames = samples.len() / usize::from(channels);
                Some(music(channels, rate, frames as u32))
            },
            |wav| {
                let (_, _, samples) = samples(wav);
                samples.into_iter().flat_map(i16::to_le_bytes).collect()
            },
        );
    }
}
