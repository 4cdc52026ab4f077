//! Installers of Inno Setup that would take excessive memory or time.

use std::time::{Duration, Instant};

use fixtures::inno::{Inno, Packing, gog_files, inno_file};
use hpimount_containers::Archive;
use hpimount_containers::io::Result;
use testkit::containers::{Contents as _, open};

/// Time limit for opening and reading.
const LONGEST: Duration = Duration::from_secs(30);

fn opened(installer: &Inno) -> Result<Archive> {
    open("setup.exe", installer.program(), &|_| None, true)
}

#[test]
fn a_destination_of_very_many_directories_is_refused_at_once() {
    let begun = Instant::now();
    let destination = format!("{{app}}\\{}x", "a\\".repeat(100_000));
    let files = vec![inno_file(&destination, b"x")];
    let error = opened(&Inno::new(files)).err().unwrap();
    assert!(error.to_string().contains("nested deeper"), "{error}");
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
}

/// Returns the error of reading a file.
fn problem(opened: &Archive, path: &str) -> Option<String> {
    let (_, entry) = opened.files().find(|(found, _)| *found == path).unwrap();
    opened.bytes(entry).err().map(|error| error.to_string())
}

#[test]
fn many_files_with_one_destination_take_no_longer_than_others() {
    let files = (0..20_000).map(|_| inno_file("{app}\\same.txt", b"x"));
    let installer = Inno {
        is_solid: true,
        ..Inno::new(files.collect())
    };
    assert_eq!(opened(&installer).unwrap().files().count(), 20_000);
}

#[test]
fn a_size_that_the_data_cannot_have_makes_its_file_unreadable() {
    let installer = Inno {
        packing: Packing::Stored,
        ..Inno::new(vec![
            inno_file("{app}\\a.dat", b"some"),
            inno_file("{app}\\b.dat", b"some more"),
        ])
    };
    let (mut parts, _) = installer.parts();
    // After the slices and the chunk: the offset in the chunk, the size, and the
    // stored size.
    parts.second[20..36].fill(0x7F);
    let program = installer.assemble(&parts);
    let opened = open("setup.exe", program, &|_| None, true).unwrap();
    let error = problem(&opened, "app/a.dat").unwrap();
    assert!(error.contains("cannot decode to its file"), "{error}");
    assert_eq!(problem(&opened, "app/b.dat"), None);
}

#[test]
fn a_file_whose_parts_are_decoded_again_and_again_is_unreadable() {
    let begun = Instant::now();
    // After a file that takes a while.
    let mut files = vec![inno_file("{app}\\large.dat", &vec![0; 16 << 20])];
    files.extend(gog_files("few.dat", &[&b"x"[..]; 3], ""));
    files.extend(gog_files("many.dat", &[&b"x"[..]; 2000], ""));
    let installer = Inno {
        is_solid: true,
        ..Inno::new(files)
    };
    let opened = opened(&installer).unwrap();
    assert_eq!(problem(&opened, "app/few.dat"), None);
    let error = problem(&opened, "app/many.dat").unwrap();
    assert!(error.contains("again and again"), "{error}");
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
}
