//! Every good sample has its type on desktops.

use std::fs;
use std::path::PathBuf;

use crate::shared;
use testkit::desktop::{home, types_of};
use testkit::sources::names;

/// Folders of samples, the ends of their names, and their types.
const SAMPLES: &[(&str, &[&str], &str)] = &[
    ("hpi/good", &[""], "application/x-hpi-archive"),
    ("hip/peer", &["HIP", "HOP"], "application/x-hip-archive"),
    ("psx/generated", &["psx"], "model/x-neversoft-psx"),
    ("hgo/generated", &["hgo"], "model/x-crash-hgo"),
    ("ifp/generated", &["ifp"], "application/x-gta-ifp"),
    ("ta/3do", &["3do"], "model/x-ta-3do"),
    ("ta/gaf", &["gaf", "taf"], "image/x-ta-gaf"),
    ("ta/sct", &["sct"], "image/x-ta-sct"),
    ("ta/tnt", &["tnt"], "image/x-ta-tnt"),
    ("ta/cob", &["cob"], "application/x-ta-cob"),
    ("ta/tdf", &["fbi", "ota", "tdf"], "text/x-ta-tdf"),
    ("ta/pcx", &["pcx"], "image/vnd.zbrush.pcx"),
    ("containers/pkr", &["pkr"], "application/x-neversoft-pkr"),
    (
        "containers/pre",
        &["pre", "prx"],
        "application/x-neversoft-pre",
    ),
    ("containers/hedwad", &["HED"], "application/x-neversoft-wad"),
    (
        "containers/gcm",
        &["rvz", "wia", "gcz", "ciso"],
        "application/x-gamecube-image",
    ),
    ("containers/chd", &["chd"], "application/x-mame-chd"),
    ("containers/xdvdfs", &["xiso"], "application/x-xbox-disc"),
    ("containers/iso", &["iso"], "application/x-cd-image"),
    // For these names, the types of the system are kept.
    ("containers/img", &["img"], "application/x-raw-disk-image"),
    ("containers/hedwad", &["WAD"], "application/x-doom-wad"),
];

#[test]
fn every_good_sample_has_its_type() {
    let (Some(samples), Some(home)) = (shared("samples"), home()) else {
        return;
    };
    for (folder, ends, expected) in SAMPLES {
        let folder = samples.join(folder);
        let files: Vec<PathBuf> = names(&folder)
            .into_iter()
            .filter(|name| ends.iter().any(|end| name.ends_with(end)))
            .filter(|name| !name.starts_with("bad_") && !name.starts_with("bomb_"))
            .map(|name| folder.join(name))
            .filter(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > 0))
            .collect();
        assert!(!files.is_empty(), "{folder:?}");
        for (file, found) in files.iter().zip(types_of(&home, &files)) {
            assert_eq!(found, *expected, "{file:?}");
        }
    }
}
