//! VAG.

use super::samples::{file, flatten_sound, samples, samples_sha256};

#[test]
fn every_vag_sound_has_the_known_facts_and_samples() {
    let folders = ["vag", "foreign", "real"].map(|folder| samples(folder, &["vag"]));
    for mut sample in folders.into_iter().flatten() {
        let Some(view) = sample.whole() else { continue };
        let known = sample.known.as_object_mut().unwrap();
        let sound = flatten_sound(known);
        let wav = file(&*view, "sound.wav");
        assert_eq!(samples_sha256(&wav), sound, "{}", sample.name);
        // Only a sound without a header has no magic.
        if known.contains_key("version") && known["magic"].is_null() {
            known["magic"] = "".into();
        }
        sample.assert_facts(&*view);
    }
}
