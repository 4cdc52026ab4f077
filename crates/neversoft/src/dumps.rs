//! The generated files of small assets, compared with the texts in `dumps/`.

use fixtures::{assets, dumps, playstation};
use hpimount_assets::view::Alone;

#[test]
fn the_generated_files_are_as_in_their_dumps() {
    let levels = [3, 4, 6].map(|version| (format!("level{version}.psx"), assets::level(version)));
    let files = playstation::files().into_iter();
    let files = files.map(|(name, bytes)| (name.to_owned(), bytes));
    for (name, bytes) in files.chain(levels) {
        let mut formats = crate::FORMATS.iter();
        let format = formats.find(|format| format.shows(name.as_bytes()));
        let format = format.unwrap_or_else(|| panic!("{name} has no format"));
        dumps::check(env!("CARGO_MANIFEST_DIR"), &name, format, bytes, &Alone);
    }
}
