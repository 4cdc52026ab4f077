//! CHD images by MAME's `chdman`: reads return the bytes that it packed.

use testkit::chd::{bytes, created, open_bytes, varied};

#[test]
fn every_codec_is_lossless() {
    let codecs = [
        "none",
        "zlib",
        "lzma",
        "huff",
        "flac",
        "flac,huff,lzma,zlib",
    ];
    for codec in codecs {
        let Some(image) = created(codec, &varied()) else {
            return;
        };
        assert!(bytes(&*open_bytes(image).unwrap()) == varied(), "{codec}");
    }
}
