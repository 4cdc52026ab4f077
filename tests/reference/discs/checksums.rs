//! A damaged byte in a CHD image never results in wrong bytes.

use std::path::Path;
use std::sync::Arc;

use crate::support::skip;
use hpimount::io::Result;
use hpimount::source::image::{self, BlockImage};

/// Length of the header of a CHD, which has no checksum.
const CHD_HEADER: usize = 124;

#[test]
fn a_damaged_byte_of_a_chd_never_results_in_wrong_bytes() {
    let sample = "../shared/samples/containers/chd/good_mode2_zl.chd";
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(sample);
    if !skip::possible(sample.exists(), "the samples are missing") {
        return;
    }
    let good = std::fs::read(sample).unwrap();
    let open = |bytes: Vec<u8>| -> Result<Box<dyn BlockImage>> {
        let source = Arc::new(bytes);
        let format = image::detect(&*source)?.expect("the magic is undamaged");
        (format.open)(source)
    };
    let decode = |image: &dyn BlockImage| -> Vec<Result<Vec<u8>>> {
        let blocks = image.len().div_ceil(image.block_size().into());
        (0..blocks).map(|block| image.decode(block)).collect()
    };
    let expected = decode(&*open(good.clone()).unwrap());
    let (mut refused, mut unreadable) = (0, 0);
    // Some bytes of all parts: all bytes would take minutes.
    for at in (CHD_HEADER..good.len()).step_by(11) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        let Ok(image) = open(bytes) else {
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
