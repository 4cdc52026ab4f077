//! RLE, BMR, ZLB and PVR.

use super::samples::{file, files, pixels_sha256, samples, sha256};

#[test]
fn every_picture_has_the_known_facts_and_pixels() {
    for mut sample in samples("pix", &["rle", "bmr", "zlb", "pvr"]) {
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
