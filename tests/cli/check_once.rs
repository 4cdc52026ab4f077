//! `hpi check` reads and decodes nothing twice: a disc image is hashed, and the files
//! of the disc are checked, in one pass; an asset is parsed and compared with its
//! checksum in one pass.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use fixtures::container_seeds::{Method7z, gcz, rvz, seven_zip_of, wia};
use fixtures::disc::Disc;
use fixtures::hip::{Asset, Hip};
use fixtures::{noise, text};
use hpimount::inspect::EXPANSION;
use hpimount::inspect::check::{CheckPlan, Style, Summary, check};
use hpimount::mount::{Options, Sources};
use indicatif::ProgressBar;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::Value;
use testkit::mount::{Run, hpi, run};
use testkit::skip::possible;
use testkit::sources::file;

/// Number of files of a disc, and their sizes in bytes.
const FILES: usize = 12;
const SIZE: usize = 300_000;

/// Returns a disc with files of no known format, and the files. They are compressible,
/// and begin with different bytes; the first one is in a directory.
fn disc() -> (Disc, Vec<Vec<u8>>) {
    let mut disc = Disc::default();
    let file = |number: usize| [noise(number as u64, 64), text(SIZE + number)].concat();
    let files: Vec<_> = (0..FILES).map(file).collect();
    for (number, bytes) in files.iter().enumerate() {
        let directory = if number == 0 { "DATA/" } else { "" };
        disc.file(&format!("{directory}FILE{number:02}.BIN"), bytes);
    }
    (disc, files)
}

/// Checks a source with this many threads. Returns the statistics and the lines.
fn checked(source: &Path, threads: usize) -> (Summary, String) {
    let sources = Sources::one(source);
    let plan = CheckPlan {
        sources: vec![("source".to_owned(), sources.prepare().unwrap())],
        options: Options::default(),
        threads,
        expansion: EXPANSION,
        list: None,
        style: Style {
            json: true,
            is_terminal: false,
            is_verbose: false,
        },
    };
    let mut lines = Vec::new();
    let checked = check(plan, &mut lines, &ProgressBar::hidden()).unwrap();
    (checked.summary, String::from_utf8(lines).unwrap())
}

/// Returns the kernel's count of bytes that a program has read, if it has one.
fn bytes_read_by(command: &mut Command) -> Option<u64> {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let id = child.id();
    let pid = Pid::from_raw(id.try_into().unwrap()).unwrap();
    // It remains a zombie, whose counters can be read.
    waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )
    .unwrap();
    let counters = fs::read_to_string(format!("/proc/{id}/io"));
    assert!(child.wait().unwrap().success(), "{command:?}");
    let counters: io::Result<String> = counters;
    let mut lines = counters.as_deref().ok()?.lines();
    lines.find_map(|line| line.strip_prefix("rchar: ")?.parse().ok())
}

/// Asserts that a check of these bytes reads each of them once.
fn assert_read_once(name: &str, bytes: &[u8]) {
    let fixture = file(name, bytes);
    let mut command = hpi("check");
    let read = bytes_read_by(command.arg(&fixture.archive));
    if !possible(
        read.is_some(),
        "a kernel that counts the bytes of processes",
    ) {
        return;
    }
    let (read, length) = (read.unwrap(), bytes.len() as u64);
    assert!(read >= length, "{name}: {read} of {length}");
    assert!(read <= length + length / 7, "{name}: {read} of {length}");
}

#[test]
fn each_byte_of_a_disc_is_read_once() {
    let (disc, files) = disc();
    let image = disc.iso();
    assert_read_once("game.iso", &image);
    // The files count nevertheless.
    let fixture = file("game.iso", &image);
    let (summary, _) = checked(&fixture.archive, 2);
    let size: usize = files.iter().map(Vec::len).sum();
    assert_eq!(summary.files.get(), FILES as u64);
    assert_eq!(summary.bytes.get(), (image.len() + size) as u64);
}

#[test]
fn each_byte_of_an_asset_with_a_checksum_is_read_once() {
    let mut hip = Hip::default();
    hip.layer(0);
    for number in 0..FILES as u64 {
        let bytes = noise(number, SIZE);
        let code = if number % 2 == 0 { b"TEXT" } else { b"ABCD" };
        hip.add(Asset::new(code, &format!("ASSET {number}"), &bytes));
    }
    assert_read_once("assets.HIP", &hip.build());
}

#[test]
fn each_block_of_a_block_image_is_decoded_once() {
    let (disc, _) = disc();
    let image = disc.iso();
    for (name, packed, block) in [
        ("game.rvz", rvz(&image), 0x8000),
        ("game.wia", wia(&image), 2 << 20),
        ("small.gcz", gcz(&image, 2048), 2048),
        ("large.gcz", gcz(&image, 1 << 20), 1 << 20),
        ("odd.gcz", gcz(&image, 100_000), 100_000),
    ] {
        let fixture = file(name, &packed);
        for threads in [1, 3, 8] {
            let (summary, lines) = checked(&fixture.archive, threads);
            assert_eq!(summary.damage.get() + summary.warnings.get(), 0, "{lines}");
            let decoded = summary.decoded.get();
            let length = image.len() as u64;
            assert!(decoded >= length, "{name}: {decoded} of {length}");
            // The directories of the disc are read before.
            let most = length + length / 100 + 4 * block as u64;
            assert!(decoded <= most, "{name}, {threads}: {decoded} of {length}");
        }
    }
}

#[test]
fn a_solid_block_is_decoded_once() {
    let all = text(SIZE + FILES);
    let files: Vec<_> = (0..FILES)
        .map(|number| (format!("file{number:02}.bin"), &all[number..number + SIZE]))
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, bytes)| (&**name, *bytes))
        .collect();
    let fixture = file("solid.7z", &seven_zip_of(Method7z::Deflate, &files, 0));
    for threads in [1, 4] {
        let (summary, lines) = checked(&fixture.archive, threads);
        assert_eq!(summary.damage.get(), 0, "{lines}");
        assert_eq!(summary.decoded.get(), (FILES * SIZE) as u64, "{threads}");
    }
}

#[test]
fn what_is_damaged_in_a_block_image_is_named_and_all_else_is_read() {
    const BLOCK: usize = 32 << 10;
    let (disc, files) = disc();
    let image = disc.iso();
    let mut packed = gcz(&image, BLOCK);
    let place = |number: usize| {
        let start = &files[number][..64];
        image.windows(64).position(|found| found == start).unwrap()
    };
    let header = 32 + 12 * image.len().div_ceil(BLOCK);
    let block = (place(5) + SIZE / 2) / BLOCK;
    let offset = |number: usize| {
        let entry = packed[32 + 8 * number..][..4].try_into().unwrap();
        header + u32::from_le_bytes(entry) as usize
    };
    let at = offset(block) + 1000;
    packed[at] ^= 0x10;
    let fixture = file("game.gcz", &packed);
    let Run {
        code,
        stdout,
        stderr,
    } = run(hpi("check").arg("--json").arg(&fixture.archive));
    assert_eq!((code, stderr.as_str()), (Some(12), ""), "{stdout}");
    let lines: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (summary, findings) = lines.split_last().unwrap();
    let mut paths: Vec<_> = findings.iter().map(|line| &line["path"]).collect();
    paths.sort_by_key(|path| path.to_string());
    paths.dedup();
    // The image itself has no sums then.
    assert_eq!(paths, ["", "FILE05.BIN"], "{stdout}");
    for finding in findings {
        assert_eq!(finding["severity"], "damage");
        let cause = finding["cause"].as_str().unwrap();
        assert!(cause.contains(&format!("block {block}")), "{cause}");
    }
    // All bytes of the image, and of the files except for the sectors in the block.
    let size: usize = files.iter().map(Vec::len).sum();
    let all = (image.len() + size - BLOCK) as u64;
    assert_eq!(summary["bytes"], all, "{stdout}");
    assert_eq!(summary["files"], FILES);
}
