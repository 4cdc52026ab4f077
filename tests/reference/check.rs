//! `--check` finds no damage in good samples, and finishes with every sample.

use std::fs;

use crate::shared;
use crate::support::mount::{hpimount, run};

#[test]
fn good_samples_are_undamaged_and_every_sample_can_be_checked() {
    let folders = [
        "hpi/good",
        "hpi/quirk",
        "hpi/hostile",
        "hip/peer",
        "hip/synthetic",
        "containers",
    ];
    for name in folders {
        let Some(samples) = shared(&format!("samples/{name}")) else {
            return;
        };
        for sample in fs::read_dir(samples).unwrap() {
            let sample = sample.unwrap().path();
            if sample.is_dir()
                || sample
                    .extension()
                    .is_some_and(|extension| extension == "json")
            {
                continue;
            }
            // Many samples have the names of assets but other contents.
            let ran = run(hpimount()
                .args(["--check", "-o", "cachesize=16M,meta=off"])
                .arg(&sample));
            let codes: &[i32] = match name {
                "hpi/good" | "hip/peer" => &[0],
                _ => &[0, 10, 11, 12, 13],
            };
            assert!(
                ran.code.is_some_and(|code| codes.contains(&code)),
                "{}: {ran:?}",
                sample.display()
            );
        }
    }
}
