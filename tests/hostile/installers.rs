//! Installers of Inno Setup that would take memory or time out of proportion.

use std::time::{Duration, Instant};

use fixtures::inno::{Inno, InnoFile, inno_file};
use hpimount_containers::io::Result;
use testkit::containers::{Opened, open};

/// What takes longer does not end in any useful time.
const LONGEST: Duration = Duration::from_secs(30);

fn opened(files: Vec<InnoFile>) -> Result<Opened> {
    open("setup.exe", Inno::new(files).program(), &|_| None, true)
}

#[test]
fn a_destination_of_very_many_directories_is_refused_at_once() {
    let begun = Instant::now();
    let destination = format!("{{app}}\\{}x", "a\\".repeat(100_000));
    let error = opened(vec![inno_file(&destination, b"x")]).err().unwrap();
    assert!(error.to_string().contains("nested deeper"), "{error}");
    assert!(begun.elapsed() < LONGEST, "{:?}", begun.elapsed());
}
