//! A whole asset format and its test: each byte of a file is a gray pixel. Only its
//! name in the list of formats is outside of this file.

use get_size2::GetSize;
use hpimount_assets::model::Picture;
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Bytes, Measures, Opened, Preview, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_containers::io::Warnings;
use hpimount_record::Record;

pub(super) const FORMATS: &[ViewFormat] = &[ViewFormat {
    extensions: &["made"],
    types: &[FileType {
        patterns: &["*.made"],
        is_opened: true,
        ..FileType::new("image/x-made-up", Some("made-up picture"))
    }],
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    preview: Some(Preview::new(0, &["gray.png"])),
    ..ViewFormat::new("made up", open)
}];

#[derive(Debug, Clone, Default, GetSize, Record)]
struct Pixel {
    /// Brightness.
    gray: u8,
}

fn open(bytes: &Bytes, _: &dyn AssetContext) -> Opened {
    let pixels: Vec<Pixel> = bytes.iter().map(|&gray| Pixel { gray }).collect();
    let mut page = Page::new("made up", "A row of pixels", Warnings::default());
    page.rows("pixels", |pixels: &Vec<Pixel>| Rows::of(pixels))
        .measures(|pixels| Measures::picture(pixels.len(), 1))
        .picture("gray.png", |pixels| Some(picture(pixels)));
    Ok(page.show(pixels, None))
}

fn picture(pixels: &[Pixel]) -> Picture {
    let colors: Vec<u8> = pixels.iter().flat_map(|pixel| [pixel.gray; 3]).collect();
    Picture::from_rgb(pixels.len() as u32, 1, &colors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::desktop::files::files;
    use crate::app::thumbnail;
    use crate::inspect::cat;
    use crate::mount::{Options, Sources, Vfs};
    use hpimount_assets::model::png;
    use std::time::{Duration, Instant};

    #[test]
    fn a_listed_format_is_shown_converted_drawn_and_known_to_desktops() {
        let folder = tempfile::tempdir().unwrap();
        let asset = folder.path().join("x.made");
        std::fs::write(&asset, [10, 20]).unwrap();
        let vfs = Vfs::open(&Sources::one(folder.path()), Options::default()).unwrap();
        let read = |path| {
            let mut bytes = Vec::new();
            cat(&vfs, path, &mut bytes).unwrap();
            bytes
        };
        let table = read("x.made.meta/pixels.tsv");
        assert_eq!(table, b"index\tgray\n0\t10\n1\t20\n");
        let expected = Picture::from_rgb(2, 1, &[10, 10, 10, 20, 20, 20]);
        let deadline = Instant::now() + Duration::from_secs(60);
        let drawn = thumbnail::png_of(&asset, 128, deadline).unwrap();
        for png in [read("x.made.meta/gray.png"), read("converted/x.png"), drawn] {
            assert_eq!(png::read(&png, 100).unwrap(), expected);
        }
        // The last one is for types that other programs open by default.
        for file in files().iter().filter(|file| !file.name.starts_with("zz-")) {
            assert!(file.text.contains("image/x-made-up"), "{}", file.name);
        }
    }
}
