//! The `.meta` of each sample matches its known contents, read through the
//! kernel, in a folder and in archives.

use std::fs;
use std::path::Path;
use testkit::fuse_test;

use crate::assets::samples::{FOLDERS, Sample, damage, samples};
use testkit::mount::Fixture;
use testkit::sources::{file, folder, hip, names, pack};

fn all_samples() -> Vec<Sample> {
    FOLDERS.into_iter().flat_map(samples).collect()
}

/// Writes the samples into a directory.
fn write(samples: &[Sample], directory: &Path) {
    for sample in samples {
        fs::write(directory.join(&sample.name), &sample.bytes).unwrap();
    }
}

/// Checks the samples in a directory of a mount, and their companions.
fn check(samples: &[Sample], directory: &Path) {
    let mut found = Vec::new();
    for sample in samples {
        let name = &sample.name;
        assert!(fs::read(directory.join(name)).unwrap() == sample.bytes);
        let meta = directory.join(format!("{name}.meta"));
        let info = fs::read(meta.join("info.json")).unwrap();
        let size = fs::metadata(meta.join("info.json")).unwrap().len();
        assert_eq!(size, info.len() as u64, "{name}");
        if sample.is_damaged() {
            let error = fs::read_to_string(meta.join("error.txt")).unwrap();
            assert!(error.starts_with(damage(name)), "{name}: {error}");
            assert_eq!(error.matches('\n').count(), 1, "{name}: {error}");
            let names = names(&meta);
            for file in ["error.txt", "info.json", "info.txt"] {
                assert!(names.iter().any(|name| name == file), "{name}: {names:?}");
            }
        } else {
            found.extend(sample.differences(&info));
            assert!(!meta.join("error.txt").exists(), "{name}");
            let text = fs::read_to_string(meta.join("info.txt")).unwrap();
            assert!(text.contains("\nwarnings "), "{name}: {text}");
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Mounts the source that `fixture` builds from the samples, and checks them in
/// a directory of the mount.
fn check_in(fixture: impl FnOnce(&[Sample]) -> Fixture, directory: &str) {
    let samples = all_samples();
    if samples.is_empty() {
        return;
    }
    let mount = fixture(&samples).mount(&[]);
    check(&samples, &mount.file(directory));
}

#[fuse_test]
fn every_sample_in_a_folder_matches_its_known_contents() {
    let fixture = |samples: &[Sample]| folder(|source| write(samples, source));
    check_in(fixture, "");
}

#[fuse_test]
fn every_sample_in_a_packed_archive_matches_its_known_contents() {
    let fixture = |samples: &[Sample]| {
        let mut fixture = folder(|source| write(samples, source));
        let archive = fixture.dir().join("assets.hpi");
        pack(&fixture.archive, &archive);
        fixture.archive = archive;
        fixture
    };
    check_in(fixture, "");
}

#[fuse_test]
fn every_sample_in_a_hip_matches_its_known_contents() {
    let fixture = |samples: &[Sample]| {
        let assets = samples.iter();
        let assets = assets.map(|sample| (sample.name.as_str(), &sample.bytes[..]));
        file("assets.hip", &hip(assets))
    };
    check_in(fixture, "layers/00-DEFAULT");
}

#[fuse_test]
fn every_sample_in_a_nested_archive_matches_its_known_contents() {
    let fixture = |samples: &[Sample]| {
        let mut fixture = folder(|source| write(samples, source));
        let [packed, outer] = ["packed", "outer.hpi"].map(|name| fixture.dir().join(name));
        fs::create_dir_all(packed.join("maps")).unwrap();
        pack(&fixture.archive, &packed.join("maps/inner.ufo"));
        pack(&packed, &outer);
        fixture.archive = outer;
        fixture
    };
    check_in(fixture, "maps/inner.ufo.d");
}
