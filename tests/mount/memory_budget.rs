//! Memory of generated files and entered directories of any size and number
//! (SEMANTICS, Memory).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;
use testkit::fuse_test;

use hpimount_containers::hpi::chunk::Method;

use fixtures::hip::Hip;
use fixtures::hpi::{self, V1, file};
use testkit::limits::peak_beside_program;
use testkit::mount::others::forget_names;
use testkit::mount::{Mount, eventually, has_programs, hpi, run};
use testkit::mounted::{counter, mounted, stats};
use testkit::sources::{folder, ifp, names};
use testkit::trial;

/// Memory that a daemon may use in addition to its budget with hostile input.
const BESIDE: usize = 32 << 20;

/// The file with the keys of the only animation of an asset, larger than most
/// cached values.
const KEYS: &str = "a.ifp.meta/animations/000 walk0.json";

/// Returns a mount of a folder with one asset. Its [`KEYS`] take several MiB.
fn large_file() -> Mount {
    let fixture = folder(|source| fs::write(source.join("a.ifp"), ifp(1, 30_000)).unwrap());
    fixture.mount(&["-o", "cachesize=4M,noprefetch"])
}

fn rendered(mount: &Mount) -> u64 {
    counter(mount, "bytes_rendered")
}

#[fuse_test]
fn a_large_generated_file_is_rendered_once_for_its_size_and_bytes() {
    let mount = large_file();
    let path = mount.file(KEYS);
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 2 << 20, "{size}");
    assert_eq!(rendered(&mount), size, "rendered to find its size");
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, size);
    assert_eq!(rendered(&mount), size, "not rendered again to read it");
    assert!(stats(&mount)["cache"]["spooled"].as_u64().unwrap() >= size);
    let keys: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(keys["objects"][0]["keys"].as_array().unwrap().len(), 30_000);
}

#[fuse_test]
fn reading_the_end_of_a_large_generated_file_does_not_render_it_again() {
    let mount = large_file();
    let path = mount.file(KEYS);
    let size = fs::metadata(&path).unwrap().len();
    let mut end = [0; 3];
    for back in [3, 100_000, 1_000_000, 3] {
        let file = File::open(&path).unwrap();
        file.read_exact_at(&mut end, size - back).unwrap();
    }
    assert_eq!(&end, b"\n}\n");
    assert_eq!(rendered(&mount), size);
}

#[fuse_test]
fn the_size_of_a_very_large_file_is_found_without_keeping_its_bytes() {
    let fixture = folder(|source| fs::write(source.join("a.ifp"), ifp(1, 200_000)).unwrap());
    let mount = fixture.mount(&["-o", "cachesize=16M"]);
    let size = fs::metadata(mount.file(KEYS)).unwrap().len();
    assert!(size > 20 << 20, "{size}");
    let peak = peak_beside_program(&mount.pid().to_string());
    assert!(peak < (16 << 20) + BESIDE, "{peak} bytes for {size}");
    assert_eq!(stats(&mount)["cache"]["spooled"], 0);
}

#[fuse_test]
fn a_file_larger_than_the_spool_has_a_size_and_cannot_be_read() {
    let fixture = folder(|source| {
        fs::write(source.join("a.ifp"), ifp(1, 30_000)).unwrap();
        fs::write(source.join("b.ifp"), ifp(1, 10)).unwrap();
    });
    let mount = fixture.mount(&["-o", "cachesize=4M,spoolsize=1M"]);
    assert!(fs::metadata(mount.file(KEYS)).unwrap().len() > 2 << 20);
    let error = fs::read(mount.file(KEYS)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    let errors = stats(&mount)["last_errors"].to_string();
    assert!(errors.contains("-o spoolsize="), "{errors}");
    fs::read(mount.file(&KEYS.replace("a.ifp", "b.ifp"))).unwrap();
}

/// Returns triply nested archives with these numbers of entries. The files in
/// the innermost are empty.
fn nested(fan_out: [usize; 3]) -> Vec<u8> {
    let archive = |count: usize, name: &str, bytes: &[u8]| {
        let files = (0..count).map(|number| {
            let packed = hpi::File::new(bytes.to_vec(), Method::Zlib);
            file(name.replace('#', &number.to_string()).as_bytes(), packed)
        });
        V1::new(files.collect()).build().bytes
    };
    let inner = archive(fan_out[2], "a file with number #", b"");
    let middle = archive(fan_out[1], "#.ufo", &inner);
    archive(fan_out[0], "#.ufo", &middle)
}

/// Returns the inode numbers of all directories and files, by path.
fn numbers(directory: &Path) -> BTreeMap<String, u64> {
    let mut find = Command::new("find");
    let found = find
        .arg(directory)
        .args(["-printf", "%i %p\\n"])
        .output()
        .unwrap();
    assert!(found.status.success(), "{found:?}");
    let text = String::from_utf8(found.stdout).unwrap();
    let lines = text.lines().map(|line| line.split_once(' ').unwrap());
    lines
        .map(|(number, path)| (path.to_owned(), number.parse().unwrap()))
        .collect()
}

#[fuse_test]
fn entered_directories_are_evicted_and_keep_their_inode_numbers() {
    if !has_programs(&["find"]) {
        return;
    }
    let fan_out: usize = trial::length(7, 16);
    let archive = nested([fan_out, fan_out, 3000]);
    assert!(archive.len() < 2 << 20, "{}", archive.len());
    let mount = mounted(&archive, "cachesize=4M");
    let first = numbers(mount.path());
    let files = fan_out * fan_out * 3000;
    assert!(first.len() > files, "{}", first.len());
    // A directory that is open is kept.
    let below = mount.file("3.ufo.d/4.ufo.d");
    let open = File::open(&below).unwrap();
    let again = numbers(mount.path());
    assert!(first == again, "the same numbers for the same files");
    forget_names(mount.path());
    let again = numbers(mount.path());
    assert!(first == again);
    let number = open.metadata().unwrap().ino();
    assert_eq!(first[below.to_str().unwrap()], number);
    assert_eq!(names(&below).len(), 3000);

    let peak = peak_beside_program(&mount.pid().to_string());
    assert!(peak < (4 << 20) + BESIDE, "{peak} bytes");
    trial::record(
        "nested archives, all listed three times, once after dropping inodes",
        files,
        "the same inode numbers, memory within the budget",
    );
}

#[fuse_test]
fn a_directory_larger_than_the_budget_can_be_entered_and_another_one_after_it() {
    let large = |name: &str| {
        let files = (0..30_000).map(|number| {
            let empty = hpi::File::new(Vec::new(), Method::Stored);
            file(format!("{name} with number {number}").as_bytes(), empty)
        });
        V1::new(files.collect()).build().bytes
    };
    let outer = ["one", "two"].map(|name| {
        let packed = hpi::File::new(large(name), Method::Zlib);
        file(format!("{name}.ufo").as_bytes(), packed)
    });
    let archive = V1::new(outer.into()).build().bytes;
    let mount = mounted(&archive, "cachesize=1M");
    for name in ["one", "two", "one"] {
        let listed = names(&mount.file(&format!("{name}.ufo.d")));
        assert_eq!(listed.len(), 30_000);
        assert!(listed[0].starts_with(name));
    }
    assert_eq!(counter(&mount, "errors"), 0);
}

#[fuse_test]
fn listing_a_directory_without_evictable_memory_fails_with_enomem() {
    let many = |depth: usize, inside: Option<Vec<u8>>| {
        let files = (0..20_000).map(|number| {
            let empty = hpi::File::new(Vec::new(), Method::Stored);
            file(format!("{depth} with number {number}").as_bytes(), empty)
        });
        let inside = inside.map(|bytes| file(b"in.ufo", hpi::File::new(bytes, Method::Zlib)));
        V1::new(files.chain(inside).collect()).build().bytes
    };
    let archive = many(1, Some(many(2, Some(many(3, None)))));
    let mount = mounted(&archive, "cachesize=1M");
    assert_eq!(names(&mount.file("in.ufo.d")).len(), 20_002);
    // Reading it needs the directory around it, which is as large.
    let error = fs::read_dir(mount.file("in.ufo.d/in.ufo.d"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOMEM));
    let errors = stats(&mount)["last_errors"].to_string();
    assert!(
        errors.contains("bytes of memory; the budget leaves"),
        "{errors}"
    );
    assert_eq!(names(&mount.file("in.ufo.d")).len(), 20_002);
}

#[test]
fn directories_that_are_evicted_are_checked_all_the_same() {
    let fixture = folder(|source| {
        for number in 0..600 {
            let unit = || hpi::File::new(b"[A]{b=1;}", Method::Stored);
            let units = (0..4).map(|number| file(format!("{number}.tdf").as_bytes(), unit()));
            let archive = V1::new(units.collect()).build().bytes;
            fs::write(source.join(format!("{number}.hpi")), archive).unwrap();
        }
    });
    // Less memory than the warnings of eight concurrent assets may take.
    let options = ["-o", "threads=8,cachesize=4M"];
    let ran = run(hpi("check").args(options).arg(&fixture.archive));
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(0), 1),
        "{ran:?}"
    );
    assert!(
        ran.stdout
            .contains(" 600 archives, 3000 files, 2400 assets, "),
        "{ran:?}"
    );
}

#[fuse_test]
fn an_asset_changed_in_place_shows_its_new_contents_or_an_error() {
    let fixture = folder(|source| {
        fs::write(source.join("a.ifp"), ifp(1, 3000)).unwrap();
        for number in 0..40 {
            fs::write(source.join(format!("{number}.ifp")), ifp(1, 3000)).unwrap();
        }
    });
    let asset = fixture.archive.join("a.ifp");
    let mount = fixture.mount(&["-o", "cachesize=256K"]);
    let path = mount.file(KEYS);
    let old = fs::metadata(&path).unwrap().len();
    fs::write(&asset, ifp(1, 2000)).unwrap();

    // Other assets evict its model and the sizes of its files.
    for number in 0..40 {
        let other = KEYS.replace("a.ifp", &format!("{number}.ifp"));
        fs::metadata(mount.file(&other)).unwrap();
    }
    match fs::read(&path) {
        Ok(bytes) => assert_ne!(bytes.len() as u64, old),
        Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ESTALE)),
    }
    eventually("the changed file is seen", || {
        let size = fs::metadata(&path).map(|found| found.len());
        let bytes = fs::read(&path).map(|bytes| bytes.len() as u64);
        matches!((size, bytes), (Ok(size), Ok(length)) if size == length && size < old)
    });
}

/// Memory per file or directory of a tree, in bytes.
const ENTRY: usize = 120;

/// Memory per asset in addition to its entries, while its directory in a
/// converted tree is built, in bytes.
const CONVERTED: usize = 260;

/// Returns the number of entries below a directory, including itself.
fn found_below(directory: &Path) -> usize {
    let mut count = Command::new("sh");
    count.arg("-c").arg("find \"$0\" | wc -l").arg(directory);
    let found = String::from_utf8(count.output().unwrap().stdout).unwrap();
    found.trim().parse().unwrap()
}

#[fuse_test]
fn the_largest_directories_that_archives_may_have_stay_within_the_limits() {
    if !has_programs(&["find"]) {
        return;
    }
    let files: usize = trial::length(30_000, 1_999_999);
    let names = (0..files).map(|number| {
        let empty = hpi::File::new(Vec::new(), Method::Stored);
        file(format!("{number:07}").as_bytes(), empty)
    });
    let inner = V1::new(names.collect()).build().bytes;
    // As deep as archives may be nested.
    let mut archive = inner;
    for _ in 0..15 {
        let packed = hpi::File::new(archive, Method::Zlib);
        archive = V1::new(vec![file(b"in.ufo", packed)]).build().bytes;
    }
    let mount = mounted(&archive, "cachesize=64M");
    let before = peak_beside_program(&mount.pid().to_string());
    let deepest = (0..15).fold(mount.path().to_owned(), |path, _| path.join("in.ufo.d"));
    assert_eq!(found_below(&deepest), files + 1);
    assert_eq!(counter(&mount, "errors"), 0);
    let peak = peak_beside_program(&mount.pid().to_string());
    let limit = (64 << 20) + BESIDE + files * ENTRY;
    assert!(peak < limit, "{peak} bytes, {before} before, limit {limit}");
    trial::record(
        "a directory of that many files in fifteen nested archives",
        files,
        &format!("{} MiB of {} MiB", peak >> 20, limit >> 20),
    );
}

#[fuse_test]
fn the_converted_tree_of_the_largest_directory_stays_within_the_limits() {
    if !has_programs(&["find"]) {
        return;
    }
    let files: usize = trial::length(30_000, 1_999_999);
    let names = (0..files).map(|number| {
        let empty = hpi::File::new(Vec::new(), Method::Stored);
        file(format!("{number:07}.pcx").as_bytes(), empty)
    });
    let archive = V1::new(names.collect()).build().bytes;
    let mount = mounted(&archive, "cachesize=64M");
    assert_eq!(found_below(&mount.path().join("converted")), files + 1);
    assert_eq!(counter(&mount, "errors"), 0);
    let peak = peak_beside_program(&mount.pid().to_string());
    let limit = (64 << 20) + BESIDE + files * (2 * ENTRY + CONVERTED);
    assert!(peak < limit, "{peak} bytes, limit {limit}");
    trial::record(
        "the converted tree of a directory of that many files",
        files,
        &format!("{} MiB of {} MiB", peak >> 20, limit >> 20),
    );
}

#[fuse_test]
fn describing_an_archive_of_the_most_layers_takes_little_memory() {
    const LAYERS: u32 = 10_000;
    let mut hip = Hip::default();
    for _ in 0..LAYERS {
        hip.layer(3);
    }
    let mount = mounted(&hip.build(), "cachesize=4M");
    for file in ["info.json", ".hpimount/info.json"] {
        let text = fs::read_to_string(mount.file(file)).unwrap();
        assert_eq!(text.matches("\"LDBG\"").count(), LAYERS as usize, "{file}");
    }
    let peak = peak_beside_program(&mount.pid().to_string());
    assert!(peak < (4 << 20) + 2 * BESIDE, "{peak} bytes");
}
