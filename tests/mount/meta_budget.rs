//! Listing many assets reads only those whose companions are entered, and stays
//! within the memory budget.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, io};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use testkit::fuse_test;
use testkit::limits::{peak_memory_of, program_memory_of, second, timed};
use testkit::mount::Mount;
use testkit::mounted::stats;
use testkit::sources::{folder, ifp, names, output};

/// Records which files of a directory any process opens or reads.
struct Watch(OwnedFd);

impl Watch {
    fn new(directory: &Path) -> Self {
        let watch = inotify::init(CreateFlags::NONBLOCK).unwrap();
        let events = WatchFlags::OPEN | WatchFlags::ACCESS;
        inotify::add_watch(&watch, directory, events).unwrap();
        Self(watch)
    }

    /// Returns the files that were opened or read since the last call.
    fn seen(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        let mut seen = Vec::new();
        loop {
            match events.next() {
                // The directory itself may be listed.
                Ok(event) if event.events().contains(ReadFlags::ISDIR) => {}
                Ok(event) => seen.push(format!("{:?}", event.file_name())),
                Err(rustix::io::Errno::AGAIN) => return seen,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[fuse_test]
fn a_long_listing_of_ten_thousand_assets_opens_none_of_them() {
    let fixture = folder(|source| {
        let sub = source.join("anim");
        fs::create_dir(&sub).unwrap();
        for number in 0..10_000 {
            fs::write(sub.join(format!("{number}.ifp")), ifp(0, 0)).unwrap();
        }
    });
    let watch = Watch::new(&fixture.archive.join("anim"));
    let mount = fixture.mount(&[]);
    let listing = output("ls", &["-l"], &mount.file("anim"));
    assert_eq!(listing.lines().count(), 1 + 2 * 10_000);
    assert_eq!(watch.seen(), [""; 0]);
    let stats = stats(&mount);
    assert_eq!(
        (&stats["reads"], &stats["assets_parsed"]),
        (&0.into(), &0.into())
    );
    // The watch does report opened files.
    names(&mount.file("anim/77.ifp.meta"));
    let seen = watch.seen();
    assert!(!seen.is_empty() && seen.iter().all(|name| name.contains("77.ifp")));
}

/// Runs a program to its end, and meanwhile checks the size of the cache.
fn watched(mount: &Mount, command: &mut Command, budget: u64) -> io::Result<Vec<u8>> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut stdout, &mut bytes).map(|_| bytes)
    });
    while child.try_wait()?.is_none() {
        let stats = stats(mount);
        let held = stats["cache"]["bytes"].as_u64().unwrap();
        // Each thread may have cached a value without having made room for it.
        assert!(held <= budget + (128 << 10), "{stats}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(child.wait()?.success());
    reader.join().unwrap()
}

#[fuse_test]
fn listing_or_searching_all_parses_each_asset_once_within_the_budget() {
    const ASSETS: u64 = 300;
    const BUDGET: u64 = 2 << 20;
    let fixture = folder(|source| {
        for number in 0..ASSETS {
            fs::write(source.join(format!("{number}.ifp")), ifp(8, 40)).unwrap();
        }
    });
    let mount = fixture.mount(&["-o", "cachesize=2M"]);
    let parsed = || stats(&mount)["assets_parsed"].as_u64().unwrap();

    let mut list = Command::new("ls");
    list.arg("-lR").arg(mount.path());
    let listing = watched(&mount, &mut list, BUDGET).unwrap();
    let listing = String::from_utf8(listing).unwrap();
    let texts = listing.lines().filter(|line| line.ends_with(".json"));
    assert_eq!(texts.count() as u64, ASSETS * (1 + 8));
    assert_eq!(parsed(), ASSETS);

    let mut search = Command::new("grep");
    search.args(["-rc", "\"time\": 0.65,"]).arg(mount.path());
    let found = watched(&mount, &mut search, BUDGET).unwrap();
    let found = String::from_utf8(found).unwrap();
    let with_a_hit = found.lines().filter(|line| line.ends_with(":1"));
    assert_eq!(with_a_hit.count() as u64, ASSETS * 8);
    // The models of the listing have been evicted by now.
    assert_eq!(parsed(), 2 * ASSETS);

    let pid = mount.pid().to_string();
    let (peak, program) = (peak_memory_of(&pid), program_memory_of(&pid));
    eprintln!(
        "peak {} KiB, {} KiB of it the program",
        peak >> 10,
        program >> 10
    );
    assert!(
        peak - program < 9 << 20,
        "{peak} bytes, {program} of them the program"
    );
}

#[fuse_test]
fn an_asset_larger_than_the_cache_is_parsed_once() {
    let bytes = ifp(30, 2500);
    assert!(bytes.len() > 1 << 20);
    let fixture = folder(|source| fs::write(source.join("a.ifp"), &bytes).unwrap());
    let mount = fixture.mount(&["-o", "cachesize=1M"]);
    let listing = output("ls", &["-l"], &mount.file("a.ifp.meta/animations"));
    // Each animation has two files.
    assert_eq!(listing.lines().count(), 1 + 2 * 30);
    let stats = stats(&mount);
    assert_eq!(stats["assets_parsed"], 1);
    assert!(stats["cache"]["bytes"].as_u64().unwrap() <= 1 << 20);
}

#[fuse_test]
fn listing_names_renders_no_files() {
    let fixture = folder(|source| fs::write(source.join("a.ifp"), ifp(50, 10)).unwrap());
    let mount = fixture.mount(&[]);
    let misses = || stats(&mount)["cache"]["misses"].as_u64().unwrap();
    let meta = mount.file("a.ifp.meta");
    assert_eq!(names(&meta).len(), 6);
    let before = misses();
    assert_eq!(names(&meta.join("animations")).len(), 2 * 50);
    assert_eq!(misses(), before);
    let first = meta.join("animations/000 walk0.json");
    assert_ne!(fs::metadata(first).unwrap().len(), 0);
    assert_eq!(misses(), before + 1);
}

#[fuse_test]
fn a_package_of_two_megabytes_is_listed_in_a_tenth_of_a_second() {
    let fixture = folder(|source| {
        fs::write(source.join("arena.ifp"), ifp(256, 512)).unwrap();
    });
    let mount = fixture.mount(&[]);
    let meta = mount.file("arena.ifp.meta");
    let ready = timed(|| drop(names(&meta)));
    let listed = timed(|| drop(names(&meta.join("animations"))));
    let sized = timed(|| drop(output("ls", &["-l"], &meta.join("animations"))));
    eprintln!("ready {ready:?}, animations {listed:?}, with sizes {sized:?}");
    assert!(ready + listed < second() / 10);
    assert!(sized < second());
}
