//! Tells the code what this build can do, by the system and the features: `fuse` if it can
//! mount, and `edit` if such mounts can be edited.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let has_fuse = !["macos", "windows"].contains(&&*system);
    let fuse = has_fuse && env::var_os("CARGO_FEATURE_FUSE").is_some();
    for (name, is_set) in [("fuse", fuse), ("edit", fuse && system == "linux")] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if is_set {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
