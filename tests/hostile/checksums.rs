//! A damaged byte in a container with checksums for all bytes never causes wrong bytes:
//! the container is refused, the file is an error, or it is unchanged.

use std::collections::BTreeMap;

use fixtures::container_seeds as seeds;
use hpimount_containers::image::BlockImage;
use hpimount_containers::io::Result;
use testkit::chd;
use testkit::containers::{Contents as _, open};

/// The damages of a byte.
const DAMAGES: [fn(u8) -> u8; 3] = [|byte| byte ^ 1, |byte| byte ^ 0x80, |byte| !byte];

/// Returns the files that can be read, with their bytes. Returns `None` if the
/// container is refused.
fn files(name: &str, bytes: Vec<u8>) -> Option<BTreeMap<String, Vec<u8>>> {
    let opened = open(name, bytes, &|_| None, true).ok()?;
    let files = opened.files();
    let readable =
        files.filter_map(|(path, entry)| Some((path.to_owned(), opened.bytes(entry).ok()?)));
    Some(readable.collect())
}

/// Damages every byte, and asserts that files are unchanged or unreadable. Returns the
/// number of refused containers, and of unreadable files.
fn damage(name: &str, good: &[u8]) -> (usize, usize) {
    let expected = files(name, good.to_vec()).unwrap();
    let (mut refused, mut unreadable) = (0, 0);
    for at in 0..good.len() {
        for damage in DAMAGES {
            let mut bytes = good.to_vec();
            bytes[at] = damage(bytes[at]);
            let Some(found) = files(name, bytes) else {
                refused += 1;
                continue;
            };
            for (path, bytes) in &expected {
                match found.get(path) {
                    Some(found) => assert!(found == bytes, "{path} with damaged byte {at}"),
                    None => unreadable += 1,
                }
            }
        }
    }
    (refused, unreadable)
}

#[test]
fn a_damaged_byte_of_a_7z_archive_never_results_in_wrong_bytes() {
    let (refused, unreadable) = damage("x.7z", &seeds::seven_zip());
    assert!(refused > 0 && unreadable > 0);
}

#[test]
fn a_damaged_byte_of_a_bzip2_or_xz_file_never_results_in_wrong_bytes() {
    // Each names the file inside after the source.
    let [_, bzip2, xz, _] = &seeds::compressed()[..] else {
        panic!("there is one of each kind");
    };
    for packed in [bzip2, xz] {
        let (refused, unreadable) = damage("x.packed", packed);
        assert!(refused > 0, "{refused} {unreadable}");
    }
}

#[test]
fn a_damaged_byte_of_a_zip_archive_never_results_in_wrong_bytes() {
    let (refused, unreadable) = damage("x.zip", &seeds::zip());
    assert!(refused > 0 && unreadable > 0);
}

/// Length of the header of a CHD, which has no checksum.
const CHD_HEADER: usize = 124;

#[test]
fn a_damaged_byte_of_a_chd_never_results_in_wrong_bytes() {
    let Some(good) = chd::created("flac,huff,lzma,zlib", &chd::varied()) else {
        return;
    };
    let decode = |image: &dyn BlockImage| -> Vec<Result<Vec<u8>>> {
        let blocks = image.len().div_ceil(image.block_size().into());
        (0..blocks).map(|block| image.decode(block)).collect()
    };
    let expected = decode(&*chd::open_bytes(good.clone()).unwrap());
    let (mut refused, mut unreadable) = (0, 0);
    // Some bytes of all parts, because all bytes would take minutes.
    for at in (CHD_HEADER..good.len()).step_by(211) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        let Ok(image) = chd::open_bytes(bytes) else {
            refused += 1;
            continue;
        };
        for (found, expected) in decode(&*image).iter().zip(&expected) {
            match found {
                Ok(found) => assert!(found == expected.as_ref().unwrap(), "byte {at}"),
                Err(_) => unreadable += 1,
            }
        }
    }
    assert!(refused > 0 && unreadable > 0);
}
