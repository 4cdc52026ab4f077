//! Discs and block images of arbitrary bytes cause no panics, endless loops or
//! excessive memory use.

use hpimount::mount::Options;
use proptest::prelude::*;
use testkit::walked;

/// Magic bytes of images, and their offsets.
const STARTS: &[(usize, &[u8])] = &[
    (0x1C, b"\xC2\x33\x9F\x3D"),
    (0, b"\xA2\x38\x0F\xAE"),
    (0, b"CISO\0\x80\0\0"),
    (0, b"CISO\0\0\0\0\0\x10\0\0\0\0\0\0\0\x08\0\0\x01\0"),
    (0, b"ZISO\0\0\0\0\0\x10\0\0\0\0\0\0\0\x08\0\0\x01\0"),
    (0, b"\x01\xC0\x0B\xB1"),
    (0, b"RVZ\x01"),
    (0, b"WIA\x01"),
    (0x8000, b"\x01CD001\x01"),
    (0, b"FILE \"a\" BINARY\nTRACK 01 MODE1/2352\n"),
];

/// Mounts the bytes and reads everything in the mount.
fn examine(bytes: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image");
    std::fs::write(&path, bytes).unwrap();
    let options = Options {
        companions: false,
        ..Options::default()
    };
    if let Ok(vfs) = walked::open(path, options) {
        walked::names(&vfs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn arbitrary_bytes_after_a_magic_never_panic(
        start in 0..STARTS.len(),
        mut bytes in prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..3_000),
    ) {
        let (at, magic) = STARTS[start];
        bytes.resize(bytes.len().max(at + magic.len()), 0);
        bytes[at..at + magic.len()].copy_from_slice(magic);
        examine(&bytes);
    }

    #[test]
    fn arbitrary_numbers_in_the_directories_of_a_disc_never_panic(
        numbers in prop::collection::vec((0_usize..0x180, any::<[u8; 4]>()), 1..40),
    ) {
        let mut bytes = vec![0; 24 * 2048];
        bytes[0x8000..0x8006].copy_from_slice(b"\x01CD001");
        bytes[0x8000 + 128..0x8000 + 132].copy_from_slice(&[0, 8, 8, 0]);
        // A root of one sector, with records of 34 bytes.
        bytes[0x8000 + 156] = 34;
        bytes[0x8000 + 158] = 20;
        bytes[0x8000 + 167] = 8;
        bytes[0x8000 + 188] = 1;
        for record in 0..10 {
            let at = 20 * 2048 + record * 34;
            bytes[at] = 34;
            bytes[at + 2] = 20;
            bytes[at + 11] = 8;
            bytes[at + 25] = (record % 2 * 2) as u8;
            bytes[at + 32] = 1;
            bytes[at + 33] = b'A';
        }
        for (at, number) in numbers {
            bytes[20 * 2048 + at..][..4].copy_from_slice(&number);
        }
        examine(&bytes);
    }
}
