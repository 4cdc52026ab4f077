//! PSH.

use super::samples::samples;

#[test]
fn every_character_has_the_known_names() {
    for sample in samples("psh", &["psh"]) {
        match sample.known.get("error") {
            Some(_) => assert!(sample.open().is_err(), "{}", sample.name),
            None => sample.assert_facts(&*sample.open().ok().unwrap()),
        }
    }
}
