//! Broken archives are refused, or reads return correct bytes or errors, each
//! where expected.

use std::fs;
use std::ops::Range;

use fixtures::hpi::hostile::{self, one_chunk, one_file};
use fixtures::hpi::{File as PackedFile, V1, V2, dir, file, quirks, usual_tree};
use fixtures::{noise, text};
use hpimount_containers::hpi::chunk::Method;
use testkit::damaged_hpi::{Damage, check_huge, check_refused, mounted_limited};
use testkit::files::{contents, walk};
use testkit::fuse_test;
use testkit::mounted::{counter, info, mounted, stats};

#[fuse_test]
fn nonsensical_archives_are_refused() {
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

#[fuse_test]
fn only_reads_that_touch_the_damage_fail() {
    for broken in hostile::unreadable() {
        let mount = mounted_limited(&broken.bytes);
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

#[fuse_test]
fn chunks_next_to_a_damaged_one_can_be_read() {
    let built = one_file();
    let whole = text(200_000);
    for chunk in 0..4 {
        let checksum = built.files[0].chunks[chunk] + 15;
        let mount = mounted_limited(&built.patched(checksum, [0xAA; 4]));
        Damage {
            path: &mount.path().join("a"),
            whole: &whole,
            damaged: chunk * 65_536..whole.len().min((chunk + 1) * 65_536),
        }
        .check();
    }
}

#[fuse_test]
fn chunks_before_a_wrong_entry_of_the_table_can_be_read() {
    let built = one_file();
    let whole = text(200_000);
    // The size of the third chunk, so the start of the fourth is unknown.
    let table = built.files[0].data + 8;
    let mount = mounted_limited(&built.patched(table, [0; 4]));
    Damage {
        path: &mount.path().join("a"),
        whole: &whole,
        damaged: 131_072..whole.len(),
    }
    .check();
}

#[fuse_test]
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
    let mount = mounted_limited(&built.patched(checksum, [0xAA; 4]));
    Damage {
        path: &mount.path().join("a"),
        whole: &data,
        damaged: 6000..7000,
    }
    .check();
}

#[fuse_test]
fn a_long_chunk_is_readable_before_the_damage() {
    let data = noise(5, 300_000);
    let mut payload = fixtures::hpi::zlib(&data);
    // Packed noise is not smaller, so the third piece of 64 KiB is truncated.
    payload.truncate(150_000);
    let cut = PackedFile::new(data.clone(), Method::Zlib).with(|chunk| {
        chunk.payload = Some(payload);
    });
    let built = V2 {
        chunk_size: None,
        ..V2::new(vec![file(b"a", cut)])
    };
    let mount = mounted_limited(&built.build().bytes);
    Damage {
        path: &mount.path().join("a"),
        whole: &data,
        damaged: 131_072..data.len(),
    }
    .check();
}

#[fuse_test]
fn names_never_lead_outside() {
    let evil = |name: &[u8]| file(name, PackedFile::new(b"evil".to_vec(), Method::Stored));
    let names: [&[u8]; 6] = [b"..", b".", b"", b"/etc/passwd", b"../../up", b"a/../../b"];
    let entries = names.map(evil).to_vec();
    let inner = names.map(|name| dir(name, vec![evil(name)])).to_vec();
    let archive = V1::new([entries, vec![dir(b"d", inner)]].concat()).build();
    let mount = mounted(&archive.bytes, "");
    let found = walk(mount.path());
    assert_eq!(found.len(), 6 + 1 + 6 + 6);
    for path in found {
        let below = path.strip_prefix(mount.path()).unwrap();
        let plain = |part| matches!(part, std::path::Component::Normal(_));
        assert!(below.components().all(plain), "{}", path.display());
        assert_eq!(path.canonicalize().unwrap(), path);
    }
}

#[fuse_test]
fn with_force_a_chunk_with_a_wrong_checksum_is_read() {
    let built = one_file();
    let wrong = built.patched(built.files[0].chunks[1] + 15, [0xAA; 4]);
    let mount = mounted(&wrong, "force");
    assert!(fs::read(mount.path().join("a")).unwrap() == text(200_000));
    assert_eq!(counter(&mount, "errors"), 0);
}

#[fuse_test]
fn with_force_a_damaged_zlib_stream_is_its_beginning_and_zeros() {
    let data = noise(7, 30_000);
    let mut payload = fixtures::hpi::zlib(&data);
    payload.truncate(payload.len() / 2);
    let archive = one_chunk(Method::Zlib, payload, data.len());
    let mount = mounted(&archive, "force");
    let read = fs::read(mount.path().join("a")).unwrap();
    assert_eq!(read.len(), data.len());
    let same = read.iter().zip(&data).take_while(|(a, b)| a == b).count();
    assert!(same > 10_000, "{same} bytes are right");
    assert!(read[same + 1..].iter().all(|&byte| byte == 0));
    drop(mount);
    let strict = mounted(&archive, "");
    assert!(fs::read(strict.path().join("a")).is_err());
}

#[fuse_test]
fn with_force_damaged_directory_entries_are_skipped_and_reported() {
    let usual = V1::new(usual_tree(Method::Zlib)).build();
    // The name of the first entry of the root, which is a directory.
    let wrong = usual.patched(28, 0x00FF_FFFF_u32.to_le_bytes());
    let mount = mounted(&wrong, "force");
    let mut expected = testkit::files::expected(&usual_tree(Method::Zlib));
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

#[fuse_test]
fn odd_archives_are_read_within_the_limit_as_well() {
    for quirk in quirks::all() {
        let mount = mounted_limited(&quirk.bytes);
        let files = contents(mount.path());
        assert_eq!(counter(&mount, "errors"), 0, "{}", quirk.name);
        assert!(files.len() >= quirk.entries.len(), "{}", quirk.name);
    }
}
