//! Thumbnails of the samples.

use crate::shared;
use testkit::desktop::{draw, drawn};
use testkit::sources::names;

#[test]
fn good_and_bad_samples_end_with_a_picture_or_an_error() {
    let Some(samples) = shared("samples") else {
        return;
    };
    for kind in [
        "psx/generated",
        "hgo/generated",
        "hpi/hostile",
        "hip/synthetic",
    ] {
        for name in names(&samples.join(kind)) {
            let (ran, picture) = draw(128, &samples.join(kind).join(&name));
            let expected = if picture.is_some() { 0 } else { 1 };
            assert_eq!(ran.code, Some(expected), "{name}: {}", ran.stderr);
        }
    }
    for archive in ["textures_gc.HIP", "textures_ps2.HIP", "textures_xbox.HIP"] {
        drawn(256, &samples.join("hip_assets").join(archive));
    }
}
