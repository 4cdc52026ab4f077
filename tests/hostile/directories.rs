//! More directories are entered than fit into the memory budget. The mount continues,
//! within the budget (SEMANTICS, Memory).

use std::fs;

use testkit::fuse_test;
use testkit::limits::peak_beside_program;
use testkit::mount::Fixture;
use testkit::mounted::stats;
use testkit::sources::{file, folder, names};
use testkit::trial;

/// Number of entered directories in a long trial. All their inode numbers would take
/// several times the budget.
const DIRECTORIES: usize = 22_000;

/// Bytes of the budget for each of them.
const BUDGET: usize = 48;

/// Memory of a daemon beyond its budget and its program, which is larger in a
/// development build, with hostile input.
const BESIDE: usize = 8 << 20;

/// Mounts a source, enters its directories, which `directory` names by number, and then
/// the first one again.
fn enter(what: &str, fixture: Fixture, directory: impl Fn(usize) -> String) {
    let count = trial::length(DIRECTORIES / 8, DIRECTORIES);
    let budget = count * BUDGET;
    let mount = fixture.mount(&["-o", &format!("cachesize={budget}")]);
    let list = |number| names(&mount.file(&directory(number)));
    let first = list(0);
    for number in 1..count {
        assert_eq!(list(number).len(), first.len());
    }
    assert_eq!(list(0), first);
    let held = stats(&mount)["cache"]["bytes"].as_u64().unwrap();
    assert!(held <= budget as u64 + (128 << 10), "{held}");
    let pid = mount.pid().to_string();
    let peak = peak_beside_program(&pid);
    assert!(peak < BESIDE, "{peak} bytes");
    trial::record(
        what,
        count,
        "every directory was listed, and the memory stays within the budget",
    );
}

#[fuse_test]
fn more_assets_than_the_budget_has_room_for_are_entered_one_after_the_other() {
    let fixture = folder(|source| {
        for number in 0..trial::length(DIRECTORIES / 8, DIRECTORIES) {
            let path = source.join(format!("{number}.tdf"));
            fs::write(path, "[UNIT]{Name=a;}").unwrap();
        }
    });
    let directory = |number| format!("{number}.tdf.meta");
    enter("assets in a folder, each entered", fixture, directory);
}

/// Returns an IMG archive of one sector. Every file in it is the archive.
fn itself() -> Vec<u8> {
    const SECTOR: usize = 2048;
    let count = (SECTOR - 8) / 32;
    let mut bytes = [b"VER2".to_vec(), (count as u32).to_le_bytes().to_vec()].concat();
    for number in 0..count {
        bytes.extend([0, 1].map(u32::to_le_bytes).concat());
        let mut name = format!("{number}.img").into_bytes();
        name.resize(24, 0);
        bytes.extend(name);
    }
    bytes.resize(SECTOR, 0);
    bytes
}

#[fuse_test]
fn an_archive_that_contains_itself_many_times_is_entered_on_and_on() {
    let fixture = file("itself.img", &itself());
    let directory = |number: usize| {
        let names = [number / 3600 % 60, number / 60 % 60, number % 60];
        names.map(|name| format!("{name}.img.d")).join("/")
    };
    enter(
        "archives in an archive that contains itself",
        fixture,
        directory,
    );
}
