//! Broken HPI samples are refused, or reads return errors only where they are
//! damaged.

use std::fs::{self};
use std::path::Path;

use crate::shared;
use testkit::damaged_hpi::{Damage, check_huge, check_refused, mounted_limited};
use testkit::files::{FileEntry, contents, walk};
use testkit::fuse_test;
use testkit::mount::Mount;
use testkit::mounted::mounted_files;

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

/// The mounted samples, with the readable number of bytes at the start of their only
/// file.
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

#[fuse_test]
fn samples_return_errors_only_where_they_are_damaged() {
    let Some(samples) = shared("samples/hpi") else {
        return;
    };
    let good = mounted_files(&[samples.join("good/v1_zlib_plain.hpi")], "");
    let good = contents(good.path());
    let FileEntry::File(big) = &good[Path::new("big.tdf")] else {
        panic!("big.tdf is a file");
    };
    for (name, damaged) in READABLE {
        let archive = fs::read(samples.join("hostile").join(name)).unwrap();
        let mount = mounted_limited(&archive);
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
fn check_truncated(
    good: &std::collections::BTreeMap<std::path::PathBuf, FileEntry>,
    mount: &Mount,
) {
    assert_eq!(walk(mount.path()).len(), good.len());
    for (path, found) in good {
        let FileEntry::File(whole) = found else {
            continue;
        };
        let lost = path.ends_with("noise.bin") || path.ends_with("big.tdf");
        Damage {
            path: &mount.path().join(path),
            whole,
            damaged: 0..if lost { whole.len() } else { 0 },
        }
        .check();
    }
}
