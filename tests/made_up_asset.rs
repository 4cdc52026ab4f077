//! An asset format needs only its `ViewFormat`: a made-up format is shown, converted,
//! drawn as a thumbnail, and known to desktops.

use std::fs;
use std::time::{Duration, Instant};

use get_size2::GetSize;
use hpimount::app::desktop::files::files;
use hpimount::app::thumbnail;
use hpimount::formats;
use hpimount::mount::{Ino, Options, Sources, Vfs};
use hpimount_assets::model::{Picture, Pixels, png};
use hpimount_assets::view::converted::{Conversion, Converted, ConvertedFile};
use hpimount_assets::view::page::{Page, Rows};
use hpimount_assets::view::{AssetContext, Bytes, Opened, Preview, ViewFormat};
use hpimount_containers::file_type::FileType;
use hpimount_containers::io::Warnings;
use hpimount_record::Record;
use tempfile::tempdir;

/// The made-up format: each byte is a gray pixel.
const MADE_UP: &[ViewFormat] = &[ViewFormat {
    extensions: &["made"],
    types: &[FileType {
        patterns: &["*.made"],
        is_opened: true,
        ..FileType::new("image/x-made-up", Some("made-up picture"))
    }],
    converted: Conversion::Always(Converted::whole(&[ConvertedFile::first("png")])),
    preview: Some(Preview {
        files: &["gray.png"],
        rank: 0,
    }),
    ..ViewFormat::new("made up", open)
}];

/// A pixel.
#[derive(Debug, Clone, Default, GetSize, Record)]
struct Pixel {
    /// Brightness.
    gray: u8,
}

fn open(bytes: &Bytes, _: &dyn AssetContext) -> Opened {
    let pixels: Vec<Pixel> = bytes.iter().map(|&gray| Pixel { gray }).collect();
    let mut page = Page::new("made up", "A row of pixels", Warnings::default());
    page.rows("pixels", |pixels: &Vec<Pixel>| Rows::of(pixels))
        .picture("gray.png", |pixels: &Vec<Pixel>| Some(picture(pixels)));
    Ok(page.show(pixels, None))
}

fn picture(pixels: &[Pixel]) -> Picture {
    let rgba = pixels
        .iter()
        .map(|pixel| [pixel.gray, pixel.gray, pixel.gray, 255]);
    Picture {
        width: pixels.len() as u32,
        height: 1,
        pixels: Pixels::Rgba(rgba.collect()),
    }
}

#[test]
fn a_format_of_one_line_is_shown_converted_drawn_and_known_to_desktops() {
    assert!(formats::add(MADE_UP));
    assert!(!formats::add(MADE_UP), "formats are added once");
    let dir = tempdir().unwrap();
    let asset = dir.path().join("x.made");
    let pixels = [10, 20, 30];
    fs::write(&asset, pixels).unwrap();
    let pixels = pixels.map(|gray| Pixel { gray });
    let mut expected = Vec::new();
    png::write(&picture(&pixels), &mut expected).unwrap();

    let sources = Sources::Given {
        locations: vec![dir.path().to_owned().into()],
        order: None,
        separate: false,
    };
    let vfs = Vfs::open(&sources, Options::default()).unwrap();
    let table = b"index\tgray\n0\t10\n1\t20\n2\t30\n".to_vec();
    for (path, expected) in [
        ("x.made.meta/gray.png", &expected),
        ("x.made.meta/pixels.tsv", &table),
        ("converted/x.png", &expected),
    ] {
        let file = path.split('/').try_fold(Ino::ROOT, |directory, name| {
            vfs.lookup(directory, name).map(|attr| attr.ino)
        });
        let file = file.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        let bytes = vfs.read(file, 0, 1 << 20).unwrap().to_vec();
        assert_eq!(bytes, *expected, "{path}");
    }

    let deadline = Instant::now() + Duration::from_secs(60);
    let drawn = thumbnail::png_of(&asset, 128, deadline).unwrap();
    assert_eq!(png::read(&drawn, 100).unwrap(), picture(&pixels));

    // The last one is for types that other programs open by default.
    for file in files().iter().filter(|file| !file.name.starts_with("zz-")) {
        assert!(file.text.contains("image/x-made-up"), "{}", file.name);
    }
}
