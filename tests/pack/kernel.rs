//! Random archives and discs, alone and nested, with random folders of changes: a mount
//! has the same files, read through the kernel, as a mount of hpipack's output, and its
//! image equals that output.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use tempfile::tempdir;
use testkit::fuse_test;

use super::apply::{Digests, Plan, Seed, all, digests, plan, seed, write_changes};
use fixtures::container_seeds::zip_with;
use fixtures::disc::Disc;
use fixtures::hip::{Asset, Hip};
use fixtures::hpi::{self, V1, dir, file};
use fixtures::noise;
use hpimount::mount::Options;
use hpimount_containers::hpi::chunk::Method;
use testkit::applied::hpi_apply;
use testkit::hpipack::stderr;
use testkit::mount::{Fixture, Mount, hpimount};
use testkit::mounted::few_cases;
use testkit::walked::{files_below, open};

/// The container of an archive.
#[derive(Debug, Clone, Copy)]
enum Around {
    Zip,
    Disc,
    RawDisc,
    Hpi,
}

impl Around {
    fn any() -> impl Strategy<Value = Self> {
        prop_oneof![
            Just(Self::Zip),
            Just(Self::Disc),
            Just(Self::RawDisc),
            Just(Self::Hpi)
        ]
    }

    /// Returns an archive with a file and others, and a name for it.
    fn with(self, path: &str, bytes: &[u8]) -> (&'static str, Vec<u8>) {
        let disc = || {
            let mut disc = Disc::default();
            disc.file("A.DAT", &noise(1, 5000)).file(path, bytes);
            disc.file("Z.DAT", &noise(2, 5000));
            disc
        };
        match self {
            Self::Zip => ("IN.ZIP", zip_with(path, bytes)),
            Self::Disc => ("IN.ISO", disc().iso()),
            Self::RawDisc => ("IN.BIN", disc().raw()),
            Self::Hpi => {
                let stored = hpi::File::new(bytes, Method::Stored);
                let (folder, name) = path.split_once('/').unwrap();
                let files = vec![file(name.as_bytes(), stored)];
                let archive = V1::new(vec![dir(folder.as_bytes(), files)]).keyed(0x7D);
                ("IN.HPI", archive.build().bytes)
            }
        }
    }

    /// Returns the name of the image of a source called `name`.
    fn image(self, name: &str) -> String {
        match self {
            Self::Zip | Self::Hpi => name.to_owned(),
            Self::Disc => name.replace("ISO", "iso"),
            Self::RawDisc => name.replace("BIN", "bin"),
        }
    }
}

/// Returns the archives that are changed.
fn seeds() -> Vec<Seed> {
    let mut hip = Hip::default();
    hip.layer(0).add(Asset::new(b"MRKR", "one", &noise(1, 40)));
    hip.add(Asset::new(b"MRKR", "two", &noise(2, 5000)));
    hip.layer(1)
        .add(Asset::new(b"ANIM", "three", &noise(3, 300)));
    let hip = Seed {
        changes: |path| path.starts_with("layers/"),
        ..seed("a.hip", hip.build(), None)
    };
    all().into_iter().chain([hip]).collect()
}

fn mounted(options: &[&Path], source: &Path) -> Mount {
    let fixture = Fixture::new();
    let mut program = hpimount();
    program.args(options).arg(source).arg(&fixture.point);
    fixture.mount_by(program)
}

/// Asserts that a file has these bytes, for reads at any offset.
fn has_bytes(path: &Path, expected: &[u8], reads: &[(Index, usize)]) {
    let file = File::open(path).unwrap();
    assert_eq!(file.metadata().unwrap().len(), expected.len() as u64);
    for (start, length) in reads {
        let start = start.index(expected.len() + 1);
        let expected = &expected[start..expected.len().min(start + length)];
        let mut bytes = vec![0; expected.len()];
        file.read_exact_at(&mut bytes, start as u64).unwrap();
        assert!(bytes == expected, "{} at {start}", path.display());
    }
    assert!(fs::read(path).unwrap() == expected, "{}", path.display());
}

fn check(seed: &Seed, plan: &Plan, around: &[Around], reads: &[(Index, usize)]) {
    let work = tempdir().unwrap();
    let work = work.path();
    let (mut name, mut image) = (seed.name, seed.image());
    let mut original = seed.write(work);
    let before = open(original.clone(), Options::default()).unwrap();
    let mut expected: Digests = digests(&before);
    drop(before);
    let mut prefix = String::new();
    let mut bytes = seed.bytes.clone();
    // Otherwise the other file of a pair would be missing.
    for kind in around.iter().filter(|_| seed.beside.is_none()) {
        let path = format!("DATA/{}", name.to_uppercase());
        prefix = format!("{path}.d/{prefix}");
        (name, bytes) = kind.with(&path, &bytes);
        image = kind.image(name);
        original = work.join(name);
        fs::write(&original, &bytes).unwrap();
    }
    let folder = work.join("changes");
    fs::create_dir_all(folder.join(&prefix)).unwrap();
    write_changes(seed, plan, &folder.join(&prefix), &mut expected);

    let out = work.join("out").join(name);
    fs::create_dir(out.parent().unwrap()).unwrap();
    let ran = hpi_apply(&["--quiet"], &folder, &original, &out);
    assert!(ran.status.success(), "{}", stderr(&ran));
    let changed = mounted(&[Path::new("--apply"), &folder], &original);
    let written = mounted(&[], &out);
    let files = files_below(changed.path());
    assert!(files == files_below(written.path()));
    let inside = changed.path().join(&prefix);
    // Packed files are not searched for the marks of formats.
    if seed.name != "a.hip" && inside.exists() {
        let found = files_below(&inside).into_iter();
        let own = found.filter(|(path, _)| expected.contains_key(path));
        let own: Digests = own.map(|(path, file)| (path, file.sha256)).collect();
        assert_eq!(own, expected);
    }
    let bytes = match name.rsplit_once('.') {
        Some((_, "cue" | "gdi")) => fs::read(out.with_extension("bin")).unwrap(),
        _ => fs::read(&out).unwrap(),
    };
    has_bytes(
        &changed.file(&format!(".hpimount/image/{image}")),
        &bytes,
        reads,
    );
    for plain in ["disc.iso", "disc.bin"] {
        let plain = changed.file(plain);
        if plain.exists() && !image.ends_with(".cue") {
            has_bytes(&plain, &bytes, reads);
        }
    }
}

#[fuse_test]
fn any_changed_archive_in_any_other_is_the_written_file() {
    let seeds = seeds();
    let number = 0..seeds.len();
    let reads = vec((any::<Index>(), 1..200_000_usize), 4);
    let inputs = (number, plan(), vec(Around::any(), 0..3), reads);
    let run = TestRunner::new(few_cases()).run(&inputs, |(number, plan, around, reads)| {
        check(&seeds[number], &plan, &around, &reads);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
