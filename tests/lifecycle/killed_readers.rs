//! Programs that are killed while they wait for something that takes long.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testkit::fuse_test;

use rustix::process::Signal;
use testkit::mount::eventually;
use testkit::sources::folder;
use testkit::trial;

/// 64 MiB of zeros, compressed by bzip2.
const ZEROS: [u8; 79] = [
    0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x0E, 0x09, 0xE2, 0xDF, 0x01, 0x5F,
    0x8E, 0x40, 0x00, 0xC0, 0x00, 0x00, 0x08, 0x20, 0x00, 0x30, 0x80, 0x4D, 0x46, 0x42, 0xA0, 0x25,
    0xA9, 0x0A, 0x80, 0x97, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xBC, 0x04, 0xB5, 0xC3, 0x00, 0xA2,
    0x75, 0xC0, 0x00, 0xC0, 0x00, 0x00, 0x08, 0x20, 0x00, 0x20, 0xA4, 0x08, 0x36, 0x32, 0x8A, 0x88,
    0x4D, 0x2A, 0x2A, 0x21, 0x38, 0xBB, 0x92, 0x29, 0xC2, 0x84, 0x85, 0x00, 0xBB, 0x83, 0xE8,
];

/// Number of such streams in the file. Decoding them takes minutes.
const STREAMS: usize = 255;

/// Starts a program that lists the contents of the file, whose size is unknown until
/// all of it is decoded.
fn reader(mount: &Path) -> Child {
    let mut command = Command::new("ls");
    command.arg("-l").arg(mount.join("big.bz2.d"));
    let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
    silent.spawn().unwrap()
}

fn has_ended(reader: &mut Child) -> bool {
    reader.try_wait().unwrap().is_some()
}

#[fuse_test]
fn killed_readers_end_at_once_and_others_go_on_waiting() {
    let fixture = folder(|source| {
        fs::write(source.join("big.bz2"), ZEROS.repeat(STREAMS)).unwrap();
        fs::write(source.join("small"), "small").unwrap();
    });
    let mount = fixture.mount(&[]);
    // The first one decodes, and the others wait for it.
    let mut readers = [(); 3].map(|()| {
        let reader = reader(mount.path());
        thread::sleep(Duration::from_millis(300));
        reader
    });
    for number in [1, 0] {
        readers[number].kill().unwrap();
        eventually("the killed reader ends", || has_ended(&mut readers[number]));
        assert!(!has_ended(&mut readers[2]));
    }
    assert_eq!(fs::read(mount.file("small")).unwrap(), b"small");
    readers[2].kill().unwrap();
    eventually("the last one ends", || has_ended(&mut readers[2]));
}

/// Programs that wait for a long decoding: for a size, for all bytes, and for the last one.
const READERS: [&[&str]; 3] = [
    &["ls", "-l", "."],
    &["cat", "big"],
    &["tail", "-c", "1", "big"],
];

#[fuse_test]
fn a_reader_ends_within_a_second_of_being_killed() {
    let fixture = folder(|source| {
        fs::write(source.join("big.bz2"), ZEROS.repeat(STREAMS)).unwrap();
        fs::write(source.join("loose"), "loose").unwrap();
    });
    let mount = fixture.mount(&["-o", "cachesize=1M,spoolsize=1M,noprefetch"]);
    let rounds = trial::length(1_u64, 60);
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        for words in READERS {
            let mut command = Command::new(words[0]);
            let directory = mount.file("big.bz2.d");
            command.args(&words[1..]).current_dir(directory);
            let silent = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut reader = silent.spawn().unwrap();
            thread::sleep(Duration::from_millis(300 + 7 * round));
            assert!(!has_ended(&mut reader), "{words:?}");
            reader.kill().unwrap();
            let killed = Instant::now();
            reader.wait().unwrap();
            slowest = slowest.max(killed.elapsed());
        }
        assert_eq!(fs::read(mount.file("loose")).unwrap(), b"loose");
    }
    // More where other tests keep the machine busy.
    let limit = trial::length(Duration::from_secs(5), Duration::from_secs(1));
    assert!(slowest < limit, "{slowest:?}");
    mount.signal(Signal::TERM);
    mount.assert_ends();
    trial::record(
        "SIGKILL to readers that wait for a size, for all bytes or for the last one of a bzip2 file of \
         16 GiB",
        rounds as usize * READERS.len(),
        &format!("ended within {} ms", slowest.as_millis()),
    );
}
