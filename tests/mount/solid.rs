//! Files that are decoded from the start of something larger: members of solid
//! blocks, and of zip archives.

use std::fs;
use std::io::Write;
use std::process::Command;

use flate2::{Compression, GzBuilder};
use testkit::fuse_test;

use fixtures::container_seeds::{Method7z, seven_zip_of, tar_of, zip_with};
use fixtures::inno::{Inno, Packing, inno_file};
use fixtures::text;
use testkit::files::{open_direct, read_at};
use testkit::mounted::{counter, mounted};

/// Number of files in an archive, and their sizes in bytes.
const FILES: usize = 24;
const SIZE: usize = 600_000;

fn files() -> Vec<(String, Vec<u8>)> {
    let all = text(SIZE + FILES + 7);
    let file = |number: usize| {
        let bytes = all[number..number + SIZE + number % 7].to_vec();
        (format!("file{number:02}.txt"), bytes)
    };
    (0..FILES).map(file).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let named = GzBuilder::new().filename("long.bin");
    let mut encoder = named.write(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a 7z of all files in one block.
fn solid(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let files = files.iter().map(|(name, bytes)| (&**name, &**bytes));
    seven_zip_of(Method7z::Deflate, &files.collect::<Vec<_>>(), 0)
}

/// Returns an installer of all files in one chunk.
fn solid_installer(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let files = files.iter().map(|(name, bytes)| inno_file(name, bytes));
    let installer = Inno {
        packing: Packing::Lzma2,
        is_solid: true,
        ..Inno::new(files.collect())
    };
    installer.program()
}

#[fuse_test]
fn a_copy_of_a_solid_block_decodes_it_once() {
    let files = files();
    let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let installer = solid_installer(&files);
    for (archive, options) in [
        (&solid(&files), ""),
        (&solid(&files), "noprefetch"),
        (&solid(&files), "threads=8"),
        (&installer, ""),
        (&installer, "noprefetch"),
    ] {
        let mount = mounted(archive, options);
        let copy = tempfile::tempdir().unwrap();
        let mut command = Command::new("cp");
        command
            .arg("-r")
            .arg(mount.path())
            .arg(copy.path().join("copy"));
        assert!(command.status().unwrap().success());
        for (name, bytes) in &files {
            assert_eq!(
                fs::read(copy.path().join("copy").join(name)).unwrap(),
                *bytes
            );
        }
        assert_eq!(counter(&mount, "bytes_decoded"), total as u64, "{options}");
    }
}

#[fuse_test]
fn what_is_decoded_to_find_the_size_of_a_stream_is_not_decoded_again() {
    let files = files();
    let entries = files
        .iter()
        .map(|(name, bytes)| (name.as_bytes(), b'0', &**bytes));
    let tar = tar_of(&entries.collect::<Vec<_>>());
    // The cache has room for a fraction of it.
    let mount = mounted(&gzip(&tar), "cachesize=2M");
    for (name, bytes) in &files {
        assert_eq!(fs::read(mount.path().join(name)).unwrap(), *bytes);
    }
    assert_eq!(counter(&mount, "bytes_decoded"), tar.len() as u64);

    // The size of a file this long is found when it is requested.
    let long = vec![7; (20 << 20) + 5];
    let mount = mounted(&gzip(&long), "cachesize=2M");
    let file = mount.path().join("long.bin");
    assert_eq!(fs::metadata(&file).unwrap().len(), long.len() as u64);
    assert_eq!(fs::read(&file).unwrap(), long);
    assert_eq!(counter(&mount, "bytes_decoded"), long.len() as u64);
}

#[fuse_test]
fn listing_an_installer_decodes_nothing() {
    let program = solid_installer(&files());
    let mount = mounted(&program, "");
    let sizes = fs::read_dir(mount.path()).unwrap().map(|entry| {
        let metadata = entry.unwrap().metadata().unwrap();
        metadata.len() * u64::from(metadata.is_file())
    });
    assert!(sizes.sum::<u64>() >= (FILES * SIZE) as u64);
    assert_eq!(counter(&mount, "bytes_decoded"), 0);
}

#[fuse_test]
fn readers_of_a_solid_block_far_apart_decode_it_at_most_twice() {
    let files = files();
    let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    // The cache has room for a fraction of the block.
    let mount = mounted(&solid(&files), "cachesize=2M");
    std::thread::scope(|scope| {
        for part in files.chunks(FILES / 4) {
            let mount = &mount;
            scope.spawn(move || {
                for (name, bytes) in part {
                    assert_eq!(fs::read(mount.path().join(name)).unwrap(), *bytes);
                }
            });
        }
    });
    let decoded = counter(&mount, "bytes_decoded");
    assert!(decoded <= 2 * total as u64, "{decoded} of {total}");
}

#[fuse_test]
fn a_member_of_a_zip_that_fits_in_memory_is_decoded_once_in_any_order() {
    let bytes = text(3 << 20);
    let mount = mounted(&zip_with("member.txt", &bytes), "noprefetch");
    let path = mount.path().join("member.txt");
    let file = open_direct(&path);
    for number in 0..200_u64 {
        let offset = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (bytes.len() as u64 - 4096);
        let read = read_at(&file, offset & !4095, 4096).unwrap();
        let start = (offset & !4095) as usize;
        assert_eq!(read, bytes[start..start + 4096]);
    }
    let first_block = 65_536;
    assert!(counter(&mount, "bytes_decoded") <= bytes.len() as u64 + first_block);
    // The kernel reads on.
    let mount = mounted(&zip_with("member.txt", &bytes), "");
    let path = mount.path().join("member.txt");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert!(counter(&mount, "bytes_decoded") <= bytes.len() as u64 + first_block);
}

#[fuse_test]
fn random_reads_in_a_long_member_of_a_zip_decode_a_bounded_part_after_a_first_pass() {
    let bytes = text(6 << 20);
    // Decoding it in one piece would take more than half of the budget.
    let mount = mounted(&zip_with("member.txt", &bytes), "noprefetch,cachesize=8M");
    let path = mount.path().join("member.txt");
    let file = open_direct(&path);
    for offset in (0..bytes.len() as u64).step_by(1 << 20) {
        read_at(&file, offset, 1 << 20).unwrap();
    }
    assert_eq!(counter(&mount, "bytes_decoded"), bytes.len() as u64);
    for number in 0..100_u64 {
        let offset = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (bytes.len() as u64 - 4096);
        let before = counter(&mount, "bytes_decoded");
        read_at(&file, offset & !4095, 4096).unwrap();
        let decoded = counter(&mount, "bytes_decoded") - before;
        assert!(decoded <= 3 * 65_536, "{decoded}");
    }
}
