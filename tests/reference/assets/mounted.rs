//! Pictures, models and animations, read through the kernel.

use std::fs;
use std::path::Path;

use crate::assets::samples::samples;
use crate::shared;
use testkit::fuse_test;
use testkit::pictures::pixels;
use testkit::sources::{folder, names};

/// Asserts that every file below a directory shows its size before it is opened,
/// and returns the number of files.
fn check_sizes(directory: &Path) -> usize {
    let mut files = 0;
    for name in names(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            files += check_sizes(&path);
            continue;
        }
        let size = fs::metadata(&path).unwrap().len();
        assert_eq!(
            size,
            fs::read(&path).unwrap().len() as u64,
            "{}",
            path.display()
        );
        files += 1;
    }
    files
}

#[fuse_test]
fn pictures_have_the_known_pixels_and_all_files_the_right_sizes() {
    let samples = samples("psx/generated");
    let Some(golden) = shared("golden/psx/generated") else {
        return;
    };
    let mount = folder(|source| {
        for sample in &samples {
            fs::write(source.join(&sample.name), &sample.bytes).unwrap();
        }
    })
    .mount(&[]);
    for sample in samples.iter().filter(|sample| !sample.is_damaged()) {
        let meta = mount.file(&format!("{}.meta", sample.name));
        assert!(check_sizes(&meta) > 6);
        for number in 0.. {
            let known = golden.join(format!("{}.tex{number:02}.png", sample.name));
            let Ok(known) = fs::read(known) else { break };
            let textures = meta.join("textures");
            let start = format!("{number:02} ");
            let name = names(&textures)
                .into_iter()
                .find(|name| name.starts_with(&start));
            let shown = fs::read(textures.join(name.unwrap())).unwrap();
            assert_eq!(pixels(&shown), pixels(&known), "{}", sample.name);
        }
    }
}
