//! Broken archives are refused, or reads return correct bytes or errors, each
//! where expected.

mod support;

use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hpimount_containers::hpi::chunk::Method;
use support::files::{Found, contents, forget_pages, open_direct, read_at, walk};
use support::hpi::hostile::{self, one_chunk, one_file};
use support::hpi::{File as PackedFile, V1, V2, dir, file, quirks, usual_tree};
use support::mount::{Fixture, Mount, can_mount, hpimount, mounts_at, run};
use support::mounted::{counter, info, mounted, mounted_by, mounted_files, stats};
use support::{noise, shared, text};

const PAGE: usize = 4096;

/// Maximum time that anything may take with a broken archive.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Address space for the program: 256 MiB in addition to its cache of 1 MiB.
const LIMIT: &str = "--as=269484032";

const OPTIONS: &str = "cachesize=1M";

/// Returns the program with a limit on its address space.
fn limited() -> Command {
    let mut command = Command::new("prlimit");
    command.arg(LIMIT).arg(hpimount().get_program());
    command
}

fn mounted_limited(archive: &[u8]) -> Option<Mount> {
    mounted_by(limited(), archive, OPTIONS)
}

/// Returns the exit code and the start of the message for a broken archive.
fn refusal(name: &str) -> (i32, &'static str) {
    match name {
        // not_hapi.hpi begins as a zip archive, which is damaged.
        "empty" | "another format" | "empty.hpi" => (11, "is not an archive of a known format"),
        "saved game" | "bank_savegame.hpi" => (
            13,
            "is a saved game of Total Annihilation (HAPI BANK), which holds no files",
        ),
        "version 3" | "version_3.hpi" => (13, "is an HPI archive of version 0x00030000; "),
        _ => (12, ""),
    }
}

/// Checks that an archive is refused with one line that describes the cause,
/// and that nothing remains mounted.
fn check_refused(name: &str, archive: &Path) {
    let fixture = Fixture::new();
    let start = Instant::now();
    let mut command = limited();
    let ran = run(command
        .arg(archive)
        .arg(&fixture.point)
        .args(["-o", OPTIONS]));
    assert!(start.elapsed() < MAX_TIME, "{name}: {:?}", start.elapsed());
    let (code, problem) = refusal(name);
    assert_eq!(ran.code, Some(code), "{name}: {ran:?}");
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1));
    let begin = format!("hpimount: {}: {problem}", archive.display());
    assert!(ran.stderr.starts_with(&begin), "{name}: {}", ran.stderr);
    if code == 12 {
        let field = ran.stderr[begin.len()..].split(": ").next().unwrap();
        let (field, offset) = field.rsplit_once(" at 0x").unwrap_or_default();
        assert!(!field.is_empty(), "{name}: {}", ran.stderr);
        assert!(u64::from_str_radix(offset, 16).is_ok(), "{}", ran.stderr);
    }
    assert!(
        mounts_at(&fixture.point).is_empty(),
        "{name}: stays mounted"
    );
}

/// The part of a file that cannot be read.
struct Damage<'a> {
    path: &'a Path,
    /// The expected contents without damage.
    whole: &'a [u8],
    damaged: Range<usize>,
}

impl Damage<'_> {
    fn check(&self) {
        let start = Instant::now();
        let metadata = self.path.metadata().unwrap();
        assert_eq!(metadata.len(), self.whole.len() as u64);
        self.check_pages();
        self.check_bytes();
        self.check_from_the_start();
        assert!(start.elapsed() < MAX_TIME, "{}", self.path.display());
    }

    /// Checks that a read returns the right bytes, or an error if it touches
    /// damage.
    fn check_read(&self, file: &File, range: Range<usize>, touches: bool) {
        let shown = format!("{} {range:?}", self.path.display());
        match read_at(file, range.start as u64, range.len()) {
            Ok(bytes) => {
                assert!(!touches, "{shown}: {} bytes", bytes.len());
                let end = range.end.min(self.whole.len());
                assert!(bytes == self.whole[range.start..end], "{shown}");
            }
            Err(error) => {
                assert!(touches, "{shown}: {error}");
                assert_eq!(error.raw_os_error(), Some(libc::EIO), "{shown}");
            }
        }
    }

    fn touches(&self, range: &Range<usize>) -> bool {
        range.start < self.damaged.end && self.damaged.start < range.end
    }

    /// Reads through the kernel's cache, in pages.
    fn check_pages(&self) {
        let file = File::open(self.path).unwrap();
        forget_pages(&file);
        for start in (0..self.whole.len()).step_by(PAGE) {
            let page = start..start + PAGE;
            self.check_read(&file, page.clone(), self.touches(&page));
        }
    }

    /// Reads past the kernel's cache, around the bounds of the damage.
    fn check_bytes(&self) {
        let file = open_direct(self.path);
        for bound in [self.damaged.start, self.damaged.end] {
            for (before, behind) in [(10, 0), (10, 1), (1, 10), (0, 10), (70_000, 70_000)] {
                let end = self.whole.len().min(bound + behind);
                let range = bound.saturating_sub(before)..end;
                if !range.is_empty() {
                    self.check_read(&file, range.clone(), self.touches(&range));
                }
            }
        }
    }

    /// Reads as `cat` does: the bytes before the damage, and then an error.
    fn check_from_the_start(&self) {
        let file = File::open(self.path).unwrap();
        forget_pages(&file);
        let mut position = 0_usize;
        let error = loop {
            match read_at(&file, position as u64, 128 << 10) {
                Ok(bytes) if bytes.is_empty() => break None,
                Ok(bytes) => {
                    assert!(bytes == self.whole[position..position + bytes.len()]);
                    position += bytes.len();
                }
                Err(error) => break error.raw_os_error(),
            }
        };
        if self.damaged.is_empty() {
            assert_eq!((position, error), (self.whole.len(), None));
        } else {
            let expected: usize = self.damaged.start / PAGE * PAGE;
            assert_eq!((position, error), (expected, Some(libc::EIO)));
        }
    }
}

/// Checks a file of 4 GiB without any bytes, which is too long to read whole.
fn check_huge(path: &Path) {
    assert_eq!(path.metadata().unwrap().len(), u64::from(u32::MAX));
    let file = File::open(path).unwrap();
    for offset in [0, 1 << 20, 0xFFFF_FFFE_u64] {
        let error = read_at(&file, offset, 1).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
    }
}

#[test]
fn nonsensical_archives_are_refused() {
    if !can_mount() {
        return;
    }
    for broken in hostile::unopenable() {
        let archive = tempfile::NamedTempFile::new().unwrap();
        fs::write(archive.path(), broken.bytes).unwrap();
        check_refused(broken.name, archive.path());
    }
}

/// Returns the damaged part of the only file of the archive `name`, which has
/// chunks of 64 KiB.
fn damaged(name: &str, size: usize) -> Range<usize> {
    match name {
        "wrong marker"
        | "unknown method"
        | "compressed size too high"
        | "decompressed size too high"
        | "wrong checksum" => 0..65_536,
        "data cut off" => 196_608..size,
        _ => 0..size,
    }
}

#[test]
fn only_reads_that_touch_the_damage_fail() {
    for broken in hostile::unreadable() {
        let Some(mount) = mounted_limited(&broken.bytes) else {
            return;
        };
        let path = mount.path().join("a");
        if broken.name == "size of 4 GiB" {
            check_huge(&path);
            continue;
        }
        let size = path.metadata().unwrap().len() as usize;
        Damage {
            path: &path,
            whole: &text(size),
            damaged: damaged(broken.name, size),
        }
        .check();
        let errors = &stats(&mount)["last_errors"];
        let error = errors[0].as_str().unwrap();
        assert!(error.contains(": a: ") && error.contains(" 0x"), "{error}");
    }
}

#[test]
fn chunks_next_to_a_damaged_one_can_be_read() {
    let built = one_file();
    let whole = text(200_000);
    for chunk in 0..4 {
        let checksum = built.files[0].chunks[chunk] + 15;
        let Some(mount) = mounted_limited(&built.patched(checksum, [0xAA; 4])) else {
            return;
        };
        Damage {
            path: &mount.path().join("a"),
            whole: &whole,
            damaged: chunk * 65_536..whole.len().min((chunk + 1) * 65_536),
        }
        .check();
    }
}

#[test]
fn chunks_before_a_wrong_entry_of_the_table_can_be_read() {
    let built = one_file();
    let whole = text(200_000);
    // The size of the third chunk, so the start of the fourth is unknown.
    let table = built.files[0].data + 8;
    let Some(mount) = mounted_limited(&built.patched(table, [0; 4])) else {
        return;
    };
    Damage {
        path: &mount.path().join("a"),
        whole: &whole,
        damaged: 131_072..whole.len(),
    }
    .check();
}

#[test]
fn chunks_of_version_2_fail_individually() {
    let data = noise(5, 10_000);
    let built = V2 {
        chunk_size: Some(1000),
        ..V2::new(vec![file(
            b"a",
            PackedFile::new(data.clone(), Method::Zlib),
        )])
    }
    .build();
    let checksum = built.files[0].chunks[6] + 15;
    let Some(mount) = mounted_limited(&built.patched(checksum, [0xAA; 4])) else {
        return;
    };
    Damage {
        path: &mount.path().join("a"),
        whole: &data,
        damaged: 6000..7000,
    }
    .check();
}

#[test]
fn a_long_chunk_is_readable_before_the_damage() {
    let data = noise(5, 300_000);
    let mut payload = support::hpi::zlib(&data);
    // Packed noise is as long as before, so the third piece of 64 KiB is cut.
    payload.truncate(150_000);
    let cut = PackedFile::new(data.clone(), Method::Zlib).with(|chunk| {
        chunk.payload = Some(payload);
    });
    let built = V2 {
        chunk_size: None,
        ..V2::new(vec![file(b"a", cut)])
    };
    let Some(mount) = mounted_limited(&built.build().bytes) else {
        return;
    };
    Damage {
        path: &mount.path().join("a"),
        whole: &data,
        damaged: 131_072..data.len(),
    }
    .check();
}

#[test]
fn nonsensical_samples_are_refused() {
    let Some(samples) = shared("samples/hpi/hostile") else {
        return;
    };
    let mut refused = 0;
    for sample in fs::read_dir(samples).unwrap() {
        let path = sample.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if READABLE.iter().all(|(readable, _)| *readable != name) {
            check_refused(name, &path);
            refused += 1;
        }
    }
    assert_eq!(refused, 18);
}

/// Samples that are mounted, and how many bytes from the start of their only
/// file cannot be read.
const READABLE: [(&str, usize); 16] = [
    ("v1_bad_checksum.hpi", 65_536),
    ("v1_bad_comp_7.hpi", 0),
    ("v1_bad_sqsh_marker.hpi", 65_536),
    ("v1_chunk_csize_big.hpi", 65_536),
    ("v1_chunk_dsize_4g.hpi", 65_536),
    ("v1_chunktab_wrap.hpi", 200_000),
    ("v1_chunktab_zero.hpi", 200_000),
    ("v1_lz77_no_terminator.hpi", 8),
    ("v1_lz77_overrun.hpi", 4),
    ("v1_lz77_short.hpi", 100),
    ("v1_offset_past_end.hpi", 200_000),
    ("v1_size_4g.hpi", usize::MAX),
    ("v1_zlib_bomb.hpi", 10),
    ("v1_zlib_garbage.hpi", 10),
    ("v1_count_negative.hpi", 0),
    ("v1_truncated_data.hpi", 0),
];

#[test]
fn samples_return_errors_only_where_they_are_damaged() {
    let Some(samples) = shared("samples/hpi") else {
        return;
    };
    let Some(good) = mounted_files(&[samples.join("good/v1_zlib_plain.hpi")], "") else {
        return;
    };
    let good = contents(good.path());
    let Found::File(big) = &good[Path::new("big.tdf")] else {
        panic!("big.tdf is a file");
    };
    for (name, damaged) in READABLE {
        let archive = fs::read(samples.join("hostile").join(name)).unwrap();
        let mount = mounted_limited(&archive).unwrap();
        let path = mount.path().join("a");
        match name {
            "v1_size_4g.hpi" => check_huge(&path),
            // The game treats it as empty.
            "v1_count_negative.hpi" => assert!(walk(mount.path()).is_empty()),
            "v1_truncated_data.hpi" => check_truncated(&good, &mount),
            _ => {
                let size = path.metadata().unwrap().len() as usize;
                Damage {
                    path: &path,
                    whole: &big[..size],
                    damaged: 0..damaged,
                }
                .check();
            }
        }
    }
}

/// Checks an archive that ends before the bytes of its last two files.
fn check_truncated(good: &std::collections::BTreeMap<std::path::PathBuf, Found>, mount: &Mount) {
    assert_eq!(walk(mount.path()).len(), good.len());
    for (path, found) in good {
        let Found::File(whole) = found else { continue };
        let lost = path.ends_with("noise.bin") || path.ends_with("big.tdf");
        Damage {
            path: &mount.path().join(path),
            whole,
            damaged: 0..if lost { whole.len() } else { 0 },
        }
        .check();
    }
}

#[test]
fn names_never_lead_outside() {
    let evil = |name: &[u8]| file(name, PackedFile::new(b"evil".to_vec(), Method::Stored));
    let names: [&[u8]; 6] = [b"..", b".", b"", b"/etc/passwd", b"../../up", b"a/../../b"];
    let entries = names.map(evil).to_vec();
    let inner = names.map(|name| dir(name, vec![evil(name)])).to_vec();
    let archive = V1::new([entries, vec![dir(b"d", inner)]].concat()).build();
    let Some(mount) = mounted(&archive.bytes, "") else {
        return;
    };
    let found = walk(mount.path());
    assert_eq!(found.len(), 6 + 1 + 6 + 6);
    for path in found {
        let below = path.strip_prefix(mount.path()).unwrap();
        let plain = |part| matches!(part, std::path::Component::Normal(_));
        assert!(below.components().all(plain), "{}", path.display());
        assert_eq!(path.canonicalize().unwrap(), path);
    }
}

#[test]
fn with_force_a_chunk_with_a_wrong_checksum_is_read() {
    let built = one_file();
    let wrong = built.patched(built.files[0].chunks[1] + 15, [0xAA; 4]);
    let Some(mount) = mounted(&wrong, "force") else {
        return;
    };
    assert!(fs::read(mount.path().join("a")).unwrap() == text(200_000));
    assert_eq!(counter(&mount, "errors"), 0);
}

#[test]
fn with_force_a_damaged_zlib_stream_is_its_beginning_and_zeros() {
    let data = noise(7, 30_000);
    let mut payload = support::hpi::zlib(&data);
    payload.truncate(payload.len() / 2);
    let archive = one_chunk(Method::Zlib, payload, data.len());
    let Some(mount) = mounted(&archive, "force") else {
        return;
    };
    let read = fs::read(mount.path().join("a")).unwrap();
    assert_eq!(read.len(), data.len());
    let same = read.iter().zip(&data).take_while(|(a, b)| a == b).count();
    assert!(same > 10_000, "{same} bytes are right");
    assert!(read[same + 1..].iter().all(|&byte| byte == 0));
    drop(mount);
    let strict = mounted(&archive, "").unwrap();
    assert!(fs::read(strict.path().join("a")).is_err());
}

#[test]
fn with_force_damaged_directory_entries_are_skipped_and_reported() {
    let usual = V1::new(usual_tree(Method::Zlib)).build();
    // The name of the first entry of the root, which is a directory.
    let wrong = usual.patched(28, 0x00FF_FFFF_u32.to_le_bytes());
    let Some(mount) = mounted(&wrong, "force") else {
        return;
    };
    let mut expected = support::files::expected(&usual_tree(Method::Zlib));
    expected.retain(|path, _| !path.starts_with("units"));
    assert!(contents(mount.path()) == expected);
    let info = info(&mount);
    assert_eq!(info["force"], true);
    let warnings = info["sources"][0]["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    let warning = warnings[0].as_str().unwrap();
    assert!(
        warning.starts_with("skipped: entry name at 0x"),
        "{warning}"
    );
}

#[test]
fn odd_archives_are_read_within_the_limit_as_well() {
    for quirk in quirks::all() {
        let Some(mount) = mounted_limited(&quirk.bytes) else {
            return;
        };
        let files = contents(mount.path());
        assert_eq!(counter(&mount, "errors"), 0, "{}", quirk.name);
        assert!(files.len() >= quirk.entries.len(), "{}", quirk.name);
    }
}
