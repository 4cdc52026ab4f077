//! TIM and TIM2.

use super::samples::{files, pixels_sha256, samples};
use serde_json::Value;

#[test]
fn every_tim_picture_has_the_known_facts_and_pixels() {
    let mut all = samples("tim", &["tim", "tm2"]);
    all.extend(samples("real", &["tim"]));
    for mut sample in all {
        let Some(view) = sample.whole() else { continue };
        let mut known = Vec::new();
        for picture in sample.known["pictures"].as_array_mut().unwrap() {
            let digests = picture.as_object_mut().unwrap().remove("rgba_sha256");
            known.extend(digests.unwrap().as_array().unwrap().clone());
        }
        let pictures = files(&*view, ".png");
        let ours = pictures.iter().map(|png| Value::from(pixels_sha256(png)));
        assert_eq!(ours.collect::<Vec<_>>(), known, "{}", sample.name);
        sample.assert_facts(&*view);
    }
}
