//! flips-apply PATCH ORIGINAL OUT: applies a BPS or IPS patch with Flips.

use std::fs;

use flips::{BpsPatch, IpsPatch};

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [patch, original, out] = &paths[..] else {
        panic!("flips-apply PATCH ORIGINAL OUT");
    };
    let [patch, original] = [patch, original].map(|path| fs::read(path).expect("can be read"));
    let result = match patch.starts_with(b"BPS1") {
        true => BpsPatch::new(patch).apply(&original).map(|out| out.to_bytes()),
        false => IpsPatch::new(patch).apply(&original).map(|out| out.to_bytes()),
    };
    fs::write(out, result.expect("Flips applies it")).expect("can be written");
}
