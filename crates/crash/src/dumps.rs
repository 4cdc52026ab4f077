//! Golden tests: the generated files of small assets, compared with `dumps/`.

use fixtures::{assets, dumps};
use hpimount_assets::view::Alone;

#[test]
fn the_generated_files_are_as_in_their_dumps() {
    let models = assets::one_of_each().into_iter();
    for (name, _, bytes) in models {
        let mut formats = crate::FORMATS.iter();
        if let Some(format) = formats.find(|format| format.shows(name.as_bytes())) {
            let cut = bytes[..bytes.len() / 2].to_vec();
            let folder = env!("CARGO_MANIFEST_DIR");
            dumps::check(folder, name, format, bytes, &Alone);
            dumps::check(folder, &format!("cut_{name}"), format, cut, &Alone);
        }
    }
}
