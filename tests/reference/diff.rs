//! Comparing the samples finds the same differences as `diff -r` on their mounts.

use std::fs;
use std::path::PathBuf;

use crate::shared;
use testkit::compared::by_both_programs;
use testkit::fuse_test;

#[fuse_test]
fn comparing_the_samples_finds_what_diff_finds_on_their_mounts() {
    let mut compared = 0;
    for (folder, most) in [("hpi/quirk", 6), ("hip/synthetic", 6), ("containers", 4)] {
        let Some(folder) = shared(&format!("samples/{folder}")) else {
            return;
        };
        let entries = fs::read_dir(folder).unwrap();
        let mut samples: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        samples.retain(|path| path.is_file());
        samples.sort();
        let mut pairs = 0;
        for pair in samples.windows(2).step_by(3) {
            let pair = [pair[0].clone(), pair[1].clone()];
            let Some([found, expected]) = by_both_programs(&pair) else {
                continue;
            };
            assert_eq!(found, expected, "{pair:?}");
            pairs += 1;
            if pairs == most {
                break;
            }
        }
        compared += pairs;
    }
    assert!(compared > 5, "{compared}");
}
