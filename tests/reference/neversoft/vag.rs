//! VAG.

use super::samples::{file, samples, samples_sha256};

#[test]
fn every_vag_sound_has_the_known_facts_and_samples() {
    let folders = ["vag", "foreign", "real"].map(|folder| samples(folder, &["vag"]));
    for mut sample in folders.into_iter().flatten() {
        let Some(view) = sample.whole() else { continue };
        let sound = sample.known["sound"].as_object_mut().unwrap();
        let known = sound.remove("pcm_sha256").unwrap();
        let wav = file(&*view, "sound.wav");
        assert_eq!(samples_sha256(&wav), known, "{}", sample.name);
        sample.assert_facts(&*view);
    }
}
