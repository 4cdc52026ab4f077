//! PCX: pictures (FORMATS, TA 8). [`hpimount_assets::parse::pcx`] reads them.

mod import;
pub mod view;

pub use self::view::FORMAT;

use crate::pal::Palette;
use crate::pal::colors::Colors;
use hpimount_assets::model::Picture;
use hpimount_assets::parse::pcx::{Pcx, Pixels};
use hpimount_assets::view::AssetContext;
use hpimount_containers::io::Error;

/// The file of `X.meta` with the picture.
const PICTURE: &str = "picture.png";

/// Returns the displayed colors of a picture.
fn colors(pcx: &Pcx, context: &dyn AssetContext) -> Colors {
    match pcx.palette {
        Some(palette) => Colors::own(Palette(palette)),
        None if pcx.planes == 1 => Colors::of_mount(context),
        None => Colors {
            source: "none".to_owned(),
            ..Colors::embedded()
        },
    }
}

/// Returns the picture that is shown.
fn picture(pcx: &Pcx, colors: &Colors) -> Result<Picture, Error> {
    Ok(match pcx.decode()?.pixels {
        Pixels::Rgb(bytes) => Picture::from_rgb(pcx.width, pcx.height, &bytes),
        Pixels::Indexed(rows) => colors.palette.picture(pcx.width, pcx.height, rows),
    })
}
