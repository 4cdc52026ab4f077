//! The generated files of small assets of consoles, compared with the texts in
//! `dumps/`.

use fixtures::{consoles, dumps};
use hpimount_assets::consoles::FORMATS;
use hpimount_assets::view::Alone;

#[test]
fn the_generated_files_are_as_in_their_dumps() {
    for (name, mut bytes) in consoles::files() {
        let mut formats = FORMATS.iter();
        let format = formats.find(|format| format.shows(name.as_bytes()));
        let format = format.unwrap_or_else(|| panic!("{name} has no format"));
        let check = |name: &str, bytes: Vec<u8>| {
            dumps::check(env!("CARGO_MANIFEST_DIR"), name, format, bytes, &Alone);
        };
        check(name, bytes.clone());
        bytes.truncate(bytes.len() * 2 / 3);
        check(&format!("cut_{name}"), bytes);
    }
}
