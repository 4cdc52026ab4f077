//! RLE, BMR, ZLB and PVR.

use super::samples::{file, files, pixels_sha256, samples, sha256};

#[test]
fn every_picture_has_the_known_facts_and_pixels() {
    for mut sample in samples("pix", &["rle", "bmr", "zlb", "pvr"]) {
        // The independent reader leaves out the copy of 1 by 1 pixels: on the
        // chip, those of 8 by 8 begin at 48, not 46.
        if sample.name == "good_1555_mips.pvr" {
            assert!(sample.open().is_err());
            continue;
        }
        let Some(view) = sample.whole() else { continue };
        let known = sample.known.as_object_mut().unwrap();
        if let Some(known) = known.remove("rgba_sha256") {
            let picture = file(&*view, "picture.png");
            assert_eq!(pixels_sha256(&picture), known, "{}", sample.name);
        }
        if let Some(known) = known.remove("sha256") {
            let inside = files(&*view, ".bmp");
            assert_eq!(sha256(&inside[0]), known, "{}", sample.name);
        }
        sample.assert_facts(&*view);
    }
}
